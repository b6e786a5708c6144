"""Seats whose player's browser draws: what they are sent, where they look, and what is recorded. No sockets here."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trial_suite import suite_text

import interplay.record
from interplay.envs import EnvError
from interplay.envs.voxel.env import VoxelEnv
from interplay.play.connections import wire
from interplay.play.connections.wire import PlayerInput
from interplay.play.workers import channel
from interplay.play.workers.channel import Unpacker
from interplay.play.workers.live import LiveEpisode
from interplay.play.workers.live_seat import LiveSeat
from interplay.record import Owner, PaintedPicture
from interplay.tasks import parse_suite

TICK_US = 50_000
HERE = (320, 180)


class Told:
    """A scene that says how often it was asked, and how."""

    def __init__(self) -> None:
        self.num_parts = 3

    def scene(self, fresh: bool, turned: bool) -> bytes:
        return bytes((fresh, turned))

    def land_parts(self, num_parts: int) -> list[bytes]:
        self.num_parts -= 1
        return [b"land"] * num_parts if self.num_parts >= 0 else []


class World(VoxelEnv):
    """The block world, where drawing is an error unless it is allowed."""

    may_draw = True

    def scene_of(self, seat: str, gui_size: tuple[int, int]) -> Told:
        return Told()

    def scene_tables(self) -> bytes:
        return b"tables"

    def view_of(self, seat: str) -> Any:
        if not self.may_draw:
            raise EnvError("a picture was drawn")
        return super().view_of(seat)


class Game:
    """A live game of the block world for two, and what it has sent."""

    def __init__(self, root: Path) -> None:
        self.task = next(task for task in parse_suite(suite_text()).tasks if task.name == "blocks")
        self.env = World(self.task)
        self.env.draw_for(self.env.people_see or {"gui_scale": 1})
        self.archive = interplay.record.open(root)
        self.sent: list[bytes] = []
        self.live = LiveEpisode(1, self.env, start=self.env.reset(seed=5), send=self.sent.append, tables="0" * 16)
        self.left, self.right = self.live.seats
        self.now_us = 1_000_000
        owners = {seat: Owner(seat, "human") for seat in self.task.seats}
        self.live.open_journal(self.archive.recorder(self.task, self.env, seed=5, owners=owners))

    def tick(self) -> None:
        self.now_us += TICK_US
        self.live.tick(self.now_us)

    def headers(self, seat: LiveSeat) -> list[wire.FrameHeader]:
        """Of the frames sent to this seat since the last question to any."""
        messages = list(Unpacker().feed(b"".join(self.sent)))
        frames = [payload for _, index, kind, payload in messages if kind == channel.ToWeb.FRAME and index == seat.index]
        return [wire.unpack_header(frame) for frame in frames]

    def clear(self) -> None:
        self.sent.clear()

    def look(self, seat: LiveSeat, pitch: float, yaw: float, painted_step: int | None = None) -> None:
        step = self.live.step if painted_step is None else painted_step
        self.live.input(seat, PlayerInput(0, step, 0.0, look=(pitch, yaw)))


@pytest.fixture
def game(tmp_path: Path) -> Game:
    return Game(tmp_path)


def test_nothing_is_drawn_where_browsers_draw_and_pictures_come_back_when_asked_for(game: Game) -> None:
    for seat in game.live.seats:
        game.live.draw_by(seat, HERE, game.now_us)
    game.env.may_draw = False
    game.live.start(game.now_us)
    game.clear()
    for _ in range(3):
        game.tick()
    headers = game.headers(game.left)
    assert [header.kind for header in headers] == [wire.SCENE_FRAME] * 3
    assert [header.flags for header in headers] == [wire.FRESH, 0, 0]
    assert [header.step for header in headers] == [1, 2, 3]
    assert [header.base_step for header in headers] == [0, 0, 0]
    game.clear()
    for client_ms in (1234.9, -5.0, 1e300):  # the clocks of browsers are their own
        game.live.input(game.left, PlayerInput(0, 3, client_ms))
        game.tick()
    assert [header.base_step for header in game.headers(game.left)] == [1234, 0, 2**32 - 1]
    game.env.may_draw = True
    game.clear()
    game.live.draw_by(game.right, None, game.now_us)
    game.tick()
    assert {header.kind for header in game.headers(game.left)} == {wire.SCENE_FRAME}
    assert {header.kind for header in game.headers(game.right)} <= {wire.KEY_FRAME, wire.DELTA_FRAME, wire.JPEG_FRAME}


def test_land_comes_on_request_only_also_before_the_start_and_not_to_a_client_that_is_held(game: Game) -> None:
    live, left = game.live, game.left
    assert live.owed_us(game.now_us) == -1
    live.draw_by(left, HERE, game.now_us)
    assert live.owed_us(game.now_us) >= 0  # the first scene
    live.send_owed(game.now_us)
    assert [header.kind for header in game.headers(left)] == [wire.SCENE_FRAME]
    assert live.owed_us(game.now_us) == -1
    left.owe_land(8, game.now_us)
    game.clear()
    left.hold()
    assert live.owed_us(game.now_us + 10) == -1
    left.go(key=False)
    while live.owed_us(game.now_us + 10) >= 0:
        live.send_owed(game.now_us + 10)
    assert [header.kind for header in game.headers(left)] == [wire.LAND_FRAME] * 3  # all there are
    left.owe_land(2, game.now_us)
    live.show(left, game.now_us)
    assert live.owed_us(game.now_us) == -1  # scenes that are asked for again and again wait
    game.clear()
    live.send_owed(game.now_us + 60_000)
    assert [header.flags for header in game.headers(left)] == [wire.FRESH]


@pytest.mark.parametrize("how", ["dropped", "key", "again"])
def test_a_browser_that_lost_something_is_told_everything(game: Game, how: str) -> None:
    live, left = game.live, game.left
    live.draw_by(left, HERE, game.now_us)
    live.start(game.now_us)
    game.tick()
    if how == "dropped":
        left.hold()
        game.tick()
        left.go(key=True)
    elif how == "key":
        live.show(left, game.now_us)
    else:
        live.draw_by(left, HERE, game.now_us)
    game.clear()
    game.tick()
    game.tick()
    assert [header.flags for header in game.headers(left)] == [wire.FRESH, 0]


def test_a_pause_or_a_slow_client_loses_nothing(game: Game) -> None:
    live, left = game.live, game.left
    live.draw_by(left, HERE, game.now_us)
    live.start(game.now_us)
    game.tick()
    live.pause(game.now_us)
    live.start(game.now_us)
    left.hold()
    game.tick()
    left.go(key=False)
    game.clear()
    game.tick()
    assert [header.flags for header in game.headers(left)] == [0]
    for _ in range(wire.MAX_UNACKNOWLEDGED_FRAMES + 5):
        game.tick()
    assert len(game.headers(left)) < wire.MAX_UNACKNOWLEDGED_FRAMES + 5


def test_a_look_is_reached_the_short_way_and_recorded_as_a_turn(game: Game) -> None:
    live, left = game.live, game.left
    for seat in live.seats:
        live.draw_by(seat, HERE, game.now_us)
    live.start(game.now_us)
    game.tick()
    wanted = [(10.0, 170.0), (-90.0, -170.0), (90.0, 179.5), (0.25, 300.0)]
    me = game.env.world.players[0]
    for pitch, yaw in wanted:
        game.look(left, pitch, yaw)
        game.tick()
        assert me.pitch == pytest.approx(pitch, abs=1e-4)
        assert (me.yaw - yaw + 180) % 360 - 180 == pytest.approx(0, abs=1e-4)
        game.tick()  # a look that was taken turns nobody again
    episode = game.archive.seal(live.recorder.finish("quit"))  # type: ignore[union-attr]
    cameras = np.array([action["camera"] for action in episode.actions("left")])
    assert (np.abs(cameras[:, 1]) <= 180).all()
    assert not cameras[2::2].any()
    assert interplay.record.verify(episode).equal
    assert episode.steps().column("frame_hash").to_pylist()[1:] == [None] * episode.num_steps


def test_who_was_turned_by_the_world_has_to_see_it_before_their_looks_count(game: Game) -> None:
    live, left = game.live, game.left
    live.draw_by(left, HERE, game.now_us)
    live.start(game.now_us)
    game.tick()
    game.tick()
    me = game.env.world.players[0]
    stepped = game.env.world.step

    def turning(*actions: Any) -> None:
        stepped(*actions)
        me.yaw = 90.0

    game.env.world.step = turning  # type: ignore[method-assign]
    game.clear()
    game.tick()
    game.env.world.step = stepped  # type: ignore[method-assign]
    turned_at = live.step
    payloads = [payload for _, index, _, payload in Unpacker().feed(b"".join(game.sent)) if index == 0 and payload[0] == 4]
    assert payloads[0][wire.HEADER_BYTES :] == bytes((False, True))
    game.look(left, 0.0, 10.0, painted_step=turned_at - 1)
    game.tick()
    assert me.yaw == 90.0
    game.look(left, 0.0, 80.0, painted_step=turned_at)
    game.tick()
    assert me.yaw == pytest.approx(80.0, abs=1e-4)


def test_a_look_moves_no_cursor(game: Game) -> None:
    live, left = game.live, game.left
    live.draw_by(left, HERE, game.now_us)
    live.start(game.now_us)
    game.tick()
    inventory = game.task.keys.mask({"inventory"})
    live.input(left, PlayerInput(inventory, 1, 0.0))
    game.tick()
    live.input(left, PlayerInput(0, 2, 0.0))
    game.tick()
    screen = game.env.world.screens[0]
    assert screen is not None
    cursor = screen.x, screen.y
    game.look(left, 45.0, 45.0)
    game.tick()
    assert (screen.x, screen.y) == cursor
    live.input(left, PlayerInput(0, live.step, 0.0, (1.0, 1.0)))  # a turn does
    game.tick()
    assert screen.x > cursor[0]
    assert screen.y > cursor[1]


def test_what_was_painted_is_recorded_beside_the_input(game: Game) -> None:
    live = game.live
    live.draw_by(game.left, HERE, game.now_us)
    live.start(game.now_us)
    game.tick()
    game.left.painted = PaintedPicture(90.5, -10.0, 1920, 1080, 59.5, 61.0)
    game.tick()
    episode = game.archive.seal(live.recorder.finish("quit"))  # type: ignore[union-attr]
    steps = episode.steps()
    assert steps.column("painted.left.width").to_pylist() == [None, 1920, None]
    assert steps.column("painted.left.yaw").to_pylist()[1] == 90.5
    assert steps.column("painted.left.input_ms").to_pylist()[1] == 61.0
    assert steps.column("painted.right.fps").to_pylist() == [None] * 3
    assert interplay.record.verify(episode).equal
