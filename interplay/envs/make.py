"""Build the environment of a task, and return facts about it that pages need before it is built."""

from __future__ import annotations

import gymnasium

from interplay.envs import backends
from interplay.envs.base import EnvError, FramePolicy, NotInstalledError, PlayableEnv
from interplay.tasks import Task, find


def make(task: Task | str, *, frames: FramePolicy | None = None) -> PlayableEnv:
    """Build the environment of a task; the task is given as an object or by its id (`"atari/space_invaders"`).

    Args:
        frames: How episodes recorded from this environment keep their frames, instead of the world's own way.
    Raises:
        NotFoundError: If no task has this id; the text names the most similar id.
        EnvError: If the world cannot be built: its backend or an extra is not installed, a ROM or id does not exist, an option
            is wrong, or its seats differ from those of the task.
    """
    if isinstance(task, str):
        task = find(task)
    backend = backends.of(task)
    try:
        env = backend.make(task)
    except ModuleNotFoundError as error:
        if not backend.install:
            raise
        raise NotInstalledError(
            f"task {task.id} is played with the backend {backend.name!r}, which needs {error.name}; it is not installed\n"
            f"Install it with:  {backend.install}"
        ) from None
    if not _has_seats(env, task):
        env.close()
        if len(task.seats) == 1:
            raise EnvError(
                f"task {task.id}: the action space of {task.env.id} is not a mapping by seat, but {env.action_space}\n"
                "Its backend must take and give mappings by seat; docs/backends.md has one to copy."
            )
        raise EnvError(
            f"task {task.id} has {len(task.seats)} seats ({', '.join(task.seats)}), and {task.env.id} is for one player\n"
            "Leave seats out of the task, or choose a world for several: docs/backends.md lists them."
        )
    if frames is not None:
        if frames == "replay" and not env.deterministic:
            raise EnvError(f"task {task.id} is not deterministic, so frames='replay' cannot rebuild it; use 'video'")
        env.frame_policy = frames
    return env


def _has_seats(env: PlayableEnv, task: Task) -> bool:
    space = env.action_space
    return isinstance(space, gymnasium.spaces.Dict) and set(space.spaces) == set(task.seats)


def prepare(task: Task, report: backends.Report | None = None, *, load: bool = False) -> None:
    """Do the work for which the first `make` of a task would wait: compile the block world; most other worlds need nothing.

    Args:
        report: Called with the share of the work that is done, 0 to 1, while there is something to wait for.
        load: Whether to load compiled code into this process, too, so that the first steps do not wait for it (3 s in the block
            world).
    """
    backend = backends.of(task)
    if backend.prepare is not None:
        backend.prepare(report, load)


def has_score(task: Task) -> bool:
    """Return whether the rewards of a task mean something. The block world gives none unless an option asks for rewards.

    >>> from interplay.tasks import find
    >>> has_score(find("atari/breakout")), has_score(find("basalt/find_cave")), has_score(find("basalt/obtain_diamond_shovel"))
    (True, False, True)
    """
    return backends.of(task).has_score(task)


def end_button(task: Task) -> str | None:
    """Return the button with which a player says that the task is done; None if the task has no such button.

    >>> from interplay.tasks import find
    >>> end_button(find("basalt/find_cave")), end_button(find("atari/breakout"))
    ('ESC', None)
    """
    return "ESC" if "ESC" in task.keys.buttons and backends.of(task).esc_ends(task) else None
