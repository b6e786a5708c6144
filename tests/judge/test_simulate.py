"""A simulation draws known skills, asks as a policy says, and counts answers until the ranking is recovered."""

import csv
import json
import math

import numpy as np
import pytest

from interplay.cli import main
from interplay.cli.judge.simulate import PolicyName, ProfileName, RatingName
from interplay.errors import InterplayError, NotFoundError
from interplay.judge.pairing import PAIRING_RULES, Evidence
from interplay.judge.pairing.simulate import (
    METHODS,
    NOISE,
    PROFILES,
    PUBLISHED_SCORES,
    Needed,
    Run,
    Simulation,
    SimulationError,
    curves,
    draw_margin,
    estimates,
    fingerprint,
    needed,
    quartiles,
    simulate,
    summary,
    true_skills,
)
from interplay.judge.pairing.simulated_runs import SimulatedRuns
from interplay.rank.compare import rank_correlation
from interplay.report.matchmaking import plot_matchmaking, save_matchmaking

SMALL = Simulation(num_agents=6, max_answers=30, every=10)
COMMON = ["--agents", "5", "--seeds", "2", "--answers", "20", "--every", "10", "--processes", "1"]


def command(capsys, *arguments) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of one call."""
    with pytest.raises(SystemExit) as stop:
        main(["judge", "simulate", *map(str, arguments)])
    output = capsys.readouterr()
    return stop.value.code, output.out, output.err


# The truth


def test_skills_have_the_spread_that_is_asked_for():
    skills = true_skills(Simulation(num_agents=1000, spread=0.5), np.random.default_rng(0))
    assert skills.mean() == pytest.approx(0, abs=1e-9)
    assert skills.std() == pytest.approx(0.5 * NOISE, rel=0.15)  # six standard errors


def test_the_published_profile_has_the_published_scores():
    skills = true_skills(Simulation(profile="bedd"), np.random.default_rng(0)) / NOISE
    assert skills.std() == pytest.approx(1)
    assert all(np.isclose(skills, score).any() for score in PUBLISHED_SCORES)
    assert (skills > 2).sum() == 2  # two humans


def test_the_published_profile_works_for_other_numbers_of_agents():
    for num_agents in (3, 6, 7, 30):
        assert true_skills(Simulation(num_agents=num_agents, profile="bedd"), np.random.default_rng(0)).shape == (num_agents,)


@pytest.mark.parametrize("draws", [0.02, 0.12, 0.6])
def test_judges_draw_as_often_as_is_asked_for(draws):
    rng = np.random.default_rng(1)
    skills = true_skills(Simulation(), rng)
    margin = draw_margin(skills, draws)
    rows, columns = np.triu_indices(17, 1)
    leads = skills[rows] - skills[columns] + rng.normal(0, NOISE, (2000, len(rows)))
    assert (np.abs(leads) <= margin).mean() == pytest.approx(draws, abs=0.006)  # 272,000 answers


# What is measured


def test_rank_correlation_equals_scipy_ties_included():
    from scipy.stats import spearmanr

    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = rng.normal(size=12), rng.integers(5, size=12).astype(float)
        assert rank_correlation(a, b) == pytest.approx(spearmanr(a, b).statistic)
    assert rank_correlation(a, np.ones(12)) == 0.0


def test_first_there_and_there_to_stay_are_told_apart():
    answers = [5, 10, 15, 20]
    assert needed(answers, [0.99, 0.99, 0.99, 0.95], 0.95) == Needed(5, 5)
    assert needed(answers, [0.1, 0.96, 0.2, 0.3], 0.95) == Needed(10, None)
    assert needed(answers, [0.1, 0.2, 0.2, 0.3], 0.95) == Needed(None, None)


def test_runs_that_never_got_there_count_as_the_longest():
    assert quartiles([10, None, None]) == (None, None, None, 1, 3)
    assert quartiles([10, 20, None]).median == 20
    assert quartiles([]).median is None


def test_the_rating_methods_rank_by_what_they_say():
    evidence = Evidence([("a", "b", "left")] * 3 + [("b", "a", "left"), ("b", "c", "left"), ("c", "b", "left")])
    names = ["a", "b", "c"]
    mu, score = (estimates(evidence, names, method) for method in ("trueskill", "trueskill-score"))
    assert mu[0] == evidence.standings.rating("a").mu
    assert score[0] == evidence.standings.rating("a").score
    # Three to one is log(3) apart, one to one not at all (the Bradley-Terry fit of a chain).
    strength = estimates(evidence, names, "bradley-terry")
    assert strength[0] - strength[1] == pytest.approx(math.log(3))
    assert strength[1] - strength[2] == pytest.approx(0, abs=1e-9)


def test_the_summary_is_right_about_runs_made_by_hand():
    def run(policy, seed, *values):
        return Run(policy, seed, [10, 20, 30], {"trueskill": list(values)})

    runs = [run("round-robin", 0, 0.5, 0.6, 0.96), run("round-robin", 1, 0.5, 0.96, 0.97), run("order", 0, 0.97, 0.5, 0.98)]
    reference, order = summary(runs, 0.95)
    assert (reference["first"].median, reference["lasting"].median, reference["first_ratio"]) == (25, 25, 1.0)
    assert (order["first"].median, order["lasting"].median) == (10, 30)
    assert (order["first_ratio"], order["lasting_ratio"], order["median_curve_ratio"]) == (0.4, 1.2, 0.333)
    assert curves(runs)[1] == {
        "policy": "round-robin", "method": "trueskill", "answers": 20, "q1": 0.69, "median": 0.78, "q3": 0.87, "num": 2,
    }  # fmt: skip


# Runs


def test_a_run_repeats_itself_and_looks_when_it_should():
    for name in ["order", "round-robin", "information", "focus"]:
        for num_judges in [1, 7]:
            settings = Simulation(num_agents=6, max_answers=30, every=10, num_judges=num_judges)
            run = simulate(settings, name, 3)
            assert run == simulate(settings, name, 3)
            assert run.answers == [10, 20, 30]
            assert run.correlation.keys() == {"trueskill", "bradley-terry"}
            assert all(-1 <= value <= 1 for values in run.correlation.values() for value in values)
            assert run.correlation != simulate(settings, name, 4).correlation


@pytest.mark.parametrize("name", ["order", "round-robin", "information"])
def test_a_clear_ranking_is_recovered_by_every_policy(name):
    run = simulate(Simulation(num_agents=6, max_answers=200, every=200, spread=8), name, 0)
    assert all(values[-1] > 0.9 for values in run.correlation.values())


def test_the_default_needs_fewer_answers_than_round_robin_and_tells_more_after_100():
    """Seed by seed the same agents; a fixed draw, so this cannot fail by chance."""
    settings = Simulation(max_answers=100, every=100)
    means = {
        name: np.mean([simulate(settings, name, seed, ["trueskill"]).correlation["trueskill"][0] for seed in range(12)])
        for name in ("order", "round-robin")
    }
    assert means["order"] > means["round-robin"]


def test_settings_out_of_range_are_refused():
    for name, value, text in [
        ("num_agents", 2, "num_agents must be from 3 to 1000; got 2"),
        ("max_answers", 0, "max_answers must be 1 or more; got 0"),
        ("target", 1.0, "target must be between 0 and 1, both excluded; got 1.0"),
        ("spread", 0.0, "spread must be above 0 and at most 100; got 0.0"),
        ("draws", 1.0, "draws must be between 0 and 1, both excluded; got 1.0"),
        ("num_judges", 0, "num_judges must be from 1 to 10000; got 0"),
        ("every", 601, "every must be from 1 to the number of answers; got 601"),
    ]:
        with pytest.raises(SimulationError, match=text):
            Simulation(**{name: value})


def test_a_mistyped_profile_or_method_is_told_the_nearest():
    with pytest.raises(NotFoundError, match="did you mean 'bedd'"):
        Simulation(profile="bed")
    with pytest.raises(NotFoundError, match="did you mean 'trueskill'"):
        simulate(SMALL, "order", 0, ["truskill"])


# Kept runs


def test_kept_runs_come_back_and_those_of_other_settings_do_not(tmp_path):
    path = tmp_path / "runs.jsonl"
    kept = SimulatedRuns(path, SMALL, ["trueskill"])
    run = simulate(SMALL, "order", 0, ["trueskill"])
    kept.add(run)
    assert SimulatedRuns(path, SMALL, ["trueskill"]).get("order", 0) == run
    assert SimulatedRuns(path, SMALL, ["trueskill", "bradley-terry"]).get("order", 0) is None
    other_target = Simulation(num_agents=6, max_answers=30, every=10, target=0.5)
    assert SimulatedRuns(path, other_target, ["trueskill"]).get("order", 0) == run  # the target changes no run
    assert fingerprint(SMALL, ["a", "b"]) == fingerprint(SMALL, ["b", "a"])


def test_a_line_torn_by_a_crash_costs_one_run(tmp_path):
    path = tmp_path / "runs.jsonl"
    runs = [simulate(SMALL, "round-robin", seed, ["trueskill"]) for seed in range(2)]
    kept = SimulatedRuns(path, SMALL, ["trueskill"])
    kept.add(runs[0])
    with path.open("a") as stream:
        stream.write(path.read_text()[:50])
    again = SimulatedRuns(path, SMALL, ["trueskill"])
    assert again.get("round-robin", 0) == runs[0]
    again.add(runs[1])
    assert SimulatedRuns(path, SMALL, ["trueskill"]).get("round-robin", 1) == runs[1]


@pytest.mark.parametrize("text", ["left,right\n", "[1]\n", '{"settings": 1}\n'])
def test_a_file_that_holds_something_else_is_refused(tmp_path, text):
    path = tmp_path / "other.txt"
    path.write_text(text)
    with pytest.raises(SimulationError, match=r"holds no runs of a simulation: line 1 is no(.|\n)*--resume"):
        SimulatedRuns(path, SMALL, ["trueskill"])
    assert path.read_text() == text


# The command


def test_json_has_every_policy_under_both_methods(capsys):
    status, out, _ = command(capsys, *COMMON, "--json")
    document = json.loads(out)
    assert status == 0
    assert document["default_policy"] == "order"
    assert document["seeds"] == [0, 1]
    assert document["settings"]["num_agents"] == 5
    assert {(row["policy"], row["method"]) for row in document["results"]} == {
        (policy, method)
        for policy in ("order", "round-robin", "information", "bedd", "focus")
        for method in ("trueskill", "bradley-terry")
    }
    row = document["results"][0]
    assert row["first"].keys() == {"q1", "median", "q3", "num_reached", "num"}
    assert {"lasting", "first_ratio", "lasting_ratio", "median_curve", "median_curve_ratio"} <= row.keys()


def test_people_see_a_table_and_what_to_do_next(capsys):
    status, out, _ = command(capsys, *COMMON, "--policy", "order", "--policy", "round-robin", "--method", "trueskill")
    assert status == 0
    assert "there to stay" in out
    assert "round-robin" in out
    assert "interplay judge simulate --out matchmaking.svg" in out


@pytest.mark.processes
def test_two_processes_give_what_one_gives(capsys):
    arguments = ["--policy", "round-robin", "--policy", "order", "--method", "trueskill", "--json"]
    one = command(capsys, *COMMON, *arguments)[1]
    assert command(capsys, *COMMON, *arguments, "--processes", "2")[1] == one


def test_a_second_call_makes_no_run_again(capsys, tmp_path, monkeypatch):
    arguments = [*COMMON, "--policy", "round-robin", "--json", "--resume", tmp_path / "runs.jsonl"]
    first = command(capsys, *arguments)[1]
    monkeypatch.setattr("interplay.judge.pairing.simulate.simulate", None)  # would fail
    assert command(capsys, *arguments)[1] == first


def test_the_plot_is_saved_with_its_table(capsys, tmp_path):
    status, out, _ = command(capsys, *COMMON, "--policy", "order", "--json", "--out", tmp_path / "plot.svg")
    document = json.loads(out)
    assert (status, document["plot"], document["table"]) == (0, str(tmp_path / "plot.svg"), str(tmp_path / "plot.csv"))
    assert "rank correlation with the truth" in (tmp_path / "plot.svg").read_text()
    rows = list(csv.DictReader((tmp_path / "plot.csv").open()))
    assert [(row["method"], row["answers"]) for row in rows] == [
        ("trueskill", "10"), ("trueskill", "20"), ("bradley-terry", "10"), ("bradley-terry", "20"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--agents", "2"], "num_agents must be from 3 to 1000"),
        (["--out", "plot.jpg"], "the name must end in .svg, .png or .pdf"),
        (["--out", "nowhere/plot.svg"], "there is no folder nowhere"),
    ],
)
def test_mistakes_are_found_before_anything_runs(capsys, arguments, text):
    status, out, err = command(capsys, *arguments)
    assert status == 2
    assert out == ""
    assert text in err


@pytest.mark.parametrize(("option", "value"), [("--policy", "ordr"), ("--method", "elo"), ("--profile", "flat")])
def test_a_name_that_is_none_of_an_option_is_misuse(capsys, option, value):
    status, out, err = command(capsys, option, value)
    assert (status, out) == (2, "")
    assert f"Invalid value for '{option}'" in err
    assert f"{value!r} is not one of" in err


def test_the_options_know_every_policy_method_and_profile():
    assert {name.value for name in PolicyName} == {*PAIRING_RULES, "default"}
    assert tuple(name.value for name in RatingName) == METHODS
    assert {name.value for name in ProfileName} == set(PROFILES)


# The plot


def test_lines_of_the_plot_differ_in_grey():
    table = [
        {"policy": policy, "method": "trueskill", "answers": 5 * k, "q1": 0.8, "median": 0.9, "q3": 0.95, "num": 3}
        for policy in ("order", "round-robin", "information", "bedd", "focus")
        for k in range(1, 5)
    ]
    ax = plot_matchmaking(table, "trueskill", 0.95)
    lines = [line for line in ax.get_lines() if len(line.get_xdata()) == 4]
    assert len(lines) == len({line.get_marker() for line in lines}) == 5
    assert len({line.get_linestyle() for line in lines}) == 4  # dashes of one's own go by the name "--" as well


def test_a_plot_that_cannot_be_written_says_where(tmp_path):
    table = curves([simulate(SMALL, "round-robin", 0)])
    with pytest.raises(InterplayError, match=r"cannot write .*\nName another place with --out"):
        save_matchmaking(table, 0.95, tmp_path / "nowhere" / "plot.svg")
