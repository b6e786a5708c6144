"""Pictures of small worlds whose look is known."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from perspective import focal, project

from blockworld.errors import WorldError
from blockworld.grid.grid import Grid
from blockworld.registry.blocks import parse
from blockworld.render.camera import Camera
from blockworld.render.daylight import brightness, of_sky
from blockworld.render.renderer import Renderer
from blockworld.state import Action, Player
from blockworld.world import World

SIZE = (96, 54)
GROUND = 20


def land():
    """Flat ground to y = 20 (grass), 64 x 48 x 64."""
    blocks = np.zeros((64, 64, 48), np.uint16)
    blocks[:, :, : GROUND - 2] = parse("stone")
    blocks[:, :, GROUND - 2 : GROUND] = parse("dirt")
    blocks[:, :, GROUND] = parse("grass_block[snowy=false]")
    return blocks


@pytest.fixture(scope="module")
def renderer():
    return Renderer(SIZE, distance=48.0)


def south(y=GROUND + 2.62, pitch=0.0, **more):
    return Camera(32.5, y, 20.5, 0.0, pitch, 70.0, SIZE, **more)


def middle(picture):
    return picture[SIZE[1] // 2, SIZE[0] // 2].astype(int)


def test_sky_is_above_and_grass_below(renderer):
    picture = renderer.view(Grid(land()), south())
    assert picture.shape == (54, 96, 3)
    assert picture.dtype == np.uint8
    red, green, blue = picture[3, 48].astype(int)
    assert blue > green > red
    red, green, blue = picture[-3, 48].astype(int)
    assert green > red > blue


def test_the_same_world_gives_the_same_picture(renderer):
    grid = Grid(land())
    first = renderer.view(grid, south(), ticks=7)
    assert np.array_equal(first, renderer.view(grid, south(), ticks=7))
    assert np.array_equal(first, Renderer(SIZE, distance=48.0).view(grid, south(), ticks=7))


def test_depth_is_the_distance_along_the_ray(renderer):
    blocks = land()
    blocks[:, 30, GROUND + 1 : GROUND + 20] = parse("stone")
    camera = south()
    renderer.view(Grid(blocks), camera)
    # The wall's side is at z = 30, the eye at 20.5: 9.5 straight ahead, 9.5 sqrt(1 + (column offset / focal)**2) beside.
    row, column = SIZE[1] // 2, 70
    offset = math.hypot(column + 0.5 - 48, row + 0.5 - 27) / focal(camera)
    assert renderer.depth[row, column] == pytest.approx(9.5 * math.sqrt(1 + offset**2), abs=1e-3)


def test_looking_down_depth_is_the_height(renderer):
    renderer.view(Grid(land()), south(y=GROUND + 5.0, pitch=90.0))
    # The pixel nearest to the middle is half a pixel away in both directions: 4 * sqrt(1 + 0.5 / 38.6**2) = 4.0007.
    assert renderer.depth[27, 48] == pytest.approx(4.0, abs=2e-3)


def test_sky_has_the_depth_of_the_view_distance(renderer):
    renderer.view(Grid(land()), south(pitch=-45.0))
    assert renderer.depth[0, 0] == 48.0


def test_projecting_a_point_finds_the_pixel_that_shows_it(renderer):
    blocks = land()
    blocks[38, 30, GROUND + 3] = parse("gold_block")
    grid, camera = Grid(blocks), south()
    without = renderer.view(Grid(land()), camera).astype(int)
    picture = renderer.view(grid, camera).astype(int)
    corners = np.array([[x, y, z] for x in (38, 39) for y in (GROUND + 3, GROUND + 4) for z in (30, 31)])
    places = project(camera, corners)[:, :2]
    rows, columns = np.nonzero(np.abs(picture - without).sum(-1) > 30)
    assert [columns.min(), rows.min()] == pytest.approx(places.min(0), abs=1.5)
    assert [columns.max() + 1, rows.max() + 1] == pytest.approx(places.max(0), abs=1.5)


def test_yaw_turns_clockwise_and_east_is_to_the_left_when_looking_south():
    camera = south()
    assert project(camera, np.array([40.0, camera.y, 30.0]))[0] < SIZE[0] / 2  # x = 40 lies east
    west = Camera(32.5, 22.0, 20.5, 90.0, 0.0, 70.0, SIZE)
    assert project(west, np.array([20.0, 22.0, 20.5]))[:2] == pytest.approx([48, 27])


def test_what_is_behind_is_not_before_the_camera():
    assert project(south(), np.array([32.5, 22.0, 10.0]))[2] < 0


def test_night_is_darker_than_day_and_torches_help(renderer):
    blocks = land()
    blocks[:, 26, GROUND + 1 : GROUND + 6] = parse("stone")
    noon = renderer.view(Grid(blocks), south(), time=6000).mean()
    night = renderer.view(Grid(blocks), south(), time=18000)
    blocks[32, 24, GROUND + 1] = parse("torch")
    lit = renderer.view(Grid(blocks), south(), time=18000)
    assert night.mean() < noon / 2
    assert middle(lit).sum() > 1.5 * middle(night).sum()


def test_daylight_is_whole_at_noon_half_at_sunrise_and_gone_at_midnight():
    assert (of_sky(6000), of_sky(18000)) == (1.0, 0.0)
    assert of_sky(0) == pytest.approx(0.5)
    assert of_sky(6000, "rain") < 1


def test_glass_shows_what_is_behind_and_stained_glass_colours_it(renderer):
    blocks = land()
    blocks[:, 30, GROUND + 1 : GROUND + 20] = parse("white_wool")
    plain = middle(renderer.view(Grid(blocks), south()))
    blocks[:, 26, GROUND + 1 : GROUND + 20] = parse("glass")
    through = middle(renderer.view(Grid(blocks), south(y=GROUND + 2.5)))
    blocks[:, 26, GROUND + 1 : GROUND + 20] = parse("red_stained_glass")
    red = middle(renderer.view(Grid(blocks), south(y=GROUND + 2.5)))
    assert np.abs(through - plain).max() < 40
    assert red[0] > 1.4 * red[1]
    assert red[0] > 1.4 * red[2]
    assert renderer.depth[27, 48] == pytest.approx(9.5, abs=0.01)  # of the wall, not of the glass


def test_water_is_blue_and_deeper_water_hides_the_ground(renderer):
    def seen(depth):
        blocks = land()
        blocks[:, :, GROUND + 1 - depth : GROUND + 1] = parse("water")
        blocks[:, :, GROUND - depth] = parse("sand")
        return middle(renderer.view(Grid(blocks), south(pitch=60.0)))

    shallow, deep = seen(1), seen(14)
    assert deep[2] > deep[1] > deep[0]
    assert shallow[0] > deep[0] + 40  # red is what water takes first


def test_under_water_everything_far_turns_blue(renderer):
    blocks = land()
    blocks[:, :, GROUND + 1 : GROUND + 8] = parse("water")
    picture = renderer.view(Grid(blocks), south(y=GROUND + 5.0))
    red, _, blue = middle(picture)
    assert blue > red + 30


def test_leaves_have_holes_and_plants_stand_in_front_of_the_ground(renderer):
    blocks = land()
    blocks[:, 26, GROUND + 1 : GROUND + 20] = parse("oak_leaves")
    renderer.view(Grid(blocks), south())
    front = renderer.depth[10:40, 20:70] < 9
    assert 0.5 < front.mean() < 1
    blocks = land()
    blocks[32, 24, GROUND + 1] = parse("poppy")
    before = renderer.view(Grid(land()), south(pitch=20.0)).astype(int)
    after = renderer.view(Grid(blocks), south(pitch=20.0)).astype(int)
    assert 5 < (np.abs(after - before).sum(-1) > 40).sum() < 1200


def test_a_slab_is_half_as_high_as_a_block(renderer):
    blocks = land()
    blocks[32, 24, GROUND + 1] = parse("oak_slab[type=bottom]")
    renderer.view(Grid(blocks), Camera(32.5, GROUND + 8.0, 24.5, 0.0, 90.0, 70.0, SIZE))
    # The eye is at y = 28; the top of the slab at 21.5.
    assert renderer.depth[27, 48] == pytest.approx(6.5, abs=3e-3)


def test_corners_are_darker_than_open_ground(renderer):
    blocks = land()
    blocks[:, 25, GROUND + 1 : GROUND + 4] = parse("stone")
    camera = Camera(32.5, GROUND + 5.0, 24.0, 0.0, 90.0, 70.0, SIZE)
    # Compare with a world without a wall, so that the texture does not matter; up in the picture is south, where the wall is.
    with_wall, without = renderer.view(Grid(blocks), camera).astype(float), renderer.view(Grid(land()), camera).astype(float)
    at_wall = project(camera, np.array([32.5, GROUND + 1.0, 24.9]))[:2].astype(int)
    away = project(camera, np.array([32.5, GROUND + 1.0, 22.9]))[:2].astype(int)
    share = with_wall.sum(-1) / without.sum(-1)
    assert share[at_wall[1], at_wall[0]] < 0.85
    assert share[away[1], away[0]] == pytest.approx(1, abs=0.03)


def test_the_block_looked_at_has_dark_edges(renderer):
    blocks = land()
    blocks[32, 23, GROUND + 2] = parse("white_wool")
    grid = Grid(blocks)
    plain = renderer.view(grid, south()).astype(int)
    marked = renderer.view(grid, south(), selected=(32, GROUND + 2, 23)).astype(int)
    changed = (plain - marked).sum(-1)
    assert (changed > 100).sum() > 20
    assert (changed >= 0).all()
    assert changed[27, 48] == 0  # its middle stays


def test_the_outline_shows_what_is_in_reach_which_is_farther_in_creative_mode():
    world = World(7, "flat", inhabited=False)
    me = world.player
    me.yaw = me.pitch = 0.0
    x, y, z = math.floor(me.x), math.floor(me.eye_y), math.floor(me.z + 4.75)
    me.z = z - 4.75  # between 4.5 and 5 blocks
    frames = []
    for mode in ("survival", "creative", "survival"):
        world.player.game_mode = mode
        world.grid.set(x, y, z, parse("white_wool"))
        frames.append(Renderer((320, 180)).frame(world)[40:120, 100:200].astype(int))  # without hand and hearts
    assert (frames[0] == frames[2]).all()
    assert ((frames[0] - frames[1]).sum(-1) > 100).sum() > 20


def test_cracks_darken_the_block_more_and_more(renderer):
    blocks = land()
    blocks[32, 23, GROUND + 2] = parse("white_wool")
    means = [renderer.view(Grid(blocks), south(), crack=(32, GROUND + 2, 23, stage)).mean() for stage in (0, 4, 9)]
    assert renderer.view(Grid(blocks), south()).mean() > means[0] > means[1] > means[2]


def test_far_walls_fade_into_the_sky(renderer):
    blocks = land()
    blocks[:, 63, :] = parse("coal_block")
    near = renderer.view(Grid(blocks), Camera(32.5, 30.0, 58.5, 0.0, 0.0, 70.0, SIZE))
    far = renderer.view(Grid(blocks), Camera(32.5, 30.0, 17.0, 0.0, 0.0, 70.0, SIZE))
    assert middle(far).sum() > 2 * middle(near).sum()


def test_the_camera_may_stand_outside_of_the_world(renderer):
    for place in ((-5.0, 30.0, -5.0), (32.5, 90.0, 32.5), (32.5, -4.0, 32.5), (70.0, 10.0, 32.5)):
        picture = renderer.view(Grid(land()), Camera(*place, 30.0, 20.0, 70.0, SIZE))
        assert picture.shape == (54, 96, 3)


def test_every_direction_comes_to_an_end(renderer):
    grid = Grid(land())
    for yaw in range(0, 360, 15):
        for pitch in (-90, -45, 0, 0.5, 45, 90):
            renderer.view(grid, Camera(32.0, GROUND + 2.0, 32.0, yaw, pitch, 70.0, SIZE))  # on a corner of cells


def test_frame_takes_the_picture_from_the_players_eyes(renderer):
    player = Player(x=32.5, y=GROUND + 1.0, z=20.5, yaw=10.0, pitch=5.0)
    camera = renderer.camera(SimpleNamespace(player=player))
    assert (camera.y, camera.yaw, camera.pitch, camera.size) == (GROUND + 2.62, 10.0, 5.0, SIZE)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"size": (0, 10)}, r"size is \(width, height\), each from 1 to 4096 pixels, got \(0, 10\)"),
        ({"fov": 200.0}, "fov is 10 to 150 degrees from bottom to top, got 200"),
        ({"distance": 1.0}, "distance is 8 to 512 blocks, got 1"),
    ],
)
def test_settings_out_of_range_are_refused(settings, words):
    with pytest.raises(WorldError, match=words):
        Renderer(**settings)


@pytest.mark.parametrize("day", [0.0, 0.3, 1.0])
def test_gamma_raises_the_dark_as_the_game_does_and_leaves_the_light(day):
    """Minecraft 1.16 goes from each colour c of its light by gamma towards 1 - (1 - c)^4, and no further than to white."""
    plain = brightness(day).astype(float)
    assert np.array_equal(brightness(day, 0.0), brightness(day))
    for gamma in (0.5, 1.0, 2.0):
        for before, after in zip(plain.reshape(-1), brightness(day, gamma).reshape(-1), strict=True):
            game = min(1.0, before + gamma * ((1 - (1 - before) ** 4) - before))
            assert after == pytest.approx(before if before > 1 else game, abs=1e-6)
    assert brightness(0.0, 2.0)[0, 0] == pytest.approx(0.4339, abs=1e-4)  # from 0.07: 0.07 + 2 * (1 - 0.93^4 - 0.07)


def test_a_night_is_seen_at_the_gamma_of_minerl_with_mobs_and_hand():
    world = World(5, "flat", inhabited=False)
    world.time = 18_000
    x, y, z = world.spawn
    world.spawn_mob("pig", x + 0.5, float(y), z + 3.5, NoAI=1)
    world.step(Action())
    dark, light = (Renderer((160, 90), gamma=gamma).frame(world).astype(int) for gamma in (0.0, 2.0))
    for part in (np.s_[50:60, 20:60], np.s_[44:52, 76:84], np.s_[70:, 125:150]):  # grass, the pig, the hand
        assert light[part].mean() > 1.8 * dark[part].mean()
    assert np.array_equal(light[:20], dark[:20])  # the sky
