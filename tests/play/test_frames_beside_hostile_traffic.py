"""A player loses no frame beside traffic that means harm. In a file of its own, for it runs when all others have."""

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hostile_traffic import attacks, check_health
from play_server import HERE, RunningServer, environment

NUM_PACED = 250
PACE_S = 0.045
"""A case begins no earlier than this after the one before: unpaced, it is a question of cores who gets through."""
NUM_FRAMES = 900
"""The player is watched for at least so long: 15 s."""


def ran_and_waited(pid: int) -> tuple[float, float]:
    """How long a process ran, and how long it wanted to and no core was free for it, seconds."""
    ran_ns, waited_ns, _ = map(int, Path(f"/proc/{pid}/schedstat").read_text().split())
    return ran_ns / 1e9, waited_ns / 1e9


@pytest.mark.live_clock
@pytest.mark.processes
def test_hostile_traffic_costs_a_player_no_frame(server: RunningServer) -> None:
    player = subprocess.Popen(
        [sys.executable, str(HERE / "healthy_player.py"), server.address, str(NUM_FRAMES)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    assert player.stdin is not None
    assert player.stdout is not None

    async def scenario() -> dict[str, bytes]:
        answers, due = {}, time.monotonic()
        for name, attack in (await attacks(server))[:NUM_PACED]:
            due = max(due + PACE_S, time.monotonic() - 1.0)
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            answers[name] = await attack()
        return answers

    try:
        assert player.stdout.readline() == "playing\n"
        answers = asyncio.run(scenario())
        words, _ = player.communicate(timeout=300)
    finally:
        player.kill()
        player.wait()
    check_health(server, answers)
    found = json.loads(words)
    assert "paused" not in found["messages"]
    assert found["num_frames"] >= NUM_FRAMES
    ran, waited = ran_and_waited(server.process.pid)
    if waited < ran / 2:  # else other programs have the machine, and frames say nothing about this traffic
        assert found["num_missed"] <= 1, found
