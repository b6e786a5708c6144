"""What a device brings: updates of each algorithm and pictures of VPT's networks in a second.

    python -m bench.gpu --device cuda --json
    python -m bench.gpu --device cpu --widths 1x --json

Each algorithm learns with the settings of its preset `paper` from 84x84 stacks; a batch begins in the computer's memory, as it
does in a run. VPT's networks, with weights of zero (the time does not depend on them), make latents of 128 pictures at a time,
as `interplay demos embed` does. Seconds are by the clock, the best of three rounds, after a first one that is not counted.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch

from interplay.agents.vpt.network import VPT, WIDTHS
from interplay.learn import CONFIGS
from interplay.learn.algorithms import LEARNERS
from interplay.learn.harness.learner import Batch, Given, device_of, threads

SHAPE, ACTIONS = (4, 84, 84), 18
CHUNK = 128
ROUNDS = 3
ALGORITHMS = sorted(name for name, config in CONFIGS.items() if not config.is_composed)


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"))
    parser.add_argument("--algorithms", nargs="*", default=ALGORITHMS, choices=ALGORITHMS)
    parser.add_argument("--widths", nargs="*", default=list(WIDTHS), choices=list(WIDTHS))
    parser.add_argument("--updates", type=int, default=200, help="of a round")
    parser.add_argument("--batch-size", type=int, default=0, help="of every algorithm; 0: what the preset says")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    device = device_of(options.device)
    with threads(options.threads):
        result = {
            "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
            "torch": torch.__version__,
            "threads": options.threads,
            "updates_per_second": {
                name: round(updates_per_second(name, device, options.updates, options.batch_size), 1)
                for name in options.algorithms
            },
            "vpt_pictures_per_second": {name: round(pictures_per_second(name, device), 1) for name in options.widths},
        }
    print(json.dumps(result, indent=2) if options.json else "\n".join(f"{name:30} {value}" for name, value in result.items()))


def updates_per_second(algorithm: str, device: torch.device, updates: int, batch_size: int) -> float:
    """How often an algorithm learns from a batch that begins in the computer's memory."""
    config = (
        CONFIGS[algorithm].preset("paper", "bench/gpu")
        if "paper" in CONFIGS[algorithm].presets
        else CONFIGS[algorithm]("bench/gpu")
    )
    config = replace(config, batch_size=batch_size or config.batch_size)
    learner = LEARNERS[algorithm](config, Given(SHAPE, ACTIONS, np.arange(ACTIONS), device))
    rng = np.random.default_rng(0)
    size = config.batch_size
    before, after = torch.from_numpy(rng.integers(0, 256, (2, size, *SHAPE), np.uint8))
    actions, rewards = torch.from_numpy(rng.integers(ACTIONS, size=size)), torch.from_numpy(rng.normal(size=size)).float()
    goes_on = torch.from_numpy((rng.random(size) > 0.1).astype(np.float32))
    number = 0

    def work() -> None:
        nonlocal number
        for _ in range(updates):
            batch = Batch(*(one.to(device) for one in (before, actions, rewards, after, goes_on)))
            learner.update(batch, number, torch.Generator().manual_seed(number))
            number += 1

    return updates / _quickest(work, device)


def pictures_per_second(width: str, device: torch.device) -> float:
    """How many pictures of one video a network of VPT makes latents of."""
    with torch.device("meta"):
        network = VPT(WIDTHS[width])
    network = network.to_empty(device=device).eval()
    for tensor in (*network.parameters(), *network.buffers()):
        tensor.data.zero_()
    pictures = torch.zeros((1, CHUNK, *WIDTHS[width].img_shape), dtype=torch.uint8)
    state = network.initial_state(1)

    def work() -> None:
        nonlocal state
        with torch.inference_mode():
            _, state = network.latents(pictures.to(device), state)

    return CHUNK / _quickest(work, device)


def _quickest(work: Callable[[], None], device: torch.device) -> float:
    """Seconds of the quickest of some rounds."""
    seconds = []
    for _ in range(ROUNDS + 1):
        begun_s = time.perf_counter()
        work()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        seconds.append(time.perf_counter() - begun_s)
    return min(seconds[1:])


if __name__ == "__main__":
    main()
