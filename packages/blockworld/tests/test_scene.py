"""What a browser is told of a world is the world: cells, light, figures, display, whatever was skipped on the way."""

import gc

import numpy as np
import pytest

from blockworld import Action, Stack, World, WorldError
from blockworld.player import mining
from blockworld.raycaster.records import NUM_NUMBERS
from blockworld.registry.blocks import parse
from blockworld.render import display, figures, pieces
from blockworld.scene import land, packing, shared
from blockworld.scene.decoder import LAND_FRAME, SCENE_FRAME, SceneDecoder
from blockworld.scene.encoder import SceneEncoder, generated_land
from blockworld.scene.shared import Pending, Shared


class Client:
    """An encoder and the decoder at its other end."""

    def __init__(self, world, seat=0, **options):
        self.world, self.seat = world, seat
        self.encoder, self.decoder = SceneEncoder(world, seat, **options), SceneDecoder()

    def scene(self, *, fresh=False, turned=False):
        payload = self.encoder.scene(fresh, turned)
        self.decoder.apply(SCENE_FRAME, payload)
        return packing.unpack(packing.inflate(payload))[0]

    def land(self, num_parts=64):
        parts = self.encoder.land_parts(num_parts)
        for part in parts:
            self.decoder.apply(LAND_FRAME, part)
        return parts

    def check(self):
        """Everything that was sent is as in the world."""
        world, found = self.world, self.decoder
        assert not ((found.blocks != world.grid.blocks) & found.known).any()
        assert not ((found.light != world.grid.light) & found.known).any()
        assert found.num_unknown == 0
        with world.acting(self.seat) as me:
            ids, rows = figures.standing(world, (me.x, me.eye_y, me.z))
            operations = display.operations(world)
            target = mining.target(world)
        assert sorted(found.figures) == sorted(ids.tolist())
        for number, row in zip(ids.tolist(), rows, strict=True):
            np.testing.assert_array_equal(found.figures[number], row)
        assert {int(row[figures.MODEL]) for row in rows} <= found.models
        assert found.document["display"] == [list(one) for one in operations]
        assert {one[1] for one in operations if one[0] == "sprite"} <= found.sprites
        assert found.document["selected"] == (None if target is None else list(target[:3]))
        assert (found.document["tick"], found.document["time"]) == (world.ticks, world.time)
        assert found.document["me"]["x"] == pytest.approx(me.x, abs=1e-5)


def random_action(rng):
    return Action(
        forward=bool(rng.random() < 0.7),
        jump=bool(rng.random() < 0.3),
        attack=bool(rng.random() < 0.6),
        use=bool(rng.random() < 0.2),
        inventory=bool(rng.random() < 0.02),
        hotbar=int(rng.integers(10)),
        camera_pitch=float(rng.normal(0, 6)),
        camera_yaw=float(rng.normal(0, 12)),
    )


@pytest.mark.long_proof
def test_a_replay_jumps_between_steps_with_the_land_as_it_was_generated():
    world, rng = World(11, "village"), np.random.default_rng(8)
    for item in ("dirt", "water_bucket", "torch"):
        world.give(Stack(item, 1 if "_" in item else 64))
    saved = []
    for tick in range(401):
        if tick % 100 == 0:
            saved.append(world.save())
        world.step(random_action(rng))
    decoder = SceneDecoder()
    for part in generated_land(World(11, "village")):
        decoder.apply(LAND_FRAME, part)
    assert decoder.known.all()
    assert decoder.left == 0
    for number in (3, 1, 4, 0, 2):
        there = World.restore(saved[number])
        encoder = SceneEncoder(there, 0, has_land=True)
        for step in range(30):
            decoder.apply(SCENE_FRAME, encoder.scene(fresh=step in (0, 20)))
            assert np.array_equal(decoder.blocks, there.grid.blocks)
            assert np.array_equal(decoder.light, there.grid.light)
            ids, rows = figures.standing(there, None)
            assert sorted(decoder.figures) == sorted(ids.tolist())
            assert figures.FIRST_PLAYER in decoder.figures  # a free camera sees the player
            for one, row in zip(ids.tolist(), rows, strict=True):
                np.testing.assert_array_equal(decoder.figures[one], row)
            assert decoder.document["display"] == [list(one) for one in display.operations(there)]
            there.step(random_action(rng))
    assert decoder.num_unknown == 0


@pytest.mark.long_proof
@pytest.mark.parametrize(("kind", "hide_land"), [("village", False), ("plains", True), ("mountains", False)])
def test_a_client_that_skips_knows_what_the_world_is(kind, hide_land):
    world = World(11, kind)
    for item in ("dirt", "water_bucket", "iron_pickaxe", "torch"):
        world.give(Stack(item, 1 if "_" in item else 64))
    client, rng = Client(world, hide_land=hide_land), np.random.default_rng(4)
    client.scene(fresh=True)
    for tick in range(1200):
        world.step(random_action(rng))
        if rng.random() < 0.02:  # as commands and creepers do: many at once
            x, z = (int(value) for value in rng.integers(100, 150, 2))
            world.grid.fill(x, 60, z, x + 5, 66, z + 3, int(parse(str(rng.choice(["air", "glowstone", "water"])))))
        if rng.random() < 0.3:
            client.scene(fresh=rng.random() < 0.01)
        if rng.random() < 0.2:
            client.land(2)
        if tick % 200 == 199:
            client.scene()
            client.check()
    client.land()
    client.scene()
    client.check()
    assert client.decoder.left == 0
    assert client.decoder.known.all() != hide_land
    assert client.decoder.known.any()


@pytest.mark.long_proof
def test_two_seats_are_told_the_same_changes_and_see_each_other():
    world = World(5, "flat", inhabited=False)
    world.join()
    clients = [Client(world, seat) for seat in range(2)]
    for client in clients:
        client.scene()
        client.land()
    rng = np.random.default_rng(2)
    for tick in range(120):
        world.step(random_action(rng), random_action(rng))
        clients[tick % 2 if tick < 60 else 0].scene()
    for client in clients:
        client.scene()
        client.check()
    assert list(clients[0].decoder.figures) == [figures.FIRST_PLAYER + 1]
    assert list(clients[1].decoder.figures) == [figures.FIRST_PLAYER]


def test_seats_of_a_world_share_what_watches_it_and_it_goes_with_them():
    world = World(5, "flat", inhabited=False)
    encoders = [SceneEncoder(world, 0) for _ in range(3)]
    assert len(world.grid.watched) == 1
    assert Shared.of(world) is Shared.of(world)
    encoders.clear()
    gc.collect()
    assert world.grid.watched == []


def test_a_client_that_was_told_too_little_for_too_long_begins_anew(monkeypatch):
    monkeypatch.setattr(shared, "MOST_PENDING", 500)
    world = World(5, "flat", inhabited=False)
    asked, held = Client(world), Client(world)
    for client in (asked, held):
        client.scene()
        client.land()
    x, y, z = world.spawn
    for step in range(60):
        world.grid.set(x + 10 + step % 8, y + step // 8, z, parse("glowstone"))
        world.step(Action())
        asked.scene()
    assert "size" in held.scene()
    assert not held.decoder.known.any()
    held.land()
    held.check()
    assert "size" not in held.scene()


def test_the_last_value_of_a_cell_counts():
    world = World(5, "flat", inhabited=False)
    pending, all_of_them = Pending(), Shared(world)
    all_of_them._all.add(pending)
    for name in ("stone", "glowstone", "dirt"):
        world.grid.set(9, 9, 9, parse(name))
        world.grid.set(9, 9, 11, parse(name))
        all_of_them.gather()
    news = pending.take()
    assert news.states.tolist() == [parse("dirt")] * 2
    assert len(np.unique(news.lit)) == len(news.lit)
    np.testing.assert_array_equal(news.lights, world.grid.light.reshape(-1)[news.lit])
    assert len(pending.take().cells) == 0


def test_a_cell_that_changes_and_changes_back_around_a_land_frame_is_right():
    world = World(5, "flat", inhabited=False)
    client = Client(world)
    client.scene()
    world.grid.set(100, 50, 100, parse("stone"))
    client.land()
    world.grid.set(100, 50, 100, parse("air"))
    client.scene()
    client.check()


def test_land_comes_nearest_first_and_only_once():
    world = World(5, "flat", inhabited=False)
    world.player.x, world.player.z = 200.0, 40.0
    client = Client(world)
    assert client.land(3) == []  # before a scene
    client.scene()
    first = packing.unpack(packing.inflate(client.land(1)[0]))
    assert first[1]["at"].shape == (32, 3)
    assert first[1]["at"].min(0).tolist() == [12, 0, 2]
    assert first[0]["left"] == 63
    assert client.decoder.known[192:224, 32:64].all()
    assert len(client.land(8)) == 8
    assert len(client.land(64)) == 55
    assert client.land(1) == []
    client.check()


def test_parts_as_generated_are_packed_once_and_changed_ones_anew():
    world, other = World(6, "plains"), World(6, "plains")
    assert land.part(world, (3, 3)) is land.part(other, (3, 3))
    world.grid.set(100, 100, 100, parse("stone"))
    changed = land.part(world, (3, 3))
    assert changed != land.part(other, (3, 3))
    assert land.part(other, (3, 3)) is land.part(other, (3, 3))
    total = sum(len(land.part(other, which).data) for which in land.parts_of(other.grid.size))
    assert 400_000 < total < 700_000  # the prototype measured 582 to 606 kB


def test_a_quiet_tick_is_small_and_the_sky_comes_once_a_second():
    world = World(5, "flat", inhabited=False)
    client = Client(world)
    client.scene()
    client.land()
    for _ in range(10):  # the player falls on the ground, the light of the hand settles
        world.step(Action())
        client.scene()
    num_skies = 0
    for _ in range(60):
        world.step(Action())
        payload = client.encoder.scene()
        document, arrays = packing.unpack(packing.inflate(payload))
        num_skies += "numbers" in arrays
        assert "display" not in document
        assert len(payload) < (3600 if "numbers" in arrays else 400)
    assert num_skies == 3
    assert client.decoder.numbers.shape == (NUM_NUMBERS,)
    assert client.decoder.bright.shape == (256, 3)


@pytest.mark.parametrize("jump", [{"time": 18000}, {"weather": "rain"}])
def test_the_sky_comes_at_once_when_time_or_weather_jumps(jump):
    world = World(5, "flat", inhabited=False)
    client = Client(world)
    client.scene()
    for name, value in jump.items():
        setattr(world, name, value)
    before = client.decoder.bright
    world.step(Action())
    client.scene()
    assert not np.array_equal(client.decoder.bright, before)


def test_the_player_is_told_where_they_are_and_what_is_open():
    world = World(5, "flat", inhabited=False)
    client = Client(world, fov=80.0)
    me = client.scene(turned=True)["me"]
    assert (me["fov"], me["gui"], me["turned"], me["mode"], me["dead"]) == (80.0, None, True, "survival", False)
    assert me["eye"] == pytest.approx(1.62)
    world.step(Action(inventory=True))
    document = client.scene()
    assert document["me"]["gui"] == "inventory"
    assert document["me"]["turned"] is False
    assert "panel" in {one[0] for one in document["display"]}
    assert {"pointer", *(one[1] for one in document["display"] if one[0] == "sprite")} <= client.decoder.sprites


def test_sprites_are_sent_once_with_their_pixels():
    world = World(5, "flat", inhabited=False)
    encoder = SceneEncoder(world, 0)
    document, arrays = packing.unpack(packing.inflate(encoder.scene()))
    start = 0
    for name, width, height, pixels in document["sprites"]:
        picture, expected = pieces.sprite(name)
        np.testing.assert_array_equal(arrays["sprite_pixels"][start : start + picture.size], picture.reshape(-1))
        assert (picture.shape[:2], pixels) == ((height, width), expected)
        start += picture.size
    assert start == len(arrays["sprite_pixels"]) > 0
    world.step(Action())
    assert "sprites" not in packing.unpack(packing.inflate(encoder.scene()))[0]


def test_a_seat_that_nobody_has_is_refused():
    with pytest.raises(WorldError, match="the seats of this world are 0 to 0, got 1"):
        SceneEncoder(World(5, "flat", inhabited=False), 1)


def test_telling_changes_nothing_in_the_world():
    world = World(11, "village")
    before = world.digest()
    client = Client(world, hide_land=True)
    client.scene()
    client.land()
    assert world.digest() == before


def test_a_frame_of_another_kind_is_refused():
    with pytest.raises(WorldError, match="frames of kind 4 and 5, got 2"):
        SceneDecoder().apply(2, packing.deflate(packing.pack({}, {})))


def test_what_was_seen_comes_again_to_a_client_that_forgot():
    world = World(6, "plains")
    client = Client(world, hide_land=True)
    client.scene()
    client.land()
    before = client.decoder.known.copy()
    world.player.x, world.player.y, world.player.z = 128.5, 10.0, 128.5  # in the rock, where nothing is in sight
    client.scene(fresh=True)
    assert not client.decoder.known.any()
    client.land()
    assert before.any()
    assert client.decoder.known[before].all()


def test_a_client_that_asks_for_what_it_was_told_is_left_gets_all_that_was_seen():
    world = World(6, "plains")
    client = Client(world, hide_land=True)
    client.scene(fresh=True)
    client.land(client.decoder.left)
    for tick in range(120):
        world.step(Action(forward=True, jump=tick % 5 == 0, camera_yaw=6.0))
        client.scene()
        if client.decoder.left:
            client.land(1)
        assert client.decoder.left == client.encoder._num_frames()
    while client.decoder.left:
        client.land(1)
    np.testing.assert_array_equal(client.decoder.known.any(), True)
    assert (client.encoder._sent >= client.encoder._seen).all()
