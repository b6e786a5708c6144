"""The learned reward beside a replay."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import interplay.record
from interplay import starter
from interplay.files import write_json
from interplay.learn.reward.storage import Along, read_along, write_along
from interplay.tasks import builtin_suites
from interplay.web.app import create_app
from interplay.web.plots import reward_plot

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Starlette would like another HTTP library
    from starlette.testclient import TestClient

TASK = "atari/breakout"


@pytest.fixture
def archive(tmp_path):
    archive = interplay.record.open(tmp_path / "data")
    starter.enter(
        archive,
        [replace(suite, tasks=tuple(task for task in suite.tasks if task.id == TASK)) for suite in builtin_suites()],
    )
    yield archive
    archive.close()


def test_the_page_of_a_game_shows_each_reward_that_is_kept_along_it(archive):
    first, second = [one.id for one in archive.episodes(task=TASK)][:2]
    folder = archive.root / "rewards" / "liked"
    folder.mkdir(parents=True)
    steps = np.arange(0, 2000, 4)
    write_along(folder, [(first, steps, np.sin(steps / 100), np.full(len(steps), 0.2))])
    write_json(folder / "reward.json", {"answers": 1200, "judges": "people", "correlation": 0.87})
    client = TestClient(create_app(archive))
    page = client.get(f"/episodes/{first}").text
    assert "/static/js/rewards.js" in page
    assert 'aria-label="Learned reward liked"' in page
    assert "From 1,200 answers of people. Its rank correlation with the score of other games is 0.87" in page
    other = client.get(f"/episodes/{second}").text
    assert "Learned reward" not in other
    assert "rewards.js" not in other
    (folder / "reward.json").write_text("{")
    assert client.get(f"/episodes/{first}").status_code == 200
    assert read_along(archive.root, first) == []


def test_long_games_are_thinned(tmp_path):
    folder = tmp_path / "rewards" / "r"
    folder.mkdir(parents=True)
    steps = np.arange(5000)
    write_along(folder, [("long", steps, steps / 5000, np.zeros(5000))])
    write_json(folder / "reward.json", {"answers": 3, "judges": "all", "correlation": None})
    (along,) = read_along(tmp_path, "long")
    assert 500 < len(along.steps) <= 600
    plot = reward_plot(along, 5000)
    np.testing.assert_allclose(plot["rows"], np.stack([along.steps, along.rewards, along.spread], -1), atol=1e-4)
    assert (plot["end"], plot["low"], plot["high"]) == (5000, plot["rows"][0][1], plot["rows"][-1][1])
    assert plot["low"] < 0.001 < 0.99 < plot["high"]


def test_a_reward_that_never_changes_has_a_plot():
    plot = reward_plot(Along("flat", 1, "people", None, [0, 1], [0.5, 0.5], [0.25, 0.0]), 0)
    assert (plot["low"], plot["high"], plot["end"]) == (0.25, 0.75, 1)
