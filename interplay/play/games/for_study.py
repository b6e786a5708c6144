"""Rules of a study for its games: players, agents, and waiting times."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

PARTNER_AFTER_S = 60.0


@dataclass(frozen=True)
class ForStudy:
    """The rules that a study sets for a game. People can meet in one game only if all these rules are the same for them.

    Attributes:
        study: Id of the study.
        variant: The variant that is played.
        partner: Name (for `interplay.agents.find`) of the agent that acts for every other seat from the start; None if people
            play there.
        fallback: The agent that a player may choose after `wait_s`, and that acts for a person who has left. None: no agent may
            be chosen, and the partner of the task acts for a person who has left.
        wait_s: Seconds that a player waits for people before the player may choose the fallback.
        is_blind: Whether players are not told if an agent acts. The fallback agent then joins without being chosen.
    """

    study: str
    variant: str = ""
    partner: str | None = None
    fallback: str | None = None
    wait_s: float = PARTNER_AFTER_S
    is_blind: bool = False

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> ForStudy:
        return cls(**json.loads(text))
