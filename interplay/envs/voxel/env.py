"""The embedded block world as a Gymnasium environment, with MineRL 1.0's actions and picture.

```python
import interplay.envs
env = gymnasium.make("interplay/FindCave-v1")
observation, info = env.reset(seed=14169)
observation["pov"]  # uint8, shape (360, 640, 3)
```
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import gymnasium
import numpy as np

import blockworld
from blockworld import Action, Player, Scenario, UnknownNameError, World, WorldError, growing, is_whole, screens
from blockworld.registry import ITEMS_BY_NAME
from blockworld.render import MOST_GAMMA, hud
from blockworld.scene import SceneEncoder, Shared, generated_land, static_tables
from interplay.envs import backends, minerl_actions
from interplay.envs.base import EnvError, Frame, PlayableEnv, require_actions
from interplay.envs.voxel import checks
from interplay.envs.voxel.actions import CAMERA, to_world
from interplay.envs.voxel.rewards import REWARDS
from interplay.envs.voxel.starts import STARTS, put, ready
from interplay.errors import NotFoundError, unknown_name
from interplay.tasks import Task

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
    "check": "",
    "inventory": False,
    "gamma": 0.0,
    "origin": False,
    "start": "",
}
"""Task options and their defaults: kind of land; picture size (width, height); time of day; game rules; difficulty; first items
as names or [name, count]; commands that build the scene; whether ESC ends the episode; one of `rewards.REWARDS`; the outcome
check whose answers the last info has (one of `checks.names()` or `module:function`); whether the inventory is observed; how
much dark places are brightened (0: not at all; MineRL has 2); whether the info has the origin, which is the cell of the first
player's feet after the commands and 20 ticks in which nobody acts; and where the first player begins: one of `starts.STARTS`,
or at the land's spawn."""

_EARLIER = {"automatic": "check"}
"""Earlier name of an option -> present name. Recorded and built-in tasks, and so their hashes, contain earlier names."""

MOST_ITEMS = 2304
"""Largest observed number of one item, as in MineRL: 36 stacks of 64."""
_ITEMS = tuple(sorted(ITEMS_BY_NAME))

_TURNED_DEGREES = 0.01
"""A turn smaller than this is a rounding error."""

PEOPLE_WIDTH = 640
"""Width in pixels: in pictures at least this wide, people get bars and screens twice as large as agents."""


@contextmanager
def _refusals_of_the_world(where: str = "") -> Iterator[None]:
    """Raise the world's errors as `NotFoundError` or `EnvError`; the text of an `EnvError` begins with `where`."""
    try:
        yield
    except UnknownNameError as error:
        raise NotFoundError(str(error)) from None
    except WorldError as error:
        raise EnvError(f"{where}{error}") from None


class VoxelEnv(PlayableEnv):
    """One task in the block world, with a player for each of its seats.

    With several seats, facts about a player have the name `<seat>.<name>` in the info. All players have the first items of the
    task; its commands act for the first player. Players who died or said "done" no longer act, and `info["seats_done"]` lists
    them; the episode ends when it lists all. `view()` shows the players' pictures side by side.

    Raises:
        NotFoundError: If an option, item, kind of land or outcome check does not exist.
        EnvError: If an option has an invalid value, or an outcome check cannot be imported.
    """

    deterministic = True
    frame_policy = "replay"
    observes_view = True
    shown_info = MappingProxyType({name: gymnasium.spaces.Box(0.0, 20.0, (), np.float32) for name in ("health", "food")})
    snapshot_steps = 200  # 0.1 s; ten seconds of game, and 5 to 15 kB

    def __init__(self, task: Task) -> None:
        self.task = task
        options = dict(OPTIONS)
        for written, value in task.env.options.items():
            name = _EARLIER.get(written, written)
            if name != written and name in task.env.options:
                raise EnvError(f"task {task.id}: env.options.{written} is the earlier name of {name}; keep one of them")
            if name not in options:
                raise unknown_name(f"option of the block world in task {task.id}", name, options)
            options[name] = value
        self._options = options
        self._check()
        self._rewards = REWARDS.get(options["reward"])
        self._outcome_check = checks.find(options["check"]) if options["check"] else None
        width, height = options["size"]
        seen: dict[str, gymnasium.Space] = {"pov": gymnasium.spaces.Box(0, 255, (height, width, 3), np.uint8)}
        if options["inventory"]:
            one = gymnasium.spaces.Box(0, MOST_ITEMS, (), np.int32)
            seen["inventory"] = gymnasium.spaces.Dict(dict.fromkeys(_ITEMS, one))
        self._is_single = len(task.seats) == 1
        self.observation_space = gymnasium.spaces.Dict(dict.fromkeys(task.seats, gymnasium.spaces.Dict(seen)))
        self.action_space = gymnasium.spaces.Dict({seat: minerl_actions.action_space() for seat in task.seats})
        self.render_mode = "rgb_array"
        self.metadata = {"render_modes": ["rgb_array"], "render_fps": round(task.frame_rate_hz)}
        self._full_size: tuple[int, int] = (width, height)
        self._renderers: dict[int, blockworld.Renderer] = {}
        if width >= PEOPLE_WIDTH:
            self.people_see = {"gui_scale": max(2, hud.natural_scale(width, height))}
            if width % 4 == height % 4 == 0:
                self.heights = (height, height * 3 // 4, height // 2)
        self._world: World | None = None
        self._shared: Shared | None = None  # kept for the browsers that will draw it
        self._origin: list[int] | None = None
        self._pictures: dict[str, np.ndarray] = {}
        self._num_steps = 0
        self._earned: dict[str, set[str]] = {}
        self._done: set[str] = set()
        self._turned: set[str] = set()
        self._over = True

    def _check(self) -> None:
        options, where = self._options, f"task {self.task.id}: env.options"

        def check(fits: bool, name: str, expected: str) -> None:
            if not fits:
                raise EnvError(f"{where}.{name} is {expected}, got {options[name]!r}")

        size = options["size"]
        is_pair = isinstance(size, list | tuple) and len(size) == 2
        check(
            is_pair and all(is_whole(side) and 16 <= side <= 4096 for side in size),
            "size",
            "[width, height], each 16 to 4096 pixels",
        )
        check(isinstance(options["check"], str), "check", "the name of an outcome check, or module:function")
        gamma = options["gamma"]
        is_number = isinstance(gamma, int | float) and not isinstance(gamma, bool)
        check(is_number and 0 <= gamma <= MOST_GAMMA, "gamma", f"a number from 0 to {MOST_GAMMA}, MineRL's is 2")
        for name in ("esc_ends", "inventory", "origin"):
            check(isinstance(options[name], bool), name, "true or false")
        check(options["reward"] in ("", *REWARDS), "reward", " or ".join(repr(name) for name in ("", *REWARDS)))
        check(options["start"] in ("", *STARTS), "start", " or ".join(repr(name) for name in ("", *STARTS)))
        with _refusals_of_the_world(f"{where}."):
            self._scenario = Scenario(**{entry.name: options[entry.name] for entry in fields(Scenario)})

    @property
    def world(self) -> World:
        """The present world, for outcome checks and people's tools; agents see only pixels (EnvError before a reset)."""
        if self._world is None:
            raise EnvError(f"task {self.task.id} has no world yet; call reset first")
        return self._world

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        super().reset(seed=seed)
        self._world, self._shared, self._over = None, None, True  # a reset that fails leaves nothing to step
        self._pictures.clear()
        with _refusals_of_the_world():
            return self._begin(seed)

    def _begin(self, seed: int | None) -> tuple[dict[str, Any], dict[str, Any]]:
        chosen = self._options
        world = self._scenario.world(
            int(self.np_random.integers(2**31)) if seed is None else seed,
            len(self.task.seats),
            lambda world: put(world, chosen["start"]) if chosen["start"] else None,
        )
        self._world = world
        self._origin = _feet_cell(ready(world)) if chosen["origin"] else None
        self._num_steps, self._over = 0, False
        self._earned, self._done = {seat: set() for seat in self.task.seats}, set()
        return self._observation(), self._info()

    def step(self, action: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, float], bool, bool, dict[str, Any]]:
        """Play a twentieth of a second.
        Raises EnvError for an invalid or missing action, or after the end; the world then stays as it was."""
        rewards, terminated, truncated = self._play(action)
        return self._observation(), rewards, terminated, truncated, self._info()

    def step_unseen(self, action: Mapping[str, Any]) -> tuple[dict[str, float], bool, bool, dict[str, Any]]:
        return *self._play(action), self._info()

    def _play(self, action: Mapping[str, Any]) -> tuple[dict[str, float], bool, bool]:
        world, seats = self.world, self.task.seats
        if self._over:
            raise EnvError(f"task {self.task.id}: the episode has ended; call reset before the next step")
        require_actions(self.task, action, seats)
        actions = [Action() if seat in self._done else to_world(action[seat]) for seat in seats]
        says_done = [
            self._options["esc_ends"] and keys.esc and screen is None
            for keys, screen in zip(actions, world.screens, strict=True)
        ]
        self._pictures.clear()
        meant = {
            seat: (me.pitch, me.yaw) if screen is not None else (me.pitch + keys.camera_pitch, me.yaw + keys.camera_yaw)
            for seat, me, screen, keys in zip(seats, world.players, world.screens, actions, strict=True)
        }
        world.step(*actions)
        self._turned = {seat for seat, me in zip(seats, world.players, strict=True) if _is_elsewhere(me, *meant[seat])}
        self._num_steps += 1
        rewards = dict.fromkeys(seats, 0.0)
        for seat, me, is_done in zip(seats, world.players, says_done, strict=True):
            if self._rewards is not None:
                rewards[seat] = self._rewards.earn(me.slots, self._earned[seat])
                is_done |= self._rewards.last in self._earned[seat]
            if me.dead or is_done:
                self._done.add(seat)
        terminated = len(self._done) == len(seats)
        truncated = self._num_steps >= self.task.max_steps
        self._over = terminated or truncated
        return rewards, terminated, truncated

    def _observation(self) -> dict[str, Any]:
        return {seat: self._seen_by(seat) for seat in self.task.seats}

    def _seen_by(self, seat: str) -> dict[str, Any]:
        # Whoever writes into the picture must not change what is recorded.
        seen: dict[str, Any] = {"pov": self.view_of(seat).pixels.copy()}
        if self._options["inventory"]:
            seen["inventory"] = self._counts(self._player(seat))
        return seen

    def _player(self, seat: str) -> Player:
        return self.world.players[self.task.seats.index(seat)]

    def _counts(self, me: Player) -> dict[str, np.ndarray]:
        """Return item -> number that a player has, int32, shape (); it contains all items, as MineRL's `inventory` does."""
        has = blockworld.contents(me.slots)
        return {name: np.array(min(has.get(name, 0), MOST_ITEMS), np.int32) for name in _ITEMS}

    def _info(self) -> dict[str, Any]:
        """Return facts about the players; agents do not get them."""
        info: dict[str, Any] = {}
        for index, seat in enumerate(self.task.seats):
            known = self._known_of(index)
            info |= known if self._is_single else {f"{seat}.{name}": value for name, value in known.items()}
        info["tick"] = self.world.ticks
        if self._origin is not None:
            info["origin"] = self._origin[:]
        if self._done and not self._is_single:
            info["seats_done"] = [seat for seat in self.task.seats if seat in self._done]
        if self._over and self._num_steps and self._outcome_check is not None:
            info["outcome_check"] = self.outcome_check()
        return info

    def _known_of(self, index: int) -> dict[str, Any]:
        player, screen = self.world.players[index], self.world.screens[index]
        held = player.in_hand
        return {
            "x": player.x,
            "y": player.y,
            "z": player.z,
            "yaw": player.yaw,
            "pitch": player.pitch,
            "inventory": blockworld.contents(player.slots),
            "equipped": None if held is None else held.item,
            "health": player.health,
            "food": player.food,
            "gui": None if screen is None else screen.kind,
            "is_gui_open": screen is not None,
            "counts": {kind: dict(of_kind) for kind, of_kind in player.counts.items()},
        }

    def outcome_check(self) -> dict[str, bool | int | float | str]:
        return {} if self._outcome_check is None else {**self._outcome_check(self.world)}

    def box(self, low: tuple[int, int, int], high: tuple[int, int, int], *, cells: bool = False) -> dict[str, Any]:
        """Return blocks and mobs in a box that includes both corners, in the form of `blockworld.box`; for outcome checks."""
        return blockworld.box(self.world, low, high, cells=cells)

    def view(self) -> Frame:
        """Return the players' pictures side by side, uint8, shape (H, W, 3); each picture is drawn once in each step."""
        seats = self.task.seats
        if self._is_single:
            return self.view_of(seats[0])
        return Frame(np.concatenate([self.view_of(seat).pixels for seat in seats], axis=1))

    def view_of(self, seat: str) -> Frame:
        """Return the picture of the player in this seat, uint8, shape (H, W, 3), drawn when it is first needed in a step.
        Raises EnvError before the first reset."""
        if seat not in self._pictures:
            width, height = self._size
            if height not in self._renderers:
                self._renderers[height] = blockworld.Renderer((width, height), gamma=self._options["gamma"])
            with self.world.acting(self.task.seats.index(seat)):
                self._pictures[seat] = self._renderers[height].frame(self.world, self._gui_scale)
        return Frame(self._pictures[seat])

    def scene_of(self, seat: str, gui_size: tuple[int, int]) -> SceneEncoder:
        index = self.task.seats.index(seat)
        hides = backends.of(self.task).hides_land(self.task)
        return SceneEncoder(self.world, index, gamma=self._options["gamma"], hide_land=hides)

    def get_ready(self) -> None:
        self._shared = Shared.of(self.world)
        growing(self.world)

    def replayed_scene_of(self, seat: str) -> SceneEncoder:
        return SceneEncoder(self.world, self.task.seats.index(seat), gamma=self._options["gamma"], has_land=True)

    def land(self) -> Iterator[bytes]:
        return generated_land(self.world)

    def scene_tables(self) -> bytes:
        return static_tables().data

    def draw_for(self, view: Mapping[str, Any] | None, height: int | None = None) -> None:
        """Choose how pictures are drawn (`PlayableEnv.draw_for`); bars and screens always have the same share of a picture."""
        if view is not None and (set(view) != {"gui_scale"} or not is_whole(view["gui_scale"]) or view["gui_scale"] < 1):
            raise EnvError(f'a view of the block world must be {{"gui_scale": 1 or more}}, got {dict(view)!r}')
        if height is not None and (height not in self.heights or view is None):
            raise EnvError(f"task {self.task.id} draws people's pictures {self.heights} rows high, got {height}")
        if (view, height) != (self.drawn_for, self.drawn_height):
            self._pictures.clear()
        self.drawn_for, self.drawn_height = view, height

    @property
    def _size(self) -> tuple[int, int]:
        width, height = self._full_size
        return (width, height) if self.drawn_height is None else (width * self.drawn_height // height, self.drawn_height)

    @property
    def _gui_scale(self) -> Fraction | None:
        """Pixels of the picture for each GUI pixel; None for the picture of agents."""
        return None if self.drawn_for is None else Fraction(self.drawn_for["gui_scale"] * self._size[1], self._full_size[1])

    def look_of(self, seat: str) -> tuple[float, float] | None:
        """Return the direction of view (`PlayableEnv.look_of`); None while a screen is open, as the camera moves its cursor."""
        me = self._player(seat)
        return (me.pitch, me.yaw) if self.world.screens[self.task.seats.index(seat)] is None else None

    def was_turned(self, seat: str) -> bool:
        """Return whether the world turned the view: by a command, by a bed, or because the player is dead."""
        return seat in self._turned

    def action_of_person(
        self, action: Mapping[str, Any], seat: str, gui_size: tuple[int, int] | None = None
    ) -> Mapping[str, Any]:
        """Return an action that keeps the cursor of a screen within the picture that the person sees. As in every action, turns
        are in GUI pixels, so the cursor is on the same slot in agents' pictures of any size."""
        screen = self.world.screens[self.task.seats.index(seat)]
        if (self.drawn_for is None and gui_size is None) or screen is None or not np.any(action[CAMERA]):
            return action
        pitch, yaw = (float(degrees) for degrees in action[CAMERA])
        drawn = (self._size, self._gui_scale) if gui_size is None else (gui_size, Fraction(1))
        turn = screens.turn_within(screen, screens.Turn(yaw, pitch), hud.shown(*drawn, screen))
        return {**action, CAMERA: np.array([turn.pitch, turn.yaw], np.float32)}

    def render(self) -> np.ndarray:  # type: ignore[override]
        return self.view().pixels

    def info_to_record(self, info: dict[str, Any]) -> dict[str, Any]:
        """Return a few values that seldom change; a replay gives the rest."""
        kept: dict[str, Any] = {}
        for seat in self.task.seats:
            of = "" if self._is_single else f"{seat}."
            kept |= {f"{of}health": info[f"{of}health"], f"{of}food": info[f"{of}food"]}
            kept |= {f"{of}equipped": info[f"{of}equipped"] or "", f"{of}gui": info[f"{of}gui"] or ""}
        return kept | ({"seats_done": info["seats_done"]} if "seats_done" in info else {})

    def snapshot(self) -> bytes:
        """Return the whole world: about 50 kB early in an episode, and more if more was built."""
        earned: Any = {seat: sorted(names) for seat, names in self._earned.items()}
        facts: dict[str, Any] = {"steps": self._num_steps, "earned": earned, "over": self._over, "done": sorted(self._done)}
        if self._is_single:  # as snapshots were before there were seats
            facts = {"steps": self._num_steps, "earned": earned[self.task.seats[0]], "over": self._over}
        if self._origin is not None:
            facts["origin"] = self._origin
        head = json.dumps({"task": self.task.id} | facts).encode()
        return len(head).to_bytes(4, "little") + head + self.world.save()

    def restore(self, snapshot: bytes) -> None:
        try:
            end = 4 + int.from_bytes(snapshot[:4], "little")
            head = json.loads(snapshot[4:end])
            if head["task"] != self.task.id:
                raise EnvError(f"the snapshot is of task {head['task']}, and this environment plays {self.task.id}")
            world = World.restore(snapshot[end:])
            if len(world.players) != len(self.task.seats):
                raise EnvError(f"the snapshot has {len(world.players)} players, and {self.task.id} has {len(self.task.seats)}")
            num_steps, over = int(head["steps"]), bool(head["over"])
            earned = {self.task.seats[0]: head["earned"]} if self._is_single else head["earned"]
            earned = {seat: set(earned[seat]) for seat in self.task.seats}
            done = set(head.get("done", ()))
            origin = [int(value) for value in head["origin"]] if self._options["origin"] else None
        except EnvError:
            raise
        except (ValueError, KeyError, TypeError, WorldError) as error:
            raise EnvError(f"this is not a snapshot of {self.task.env.id}: {error}") from None
        self._world, self._shared, self._origin = world, None, origin
        self._pictures.clear()
        self._num_steps, self._earned, self._done, self._over = num_steps, earned, done, over

    def fork(self) -> VoxelEnv:
        """Return an independent environment in the same state, by `World.fork` (EnvError before the first reset)."""
        other = copy.copy(self)
        other._world, other._shared, other._pictures, other._renderers = self.world.fork(), None, dict(self._pictures), {}
        other._earned, other._done = {seat: set(names) for seat, names in self._earned.items()}, set(self._done)
        other.action_space, other.observation_space = copy.deepcopy((self.action_space, self.observation_space))
        other._np_random = copy.deepcopy(self._np_random)
        return other

    def draws_as(self, versions: Mapping[str, str]) -> bool:
        return versions.get("world") == str(blockworld.VERSION)

    def versions(self) -> dict[str, str]:
        import numba

        return super().versions() | {"numba": numba.__version__, "world": str(blockworld.VERSION)}


def _feet_cell(world: World) -> list[int]:
    me = world.players[0]
    return [math.floor(value) for value in (me.x, me.y, me.z)]


def _is_elsewhere(me: Player, pitch: float, yaw: float) -> bool:
    """Return whether a player looks in another direction than (pitch, yaw), to which the camera was turned."""
    off = (me.yaw - yaw + 180.0) % 360.0 - 180.0
    return abs(off) > _TURNED_DEGREES or abs(me.pitch - min(90.0, max(-90.0, pitch))) > _TURNED_DEGREES
