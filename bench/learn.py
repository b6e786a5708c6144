"""How fast the algorithms learn, beside d3rlpy in the same run, and how fast recorded episodes become transitions.

    python -m bench.learn --json

For each algorithm of the paper, ours and d3rlpy's begin with the same weights on 84x84 stacks, make the same updates on the
same batches, and take turns, on one thread. Processor time is compared. `errors` says how far losses are apart in the first
three updates, and which share of the weights is further apart than 1e-5 after them: where a gradient is nearly zero, rounding
decides which way Adam's step goes. `loading` is `python -m bench.loading`: transitions beside pickle + bz2.
Exit status 1 unless every algorithm makes 0.9 of d3rlpy's updates a second and transitions load 20 times as fast.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from bench import loading
from bench.d3rlpy_twin import CONFIGS as TWINS
from bench.d3rlpy_twin import INSTALL, Twin, import_d3rlpy
from interplay.learn import CONFIGS
from interplay.learn.algorithms import LEARNERS
from interplay.learn.harness.learner import Batch, Given

MIN_RATIO = 0.9
SHAPE, ACTIONS = (4, 84, 84), 18


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--algorithms", nargs="+", default=sorted(TWINS), choices=sorted(TWINS))
    parser.add_argument("--rounds", type=int, default=6, help="in which they take turns")
    parser.add_argument("--updates", type=int, default=3, help="of each in a round")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-loading", action="store_true", help="leave out how fast episodes become transitions")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        version = import_d3rlpy().__version__
    except ModuleNotFoundError as error:
        raise SystemExit(f"{error.name} is not installed: it is what this compares with\nInstall it with:  {INSTALL}") from None
    torch.set_num_threads(1)
    measured = {
        name: measure(name, options.rounds, options.updates, options.batch_size, options.seed) for name in options.algorithms
    }
    result: dict[str, Any] = {
        "cores": len(os.sched_getaffinity(0)),
        "load": [round(value, 2) for value in os.getloadavg()],
        "torch": torch.__version__,
        "d3rlpy": version,
        "batch_size": options.batch_size,
        "updates_per_cpu_second": {name: one["ours"] for name, one in measured.items()},
        "d3rlpy_updates_per_cpu_second": {name: one["theirs"] for name, one in measured.items()},
        "ratio": {name: one["ratio"] for name, one in measured.items()},
        "errors": {name: one["errors"] for name, one in measured.items()},
    }
    passed = all(ratio >= MIN_RATIO for ratio in result["ratio"].values())
    if not options.no_loading:
        result["loading"] = loading.measure(6, 900, options.seed)
        passed = passed and result["loading"]["passed"]
    result["passed"] = passed
    print(json.dumps(result, indent=2) if options.json else "\n".join(f"{name:30} {value}" for name, value in result.items()))
    raise SystemExit(0 if passed else 1)


def measure(algorithm: str, rounds: int, updates: int, batch_size: int, seed: int) -> dict[str, Any]:
    """Updates per second of processor time of both, and how far they are apart after three updates."""
    config = replace(CONFIGS[algorithm].preset("paper", "bench/learn"), batch_size=batch_size)
    given = Given(SHAPE, ACTIONS, np.arange(ACTIONS), torch.device("cpu"))
    torch.manual_seed(seed)
    learner = LEARNERS[algorithm](config, given)
    twin = Twin(learner, config, given)
    rng = np.random.default_rng(seed)
    pictures = rng.integers(0, 256, (2, batch_size, *SHAPE), np.uint8)
    actions, rewards = rng.integers(ACTIONS, size=batch_size), rng.normal(size=batch_size)
    ends = rng.random(batch_size) < 0.1
    number = 0  # of the update that both make next

    def ours() -> float:
        tensors = torch.from_numpy(pictures[0]), torch.from_numpy(actions), torch.from_numpy(rewards).float()
        batch = Batch(*tensors, torch.from_numpy(pictures[1]), torch.from_numpy(1 - ends.astype(np.float32)))
        return learner.update(batch, number, torch.Generator().manual_seed(number))["loss"].item()

    def theirs() -> float:
        torch.manual_seed(number)
        return twin.update(twin.batch(pictures[0], actions, rewards, pictures[1], ends))

    loss_errors = []
    while number < 3:
        loss_errors.append(abs(ours() - theirs()))
        number += 1
    with torch.no_grad():
        apart = torch.cat([(mine - other.view_as(mine)).abs().flatten() for mine, other in twin.pairs.values()])
    times: dict[Callable[[], float], list[float]] = {ours: [], theirs: []}
    for _ in range(rounds):
        for work, seconds in times.items():
            begun_s = time.process_time()
            for _ in range(updates):
                number += 1
                work()
            seconds.append(time.process_time() - begun_s)
    mine, other = (updates / min(seconds) for seconds in times.values())
    return {
        "ours": round(mine, 2),
        "theirs": round(other, 2),
        "ratio": round(mine / other, 3),
        "errors": {"loss": max(loss_errors), "weights_apart": round(float((apart > 1e-5).float().mean()), 6)},
    }


if __name__ == "__main__":
    main()
