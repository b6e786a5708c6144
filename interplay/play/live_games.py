"""The games that are being played now, for the operator: each game, its seats, and how well it runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from interplay.play.games.game import Game
from interplay.play.games.interfaces import OVER
from interplay.play.games.seat import Seat
from interplay.play.workers.clock import Lateness


@dataclass(frozen=True)
class LiveSeat:
    """A seat of a game that is played.

    Attributes:
        who: The person or agent that acts there, as recordings name them; empty for an open seat.
        kind: `human`, `agent` or `model`; empty for an open seat.
        state: `open`, `here`, `ready`, `playing`, `away` or `agent`, as players of the game are told (docs/protocol.md).
        held_s: Seconds for which somebody has had the seat.
        score: The score; None before the first step, or if no player is told.
        rate_hz: Steps a second, over the last two seconds.
        input_ms: Median input latency.
        is_connected: Whether the player's socket is open.
    """

    seat: str
    who: str
    kind: str
    state: str
    held_s: float
    score: float | None
    rate_hz: float | None
    input_ms: float | None
    is_connected: bool


@dataclass(frozen=True)
class LiveGame:
    """A game that is played, or waits for its players.

    Attributes:
        server: Address of its server on this host, `/n/<node>` in a cluster, else empty.
        number: Number of the game for watchers, as long as the server runs.
        study: Id of the study that the game belongs to.
        began_s: Seconds for which somebody has had a seat.
        step: Number of steps played when a player last got a message.
        late_p99_ms: How late steps begin in the game's worker: 99th percentile since the worker started; None without a worker.
    """

    server: str
    number: int
    task: str
    state: str
    study: str | None
    began_s: float
    step: int
    frame_rate_hz: float
    late_p99_ms: float | None
    num_watchers: int
    seats: tuple[LiveSeat, ...]

    @property
    def is_waiting(self) -> bool:
        return any(seat.state == "open" for seat in self.seats)

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> LiveGame:
        """Read what `dataclasses.asdict` wrote."""
        return cls(**document | {"seats": tuple(LiveSeat(**one) for one in document["seats"])})


def live_games(games: Iterable[Game], server: str) -> list[LiveGame]:
    """Return the games of one server that are not over; `server`: as in `LiveGame`."""
    return [live_game(game, server) for game in sorted(games, key=lambda one: one.number) if game.state not in OVER]


def live_game(game: Game, server: str) -> LiveGame:
    held = [seat.held_s for seat in game.seats if seat.session is not None]
    return LiveGame(
        server=server,
        number=game.number,
        task=game.task.id,
        state=game.state.value,
        study=None if game.study is None else game.study.study,
        began_s=round(max(held, default=0.0), 1),
        step=max((seat.facts.get("step", 0) for seat in game.seats), default=0),
        frame_rate_hz=game.task.frame_rate_hz,
        late_p99_ms=_late_ms(game),
        num_watchers=len(game.watchers),
        seats=tuple(_seat(game, seat) for seat in game.seats),
    )


def _seat(game: Game, seat: Seat) -> LiveSeat:
    facts, owner = seat.facts, seat.owner
    acts = seat.acting.owner if seat.acting is not None and seat.acting.agent is not None else seat.agent
    who = "" if seat.is_open else acts or (owner.name if owner is not None else "")
    kind = "" if seat.is_open else "agent" if acts else owner.kind if owner is not None else ""
    return LiveSeat(
        seat=seat.name,
        who=who,
        kind=kind,
        state=game.state_of(seat)["state"],
        held_s=round(seat.held_s, 1),
        score=facts.get("score"),
        rate_hz=facts.get("rate_hz"),
        input_ms=facts.get("input_ms"),
        is_connected=seat.connection is not None,
    )


def _late_ms(game: Game) -> float | None:
    link = game.hosting.link
    if link is None or link.statistics is None:
        return None
    counts = [0] * (Lateness.BINS + 1)
    for index, count in link.statistics.late_0_1ms.items():
        counts[int(index)] = count
    return Lateness(counts).quantile_ms(0.99)
