"""What recording costs: time a step, bytes an episode, time to read a stack. `python -m bench.record [--json]`.

Ten minutes of Space Invaders at 60 Hz (36,000 steps), random actions each held for 4 to 24 frames. The random player dies
sooner than that, so the game starts over inside the recording, as one long sitting at the console would. The baseline is
CrowdPlay's way (its `crowdplay_environments` package): RGB frames, 600 steps a chunk, pickled and compressed with
bz2; it is measured on the first frames of the same recording and scaled, because it is two orders of magnitude slower.
"""

from __future__ import annotations

import argparse
import bz2
import gc
import json
import pickle  # the baseline's format; nothing of ours reads or writes it
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import interplay.record
from interplay.envs.atari import AtariEnv
from interplay.envs.pictures import PALETTE
from interplay.record import Archive, Episode, InputTiming
from interplay.tasks import find

TEN_MINUTES = 36_000
CHUNK = 600
BUDGETS = {"journal_us_per_step": 60.0, "indexed_mb": 3.0, "replay_mb": 0.7, "stack_ms": 1.0}


class EndlessInvaders(AtariEnv):
    """The game starts over when it ends, so that one recording can last ten minutes."""

    def step(self, action: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, float], bool, bool, dict[str, Any]]:
        """One frame, after a restart where the game is over."""
        if self.ale.game_over():
            self.ale.reset_game()
        observations, rewards, _, truncated, info = super().step(action)
        return observations, rewards, False, truncated, info


def held_actions(rng: np.random.Generator, num_steps: int) -> np.ndarray:
    """Random actions, each held for 4 to 24 frames: int64, shape (num_steps,)."""
    holds = rng.integers(4, 25, num_steps // 4 + 1)
    return np.repeat(rng.integers(18, size=len(holds)), holds)[:num_steps]


def record(archive: Archive, buttons: np.ndarray, policy: str) -> tuple[Episode, dict[str, float], list[np.ndarray]]:
    """Play and record; returns the episode, what it cost, and the first frames for the baseline."""
    env = EndlessInvaders(find("atari/space_invaders"))
    env.frame_policy = policy  # type: ignore[assignment]
    recorder = archive.recorder(env.task, env, seed=0, actor="bench", actor_kind="agent")
    recorder.start(*env.reset(seed=0))
    rng = np.random.default_rng(1)
    wall = np.zeros(len(buttons))
    cpu_s = 0.0
    kept: list[np.ndarray] = []
    timing = InputTiming(0, 0.0, 0, 0, None)
    gc.collect()
    for step, action in enumerate(buttons.tolist()):
        actions = {"player": action}
        result = env.step(actions)
        if len(kept) < 6 * CHUNK:
            kept.append(result[0]["player"])
        clock_us = round(step * 1e6 / 60 + rng.normal(0, 300))
        if step % 15 == 0 or action != buttons[step - 1]:  # a browser reports changes, and signs of life every 250 ms
            latency_ms = float(rng.gamma(8, 4))
            timing = InputTiming(step - 2, clock_us / 1e3 - latency_ms, clock_us - 1000, int(action), latency_ms)
        start, start_cpu = time.perf_counter(), time.thread_time()
        recorder.step(actions, result, timing={"player": timing}, clock_us=clock_us)
        wall[step] = time.perf_counter() - start
        cpu_s += time.thread_time() - start_cpu
    path = recorder.finish("time_limit")
    journal_mb = path.stat().st_size / 1e6
    start = time.perf_counter()
    episode = archive.seal(path)
    return (
        episode,
        {
            "journal_us_per_step": float(wall.mean() * 1e6),
            "journal_cpu_us_per_step": cpu_s / len(buttons) * 1e6,
            "journal_p50_us": float(np.percentile(wall, 50) * 1e6),
            "journal_p99_us": float(np.percentile(wall, 99) * 1e6),
            "journal_mb": journal_mb,
            "seal_s": time.perf_counter() - start,
            "sealed_mb": (episode.size_bytes or 0) / 1e6,
        },
        kept,
    )


def read(episode: Episode, rng: np.random.Generator) -> dict[str, float]:
    """Random stacks from an open episode and from one opened for each, and all frames in order."""
    places = rng.integers(episode.num_steps, size=200).tolist()
    frames = Episode.open(episode.path).frames
    frames.stack(0)
    times = []
    for place in places:
        start = time.perf_counter()
        frames.stack(place)
        times.append(time.perf_counter() - start)
    opened = []
    for place in places[:50]:
        start = time.perf_counter()
        Episode.open(episode.path).frames.stack(place)
        opened.append(time.perf_counter() - start)
    start = time.perf_counter()
    count = sum(1 for _ in episode.frames)
    return {
        "stack_ms": float(np.median(times) * 1e3),
        "stack_p99_ms": float(np.percentile(times, 99) * 1e3),
        "open_and_stack_ms": float(np.median(opened) * 1e3),
        "read_fps": count / (time.perf_counter() - start),
    }


def baseline(frames: list[np.ndarray], actions: np.ndarray, rng: np.random.Generator) -> dict[str, float]:
    """CrowdPlay's way on the same frames."""
    chunks, wall = [], 0.0
    for first in range(0, len(frames), CHUNK):
        steps = [
            {"obs": PALETTE[frame], "action": int(action), "reward": 0.0, "done": False, "info": {"lives": 3}}
            for frame, action in zip(frames[first : first + CHUNK], actions[first : first + CHUNK], strict=True)
        ]
        start = time.perf_counter()
        chunks.append(bz2.compress(pickle.dumps(steps)))
        wall += time.perf_counter() - start
    times = []
    for _ in range(5):
        start = time.perf_counter()
        steps = pickle.loads(bz2.decompress(chunks[int(rng.integers(len(chunks)))]))  # noqa: S301 (made two lines above)
        np.stack([step["obs"] for step in steps[100:104]])
        times.append(time.perf_counter() - start)
    return {
        "us_per_step": wall / len(frames) * 1e6,
        "mb_per_10_min": sum(map(len, chunks)) / len(frames) * TEN_MINUTES / 1e6,
        "stack_ms": float(np.median(times) * 1e3),
        "num_frames": float(len(frames)),
    }


def measure(num_steps: int, seed: int) -> dict[str, Any]:
    """Everything, in one run."""
    rng = np.random.default_rng(seed)
    actions = held_actions(rng, num_steps)
    scale = TEN_MINUTES / num_steps
    with tempfile.TemporaryDirectory() as folder:
        archive = interplay.record.open(Path(folder))
        record(archive, actions[: 4 * CHUNK], "indexed")  # warm up
        episode, indexed, frames = record(archive, actions, "indexed")
        _, replayed, _ = record(archive, actions, "replay")
        reading = read(episode, rng)
        old = baseline(frames, actions, rng)
        archive.close()
    found = {
        "journal_us_per_step": indexed["journal_us_per_step"],
        "indexed_mb": indexed["sealed_mb"] * scale,
        "replay_mb": replayed["sealed_mb"] * scale,
        "stack_ms": reading["stack_ms"],
    }
    return {
        "num_steps": num_steps,
        "seed": seed,
        "result": found,
        "budgets": BUDGETS,
        "within_budget": {name: found[name] <= budget for name, budget in BUDGETS.items()},
        "indexed": indexed,
        "replay": replayed,
        "reading": reading,
        "pickle_bz2": old,
        "ratio": {
            "writing": old["us_per_step"] / indexed["journal_us_per_step"],
            "writing_and_sealing": old["us_per_step"] / (indexed["journal_us_per_step"] + indexed["seal_s"] / num_steps * 1e6),
            "random_access": old["stack_ms"] / reading["stack_ms"],
            "size_with_frames": old["mb_per_10_min"] / found["indexed_mb"],
            "size_by_replay": old["mb_per_10_min"] / found["replay_mb"],
        },
    }


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.record", description="What recording costs, beside pickle+bz2.")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--steps", type=int, default=TEN_MINUTES, help="steps to record (36,000 are ten minutes)")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    document = measure(arguments.steps, arguments.seed)
    if arguments.json:
        print(json.dumps(document, indent=2))
        return
    result, old, ratio = document["result"], document["pickle_bz2"], document["ratio"]
    print(f"{'':32}{'ours':>10}{'budget':>10}{'pickle+bz2':>12}{'ratio':>9}")
    for line, name, theirs, better in (
        ("journaling, us a step", "journal_us_per_step", old["us_per_step"], ratio["writing"]),
        ("10 minutes with frames, MB", "indexed_mb", old["mb_per_10_min"], ratio["size_with_frames"]),
        ("10 minutes by replay, MB", "replay_mb", old["mb_per_10_min"], ratio["size_by_replay"]),
        ("random 4-frame stack, ms", "stack_ms", old["stack_ms"], ratio["random_access"]),
    ):
        print(f"{line:32}{result[name]:10.2f}{BUDGETS[name]:10.1f}{theirs:12.2f}{better:8.1f}x")
    reading, indexed = document["reading"], document["indexed"]
    print(f"sealing {indexed['seal_s']:.1f} s; reading in order {reading['read_fps']:,.0f} frames/s; opening a file and")
    print(f"reading a stack {reading['open_and_stack_ms']:.1f} ms; journal {indexed['journal_mb']:.1f} MB until it is sealed")


if __name__ == "__main__":
    main()
