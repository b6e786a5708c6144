"""Studies as files: what is read, what is refused and how it is said, and what a version is."""

import json
import re

import pytest

from interplay.errors import NotFoundError
from interplay.judge import Rules
from interplay.study import StudyError
from interplay.study.definition import Study, builtin_studies, builtin_text, find_study, load_study, parse_study
from interplay.tasks import find

SMALL = """
[study]
id = "small"
title = "Small"
summary = "A small study."
minutes = 15
answers = 2
contact = "Ada, ada@lab.example"
instructions = '''
First paragraph,
same one.

Second.'''

[consent]
text = "You may stop at any time."
stores = ["This server keeps answers."]

[quiz]
quiz = "atari"
attempts = 2

[pay]
reward = 3.75
currency = "USD"
hourly_target = 15

[channels.open]
[channels.mturk]
extra_hosts = ["http://127.0.0.1:9999"]
[channels.prolific]
codes = { done = "DONE1", screened_out = "OUT2" }

[judging]
tasks = ["atari/breakout"]
min_viewing_s = 0
"""

QUIZ = """
[quiz]
id = "mine"
title = "Mine"
intro = "Tick."
pass_share = 0.8
[[question]]
id = "one"
text = "Which are right?"
right = ["yes", "indeed"]
wrong = ["no", "never"]
"""


def test_a_study_reads_as_it_was_written():
    study = parse_study(SMALL)
    assert study.instructions == ("First paragraph, same one.", "Second.")
    assert study.consent.is_required
    assert (study.quiz.quiz.id, study.quiz.attempts) == ("atari", 2)
    assert study.pay.reward_cents == 375
    assert study.pay.hourly_cents(study.minutes) == 1500
    assert list(study.channels) == ["open", "mturk", "prolific"]
    assert study.num_answers == 2


def test_a_study_says_what_its_hit_needs_and_older_files_mean_what_they_meant():
    plain = parse_study(SMALL)
    assert plain.channels["mturk"].hit == {}
    said = 'keywords = "caves, players"\nassignments = 5\nlongest_min = 45\nlifetime_days = 2\nauto_approval_days = 1\n'
    said += "min_percent_approved = 95\nmin_num_approved = 100\nframe_height_px = 800\n"
    study = parse_study(SMALL.replace("[channels.prolific]", f"[channels.mturk.hit]\n{said}[channels.prolific]"))
    assert study.channels["mturk"].hit == {
        "keywords": "caves, players", "num_assignments": 5, "longest_min": 45, "lifetime_days": 2, "auto_approval_days": 1,
        "min_percent_approved": 95, "min_num_approved": 100, "frame_height_px": 800,
    }  # fmt: skip
    assert study.content_hash != plain.content_hash
    assert (study.consent, study.pay, study.num_answers) == (plain.consent, plain.pay, plain.num_answers)


def test_a_study_comes_back_whole_from_its_document():
    study = parse_study(SMALL)
    again = Study.from_json(json.loads(json.dumps(study.to_json())))
    assert again.content_hash == study.content_hash
    assert again.quiz == study.quiz
    assert again.consent == study.consent


def test_every_change_of_text_or_quiz_makes_another_version(tmp_path):
    first = parse_study(SMALL)
    assert parse_study(SMALL.replace("stop at any time", "stop whenever you like")).content_hash != first.content_hash
    (tmp_path / "study.toml").write_text(SMALL.replace('quiz = "atari"', 'quiz = "my_quiz.toml"'))
    (tmp_path / "my_quiz.toml").write_text(QUIZ)
    before = load_study(tmp_path / "study.toml")
    (tmp_path / "my_quiz.toml").write_text(QUIZ.replace("never", "not at all"))
    after = load_study(tmp_path / "study.toml")
    assert before.content_hash != after.content_hash
    # What was agreed to needs no file any more.
    assert Study.from_json(before.to_json()).quiz.quiz.num_boxes == 4


def test_the_pictures_of_a_quiz_are_part_of_the_study():
    study = find_study("basalt")
    assert list(study.quiz.pictures) == ["desert_village.jpg"]
    assert study.quiz.pictures["desert_village.jpg"].startswith(b"\xff\xd8")


def test_a_studys_own_share_to_pass_replaces_the_quizs():
    study = parse_study(SMALL.replace("attempts = 2", "attempts = 2\npass_share = 0.9"))
    assert study.quiz.quiz.pass_share == 0.9


@pytest.mark.parametrize("study_id", sorted(name for name, one in builtin_studies().items() if one.kind == "comparisons"))
def test_studies_of_comparisons_that_ship_are_whole(study_id):
    study = builtin_studies()[study_id]
    rules = Rules.from_mapping(study.judging)
    assert study.id == study_id
    assert study.consent.is_required
    assert rules.tasks
    assert all(find(task).id == task for task in rules.tasks)
    assert parse_study(builtin_text(study_id)).content_hash == study.content_hash


def test_examples_may_be_episodes_files_and_addresses_and_reach_the_judging_room():
    study = parse_study(
        SMALL
        + """
[[examples]]
task = "atari/breakout"
episode = "0123"
caption = "Catches every ball"
[[examples]]
file = "media/miss.mp4"
caption = "Misses"
[[examples]]
video = "/static/tour.mp4"
caption = "A tour"
"""
    )
    rules = Rules.from_mapping(study.judging)
    assert [example.video for example in rules.examples] == [
        "/studies/small/examples/0.mp4",
        "/studies/small/examples/1.mp4",
        "/static/tour.mp4",
    ]
    assert rules.examples[0].task == "atari/breakout"


def test_what_cannot_be_meant_is_refused_with_file_key_and_remedy():
    for change, text in [
        (("[study]\n", "[study]\ntittle = 'x'\n"), "s.toml: study.tittle: is not a known key\nRemedy: did you mean 'title'."),
        (('id = "small"', 'id = "Small study"'), "study.id: 'Small study' is not a name\nRemedy: use lower-case letters"),
        (('title = "Small"\n', ""), "study.title: is missing\nRemedy: add title = ..."),
        (("minutes = 15", "minutes = 0"), "study.minutes: must lie between 0.5 and 1440, got 0\nRemedy: choose a value"),
        (
            ("answers = 2\n", ""),
            "study.answers: is missing; the channel mturk needs the number of answers that complete a visit\n"
            "Remedy: add answers = 1",
        ),
        (
            ("[study]", '[study]\nkind = "comparison"'),
            "study.kind: 'comparison' is not known\nRemedy: did you mean 'comparisons'",
        ),
        (('quiz = "atari"', 'quiz = "atarri"'), "unknown quiz 'atarri'; did you mean 'atari'?"),
        (('quiz = "atari"', 'quiz = "mine.toml"'), "quiz.quiz: mine.toml: no such file"),
        (("attempts = 2", "attempts = 0"), "quiz.attempts: must lie between 1 and 20, got 0"),
        (("attempts = 2", "pass_share = 0.5"), "quiz.pass_share: a person who leaves every box empty has"),
        (("reward = 3.75", "reward = 3.755"), "pay.reward: has more than two decimals\nRemedy: write whole hundredths"),
        (('currency = "USD"', 'currency = "USd"'), "pay.currency: 'USd' is not known\nRemedy: did you mean 'USD'"),
        (("[channels.mturk]", "[channels.mturkk]"), "channels.mturkk: unknown channel 'mturkk'; did you mean 'mturk'?"),
        (('done = "DONE1", ', ""), "channels.prolific: codes.done is missing"),
        (
            ('["http://127.0.0.1:9999"]', '["http://evil.example"]'),
            "channels.mturk: extra_hosts: 'http://evil.example' is not an origin",
        ),
        (("[judging]", "[judgin]"), "judgin: is not a known key\nRemedy: did you mean 'judging'"),
        (("answers = 2", "answers = 2026-01-01"), "s.toml: contains a date or time\nRemedy: write it in quotes"),
        (('text = "You may stop at any time."', "text = 5"), "consent.text: must be a text, got 5"),
        (("[consent]", "[consent]\nrequired = 1"), "consent.required: must be true or false, got 1"),
        (("[consent]", '[consent]\nrelease = "maybe"'), "consent.release: 'maybe' is not known"),
        (("[consent]", '[consent]\nrelease = "included"\nrequired = false'), "but people need not agree to the text"),
    ]:
        broken = SMALL.replace(*change)
        assert broken != SMALL
        with pytest.raises((StudyError, NotFoundError), match=re.escape(text)):
            parse_study(broken, source="s.toml")


def test_what_a_hit_cannot_have_is_refused_with_its_key():
    for line, text in [
        ("asignments = 9", "asignments: is not a known key\nRemedy: did you mean 'assignments'"),
        ("assignments = 0", "assignments: must lie between 1 and 1000000000, got 0"),
        ("lifetime_days = 1.5", "lifetime_days: must be a whole number, got 1.5"),
        ('keywords = " "', "keywords: is empty"),
        (f'keywords = "{"x" * 1001}"', "keywords: has 1001 characters; at most 1000 are allowed\nRemedy: name fewer"),
        ("longest_min = 14", "longest_min: is 14, and a visit is expected to take 15 minutes\nRemedy: give slow"),
    ]:
        with pytest.raises(StudyError, match=re.escape(f"s.toml: channels.mturk.hit.{text}")):
            parse_study(f"{SMALL}[channels.mturk.hit]\n{line}\n", source="s.toml")


def test_a_study_that_pays_says_what():
    without = re.sub(r"\[pay\].*?(?=\[channels.open\])", "", SMALL, flags=re.DOTALL)
    with pytest.raises(StudyError, match="pay: is missing; mturk pays people"):
        parse_study(without)


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ('caption = "x"', "examples[0].video: needs one home"),
        ('video = "https://elsewhere.example/a.mp4"\ncaption = "x"', "is not an address on this server"),
        ('file = "../secret.mp4"\ncaption = "x"', "'../secret.mp4' is not an mp4 inside the data folder"),
        ('episode = "1"', "examples[0].caption: is missing"),
    ],
)
def test_examples_that_lead_nowhere_are_refused(table, text):
    with pytest.raises(StudyError, match=re.escape(text)):
        parse_study(f"{SMALL}\n[[examples]]\n{table}\n")


def test_a_missing_file_and_a_mistyped_id_say_what_to_do(tmp_path):
    with pytest.raises(StudyError, match="no such file\nBegin with a study that ships:  interplay study show basalt --toml"):
        find_study(str(tmp_path / "mine.toml"))
    with pytest.raises(NotFoundError, match="unknown study 'bassalt'; did you mean 'basalt'"):
        find_study("bassalt")
    with pytest.raises(StudyError, match="not valid TOML"):
        parse_study("[study")


def test_the_parameters_of_an_address_choose_the_channel():
    study = parse_study(SMALL)
    assert study.channel_of({"assignmentId": "A", "hitId": "B"}).name == "mturk"
    assert study.channel_of({"PROLIFIC_PID": "A"}).name == "prolific"
    assert study.channel_of({"utm_source": "mail"}).name == "open"
