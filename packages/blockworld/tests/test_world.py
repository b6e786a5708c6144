"""The whole world: keys that are held from tick to tick, and keeping and bringing back all of it."""

import gc
import hashlib
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor

import msgspec
import numpy as np
import pytest
import zstandard

from blockworld import Renderer
from blockworld.entities import mobs
from blockworld.errors import WorldError
from blockworld.player import screens
from blockworld.registry.blocks import state_of
from blockworld.state import Action, Stack
from blockworld.world import SAVED_VERSION, World, box


@pytest.fixture
def world():
    world = World(seed=1, kind="flat", inhabited=False)
    world.step(Action())  # onto the ground
    return world


def hold_keys(world, ticks, **keys):
    for _ in range(ticks):
        world.step(Action(**keys))


# What a hand goes on with


def test_who_holds_the_key_of_the_selected_slot_mines_on(world):
    world.player.pitch = 90.0
    hold_keys(world, 18, attack=True, hotbar=1)  # by hand it takes 18 ticks
    assert world.player.counts["mined"] == {"grass_block": 1}


def test_who_holds_the_key_of_the_selected_slot_eats_on(world):
    world.player.slots[0], world.player.food, world.player.pitch = Stack("bread", 2), 10, -60.0
    hold_keys(world, 34, use=True, hotbar=1)
    assert world.player.counts["eaten"] == {"bread": 1}


def test_who_holds_the_key_of_the_selected_slot_gathers_strength(world):
    hold_keys(world, 20, hotbar=1)
    assert world.player.since_swing >= 20


@pytest.mark.parametrize("keys", [{"hotbar": 2}, {"swap_hands": True}, {"drop": True}])
def test_another_thing_in_hand_ends_what_was_begun(world, keys):
    me = world.player
    me.slots[0], me.slots[1], me.pitch = Stack("golden_apple"), Stack("stick"), 90.0
    hold_keys(world, 10, attack=True)
    assert me.mining[3] == pytest.approx(10 / 18)
    hold_keys(world, 1, attack=True, **keys)
    assert me.mining[3] == pytest.approx(1 / 18)
    assert me.since_swing == 1


def test_another_thing_in_hand_ends_a_meal_and_the_same_from_another_slot_does_not(world):
    me = world.player
    me.slots[0], me.slots[1], me.slots[2] = Stack("bread"), Stack("bread"), Stack("stick")
    me.food, me.pitch = 10, -60.0
    hold_keys(world, 10, use=True)
    hold_keys(world, 1, use=True, hotbar=2)
    assert me.eating == 11
    hold_keys(world, 1, use=True, hotbar=3)
    assert me.eating == 0


# Keeping it


def test_experience_is_kept_and_brought_back(world):
    world.player.experience = 5
    assert World.restore(world.save()).player.experience == 5


def without(world, name):
    document = msgspec.msgpack.decode(zstandard.decompress(world.save()))
    del document[name]
    return document


def test_bytes_that_are_no_saved_world_are_refused():
    for document, reason in [
        ({"a": 1}, "they do not say that they are of the format 'interplay-world'"),
        ([1, 2], "they do not say"),
        (None, "they do not say"),
        ({"format": "interplay-world"}, "'version' is missing in them"),
        ({"format": "interplay-world", "version": SAVED_VERSION}, "'seed' is missing in them"),
        (
            {"format": "interplay-world", "version": SAVED_VERSION, "seed": -1, "kind": "flat"},
            "the seed of a world is 0 or more",
        ),
        ({"format": "interplay-world", "version": SAVED_VERSION, "seed": 1, "kind": "flt"}, "did you mean 'flat'"),
    ]:
        saved = zstandard.compress(msgspec.msgpack.encode(document))
        with pytest.raises(WorldError, match=f"these {len(saved)} bytes are not a saved world: ") as error:
            World.restore(saved)
        assert reason in str(error.value)


def test_bytes_of_something_else_are_refused():
    for saved in (b"", b"junk", zstandard.compress(b"\xc1")):
        with pytest.raises(WorldError, match="bytes are not a saved world: "):
            World.restore(saved)


def test_a_saved_world_that_lacks_a_part_or_has_a_wrong_one_is_refused(world):
    for name in without(world, "seed"):
        if name in ("format", "version"):
            continue
        document = without(world, name)
        with pytest.raises(WorldError, match=f"'{name}' is missing in them"):
            World.restore(zstandard.compress(msgspec.msgpack.encode(document)))
        if name not in ("time", "ticks", "weather", "difficulty", "rules", "next_id", "before"):
            document[name] = 0.5
            with pytest.raises(WorldError, match="bytes are not a saved world: "):
                World.restore(zstandard.compress(msgspec.msgpack.encode(document)))


def test_a_world_of_an_older_version_is_refused_by_its_number(world):
    document = without(world, "player") | {"version": 1}
    with pytest.raises(WorldError, match=f"saved as version 1; this Interplay reads version {SAVED_VERSION}"):
        World.restore(zstandard.compress(msgspec.msgpack.encode(document)))


@pytest.mark.long_proof
def test_worlds_in_several_threads_are_the_same_as_alone():
    def played(seed: int) -> str:
        world = World(seed, "village_plains")
        renderer = Renderer((64, 36))
        digest = hashlib.sha256()
        for tick in range(40):
            world.spawn_item(world.player.x + 1, world.player.y + 1, world.player.z, Stack("stone", 3))
            world.step(Action(forward=tick % 3 > 0, camera_yaw=5.0, attack=tick % 2 == 0))
            digest.update(renderer.frame(world).tobytes())
        return digest.hexdigest() + world.digest()

    alone = [played(seed) for seed in range(4)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as threads:
            assert list(threads.map(played, range(4))) == alone
    finally:
        sys.setswitchinterval(interval)


def test_a_changed_byte_of_a_saved_world_is_noticed():
    saved = World(1, "flat", inhabited=False).save()
    rng = np.random.default_rng(0)
    for position in rng.integers(len(saved), size=40).tolist():
        changed = bytearray(saved)
        changed[position] ^= 1 << int(rng.integers(8))
        with pytest.raises(WorldError, match=r"not a saved world|was saved as version"):
            World.restore(bytes(changed))
    for longer in (saved + b"x", saved + saved):
        with pytest.raises(WorldError, match="not a saved world"):
            World.restore(longer)


def test_an_action_that_is_none_changes_nothing():
    for action in [{"hotbar": 2.5}, {"hotbar": "x"}, {"hotbar": 10}, {"forward": "no"}, {"use": 2}]:
        world = World(1, "flat", inhabited=False)
        before = world.digest()
        with pytest.raises(WorldError, match="keys are True or False, hotbar is 0 to 9"):
            world.step(Action(**action))
        assert world.digest() == before


def test_nothing_cannot_be_given():
    with pytest.raises(WorldError, match="1 or more"):
        World(1, "flat", inhabited=False).give(Stack("stone", -5))


def test_every_living_world_keeps_its_land_and_no_land_outlives_the_last_two_worlds():
    worlds = [World(seed, "flat", inhabited=False) for seed in range(6)]
    with_land = [world.land for world in worlds]
    for world in worlds:
        assert World.restore(world.save()).land is world.land  # not generated again
    lands = [weakref.ref(land) for land in with_land]
    del worlds, with_land, world
    gc.collect()
    assert sum(land() is not None for land in lands) <= 2


def lived_in() -> World:
    """A village in which much is going on: two players, an open chest, water that flows, sand that falls, a zombie by day."""
    world = World(seed=7, kind="village")
    seat = world.join()
    x, y, z = world.spawn
    world.set_block(x + 2, y, z, state_of("chest"))
    world.set_block(x + 4, y + 3, z, state_of("water"))
    world.set_block(x, y + 6, z + 5, state_of("sand"))
    world.spawn_mob("zombie", x + 5.5, float(y), z + 5.5)
    for at in range(2):
        with world.acting(at):
            world.give(Stack("iron_sword", tag={"Enchantments": [{"id": "sharpness", "lvl": 1}]}))
            world.player.effects["speed"] = [100, 1]
    screens.open(world, "chest", (x + 2, y, z))
    world.containers[x + 2, y, z].slots[0] = Stack("apple", 3)
    with world.acting(seat):
        world.player.yaw = 60.0
    for _ in range(5):
        world.step(Action(), Action(forward=True, attack=True))
    return world


def go_on(world: World, ticks: int = 60) -> list[str]:
    """Digests while two players act."""
    seen = []
    for tick in range(ticks):
        clicks = Action(camera_yaw=4.0, attack=tick % 4 == 0)
        world.step(clicks, Action(forward=True, jump=tick % 9 == 0, attack=True, camera_yaw=3.0))
        seen.append(world.digest())
    return seen


def test_a_fork_goes_on_exactly_as_its_parent_and_as_the_world_alone():
    alone, parent = lived_in(), lived_in()
    fork = parent.fork()
    assert fork.digest() == parent.digest() == alone.digest()
    assert go_on(fork) == go_on(parent) == go_on(alone)


def test_a_fork_and_its_parent_do_not_touch_each_other():
    parent = lived_in()
    fork = parent.fork()
    before, picture = parent.digest(), Renderer((64, 36)).frame(parent)
    x, y, z = fork.spawn
    fork.player.slots[0].tag["Enchantments"][0]["lvl"] = 5
    fork.containers[x + 2, y, z].slots[0].count = 1
    next(extra for extra in fork.extras.values() if "offers" in extra)["offers"][0]["uses"] = 9
    fork.rules["doFireTick"] = "false"
    fork.grid.fill(x - 20, y, z - 20, x + 20, y + 5, z + 20, state_of("stone"))
    go_on(fork)
    assert parent.digest() == before
    assert np.array_equal(Renderer((64, 36)).frame(parent), picture)
    there = go_on(parent.fork())
    held = parent.fork()
    go_on(parent)
    assert go_on(held) == there
    arrays = ("blocks", "light", "skip")
    assert not any(np.shares_memory(getattr(parent.grid, name), getattr(fork.grid, name)) for name in arrays)
    assert fork.land is parent.land


def test_a_fork_makes_no_land_however_many_there_are(monkeypatch):
    worlds = [World(seed=seed, kind="flat", inhabited=False) for seed in range(4)]
    monkeypatch.setattr("blockworld.world.generate", None)
    assert [world.fork().digest() for world in worlds] == [world.digest() for world in worlds]


def test_a_box_lists_cells_and_mobs_with_id_and_health_and_who_died_by_whom(world):
    x, y, z = world.spawn
    world.set_block(x + 3, y, z + 3, state_of("gold_block"))
    zombie, cow = (world.spawn_mob(name, x + 2.5, float(y), z + 2.5, NoAI=1) for name in ("zombie", "cow"))
    corners = (x, y, z), (x + 4, y + 2, z + 4)
    found = box(world, *corners, cells=True)
    assert found["cells"] == [{"name": "gold_block", "x": x + 3, "y": y, "z": z + 3}]
    assert {one["id"]: (one["name"], one["health"]) for one in found["mobs"]} == {zombie: ("zombie", 20.0), cow: ("cow", 10.0)}
    assert "cells" not in box(world, *corners)
    mobs.kill(world, world.row_of(zombie), 0)
    mobs.kill(world, world.row_of(cow))
    found = box(world, *corners)
    assert found["mobs"] == []
    assert [(one["id"], one["name"], one["killer"]) for one in found["deaths"]] == [
        (zombie, "zombie", "player"),
        (cow, "cow", "other"),
    ]
    world.step(Action())
    assert box(world, *corners)["deaths"] == []
