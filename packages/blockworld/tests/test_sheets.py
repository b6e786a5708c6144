"""The files of pictures: all that can be asked for is in them, nothing else, and a damaged one says so."""

import zlib

import av
import numpy as np
import pytest

from blockworld.errors import UnknownNameError, WorldError
from blockworld.registry import facts
from blockworld.registry.blocks import BY_NAME
from blockworld.render import icons, models, pieces, sheets, textures
from blockworld.slots import panels


def as_png(pixels, **options):
    """Pixels as FFmpeg writes them, an encoder that is not ours."""
    encoder = av.CodecContext.create("png", "w")
    encoder.width, encoder.height, encoder.pix_fmt, encoder.options = *pixels.shape[1::-1], "rgba", options
    frame = av.VideoFrame.from_ndarray(pixels, format="rgba")
    return b"".join(bytes(packet) for packet in [*encoder.encode(frame), *encoder.encode(None)])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of pictures in place of the package's."""
    (tmp_path / "data").mkdir()
    monkeypatch.setattr(sheets.resources, "files", lambda _: tmp_path)
    for cached in (sheets.picture, sheets.tiles, facts.table):
        cached.cache_clear()
    yield tmp_path / "data"
    for cached in (sheets.picture, sheets.tiles, facts.table):
        cached.cache_clear()


def picture(name):
    index = textures.texture(name)
    return textures.atlas()[index]


def test_every_texture_that_can_be_asked_for_is_there_and_no_other(monkeypatch):
    asked = {f"crack_{stage}" for stage in range(10)} | set(icons._TEXTURES.values())

    def texture(name):
        asked.add(name.partition("@")[0])
        return textures.texture(name)

    monkeypatch.setattr(models, "texture", texture)
    models.models.__wrapped__()  # every state of every block
    assert asked == set(sheets.tiles("textures"))


def test_every_other_picture_that_can_be_asked_for_is_there_and_no_other():
    drawn = {name for name in icons.NAMES if not (icons.is_cube(name) or icons.is_boxes(name) or name in BY_NAME)}
    assert drawn <= set(sheets.tiles("icons")) <= {*icons.NAMES, "xp_orb"}
    filled = [f"mark:{share}{name}" for name in ("heart", "food", "armour") for share in ("", "half ", "no ")]
    alone = {"hotbar", "chosen", "pointer", "offer", "no offer", "mark:bubble", "mark:pop", "flame", "arrow"}
    assert set(sheets.pieces("display")) == {*filled, *alone, *(f"panel:{kind}" for kind in panels.KINDS)}
    for kind in panels.KINDS:
        assert pieces.sprite(f"panel:{kind}")[0].shape == (panels.panel(kind).height, panels.panel(kind).width, 4)


def test_an_unknown_texture_gets_the_nearest_name():
    with pytest.raises(UnknownNameError, match="unknown texture 'oak_plank'; did you mean 'oak_planks'"):
        textures.texture("oak_plank")


def test_four_quarter_turns_give_the_texture_back():
    plain = picture("furnace_front")
    assert np.array_equal(picture("furnace_front@90"), np.rot90(plain, -1))
    assert np.array_equal(picture("furnace_front@180"), plain[::-1, ::-1])
    assert np.array_equal(np.rot90(picture("furnace_front@270"), -1), plain)
    assert np.array_equal(picture("furnace_front@flip"), plain[:, ::-1])


def test_indices_stay_when_more_textures_are_asked_for():
    index, before = textures.texture("stone"), picture("stone").copy()
    textures.texture("crack_7@90")
    assert textures.texture("stone") == index
    assert np.array_equal(textures.atlas()[index], before)


def test_what_is_cut_from_a_block_looks_like_it():
    assert textures.material("cobblestone_stairs") == "cobblestone"
    assert textures.material("petrified_oak_slab") == "petrified_oak_planks"
    assert textures.material("warped_wall_sign") == "warped_planks"
    assert textures.material("brick_wall") == "bricks"


@pytest.mark.parametrize("filter_", ["none", "sub", "up", "avg", "paeth", "mixed"])
def test_a_picture_of_another_program_is_read_to_the_bit(folder, filter_):
    pixels = np.random.default_rng(1).integers(0, 256, (37, 23, 4), np.uint8)
    (folder / "drawn.png").write_bytes(as_png(pixels, pred=filter_))
    assert np.array_equal(sheets.picture("drawn"), pixels)


def damaged(data):
    return data[:60] + bytes([data[60] ^ 1]) + data[61:]


def in_palette(data):
    return data[:25] + b"\x03" + data[26:29] + zlib.crc32(data[12:25] + b"\x03" + data[26:29]).to_bytes(4) + data[33:]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (damaged, "its bytes are damaged"),
        (lambda data: data[:70], "its bytes are damaged"),
        (lambda data: data[:33], "Error -5"),
        (in_palette, "its pixels are not stored as 8-bit RGBA"),
        (lambda _: b"GIF89a", "it is no PNG"),
        (lambda _: None, "No such file"),
    ],
)
def test_a_damaged_or_missing_picture_says_what_to_do(folder, change, text):
    if data := change(as_png(np.zeros((16, 16, 4), np.uint8))):
        (folder / "drawn.png").write_bytes(data)
    with pytest.raises(WorldError, match=rf"(?s)drawn\.png cannot be read: .*{text}.*8-bit RGBA.*install the package again"):
        sheets.picture("drawn")


def test_a_state_without_boxes_says_so(monkeypatch):
    row = {"turned": "", "by": ["facing", "lit"], "boxes": {"north,true": []}}
    monkeypatch.setattr(models, "_row", lambda _: (row, ""))
    with pytest.raises(
        WorldError, match=r"models\.json has no boxes of lamp for 'north,false'; give all values of facing, lit"
    ):
        models._look("lamp", {"facing": "north", "lit": "false"}, 0)


def test_a_list_of_names_that_does_not_fit_its_picture_says_so(folder):
    (folder / "drawn.png").write_bytes(as_png(np.zeros((16, 32, 4), np.uint8)))
    (folder / "drawn.json").write_text('[["one", "two", "three"]]')
    with pytest.raises(WorldError, match=r"drawn\.png is 32 x 16 pixels, but the names in drawn\.json need 48 x 16"):
        sheets.tiles("drawn")
    (folder / "drawn.json").write_text('[{"name": "one", "box": [0, 0, 33, 16]}]')
    facts.table.cache_clear()
    with pytest.raises(
        WorldError, match=r"drawn\.json has 'one' at \[0, 0, 33, 16\] \(x, y, width, height\), beyond the 32 x 16"
    ):
        sheets.pieces("drawn")
    (folder / "torn.json").write_text("[[")
    with pytest.raises(WorldError, match=r"(?s)table .*torn\.json cannot be read: .*install the package again"):
        facts.table("torn")
