"""Answers to questions become scores of factors, and agents keep their looks."""

import math
from datetime import UTC, datetime

import pytest

from interplay.report.bedd.factors import factor_scores, points
from interplay.report.plots import _COLOURS, agent_styles
from interplay.store.judging.verdicts import FullAnswer
from interplay.tasks import Question

HARM = Question("harm", "Least Village Harm", "direct", "")
FOUND = Question("found", "Found Cave", "direct", "")
STYLE = Question("style", "Better Style Matching", "comparative", "")
OVERALL = Question("overall", "overall", "overall", "")


def answer(left: str, right: str, outcome: str, **responses) -> FullAnswer:
    return FullAnswer(1, "t", 1, left, right, outcome, responses, "", "j", datetime(2026, 1, 1, tzinfo=UTC), 1.0, {})


def test_a_win_is_one_a_draw_a_half_and_not_applicable_nothing():
    assert points(STYLE, "left") == (1.0, 0.0)
    assert points(STYLE, "right") == (0.0, 1.0)
    assert points(STYLE, "draw") == (0.5, 0.5)
    assert points(STYLE, "na") == (None, None)
    assert points(STYLE, None) == (None, None)


def test_a_yes_is_one_but_harm_counts_against_its_doer():
    assert points(FOUND, {"left": True, "right": False}) == (1.0, 0.0)
    assert points(HARM, {"left": True, "right": False}) == (0.0, 1.0)
    assert points(FOUND, {"left": True}) == (1.0, None)
    assert points(FOUND, "left") == (None, None)


def test_of_the_basalt_suite_only_the_questions_of_harm_are_inverted(forms):
    inverted = {(task, question.id) for task, questions in forms.items() for question in questions if question.is_inverted}
    assert inverted == {("basalt/create_village_animal_pen", "harm"), ("basalt/build_village_house", "harm")}


def test_scores_are_means_with_standard_errors_from_each_agent_s_side():
    answers = [
        answer("a", "b", "left", style="left", harm={"left": True, "right": False}),
        answer("b", "a", "draw", style="na", harm={"left": False, "right": False}),
        answer("c", "a", "left", style="draw", harm={"left": False, "right": False}),
    ]
    scores = {(row.factor, row.agent): row for row in factor_scores(answers, [HARM, STYLE, OVERALL], ["a", "b"])}
    assert scores["Better Overall", "a"][2:4] == (3, pytest.approx(0.5))  # 1, 0.5, 0
    assert scores["Better Overall", "a"].se == pytest.approx(0.5 / math.sqrt(3))
    assert scores["Better Style Matching", "a"][2:4] == (2, 0.75)
    assert scores["Least Village Harm", "a"][2:4] == (3, pytest.approx(2 / 3))
    assert scores["Better Style Matching", "b"][2:4] == (1, 0.0)
    assert math.isnan(scores["Better Style Matching", "b"].se)
    assert ("Better Overall", "c") not in scores


def test_an_agent_looks_the_same_wherever_the_roster_is_the_same_and_no_two_look_alike():
    roster = [f"agent-{number}" for number in range(17)]
    assert len(set(agent_styles(roster).values())) == 17


def test_every_colour_stands_out_from_the_light_and_from_the_dark_page():
    for colour in _COLOURS:
        assert min(contrast(colour, "#ffffff"), contrast(colour, "#1a201e")) >= 3


def contrast(a: str, b: str) -> float:
    """WCAG 2 contrast ratio."""
    dark, light = sorted(luminance(colour) for colour in (a, b))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
