"""Studies of play as files: what is read, what is refused and how it is said."""

import pytest
from play_world import STUDY

from interplay.study import StudyError
from interplay.study.definition import Study, builtin_studies, builtin_text, parse_study
from interplay.study.incentives import LinearBonus, Requirement, SlidingBonus
from interplay.tasks import find

PLAYED = sorted(name for name, study in builtin_studies().items() if study.play is not None)
TREATMENTS = ["incentives-time", "incentives-active-time", "incentives-requirement", "incentives-bonus", "incentives-all"]


def test_a_study_of_play_is_read_whole():
    study = parse_study(STUDY)
    variant = study.play.variants[0]
    assert (study.kind, study.judging, study.num_answers) == ("play", {}, None)
    assert (variant.name, variant.task, variant.title) == ("inside_out", "atari/space_invaders", "From the inside out")
    assert variant.treatment.requirements == (Requirement("time", 300.0, label="Time played"),)
    assert variant.treatment.bonus == SlidingBonus(150, "inside_out.good", "inside_out.all", 200)
    assert (variant.treatment.reward_cents, variant.treatment.currency) == (75, "USD")
    assert Study.from_json(study.to_json()).play == study.play
    assert parse_study(STUDY).content_hash == study.content_hash


def test_variants_replace_what_the_study_says_for_all():
    text = (
        STUDY
        + """
[[variants]]
task = "atari/breakout"
reward = 0.10
max_visits = 2
opens = "2026-12-01T09:00:00+01:00"
closes = "2026-12-02T09:00:00+01:00"
[[variants.requirements]]
statistic = "score"
required = 100
scope = "game"
[variants.bonus]
kind = "linear"
max = 1
statistic = "score"
full_at = 400
"""
    )
    first, second = parse_study(text).play.variants
    assert first.treatment.reward_cents == 75
    assert second.name == "breakout"
    assert second.treatment.reward_cents == 10
    assert second.treatment.requirements == (Requirement("score", 100.0, scope="game", label="Score"),)
    assert second.treatment.bonus == LinearBonus(100, "score", 400)
    assert (second.max_visits, second.opens.hour, second.opens.utcoffset().total_seconds()) == (2, 9, 3600)


@pytest.mark.parametrize("name", PLAYED)
def test_studies_of_play_that_ship_are_whole(name):
    study = builtin_studies()[name]
    assert study.id == name
    assert study.consent.is_required
    assert all(find(one.task).env.is_playable for one in study.play.variants)
    assert parse_study(builtin_text(name)).content_hash == study.content_hash


def test_the_five_treatments_differ_in_their_incentives_alone():
    studies = [builtin_studies()[name] for name in TREATMENTS]
    rules = [study.play.variants[0].treatment for study in studies]
    assert {study.play.variants[0].task for study in studies} == {"atari/space_invaders"}
    assert len({study.quiz.quiz.content_hash for study in studies}) == 1
    assert {one.max_cents for one in rules} == {200}, "base and full bonus together are the lump sum of the others"
    assert [one.bonus is not None for one in rules] == [False, False, False, True, True]
    assert [[part.required for part in one.requirements] for one in rules] == [
        [300], [300], [300, 50, 0.8], [300], [300, 50, 0.8],
    ]  # fmt: skip


def test_the_papers_variants_play_the_tasks_that_are_there():
    play = builtin_studies()["crowdplay"].play
    assert len(play.variants) == 15
    invaders = [one.name for one in play.variants if one.task == "atari/space_invaders"]
    assert invaders == [
        "space_invaders", "space_invaders_left", "space_invaders_right", "row_by_row", "inside_out", "outside_in",
    ]  # fmt: skip
    assert {one.target_min for one in play.variants} == {360.0}


REFUSED = {
    'task = "atari/space_invaders"\nname': ("tsk = 1\nname", "variants[0].task: is missing"),
    "required = 300": ("required = 0", "requirements[0].required: must lie between"),
    'statistic = "time"': ('statistic = "the time"', "'the time' is no name of a statistic"),
    "[[requirements]]": (
        "[[requirments]]",
        "variants[0].requirements: are missing; nobody could know when a visit is complete",
    ),
    "max = 1.50": ("max = 1.505", "bonus.max: has more than two decimals"),
    "correct = ": ("corect = ", "bonus.correct: is missing"),
    "[pay]\nreward = 0.75": ("", "pay: is missing, and people are promised money"),
    "minutes = 10": ("minutes = 10\nanswers = 3", "study.answers: has no use in a study of play"),
    "[bonus]": ("[play]\nat_target = 'stop'\n[bonus]", "play.at_target: 'stop' needs targets to stop at"),
    "[channels": ("[judging]\n[channels", "judging: has no use in a study of play"),
    'kind = "play"': ('kind = "ply"', "study.kind: 'ply' is not known\nRemedy: did you mean 'play'"),
    'title = "From the inside out"': ('opens = "tomorrow"', "variants[0].opens: 'tomorrow' is no time"),
    'name = "inside_out"': ('opens = "2026-01-01T00:00:00"', "variants[0].opens: '2026-01-01T00:00:00' has no time zone"),
    "[[variants]]": (
        '[[variants]]\ntask = "atari/breakout"\ntarget_min = 5\n[[variants]]',
        "variants[1].target_min: is missing, and other variants have one",
    ),
}


@pytest.mark.parametrize("place", REFUSED)
def test_what_a_study_of_play_cannot_mean_is_refused_with_its_place(place):
    wrong, message = REFUSED[place]
    assert place in STUDY
    with pytest.raises(StudyError) as refused:
        parse_study(STUDY.replace(place, wrong, 1))
    assert message in str(refused.value)
    assert "Remedy: " in str(refused.value)


def test_more_that_is_refused():
    twice = STUDY + '[[variants]]\ntask = "atari/breakout"\nname = "inside_out"\n'
    with pytest.raises(StudyError, match=r"variants\[1\].name: 'inside_out' is used twice"):
        parse_study(twice)
    backwards = 'opens = "2026-01-02T00:00:00Z"\ncloses = "2026-01-01T00:00:00Z"\nname'
    with pytest.raises(StudyError, match="closes: is not after opens"):
        parse_study(STUDY.replace("name", backwards, 1))
    comparing = STUDY.replace('kind = "play"', "answers = 1")
    with pytest.raises(StudyError, match="is not a known key"):
        parse_study(comparing)
    with pytest.raises(StudyError, match="variants: are missing; a study of play has at least one"):
        parse_study(STUDY[: STUDY.index("[[variants]]")] + "[channels.open]\n")
