"""What pages for people must know of a task before its world is built."""

from __future__ import annotations

from interplay.envs import backends
from interplay.tasks import Task


def has_score(task: Task) -> bool:
    """Whether the rewards of a task say anything. The block world gives none unless an option asks for some.

    >>> from interplay.tasks import find
    >>> has_score(find("atari/breakout")), has_score(find("basalt/find_cave")), has_score(find("basalt/obtain_diamond_shovel"))
    (True, False, True)
    """
    return backends.of(task).has_score(task)


def end_button(task: Task) -> str | None:
    """The button with which a player says that the task is done, which ends it; None where no button does.

    >>> from interplay.tasks import find
    >>> end_button(find("basalt/find_cave")), end_button(find("atari/breakout"))
    ('ESC', None)
    """
    return "ESC" if "ESC" in task.keys.buttons and backends.of(task).esc_ends(task) else None
