import json
from collections import Counter
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from screen_world import ScreenWorld, place, towards

from blockworld.blocks import furnaces
from blockworld.errors import UnknownNameError, WorldError
from blockworld.player import clicks, screens
from blockworld.registry import crafting, trades
from blockworld.registry.items import item_named
from blockworld.slots import inventory, panels
from blockworld.slots.panels import GRID_WIDTH
from blockworld.slots.screen import slot_at
from blockworld.state import OFFHAND, Action, Stack


@pytest.fixture
def world() -> ScreenWorld:
    return ScreenWorld()


def act(world: ScreenWorld, owner: str, index: int = 0, **keys) -> None:
    """Move to a place, then press keys there for one tick, then let go."""
    screen = world.screen
    assert screen is not None
    screens.step(world, towards(screen, screens.find(screen, owner, index)))
    screens.step(world, Action(**keys))
    screens.step(world, Action())


def left(world: ScreenWorld, owner: str, index: int = 0) -> None:
    act(world, owner, index, attack=True)


def right(world: ScreenWorld, owner: str, index: int = 0) -> None:
    act(world, owner, index, use=True)


def quick(world: ScreenWorld, owner: str, index: int = 0) -> None:
    act(world, owner, index, attack=True, sneak=True)


# The cursor.


def test_panels_have_the_games_size():
    for kind, size in [
        ("inventory", (176, 166)),
        ("crafting_table", (176, 166)),
        ("furnace", (176, 166)),
        ("chest", (176, 168)),
        ("hopper", (176, 133)),
    ]:
        assert panels.panel(kind)[:2] == size


def test_slots_lie_where_the_game_has_them():
    for kind, owner, index, at in [
        ("inventory", "player", 0, (8, 142)),
        ("inventory", "player", 9, (8, 84)),
        ("inventory", "player", 39, (8, 8)),
        ("inventory", "player", 36, (8, 62)),
        ("inventory", "player", OFFHAND, (77, 62)),
        ("inventory", "craft", 3, (116, 36)),
        ("inventory", "result", 0, (154, 28)),
        ("crafting_table", "craft", 8, (66, 53)),
        ("crafting_table", "result", 0, (124, 35)),
        ("chest", "container", 26, (152, 54)),
        ("chest", "player", 9, (8, 85)),
        ("chest", "player", 8, (152, 143)),
        ("large_chest", "container", 53, (152, 108)),
        ("large_chest", "player", 0, (8, 197)),
        ("furnace", "container", 1, (56, 53)),
        ("furnace", "container", 2, (116, 35)),
    ]:
        # Slot positions of the container classes of Java Edition 1.16.
        spot = place(screens.Screen(kind), owner, index)
        assert (spot.x, spot.y) == at


def test_no_two_places_of_a_screen_overlap_and_all_lie_on_it():
    for kind in panels.KINDS:
        screen = screens.Screen(kind)
        places = screens.slots(screen)
        for number, one in enumerate(places):
            assert 0 <= one.x <= one.x + one.width <= screen.panel.width
            assert 0 <= one.y <= one.y + one.height <= screen.panel.height
            assert slot_at(screen, one.x + one.width / 2, one.y + one.height / 2) == number
            for other in places[:number]:
                apart_x = one.x >= other.x + other.width or other.x >= one.x + one.width
                apart_y = one.y >= other.y + other.height or other.y >= one.y + one.height
                assert apart_x or apart_y, (one, other)


def test_the_cursor_starts_in_the_middle_and_moves_as_in_minerl(world):
    screen = screens.open(world, "inventory")
    assert (screen.x, screen.y) == (88, 83)
    assert screen.corner == (232, 97)  # (640 - 176) / 2, (360 - 166) / 2
    screens.step(world, Action(camera_yaw=3.0, camera_pitch=-1.5))
    # MineRL: 2400 mouse pixels are 360 degrees, so 3 degrees are 20 pixels.
    assert (screen.x, screen.y) == pytest.approx((108, 73))


def test_the_cursor_stays_in_the_frame(world):
    screen = screens.open(world, "inventory")
    screens.step(world, Action(camera_yaw=180.0, camera_pitch=180.0))
    assert (screen.x + 232, screen.y + 97) == (639, 359)
    screens.step(world, Action(camera_yaw=-180.0, camera_pitch=-180.0))
    assert (screen.x + 232, screen.y + 97) == (0, 0)
    with pytest.raises(WorldError, match="the cursor cannot be at nan"):
        screens.pointer(screen, float("nan"), 0)


@pytest.mark.parametrize("kind", ["inventory", "crafting_table"])
def test_a_path_leads_to_every_place(world, kind):
    if kind != "inventory":
        world.put(kind)
    screen = screens.open(world, kind, None if kind == "inventory" else (1, 64, 0))
    for number in range(len(screens.slots(screen))):
        screens.step(world, towards(screen, number))
        assert screen.hovered == number
    with pytest.raises(WorldError, match=f"has places 0 to {number}, got {number + 1}"):
        screens.path_to(screen, number + 1)
    with pytest.raises(WorldError, match="has no place 3 of owner 'container'"):
        screens.find(screen, "container", 3)


def test_a_path_may_be_walked_in_small_steps(world):
    screen = screens.open(world, "inventory")
    number = screens.find(screen, "player", 8)
    for _ in range(20):
        turn = screens.path_to(screen, number)
        screens.step(world, Action(camera_yaw=max(-2, min(2, turn.yaw)), camera_pitch=max(-2, min(2, turn.pitch))))
    assert screen.hovered == number


# Clicks.


def test_a_click_picks_up_and_the_next_puts_down(world):
    world.player.slots[0] = Stack("dirt", 5)
    screens.open(world, "inventory")
    left(world, "player", 0)
    assert (world.player.held, world.player.slots[0]) == (Stack("dirt", 5), None)
    left(world, "player", 12)
    assert (world.player.held, world.player.slots[12]) == (None, Stack("dirt", 5))


def test_holding_the_button_clicks_once_and_so_does_the_press_that_opened(world):
    world.player.slots[0] = Stack("dirt", 5)
    screen = screens.open(world, "inventory")
    move = towards(screen, screens.find(screen, "player", 0), attack=True)
    screens.step(world, move)  # attack was down when the screen opened
    screens.step(world, Action(attack=True))
    assert world.player.held is None
    screens.step(world, Action())
    for _ in range(4):
        screens.step(world, Action(attack=True))
    assert world.player.held == Stack("dirt", 5)


def test_the_inventory_key_that_opened_a_screen_closes_it_only_when_pressed_again(world):
    screens.open(world, "inventory")
    assert screens.step(world, Action(inventory=True))
    assert world.screen is not None
    screens.step(world, Action())
    screens.step(world, Action(inventory=True))
    assert world.screen is None


def test_stacks_merge_up_to_their_size_and_others_are_exchanged(world):
    world.player.slots[:3] = [Stack("egg", 10), Stack("egg", 9), Stack("dirt", 2)]
    screens.open(world, "inventory")
    left(world, "player", 0)
    left(world, "player", 1)
    assert (world.player.held.count, world.player.slots[1].count) == (3, 16)
    left(world, "player", 2)
    assert (world.player.held, world.player.slots[2]) == (Stack("dirt", 2), Stack("egg", 3))


def test_the_right_button_takes_half_and_puts_one(world):
    world.player.slots[0] = Stack("dirt", 7)
    screens.open(world, "inventory")
    right(world, "player", 0)
    assert (world.player.held.count, world.player.slots[0].count) == (4, 3)
    right(world, "player", 1)
    right(world, "player", 1)
    assert (world.player.held.count, world.player.slots[1].count) == (2, 2)


def test_armour_goes_on_its_own_slot_only(world):
    world.player.slots[0], world.player.slots[1] = Stack("iron_boots"), Stack("carved_pumpkin", 3)
    screens.open(world, "inventory")
    left(world, "player", 0)
    left(world, "player", 39)
    assert (world.player.held, world.player.slots[39]) == (Stack("iron_boots"), None)
    left(world, "player", 36)
    assert (world.player.held, world.player.slots[36]) == (None, Stack("iron_boots"))
    left(world, "player", 1)
    left(world, "player", 39)
    assert (world.player.held.count, world.player.slots[39].count) == (2, 1)


def test_a_quick_move_wears_armour_and_shields_and_brings_them_back(world):
    world.player.slots[0], world.player.slots[1], world.player.slots[2] = (
        Stack("iron_helmet"),
        Stack("shield"),
        Stack("dirt", 9),
    )
    screens.open(world, "inventory")
    for index in range(3):
        quick(world, "player", index)
    slots = world.player.slots
    assert (slots[39], slots[OFFHAND], slots[9]) == (Stack("iron_helmet"), Stack("shield"), Stack("dirt", 9))
    quick(world, "player", 39)
    quick(world, "player", 9)
    assert (slots[10], slots[0]) == (Stack("iron_helmet"), Stack("dirt", 9))


def test_number_keys_exchange_with_the_hotbar_and_swap_hands_with_the_other_hand(world):
    slots = world.player.slots
    slots[20], slots[3] = Stack("dirt", 4), Stack("egg", 2)
    screens.open(world, "inventory")
    act(world, "player", 20, hotbar=4)
    assert (slots[20], slots[3]) == (Stack("egg", 2), Stack("dirt", 4))
    act(world, "player", 20, swap_hands=True)
    assert (slots[20], slots[OFFHAND]) == (None, Stack("egg", 2))
    act(world, "player", 39, hotbar=4)
    assert (slots[39], slots[3]) == (None, Stack("dirt", 4))


def test_a_worn_piece_is_exchanged_with_a_single_one_only(world):
    slots = world.player.slots
    slots[39], slots[0] = Stack("iron_helmet"), Stack("carved_pumpkin", 3)
    screens.open(world, "inventory")
    act(world, "player", 39, hotbar=1)
    assert (slots[39], slots[0]) == (Stack("iron_helmet"), Stack("carved_pumpkin", 3))
    left(world, "player", 0)
    left(world, "player", 39)
    assert (slots[39], world.player.held) == (Stack("iron_helmet"), Stack("carved_pumpkin", 3))
    left(world, "player", 0)
    quick(world, "player", 39)
    act(world, "player", 39, hotbar=1)
    assert (slots[39], slots[0]) == (Stack("carved_pumpkin", 1), Stack("carved_pumpkin", 2))
    left(world, "player", 39)
    left(world, "player", 1)
    quick(world, "player", 0)
    assert (slots[39], slots[0], slots[10]) == (Stack("carved_pumpkin", 1), None, Stack("carved_pumpkin", 1))


def test_keys_do_nothing_to_slots_while_something_is_held(world):
    slots = world.player.slots
    slots[0], slots[1], slots[2] = Stack("dirt", 1), Stack("egg", 2), Stack("stone", 3)
    screens.open(world, "inventory")
    left(world, "player", 0)
    for keys in ({"hotbar": 3}, {"swap_hands": True}, {"drop": True}):
        act(world, "player", 1, **keys)
    assert (slots[1], slots[2], slots[OFFHAND], world.thrown) == (Stack("egg", 2), Stack("stone", 3), None, [])


def test_drop_throws_one_of_the_slot_under_the_cursor_and_with_sprint_all(world):
    world.player.slots[5] = Stack("dirt", 4)
    screens.open(world, "inventory")
    act(world, "player", 5, drop=True)
    assert (world.thrown, world.player.slots[5].count) == ([Stack("dirt", 1)], 3)
    act(world, "player", 5, drop=True, sprint=True)
    assert world.thrown[1:] == [Stack("dirt", 3)]


def test_clicking_outside_throws_what_is_held(world):
    world.player.slots[0] = Stack("dirt", 4)
    screen = screens.open(world, "inventory")
    left(world, "player", 0)
    screens.pointer(screen, -30, 20)
    screens.step(world, Action(use=True))
    assert (world.thrown, world.player.held) == ([Stack("dirt", 1)], Stack("dirt", 3))
    screens.step(world, Action(attack=True))
    assert (world.thrown[-1], world.player.held) == (Stack("dirt", 3), None)
    screens.pointer(screen, 3, 3)  # on the panel, beside all slots
    screens.step(world, Action())
    screens.step(world, Action(attack=True))
    assert len(world.thrown) == 2


# Opening and closing.


def test_without_a_screen_actions_are_the_worlds(world):
    assert not screens.step(world, Action(esc=True))
    assert world.screen is None


@pytest.mark.parametrize("key", ["esc", "inventory"])
def test_closing_returns_what_was_loose_and_takes_the_whole_action(world, key):
    world.player.slots[0] = Stack("oak_log", 5)
    screens.open(world, "inventory")
    right(world, "player", 0)
    right(world, "craft", 1)
    assert screens.step(world, Action(**{key: True}))
    assert world.screen is None
    assert world.player.held is None
    assert world.player.slots[0] == Stack("oak_log", 5)
    assert not screens.step(world, Action(**{key: True}))


def test_what_finds_no_room_on_closing_falls_to_the_ground(world):
    world.player.slots[:36] = [Stack("stone", 64) for _ in range(36)]
    world.player.slots[0] = Stack("dirt", 2)
    screens.open(world, "inventory")
    left(world, "player", 0)
    world.player.slots[0] = Stack("stone", 64)
    screens.close(world)
    assert world.thrown == [Stack("dirt", 2)]


def test_opening_another_screen_closes_the_first(world):
    world.player.slots[0] = Stack("dirt", 2)
    screens.open(world, "inventory")
    left(world, "player", 0)
    assert screens.open_block(world, world.put("crafting_table"))
    assert world.screen.kind == "crafting_table"
    assert world.player.slots[0] == Stack("dirt", 2)


@pytest.mark.parametrize("block", ["anvil", "enchanting_table", "brewing_stand", "stone", "grindstone", "loom", "ender_chest"])
def test_blocks_that_need_more_than_slots_have_no_screen(world, block):
    assert not screens.open_block(world, world.put(block))
    assert world.screen is None
    assert world.containers == {}


@pytest.mark.parametrize(
    ("block", "kind"),
    [("trapped_chest", "chest"), ("red_shulker_box", "shulker_box"), ("dropper", "dispenser"), ("barrel", "barrel")],
)
def test_blocks_open_their_screen(world, block, kind):
    assert screens.open_block(world, world.put(block))
    assert world.screen.kind == kind


def test_unknown_or_missing_screens_are_refused_in_words(world):
    with pytest.raises(UnknownNameError, match="unknown screen 'inventry'; did you mean 'inventory'"):
        screens.open(world, "inventry")
    with pytest.raises(WorldError, match=r"there is no chest at \(1, 64, 0\) to open"):
        screens.open(world, "chest", (1, 64, 0))
    with pytest.raises(WorldError, match=r"there is no furnace at \(1, 64, 0\) to open"):
        screens.open(world, "furnace", world.put("chest"))
    with pytest.raises(WorldError, match="entity 7 has nothing to trade"):
        screens.open(world, "villager", entity=7)
    with pytest.raises(UnknownNameError, match="unknown screen"):
        screens.Screen.load({"kind": "menu"})
    with pytest.raises(WorldError, match="not the state of a screen"):
        screens.Screen.load({"kind": "inventory"})
    assert world.screen is None


@pytest.mark.parametrize("how", ["block", "distance", "death"])
def test_a_screen_closes_when_its_block_is_gone_or_far_or_the_player_dies(world, how):
    position = world.put("crafting_table")
    screens.open_block(world, position)
    if how == "block":
        world.put("air")
    elif how == "distance":
        world.player.x += 10
    else:
        world.player.dead = True
    assert screens.step(world, Action())
    assert world.screen is None


def test_a_screen_comes_back_from_its_state(world):
    world.player.slots[0] = Stack("oak_log", 5)
    screens.open_block(world, world.put("crafting_table"))
    left(world, "player", 0)
    right(world, "craft", 4)
    state = json.loads(json.dumps(world.screen.state()))
    assert screens.Screen.load(state) == world.screen


# Crafting.


def test_planks_are_made_by_clicking_the_output(world):
    world.player.slots[0] = Stack("oak_log", 3)
    screens.open(world, "inventory")
    left(world, "player", 0)
    left(world, "craft", 2)
    assert screens.stack_in(world, world.screen, screens.find(world.screen, "result")) == Stack("oak_planks", 4)
    left(world, "result")
    left(world, "result")
    assert world.player.held == Stack("oak_planks", 8)
    assert world.screen.craft[2] == Stack("oak_log", 1)
    assert world.player.counts["crafted"] == {"oak_planks": 8}


def test_a_result_that_does_not_fit_the_cursor_stays(world):
    world.player.slots[0] = Stack("oak_log", 3)
    screens.open(world, "inventory")
    left(world, "player", 0)
    left(world, "craft", 0)
    world.player.held = Stack("oak_planks", 62)
    left(world, "result")
    assert (world.player.held.count, world.screen.craft[0].count) == (62, 3)
    world.player.held = Stack("dirt", 1)
    left(world, "result")
    assert world.player.held == Stack("dirt", 1)


def test_a_quick_move_crafts_as_often_as_there_is_stuff_or_room(world):
    screens.open(world, "inventory")
    world.screen.craft[0] = Stack("oak_log", 10)
    quick(world, "result")
    assert world.player.slots[8] == Stack("oak_planks", 40)  # the hotbar fills from its right end
    world.player.slots[:36] = [Stack("stone", 64) for _ in range(36)]
    world.player.slots[4] = Stack("oak_planks", 55)
    world.screen.craft[0] = Stack("oak_log", 10)
    quick(world, "result")
    assert (world.player.slots[4].count, world.screen.craft[0].count) == (63, 8)
    assert world.player.counts["crafted"] == {"oak_planks": 48}


def test_a_cake_is_made_at_a_table_and_the_buckets_stay(world):
    screens.open_block(world, world.put("crafting_table"))
    names = ["milk_bucket"] * 3 + ["sugar", "egg", "sugar"] + ["wheat"] * 3
    world.screen.craft[:] = [Stack(name) for name in names]
    left(world, "result")
    assert world.player.held == Stack("cake")
    assert world.screen.craft == [Stack("bucket")] * 3 + [None] * 6
    assert world.player.counts["crafted"] == {"cake": 1}


@pytest.mark.parametrize("key", ["quick", "number"])
def test_bottles_that_remain_take_no_place_from_what_was_made(world, key):
    # Sugar of 3 honey bottles: each leaves a glass bottle, which goes to the player while honey lies in the slot.
    screens.open(world, "inventory")
    world.player.slots[:36] = [Stack("stone", 64) for _ in range(36)]
    world.player.slots[0] = None
    world.screen.craft[0] = Stack("honey_bottle", 3)
    if key == "quick":
        quick(world, "result")
    else:
        act(world, "result", hotbar=1)
    made = world.player.counts["crafted"]["sugar"]
    totals = world.totals()
    assert totals["sugar"] == made > 0
    assert totals["glass_bottle"] == made // 3


def test_a_quick_move_at_a_table_lays_things_into_the_grid(world):
    world.player.slots[0] = Stack("oak_log", 3)
    screens.open_block(world, world.put("crafting_table"))
    quick(world, "player", 0)
    assert world.screen.craft[0] == Stack("oak_log", 3)
    quick(world, "craft", 0)
    assert world.player.slots[9] == Stack("oak_log", 3)


# Blocks that hold things.


def test_a_chest_keeps_what_is_quick_moved_into_it(world):
    world.player.slots[0], world.player.slots[9] = Stack("dirt", 5), Stack("dirt", 60)
    position = world.put("chest")
    screens.open_block(world, position)
    quick(world, "player", 0)
    quick(world, "player", 9)
    assert world.containers[position].slots[:2] == [Stack("dirt", 64), Stack("dirt", 1)]
    quick(world, "container", 0)
    assert world.player.slots[8] == Stack("dirt", 64)
    screens.close(world)
    screens.open_block(world, position)
    assert screens.stack_in(world, world.screen, screens.find(world.screen, "container", 1)) == Stack("dirt", 1)


def test_a_large_chest_shows_both_halves_right_one_first(world):
    left_half = world.put("chest[facing=north,type=left]", (1, 64, 0))
    right_half = world.put("chest[facing=north,type=right]", (2, 64, 0))
    screens.open_block(world, left_half)
    assert world.screen.kind == "large_chest"
    world.player.slots[0], world.player.slots[1] = Stack("dirt", 1), Stack("egg", 1)
    left(world, "player", 0)
    left(world, "container", 0)
    left(world, "player", 1)
    left(world, "container", 53)
    assert world.containers[right_half].slots[0] == Stack("dirt", 1)
    assert world.containers[left_half].slots[26] == Stack("egg", 1)
    world.put("air", right_half)
    del world.containers[right_half]
    screens.step(world, Action())
    assert world.screen is None


def test_a_shulker_box_takes_no_shulker_box(world):
    world.player.slots[0] = Stack("red_shulker_box")
    position = world.put("shulker_box")
    screens.open_block(world, position)
    quick(world, "player", 0)
    left(world, "player", 0)
    left(world, "container", 0)
    assert world.containers[position].slots == [None] * 27
    assert world.player.held == Stack("red_shulker_box")


def test_a_furnace_is_filled_smelts_and_counts_what_is_taken(world):
    world.player.slots[:3] = [Stack("iron_ore", 2), Stack("coal", 1), Stack("dirt", 1)]
    position = world.put("furnace")
    screens.open_block(world, position)
    for index in range(3):
        quick(world, "player", index)
    furnace = world.containers[position]
    assert furnace.slots == [Stack("iron_ore", 2), Stack("coal", 1), None]
    assert world.player.slots[9] == Stack("dirt", 1)
    for _ in range(400):
        furnaces.tick(world)
    screens.step(world, Action())
    assert world.screen is not None  # lit or not, it is the same furnace
    left(world, "player", 9)
    left(world, "container", 2)
    assert world.player.held == Stack("dirt", 1)  # nothing may be put into the output
    left(world, "player", 9)
    left(world, "container", 2)
    assert world.player.held == Stack("iron_ingot", 2)
    assert world.player.counts["smelted"] == {"iron_ingot": 2}


def test_the_output_of_a_furnace_adds_to_what_is_held(world):
    position = world.put("furnace")
    screens.open_block(world, position)
    world.containers[position].slots[2] = Stack("glass", 5)
    world.player.held = Stack("glass", 60)
    left(world, "container", 2)
    assert (world.player.held.count, world.containers[position].slots[2].count) == (60, 5)  # 65 are more than a stack
    world.player.held = Stack("glass", 59)
    left(world, "container", 2)
    assert (world.player.held.count, world.containers[position].slots[2]) == (64, None)


def test_only_fuel_goes_where_fuel_burns(world):
    world.player.slots[:2] = [Stack("dirt", 1), Stack("bucket", 1)]
    position = world.put("furnace")
    screens.open_block(world, position)
    left(world, "player", 0)
    left(world, "container", 1)
    assert world.player.held == Stack("dirt", 1)
    left(world, "player", 0)
    left(world, "player", 1)
    left(world, "container", 1)
    assert world.containers[position].slots[1] == Stack("bucket", 1)


def test_a_stonecutter_makes_what_was_chosen_of_the_stone_that_lay_there(world):
    world.player.slots[:2] = [Stack("cobblestone", 3), Stack("stone", 1)]
    screens.open_block(world, world.put("stonecutter"))
    screen = world.screen
    quick(world, "player", 0)
    left(world, "result")
    assert world.player.held is None
    options = [screens.stack_in(world, screen, screens.find(screen, "option", index)) for index in range(4)]
    assert [option and option.item for option in options] == [
        "cobblestone_slab",
        "cobblestone_stairs",
        "cobblestone_wall",
        None,
    ]
    left(world, "option", 3)
    assert screen.choice == -1
    left(world, "option", 0)
    quick(world, "result")
    assert inventory.contents(world.player.slots)["cobblestone_slab"] == 6
    left(world, "option", 0)
    assert screen.choice == -1  # nothing lies there
    quick(world, "player", 1)
    left(world, "option", 2)
    left(world, "craft", 0)
    left(world, "player", 1)
    quick(world, "player", 1)
    assert screen.choice == -1  # the stone was away in between
    assert screens.stack_in(world, screen, screens.find(screen, "result")) is None


# Villagers.


@pytest.fixture
def trading_world(world) -> ScreenWorld:
    world.entities[1]["kind"], world.entities[1]["id"] = 5, 7
    world.entities[1]["x"], world.entities[1]["y"], world.entities[1]["z"] = 2.0, 64.0, 0.5
    bread = trades.offer(("emerald", 1), ("bread", 6), max_uses=2)
    pick = trades.offer(("emerald", 3), ("iron_pickaxe", 1), buy2=("cobblestone", 10))
    world.extras[7] = {"offers": [bread, pick, *(trades.offer(("dirt", 1), ("egg", n)) for n in range(1, 8))]}
    screens.open(world, "villager", entity=7)
    return world


def test_choosing_an_offer_lays_out_its_price_and_the_result_takes_it(trading_world):
    world = trading_world
    world.player.slots[4] = Stack("emerald", 5)
    left(world, "option", 0)
    assert world.screen.craft == [Stack("emerald", 5), None]
    left(world, "result")
    assert (world.player.held, world.screen.craft[0].count) == (Stack("bread", 6), 4)
    left(world, "result")
    left(world, "result")  # the offer is used up after two
    assert (world.player.held, world.screen.craft[0].count) == (Stack("bread", 12), 3)
    assert world.player.counts["traded"] == {"bread": 12}
    assert world.extras[7]["offers"][0]["uses"] == 2


def test_two_prices_may_lie_in_either_order_and_both_must_be_enough(trading_world):
    world = trading_world
    world.screen.craft[:] = [Stack("cobblestone", 12), Stack("emerald", 2)]
    assert screens.stack_in(world, world.screen, screens.find(world.screen, "result")) is None
    world.screen.craft[1].count = 4
    left(world, "result")
    assert world.player.held == Stack("iron_pickaxe")
    assert world.screen.craft == [Stack("cobblestone", 2), Stack("emerald", 1)]


def test_choosing_another_offer_takes_the_first_price_back(trading_world):
    world = trading_world
    world.player.slots[:2] = [Stack("emerald", 5), Stack("cobblestone", 64)]
    left(world, "option", 0)
    left(world, "option", 1)
    assert world.screen.craft == [Stack("emerald", 5), Stack("cobblestone", 64)]
    screens.close(world)
    assert inventory.contents(world.player.slots) == {"emerald": 5, "cobblestone": 64}


def test_a_price_that_finds_no_room_stays_and_no_more_than_a_stack_is_laid_out(trading_world):
    world = trading_world
    world.player.slots[:36] = [Stack("stone", 64) for _ in range(36)]
    world.player.slots[:2] = [Stack("emerald", 40), Stack("emerald", 40)]
    left(world, "option", 0)
    assert (world.screen.craft[0], world.player.slots[1]) == (Stack("emerald", 64), Stack("emerald", 16))
    world.player.slots[0] = Stack("cobblestone", 1)
    left(world, "option", 1)
    assert world.totals()["emerald"] == 80


def test_more_than_seven_offers_are_scrolled(trading_world):
    world = trading_world

    def shown(index: int) -> Stack | None:
        return screens.stack_in(world, world.screen, screens.find(world.screen, "option", index))

    assert shown(6) == Stack("egg", 5)
    for _ in range(4):
        left(world, "scroll", 1)
    assert world.screen.scroll == 2  # 9 offers, 7 shown
    assert shown(6) == Stack("egg", 7)
    left(world, "option", 6)
    assert world.screen.choice == 8
    for _ in range(4):
        left(world, "scroll", 0)
    assert shown(0) == Stack("bread", 6)


def test_the_screen_closes_when_the_villager_is_gone(trading_world):
    trading_world.entities[1]["kind"] = -1
    assert screens.step(trading_world, Action())
    assert trading_world.screen is None


def test_an_offer_is_checked_when_made():
    with pytest.raises(WorldError, match="an offer has 1 to 64 of emerald, got 65"):
        trades.offer(("emerald", 65), ("bread", 1))
    with pytest.raises(UnknownNameError, match="unknown item 'breads'; did you mean 'bread'"):
        trades.offer(("emerald", 1), ("breads", 1))


# Nothing is made and nothing lost.

_KEYS = st.one_of(
    st.sampled_from([{"attack": True}, {"use": True}, {"attack": True, "sneak": True}, {"drop": True}]),
    st.sampled_from([{"drop": True, "sprint": True}, {"swap_hands": True}, {"use": True, "sneak": True}]),
    st.integers(1, 9).map(lambda number: {"hotbar": number}),
)
_PLACES = st.one_of(  # few, so that clicks meet; what a screen lacks is thrown out of it
    st.tuples(st.just("player"), st.sampled_from([0, 1, 2, 9, 10, 38, 39, OFFHAND])),
    st.tuples(st.sampled_from(["craft", "container", "option"]), st.integers(0, 3)),
    st.just(("result", 0)),
)
_ITEMS = ["oak_planks", "stick", "oak_log", "honey_bottle", "iron_helmet", "carved_pumpkin", "egg", "iron_axe", "cobblestone"]
_ITEMS += ["coal", "lava_bucket", "shulker_box", "red_dye", "emerald", "iron_ore", "shield"]


def bill(world: ScreenWorld, screen: screens.Screen) -> Counter[str]:
    """How the items in the world change by one result, as the offer or the recipe says it."""
    made = clicks.result(world, screen)
    change = Counter({made.item: made.count})
    if screen.kind == "villager":
        for item, number in trades.costs(trades.met(clicks.offers(world, screen), screen.choice, screen.craft), screen.craft):
            change[item] -= number
        return change
    change.subtract(stack.item for stack in screen.craft if stack is not None)
    if screen.kind in GRID_WIDTH:
        change.update(item for item in crafting.match(screen.craft, GRID_WIDTH[screen.kind]).remainders if item is not None)
    return change


@settings(max_examples=250, deadline=None)
@given(
    st.sampled_from(["inventory", "crafting_table", "chest", "shulker_box", "furnace", "stonecutter", "villager", "large"]),
    st.lists(st.tuples(st.integers(0, 40), st.sampled_from(_ITEMS), st.integers(1, 64)), max_size=20),
    st.lists(st.tuples(st.one_of(_PLACES, st.integers(-2, 120)), _KEYS), min_size=5, max_size=60),
    st.booleans(),
)
def test_random_clicks_make_and_lose_no_item(kind, carried, pressed, closing):
    world = ScreenWorld()
    for index, item, number in carried:
        stack = Stack(item, min(number, item_named(item).stack))
        if inventory.accepts(world.player.slots, index, stack):
            world.player.slots[index] = Stack(item, 1 if 36 <= index < 40 else stack.count)
    if kind == "inventory":
        screens.open(world, kind)
    elif kind == "villager":
        world.entities[0]["kind"], world.entities[0]["id"], world.entities[0]["y"] = 1, 3, 64
        both = trades.offer(("emerald", 2), ("iron_axe", 1), buy2=("stick", 3))
        world.extras[3] = {"offers": [trades.offer(("stick", 4), ("emerald", 1), max_uses=3), both]}
        screens.open(world, kind, entity=3)
    elif kind == "large":
        world.put("chest[facing=north,type=right]", (2, 64, 0))
        screens.open_block(world, world.put("chest[facing=north,type=left]"))
    else:
        screens.open_block(world, world.put(kind))
    expected, pay = Counter(world.totals()), clicks._pay

    def paying(world: ScreenWorld, screen: screens.Screen) -> None:
        expected.update(bill(world, screen))
        pay(world, screen)

    for number, keys in pressed:
        screen = world.screen
        places = screens.slots(screen)
        named = [one for one in places if (one.owner, one.index) == number]
        if named or (isinstance(number, int) and number >= 0):
            spot = named[0] if named else places[number % len(places)]
            screens.pointer(screen, spot.x + 8, spot.y + 8)
        else:
            screens.pointer(screen, -40, 20)
        screens.step(world, Action())
        with patch.object(clicks, "_pay", paying):
            screens.step(world, Action(**keys))
        assert all(stack.count > 0 for stack in world.all_stacks())
        assert all(stack.count <= item_named(stack.item).stack for stack in world.all_stacks())
    if closing:
        screens.close(world)
    assert world.totals() == {name: number for name, number in expected.items() if number}
    for worn in range(36, 40):
        stack = world.player.slots[worn]
        assert stack is None or (inventory.accepts(world.player.slots, worn, stack) and stack.count == 1)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.floats(-10, 10), st.floats(-10, 10), _KEYS), max_size=40))
def test_the_same_actions_leave_the_same_slots(actions):
    def played() -> tuple:
        world = ScreenWorld()
        world.player.slots[:4] = [Stack("oak_log", 20), Stack("cobblestone", 30), Stack("stick", 9), Stack("coal", 3)]
        screens.open(world, "inventory")
        for yaw, pitch, keys in actions:
            screens.step(world, Action(camera_yaw=yaw, camera_pitch=pitch, **keys))
            screens.step(world, Action())
        return world.screen.state(), inventory.dump(world.player.slots), inventory.dump(world.thrown), world.player.counts

    assert played() == played()
