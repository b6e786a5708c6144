"""The graph of a task's hops as a picture: boxes in columns, edges between them, all in SVG's units."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from interplay.explore.instance import Instance

_WIDTH, _HEIGHT, _ACROSS, _BETWEEN, _EDGE = 204, 62, 70, 22, 4
_CHARS = 24
"""Of a line in a box."""


@dataclass(frozen=True)
class Node:
    """A box: its corner, its number in the author's order, its lines, and whether nothing needs it."""

    x: float
    y: float
    number: int
    lines: tuple[str, ...]
    is_goal: bool


@dataclass(frozen=True)
class Arrow:
    """An edge: its line, which tasks it joins, why, and whether a proof found another way (None: nobody has tried)."""

    path: str
    first: str
    then: str
    reason: str
    enforced: bool | None


@dataclass(frozen=True)
class Graph:
    """All of it; `words` says it without a picture."""

    width: float
    height: float
    box_width: float
    box_height: float
    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]
    words: str


def graph(instance: Instance) -> Graph:
    """Place the tasks of an instance: each to the right of all that it needs."""
    numbers = instance.numbers
    tasks = sorted(instance.nodes, key=numbers.__getitem__)
    edges = [edge for edge in instance.edges if edge.first in instance.nodes and edge.then in instance.nodes]
    needs = {task: [edge.first for edge in edges if edge.then == task] for task in tasks}
    column: dict[str, int] = dict.fromkeys(tasks, 0)
    for _ in tasks:  # as often as the longest way can be; a circle, which no checked instance has, ends here too
        for task in tasks:
            column[task] = min(len(tasks) - 1, max((column[first] + 1 for first in needs[task]), default=0))
    rows: dict[int, list[str]] = {}
    for task in tasks:
        rows.setdefault(column[task], []).append(task)
    most = max(map(len, rows.values()), default=1)
    places = {}
    for place, own in rows.items():
        for row, task in enumerate(own):
            y = (row + (most - len(own)) / 2) * (_HEIGHT + _BETWEEN) + _EDGE
            places[task] = (place * (_WIDTH + _ACROSS) + _EDGE, y)
    needed = {edge.first for edge in edges}
    nodes = tuple(
        Node(x, y, numbers[task], tuple(textwrap.wrap(task.replace("_", " "), _CHARS)[:2]), task not in needed)
        for task, (x, y) in ((task, places[task]) for task in tasks)
    )
    enforced = _enforced(instance)
    arrows = tuple(
        Arrow(
            _line(places[edge.first], places[edge.then]),
            edge.first.replace("_", " "),
            edge.then.replace("_", " "),
            edge.reason,
            enforced.get((edge.first, edge.then)),
        )
        for edge in edges
    )
    words = "; ".join(f"{arrow.then} needs {arrow.first}" for arrow in arrows) or "one thing to do, which needs nothing else"
    width = len(rows) * (_WIDTH + _ACROSS) - _ACROSS + 2 * _EDGE
    return Graph(width, most * (_HEIGHT + _BETWEEN) - _BETWEEN + 2 * _EDGE, _WIDTH, _HEIGHT, nodes, arrows, words)


def _line(first: tuple[float, float], then: tuple[float, float]) -> str:
    x0, y0, x1, y1 = first[0] + _WIDTH, first[1] + _HEIGHT / 2, then[0] - 7, then[1] + _HEIGHT / 2
    middle = (x0 + x1) / 2
    return f"M{x0:g} {y0:g}C{middle:g} {y0:g} {middle:g} {y1:g} {x1:g} {y1:g}"


def _enforced(instance: Instance) -> Mapping[tuple[str, str], bool]:
    """What a proof of this version says of the edges."""
    found: dict[tuple[str, str], bool] = {}
    for proof in instance.proofs:
        hops: Any = proof.get("hops")
        if proof.get("content_hash") == instance.content_hash and isinstance(hops, Mapping):
            found |= {(one["first"], one["then"]): one["enforced"] for one in hops.get("edges", ())}
    return found
