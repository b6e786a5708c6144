"""Obtain a diamond shovel: the player's progress by MineRL's milestones."""

from __future__ import annotations

from blockworld import World
from interplay.envs.voxel.land import Answers

MILESTONES: dict[str, float] = {
    "log": 1.0, "planks": 2.0, "stick": 4.0, "crafting_table": 4.0, "wooden_pickaxe": 8.0, "cobblestone": 16.0, "furnace": 32.0,
    "stone_pickaxe": 32.0, "iron_ore": 64.0, "iron_ingot": 128.0, "iron_pickaxe": 256.0, "diamond": 1024.0,
    "diamond_shovel": 2048.0,
}  # fmt: skip
"""Item -> reward for the first one, as in MineRL's ObtainDiamondShovel: 3,619 in total; any log and any planks count."""


def check(world: World) -> Answers:
    reached = milestones(world)
    total = sum(MILESTONES[name] for name in sorted(reached))
    return {"milestones": len(reached), "total": total, "success": "diamond_shovel" in reached}


def milestones(world: World) -> set[str]:
    """Return the items of `MILESTONES` that the player has had: picked up, made, smelted or given."""
    counts = world.player.counts
    items = {stack.item for stack in world.player.slots if stack is not None}
    for kind in ("picked_up", "crafted", "smelted"):
        items |= set(counts.get(kind, {}))
    return {milestone_of(item) for item in items} & set(MILESTONES)


def milestone_of(item: str) -> str:
    """Return the name of an item in `MILESTONES`: any log is `log`, any planks are `planks`."""
    return "log" if item.endswith("_log") else "planks" if item.endswith("_planks") else item
