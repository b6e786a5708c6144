"""How animals, people and monsters behave; numbers are those of minecraft.wiki for Java Edition 1.16, if not said otherwise."""

import hashlib
import math

import numpy as np
import pytest
from mob_world import FLOOR, World
from one_player import output_of

from blockworld.entities import mob_kernel, mobs, spawning, trading
from blockworld.errors import UnknownNameError, WorldError
from blockworld.events import mob_events
from blockworld.registry.blocks import name_of, parse, properties_of
from blockworld.registry.entity_types import FLAGS, KINDS, LOVE_TICKS, MOBS, PROFESSIONS, THINGS
from blockworld.registry.facts import table
from blockworld.registry.items import BY_NAME
from blockworld.state import Stack


@pytest.fixture
def world() -> World:
    return World()


def penned(world: World) -> np.void:
    """A cow in a closed pen of 5 by 5 cells, 20 to 24, with fences around."""
    world.fence(19, 19, 25, 25)
    return world.add("cow", 22.5, 22.5)


# Pens and food


def test_a_cow_in_a_closed_pen_stays_inside_for_two_thousand_ticks_and_walks_about(world: World) -> None:
    cow = penned(world)
    cells = set()
    for _ in range(2000):
        world.run(1)
        assert 20 <= cow["x"] <= 25
        assert 20 <= cow["z"] <= 25
        assert cow["y"] < FLOOR + 0.1
        cells.add((int(cow["x"]), int(cow["z"])))
    assert len(cells) > 4


@pytest.mark.parametrize("name", ["cow", "pig", "sheep", "chicken", "rabbit", "horse"])
def test_frightened_animals_do_not_get_out_of_a_pen(world: World, name: str) -> None:
    world.fence(19, 19, 25, 25)
    beasts = [world.add(name, 20.8 + 1.5 * k, 22.5, Health=1000) for k in range(3)]
    for _ in range(12):
        mobs.hit_by_player(world, world.row(int(beasts[0]["id"])), 0.5)
        world.run(40)
    for beast in beasts:
        assert 20 <= beast["x"] <= 25
        assert 20 <= beast["z"] <= 25


def test_a_cow_follows_wheat_out_of_an_open_gate_and_not_out_of_a_shut_one(world: World) -> None:
    cow = penned(world)
    world.put("oak_fence_gate[facing=north,open=false]", (22, FLOOR, 19))
    world.player.x, world.player.z = 21.5, 16.5
    world.hold("wheat")
    world.run(300)
    assert cow["z"] > 20
    world.put("oak_fence_gate[facing=north,open=true]", (22, FLOOR, 19))
    world.run(300)
    assert cow["z"] < 19
    assert 1.5 < world.distance(cow) < 3


def test_a_cow_finds_the_gate_on_the_other_side_of_its_pen(world: World) -> None:
    cow = penned(world)
    world.put("oak_fence_gate[facing=east,open=true]", (25, FLOOR, 22))
    world.player.x, world.player.z = 22.5, 17.5
    world.hold("wheat")
    world.run(400)
    assert world.distance(cow) < 3


@pytest.mark.parametrize(
    ("name", "item"),
    [
        ("cow", "wheat"),
        ("sheep", "wheat"),
        ("pig", "potato"),
        ("pig", "beetroot"),
        ("chicken", "wheat_seeds"),
        ("rabbit", "dandelion"),
        ("horse", "golden_carrot"),
    ],
)
def test_animals_come_to_their_food_and_stop_two_and_a_half_blocks_off(world: World, name: str, item: str) -> None:
    beast = world.add(name, 12.5, 4.5)
    world.run(5)
    assert world.distance(beast) > 6
    world.hold(item)
    world.run(200)
    assert 1.5 < world.distance(beast) < 2.6
    head = math.degrees(math.atan2(-(world.player.x - beast["x"]), world.player.z - beast["z"]))
    assert abs((beast["head_yaw"] - head + 180) % 360 - 180) < 10  # it looks at the player


def test_nobody_comes_from_more_than_ten_blocks_or_for_other_food(world: World) -> None:
    far, hungry = world.add("cow", 16.5, 4.5), world.add("pig", 9.5, 4.5)
    world.hold("wheat")
    world.run(1)
    assert far["goal"] != mob_kernel.FOLLOW
    assert hungry["goal"] != mob_kernel.FOLLOW


def test_animals_walk_at_the_speed_of_their_kind(world: World) -> None:
    # speed**2 / (1 - 0.546) blocks per tick: a lured cow 0.25**2 / 0.454 = 0.138
    cow = world.add("cow", 13.5, 4.5)
    world.hold("wheat")
    world.run(20)
    x = float(cow["x"])
    world.run(10)
    assert (x - cow["x"]) / 10 == pytest.approx(0.1377, rel=0.03)


def test_animals_jump_up_a_block_and_keep_out_of_water_and_lava(world: World) -> None:
    for x in range(8, 12):
        for z in range(48):
            world.put("grass_block", (x, FLOOR, z))
    cow = world.add("cow", 13.5, 4.5)
    world.hold("wheat")
    world.run(250)
    assert world.distance(cow) < 3
    for k in range(48):
        world.put("lava", (30, FLOOR - 1, k))
        world.put("water", (36, FLOOR - 1, k))
    beasts = [world.add("pig", 33.5, 20.5 + k) for k in range(8)]
    world.run(1500)
    assert all(31 <= pig["x"] <= 36.2 and pig["health"] == 10 for pig in beasts)


# Young ones


def fed_pair(world: World, name: str = "cow", item: str = "wheat") -> tuple[np.void, np.void]:
    pair = world.add(name, 20.5, 20.5), world.add(name, 24.5, 20.5)
    for one in pair:
        assert world.use(one, item)
    return pair


def test_two_fed_cows_make_a_calf_that_grows_up(world: World) -> None:
    pair = fed_pair(world)
    world.hold(None)
    world.run(200)
    assert world.number("cow") == 3
    assert world.player.counts["bred"] == {"cow": 1}
    calf = next(row for row in world.entities if row["kind"] == KINDS.index("cow") and row["age"] < 0)
    assert -24000 <= calf["age"] < -23800
    assert world.number("xp_orb") == 1
    assert all(parent["love"] < -5500 for parent in pair)  # they rest for 6,000 ticks
    assert not world.use(pair[0], "wheat")
    calf["age"] = -10
    world.run(10)
    assert calf["age"] == 0


def test_feeding_takes_one_of_the_food_and_wrong_food_does_nothing(world: World) -> None:
    cow = world.add("cow", 20.5, 20.5)
    assert world.use(cow, "wheat", 5)
    assert world.player.in_hand.count == 4
    assert cow["love"] == LOVE_TICKS
    assert not world.use_again(cow)
    assert world.player.in_hand.count == 4
    assert not world.use(cow, "carrot", 5)
    assert world.player.in_hand.count == 5
    pig = world.add("pig", 22.5, 20.5)
    assert world.use(pig, "carrot", 1)
    assert world.player.in_hand is None


def test_a_cow_and_a_pig_in_love_have_no_young(world: World) -> None:
    for name, x, item in (("cow", 20.5, "wheat"), ("pig", 22.5, "carrot")):
        world.use(world.add(name, x, 20.5), item)
    world.hold(None)
    world.run(700)
    assert world.number("cow") == world.number("pig") == 1


def test_food_makes_the_young_grow_by_a_tenth(world: World) -> None:
    calf = world.add("cow", 20.5, 20.5, Age=-24000)
    assert world.use(calf, "wheat")
    assert calf["age"] == -21600


def test_a_lamb_has_the_colour_of_a_parent(world: World) -> None:
    pair = fed_pair(world, "sheep")
    for one in pair:
        one["variant"] = 14
    world.run(200)
    assert world.number("sheep") == 3
    assert {int(row["variant"]) for row in world.entities if row["kind"] == KINDS.index("sheep")} == {14}


# Blows, death and what is left


def test_a_hit_cow_flees_faster_than_it_walks(world: World) -> None:
    cow = world.add("cow", 7.5, 4.5)
    assert mobs.hit_by_player(world, world.row(int(cow["id"])), 2.0)
    assert cow["health"] == 8
    assert cow["hurt"] == 10
    away, fastest = world.distance(cow), 0.0
    for _ in range(100):
        before = float(cow["x"]), float(cow["z"])
        world.run(1)
        if cow["on_ground"]:
            fastest = max(fastest, math.dist(before, (cow["x"], cow["z"])))
    assert world.distance(cow) > away + 5
    assert fastest > 0.3  # (0.2 * 2)**2 / 0.454 = 0.352, walking 0.088


def test_a_blow_pushes_and_the_next_ten_ticks_are_safe(world: World) -> None:
    cow = world.add("cow", 7.5, 4.5)
    row = world.row(int(cow["id"]))
    world.run(2)
    assert mobs.hit_by_player(world, row, 1.0)
    assert cow["vx"] == pytest.approx(0.4)
    assert cow["vy"] > 0.3
    assert not mobs.hit_by_player(world, row, 1.0)
    assert cow["health"] == 9
    world.run(10)
    assert mobs.hit_by_player(world, row, 1.0)
    assert cow["health"] == 8


def test_killed_cows_leave_one_to_three_pieces_of_beef_and_are_counted(world: World) -> None:
    beef = []
    for _ in range(40):
        cow = world.add("cow", 30.5, 30.5)
        before = world.on_ground().get("beef", 0)
        mobs.hit_by_player(world, world.row(int(cow["id"])), 50.0)
        beef.append(world.on_ground()["beef"] - before)
    assert set(beef) == {1, 2, 3}
    assert world.player.counts["killed"] == {"cow": 40}
    assert world.number("cow") == 0
    assert set(world.on_ground()) == {"beef", "leather"}


def test_burning_animals_leave_cooked_meat_and_the_young_nothing(world: World) -> None:
    pig = world.add("pig", 30.5, 30.5, Fire=100)
    mobs.kill(world, world.row(int(pig["id"])), 0)
    young = world.add("pig", 30.5, 30.5, Age=-100)
    mobs.kill(world, world.row(int(young["id"])), 0)
    assert set(world.on_ground()) == {"cooked_porkchop"}


def test_what_mobs_leave_is_in_the_table_of_loot(world: World) -> None:
    listed = {row["entity"]: {drop["item"] for drop in row["drops"]} for row in table("entity_loot")}
    for name in MOBS:
        found: set[str] = set()
        for _ in range(300):
            row = world.row(mobs.spawn(world, name, 20.5, 10.0, 20.5, **({"Size": 0} if name == "slime" else {})))
            found |= {stack.item for stack in mobs.loot(world, row, True)}
            world.remove(row)
        wool = {item for item in found if item.endswith("_wool")}
        assert found - wool == listed[name]
        assert bool(wool) == (name == "sheep")
        assert found <= set(BY_NAME)


def test_falls_hurt_by_the_blocks_above_three_but_not_chickens(world: World) -> None:
    cow, hen = world.add("cow", 20.5, 20.5, y=FLOOR + 8.0), world.add("chicken", 30.5, 20.5, y=FLOOR + 8.0)
    world.run(20)
    assert not hen["on_ground"]
    assert hen["vy"] > -0.15
    world.run(80)
    assert cow["on_ground"]
    assert cow["health"] == 10 - 5
    assert hen["on_ground"]
    assert hen["health"] == 4


def test_lava_kills_and_water_carries(world: World) -> None:
    for x in range(18, 23):
        for z in range(18, 23):
            for y in range(FLOOR - 4, FLOOR):
                world.put("water", (x, y, z))
                world.put("lava", (x + 10, y, z))
    swimmer, burning = world.add("cow", 20.5, 20.5, y=FLOOR - 2.0), world.add("cow", 30.5, 20.5, y=FLOOR - 2.0)
    world.run(60)
    assert swimmer["in_water"] or swimmer["on_ground"]
    assert swimmer["y"] > FLOOR - 1.2
    assert swimmer["health"] == 10
    assert world.number("cow") == 1
    assert burning["kind"] != KINDS.index("cow")


def test_bodies_push_each_other_and_the_player_apart(world: World) -> None:
    one, two = world.add("cow", 20.3, 20.5), world.add("cow", 20.7, 20.5)
    near = world.add("pig", world.player.x + 0.4, world.player.z)
    world.run(1)
    assert world.player.vx < 0 < near["vx"]
    world.run(30)
    assert math.dist((one["x"], one["z"]), (two["x"], two["z"])) > 0.6


# What the player does by hand


def test_a_shorn_sheep_drops_wool_of_its_colour_and_grows_it_again_by_eating_grass(world: World) -> None:
    sheep = world.add("sheep", 20.5, 20.5, Color=4)
    assert world.use(sheep, "shears")
    assert sheep["flags"] & FLAGS["sheared"]
    assert world.player.in_hand.damage == 1
    assert 1 <= world.on_ground()["yellow_wool"] <= 3
    assert not world.use_again(sheep)
    sheep["goal"], sheep["goal_ticks"] = mob_kernel.GRAZE, 40
    world.run(40)
    assert not sheep["flags"] & FLAGS["sheared"]
    assert name_of(world.grid.get(int(sheep["x"]), FLOOR - 1, int(sheep["z"]))) == "dirt"


def test_sheep_graze_by_themselves_about_once_in_a_thousand_ticks(world: World) -> None:
    for k in range(10):
        world.add("sheep", 20.5 + k, 20.5)
    world.run(1500)
    eaten = int((world.grid.blocks[:, :, FLOOR - 1] == parse("dirt")).sum())
    assert 5 <= eaten <= 25


def test_cows_give_milk_and_dye_colours_sheep(world: World) -> None:
    cow, sheep = world.add("cow", 20.5, 20.5), world.add("sheep", 22.5, 20.5, Color=0)
    assert world.use(cow, "bucket", 3)
    assert world.player.in_hand.count == 2
    assert Stack("milk_bucket") in world.player.slots
    assert world.use(cow, "bucket")
    assert world.player.in_hand.item == "milk_bucket"
    assert world.use(sheep, "red_dye", 2)
    assert sheep["variant"] == 14
    assert world.player.in_hand.count == 1
    assert not world.use_again(sheep)


def test_unbreaking_spares_shears_at_times(world: World) -> None:
    # A use of level 1 wears in one case of two.
    world.player.slots[0] = Stack("shears", tag={"Enchantments": [{"id": "unbreaking", "lvl": 1}]})
    sheep = world.add("sheep", 20.5, 20.5)
    for _ in range(40):
        sheep["flags"] &= ~FLAGS["sheared"]
        assert world.use_again(sheep)
    assert 10 <= world.player.in_hand.damage <= 30


def test_shears_that_break_in_use_are_counted(world: World) -> None:
    world.player.slots[0] = Stack("shears", damage=237)  # the last of 238
    assert world.use_again(world.add("sheep", 20.5, 20.5))
    assert world.player.in_hand is None
    assert world.player.counts["broken"] == {"shears": 1}


def test_bones_tame_wolves_which_sit_follow_and_fight(world: World) -> None:
    wolf = world.add("wolf", 8.5, 4.5)
    world.hold("bone", 64)
    while not wolf["flags"] & FLAGS["tamed"]:
        assert world.use_again(wolf)
    assert wolf["flags"] & FLAGS["sitting"]
    assert wolf["health"] == 20
    assert world.player.counts["tamed"] == {"wolf": 1}
    world.player.x = 20.5
    world.run(100)
    assert wolf["x"] == pytest.approx(8.5)
    assert world.use(wolf)
    assert not wolf["flags"] & FLAGS["sitting"]
    world.run(150)
    assert world.distance(wolf) < 11
    pig = world.add("pig", 24.5, 4.5)
    mobs.hit_by_player(world, world.row(int(pig["id"])), 0.5)
    world.run(300)
    assert world.number("pig") == 0


def test_hens_lay_eggs(world: World) -> None:
    hen = world.add("chicken", 20.5, 20.5)
    assert 6000 <= hen["count"] <= 12000
    hen["count"] = 3
    world.run(3)
    assert world.on_ground() == {"egg": 1}
    assert 6000 <= hen["count"] <= 12000


def test_villagers_show_their_offers_and_those_without_work_have_none(world: World) -> None:
    recipe = {"buy": {"id": "minecraft:emerald", "Count": 2}, "sell": {"id": "minecraft:bread", "Count": 3}, "maxUses": 5}
    baker = world.add("villager", 6.5, 4.5, VillagerData={"profession": "farmer"}, Offers={"Recipes": [recipe]})
    idler = world.add("villager", 6.5, 6.5)
    assert world.use(baker)
    assert world.screen is not None
    assert world.screen.entity == baker["id"]
    assert world.extras[int(baker["id"])]["offers"] == [
        {"buy": ["emerald", 2], "buy2": None, "sell": ["bread", 3], "uses": 0, "max_uses": 5}
    ]
    assert not world.use(idler)


def test_a_villager_stands_still_while_it_trades(world: World) -> None:
    baker = world.add("villager", 6.5, 4.5, VillagerData={"profession": "farmer"}, Home=[20, 20])
    world.run(100)
    assert world.use(baker)
    world.run(10)
    place = float(baker["x"]), float(baker["z"])
    world.time = 14000  # it would go home now
    world.run(300)
    assert math.dist((baker["x"], baker["z"]), place) < 0.1
    world.screen = None
    world.run(300)
    assert math.dist((baker["x"], baker["z"]), place) > 5


def test_every_profession_with_work_has_trades_of_real_items(world: World) -> None:
    for profession in PROFESSIONS:
        offers = trading.offers_of(profession, 5)
        assert bool(offers) == (profession not in ("none", "nitwit"))


def test_villagers_run_from_zombies_and_go_home_at_night(world: World) -> None:
    world.player.game_mode = "spectator"
    person = world.add("villager", 30.5, 20.5, Home=[20, 20])
    world.time = 14000
    world.run(400)
    assert math.dist((person["x"], person["z"]), (20.5, 20.5)) < 2
    world.run(200)
    assert math.dist((person["x"], person["z"]), (20.5, 20.5)) < 3
    zombie = world.add("zombie", 24.5, 20.5, NoAI=True)
    world.run(60)
    assert abs(person["x"] - zombie["x"]) > 7


def test_a_villager_goes_home_through_its_door_and_shuts_it(world: World) -> None:
    for x in range(18, 23):
        for z in range(18, 23):
            for y in range(FLOOR, FLOOR + 3):
                if x in (18, 22) or z in (18, 22):
                    world.put("oak_planks", (x, y, z))
    world.put("oak_door[facing=west,half=lower,open=false]", (22, FLOOR, 20))
    world.put("oak_door[facing=west,half=upper,open=false]", (22, FLOOR + 1, 20))
    person = world.add("villager", 27.5, 23.5, Home=[20, 20])
    world.time = 14000
    world.run(500)
    assert 19 <= person["x"] <= 22
    assert 19 <= person["z"] <= 22
    assert properties_of(world.grid.get(22, FLOOR, 20))["open"] == "false"


# Monsters


def test_a_zombie_reaches_and_hurts_the_player_every_second(world: World) -> None:
    world.time = 14000
    world.add("zombie", 20.5, 4.5)
    world.run(110)  # 16 blocks less the reach of 1.43 at 0.1165 blocks per tick: 125 ticks
    assert world.player.health == 20
    world.run(60)
    assert world.player.health <= 20 - 2 * 3
    assert world.player.vx != 0


def test_a_zombie_finds_the_way_round_a_wall(world: World) -> None:
    world.time = 14000
    for z in range(10):
        for y in range(FLOOR, FLOOR + 3):
            world.put("stone", (10, y, z))
    zombie = world.add("zombie", 13.5, 4.5)
    zombie["target"] = 0
    world.run(300)
    assert world.player.health < 20


def test_monsters_leave_who_plays_in_creative_mode_alone_and_vanish_when_it_is_peaceful(world: World) -> None:
    world.time = 14000
    world.player.game_mode = "creative"
    zombie = world.add("zombie", 6.5, 4.5)
    world.run(100)
    assert zombie["target"] == -1
    world.difficulty = "peaceful"
    world.run(1)
    assert world.number("zombie") == 0


@pytest.mark.parametrize(("fire", "lost"), [("campfire", 1), ("soul_campfire", 2)])
def test_a_campfire_hurts_who_stands_in_it_while_it_is_lit_and_sets_nobody_on_fire(world: World, fire: str, lost: int) -> None:
    world.put(f"{fire}[lit=true]", (20, FLOOR, 20))
    world.put(f"{fire}[lit=false]", (30, FLOOR, 20))
    warm, cold = (world.add("cow", x, 20.5, y=FLOOR + 0.4375) for x in (20.5, 30.5))  # it is 7/16 high
    world.run(1)
    assert (warm["health"], cold["health"]) == (10 - lost, 10)
    assert warm["fire"] == cold["fire"] == 0
    world.run(300)  # the cow may walk off, and does not burn on
    assert warm["fire"] == cold["fire"] == 0
    assert cold["health"] == 10


def test_zombies_and_skeletons_burn_by_day_under_the_sky_only(world: World) -> None:
    world.player.game_mode = "spectator"
    for x in range(30, 41):
        for z in range(30, 41):
            world.put("stone", (x, FLOOR + 3, z))
            if x in (30, 40) or z in (30, 40):
                world.put("stone", (x, FLOOR, z), (x, FLOOR + 1, z), (x, FLOOR + 2, z))
    for x, z in ((20.5, 20.5), (35.5, 35.5)):
        world.add("zombie", x, z)
        world.add("skeleton", x + 2, z)
    world.run(700)
    left = world.entities[world.entities["kind"] >= len(THINGS)]
    assert sorted(KINDS[row["kind"]] for row in left) == ["skeleton", "zombie"]
    assert (left["x"] > 30).all()
    assert (left["fire"] == 0).all()


def test_a_creeper_swells_for_thirty_ticks_and_bursts(world: World) -> None:
    creeper = world.add("creeper", 6.5, 4.5)
    world.run(12)
    assert creeper["goal_ticks"] < 0  # what shows that it swells
    world.run(40)
    assert world.number("creeper") == 0
    assert world.player.health < 15
    assert (world.grid.blocks[:, :, : FLOOR - 1] == 0).any()


def test_a_creeper_calms_down_when_the_player_is_gone_and_breaks_nothing_without_mob_griefing(world: World) -> None:
    creeper = world.add("creeper", 6.5, 4.5)
    world.run(12)
    world.player.x = 40.5
    world.run(40)
    assert world.number("creeper") == 1
    assert creeper["goal_ticks"] >= 0
    world.rules["mobGriefing"] = "false"
    world.player.x = float(creeper["x"]) + 2
    world.player.z = float(creeper["z"])
    blocks = world.grid.blocks.copy()
    world.run(120)
    assert world.number("creeper") == 0
    assert (blocks == world.grid.blocks).all()


def test_a_skeleton_keeps_its_distance_and_its_arrows_hurt(world: World) -> None:
    world.time = 14000
    world.player.x = world.player.z = 20.5
    bones = world.add("skeleton", 30.5, 20.5)
    nearest = 99.0
    for _ in range(400):
        world.run(1)
        nearest = min(nearest, world.distance(bones))
    assert nearest > 3
    assert world.player.counts["hurt"]["arrow"] >= 2
    assert world.player.health < 20


def test_a_spider_is_mild_by_day_until_it_is_hit_and_climbs_walls(world: World) -> None:
    spider = world.add("spider", 12.5, 4.5)
    world.run(60)
    assert spider["target"] == -1
    for z in range(48):
        for y in range(FLOOR, FLOOR + 4):
            world.put("stone", (9, y, z))
    mobs.hit_by_player(world, world.row(int(spider["id"])), 1.0, 0.0)
    world.run(400)
    assert spider["x"] < 9
    assert world.player.health < 20


def test_slimes_hop_and_fall_apart(world: World) -> None:
    slime = world.add("slime", 10.5, 4.5, Size=3)
    assert slime["variant"] == 4
    assert slime["health"] == 16
    highest = 0.0
    for _ in range(200):
        world.run(1)
        highest = max(highest, float(slime["y"]) - FLOOR)
    assert highest > 1
    assert world.player.health < 20
    row = world.row(int(slime["id"]))
    slime["hurt"] = 0
    mobs.hit_by_player(world, row, 100.0)
    assert 2 <= world.number("slime") <= 4
    assert {int(one["variant"]) for one in world.entities if one["kind"] == KINDS.index("slime")} == {2}


def test_iron_golems_strike_zombies_down_and_avenge_villagers(world: World) -> None:
    world.time, world.player.game_mode = 14000, "creative"
    world.add("iron_golem", 20.5, 20.5)
    world.add("zombie", 26.5, 20.5)
    world.run(300)
    assert world.number("zombie") == 0
    assert world.number("iron_golem") == 1
    world.player.game_mode, world.player.x, world.player.z = "survival", 20.5, 26.5
    person = world.add("villager", 21.5, 27.5)
    mobs.hit_by_player(world, world.row(int(person["id"])), 1.0)
    world.run(200)
    assert world.player.health < 10


def test_an_enderman_and_wolves_fight_only_who_hits_them(world: World) -> None:
    tall, wolf = world.add("enderman", 8.5, 4.5), world.add("wolf", 8.5, 8.5)
    world.run(100)
    assert world.player.health == 20
    for one in (tall, wolf):
        mobs.hit_by_player(world, world.row(int(one["id"])), 1.0)
    world.run(150)
    assert world.player.counts["hurt"]["mob"] >= 3


def test_blows_are_weaker_when_it_is_easy_and_stronger_when_it_is_hard(world: World) -> None:
    lost = {}
    for difficulty in ("easy", "normal", "hard"):
        world.difficulty, world.player.health, world.player.invulnerable = difficulty, 20.0, 0
        zombie = world.add("zombie", 5.5, 4.5)
        mob_events._strike(world, world.row(int(zombie["id"])), 0)
        lost[difficulty] = 20 - world.player.health
    assert lost == {"easy": 2.5, "normal": 3.0, "hard": 4.5}


# Coming and going


def test_monsters_come_in_the_dark_only_far_off_and_twenty_at_most() -> None:
    world = World(size=160)
    world.rules["doMobSpawning"] = "true"
    world.player.x = world.player.z = 80.5
    world.player.game_mode = "creative"
    world.run(300)
    assert not (world.entities["kind"] >= 0).any()
    world.time = 18000
    for _ in range(1500):
        world.ticks += 1
        known = set(world.entities["id"][world.entities["kind"] >= 0].tolist())
        spawning.tick(world)
        for row in world.entities[world.entities["kind"] >= 0]:
            if int(row["id"]) not in known:
                assert 23 < world.distance(row) < 65
    assert int((world.entities["kind"] >= 0).sum()) == 20
    world.player.x = world.player.z = 3.5
    spawning.tick(world)
    left = world.entities[world.entities["kind"] >= 0]
    assert 0 < len(left) < 20
    assert all(world.distance(row) <= 96 for row in left)


def test_nobody_comes_when_the_rule_forbids_it() -> None:
    world = World(size=160)
    world.time, world.player.x, world.player.z = 18000, 80.5, 80.5
    world.run(200)
    assert not (world.entities["kind"] >= 0).any()


@pytest.mark.parametrize(
    ("name", "nbt", "error", "words"),
    [
        ("cowe", {}, UnknownNameError, "did you mean 'cow'"),
        ("ghast", {}, WorldError, "ghast is not simulated"),
        ("cow", {"NoAi": 1}, UnknownNameError, "did you mean 'NoAI'"),
        ("cow", {"Age": "old"}, WorldError, "Age of a cow is a number, got 'old'"),
        ("cow", {"Health": 0}, WorldError, "Health of a cow must be more than 0, got 0"),
        ("cow", {"Age": 2**40}, WorldError, "Age of a cow is a number from"),
        ("sheep", {"Color": 16}, WorldError, "Color of a sheep is a number from 0 to 15"),
        ("villager", {"VillagerData": {"profession": "framer"}}, UnknownNameError, "did you mean 'farmer'"),
        ("villager", {"VillagerData": {"level": 6}}, WorldError, "level is a number from 1 to 5, got 6"),
        ("villager", {"Offers": {"Recipes": [{"buy": {"id": "emerald"}}]}}, WorldError, "an offer has buy and sell"),
        ("villager", {"Offers": 3}, WorldError, "Offers must be"),
        ("cow", {"Motion": [1, 2]}, WorldError, "Motion of a cow must be a list of 3 numbers"),
    ],
)
def test_a_mob_that_cannot_be_is_refused_and_nothing_changes(
    world: World, name: str, nbt: dict[str, object], error: type[Exception], words: str
) -> None:
    before, chance = world.entities.tobytes(), world.rng.bit_generator.state
    with pytest.raises(error, match=words):
        mobs.spawn(world, name, 5.0, 10.0, 5.0, **nbt)
    assert world.entities.tobytes() == before
    assert world.extras == {}
    assert world.rng.bit_generator.state == chance


def test_a_place_must_be_finite_and_a_thing_cannot_be_killed(world: World) -> None:
    with pytest.raises(WorldError, match="a cow cannot be at nan"):
        mobs.spawn(world, "cow", math.nan, 10.0, 5.0)
    row = world.row(world.spawn_item(5.5, 10.0, 5.5, Stack("dirt")))
    with pytest.raises(WorldError, match="is not a mob; call WorldState"):
        mobs.kill(world, row)


def test_summoned_mobs_have_what_was_said(world: World) -> None:
    still = world.add("zombie", 20.5, 20.5, NoAI=1, PersistenceRequired=True, Silent=1, CustomName='"Bob"', Health=5)
    assert still["flags"] == FLAGS["no_ai"] | FLAGS["persistent"] | FLAGS["silent"]
    assert still["health"] == 5
    assert world.extras[int(still["id"])] == {"name": '"Bob"'}
    place = still[["x", "y", "z", "yaw"]].copy()
    world.time = 14000
    world.run(50)
    assert still[["x", "y", "z", "yaw"]] == place
    assert world.player.health == 20
    horse = world.add("minecraft:horse", 30.5, 20.5, Tame=1, Variant=3, Rotation=[90.0, 0.0])
    assert horse["flags"] == FLAGS["tamed"]
    assert horse["variant"] == 3
    assert horse["yaw"] == 90


# Exactness and speed


def crowd(seed: int = 3) -> World:
    """Ten times three mobs of all tempers, twenty items, a wall and a pond."""
    world = World(size=64, seed=seed)
    world.player.x = world.player.z = 32.5
    for k in range(12):
        world.put("stone", (28, FLOOR, 26 + k), (28, FLOOR + 1, 26 + k))
        world.put("water", (36, FLOOR - 1, 26 + k))
    names = ("cow", "sheep", "pig", "chicken", "zombie", "skeleton", "spider", "villager", "wolf", "rabbit")
    for k in range(30):
        world.add(names[k % 10], 20.5 + 4 * (k % 7), 20.5 + 5 * (k // 7))
    for k in range(20):
        world.spawn_item(22.5 + k, FLOOR + 3.0, 24.5 + k % 5, Stack(("dirt", "stone", "egg", "stick")[k % 4]))
    world.time = 14000
    return world


def test_the_same_state_and_draws_give_the_same_bytes() -> None:
    one, two = crowd(), crowd()
    for world in (one, two):
        world.hold("wheat")
        world.run(400)
    assert one.entities.tobytes() == two.entities.tobytes()
    assert one.extras == two.extras
    assert one.rng.bit_generator.state == two.rng.bit_generator.state
    assert crowd(4).entities.tobytes() != crowd().entities.tobytes()


def test_another_process_gives_the_same_bytes() -> None:
    here = crowd()
    here.run(100)
    program = (
        "import hashlib, test_mobs; w = test_mobs.crowd(); w.run(100); print(hashlib.sha256(w.entities.tobytes()).hexdigest())"
    )
    assert output_of(program).strip() == hashlib.sha256(here.entities.tobytes()).hexdigest()


def test_a_copy_of_the_rows_goes_on_equally() -> None:
    one, two = crowd(), crowd(9)
    one.run(150)
    two.entities[:] = one.entities[np.arange(len(one.entities))]
    two.entities[one.entities["kind"] < 0] = np.zeros((), one.entities.dtype)  # what is saved are live rows only
    two.entities["kind"][one.entities["kind"] < 0] = -1
    two.grid.blocks[:], two.grid.light[:] = one.grid.blocks, one.grid.light
    two.rng.bit_generator.state = one.rng.bit_generator.state
    two.extras = {key: dict(value) for key, value in one.extras.items()}
    for name in ("ticks", "time", "next_id"):
        setattr(two, name, getattr(one, name))
    for name in vars(one.player):
        value = getattr(one.player, name)
        setattr(two.player, name, {k: dict(v) for k, v in value.items()} if name == "counts" else value)
    two.player.slots = list(one.player.slots)
    one.run(150)
    two.run(150)
    live = one.entities["kind"] >= 0
    assert (live == (two.entities["kind"] >= 0)).all()
    assert one.entities[live].tobytes() == two.entities[live].tobytes()
