"""What every world offers beyond Gymnasium: a view for people, snapshots, and its version."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NamedTuple

import gymnasium
import numpy as np

from interplay.errors import InterplayError
from interplay.tasks import Task

FramePolicy = Literal["replay", "indexed", "video"]
"""How an episode keeps its frames: rebuilt by playing again, stored as palette indices, or as H.264 video."""


class EnvError(InterplayError):
    """A world that cannot be built or was used wrongly."""


class Frame(NamedTuple):
    """What a person sees.

    Attributes:
        pixels: uint8, shape (H, W) palette indices when `palette` is given, else (H, W, 3) RGB.
        palette: uint8, shape (256, 3), or None.
    """

    pixels: np.ndarray
    palette: np.ndarray | None = None

    def rgb(self) -> np.ndarray:
        """The picture as uint8, shape (H, W, 3)."""
        return self.pixels if self.palette is None else self.palette[self.pixels]


class PlayableEnv(gymnasium.Env[Any, Any]):
    """A Gymnasium environment with what recording and live play need.

    Class attributes:
        observes_view: The observation *is* `view().pixels`, so episodes keep it once.
        deterministic: Seed and actions decide everything, so a replay equals the recording.
        frame_policy: How episodes of it keep frames unless told otherwise.
    """

    observes_view: ClassVar[bool] = False
    deterministic: bool = False
    frame_policy: FramePolicy = "video"
    task: Task

    def view(self) -> Frame:
        """What the player sees now; valid after `reset`. The array may be reused by the next step."""
        raise NotImplementedError

    def snapshot(self) -> bytes | None:
        """The whole state, for `restore` in another process; None where the world has no such thing."""
        return None

    def restore(self, snapshot: bytes) -> None:
        """Go back to a snapshot of this world; the next `step` continues from there.

        Raises:
            EnvError: If the world has no snapshots.
        """
        raise EnvError(f"{self.task.env.id} cannot restore snapshots")

    def info_to_record(self, info: dict[str, Any]) -> dict[str, Any]:
        """The part of `info` worth keeping with each step: JSON scalars that change rarely."""
        return {
            key: value.item() if isinstance(value, np.generic) else value
            for key, value in info.items()
            if isinstance(value, bool | int | float | str | np.generic)
        }

    def automatic(self) -> dict[str, bool | int | float | str]:
        """What can be said about the episode without a judge, from the world as it is at its end; `success` if it can tell
        whether the task was done. Nothing by default. It stands beside judges' answers; agents never get it."""
        return {}

    def versions(self) -> dict[str, str]:
        """Name -> version of everything that could change what a replay shows."""
        return {"gymnasium": gymnasium.__version__, "numpy": np.__version__}  # NumPy's chance may change with its version
