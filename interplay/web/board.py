"""A leaderboard as visitors see it: without the next two agents, and with bars on one axis, in per cent of its width."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interplay.rank import DEFAULTS

Z95 = 1.959963984540054
"""Half width of the 95 % interval of a normal distribution, in standard deviations."""
PRIOR_MEAN = DEFAULTS.mu


@dataclass(frozen=True)
class Bar:
    """One row's picture: interval from `start` to `start + width`, its middle at `middle`; all per cent of the axis.

    `won`, `drew` and `lost` are the per cent of its answers; `half_width` is the interval's half in skill points.
    """

    start: float
    width: float
    middle: float
    half_width: float
    won: float
    drew: float
    lost: float


@dataclass(frozen=True)
class BoardView:
    """Rows with their bars, and where the prior mean stands on the axis (per cent)."""

    rows: Sequence[tuple[Mapping[str, Any], Bar]]
    prior: float
    low: float
    high: float


def public_board(board: Mapping[str, Any]) -> dict[str, Any]:
    """A leaderboard without the names of the agents that are to be compared next: whoever reads it may be their judge."""
    pair = board["next_pair"]
    return {**board, "next_pair": pair and {"task": pair["task"]}}


def board_view(rows: Sequence[Mapping[str, Any]]) -> BoardView:
    """Place the bars of all rows on one axis that holds every interval and the prior mean.

    Args:
        rows: Each with `mu`, `sigma`, `won`, `drew`, `lost`.
    """
    ends = [row["mu"] + sign * Z95 * row["sigma"] for row in rows for sign in (-1, 1)]
    low = math.floor(min([*ends, PRIOR_MEAN - 5]))
    high = math.ceil(max([*ends, PRIOR_MEAN + 5]))

    def place(value: float) -> float:
        return round(100 * (value - low) / (high - low), 3)

    def bar(row: Mapping[str, Any]) -> Bar:
        half = Z95 * row["sigma"]
        answers = max(1, row["won"] + row["drew"] + row["lost"])
        return Bar(
            start=place(row["mu"] - half),
            width=round(100 * 2 * half / (high - low), 3),
            middle=place(row["mu"]),
            half_width=half,
            won=round(100 * row["won"] / answers, 3),
            drew=round(100 * row["drew"] / answers, 3),
            lost=round(100 * row["lost"] / answers, 3),
        )

    return BoardView([(row, bar(row)) for row in rows], place(PRIOR_MEAN), low, high)
