"""The page about model judges: empty, and with what a calibration found."""

import html
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from board_world import fill
from starlette.testclient import TestClient

import interplay.record
from interplay.model_judges import PreferenceModel, TaskJudge, YesNoModel, save
from interplay.model_judges.calibration import FactorAgreement, measure
from interplay.model_judges.predictions import OUTCOMES
from interplay.model_judges.preference import Scale
from interplay.model_judges.saving import SavingPoint
from interplay.web.app import create_app
from interplay.web.judging.calibration import reliability, savings

TASK = "atari/space_invaders"


def a_judge() -> TaskJudge:
    rng = np.random.default_rng(0)
    p = rng.dirichlet([4, 1, 4], 500)
    outcomes = [OUTCOMES[rng.choice(3, p=row)] for row in p]
    found = measure(p, outcomes, rng.integers(0, 11, 500).tolist(), [("ab", "left"), ("ab", "left")])
    found = replace(
        found,
        factors=(
            FactorAgreement("skill", "skill", 480, 0.71, 0.44, 0.62, 31),
            FactorAgreement("progress", "task <success>", 960, 0.8, 0.6, None, 0),
        ),
        saving=(SavingPoint(5, 0.31, 0.62), SavingPoint(50, 0.7, 0.92), SavingPoint(500, 1.0, 0.98)),
        answers_saved=311,
    )
    scale = Scale(("reward", "video:change"), np.zeros(2), np.ones(2))
    model = PreferenceModel(np.array([1.2, -0.4]), 0.1)
    direct = {"progress": YesNoModel(np.array([1.0, 0.0]), 0.0)}
    return TaskJudge(
        "preference", TASK, scale, model, {"skill": model}, direct, found, 7, datetime(2026, 3, 1, tzinfo=UTC).isoformat()
    )


@pytest.fixture
def archive(tmp_path):
    archive = interplay.record.open(tmp_path / "data")
    yield archive
    archive.database.close()


@pytest.fixture
def client(archive):
    with TestClient(create_app(archive)) as client:
        yield client


def test_without_a_judge_the_page_says_how_to_make_one(client):
    page = client.get("/judges/models")
    assert page.status_code == 200
    assert "interplay judge calibrate" in page.text


def test_the_page_shows_every_figure_and_escapes_names(archive, client):
    judge = a_judge()
    save(judge, archive.root)
    text = client.get("/judges/models").text
    found = judge.calibration
    for expected in (
        f"{100 * found.accuracy:.0f} %", f"{found.brier:.3f}", f"{found.calibration_error:.3f}", "311", "task &lt;success&gt;",
        "model:preference", "reward (+1.20)", "Reliability diagram",
    ):  # fmt: skip
        assert expected in text
    assert "<success>" not in text


def test_the_plot_of_a_perfect_prediction_has_one_point():
    found = measure(np.array([[1.0, 0.0, 0.0]] * 4), ["left"] * 4, [1, 2, 3, 4], [])
    assert reliability(found.bins)["rows"] == [(1.0, 1.0, 4)]


def test_the_curve_has_a_line_without_the_model_and_one_with_it():
    plot = savings([SavingPoint(5, -0.4, 0.5), SavingPoint(10, 1.0, 1.0)])
    assert plot is not None
    assert [one["name"] for one in plot["series"]] == ["people alone", "with the model"]
    assert plot["rows"] == [(0, 5, -0.4), (0, 10, 1.0), (1, 5, 0.5), (1, 10, 1.0)]
    assert savings([]) is None


def test_a_judge_that_knows_no_more_than_the_shares_and_what_was_left_out_are_told(archive, client):
    judge = a_judge()
    blind = PreferenceModel(np.zeros(2), 0.1)
    known = replace(judge.calibration, brier_gain_low=-0.01, num_left_out=1223)
    save(replace(judge, overall=blind, calibration=known), archive.root)
    text = client.get("/judges/models").text
    assert "1,223 of 1,723 answers are left out: this server has no video of their episodes." in text
    assert "Do not use it yet" in html.unescape(text)
    assert "It has learnt nothing" in text


def test_a_judge_that_looks_is_shown_by_its_agreement_with_people(archive, client):
    fill(archive, tasks=[TASK], num_answers=200)
    fill(archive, tasks=[TASK], num_answers=60, num_judges=1, judge_kind="model", seed=1)
    text = client.get("/judges/models").text
    assert "model:0" in text
    assert "95 % interval" in text
    assert "its answers count as certain" in text
    assert "the judge answered 60" in text
    assert "No model judge yet" not in text
    assert client.get("/judges/models").text == text
    fill(archive, tasks=[TASK], num_answers=30, num_judges=1, judge_kind="model", seed=2)
    assert "the judge answered 90" in client.get("/judges/models").text


def test_a_judge_whose_pairs_nobody_answered_says_so(archive, client):
    fill(archive, tasks=[TASK], num_answers=1, num_judges=1, judge_kind="model")
    text = client.get("/judges/models").text
    assert "It has answered 1 pair of videos. People have not answered any of them yet" in text


def test_a_judge_of_a_task_that_is_not_on_offer_is_measured_without_questions(tmp_path):
    archive = interplay.record.open(tmp_path / "other")
    fill(archive, tasks=[TASK], num_answers=100)
    fill(archive, tasks=[TASK], num_answers=60, num_judges=1, judge_kind="model", seed=1)
    with TestClient(create_app(archive, suites=())) as client:
        text = client.get("/judges/models").text
    archive.database.close()
    assert TASK in text
    assert "Agreement with people by question" not in text
