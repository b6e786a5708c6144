"""When a worker steps its episodes and writes their journals, and where it runs."""

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

import interplay.envs
import interplay.record
from interplay.play.connections.wire import PlayerInput
from interplay.play.workers import processes, starting
from interplay.play.workers.channel import Configure, Statistics, ToWorker, Unpacker, pack_command, pack_event
from interplay.play.workers.clock import SLOTS
from interplay.play.workers.live import LiveEpisode
from interplay.play.workers.live_seat import LiveSeat
from interplay.play.workers.pool import LONG_STEP_S, QUIET_S, SILENT_S, WorkerLink
from interplay.play.workers.worker import Worker
from interplay.tasks import find


class Recorder:
    """Notes when it is told to write."""

    def __init__(self, oldest_us: int | None) -> None:
        self.oldest_us = oldest_us
        self.num_writes = 0

    def flush(self) -> None:
        self.oldest_us = None
        self.num_writes += 1


@pytest.fixture
def worker() -> Iterator[Worker]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        one = Worker(theirs)
        yield one
        one._jobs.put(None)
        one._helper.join()


def episode(worker: Worker, number: int, *, oldest_us: int | None = None) -> LiveEpisode:
    """A running one whose first step nobody makes."""
    env = interplay.envs.make(find("atari/breakout"))
    start = env.reset(seed=1)
    live = LiveEpisode(number, env, start=start, send=lambda message: None)
    recorder: Any = Recorder(oldest_us)
    live.episode.recorder, live.wanted = recorder, True
    worker._episodes[number] = live
    worker._start(live)
    return live


def test_steps_are_spread_evenly_over_the_frame_whoever_leaves(worker: Worker) -> None:
    lives = [episode(worker, number) for number in range(2 * SLOTS)]
    assert set(Counter(live.slot for live in lives).values()) == {2}
    period_us = lives[0].clock.period_us
    moments = {round(live.clock.due_us % period_us / period_us * SLOTS, 3) % SLOTS for live in lives}
    assert moments == {0, 1, 2, 3}
    gone = lives[5]
    gone.running = False
    assert episode(worker, 99).slot == gone.slot


def test_journals_are_written_in_a_quiet_moment_those_that_have_waited_long_together(worker: Worker) -> None:
    lives = [episode(worker, number, oldest_us=0) for number in range(4)]

    def waited(*times_us: int) -> None:
        for live, waited_us in zip(lives, times_us, strict=True):
            live._time_zero_us = time.monotonic_ns() // 1000 - waited_us

    def writes(next_in_us: int) -> list[int]:
        worker._spare.write_journals(time.monotonic_ns() // 1000 + next_in_us)
        return [live.recorder.num_writes for live in lives]  # type: ignore[union-attr]

    waited(100_000, 300_000, 650_000, 750_000)
    assert writes(500) == [0, 0, 0, 0], "a step is due"
    assert writes(60_000_000) == [0, 0, 1, 1], "the one that has waited longest, and the next"
    assert writes(60_000_000) == [0, 0, 1, 1], "the others have time"
    waited(0, 0, 0, 0)
    worker._spare._write_at_us = 0
    assert writes(60_000_000) == [0, 0, 1, 1]


def test_a_button_that_is_tapped_or_pressed_again_between_two_steps_changes_in_a_step() -> None:
    for inputs, steps in (
        ("1 | 1 |", "11"),
        ("1 0 | |", "10"),
        ("1 | 0 1 | |", "101"),
        ("1 | 0 1 0 | | |", "1010"),
        ("1 | 0 1 0 1 | | |", "1011"),
        ("0 1 0 1 | | |", "111"),
        ("1 | 0 | 1 |", "101"),
    ):
        seat = LiveSeat(0, 0, "player", mask=1, encoder=Mock(), send=print)
        made = ""
        for said in inputs.split():
            if said == "|":
                made += str(seat.take_buttons(0))
            else:
                seat.input(PlayerInput(int(said), 0, 0.0))
        assert made == steps, inputs


def test_a_worker_for_each_core_runs_on_its_core(tmp_path: Path) -> None:
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        pytest.skip("this machine has one core")
    archive = interplay.record.open(tmp_path)
    archive.close()
    for num_workers, expected in ((len(cores), {cores[1]}), (len(cores) + 1, set(cores))):
        process, ours = starting.start("interplay.play.workers.worker")
        with ours:
            command = Configure(str(tmp_path), archive.database.address, place=1, num_workers=num_workers)
            ours.sendall(pack_command(0, command))
            ours.settimeout(60)
            unpacker, num_reports = Unpacker(), 0
            while num_reports < 2:  # by the second report of how it is doing it has read the command
                num_reports += len(list(unpacker.feed(ours.recv(1 << 16))))
            assert os.sched_getaffinity(process.pid) == expected
        process.wait(60)


SPACES_AND_DATABASE = """
import sys
import interplay.record
from interplay.record.format.spaces import to_arrow
from gymnasium.spaces import MultiBinary

def main(descriptor):
    before = {name.partition(".")[0] for name in sys.modules}
    interplay.record.open(".").close()
    to_arrow(MultiBinary(2), [[0, 1]])
    print(sorted({name.partition(".")[0] for name in sys.modules} - before), file=open("said", "w"))
"""


def test_a_process_loads_nothing_when_it_opens_the_archive_and_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pandas and Alembic would take half a second of a game."""
    (tmp_path / "spaces_and_database.py").write_text(SPACES_AND_DATABASE)
    interplay.record.open(tmp_path).close()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    process, ours = starting.start("spaces_and_database")
    ours.close()
    assert process.wait(60) == 0
    assert (tmp_path / "said").read_text() == "[]\n"


def test_the_worker_of_the_baseline_in_the_benchmark_runs_too(tmp_path: Path) -> None:
    interplay.record.open(tmp_path).close()
    process, ours = starting.start("bench.crowdplay_worker")
    with ours:
        ours.sendall(pack_command(0, Configure(str(tmp_path), f"sqlite:///{tmp_path}/interplay.db", place=0, num_workers=1)))
        ours.settimeout(60)
        assert list(Unpacker().feed(ours.recv(1 << 16))), "its first report"
    assert process.wait(60) == 0


def test_a_process_that_gets_no_core_is_not_one_that_sleeps() -> None:
    core = min(os.sched_getaffinity(0))
    code = f"import os; os.sched_setaffinity(0, {{{core}}}); print(flush=True)\nwhile True: pass"
    rivals = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(4)]
    try:
        for rival in rivals:
            assert rival.stdout is not None
            rival.stdout.readline()
        before = [processes.state_of(rival.pid)[1] for rival in rivals]
        began = time.monotonic()
        time.sleep(2.0)
        wanted = [processes.state_of(rival.pid)[1] - was for rival, was in zip(rivals, before, strict=True)]
        passed = time.monotonic() - began
    finally:
        for rival in rivals:
            rival.kill()
            rival.communicate()
    assert sum(wanted) > 2 * passed  # they had one core at the most


def test_a_process_whose_threads_come_and_go_is_there() -> None:
    code = """
import threading
print(flush=True)
while True:
    threads = [threading.Thread(target=int) for _ in range(50)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        states = [processes.state_of(process.pid)[0] for _ in range(5000)]
    finally:
        process.kill()
        process.communicate()
    assert "" not in states


def test_a_worker_that_computes_still_does_when_one_of_its_threads_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    used = iter([50.0, 51.0, 8.0, 9.0, 10.0, *[10.0] * 1000])  # a thread that had waited for 44 s ends
    monkeypatch.setattr(processes, "state_of", lambda pid: ("R", next(used)))

    async def silence() -> None:
        with subprocess.Popen(["true"]) as process:
            link = WorkerLink(process, lambda link: None, place=0)
            link.data_received(b"")
            assert not link.is_hung(QUIET_S)
            assert not any(link.is_hung(1.0) for _ in range(4))
            assert link.silent_s > SILENT_S
            while not link.is_hung(1.0):  # it computes no more
                assert link.silent_s < LONG_STEP_S

    asyncio.run(silence())


def test_what_a_worker_says_last_is_read_whatever_it_would_have_been_told_meanwhile() -> None:
    said = Statistics(
        num_steps=7, num_games=0, num_running=0, num_stalls=0, late_0_1ms={}, cpu_s=0.0, num_decisions=0, num_late=0
    )

    async def stop() -> None:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with subprocess.Popen(["true"]) as process:
            link = await processes.connect(WorkerLink(process, lambda link: None, place=0), ours)
            link.stop()
            theirs.recv(1 << 16)
            theirs.sendall(pack_event(0, said))
            theirs.close()
            link.send(1, ToWorker.INPUT, b"what a player presses")
            await link.gone
        assert link.statistics == said

    asyncio.run(stop())
