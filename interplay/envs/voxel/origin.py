"""The origin of a scene: a player's actions in the first second must not move it."""

from __future__ import annotations

from blockworld import Action, World

ORIGIN_TICKS = 20
"""Pass after the commands before the scene is ready."""


def ready(world: World) -> World:
    """A copy of a world whose commands have just run, once the idle ticks have passed; the world itself stays as it is."""
    idle = world.fork()
    for _ in range(ORIGIN_TICKS):
        idle.step(*(Action() for _ in idle.players))
    return idle
