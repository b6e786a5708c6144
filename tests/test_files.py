"""Files appear whole or not at all, and nothing is left beside them."""

import json

import pytest

from interplay.files import replacing, write_json


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
