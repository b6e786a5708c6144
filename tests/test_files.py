"""Files appear whole or not at all, and nothing is left beside them."""

import json
import os
from pathlib import Path

import pytest

from interplay.files import part_of, remove_parts, replacing, write_bytes, write_json


def test_a_file_is_there_when_the_block_has_ended_and_not_before(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with replacing(path) as part:
        part.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_block_that_fails_leaves_what_was_there_and_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def half(part):
        part.write_text("half")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), replacing(path) as part:
        half(part)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_two_writers_at_once_write_to_places_of_their_own(tmp_path):
    path = tmp_path / "a.txt"
    with replacing(path) as one, replacing(path) as other:
        assert one != other
        assert one.parent == other.parent == tmp_path
        one.write_text("one")
        other.write_text("other")
    assert path.read_text() == "one"  # the outer block ends last


def test_json_is_written_with_its_characters_and_refused_whole(tmp_path):
    path = tmp_path / "a.json"
    write_json(path, {"name": "Zoë"})
    assert "Zoë" in path.read_text(encoding="utf-8")
    with pytest.raises(TypeError):
        write_json(path, {"name": {1, 2}})
    assert json.loads(path.read_text(encoding="utf-8")) == {"name": "Zoë"}
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_on_disk_before_it_has_its_name_and_the_name_before_the_block_is_over(tmp_path, monkeypatch):
    path, events = tmp_path / "a.txt", []
    fsync, replace = os.fsync, os.replace

    def note_fsync(descriptor):
        target = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        events.append(("fsync", "folder" if target == tmp_path else target.read_text()))
        fsync(descriptor)

    def note_replace(part, target):
        events.append(("replace", Path(target).name))
        replace(part, target)

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(os, "replace", note_replace)
    write_bytes(path, b"new")
    assert events == [("fsync", "new"), ("replace", "a.txt"), ("fsync", "folder")]


def test_what_killed_writers_left_goes_and_nothing_else(tmp_path):
    path = tmp_path / "a[1].txt"
    path.write_text("whole")
    for one in (part_of(path), part_of(path), part_of(tmp_path / "b.txt")):
        one.write_text("half")
    remove_parts(path)
    assert sorted(one.name[:4] for one in tmp_path.iterdir()) == [".b.t", "a[1]"]
