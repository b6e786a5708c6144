"""One answer as agreement and bias see it: who compared which two things, and what they said, question by question."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

_NOTHING: Mapping[str, Any] = MappingProxyType({})
OVERALL = "overall"
"""The question every judgement answers; its answer is `outcome`."""
VALUES = ("first", "draw", "second")
"""What an answer says once left and right are replaced by an order of the two things that is the same for all judges."""
_MIRROR = {"left": "second", "right": "first", "draw": "draw"}
_STRAIGHT = {"left": "first", "right": "second", "draw": "draw"}


class Judgement(NamedTuple):
    """One answer.

    Attributes:
        judge: Who gave it.
        left, right: Names of the two things that were shown, such as ids of episodes; the same thing always has the same name.
        outcome: `left`, `right` or `draw`.
        task: Task id.
        responses: Question id -> `left`, `right`, `draw`, `na`, or `{"left": bool, "right": bool}` for a direct question.
        num_reason_chars: Length of the judge's reason.
        duration_s: From serving to answering, seconds.
    """

    judge: str
    left: str
    right: str
    outcome: str
    task: str = ""
    responses: Mapping[str, Any] = _NOTHING
    num_reason_chars: int | None = None
    duration_s: float | None = None

    @property
    def item(self) -> tuple[str, str, str]:
        """What was judged: the task and the two things in the order of their names, whichever side each was on."""
        return (self.task, *sorted((self.left, self.right)))  # type: ignore[return-value]

    def oriented(self, answer: str) -> str | None:
        """`left`, `right` or `draw` as `first`, `second` or `draw` of `item`; None for anything else, such as `na`."""
        return (_STRAIGHT if self.left <= self.right else _MIRROR).get(answer)
