"""Sealing in its own process: answers, errors, and deaths of the process."""

import asyncio
import os
import signal
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from interplay.envs import make
from interplay.forking import Forked
from interplay.play.background import sealer
from interplay.play.background.answering import MAX_TRIES
from interplay.play.background.sealer import Sealer
from interplay.play.workers import starting
from interplay.record import Archive, RecordingError
from interplay.record.journal import episode_of
from interplay.tasks import find


def finished_journal(archive: Archive, *, num_steps: int = 50) -> Path:
    """The journal of a short episode, with its end marker."""
    task = find("atari/breakout")
    env = make(task)
    recorder = archive.recorder(task, env, seed=1, actor="tester", actor_kind="agent")
    recorder.start(*env.reset(seed=1))
    for step in range(num_steps):
        recorder.step({"player": 0}, env.step({"player": 0}), clock_us=step * 16_667)
    return recorder.finish("quit")


@asynccontextmanager
async def running(archive: Archive) -> AsyncIterator[Sealer]:
    one = Sealer(data=archive.root, database=archive.database.address)
    try:
        yield one
    finally:
        await one.stop()


def process_id(one: Sealer) -> int:
    assert one._link is not None
    return one._link.process.pid


def test_it_seals_and_answers_with_the_id_giving_way_to_games_but_never_starved(archive: Archive) -> None:
    async def scenario() -> None:
        async with running(archive) as one:
            paths = [finished_journal(archive) for _ in range(3)]
            ids = await asyncio.gather(*(one.seal(path) for path in paths))
            assert sorted(ids) == sorted(episode.id for episode in archive.episodes())
            assert not any(path.exists() for path in paths)
            assert os.getpriority(os.PRIO_PROCESS, process_id(one)) == os.getpriority(os.PRIO_PROCESS, 0) + 5
            assert os.sched_getscheduler(process_id(one)) == os.SCHED_BATCH  # SCHED_IDLE waits for seconds beside busy loops

    asyncio.run(scenario())


def test_a_journal_that_cannot_be_sealed_is_an_error_and_stays_and_the_next_is_sealed(archive: Archive) -> None:
    async def scenario() -> None:
        async with running(archive) as one:
            broken = archive.journal_folder / "broken.0.arrows"
            broken.write_bytes(b"no Arrow stream")
            with pytest.raises(RecordingError):
                await one.seal(broken)
            assert broken.exists()
            with pytest.raises(RecordingError, match="no such journal"):
                await one.seal(archive.journal_folder / "missing.0.arrows")
            assert (await one.seal(finished_journal(archive))) == archive.episodes()[0].id

    asyncio.run(scenario())


def test_a_process_that_dies_is_replaced_and_its_work_done(archive: Archive) -> None:
    async def scenario() -> None:
        async with running(archive) as one:
            await one.start()
            first = process_id(one)
            os.kill(first, signal.SIGSTOP)
            sealing = asyncio.create_task(one.seal(finished_journal(archive)))
            await asyncio.sleep(0.1)
            assert not sealing.done()
            os.kill(first, signal.SIGKILL)
            assert await asyncio.wait_for(sealing, 60) == archive.episodes()[0].id
            assert process_id(one) != first

    asyncio.run(scenario())


def test_a_journal_that_kills_the_process_takes_none_of_those_behind_it_along(archive: Archive) -> None:
    async def scenario() -> None:
        async with running(archive) as one:
            first, second = finished_journal(archive), finished_journal(archive)
            sealing = []
            for _ in range(MAX_TRIES):
                await one.start()
                os.kill(process_id(one), signal.SIGSTOP)
                if not sealing:
                    sealing = [asyncio.create_task(one.seal(path)) for path in (first, second)]
                await asyncio.sleep(0.1)
                link = one._link
                os.kill(process_id(one), signal.SIGKILL)
                while one._link is link or (one._link is None and not sealing[0].done()):
                    await asyncio.sleep(0.001)
            with pytest.raises(RecordingError, match="died 2 times; the journal stays"):
                await sealing[0]
            assert await asyncio.wait_for(sealing[1], 60) == episode_of(second)
            assert first.exists()
            assert one.statistics()["deaths"] == MAX_TRIES

    asyncio.run(scenario())


def test_a_journal_that_was_sealed_meanwhile_is_as_good(archive: Archive) -> None:
    async def scenario() -> None:
        path = finished_journal(archive)
        episode = archive.seal(path)
        async with running(archive) as one:
            assert await one.seal(path) == episode.id
            assert one.statistics()["cpu_s"] > 0

    asyncio.run(scenario())


def test_stopping_does_not_wait_for_ever(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        monkeypatch.setattr(sealer, "STOP_TIMEOUT_S", 0.2)
        path = finished_journal(archive)
        async with running(archive) as one:
            await one.start()
            os.kill(process_id(one), signal.SIGSTOP)
            sealing = asyncio.create_task(one.seal(path))
            await asyncio.sleep(0.1)
        with pytest.raises(RecordingError, match="the server was stopped; the journal stays"):
            await sealing
        assert path.exists()

    asyncio.run(scenario())


def test_a_journal_that_kills_the_process_each_time_stays(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        path = finished_journal(archive)
        monkeypatch.setattr(sealer, "SEALER_MODULE", "this_module_does_not_exist")
        async with running(archive) as one:
            with pytest.raises(RecordingError, match="died 2 times; the journal stays"):
                await one.seal(path)
        assert path.exists()

    asyncio.run(scenario())


def test_no_process_can_be_started(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(module: str) -> None:
        raise OSError(f"{module}: no more processes")

    async def scenario() -> None:
        path = finished_journal(archive)
        monkeypatch.setattr(starting, "start", refuse)
        async with running(archive) as one:
            with pytest.raises(RecordingError, match=r"could be started.*no more processes"):
                await one.seal(path)
        assert path.exists()

    asyncio.run(scenario())


def test_a_process_that_is_being_started_when_the_server_stops_is_ended_and_no_other_follows(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, may_go_on, real = [], threading.Event(), starting.start

    def slow(module: str) -> tuple[Forked, socket.socket]:
        may_go_on.wait(60)
        made = real(module)
        started.append(made[0])
        return made

    async def scenario() -> None:
        monkeypatch.setattr(starting, "start", slow)
        one = Sealer(data=archive.root, database=archive.database.address)
        first, second = (asyncio.create_task(one.start()) for _ in range(2))
        await asyncio.sleep(0.05)
        stopped = asyncio.create_task(one.stop())
        third = asyncio.create_task(one.start())
        await asyncio.sleep(0.05)
        may_go_on.set()
        await asyncio.gather(first, second, stopped, third, return_exceptions=True)
        assert isinstance(third.exception(), ConnectionError)
        assert [process.wait(60) for process in started] == [0]

    asyncio.run(scenario())
