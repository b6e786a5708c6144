"""What rules ask of a world that several may be in, for small worlds of one player."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

from interplay.world.state import Player, Position


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
