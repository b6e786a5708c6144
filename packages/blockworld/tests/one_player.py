"""What rules ask of a world that several may be in, for small worlds of one player."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from blockworld.state import Player, Position


class OnePlayer:
    """Beside a `player` and a `screen`."""

    grid: Any
    player: Player
    screen: Any
    seat = 0
    unseen: Mapping[Position, int] = MappingProxyType({})

    @property
    def first(self) -> Any:
        """As generated: this land, which notes what changes from its beginning on."""
        return self.grid

    @property
    def players(self) -> list[Player]:
        return [self.player]

    @property
    def screens(self) -> list[Any]:
        return [self.screen]

    @contextmanager
    def acting(self, seat: int) -> Iterator[Player]:
        assert seat == 0
        yield self.player


def output_of(code: str) -> str:
    """What another process says that runs this code in the folder of the tests."""
    command, folder = [sys.executable, "-c", code], Path(__file__).parent
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
