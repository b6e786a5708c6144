"""Get a log: whether the player carries a log, and said "done"."""

from __future__ import annotations

from blockworld import World
from interplay.envs.voxel.land import Answers


def check(world: World) -> Answers:
    stacks = [stack for stack in world.player.slots if stack is not None and stack.item.endswith("_log")]
    logs = sum(stack.count for stack in stacks)
    return {"logs": logs, "success": logs > 0 and world.said_done}
