"""Agents in the seats of a game: from the start, in the place of a person who has left, and in a seat that a person shares.

An agent has a seat while `Seat.agent` names the agent. The worker lets the agent act and answers `Acting`; from the step in
that answer the recording has the agent's name. A game whose worker died asks for its agents again once its world is back.
"""

from __future__ import annotations

import logging
import secrets
from typing import Any

from interplay.play.connections import wire
from interplay.play.games.interfaces import BEGUN, OVER, GameServer, PlayedGame
from interplay.play.games.seat import Seat
from interplay.play.partners.driving import NOBODY
from interplay.play.workers import channel
from interplay.record import Owner

log = logging.getLogger("interplay.play")


class Takeover:
    """The agents of one game."""

    def __init__(self, game: PlayedGame, server: GameServer) -> None:
        self._game = game
        self._server = server

    # What the game asks for

    def let_agent(self, seat: Seat, agent: str) -> None:
        seat.agent = agent
        if self._game.is_opened:
            self._seat(seat)
        self._game.tell_seats()

    def let_person(self, seat: Seat) -> None:
        if seat.agent is None:
            return
        seat.agent = None
        if self._game.is_opened:
            self._seat_person(seat)

    def on_opened(self) -> None:
        partner = self._partner if len(self._game.seats) > 1 else None
        if partner is not None:
            self._server.expect(partner)
        for seat in self._game.seats:
            if seat.agent is not None:
                self._seat(seat)
            elif seat.acting is not None:  # who came back while there was no world
                self._seat_person(seat)

    # People who go and come back

    def can_go_on_without(self, seat: Seat) -> bool:
        """Whether the others can continue without this person: there is another person, and an agent that acts for this one."""
        return (
            self._game.state in BEGUN
            and any(other.has_person for other in self._game.seats if other is not seat)
            and self._stand_in(seat) is not None
        )

    def lost_socket(self, seat: Seat) -> None:
        """A player's connection was lost: let an agent act until the player returns, so that the others need not wait."""
        agent = self._stand_in(seat)
        if agent is None or not self.can_go_on_without(seat):
            return
        if seat.agent is None:
            self.let_agent(seat, agent)
        seat.is_restored = False
        self._game.go_on()

    def came_back(self, seat: Seat) -> None:
        """Give the seat back to a person who resumes, unless they share it with an agent or have left for good."""
        if seat.wheel is None and seat.leaving is None:
            self.let_person(seat)

    def gone(self, seat: Seat, outcome: str) -> None:
        """Let an agent act for a person who has left for good. If no agent can, end the game for all. `outcome`: `left` or
        `quit`."""
        agent = self._stand_in(seat)
        if agent is None or not self.can_go_on_without(seat):
            self._game.end(outcome, seat)
            return
        seat.stop_waiting()
        seat.leaving = outcome
        if seat.agent is None:
            self.let_agent(seat, agent)
        elif seat.acting is not None and seat.acting.agent == seat.agent:
            self._part(seat, seat.acting)

    def _part(self, seat: Seat, acting: channel.Acting) -> None:
        """Tell a person who has left how the game ended for them; the others continue to play."""
        facts: dict[str, Any] = {"total_reward": acting.total_reward, "num_steps": acting.step}
        seat.part(wire.text("ended", episode=self._game.episode_id, outcome=seat.leaving, may_ask=False, goes_on=True, **facts))
        seat.leaving = None
        self._game.look_away(seat)
        seat.is_gone, seat.is_restored = True, False
        self._game.go_on()  # if the others waited for this one only
        self._server.note_over(seat, state="ended", episode_id=self._game.episode_id)

    def _stand_in(self, seat: Seat) -> str | None:
        return seat.wheel or self._partner

    @property
    def _partner(self) -> str | None:
        """The agent that acts for people who have left: the agent of the study, or else the partner of the task."""
        study = self._game.study
        return (study.fallback if study else None) or self._server.partner(self._game.task)

    # The wheel

    def turn_over(self, seat: Seat, who: str) -> None:
        if seat.wheel is None or seat.leaving is not None:
            return
        if who == "me":
            self.let_person(seat)
        elif seat.agent is None:
            self.let_agent(seat, seat.wheel)

    # The worker's side

    def on_acting(self, seat: Seat, event: channel.Acting) -> None:
        if self._game.state in OVER:
            return
        before = seat.acting
        if before is None or event.agent is None or before.agent != event.agent or event.step < before.step:
            seat.acting = event  # else it has acted before, and its worker died meanwhile
        if seat.session is None and event.agent is not None and event.agent == seat.agent:  # else who brought it has left
            seat.owner = Owner(event.owner, "agent")
            seat.is_ready = True
        self.tell_wheel(seat)
        if seat.leaving is not None and event.agent is not None and seat.acting is not None:
            self._part(seat, seat.acting)
        self._game.tell_seats()

    def on_lost(self, seat: Seat, event: channel.AgentLost) -> None:
        if event.agent != seat.agent or self._game.state in OVER:
            return
        log.warning("agent %r lost seat %s: %s", event.agent, seat.name, event.message)
        for other in [] if self._game.is_blind else self._game.seats:
            told = (
                {"agent": event.agent, "message": event.message} if self._game.study is None else {"agent": "", "message": ""}
            )
            other.text("agent_failed", seat=seat.name, **told)
        if self._game.state not in BEGUN:
            self._lost_before_the_start(seat)
        elif seat.leaving is not None:
            outcome, seat.leaving, seat.agent = seat.leaving, None, None
            self._game.end(outcome, seat)
        elif seat.connection is not None:
            seat.agent = seat.wheel = None
            self._seat_person(seat)
        else:
            seat.agent = NOBODY
            self._seat(seat)
        self._game.tell_seats()

    def _lost_before_the_start(self, seat: Seat) -> None:
        if seat.session is None:
            self._game.look_away(seat)  # a countdown stops
        with self._server.granting:  # or who is given the seat meanwhile would lose it
            if seat.session is None:
                seat.owner = None
            seat.agent = seat.wheel = seat.acting = None
        self.no_agent(seat)

    def _seat(self, seat: Seat) -> None:
        assert seat.agent is not None
        self._server.expect(seat.agent)
        self._game.command(channel.AgentActs(seat.agent, secrets.randbits(63)), seat)

    def no_agent(self, seat: Seat) -> None:
        """Before the start: let the next player of a seat act there instead of the seat's agent."""
        if self._game.is_opened:
            self._game.command(channel.PersonActs("" if seat.owner is None else seat.owner.name), seat)

    def _seat_person(self, seat: Seat) -> None:
        if seat.owner is not None:
            self._game.command(channel.PersonActs(seat.owner.name), seat)

    def tell_wheel(self, seat: Seat) -> None:
        if seat.wheel is not None and seat.acting is not None:
            who = "me" if seat.acting.agent is None else "agent"
            seat.text("wheel", who=who, agent=seat.wheel, step=seat.acting.step)
