"""Ratings over answers as an inline SVG: lines that stretch with the page, labels that do not.

The lines live in a box of `WIDTH` x height units that is stretched to the page's width; text stands in boxes beside it, in
pixels, so that it is as large on a phone as on a wide screen. Colours are classes of the style sheet, in light and dark.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from interplay.judge.boards import Z95, Track

WIDTH = 1000
NUM_COLOURS = 10
"""Classes `hue-0` to `hue-9`; with more agents they come again, dashed."""
BANDS_SHOWN = 6
"""With more agents than this, intervals would cover each other: each shows when its agent is pointed at."""
_LABEL_PX = 17
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
    num_answers = max((num_answers, *(track.num_answers[-1] for track in tracks.values())))
    if num_answers < 2:
        return None
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
