"""Walking, jumping, swimming, falling, hunger. Speeds and damages: minecraft.wiki, "Walking", "Sprinting", "Sneaking",
"Jumping", "Damage", "Hunger", Java Edition 1.16.
"""

import pytest
from body_world import FLOOR, World, ticks

from blockworld.entities import items_and_projectiles
from blockworld.player import movement as body
from blockworld.player import vitals
from blockworld.state import Action, Stack


def speed(world, **keys):
    """Blocks per second along z over 100 ticks, once up to speed."""
    ticks(world, 20, body.move, **keys)
    start = world.player.z
    ticks(world, 100, body.move, **keys)
    return (world.player.z - start) / 5


@pytest.fixture
def world():
    return World()


@pytest.mark.parametrize(
    ("keys", "expected"),
    [({}, 4.317), ({"sprint": True}, 5.612), ({"sneak": True}, 1.295)],
)
def test_speeds_are_those_of_the_game(keys, expected):
    assert speed(World(size=96), forward=True, **keys) == pytest.approx(expected, abs=0.001)


def test_walking_slantwise_is_no_faster():
    # Two keys at once: the push is scaled down to length 1, a bit longer than one key's 0.98.
    world = World(size=96)
    ticks(world, 20, body.move, forward=True, left=True)
    x, z = world.player.x, world.player.z
    ticks(world, 100, body.move, forward=True, left=True)
    across = ((world.player.x - x) ** 2 + (world.player.z - z) ** 2) ** 0.5 / 5
    assert across == pytest.approx(4.317 / 0.98, abs=0.002)


@pytest.mark.parametrize(("yaw", "way"), [(0, (0, 1)), (90, (-1, 0)), (180, (0, -1)), (-90, (1, 0))])
def test_forward_is_where_the_yaw_points(world, yaw, way):
    me = world.player
    x, z = me.x, me.z
    body.move(world, Action(camera_yaw=yaw))
    ticks(world, 10, body.move, forward=True)
    length = ((me.x - x) ** 2 + (me.z - z) ** 2) ** 0.5
    assert ((me.x - x) / length, (me.z - z) / length) == pytest.approx(way, abs=1e-6)


def test_pitch_stops_at_straight_up_and_down_and_yaw_wraps(world):
    me = world.player
    body.move(world, Action(camera_pitch=200, camera_yaw=270))
    assert (me.pitch, me.yaw) == (90, -90)
    body.move(world, Action(camera_pitch=-500))
    assert me.pitch == -90


def test_a_jump_is_one_and_a_quarter_high(world):
    heights = []
    for tick in range(14):
        body.move(world, Action(jump=tick == 0))
        heights.append(world.player.y - FLOOR)
    # 0.42 + 0.3332 + 0.2481 + 0.1647 + 0.0830 + 0.0031 = 1.252 in six ticks
    assert max(heights) == pytest.approx(1.252, abs=0.001)
    assert heights.index(max(heights)) == 5
    assert heights[11] == 0
    assert world.player.on_ground


def test_jump_boost_jumps_higher(world):
    world.player.effects["jump_boost"] = [100, 1]
    body.move(world, Action(jump=True))
    assert world.player.y - FLOOR == pytest.approx(0.62)


def test_a_block_is_jumped_onto_and_two_are_not():
    for high, reached in ((1, FLOOR + 1), (2, FLOOR)):
        world = World()
        for x in range(48):
            for up in range(high):
                for z in range(27, 48):
                    world.put(x, FLOOR + up, z, "stone")
        ticks(world, 40, body.move, forward=True, jump=True)
        ticks(world, 20, body.move)
        assert world.player.y == reached


def test_sprinting_needs_food():
    world = World(size=96)
    world.player.food = 6
    assert speed(world, forward=True, sprint=True) == pytest.approx(4.317, abs=0.001)
    assert not world.player.sprinting


def test_sprinting_goes_on_without_the_key_and_ends_with_the_way_forward():
    world = World(size=96)
    ticks(world, 5, body.move, forward=True, sprint=True)
    ticks(world, 5, body.move, forward=True)
    assert world.player.sprinting
    body.move(world, Action())
    assert not world.player.sprinting


def test_falling_hurts_half_a_heart_for_each_block_beyond_three():
    for blocks, damage in [(3, 0), (4, 1), (4.4, 2), (5, 2), (22, 19), (23, 20)]:
        world = World()
        world.player.y, world.player.on_ground = float(FLOOR + blocks), False
        ticks(world, 80, body.move)
        assert world.player.y == FLOOR
        assert world.player.health == 20 - damage
        assert world.player.dead is (damage == 20)


def test_hay_takes_four_fifths_of_a_fall_and_water_all():
    for floor, health in (("hay_block", 20 - 2), ("slime_block", 20), ("water", 20)):
        world = World()
        world.player.y, world.player.on_ground = FLOOR + 10.0, False
        for x in range(22, 27):
            for z in range(22, 27):
                # (10 - 3) * 0.2 = 1.4, rounded up
                world.put(x, FLOOR - 1, z, floor)
        ticks(world, 60, body.move)
        assert world.player.health == health, floor


@pytest.mark.parametrize(("blocks", "damage"), [(6, 0), (9, 2)])
def test_a_bed_halves_the_way_of_a_fall(blocks, damage):
    # 6 / 2 - 3 = 0 and 9 / 2 - 3 = 1.5, rounded up (minecraft.wiki, "Bed"); from its top at 9/16
    world = World()
    for x in range(22, 27):
        for z in range(22, 27):
            world.put(x, FLOOR, z, "red_bed[part=foot]")
    world.player.y, world.player.on_ground = FLOOR + 0.5625 + blocks, False
    ticks(world, 60, body.move)
    assert world.player.on_ground
    assert world.player.health == 20 - damage


def test_slime_throws_back(world):
    world.player.y, world.player.on_ground = FLOOR + 5.0, False
    for x in range(22, 27):
        for z in range(22, 27):
            world.put(x, FLOOR - 1, z, "slime_block")
    heights = []
    for _ in range(40):
        body.move(world, Action())
        heights.append(world.player.y)
    landed = heights.index(FLOOR)
    assert max(heights[landed:]) > FLOOR + 2


def test_sneaking_never_walks_off_an_edge():
    for angle in (0, 30, 45, 77):
        world = World()
        me = world.player
        world.grid.blocks[:, :, :FLOOR] = 0
        world.put(24, FLOOR - 1, 24, "stone")
        me.yaw = angle
        ticks(world, 100, body.move, forward=True, sneak=True)
        assert me.y == FLOOR
        assert me.on_ground
        # At most the half width beyond the block's edge: 25.3 and 23.7.
        assert 23.7 <= me.x <= 25.3
        assert 23.7 <= me.z <= 25.3
        assert max(abs(me.x - 24.5), abs(me.z - 24.5)) > 0.7
        ticks(world, 40, body.move, forward=True)
        assert me.y < FLOOR


def test_who_sneaks_under_a_low_roof_stays_low(world):
    world.put(24, FLOOR + 1, 24, "oak_slab[type=top]")
    world.player.sneaking = True
    body.move(world, Action())
    assert world.player.sneaking
    world.put(24, FLOOR + 1, 24, "air")
    body.move(world, Action())
    assert not world.player.sneaking


def ladder(world):
    for y in range(FLOOR, FLOOR + 20):
        world.put(24, y, 26, "stone")
        world.put(24, y, 25, "ladder[facing=north]")
    world.player.z = 25.3


def test_a_ladder_is_climbed_at_2_35_blocks_a_second(world):
    # 0.2 - 0.08, times 0.98: 0.1176 a tick
    ladder(world)
    ticks(world, 10, body.move, forward=True)
    start = world.player.y
    ticks(world, 40, body.move, forward=True)
    assert (world.player.y - start) / 2 == pytest.approx(2.352, abs=0.001)


def test_a_ladder_slows_a_fall_and_sneaking_holds_on_it(world):
    ladder(world)
    world.player.y, world.player.on_ground = FLOOR + 15.0, False
    ticks(world, 20, body.move)
    start = world.player.y
    ticks(world, 20, body.move)
    assert start - world.player.y == pytest.approx(3.0)
    assert world.player.on_ladder
    assert world.player.fall_distance <= 0.15 + 1e-9
    ticks(world, 3, body.move, sneak=True)
    held = world.player.y
    ticks(world, 20, body.move, sneak=True)
    assert world.player.y == held


def test_scaffolding_is_climbed_by_jumping_and_left_by_sneaking(world):
    for y in range(FLOOR, FLOOR + 5):
        world.put(24, y, 24, "scaffolding")
    ticks(world, 60, body.move, jump=True)
    ticks(world, 20, body.move)
    assert world.player.y == FLOOR + 5
    ticks(world, 60, body.move, sneak=True)
    assert world.player.y == FLOOR
    assert world.player.health == 20


def pool(world, deep=6):
    world.grid.blocks[10:40, 10:40, FLOOR - deep : FLOOR] = world.grid.blocks[0, 0, 20]
    for x in range(10, 40):
        for z in range(10, 40):
            for y in range(FLOOR - deep, FLOOR):
                world.put(x, y, z, "water")


def test_swimmers_sink_slowly_and_rise_with_jump(world):
    pool(world)
    world.player.y = FLOOR - 3.0
    ticks(world, 10, body.move)
    start = world.player.y
    ticks(world, 20, body.move)
    # vy -> (vy * 0.8) - 0.005: settles at -0.025 a tick
    assert (world.player.y - start) / 20 == pytest.approx(-0.025, abs=0.002)
    start = world.player.y
    ticks(world, 20, body.move, jump=True)
    assert world.player.y > start + 1
    assert world.player.in_water


def test_swimming_forward_is_slower_than_walking(world):
    pool(world)
    world.player.y = FLOOR - 4.0
    ticks(world, 20, body.move, forward=True)
    start = world.player.z
    ticks(world, 40, body.move, forward=True)
    # 0.0196 / (1 - 0.8) = 0.098 a tick: 1.96 blocks a second
    assert (world.player.z - start) / 2 == pytest.approx(1.96, abs=0.02)


def test_a_swimmer_gets_out_over_the_edge(world):
    pool(world, deep=3)
    world.player.y, world.player.z = FLOOR - 1.0, 38.0
    for _ in range(60):
        body.move(world, Action(forward=True, jump=True))
        if world.player.on_ground and world.player.y == FLOOR:
            break
    assert world.player.y == FLOOR
    assert world.player.z > 40


def test_a_current_carries_the_player(world):
    for z in range(20, 28):
        for x in (23, 24, 25):
            world.put(x, FLOOR, z, f"water[level={min(7, z - 20)}]")
    start = world.player.z
    ticks(world, 20, body.move)
    assert world.player.z > start + 0.2


def test_ice_slides_on(world):
    dry, icy = World(size=96), World(size=96, floor="ice")
    for each in (dry, icy):
        ticks(each, 60, body.move, forward=True)
        each.player.start = each.player.z
        ticks(each, 20, body.move)
    assert dry.player.z - dry.player.start < 0.3
    assert icy.player.z - icy.player.start > 1.5


def test_soul_sand_honey_and_cobwebs_slow_down():
    stone = speed(World(size=96), forward=True)
    for floor in ("soul_sand", "honey_block"):
        world = World(size=96, floor=floor)
        world.player.y = FLOOR - 0.125 if floor == "soul_sand" else FLOOR - 0.0625
        assert speed(world, forward=True) < 0.6 * stone, floor
    world = World()
    for z in range(20, 48):
        for y in (FLOOR, FLOOR + 1):
            world.put(24, y, z, "cobweb")
    assert speed(world, forward=True) < 0.15 * stone


def health(world, number, **keys):
    for _ in range(number):
        body.move(world, Action(**keys))
        vitals.tick(world)
        world.ticks += 1


def test_breath_lasts_fifteen_seconds_and_then_two_half_hearts_go_each_second(world):
    pool(world)
    world.player.y, world.player.food = float(FLOOR - 6), 17
    for _ in range(300):
        vitals.tick(world)
    assert world.player.air == 0
    assert world.player.health == 20
    for _ in range(20):
        vitals.tick(world)
    assert world.player.health == 18
    for _ in range(20):
        vitals.tick(world)
    assert world.player.health == 16
    world.player.y = float(FLOOR)
    vitals.tick(world)
    assert world.player.air == 4


def test_water_breathing_needs_no_air(world):
    pool(world)
    world.player.y = float(FLOOR - 6)
    world.player.effects["water_breathing"] = [1000, 0]
    health(world, 400, sneak=True)
    assert world.player.health == 20
    assert world.player.air == 300


def test_lava_burns_and_fire_resistance_helps():
    for effects, hurt in (({}, True), ({"fire_resistance": [1000, 0]}, False)):
        world = World()
        world.player.effects.update(effects)
        world.put(24, FLOOR, 24, "lava")
        vitals.tick(world)
        assert (world.player.health == 16) is hurt
        health(world, 10)
        assert (world.player.health < 16) is hurt


def test_a_burning_player_is_put_out_by_water(world):
    world.player.burning = 100
    health(world, 1)
    assert world.player.health == 19
    assert world.player.burning == 99
    world.put(24, FLOOR, 24, "water")
    health(world, 1)
    assert world.player.burning == 0


@pytest.mark.parametrize(
    ("block", "dy", "cause"),
    [("cactus", 0, "cactus"), ("fire", 0, "fire"), ("magma_block", -1, "magma"), ("campfire[lit=true]", 0, "campfire")],
)
def test_what_pricks_and_burns_hurts_twice_a_second(world, block, dy, cause):
    world.player.food = 17  # so that nothing heals
    world.put(24, FLOOR + dy, 24, block)
    for _ in range(20):
        vitals.tick(world)
    assert world.player.counts["hurt"][cause] == 2
    assert world.player.health <= 18


@pytest.mark.parametrize("block", ["soul_fire", "soul_campfire[lit=true]"])
def test_fires_of_souls_burn_twice_as_hot(world, block):
    world.put(24, FLOOR, 24, block)
    vitals.tick(world)
    assert world.player.health == 18


def test_berries_prick_only_who_moves(world):
    world.put(24, FLOOR, 24, "sweet_berry_bush[age=3]")
    vitals.tick(world)
    assert world.player.health == 20
    world.player.vx = 0.05
    vitals.tick(world)
    assert world.player.health == 19


def test_a_head_in_stone_smothers_and_in_glass_does_not(world):
    world.put(24, FLOOR + 1, 24, "glass")
    vitals.tick(world)
    assert world.player.health == 20
    world.put(24, FLOOR + 1, 24, "stone")
    vitals.tick(world)
    assert world.player.health == 19


def test_exhaustion_eats_saturation_then_food(world):
    me = world.player
    me.saturation = 1.0
    for saturation, food in ((0, 20), (0, 19), (0, 18)):
        me.exhaustion = 4.1
        vitals.tick(world)
        assert (me.saturation, me.food) == (saturation, food)


def test_sprinting_costs_a_tenth_of_a_point_per_block_and_walking_nothing():
    for keys, cost in (({"sprint": True}, 0.1), ({}, 0.0)):
        world = World(size=96)
        ticks(world, 100, body.move, forward=True, **keys)
        assert world.player.exhaustion == pytest.approx(cost * (world.player.z - 48.5), abs=0.02)


def test_a_full_player_heals_one_a_second_half_and_a_hungry_one_slower():
    fast, slow = World(), World()
    for each, food, saturation in ((fast, 20, 6.0), (slow, 18, 0.0)):
        each.player.health, each.player.food, each.player.saturation = 10.0, food, saturation
        for _ in range(80):
            vitals.tick(each)
    assert slow.player.health == 11
    # A point each half second; it costs 6 of exhaustion, so that the saturation of 6 lasts four times (6, 5, 3, 1...).
    assert fast.player.health > 13


def test_no_healing_without_food_or_with_the_rule_off(world):
    world.player.health, world.player.food = 10.0, 17
    for _ in range(200):
        vitals.tick(world)
    assert world.player.health == 10
    world.player.food, world.rules["naturalRegeneration"] = 20, "false"
    for _ in range(200):
        vitals.tick(world)
    assert world.player.health == 10


@pytest.mark.parametrize(("difficulty", "left"), [("easy", 10), ("normal", 1), ("hard", 0)])
def test_starving_ends_by_difficulty(difficulty, left):
    world = World()
    world.difficulty, world.player.food, world.player.saturation = difficulty, 0, 0.0
    for _ in range(80 * 22):
        vitals.tick(world)
    assert world.player.health == left
    assert world.player.dead is (left == 0)


def test_effects_act_and_run_out(world):
    me = world.player
    me.health, me.food = 10.0, 10
    me.effects = {"regeneration": [100, 0], "speed": [3, 0], "instant_health": [1, 0]}
    for _ in range(3):
        vitals.tick(world)
    assert "speed" not in me.effects
    assert "instant_health" not in me.effects
    assert me.health == 15  # 4 at once, 1 of regeneration at the first tick
    for _ in range(100):
        vitals.tick(world)
    assert me.health == 16
    assert not me.effects


def test_poison_stops_at_half_a_heart(world):
    world.player.health, world.player.food = 3.0, 10
    world.player.effects["poison"] = [1000, 0]
    for _ in range(300):
        vitals.tick(world)
    assert world.player.health == 1


def test_speed_and_slowness_change_the_way():
    for effect, factor in (("speed", 1.2), ("slowness", 0.85)):
        world = World(size=96)
        world.player.effects[effect] = [1000, 0]
        assert speed(world, forward=True) == pytest.approx(4.317 * factor, abs=0.001)


def test_a_second_blow_within_half_a_second_does_not_hurt(world):
    world.player.food = 17  # so that nothing heals
    vitals.hurt(world, 2.0, "mob")
    vitals.hurt(world, 2.0, "mob")
    assert world.player.health == 18
    for _ in range(10):
        vitals.tick(world)
    vitals.hurt(world, 2.0, "mob")
    assert world.player.health == 16


def test_a_stronger_blow_hurts_by_what_it_is_stronger(world):
    vitals.hurt(world, 2.0, "mob")
    vitals.hurt(world, 5.0, "fall")
    assert world.player.health == 15


def test_armour_keeps_blows_off_but_not_falls(world):
    # Full iron has 15 points: 4 * (1 - (15 - 4 / 2) / 25) = 1.92 (minecraft.wiki, "Armor")
    for slot, piece in zip(range(36, 40), ("boots", "leggings", "chestplate", "helmet"), strict=True):
        world.player.slots[slot] = Stack(f"iron_{piece}")
    vitals.hurt(world, 4.0, "mob")
    assert world.player.health == pytest.approx(20 - 1.92)
    world.player.invulnerable = 0
    vitals.hurt(world, 4.0, "fall")
    assert world.player.health == pytest.approx(20 - 5.92)


@pytest.mark.parametrize(("amount", "uses"), [(16.0, 4), (7.0, 1), (1.0, 1)])
def test_armour_wears_by_a_quarter_of_the_whole_blow(world, amount, uses):
    for slot, piece in zip(range(36, 40), ("boots", "leggings", "chestplate", "helmet"), strict=True):
        world.player.slots[slot] = Stack(f"diamond_{piece}")
    vitals.hurt(world, amount, "mob")
    assert [worn.damage for worn in world.player.slots[36:40]] == [uses] * 4


def test_only_blows_that_armour_stops_make_hungry():
    # minecraft.wiki, "Hunger: Exhaustion": damage that armour reduces costs 0.1, other damage nothing.
    for cause, cost in (("mob", 0.1), ("lava", 0.1), ("cactus", 0.1), ("fall", 0), ("fire", 0), ("drown", 0)):
        world = World()
        vitals.hurt(world, 1.0, cause)
        assert world.player.exhaustion == pytest.approx(cost), cause


def test_experience_is_lost_in_death_unless_the_rule_keeps_it():
    for rule, kept in (("false", (0, 0)), ("true", (1, 4))):
        world = World()
        world.rules["keepInventory"] = rule
        items_and_projectiles.gain(world, 11)  # 7 of them make the first level
        assert (world.player.level, world.player.experience) == (1, 4)
        vitals.hurt(world, 50.0, "fall")
        assert (world.player.level, world.player.experience) == kept


def test_death_drops_all_unless_the_rule_keeps_it():
    for rule, dropped in (("false", {"dirt": 7, "iron_boots": 1}), ("true", {})):
        world = World()
        world.rules["keepInventory"] = rule
        world.player.slots[3], world.player.slots[36] = Stack("dirt", 7), Stack("iron_boots")
        vitals.hurt(world, 50.0, "fall")
        assert world.player.dead
        assert world.player.health == 0
        assert world.totals() == dropped
        assert (world.player.slots[3] is None) is bool(dropped)


def test_the_dead_neither_move_nor_heal(world):
    vitals.hurt(world, 50.0, "fall")
    z = world.player.z
    health(world, 100, forward=True)
    assert world.player.z == z
    assert world.player.health == 0


def test_the_void_takes_also_from_creative_players(world):
    world.player.game_mode = "creative"
    vitals.hurt(world, 4.0, "mob")
    assert world.player.health == 20
    vitals.hurt(world, 4.0, "void")
    assert world.player.health == 16


def test_a_night_in_bed_brings_the_morning(world):
    world.time, world.player.sleeping = 13000, 1
    health(world, 101)
    assert world.time == 0
    assert world.player.sleeping == 0


def test_a_night_in_bed_leaves_the_time_where_the_rule_stops_it(world):
    world.rules["doDaylightCycle"] = "false"
    world.time, world.player.sleeping = 13000, 1
    health(world, 101)
    assert world.time == 13000
    assert world.player.sleeping == 0


def test_the_body_is_lower_while_it_sneaks(world):
    assert (world.player.height, world.player.eye_y - world.player.y) == pytest.approx((1.8, 1.62))
    world.player.sneaking = True
    assert (world.player.height, world.player.eye_y - world.player.y) == pytest.approx((1.5, 1.27))
