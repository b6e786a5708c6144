"""Which segments a study compares: drawn evenly from all places where one can begin. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from interplay.judge.segments.definition import STEPS_OF_A_DECISION
from interplay.store.judging import NewSegment


class Game(NamedTuple):
    """An episode that segments are drawn from: its id, its world, its steps until the seat's end, and whose play it is."""

    id: str
    seed: int
    num_steps: int
    agent: str


def draw_segments(
    games: Sequence[Game], *, num_steps: int, number: int, held_out: float, rng: np.random.Generator
) -> list[NewSegment]:
    """Segments of equal length, no two alike, in the order they were drawn.

    A share of the worlds is held out, at least one where there are two, and the same share of the segments is of these. Within
    the held-out worlds, and within the others, each place where a segment can begin is as likely as any other.

    Args:
        games: In an order that does not change, or the same seed draws others.
        num_steps: Length of a segment, in steps.
        number: How many; fewer are drawn where there are not so many places.
        held_out: Share.
        rng: Draws.
    """
    games = [game for game in games if game.num_steps >= num_steps]
    worlds = sorted({game.seed for game in games})
    num_worlds = 0 if len(worlds) < 2 else min(len(worlds) - 1, max(1, round(held_out * len(worlds))))
    apart = set(rng.permutation(worlds)[:num_worlds].tolist())
    num_apart = max(2, round(held_out * number)) if apart else 0
    drawn = []
    for is_held_out, wanted in ((False, number - num_apart), (True, num_apart)):
        ours = [game for game in games if (game.seed in apart) == is_held_out]
        places = np.array([(game.num_steps - num_steps) // STEPS_OF_A_DECISION + 1 for game in ours], np.int64)
        if not len(places):
            continue
        ends = np.cumsum(places)
        for place in rng.choice(ends[-1], min(wanted, int(ends[-1])), replace=False):
            which = int(np.searchsorted(ends, place, side="right"))
            first = int(place - ends[which] + places[which]) * STEPS_OF_A_DECISION
            drawn.append(NewSegment(ours[which].id, first, first + num_steps - 1, ours[which].agent, is_held_out))
    return [drawn[place] for place in rng.permutation(len(drawn))]
