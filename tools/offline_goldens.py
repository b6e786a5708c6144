"""Make tests/learn/golden/: what d3rlpy 2.8.0 does in three updates from given weights on given batches.

    pip install 'd3rlpy>=2.8,<2.8.1'
    python tools/offline_goldens.py

Networks are tiny. For each algorithm a file holds the first weights, three batches, and after each update d3rlpy's loss,
gradients and weights, under our names. Its metadata has the settings.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.d3rlpy_twin import Twin, import_d3rlpy
from interplay.learn.algorithms import LEARNERS
from interplay.learn.harness.learner import Given
from interplay.learn.settings import CONFIGS

FOLDER = Path(__file__).parent.parent / "tests" / "learn" / "golden"
SHAPE, ACTIONS, BATCH = (5,), 4, 8
TINY = {"hidden": (8, 7), "batch_size": BATCH, "learning_rate": 0.01, "schedule": "constant"}
RUNS = {
    "bc": {"beta": 0.5},
    "bcq": {"beta": 0.5, "flexibility": 0.6, "target_every": 2},
    "cql": {"alpha": 0.7, "target_every": 2},
    "cql-quantiles": {"quantiles": 6, "critics": 2, "target_every": 2},
    "dqn": {"target_every": 2},
    "dqn-double": {"double": True, "critics": 2, "target_every": 2},
    "iqn": {"quantiles": 6, "greedy_quantiles": 5, "embedding": 9, "target_every": 2},
    "sac": {"entropy_weight": 0.5, "entropy_learning_rate": 0.02, "target_every": 2},
}


def main() -> None:
    version = import_d3rlpy().__version__
    assert version == "2.8.0", f"d3rlpy is {version}, expected 2.8.0"
    torch.set_num_threads(1)
    FOLDER.mkdir(exist_ok=True)
    for run, settings in RUNS.items():
        algorithm = run.split("-")[0]
        config = replace(CONFIGS[algorithm](task="golden/tiny"), **TINY, **settings)
        rng = np.random.default_rng(0)
        torch.manual_seed(0)
        given = Given(SHAPE, ACTIONS, np.arange(ACTIONS), torch.device("cpu"))
        learner = LEARNERS[algorithm](config, given)
        for module in learner.modules.values():
            for parameter in module.parameters():  # larger weights than usual, so that nothing is nearly zero
                parameter.data.add_(0.2 * torch.randn(parameter.shape))
        twin = Twin(learner, config, given)
        tensors = {f"before/{name}": ours.detach().clone() for name, (ours, _) in twin.pairs.items()}
        for number in range(3):
            observations, after = rng.normal(size=(2, BATCH, *SHAPE)).astype(np.float32)
            actions, rewards = rng.integers(ACTIONS, size=BATCH), 2 * rng.normal(size=BATCH)
            ends = rng.random(BATCH) < 0.3
            columns = {"observations": observations, "actions": actions, "rewards": rewards.astype(np.float32)}
            columns |= {"after": after, "ends": ends}
            tensors |= {f"{number}/batch/{name}": torch.from_numpy(np.asarray(values)) for name, values in columns.items()}
            torch.manual_seed(number)  # d3rlpy draws from torch's own generator
            loss = twin.update(twin.batch(observations, actions, rewards, after, ends))
            tensors[f"{number}/loss"] = torch.tensor([loss])
            for name, (ours, theirs) in twin.pairs.items():
                # d3rlpy's gradient of the entropy's weight gets the actor's added after its step; the weight itself tells.
                if theirs.grad is not None and not name.startswith(("targets", "entropy")):
                    tensors[f"{number}/gradient/{name}"] = theirs.grad.detach().clone().view_as(ours)
                tensors[f"{number}/weight/{name}"] = theirs.detach().clone().view_as(ours)
        path = FOLDER / f"{run}.safetensors"
        settings = {key: value for key, value in config.to_json().items() if key != "task"}
        save_file({key: value.contiguous() for key, value in tensors.items()}, path, {"config": json.dumps(settings)})
        print(f"Wrote {path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
