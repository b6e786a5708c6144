"""A game before its first step: players wait for others, may choose an agent after a while, and count down."""

from __future__ import annotations

import asyncio

from interplay.play.games.closing import unplayed
from interplay.play.games.interfaces import UNBEGUN, GameServer, PlayedGame, State
from interplay.play.games.seat import Seat
from interplay.play.games.takeover import Takeover
from interplay.play.workers import channel

_CLOCKS_APART_S = 1.0
"""Number of seconds by which a page's clock may be ahead of the server's."""
_MOST_TOLD, _TOLD_WITHIN_S = 20, 10.0
"""Players of a game that has not begun are told of changes at most this often in this time."""


class Lobby:
    """The players who wait in a game. It does little for games with one seat.

    `waits`: how long players of this task waited at this hour on the last days, in seconds, and whether a person came.
    """

    def __init__(self, game: PlayedGame, server: GameServer, takeover: Takeover, *, countdown_s: int) -> None:
        self._game = game
        self._server = server
        self._takeover = takeover
        self._countdown_s = countdown_s
        self._timer: asyncio.TimerHandle | None = None
        self._begins_when_opened = False
        self._told_at: list[float] = []
        self._telling: asyncio.TimerHandle | None = None
        self.waits: list[tuple[float, bool]] = []

    # Waiting

    def _missing(self, seat: Seat) -> list[Seat]:
        """Return the seats that a player waits for: open seats and, when this player is ready, seats whose people have not said
        start."""
        if self._game.state is not State.WAITING:
            return []
        others = [one for one in self._game.seats if one is not seat]
        return [one for one in others if one.is_vacant or (seat.is_ready and one.has_person and not one.is_ready)]

    def _has_choice(self, seat: Seat) -> bool:
        return bool(self._missing(seat)) and seat.held_s + _CLOCKS_APART_S >= self._wait_s

    @property
    def _partner(self) -> str | None:
        study = self._game.study
        return self._server.partner(self._game.task) if study is None else study.fallback

    @property
    def _wait_s(self) -> float:
        """Seconds after which a player may choose an agent. People who take a seat and do not start do not change this."""
        return self._server.partner_after_s if self._game.study is None else self._game.study.wait_s

    def may_tell(self) -> bool:
        """Whether waiting players may be told of a change now. If there are many changes, they are told only the last one."""
        loop = asyncio.get_running_loop()
        self._told_at = [at for at in self._told_at if loop.time() - at < _TOLD_WITHIN_S]
        if len(self._told_at) < _MOST_TOLD:
            self._told_at.append(loop.time())
            return True
        self._telling = self._telling or loop.call_at(self._told_at[0] + _TOLD_WITHIN_S, self._tell_late)
        return False

    def _tell_late(self) -> None:
        self._telling = None
        if self._game.state in UNBEGUN:
            self._game.tell_seats()
            self.tell()

    def tell(self) -> None:
        """Tell players who wait for others how long that may take, and when they may choose an agent. In a blind game there is
        no choice: the agent joins without being chosen."""
        if self._game.state is not State.WAITING or len(self._game.seats) == 1 or not self.may_tell():
            return
        by_itself = self._game.is_blind and self._partner is not None
        for seat in self._game.seats:
            missing = self._missing(seat)
            if missing and seat.is_welcomed:
                seat.text(
                    "lobby",
                    waited_s=round(seat.held_s, 1),
                    choose_after_s=None if by_itself else round(self._wait_s, 1),
                    has_partner=self._partner is not None and not by_itself,
                    missing="person" if any(one.is_vacant for one in missing) else "start",
                    waits=self.waits,
                    **({} if self._game.study else {"invitation": self._game.invitation}),
                )
                asyncio.get_running_loop().call_later(self._wait_s - seat.held_s, self._time_has_come, seat)

    def _time_has_come(self, seat: Seat) -> None:
        """Act when a player has waited long enough. Record at once that nobody has come, because a study may pay for the wait
        even if the server is killed later. In a blind game let agents play at once."""
        if seat not in self._game.seats or seat.connection is None or not self._has_choice(seat):
            return
        if self._game.is_blind and self._partner is not None:
            self.choose_agent(seat)
        else:
            self._note(seat, "nobody")

    def choose_agent(self, seat: Seat) -> None:
        """Let agents play with a player who has waited long enough. They also replace people who are connected but not ready. A
        choice that comes too early changes nothing."""
        agent = self._partner
        if agent is None or not self._has_choice(seat):
            return
        missing = self._missing(seat)
        left = [one for one in missing if one.has_person]
        for one in left:
            one.part(unplayed("left"))
        with self._server.granting:  # nobody is given one of the seats meanwhile
            for one in missing:
                self._game.seats[one.index] = Seat(one.name, one.index)
                self._takeover.let_agent(self._game.seats[one.index], agent)
        for one in left:
            self._server.note_over(one, state="ended")
        self._note(seat, "agent")

    def joined(self, seat: Seat) -> None:
        """Note that a player came, perhaps with an agent that shares the seat. The last player to come ends the others'
        wait."""
        if seat.agent is not None:
            self._takeover.let_agent(seat, seat.agent)
        if not any(one.is_vacant for one in self._game.seats):
            for other in self._game.seats:
                if other is not seat:
                    self._note(other, "person")
        self.tell()

    def _note(self, seat: Seat, came: str) -> None:
        if seat.session is not None:
            self._server.note_waited(seat.session, round(seat.held_s, 1), came)

    # Leaving

    def leave(self, seat: Seat, outcome: str) -> None:
        """Let a player leave before the first step, when there is nothing to save. The outcome is `no_partner` for a player who
        has waited long enough."""
        if self._missing(seat):
            outcome = "no_partner" if self._has_choice(seat) else outcome
            self._note(seat, "nobody")
        seat.part(unplayed(outcome))
        self.free(seat)
        self._server.note_over(seat, state="ended")

    def free(self, seat: Seat) -> None:
        game = self._game
        was_counting = game.state is State.COUNTDOWN
        self.stop()
        with self._server.granting:  # nobody may join meanwhile
            game.seats[seat.index] = Seat(seat.name, seat.index)
            is_empty = not any(one.has_person for one in game.seats)
            game.state = State.ENDED if is_empty else State.EMPTY if game.state is State.EMPTY else State.WAITING
        if is_empty:
            game.watchers.end()
            game.command(channel.Close())
            game.leave_worker()
        else:
            if seat.agent is not None or seat.acting is not None:
                self._takeover.no_agent(game.seats[seat.index])
            if was_counting:
                self._wait_for_connected()
        game.tell_seats()
        self.tell()

    # The beginning

    def ready(self, seat: Seat) -> None:
        seat.is_ready = True
        self.begin_when_all_are_ready()
        self.tell()

    def unready(self, seat: Seat) -> None:
        """Note that a player is not ready any more. A countdown stops, and begins again when the player is back."""
        if not seat.unready():
            return
        if self._game.state is State.COUNTDOWN:
            self.stop()
            self._game.state = State.WAITING
            self._wait_for_connected(but=seat)
        self.tell()

    def begin_when_all_are_ready(self) -> None:
        if self._game.state is State.WAITING and all(seat.is_ready for seat in self._game.seats):
            for seat in self._game.seats:
                seat.stop_waiting()
            self._count_down(self._countdown_s)

    def _count_down(self, seconds: int) -> None:
        self.stop()
        self._game.state = State.COUNTDOWN
        if seconds > 0:
            for seat in self._game.seats:
                seat.text("countdown", seconds=seconds)
            self._timer = asyncio.get_running_loop().call_later(1.0, self._count_down, seconds - 1)
        elif self._game.is_opened:
            self._begin()
        else:
            self._begins_when_opened = True

    def opened(self) -> None:
        if self._begins_when_opened:
            self._begin()

    def _begin(self) -> None:
        self.stop()
        if self._game.state is State.COUNTDOWN:
            self._game.start_clock()

    def stop(self) -> None:
        self._begins_when_opened = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait_for_connected(self, *, but: Seat | None = None) -> None:
        """Limit again how long connected players, except `but`, may keep their seats without saying start."""
        for seat in self._game.seats:
            if seat is not but and seat.connection is not None:
                self._game.wait_for_player(seat)
