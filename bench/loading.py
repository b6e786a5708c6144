"""How fast recorded episodes are loaded for learning, beside pickle + bz2 files of the same episodes.

    python -m bench.loading --json

Random games of the six Atari games are recorded as the live server does, and written as CrowdPlay's files too
(`bench.crowdplay_storing`). Both are loaded into what a learner takes: one grey picture of 84x84 in four frames, with actions;
and into every native picture. Processor time of the whole process is compared, and that actions, rewards and native pictures
are the same.
Exit status 1 unless loading for learning is 20 times as fast.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import interplay.record
from bench.crowdplay_storing import AGENT, learned_from, loaded, played_again, steps_of, stored
from bench.record import held_actions
from interplay.envs import make
from interplay.envs.pictures import PALETTE
from interplay.learn import load
from interplay.record import Archive, Episode, RecordedEpisode

GAMES = ("space_invaders", "riverraid", "qbert", "breakout", "beam_rider", "montezuma_revenge")
MIN_RATIO = 20.0


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=6, help="the games in turn")
    parser.add_argument("--steps", type=int, default=900, help="of each episode, at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    result = measure(options.episodes, options.steps, options.seed)
    print(json.dumps(result, indent=2) if options.json else "\n".join(f"{name:28} {value}" for name, value in result.items()))
    raise SystemExit(0 if result["passed"] else 1)


def measure(num_episodes: int, max_steps: int, seed: int) -> dict[str, Any]:
    """Every figure of one run; times a native step, in microseconds."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        archive = interplay.record.open(Path(folder))
        episodes = [record(archive, number, max_steps, rng) for number in range(num_episodes)]
        num_steps = sum(episode.num_steps for episode in episodes)
        files = []
        for episode in episodes:
            again = played_again(episode, episode.num_steps)
            path = Path(folder, f"{episode.id}.pickle.bz2")
            path.write_bytes(stored(steps_of(*again, episode.actions().tolist(), episode.rewards().tolist())))
            files.append(path)
        sizes = sum(episode.size_bytes or 0 for episode in episodes), sum(path.stat().st_size for path in files)
        paths = [episode.path for episode in episodes]
        load([Episode.open(paths[0])])  # what is imported on the way counts for neither
        learned_from(steps_of([np.zeros((210, 160), np.uint8)], [bytes(128)], [0], [0.0]))
        ours, learning_us = timed(lambda: load([Episode.open(path) for path in paths]), num_steps)
        theirs, old_learning_us = timed(lambda: [learned_from(loaded(path.read_bytes())) for path in files], num_steps)
        ours_native, native_us = timed(lambda: [natively(Episode.open(path)) for path in paths], num_steps)
        theirs_native, old_native_us = timed(lambda: [loaded(path.read_bytes()) for path in files], num_steps)
        are_equal = all(map(_are_equal, ours_native, theirs_native))
        archive.close()
    ratio = old_learning_us / learning_us
    return {
        "cores": len(os.sched_getaffinity(0)),
        "load": [round(value, 2) for value in os.getloadavg()],
        "episodes": num_episodes,
        "steps": num_steps,
        "decisions": len(ours),
        "decisions_of_pickle_bz2": sum(len(pictures) for pictures, _, _ in theirs),
        "learning_us_per_step": round(learning_us, 1),
        "pickle_bz2_learning_us_per_step": round(old_learning_us, 1),
        "ratio_learning": round(ratio, 1),
        "native_us_per_step": round(native_us, 1),
        "pickle_bz2_native_us_per_step": round(old_native_us, 1),
        "ratio_native": round(old_native_us / native_us, 1),
        "bytes_per_step": round(sizes[0] / num_steps, 1),
        "pickle_bz2_bytes_per_step": round(sizes[1] / num_steps, 1),
        "are_equal": are_equal,
        "passed": bool(ratio >= MIN_RATIO and are_equal),
    }


def record(archive: Archive, seed: int, max_steps: int, rng: np.random.Generator) -> Episode:
    """A game with random buttons, each held for a while."""
    env = make(f"atari/{GAMES[seed % len(GAMES)]}")
    recorder = archive.recorder(env.task, env, seed=seed, actor="bench", actor_kind="agent")
    episode = RecordedEpisode(env, recorder, max_steps=max_steps)
    episode.start(seed)
    for action in held_actions(rng, max_steps).tolist():
        episode.step({"player": action})
        if episode.outcome is not None:
            break
    env.close()
    return archive.seal(recorder.finish(episode.outcome or "quit"))


def timed(work: Callable[[], Any], num_steps: int) -> tuple[Any, float]:
    """What it gives, and its processor time a step, microseconds: the shortest of three."""
    found, times = None, []
    for _ in range(3):
        begun_s = time.process_time()
        found = work()
        times.append(time.process_time() - begun_s)
    return found, min(times) / num_steps * 1e6


def natively(episode: Episode) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Every picture, as palette indices; actions and rewards."""
    return [frame.pixels for frame in episode.frames], episode.actions(), episode.rewards()


def _are_equal(ours: tuple[list[np.ndarray], np.ndarray, np.ndarray], theirs: list[dict[str, Any]]) -> bool:
    pictures, actions, rewards = ours
    return (
        len(actions) == len(rewards) == len(theirs)
        and all(
            np.array_equal(PALETTE[one], step["prev_obs"][AGENT]["image"]) for one, step in zip(pictures, theirs, strict=False)
        )
        and actions.tolist() == [step["action"][AGENT]["game"] for step in theirs]
        and rewards.tolist() == [step["reward"][AGENT] for step in theirs]
    )


if __name__ == "__main__":
    main()
