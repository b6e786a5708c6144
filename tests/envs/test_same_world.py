"""The bench that compares what browsers know with the world: it finds nothing wrong, and would find it."""

import json
import shutil
import sys

import pytest

from bench import same_world
from blockworld.scene.encoder import SceneEncoder
from interplay.tasks import find

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="no node: apt-get install nodejs")

TASKS = [find("basalt/find_cave"), find("together/build_shelter")]
"""One whose land is hidden, one with two seats."""


@pytest.mark.long_proof
def test_pages_of_both_tasks_know_the_world_after_kills_and_reconnections():
    found = same_world.compare(600, 6, TASKS, longest=300, trouble=0.01)
    assert found["wrong"] == 0, found["first_wrong"]
    assert found["tasks"] == 2
    assert found["digests"] >= 9
    assert min(found["kills"], found["reconnections"]) >= 5
    assert min(found["changes"], found["sections"]) > 5000
    assert found["frames"] > 300


@pytest.mark.long_proof
def test_cells_that_a_page_was_not_told_of_are_found(monkeypatch, capsys):
    monkeypatch.setattr(SceneEncoder, "_tell_cells", lambda *_: None)
    found = same_world.compare(110, 2, TASKS[1:], longest=110)
    assert found["wrong"] > 0
    assert {"cells", "light"} & {name for one in found["first_wrong"] for name in one["what"]}
    assert "together/build_shelter" in capsys.readouterr().err


def test_where_nothing_was_compared_it_fails(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["bench.same_world", "--hours", "0", "--json"])
    with pytest.raises(SystemExit, match="1"):
        same_world.main()
    assert json.loads(capsys.readouterr().out)["digests"] == 0
