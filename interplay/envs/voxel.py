"""The embedded block world as a Gymnasium environment, with MineRL 1.0's actions and picture.

```python
import interplay.envs
env = gymnasium.make("interplay/FindCave-v0")
observation, info = env.reset(seed=14169)
observation["pov"]  # uint8, shape (360, 640, 3)
```
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

import gymnasium
import numpy as np

import interplay.world
from interplay.envs import automatic, minerl_actions
from interplay.envs.base import EnvError, Frame, PlayableEnv
from interplay.errors import InterplayError, unknown_name
from interplay.tasks import Task
from interplay.world import Action, Stack, World, WorldError
from interplay.world.commands import DIFFICULTIES, rule_value
from interplay.world.inventory import CARRIED
from interplay.world.terrain import KINDS

_RENAMED = {"ESC": "esc", "pickItem": "pick_item", "swapHands": "swap_hands"}
KEYS = {name: "" if name.startswith("hotbar.") else _RENAMED.get(name, name) for name in minerl_actions.KEYS}
"""MineRL 1.0's binary keys -> fields of `world.Action`; the hotbar's nine share one."""
CAMERA = minerl_actions.CAMERA

OPTIONS: dict[str, Any] = {
    "kind": "default",
    "size": (640, 360),
    "time": 6000,
    "rules": {},
    "difficulty": "normal",
    "items": (),
    "commands": (),
    "esc_ends": True,
    "reward": "",
    "automatic": "",
}
"""Task options and their defaults: kind of land, picture size (width, height), time of day, game rules, difficulty, first
items as names or [name, count], commands that build the scene, whether ESC ends the episode, `diamond_shovel` for its
rewards, and a rule of `automatic.RULES` whose answers the last info has."""


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


class VoxelEnv(PlayableEnv):
    """One task in the block world.

    Raises:
        NotFoundError: For an option, item or kind of land that does not exist.
        EnvError: For an option that cannot be used.
    """

    deterministic = True
    frame_policy = "replay"
    observes_view = True

    def __init__(self, task: Task) -> None:
        self.task = task
        options = dict(OPTIONS)
        for name, value in task.env.options.items():
            if name not in options:
                raise unknown_name(f"option of the block world in task {task.id}", name, options)
            options[name] = value
        self._options = options
        self._check()
        width, height = options["size"]
        self.observation_space = gymnasium.spaces.Dict({"pov": gymnasium.spaces.Box(0, 255, (height, width, 3), np.uint8)})
        self.action_space = minerl_actions.action_space()
        self.render_mode = "rgb_array"
        self.metadata = {"render_modes": ["rgb_array"], "render_fps": round(task.frame_rate_hz)}
        self._renderer = interplay.world.Renderer((width, height))
        self._world: World | None = None
        self._picture: np.ndarray | None = None
        self._num_steps = 0
        self._earned: set[str] = set()
        self._over = True

    def _check(self) -> None:
        """Refuse options that cannot be used, now and not at the first reset."""
        options, where = self._options, f"task {self.task.id}: env.options"

        def check(fits: bool, name: str, expected: str) -> None:
            if not fits:
                raise EnvError(f"{where}.{name} is {expected}, got {options[name]!r}")

        size, time, items = options["size"], options["time"], options["items"]
        is_pair = isinstance(size, list | tuple) and len(size) == 2
        check(
            is_pair and all(_is_whole(side) and 16 <= side <= 4096 for side in size),
            "size",
            "[width, height], each 16 to 4096 pixels",
        )
        check(_is_whole(time) and time >= 0, "time", "a whole number of ticks since sunrise, such as 6000 for noon")
        check(isinstance(options["esc_ends"], bool), "esc_ends", "true or false")
        check(options["reward"] in ("", "diamond_shovel"), "reward", "'' or 'diamond_shovel'")
        for name, known in (("kind", KINDS), ("difficulty", DIFFICULTIES), ("automatic", ("", *automatic.RULES))):
            if options[name] not in known:
                raise unknown_name(f"{where}.{name}", str(options[name]), known)
        check(isinstance(options["rules"], dict), "rules", "a table of game rules and their values")
        try:
            options["rules"] = {name: rule_value(name, value) for name, value in options["rules"].items()}
        except WorldError as error:
            raise EnvError(f"{where}.rules: {error}") from None
        check(isinstance(items, list | tuple), "items", "a list of names and [name, count] pairs")
        for item in items:
            named = isinstance(item, list | tuple) and len(item) == 2 and isinstance(item[0], str) and _is_whole(item[1])
            check(isinstance(item, str) or named, "items", "a list of names and [name, count] pairs")
        num_stacks = sum(len(stacks) for stacks in self._first_items())
        check(num_stacks <= len(CARRIED), "items", f"what fits {len(CARRIED)} slots; {num_stacks} are needed")
        commands = options["commands"]
        check(
            isinstance(commands, list | tuple) and all(isinstance(line, str) for line in commands),
            "commands",
            "a list of commands",
        )

    def _first_items(self) -> Iterator[list[Stack]]:
        for item in self._options["items"]:
            name, count = (item, 1) if isinstance(item, str) else item
            yield interplay.world.stacks(name, count)

    @property
    def world(self) -> World:
        """The world as it is: for rules that judge what was done, and for tools of people; agents see pixels.

        Raises:
            EnvError: Before the first reset.
        """
        if self._world is None:
            raise EnvError(f"task {self.task.id} has no world yet; call reset first")
        return self._world

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode; the same seed starts the same one."""
        super().reset(seed=seed)
        self._world, self._picture, self._over = None, None, True  # a reset that fails leaves nothing to step
        chosen = self._options
        world = World(int(self.np_random.integers(2**31)) if seed is None else seed, chosen["kind"])
        world.time = chosen["time"] % interplay.world.DAY_TICKS
        world.difficulty = chosen["difficulty"]
        world.rules |= chosen["rules"]
        for stack in chain.from_iterable(self._first_items()):
            world.give(stack)
        for line in chosen["commands"]:
            if line.strip() and not line.lstrip().startswith("#"):
                interplay.world.run(world, line)
        self._world, self._picture = world, None
        self._num_steps, self._over = 0, False
        self._earned = set()
        return self._observation(), self._info()

    def step(self, action: Mapping[str, Any]) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Play a twentieth of a second.

        Raises:
            EnvError: For an unknown key, a value that is none, a camera that is no pair of finite degrees, or an episode that
                has ended; the world is as it was.
        """
        world = self.world
        if self._over:
            raise EnvError(f"task {self.task.id}: the episode has ended; call reset before the next step")
        keys = self._action(action)
        in_screen = world.screen is not None
        self._picture = None
        world.step(keys)
        self._num_steps += 1
        reward = self._reward()
        terminated = world.player.dead or (keys.esc and not in_screen and self._options["esc_ends"])
        terminated = terminated or "diamond_shovel" in self._earned
        truncated = self._num_steps >= self.task.max_steps
        self._over = terminated or truncated
        return self._observation(), reward, terminated, truncated, self._info()

    def _action(self, action: Mapping[str, Any]) -> Action:
        """A MineRL action as the world's; keys that are not there are not pressed."""
        pressed = minerl_actions.read(action)
        fields: dict[str, Any] = {field: bool(pressed.keys[name]) for name, field in KEYS.items() if field}
        return Action(hotbar=pressed.hotbar, camera_pitch=pressed.pitch, camera_yaw=pressed.yaw, **fields)

    def _reward(self) -> float:
        """What items that were never there before are worth."""
        if self._options["reward"] != "diamond_shovel":
            return 0.0
        reward = 0.0
        for stack in self.world.player.slots:
            if stack is None:
                continue
            name = automatic.milestone_of(stack.item)
            if name in automatic.MILESTONES and name not in self._earned:
                self._earned.add(name)
                reward += automatic.MILESTONES[name]
        return reward

    def _observation(self) -> dict[str, Any]:
        return {"pov": self.view().pixels.copy()}  # whoever writes into it must not change what is recorded

    def _info(self) -> dict[str, Any]:
        """What is known of the player; not for agents."""
        world, player = self.world, self.world.player
        held = player.in_hand
        info: dict[str, Any] = {
            "x": player.x,
            "y": player.y,
            "z": player.z,
            "yaw": player.yaw,
            "pitch": player.pitch,
            "inventory": interplay.world.contents(player.slots),
            "equipped": None if held is None else held.item,
            "health": player.health,
            "food": player.food,
            "gui": None if world.screen is None else world.screen.kind,
            "is_gui_open": world.screen is not None,
            "counts": {kind: dict(of_kind) for kind, of_kind in player.counts.items()},
            "tick": world.ticks,
        }
        if self._over and self._num_steps and self._options["automatic"]:
            info["automatic"] = self.automatic()
        return info

    def automatic(self) -> dict[str, bool | int | float | str]:
        """What the task's rule reads from the world as it is now, however the episode ended."""
        rule = self._options["automatic"]
        return {**automatic.evaluate(self.world, rule)} if rule else {}

    def box(self, low: tuple[int, int, int], high: tuple[int, int, int]) -> dict[str, Any]:
        """Blocks and mobs in a box, both corners included: for rules that judge.

        Returns:
            `blocks`: name -> how many cells; `mobs`: a list of `{"name", "x", "y", "z"}`.
        """
        return interplay.world.box(self.world, low, high)

    def view(self) -> Frame:
        """What the player sees, uint8, shape (H, W, 3); drawn once a step, whoever asks."""
        if self._picture is None:
            self._picture = self._renderer.frame(self.world)
        return Frame(self._picture)

    def render(self) -> np.ndarray:  # type: ignore[override]
        """As `view`."""
        return self.view().pixels

    def info_to_record(self, info: dict[str, Any]) -> dict[str, Any]:
        """What is kept with each step: few values that seldom change; the rest a replay knows."""
        return {"health": info["health"], "food": info["food"], "equipped": info["equipped"] or "", "gui": info["gui"] or ""}

    def snapshot(self) -> bytes:
        """The whole world: some 50 kB early in an episode, more the more was built."""
        facts = {"steps": self._num_steps, "earned": sorted(self._earned), "over": self._over}
        head = json.dumps({"task": self.task.id} | facts).encode()
        return len(head).to_bytes(4, "little") + head + self.world.save()

    def restore(self, snapshot: bytes) -> None:
        """Continue from a snapshot of the same task."""
        try:
            end = 4 + int.from_bytes(snapshot[:4], "little")
            head = json.loads(snapshot[4:end])
            if head["task"] != self.task.id:
                raise EnvError(f"the snapshot is of {head['task']!r}, and this is {self.task.id}")
            world = World.restore(snapshot[end:])
            num_steps, earned, over = int(head["steps"]), set(head["earned"]), bool(head["over"])
        except EnvError:
            raise
        except (ValueError, KeyError, TypeError, InterplayError) as error:
            raise EnvError(f"this is no snapshot of {self.task.env.id}: {error}") from None
        self._world, self._picture = world, None
        self._num_steps, self._earned, self._over = num_steps, earned, over

    def versions(self) -> dict[str, str]:
        """Versions of Gymnasium, Numba and the world's rules."""
        import numba

        return super().versions() | {"numba": numba.__version__, "world": str(interplay.world.VERSION)}
