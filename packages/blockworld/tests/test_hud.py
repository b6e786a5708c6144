"""The display over the picture, and the screens."""

import json
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from blockworld.errors import WorldError
from blockworld.player import screens
from blockworld.registry.blocks import state_of
from blockworld.render import display, font, hud, pieces
from blockworld.slots import panels
from blockworld.state import Container, Player, Stack

GREY = 120


@pytest.fixture
def world():
    grid = SimpleNamespace(block=0)
    grid.get, grid.inside, grid.lights = lambda x, y, z: grid.block, lambda x, y, z: True, lambda x, y, z: (15, 0)
    return SimpleNamespace(
        grid=grid,
        player=Player(),
        screen=None,
        ticks=0,
        time=6000,
        weather="clear",
        containers={},
        extras={},
        rules={},
        entities=np.zeros(0),
    )


def shown(world, width=640, height=360):
    frame = np.full((height, width, 3), GREY, np.uint8)
    hud.draw(world, frame)
    return frame


def count(frame, colour, near=12):
    return int((abs(frame.astype(int) - colour).max(-1) < near).sum())


def test_the_hotbar_lies_182_wide_in_the_middle_of_the_lower_edge(world):
    frame = shown(world)
    changed = np.flatnonzero((frame[350] != GREY).any(-1))
    inside = changed[(changed > 200) & (changed < 440)]
    assert inside.min() in (228, 229)
    assert inside.max() == 410


@pytest.mark.parametrize("slot", range(9))
def test_the_selected_slot_is_framed(world, slot):
    world.player.hotbar = slot
    frame = shown(world)
    bright = np.flatnonzero(frame[338].astype(int).sum(-1) > 700)
    assert bright.min() == 229 + 20 * slot  # its frame of 24 begins one pixel left of the slot of 20; one pixel of that is dark


def test_hearts_show_half_hearts(world):
    red = []
    for health in (20, 19, 10, 1, 0):
        world.player.health = health
        red.append(count(shown(world)[320:332], (222, 40, 44)))
    assert red[0] > red[1] > red[2] > red[3] > red[4] == 0
    assert red[0] == 2 * red[2]


def test_creative_players_have_no_hearts(world):
    world.player.game_mode = "creative"
    assert count(shown(world)[315:332, :400], (222, 40, 44)) == 0


def test_bubbles_show_only_with_the_head_under_water(world):
    def blue(air):
        world.player.air = air
        return count(shown(world)[308:320], (96, 166, 240))

    assert blue(300) == 0
    assert blue(290) == 10 * blue(15) > 0  # 300 ticks are ten bubbles


def test_counts_are_written_for_more_than_one(world):
    world.player.slots[3] = Stack("dirt", 1)
    one = shown(world)
    world.player.slots[3] = Stack("dirt", 37)
    many = shown(world)
    region = np.s_[340:358, 290:312]
    assert count(many[region], (255, 255, 255), 4) > count(one[region], (255, 255, 255), 4) + 15


def test_the_durability_bar_shrinks_and_reddens(world):
    def bar(damage):
        world.player.slots[1] = Stack("iron_pickaxe", 1, damage)
        return shown(world)[354, 254:267].astype(int)

    fresh, worn, dying = bar(1), bar(125), bar(245)
    lengths = [int((row.max(-1) > 100).sum()) for row in (fresh, worn, dying)]
    assert lengths == [13, 6, 1]  # of 250 uses 249, 125 and 5 are left: 12.9, 6.5 and 0.3 of 13 pixels
    assert fresh[0, 1] > fresh[0, 0]
    assert dying[0, 0] > dying[0, 1]


def test_armour_points_appear_when_something_is_worn(world):
    before = count(shown(world)[310:320], (210, 212, 216))
    world.player.slots[38] = Stack("iron_chestplate")
    assert before == 0 < count(shown(world)[310:320], (210, 212, 216))


def test_the_held_item_is_at_the_lower_right_and_moves_while_swinging(world):
    world.player.slots[0] = Stack("diamond_sword")
    still = shown(world)
    rows, columns = np.nonzero((still[:310] != GREY).any(-1) & ~_crosshair())
    assert columns.min() > 380
    assert rows.min() > 120
    world.player.swing = 3
    assert (shown(world) != still).any()


def _crosshair():
    mask = np.zeros((310, 640), bool)
    mask[175:186, 315:326] = True
    return mask


def test_the_crosshair_inverts_what_is_behind_it(world):
    frame = np.full((360, 640, 3), 200, np.uint8)
    hud.draw(world, frame)
    assert (frame[180, 320] == 55).all()
    assert (frame[176, 320] == 55).all()
    assert (frame[180, 316] == 55).all()


def test_a_blow_reddens_everything_and_water_clouds_it_blue(world):
    world.player.invulnerable = 20
    red = shown(world)[20, 20].astype(int)
    world.player.invulnerable, world.grid.block = 0, state_of("water")
    blue = shown(world)[20, 20].astype(int)
    assert red[0] > red[2] + 40
    assert blue[2] > blue[0] + 8


def test_sleep_darkens_more_and_more(world):
    levels = []
    for ticks in (0, 20, 60, 100):
        world.player.sleeping = ticks
        levels.append(int(shown(world)[20, 20].sum()))
    assert levels == sorted(levels, reverse=True)
    assert levels[0] > 3 * levels[-1]


def test_death_shows_a_red_veil_and_no_hotbar(world):
    world.player.dead = True
    frame = shown(world)
    assert int(frame[20, 20, 0]) > int(frame[20, 20, 1]) + 40
    assert (frame[350, 320] == frame[20, 20]).all()


@pytest.mark.parametrize("size", [(640, 360), (1280, 720), (128, 128), (64, 64), (320, 240), (333, 241), (1920, 1080), (1, 1)])
@pytest.mark.parametrize("kind", [None, "inventory"])
def test_pictures_of_any_size_are_drawn(world, size, kind):
    world.screen = None if kind is None else screens.Screen(kind, craft=[None] * 4)
    frame = shown(world, *size)
    assert frame.shape == (size[1], size[0], 3)
    assert (frame != GREY).any()


def test_the_scale_is_a_pixel_per_240_rows():
    scales = [hud.natural_scale(*size) for size in ((640, 360), (1280, 720), (1920, 1080), (400, 720))]
    assert scales == [1, 3, 4, 1]


def open_screen(world, kind):
    screen = screens.Screen(
        kind, craft=[None] * {"inventory": 4, "crafting_table": 9, "stonecutter": 1, "villager": 2}.get(kind, 0)
    )
    if kind not in ("inventory", "crafting_table", "stonecutter", "villager"):
        screen.position, screen.blocks = (1, 2, 3), [(1, 2, 3), (1, 2, 4)]
        for position in screen.blocks:
            world.containers[position] = Container(kind, [None] * 27)
    if kind == "villager":
        world.extras[7] = {"offers": [{"buy": ["emerald", 1], "buy2": None, "sell": ["bread", 6], "uses": 0, "max_uses": 16}]}
        screen.entity = 7
    world.screen = screen
    return screen


@pytest.mark.parametrize("kind", panels.KINDS)
def test_every_screen_is_drawn_with_its_slots_where_its_panel_has_them(world, kind):
    screen = open_screen(world, kind)
    screen.x, screen.y = -60, -40  # the cursor is out of the way
    frame = shown(world)
    left, top = screen.corner
    for place in screen.panel.places:
        if place.owner in ("player", "container", "craft") and not (kind == "inventory" and place.index >= 36):
            assert (frame[top + place.y + 8, left + place.x + 8] == (142, 134, 126)).all(), (
                place
            )  # the colour of a slot in display.png


def test_items_lie_in_the_slots_of_the_screen(world):
    screen = open_screen(world, "chest")
    before = shown(world)
    world.containers[1, 2, 3].slots[10] = Stack("diamond", 5)
    after = shown(world)
    place = next(p for p in screen.panel.places if p.owner == "container" and p.index == 10)
    rows, columns = np.nonzero((before != after).any(-1))
    x, y = screen.corner[0] + place.x, screen.corner[1] + place.y
    assert rows.min() >= y
    assert rows.max() <= y + 18
    assert columns.min() >= x
    assert columns.max() <= x + 18


def test_the_tip_of_the_cursor_is_the_point(world):
    screen = open_screen(world, "inventory")
    screen.x, screen.y = -50.0, -30.0
    frame = shown(world)
    x, y = screen.corner[0] - 50, screen.corner[1] - 30
    assert (frame[y, x] == 8).all()
    assert (frame[y + 3, x + 1] == 252).all()
    assert (frame[y - 1, x] != 8).all()
    assert (frame[y, x - 1] != 8).all()


def test_the_name_of_the_hovered_stack_is_shown_but_not_while_one_is_carried(world):
    screen = open_screen(world, "inventory")
    world.player.slots[9] = Stack("oak_log", 2)
    screen.x, screen.y = 16, 92
    border = (150, 112, 58)
    assert count(shown(world), border, 1) > 60
    world.player.held = Stack("dirt", 3)
    assert count(shown(world), border, 1) == 0


def test_a_furnace_shows_its_flame_and_arrow_as_far_as_they_are(world):
    open_screen(world, "furnace")
    furnace = world.containers[1, 2, 3]
    cold = shown(world)
    furnace.burn, furnace.burn_total, furnace.cook = 800, 1600, 100
    half = shown(world)
    furnace.burn, furnace.cook = 1600, 199
    full = shown(world)
    changed = [int((frame != cold).any(-1).sum()) for frame in (half, full)]
    assert 0 < changed[0] < changed[1]
    fire = [count(frame[120:160], (236, 122, 30), 3) for frame in (cold, half, full)]
    assert fire[0] == 0 < fire[1] < fire[2]


def test_an_offer_that_is_used_up_is_crossed_out(world):
    open_screen(world, "villager")
    red = (196, 40, 36)
    before = count(shown(world)[90:250], red, 2)
    world.extras[7]["offers"][0]["uses"] = 16
    assert before == 0
    assert count(shown(world)[90:250], red, 2) == 13  # two diagonals of seven pixels that meet in one


def test_names_are_as_people_read_them():
    assert display.label(Stack("oak_fence_gate")) == "Oak Fence Gate"
    assert display.label(Stack("stick", tag={"name": "Wand"})) == "Wand"


def test_all_letters_of_item_names_can_be_written():
    from blockworld.render.icons import NAMES

    letters = set("".join(display.label(Stack(name)) for name in NAMES))
    assert letters <= set(font.glyphs())
    assert font.written("10").shape == (9, 11)  # two digits of five and a gap
    assert font.written("").shape == (9, 0)
    assert (font.written("\u00e9") == font.written("?")).all()


def test_the_same_world_gives_the_same_display(world):
    open_screen(world, "crafting_table")
    assert shown(world).tobytes() == shown(world).tobytes()


# ---------------------------------------------------------------- for people


def drawn_for_people(world, width=640, height=360):
    frame = np.full((height, width, 3), GREY, np.uint8)
    hud.draw(world, frame, Fraction(2 * height, 360))
    return frame


@pytest.mark.parametrize(("width", "height"), [(640, 360), (480, 270), (320, 180)])
def test_peoples_hotbar_takes_the_same_share_of_a_picture_of_any_size(world, width, height):
    frame = drawn_for_people(world, width, height)
    left = np.flatnonzero((frame[-4] != GREY).any(-1)).min() / width  # the hand is at the right
    top = np.flatnonzero((frame[:, width // 4] != GREY).any(-1)).min() / height
    assert left == pytest.approx(138 / 640, abs=0.004)
    assert top == pytest.approx(282 / 360, abs=0.01)  # of the hearts


@pytest.mark.parametrize("kind", panels.KINDS)
@pytest.mark.parametrize(("width", "height"), [(640, 360), (480, 270), (320, 180)])
def test_no_panel_is_cut_off_at_the_scale_of_people(world, kind, width, height):
    world.screen = screens.Screen(kind)
    size = (width, height)
    seen = hud.shown(size, Fraction(2 * height, 360), world.screen)
    panel = panels.panel(kind)
    assert seen[0] >= panel.width
    assert seen[1] >= panel.height
    if panel.height <= 180:
        assert seen == (320, 180)  # twice as large as for agents, in a picture of any size


def test_agents_keep_their_picture(world):
    assert hud.scales((640, 360), None, None) == (1, 1, 1)
    assert hud.scales((128, 72), None, None) == (4, 1, 1)
    assert hud.scales((1280, 720), None, None) == (1, 3, 3)


# ---------------------------------------------------------------- as data


def test_the_display_is_plain_values_with_sprites_that_exist(world):
    world.player.slots[0] = Stack("iron_pickaxe", 1, 7)
    world.player.level = 5
    for kind in (None, *panels.KINDS):
        if kind is not None:
            open_screen(world, kind)
        operations = display.operations(world)
        again = json.loads(json.dumps(operations))
        frames = [np.full((360, 640, 3), GREY, np.uint8) for _ in range(2)]
        for frame, listed in zip(frames, (operations, again), strict=True):
            hud.paint(frame, listed, 1, 1)
        assert (frames[0] == frames[1]).all()


def test_blocks_are_drawn_finer_than_the_gui_and_all_else_is_not():
    assert pieces.sprite("icon:stone", 3)[0].shape == (48, 48, 4)
    assert pieces.sprite("icon:stone")[1] == 4
    assert pieces.sprite("icon:stick")[0].shape == (16, 16, 4)


def test_a_sprite_or_an_operation_that_does_not_exist_is_refused():
    with pytest.raises(WorldError, match="no sprite 'heart'"):
        pieces.sprite("heart")
    with pytest.raises(WorldError, match="not an operation of the display"):
        hud.paint(np.zeros((9, 9, 3), np.uint8), [("explode", 3)], 1, 1)
