"""The state of a small world, for the tests of its rules."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from blockworld.state import Player, Position
from blockworld.world_state import WorldState


class OnePlayer(WorldState):
    """One player in a grid."""

    def __init__(self, grid: Any, player: Player, *, spawn: Position = (3, 10, 3), seed: int = 5) -> None:
        super().__init__(seed, "flat", SimpleNamespace(spawn=spawn), grid)  # type: ignore[arg-type]
        self.players[0] = player
        self.turn_to(0)
        self.rng = np.random.default_rng(seed)


def output_of(code: str) -> str:
    """What another process says that runs this code in the folder of the tests."""
    command, folder = [sys.executable, "-c", code], Path(__file__).parent
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
