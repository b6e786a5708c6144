"""Seats on their way to a running game: pauses at awkward moments, workers that cannot start, seats nobody takes."""

import asyncio
import contextlib
import json
import os
import signal
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import warm_process
from play_server import RunningServer, environment, running_server, serve_command
from play_watcher import Watcher
from sqlalchemy.exc import DatabaseError
from trial_suite import suite_text
from websockets.asyncio.client import connect

import interplay.record
from interplay.envs import Frame, make
from interplay.play.client import PlayClient
from interplay.play.connections import wire
from interplay.play.connections.codec import FrameDecoder, palette_from_text
from interplay.play.games.interfaces import State
from interplay.play.limits import PlayError
from interplay.play.server import PlayServer
from interplay.play.workers import channel, pool
from interplay.play.workers.channel import Unpacker
from interplay.play.workers.live import LiveEpisode
from interplay.statistics import Collection
from interplay.store import PlaySession
from interplay.tasks import find, parse_suite

pytestmark = pytest.mark.processes


async def listen_for(client: PlayClient, seconds: float) -> None:
    """Take what comes for a while."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while True:
                await client.receive()


def test_a_pause_while_the_journal_is_opened_is_a_pause(server: RunningServer) -> None:
    async def scenario() -> None:
        async with await server.open("atari/breakout") as client:
            await client.start()
            await client.pause()
            while client.state != "paused":
                await client.receive()
            await listen_for(client, 0.4)
            stood_at = client.decoder.step
            await listen_for(client, 0.4)
            assert client.state == "paused"
            assert client.decoder.step == stood_at
            await client.resume()
            watcher = Watcher(client)
            await watcher.play(20)
            assert client.state == "playing"
            assert watcher.steps[-1] >= stood_at + 20
            await client.quit()
            await watcher.play()

    asyncio.run(scenario())


def test_a_pause_while_the_world_is_built_makes_the_countdown_begin_anew(tmp_path: Path) -> None:
    async def scenario(server: RunningServer) -> None:
        async with await server.open("atari/breakout"):
            pass  # the worker is up, so the next world takes a moment only
        client = await server.open("atari/breakout", connect=False, countdown_s=1)
        (worker,) = [worker["pid"] for worker in (await server.statistics())["workers"]]
        os.kill(worker, signal.SIGSTOP)
        try:
            address = "ws" + server.address.removeprefix("http") + "/api/play"
            client._socket = await connect(address, subprotocols=[wire.SUBPROTOCOL], compression=None)  # type: ignore[list-item]
            await client.send("hello", token=client.grant["token"])
            await client.start()
            client._heart = asyncio.create_task(client._beat())
            await asyncio.sleep(1.3)  # the countdown is over, the world is not there
            await client.pause()
            began = time.monotonic()
            await client.start()
        finally:
            os.kill(worker, signal.SIGCONT)
        while client.state != "playing":
            await client.receive()
        assert time.monotonic() - began > 0.9
        await Watcher(client).play(90)  # over the end of any countdown that still runs
        await client.pause()
        while client.state != "paused":
            await client.receive()
        await client.quit()
        await Watcher(client).play()
        assert client.ended is not None
        assert client.ended["outcome"] == "quit"
        await client.close()

    with running_server(tmp_path / "data", "--workers", "1") as server:
        asyncio.run(scenario(server))


def test_latency_is_measured_from_pictures_of_a_running_game_only() -> None:
    env = interplay.envs.make(find("atari/breakout"))

    class Recorder:
        """Keeps the timings it is given."""

        def __init__(self) -> None:
            self.timings: list[Any] = []
            self.collection = Collection([], env.task.setting, {"player": "me"})

        def start(self, observation: Any, info: Any) -> None: ...

        def flush(self) -> None: ...

        def change_of(self, pixels: Any) -> None: ...

        def step(self, action: Any, result: Any, *, timing: Any, **_: Any) -> None:
            self.timings.append(timing)

    recorder = Recorder()
    live = LiveEpisode(
        1,
        env,
        start=env.reset(seed=1),
        send=lambda message: None,
    )
    (seat,) = live.seats
    live.show(seat, 0)
    live.open_journal(recorder)  # type: ignore[arg-type]
    live.start(500_000)
    live.input(seat, wire.PlayerInput(1, painted_step=0, client_ms=0.0))
    live.tick(510_000)
    live.input(seat, wire.PlayerInput(0, painted_step=1, client_ms=0.0))
    live.tick(527_000)
    assert [timing["player"].latency_ms for timing in recorder.timings] == [None, 17.0]


def test_every_seat_is_sent_its_own_view(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pettingzoo")
    task = next(task for task in parse_suite(suite_text()).tasks if task.env.backend == "pettingzoo")
    env = make(task)
    colours = {"left": 10, "right": 200}
    monkeypatch.setattr(env, "view_of", lambda seat: Frame(np.full((8, 10 + colours[seat] // 100, 3), colours[seat], np.uint8)))
    sent: list[bytes] = []
    live = LiveEpisode(1, env, start=env.reset(seed=1), send=sent.append)
    live.start(0)
    for step in range(1, 4):
        live.tick(step * 70_000)
    welcomes = {seat.name: seat.welcome(0, None) for seat in live.seats}
    decoders = {name: FrameDecoder(one.width, one.height, palette_from_text(one.palette)) for name, one in welcomes.items()}
    for _, index, kind, payload in Unpacker().feed(b"".join(sent)):
        if kind == channel.ToWeb.FRAME:
            decoders[task.seats[index]].apply(payload)
    for name, decoder in decoders.items():
        assert decoder.step == 3
        assert (Frame(decoder.pixels, decoder.palette).rgb() == colours[name]).all(), name
    env.close()


@contextlib.asynccontextmanager
async def server_here(root: Path, **options: Any) -> AsyncIterator[PlayServer]:
    """A server in this process, without its sockets."""
    archive = interplay.record.open(root)
    play = PlayServer(archive, secret=b"s" * 32, num_workers=1, **options)
    await play.start()
    try:
        yield play
    finally:
        await play.stop()
        archive.close()


def test_a_seat_nobody_takes_is_freed(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path, untaken_s=4.0) as play:
            grant = await asyncio.to_thread(play.create_session, "atari/breakout")
            assert play.statistics()["seats"] == {"empty": 1}
            async with asyncio.timeout(60):
                while play.statistics()["seats"] != {}:
                    await asyncio.sleep(0.05)
        with interplay.record.open(tmp_path).database.read() as session:
            row = session.get(PlaySession, grant.session)
            assert row is not None
            assert row.state == "ended"
            assert row.ended_at is not None

    asyncio.run(scenario())


class Listener:
    """Stands where a player's socket does."""

    def __init__(self) -> None:
        self.words: list[dict[str, Any]] = []

    def send_text(self, message: str) -> None:
        self.words.append(json.loads(message))

    def send_frame(self, message: bytes, *, last: bool = False) -> None: ...

    def close(self, code: int, reason: str = "") -> None: ...


def test_seats_of_slow_worlds_are_counted_from_when_they_are_asked_for(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path, max_worlds=4) as play:
            task = play.task("atari/breakout")
            play.limits.mark_slow(task, 20.0)

            def ask(client: str | None) -> Any:
                return play.create_session(task, client=client)

            untaken = [await asyncio.to_thread(ask, "192.0.2.1") for _ in range(2)]
            with pytest.raises(PlayError, match="2 games like this one are open from your address") as own:
                await asyncio.to_thread(ask, "192.0.2.1")
            assert (own.value.is_own, own.value.retry_after_s) == (True, 120)
            for grant in untaken:  # hello only
                game, seat = play._places[grant.session]
                game.attach(seat, Listener())  # type: ignore[arg-type]
            with pytest.raises(PlayError, match="from your address"):
                await asyncio.to_thread(ask, "192.0.2.1")
            assert await asyncio.to_thread(play.create_session, "atari/qbert", client="192.0.2.1")
            for _ in range(2):
                await asyncio.to_thread(ask, None)
            with pytest.raises(PlayError, match="all 4 places for games like this one are taken") as full:
                await asyncio.to_thread(ask, "192.0.2.2")
            assert not full.value.is_own
            async with asyncio.timeout(60):
                while sum(link.alone for link in play.pool.links) < 2:
                    await asyncio.sleep(0.05)
            game, seat = play._places[untaken[1].session]
            listener = seat.connection
            game.detach(seat, listener)  # a page that was closed keeps a place of the server, and none of its address
            with pytest.raises(PlayError, match="all 4 places"):
                await asyncio.to_thread(ask, "192.0.2.1")
            game.attach(seat, listener)
            game, seat = play._places[untaken[0].session]
            game.on_command(seat, wire.ClientCommand("quit"))  # a place is free again
            async with asyncio.timeout(60):
                while sum(link.alone for link in play.pool.links) > 1:
                    await asyncio.sleep(0.05)
            await asyncio.to_thread(ask, "192.0.2.1")

    asyncio.run(scenario())


@pytest.mark.parametrize("task", ["overcooked/cramped_room", "together/cooperative_pong"])
def test_a_class_behind_one_address_has_fifteen_games_for_two(tmp_path: Path, task: str) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path, max_worlds=2) as play:
            for _ in range(30):
                await asyncio.to_thread(play.create_session, task, client="192.0.2.1")
            assert len(play.games) == 15

    asyncio.run(scenario())


def test_a_game_held_for_its_player_keeps_its_place(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path, max_worlds=2) as play:
            task = play.task("atari/breakout")
            play.limits.mark_slow(task, 20.0)
            row = PlaySession(
                id="left", task=task.id, task_hash=task.content_hash, seed=4, actor="tester", actor_kind="human",
                participant_id=None, state="playing", created_at=datetime.now(UTC),
            )  # fmt: skip
            game = play._new_game(task, row.seed, state=State.HELD)
            play._seat_again(game, game.seats[0], row)
            await asyncio.to_thread(play.create_session, task, client="192.0.2.1")
            with pytest.raises(PlayError, match="all 2 places"):
                await asyncio.to_thread(play.create_session, task, client="192.0.2.2")

    asyncio.run(scenario())


def test_a_server_that_could_not_start_can_be_stopped(tmp_path: Path) -> None:
    async def scenario() -> None:
        play = PlayServer(interplay.record.open(tmp_path), secret=b"s" * 32, num_workers=1)
        play.archive.database.engine.dispose()
        (tmp_path / "interplay.db").write_bytes(b"no database" * 1000)
        with pytest.raises(DatabaseError):
            await play.start()
        async with asyncio.timeout(60):
            await play.stop()

    asyncio.run(scenario())


def test_games_found_to_be_slow_make_no_more_processes_than_there_are_places_for(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path, max_worlds=1) as play:
            grants = [await asyncio.to_thread(play.create_session, "atari/breakout") for _ in range(3)]
            play.limits.mark_slow(play.task("atari/breakout"), 20.0)
            places = [play._places[grant.session] for grant in grants]
            for game, seat in places:
                game.attach(seat, Listener())  # type: ignore[arg-type]
                async with asyncio.timeout(60):
                    while not game.is_opened:
                        await asyncio.sleep(0.02)
            assert [game.hosting.link.alone for game, _ in places if game.hosting.link is not None] == [True, False, False]

    asyncio.run(scenario())


def test_a_welcome_that_comes_after_its_socket_went_does_not_keep_the_seat_for_ten_minutes(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path, seat_kept_s=0.5) as play:
            grant = await asyncio.to_thread(play.create_session, "atari/breakout")
            (game, seat), first, second = play._places[grant.session], Listener(), Listener()
            game.attach(seat, first)  # type: ignore[arg-type]
            while not first.words:
                await asyncio.sleep(0.02)
            game.detach(seat, first)  # type: ignore[arg-type]
            game.attach(seat, second)  # type: ignore[arg-type]
            game.detach(seat, second)  # type: ignore[arg-type]
            async with asyncio.timeout(60):
                while play.statistics()["seats"].get("waiting"):
                    await asyncio.sleep(0.05)
            assert second.words == []

    asyncio.run(scenario())


def test_an_episode_whose_sealing_fails_stays_in_the_journal(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path) as play:
            journal = play.archive.journal_folder / "e.0.arrows"
            journal.write_bytes(b"no Arrow stream")
            assert await play.seal_what_is_left("e")
            assert journal.exists()

    asyncio.run(scenario())


def test_workers_that_die_at_once_are_replaced_ever_more_slowly_and_their_players_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        monkeypatch.setattr(pool, "WORKER_MODULE", "this_module_does_not_exist")
        async with server_here(tmp_path) as play:
            grant = play.create_session("atari/breakout")
            game, seat = play._places[grant.session]
            listener = Listener()
            game.attach(seat, listener)  # type: ignore[arg-type]
            async with asyncio.timeout(60):
                while not listener.words:
                    await asyncio.sleep(0.05)
            (error,) = listener.words
            assert (error["type"], error["code"]) == ("error", "world_failed")
            deaths = play.pool.num_deaths
            await asyncio.sleep(1.0)
            assert play.pool.num_deaths <= deaths + 1
            assert game.pending == []

    asyncio.run(scenario())


def test_a_second_server_on_the_same_folder_is_refused_and_the_first_one_plays_on(tmp_path: Path) -> None:
    async def scenario(server: RunningServer) -> None:
        watcher = Watcher(await server.open("atari/breakout"))
        await watcher.client.start()
        playing = asyncio.create_task(watcher.play())
        async with asyncio.timeout(60):
            while watcher.client.state != "playing":
                await asyncio.sleep(0.05)
        command = serve_command(server.data, "--port", "0")
        second = await asyncio.to_thread(warm_process.run, command, env=environment())
        assert second.returncode == 1
        assert f"{server.data} is being served already, by process {server.process.pid} on port" in second.stderr
        assert "interplay serve --data" in second.stderr
        assert "Traceback" not in second.stderr
        with interplay.record.open(server.data).database.read() as session:
            row = session.get(PlaySession, watcher.client.grant["session"])
            assert row is not None
            assert row.state == "playing"
        await watcher.client.quit()
        await playing
        await watcher.client.close()
        assert watcher.disturbance() is None

    with running_server(tmp_path / "data", "--workers", "1") as server:
        asyncio.run(scenario(server))
