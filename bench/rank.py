"""How fast answers become a leaderboard, and how far the ratings are from the `trueskill` package's.

    python -m bench.rank --answers 100000 --json

A random log is written as CSV, read back and rated; then the package rates a part of the same log in the same run. It is
asked twice: with its own approximation of the error function (its default) and with the exact one of Python's `math`.

Then every method ranks a log over four tasks, overall and task by task, and draws the bootstrap of a study of the paper's size
(3,049 answers). Baselines of the same run: evalica's Bradley-Terry (in Rust), and the bootstrap as a loop that rates one
resample after the other (a few of them, scaled up).
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

from interplay.rank import Comparison, Standings, rate_all, read_answers
from interplay.rank.bootstrap import bootstrap, resample
from interplay.rank.bradley_terry import fit
from interplay.rank.leaderboards import Resampling, boards
from interplay.rank.methods import METHODS, Log, rate

MAX_SECONDS = 5.0
MAX_DIFFERENCE = 1e-6
MAX_METHOD_SECONDS = 10.0
MAX_BOOTSTRAP_SECONDS = 20.0
STUDY = 3049
"""Answers of the paper's study."""
TASKS = 4

_Log = list[tuple[str, str, str]]


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=100_000)
    parser.add_argument("--agents", type=int, default=17)
    parser.add_argument("--compare", type=int, default=10_000, help="answers the trueskill package rates")
    parser.add_argument("--method-answers", type=int, default=200_000, help="answers every method ranks")
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    result = measure(options.answers, options.agents, options.compare, options.seed)
    methods = measure_methods(options.method_answers, options.agents, options.seed)
    resampling = measure_bootstrap(options.agents, options.resamples, options.seed)
    passed = result.pop("passed") and methods.pop("passed") and resampling.pop("passed")
    result |= methods | resampling | {"passed": passed}
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        for name, value in result.items():
            print(f"{name:36} {value}")
    raise SystemExit(0 if result["passed"] else 1)


def measure(num_answers: int, num_agents: int, num_compared: int, seed: int) -> dict[str, Any]:
    """Every figure of one run."""
    log = random_log(num_answers, num_agents, seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.csv"
        path.write_text("left,right,outcome\n" + "".join(f"{left},{right},{outcome}\n" for left, right, outcome in log))
        begin = time.perf_counter()
        comparisons = read_answers(path)
        read_s = time.perf_counter() - begin
        begin = time.perf_counter()
        rate_all(comparisons).overall.leaderboard()
        rate_s = time.perf_counter() - begin
    part = log[:num_compared]
    begin = time.perf_counter()
    ours = Standings()
    for left, right, outcome in part:
        ours.add(left, right, outcome)  # type: ignore[arg-type]
    ours_s = time.perf_counter() - begin
    default, package_s = package_ratings(part, backend=None)
    exact, _ = package_ratings(part, backend=exact_backend())
    differences = {name: difference(ours, ratings) for name, ratings in (("default", default), ("exact", exact))}
    return {
        "num_answers": num_answers,
        "read_s": round(read_s, 3),
        "rate_s": round(rate_s, 3),
        "total_s": round(read_s + rate_s, 3),
        "answers_per_s": round(num_answers / (read_s + rate_s)),
        "num_compared": len(part),
        "ratio_to_trueskill_package": round(package_s / ours_s, 1),
        "difference_exact_backend": differences["exact"],
        "difference_default_backend": differences["default"],
        "passed": read_s + rate_s <= MAX_SECONDS and differences["exact"] <= MAX_DIFFERENCE,
    }


def measure_methods(num_answers: int, num_agents: int, seed: int) -> dict[str, Any]:
    """Seconds for overall and task leaderboards by each method, beside evalica."""
    comparisons = task_log(num_answers, num_agents, seed)
    log = Log.of(comparisons)
    figures: dict[str, Any] = {"num_method_answers": num_answers}
    seconds = {}
    for method in METHODS:
        begin = time.perf_counter()
        boards(comparisons, method)
        seconds[method] = time.perf_counter() - begin
        figures[f"{method}_boards_s"] = round(seconds[method], 3)
    begin = time.perf_counter()
    strength = fit(*Log.of(comparisons).counts()).log_strength
    ours_s = time.perf_counter() - begin
    theirs, evalica_s = evalica_strengths(comparisons)
    difference = float(max(abs(strength[i] - theirs[name]) for i, name in enumerate(log.agents)))
    figures |= {
        "bradley_terry_ratio_to_evalica": round(evalica_s / ours_s, 2),
        "difference_to_evalica": difference,
        "passed": max(seconds.values()) <= MAX_METHOD_SECONDS and difference <= MAX_DIFFERENCE,
    }
    return figures


def measure_bootstrap(num_agents: int, num_resamples: int, seed: int) -> dict[str, Any]:
    """Seconds for the bootstrap of a study, overall and of its tasks, and the ratio to rating resamples one by one."""
    comparisons = task_log(STUDY, num_agents, seed)
    log = Log.of(comparisons)
    figures: dict[str, Any] = {"num_resamples": num_resamples}
    passed = True
    for method in METHODS:
        begin = time.perf_counter()
        boards(comparisons, method, resampling=Resampling(num_resamples))
        seconds = time.perf_counter() - begin
        passed &= seconds <= MAX_BOOTSTRAP_SECONDS
        figures[f"{method}_bootstrap_s"] = round(seconds, 3)
        begin = time.perf_counter()
        bootstrap(log, method, num_resamples=num_resamples, rng=np.random.default_rng(seed))
        together_s = time.perf_counter() - begin
        loop = next(iter(resample(log, 10, np.random.default_rng(seed))))
        begin = time.perf_counter()
        for times in loop:
            rate(log.select(np.repeat(np.arange(len(log)), times)), method)
        loop_s = (time.perf_counter() - begin) / len(loop) * num_resamples
        figures[f"{method}_bootstrap_ratio_to_loop"] = round(loop_s / together_s, 1)
    figures["passed"] = passed
    return figures


def task_log(num_answers: int, num_agents: int, seed: int) -> list[Comparison]:
    """A random log over `TASKS` tasks."""
    tasks = np.random.default_rng(seed + 1).integers(TASKS, size=num_answers).tolist()
    return [
        Comparison(left, right, outcome, f"task-{task}")  # type: ignore[arg-type]
        for (left, right, outcome), task in zip(random_log(num_answers, num_agents, seed), tasks, strict=True)
    ]


def evalica_strengths(comparisons: list[Comparison]) -> tuple[dict[str, float], float]:
    """Log strengths by evalica, of mean 0, and the seconds it took from the same list of answers."""
    import evalica

    winner = {"left": evalica.Winner.X, "right": evalica.Winner.Y, "draw": evalica.Winner.Draw}
    begin = time.perf_counter()
    scores = evalica.bradley_terry(
        [c.left for c in comparisons],
        [c.right for c in comparisons],
        [winner[c.outcome] for c in comparisons],
        tolerance=1e-12,
        limit=100_000,
    ).scores
    seconds = time.perf_counter() - begin
    strength = np.log(scores)
    return dict(strength - strength.mean()), seconds


def random_log(num_answers: int, num_agents: int, seed: int) -> _Log:
    """Answers about agents of different skill, one in ten a draw."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(25, 6, num_agents)
    left = rng.integers(num_agents, size=num_answers)
    right = (left + rng.integers(1, num_agents, size=num_answers)) % num_agents
    is_draw = rng.random(num_answers) < 0.1
    left_wins = rng.normal(skill[left] - skill[right], 6) > 0
    outcomes = np.where(is_draw, "draw", np.where(left_wins, "left", "right")).tolist()
    return [
        (f"agent-{a}", f"agent-{b}", outcome) for a, b, outcome in zip(left.tolist(), right.tolist(), outcomes, strict=True)
    ]


def exact_backend() -> tuple[Any, Any, Any]:
    """Distribution functions for the package with a relative error of 1e-16 instead of 1e-7."""
    normal = NormalDist()
    return (
        lambda x: 0.5 * math.erfc(-x / math.sqrt(2)),
        lambda x: math.exp(-x * x / 2) / math.sqrt(2 * math.pi),
        normal.inv_cdf,
    )


def package_ratings(log: _Log, *, backend: Any) -> tuple[dict[str, Any], float]:
    """The package's ratings after a log, and the seconds it took."""
    import trueskill

    env = trueskill.TrueSkill(backend=backend)
    ratings: dict[str, Any] = {}
    begin = time.perf_counter()
    for left, right, outcome in log:
        a, b = ratings.get(left) or env.create_rating(), ratings.get(right) or env.create_rating()
        if outcome == "right":
            b, a = trueskill.rate_1vs1(b, a, env=env)
        else:
            a, b = trueskill.rate_1vs1(a, b, drawn=outcome == "draw", env=env)
        ratings[left], ratings[right] = a, b
    return ratings, time.perf_counter() - begin


def difference(standings: Standings, ratings: dict[str, Any]) -> float:
    """Largest difference of any mu or sigma, in skill points."""
    return max(
        max(abs(standings.rating(agent).mu - rating.mu), abs(standings.rating(agent).sigma - rating.sigma))
        for agent, rating in ratings.items()
    )


if __name__ == "__main__":
    main()
