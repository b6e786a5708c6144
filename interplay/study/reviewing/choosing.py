"""Who reviews what next: pure, of plain values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np


def lacking(verdicts: Sequence[bool], *, raters: int, third: bool) -> int:
    """How many verdicts an instance still lacks; a third one is asked for where as many say yes as say no.

    >>> lacking([True, False], raters=2, third=True), lacking([True, True], raters=2, third=True)
    (1, 0)
    """
    if len(verdicts) < raters:
        return raters - len(verdicts)
    return int(third and 2 * sum(verdicts) == len(verdicts))


def next_instance(
    names: Sequence[str],
    verdicts: Mapping[str, Sequence[bool]],
    mine: Collection[str],
    held: Counter[str],
    *,
    raters: int,
    third: bool,
    rng: np.random.Generator,
) -> str | None:
    """The instance that somebody reviews next: one that others have begun before one that nobody has, and by chance among
    equals; None if nothing lacks their verdict.

    Args:
        names: All instances.
        verdicts: Name -> those there are.
        mine: Those that this person has reviewed.
        held: Name -> others who have it before them now.
        raters, third: As of `lacking`.
        rng: The same for one person, so that their order stays.
    """
    order = {name: place for name, place in zip(names, rng.permutation(len(names)).tolist(), strict=True)}
    left = []
    for name in names:
        missing = lacking(verdicts.get(name, ()), raters=raters, third=third)
        if name not in mine and missing > held[name]:
            left.append((missing, order[name], name))
    return min(left)[2] if left else None
