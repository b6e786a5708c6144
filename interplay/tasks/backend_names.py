"""The names of backends that a task file may use in `env.id`, before the colon.

A task file can also be read where no world can run. So this module has only the names; the code that runs backends is in
`interplay.envs.backends`.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points

BUILT_IN = ("ale", "ale2p", "gym", "voxel", "pettingzoo", "cogrid", "minerl", "minestudio")

VIDEO = "video"
"""Name that means that no backend is needed: there are only videos to judge (`video:none`)."""

GROUP = "interplay.backends"
"""The entry point group in which other packages register their backends."""


@cache
def installed() -> dict[str, EntryPoint]:
    """Return name -> entry point of the backends of other packages, without running their code. They cannot replace a built-in
    name."""
    return {point.name: point for point in entry_points(group=GROUP) if point.name not in (*BUILT_IN, VIDEO)}


def is_known(name: str) -> bool:
    return name in BUILT_IN or name == VIDEO or name in installed()


def names() -> list[str]:
    """Return all names, the built-in names first."""
    return [*BUILT_IN, VIDEO, *installed()]
