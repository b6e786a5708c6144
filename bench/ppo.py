"""Learning by playing. `python -m bench.ppo [--part NAME] [--json]`; exit 1 where a bar is missed.

`control`: PPO on cart and pole, against the most that can be earned. `reward`: the same on a reward learned from judged pairs
(as `bench.rewards` makes them), by the game's own returns. `self-play`: one network cooks in both seats of Overcooked's cramped
room, against random cooks. Everything is measured on held-out seeds.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

import interplay.record
from bench.rewards import TASK as POLE
from bench.rewards import answer, play
from interplay.agents.evaluate import evaluate, worthwhile_processes
from interplay.jobs import Executor
from interplay.learn import PPOConfig, practise
from interplay.learn.reward.training import fit
from interplay.learn.settings import RewardConfig
from interplay.record import Archive
from interplay.tasks import find

KITCHEN = "overcooked/cramped_room"
MOST = 500.0
"""What a game of cart and pole earns at most."""
BARS = {"control": 0.95, "reward": 0.8}
"""Of the most; of what PPO earns on the game's own reward."""
NUM_GAMES = 2
"""On each held-out seed of the kitchen."""


def learned(archive: Archive, config: PPOConfig, name: str) -> dict[str, Any]:
    """Play and learn, unless it is done; how long it took in seconds, by the clock and of all processors."""
    folder = archive.root / "models" / name
    before, used = time.perf_counter(), sum(os.times()[:4])
    if not (folder / "model.json").exists():
        practise(archive, config, name, resume=(folder / "config.json").exists())
    described = json.loads((folder / "model.json").read_text())["metrics"]
    return {
        "decisions": described["decisions"],
        "seconds": described["seconds"],
        "with_start_s": round(time.perf_counter() - before, 1),
        "cpu_s": round(sum(os.times()[:4]) - used, 1),
    }


def returns_of(archive: Archive, task: str, agent: str, *, num_episodes: int = 1) -> list[float]:
    """What an agent earns on the held-out seeds, the mean over seats."""
    found = find(task)
    seeds = found.held_out_seeds
    executor = Executor(worthwhile_processes(found, num_episodes * len(seeds)))
    played = evaluate(archive, found, agent, seeds, num_episodes=num_episodes, video=False, executor=executor)
    return [float(np.mean([one.rewards(seat).sum() for seat in found.seats])) for one in played]


def summary(returns: list[float]) -> dict[str, Any]:
    """The mean with a 95 % interval, by games drawn again 10,000 times."""
    drawn = np.random.default_rng(0).choice(returns, (10_000, len(returns))).mean(1)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return {"mean": float(np.mean(returns)), "low": float(low), "high": float(high), "games": len(returns)}


def control(archive: Archive, options: argparse.Namespace) -> dict[str, Any]:
    """Cart and pole on the game's own reward."""
    found = learned(archive, PPOConfig.preset("control", POLE, threads=1), "pole")
    found |= summary(returns_of(archive, POLE, "pole"))
    return found | {"bar": BARS["control"] * MOST, "is_met": found["mean"] >= BARS["control"] * MOST}


def reward(archive: Archive, options: argparse.Namespace) -> dict[str, Any]:
    """Cart and pole on a reward from answers, of which one in ten is wrong."""
    own = control(archive, options)
    if not (archive.root / "rewards" / "bench" / "reward.json").exists():
        play(archive, find(POLE), options.games)
        answer(archive, find(POLE), options.answers, seed=1)
        fit(archive, RewardConfig(task=POLE, observation="state"), "bench")
    found = learned(archive, PPOConfig.preset("control", POLE, threads=1, reward="bench"), "pleasing")
    found |= summary(returns_of(archive, POLE, "pleasing"))
    share = found["mean"] / own["mean"]
    return found | {"answers": options.answers, "share": share, "bar": BARS["reward"], "is_met": share >= BARS["reward"]}


def self_play(archive: Archive, options: argparse.Namespace) -> dict[str, Any]:
    """One network in both seats of a kitchen, against random cooks."""
    config = PPOConfig(
        task=KITCHEN, observation="state", steps=options.steps, games=16, workers=2, horizon=100, batch_size=400, epochs=8,
        learning_rate=1e-3, entropy_weight=0.02, reward_scale=0.1, threads=1,
    )  # fmt: skip
    found = learned(archive, config, "cook")
    found |= summary(returns_of(archive, KITCHEN, "cook", num_episodes=NUM_GAMES))
    random = summary(returns_of(archive, KITCHEN, "random", num_episodes=NUM_GAMES))
    return found | {"random": random, "is_met": found["low"] > random["high"]}


PARTS: dict[str, Callable[[Archive, argparse.Namespace], dict[str, Any]]] = {
    "control": control,
    "reward": reward,
    "self-play": self_play,
}


def main() -> None:
    """Run it and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=PARTS, action="append", help="only this one; may be repeated")
    parser.add_argument("--steps", type=int, default=160_000, help="decisions of self-play")
    parser.add_argument("--answers", type=int, default=500)
    parser.add_argument("--games", type=int, default=150, help="of each player that is compared")
    parser.add_argument(
        "--data", type=Path, help="keep everything there, and go on from there; a folder for a while if not given"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, closing(interplay.record.open(options.data or Path(folder))) as archive:
        for part in options.part or PARTS:
            print(f"{part} ...", file=sys.stderr, flush=True)
            found[part] = PARTS[part](archive, options)
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        for part, facts in found.items():
            interval = "{mean:.1f} ({low:.1f} to {high:.1f})"
            print(
                f"{part}: mean return {interval.format(**facts)} in {facts['games']} games "
                f"after {facts['decisions']} decisions, {facts['seconds']:.0f} s: {'met' if facts['is_met'] else 'MISSED'}"
            )
            if "random" in facts:
                print(f"  random: {interval.format(**facts['random'])}")
            if "share" in facts:
                print(f"  {facts['share']:.0%} of PPO on the game's own reward (bar {facts['bar']:.0%})")
    sys.exit(not all(facts["is_met"] for facts in found.values()))


if __name__ == "__main__":
    main()
