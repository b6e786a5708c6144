"""The scripted judge prefers higher returns, calls near ties draws, and fills in the whole form."""

import numpy as np
import pytest

from interplay.judge.scripted import ScriptedJudge
from interplay.tasks import find

JUDGE = ScriptedJudge("judge-1")


def share_left(left: float, right: float, num: int = 2000) -> float:
    rng = np.random.default_rng(0)
    return sum(JUDGE.outcome(left, right, rng) == "left" for _ in range(num)) / num


def test_a_much_better_side_is_nearly_always_preferred():
    assert share_left(500, 100) > 0.98
    assert share_left(100, 500) < 0.02


def test_a_close_call_is_often_wrong():
    # 500 against 450: doubt is 0.15 * 500 = 75, so 1 / (1 + exp(-50 / 75)) = 0.661
    assert share_left(500, 450) == pytest.approx(0.661, abs=0.03)


@pytest.mark.parametrize(("left", "right"), [(0, 0), (100, 100), (100, 98)])
def test_near_equal_returns_are_a_draw(left, right):
    assert JUDGE.outcome(left, right, np.random.default_rng(0)) == "draw"


def test_the_form_answers_every_question_but_the_overall_one_by_itself():
    questions = find("atari/breakout").to_json()["questions"]
    form = JUDGE.form(questions, 10, 3, np.random.default_rng(0))
    assert set(form["responses"]) == {question["id"] for question in questions if question["kind"] != "overall"}
    assert len(form["reason"]) >= 100
    assert form["outcome"] in ("left", "right", "draw")
