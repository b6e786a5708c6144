"""CrowdPlay's analyses on a small crowd that really played, and the arithmetic behind them."""

import csv
import math
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from crowd import FRAMES, RIGHT, TIME, Crowd
from scipy.stats import mannwhitneyu

import interplay.record
from interplay.cli import main
from interplay.errors import NotFoundError
from interplay.record import Owner
from interplay.record.catalogue import ConditionError
from interplay.report import holm, mann_whitney, write_report
from interplay.report.crowdplay.embedding import PAPER, embed, nearness, place
from interplay.report.crowdplay.plays import action_shares, latencies, quality_of
from interplay.report.crowdplay.report import NothingPlayedError, crowdplay_report
from interplay.study.definition import builtin_studies
from interplay.tasks import find

KITCHEN = find("overcooked/cramped_room")
HOUR = 3600


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """Two treatments with seven people each, five visitors by the open link, an agent, and some teams."""
    archive = interplay.record.open(tmp_path_factory.mktemp("crowd"))
    crowd = Crowd(archive)
    time, right = crowd.open("time", TIME), crowd.open("right", RIGHT)
    for number in range(7):
        crowd.play(time, f"T{number}", "left" if number % 2 else "idle", seed=number)
        crowd.play(right, f"O{number}", "right", seed=100 + number)
    crowd.play(time, "T0", "right", seed=50)  # in the same visit: half of what they gave is good
    for number in range(5):
        crowd.play(right, f"V{number}", "still", seed=200 + number, channel="open")
    for number in range(3):
        crowd.record(Owner("robot", "agent"), "right", seed=300 + number)
    for score in (100.0, 120.0, 140.0):
        crowd.team(KITCHEN, score, "ada", "scripted")
    crowd.team(KITCHEN, 60.0, "bob", "ada", second=20.0)
    yield archive
    archive.close()


@pytest.fixture(scope="module")
def report(archive):
    return crowdplay_report(archive)


def rows(report, id: str, key: str = "task") -> dict:
    found = next(block for block in report.blocks if block.id == id)
    return {row[key]: row for row in found.records()}


def section(report, id: str):
    return next(one for one in report.sections if one.id == id)


def test_hours_are_those_in_which_people_had_a_seat_by_task_part_and_channel(report):
    found = rows(report, "hours-by-task")
    game = FRAMES / 60 / HOUR
    invaders = found["Space Invaders"]
    assert invaders["plays"] == 20
    assert invaders["prolific (h)"] == pytest.approx(15 * game)
    assert invaders["open (h)"] == pytest.approx(5 * game)
    assert invaders["total (h)"] == pytest.approx(20 * game)
    kitchen = 100 / 6.25 / HOUR
    assert found["– people only"]["total (h)"] == pytest.approx(2 * kitchen)
    assert found["– with an agent"]["total (h)"] == pytest.approx(3 * kitchen)
    assert found["all"]["total (h)"] == pytest.approx(20 * game + 5 * kitchen)
    assert found["all"]["good (h)"] < found["all"]["total (h)"]
    who = rows(report, "who-played", "kind")
    assert (who["people"]["episodes"], who["agents"]["episodes"]) == (24, 6)
    assert who["agents"]["not readable"] == 3, "those of the teams have no file"


def test_good_is_what_a_study_asks_for_also_under_incentives_that_ask_for_nothing(archive, report):
    caption = next(block for block in report.blocks if block.id == "hours-by-task").caption
    assert "right: right_side >= 0.4" in caption
    amounts = rows(report, "treatments-1", "treatment")
    assert set(amounts) == {"right, open", "right, prolific", "time"}
    assert amounts["time"]["people"] == 7
    assert amounts["time"]["all, mean (s)"] == pytest.approx(8 * FRAMES / 60 / 7)
    assert amounts["time"]["good, mean (s)"] == pytest.approx(FRAMES / 60 / 7)
    assert amounts["time"]["good share, mean (%)"] == pytest.approx(50 / 7)
    assert [amounts[name]["good share, mean (%)"] for name in ("right, prolific", "right, open")] == [100, 0]
    stricter = crowdplay_report(archive, quality=["right_side >= 0.4", "score >= 100000"])
    assert rows(stricter, "hours-by-task")["all"]["good (h)"] == 0
    rules = quality_of(builtin_studies().values(), {"inside_out", "left_side"}).of_variants
    assert rules["atari/space_invaders", "inside_out"][0].value == 0.8


def test_treatments_are_compared_pair_by_pair_as_scipy_does_and_by_holm(archive, report):
    pairs = next(block for block in report.blocks if block.id == "treatments-1-share-pairs").records()
    assert len(pairs) == 3
    assert sorted(row["p corrected"] for row in pairs) == sorted(holm([row["p"] for row in pairs]))
    for row in pairs:
        assert row["from"] <= row["chance that the first is higher"] <= row["to"]
    assert "Few people" in " ".join(section(report, "treatments").paragraphs)
    assert "right, open (n = 5)" in " ".join(section(report, "treatments").paragraphs)


def test_the_mann_whitney_effect_and_its_interval(archive):
    groups = {"a": [1, 2, 3, 4.0], "b": [5, 6, 7, 8, 9.0], "c": [2, 2, 2.0]}
    tests = {(one.a, one.b): one for one in mann_whitney(groups)}
    assert tests["a", "b"].superiority == 0
    assert tests["a", "b"].low == 0
    assert 0.2 < tests["a", "b"].high < 0.6, "four and five people without overlap leave much open"
    assert tests["a", "b"].p == pytest.approx(2 / math.comb(9, 4))  # two of the 126 orders are as far apart
    assert tests["a", "c"].superiority == pytest.approx((3 * 0 + 3 * 0.5 + 3 + 3) / 12)  # by hand
    swapped = mann_whitney({"b": groups["b"], "a": groups["a"]})[0]
    assert swapped.high == 1
    assert swapped.low == pytest.approx(1 - tests["a", "b"].high)
    assert mann_whitney({"a": [1.0, 1.0], "b": [1.0]})[0].p == 1
    assert holm([0.01, 0.02, 0.03, 0.5]) == pytest.approx([0.04, 0.06, 0.06, 0.5])  # Holm 1979, by hand


def test_the_interval_of_the_effect_holds_the_truth_nineteen_times_of_twenty():
    rng = np.random.default_rng(0)
    true, num = 0.6915, 400  # of normals half a standard deviation * sqrt(2) apart: Phi(0.5)
    held = 0
    for _ in range(num):
        a, b = rng.normal(0.5 * math.sqrt(2), 1, 20), rng.normal(0, 1, 15)
        one = mann_whitney({"a": a, "b": b})[0]
        assert one.statistic == mannwhitneyu(a, b).statistic
        held += one.low <= true <= one.high
    # 380 are expected; fewer than 355 or more than 398 have a chance below one in a million.
    assert 355 <= held <= 398


def test_maps_are_of_people_by_channel_and_of_behaviours_with_agents_among_them(report):
    by_id = {block.id: block for block in report.blocks}
    channel = by_id["map-ale-space_invaders-channel"]
    assert {row["group"] for row in channel.table} == {"prolific", "open"}
    assert len(channel.table) == 20
    assert "n = 20 plays" in channel.caption
    assert "Perplexity 6.33, less than the paper's 30" in channel.caption
    behaviour = by_id["map-ale-space_invaders-behaviour"]
    placed = [row for row in behaviour.table if row["placed"]]
    assert [row["group"] for row in placed] == ["robot"] * 3
    assert all(row["episode"] for row in placed)
    assert {row["episode"] for row in channel.table} == {None}, "nobody agreed that their games may be released"
    near = rows(report, "map-distances", "agent")["robot"]
    assert near["plays"] == 3
    assert near["agent to nearest person"] < 0.2, "the robot plays as those who go right"
    parameters = rows(report, "map-parameters", "parameter")
    assert {name: parameters[name]["the paper"] for name in ("learning_rate", "max_iter", "init")} == {
        "learning_rate": "200", "max_iter": "1000", "init": "pca",
    }  # fmt: skip
    assert all(str(parameters[name]["here"]) == str(parameters[name]["the paper"]) for name in PAPER if name != "perplexity")
    assert "cogrid" not in " ".join(by_id), "the kitchen's games have no files"


def test_latency_counts_each_input_once_and_shows_its_distribution(report):
    found = rows(report, "latency")["Space Invaders"]
    assert found["plays"] == 20
    assert found["inputs"] == 20 * FRAMES // 20
    assert found["50 % (ms)"] == 40
    assert found["99 % (ms)"] == 200
    assert found["median (steps)"] == pytest.approx(40 * 60 / 1000)
    line = next(block for block in report.blocks if block.id == "figure-latency").table
    assert line[-1] | {"num": 0} == {"name": "Space Invaders", "num": 0, "value": 200.0, "share": 100.0}
    assert "5 plays of people say nothing of latency" in section(report, "latency").paragraphs[0]


def test_teams_are_named_by_who_played_whatever_their_seats(report):
    found = rows(report, "teams", "pairing")
    assert set(found) == {"person + person", "person + scripted"}
    assert found["person + scripted"]["mean"] == 120
    assert found["person + scripted"]["from"] == pytest.approx(120 - 4.302653 * 20 / math.sqrt(3), abs=1e-4)  # t of 2 degrees
    assert found["person + person"]["mean"] == 40
    assert found["person + person"]["difference of the seats, mean"] == 40
    assert found["person + person"]["from"] is None


def test_the_same_recordings_give_the_same_numbers_and_every_figure_has_its_table(archive, report, tmp_path):
    written = write_report(report, tmp_path / "one")
    assert crowdplay_report(archive).to_json() == report.to_json()
    for block in report.blocks:
        with (written.tables / f"{block.id}.csv").open() as file:
            assert len(list(csv.reader(file))) > 1, block.id


def test_a_folder_with_agents_alone_says_what_is_missing_of_people(tmp_path):
    archive = interplay.record.open(tmp_path)
    Crowd(archive).record(Owner("robot", "agent"), "left", seed=1)
    report = crowdplay_report(archive)
    said = {one.id: " ".join(one.paragraphs) for one in report.sections}
    assert "No person has played" in said["hours"]
    assert "ale:space_invaders (n = 1)" in said["maps"]
    assert "takes two studies" in said["treatments"]
    assert "takes games in the browser" in said["latency"]
    assert "No game of several seats" in said["teams"]
    archive.close()


def test_what_cannot_be_reported_is_an_error_that_says_what_to_do(archive, tmp_path, capsys):
    empty = interplay.record.open(tmp_path / "empty")
    with pytest.raises(NothingPlayedError, match=r"no recordings in .*\nPlay something"):
        crowdplay_report(empty)
    empty.close()
    with pytest.raises(NotFoundError, match="insideout"):
        crowdplay_report(archive, quality=["insideout >= 0.8"])
    with pytest.raises(ConditionError, match="cannot read the condition"):
        crowdplay_report(archive, quality=["inside_out"])
    with pytest.raises(NothingPlayedError, match="--quality compares numbers"):
        crowdplay_report(archive, quality=["outcome = quit"])
    with pytest.raises(SystemExit) as end:
        main(["report", "crowdplay", "--data", str(tmp_path / "nowhere")])
    assert end.value.code == 1
    assert "holds no interplay.db" in capsys.readouterr().err


def test_shares_of_actions_of_every_kind_of_action():
    discrete = action_shares(pa.array([0, 0, 11, 99]), find("atari/space_invaders"))
    assert discrete == {"no key": 0.5, "FIRE+RIGHT": 0.25, "action 99": 0.25}
    camera = pa.FixedSizeListArray.from_arrays(pa.array([0.0, 0.0, 0.0, 1.5]), 2)
    keys = pa.StructArray.from_arrays([pa.array([1, 0]), camera], ["jump", "camera"])
    assert action_shares(keys, find("basalt/find_cave")) == {"jump": 0.5, "camera": 0.5}
    assert action_shares(pa.array([], pa.int64()), find("atari/space_invaders")) == {}


def test_an_input_that_is_in_force_for_many_steps_counts_once():
    steps = pa.table(
        {
            "input.player.received_us": pa.array([None, 5, 5, 9, None], pa.int64()),
            "input.player.latency_ms": pa.array([None, 30.0, 30.0, 30.0, None], pa.float32()),
        }
    )
    assert latencies(steps, "player").tolist() == [30.0, 30.0]


def test_points_placed_in_a_map_stand_where_their_like_stand():
    rng = np.random.default_rng(1)
    clusters = np.repeat(np.eye(3) * 3, 20, axis=0)
    features = clusters + rng.normal(0, 0.1, clusters.shape)
    drawn = embed(features, seed=0)
    new = np.eye(3) * 3
    placed = place(features, drawn, new, seed=0)
    assert placed is not None
    centres = drawn.points.reshape(3, 20, 2).mean(axis=1)
    nearest = np.linalg.norm(placed[:, None] - centres[None], axis=2).argmin(axis=1)
    assert nearest.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(embed(features, seed=0).points, drawn.points)
    assert nearness(features, new + 10).placed > 10 * nearness(features, new).placed
    assert not embed(np.ones((12, 4)), seed=0).points.any(), "equal plays stand in one place"


def test_a_map_without_opentsne_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "openTSNE", None)
    features = np.random.default_rng(0).random((12, 3))
    assert place(features, SimpleNamespace(points=features, parameters={}), features, seed=0) is None
