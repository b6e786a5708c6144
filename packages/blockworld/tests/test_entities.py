"""How things lie, fly and fall. Numbers are those of minecraft.wiki for Java Edition 1.16, where not said otherwise."""

import math

import numpy as np
import pytest
from mob_world import FLOOR, World

from blockworld.entities import items_and_projectiles
from blockworld.errors import UnknownNameError, WorldError
from blockworld.events.explosions import explode
from blockworld.registry.blocks import name_of, parse
from blockworld.registry.entity_types import KINDS
from blockworld.state import Stack


@pytest.fixture
def world() -> World:
    return World()


def lying(world: World, *names: str) -> list[np.void]:
    """Rows of some kinds of things."""
    return [row for row in world.entities if row["kind"] >= 0 and KINDS[row["kind"]] in names]


# Items


def test_an_item_falls_comes_to_rest_and_stays_for_five_minutes(world: World) -> None:
    world.spawn_item(20.5, FLOOR + 3.0, 20.5, Stack("stone", 3), vx=0.2)
    world.run(60)
    (item,) = lying(world, "item")
    assert item["on_ground"]
    assert item["y"] == FLOOR
    assert 21 < item["x"] < 24
    assert item["vx"] == pytest.approx(0, abs=1e-3)
    world.run(6000 - 61)
    assert lying(world, "item")
    world.run(1)
    assert not lying(world, "item")


def test_an_item_is_picked_up_after_its_delay_and_counted(world: World) -> None:
    world.spawn_item(5.3, FLOOR, 4.5, Stack("egg", 5), vy=0.0, delay=10)
    world.run(9)
    assert world.player.slots[0] is None
    world.run(2)
    assert world.player.slots[0] == Stack("egg", 5)
    assert not lying(world, "item")
    assert world.player.counts["picked_up"] == {"egg": 5}


def test_items_are_picked_up_within_one_block_of_the_body_and_not_beyond(world: World) -> None:
    # The body is 0.6 wide, the item 0.25: 0.3 + 1 + 0.125 = 1.425 from middle to middle
    for name, x in (("stone", 4.5 + 1.40), ("dirt", 4.5 - 1.45)):
        world.spawn_item(x, FLOOR, 4.5, Stack(name), vy=0.0, delay=0)
    world.run(40)
    assert world.player.slots[0] == Stack("stone")
    assert world.on_ground() == {"dirt": 1}


def test_what_finds_no_room_stays_on_the_ground(world: World) -> None:
    world.player.slots[:] = [Stack("egg", 16)] * 36 + world.player.slots[36:]
    world.player.slots[7] = Stack("stone", 60)
    world.spawn_item(4.5, FLOOR, 4.5, Stack("stone", 10), vy=0.0, delay=0)
    world.run(10)
    assert world.player.slots[7].count == 64
    assert world.on_ground() == {"stone": 6}
    world.player.dead = True
    world.player.slots[3] = None
    world.run(10)
    assert world.on_ground() == {"stone": 6}


def test_equal_items_merge_up_to_a_full_stack_and_others_do_not(world: World) -> None:
    for x, stack in (
        (20.5, Stack("stone", 40)),
        (20.8, Stack("stone", 20)),
        (20.6, Stack("dirt", 2)),
        (20.4, Stack("stone", 30)),
    ):
        world.spawn_item(x, FLOOR, 20.5, stack, vy=0.0)
    world.run(90)
    assert world.on_ground() == {"stone": 90, "dirt": 2}
    # Whichever two meet first: 40 and 20, or 20 and 30; all three are more than 64.
    assert sorted(int(row["count"]) for row in lying(world, "item")) in ([2, 30, 60], [2, 40, 50])


def test_worn_and_named_items_keep_what_they_are(world: World) -> None:
    worn = Stack("iron_pickaxe", 1, 17, {"name": "Old"})
    world.spawn_item(20.5, FLOOR, 20.5, worn, vy=0.0)
    world.spawn_item(20.5, FLOOR, 20.5, Stack("iron_pickaxe"), vy=0.0)
    world.run(100)
    assert len(lying(world, "item")) == 2
    world.player.x = world.player.z = 20.5
    world.run(2)
    assert worn in world.player.slots
    assert Stack("iron_pickaxe") in world.player.slots
    assert world.extras == {}


@pytest.mark.parametrize("state", ["campfire[lit=true]", "campfire[lit=false]", "soul_campfire[lit=true]"])
def test_items_lie_on_a_campfire_unharmed_and_burn_in_fire(world: World, state: str) -> None:
    world.put(state, (20, FLOOR, 20))
    world.put("fire", (24, FLOOR, 20))
    for x in (20.5, 24.5):
        world.spawn_item(x, FLOOR + 1.0, 20.5, Stack("diamond"), vy=0.0)
    world.run(60)
    assert world.on_ground() == {"diamond": 1}
    assert lying(world, "item")[0]["y"] == FLOOR + 0.4375


def test_items_burn_in_lava_and_float_on_water(world: World) -> None:
    for x in range(18, 23):
        for z in range(18, 23):
            world.put("lava", (x, FLOOR - 1, z))
            for y in range(FLOOR - 4, FLOOR):
                world.put("water", (x + 10, y, z))
    entity = world.spawn_item(20.5, FLOOR + 1.0, 20.5, Stack("iron_sword", 1, 5))
    assert entity in world.extras
    world.spawn_item(30.5, FLOOR - 3.0, 20.5, Stack("oak_log"))
    world.run(200)
    assert world.on_ground() == {"oak_log": 1}
    assert world.extras == {}
    (log,) = lying(world, "item")
    assert FLOOR - 0.6 < log["y"] < FLOOR


def test_flowing_water_carries_items_along(world: World) -> None:
    for x in range(20, 28):
        level = x - 20
        for z in (19, 21):
            world.put("stone", (x, FLOOR, z))
        world.put(f"water[level={level}]", (x, FLOOR, 20))
    world.spawn_item(21.5, FLOOR + 0.3, 20.5, Stack("stick"), vy=0.0)
    world.run(200)
    (stick,) = lying(world, "item")
    assert stick["x"] > 25


def test_an_item_inside_a_block_comes_out(world: World) -> None:
    world.spawn_item(20.5, FLOOR, 20.5, Stack("stick"), vy=0.0)
    world.run(2)
    world.put("stone", (20, FLOOR, 20))
    world.run(100)
    (stick,) = lying(world, "item")
    assert not (20 <= stick["x"] <= 21 and 20 <= stick["z"] <= 21 and stick["y"] < FLOOR + 1)


@pytest.mark.parametrize(
    ("stack", "place", "error", "words"),
    [
        (Stack("dirtt"), (1.0, 2.0, 3.0), UnknownNameError, "did you mean 'dirt'"),
        (Stack("dirt", 0), (1.0, 2.0, 3.0), WorldError, "the count is 1 to 32767"),
        (Stack("dirt"), (math.inf, 2.0, 3.0), WorldError, "the numbers inf"),
    ],
)
def test_an_item_that_cannot_be_is_refused(
    world: World, stack: Stack, place: tuple, error: type[Exception], words: str
) -> None:
    before = world.entities.tobytes()
    with pytest.raises(error, match=words):
        world.spawn_item(*place, stack)
    assert world.entities.tobytes() == before


# What flies


def test_an_arrow_flies_as_its_law_of_motion_says_and_sticks(world: World) -> None:
    items_and_projectiles.shoot(world, "arrow", 10.5, FLOOR + 1.5, 20.5, 3.0, 0.0, 0.0, -1)
    x, y, vx, vy = 10.5, FLOOR + 1.5, 3.0, 0.0
    (arrow,) = lying(world, "arrow")
    for _ in range(6):
        world.run(1)
        x, y, vx, vy = x + vx, y + vy, vx * 0.99, vy * 0.99 - 0.05
        assert arrow["x"] == pytest.approx(x)
        assert arrow["y"] == pytest.approx(y)
    world.run(20)
    assert arrow["goal"] == 1
    assert arrow["y"] == pytest.approx(FLOOR, abs=0.1)
    assert arrow["vx"] == 0
    world.put("air", (int(arrow["goal_x"]), int(arrow["goal_y"]), int(arrow["goal_z"])))
    world.run(10)
    assert arrow["y"] < FLOOR - 0.5  # it falls when its block is gone
    world.run(1300)
    assert not lying(world, "arrow")


def test_the_player_takes_up_own_arrows_and_not_those_of_skeletons(world: World) -> None:
    for z, owner in ((4.4, 0), (4.6, 7)):
        items_and_projectiles.shoot(world, "arrow", 5.5, FLOOR + 0.5, z, 0.0, -1.0, 0.0, owner)
    world.run(20)
    assert world.player.slots[0] == Stack("arrow")
    assert len(lying(world, "arrow")) == 1


def test_arrows_fly_through_grass_and_open_gates_but_not_fences(world: World) -> None:
    world.put("grass", (22, FLOOR, 20))
    world.put("oak_fence_gate[facing=west,open=true]", (24, FLOOR, 20))
    world.put("oak_fence[north=true,south=true]", (26, FLOOR, 20))
    items_and_projectiles.shoot(world, "arrow", 20.5, FLOOR + 0.5, 20.5, 2.0, 0.1, 0.0, -1)
    world.run(10)
    (arrow,) = lying(world, "arrow")
    assert 26 < arrow["x"] < 26.5


def test_an_arrow_hurts_by_its_speed_and_the_shooter_is_known(world: World) -> None:
    cow, pig = world.add("cow", 20.5, 20.5), world.add("pig", 20.5, 26.5)
    items_and_projectiles.shoot(world, "arrow", 16.5, FLOOR + 1.0, 20.5, 2.0, 0.1, 0.0, 0)
    items_and_projectiles.shoot(world, "arrow", 16.5, FLOOR + 0.5, 26.5, 1.0, 0.1, 0.0, -1)
    world.run(10)
    assert cow["health"] == 10 - 4
    assert not lying(world, "arrow")
    assert pig["health"] == 10 - 2
    assert cow["vx"] >= 0
    items_and_projectiles.shoot(
        world, "arrow", float(cow["x"]) - 1, FLOOR + 1.0, float(cow["z"]), 3.0, 0.0, 0.0, 0, critical=True, damage=5.0
    )
    cow["hurt"] = 0
    world.run(2)
    assert world.player.counts["killed"] == {"cow": 1}


def test_an_arrow_hurts_the_player(world: World) -> None:
    items_and_projectiles.shoot(world, "arrow", 10.5, FLOOR + 1.0, 4.5, -1.6, 0.1, 0.0, 99)
    world.run(6)
    assert world.player.health == 20 - 4
    assert world.player.counts["hurt"] == {"arrow": 1}
    assert world.player.vx < 0


def test_snowballs_push_without_hurting_and_are_gone(world: World) -> None:
    cow = world.add("cow", 20.5, 20.5)
    items_and_projectiles.shoot(world, "snowball", 16.5, FLOOR + 1.0, 20.5, 1.5, 0.1, 0.0, 0)
    world.run(4)
    assert cow["health"] == 10
    assert cow["x"] > 20.6
    assert not lying(world, "snowball")


def test_one_thrown_egg_in_eight_hatches(world: World) -> None:
    for k in range(160):
        items_and_projectiles.shoot(world, "egg", 20.5 + k % 16, FLOOR + 1.0, 20.5 + k // 16, 0.0, -0.5, 0.0, 0)
    world.run(10)
    chicks = lying(world, "chicken")
    assert 8 <= len(chicks) <= 40
    assert all(chick["age"] < 0 for chick in chicks)
    assert not lying(world, "egg")


def test_a_pearl_carries_the_player_and_hurts_as_a_fall(world: World) -> None:
    items_and_projectiles.shoot(world, "ender_pearl", 4.5, FLOOR + 1.6, 4.5, 1.0, 0.2, 0.0, 0)
    world.run(40)
    assert world.player.x > 12
    assert world.player.y == pytest.approx(FLOOR, abs=0.2)
    assert world.player.health == 15


def test_only_what_flies_can_be_shot(world: World) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'arrow'"):
        items_and_projectiles.shoot(world, "arow", 1, 2, 3, 0, 0, 0, 0)
    with pytest.raises(WorldError, match="must be finite"):
        items_and_projectiles.shoot(world, "arrow", 1, 2, 3, math.nan, 0, 0, 0)


# Experience


def test_orbs_come_to_the_player_and_seven_points_make_the_first_level(world: World) -> None:
    items_and_projectiles.spawn_xp(world, 9.5, float(FLOOR), 4.5, 7)
    world.run(200)
    assert world.player.level == 1
    assert not lying(world, "xp_orb")
    items_and_projectiles.gain(world, 9 + 11 + 5)  # the next levels take 9 and 11
    assert world.player.level == 3
    assert world.player.counts["experience"] == {"gained": 32}
    assert world.player.experience == 5
    assert items_and_projectiles.spawn_xp(world, 9.5, 10.0, 4.5, 0) is None


# Explosions


def test_an_explosion_breaks_soft_blocks_and_spares_hard_ones(world: World) -> None:
    for y in range(FLOOR, FLOOR + 4):
        for z in range(18, 24):
            world.put("obsidian", (22, y, z))
            world.put("oak_planks", (23, y, z), (18, y, z))
    number = explode(world, 20.5, FLOOR + 0.5, 20.5, 3.0)
    assert 30 < number < 200
    assert (world.grid.blocks[22, 18:24, FLOOR : FLOOR + 4] == parse("obsidian")).all()
    assert name_of(world.grid.get(18, FLOOR, 20)) == "air"
    assert name_of(world.grid.get(23, FLOOR, 20)) == "oak_planks"
    assert name_of(world.grid.get(20, FLOOR - 1, 20)) == "air"
    assert world.on_ground()


def test_an_explosion_hurts_by_distance_and_cover(world: World) -> None:
    world.player.x, world.player.z = 24.0, 20.5
    near, far = world.add("cow", 18.5, 20.5, Health=100), world.add("cow", 20.5, 25.5, Health=100)
    hidden = world.add("cow", 20.5, 17.5, Health=100)
    for x in range(18, 24):
        for y in range(FLOOR, FLOOR + 4):
            world.put("obsidian", (x, y, 18))
    explode(world, 20.5, FLOOR + 0.5, 20.5, 3.0, breaks=False)
    assert near["health"] < far["health"] < 100
    assert hidden["health"] == 100
    assert near["vx"] < 0
    assert 0 < world.player.health < 20
    assert world.player.vx > 0
    with pytest.raises(WorldError, match="power above 0 and up to 10, got 0"):
        explode(world, 1, 2, 3, 0)
