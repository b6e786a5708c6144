"""The embedded block world as an environment.

`env` plays a task in the block world, `actions` reads MineRL's actions, `checks` contains the outcome checks, and `rewards` the
rewards for items.
"""

from interplay.envs.voxel.actions import CAMERA, KEYS
from interplay.envs.voxel.env import OPTIONS, VoxelEnv

__all__ = ["CAMERA", "KEYS", "OPTIONS", "VoxelEnv"]
