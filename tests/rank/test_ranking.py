"""What a leaderboard must not claim: an order by rounding, an order across groups, an interval from one answer."""

from dataclasses import astuple

import numpy as np
import pytest

from interplay.rank import Comparison, leaderboard
from interplay.rank.leaderboards import Resampling, boards
from interplay.rank.methods import METHODS


def log(*answers: str) -> list[Comparison]:
    """`a>b` for the left one, `a<b` for the right one, `a=b` for a draw, `:judge` behind it."""
    found = []
    for answer in answers:
        said, _, judge = answer.partition(":")
        mark = next(mark for mark in "<>=" if mark in said)
        left, right = said.split(mark)
        found.append(Comparison(left, right, {">": "left", "<": "right", "=": "draw"}[mark], "dig", judge or "eve"))
    return found


@pytest.mark.parametrize("method", METHODS)
def test_agents_that_drew_share_a_rank_though_rounding_parts_their_scores(method):
    """TrueSkill gives the two sides of a draw scores that differ by 1.4e-14."""
    rows = boards(log("a=b"), method).overall.rows
    assert [(row.rank, row.agent) for row in rows] == [(1, "a"), (1, "b")]
    assert [(row.rank, row.agent) for row in leaderboard(log("b=a"))] == [(1, "a"), (1, "b")]


def test_one_answer_gives_no_interval():
    for unit in ["answers", "judges"]:
        for method in METHODS:
            rows = boards(log("a>b"), method, resampling=Resampling(50, unit)).overall.rows
            assert [(row.score_low, row.score_high, row.rank_low, row.rank_high) for row in rows] == [(None,) * 4] * 2


@pytest.mark.parametrize("unit", ["answers", "judges"])
def test_answers_that_all_say_the_same_give_no_interval_without_width(unit):
    for row in boards(log("a>b:eve", "a>b:joe", "a>b:ann"), "bradley-terry", resampling=Resampling(50, unit)).overall.rows:
        assert row.score_low is None


def test_one_judge_gives_no_interval_when_judges_are_drawn():
    answers = log("a>b", "b>c", "a>c", "c>a", "b>a")
    assert all(row.score_low is None for row in boards(answers, resampling=Resampling(50, "judges")).overall.rows)
    assert all(row.score_low is not None for row in boards(answers, resampling=Resampling(50, "answers")).overall.rows)


@pytest.mark.parametrize("method", METHODS)
def test_agents_that_no_answer_connects_are_not_put_in_one_order(method):
    answers = log("a>b", "c>d", "b=e", "a>b")
    board = boards(answers, method, resampling=Resampling(50)).overall
    assert [(row.group, row.agent) for row in board.rows if row.rank == 1] == [(1, "a"), (2, "c")]
    assert [row.group for row in board.rows] == [1, 1, 1, 2, 2]
    assert any("2 groups" in note for note in board.notes)
    assert all(row.rank_high <= 3 for row in board.rows if row.rank_high is not None)
    assert [(row.group, row.rank, row.agent) for row in leaderboard(answers)] == [
        (row.group, row.rank, row.agent) for row in boards(answers).overall.rows
    ]


def test_connected_agents_have_one_order_and_no_note():
    board = boards(log("a>b", "b>c")).overall
    assert ([row.rank for row in board.rows], board.notes) == ([1, 2, 3], ())


def test_the_normalised_score_is_ranked_by_the_same_rule():
    def of(task, answers):
        return [one._replace(task=task) for one in answers]

    answers = of("dig", log("a>b", "c>d")) + of("swim", log("a>b", "c>d"))
    rows = boards(answers).normalised
    assert [(row.group, row.rank, row.agent) for row in rows] == [(1, 1, "a"), (1, 2, "b"), (2, 1, "c"), (2, 2, "d")]


def test_rounding_never_parts_what_a_larger_log_leaves_equal():
    rng = np.random.default_rng(0)
    names = ["a", "b", "c", "d"]
    answers = []
    for _ in range(200):  # every answer and its mirror image: nobody is better
        left, right = rng.choice(names, 2, replace=False)
        outcome = rng.choice(["left", "right", "draw"])
        mirrored = {"left": "right", "right": "left", "draw": "draw"}[outcome]
        answers += [Comparison(left, right, outcome), Comparison(left, right, mirrored)]
    for method in ("bradley-terry", "davidson"):
        rows = boards(answers, method).overall.rows
        assert {row.rank for row in rows} == {1}, [astuple(row) for row in rows]
