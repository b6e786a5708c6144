"""Where placed blocks turn, what can be opened, poured, tilled, eaten: the blocks' and items' pages of minecraft.wiki."""

import pytest
from body_world import FLOOR, World, ticks

from blockworld.blocks import halves, orientation, turns, updates
from blockworld.grid.grid import Grid
from blockworld.player import placing, touching
from blockworld.registry.blocks import BLOCKS, name_of, parse, properties_of
from blockworld.registry.entity_types import KIND, KINDS
from blockworld.registry.items import ITEMS, block_of_item
from blockworld.state import OFFHAND, Action, Stack
from blockworld.world_state import WorldState


@pytest.fixture
def world():
    return World()


def click(world, x, y, z, **keys):
    """Look at a point and press use once."""
    placing.use(world, Action())
    world.look_at(x, y, z)
    placing.use(world, Action(use=True, **keys))


def put_on_floor(world, item, x=24.5, z=26.5, yaw=None):
    """Click the floor before the player with something in the hand; the state that is there then."""
    world.hold(item, 5)
    click(world, x, FLOOR, z)
    return world.grid.get(int(x), FLOOR, int(z))


def is_state(state, name, **values):
    return name_of(state) == name and all(properties_of(state)[key] == value for key, value in values.items())


def test_a_block_goes_onto_the_clicked_face_and_one_is_used(world):
    assert put_on_floor(world, "stone") == parse("stone")
    assert world.player.in_hand.count == 4
    assert world.player.counts["used"] == world.player.counts["placed"] == {"stone": 1}
    click(world, 24.5, FLOOR + 0.5, 26.0)
    assert world.grid.get(24, FLOOR, 25) == parse("stone")


def test_held_down_the_key_works_every_four_ticks(world):
    world.hold("stone", 64)
    world.look_at(24.5, FLOOR, 27.9)
    used = []
    for _ in range(10):
        placing.use(world, Action(use=True))
        used.append(64 - world.player.in_hand.count)
    assert used[0] == 1
    assert used[3] == 1
    assert used[4] == 2


def test_nothing_is_placed_into_the_player_or_out_of_reach(world):
    assert put_on_floor(world, "stone", 24.5, 24.6) == 0
    assert put_on_floor(world, "stone", 24.5, 29.5) == 0
    assert put_on_floor(world, "torch", 24.5, 24.6) == parse("torch")


def test_creative_players_use_nothing_up(world):
    world.player.game_mode = "creative"
    put_on_floor(world, "stone")
    assert world.player.in_hand.count == 5


def test_grass_snow_and_water_give_way(world):
    for text in ("grass", "snow[layers=1]", "water", "fire"):
        world.put(24, FLOOR, 26, text)
        assert put_on_floor(world, "stone") == parse("stone"), text
        world.put(24, FLOOR, 26, "air")


def test_facing_is_where_one_looks():
    for yaw, way in [(0, "south"), (90, "west"), (180, "north"), (-90, "east"), (44, "south"), (46, "west")]:
        assert orientation.facing(yaw) == way


def state_for(world, item, face, hit=(0.5, 0.5, 0.5), yaw=0.0, pitch=20.0, at=(10, FLOOR, 10)):
    x, y, z = at
    return placing.placement_state(world, item, x, y, z, face, (x + hit[0], y + hit[1], z + hit[2]), yaw, pitch)


@pytest.mark.parametrize(("face", "axis"), [(0, "y"), (1, "y"), (2, "z"), (3, "z"), (4, "x"), (5, "x")])
def test_logs_lie_along_the_clicked_face(world, face, axis):
    assert state_for(world, "oak_log", face) == parse(f"oak_log[axis={axis}]")


@pytest.mark.parametrize(
    ("face", "hit_y", "half"), [(1, 0.0, "bottom"), (0, 1.0, "top"), (2, 0.3, "bottom"), (2, 0.7, "top"), (5, 0.5, "bottom")]
)
def test_stairs_slabs_and_trapdoors_take_the_clicked_half(world, face, hit_y, half):
    hit = (0.5, hit_y, 0.5)
    assert is_state(state_for(world, "oak_stairs", face, hit), "oak_stairs", half=half, facing="south", shape="straight")
    assert is_state(state_for(world, "oak_slab", face, hit), "oak_slab", type=half)
    trapdoor = state_for(world, "oak_trapdoor", face, hit)
    facing = {1: "north", 0: "north", 2: "north", 5: "east"}[face]
    assert is_state(trapdoor, "oak_trapdoor", half=half, facing=facing)


@pytest.mark.parametrize(("yaw", "look", "back"), [(0, "south", "north"), (90, "west", "east"), (180, "north", "south")])
def test_things_face_the_player_or_away(world, yaw, look, back):
    for item in ("furnace", "chest", "carved_pumpkin", "white_glazed_terracotta", "lectern", "repeater"):
        assert properties_of(state_for(world, item, 1, yaw=yaw))["facing"] == back, item
    for item in ("oak_stairs", "oak_fence_gate", "oak_door", "red_bed", "campfire"):
        assert properties_of(state_for(world, item, 1, yaw=yaw))["facing"] == look, item
    clockwise = {"south": "west", "west": "north", "north": "east"}[look]
    assert properties_of(state_for(world, "anvil", 1, yaw=yaw))["facing"] == clockwise


@pytest.mark.parametrize(("pitch", "piston", "observer"), [(80, "up", "down"), (-80, "down", "up"), (0, "north", "south")])
def test_pistons_and_observers_turn_six_ways(world, pitch, piston, observer):
    for item in ("piston", "dispenser", "barrel"):
        assert properties_of(state_for(world, item, 1, pitch=pitch))["facing"] == piston
    assert properties_of(state_for(world, "observer", 1, pitch=pitch))["facing"] == observer


def test_stairs_make_corners(world):
    world.put(10, FLOOR, 11, "oak_stairs[facing=east]")
    assert is_state(state_for(world, "oak_stairs", 1, yaw=0.0), "oak_stairs", shape="outer_left")


def test_fences_walls_and_panes_join_their_neighbours(world):
    world.put(11, FLOOR, 10, "stone")
    assert is_state(state_for(world, "oak_fence", 1), "oak_fence", east="true", west="false")
    assert is_state(state_for(world, "glass_pane", 1), "glass_pane", east="true", west="false")
    assert is_state(state_for(world, "cobblestone_wall", 1), "cobblestone_wall", east="low", west="none")


def test_two_slabs_make_a_double_one(world):
    world.hold("oak_slab", 5)
    click(world, 24.5, FLOOR, 26.5)
    click(world, 24.5, FLOOR + 0.5, 26.5)
    assert is_state(world.grid.get(24, FLOOR, 26), "oak_slab", type="double")
    assert world.player.in_hand.count == 3
    world.hold("stone_slab", 5)
    click(world, 24.5, FLOOR + 1, 26.5)
    assert is_state(world.grid.get(24, FLOOR + 1, 26), "stone_slab", type="bottom")


def test_snow_piles_up(world):
    world.hold("snow", 10)
    for layers in range(1, 5):
        click(world, 24.5, FLOOR + max(0, layers - 1) / 8, 26.5)
        assert world.grid.get(24, FLOOR, 26) == parse(f"snow[layers={layers}]")


def test_doors_stand_two_high_and_need_room_and_floor(world):
    door = put_on_floor(world, "oak_door")
    assert is_state(door, "oak_door", half="lower", facing="south", open="false")
    assert is_state(world.grid.get(24, FLOOR + 1, 26), "oak_door", half="upper", facing="south")
    world.put(22, FLOOR + 1, 26, "stone")
    assert put_on_floor(world, "oak_door", 22.5, 26.3) == 0
    world.put(21, FLOOR - 1, 26, "oak_leaves")
    assert put_on_floor(world, "oak_door", 21.5, 26.3) == 0


def test_hinges_follow_the_clicked_half_walls_and_other_doors(world):
    # Looking south (+z), the right hand is west (-x).
    assert properties_of(state_for(world, "oak_door", 1, (0.2, 0, 0.5)))["hinge"] == "right"
    assert properties_of(state_for(world, "oak_door", 1, (0.8, 0, 0.5)))["hinge"] == "left"
    world.put(9, FLOOR, 10, "stone")
    world.put(9, FLOOR + 1, 10, "stone")
    assert properties_of(state_for(world, "oak_door", 1, (0.8, 0, 0.5)))["hinge"] == "right"
    world.put(9, FLOOR, 10, "air")
    world.put(9, FLOOR + 1, 10, "air")
    world.put(11, FLOOR, 10, "oak_door[half=lower,facing=south,hinge=left]")
    assert properties_of(state_for(world, "oak_door", 1, (0.8, 0, 0.5)))["hinge"] == "right"


def test_beds_reach_away_from_the_player(world):
    foot = put_on_floor(world, "red_bed")
    assert is_state(foot, "red_bed", part="foot", facing="south")
    assert is_state(world.grid.get(24, FLOOR, 27), "red_bed", part="head", facing="south")
    world.put(22, FLOOR, 27, "stone")
    assert put_on_floor(world, "red_bed", 22.9, 26.5) == 0


def test_torches_hang_on_walls_or_stand(world):
    world.put(24, FLOOR, 27, "stone")
    world.put(24, FLOOR + 1, 27, "stone")
    world.hold("torch", 5)
    click(world, 24.5, FLOOR + 1.5, 27.0)
    assert world.grid.get(24, FLOOR + 1, 26) == parse("wall_torch[facing=north]")
    click(world, 24.5, FLOOR, 26.2)
    assert world.grid.get(24, FLOOR, 26) == parse("torch")


def test_signs_and_banners_turn_to_the_player_and_hang_on_walls(world):
    # Looking south: the sign looks north, which is rotation 8.
    assert state_for(world, "oak_sign", 1) == parse("oak_sign[rotation=8]")
    assert state_for(world, "white_banner", 1, yaw=90.0) == parse("white_banner[rotation=12]")
    world.put(10, FLOOR, 11, "stone")
    assert is_state(state_for(world, "oak_sign", 2), "oak_wall_sign", facing="north")


def test_ladders_and_levers_need_a_wall(world):
    assert state_for(world, "ladder", 2) is None
    world.put(10, FLOOR, 11, "stone")
    assert is_state(state_for(world, "ladder", 2), "ladder", facing="north")
    assert is_state(state_for(world, "lever", 2), "lever", face="wall", facing="north")
    assert is_state(state_for(world, "stone_button", 1), "stone_button", face="floor", facing="south")


def test_plants_need_their_ground(world):
    assert state_for(world, "poppy", 1) is None
    assert state_for(world, "wheat_seeds", 1) is None
    assert state_for(world, "cactus", 1) is None
    world.put(10, FLOOR - 1, 10, "grass_block")
    assert is_state(state_for(world, "poppy", 1), "poppy")
    assert is_state(state_for(world, "oak_sapling", 1), "oak_sapling")
    world.put(10, FLOOR - 1, 10, "farmland")
    assert is_state(state_for(world, "wheat_seeds", 1), "wheat", age="0")
    assert is_state(state_for(world, "carrot", 1), "carrots", age="0")
    world.put(10, FLOOR - 1, 10, "sand")
    assert is_state(state_for(world, "cactus", 1), "cactus")


def test_tall_plants_have_two_halves(world):
    world.put(24, FLOOR - 1, 26, "grass_block")
    assert is_state(put_on_floor(world, "peony"), "peony", half="lower")
    assert is_state(world.grid.get(24, FLOOR + 1, 26), "peony", half="upper")


def test_lily_pads_lie_on_water(world):
    world.put(24, FLOOR - 1, 26, "water")
    world.hold("lily_pad", 2)
    click(world, 24.5, FLOOR - 0.2, 26.5)
    assert world.grid.get(24, FLOOR, 26) == parse("lily_pad")


def test_blocks_placed_into_still_water_are_waterlogged(world):
    world.put(24, FLOOR, 26, "water")
    assert is_state(put_on_floor(world, "oak_stairs"), "oak_stairs", waterlogged="true")
    world.put(22, FLOOR, 26, "water[level=3]")
    assert is_state(put_on_floor(world, "oak_stairs", 22.5, 26.5), "oak_stairs", waterlogged="false")


def test_two_chests_side_by_side_become_one(world):
    put_on_floor(world, "chest", 24.5, 26.5)
    put_on_floor(world, "chest", 23.5, 26.5)
    left, right = world.grid.get(24, FLOOR, 26), world.grid.get(23, FLOOR, 26)
    # They face north, so that the western one is to the left of who looks out of them: its partner lies clockwise, east.
    assert is_state(right, "chest", facing="north", type="left")
    assert is_state(left, "chest", facing="north", type="right")
    assert halves.chest_partner(world, 23, FLOOR, 26) == (24, FLOOR, 26)


def test_every_item_can_be_used_everywhere_without_an_error():
    floors = ("grass_block", "farmland", "sand", "water", "oak_fence", "soul_sand", "oak_slab[type=bottom]", "chest")
    for floor in floors:
        world = World()
        for item in ITEMS:
            world.put(24, FLOOR - 1, 26, floor)
            world.screen = None
            world.entities["kind"] = -1
            world.player.drawing = world.player.eating = 0
            put_on_floor(world, item.name)
            for y in range(FLOOR, FLOOR + 3):
                for z in range(24, 28):
                    world.put(24, y, z, "air")
            if world.player.in_hand is not None:
                assert world.player.in_hand.count >= 1


def test_every_block_item_can_be_placed_on_some_face():
    nowhere = []
    for item in ITEMS:
        name = block_of_item(item.name)
        if name is None:
            continue
        found = False
        for ground in ("stone", "grass_block", "farmland", "sand", "soul_sand", "water"):
            world = World()
            world.put(10, FLOOR - 1, 10, ground)
            world.put(9, FLOOR - 1, 10, "water")
            for wall in ("air", "stone", "jungle_log"):
                world.put(10, FLOOR, 11, wall)
                for here in ("air", "water"):
                    world.put(10, FLOOR, 10, here)
                    found = found or any(state_for(world, item.name, face) is not None for face in (1, 2))
        if not found:
            nowhere.append(item.name)
    assert nowhere == []


def test_wooden_doors_open_and_shut_both_halves_and_iron_ones_do_not(world):
    put_on_floor(world, "oak_door")
    world.hold(None)
    click(world, 24.5, FLOOR + 0.5, 26.1)
    for open_now in ("true", "false"):
        for up in (0, 1):
            assert properties_of(world.grid.get(24, FLOOR + up, 26))["open"] == open_now
        assert touching.touch(world, 24, FLOOR + 1, 26, 0)
    world.put(22, FLOOR, 26, "iron_door[half=lower,facing=south]")
    click(world, 22.5, FLOOR + 0.5, 26.1)
    assert properties_of(world.grid.get(22, FLOOR, 26))["open"] == "false"


def test_a_gate_opens_away_from_the_player_and_shuts_again(world):
    world.put(24, FLOOR, 26, "oak_fence_gate[facing=north]")
    click(world, 24.5, FLOOR + 0.7, 26.45)
    assert is_state(world.grid.get(24, FLOOR, 26), "oak_fence_gate", facing="south", open="true")
    click(world, 24.5, FLOOR + 0.7, 26.45)
    assert is_state(world.grid.get(24, FLOOR, 26), "oak_fence_gate", open="false")


def test_sneaking_places_a_block_where_touching_would_open(world):
    world.put(24, FLOOR, 26, "oak_trapdoor[half=bottom]")
    world.hold("stone", 2)
    world.player.sneaking = True
    click(world, 24.5, FLOOR + 0.1875, 26.5, sneak=True)
    assert properties_of(world.grid.get(24, FLOOR, 26))["open"] == "false"
    world.player.sneaking = False
    click(world, 24.5, FLOOR + 0.15, 26.0)
    assert properties_of(world.grid.get(24, FLOOR, 26))["open"] == "true"


def test_levers_stay_and_buttons_are_pressed(world):
    world.put(24, FLOOR, 26, "lever[face=floor]")
    for powered in ("true", "false"):
        click(world, 24.5, FLOOR + 0.2, 26.5)
        assert properties_of(world.grid.get(24, FLOOR, 26))["powered"] == powered
    world.put(24, FLOOR, 26, "oak_button[face=floor]")
    click(world, 24.5, FLOOR + 0.1, 26.5)
    assert properties_of(world.grid.get(24, FLOOR, 26))["powered"] == "true"


def test_beds_remember_the_player_and_let_sleep_at_night(world):
    world.put(24, FLOOR, 26, "red_bed[part=foot,facing=south]")
    world.put(24, FLOOR, 27, "red_bed[part=head,facing=south]")
    click(world, 24.5, FLOOR + 0.5, 26.5)
    assert world.player.bed == (24, FLOOR, 26)
    assert world.player.sleeping == 0
    world.time = 13000
    click(world, 24.5, FLOOR + 0.5, 26.5)
    assert world.player.sleeping == 1
    assert world.player.z == 27.5
    placing.use(world, Action(sneak=True))
    assert world.player.sleeping == 0


def test_chests_and_tables_open_a_screen(world):
    for block, kind in (("chest", "chest"), ("crafting_table", "crafting_table"), ("furnace", "furnace"), ("barrel", "barrel")):
        world.put(24, FLOOR, 26, block)
        world.screen = None
        click(world, 24.5, FLOOR + 0.5, 26.1)
        assert world.screen is not None, block
        assert world.screen.kind == kind


def test_what_rots_fills_a_composter_by_its_chance():
    for item, chance in [
        ("kelp", 0.3),
        ("cactus", 0.5),
        ("pumpkin", 0.65),
        ("carved_pumpkin", 0.65),
        ("bread", 0.85),
        ("stone", 0),
    ]:
        assert touching.compost_chance(item) == chance


def test_cake_is_eaten_in_seven_pieces(world):
    world.put(24, FLOOR, 26, "cake")
    world.player.food = 3
    for _ in range(7):
        assert name_of(world.grid.get(24, FLOOR, 26)) == "cake"
        click(world, 24.9, FLOOR + 0.2, 26.5)
    assert world.grid.get(24, FLOOR, 26) == 0
    assert world.player.food == 17


def test_a_bucket_takes_a_source_and_gives_it_back(world):
    world.put(24, FLOOR - 1, 26, "water")
    world.hold("bucket")
    click(world, 24.5, FLOOR - 0.2, 26.5)
    assert world.player.in_hand == Stack("water_bucket")
    assert world.grid.get(24, FLOOR - 1, 26) == 0
    click(world, 22.5, FLOOR, 26.5)
    assert world.player.in_hand == Stack("bucket")
    assert world.grid.get(22, FLOOR, 26) == parse("water")


def test_a_bucket_of_many_keeps_the_others(world):
    world.put(24, FLOOR - 1, 26, "lava")
    world.hold("bucket", 3)
    click(world, 24.5, FLOOR - 0.2, 26.5)
    assert world.player.in_hand == Stack("bucket", 2)
    assert Stack("lava_bucket") in world.player.slots


def test_flowing_water_cannot_be_scooped_and_water_logs_stairs(world):
    world.put(24, FLOOR, 26, "water[level=2]")
    world.hold("bucket")
    click(world, 24.5, FLOOR, 26.5)
    assert world.player.in_hand == Stack("bucket")
    world.put(24, FLOOR, 26, "oak_stairs")
    world.hold("water_bucket")
    click(world, 24.5, FLOOR + 0.3, 26.0)
    assert properties_of(world.grid.get(24, FLOOR, 26))["waterlogged"] == "true"


def test_hoes_till_shovels_make_paths_and_axes_strip(world):
    for tool, before, after in (
        ("iron_hoe", "grass_block", "farmland"),
        ("iron_hoe", "coarse_dirt", "dirt"),
        ("iron_shovel", "grass_block", "grass_path"),
        ("iron_axe", "oak_log[axis=x]", "stripped_oak_log[axis=x]"),
    ):
        world.put(24, FLOOR - 1, 26, before)
        world.hold(tool)
        click(world, 24.5, FLOOR, 26.5)
        assert world.grid.get(24, FLOOR - 1, 26) == parse(after)
        assert world.player.in_hand.damage == 1


def test_nothing_is_tilled_under_a_block(world):
    world.put(24, FLOOR, 26, "grass_block")
    world.put(24, FLOOR + 1, 26, "stone")
    world.hold("iron_hoe")
    click(world, 24.5, FLOOR + 0.5, 26.0)
    assert name_of(world.grid.get(24, FLOOR, 26)) == "grass_block"


def test_flint_and_steel_light_fires_and_campfires(world):
    world.hold("flint_and_steel")
    click(world, 24.5, FLOOR, 26.5)
    assert name_of(world.grid.get(24, FLOOR, 26)) == "fire"
    world.put(22, FLOOR, 26, "campfire[lit=false]")
    click(world, 22.5, FLOOR + 0.3, 26.1)
    assert properties_of(world.grid.get(22, FLOOR, 26))["lit"] == "true"
    assert world.player.in_hand.damage == 2


def test_bone_meal_lets_crops_grow(world):
    world.put(24, FLOOR, 26, "wheat[age=0]")
    world.hold("bone_meal", 5)
    click(world, 24.5, FLOOR + 0.05, 26.5)
    assert int(properties_of(world.grid.get(24, FLOOR, 26))["age"]) >= 2
    assert world.player.in_hand.count == 4
    world.put(24, FLOOR, 26, "wheat[age=7]")
    click(world, 24.5, FLOOR + 0.5, 26.5)
    assert world.player.in_hand.count == 4


def test_eating_takes_thirty_two_ticks(world):
    world.player.food, world.player.saturation = 10, 0.0
    world.hold("bread", 2)
    world.player.pitch = -60.0
    ticks(world, 32, placing.use, use=True)
    assert world.player.food == 10
    placing.use(world, Action(use=True))
    assert (world.player.food, world.player.saturation) == (15, 6.0)
    assert world.player.in_hand.count == 1
    assert world.player.counts["eaten"] == {"bread": 1}


def test_letting_go_ends_the_meal_and_the_full_do_not_eat(world):
    world.hold("bread", 2)
    world.player.pitch = -60.0
    ticks(world, 40, placing.use, use=True)
    assert world.player.in_hand.count == 2
    world.player.food = 10
    placing.use(world, Action())
    ticks(world, 20, placing.use, use=True)
    placing.use(world, Action())
    ticks(world, 20, placing.use, use=True)
    assert world.player.food == 10


def test_stew_leaves_its_bowl_and_milk_ends_effects(world):
    world.player.food, world.player.pitch = 10, -60.0
    world.hold("mushroom_stew")
    ticks(world, 33, placing.use, use=True)
    assert world.player.in_hand == Stack("bowl")
    placing.use(world, Action())
    world.player.effects["poison"] = [1000, 0]
    world.hold("milk_bucket")
    ticks(world, 33, placing.use, use=True)
    assert world.player.effects == {}
    assert world.player.in_hand == Stack("bucket")


def test_the_other_hand_acts_when_the_first_does_nothing(world):
    world.hold("iron_pickaxe")
    world.player.slots[OFFHAND] = Stack("torch", 3)
    click(world, 24.5, FLOOR, 26.5)
    assert world.grid.get(24, FLOOR, 26) == parse("torch")
    assert world.player.slots[OFFHAND] == Stack("torch", 2)


def test_spawn_eggs_call_for_a_mob(world):
    world.hold("cow_spawn_egg", 2)
    click(world, 24.5, FLOOR, 26.5)
    one = world.entities[0]
    assert (KINDS[one["kind"]], one["x"], one["y"], one["z"]) == ("cow", 24.5, float(FLOOR), 26.5)
    assert world.player.in_hand.count == 1


def test_armour_is_put_on(world):
    world.player.pitch = -60.0
    world.hold("iron_helmet")
    placing.use(world, Action(use=True))
    assert world.player.slots[39] == Stack("iron_helmet")
    assert world.player.in_hand is None


def test_the_bow_needs_arrows(world):
    world.player.pitch = -60.0
    world.hold("bow")
    ticks(world, 5, placing.use, use=True)
    assert world.player.drawing == 0
    world.player.slots[20] = Stack("arrow", 3)
    placing.use(world, Action())
    ticks(world, 5, placing.use, use=True)
    assert world.player.drawing == 5


def test_a_bow_shoots_where_one_looks_and_uses_an_arrow(world):
    # A full draw is 20 ticks and 3 blocks per tick; of 10 ticks (0.25 + 1) / 3 of it.
    for drawn, speed in ((25, 3.0), (10, 1.25)):
        world.player.pitch = -60.0
        world.hold("bow")
        world.player.slots[20] = Stack("arrow", 3)
        ticks(world, drawn, placing.use, use=True)
        placing.use(world, Action())
        arrow = world.entities[world.entities["kind"] == KIND["arrow"]][0]
        assert (arrow["vx"], arrow["vy"], arrow["vz"]) == pytest.approx((0, speed * 0.8660254, speed / 2), abs=1e-6)
        assert world.player.slots[20].count == 2
        assert world.player.in_hand.damage == 1
        world.entities["kind"] = -1


def test_snowballs_are_thrown(world):
    world.player.pitch = -60.0
    world.hold("snowball", 3)
    placing.use(world, Action(use=True))
    assert (world.entities["kind"] == KIND["snowball"]).sum() == 1
    assert world.player.in_hand.count == 2


def test_adventurers_place_nothing_and_the_dead_do_nothing(world):
    world.player.game_mode = "adventure"
    assert put_on_floor(world, "stone") == 0
    world.player.game_mode, world.player.dead = "survival", True
    assert put_on_floor(world, "stone") == 0


def test_picking_a_block_takes_it_into_the_hand(world):
    world.put(24, FLOOR, 26, "oak_wall_sign[facing=north]")
    world.put(24, FLOOR, 26, "furnace")
    world.look_at(24.5, FLOOR + 0.5, 26.1)
    placing.pick_item(world)
    assert world.player.in_hand is None
    world.player.slots[20] = Stack("furnace", 2)
    placing.pick_item(world)
    assert world.player.in_hand == Stack("furnace", 2)
    world.player.slots[4] = Stack("furnace", 7)
    world.player.hotbar = 8
    placing.pick_item(world)
    assert world.player.hotbar == 0


def test_every_block_can_be_touched_without_an_error():
    world = World()
    for block in BLOCKS:
        for state in (block.first, block.default):
            for item in (None, "stick", "water_bucket", "bone_meal"):
                world.hold(item, 1)
                world.screen = None
                world.player.sleeping = 0
                world.set_block(24, FLOOR, 26, state)
                world.player.x, world.player.y, world.player.z = 24.5, float(FLOOR), 24.5
                click(world, 24.5, FLOOR + 0.3, 26.5)
                world.containers.clear()


class UpdatedWorld(World):
    """The small world with the real grid and the real updates."""

    def __init__(self):
        super().__init__(size=32)
        self.first = self.grid = Grid(self.grid.blocks)
        self.player.x = self.player.z = 14.5

    def change_block(self, x, y, z, state):
        return WorldState.change_block(self, x, y, z, state)


@pytest.mark.parametrize(
    ("item", "second"), [("oak_door", (14, FLOOR + 1, 16)), ("red_bed", (14, FLOOR, 17)), ("lilac", (14, FLOOR + 1, 16))]
)
def test_what_has_two_halves_is_placed_and_broken_as_one_also_with_updates(item, second):
    for broken in ((14, FLOOR, 16), second, (14, FLOOR - 1, 16)):
        world = UpdatedWorld()
        world.set_block(14, FLOOR - 1, 16, parse("grass_block"))
        name = name_of(put_on_floor(world, item, 14.5, 16.5))
        assert name == name_of(world.grid.get(*second)) == item
        updates.break_block(world, *broken)
        falls = broken[1] >= FLOOR or item != "red_bed"  # a bed needs no floor
        assert world.totals().get(item, 0) == falls
        assert (world.grid.get(*second) == 0) is falls
        assert (world.grid.get(14, FLOOR, 16) == 0) is falls


def test_a_torch_falls_with_its_wall_and_fences_join_what_comes_beside_them():
    world = UpdatedWorld()
    world.set_block(14, FLOOR + 1, 17, parse("stone"))
    world.hold("torch", 2)
    click(world, 14.5, FLOOR + 1.5, 17.0)
    assert name_of(world.grid.get(14, FLOOR + 1, 16)) == "wall_torch"
    updates.break_block(world, 14, FLOOR + 1, 17)
    assert world.grid.get(14, FLOOR + 1, 16) == 0
    assert world.totals() == {"torch": 1}
    put_on_floor(world, "oak_fence", 14.5, 16.5)
    put_on_floor(world, "oak_fence", 15.5, 16.5)
    assert properties_of(world.grid.get(14, FLOOR, 16))["east"] == "true"
    assert properties_of(world.grid.get(15, FLOOR, 16))["west"] == "true"


def test_pressed_buttons_come_out_again():
    world = UpdatedWorld()
    put_on_floor(world, "stone_button", 14.5, 16.5)
    world.hold(None)
    click(world, 14.5, FLOOR + 0.1, 16.5)
    assert properties_of(world.grid.get(14, FLOOR, 16))["powered"] == "true"
    for _ in range(21):
        turns.tick(world)
    assert properties_of(world.grid.get(14, FLOOR, 16))["powered"] == "false"
