"""Model judges that have not learnt from people's answers: how often they say the same, and for how much that counts."""

import json

import numpy as np
import pytest
from judging_world import START
from model_judges_world import TASK, answered

from interplay.cli import main
from interplay.model_judges import LoggedJudges, ModelJudgeError, answer_by_looking, calibrate, save
from interplay.model_judges.agreement import agreement_with_people
from interplay.rank.bias import share
from interplay.store.judging import bans
from interplay.store.judging.model_judges import JudgedPair, LoggedOpinion, ModelAnswer, add_model_answers, judged_pairs
from interplay.store.judging.model_judges import opinions as model_opinions
from interplay.tasks import find

QUESTIONS = find(TASK).questions
DIRECT = next(question for question in QUESTIONS if question.kind == "direct")
COMPARATIVE = next(question for question in QUESTIONS if question.kind == "comparative")


def said(left, right, outcome, judge="ada", **responses):
    return JudgedPair(left, right, left[0], right[0], 1, outcome, responses, judge)


def compare(opinions, people, questions=()):
    return agreement_with_people(opinions, people, questions, np.random.default_rng(0))


def test_an_answer_is_compared_whichever_side_an_episode_was_on():
    people = [said("a1", "b1", "left"), said("b1", "a1", "right"), said("a1", "b1", "draw"), said("a1", "c1", "left")]
    found = compare([LoggedOpinion(said("b1", "a1", "right"), None)], people)
    assert (found.num_pairs, found.num_answers) == (1, 3)
    assert found.accuracy == share(2, 3)
    assert found.side_accuracy == share(2, 2)
    assert found.commonest == pytest.approx(1 / 3)  # as it was shown: left, right, draw
    assert (found.people_agree, found.num_people_pairs) == (pytest.approx(1 / 3), 3)


def test_brier_takes_probabilities_where_there_are_some_and_the_answer_for_certain_where_not():
    people = [said("a1", "b1", "left"), said("c1", "d1", "left")]
    sure = LoggedOpinion(said("a1", "b1", "right"), None)
    unsure = LoggedOpinion(said("d1", "c1", "right"), {"left": 0.1, "draw": 0.3, "right": 0.6})
    found = compare([sure, unsure], people)
    # 1 + 1 for what was certain and wrong; 0.4**2 + 0.3**2 + 0.1**2 for the other, seen from the other side
    assert found.brier == pytest.approx((2 + 0.26) / 2)
    assert found.num_certain == 1
    assert found.brier_reference == 0


def test_questions_are_compared_where_both_answered_them_and_people_with_each_other():
    ours = {COMPARATIVE.id: "left", DIRECT.id: {"left": True, "right": False}}
    swapped = {COMPARATIVE.id: "right", DIRECT.id: {"left": True, "right": True}}
    nothing = {COMPARATIVE.id: "na"}
    people = [said("a1", "b1", "left", **ours), said("b1", "a1", "left", **swapped), said("a1", "b1", "left", **nothing)]
    opinion = LoggedOpinion(said("a1", "b1", "left", **ours), None)
    found = {one.question: one for one in compare([opinion], people, QUESTIONS).factors}
    assert set(found) == {COMPARATIVE.id, DIRECT.id}
    assert (found[COMPARATIVE.id].num_answers, found[COMPARATIVE.id].agreement) == (2, 1.0)
    assert (found[COMPARATIVE.id].people_agree, found[COMPARATIVE.id].num_people_pairs) == (1.0, 1)
    assert (found[DIRECT.id].num_answers, found[DIRECT.id].agreement) == (4, 0.75)
    assert (found[DIRECT.id].commonest, found[DIRECT.id].people_agree, found[DIRECT.id].num_people_pairs) == (0.75, 0.5, 2)


def test_without_a_pair_in_common_nothing_is_known():
    assert compare([LoggedOpinion(said("a1", "b1", "left"), None)], [said("a1", "c1", "left")]) is None
    assert compare([LoggedOpinion(said("a1", "b1", "left"), None)], []) is None


def a_field(rng, num=240, agents="abcdefgh"):
    """Answers about agents of which the earlier letter is the better one, most of the time."""
    people = []
    for number in range(num):
        left, right = rng.choice(list(agents), 2, replace=False)
        better = "left" if left < right else "right"
        people.append(said(f"{left}{number % 9}", f"{right}{number % 9}", better if rng.random() < 0.75 else "draw"))
    return people


@pytest.mark.parametrize(("is_right", "least", "most"), [(True, 10, 240), (False, -240, -10)])
def test_a_judge_that_knows_the_order_saves_answers_and_one_that_has_it_backwards_costs_some(is_right, least, most):
    people = a_field(np.random.default_rng(1))
    opinions = [
        LoggedOpinion(said(f"{one}{seed}", f"{other}{seed}", "left" if (one < other) == is_right else "right"), None)
        for one in "abcdefgh"
        for other in "abcdefgh"
        for seed in range(9)
        if one != other
    ]
    found = compare(opinions, people)
    assert least <= found.answers_saved <= most
    assert (found.saving[0].with_model > found.saving[0].people) == is_right
    assert found.saving[-1].people == pytest.approx(1)
    assert found.is_better_than_commonest == is_right


# Over an archive


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """300 answers by people, those of `model:eye` to all pairs, and five of `model:wink`."""
    archive = answered(tmp_path_factory.mktemp("looked") / "data")

    def brighter(left, right):
        side = "left" if left[-1].mean() > right[-1].mean() else "right"
        direct = {"left": side == "left", "right": side == "right"}
        return {"outcome": side, "responses": {COMPARATIVE.id: side, DIRECT.id: direct}, "reason": "light"}

    for name, limit in (("eye", None), ("wink", 5)):
        rng = np.random.default_rng(0)
        answer_by_looking(archive, name, TASK, brighter, now=lambda: START, rng=rng, limit=limit)
    yield archive
    archive.database.close()


def logged(archive):
    return LoggedJudges(archive, lambda task: find(task).questions)


def test_every_judge_in_the_log_is_measured_on_the_pairs_people_answered(archive):
    judges = logged(archive)
    eye, wink = judges.measure()
    assert (eye.name, eye.task, eye.num_answers, eye.has_probabilities) == ("eye", TASK, 110, False)
    assert wink.num_answers == 5
    found = eye.agreement
    assert found.num_answers == found.num_certain == 300
    assert found.accuracy.low > found.commonest
    assert found.side_accuracy.share > 0.8
    assert {one.question for one in found.factors} == {COMPARATIVE.id, DIRECT.id}
    assert found.answers_saved > 0
    assert judges.measure("eye")[0] is eye  # measured once


def test_answers_of_the_banned_are_no_peoples(archive):
    judges = logged(archive)
    before = judges.measure("eye")[0].agreement.num_answers
    with archive.database.write() as session:
        bans.ban(session, judge="participant-1", reason="asleep", now=START)
    try:
        with archive.database.read() as session:
            assert judges.measure("eye")[0].agreement.num_answers == len(judged_pairs(session, TASK)) < before
    finally:
        with archive.database.write() as session:
            bans.unban(session, judge="participant-1", now=START)


def run(capsys, archive, *arguments):
    try:
        main(["judge", *arguments, "--data", str(archive.root)])
        status = 0
    except SystemExit as end:
        status = end.code or 0
    return status, *capsys.readouterr()


def test_calibrate_measures_a_judge_that_looks(archive, capsys):
    status, text, _ = run(capsys, archive, "calibrate", "--name", "eye")
    assert status == 0
    assert "they count as certain" in text
    assert not (archive.root / "models" / "judges" / "eye").exists()
    document = json.loads(run(capsys, archive, "calibrate", "--name", "eye", "--task", TASK, "--json")[1])
    found = logged(archive).measure("eye")[0].agreement
    assert document["agreement"][TASK] == json.loads(json.dumps(found.to_json()))
    assert document["skipped"] == []


def test_where_a_judge_that_looks_has_not_looked_one_is_trained(archive, capsys):
    status, _, errors = run(capsys, archive, "calibrate", "--name", "eye", "--task", "atari/breakout")
    assert status == 1
    assert "atari/breakout has 0 answers by people about 0 seeds" in errors


def logged_with(session, judge, viewings):
    """Answers of a judge to one pair that people answered, as a program may send them; not committed."""
    pair = judged_pairs(session, TASK)[0]
    answers = [
        ModelAnswer(
            match_id=f"{judge}{number}".encode().hex()[:24].ljust(24, "0"),
            task_hash=find(TASK).content_hash,
            seat="player",
            outcome="left",
            responses={},
            reason="because",
            viewing=viewing,
            **{name: getattr(pair, name) for name in ("seed", "left_episode", "right_episode", "left_agent", "right_agent")},
        )
        for number, viewing in enumerate(viewings)
    ]
    add_model_answers(session, judge=judge, task=TASK, answers=answers, now=START)


def test_probabilities_that_are_none_are_taken_for_none(archive):
    good = {"left": 0.5, "draw": 0.25, "right": 0.25}
    odd = [
        {"left": 0.9}, {"left": 50, "draw": 0, "right": 50}, {"left": 0.5, "draw": 0.1, "right": 0.1}, "x", 3, {}, None,
        {"left": "a", "draw": 0, "right": 1}, {"left": True, "draw": 0, "right": 0}, {"left": -1, "draw": 1, "right": 1},
    ]  # fmt: skip
    with archive.database.read() as session:
        logged_with(session, "model:odd", [{"probabilities": one} for one in (*odd, good)])
        found = model_opinions(session, "model:odd", TASK)
        people = judged_pairs(session, TASK)
    assert [one.probabilities for one in found] == [None] * len(odd) + [good]
    assert all(np.isfinite(compare([one], people).brier) for one in found)


def test_a_judge_that_sends_probabilities_is_measured_and_not_trained_over(archive, capsys):
    with archive.database.write() as session:
        logged_with(session, "model:far", [{"probabilities": {"left": 0.5, "draw": 0.25, "right": 0.25}}])
    try:
        status, text, _ = run(capsys, archive, "calibrate", "--name", "far", "--json")
        assert status == 0
        assert json.loads(text)["agreement"][TASK]["num_pairs"] == 1
        assert not (archive.root / "models" / "judges" / "far").exists()
    finally:
        with archive.database.write() as session:
            bans.ban(session, judge="model:far", reason="a test's", now=START)
    assert "far" not in {one.name for one in logged(archive).measure()}  # as on the leaderboard's tab


def test_a_judge_that_learnt_is_not_measured_on_what_it_learnt_from_and_shares_no_name(archive, tmp_path):
    judge = calibrate(archive, TASK, name="wink", seed=1, now=START)
    path = save(judge, archive.root)
    try:
        assert [one.name for one in logged(archive).measure()] == ["eye"]
        with pytest.raises(ModelJudgeError, match=r"model:wink is a judge that learnt(?s:.*)Choose one:  --name"):
            answer_by_looking(archive, "wink", TASK, lambda left, right: {}, now=lambda: START, rng=np.random.default_rng(0))
    finally:
        path.unlink()
