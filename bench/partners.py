"""Agents beside people in live games: what a decision costs when one call decides for many games, and how many come too late.

    python -m bench.partners --games 8 --seconds 20 --json

A small convolutional policy with random weights is made, and a server is started as its own process. In each game a program
sits in one seat of cooperative Space Invaders (60 steps a second), the policy in the other.

Cost: processor time of the process that decides, for a second of one game, everything included (reading observations, the
network, answering). It is compared with one call of the same network for one observation at every frame of every game, the
network alone, measured beside the same games: 60 calls a second for four seconds, before the other measurement.
Late: decisions that were not there when their step was due, of all that were due.
Gaps: of the frames that each player got, the largest number of steps from one to the next.
Exit status 1 unless the ratio is 4 and at most 1 % of the decisions are late.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from bench.served import served
from interplay.agents.policy import load_policy, save_policy
from interplay.play.client import PlayClient
from interplay.play.connections import wire
from interplay.play.connections.tokens import operator_token
from interplay.tasks import Task, find

TASK = "atari-two/space_invaders_cooperative"
NUM_ACTIONS = 18
POLICY = "bench-partner"
MIN_RATIO = 4.0
MAX_LATE_SHARE = 0.01
NUM_CALLS = 240


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    task = find(TASK)
    with tempfile.TemporaryDirectory(prefix="interplay-bench-") as folder:
        data = Path(folder, "data")
        make_policy(data / "models" / POLICY, task)
        with served(data) as address:
            alone = partial(single_call_us, data / "models" / POLICY, task)
            result = asyncio.run(play(address, operator_token(data), options.games, options.seconds, alone))
    result["alone_cpu_ms_per_game_s"] = round(result["alone_cpu_us_per_call"] * task.frame_rate_hz / 1000, 2)
    result["ratio"] = round(result["alone_cpu_ms_per_game_s"] / result["agents_cpu_ms_per_game_s"], 2)
    result["meets_bars"] = bool(result["ratio"] >= MIN_RATIO and result["late_share"] <= MAX_LATE_SHARE)
    print(json.dumps(result, indent=2) if options.json else "\n".join(f"{name:28} {value}" for name, value in result.items()))
    if not result["meets_bars"]:
        raise SystemExit(1)


def make_policy(folder: Path, task: Task) -> None:
    """A policy of the Nature network with random weights."""
    import torch

    from interplay.agents.networks import build

    torch.manual_seed(0)
    architecture = {"name": "nature_cnn", "num_actions": NUM_ACTIONS, "in_channels": 4}
    details = {"architecture": architecture, "temperature": 1.0}
    save_policy(folder, build(architecture), task=task, algorithm="none", observation="dqn", details=details)


def single_call_us(folder: Path, task: Task) -> float:
    """Processor time of one call for one observation in one thread, as often as there are frames, microseconds."""
    import torch

    torch.set_num_threads(1)
    policy = load_policy(folder)
    state = policy.begin(task, rng=np.random.default_rng(0))
    observations = [{"picture": np.random.default_rng(0).integers(0, 256, (4, 84, 84), np.uint8)}]
    for _ in range(20):
        policy.decide(observations, [state])
    used_s = 0.0
    for _ in range(NUM_CALLS):
        before = time.thread_time()
        policy.decide(observations, [state])
        used_s += time.thread_time() - before
        time.sleep(1 / task.frame_rate_hz)
    return used_s / NUM_CALLS * 1e6


async def play(
    address: str, operator: str, num_games: int, seconds: float, call_alone_us: Callable[[], float]
) -> dict[str, Any]:
    """Play, and read what the server says of the time in which all played."""
    clients = [
        await PlayClient.open(
            address, TASK, operator=operator, actor=f"player-{number}", countdown_s=0, partner=POLICY, seed=number
        )
        for number in range(num_games)
    ]
    steps: list[list[int]] = [[] for _ in clients]
    players = [asyncio.create_task(_play(client, seen)) for client, seen in zip(clients, steps, strict=True)]
    while not all(client.state == "playing" for client in clients):
        await asyncio.sleep(0.05)
    alone_us = await asyncio.to_thread(call_alone_us)  # meanwhile the agents get over their first calls, which take longer
    before, began = await _statistics(address, operator), time.perf_counter()
    await asyncio.sleep(seconds)
    after, passed_s = await _statistics(address, operator), time.perf_counter() - began
    for player, client in zip(players, clients, strict=True):
        player.cancel()
        await client.close()

    def grown(name: str) -> float:
        return sum(worker[name] for worker in after["workers"]) - sum(worker[name] for worker in before["workers"])

    agents = {name: after["agents"][name] - before["agents"][name] for name in ("num_decisions", "num_calls", "cpu_s")}
    gaps = [int(np.diff(seen).max()) for seen in steps if len(seen) > 1]
    return {
        "cores": len(os.sched_getaffinity(0)),
        "load": [round(value, 2) for value in os.getloadavg()],
        "games": num_games,
        "seconds": round(passed_s, 1),
        "steps_per_game_s": round(grown("num_steps") / num_games / passed_s, 2),
        "decisions": agents["num_decisions"],
        "decisions_per_call": round(agents["num_decisions"] / max(agents["num_calls"], 1), 2),
        "late_share": round(grown("num_late") / max(grown("num_decisions"), 1), 4),
        "largest_gap_steps": max(gaps, default=0),
        "alone_cpu_us_per_call": round(alone_us, 1),
        "agents_cpu_ms_per_game_s": round(1000 * agents["cpu_s"] / num_games / passed_s, 2),
    }


async def _play(client: PlayClient, seen: list[int]) -> None:
    await client.start()
    while True:
        message = await client.receive()
        if isinstance(message, wire.FrameHeader):
            seen.append(message.step)


async def _statistics(address: str, operator: str) -> dict[str, Any]:
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {operator}"}, timeout=60) as http:
        return (await http.get(f"{address}/api/play/statistics")).json()


if __name__ == "__main__":
    main()
