"""Makes the recordings in `data/`: what a release wrote, so that later ones can show that they still read it.

They were made by version 0.2.0 at its recording schema 2. To add those of another release, run with that release installed:

    python tests/record/make_data.py tests/record/data/schema-2

Nothing there is ever made again by a later release: that would test nothing.
"""

import json
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import interplay
import interplay.record
from interplay.envs import FramePolicy, make
from interplay.record import Archive, InputTiming, Owner, Recorder
from interplay.tasks import EnvSpec, Task, find

CUT_OFF_BYTES = 40
"""What the torn journal lacks at its end: part of its last batch."""


def cartpole(*, deterministic: bool) -> Task:
    """CartPole as a task: its keys and form are those of Breakout, and of no importance."""
    breakout = find("atari/breakout")
    keys = replace(
        breakout.keys,
        buttons=("LEFT", "RIGHT"),
        bindings={"ArrowLeft": "LEFT", "ArrowRight": "RIGHT"},
        actions={frozenset(): 0, frozenset({"LEFT"}): 0, frozenset({"RIGHT"}): 1},
        opposites=(),
        labels={},
    )
    spec = EnvSpec("gym:CartPole-v1", {"deterministic": deterministic})
    return replace(breakout, id="lab/cartpole", env=spec, keys=keys, frame_rate_hz=50, max_steps=200)


def record(
    archive: Archive, task: Task, name: str, *, num_steps: int, policy: FramePolicy | None = None, person: bool = False
) -> Recorder:
    """Play held random keys for some steps; of a person, with the timing of an input every third step."""
    env = make(task, frames=policy)
    if person and env.people_see is not None:
        env.draw_for(env.people_see)
    first, *others = task.seats
    owners = {first: Owner("participant-7", "human") if person else Owner("tester", "agent")}
    owners |= {seat: Owner("partner", "agent") for seat in others}
    recorder = archive.recorder(task, env, seed=5, owners=owners, episode_id=name)
    recorder.start(*env.reset(seed=5))
    rng = np.random.default_rng(5)
    timing = None
    mask = 0
    for step in range(num_steps):
        if step % 9 == 0:
            mask = int(rng.integers(task.keys.full_mask + 1)) & ~(task.keys.mask({"ESC"}))
        action = task.keys.action(mask, (0.0, 3.0))
        if person and step % 3 == 2:
            timing = InputTiming(step - 2, step * 20.0, step * 20_000, mask, float(10 + step % 13))
        actions = dict.fromkeys(task.seats, action)
        result = env.step(actions)
        recorder.step(actions, result, timing={first: timing}, clock_us=round(step * 1e6 / task.frame_rate_hz))
        if result[2] or result[3]:
            break
    env.close()
    return recorder


def latencies(steps: pa.Table) -> list[pa.ChunkedArray]:
    """Of each seat, where inputs came."""
    return [steps.column(name).drop_null() for name in steps.column_names if name.endswith("latency_ms")]


def main(out: Path) -> None:
    """Write the files and `expected.json`, what they hold."""
    out.mkdir(parents=True)
    expected: dict[str, Any] = {"release": interplay.__version__, "episodes": {}}
    with tempfile.TemporaryDirectory() as folder:
        archive = interplay.record.open(folder)
        made = [
            record(archive, find("atari/space_invaders"), "invaders", num_steps=300, person=True),
            record(archive, find("atari/breakout"), "breakout", num_steps=1300, policy="replay"),
            record(archive, find("basalt/find_cave"), "cave", num_steps=210, person=True),
            record(archive, find("overcooked/cramped_room"), "kitchen", num_steps=120, person=True),
            record(archive, cartpole(deterministic=True), "cartpole", num_steps=200),
            record(archive, cartpole(deterministic=False), "cartpole-video", num_steps=40),
        ]
        for recorder in made:
            episode = archive.seal(recorder.finish("quit" if recorder.num_steps in (300, 1300, 210, 120, 40) else "terminated"))
            shutil.copy(episode.path, out / f"{episode.id}.parquet")
            steps = episode.steps()
            expected["episodes"][episode.id] = episode.to_json() | {
                "sha256": episode.sha256,
                "sum_of_hashes": sum(steps.column("frame_hash").to_pylist()),
                "sum_of_latencies": sum(sum(column.to_pylist()) for column in latencies(steps)),
            }
        torn = record(archive, find("atari/space_invaders"), "torn", num_steps=300, person=True)
        torn.flush()
        torn.abandon()
        (out / torn.path.name).write_bytes(torn.path.read_bytes()[:-CUT_OFF_BYTES])
        archive.close()
    (out / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
