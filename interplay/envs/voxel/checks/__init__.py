"""Outcome checks: whether a task was achieved, read from the block world at the end of an episode.

Each module of this folder has a function `check(world)` for one task; a task names it in `env.options.check`. The answers are
shown beside judges' answers, and no agent gets them. Checks do not judge style, beauty and effort. Parts of a building
that their rules do not recognise are not counted.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import cast

from blockworld import World
from interplay.envs.base import EnvError
from interplay.envs.voxel.land import Answers
from interplay.errors import unknown_name

Check = Callable[[World], Answers]
"""Answers about an episode, by name; `success` is always present."""


def names() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def find(name: str) -> Check:
    """Return a check by its name, or your own check as `module:function`. Raises NotFoundError, which names the most similar
    name, or EnvError if it cannot be imported."""
    module, colon, attribute = name.rpartition(":")
    if not colon:
        if name not in names():
            raise unknown_name("outcome check", name, names(), hint='Your own:  check = "module:function"')
        module, attribute = f"{__name__}.{name}", "check"
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise EnvError(f"outcome check {name!r} cannot be imported: {error}") from error
    if not callable(found):
        raise EnvError(f"outcome check {name!r} must be a function of a world, got {type(found).__name__}")
    return cast("Check", found)


def outcome(world: World, name: str) -> Answers:
    """Return the answers of a check about a world. Raises the same errors as `find`.

    >>> outcome(World(7, "flat", inhabited=False), "find_cave")
    {'inside_cave': False, 'dug_in': False, 'depth': 0, 'success': False}
    """
    return find(name)(world)
