"""The table [judging] of a study: read strictly, with errors that name the key and the remedy."""

from dataclasses import fields

import pytest

from interplay.judge import Rules, RulesError
from interplay.judge.rules import _OPEN_ROOM_ONLY, _READERS, _STUDY_ONLY, OPEN_ROOM, AttentionCheck, Example
from interplay.judge.segments.definition import Segments

WHOLE = {
    "tasks": ["basalt/find_cave", "basalt/find_cave", "basalt/make_waterfall"],
    "task_choice": "fixed",
    "min_viewing_s": 30,
    "min_watched_share": 0.5,
    "min_reason_chars": 40,
    "max_answers_per_judge": 10,
    "max_answers_per_day": 5,
    "target_answers": 500,
    "max_shows_of_pair": 1,
    "max_answers_of_agents": 3,
    "attention_every": 5,
    "attention_checks": [{"task": "basalt/find_cave", "left": "a", "right": "b", "expected": "left"}],
    "repeat_every": 8,
    "policy": "focus",
    "policy_options": {"agents": ["ada"]},
    "examples": [{"task": "basalt/find_cave", "video": "/media/x.mp4", "caption": "A cave."}],
}


def test_a_whole_table_is_read():
    rules = Rules.from_mapping(WHOLE)
    assert rules.tasks == ("basalt/find_cave", "basalt/make_waterfall")
    assert (rules.task_choice, rules.min_viewing_s, rules.max_answers_per_judge) == ("fixed", 30.0, 10)
    assert rules.attention_checks == (AttentionCheck("basalt/find_cave", "a", "b", "left"),)
    assert rules.examples == (Example("basalt/find_cave", "/media/x.mp4", "A cave."),)
    assert rules.policy_options == {"agents": ["ada"]}


def test_every_setting_can_be_read_from_a_table():
    assert set(_READERS) == {one.name for one in fields(Rules)} == set(WHOLE) | _OPEN_ROOM_ONLY | _STUDY_ONLY


def test_the_open_room_takes_what_a_study_may_not_say():
    table = {"publish_every": 3, "max_answers_per_address": 7, "min_viewing_s": 1}
    rules = Rules.from_mapping(table, base=OPEN_ROOM)
    assert (rules.publish_every, rules.max_answers_per_address, rules.min_viewing_s) == (3, 7, 1)
    assert rules.max_answers_per_day == OPEN_ROOM.max_answers_per_day == 50
    with pytest.raises(RulesError, match="publish_every"):
        Rules.from_mapping({"publish_every": 3})


def test_segments_are_compared_of_one_task_by_rules_of_their_own():
    rules = Rules.from_mapping(
        {"segments": {"task": "atari/breakout", "seconds": 2, "where": ["score > 1"]}, "repeat_every": 5}
    )
    assert rules.segments == Segments("atari/breakout", seconds=2.0, where=("score > 1",))
    assert (rules.tasks, rules.min_viewing_s, rules.min_reason_chars, rules.repeat_every) == (("atari/breakout",), 2, 0, 5)
    assert Rules.from_mapping({"segments": {"task": "t/a"}, "min_reason_chars": 10}).min_reason_chars == 10


def test_segments_that_cannot_be_meant_are_refused():
    for table, text in [
        ({"segments": {}}, "study x: segments.task: is missing\nRemedy: add task"),
        ({"segments": {"task": ["a", "b"]}}, r"study x: segments.task: must be a text, got \['a', 'b'\]"),
        ({"segments": {"task": "a", "length": 2}}, "study x: segments.length: is not a known key"),
        ({"segments": {"task": "a", "seconds": 0}}, "study x: segments.seconds: must lie between 0.1 and 60, got 0"),
        ({"segments": {"task": "a", "held_out": 0}}, "study x: segments.held_out: must lie between 0.05 and 0.5, got 0"),
        ({"segments": {"task": "a", "number": 1}}, "study x: segments.number: must lie between 2 and 10000, got 1"),
        ({"segments": {"task": "a"}, "tasks": ["b"]}, "study x: tasks: names b, but the segments are from one task, a"),
        (
            {"segments": {"task": "a"}, "policy": "focus"},
            "study x: policy: is about whole games, and this study compares segments",
        ),
    ]:
        with pytest.raises(RulesError, match=text):
            Rules.from_mapping(table, "study x")


def test_the_open_room_compares_no_segments():
    with pytest.raises(RulesError, match="segments: is not a known key"):
        Rules.from_mapping({"segments": {"task": "a"}}, base=OPEN_ROOM)


@pytest.mark.parametrize("empty", [None, {}])
def test_no_table_means_the_defaults(empty):
    assert Rules.from_mapping(empty) == Rules()
    assert (Rules().min_watched_share, Rules().max_answers_per_day, Rules().publish_every) == (0.5, None, 1)
    assert (Rules().min_viewing_s, Rules().tasks, Rules().attention_every) == (10.0, None, None)


def test_what_cannot_be_followed_is_refused_by_name():
    for table, text in [
        ([], r"study x must be a table of settings; got \[\]"),
        ({"min_viewing": 3}, "study x: min_viewing: is not a known key\nRemedy: did you mean 'min_viewing_s'"),
        ({"zzz": 3}, "study x: zzz: is not a known key\nRemedy: known keys here are attention_checks, "),
        ({"tasks": "a"}, "study x: tasks: must be a list, got 'a'"),
        ({"tasks": []}, "study x: tasks must be one task or more; leave it out for all"),
        ({"tasks": [3]}, r"study x: tasks: must hold texts, got \[3\]"),
        ({"task_choice": "any"}, "study x: task_choice: 'any' is not known\nRemedy: write random or fixed"),
        ({"min_viewing_s": "10"}, "study x: min_viewing_s: must be a whole number or a number, got '10'"),
        ({"min_viewing_s": -1}, "study x: min_viewing_s must be a number of seconds from 0 to 3600; got -1"),
        ({"min_viewing_s": float("nan")}, "study x: min_viewing_s must be a number of seconds from 0 to 3600; got nan"),
        ({"min_watched_share": 1.5}, "study x: min_watched_share must be a number from 0 to 1; got 1.5"),
        ({"min_reason_chars": 20_000}, "study x: min_reason_chars must be from 0 to 10000"),
        ({"max_answers_per_judge": 0}, "study x: max_answers_per_judge must be 1 or more; leave it out to turn it off; got 0"),
        ({"max_answers_per_judge": True}, "study x: max_answers_per_judge: must be a whole number, got True"),
        ({"attention_every": 1}, "study x: attention_every must be 2 or more"),
        ({"attention_checks": [5]}, r"study x: attention_checks\[0\]: must be a table, got 5"),
        ({"attention_checks": [{"expected": "left", "task": "a"}]}, r"study x: attention_checks\[0\].left: is missing"),
        (
            {"attention_checks": [{**WHOLE["attention_checks"][0], "expected": "me"}]},
            r"\[0\].expected: 'me' is not known\nRemedy: write left or right or draw",
        ),
        (
            {"examples": [{"video": "https://x/y.mp4", "caption": "c"}]},
            r"examples\[0\].video: 'https://x/y.mp4' is not an address on this server\nRemedy: begin it with /media/",
        ),
        ({"examples": [{"video": "//x/y.mp4", "caption": "c"}]}, "is not an address on this server"),
        ({"examples": [{"video": "/x", "caption": "c", "size": "1"}]}, r"examples\[0\].size: is not a known key"),
        ({"policy": "ordr"}, "study x: policy: unknown pairing rule 'ordr'; did you mean 'order'"),
        ({"policy_options": {"top": 3}}, "study x: policy: the pairing rule 'order' has no option 'top'"),
        ({"policy_options": 3}, "study x: policy_options: must be a table, got 3"),
    ]:
        with pytest.raises(RulesError, match=text):
            Rules.from_mapping(table, "study x")


@pytest.mark.parametrize(("attention", "repeat"), [(2, 2), (2, 100), (3, 5), (3, 3)])
def test_checks_that_would_be_more_than_half_of_all_matches_are_refused(attention, repeat):
    with pytest.raises(
        RulesError, match=f"attention_every {attention} and repeat_every {repeat}, more than half of all matches"
    ):
        Rules.from_mapping({"attention_every": attention, "repeat_every": repeat}, "study x")


@pytest.mark.parametrize(("attention", "repeat"), [(3, 6), (4, 4), (2, None), (None, 2)])
def test_checks_may_be_half_of_all_matches(attention, repeat):
    assert Rules(attention_every=attention, repeat_every=repeat).attention_every == attention


def test_rules_made_in_python_are_checked_too():
    with pytest.raises(RulesError, match="repeat_every must be 2 or more; leave it out to turn it off; got 1"):
        Rules(repeat_every=1)


def test_serve_reads_the_rules_of_the_open_room_from_a_file(tmp_path):
    from interplay.cli.serve import _open_room

    file = tmp_path / "room.toml"
    file.write_text("[judging]\nmin_watched_share = 0.8\nmax_answers_per_address = 9\n")
    rules = _open_room(file)
    assert (rules.min_watched_share, rules.max_answers_per_address, rules.publish_every) == (0.8, 9, OPEN_ROOM.publish_every)
    file.write_text("min_watched_share = 0.8\n")
    with pytest.raises(RulesError, match=r"room.toml must hold one table, \[judging\]"):
        _open_room(file)
    file.write_text("[judging]\nmax_answers = 8\n")
    with pytest.raises(RulesError, match=r"room.toml: \[judging\]: max_answers: is not a known key"):
        _open_room(file)
    file.write_text("[judging\n")
    with pytest.raises(RulesError, match=r"room.toml: not valid TOML"):
        _open_room(file)
    with pytest.raises(RulesError, match="is a folder; name a file in it"):
        _open_room(tmp_path)
