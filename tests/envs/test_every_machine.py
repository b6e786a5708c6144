"""A world looks the same, to the last bit, on every processor."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden import GOLDEN, scenes
from other_machine import pictures

import interplay.record
from blockworld import compiling
from interplay.envs import make
from interplay.envs.minerl_actions import CAMERA, KEYS
from interplay.record import Archive, Episode, verify
from interplay.tasks import find

OTHER = Path(__file__).with_name("other_machine.py")
PLAIN_C = "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX2_Usable,-FMA_Usable"
"""Switches glibc to functions without fused products, which round differently."""


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Callable[..., Any]]:
    """What `other_machine.py` says on a plain processor: machine code for any x86-64 or ARM of 64 bits, NumPy without what this
    processor has beyond that, plain matrix products, a C library that fuses nothing."""
    from numpy._core import _multiarray_umath as numpy_core

    compiling.ensure()  # there it takes the kernels that are kept here
    found = [name for name in numpy_core.__cpu_dispatch__ if numpy_core.__cpu_features__.get(name)]
    plain = {
        "NUMBA_CPU_NAME": "generic",
        "NPY_DISABLE_CPU_FEATURES": " ".join(found),
        "OPENBLAS_CORETYPE": "Nehalem",
        "GLIBC_TUNABLES": PLAIN_C,
        "INTERPLAY_LANDS": "",  # there lands are made, not read
        "PYTHONPATH": str(GOLDEN.parent),
    }

    with subprocess.Popen(
        [sys.executable, OTHER], env=os.environ | plain, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def ask(*words: str) -> Any:
            print(json.dumps(words), file=process.stdin, flush=True)
            answer = process.stdout.readline()
            assert answer, "it has ended; its error is on standard error"
            return json.loads(answer)

        yield ask


@pytest.mark.every_machine
def test_no_picture_depends_on_the_processor_or_the_c_library(elsewhere, tmp_path):
    for name, world in scenes().items():
        (tmp_path / f"{name}.world").write_bytes(world.save())
    here = pictures(tmp_path)
    assert len(set(here.values())) == len(here), "each scene is another picture"
    assert elsewhere("pictures", str(tmp_path)) == here


def played(archive: Archive, num_steps: int) -> Episode:
    """An episode in a small picture, of somebody who walks, digs and opens the inventory, with mobs and a pond, at night."""
    task = find("basalt/sandbox")
    scene = ("/summon zombie ~3 ~ ~6", "/summon pig ~-2 ~ ~5", "/fill ~-3 ~-1 ~3 ~-1 ~-1 ~5 water")
    options = {**task.env.options, "size": [160, 90], "kind": "flat", "time": 14_000, "commands": list(scene)}
    env = make(replace(task, env=replace(task.env, options=options)))
    recorder = archive.recorder(env.task, env, seed=11, actor="tester", actor_kind="agent")
    recorder.start(*env.reset(seed=11))
    for step in range(num_steps):
        keys = dict.fromkeys(KEYS, 0) | {
            "forward": int(step % 60 < 20),
            "attack": int(step % 40 > 25),
            "inventory": int(step == 33),
        }
        action = keys | {CAMERA: np.array([0.5 if step < 60 else -0.4, 1.5], np.float32)}
        recorder.step({"player": action}, env.step({"player": action}), clock_us=step * 50_000)
    episode = archive.seal(recorder.finish("quit"))
    env.close()
    return episode


@pytest.mark.every_machine
def test_an_episode_recorded_here_verifies_on_another_processor(elsewhere, tmp_path):
    archive = interplay.record.open(tmp_path)
    episode = played(archive, 80)
    assert verify(episode).reason == "file and replay equal the recording"
    verdict = elsewhere("verify", str(episode.path))
    assert verdict["equal"], verdict
    assert verdict["reason"] == "file and replay equal the recording"
    archive.close()


@pytest.mark.every_machine
def test_a_world_plays_the_same_on_another_processor(elsewhere):
    here = json.loads(GOLDEN.read_text())
    assert elsewhere("golden") == here
