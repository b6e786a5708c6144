"""Worlds that wait for their players: one press is one step, whatever comes late, twice or in between."""

import asyncio
import time
from pathlib import Path

import numpy as np
import pytest
from play_server import RunningServer
from test_several_seats import two, until
from test_shared_games import server_here
from test_shared_games import until as until_so
from test_worker import worker  # noqa: F401 (a fixture)
from trial_suite import suite_text

import interplay.record
from interplay.envs import make
from interplay.play.client import PlayClient
from interplay.play.connections import wire
from interplay.play.games.interfaces import State
from interplay.play.games.seat import Seat
from interplay.play.workers import channel
from interplay.play.workers.channel import Unpacker
from interplay.play.workers.live import LiveEpisode
from interplay.play.workers.live_seat import MAX_PRESSES
from interplay.record import Archive, Episode
from interplay.tasks import parse_suite

TASKS = {task.name: task for task in parse_suite(suite_text()).tasks}
A, B = 1, 2


@pytest.fixture(scope="module")
def archive(server: RunningServer):
    return interplay.record.open(server.data)


async def finished(archive: Archive, *clients: PlayClient) -> Episode:
    """The episode, once its players have finished it, one after the other; a replay must show the same."""
    for client in clients:
        await client.quit()
        await until(client, lambda client=client: client.ended is not None)
    assert client.ended is not None
    episode = archive.get(client.ended["episode"])
    verdict = interplay.record.verify(episode)
    assert verdict.equal, verdict
    assert verdict.replayed
    return episode


def test_each_press_is_one_step_and_nothing_else_is(server: RunningServer, archive: Archive) -> None:
    async def scenario() -> None:
        async with await server.open("trial/turns") as client:
            await client.start()
            await until(client, lambda: client.state == "playing")
            for buttons in (A, B, B, A, B):  # faster than the world steps
                await client.choose(buttons)
            await until(client, lambda: client.step == 5)
            assert client.hud["turns_left"] in (95, 96)
            assert "time_left_s" not in client.hud
            again = wire.pack_input(0, 5, 1.0, press=(A, 5))
            for message in (again, again, wire.pack_input(A, 5, 2.0, press=(0, 5)), wire.pack_input(0, 5, 3.0, press=(0, 5))):
                await client.socket.send(message)  # told twice; held; let go
            await client.choose(B)
            await until(client, lambda: client.step >= 6)
            episode = await finished(archive, client)
        assert episode.actions().tolist() == [0, 1, 1, 0, 1, 1]
        steps = episode.steps()
        assert steps.column("input.player.buttons").to_pylist()[:-1] == [A, B, B, A, B, B]
        assert set(steps.column("input.player.latency_ms").to_pylist()) == {None}  # to think is no delay

    asyncio.run(scenario())


def test_a_client_that_only_says_what_it_holds_presses_what_it_held_not_before(server: RunningServer, archive: Archive) -> None:
    async def scenario() -> None:
        async with await server.open("trial/turns") as client:
            await client.start()
            await until(client, lambda: client.state == "playing")
            for number, mask in enumerate((B, B | A, A, 0, A)):
                await client.press(mask)
                await client._send_input(mask)  # a sign of life
                pressed = [B, A, 0, 0, A]
                await until(client, lambda number=number, pressed=pressed: client.step >= sum(map(bool, pressed[: number + 1])))
            episode = await finished(archive, client)
        assert episode.actions().tolist() == [1, 0, 0]

    asyncio.run(scenario())


def test_a_game_for_two_steps_when_both_have_chosen(server: RunningServer, archive: Archive) -> None:
    pytest.importorskip("pettingzoo")

    async def scenario() -> None:
        left, right = await two(server, "trial/turns_for_two")
        async with left, right:
            for _ in range(2):
                await left.choose(1)
            await right.choose(2)
            for client in (left, right):
                await until(client, lambda client=client: client.step == 1)
            await right.choose(1)
            for client in (left, right):
                await until(client, lambda client=client: client.step == 2)
            episode = await finished(archive, right, left)
        assert (episode.actions("left").tolist(), episode.actions("right").tolist()) == ([1, 1], [2, 1])

    asyncio.run(scenario())


def test_a_pause_forgets_what_waits_for_the_other_player(server: RunningServer, archive: Archive) -> None:
    pytest.importorskip("pettingzoo")

    async def scenario() -> None:
        left, right = await two(server, "trial/turns_for_two")
        async with left, right:
            await left.choose(1)
            await left.pause()
            await until(left, lambda: left.state == "paused")
            await left.resume()
            await until(left, lambda: left.state == "playing")
            await right.choose(2)
            await left.choose(2)
            await until(left, lambda: left.step == 1)
            episode = await finished(archive, right, left)
        assert (episode.actions("left").tolist(), episode.actions("right").tolist()) == ([2], [2])

    asyncio.run(scenario())


def test_a_player_who_never_presses_has_left(tmp_path: Path) -> None:
    class Listener:
        """Keeps what its player is told."""

        def __init__(self) -> None:
            self.kinds: list[str] = []

        def send_text(self, message: str) -> None:
            self.kinds.append(message)

        def send_frame(self, message: bytes, *, last: bool) -> None: ...

        def close(self, code: int, reason: str = "") -> None: ...

    async def scenario() -> None:
        async with server_here(tmp_path, idle_s=1.0) as play:
            grant = await asyncio.to_thread(play.create_session, "trial/turns", countdown_s=0)
            game, seat = play._places[grant.session]
            listener = Listener()
            game.attach(seat, listener)  # type: ignore[arg-type]
            await until_so(lambda: seat.is_welcomed)
            game.on_command(seat, wire.ClientCommand("start"))
            await until_so(lambda: game.state is State.ENDED)
            assert '"outcome":"left"' in listener.kinds[-1]

    asyncio.run(scenario())


# In a worker


def live(name: str, sent: list[bytes], number: int = 1) -> LiveEpisode:
    env = make(TASKS[name])
    return LiveEpisode(number, env, start=env.reset(seed=1), send=sent.append)


def held(pressed: int = 0) -> wire.PlayerInput:
    """A message as a seat has read it."""
    return wire.PlayerInput(0, 0, 0.0, pressed=pressed)


def test_nothing_is_due_until_a_press_and_then_one_step(worker) -> None:  # noqa: F811
    episode = live("turns", [])
    episode.wanted = True
    worker._episodes[1] = episode
    worker._start(episode)
    assert worker._due == []
    (seat,) = episode.seats
    episode.input(seat, held())
    worker._schedule(episode)
    assert worker._due == []
    for _ in range(3):
        episode.input(seat, held(A))
        worker._schedule(episode)
    for step in (1, 2, 3):
        assert episode.clock.due_us is not None
        worker._tick(episode, max(time.monotonic_ns() // 1000, episode.clock.due_us))
        assert episode.step == step
    assert episode.clock.due_us is None
    assert sum(due is not None for due, _ in worker._due) <= 5  # what is left of them is skipped: it is not due any more


def test_presses_wait_their_turn_at_the_highest_rate_and_a_flood_is_cut(worker) -> None:  # noqa: F811
    episode = live("turns", [])
    episode.start(1_000_000)
    (seat,) = episode.seats
    for _ in range(MAX_PRESSES + 10):
        episode.input(seat, held(B))
    now, dues = 2_000_000, []
    while (due := episode.due_us(now)) is not None:
        dues.append(due)
        now = due
        episode.tick(now)
    assert dues == [2_000_000 + 10_000 * number for number in range(MAX_PRESSES)]
    assert episode.step == MAX_PRESSES


def test_a_player_who_read_too_slowly_is_sent_the_picture_with_the_next_sign_of_life() -> None:
    sent: list[bytes] = []
    episode = live("turns", sent)
    (seat,) = episode.seats
    episode.show(seat, 0)
    episode.start(1_000_000)

    def steps() -> list[int]:
        """Of the frames that were sent."""
        messages = list(Unpacker().feed(b"".join(sent)))
        return [wire.unpack_header(message).step for _, _, kind, message in messages if kind == channel.ToWeb.FRAME]

    seat.hold()
    episode.input(seat, held(A))
    episode.tick(1_500_000)
    assert steps() == [0]
    seat.go(key=True)
    episode.catch_up(seat, 1_600_000)
    assert steps() == [0, 1]
    episode.catch_up(seat, 1_700_000)
    assert steps() == [0, 1]
    seat.go(key=True)  # it was sent, and dropped on the way
    episode.catch_up(seat, 1_800_000)
    assert steps() == [0, 1, 1]


def test_a_press_is_counted_once_and_a_new_socket_counts_anew() -> None:
    class Connection:
        def close(self, code: int, reason: str) -> None: ...

    seat = Seat("player", 0)

    def pressed(message: bytes) -> int:
        return seat.read(wire.parse_input(message), 0).pressed

    assert [pressed(wire.pack_input(0, 0, 0.0, press=(A, number))) for number in (1, 1, 2, 1, 3)] == [A, 0, A, 0, A]
    seat.take(Connection())  # type: ignore[arg-type]
    assert pressed(wire.pack_input(0, 0, 0.0, press=(B, 1))) == B
    assert [pressed(wire.pack_input(mask, 0, 0.0)) for mask in (A, A, A | B, B, 0, A)] == [A, 0, B, 0, 0, A]


# Steered by a number


def test_values_arrive_as_they_were_sent_and_buttons_hold_the_ends(server: RunningServer, archive: Archive) -> None:
    keys = TASKS["steer"].keys
    values = [0.30000001192092896, -1.7000000476837158, 1.1754943508222875e-38]  # float32, not all short in decimals

    async def scenario() -> None:
        async with await server.open("trial/steer") as client:
            await client.start()
            await until(client, lambda: client.step >= 2)
            for value in values:
                step = client.step
                await client.point(*keys.turn_of_action(np.array([value], np.float32)))
                await until(client, lambda step=step: client.step >= step + 4)
            await client.point(0.5, 7.0, buttons=keys.mask({"RIGHT"}))
            await until(client, lambda step=client.step: client.step >= step + 4)
            await client.point(99.0)
            await until(client, lambda step=client.step: client.step >= step + 4)
            await client.pause()
            await until(client, lambda: client.state == "paused")
            await client.resume()
            await until(client, lambda: client.state == "playing")  # frames from before the pause have come by then
            await until(client, lambda step=client.step: client.step >= step + 3)
            episode = await finished(archive, client)
        actions = episode.actions()
        assert actions.dtype == np.float32
        runs = [0, *(number for number in range(1, len(actions)) if actions[number] != actions[number - 1])]
        assert actions[runs].tolist() == [[0.0], *([value] for value in values), [-2.0], [2.0], [0.0]]

    asyncio.run(scenario())
