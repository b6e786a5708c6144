"""Games that are played once and looked at by several tests."""

import pytest
from invaders_world import PlayedGame, from_below, from_the_left, from_the_middle, from_the_right, play

from interplay.tasks import find

ORDERS = {"left": from_the_left, "right": from_the_right, "middle": from_the_middle, "rows": from_below}


@pytest.fixture(scope="session")
def games() -> dict[str, PlayedGame]:
    """One game of Space Invaders for each order; the first has more than one wave."""
    task = find("atari/space_invaders")
    steps = {"left": 6000, "right": 3600, "middle": 2400, "rows": 2400}
    return {name: play(task, {"player": order}, num_steps=steps[name]) for name, order in ORDERS.items()}


@pytest.fixture(scope="session")
def games_for_two() -> dict[str, PlayedGame]:
    """One game against each other, where bonuses are paid, and one together."""
    orders = {"first": from_the_left, "second": from_the_right}
    names = ("competitive", "cooperative")
    return {name: play(find(f"atari-two/space_invaders_{name}"), orders, num_steps=1800) for name in names}
