"""The embedded block world as an environment.

`env` plays a task in the block world, `actions` reads MineRL's actions, `checks` are the outcome checks, and `rewards` gives
the worth of items.
"""

from interplay.envs.voxel.actions import CAMERA, KEYS
from interplay.envs.voxel.env import OPTIONS, VoxelEnv

__all__ = ["CAMERA", "KEYS", "OPTIONS", "VoxelEnv"]
