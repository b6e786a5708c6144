"""The block world as a Gymnasium environment for one player. `import blockworld` registers its ids with Gymnasium.

import blockworld
import gymnasium

env = gymnasium.make("blockworld/FindCave-v0")
observation, info = env.reset(seed=14169)
observation["pov"]  # uint8, shape (360, 640, 3)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np

from blockworld.errors import WorldError, unknown_name
from blockworld.registry.facts import table
from blockworld.render.renderer import MOST_GAMMA, Renderer
from blockworld.scenario import Scenario, is_whole
from blockworld.slots.inventory import contents
from blockworld.state import Action
from blockworld.world import World

CAMERA = "camera"
MAX_TURN = 180.0
"""Largest turn of the camera in one action, in degrees, on each axis and in both directions."""
MINERL_GAMMA = 2.0
KEYS = tuple(name for name, value in Action._field_defaults.items() if isinstance(value, bool))
"""Names of the entries of an action that are 0 or 1, as the fields of `Action`."""


def environments() -> dict[str, dict[str, Any]]:
    """Map each environment's name to its arguments of `BlockWorldEnv`, together with `max_episode_steps`."""
    return table("environments")


def register() -> None:
    """Register `blockworld/<name>-v0` with Gymnasium for each of `environments`; a second call does nothing."""
    for name, options in environments().items():
        if f"blockworld/{name}-v0" not in gymnasium.registry:
            steps = options["max_episode_steps"]
            kwargs = {option: value for option, value in options.items() if option != "max_episode_steps"}
            entry_point = "blockworld.env:BlockWorldEnv"
            gymnasium.register(f"blockworld/{name}-v0", entry_point=entry_point, max_episode_steps=steps, kwargs=kwargs)


class BlockWorldEnv(gymnasium.Env[dict[str, Any], Mapping[str, Any]]):
    """Environment of one player in a world. Rewards are always 0: people judge success, or the caller computes it from `world`.

    Observations are `{"pov": uint8, shape (H, W, 3)}`. Actions are mappings: each of `KEYS` is 0 or 1; `hotbar` is a slot from
    1 to 9, or 0 for none; `camera` is degrees down and right, float32, shape (2,). Missing keys count as not pressed. An
    episode terminates when the player dies, or when the player presses `esc` with no screen open, which means "I am done".

    Args:
        size: (width, height) of the picture, each 16 to 4096 pixels.
        gamma: How much dark places are brightened: 0 not at all, 2 as in MineRL.
        scenario: Arguments of `Scenario`.

    Raises:
        WorldError: For an invalid argument; `UnknownNameError`, for an unknown name, offers the nearest one.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}  # noqa: RUF012  # as Gymnasium has it

    def __init__(
        self,
        *,
        size: tuple[int, int] = (640, 360),
        gamma: float = MINERL_GAMMA,
        render_mode: str | None = None,
        **scenario: Any,
    ) -> None:
        if render_mode not in (None, "rgb_array"):
            raise WorldError(f"render_mode is 'rgb_array' or None, got {render_mode!r}")
        if len(size) != 2 or not all(is_whole(side) and 16 <= side <= 4096 for side in size):
            raise WorldError(f"size is (width, height), each 16 to 4096 pixels, got {size!r}")
        if not 0 <= gamma <= MOST_GAMMA:
            raise WorldError(f"gamma is a number from 0 to {MOST_GAMMA}, got {gamma!r}")
        for name in scenario:
            if name not in Scenario.__dataclass_fields__:
                raise unknown_name("argument", name, [*Scenario.__dataclass_fields__, "size", "gamma", "render_mode"])
        self.scenario = Scenario(**scenario)
        self.render_mode = render_mode
        width, height = size
        self.observation_space = gymnasium.spaces.Dict({"pov": gymnasium.spaces.Box(0, 255, (height, width, 3), np.uint8)})
        keys: dict[str, gymnasium.Space[Any]] = {name: gymnasium.spaces.Discrete(2) for name in KEYS}
        turn = gymnasium.spaces.Box(-MAX_TURN, MAX_TURN, (2,), np.float32)
        self.action_space = gymnasium.spaces.Dict({**keys, "hotbar": gymnasium.spaces.Discrete(10), CAMERA: turn})
        self._renderer = Renderer((width, height), gamma=gamma)
        self._world: World | None = None

    @property
    def world(self) -> World:
        """The current world, for tools and for rules that judge success; agents must see only pixels."""
        if self._world is None:
            raise WorldError("there is no world yet; call reset first")
        return self._world

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode; the same seed always starts the same episode."""
        super().reset(seed=seed)
        self._world = self.scenario.world(int(self.np_random.integers(2**31)) if seed is None else seed)
        return self._observation(), self._info()

    def step(self, action: Mapping[str, Any]) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        world, keys = self.world, action_of(action)
        is_done = keys.esc and world.screen is None
        world.step(keys)
        return self._observation(), 0.0, is_done or world.player.dead, False, self._info()

    def render(self) -> np.ndarray:  # type: ignore[override]
        """The player's view, uint8, shape (H, W, 3)."""
        return self._renderer.frame(self.world)

    def save(self) -> bytes:
        """Return the whole world as bytes for `restore`; about 50 kB early in an episode."""
        return self.world.save()

    def restore(self, saved: bytes) -> None:
        """Continue from bytes that `save` returned; WorldError if they are no saved world of this version."""
        self._world = World.restore(saved)

    def _observation(self) -> dict[str, Any]:
        return {"pov": self.render().copy()}

    def _info(self) -> dict[str, Any]:
        """Return facts about the player, which agents must not use."""
        me = self.world.player
        place = {"x": me.x, "y": me.y, "z": me.z, "yaw": me.yaw, "pitch": me.pitch}
        return {**place, "health": me.health, "food": me.food, "inventory": contents(me.slots), "tick": self.world.ticks}


def action_of(action: Mapping[str, Any]) -> Action:
    """Convert an action of the environment to an action of the world; turns are clipped to `MAX_TURN`.

    Raises:
        UnknownNameError: For an unknown entry.
        WorldError: For an invalid value.
    """
    values: dict[str, Any] = {}
    for name, value in action.items():
        array, most = np.asarray(value), 1 if name in KEYS else 9
        if name == CAMERA and array.shape == (2,) and array.dtype.kind in "iuf":
            values["camera_pitch"], values["camera_yaw"] = np.clip(array.astype(float), -MAX_TURN, MAX_TURN).tolist()
        elif name == CAMERA:
            raise WorldError(f"camera is a pair (pitch, yaw) of degrees, got {value!r}")
        elif name not in KEYS and name != "hotbar":
            raise unknown_name("entry of an action", str(name)[:40], [*KEYS, "hotbar", CAMERA])
        elif array.shape not in ((), (1,)) or array.dtype.kind not in "biu" or not 0 <= array.item() <= most:
            raise WorldError(f"{name} is a whole number from 0 to {most}, got {value!r}")
        else:
            values[name] = bool(array.item()) if name in KEYS else int(array.item())
    return Action(**values)
