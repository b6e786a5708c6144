"""Sealing in its own process: answers, errors, and deaths of the process."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import interplay.record
from interplay.envs import make
from interplay.play import processes, sealer
from interplay.play.sealer import Sealer
from interplay.record import Archive, RecordingError
from interplay.tasks import find


def finished_journal(archive: Archive, *, num_steps: int = 50) -> Path:
    """The journal of a short episode, with its end marker."""
    task = find("atari/breakout")
    env = make(task)
    recorder = archive.recorder(task, env, seed=1, actor="tester", actor_kind="agent")
    recorder.start(*env.reset(seed=1))
    for step in range(num_steps):
        recorder.step(0, env.step(0), clock_us=step * 16_667)
    return recorder.finish("quit")


@asynccontextmanager
async def running(archive: Archive) -> AsyncIterator[Sealer]:
    address = archive.database.engine.url.render_as_string(hide_password=False)
    one = Sealer(data=archive.root, database=address)
    try:
        yield one
    finally:
        await one.stop()


def process_id(one: Sealer) -> int:
    assert one._link is not None
    return one._link.process.pid


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return interplay.record.open(tmp_path)


def test_it_seals_and_answers_with_the_id_at_low_priority(archive: Archive) -> None:
    async def scenario() -> None:
        async with running(archive) as one:
            paths = [finished_journal(archive) for _ in range(3)]
            ids = await asyncio.gather(*(one.seal(str(path)) for path in paths))
            assert sorted(ids) == sorted(episode.id for episode in archive.episodes())
            assert not any(path.exists() for path in paths)
            assert os.getpriority(os.PRIO_PROCESS, process_id(one)) >= os.getpriority(os.PRIO_PROCESS, 0) + sealer.NICENESS

    asyncio.run(scenario())


def test_a_journal_that_cannot_be_sealed_is_an_error_and_stays_and_the_next_is_sealed(archive: Archive) -> None:
    async def scenario() -> None:
        async with running(archive) as one:
            broken = archive.journal_folder / "broken.0.arrows"
            broken.write_bytes(b"no Arrow stream")
            with pytest.raises(RecordingError):
                await one.seal(str(broken))
            assert broken.exists()
            with pytest.raises(RecordingError, match="no such journal"):
                await one.seal(str(archive.journal_folder / "missing.0.arrows"))
            assert (await one.seal(str(finished_journal(archive)))) == archive.episodes()[0].id

    asyncio.run(scenario())


def test_a_process_that_dies_is_replaced_and_its_work_done(archive: Archive) -> None:
    async def scenario() -> None:
        async with running(archive) as one:
            await one.start()
            first = process_id(one)
            os.kill(first, signal.SIGSTOP)
            sealing = asyncio.create_task(one.seal(str(finished_journal(archive))))
            await asyncio.sleep(0.1)
            assert not sealing.done()
            os.kill(first, signal.SIGKILL)
            assert await asyncio.wait_for(sealing, 30) == archive.episodes()[0].id
            assert process_id(one) != first

    asyncio.run(scenario())


def test_a_journal_that_kills_the_process_each_time_stays(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        path = finished_journal(archive)
        monkeypatch.setattr(sealer, "SEALER_MODULE", "this_module_does_not_exist")
        async with running(archive) as one:
            with pytest.raises(RecordingError, match="died 2 times; the journal stays"):
                await one.seal(str(path))
        assert path.exists()

    asyncio.run(scenario())


def test_no_process_can_be_started(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(module: str) -> None:
        raise OSError(f"{module}: no more processes")

    async def scenario() -> None:
        path = finished_journal(archive)
        monkeypatch.setattr(processes, "start", refuse)
        async with running(archive) as one:
            with pytest.raises(RecordingError, match=r"could be started.*no more processes"):
                await one.seal(str(path))
        assert path.exists()

    asyncio.run(scenario())
