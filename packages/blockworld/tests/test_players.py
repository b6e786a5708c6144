"""Several players in one land: they see, hit, trade with and build beside one another; saved and restored they go on alike."""

import msgspec
import numpy as np
import pytest
import zstandard

from blockworld import Action, Renderer, Stack, World, WorldError, contents, run
from blockworld.player import mining, screens
from blockworld.registry.blocks import name_of, properties_of

STILL = Action()


@pytest.fixture
def world() -> World:
    """Two on a flat land, two blocks apart, the first looking south at the second and the second back."""
    world = World(5, "flat", inhabited=False)
    world.rules["doMobSpawning"] = "false"
    assert world.join() == 1
    first, second = world.players
    second.z = first.z + 2.0
    second.yaw = 180.0
    world.step(STILL, STILL)
    return world


def test_everybody_needs_an_action_and_nothing_happens_otherwise(world):
    before = world.digest()
    with pytest.raises(WorldError, match="2 players need an action each, got 1"):
        world.step(STILL)
    with pytest.raises(WorldError, match="hotbar is 0 to 9"):
        world.step(STILL, Action(hotbar=10))
    assert world.digest() == before
    with pytest.raises(WorldError, match=r"seats of this world are 0 to 1, got 2; World.join adds a seat"), world.acting(2):
        pass


def test_each_moves_by_its_own_action(world):
    (x0, z0), (x1, z1) = ((one.x, one.z) for one in world.players)
    for _ in range(10):
        world.step(Action(left=True), Action(back=True))
    first, second = world.players
    assert abs(first.x - x0) > 1
    assert first.z == pytest.approx(z0, abs=1e-6)
    assert second.z > z1 + 1
    assert second.x == pytest.approx(x1, abs=1e-6)


def test_players_see_one_another_unless_something_is_between(world):
    renderer = Renderer((160, 90))
    seen = renderer.frame(world).copy()
    with world.acting(1):
        back = renderer.frame(world).copy()
    far = World.restore(world.save())
    far.players[1].x += 100
    alone = renderer.frame(far)
    assert (seen != alone).any(axis=2).sum() > 300
    assert (seen != back).any()
    x, y, z = (int(value) for value in (world.player.x, world.player.y, world.player.z))
    for one in (world, far):
        run(one, f"/fill {x - 2} {y} {z + 1} {x + 2} {y + 3} {z + 1} minecraft:stone")
    assert (renderer.frame(world) == renderer.frame(far)).all()


def test_a_blow_hurts_and_pushes_the_other_and_stone_stops_it(world):
    first, second = world.players
    world.give(Stack("iron_sword"))
    first.since_swing = 100
    world.step(Action(attack=True), STILL)
    assert second.health < 20
    assert second.counts["hurt"] == {"player": 1}
    assert first.health == 20
    z = second.z
    world.step(STILL, STILL)
    assert second.z > z
    health, second.invulnerable, first.since_swing = second.health, 0, 100
    x, y, z = (int(value) for value in (first.x, first.y, first.z))
    run(world, f"/fill {x - 1} {y} {z + 1} {x + 1} {y + 2} {z + 1} minecraft:stone")
    world.step(Action(attack=True), STILL)
    assert second.health == health


def test_an_arrow_hits_the_other_and_not_who_shot_it(world):
    second = world.players[1]
    with world.acting(1):
        for item in ("bow", "arrow"):
            world.give(Stack(item, 1))
    for tick in range(30):
        world.step(STILL, Action(use=tick < 22))
    assert world.players[0].counts["hurt"] == {"arrow": 1}
    assert "hurt" not in second.counts
    assert second.counts["used"] == {"bow": 1}


def test_what_one_throws_the_other_picks_up(world):
    world.give(Stack("diamond", 3))
    for tick in range(60):
        world.step(Action(drop=tick == 0, sprint=True), STILL)
    assert contents(world.players[0].slots) == {}
    assert contents(world.players[1].slots) == {"diamond": 3}
    assert world.players[1].counts["picked_up"] == {"diamond": 3}


def test_screens_and_trades_are_everybodys_own(world):
    x, y, z = world.spawn
    run(world, f"/setblock {x + 2} {y} {z} minecraft:chest")
    keeper = world.spawn_mob("villager", x - 1.5, float(y), z + 1.5, VillagerData={"profession": "farmer", "level": 1}, NoAI=1)
    screens.open(world, "chest", (x + 2, y, z))
    with world.acting(1):
        screens.open(world, "villager", entity=keeper)
    z1 = world.players[1].z
    world.step(STILL, Action(forward=True))
    assert [screen.kind for screen in world.screens] == ["chest", "villager"]
    assert world.players[1].z == z1
    world.step(Action(esc=True), STILL)
    assert world.screens[0] is None
    assert world.screens[1].kind == "villager"


def test_nobody_builds_into_another_and_what_one_builds_the_other_mines(world):
    first, second = world.players
    second.x, second.z = first.x, first.z + 1.4
    first.pitch, second.pitch = 60.0, 60.0
    world.give(Stack("dirt", 2))
    world.step(STILL, STILL)
    world.step(Action(use=True), STILL)
    assert contents(first.slots) == {"dirt": 2}
    second.z = first.z + 4.0
    for _ in range(6):
        world.step(STILL, STILL)
    world.step(Action(use=True), STILL)
    assert contents(first.slots) == {"dirt": 1}
    x, y, z = int(first.x), int(first.y), int(first.z) + 1
    assert name_of(world.grid.get(x, y, z)) == "dirt"
    second.z, second.pitch = first.z + 3.0, 45.0
    for _ in range(40):
        world.step(STILL, Action(attack=True))
    assert name_of(world.grid.get(x, y, z)) == "air"
    assert second.counts["mined"]["dirt"] == 1


def test_monsters_go_for_the_nearest_player(world):
    world.time = 18_000
    first, second = world.players
    second.x += 12.0
    world.spawn_mob("zombie", second.x + 1.5, second.y, second.z)
    for _ in range(60):
        world.step(STILL, STILL)
    assert second.counts["hurt"]["mob"] >= 1
    assert "hurt" not in first.counts


def test_two_players_are_kept_and_go_on_alike_and_one_is_kept_as_ever(world):
    with world.acting(1):
        world.give(Stack("oak_log", 5))
        screens.open(world, "inventory")
    again = World.restore(world.save())
    assert again.digest() == world.digest()
    rng = np.random.default_rng(3)
    for _ in range(60):
        forward, attack, inventory = (bool(draw < 0.5) for draw in rng.random(3))
        actions = Action(forward=forward, camera_yaw=4.0), Action(attack=attack, inventory=inventory)
        world.step(*actions)
        again.step(*actions)
    assert again.digest() == world.digest()
    assert contents(again.players[1].slots) == {"oak_log": 5}
    alone = World(5, "flat", inhabited=False)
    assert "others" not in msgspec.msgpack.decode(zstandard.decompress(alone.save()))


@pytest.mark.parametrize("stands", ["stone", "grass"])
def test_two_who_place_a_block_in_one_place_in_one_tick_have_one_there_of_who_sits_first(world, stands):
    first, second = world.players
    x, y, z = int(first.x), int(first.y), int(first.z) + 1
    if stands == "grass":  # what is replaced by it
        run(world, f"/setblock {x} {y} {z} minecraft:grass")
    for seat, item in enumerate(("oak_planks", "cobblestone")):
        with world.acting(seat):
            world.player.slots[0] = Stack(item, 5)
            world.player.pitch = 50.0
            target = mining.target(world)
            assert target is not None
            assert target[:3] == ((x, y, z) if stands == "grass" else (x, y - 1, z))
    before = world.grid.blocks.copy()
    world.step(Action(use=True), Action(use=True))
    assert name_of(world.grid.get(x, y, z)) == "oak_planks"
    assert (world.grid.blocks != before).sum() == 1
    assert [one.slots[0].count for one in world.players] == [4, 5]
    assert "placed" not in second.counts
    copy = World.restore(world.save())
    for one in (world, copy):
        one.step(STILL, STILL)
        one.step(STILL, Action(use=True))  # who sees the block may place another at it
    assert contents(second.slots) == {"cobblestone": 4}
    assert copy.digest() == world.digest()


@pytest.mark.parametrize(("placed", "second"), [("oak_slab", "oak_slab"), ("snow", "cobblestone")])
def test_two_who_place_in_one_tick_what_would_join_or_be_replaced_have_that_of_who_sits_first(world, placed, second):
    first = world.players[0]
    x, y, z = int(first.x), int(first.y), int(first.z) + 1
    for seat, item in enumerate((placed, second)):
        with world.acting(seat):
            world.player.slots[0] = Stack(item, 5)
            world.player.pitch = 50.0
    world.step(Action(use=True), Action(use=True))
    here = world.grid.get(x, y, z)
    assert (name_of(here), properties_of(here).get("type", "bottom")) == (placed, "bottom")
    assert [one.slots[0].count for one in world.players] == [4, 5]
