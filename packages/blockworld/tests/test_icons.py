"""Every item has a picture of its own."""

import numpy as np
import pytest

from blockworld.errors import UnknownNameError
from blockworld.render import icons


def test_all_975_items_have_an_icon_and_no_two_are_alike():
    seen: dict[bytes, str] = {}
    for name in icons.NAMES:
        picture = icons.icon(name)
        assert (picture.shape, picture.dtype) == ((16, 16, 4), np.uint8), name
        assert (picture[..., 3] > 0).sum() >= 8, f"{name} is nearly empty"
        assert picture.tobytes() not in seen, f"{name} looks like {seen[picture.tobytes()]}"
        seen[picture.tobytes()] = name
    assert len(seen) == 975  # items of Minecraft 1.16.2


def test_blocks_get_finer_icons_at_twice_the_scale_and_things_the_same_ones_enlarged():
    assert icons.icon("stone", 2).shape == (32, 32, 4)
    enlarged = np.repeat(np.repeat(icons.icon("apple"), 2, 0), 2, 1)
    assert (icons.icon("apple", 2) == enlarged).all()
    assert (icons.icon("stone", 2) != np.repeat(np.repeat(icons.icon("stone"), 2, 0), 2, 1)).any()


def test_a_cube_is_lit_from_above_and_more_on_its_left_side():
    picture = icons.icon("white_concrete").astype(int)
    top, left, right = picture[3, 8, :3].sum(), picture[10, 4, :3].sum(), picture[10, 11, :3].sum()
    assert top > left > right


def test_the_fire_of_a_lit_look_is_on_the_front_of_a_furnace_which_faces_the_left_of_the_icon():
    picture = icons.icon("furnace").astype(int).sum(-1)
    # The mouth is dark: somewhere on the front it is darker than anything on the plain side
    assert picture[6:14, 1:8][picture[6:14, 1:8] > 0].min() < picture[6:14, 9:15][picture[6:14, 9:15] > 0].min()


def test_an_unknown_item_gets_the_nearest_name():
    with pytest.raises(UnknownNameError, match="unknown item 'iron_pikaxe'; did you mean 'iron_pickaxe'"):
        icons.icon("iron_pikaxe")


def test_icons_cannot_be_changed_by_who_asked_for_them():
    with pytest.raises(ValueError, match="read-only"):
        icons.icon("apple")[0, 0] = 1


def test_stairs_are_boxes_stone_is_a_cube_and_a_torch_is_flat():
    assert icons.is_boxes("oak_stairs")
    assert not icons.is_cube("oak_stairs")
    assert icons.is_cube("stone")
    assert not icons.is_boxes("stone")
    assert not icons.is_cube("torch")
    assert not icons.is_boxes("torch")
    assert len(icons.boxes("oak_stairs")) == 2
