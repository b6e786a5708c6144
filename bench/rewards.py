"""Rewards from judged pairs, from the first answer to agents trained on them. `python -m bench.rewards [--json]`.

Games of cart and pole by a clumsy player and by random play are compared by judges who prefer the longer game, one answer in
ten the wrong way round. A reward is learned from the answers; CQL and IQL learn from it and from the game's own reward, and a
clone beside them, all in one benchmark.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

import interplay.record
from interplay.agents.evaluate import evaluate
from interplay.learn.benchmark.definition import Benchmark, Contender, LearnedTask
from interplay.learn.benchmark.running import run_benchmark
from interplay.learn.reward.fitting import fit
from interplay.learn.settings import RewardConfig
from interplay.record import Archive
from interplay.tasks import Task, find
from interplay.testing import add_answers, answer_values, match_values

TASK = f"{Path(__file__).with_name('cartpole.toml')}:cartpole"
PLAYERS = ("bench.cartpole:LeanAgent", "random")
NOISE = 0.1


def play(archive: Archive, task: Task, num_games: int) -> None:
    """Games of both players, each on the same worlds."""
    for player in PLAYERS:
        evaluate(archive, task, player, range(num_games), video=False)


def prefers_longer(left: float, right: float, rng: np.random.Generator) -> str:
    """The outcome for two returns, by a judge who is wrong in a share of the answers."""
    if left == right:
        return "draw"
    return "left" if (left > right) != (rng.random() < NOISE) else "right"


def answer(
    archive: Archive,
    task: Task,
    num_answers: int,
    *,
    seed: int,
    says: Callable[[float, float, np.random.Generator], str] = prefers_longer,
    judge_kind: str = "person",
    swap: bool = False,
) -> None:
    """Twenty judges compare games of one world.

    Args:
        says: The outcome for the returns of the left and the right game.
        judge_kind: `person` or `model`.
        swap: Show every pair the other way round, with the same judgement.
    """
    rng = np.random.default_rng(seed)
    worlds: dict[int, list[Any]] = {}
    for episode in sorted(archive.episodes(task=task.id), key=lambda one: (one.seed, one.actor)):
        if episode.seed not in task.held_out_seeds:
            worlds.setdefault(episode.seed, []).append(episode)
    pairs = [pair for games in worlds.values() for pair in itertools.combinations(games, 2)]
    rows = []
    for number in range(num_answers):
        left, right = pairs[int(rng.integers(len(pairs)))]
        if rng.random() < 0.5:
            left, right = right, left
        outcome = says(left.total_reward, right.total_reward, rng)
        if swap:
            left, right, outcome = right, left, {"left": "right", "right": "left", "draw": "draw"}[outcome]
        sides = [
            {"id": one.id, "task": task.id, "task_hash": one.task_hash, "seed": one.seed, "actor": one.actor}
            for one in (left, right)
        ]
        name = f"{judge_kind}-{seed}"
        match = match_values(*sides, judge=f"{name}-{number % 20}", id=f"{name}-m{number}", judge_kind=judge_kind)
        rows.append((match, answer_values(match, outcome)))
    with archive.database.write() as session:
        add_answers(session, rows)


def benchmark_of(reward: str, *, updates: int, seeds: tuple[int, ...], num_games: int, hidden: tuple[int, ...]) -> Benchmark:
    """A clone, and each algorithm on the game's reward and on the learned one."""
    settings = {"observation": "state", "updates": updates, "hidden": [*hidden], "batch_size": 64, "validation": 0}
    task = LearnedTask(TASK, find(TASK), {"actor": None, "where": ()}, (), None, 500.0)
    contenders = [Contender("bc", "bc", None, {"temperature": 0})]
    for name, given in (("cql", {"learning_rate": 3e-4, "target_every": 500, "alpha": 0.5}), ("iql", {"temperature": 0})):
        contenders += [
            Contender(name, name, None, given),
            Contender(f"{name}, learned reward", name, None, {**given, "reward": reward}),
        ]
    return Benchmark("rewards", "Rewards from judged pairs", seeds, num_games, settings, (task,), tuple(contenders))


def main() -> None:
    """Run it and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=500)
    parser.add_argument("--games", type=int, default=300, help="of each player")
    parser.add_argument("--updates", type=int, default=10_000, help="of each agent")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--data", type=Path, help="keep everything there; a folder for a while if not given")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, closing(interplay.record.open(options.data or Path(folder))) as archive:
        task = find(TASK)
        say = lambda text: print(text, file=sys.stderr, flush=True)  # noqa: E731
        say(f"playing {2 * options.games} games")
        play(archive, task, options.games)
        if not archive.root.joinpath("rewards", "bench").exists():
            say(f"answering {options.answers} times")
            answer(archive, task, options.answers, seed=1)
            say("learning the reward")
            fit(archive, RewardConfig(task=TASK, observation="state"), "bench")
        described = json.loads((archive.root / "rewards" / "bench" / "reward.json").read_text())
        chosen = benchmark_of(
            "bench", updates=options.updates, seeds=tuple(range(1, options.seeds + 1)), num_games=20, hidden=(256, 256)
        )
        results = run_benchmark(archive, chosen, report=lambda what, done, total: None)
        returns = {name: results.mean(name, task.id) for name in results.algorithms}
        means = {name: float(np.mean(values)) for name, values in returns.items()}
        found = {
            "answers": described["answers"],
            "correlation": described["correlation"],
            "unseen_games": described["unseen_games"],
            "unseen_accuracy": described.get("unseen_accuracy"),
            "unseen_answers": described["unseen_answers"],
            "returns": returns,
            "share": {name: means[f"{name}, learned reward"] / means[name] for name in ("cql", "iql")},
            "over_clone": {name: means[f"{name}, learned reward"] / means["bc"] for name in ("cql", "iql")},
        }
    if options.json:
        print(json.dumps(found, indent=2))
        return
    print(
        f"rank correlation with the true return of {found['unseen_games']} unseen games: {found['correlation']:.3f} (bar 0.8)"
    )
    for name in ("cql", "iql"):
        print(
            f"{name} on the learned reward: {found['share'][name]:.0%} of {name} on the game's own (bar 80 %), "
            f"{found['over_clone'][name]:.2f} times the clone (bar: more than 1)"
        )


if __name__ == "__main__":
    main()
