"""What breaks while people play, and what they and their recordings notice of it."""

import asyncio
import os
import random
import resource
import signal
import socket
import time
from pathlib import Path

import httpx
import numpy as np
import pytest
import warm_process
from play_server import RunningServer, environment, running_server, serve_command
from play_watcher import Watcher

import interplay.record
from interplay.play.client import PlayClient, PlayClientError
from interplay.play.server import SEAL_TIMEOUT_S
from interplay.play.workers.pool import LONG_STEP_S
from interplay.store import PlaySession

pytestmark = pytest.mark.processes

ONE_SECOND = 60
"""Steps."""


@pytest.fixture
def quiet_server(tmp_path: Path):
    """A server of this test's own."""
    with running_server(tmp_path / "data", "--workers", "2") as running:
        yield running


async def started(server: RunningServer, task: str, **wanted: object) -> Watcher:
    """A player who has just begun."""
    watcher = Watcher(await server.open(task, **wanted), random.Random(3))
    await watcher.client.start()
    return watcher


async def two_playing(server: RunningServer) -> tuple[list[Watcher], list[asyncio.Task[None]]]:
    """Two players, one on each worker, whose frames are read from now on; without the button Breakout never ends."""
    watchers, playing = [], []
    for seed in (21, 22):
        watchers.append(Watcher(await server.open("atari/breakout", seed=seed)))
        await watchers[-1].client.start()
        playing.append(asyncio.create_task(watchers[-1].play()))
    return watchers, playing


async def left(watcher: Watcher) -> dict:
    """Quit, and wait for the end."""
    await watcher.client.quit()
    await watcher.play()
    await watcher.client.close()
    assert watcher.client.ended is not None
    return watcher.client.ended


async def worker_of(server: RunningServer, *, seats: int) -> int:
    """Process id of a worker with so many seats."""
    return next(worker["pid"] for worker in (await server.statistics())["workers"] if worker["seats"] == seats)


def test_a_killed_worker_costs_its_players_a_moment_and_others_nothing(quiet_server: RunningServer) -> None:
    server = quiet_server

    async def scenario() -> None:
        lucky = Watcher(await server.open("atari/breakout", seed=11))
        await lucky.client.start()
        luck = asyncio.create_task(lucky.play())
        victim_worker = next(w["pid"] for w in (await server.statistics())["workers"] if w["seats"] == 0)
        victim = await started(server, "atari/space_invaders", seed=12)
        waiting = await server.open("atari/breakout")  # on either worker; not started yet
        await victim.play(2 * ONE_SECOND)
        os.kill(victim_worker, signal.SIGKILL)
        await victim.play(4 * ONE_SECOND)
        kinds = [(message["type"], message.get("reason")) for message in victim.client.messages]
        assert kinds == [("welcome", None), ("started", None), ("paused", "recovering"), ("resumed", None)]
        back = int(np.argmin(np.diff(victim.steps)))  # where the steps go back
        assert victim.steps[back + 1] >= victim.steps[back] - ONE_SECOND
        await waiting.start()
        waited = Watcher(waiting)
        await waited.play(20)
        for watcher in (waited, victim):
            await left(watcher)
        await lucky.client.quit()
        await luck
        assert lucky.disturbance() is None
        archive = interplay.record.open(server.data)
        assert victim.client.ended is not None
        episode = archive.get(victim.client.ended["episode"])
        recorded = episode.steps().column("frame_hash").to_numpy()
        resumed = victim.steps[back + 1]
        before = [index for index in range(back + 1) if victim.steps[index] <= resumed]
        for index in (*before, *range(back + 1, len(victim.steps))):  # what was played, and what was played on
            assert recorded[victim.steps[index]] == victim.hashes[index]
        assert len(archive.episodes()) == 3
        assert (await server.statistics())["worker_deaths"] == 1

    asyncio.run(scenario())


def test_a_worker_that_is_stopped_is_no_longer_waited_for_its_players_are_told_and_play_on(quiet_server: RunningServer) -> None:
    server = quiet_server

    async def scenario() -> None:
        victim = await started(server, "atari/space_invaders", seed=12)
        await victim.play(ONE_SECOND)
        stopped, began = await worker_of(server, seats=1), time.monotonic()
        os.kill(stopped, signal.SIGSTOP)
        reading = asyncio.create_task(victim.play(5 * ONE_SECOND))
        health = []
        async with httpx.AsyncClient() as http:
            while not any(message.get("reason") == "recovering" for message in victim.client.messages):
                health.append((await http.get(f"{server.address}/healthz")).json())
                await asyncio.sleep(0.1)
            assert time.monotonic() - began < LONG_STEP_S
            await reading
            kinds = [(message["type"], message.get("reason")) for message in victim.client.messages]
            assert kinds == [("welcome", None), ("started", None), ("paused", "recovering"), ("resumed", None)]
            assert health[0] == {"status": "ok"}
            assert health[-1]["status"] == "degraded"
            assert any("have not answered for more than" in str(one) for one in health)
            await left(victim)
            assert not Path(f"/proc/{stopped}/fd").exists() or not os.listdir(f"/proc/{stopped}/fd")
            async with asyncio.timeout(60):
                while (await http.get(f"{server.address}/healthz")).json() != {"status": "ok"}:
                    await asyncio.sleep(0.1)
        assert "has not answered for" in (server.data / "server.log").read_text()
        # A server that is told to end does not wait for one either.
        waiting = await started(server, "atari/breakout")
        os.kill(await worker_of(server, seats=1), signal.SIGSTOP)
        began = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(server.process.wait, 60) == 0
        assert time.monotonic() - began < SEAL_TIMEOUT_S
        await waiting.client.close()

    asyncio.run(scenario())


def test_a_killed_server_loses_no_step_older_than_a_second(tmp_path: Path) -> None:
    async def until_killed(server: RunningServer, players: list[Watcher]) -> list[int]:
        for seed, watcher in enumerate(players):
            watcher.client = await server.open("atari/space_invaders", seed=seed)
            await watcher.client.start()
        playing = [asyncio.create_task(watcher.play()) for watcher in players]
        while min(len(watcher.steps) for watcher in players) < 2 * ONE_SECOND:
            await asyncio.sleep(0.05)
        workers = [worker["pid"] for worker in (await server.statistics())["workers"]]
        server.process.kill()
        for task in playing:
            with pytest.raises(PlayClientError) as lost:
                await task
            assert lost.value.code == 1006
        await players[0].client.press(1 << 5)  # it is the next look that tells
        with pytest.raises(PlayClientError, match="connection was lost"):
            await players[0].client.receive()
        return workers

    data = tmp_path / "data"
    players = [Watcher(None, random.Random(seed)) for seed in range(2)]  # type: ignore[arg-type]
    with running_server(data, "--workers", "2", expect_exit=-signal.SIGKILL) as server:
        workers = asyncio.run(until_killed(server, players))
        server.process.wait()
    deadline = time.monotonic() + 60
    while any(Path(f"/proc/{pid}").exists() for pid in workers):
        assert time.monotonic() < deadline, "a worker outlives its server"
        time.sleep(0.05)
    with running_server(data, "--workers", "1"):
        pass  # it keeps their games for them; when it is stopped it seals them
    archive = interplay.record.open(data)
    episodes = {episode.id: episode for episode in archive.episodes()}
    assert len(episodes) == 2
    assert {episode.outcome for episode in episodes.values()} == {"interrupted"}
    with archive.database.read() as session:
        rows = [session.get_one(PlaySession, watcher.client.grant["session"]) for watcher in players]
        assert {row.episode_id for row in rows} == set(episodes)
        assert {row.state for row in rows} == {"interrupted"}
    for watcher, row in zip(players, rows, strict=True):
        assert_kept(episodes[row.episode_id], watcher)


def assert_kept(episode: interplay.record.Episode, watcher: Watcher) -> None:
    """All but the last second is recorded, and as it was seen."""
    assert episode.num_steps >= watcher.steps[-1] - ONE_SECOND
    steps, hashes = np.array(watcher.steps), np.array(watcher.hashes)
    kept = steps <= episode.num_steps
    assert (episode.steps().column("frame_hash").to_numpy()[steps[kept]] == hashes[kept]).all()


def test_a_world_that_fails_ends_its_own_session_with_a_reason(quiet_server: RunningServer) -> None:
    server = quiet_server

    async def scenario() -> None:
        others, playing = await two_playing(server)
        failing = Watcher(await server.open("trial/raises"))
        await failing.client.start()
        with pytest.raises(PlayClientError) as failed:
            await failing.play()
        assert failed.value.code == "world_failed"
        # The traceback is in the log; a player reads nothing of our code and folders.
        stopped = "the game's world had an error (RuntimeError) and stopped; the server's log says more"
        assert str(failed.value) == f"{stopped}\nYour game until then is kept."
        assert failing.steps[-1] == 39
        with pytest.raises(PlayClientError, match=r"the game's world had an error \(EnvError\)"):
            await server.open("trial/crowd")
        with pytest.raises(PlayClientError, match=r"^this game cannot start: .*'trial_worlds_gone'") as missing:
            await server.open("trial/gone")
        assert missing.value.code == "not_installed"
        assert (
            "2 seats (left, right), and gym:trial_worlds:TrialCounter-v0 is for one" in (server.data / "server.log").read_text()
        )
        for watcher in others:
            await watcher.client.quit()
        await asyncio.gather(*playing)
        assert [watcher.disturbance() for watcher in others] == [None, None]
        (episode,) = interplay.record.open(server.data).episodes(task="trial/raises")
        assert (episode.outcome, episode.num_steps) == ("interrupted", 39)

    asyncio.run(scenario())


def test_a_disk_that_is_full_ends_the_session_and_keeps_what_is_there(quiet_server: RunningServer) -> None:
    server = quiet_server

    async def scenario() -> None:
        unlucky = await started(server, "atari/space_invaders", seed=31)
        full = await worker_of(server, seats=1)
        lucky = Watcher(await server.open("atari/breakout", seed=32))
        await lucky.client.start()
        luck = asyncio.create_task(lucky.play())
        await unlucky.play(ONE_SECOND)
        # To the worker a file size limit is what a full disk is: its next write of the journal fails.
        (journal,) = [path for path in (server.data / "journal").iterdir() if str(path) in open_files(full)]
        size = journal.stat().st_size
        resource.prlimit(full, resource.RLIMIT_FSIZE, (size + 100, resource.RLIM_INFINITY))
        with pytest.raises(PlayClientError) as failed:
            await unlucky.play()
        assert failed.value.code == "recording_failed"
        assert "the disk of the server is full\nYour game until then is kept." in str(failed.value)
        assert str(server.data) not in str(failed.value)
        resource.prlimit(full, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        await lucky.client.quit()
        await luck
        assert lucky.disturbance() is None
        (episode,) = interplay.record.open(server.data).episodes(task="atari/space_invaders")
        assert episode.outcome == "interrupted"
        assert_kept(episode, unlucky)

    asyncio.run(scenario())


def test_a_full_disk_under_the_database_is_a_503_in_words_and_no_traceback(quiet_server: RunningServer) -> None:
    server = quiet_server
    pid, size = server.process.pid, (server.data / "interplay.db-wal").stat().st_size
    no_limit = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    with httpx.Client(base_url=server.address, timeout=180) as http:
        # To the server a file size limit is what a full disk is: its next write of the database fails.
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        try:
            program = http.post("/api/sessions", json={"task": "atari/breakout"})
            reading = http.get("/")
        finally:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, no_limit)
        assert (program.status_code, program.json()["error"]) == (503, "unavailable")
        assert "The disk of this server is full, so nothing was saved" in program.json()["message"]
        assert program.headers["retry-after"] == "60"
        assert reading.status_code == 200
        assert http.post("/api/sessions", json={"task": "atari/breakout"}).status_code == 201
    log = (server.data / "server.log").read_text()
    assert "the disk is full" in log
    assert "Traceback" not in log


def open_files(pid: int) -> set[str]:
    return {
        os.readlink(f"/proc/{pid}/fd/{name}")
        for name in os.listdir(f"/proc/{pid}/fd")
        if os.path.exists(f"/proc/{pid}/fd/{name}")
    }


def test_a_slow_world_moves_to_a_worker_of_its_own(quiet_server: RunningServer) -> None:
    server = quiet_server

    async def scenario() -> None:
        neighbours, playing = await two_playing(server)
        slow = Watcher(await server.open("trial/slow"), rgb=True)
        await slow.client.start()
        await slow.play(90)
        kinds = [message["type"] for message in slow.client.messages if message["type"] != "palette"]
        assert kinds == ["welcome", "started", "paused", "resumed"]
        assert [one["reason"] for one in slow.client.messages if one["type"] == "paused"] == ["moving"], "nothing failed"
        assert [worker["seats"] for worker in (await server.statistics())["workers"] if worker["alone"]] == [1]
        for watcher in neighbours:
            watcher.times.clear()
            watcher.steps.clear()
        await slow.play(150)
        assert [watcher.disturbance() for watcher in neighbours] == [None, None]
        ended = await left(slow)
        assert interplay.record.open(server.data).get(ended["episode"]).num_steps == ended["num_steps"]
        for watcher in neighbours:
            await watcher.client.quit()
        await asyncio.gather(*playing)
        async with asyncio.timeout(60):
            while any(worker["alone"] for worker in (await server.statistics())["workers"]):  # it goes with its world
                await asyncio.sleep(0.1)

    asyncio.run(scenario())


def test_a_world_slower_than_its_frame_rate_still_shows_and_obeys(quiet_server: RunningServer) -> None:
    server = quiet_server

    async def scenario() -> None:
        crawling = Watcher(await server.open("trial/crawls"), rgb=True)
        await crawling.client.start()
        await crawling.play(20)
        await crawling.client.press(1)
        await crawling.play(40)
        ended = await left(crawling)
        episode = interplay.record.open(server.data).get(ended["episode"])
        assert 1 in episode.actions().tolist()
        assert crawling.steps[-1] <= episode.num_steps < crawling.steps[-1] + 40

    asyncio.run(asyncio.wait_for(scenario(), 120))


def test_ctrl_c_ends_and_seals_what_is_being_played(tmp_path: Path) -> None:
    async def scenario(server: RunningServer) -> dict:
        watcher = await started(server, "atari/breakout")
        idle = await server.open("atari/qbert")
        await watcher.play(40)
        server.process.send_signal(signal.SIGINT)
        await watcher.play()
        while idle.ended is None:
            await idle.receive()
        assert idle.ended["episode"] is None
        assert watcher.client.ended is not None
        return watcher.client.ended

    with running_server(tmp_path / "data") as server:
        ended = asyncio.run(scenario(server))
        assert server.process.wait(60) == 0
    assert ended["outcome"] == "interrupted"
    episode = interplay.record.open(tmp_path / "data").get(ended["episode"])
    assert episode.num_steps == ended["num_steps"]
    assert list((tmp_path / "data" / "journal").iterdir()) == []


def test_a_port_in_use_is_an_error_with_the_next_command(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        command = serve_command(tmp_path / "data", "--port", str(port))
        result = warm_process.run(command, env=environment())
    assert result.returncode == 1
    assert f"port {port} on 127.0.0.1 is in use" in result.stderr
    assert f"interplay serve --port {port + 1}" in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "data").exists()


def test_a_player_who_does_not_come_back_has_left(tmp_path: Path) -> None:
    """In this process, because half a minute is long for a test; and on uvicorn's own WebSockets, since any will do."""
    import uvicorn
    from trial_suite import suite_text

    from interplay.play.connections.sockets import listen
    from interplay.play.server import PlayServer
    from interplay.tasks import builtin_suites, parse_suite
    from interplay.web.app import create_app

    async def scenario() -> None:
        archive = interplay.record.open(tmp_path)
        suites = [*builtin_suites(), parse_suite(suite_text())]
        play = PlayServer(archive, secret=b"s" * 32, num_workers=1, suites=suites, seat_kept_s=1.0, idle_s=3.0)
        app = create_app(archive, play=play, suites=suites, secret=b"s" * 32)
        listener = listen("127.0.0.1", 0)
        config = uvicorn.Config(app, ws="websockets-sansio", log_level="warning")
        web = uvicorn.Server(config)
        serving = asyncio.create_task(web.serve(sockets=[listener]))
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        try:
            while not web.started:
                await asyncio.sleep(0.02)
            grant = play.create_session("atari/breakout", actor="tester", countdown_s=0)
            lost = Watcher(PlayClient(address, grant.to_json()))
            await lost.client.connect()
            await lost.client.start()
            await lost.play(30)
            await lost.client.close()
            paused = Watcher(PlayClient(address, play.create_session("atari/qbert", actor="tester", countdown_s=1).to_json()))
            await paused.client.connect()
            await paused.client.start()
            await paused.play(30)
            await paused.client.pause()
            await paused.play()  # until the server has waited long enough
            assert paused.client.ended is not None
            assert paused.client.ended["outcome"] == "left"
            assert {"type": "countdown", "seconds": 1} in paused.client.messages
            while not (episodes := archive.episodes(task="atari/breakout")):
                await asyncio.sleep(0.05)
            assert episodes[0].outcome == "left"
            assert episodes[0].num_steps >= 29
        finally:
            web.should_exit = True
            await serving

    asyncio.run(scenario())
