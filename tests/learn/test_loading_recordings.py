"""Recordings of people: actions and frames equal those of the loaders of BEDD and MineRL, and what is broken is said."""

import json
import shutil
from itertools import zip_longest
from pathlib import Path

import av
import numpy as np
import pytest
import xxhash
from av.bitstream import BitStreamFilterContext

from interplay.envs.minerl_actions import KEYS
from interplay.learn.recordings.labels import KEYBOARD, labels_of
from interplay.learn.recordings.loader import Loader
from interplay.learn.recordings.names import RecordingsError

DATA = Path(__file__).parent / "data" / "recordings"
GOLDEN = json.loads((DATA / "golden.json").read_text())
"""Made by tools/recording_goldens.py: recording -> what BEDD's loader and MineRL's converter give."""


def loaded(*names, **options):
    """Steps of a recording as the golden ones are written, and the loader."""
    loader = Loader([DATA / f"{name}.jsonl" for name in names], **options)
    steps = []
    for part in loader:
        assert part.first == len(steps)
        for frame, keys, camera, is_null in zip(*part[1:], strict=True):
            pressed = sorted(np.array(KEYS)[keys.astype(bool)].tolist())
            steps.append([pressed, camera.tolist(), int(is_null), xxhash.xxh3_64_hexdigest(np.ascontiguousarray(frame))])
    return steps, loader


def test_loading_as_bedd_gives_its_actions_and_the_bytes_of_its_frames():
    for name in GOLDEN:
        steps, _ = loaded(name, labels="bedd", chunk=7)
        for number, (ours, theirs) in enumerate(zip_longest(steps, GOLDEN[name]["bedd"])):
            assert ours == theirs, f"step {number}"


def test_labels_are_those_of_minerls_converter_where_it_has_any():
    for name in [name for name in GOLDEN if name not in ("stuck", "bad-json", "empty-line", "last-newline")]:
        lines = [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text().splitlines()]
        ours = [label.action() for label in labels_of(lines, "minerl")]
        for number, (label, theirs) in enumerate(zip(ours, GOLDEN[name]["minerl"], strict=True)):
            if theirs is None:  # it fails where a line has no angles or slot
                continue
            pressed, (pitch, yaw) = theirs
            assert sorted(key for key in KEYS if label[key]) == pressed, number
            if abs(yaw) > 180 and not lines[number]["isGuiOpen"]:  # the short way around
                yaw = (yaw + 180) % 360 - 180
            assert label["camera"] == pytest.approx([pitch, yaw], abs=1e-12), number


def test_every_key_that_minerl_knows_and_a_person_can_press_has_a_place():
    assert {*KEYBOARD.values(), "attack", "use", "pickItem"} == set(KEYS)


def test_attack_that_is_stuck_from_the_start_is_left_out_until_it_is_pressed():
    steps, _ = loaded("stuck")
    assert ["attack" in pressed for pressed, *_ in steps] == [False] * 6 + [True] * 2


def test_the_camera_is_the_mouses_where_a_line_has_no_angles():
    steps, _ = loaded("without-angles")
    turns = [[-0.15, 0.15], [1.05, -1.05], [-3.0, 3.0]]
    assert np.array([camera for _, camera, *_ in steps]) == pytest.approx(np.array(turns))
    assert [camera for _, camera, *_ in loaded("without-angles", labels="bedd")[0]] == [[0, 0], [1, -1], [-3, 3]]


def test_no_frame_is_left_out_and_what_a_line_does_not_say_is_nothing():
    for name, num_steps in (("cursor", 19), ("null-mouse", 6), ("null-keyboard", 4), ("without-hotbar", 3), ("escape", 5)):
        assert len(loaded(name)[0]) == num_steps
    steps, loader = loaded("bad-json")
    assert [pressed for pressed, *_ in steps] == [["forward"], ["forward"], ["forward"], [], ["forward"]]
    assert loader.remarks == ["lines that are not JSON objects: 1; they count as steps without keys"]
    assert loaded("bad-json", labels="bedd")[1].remarks == ["bad-json.jsonl: all of it, because a line is not JSON"]


def test_the_cursor_is_drawn_as_far_as_it_is_inside():
    (steps,) = Loader([DATA / "cursor.jsonl"], is_small=False)
    (plain,) = Loader([DATA / "cursor.jsonl"], is_small=False, labels="minerl", chunk=19)
    assert steps.frames.shape == (19, 360, 640, 3)
    assert np.array_equal(steps.frames, plain.frames)
    tip = steps.frames[1, 319 * 360 // 640 : 195, 319:335]  # at (639, 359) of 720 rows
    assert (steps.frames[1, 179:194, 319] == 0).all(), "the arrow's left edge is black"
    assert (tip == 255).all(axis=-1).any(), "and white inside"


def test_parts_of_an_episode_are_read_as_one():
    steps, _ = loaded("wheel", "escape")
    alone = loaded("wheel")[0] + loaded("escape")[0]
    assert len(steps) == len(alone) == 15
    assert steps[9][0] == ["hotbar.1"], "the next part begins with another slot"
    assert alone[9][0] == []
    assert steps[10:] == alone[10:]


def test_a_video_of_another_length_than_its_lines_is_an_error_unless_it_is_cut(tmp_path):
    with pytest.raises(RecordingsError, match=r"short-video.jsonl has 6 lines, and its video 4 frames\n.*--cut"):
        loaded("short-video")
    with pytest.raises(RecordingsError, match="6 lines, and its video 8 frames"):
        loaded("long-video")
    assert [len(loaded(name, cut=True)[0]) for name in ("short-video", "long-video")] == [4, 6]
    lines = (DATA / "short-video.jsonl").read_text().splitlines()
    shutil.copy(DATA / "short-video.mp4", tmp_path / "a.mp4")
    for num_lines, num_steps in ((5, 4), (3, 3)):  # a line that the recorder had begun, and the last picture
        (tmp_path / "a.jsonl").write_text("\n".join(lines[:num_lines]))
        loader = Loader([tmp_path / "a.jsonl"])
        assert sum(map(len, loader)) == num_steps
        assert (loader.last is not None) == (num_lines == 3)


@pytest.mark.parametrize(("size", "said"), [(None, "has no video"), (0, "damaged or cut off"), (2_000, "damaged or cut off")])
def test_a_video_that_is_missing_or_cut_off_says_which_and_what_to_do(tmp_path, size, said):
    shutil.copy(DATA / "wheel.jsonl", tmp_path)
    if size is not None:
        (tmp_path / "wheel.mp4").write_bytes((DATA / "wheel.mp4").read_bytes()[:size])
    for way in ("minerl", "bedd"):
        with pytest.raises(RecordingsError, match=f"{said}[\\s\\S]*wheel.mp4|wheel.mp4 is {said}[\\s\\S]*interplay demos get"):
            list(Loader([tmp_path / "wheel.jsonl"], labels=way))


def test_numbers_that_are_none_turn_nothing_and_press_nothing(tmp_path):
    lines = [json.loads(line) for line in (DATA / "wheel.jsonl").read_text().splitlines()]
    lines[0]["yaw"], lines[1]["yaw"], lines[2]["yaw"] = -1.7e308, 1.7e308, 10**400
    lines[2]["mouse"]["dx"] = lines[3]["mouse"]["dx"] = 10**400
    for label in labels_of(lines, "minerl"):
        assert (label.pitch, label.yaw) == (0.0, 0.0)
    slots = list(labels_of([line | {"hotbar": slot} for line, slot in zip(lines[4:6], (3.0, 2), strict=True)], "bedd"))
    assert [sorted(label.pressed) for label in slots] == [[], [KEYS.index("hotbar.3")]], (
        "BEDD's presses hotbar.4.0, which is no key"
    )
    lines[4] |= {"isGuiOpen": True, "mouse": lines[4]["mouse"] | {"x": None}}
    shutil.copy(DATA / "wheel.mp4", tmp_path)
    (tmp_path / "wheel.jsonl").write_text("\n".join(json.dumps(line) for line in [*lines[4:0:-4], *lines[5:]]))
    loader = Loader([tmp_path / "wheel.jsonl"], labels="bedd")
    assert list(loader) == []
    assert loader.remarks[0].startswith("wheel.jsonl: lines from 1 on, because BEDD's loader cannot read it")


@pytest.mark.parametrize(
    ("change", "num_steps"),
    [
        (lambda lines: b"\xef\xbb\xbf" + b"\n".join(lines), 0),
        (lambda lines: b"\n".join([*lines[:3], b"123", *lines[4:]]), 3),
        (lambda lines: b"\n".join([*lines[:3], json.dumps(_turned(lines[3], 1e30)).encode(), *lines[4:]]), 3),
        (lambda lines: b"\r".join(lines), 10),
        (lambda lines: b"\n".join([b",".join(lines[:2]), *lines[2:]]), 10),
        (lambda lines: b"\n".join([b" ".join(lines[:2]), *lines[2:]]), 0),
        (lambda lines: b"\n\n".join(lines), 0),
    ],
)
def test_odd_files_are_read_as_far_as_bedds_loader_reads_them(tmp_path, change, num_steps):
    """BEDD's loader joins the lines of the text with commas, reads all at once, and keeps the camera in an array of int64."""
    shutil.copy(DATA / "wheel.mp4", tmp_path)
    (tmp_path / "wheel.jsonl").write_bytes(change((DATA / "wheel.jsonl").read_bytes().splitlines()))
    assert sum(map(len, Loader([tmp_path / "wheel.jsonl"], labels="bedd"))) == num_steps


def _turned(line: bytes, dx: float) -> dict:
    said = json.loads(line)
    return said | {"mouse": said["mouse"] | {"dx": dx}}


def test_unknown_labels_are_refused():
    with pytest.raises(ValueError, match="minerl or bedd, got 'vpt'"):
        Loader([], labels="vpt")


@pytest.mark.parametrize("is_small", [True, False])
def test_a_video_of_a_colour_space_that_nothing_converts_is_named(tmp_path, is_small):
    shutil.copy(DATA / "wheel.jsonl", tmp_path)
    with av.open(str(DATA / "wheel.mp4")) as old, av.open(str(tmp_path / "wheel.mp4"), "w") as new:
        stream = new.add_stream_from_template(old.streams.video[0])
        to_ycgco = BitStreamFilterContext("h264_metadata=matrix_coefficients=8", old.streams.video[0], stream)
        for packet in old.demux(video=0):
            for out in to_ycgco.filter(packet if packet.size else None):
                out.stream = stream
                new.mux(out)
    with pytest.raises(RecordingsError, match=r"wheel\.mp4 says that its colour space is 8; .*\nCorrect this in a copy"):
        next(iter(Loader([tmp_path / "wheel.jsonl"], is_small=is_small)))
