"""The lobby of one game: players wait for others to join, and after a while each may play with an agent, or leave."""

from __future__ import annotations

import asyncio
import threading
from typing import Protocol

from interplay.play.games.seat import Seat
from interplay.play.games.state import State
from interplay.play.games.takeover import PlayedGame, Takeover
from interplay.tasks import Task

_CLOCKS_APART_S = 1.0
"""So much earlier a page may think that the time has come."""


class LobbyServer(Protocol):
    """What it needs of the server.

    Attributes:
        partner_after_s: How long a player waits for people before they may choose an agent, where no study says otherwise.
        granting: Held while somebody is given a seat.
    """

    partner_after_s: float
    granting: threading.Lock

    def partner(self, task: Task) -> str | None:
        """The agent that plays where no second person comes; None where nobody can."""
        ...

    def note_waited(self, session: str, seconds: float, came: str) -> None:
        """Write down how long a player waited, and who came: see `PlaySession.came`."""
        ...


class Lobby:
    """Who waits in a game, how long, and what for. It asks nothing of games with one seat.

    Attributes:
        waits: How long players of this task waited at this hour on the last days: seconds, and whether a person came.
    """

    def __init__(self, game: PlayedGame, server: LobbyServer, takeover: Takeover) -> None:
        self._game = game
        self._server = server
        self._takeover = takeover
        self.waits: list[tuple[float, bool]] = []

    @property
    def _is_waiting(self) -> bool:
        return self._game.state is State.WAITING and any(seat.is_open for seat in self._game.seats)

    @property
    def _partner(self) -> str | None:
        """Who may be chosen to play; in a study whom the study names."""
        study = self._game.study
        return self._server.partner(self._game.task) if study is None else study.fallback

    @property
    def _wait_s(self) -> float:
        """How long a player waits before there is a choice."""
        return self._server.partner_after_s if self._game.study is None else self._game.study.wait_s

    def tell(self, seat: Seat) -> None:
        """Tell a player who waits for others how long that may take, and when there is a choice. Where players are not told of
        agents there is none: the agent comes by itself."""
        if not self._is_waiting or seat.session is None:
            return
        by_itself = self._comes_by_itself
        seat.text(
            "lobby",
            waited_s=round(seat.held_s, 1),
            choose_after_s=None if by_itself else self._wait_s,
            has_partner=self._partner is not None and not by_itself,
            waits=self.waits,
        )
        asyncio.get_running_loop().call_later(self._wait_s - seat.held_s, self._time_has_come, seat)

    @property
    def _comes_by_itself(self) -> bool:
        """Whether an agent comes without being chosen."""
        return self._game.is_blind and self._partner is not None

    def _time_has_come(self, seat: Seat) -> None:
        """A player has waited long enough. That nobody has come is written down now: a study may pay for it, also if the server
        is killed meanwhile."""
        if seat not in self._game.seats or seat.connection is None or not self._has_choice(seat):
            return
        if self._comes_by_itself:
            self.choose_agent(seat)
        else:
            self._note(seat, "nobody")

    def choose_agent(self, seat: Seat) -> None:
        """A player who has waited long enough plays with agents; a choice that comes too early changes nothing."""
        agent = self._partner
        if agent is None or not self._has_choice(seat):
            return
        with self._server.granting:  # nobody is given one of them meanwhile
            for other in self._game.seats:
                if other.is_open:
                    self._takeover.let_agent(other, agent)
        self._note(seat, "agent")

    def _has_choice(self, seat: Seat) -> bool:
        return self._is_waiting and seat.held_s + _CLOCKS_APART_S >= self._wait_s

    def leave(self, seat: Seat, outcome: str) -> str:
        """A player leaves before the first step; returns how it ends for them: `no_partner` for who has waited long enough."""
        if not self._is_waiting:
            return outcome
        has_choice = self._has_choice(seat)
        self._note(seat, "nobody")
        return "no_partner" if has_choice else outcome

    def joined(self, seat: Seat) -> None:
        """A player came. Who has the last seat ends the others' wait."""
        if any(one.is_open for one in self._game.seats):
            return
        for other in self._game.seats:
            if other is not seat and other.session is not None:
                self._note(other, "person")

    def _note(self, seat: Seat, came: str) -> None:
        if seat.session is not None:
            self._server.note_waited(seat.session, round(seat.held_s, 1), came)
