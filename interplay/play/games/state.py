"""The states of a game."""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """The state of a game."""

    EMPTY = "empty"
    """No world yet: nobody has come."""
    WAITING = "waiting"
    """The world is there, or being built; not every player has said start."""
    COUNTDOWN = "countdown"
    PLAYING = "playing"
    PAUSED = "paused"
    """No player looks at it."""
    HELD = "held"
    """The server was killed and started again; the journal waits for the players."""
    RECOVERING = "recovering"
    """The worker died; another one rebuilds the world from its journal."""
    ENDING = "ending"
    """The journal is closed and being sealed."""
    ENDED = "ended"


OVER = (State.ENDING, State.ENDED)
UNBEGUN = (State.EMPTY, State.WAITING, State.COUNTDOWN)
BEGUN = (State.PLAYING, State.PAUSED, State.RECOVERING)
