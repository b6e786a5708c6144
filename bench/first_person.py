"""Clones in first person: a ladder of tasks in the block world, from scripted demonstrations to held-out seeds.

    python -m bench.first_person --json

For each task the scripted player shows how it is done, `interplay learn clone` learns from the pictures, and the clone plays 50
seeds that nobody showed. Two others play the same seeds: random play, and random play that also says "done", because a check
passes only who says so: at a step drawn evenly from all steps of the game, so that none of its games is cut off before.
Intervals are Wilson's, 95 %. Pictures are drawn as small as the network sees them, 64x36, which costs a twentieth of a
person's. With `--data` everything is kept, and a run that was stopped goes on.
Exit status 1 unless the clone is above both others, intervals apart, on the first two tasks.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import interplay.record
from interplay.agents import find as find_agent
from interplay.agents.base import OneGame, as_agent
from interplay.agents.evaluate import Job, plan
from interplay.agents.simple import RandomAgent
from interplay.envs import make, pipeline
from interplay.learn import train
from interplay.learn.settings import CloneConfig
from interplay.record import Archive, Episode, Owner, RecordedEpisode
from interplay.tasks import EnvSpec, Task, find

SIZE = (64, 36)
NUM_SEEDS = 50
FIRST_DEMONSTRATION = 100_000
"""Seed of the first demonstration; held-out seeds and those of `MORE_HELD_OUT` are others."""
MORE_HELD_OUT = 50_000
Z = 1.959963984540054


@dataclass(frozen=True)
class Rung:
    """One task of the ladder, and how much is shown and learned of it.

    Attributes:
        demonstrations: Games of the scripted player.
        max_steps: Where a game is cut off, or None for the task's own limit.
        required: Whether the clone must be above random.
        settings: Of the clone, where they are not those of all.
    """

    task: str
    demonstrations: int
    max_steps: int | None
    required: bool
    settings: dict[str, Any]


SETTINGS: dict[str, Any] = {"offsets": (0, 1, 2, 3), "blocks": 1, "updates": 1600, "temperature": 0.3}
"""Of all clones."""
LADDER = (
    Rung("first-person/get_log", 160, 400, True, {}),
    Rung("first-person/walk_to_village", 160, 400, True, {}),
    Rung("basalt/find_cave", 50, 600, False, {"offsets": (0, 2), "updates": 250}),
)


class RandomEnder:
    """Random play that says "done" at a step drawn evenly from all those that the game has; no game is cut off before."""

    name = "random-ender"
    observation = "pixels"

    def __init__(self) -> None:
        self._inner = RandomAgent()
        self._ends = self._count = 0

    def reset(self, task: Task, *, rng: np.random.Generator) -> None:
        """Draw the moment."""
        self._inner.reset(task, rng=rng)
        self._ends, self._count = int(rng.integers(1, task.max_steps + 1)), 0

    def act(self, observation: np.ndarray) -> dict[str, Any]:
        """A random action; ESC too, once the moment has come."""
        self._count += 1
        return {**self._inner.act(observation), "ESC": int(self._count >= self._ends)}


def small(rung: Rung) -> Task:
    """The task of a rung: its pictures are drawn small, and the rung's limit is its own, so that players know it."""
    task = find(rung.task)
    env = EnvSpec(task.env.id, {**task.env.options, "size": list(SIZE)})
    return replace(task, env=env, max_steps=rung.max_steps or task.max_steps)


def seeds_of(task: Task) -> list[int]:
    """Held-out seeds, those of the task first."""
    return [*task.held_out_seeds, *range(MORE_HELD_OUT, MORE_HELD_OUT + NUM_SEEDS)][:NUM_SEEDS]


def wilson(passed: int, num: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927)."""
    share, denominator = passed / num, 1 + Z**2 / num
    middle = (share + Z**2 / (2 * num)) / denominator
    half = Z * math.sqrt(share * (1 - share) / num + Z**2 / (4 * num**2)) / denominator
    return max(0.0, middle - half), min(1.0, middle + half)


def summary(episodes: Sequence[Episode]) -> dict[str, Any]:
    """How many games passed the task's check, and how many ended by ESC."""
    passed = sum(bool(one.outcome_check.get("success")) for one in episodes)
    low, high = wilson(passed, len(episodes))
    escaped = sum(int(one.action_parts()["ESC"][-1]) for one in episodes)
    return {
        "passed": passed,
        "of": len(episodes),
        "low": round(low, 3),
        "high": round(high, 3),
        "ended_by_escape": round(escaped / len(episodes), 3),
        "steps": round(float(np.mean([one.num_steps for one in episodes])), 1),
    }


def play(
    archive: Archive,
    task: Task,
    name: str,
    seeds: Sequence[int],
    report: Callable[[int, int], None],
) -> list[Episode]:
    """As `agents.evaluate`, which gives the same games: what is there counts, the rest is played. But a picture is drawn only
    where the player looks, which takes a third of the time."""
    agents = {task.seats[0]: name}
    names = {task.seats[0]: find_agent(name, archive).name}
    found, jobs = plan(archive, task, agents, names, seeds, num_episodes=1, seed=0, max_steps=None, video=False, again=False)
    report(len(found), len(seeds))
    for job in jobs:
        found.append(unseen(archive, task, name, job))
        report(len(found), len(seeds))
    return found


def unseen(archive: Archive, task: Task, name: str, job: Job) -> Episode:
    """One game, without a hash of its pictures."""
    player, (seat,) = as_agent(find_agent(name, archive)), task.seats
    state = player.begin(task, rng=np.random.default_rng(job.draw))
    world = make(task)
    recorder = archive.recorder(task, world, seed=job.seed, owners={seat: Owner(player.name, "agent")})
    episode = RecordedEpisode(world, recorder)
    episode.start(job.seed)
    view, looks = pipeline(player.observation), player.observation != "pixels"  # random and scripted players do not look
    if isinstance(player, OneGame):
        player.attach(world, seat)
    action: Any = None
    while episode.outcome is None:
        if episode.num_steps % view.frame_skip == 0:
            seen = view.reset(world.view()) if looks else None
            (decision,) = player.decide([{"picture": seen}], [state])
            action = decision.action
        episode.step({seat: action}, is_seen=False)
    world.close()
    return archive.seal(recorder.finish(episode.outcome))


def say(text: str) -> None:
    """Progress, to stderr."""
    print(text, file=sys.stderr, flush=True)


def climb(archive: Archive, rung: Rung, *, clone: str, threads: int) -> dict[str, Any]:
    """Show, learn and play one task; what is there already is kept."""
    task = small(rung)
    begun = time.monotonic()

    def progress(what: str, done: int, total: int) -> None:
        if done % 50 == 0 or done == total:
            say(f"{task.id}: {what} {done} of {total}, {time.monotonic() - begun:.0f} s")

    shown = play(
        archive,
        task,
        "scripted",
        range(FIRST_DEMONSTRATION, FIRST_DEMONSTRATION + rung.demonstrations),
        report=lambda done, total: progress("demonstrations", done, total),
    )
    recorded_s = time.monotonic() - begun
    folder = archive.root / "models" / clone
    if not (folder / "model.json").exists():
        settings: dict[str, Any] = {**SETTINGS, **rung.settings, "threads": threads}
        config = CloneConfig(task.id, actor="scripted", where=("automatic_success = 1",), **settings)
        say(f"{task.id}: learning")
        train(archive, config, clone, resume=(folder / "config.json").exists(), on_metrics=lambda line: say(f"  {line}"))
    document = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    found: dict[str, Any] = {
        "demonstrations": summary(shown),
        "decisions": document["demonstrations"]["decisions"],
        "training_seconds": document["metrics"]["seconds"],
        "recording_seconds": round(recorded_s, 1),
    }
    for name, agent in (("clone", clone), ("random", "random"), ("random_ender", "bench.first_person:RandomEnder")):
        episodes = play(
            archive,
            task,
            agent,
            seeds_of(task),
            report=lambda done, total, name=name: progress(f"{name} plays", done, total),
        )
        found[name] = summary(episodes)
    others = max(found["random"]["high"], found["random_ender"]["high"])
    return found | {"required": rung.required, "passed": found["clone"]["low"] > others, "seconds": time.monotonic() - begun}


def main() -> None:
    """Parse the command line, climb, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="+", default=[rung.task for rung in LADDER], choices=[rung.task for rung in LADDER])
    parser.add_argument("--data", type=Path, help="keep everything there; a folder for a while if not given")
    parser.add_argument("--clone", default="clone", help="name of the clones, before that of the task")
    parser.add_argument("--threads", type=int, default=1, help="of the training")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, closing(interplay.record.open(options.data or Path(folder))) as archive:
        found = {
            rung.task: climb(archive, rung, clone=f"{options.clone}-{rung.task.partition('/')[2]}", threads=options.threads)
            for rung in LADDER
            if rung.task in options.tasks
        }
    passed = all(one["passed"] for one in found.values() if one["required"])
    result = {"tasks": found, "passed": passed}
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        for task, one in found.items():
            for name in ("clone", "random", "random_ender"):
                line = "{passed} of {of} ({low:.0%} to {high:.0%}), ended by ESC {ended_by_escape:.0%}".format(**one[name])
                print(f"{task:30} {name:14} {line}")
    raise SystemExit(0 if passed else 1)


if __name__ == "__main__":
    main()
