"""The names that BEDD's data set and MineRL's tools use for the tasks of the basalt suite."""

from __future__ import annotations

from interplay.tasks.task import Task

_SUITE = "basalt"


def published_name(task: Task) -> str:
    """The name of a task in the published data set; tasks of other suites have their id.

    >>> from interplay.tasks import find
    >>> published_name(find("basalt/find_cave")), published_name(find("atari/breakout"))
    ('FindCave', 'atari/breakout')
    """
    return "".join(part.capitalize() for part in task.name.split("_")) if task.suite == _SUITE else task.id


def published_names(task: Task) -> tuple[str, ...]:
    """Every published spelling of a task's name, the data set's first; empty for tasks of other suites.

    >>> from interplay.tasks import find
    >>> published_names(find("basalt/find_cave"))
    ('FindCave', 'MineRLBasaltFindCave-v0', 'MineRLFindCave-v0')
    """
    if task.suite != _SUITE:
        return ()
    name = published_name(task)
    return (name, f"MineRLBasalt{name}-v0", f"MineRL{name}-v0")
