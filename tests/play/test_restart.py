"""A server that was killed and started again: games go on where they were recorded, and what cannot go on is kept and shown."""

import asyncio
import random
import signal
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest
from play_server import RunningServer, running_server
from play_watcher import Watcher

import interplay.record
from interplay.envs import make
from interplay.play.client import PlayClient, PlayClientError
from interplay.play.games import leftovers
from interplay.play.games.for_study import ForStudy
from interplay.play.server import PlayServer
from interplay.record import Archive, journal
from interplay.record.journal import is_live
from interplay.store import PlaySession, games, sessions
from interplay.tasks import builtin_suites, find

pytestmark = pytest.mark.processes

BREAKOUT = find("atari/breakout", builtin_suites())
ONE_SECOND = 60


@pytest.mark.parametrize("kills", [signal.SIGKILL, signal.SIGTERM])
def test_a_game_goes_on_from_its_recorded_step_after_the_server_has_gone_twice(tmp_path: Path, kills: signal.Signals) -> None:
    data = tmp_path / "data"
    watcher = Watcher(None, random.Random(3))  # type: ignore[arg-type]
    untaken: list[dict] = []

    async def first(server: RunningServer) -> None:
        watcher.client = await server.open("atari/space_invaders", seed=5)
        await watcher.client.start()
        waiting = await server.open("atari/qbert", seed=6)  # nothing played yet
        untaken.append(waiting.grant)
        await watcher.play(2 * ONE_SECOND)
        await until_lost(server, watcher)

    async def again(server: RunningServer) -> None:
        deadline = time.monotonic() + 60
        while (await server.statistics())["seats"].get("held") != 1:
            assert time.monotonic() < deadline, await server.statistics()
            await asyncio.sleep(0.05)
        assert interplay.record.open(data).episodes() == []  # what may go on is not a sealed episode
        client = PlayClient(server.address, watcher.client.grant)
        await client.connect()
        assert client.welcome["restored"]
        assert client.welcome["state"] == "paused"
        lost = ONE_SECOND if kills == signal.SIGKILL else 0
        assert watcher.steps[-1] - lost <= client.welcome["step"] <= watcher.steps[-1] + ONE_SECOND
        watcher.client = client
        recorded.append(client.welcome["step"])
        await client.resume()
        await watcher.play(len(watcher.steps) + ONE_SECOND)
        with interplay.record.open(data).database.read() as database:
            assert database.get_one(PlaySession, client.grant["session"]).state == "playing"

    async def until_lost(server: RunningServer, watcher: Watcher) -> None:
        server.process.send_signal(kills)
        with pytest.raises(PlayClientError) as lost:
            await watcher.play()
        assert lost.value.code == (1006 if kills == signal.SIGKILL else 1012)

    async def third(server: RunningServer) -> None:
        await again(server)
        waiting = PlayClient(server.address, untaken[0])
        await waiting.connect()
        assert (waiting.welcome["state"], waiting.welcome["restored"]) == ("waiting", False)
        await waiting.quit()
        await watcher.client.quit()
        await watcher.play()

    async def second(server: RunningServer) -> None:
        await again(server)
        await until_lost(server, watcher)

    recorded: list[int] = []
    for part in (first, second):
        with running_server(data, "--workers", "1", expect_exit=None) as server:
            asyncio.run(part(server))
            assert server.process.wait(120) == (0 if kills == signal.SIGTERM else -kills)
    with running_server(data, "--workers", "1") as server:
        asyncio.run(third(server))
    assert watcher.client.ended is not None
    archive = interplay.record.open(data)
    (episode,) = archive.episodes()
    assert episode.id == watcher.client.ended["episode"]
    assert (episode.outcome, episode.seed) == ("quit", 5)
    assert episode.num_steps > recorded[1] > recorded[0] > 0
    assert interplay.record.verify(episode).equal
    assert list((data / "journal").iterdir()) == []


def cut_off(archive: Archive, session: str, num_steps: int) -> str:
    """What a killed server leaves of a game; returns the id of its episode."""
    env = make(BREAKOUT)
    with archive.database.write() as database:
        sessions.open_session(
            database,
            id=session,
            task=BREAKOUT.id,
            task_hash=BREAKOUT.content_hash,
            seed=4,
            actor="tester",
            actor_kind="human",
            participant_id=None,
            now=datetime.now(UTC),
        )
        sessions.set_session_state(database, session, "playing", now=datetime.now(UTC))
    recorder = archive.recorder(BREAKOUT, env, seed=4, actor="tester", actor_kind="human", session_id=session)
    recorder.start(*env.reset(seed=4))
    for step in range(num_steps):
        recorder.step({"player": 0}, env.step({"player": 0}), owners={"player": "tester"}, clock_us=step * 16_667)
    recorder.flush()
    recorder.abandon()
    env.close()
    return recorder.episode_id


def without_step_numbers(path: Path) -> None:
    """Damage a journal so that its header can be read and its steps cannot."""
    with pa.OSFile(str(path)) as file:
        stream = pa.ipc.open_stream(file)
        schema, batch = stream.schema, stream.read_next_batch()
    place = schema.get_field_index("step")
    damaged = batch.set_column(place, schema.field(place), pa.nulls(batch.num_rows, schema.field(place).type))
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, schema) as writer:
        writer.write_batch(damaged)


async def until(holds: Callable[[], object]) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)


def session_row(archive: Archive, session: str) -> PlaySession:
    """As the database has it now; a transaction would go on seeing what it saw first."""
    with archive.database.read() as database:
        return database.get_one(PlaySession, session)


def test_a_game_whose_player_does_not_come_back_is_sealed_and_its_late_player_finds_the_replay(tmp_path: Path) -> None:
    import uvicorn

    from interplay.play.connections.sockets import listen
    from interplay.web.app import create_app

    archive = interplay.record.open(tmp_path)
    gone = cut_off(archive, "gone", 30)
    torn = archive.journal_folder / "20200101T000000-00000000.0.arrows"
    torn.write_bytes(b"torn")
    damaged = cut_off(archive, "damaged", 30)
    without_step_numbers(archive.journal_folder / f"{damaged}.0.arrows")
    lost = cut_off(archive, "lost", 30)
    (archive.journal_folder / f"{lost}.0.arrows").unlink()

    async def scenario() -> None:
        play = PlayServer(archive, secret=b"s" * 32, num_workers=1, resume_s=0.5)
        app = create_app(archive, play=play, secret=b"s" * 32)
        listener = listen("127.0.0.1", 0)
        web = uvicorn.Server(uvicorn.Config(app, ws="websockets-sansio", log_level="warning"))
        serving = asyncio.create_task(web.serve(sockets=[listener]))
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        try:
            await until(lambda: web.started)
            async with httpx.AsyncClient(base_url=address) as http:
                assert (await http.get("/healthz")).json()["status"] == "ok"  # before anything is sealed
            await until(lambda: archive.episodes())
            grant = {"session": "gone", "token": play._tokens.sign("gone")[0], "socket": "/api/play"}
            late = PlayClient(address, grant)
            with pytest.raises(PlayClientError, match=r"restarted|saved"):
                await late.connect()
            await until(lambda: session_row(archive, "gone").state != "playing")
            assert (session_row(archive, "gone").state, session_row(archive, "gone").episode_id) == ("interrupted", gone)
            assert "lost" not in play._places  # it was played, so it must not begin anew on its seed
            assert session_row(archive, "lost").state == "interrupted"
            play._places.clear()  # as after its last words are forgotten
            later = PlayClient(address, grant)
            with pytest.raises(PlayClientError, match="what you played is saved"):
                await later.connect()
        finally:
            web.should_exit = True
            await serving

    asyncio.run(scenario())
    (episode,) = archive.episodes()
    assert (episode.id, episode.outcome, episode.num_steps) == (gone, "interrupted", 30)
    assert torn.exists()  # for `interplay episodes repair`
    assert journal.segments(archive.journal_folder, damaged)
    assert not is_live(torn)


def test_of_a_game_that_an_earlier_release_left_in_a_study_nobody_is_told_of_agents() -> None:
    def row(**fields: str) -> PlaySession:
        now = datetime.now(UTC)
        return PlaySession(id="s", task="t", task_hash="", seed=1, created_at=now, actor="a", actor_kind="human", **fields)

    known = ForStudy("orders", "A", fallback="noop", wait_s=5.0)
    assert leftovers.study_of([row(enrolment_id="e"), row(for_study=known.to_json())]) == known
    assert leftovers.study_of([row(enrolment_id="e"), row()]) == ForStudy("", is_blind=True)
    assert leftovers.study_of([row()]) is None


def test_a_server_takes_over_only_sessions_that_no_running_server_holds(archive: Archive) -> None:
    now = datetime.now(UTC)
    played = cut_off(archive, "journal here", 5)

    def row(name: str, node: str | None, state: str = "playing", **fields: Any) -> PlaySession:
        about = {"task": "t", "task_hash": "", "seed": 1, "actor": "a", "actor_kind": "human", "created_at": now}
        return PlaySession(id=name, state=state, node=node, **about | fields)

    with archive.database.write() as database:
        database.get_one(PlaySession, "journal here").episode_id = played
        database.get_one(PlaySession, "journal here").game = played
        database.get_one(PlaySession, "journal here").node = "other"
        database.add_all(
            [row("own", "me"), row("waiting", "me", "waiting"), row("over", "me", "ended"), row("earlier version", None)]
        )
        database.add_all([row("others", "other"), row("long ago", "other", created_at=now - 2 * sessions.LONGEST_GAME)])
        games.grant(database, played, "my earlier name", lobby="", seed=1, invitation="", is_open=False)
    left_open, held = leftovers.open_sessions(archive, "me")
    assert held == {played: 2}
    assert set(left_open) == {"own", "waiting", "earlier version", "journal here", "long ago"}
    assert session_row(archive, "others").node == "other"


def test_a_server_leaves_games_to_the_server_of_its_cluster_that_continued_them(archive: Archive) -> None:
    played = cut_off(archive, "journal here", 5)
    with archive.database.write() as database:
        database.get_one(PlaySession, "journal here").node = "other"
        games.join(database, "other", cluster="ours", version="1")
        games.grant(database, played, "other", lobby="", seed=1, invitation="", is_open=False)
    assert leftovers.open_sessions(archive, "me") == ({}, {})
    assert archive.abandoned() == []


def test_a_player_in_the_countdown_keeps_the_place_when_the_server_is_stopped(tmp_path: Path) -> None:
    async def stopped(server: RunningServer) -> dict:
        client = await server.open("atari/qbert", seed=6, countdown_s=10)
        await client.start()
        while not any(message["type"] == "countdown" for message in client.messages):
            await client.receive()
        server.process.send_signal(signal.SIGTERM)
        with pytest.raises(PlayClientError) as closed:
            await Watcher(client).play()
        assert closed.value.code == 1012
        return client.grant

    async def again(server: RunningServer, grant: dict) -> None:
        client = PlayClient(server.address, grant)
        await client.connect()
        assert (client.welcome["state"], client.welcome["restored"]) == ("waiting", False)
        await client.quit()

    with running_server(tmp_path / "data", "--workers", "1") as server:
        grant = asyncio.run(stopped(server))
    with running_server(tmp_path / "data", "--workers", "1") as server:
        asyncio.run(again(server, grant))
