"""Published numbers of BEDD, from `paper.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from interplay.tasks import builtin_suites, find
from interplay.tasks.task import published_name, published_names

FILE = Path(__file__).with_name("paper.toml")


@cache
def paper() -> Mapping[str, Any]:
    return MappingProxyType(tomllib.loads(FILE.read_text(encoding="utf-8")))


def published(*path: str) -> Any:
    """Return one published value by its path of keys; None if the paper does not have it.

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
    """Return the published test of two groups, in whichever order the paper names the groups."""
    return next((pair for pair in published(section, "pairs") or () if {pair["a"], pair["b"]} == {a, b}), None)


@cache
def task_ids() -> Mapping[str, str]:
    """Return the paper's tasks, in the paper's order: published name -> id of the task in our basalt suite."""
    ours = {published_name(task): task.id for suite in builtin_suites() for task in suite.tasks}
    return MappingProxyType({name: ours[name] for name in paper()["tasks"]})


def short_name(task: str) -> str:
    """Return the published name of one of the paper's tasks; any other task keeps its own name.

    >>> short_name("basalt/find_cave"), short_name("atari/breakout")
    ('FindCave', 'atari/breakout')
    """
    return next((name for name, id in task_ids().items() if id == task), task)


def task_id(name: str) -> str | None:
    """Return the id of the paper's task that a name means: our id, or any published spelling; None for other names.

    >>> task_id("FindCave"), task_id("MineRLBasaltFindCave-v0"), task_id("basalt/find_cave"), task_id("FindDiamond")
    ('basalt/find_cave', 'basalt/find_cave', 'basalt/find_cave', None)
    """
    return next((id for id in task_ids().values() if name in (id, *published_names(find(id)))), None)
