"""The embedded block world as an environment.

`env` plays a task in it, `actions` reads MineRL's actions, `checks` are the outcome checks, and `rewards` the worth of items.
"""

from interplay.envs.voxel.actions import CAMERA, KEYS
from interplay.envs.voxel.env import OPTIONS, VoxelEnv

__all__ = ["CAMERA", "KEYS", "OPTIONS", "VoxelEnv"]
