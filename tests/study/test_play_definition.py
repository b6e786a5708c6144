"""Studies of play as files: what is read, what is refused and how it is said."""

import pytest
from play_world import STUDY

from interplay.study import StudyError
from interplay.study.definition import Study, builtin_studies, builtin_text, parse_study
from interplay.study.errors import FormError
from interplay.study.incentives import LinearBonus, Requirement, SlidingBonus
from interplay.study.questions import TeamGame, due, forms
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


def test_studies_of_play_that_ship_are_whole():
    for name in PLAYED:
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


TEN_MINUTES = {"active_time": 600}


def plain(full_at, **required):
    """Requirements, and a bonus of 3 x min(1, score / full_at)."""
    return TEN_MINUTES | required | {"bonus": ("linear", "score", full_at)}


def in_order(name, kind, full_at):
    """Aliens in an order: 50 of them and 80 % of all, and a bonus for their number and share."""
    return TEN_MINUTES | {
        f"{name}.good": 50,
        f"{name}.good/{name}.all": 0.8,
        "bonus": (kind, f"{name}.good", full_at, f"{name}.good/{name}.all"),
    }


def on_a_side(side, share, score, kind, full_at):
    """A share of the time on one side, and a bonus for the score and that share."""
    part = f"{side}_side.there/{side}_side.steps"
    return TEN_MINUTES | {"score": score, part: share, "bonus": (kind, "score", full_at, part)}


RELEASED = {
    # github.com/mgerstgrasser/crowdplay, commit 4ee4b11, backend/crowdplay_backend/environments.py, line of each task.
    "space_invaders": plain(20000, score=1000),  # 1770, space_invaders_mturk
    "riverraid": plain(100000, score=1000),  # riverraid_mturk
    "breakout": plain(100),  # breakout_mturk: a score is a bonus target, and nothing is required
    "beam_rider": plain(10000),  # beam_rider_mturk: likewise
    "qbert": plain(40000, score=1000),  # 1887, qbert_mturk
    "montezuma_revenge": plain(5000, score=100),  # 1876, montezuma_revenge_mturk
    "space_invaders_left": on_a_side("left", 0.9, 600, "linear", 7000),  # 597: 3 x the least of the targets
    "space_invaders_right": on_a_side("right", 0.8, 600, "linear", 7000),  # 632
    "riverraid_left": on_a_side("left", 0.8, 100, "sliding", 50000),  # 1028: 3 x score / 50000 x 2 (share - 0.5)
    "riverraid_right": on_a_side("right", 0.8, 100, "sliding", 50000),  # 1067
    "row_by_row": in_order("row_by_row", "linear", 500),  # 489
    "inside_out": in_order("inside_out", "linear", 400),  # 561
    "outside_in": in_order("outside_in", "linear", 400),  # 525
    "two_competitive": plain(10000),  # 1907, space_invaders_2p_competitive_mturk
    "two_competitive_agent": plain(10000),  # 1924
    "two_cooperative": plain(20000),  # 1929
    "two_cooperative_agent": plain(20000),  # 1946
}
# The paper has numbers for the orders alone (A.4: 50 aliens, 80 %, equation (1) with N = 200); the others are the code's.
PAPER = RELEASED | {name: in_order(name, "sliding", 200) for name in ("row_by_row", "inside_out", "outside_in")}
CELLS = [
    (study, variant, cell)
    for study, table in (("crowdplay", RELEASED), ("crowdplay-paper", PAPER))
    for variant, cells in table.items()
    for cell in (*cells, "cells")
]


def test_the_variants_of_crowdplay_follow_their_sources():
    for study, name, cell in CELLS:
        expected = {"crowdplay": RELEASED, "crowdplay-paper": PAPER}[study][name]
        rules = builtin_studies()[study].play.variant(name).treatment
        found = {"/".join(one.statistics): one.required for one in rules.requirements}
        bonus = rules.bonus.__dict__
        share = (f"{bonus['correct']}/{bonus['out_of']}",) if bonus["out_of"] else ()
        kind = type(rules.bonus).__name__.removesuffix("Bonus").lower()
        found["bonus"] = (kind, bonus["statistic"] or bonus["correct"], bonus["full_at"], *share)
        assert rules.bonus.max_cents == 300
        assert (set(found) if cell == "cells" else found[cell]) == (set(expected) if cell == "cells" else expected[cell])


def test_the_bonus_of_a_side_is_that_of_the_released_code():
    left = builtin_studies()["crowdplay"].play.variant("riverraid_left").treatment
    game = {"active_time": 600.0, "score": 25000.0, "left_side.there": 9, "left_side.steps": 10}
    assert left.earned([game]).bonus_cents == 120  # 3 x 25000 / 50000 x 2 (0.9 - 0.5)
    beam_rider = builtin_studies()["crowdplay"].play.variant("beam_rider").treatment
    assert beam_rider.earned([{"active_time": 600.0, "score": 9000.0}]).cents == 100 + 270  # ten active minutes are enough


def test_the_papers_variants_play_the_tasks_that_are_there():
    play = builtin_studies()["crowdplay"].play
    assert len(play.variants) == 17
    two = {one.name: one.partners for one in play.variants if one.task.startswith("atari-two/")}
    assert two == {
        "two_competitive": (), "two_competitive_agent": ("scripted",),
        "two_cooperative": (), "two_cooperative_agent": ("scripted",),
    }  # fmt: skip
    invaders = [one.name for one in play.variants if one.task == "atari/space_invaders"]
    assert invaders == [
        "space_invaders", "space_invaders_left", "space_invaders_right", "row_by_row", "inside_out", "outside_in",
    ]  # fmt: skip
    assert {one.target_min for one in play.variants} == {300.0}  # what 1,000 people can fill if 30 % leave


REFUSED = {
    'task = "atari/space_invaders"\nname': ("tsk = 1\nname", "variants[0].task: is missing"),
    "required = 300": ("required = 0", "requirements[0].required: must lie between"),
    'statistic = "time"': ('statistic = "the time"', "'the time' is not the name of a statistic"),
    "[[requirements]]": (
        "[[requirments]]",
        "variants[0].requirements: are missing; nobody could know when a visit is complete",
    ),
    "max = 1.50": ("max = 1.505", "bonus.max: has more than two decimals"),
    "correct = ": ("corect = ", "bonus.correct: is missing"),
    "[pay]\nreward = 0.75": ("", "pay: is missing, and people are promised money"),
    "minutes = 10": ("minutes = 10\nanswers = 3", "study.answers: has no use in a study of play"),
    "[bonus]": ("[play]\nat_target = 'stop'\n[bonus]", "play.at_target: 'stop' needs targets"),
    "[channels": ("[judging]\n[channels", "judging: has no use in a study of play"),
    'kind = "play"': ('kind = "ply"', "study.kind: 'ply' is not known\nRemedy: did you mean 'play'"),
    'title = "From the inside out"': ('opens = "tomorrow"', "variants[0].opens: 'tomorrow' is not a time"),
    'name = "inside_out"': ('opens = "2026-01-01T00:00:00"', "variants[0].opens: '2026-01-01T00:00:00' has no time zone"),
    'task = "atari/space_invaders"': (
        'partner = ["noop", "noop"]\ntask = "atari/space_invaders"',
        "variants[0].partner: names an agent twice, or an empty name",
    ),
    'title = "From': ('partner = "noop"\nfallback = "noop"\ntitle = "From', "variants[0].fallback: has no use with partner"),
    "[[variants]]": (
        '[[variants]]\ntask = "atari/breakout"\ntarget_min = 5\n[[variants]]',
        "variants[1].target_min: is missing, and other variants have one",
    ),
}


ASKED = STUDY.replace("[pay]", '[questions]\nuse = "teamwork"\n[pay]')


def test_sets_of_questions_are_taken_into_the_study_before_its_own():
    own = '[[questions.partner]]\nid = "words"\ntext = "In your words?"\nkind = "text"\n[pay]'
    study = parse_study(ASKED.replace('"teamwork"', '["teamwork", "person_or_agent"]').replace("[pay]", own))
    questions = study.play.questions
    assert [one.id for one in questions.partner][-3:] == ["enjoyed", "person_or_agent", "words"]
    assert questions.partner[0].options == {
        "1": "strongly disagree", "2": "disagree", "3": "neither", "4": "agree", "5": "strongly agree"
    }  # fmt: skip
    assert {tuple(one.options) for one in questions.comparison} == {("first", "same", "second")}
    again = Study.from_json(study.to_json())
    assert (again.content_hash, again.play) == (study.content_hash, study.play), "whatever the sets become later"


def test_questions_that_cannot_be_asked_are_refused():
    for table, message in [
        ('use = "teamwrk"', "questions.use: unknown question set 'teamwrk'; did you mean 'teamwork'?"),
        ("every = 2", "questions.partner: and comparison are missing, so nothing is asked"),
        (
            'use = "teamwork"\npartner = [{id = "trust", text = "A?"}]',
            "'trust' is used twice; the question set 'teamwork' has a question of this id, too",
        ),
        ('partner = [{id = "a", text = "A?"}, {id = "a", text = "B?"}]', "questions.partner[1].id: 'a' is used twice"),
        ('partner = [{id = "a", text = "A?", options = ["yes"]}]', "options: must be at least two different answers"),
        ('comparison = [{id = "a", text = "A?", options = ["x"]}]', "questions.comparison[0].options: is not a known key"),
    ]:
        with pytest.raises(StudyError) as refused:
            parse_study(STUDY.replace("[pay]", f"[questions]\n{table}\n[pay]"))
        assert message in str(refused.value)


def test_forms_come_after_games_and_each_pair_of_partners_is_compared_once():
    """Hand-made visit: scripted, random, random, scripted, noop."""
    questions = parse_study(ASKED.replace('"teamwork"', '"teamwork"\nevery = 2')).play.questions
    partners = ["scripted", "random", "random", "scripted", "noop"]
    games = [TeamGame(place + 1, f"e{place + 1}", partner) for place, partner in enumerate(partners)]
    assert [form.key for form in forms(questions, games)] == ["partner:e2", "comparison:e2", "partner:e4", "comparison:e5"]
    assert due(questions, games, {"partner:e2"}).key == "comparison:e2"
    assert due(questions, games[:1], set()) is None
    form = due(questions, games, {"partner:e2"})
    assert [game.partner for game in form.games] == ["scripted", "random"]
    given = {"team": "first", "skill": "same", "prefer": "second", "more": "is left out"}
    assert form.read(given) == {"team": "first", "skill": "same", "prefer": "second"}
    with pytest.raises(FormError, match="Please answer every question; 2 have no answer yet: Which of the two"):
        form.read({"team": "first"})
    with pytest.raises(FormError, match="This answer cannot be stored"):
        form.read(given | {"skill": "third"})


def test_what_a_study_of_play_cannot_mean_is_refused_with_its_place():
    for place in REFUSED:
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
    unpaid = STUDY[: STUDY.index("[bonus]")] + STUDY[STUDY.index("[[variants]]") :]
    with pytest.raises(StudyError, match="pay: is missing, and people are promised money"):
        parse_study(unpaid.replace("[pay]\nreward = 0.75", "[waiting]\npay = 0.10"))
    twice_paid = STUDY.replace("[pay]", "[waiting]\npay = 0.10\n[pay]").partition("[channels")[0] + "[channels.mturk]\n"
    with pytest.raises(StudyError, match=r"waiting.pay: does not work with mturk, which pays the whole reward"):
        parse_study(twice_paid)
    backwards = 'opens = "2026-01-02T00:00:00Z"\ncloses = "2026-01-01T00:00:00Z"\nname'
    with pytest.raises(StudyError, match="closes: is not after opens"):
        parse_study(STUDY.replace("name", backwards, 1))
    comparing = STUDY.replace('kind = "play"', "answers = 1")
    with pytest.raises(StudyError, match="is not a known key"):
        parse_study(comparing)
    with pytest.raises(StudyError, match="variants: are missing; a study of play needs at least one"):
        parse_study(STUDY[: STUDY.index("[[variants]]")] + "[channels.open]\n")
