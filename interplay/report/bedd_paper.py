"""BEDD's published numbers, to be set beside ours; the numbers themselves are data, in `bedd_paper.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

FILE = Path(__file__).with_name("bedd_paper.toml")


@cache
def paper() -> Mapping[str, Any]:
    """Everything in `bedd_paper.toml`."""
    return MappingProxyType(tomllib.loads(FILE.read_text(encoding="utf-8")))


def published(*path: str) -> Any:
    """One published value by its path of keys, None where the paper has none.

    >>> published("tasks", "FindCave", "comparisons"), published("tasks", "FindDiamond", "comparisons")
    (722, None)
    """
    value: Any = paper()
    for key in path:
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return value


def published_pair(section: str, a: str, b: str) -> dict[str, Any] | None:
    """The published test of two groups, in whichever order it names them."""
    return next((pair for pair in published(section, "pairs") or () if {pair["a"], pair["b"]} == {a, b}), None)


def short_name(task: str) -> str:
    """The published name of a task of the basalt suite; any other task keeps its own.

    >>> short_name("basalt/find_cave"), short_name("atari/breakout")
    ('FindCave', 'atari/breakout')
    """
    return next((name for name, id in paper()["names"].items() if id == task), task)


def task_id(name: str) -> str | None:
    """The task of our suites that a name means: its id, its published short name or environment id; None if none does.

    >>> task_id("FindCave"), task_id("MineRLBasaltFindCave-v0"), task_id("basalt/find_cave"), task_id("FindDiamond")
    ('basalt/find_cave', 'basalt/find_cave', 'basalt/find_cave', None)
    """
    bare = name.removeprefix("MineRLBasalt").removesuffix("-v0")
    if bare in paper()["names"]:
        return paper()["names"][bare]
    if name in paper()["names"].values():
        return name
    return None
