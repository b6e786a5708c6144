"""Games for two: how players meet, what one may do to the other, and what is recorded of both."""

import asyncio
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from play_server import RunningServer, running_server
from trial_suite import suite_text

import interplay.record
from interplay.play.client import PlayClient, PlayClientError
from interplay.play.connections import wire
from interplay.play.games.interfaces import State
from interplay.play.server import PlayServer
from interplay.tasks import parse_suite

pytest.importorskip("pettingzoo")
pytestmark = pytest.mark.processes

PONG, BLOCKS = "trial/pong", "trial/blocks"
UP, DOWN = 1, 2


async def until(client: PlayClient, is_so: Callable[[], Any], within_s: float = 60.0) -> None:
    """Take what comes until something is so."""
    async with asyncio.timeout(within_s):
        while not is_so():
            await client.receive()


def seats_of(client: PlayClient) -> dict[str, str]:
    """Seat -> state, as this player was told last."""
    told = [message for message in client.messages if message["type"] == "seats"]
    return {one["seat"]: one["state"] for one in told[-1]["seats"]} if told else {}


async def two(server: RunningServer, task: str = PONG, **wanted: Any) -> tuple[PlayClient, PlayClient]:
    """Two players in one game that runs."""
    left = await server.open(task, actor="ann", **wanted)
    right = await server.open(task, actor="bob")
    for client in (left, right):
        await client.start()
    for client in (left, right):
        await until(client, lambda client=client: client.state == "playing")
    return left, right


async def play_on(*clients: PlayClient, num_steps: int) -> None:
    """All of them see so many more steps."""
    async with asyncio.TaskGroup() as group:
        for client in clients:
            goal = client.decoder.step + num_steps
            group.create_task(until(client, lambda client=client, goal=goal: client.decoder.step >= goal))


def test_two_play_one_game_each_with_their_own_keys_and_the_recording_says_who_did_what(server: RunningServer) -> None:
    async def scenario() -> tuple[PlayClient, PlayClient]:
        left, right = await two(server, seed=4)
        assert left.grant["session"] != right.grant["session"]
        assert seats_of(right) == {"left": "playing", "right": "playing"}
        assert [next(m["you"] for m in one.messages if m["type"] == "seats") for one in (left, right)] == ["left", "right"]
        await left.press(UP)
        await right.press(DOWN)
        await play_on(left, right, num_steps=20)
        await left.quit()
        for client in (left, right):
            await until(client, lambda client=client: client.ended)
            await client.close()
        return left, right

    left, right = asyncio.run(scenario())
    assert left.ended is not None
    assert right.ended is not None
    assert left.ended["episode"] == right.ended["episode"]
    assert [one["outcome"] for one in (left.ended, right.ended)] == ["quit", "quit"]
    assert right.ended["by"] == "left"
    archive = interplay.record.open(server.data)
    episode = archive.get(left.ended["episode"])
    assert interplay.record.verify(episode).equal
    steps = episode.steps()
    last = {name: steps.column(f"action.{name}").to_pylist()[-2] for name in ("left", "right")}
    assert last == {"left": 1, "right": 2}
    assert set(steps.column("owner.left").to_pylist()[:-1]) == {"ann"}
    assert set(steps.column("owner.right").to_pylist()[:-1]) == {"bob"}
    archive.close()


def test_who_comes_first_reads_whom_they_wait_for_and_the_game_begins_when_both_said_start(server: RunningServer) -> None:
    async def scenario() -> None:
        left = await server.open(PONG, seed=5)
        await left.start()
        await until(left, lambda: seats_of(left) == {"left": "ready", "right": "open"})
        right = await server.open(PONG)
        await until(left, lambda: seats_of(left) == {"left": "ready", "right": "here"})
        assert left.state == "waiting"
        await right.start()
        for client in (left, right):
            await until(client, lambda client=client: client.state == "playing")
        assert "countdown" not in [message["type"] for message in left.messages]
        await left.quit()
        await until(right, lambda: right.ended)
        await left.close()
        await right.close()

    asyncio.run(scenario())


def test_a_player_who_leaves_before_the_start_makes_room_for_another(server: RunningServer) -> None:
    async def scenario() -> None:
        left = await server.open(PONG, seed=6)
        await left.start()
        gone = await server.open(PONG)
        await until(left, lambda: seats_of(left).get("right") == "here")
        await gone.quit()
        await until(gone, lambda: gone.ended)
        assert gone.ended is not None
        assert gone.ended["episode"] is None
        await until(left, lambda: seats_of(left)["right"] == "open")
        right = await server.open(PONG)
        await right.start()
        await until(left, lambda: left.state == "playing")
        third = await server.open(PONG)  # this game is full: another one
        await until(third, lambda: seats_of(third) == {"left": "here", "right": "open"})
        assert third.grant["session"] != right.grant["session"]
        await third.quit()
        await right.quit()
        await until(left, lambda: left.ended)
        for client in (left, right, third, gone):
            await client.close()

    asyncio.run(scenario())


def test_a_pause_lets_go_of_ones_own_keys_and_stops_nobody(server: RunningServer) -> None:
    async def scenario() -> str:
        left, right = await two(server, seed=7)
        await left.press(UP)
        await play_on(left, right, num_steps=5)
        await left.pause()
        await until(left, lambda: left.state == "paused")
        await left.press(UP)  # of somebody who looks away
        await until(right, lambda: seats_of(right) == {"left": "away", "right": "playing"})
        stood_at = right.decoder.step
        await play_on(right, num_steps=15)
        await left.press(0)  # or what it acknowledges after it has resumed says UP
        await left.resume()
        await until(left, lambda: left.state == "playing")
        assert left.decoder.step >= stood_at
        await left.press(DOWN)
        await play_on(left, right, num_steps=5)
        await left.pause()
        await right.pause()  # now nobody looks: the clock stands
        await until(right, lambda: right.state == "paused")
        await asyncio.sleep(1.0)
        stands_at = right.decoder.step
        await right.resume()
        await until(right, lambda: right.state == "playing")
        assert right.decoder.step <= stands_at + 30
        await play_on(right, num_steps=3)
        await right.quit()
        for client in (left, right):
            await until(client, lambda client=client: client.ended)
            await client.close()
        assert right.ended is not None
        return right.ended["episode"]

    episode_id = asyncio.run(scenario())
    archive = interplay.record.open(server.data)
    actions = archive.get(episode_id).steps().column("action.left").to_pylist()[:-1]
    changes = [one for one, before in zip(actions, [None, *actions], strict=False) if one != before]
    assert changes[-4:] == [1, 0, 2, 0]
    archive.close()


@pytest.mark.parametrize("task", [PONG, BLOCKS])
def test_both_go_on_when_their_worker_is_killed(tmp_path: Path, task: str) -> None:
    async def scenario(server: RunningServer) -> str:
        left, right = await two(server, task, seed=8)
        await right.press(UP)
        await play_on(left, right, num_steps=30)
        (worker,) = [one for one in (await server.statistics())["workers"] if one["seats"]]
        os.kill(worker["pid"], signal.SIGKILL)
        for client in (left, right):
            await until(client, lambda client=client: client.state == "paused")
            await until(client, lambda client=client: client.state == "playing")
        await play_on(left, right, num_steps=30)
        await right.quit()
        for client in (left, right):
            await until(client, lambda client=client: client.ended)
            await client.close()
        assert left.ended is not None
        same = np.array_equal(left.decoder.frame().rgb(), right.decoder.frame().rgb())  # both of the last step
        assert same is (task == PONG), "in the block world each sees with their own eyes"
        return left.ended["episode"]

    with running_server(tmp_path / "data", "--workers", "1") as server:
        episode_id = asyncio.run(scenario(server))
        archive = interplay.record.open(server.data)
        episode = archive.get(episode_id)
        assert episode.num_steps >= 45  # 30 twice; the last second before the kill may be lost
        assert interplay.record.verify(episode).equal
        assert set(episode.steps().column("owner.left").to_pylist()[:-1]) == {"ann"}
        archive.close()


class Listener:
    """Stands where a player's socket does."""

    def __init__(self) -> None:
        self.words: list[dict[str, Any]] = []
        self.num_frames = 0

    def send_text(self, message: str) -> None:
        self.words.append(json.loads(message))

    def send_frame(self, message: bytes, *, last: bool = False) -> None:
        self.num_frames += 1

    def close(self, code: int, reason: str = "") -> None: ...


def test_a_player_who_does_not_come_back_ends_the_game_for_both(tmp_path: Path) -> None:
    """In this process, because half a minute is long for a test."""

    async def scenario(archive: interplay.record.Archive) -> None:
        suites = [parse_suite(suite_text())]
        play = PlayServer(archive, secret=b"s" * 32, num_workers=1, suites=suites, seat_kept_s=0.4, partners={PONG: "none"})
        await play.start()
        try:
            listeners = []
            for name in ("ann", "bob"):
                grant = await asyncio.to_thread(play.create_session, PONG, actor=name, countdown_s=0)
                game, seat = play._places[grant.session]
                listeners.append(Listener())
                game.attach(seat, listeners[-1])  # type: ignore[arg-type]
            async with asyncio.timeout(60):
                while not all(seat.is_welcomed for seat in game.seats):
                    await asyncio.sleep(0.02)
                for seat in game.seats:
                    game.on_command(seat, wire.ClientCommand("start"))
                while game.state is not State.PLAYING or listeners[1].num_frames < 3:
                    await asyncio.sleep(0.02)
                game.detach(game.seats[0], listeners[0])  # type: ignore[arg-type]
                assert game.state is State.PLAYING
                while listeners[1].words[-1]["type"] != "ended":
                    await asyncio.sleep(0.02)
            ended = listeners[1].words[-1]
            assert (ended["outcome"], ended["by"]) == ("left", "left")
            (episode,) = archive.episodes()
            assert (episode.id, episode.outcome) == (ended["episode"], "left")
        finally:
            await play.stop()

    archive = interplay.record.open(tmp_path)
    asyncio.run(scenario(archive))
    archive.close()


def test_a_seat_that_was_left_cannot_be_taken_again(server: RunningServer) -> None:
    async def scenario() -> None:
        left = await server.open(PONG, seed=9)
        gone = await server.open(PONG)
        await gone.quit()
        await until(gone, lambda: gone.ended)
        again = PlayClient(server.address, gone.grant)
        await again.connect()
        assert again.ended is not None
        with pytest.raises(PlayClientError):
            await again.receive()
        await left.quit()
        await until(left, lambda: left.ended)
        for client in (left, gone, again):
            await client.close()

    asyncio.run(scenario())


def test_a_game_for_two_goes_on_after_the_server_was_killed_when_both_have_said_so(tmp_path: Path) -> None:
    data = tmp_path / "data"
    grants: list[dict[str, Any]] = []

    async def first(server: RunningServer) -> None:
        left, right = await two(server, seed=10)
        await left.press(UP)
        await play_on(left, right, num_steps=30)
        grants.extend((left.grant, right.grant))
        server.process.kill()

    async def second(server: RunningServer) -> str:
        left, right = (PlayClient(server.address, grant) for grant in grants)
        for client in (right, left):  # the other way round
            await client.connect()
            assert client.welcome["restored"]
        await right.resume()
        await until(left, lambda: seats_of(left) == {"left": "away", "right": "playing"})
        assert {left.state, right.state} == {"paused"}
        await left.resume()
        for client in (left, right):
            await until(client, lambda client=client: client.state == "playing")
        await left.press(DOWN)
        await play_on(left, right, num_steps=10)
        await left.quit()
        for client in (left, right):
            await until(client, lambda client=client: client.ended)
            await client.close()
        assert right.ended is not None
        assert right.ended["by"] == "left"
        return right.ended["episode"]

    with running_server(data, "--workers", "1", expect_exit=None) as server:
        asyncio.run(first(server))
    with running_server(data, "--workers", "1") as server:
        episode_id = asyncio.run(second(server))
        archive = interplay.record.open(data)
        episode = archive.get(episode_id)
        assert interplay.record.verify(episode).equal
        assert {seat.actor for seat in episode.seats} == {"ann", "bob"}
        actions = [one for one in episode.steps().column("action.left").to_pylist()[:-1] if one]
        assert actions == sorted(actions), "first up, then down: the same seat as before"
        assert {1, 2} <= set(actions)
        archive.close()
