"""A player far away beside one next door, on a real server: an Atari game for two, and a proxy that keeps all a while."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from play_server import RunningServer, running_server

import interplay.record
from interplay.play.client import PlayClient
from interplay.play.connections import wire

pytest.importorskip("multi_agent_ale_py")
pytestmark = [pytest.mark.live_clock, pytest.mark.processes]

TASK = "atari-two/space_invaders_cooperative"
FRAME_MS = 1000 / 60
DELAYS_MS = (0, 50, 150)
NUM_STALLED = 3 * wire.MAX_UNACKNOWLEDGED_FRAMES


class Proxy:
    """Passes on what comes to one server, half of a delay later each way, and nothing while `is_open` is not set."""

    def __init__(self, server: RunningServer) -> None:
        self.delay_ms = 0.0
        self.is_open = asyncio.Event()
        self.is_open.set()
        self.address = ""
        self._host, self._port = server.address.removeprefix("http://").split(":")
        self._passing: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[Proxy]:
        async with await asyncio.start_server(self._meet, "127.0.0.1", 0) as listener:
            self.address = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
            yield self
            for task in self._passing:
                task.cancel()

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there = await asyncio.open_connection(self._host, int(self._port))
        for source, target in ((reader, there[1]), (there[0], writer)):
            under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
            self._passing.add(asyncio.create_task(self._take(source, under_way)))
            self._passing.add(asyncio.create_task(self._bring(under_way, target)))

    async def _take(self, source: asyncio.StreamReader, under_way: asyncio.Queue[tuple[float, bytes]]) -> None:
        now = asyncio.get_running_loop().time
        while data := await source.read(1 << 16):
            under_way.put_nowait((now() + self.delay_ms / 2000, data))

    async def _bring(self, under_way: asyncio.Queue[tuple[float, bytes]], target: asyncio.StreamWriter) -> None:
        now = asyncio.get_running_loop().time
        while True:
            due, data = await under_way.get()
            await asyncio.sleep(due - now())
            await self.is_open.wait()
            target.write(data)


class Player:
    """Answers every frame with other buttons, and notes the steps that it saw."""

    def __init__(self, client: PlayClient) -> None:
        self.client = client
        self.steps: list[int] = []

    async def play(self) -> None:
        async for _ in self.client.frames():
            self.steps.append(self.client.step)
            await self.client.press(1 + self.client.step % 2)

    @property
    def told_ms(self) -> float:
        return self.client.hud.get("input_ms", 0.0)


async def until(is_so: Callable[[], object]) -> None:
    async with asyncio.timeout(120):
        while not is_so():
            await asyncio.sleep(0.02)


def test_the_delay_of_the_network_is_reported_and_who_is_cut_off_neither_catches_up_nor_slows_the_other(tmp_path: Path) -> None:
    async def scenario(server: RunningServer) -> str:
        async with Proxy(server).listening() as proxy:
            grant = (await server.open(TASK, connect=False, actor="far")).grant
            far, near = Player(PlayClient(proxy.address, grant)), Player(await server.open(TASK, actor="near"))
            await far.client.connect()
            for one in (far, near):
                await one.client.start()
            playing = [asyncio.create_task(one.play()) for one in (far, near)]
            for proxy.delay_ms in DELAYS_MS:
                # On a busy machine both are told of what it adds; in a quiet moment it is the network alone.
                await until(lambda: near.told_ms and abs(far.told_ms - near.told_ms - proxy.delay_ms) <= 2 * FRAME_MS)
            proxy.delay_ms = 0.0
            proxy.is_open.clear()
            first = near.client.step
            await until(lambda: near.client.step >= first + NUM_STALLED)
            proxy.is_open.set()
            last = near.client.step
            await until(lambda: far.client.step > last)
            meanwhile = [step for step in far.steps if first < step < last]
            assert len(meanwhile) <= wire.MAX_UNACKNOWLEDGED_FRAMES + 1, "what was on the way; the rest was not made"
            assert far.steps == sorted(set(far.steps))
            await near.client.quit()
            await asyncio.gather(*playing)
            assert far.client.ended is not None
            return far.client.ended["episode"]

    with running_server(tmp_path / "data", "--workers", "1", partners=(f"{TASK}=none",)) as server:
        episode = asyncio.run(scenario(server))
    archive = interplay.record.open(tmp_path / "data")
    assert interplay.record.verify(archive.get(episode)).equal
    archive.close()
