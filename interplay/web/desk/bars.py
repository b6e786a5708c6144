"""Bars, histograms and ranges as SVG: places in units of their own; colours are classes of the style sheet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from interplay.record.collected import Spread

WIDTH, HEIGHT, LEFT, TOP = 640, 190, 60, 10
NUM_COLOURS = 8
"""Classes `part-0` to `part-7`; the smallest parts beyond share the last, as "others"."""
OTHERS = "others"
_HALF_DAY = 26
"""Half of what the text of a day takes."""


@dataclass(frozen=True)
class Bar:
    """A rectangle: its corner, its size, its colour, and what it says to who points at it."""

    x: float
    y: float
    width: float
    height: float
    part: int
    says: str


@dataclass(frozen=True)
class Stack:
    """Stacked bars. `x_ticks` and `y_ticks` are (place, text); `parts` are the names of the colours, the largest first."""

    bars: Sequence[Bar]
    parts: Sequence[str]
    x_ticks: Sequence[tuple[float, str]]
    y_ticks: Sequence[tuple[float, str]]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT


@dataclass(frozen=True)
class Histogram:
    """Bars of equal width; `low`, `middle` and `high` are written under them."""

    bars: Sequence[Bar]
    low: str
    middle: str
    high: str
    most: int
    width: int = 300
    height: int = 90


@dataclass(frozen=True)
class Row:
    """A row of a range plot: places of 5 to 95, of 25 to 75 and of the median, and what they are in words."""

    name: str
    count: int
    x5: float
    x25: float
    x50: float
    x75: float
    x95: float
    middle: str
    says: str


@dataclass(frozen=True)
class Range:
    """Rows on one axis from 0 to 100 units, with what stands at its beginning and end."""

    rows: Sequence[Row]
    low: str
    high: str


def stacks(sums: Mapping[str, Mapping[str, float]], unit: str) -> Stack:
    """A column for each key, in order, its parts stacked.

    Args:
        sums: Key -> part -> how much; keys sort as they shall stand (days).
        unit: Written after amounts.
    """
    totals: dict[str, float] = {}
    for parts in sums.values():
        for name, amount in parts.items():
            totals[name] = totals.get(name, 0.0) + amount
    order = sorted(totals, key=lambda name: (-totals[name], name))
    if len(order) > NUM_COLOURS:
        order = [*order[: NUM_COLOURS - 1], OTHERS]
    keys = sorted(sums)
    most = max(sum(parts.values()) for parts in sums.values()) or 1.0
    bottom, wide = HEIGHT - 24, WIDTH - LEFT
    step = wide / len(keys)
    bars = []
    for place, key in enumerate(keys):
        y = float(bottom)
        grouped: dict[str, float] = {}
        for name, amount in sums[key].items():
            kept = name if name in order else OTHERS
            grouped[kept] = grouped.get(kept, 0.0) + amount
        for number, name in enumerate(order):
            if amount := grouped.get(name, 0.0):
                height = amount / most * (bottom - TOP)
                y -= height
                says = f"{key}, {name}: {amount:.2f} {unit}"
                bars.append(
                    Bar(
                        round(LEFT + place * step + step * 0.08, 1),
                        round(y, 1),
                        round(step * 0.84, 1),
                        round(height, 1),
                        number,
                        says,
                    )
                )
    x_ticks = [
        (round(min(LEFT + (place + 0.5) * step, WIDTH - _HALF_DAY), 1), keys[place][5:])
        for place in sorted({0, len(keys) // 2, len(keys) - 1})
    ]
    y_ticks = [(round(bottom - part * (bottom - TOP), 1), f"{part * most:.2g} {unit}") for part in (0.0, 0.5, 1.0)]
    return Stack(bars, order, x_ticks, y_ticks)


def histogram(counts: Sequence[int], low: float, high: float, say: Callable[[float], str]) -> Histogram:
    most, size = max(counts), (high - low) / len(counts)
    step = Histogram.width / len(counts)
    bars = []
    for place, count in enumerate(counts):
        height = count / most * Histogram.height
        says = f"{say(low + place * size)} to {say(low + (place + 1) * size)}: {count:,}"
        corner = round(place * step + 0.5, 1), round(Histogram.height - height, 1)
        bars += [Bar(*corner, round(step - 1, 1), round(height, 1), 0, says)] if count else []
    return Histogram(bars, say(low), say((low + high) / 2), say(high), most)


def ranges(parts: Mapping[str, Spread], say: Callable[[float], str]) -> Range:
    """Rows on one axis from zero, or from less than zero, to the largest of what they show.

    >>> ranges({"a": Spread(4, 1, 1, 2, 3, 4)}, "{:g}".format).rows[0].x50
    50.0
    """
    low = min(0.0, *(one.p5 for one in parts.values()))
    high = max(one.p95 for one in parts.values())
    span = high - low or 1.0

    def x(value: float) -> float:
        return round(100 * (value - low) / span, 2)

    rows = [
        Row(name, one.num, x(one.p5), x(one.p25), x(one.p50), x(one.p75), x(one.p95), say(one.p50),
            f"median {say(one.p50)}, half from {say(one.p25)} to {say(one.p75)}, 90 % from {say(one.p5)} to {say(one.p95)}")
        for name, one in parts.items()
    ]  # fmt: skip
    return Range(rows, say(low), say(high))
