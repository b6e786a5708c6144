"""Do labels teach more where the learner goes? Rounds of play by the learner beside behaviour cloning, with equal numbers of
labels. `python -m bench.dagger [--json]`.

Cart and pole, and an expert who never comes near to falling: its clones know nothing of a pole that leans. Three runs of five
rounds, 40 labels each, and two of cloning for each: `bc` learns from 200 decisions of the expert in a row, `bc_same_worlds`
from its decisions in the very worlds and rounds of the first, with the expert at the wheel all the time. The same networks and
numbers of updates; returns are means over the task's held-out seeds, at most 500.
Exit status 1 unless the rounds beat both in every run, and the 95 % interval of the difference (by runs and seeds, drawn again
as pairs) is above 0.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import interplay.record
from interplay.agents.evaluate import evaluate
from interplay.learn import DaggerConfig
from interplay.learn.dagger import dagger
from interplay.record import Archive
from interplay.tasks import find

TASK = f"{Path(__file__).with_name('cartpole.toml')}:cartpole"
EXPERT = "bench.cartpole:BalanceAgent"
NUM_DRAWS = 10_000


def measure(archive: Archive, *, seed: int, rounds: int, labels: int, updates: int, num_games: int) -> dict[str, Any]:
    """Returns on the held-out seeds of the three ways to spend the labels, and what was seen on the way."""
    task = find(TASK)
    common: dict[str, Any] = {"updates": updates, "seed": seed, "hidden": (64, 64), "batch_size": 64, "validation": 0.0}
    config = DaggerConfig(
        task=TASK,
        expert=EXPERT,
        observation="state",
        threads=1,
        device="cpu",
        temperature=0.0,
        rounds=rounds,
        labels=labels,
        **common,
    )
    ways = {
        "dagger": config,
        "bc": replace(config, rounds=1, labels=rounds * labels),
        "bc_same_worlds": replace(config, expert_share=1.0),
    }
    found: dict[str, Any] = {"seed": seed}
    for name, way in ways.items():
        lines = dagger(archive, way, f"{name}-{seed}")
        games = evaluate(archive, task, lines[-1]["agent"], task.held_out_seeds[:num_games], video=False)
        found[name] = [game.total_reward for game in games]
        found[f"{name}_labels"] = sum(line["labels"] for line in lines)
        if name == "dagger":
            found["matched"] = [line["matched"] for line in lines]
    return found


def interval(differences: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    """95 % of the mean of paired differences, shape (runs, seeds), by runs and then seeds drawn again."""
    runs, seeds = differences.shape
    means = [differences[rng.integers(runs, size=runs)][:, rng.integers(seeds, size=seeds)].mean() for _ in range(NUM_DRAWS)]
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def main() -> None:
    """Run it and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--labels", type=int, default=40, help="of each round")
    parser.add_argument("--updates", type=int, default=500, help="of each policy")
    parser.add_argument("--games", type=int, default=10, help="of each way, on held-out seeds")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--data", type=Path, help="keep everything there; a folder for a while if not given")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    runs = []
    with tempfile.TemporaryDirectory() as folder, closing(interplay.record.open(options.data or Path(folder))) as archive:
        for seed in range(1, options.seeds + 1):
            one = {"rounds": options.rounds, "labels": options.labels, "updates": options.updates, "num_games": options.games}
            runs.append(measure(archive, seed=seed, **one))
            means = {name: round(float(np.mean(runs[-1][name])), 1) for name in ("dagger", "bc", "bc_same_worlds")}
            print(f"seed {seed}: mean returns {means}", file=sys.stderr, flush=True)
    found: dict[str, Any] = {"rounds": options.rounds, "labels": options.rounds * options.labels, "runs": []}
    rng = np.random.default_rng(0)
    passed = len({run[f"{name}_labels"] for run in runs for name in ("dagger", "bc", "bc_same_worlds")}) == 1
    for name in ("bc", "bc_same_worlds"):
        differences = np.array([np.subtract(run["dagger"], run[name]) for run in runs])
        low, high = interval(differences, rng)
        found[f"over_{name}"] = {"mean": float(differences.mean()), "low": low, "high": high}
        passed = passed and low > 0 and bool((differences.mean(1) > 0).all())
    for run in runs:
        means = {name: float(np.mean(run[name])) for name in ("dagger", "bc", "bc_same_worlds")}
        found["runs"].append({"seed": run["seed"], **means, "labels": run["dagger_labels"], "matched": run["matched"]})
    found["passed"] = passed
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        for name in ("bc", "bc_same_worlds"):
            print(f"rounds over {name}: {{mean:.1f}} (95 %: {{low:.1f}} to {{high:.1f}})".format(**found[f"over_{name}"]))
    raise SystemExit(0 if passed else 1)


if __name__ == "__main__":
    main()
