"""Players far away and players who read slowly, in a game whose clock is told and not looked at: so no machine is too slow."""

import heapq
import itertools
import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from trial_crews import crews_text

import interplay.record
from interplay.envs import make
from interplay.play.connections import wire
from interplay.play.workers.channel import ToWeb, Unpacker
from interplay.play.workers.live import LiveEpisode
from interplay.record import Archive, Owner
from interplay.tasks import parse_suite

pytest.importorskip("pettingzoo")

TASK = next(task for task in parse_suite(crews_text()).tasks if task.name == "two")
FRAME_US = round(1e6 / TASK.frame_rate_hz)
START_US = 1_000_000


class Network:
    """A live game of two, and what is under way between it and its players, by when it arrives.

    Args:
        paints: Seat -> what its player does with a frame that arrives then: returns when they say that they have painted it, or
            None where they do not.
    """

    def __init__(self, archive: Archive, paints: list[Callable[[int, int], int | None]]) -> None:
        self.paints = paints
        self.seen: list[list[int]] = [[], []]
        self.huds: list[dict] = [{}, {}]
        self.now_us = START_US
        self._sent: list[bytes] = []
        self._under_way: list[tuple[int, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        env = make(TASK)
        self.live = LiveEpisode(1, env, start=env.reset(seed=3), send=self._sent.append)
        for seat in self.live.seats:
            self.live.show(seat, 0)
        owners = {seat: Owner(seat, "human") for seat in TASK.seats}
        self.live.open_journal(archive.recorder(TASK, env, seed=3, owners=owners))
        self.live.driving.sit({seat: seat for seat in TASK.seats})
        self.live.start(START_US)
        self._deliver()

    def run(self, num_steps: int) -> None:
        """So many steps, each at its time, and what arrives before it."""
        for _ in range(num_steps):
            due_us = self.live.clock.due_us
            assert due_us is not None
            while self._under_way and self._under_way[0][0] <= due_us:
                self.now_us, _, arrive = heapq.heappop(self._under_way)
                arrive()
            self.now_us = due_us
            self.live.tick(due_us)
            self._deliver()

    def _deliver(self) -> None:
        for _, index, kind, payload in Unpacker().feed(b"".join(self._sent)):
            if kind == ToWeb.FRAME:
                step = wire.unpack_header(payload).step
                self.seen[index].append(step)
                painted_us = self.paints[index](self.now_us, step)
                if painted_us is not None:
                    answer = self._painted(index, step)
                    heapq.heappush(self._under_way, (painted_us, next(self._numbers), answer))
            elif kind == ToWeb.TEXT and (words := json.loads(payload))["type"] == "hud":
                self.huds[index] = words
        self._sent.clear()

    def _painted(self, index: int, step: int) -> Callable[[], None]:
        """Whoever has painted a frame answers at once with other buttons."""
        return lambda: self.live.input(
            self.live.seats[index], wire.PlayerInput(step % 3, step, self.now_us / 1000, received_us=self.now_us)
        )


@pytest.fixture
def network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    archive = interplay.record.open(tmp_path)
    made: list[Network] = []

    def begin(*paints: Callable[[int, int], int | None]) -> Network:
        made.append(Network(archive, list(paints)))
        return made[-1]

    yield begin
    for one in made:
        path = one.live.finish("quit").path
        assert path is not None
        episode = archive.seal(Path(path))
        assert interplay.record.verify(episode).equal
        one.live.env.close()
    archive.close()


def away(delay_ms: float) -> Callable[[int, int], int | None]:
    """Half of the delay each way."""
    return lambda now_us, step: round(now_us + 1000 * delay_ms)


@pytest.mark.parametrize("delay_ms", [0, 50, 150])
def test_the_delay_that_is_reported_is_the_one_of_the_network_within_two_frames(network, delay_ms: int) -> None:
    game = network(away(delay_ms), away(7))
    game.run(200)
    for hud, expected in zip(game.huds, (delay_ms, 7), strict=True):
        assert expected <= hud["input_ms"] <= expected + 2 * FRAME_US / 1000
    recorded = [seat.timing for seat in game.live.seats]
    assert [round(one.latency_ms - expected) in range(21) for one, expected in zip(recorded, (delay_ms, 7), strict=True)]
    assert all(after - before == 1 for steps in game.seen for before, after in pairwise(steps))


def test_who_reads_slowly_is_sent_no_old_frames_afterwards_and_slows_nobody(network) -> None:
    stalls_until_us = START_US + 200 * FRAME_US

    def stalled(now_us: int, step: int) -> int | None:
        """Everything that arrives in the first two seconds is painted at their end."""
        return max(now_us, stalls_until_us) + 10_000

    game = network(stalled, away(20))
    game.run(200)
    assert game.live.step == 200
    last = wire.MAX_UNACKNOWLEDGED_FRAMES + 1  # beside the first, which was there before the start
    assert game.seen[0] == list(range(last + 1)), "the rest was not made"
    assert game.seen[1] == list(range(201))
    game.run(100)
    slow, other = game.seen
    first = next(step for step in slow if step > last)
    assert 200 <= first <= 203, "the newest picture is the next one"
    assert slow[-1] == other[-1] == 300
    assert slow[slow.index(first) :] == list(range(first, 301))
    assert other == list(range(301))
