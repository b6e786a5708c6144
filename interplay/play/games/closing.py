"""The end of a game: the recording is sealed, and everybody in the game is told."""

from __future__ import annotations

import logging
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from interplay.play.connections import wire
from interplay.play.games import agreement
from interplay.play.games.interfaces import GameServer, PlayedGame, State
from interplay.play.games.seat import Seat
from interplay.play.workers import channel

log = logging.getLogger("interplay.play")


class Closing:
    """The end of one game. `ended_by` is the seat whose player ended it for all; `sealed_id` is the sealed episode."""

    def __init__(self, game: PlayedGame, server: GameServer) -> None:
        self._game = game
        self._server = server
        self.ended_by: Seat | None = None
        self.sealed_id: str | None = None

    def ended(self, event: channel.Ended) -> None:
        self._end_with(self._seal(event))

    def failed(self, code: str, message: str) -> None:
        self._end_with(self._seal_what_is_left(code, message))

    def unanswered(self, outcome: str, seat: Seat) -> None:
        """Close and seal the journal after a player has ended the game, if no worker can do it."""
        self.ended_by = seat
        self._end_with(self._seal_for_worker(outcome))

    def _end_with(self, sealing: Coroutine[Any, Any, None]) -> None:
        with self._server.granting:  # nobody joins a game that is ending
            self._game.state = State.ENDING
        self._game.stop_timers()
        self._game.leave_worker()
        self._game.run(sealing)

    async def _seal(self, event: channel.Ended) -> None:
        game = self._game
        try:
            episode_id = None if event.path is None else await self._server.seal(Path(event.path))
        except Exception:
            log.exception("game %d: sealing %s failed", game.number, event.path, extra={"game": game.number})
            message = "your game is saved, but it is not in the catalogue yet"
            words = wire.text("error", code="not_sealed", message=message, episode=game.episode_id)
            self._is_over(dict.fromkeys(game.seats, words), state="interrupted", episode_id=game.episode_id)
            return
        if episode_id is None:
            self._is_over(dict.fromkeys(game.seats, unplayed(event.outcome)), state="ended")
            return
        self.sealed_id = episode_id
        more: dict[str, Any] = {} if self.ended_by is None or len(game.seats) == 1 else {"by": self.ended_by.name}
        can_be = agreement.can_be_compared(game.task, game.seed, event.outcome, game.owners.values())
        said = {
            seat: wire.text(
                "ended",
                episode=episode_id,
                outcome=event.outcome,
                total_reward=event.total_rewards[seat.index],
                num_steps=event.num_steps,
                may_ask=can_be and seat.owner is not None and seat.owner.participant_id is not None,
                **more,
            )
            for seat in game.seats
        }
        self._is_over(said, state="ended", episode_id=episode_id)

    async def _seal_for_worker(self, outcome: str) -> None:
        try:
            event = await self._server.end_journal(self._game.episode_id, outcome)
        except Exception:
            log.exception("game %d: its journal was not ended", self._game.number, extra={"game": self._game.number})
            await self._seal_what_is_left("interrupted", "the episode ended while its worker died")
        else:
            await self._seal(event)

    async def _seal_what_is_left(self, code: str, message: str) -> None:
        is_kept = await self._server.seal_what_is_left(self._game.episode_id)
        episode_id = self._game.episode_id if is_kept else None
        message += "\nYour game until then is kept." if is_kept else ""
        words = wire.text("error", code=code, message=message, episode=episode_id)
        self._is_over(dict.fromkeys(self._game.seats, words), state="interrupted", episode_id=episode_id)

    def _is_over(self, words: dict[Seat, str], *, state: str, episode_id: str | None = None) -> None:
        self.part(words)
        for seat in self._game.seats:
            if seat.session is not None and not seat.is_gone:
                self._server.note_over(seat, state=state, episode_id=episode_id)

    def part(self, words: dict[Seat, str]) -> None:
        self._game.state = State.ENDED
        self._game.stop_timers()
        self._game.watchers.end()
        for seat in self._game.seats:
            seat.part(words[seat])


def unplayed(outcome: str) -> str:
    """Return the last message for players of a game in which nothing was recorded."""
    return wire.text("ended", episode=None, outcome=outcome, total_reward=0.0, num_steps=0)
