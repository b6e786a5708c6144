"""Draw the graph of a task's hops: boxes in rows, so that it fits a phone, and edges between boxes. All lengths: SVG units."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from interplay.explore.instance import Instance

_WIDTH, _HEIGHT, _DOWN, _BETWEEN, _EDGE = 184, 62, 40, 20, 4
_CHARS = 22
"""Number of characters of a line in a box."""


@dataclass(frozen=True)
class Node:
    """A box: its corner, its number in the author's order, its lines of text, and whether no other box depends on it."""

    x: float
    y: float
    number: int
    lines: tuple[str, ...]
    is_goal: bool


@dataclass(frozen=True)
class Arrow:
    """An edge: its line, the two tasks that it joins, its reason, and the verdict of a proof (None if no proof was tried)."""

    path: str
    first: str
    then: str
    reason: str
    verdict: str | None


@dataclass(frozen=True)
class Graph:
    """A whole graph. `most` is the number of boxes in the widest row; `words` describe the graph in text."""

    width: float
    height: float
    box_width: float
    box_height: float
    most: int
    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]
    words: str


def graph(instance: Instance) -> Graph:
    numbers = instance.numbers
    tasks = sorted(instance.nodes, key=numbers.__getitem__)
    edges = [edge for edge in instance.edges if edge.first in instance.nodes and edge.then in instance.nodes]
    needs = {task: [edge.first for edge in edges if edge.then == task] for task in tasks}
    row: dict[str, int] = dict.fromkeys(tasks, 0)
    for _ in tasks:  # as often as the longest way can be; a circle, which no checked instance has, ends here too
        for task in tasks:
            row[task] = min(len(tasks) - 1, max((row[first] + 1 for first in needs[task]), default=0))
    rows: dict[int, list[str]] = {}
    for task in tasks:
        rows.setdefault(row[task], []).append(task)
    most = max(map(len, rows.values()), default=1)
    places = {}
    for place, own in rows.items():
        for column, task in enumerate(own):
            x = (column + (most - len(own)) / 2) * (_WIDTH + _BETWEEN) + _EDGE
            places[task] = (x, place * (_HEIGHT + _DOWN) + _EDGE)
    needed = {edge.first for edge in edges}
    nodes = tuple(
        Node(x, y, numbers[task], tuple(textwrap.wrap(task.replace("_", " "), _CHARS)[:2]), task not in needed)
        for task, (x, y) in ((task, places[task]) for task in tasks)
    )
    verdicts = instance.edge_verdicts
    arrows = tuple(
        Arrow(
            _line(places[edge.first], places[edge.then]),
            edge.first.replace("_", " "),
            edge.then.replace("_", " "),
            edge.reason,
            verdicts.get((edge.first, edge.then)),
        )
        for edge in edges
    )
    words = "; ".join(f"{arrow.then} needs {arrow.first}" for arrow in arrows) or "one thing to do, which needs nothing else"
    width, height = most * (_WIDTH + _BETWEEN) - _BETWEEN, len(rows) * (_HEIGHT + _DOWN) - _DOWN
    return Graph(width + 2 * _EDGE, height + 2 * _EDGE, _WIDTH, _HEIGHT, most, nodes, arrows, words)


def _line(first: tuple[float, float], then: tuple[float, float]) -> str:
    x0, y0, x1, y1 = first[0] + _WIDTH / 2, first[1] + _HEIGHT, then[0] + _WIDTH / 2, then[1] - 7
    middle = (y0 + y1) / 2
    return f"M{x0:g} {y0:g}C{x0:g} {middle:g} {x1:g} {middle:g} {x1:g} {y1:g}"
