"""Select the next two segments: at random, or where a reward's networks disagree most. Pure; no database.

Christiano et al. 2017 ("Deep reinforcement learning from human preferences", section 2.2.4) draw many pairs, let every network
of an ensemble predict the preference, and ask about the pairs whose predictions vary most.

Differences: a share of the pairs is drawn at random, from segments of held-out worlds. No reward is learned from these pairs;
they are a fair sample to measure rewards.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

import numpy as np

from interplay.judge.segments.definition import Segments
from interplay.store.judging import NewSegment, SegmentRow

Sums = Mapping[str, Sequence[float]]
"""Segment key -> sum of the segment's rewards, one sum for each network."""


class SegmentPair(NamedTuple):
    """Two segments; their sides were drawn at random."""

    left: SegmentRow
    right: SegmentRow


def next_pair(
    segments: Sequence[SegmentRow],
    part: Segments,
    *,
    sums: Sums | None,
    taken: AbstractSet[frozenset[int]],
    rng: np.random.Generator,
) -> SegmentPair | None:
    """Choose the next two segments; return None when nothing is left to show.

    Args:
        segments: Segments that can be shown.
        sums: Sums of the reward that guides the selection; None before a reward was learned.
        taken: Pairs that were answered, or that a judge has open.
    """
    measuring, teaching = ([one for one in segments if one.is_held_out == held_out] for held_out in (True, False))
    parts = [(measuring, None), (teaching, sums)]
    for ours, known in parts if rng.random() < part.held_out else reversed(parts):
        pairs = list(itertools.islice(_drawn(ours, taken, rng), part.candidates))
        if known is not None:
            worth = [disagreement(known.get(pair.left.key), known.get(pair.right.key)) for pair in pairs]
            pairs = [pairs[place] for place in np.argsort(-np.array(worth), kind="stable")]
        if pairs:
            return pairs[0]
    return None


def disagreement(left: Sequence[float] | None, right: Sequence[float] | None) -> float:
    """Return how much the networks disagree: the variance of their probabilities that the left segment is preferred.

    Args:
        left, right: Sum of rewards by each network; None if unknown. A pair with an unknown sum gets the largest value, 1.

    >>> disagreement([1, 1], [0, 0]), disagreement([4, 0], [0, 4]) > disagreement([1, 0], [0, 1]) > 0, disagreement(None, [1])
    (0.0, True, 1.0)
    """
    if left is None or right is None:
        return 1.0
    return float(np.var(1 / (1 + np.exp(-np.clip(np.subtract(left, right), -50, 50)))))


def _drawn(
    segments: Sequence[SegmentRow], taken: AbstractSet[frozenset[int]], rng: np.random.Generator
) -> Iterator[SegmentPair]:
    """Yield pairs that are not taken, in random order, each at most once. The two segments must not overlap."""
    num = len(segments)
    seen = set(taken)
    if num <= 100:  # all of them are few
        order = ((int(place) // num, int(place) % num) for place in rng.permutation(num * num))
    else:
        order = (tuple(rng.integers(num, size=2).tolist()) for _ in range(100 * num))
    for one, other in order:
        pair = SegmentPair(segments[one], segments[other])
        ids = frozenset((pair.left.id, pair.right.id))
        if one != other and ids not in seen and not overlap(*pair):
            seen.add(ids)
            yield pair


def overlap(one: SegmentRow | NewSegment, other: SegmentRow | NewSegment) -> bool:
    """Whether two segments have a step of one game in common."""
    is_same = one.episode_id == other.episode_id
    return is_same and one.first_step <= other.last_step and other.first_step <= one.last_step
