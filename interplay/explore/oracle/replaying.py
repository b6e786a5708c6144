"""A solution as a text, which comes with an instance, and what it reaches when it is played again."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable
from typing import Any

from blockworld import Action
from interplay.errors import InterplayError
from interplay.explore.instance import Instance
from interplay.explore.oracle.proving import begin

_MOST_BYTES = 10_000_000
"""Of a solution that is unpacked."""


class ReplayError(InterplayError):
    """A text that is no solution."""


def packed(actions: Iterable[Action]) -> str:
    """Actions as a text: JSON of runs of equal ones, each the number and the keys that differ from `Action()`; zlib, base 85.

    >>> unpacked(packed([Action(), Action(forward=True)])) == [Action(), Action(forward=True)]
    True
    """
    runs: list[list[Any]] = []
    for action in actions:
        keys = {name: value for name, value in action._asdict().items() if value != getattr(Action(), name)}
        if runs and runs[-1][1] == keys:
            runs[-1][0] += 1
        else:
            runs.append([1, keys])
    return base64.b85encode(zlib.compress(json.dumps(runs, separators=(",", ":")).encode(), 9)).decode()


def unpacked(text: str) -> list[Action]:
    """The inverse of `packed`.

    Raises:
        ReplayError: If the text is anything else.
    """
    try:
        unzip = zlib.decompressobj()
        data = unzip.decompress(base64.b85decode(text), _MOST_BYTES)
        if not unzip.eof:
            raise ValueError("they are cut off, or too many")
        return [Action(**keys) for number, keys in json.loads(data) for _ in range(number)]
    except (ValueError, TypeError, zlib.error) as error:
        raise ReplayError(f"the actions of a proof cannot be read: {error}\nProve the instance again.") from None


def replayed(instance: Instance, actions: Iterable[Action]) -> dict[str, int]:
    """Milestone -> tick of what actions reach."""
    run = begin(instance)
    for action in actions:
        run.step(action)
    return dict(run.progress.reached)
