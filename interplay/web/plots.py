"""Data of plots on several pages: ratings over answers, histograms, and learned rewards over a replay.

A plot is a JSON object in the page, which `static/js/plots.js` draws. It has `kind`, `columns` (name and unit of each), `rows`,
and fields that depend on the kind. Units: "" for numbers and words, "share", "hours", "clock" for seconds as m:ss, "date". If
it has `series` (each with its name and the number of a colour), the first column is the number of a series.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from interplay.judge.ratings.boards import Track
from interplay.learn.reward.storage import Along
from interplay.rank.normal import Z95
from interplay.record import summary
from interplay.study import scores
from interplay.wording import amount

MAX_POINTS = 600
"""Largest number of points of all lines of a history together; each line may have 20 in any case."""
_WHOSE = {"people": "people", "models": "model judges", "all": "people and model judges"}


def history(tracks: Mapping[str, Track], hues: Mapping[str, int], *, num_answers: int = 0) -> dict[str, Any] | None:
    """Plot ratings over answers, the highest rated agent first; None if every track has fewer than two ratings.

    Args:
        tracks: Agent -> its track, not empty.
        hues: Agent -> number of its colour.
        num_answers: Number of answers at which the plot ends; it never ends before the last answer about these agents.
    """
    if all(len(track.mu) < 2 for track in tracks.values()):
        return None
    agents = sorted(tracks, key=lambda agent: -tracks[agent].mu[-1])
    most = max(20, MAX_POINTS // len(agents))
    return {
        "kind": "history",
        "columns": [("agent", ""), ("answers", ""), ("rating", ""), ("± 95 %", "")],
        "series": [{"name": agent, "hue": hues.get(agent, 0)} for agent in agents],
        "rows": [
            (number, track.num_answers[at], round(track.mu[at], 2), round(Z95 * track.sigma[at], 2))
            for number, track in enumerate(map(tracks.__getitem__, agents))
            for at in _thinned(len(track.mu), most)
        ],
        "end": max((num_answers, *(track.num_answers[-1] for track in tracks.values()))),
    }


def _thinned(count: int, limit: int) -> list[int]:
    if count <= limit:
        return list(range(count))
    return sorted({round(place * (count - 1) / (limit - 1)) for place in range(limit)})


def histogram(
    bins: summary.Bins | scores.Bins,
    what: str,
    *,
    unit: str = "",
    own: float | None = None,
    marks: Sequence[tuple[str, str, float]] = (),
) -> dict[str, Any]:
    """Plot a histogram of values.

    Args:
        what: Name of the counted things.
        own: The visitor's own value, or None.
        marks: Other values to compare with: (short name, full text, value).
    """
    width = (bins.high - bins.low) / len(bins.counts)
    edges = [round(bins.low + place * width, 9) for place in range(len(bins.counts) + 1)]
    return {
        "kind": "histogram",
        "columns": [("from", unit), ("to", unit), (what, "")],
        "rows": list(zip(edges, edges[1:], bins.counts, strict=False)),
        "own": own,
        "marks": [{"name": name, "says": says, "value": value} for name, says, value in marks],
    }


def reward_plot(along: Along, num_steps: int) -> dict[str, Any]:
    """Plot a learned reward along a game of `num_steps` steps.

    In the plot, `name` is the reward's name and `words` describe its training and quality. `low` and `high` enclose the reward
    plus and minus one standard deviation of its networks.
    """
    words = f"From {amount(along.answers, 'answer')} of {_WHOSE[along.judges]}."
    if along.correlation is not None:
        words += f" Its rank correlation with the score of other games is {along.correlation:.2f}."
    rows = [
        (step, round(value, 4), round(around, 4))
        for step, value, around in zip(along.steps, along.rewards, along.spread, strict=True)
    ]
    return {
        "kind": "reward",
        "columns": [("step", ""), ("reward", ""), ("one standard deviation", "")],
        "rows": rows,
        "end": max(num_steps, 1),
        "name": along.name,
        "words": words,
        "low": min(value - around for _, value, around in rows),
        "high": max(value + around for _, value, around in rows),
    }
