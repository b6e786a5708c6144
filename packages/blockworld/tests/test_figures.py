"""Mobs and other figures in the picture."""

from types import SimpleNamespace

import numpy as np
import pytest
from perspective import focal, project

from blockworld.errors import UnknownNameError
from blockworld.registry import entity_types
from blockworld.registry.blocks import state_of
from blockworld.registry.entity_types import KINDS
from blockworld.registry.facts import table
from blockworld.render import bodies, figures
from blockworld.render.camera import Camera
from blockworld.state import ENTITY, Player

MOBS = tuple(entity_types.MOBS)
SKY = (150, 190, 230)


@pytest.fixture
def world():
    size = (32, 32, 32)
    grid = SimpleNamespace(size=size, light=np.full((32, 32, 32), 0xF0, np.uint8), blocks=np.zeros((32, 32, 32), np.uint16))
    entities = np.zeros(64, ENTITY)
    entities["kind"], entities["on_ground"] = -1, True
    return SimpleNamespace(grid=grid, entities=entities, time=6000, weather="clear", players=[], seat=0, ticks=0)


def put(world, row, name, x=16.0, y=8.0, z=20.0, yaw=180.0, **fields):
    entity = world.entities[row]
    entity["kind"], entity["id"] = KINDS.index(name), row + 1
    entity["x"], entity["y"], entity["z"], entity["yaw"], entity["head_yaw"] = x, y, z, yaw, yaw
    for field, value in fields.items():
        entity[field] = value


def picture(world, camera=None, far=96.0):
    camera = camera or Camera(16.0, 9.0, 16.0, 0.0, 0.0, 70.0, (160, 90))
    width, height = camera.size
    frame, depth = np.full((height, width, 3), SKY, np.uint8), np.full((height, width), far, np.float32)
    figures.draw(world, camera, frame, depth)
    return frame, depth


def drawn(frame):
    return (frame != SKY).any(-1)


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_can_be_seen(world, name):
    small = name in entity_types.THINGS
    put(world, 0, name, y=8.8 if small else 8.0, z=17.5 if small else 20.0, item=1, variant=1)
    frame, depth = picture(world)
    assert drawn(frame).sum() > 20
    assert (drawn(frame) == (depth < 96)).all()


def test_all_variants_of_all_mobs_look_different():
    for name in ("sheep", "villager", "rabbit", "cat", "horse"):
        number = bodies.num_variants(name)
        looks = {b"".join(face.tobytes() for part in bodies.body(name, v).parts for face in part.faces) for v in range(number)}
        assert len(looks) == number, name


def test_every_mob_of_the_world_has_a_body_in_all_its_looks():
    bodies_of_all = {row["name"] for row in table("bodies")}
    assert bodies_of_all == {*entity_types.MOBS, "arrow", "player", "arm", "portrait"}
    variants = {"sheep": 16, "villager": 15, "rabbit": 6, "cat": 11, "horse": 7, "player": 6}
    for name in bodies_of_all:
        assert bodies.num_variants(name) == variants.get(name, 1)
        for variant in range(variants.get(name, 1)):
            for mark in (bodies.PLAIN, bodies.MARKED, bodies.CROSS):
                assert bodies.body(name, variant, mark).parts


def test_an_unknown_body_gets_the_nearest_name():
    with pytest.raises(UnknownNameError, match="unknown body 'shep'; did you mean 'sheep'"):
        bodies.body("shep")


def test_tame_wolves_wear_a_collar_and_angry_ones_have_red_eyes(world):
    def redness(flags):
        put(world, 0, "wolf", z=17.5, flags=flags)
        frame = picture(world, Camera(16.0, 8.8, 16.0, 0.0, 10.0, 70.0, (160, 90)))[0].astype(int)
        return int(((frame[..., 0] - frame[..., 2] > 60) & drawn(frame)).sum())

    assert redness(0) == 0
    assert redness(entity_types.TAMED) > 5
    assert redness(entity_types.ANGRY) > 5


def test_a_creeper_about_to_burst_swells_and_flashes(world):
    put(world, 0, "creeper")
    still = picture(world)[0]
    put(world, 0, "creeper", goal_ticks=-28)
    swollen = picture(world)[0]
    assert drawn(swollen).sum() > 1.2 * drawn(still).sum()
    put(world, 0, "creeper", goal_ticks=-26)
    assert (picture(world)[0] != swollen).any()


def test_a_mob_ahead_is_in_the_middle_and_its_depth_is_the_distance_to_its_face(world):
    # An iron golem's chest reaches 5/16 or 6/16 of a block from its middle, which is 4 blocks away
    put(world, 0, "iron_golem", z=20.0)
    frame, depth = picture(world, Camera(16.0, 9.6, 16.0, 0.0, 0.0, 70.0, (161, 91)))
    assert abs(float(depth[45, 80]) - (4 - 6 / 16)) < 0.01
    columns = np.flatnonzero(drawn(frame).any(0))
    assert abs(columns.mean() - 80) < 2


def test_the_projection_is_the_cameras(world):
    camera = Camera(10.0, 11.0, 12.0, -35.0, 12.0, 70.0, (320, 180))
    put(world, 0, "snowball", x=14.0, y=10.0, z=18.0)
    frame, depth = picture(world, camera)
    rows, columns = np.nonzero(drawn(frame))
    column, row, ahead = project(camera, np.array([14.0, 10.0 + 2.5 / 16, 18.0]))
    assert abs(columns.mean() + 0.5 - column) < 2
    assert abs(rows.mean() + 0.5 - row) < 3
    across = ((column - 160) ** 2 + (row - 90) ** 2) / focal(camera) ** 2
    assert abs(depth[drawn(frame)].mean() - ahead * np.sqrt(1 + across)) < 0.1


def test_a_wall_in_front_hides_a_mob(world):
    put(world, 0, "cow")
    frame, depth = picture(world, far=2.0)
    assert not drawn(frame).any()
    assert (depth == 2.0).all()


def test_the_near_one_of_two_is_seen_whatever_their_order(world):
    put(world, 0, "creeper", z=19.0)
    put(world, 1, "enderman", z=21.0)
    one = picture(world)[0]
    put(world, 0, "enderman", z=21.0)
    put(world, 1, "creeper", z=19.0)
    assert (picture(world)[0] == one).all()


def test_nothing_is_drawn_behind_the_camera_or_beyond_64_blocks(world):
    put(world, 0, "cow", z=12.0)
    put(world, 1, "cow", z=16.0 + 65)
    assert not drawn(picture(world)[0]).any()


def test_a_mob_around_the_camera_does_not_break_the_picture(world):
    put(world, 0, "slime", z=16.0, y=8.5, variant=4)
    frame, _ = picture(world)
    assert frame.shape == (90, 160, 3)


def test_a_mob_beside_the_camera_is_not_in_the_picture(world):
    # Parts of it lie before and behind the plane of the picture
    camera = Camera(16.0, 9.0, 16.0, 0.0, 0.0, 70.0, (640, 360))
    put(world, 0, "cow", x=22.0, z=16.0, yaw=0.0)
    assert len(figures.poses(world, camera)) == 1
    assert not drawn(picture(world, camera)[0]).any()


def test_the_side_of_a_mob_that_touches_the_camera_fills_the_picture(world):
    put(world, 0, "iron_golem", x=16.0, z=16.42, yaw=180.0)  # its chest is 18 pixels wide and begins 0.05 blocks ahead
    frame, depth = picture(world, Camera(16.0, 9.7, 16.0, 0.0, 0.0, 70.0, (160, 90)))
    assert drawn(frame).all()
    assert float(depth.min()) == pytest.approx(0.42 - 6 / 16, abs=0.002)


def test_a_face_looks_where_its_head_turns(world):
    put(world, 0, "creeper", z=18.5)
    front = picture(world)[0]
    put(world, 0, "creeper", z=18.5, yaw=0.0)
    back = picture(world)[0]
    black = [(frame.astype(int).sum(-1) < 110).sum() for frame in (front, back)]
    assert black[0] > black[1] + 10  # eyes and mouth are on the front only


def test_heads_turn_at_most_75_degrees_from_the_body(world):
    put(world, 0, "cow", yaw=0.0)
    world.entities[0]["head_yaw"] = 170.0
    pose = figures.poses(world, Camera(16.0, 9.0, 10.0))[0]
    assert np.degrees(pose[figures.HEAD_YAW]) == pytest.approx(75)
    world.entities[0]["yaw"], world.entities[0]["head_yaw"] = 179.0, -179.0  # two degrees apart, across the seam
    pose = figures.poses(world, Camera(16.0, 9.0, 10.0))[0]
    assert np.degrees(pose[figures.HEAD_YAW]) == pytest.approx(2)


def test_legs_swing_while_walking_and_hang_while_standing(world):
    looks = []
    for walked, speed in ((0.0, 0.0), (0.3, 0.0), (0.3, 0.1)):
        put(world, 0, "pig", yaw=90.0, walked=walked, vx=speed)
        looks.append(picture(world)[0])
    assert (looks[0] == looks[1]).all()
    assert (looks[1] != looks[2]).any()


def test_young_animals_are_half_as_high(world):
    heights = []
    for age in (0, -100):
        put(world, 0, "cow", z=22.0, yaw=90.0, age=age)
        heights.append(drawn(picture(world)[0]).any(1).sum())
    assert 0.45 < heights[1] / heights[0] < 0.68  # their heads are larger for their size


def test_hurt_mobs_turn_red(world):
    put(world, 0, "sheep")
    frame = picture(world)[0]
    put(world, 0, "sheep", hurt=5)
    hurt = picture(world)[0]
    here = drawn(frame)
    redness = [float((f[here][:, 0].astype(int) - f[here][:, 2]).mean()) for f in (frame, hurt)]
    assert redness[1] > redness[0] + 60


def test_a_shorn_sheep_is_thinner(world):
    put(world, 0, "sheep")
    woolly = drawn(picture(world)[0]).sum()
    put(world, 0, "sheep", flags=entity_types.SHEARED)
    assert drawn(picture(world)[0]).sum() < 0.9 * woolly


def test_mobs_are_dark_at_night_but_not_by_a_torch(world):
    means = []
    for hour, light in ((6000, 0xF0), (18000, 0xF0), (18000, 0xFE)):
        world.time = hour
        world.grid.light[...] = light
        put(world, 0, "sheep")
        frame = picture(world)[0]
        means.append(frame[drawn(frame)].mean())
    assert means[1] < 0.45 * means[0]
    assert means[2] > 2 * means[1]


def test_a_mob_under_water_is_bluer(world):
    put(world, 0, "sheep")
    frame = picture(world)[0]
    world.grid.blocks[...] = state_of("water")
    wet = picture(world)[0]
    here = drawn(frame)
    assert wet[here][:, 0].mean() < 0.6 * frame[here][:, 0].mean() < frame[here][:, 2].mean()


def test_items_bob_and_spin_with_their_age(world):
    looks = set()
    for age in (0, 10, 20):
        put(world, 0, "item", z=18.0, y=8.8, item=1, age=age)
        looks.add(picture(world)[0].tobytes())
    assert len(looks) == 3


def test_the_same_world_gives_the_same_picture(world):
    for row, name in enumerate(MOBS):
        put(world, row, name, x=10.0 + row % 6 * 2, z=19.0 + row // 6 * 3, walked=row * 0.3, vx=0.05, variant=2)
    assert picture(world)[0].tobytes() == picture(world)[0].tobytes()


def test_how_figures_stand_changes_neither_with_the_hour_nor_with_the_age_of_things(world):
    put(world, 0, "cow", age=10)
    put(world, 1, "item", x=14.0, item=1, age=3)
    put(world, 2, "xp_orb", x=18.0, age=3)
    eye = (16.0, 9.0, 16.0)
    ids, rows = figures.standing(world, eye)
    assert (ids.dtype, ids.tolist(), rows.dtype, rows.shape) == (np.uint32, [1, 2, 3], np.float32, (3, figures.ROW))
    before = picture(world)[0]
    world.time, world.ticks = 18000, 7
    world.entities["age"][1:3] += 7
    assert (figures.standing(world, eye)[1][1:] == rows[1:]).all()
    assert (picture(world)[0] != before).any()
    world.grid.light[...] = 0x35
    assert figures.standing(world, eye)[1][:, figures.LIGHT].tolist() == [0x35, 0x35, -1.0]  # orbs shine


def test_what_stands_behind_is_among_what_stands_and_what_is_far_is_not(world):
    put(world, 0, "cow", z=10.0)
    put(world, 1, "cow", z=16.0 + 65)
    assert figures.standing(world, (16.0, 9.0, 16.0))[0].tolist() == [1]


def test_players_have_ids_of_their_own(world):
    world.players = [Player(), Player(x=16.0, y=8.0, z=19.0), Player(x=15.0, y=8.0, z=19.0, dead=True)]
    put(world, 0, "cow")
    ids, _ = figures.standing(world, (16.0, 9.0, 16.0))
    assert ids.tolist() == [1, figures.FIRST_PLAYER + 1]


def test_definitions_are_what_the_kernel_draws():
    wardrobe = figures.WARDROBE
    models = [wardrobe.mob("slime"), wardrobe.item("stick", 8.0), wardrobe.mob("cow", 1)]
    document, arrays = wardrobe.definitions(models)
    assert [one["model"] for one in document] == models
    parts, faces, skin = arrays["model_parts"], arrays["model_faces"], arrays["model_skin"]
    assert (parts.dtype, faces.dtype, skin.dtype) == (np.float32, np.int32, np.uint8)
    part = texel = 0
    for one in document:
        first, number = wardrobe.models[one["model"]]
        assert one["parts"] == number
        for row in range(number):
            assert (parts[part + row] == wardrobe.parts[first + row].astype(np.float32)).all()
            for mine, theirs in zip(faces[part + row], wardrobe.faces[first + row], strict=True):
                count = theirs[1] * theirs[2]
                at = texel + mine[0]
                assert (skin[at : at + count] == wardrobe.skin[theirs[0] : theirs[0] + count]).all()
        part, texel = part + number, texel + one["texels"]
    assert (part, texel) == (len(parts), len(skin))


def test_a_model_that_does_not_exist_has_no_definition():
    with pytest.raises(IndexError, match=r"models are numbered 0 to \d+, got 100000"):
        figures.WARDROBE.definitions([100_000])
