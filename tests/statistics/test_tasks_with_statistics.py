"""Task files name statistics; tasks without them keep their hashes."""

import json

import pytest

from interplay.cli import _run
from interplay.statistics import StatisticSpec, defaults
from interplay.tasks import Task, TaskError, builtin_suites, parse_suite

FILE = """
[suite]
id = "mine"
title = "Mine"
[[task]]
name = "one"
title = "One"
goal = "Play."
instructions = "Play."
env.id = "ale:breakout"
time_limit_s = 10
held_out_seeds = [1]
keys = { buttons = ["FIRE"], bindings = { Space = "FIRE" }, actions = { "" = 0, "FIRE" = 1 } }
questions = [{ id = "better", factor = "overall", kind = "overall", text = "Which is better?" }]
"""


def task(statistics: str = "") -> Task:
    return parse_suite(FILE.replace("time_limit_s", f"{statistics}\ntime_limit_s")).tasks[0]


def test_a_task_names_statistics_with_their_parameters():
    named = task('statistics = ["path_length", { name = "active_time", action_timeout_s = 20 }, "mine:Jumps"]')
    own = StatisticSpec("mine:Jumps")  # nobody's code is imported to read a file
    assert named.statistics == (StatisticSpec("path_length"), StatisticSpec("active_time", {"action_timeout_s": 20}), own)
    assert Task.from_json(json.loads(json.dumps(named.to_json()))) == named


def test_a_task_without_them_has_the_hash_it_had():
    assert "statistics" not in task().to_json()
    assert task("statistics = []").content_hash == task().content_hash != task('statistics = ["score"]').content_hash
    assert all(not one.statistics for suite in builtin_suites() for one in suite.tasks)


def test_what_cannot_be_collected_is_refused():
    for line, text in [
        ('statistics = ["scor"]', "unknown statistic 'scor'; did you mean 'score'"),
        ("statistics = [1]", "must hold names, or tables with a name, got 1"),
        ("statistics = [{ action_timeout_s = 20 }]", "must hold names, or tables with a name"),
        ('statistics = [{ name = "active_time", action_timeout = 20 }]', "did you mean 'action_timeout_s'"),
        ('statistics = [{ name = "active_time", action_timeout_s = "long" }]', "must be a number above 0, got 'long'"),
        ('statistics = "score"', "statistics"),
    ]:
        with pytest.raises(TaskError, match=text):
            task(line)


def test_every_world_that_ships_has_statistics_that_can_be_built():
    for suite in builtin_suites():
        for one in suite.tasks:
            if one.env.is_playable:
                names = [spec.build().statistic.name for spec in defaults(one.env.id, takes_turns=one.takes_turns)]
                assert one.takes_turns != ({"active_time", "action_changes"} <= set(names))
                assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("path_length", "ale:breakout does not say where players stand"),
        ("aliens_hit", "it is a statistic of ale:space_invaders and ale2p:space_invaders, not of ale:breakout"),
        ("no_such_module:Jumps", "ModuleNotFoundError: No module named 'no_such_module'"),
    ],
)
def test_the_check_of_a_task_file_tries_them_in_the_world(tmp_path, capsys, entry, reason):
    path = tmp_path / "mine.toml"
    path.write_text(FILE.replace("time_limit_s", f'statistics = ["{entry}"]\ntime_limit_s'))
    assert _run(["tasks", "check", str(path), "--steps", "5"]) == 1
    said = capsys.readouterr()
    assert f"statistics: '{entry}' cannot be computed" in said.out + said.err
    assert reason in said.out + said.err
