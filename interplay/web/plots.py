"""Plots as inline SVG: ratings over answers (`history`), dots and lines between two axes (`chart`), and how often values come
(`histogram`).

The lines of a history live in a box of `WIDTH` x height units that is stretched to the page's width; text stands in boxes
beside it, in pixels, so that it is as large on a phone as on a wide screen. A chart is a small drawing that scales whole, text
and all. Colours are classes of the style sheet, in light and dark.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from interplay.judge.ratings.boards import Track
from interplay.rank.normal import Z95
from interplay.study.scores.standing import Bins

WIDTH = 1000
NUM_COLOURS = 10
"""Classes `hue-0` to `hue-9`; with more agents they come again, dashed."""
BANDS_SHOWN = 6
"""With more agents than this, intervals would cover each other: each shows when its agent is pointed at."""
_LABEL_PX = 17
_TAIL_CHARS = 6
"""So much of the end of a long name is always shown."""
_MIN_HEIGHT_PX = 300
_MAX_POINTS = 90
_PAD_PX = 12
_WIDE_ANSWERS = 10
"""After so many answers the band of an agent fits the plot; before, it is so wide that the line would look flat."""


@dataclass(frozen=True)
class Line:
    """One agent's line.

    Attributes:
        agent: Its name.
        hue: Number of its colour.
        is_dashed: Whether another agent has the same colour.
        path: The rating, as steps: it moves with each answer about the agent.
        band: The 95 % interval around it.
        end_y, label_y: Where the line ends and where its label stands, in pixels from the top.
    """

    agent: str
    hue: int
    is_dashed: bool
    path: str
    band: str
    end_y: float
    label_y: float

    @property
    def head(self) -> str:
        """The part of the name that is shortened where there is no room for all of it; versions stand at the end of names."""
        return self.agent[: len(self.agent) - len(self.tail)]

    @property
    def tail(self) -> str:
        """The rest of the name."""
        return self.agent[-_TAIL_CHARS:] if len(self.agent) > 2 * _TAIL_CHARS else ""


@dataclass(frozen=True)
class History:
    """A plot of several agents; `ticks` are (pixels from the top, text), `height` is in pixels."""

    lines: Sequence[Line]
    ticks: Sequence[tuple[float, str]]
    num_answers: int
    height: int
    shows_bands: bool


def history(tracks: Mapping[str, Track], hues: Mapping[str, int], *, num_answers: int = 0) -> History | None:
    """The plot of these tracks; None where nothing has moved twice.

    Args:
        tracks: Agent -> its track, not empty.
        hues: Agent -> a number of its own; the same in every figure.
        num_answers: Of the whole log, where the plot ends; at least at the last answer about these agents.
    """
    if all(len(track.mu) < 2 for track in tracks.values()):
        return None
    num_answers = max((num_answers, *(track.num_answers[-1] for track in tracks.values())))
    height = max(_MIN_HEIGHT_PX, _LABEL_PX * len(tracks) + 2 * _PAD_PX)
    shows_bands = len(tracks) <= BANDS_SHOWN
    low = min(min(*track.mu, *_edge(track, -Z95, whole=shows_bands)) for track in tracks.values())
    high = max(max(*track.mu, *_edge(track, Z95, whole=shows_bands)) for track in tracks.values())
    span = max(high - low, 1.0)

    def y(value: float) -> float:
        inside = min(max(value, low - span), high + span)
        return round(_PAD_PX + (high - inside) / span * (height - 2 * _PAD_PX), 1)

    agents = sorted(tracks, key=lambda agent: -tracks[agent].mu[-1])
    ends = [y(tracks[agent].mu[-1]) for agent in agents]
    lines = []
    for agent, end_y, label_y in zip(agents, ends, _apart(ends, height), strict=True):
        track = tracks[agent]
        chosen = _thinned(len(track.mu), _MAX_POINTS if shows_bands else _MAX_POINTS // 2)
        xs = [round(WIDTH * track.num_answers[n] / num_answers, 1) for n in chosen]
        half = [Z95 * track.sigma[n] for n in chosen]
        mu = [track.mu[n] for n in chosen]
        top = _steps(xs, [y(value + one) for value, one in zip(mu, half, strict=True)])
        bottom = _steps(xs, [y(value - one) for value, one in zip(mu, half, strict=True)])
        band = "M" + "L".join(f"{x} {value}" for x, value in [*top, *reversed(bottom)]) + "Z"
        path = "M" + "L".join(f"{x} {value}" for x, value in _steps(xs, [y(value) for value in mu]))
        hue = hues.get(agent, 0)
        lines.append(Line(agent, hue % NUM_COLOURS, hue >= NUM_COLOURS, path, band, end_y, label_y))
    ticks = [(y(value), f"{value:g}") for value in _round_values(low, high)]
    return History(lines, ticks, num_answers, height, shows_bands)


def _edge(track: Track, times: float, *, whole: bool) -> list[float]:
    """What the axis must hold of an edge of the band: of a long track not the wide beginning, or only the end."""
    first = (_WIDE_ANSWERS if len(track.mu) > _WIDE_ANSWERS else 0) if whole else -1
    return [mu + times * sigma for mu, sigma in zip(track.mu[first:], track.sigma[first:], strict=True)]


def _steps(xs: Sequence[float], ys: Sequence[float]) -> list[tuple[float, float]]:
    """Corners of a line that holds each value until the next, and the last one to the right edge."""
    corners = []
    for x, value, following in zip(xs, ys, [*xs[1:], WIDTH], strict=True):
        corners += [(x, value), (following, value)]
    return corners


def _thinned(count: int, limit: int) -> list[int]:
    """At most `limit` places of `count`, evenly, the first and the last among them."""
    if count <= limit:
        return list(range(count))
    return sorted({round(place * (count - 1) / (limit - 1)) for place in range(limit)})


def _apart(ends: Sequence[float], height: float) -> list[float]:
    """Places for labels near the falling `ends`, `_LABEL_PX` apart, all inside the plot.

    >>> _apart([100.0, 102.0, 104.0], 300)
    [100.0, 117.0, 134.0]
    """
    placed: list[float] = []
    for end in ends:
        placed.append(max(end, placed[-1] + _LABEL_PX) if placed else end)
    limit = height - _PAD_PX
    for place in reversed(range(len(placed))):
        placed[place] = min(placed[place], limit)
        limit = placed[place] - _LABEL_PX
    return placed


def _round_values(low: float, high: float) -> list[float]:
    """Three to seven round numbers between two.

    >>> _round_values(18.2, 33.1)
    [20.0, 25.0, 30.0]
    """
    rough = (high - low) / 4
    size = 10.0 ** math.floor(math.log10(rough)) if rough > 0 else 1.0
    step = next(size * times for times in (1, 2, 5, 10) if size * times >= rough)
    first = math.ceil(low / step)
    return [round(number * step, 9) for number in range(first, math.floor(high / step) + 1)]


# Charts


@dataclass(frozen=True)
class Axis:
    """Values from `low` to `high`, and what is written beside some of them: (value, text)."""

    low: float
    high: float
    ticks: Sequence[tuple[float, str]]

    def share(self, value: float) -> float:
        """How far along the axis a value lies: 0 at its beginning, 1 at its end."""
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class Dot:
    """A point of a chart: where, how large, and what it says to who points at it."""

    x: float
    y: float
    radius: float
    says: str


@dataclass(frozen=True)
class Chart:
    """A drawing of two axes, in units of its own.

    Attributes:
        dots: Points in order.
        lines: Class of the line -> its points as SVG wants them.
        x_ticks, y_ticks: (place, text).
        width, height: Of the whole drawing.
        left, right, top, bottom: Where the axes end.
    """

    dots: Sequence[Dot]
    lines: Mapping[str, str]
    x_ticks: Sequence[tuple[float, str]]
    y_ticks: Sequence[tuple[float, str]]
    width: int = 320
    height: int = 240
    left: int = 46
    right: int = 300
    top: int = 14
    bottom: int = 210


def chart(dots: Sequence[Dot], lines: Mapping[str, Sequence[tuple[float, float]]], across: Axis, up: Axis) -> Chart:
    """Dots and lines between two axes.

    Args:
        dots: Their places in values of the axes.
        lines: Class of the line -> its points, in values of the axes.
    """

    def x(value: float) -> float:
        return round(Chart.left + across.share(value) * (Chart.right - Chart.left), 1)

    def y(value: float) -> float:
        return round(Chart.bottom - up.share(value) * (Chart.bottom - Chart.top), 1)

    return Chart(
        [replace(dot, x=x(dot.x), y=y(dot.y)) for dot in dots],
        {name: " ".join(f"{x(one)},{y(other)}" for one, other in points) for name, points in lines.items()},
        [(x(value), text) for value, text in across.ticks],
        [(y(value), text) for value, text in up.ticks],
    )


# Histograms


@dataclass(frozen=True)
class Bar:
    """One bin: its corner, its size, how many values it holds, and whether it is the one to look at."""

    x: float
    y: float
    width: float
    height: float
    count: int
    is_marked: bool


@dataclass(frozen=True)
class Mark:
    """A line across the plot: where, its letter or word, whether it is the reader's own, and what it says in full."""

    x: float
    name: str
    is_own: bool
    says: str


@dataclass(frozen=True)
class Histogram:
    """A drawing of bins, in units of its own, which scales whole. `words` says it without a picture."""

    bars: Sequence[Bar]
    marks: Sequence[Mark]
    ticks: Sequence[tuple[float, str]]
    words: str
    width: int = 400
    height: int = 200
    left: int = 10
    right: int = 390
    top: int = 46
    bottom: int = 176


def histogram(bins: Bins, own: float | None = None, marks: Sequence[tuple[str, str, float]] = ()) -> Histogram:
    """Draw bins, the reader's own value, and other values as lines.

    Args:
        own: Where "you" stands.
        marks: (short name, what it says in full, value), within the bins.
    """
    across = Axis(bins.low, bins.high, ())

    def x(value: float) -> float:
        return round(Histogram.left + across.share(value) * (Histogram.right - Histogram.left), 1)

    most = max(bins.counts, default=0) or 1
    bars = []
    for place, count in enumerate(bins.counts):
        begins, ends = x(bins.low + place * bins.width), x(bins.low + (place + 1) * bins.width)
        height = round(count / most * (Histogram.bottom - Histogram.top), 1)
        is_marked = own is not None and bins.place(own) == place
        bars.append(Bar(begins + 1, Histogram.bottom - height, round(ends - begins - 2, 1), height, count, is_marked))
    step = max(1, math.ceil(len(bins.counts) / 6))
    ticks = [
        (x(bins.low + place * bins.width), f"{round(bins.low + place * bins.width, 9):,g}")
        for place in range(0, len(bins.counts) + 1, step)
    ]
    lines = [Mark(x(value), name, False, says) for name, says, value in marks]
    words = bins.words + "".join(f"; {one.says}" for one in lines)
    if own is not None:
        lines.append(Mark(x(own), "you", True, f"you: {own:,g}"))
        words += f"; you: {own:,g}"
    return Histogram(bars, lines, ticks, words)
