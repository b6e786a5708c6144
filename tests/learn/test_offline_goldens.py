"""Each algorithm does in three updates what d3rlpy 2.8.0 does: its losses, gradients and weights (tools/offline_goldens.py)."""

import json
from pathlib import Path

import numpy as np
import torch
from safetensors import safe_open

from interplay.learn import CONFIGS
from interplay.learn.algorithms import LEARNERS
from interplay.learn.harness.learner import Batch, Given

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.safetensors"))


def test_every_algorithm_of_the_paper_has_golden_values():
    assert {path.stem.split("-")[0] for path in GOLDEN} == {"bc", "bcq", "cql", "dqn", "iqn", "sac"}


def test_three_updates_equal_those_of_d3rlpy():
    for path in GOLDEN:
        with safe_open(path, framework="pt") as file:
            golden = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            settings = json.loads(file.metadata()["config"])
        config = CONFIGS[settings["algorithm"]].from_json({**settings, "task": "golden/tiny"})
        given = Given((5,), 4, np.arange(4), torch.device("cpu"))
        learner = LEARNERS[config.algorithm](config, given)
        ours = {f"{name}.{part}": value for name, one in learner.modules.items() for part, value in one.named_parameters()}
        with torch.no_grad():
            for name, value in below(golden, "before/").items():
                ours[name].copy_(value)
        for number in range(3):
            batch = below(golden, f"{number}/batch/")
            continues = 1 - batch["ends"].float()
            batch = Batch(batch["observations"], batch["actions"], batch["rewards"], batch["after"], continues)
            measured = learner.update(batch, number, torch.Generator().manual_seed(number))
            torch.testing.assert_close(measured["loss"].view(1), golden[f"{number}/loss"], atol=1e-5, rtol=0)
            for name, value in below(golden, f"{number}/gradient/").items():
                torch.testing.assert_close(
                    ours[name].grad, value, atol=1e-5, rtol=0, msg=lambda text, name=name: f"{name}: {text}"
                )
            for name, value in below(golden, f"{number}/weight/").items():
                torch.testing.assert_close(
                    ours[name].data, value, atol=1e-5, rtol=0, msg=lambda text, name=name: f"{name}: {text}"
                )


def below(tensors, prefix):
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
