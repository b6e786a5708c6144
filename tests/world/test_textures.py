"""Textures: one for every block, each its own, the same in every process."""

import hashlib

import numpy as np
import pytest
from warm_process import output_of

from interplay.world.registry.blocks import BLOCKS
from interplay.world.render.textures import DYES, WOODS, atlas, material, texture


def picture(name):
    index = texture(name)
    return atlas()[index]


def test_every_block_has_a_texture_of_sixteen_by_sixteen_pixels():
    indices = [texture(block.name) for block in BLOCKS]
    assert len(indices) == 763
    assert atlas().dtype == np.uint8
    assert atlas().shape[1:] == (16, 16, 4)
    assert max(indices) < len(atlas())


@pytest.mark.parametrize(
    "kind", ["wool", "concrete", "concrete_powder", "terracotta", "glazed_terracotta", "stained_glass", "shulker_box"]
)
def test_the_sixteen_dyes_of_a_family_differ_visibly(kind):
    means = np.array([picture(f"{dye}_{kind}")[..., :3].reshape(-1, 3).mean(0) for dye in DYES])
    apart = np.abs(means[:, None] - means[None]).sum(-1) + np.eye(16) * 999
    assert apart.min() > 8  # levels of 255, summed over three colours


@pytest.mark.parametrize("kind", ["planks", "leaves", "door_top", "trapdoor"])
def test_the_woods_of_a_family_differ_visibly(kind):
    woods = [wood for wood in WOODS if wood != "petrified_oak" and not (kind == "leaves" and wood in ("crimson", "warped"))]
    means = np.array([picture(f"{wood}_{kind}")[..., :3].reshape(-1, 3).mean(0) for wood in woods])
    apart = np.abs(means[:, None] - means[None]).sum(-1) + np.eye(len(woods)) * 999
    assert apart.min() > 8


def test_grass_is_green_but_not_neon():
    red, green, blue = picture("grass_block_top")[..., :3].reshape(-1, 3).mean(0)
    assert green > red > blue
    assert (max(red, green, blue) - min(red, green, blue)) / max(red, green, blue) < 0.6  # saturation


def test_what_has_holes_has_holes_and_stone_has_none():
    for name in ("oak_leaves", "glass", "poppy", "ladder", "rail", "oak_sapling", "cobweb"):
        assert (picture(name)[..., 3] == 0).any(), name
    for name in ("stone", "oak_planks", "dirt", "bricks", "oak_log", "furnace_front"):
        assert (picture(name)[..., 3] == 255).all(), name


def test_stained_glass_lets_light_through():
    alpha = picture("red_stained_glass")[..., 3]
    assert alpha.min() > 0
    assert alpha[8, 8] < 255


def test_four_quarter_turns_give_the_texture_back():
    plain = picture("furnace_front")
    assert np.array_equal(picture("furnace_front@90"), np.rot90(plain, -1))
    assert np.array_equal(picture("furnace_front@180"), plain[::-1, ::-1])
    assert np.array_equal(np.rot90(picture("furnace_front@270"), -1), plain)
    assert np.array_equal(picture("furnace_front@flip"), plain[:, ::-1])


def test_indices_stay_when_more_textures_are_painted():
    index, before = texture("stone"), picture("stone").copy()
    texture("crack_7@90")
    assert texture("stone") == index
    assert np.array_equal(atlas()[index], before)


def test_what_is_cut_from_a_block_looks_like_it():
    assert material("cobblestone_stairs") == "cobblestone"
    assert material("petrified_oak_slab") == "petrified_oak_planks"
    assert material("warped_wall_sign") == "warped_planks"
    assert np.array_equal(picture("brick_wall"), picture("bricks"))


def test_cracks_grow_from_stage_to_stage():
    dark = [int((picture(f"crack_{stage}")[..., 3] > 0).sum()) for stage in range(10)]
    assert dark == sorted(dark)
    assert dark[0] < dark[4] < dark[9]


def test_another_process_asking_in_another_order_paints_the_same():
    names = ["oak_planks", "mossy_cobblestone", "blue_glazed_terracotta", "infested_stone", "wheat_7", "podzol_side"]

    def digest(order):
        return {name: hashlib.sha256(picture(name).tobytes()).hexdigest()[:12] for name in order}

    code = (
        "import hashlib\nfrom interplay.world.render.textures import atlas, texture\n"
        f"for name in {names[::-1]!r}:\n i = texture(name)\n digest = hashlib.sha256(atlas()[i].tobytes()).hexdigest()[:12]\n"
        " print(name, digest)\n"
    )
    assert dict(line.split() for line in output_of(["-c", code]).splitlines()) == digest(names)


def test_unknown_names_get_speckles_of_their_own():
    assert not np.array_equal(picture("no_such_block"), picture("no_other_block"))
