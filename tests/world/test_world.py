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

from interplay.world import Renderer
from interplay.world.errors import WorldError
from interplay.world.state import Action, Stack
from interplay.world.world import SAVED_VERSION, World


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


@pytest.mark.parametrize(
    ("document", "reason"),
    [
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
    ],
)
def test_bytes_that_are_no_saved_world_are_refused(document, reason):
    saved = zstandard.compress(msgspec.msgpack.encode(document))
    with pytest.raises(WorldError, match=f"these {len(saved)} bytes are no saved world: ") as error:
        World.restore(saved)
    assert reason in str(error.value)


def test_bytes_of_something_else_are_refused():
    for saved in (b"", b"junk", zstandard.compress(b"\xc1")):
        with pytest.raises(WorldError, match="bytes are no saved world: "):
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
            with pytest.raises(WorldError, match="bytes are no saved world: "):
                World.restore(zstandard.compress(msgspec.msgpack.encode(document)))


def test_a_world_of_an_older_version_is_refused_by_its_number(world):
    document = without(world, "player") | {"version": 1}
    with pytest.raises(WorldError, match=f"saved as version 1, and this Interplay reads {SAVED_VERSION}"):
        World.restore(zstandard.compress(msgspec.msgpack.encode(document)))


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
        with pytest.raises(WorldError, match=r"no saved world|was saved as version"):
            World.restore(bytes(changed))
    for longer in (saved + b"x", saved + saved):
        with pytest.raises(WorldError, match="no saved world"):
            World.restore(longer)


@pytest.mark.parametrize("action", [{"hotbar": 2.5}, {"hotbar": "x"}, {"hotbar": 10}, {"forward": "no"}, {"use": 2}])
def test_an_action_that_is_none_changes_nothing(action):
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
