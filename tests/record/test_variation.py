"""A judged video has other bytes than the public one, and plays the same pictures."""

import hashlib
import sys
from pathlib import Path

import pytest

from interplay.record.films.mp4 import probe
from interplay.record.films.variation import stated_length_s, vary

sys.path.insert(0, str(Path(__file__).parents[1] / "judge"))
from video_files import pictures, write_video


def served(path: Path, secret: bytes) -> bytes:
    shown = vary(path, secret)
    content = b"".join(shown.read(path, 0, shown.size_bytes, 1000))
    assert len(content) == shown.size_bytes
    return content


@pytest.mark.parametrize("index_first", [True, False])
def test_a_varied_video_shows_the_same_pictures_and_is_another_file(tmp_path, index_first):
    path = write_video(tmp_path / "public.mp4", num_frames=90, index_first=index_first, size=(96, 64))
    again = tmp_path / "judged.mp4"
    again.write_bytes(served(path, b"s" * 32))
    assert pictures(again) == pictures(path)
    assert probe(again).num_frames == 90
    assert stated_length_s(path) == pytest.approx(90 / 20, abs=0.06)


def test_no_match_serves_the_bytes_or_the_length_of_the_public_file_or_of_another_match(tmp_path):
    path = write_video(tmp_path / "public.mp4", num_frames=60)
    seen = [served(path, hashlib.sha256(bytes([number])).digest()) for number in range(100)]
    assert len({hashlib.sha256(content).digest() for content in [path.read_bytes(), *seen]}) == 101
    assert len({len(content) for content in [path.read_bytes(), *seen]}) > 95  # by chance two may be as long
    assert len({hashlib.sha256(content[:65536]).digest() for content in seen}) == 100  # nor do their beginnings tell


def test_any_part_is_the_same_as_of_the_whole(tmp_path):
    path = write_video(tmp_path / "public.mp4", num_frames=60)
    whole = served(path, b"s" * 32)
    shown = vary(path, b"s" * 32)
    for first in range(0, len(whole), 777):
        for stop in (first + 1, first + 500, len(whole)):
            assert b"".join(shown.read(path, first, min(stop, len(whole)), 100)) == whole[first:stop]


@pytest.mark.parametrize("content", [b"", b"\0\0\0\x18ftypmp42" + b"x" * 200, b"\0\0\0\x10ftypmp42mp42\0\0\0\x0cmoov\0\0\0\1"])
def test_what_is_no_usual_mp4_is_served_whole_with_a_box_behind_it(tmp_path, content):
    path = tmp_path / "odd.mp4"
    path.write_bytes(content)
    assert served(path, b"s" * 32).startswith(content[:16])
    assert len(served(path, b"s" * 32)) > len(content)
    assert stated_length_s(path) is None


def test_a_film_that_is_made_anew_is_read_anew(tmp_path):
    path = write_video(tmp_path / "public.mp4", num_frames=20)
    first = served(path, b"s" * 32)
    write_video(path, num_frames=40)
    assert served(path, b"s" * 32) != first
