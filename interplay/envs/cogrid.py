"""CoGrid's grid worlds for several agents, such as the kitchens of Overcooked: `cogrid:Overcooked-CrampedRoom-V0`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import cogrid
import gymnasium
import numpy as np
import zstandard
from cogrid.core.actions import Actions
from cogrid.core.objects import base as cogrid_objects
from cogrid.core.objects import idx_to_object
from cogrid.envs.registry import ENVIRONMENT_REGISTRY

from interplay.envs.base import EnvError
from interplay.envs.parallel import ParallelGame, require_options
from interplay.errors import unknown_name
from interplay.tasks import Task

SCALE = 2
"""Scale of the picture: each pixel of CoGrid becomes this many pixels wide and high, so a cell grows from 32 to 64 pixels."""


def point_in_triangle(a: Sequence[float], b: Sequence[float], c: Sequence[float]) -> Callable[[float, float], bool]:
    """Return CoGrid's test of whether a point (x, y from 0 to 1) is in a triangle: the same results, but without arrays.

    CoGrid draws an agent pixel by pixel when the agent first looks in a direction or carries something. With an array for each
    pixel this takes a tenth of a second, for which all games of the process wait.
    """
    corner, v1, v0 = (np.array(one, np.float32) for one in (a, b, c))
    v0, v1 = v0 - corner, v1 - corner
    dots = v0 @ v0, v0 @ v1, v1 @ v1
    inverse = float(1 / (dots[0] * dots[2] - dots[1] * dots[1]))
    dot00, dot01, dot11 = map(float, dots)
    (ax, ay), (x0, y0), (x1, y1) = corner.tolist(), v0.tolist(), v1.tolist()

    def is_inside(x: float, y: float) -> bool:
        x -= ax
        y -= ay
        dot02, dot12 = x0 * x + y0 * y, x1 * x + y1 * y
        u = (dot11 * dot02 - dot01 * dot12) * inverse
        v = (dot00 * dot12 - dot01 * dot02) * inverse
        return u >= 0 and v >= 0 and u + v < 1

    return is_inside


cogrid_objects.point_in_triangle = point_in_triangle  # type: ignore[assignment]  # agents take it from there to draw themselves


class CogridEnv(ParallelGame):
    """An environment that CoGrid registers, played as `ParallelGame` describes; it ends after `task.max_steps`. A seed decides
    in which direction agents look and, if the layout has no start places, where they begin.

    Observations are CoGrid's features, float32, shape (N,). There are no task options.

    Raises:
        NotFoundError: If the id is not registered, or the task has an option.
        EnvError: If its agents do not match the seats of the task.
    """

    deterministic = True
    frame_policy = "replay"

    def __init__(self, task: Task) -> None:
        require_options(task, "CoGrid option", ())
        if task.env.name not in ENVIRONMENT_REGISTRY:
            raise unknown_name("CoGrid environment", task.env.name, ENVIRONMENT_REGISTRY)
        env = cogrid.make(task.env.name, render_mode="rgb_array")
        env.max_steps = task.max_steps
        super().__init__(task, env, task.env.name, ("cogrid", "pettingzoo"))
        features, _ = env.reset(seed=0)  # what it observes, and the rules that `set_state` needs, are known from then on
        self.observation_space = gymnasium.spaces.Dict(
            {
                seat: gymnasium.spaces.Box(-np.inf, np.inf, features[agent].shape, features[agent].dtype)
                for seat, agent in self._agents.items()
            }
        )
        self._pick_up = env.action_set.index(Actions.PickupDrop)
        self._noop = env.action_set.index(Actions.Noop)
        self._asked: dict[str, Any] = {}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        self._asked = {}
        self._env.render_mode = self.render_mode if self.draws else None  # with one, it draws at every step
        return super().reset(seed=seed, options=options)

    def action_of_person(self, action: Any, seat: str, gui_size: tuple[int, int] | None = None) -> Any:
        """Let a held key pick up or put down a thing only once; otherwise people would put back a thing that they just took."""
        before, self._asked[seat] = self._asked.get(seat), action
        return self._noop if action == before == self._pick_up else action

    def render(self) -> np.ndarray:  # type: ignore[override]
        """Return the grid from above, uint8, shape (H, W, 3); each cell is 64 pixels wide and high."""
        return super().render().repeat(SCALE, axis=0).repeat(SCALE, axis=1)

    def state(self) -> dict[str, Any]:
        return self._env.get_state()

    def name_of(self, kind: int) -> str:
        """Return the name for a number in the state's `object_type_map` and `agent_inv`, such as `onion`; empty for nothing."""
        return idx_to_object(kind, scope=self._env.scope) or "" if kind > 0 else ""

    def snapshot(self) -> bytes:
        return zstandard.compress(json.dumps({"state": self.state(), "done": self._done}).encode())

    def restore(self, snapshot: bytes) -> None:
        try:
            kept = json.loads(zstandard.decompress(snapshot))
            self._env.set_state(kept["state"])
        except (zstandard.ZstdError, ValueError, KeyError, TypeError) as error:
            raise EnvError(f"this is not a snapshot of {self.task.env.id}: {error}") from None
        self._done = kept["done"]
        self._env.agents = [agent for seat, agent in self._agents.items() if seat not in self._done]
        self._picture = self.render()
