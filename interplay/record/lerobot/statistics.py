"""Statistics of columns as LeRobot keeps them, of one episode and of all together: min, max, mean, std, count."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np


class _Sums(NamedTuple):
    """What two sets of rows are put together from; arrays have the shape of a row."""

    least: np.ndarray
    most: np.ndarray
    total: np.ndarray
    squares: np.ndarray
    weight: float
    rows: int

    def with_other(self, other: _Sums) -> _Sums:
        return _Sums(
            np.minimum(self.least, other.least),
            np.maximum(self.most, other.most),
            self.total + other.total,
            self.squares + other.squares,
            self.weight + other.weight,
            self.rows + other.rows,
        )


class Statistics:
    """Sums over rows of named columns; pictures by channel, as shares of 255."""

    def __init__(self) -> None:
        self._sums: dict[str, _Sums] = {}

    def add(self, name: str, values: Any) -> None:
        """Count rows of numbers in: shape (N,) or (N, size), N at least 1. Numbers that are not finite count as none."""
        rows = np.asarray(values, np.float64).reshape(len(values), -1)
        rows = rows if np.isfinite(rows).all() else np.nan_to_num(rows, posinf=0, neginf=0)
        self._add(name, _Sums(rows.min(0), rows.max(0), rows.sum(0), (rows**2).sum(0), len(rows), len(rows)))

    def add_picture(self, name: str, rgb: np.ndarray) -> None:
        """Count a picture in: uint8, shape (H, W, 3)."""
        shares = rgb.reshape(-1, 3) / 255.0
        shape = (3, 1, 1)
        least, most, total, squares = (
            one.reshape(shape) for one in (shares.min(0), shares.max(0), shares.sum(0), (shares**2).sum(0))
        )
        self._add(name, _Sums(least, most, total, squares, len(shares), 1))

    def merge(self, other: Statistics) -> None:
        """Count everything of another in."""
        for name, sums in other._sums.items():
            self._add(name, sums)

    def _add(self, name: str, sums: _Sums) -> None:
        before = self._sums.get(name)
        self._sums[name] = sums if before is None else before.with_other(sums)

    def nested(self) -> dict[str, dict[str, Any]]:
        """Column -> statistic -> value, as JSON values."""
        return {name: _said(sums) for name, sums in self._sums.items()}

    def flat(self) -> Mapping[str, Any]:
        """`column/statistic` -> value."""
        return {f"{name}/{key}": value for name, said in self.nested().items() for key, value in said.items()}


def _said(sums: _Sums) -> dict[str, Any]:
    mean = sums.total / sums.weight
    deviation = np.sqrt(np.maximum(sums.squares / sums.weight - mean**2, 0))
    values = {"min": sums.least, "max": sums.most, "mean": mean, "std": deviation}
    return {key: value.tolist() for key, value in values.items()} | {"count": [sums.rows]}
