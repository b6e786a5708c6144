"""Gymnasium ids for the tasks of the block world, for people who do not know our tasks.

`import interplay.envs` registers the ids; `gymnasium.make("interplay.envs:interplay/FindCave-v1")` does this import itself.
"""

from __future__ import annotations

from typing import Any

import gymnasium

IDS = {
    "FindCave": "basalt/find_cave",
    "MakeWaterfall": "basalt/make_waterfall",
    "CreateVillageAnimalPen": "basalt/create_village_animal_pen",
    "BuildVillageHouse": "basalt/build_village_house",
    "ObtainDiamondShovel": "basalt/obtain_diamond_shovel",
    "Sandbox": "basalt/sandbox",
}
"""Gymnasium id, without `interplay/` and version, -> task."""


def register() -> None:
    """Register the ids with Gymnasium, once."""
    if f"interplay/{next(iter(IDS))}-v1" in gymnasium.registry:
        return
    for name, task in IDS.items():
        gymnasium.register(f"interplay/{name}-v1", entry_point="interplay.envs.gymnasium_ids:make", kwargs={"task": task})


def make(task: str, render_mode: str | None = None, **options: Any) -> Any:
    """Return the environment of a task; `gymnasium.make("interplay/Sandbox-v1", commands=[...])` changes an option
    (`interplay.envs.voxel.OPTIONS`). `max_steps` changes the time limit."""
    from dataclasses import replace

    from interplay.envs.base import EnvError, SingleAgentEnv
    from interplay.envs.voxel import VoxelEnv
    from interplay.tasks import find

    if render_mode not in (None, "rgb_array"):
        raise EnvError(f"render_mode is 'rgb_array' or None, got {render_mode!r}; to play in a window:  interplay serve")
    found = find(task)
    max_steps = options.pop("max_steps", found.max_steps)
    if not isinstance(max_steps, int) or isinstance(max_steps, bool) or max_steps < 1:
        raise EnvError(f"max_steps is a whole number of steps, 1 or more, got {max_steps!r}")
    spec = replace(found.env, options={**found.env.options, **options})
    return SingleAgentEnv(VoxelEnv(replace(found, env=spec, max_steps=max_steps)))
