"""Games of the block world whose players' browsers draw, through the real server: what they know is the world."""

import asyncio
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from play_server import RunningServer, running_server

import interplay.record
from blockworld.scene.decoder import SceneDecoder
from interplay.envs import make
from interplay.envs.voxel.env import VoxelEnv
from interplay.play.client import PlayClient, PlayClientError
from interplay.play.connections import wire
from interplay.record import Episode
from interplay.tasks import find

pytestmark = pytest.mark.processes

WATERFALL, BLOCKS = "basalt/make_waterfall", "trial/blocks"


class Browser:
    """A player whose page draws: asks for the land until it has all of it."""

    def __init__(self, client: PlayClient) -> None:
        self.client = client
        self.scene = SceneDecoder()
        self._number = 0
        self.flags: list[int] = []
        self.steps: list[int] = []
        client.on_scene = self._take

    def _take(self, header: wire.FrameHeader, payload: bytes) -> None:
        if header.flags & wire.FRESH:
            self.scene.left = None
            self._number = 0
        assert header.number == self._number
        self._number += 1
        self.scene.apply(header.kind, payload)
        if header.kind == wire.SCENE_FRAME:
            self.flags.append(header.flags)
            self.steps.append(header.step)

    async def until(self, is_so: Callable[[], Any], within_s: float = 100.0) -> None:
        async with asyncio.timeout(within_s):
            while not is_so():
                await self.client.receive()

    async def ask_for_everything(self) -> None:
        """All parts of the land, eight at a time."""
        while self.scene.left != 0:
            have = self.client.num_land
            await self.client.ask_for_land(8)
            await self.until(lambda have=have: self.client.num_land == have + 8 or self.scene.left == 0)

    async def walk(self, num_steps: int) -> None:
        """Dig forward and look around."""
        keys = find(WATERFALL).keys
        goal = self.client.step + num_steps
        while self.client.step < goal:
            yaw = (7.0 * self.client.step + 180) % 360 - 180
            await self.client.look(keys.mask({"forward", "attack"}), 60.0, yaw)
            await self.until(lambda step=self.client.step: self.client.step > step or self.client.ended)

    def check(self, episode: Episode, seat: int = 0) -> None:
        """What it knows is what the recording leads to when it is played again."""
        env = make(episode.task)
        assert isinstance(env, VoxelEnv)
        env.reset(seed=episode.seed)
        names = episode.task.seats
        for step in range(self.steps[-1]):
            actions = {name: episode.actions(name)[step] for name in names}
            env.step_unseen(actions)
        grid, me = env.world.grid, env.world.players[seat]
        known = self.scene.known
        assert known.any()
        assert np.array_equal(self.scene.blocks[known], grid.blocks[known])
        assert np.array_equal(self.scene.light[known], grid.light[known])
        assert self.scene.num_unknown == 0
        told = self.scene.document["me"]
        assert [told[name] for name in ("x", "y", "z")] == [round(float(getattr(me, name)), 5) for name in ("x", "y", "z")]
        env.close()


def opened(server: RunningServer, browser: Browser) -> Episode:
    ended = browser.client.ended
    assert ended is not None
    return interplay.record.open(server.data).get(ended["episode"])


async def kill_workers(server: RunningServer) -> None:
    for worker in (await server.statistics())["workers"]:
        os.kill(worker["pid"], signal.SIGKILL)


def test_a_page_that_draws_knows_the_world_and_goes_on_when_its_worker_dies(tmp_path: Path) -> None:
    async def scenario(server: RunningServer) -> None:
        browser = Browser(await server.open(WATERFALL, seed=3, drawn="here"))
        client = browser.client
        async with httpx.AsyncClient() as http:
            tables = await http.get(server.address + client.welcome["scene"]["tables"])
        assert tables.status_code == 200
        assert len(tables.content) < 1_000_000
        await browser.until(lambda: browser.flags)
        assert browser.flags == [wire.FRESH]
        await browser.ask_for_everything()  # while the game waits for its start
        assert client.num_land == 64
        assert browser.scene.known.all()
        await client.start()
        keys = {"drop": "KeyX", "no such button": "KeyY"}
        await client.send("options", sensitivity=0.5, is_inverted=True, fov=95, gui_scale=1.4, keys=keys)
        await browser.walk(30)
        await client.send("painted", yaw=1.5, pitch=2.0, width=1280, height=720, fps=60, input_ms=55.5)
        await browser.walk(30)
        assert set(browser.flags[1:]) == {0}
        assert client.num_land == 64  # none comes unasked
        begun = len(browser.flags)
        await client.draw("server")
        await browser.until(lambda: client.decoder.step > browser.steps[-1] + 45)  # the journal may lack the last second
        assert len(browser.flags) <= begun + 3
        await client.draw("here")
        await browser.until(lambda: browser.flags[-1] == wire.FRESH)
        await kill_workers(server)
        begun = len(browser.flags)
        await browser.until(lambda: wire.FRESH in browser.flags[begun:])
        await browser.ask_for_everything()
        await browser.walk(20)
        assert browser.flags[-1] == 0
        await client.quit()
        await browser.until(lambda: client.ended)
        episode = opened(server, browser)
        assert interplay.record.verify(episode).equal
        steps = episode.steps()
        hashes = steps.column("frame_hash").to_pylist()
        assert hashes[40] is None
        assert any(one is not None for one in hashes[60:])  # what the server drew in between
        assert 1280 in steps.column("painted.player.width").to_pylist()
        (set_once,) = [one for one in steps.column("options.player").to_pylist() if one is not None]
        chosen = {"sensitivity": 0.5, "is_inverted": True, "fov": 95.0, "gui_scale": 1.4, "keys": {"drop": "KeyX"}}
        assert json.loads(set_once) == chosen
        browser.check(episode)
        await client.close()

    with running_server(tmp_path / "data", "--workers", "1") as server:
        asyncio.run(scenario(server))


def test_a_page_that_draws_goes_on_after_the_server_was_killed(tmp_path: Path) -> None:
    data = tmp_path / "data"
    grants: list[dict] = []

    async def first(server: RunningServer) -> None:
        browser = Browser(await server.open(WATERFALL, seed=4, drawn="here"))
        grants.append(browser.client.grant)
        await browser.client.start()
        await browser.walk(40)
        server.process.kill()
        try:
            while True:
                await browser.client.receive()
        except PlayClientError:
            pass

    async def again(server: RunningServer) -> None:
        client = PlayClient(server.address, grants[0], drawn="here")
        browser = Browser(client)
        await client.connect()
        assert client.welcome["restored"]
        await browser.until(lambda: browser.flags)
        assert browser.flags == [wire.FRESH]
        await browser.ask_for_everything()
        await client.resume()
        await browser.walk(30)
        await client.quit()
        await browser.until(lambda: client.ended)
        episode = opened(server, browser)
        assert interplay.record.verify(episode).equal
        browser.check(episode)
        await client.close()

    with running_server(data, "--workers", "1", expect_exit=-signal.SIGKILL) as server:
        asyncio.run(first(server))
    with running_server(data, "--workers", "1") as server:
        asyncio.run(again(server))


def test_of_two_players_one_may_draw_while_the_other_gets_pictures(tmp_path: Path) -> None:
    async def scenario(server: RunningServer) -> None:
        left = Browser(await server.open(BLOCKS, seed=5, actor="ann", drawn="here"))
        right = await server.open(BLOCKS, actor="bob")
        await left.client.start()
        await right.start()

        async def watch() -> None:
            async with asyncio.timeout(100):
                while right.ended is None:
                    await right.receive()

        watching = asyncio.create_task(watch())
        await left.until(lambda: left.client.state == "playing")
        await left.ask_for_everything()
        await left.walk(40)
        await left.client.quit()
        await left.until(lambda: left.client.ended)
        await watching
        assert right.decoder.step > 30
        assert right.num_land == 0
        episode = opened(server, left)
        assert interplay.record.verify(episode).equal
        left.check(episode)
        for client in (left.client, right):
            await client.close()

    with running_server(tmp_path / "data", "--workers", "1") as server:
        asyncio.run(scenario(server))
