"""Players that are programs, on a real server: what they see is what is recorded."""

import asyncio
import json
import struct
import time
from pathlib import Path

import httpx
import numpy as np
import pytest
from play_server import running_server
from play_watcher import Watcher
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

import interplay.record
from interplay.play.client import PlayClient, PlayClientError
from interplay.play.connections import wire
from interplay.play.connections.tokens import SeatTokens, server_secret
from interplay.record import journal
from interplay.tasks import find

pytestmark = pytest.mark.processes


@pytest.fixture(scope="module")
def archive(server):
    return interplay.record.open(server.data)


def test_decoded_frames_equal_the_recording_to_the_last_one(server, archive) -> None:
    async def scenario() -> Watcher:
        async with await server.open("trial/brief", seed=77) as client:
            await client.start()
            watcher = Watcher(client)
            for _ in range(8):
                await watcher.play(len(watcher.steps) + 8)
                await client.press(len(watcher.steps) // 8 % 2)
            await watcher.play()
            return watcher

    watcher = asyncio.run(scenario())
    ended = watcher.client.ended
    assert ended is not None
    assert ended["outcome"] == "time_limit"
    assert ended["num_steps"] == 90  # 1.5 s at 60 steps a second
    assert watcher.steps == list(range(91))
    assert watcher.client.header is not None
    assert watcher.client.header.flags & wire.LAST_FRAME
    episode = archive.get(ended["episode"])
    assert watcher.equals(episode)
    assert (episode.seed, episode.actor, episode.truncated, episode.num_steps) == (77, "tester", True, 90)
    table = episode.steps()
    buttons = [value or 0 for value in table.column("input.player.buttons").to_pylist()[:-1]]
    assert [episode.task.keys.table[mask] for mask in buttons] == episode.actions().tolist()
    assert set(buttons) == {0, 1}
    latencies = [value for value in table.column("input.player.latency_ms").to_pylist() if value is not None]
    assert latencies
    assert all(0 < value < 60_000 for value in latencies)
    painted = table.column("input.player.painted_step").to_pylist()[:-1]
    assert all(step is None or step <= index for index, step in enumerate(painted))
    from interplay.store import PlaySession

    deadline, found = time.monotonic() + 60, ("playing", None)
    while found[0] == "playing" and time.monotonic() < deadline:  # it is written down beside the last message
        with archive.database.read() as session:
            row = session.get_one(PlaySession, watcher.client.grant["session"])
            found = (row.state, row.episode_id)
    assert found == ("ended", episode.id)


def test_a_world_of_few_colours_is_lossless_and_one_of_noise_comes_as_jpeg(server, archive) -> None:
    async def scenario(task: str) -> Watcher:
        async with await server.open(task) as client:
            await client.start()
            watcher = Watcher(client, rgb=True)
            await watcher.play(30)
            await client.quit()
            await watcher.play()
            return watcher

    counter = asyncio.run(scenario("trial/counter"))
    assert counter.client.welcome["codec"] == "palette"
    assert counter.client.ended is not None
    assert counter.equals(archive.get(counter.client.ended["episode"]))
    noise = asyncio.run(scenario("trial/noise"))
    assert noise.client.welcome["codec"] == "jpeg"
    assert noise.client.decoder.pixels.shape == (240, 320, 3)
    assert noise.client.ended is not None
    assert noise.client.ended["outcome"] == "quit"


def test_a_pause_stops_the_clock_and_a_reload_takes_the_seat_up_again(server, archive) -> None:
    async def scenario() -> None:
        again_seed = 50
        client = await server.open("atari/breakout", seed=again_seed)
        await client.start()
        watcher = Watcher(client)
        await watcher.play(40)
        await client.pause()
        while client.state != "paused":
            await client.receive()
        paused_at = client.decoder.step
        await asyncio.sleep(1.0)
        await client.resume()
        while client.state != "playing":
            await client.receive()
        assert client.decoder.step - paused_at < 30
        await watcher.play(80)
        before = client.decoder.step
        await client.close()  # the page is reloaded
        again = PlayClient(server.address, client.grant)
        await again.connect()
        assert again.welcome["state"] == "paused"
        assert before <= again.welcome["step"] <= before + 120
        await again.start()
        second = Watcher(again)
        await second.play(40)
        assert again.messages[-1]["type"] == "resumed"
        await again.quit()
        await second.play()
        assert again.ended is not None
        episode = archive.get(again.ended["episode"])
        assert watcher.equals(episode)
        assert second.equals(episode)
        assert len(archive.episodes(task="atari/breakout", seeds=[again_seed])) == 1

    asyncio.run(scenario())


def test_a_second_socket_takes_the_seat_over(server) -> None:
    async def scenario() -> None:
        first = await server.open("trial/counter")
        await first.start()
        await Watcher(first).play(10)
        second = PlayClient(server.address, first.grant)
        await second.connect()
        with pytest.raises(PlayClientError) as refused:
            await Watcher(first).play()
        assert refused.value.code == 4409
        await second.start()
        await Watcher(second).play(10)
        await second.quit()
        await Watcher(second).play()
        await second.close()
        late = PlayClient(server.address, first.grant)
        await late.connect()
        assert late.ended == second.ended  # the session is over: its last words
        await late.close()

    asyncio.run(scenario())


async def closing(server, *messages: str | bytes, grant: dict | None = None) -> tuple[int, str]:
    """The code and reason a socket that says this is closed with."""
    address = "ws" + server.address.removeprefix("http") + "/api/play"
    async with connect(address, subprotocols=[wire.SUBPROTOCOL], compression=None) as socket:  # type: ignore[list-item]
        try:
            if grant is not None:
                await socket.send(json.dumps({"type": "hello", "token": grant["token"]}))
            for message in messages:
                await socket.send(message)
            while True:
                await asyncio.wait_for(socket.recv(), 60)
        except ConnectionClosed as closed:
            return (closed.rcvd.code, closed.rcvd.reason) if closed.rcvd else (1006, "")


def test_messages_against_the_rules_close_their_socket_and_disturb_nobody(server) -> None:
    def hello(token: str) -> str:
        return json.dumps({"type": "hello", "token": token})

    expired, _ = SeatTokens(server_secret(server.data), ttl_s=-1).sign("someone")
    ended, _ = SeatTokens(server_secret(server.data), ttl_s=60).sign("someone-who-left")
    inputs = [wire.pack_input(0, 0, 0.0)] * 320

    async def scenario() -> None:
        # Without the button Breakout never ends, however long the rest takes.
        witness = Watcher(await server.open("atari/breakout", seed=5))
        other = Watcher(await server.open("atari/breakout", seed=6))
        for watcher in (witness, other):
            await watcher.client.start()
        watching = [asyncio.create_task(watcher.play()) for watcher in (witness, other)]
        await asyncio.sleep(0.5)

        async def grant() -> dict:
            return (await server.open("trial/counter", connect=False)).grant

        found = {
            "no hello first": await closing(server, '{"type":"start"}'),
            "unsigned": await closing(server, hello("made-up")),
            "no token": await closing(server, '{"type":"hello"}'),
            "expired": await closing(server, hello(expired)),
            "ended": await closing(server, hello(ended)),
            "binary first": await closing(server, b"\x01" * 16),
            "no json": await closing(server, "hi", grant=await grant()),
            "unknown type": await closing(server, '{"type":"dance"}', grant=await grant()),
            "wrong binary": await closing(server, b"\x02" * 16, grant=await grant()),
            "short binary": await closing(server, b"\x01", grant=await grant()),
            "not a number": await closing(server, wire.pack_input(0, 0, float("nan")), grant=await grant()),
            "a gui without end": await closing(
                server, '{"type":"scene","drawn":"here","gui_width":99999,"gui_height":180}', grant=await grant()
            ),
            "nine parts": await closing(server, '{"type":"land","parts":9}', grant=await grant()),
            "painted nowhere": await closing(server, '{"type":"painted","yaw":1e999}', grant=await grant()),
            "a view of all": await closing(server, '{"type":"options","fov":180}', grant=await grant()),
            "a key that is none": await closing(server, '{"type":"options","keys":{"FIRE":"<b>"}}', grant=await grant()),
            "a look beyond": await closing(
                server, struct.pack("<BBHIdIff", 3, 0, 0, 0, 0.0, 0, 91.0, 0.0), grant=await grant()
            ),
            "a look nowhere": await closing(
                server, struct.pack("<BBHIdIff", 3, 0, 0, 0, 0.0, 0, 0.0, float("nan")), grant=await grant()
            ),
            "2 kB": await closing(server, "x" * 2048, grant=await grant()),
            "8 MB": await closing(server, b"\x01" * (8 << 20), grant=await grant()),
            "flood": await closing(server, *inputs, grant=await grant()),
        }
        codes = {name: code for name, (code, _) in found.items()}
        assert codes == {
            "no hello first": 4401,
            "unsigned": 4401,
            "no token": 4401,
            "expired": 4403,
            "ended": 4403,
            "binary first": 4400,
            "no json": 4400,
            "unknown type": 4400,
            "wrong binary": 4400,
            "short binary": 4400,
            "not a number": 4400,
            "a gui without end": 4400,
            "nine parts": 4400,
            "painted nowhere": 4400,
            "a view of all": 4400,
            "a key that is none": 4400,
            "a look beyond": 4400,
            "a look nowhere": 4400,
            "2 kB": 4413,
            "8 MB": 4413,
            "flood": 4429,
        }
        assert all(reason for _, reason in found.values())
        await asyncio.sleep(0.3)
        for watcher in (witness, other):
            await watcher.client.quit()
        await asyncio.gather(*watching)
        assert witness.disturbance() is None
        assert other.disturbance() is None

    asyncio.run(scenario())


def test_a_socket_of_another_site_or_another_protocol_is_refused(server) -> None:
    async def scenario() -> None:
        address = "ws" + server.address.removeprefix("http") + "/api/play"
        for origin in ("https://evil.example", "null"):
            with pytest.raises(InvalidStatus) as refused:
                await connect(address, origin=origin, subprotocols=[wire.SUBPROTOCOL])  # type: ignore[arg-type,list-item]
            assert refused.value.response.status_code == 403
        own = await connect(address, origin=server.address, subprotocols=[wire.SUBPROTOCOL])  # type: ignore[arg-type,list-item]
        await own.close()
        async with connect(address) as socket:
            with pytest.raises(ConnectionClosed) as closed:
                await socket.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 4400

    asyncio.run(scenario())


def test_an_input_that_answers_a_frame_never_made_harms_nobody(server, archive) -> None:
    async def scenario() -> dict:
        async with await PlayClient.open(server.address, "atari/breakout", operator=server.token, actor="odd") as client:
            await client.start()
            async for _ in client.frames():
                if client.decoder.step == 20:
                    for step in (2**31, 2**32 - 1, 10_000):
                        await client.socket.send(wire.pack_input(1, step, 1.0))
                if client.decoder.step == 100:
                    await client.quit()
            assert client.ended is not None
            return client.ended

    ended = asyncio.run(scenario())
    episode = archive.get(ended["episode"])
    assert (episode.outcome, episode.num_steps) == ("quit", ended["num_steps"])
    painted = episode.steps().column("input.player.painted_step").drop_null().to_pylist()
    assert painted
    assert all(painted_step <= step for step, painted_step in enumerate(painted, episode.num_steps + 1 - len(painted)))


def test_messages_that_come_in_one_piece_are_taken_in_their_order(server, archive) -> None:
    """An input that overtook the pause before it would be let go by it."""

    async def scenario() -> dict:
        async with await server.open("atari/breakout") as client:
            await client.start()
            await Watcher(client).play(10)
            protocol = client.socket.protocol
            for kind in ("pause", "resume"):
                protocol.send_text(json.dumps({"type": kind}).encode())
            protocol.send_binary(wire.pack_input(1, 10, 1.0))
            client.socket.transport.write(b"".join(protocol.data_to_send()))
            await Watcher(client).play(60)
            await client.quit()
            await Watcher(client).play()
            assert client.ended is not None
            return client.ended

    ended = asyncio.run(scenario())
    buttons = archive.get(ended["episode"]).steps().column("input.player.buttons").drop_null().to_pylist()
    assert 1 in buttons


def test_names_that_programs_give_players_are_names(server) -> None:
    for actor in ("participant-1", "  ", "a\0b", "\x1b[31m", ""):
        body = {"task": "atari/breakout", "actor": actor}
        answer = httpx.post(f"{server.address}/api/sessions", json=body, headers={"Authorization": f"Bearer {server.token}"})
        assert answer.status_code == 422, actor


def test_an_open_server_says_so_and_lets_no_address_take_every_seat_nor_another_name_in(tmp_path: Path) -> None:
    options = ("--host", "0.0.0.0", "--allow-host", "lab.example", "--max-seats", "3")
    with running_server(tmp_path / "data", *options) as server, httpx.Client(base_url=server.address) as http:

        def ask(**headers: str) -> httpx.Response:
            return http.post("/api/sessions", json={"task": "atari/breakout"}, headers=headers)

        for _ in range(3):
            assert ask().status_code == 201
        refused = ask()
        assert (refused.status_code, refused.json()["error"], refused.headers["retry-after"]) == (429, "busy", "120")
        assert "3 games are open from your address" in refused.json()["message"]
        assert ask(Authorization=f"Bearer {server.token}").status_code == 201

        log = (server.data / "server.log").read_text()
        assert "THIS SERVER IS OPEN TO OTHER MACHINES" in log
        for said in ("no https", str(server.data / "operator.token"), "lab.example"):
            assert said in log
        for name, status in (("lab.example", 200), ("192.0.2.7:8000", 200), ("localhost", 200), ("evil.example", 421)):
            assert http.get("/healthz", headers={"Host": name}).status_code == status, name


def test_only_operators_choose_seeds_and_names(server, archive) -> None:
    def ask(body: dict, token: str | None = None) -> httpx.Response:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return httpx.post(f"{server.address}/api/sessions", json=body, headers=headers)

    granted = ask({"task": "atari/breakout"})
    assert granted.status_code == 201
    assert set(granted.json()) == {"session", "token", "socket", "subprotocol", "expires_at"}
    for field, value in {"seed": 1, "actor": "me", "actor_kind": "agent", "countdown_s": 0}.items():
        refused = ask({"task": "atari/breakout", field: value})
        assert refused.status_code == 403
        assert "operator" in refused.json()["message"]
    assert ask({"task": "atari/breakout", "seed": 1}, "wrong").status_code == 401
    assert ask({"task": "atari/breakout", "seed": 9001}, server.token).status_code == 201
    unknown = ask({"task": "atari/breakot"})
    assert unknown.status_code == 404
    assert "atari/breakout" in unknown.json()["message"]
    assert ask({"task": "/etc/passwd.toml:x"}).status_code == 404
    for body in ({}, {"task": 7}, {"task": "atari/breakout", "extra": 1}, {"task": "x" * 500}):
        assert ask(body).status_code == 422
    assert httpx.get(f"{server.address}/api/play/statistics").status_code == 401
    assert find("atari/breakout").id == "atari/breakout"


def test_a_client_that_stops_reading_misses_frames_and_delays_nobody(server, archive) -> None:
    async def scenario() -> None:
        witness = Watcher(await server.open("atari/breakout", seed=7))
        lazy = Watcher(await server.open("atari/breakout", seed=6))
        await witness.client.start()
        watching = asyncio.create_task(witness.play())
        await lazy.client.start()
        await lazy.play(30)
        since = witness.steps[-1]
        while witness.steps[-1] < since + 150:  # the client reads nothing and acknowledges nothing
            await asyncio.sleep(0.05)
        await lazy.play(30 + 150)
        passed = witness.steps[-1] - since  # the game went on while the client came back
        jumps = [int(jump) for jump in np.diff(lazy.steps) if jump > 1]
        assert 40 <= max(jumps) <= passed  # once the window of 45 was full, until the client came back
        stalled_at = int(np.argmax(np.diff(lazy.steps)))
        assert stalled_at - 30 <= wire.MAX_UNACKNOWLEDGED_FRAMES + 1 + 15  # 15: the last sign of life may be 250 ms old
        for watcher in (witness, lazy):
            await watcher.client.quit()
        await lazy.play()
        await watching
        assert witness.disturbance() is None
        for watcher in (witness, lazy):
            assert watcher.client.ended is not None
            assert watcher.equals(archive.get(watcher.client.ended["episode"]))

    asyncio.run(scenario())


def num_written(server, session: str) -> int:
    """Steps of a game that its journal holds by now."""
    paths = (path for path in (server.data / "journal").glob("*.arrows") if journal.read_header(path).session_id == session)
    return sum(batch.num_rows for path in paths for batch, _ in journal.read_batches(path, []))


def test_a_full_pipe_keeps_few_frames_waiting_even_if_the_client_claims_to_paint(server) -> None:
    async def scenario() -> None:
        client = await server.open("trial/noise", connect=False)
        address = "ws" + server.address.removeprefix("http") + "/api/play"
        socket = await connect(address, subprotocols=[wire.SUBPROTOCOL], compression=None, max_queue=2, max_size=1 << 22)  # type: ignore[list-item]
        await socket.send(json.dumps({"type": "hello", "token": client.grant["token"]}))
        await socket.send('{"type":"start"}')
        tick = 0
        while num_written(server, client.grant["session"]) < 200:  # frames of 100 kB that nobody reads
            await asyncio.sleep(0.25)
            tick += 1
            await socket.send(wire.pack_input(0, tick * 20, 0.0))
        steps = []
        while not steps or steps[-1] < 170:
            message = await socket.recv()
            if isinstance(message, bytes):
                steps.append(wire.unpack_header(message).step)
        jump = int(np.argmax(np.diff(steps)))
        assert np.diff(steps)[jump] > 60  # what was skipped is skipped for good
        # Before the jump lies what fits the kernel's buffers on both ends and the client's own, not 200 frames.
        assert jump < 110
        await socket.send('{"type":"quit"}')
        await socket.close()

    asyncio.run(scenario())


def test_leaving_before_the_first_step_records_nothing(server, archive) -> None:
    async def scenario() -> None:
        client = await server.open("atari/riverraid")
        await client.quit()
        while client.ended is None:
            await client.receive()
        assert client.ended["episode"] is None
        assert client.ended["num_steps"] == 0

    asyncio.run(scenario())
    assert archive.episodes(task="atari/riverraid") == []
    assert not list((server.data / "episodes").glob("atari/riverraid/*"))
