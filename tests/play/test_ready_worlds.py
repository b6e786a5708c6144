"""What a block-world game is started with: kernels that are compiled once, a worker and a land that wait for their player."""

import asyncio
import fcntl
import shutil
from pathlib import Path

import httpx
import pytest
from numba.core.caching import InTreeCacheLocator
from play_server import running_server
from play_watcher import Watcher
from warm_process import SERVER

import interplay.record
from blockworld import compiling
from interplay.store import PlaySession
from interplay.tasks import builtin_suites, find

pytestmark = pytest.mark.processes

CAVE = find("basalt/find_cave", builtin_suites())


def test_a_player_who_waits_for_the_compile_reads_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiling.ensure()
    cache = tmp_path / "cache"
    cache.mkdir()
    first = [path for path in compiling._kept(compiling._folder()) if path.suffix != ".compiled"]
    for path in first:
        kept = cache / InTreeCacheLocator.get_suitable_cache_subpath(str(path.parent.parent / "any.py"))
        kept.mkdir(exist_ok=True)
        shutil.copy(path, kept)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(cache))
    stamp = compiling._stamp()

    async def scenario() -> None:
        with (
            running_server(tmp_path / "data", "--workers", "1", loaded=SERVER) as server,
            stamp.with_suffix(".lock").open("w") as lock,
        ):
            fcntl.flock(lock, fcntl.LOCK_EX)  # this is the process that compiles
            client = await server.open(CAVE.id, connect=False, seed=3)
            coming = asyncio.create_task(client.connect())
            others = Watcher(await server.open("atari/breakout"))
            await others.client.start()
            await others.play(60)  # others play meanwhile
            while not client.messages:
                await asyncio.sleep(0.1)
            assert not coming.done()
            stamp.touch()
            fcntl.flock(lock, fcntl.LOCK_UN)
            await coming
            preparing = client.messages[0]
            assert preparing["type"] == "preparing"
            assert preparing["text"] == f"Compiling the block world, once: {round(100 * preparing['share'])} %"
            assert 0.9 < preparing["share"] <= 1.0  # the other process was nearly done
            assert {message["type"] for message in client.messages} == {"preparing", "welcome"}
            await client.quit()

    asyncio.run(scenario())


def test_a_world_that_is_ready_is_played_with_its_seed_recorded_and_by_nobody_else(tmp_path: Path) -> None:
    async def scenario() -> None:
        with running_server(tmp_path / "data", "--workers", "1", "--held-out-share", "0") as server:
            async with httpx.AsyncClient(base_url=server.address) as http:
                for _ in range(3):
                    assert (await http.get(f"/play/{CAVE.id}")).status_code == 200

            async def workers() -> list[dict]:
                return [worker for worker in (await server.statistics())["workers"] if worker["alone"]]

            while not any(worker["ready_worlds"] == [CAVE.content_hash] for worker in await workers()):
                await asyncio.sleep(0.2)
            assert len(await workers()) == 1, "three looks at one page make one worker ready"
            asked = await server.open(CAVE.id, connect=False, seed=7)  # a given seed is another world
            assert [worker["ready_worlds"] for worker in await workers()] == [[CAVE.content_hash]]
            players = [await server.open(CAVE.id, connect=False) for _ in range(2)]
            assert [worker["ready_worlds"] for worker in await workers()] == [[]]
            watcher = Watcher(players[0], rgb=True)
            await watcher.client.connect()
            assert len(await workers()) == 1, "the one that was ready"
            await watcher.client.start()
            await watcher.play(10)
            await watcher.client.quit()
            await watcher.play()
            assert watcher.client.ended is not None
            archive = interplay.record.open(server.data)
            episode = archive.get(watcher.client.ended["episode"])
            assert interplay.record.verify(episode).equal
            with archive.database.read() as session:
                seeds = [session.get_one(PlaySession, one.grant["session"]).seed for one in (*players, asked)]
            assert episode.seed == seeds[0]
            assert len(set(seeds)) == 3
            assert not set(seeds[:2]) & set(CAVE.held_out_seeds)

    asyncio.run(scenario())
