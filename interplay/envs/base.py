"""The interface of every world, on top of Gymnasium's: a view for people, snapshots, and versions."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

import gymnasium
import numpy as np

from interplay.envs.info import recordable
from interplay.errors import InterplayError
from interplay.tasks import Task

FramePolicy = Literal["replay", "indexed", "video"]
"""How an episode keeps its frames: rebuilt by a replay, stored as palette indices, or stored as H.264 video."""


def play_without_screen() -> None:
    """Let worlds that are drawn with pygame run without a screen; call it before such a world is made. It also stops pygame
    from handling SIGTERM, which could otherwise not end the program."""
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    os.environ.setdefault("SDL_NO_SIGNAL_HANDLERS", "1")


class EnvError(InterplayError):
    """A world cannot be built, or was used wrongly."""


class NotInstalledError(EnvError):
    """A package that a world needs is missing; the text contains only the package's name and the command that installs it."""


def require_actions(task: Task, action: Any, seats: Collection[str]) -> None:
    """Refuse a joint action in which one of these seats is missing (EnvError)."""
    missing = [seat for seat in seats if not isinstance(action, Mapping) or seat not in action]
    if missing:
        raise EnvError(f"task {task.id}: every seat needs an action; there is no action for {', '.join(missing)}")


def reward_of(value: Any) -> float:
    """Return a reward of another project's environment as a float.
    It may be a number, an array with one number, or None, which counts as missing (NaN).
    Raises EnvError if it is not one number."""
    try:
        return np.nan if value is None else float(np.asarray(value).item())
    except (TypeError, ValueError):
        raise EnvError(f"the reward is {value!r}, expected one number\nCorrect it in the environment or a wrapper.") from None


def picture_of(given: Any, env_id: str, before: np.ndarray | None) -> np.ndarray:
    """Return the picture of another project's environment as uint8, shape (H, W, 3).
    Floats may go from 0 to 1. A transparency channel is dropped if nothing is transparent.

    Args:
        before: The previous picture, which has the same size.
    Raises:
        EnvError: If it cannot be converted to this form without changing its content.
    """
    if not isinstance(given, np.ndarray) or given.ndim != 3 or given.dtype.kind not in "biuf":
        raise EnvError(f"{env_id} draws no picture in render_mode 'rgb_array', so people cannot play it")
    picture = given
    with np.errstate(invalid="ignore"):
        if given.dtype.kind == "f" and given.min(initial=0) >= 0 and 0 < given.max(initial=0) <= 1:
            given = picture = np.round(given * 255)
        picture = np.ascontiguousarray(picture, np.uint8)
    if picture.shape[2] == 4 and np.all(picture[..., 3] == 255):
        given, picture = given[..., :3], np.ascontiguousarray(picture[..., :3])
    if picture.shape[2] != 3 or (given.dtype != np.uint8 and not np.array_equal(picture, given)):
        raise EnvError(
            f"{env_id} draws pictures of {given.dtype} with shape {given.shape}, from {given.min():g} to {given.max():g}; "
            "expected uint8 with shape (height, width, 3)\n"
            "Convert them in its render method or in a wrapper; leave transparency out."
        )
    if before is not None and before.shape != picture.shape:
        raise EnvError(
            f"{env_id} drew a picture of shape {before.shape} and then one of {picture.shape}; their size must not change\n"
            "Fill or scale them to one size in its render method or in a wrapper."
        )
    return picture


BLANK = np.full((64, 64, 3), 128, np.uint8)
"""Grey picture for people, where there is no other picture."""


class NoNumbersError(EnvError):
    """Numbers were requested from a world that gives only pictures."""


class Frame(NamedTuple):
    """A picture for a person.

    Attributes:
        pixels: uint8, shape (H, W) palette indices when `palette` is given, else (H, W, 3) RGB.
        palette: uint8, shape (256, 3), or None.
    """

    pixels: np.ndarray
    palette: np.ndarray | None = None

    def rgb(self) -> np.ndarray:
        """Return the picture in colour, uint8, shape (H, W, 3)."""
        return self.pixels if self.palette is None else self.palette[self.pixels]


class Scene(Protocol):
    """Source of the messages with which one player's browser draws the view itself; `docs/protocol.md` describes the format."""

    def scene(self, fresh: bool, turned: bool) -> bytes:
        """Return all changes since the last call, deflated.

        Args:
            fresh: Whether to send everything, land included, because the browser has lost what it knew.
            turned: Whether the world turned the player's view since the last call.
        """
        ...

    def land_parts(self, num_parts: int) -> list[bytes]:
        """Return at most `num_parts` parts of the land that the browser does not have, nearest first, each deflated."""
        ...


class PlayableEnv(gymnasium.Env[Mapping[str, Any], Mapping[str, Any]]):
    """A Gymnasium environment with additions for recording and live play.

    Actions, observations and rewards are mappings by seat, even if the task has one seat; both spaces are a
    `gymnasium.spaces.Dict` with an entry for each seat. `SingleAgentEnv` shows a world of one seat without the mappings.

    Class attributes:
        observes_view: Whether the observation contains `view().pixels` and otherwise only values that a replay gives again (the
            block world's `inventory`); episodes then store the picture only once.
        draws: Whether the world has a picture at every step. If not, `view()` gives the size of a picture, episodes keep no
            hashes of pictures, and pictures are drawn in a replay. If it is set to False, worlds that give numbers (`state_of`)
            stop drawing, and have no `view()`.
        deterministic: Whether seed and actions decide everything, so that a replay equals the recording.
        frame_policy: How its episodes keep frames by default.
        snapshot_steps: Number of steps between the snapshots of a recording: a resumed game, or a replay that jumps, replays at
            most this many. 1,200 steps of an Atari game take 0.2 s.
        people_see: How the picture is drawn for people who play live, as an argument of `draw_for`; None: people see what
            agents see. It never changes the state of the world.
        heights: Rows of the pictures that it can draw for people, full size first; empty if there is only one size.
        drawn_for, drawn_height: Arguments of the last `draw_for`.
        shown_info: Infos that a player can read on the screen, name -> space; an agent may get them as numbers.
    """

    observes_view: bool = False
    draws: bool = True
    deterministic: bool = False
    frame_policy: FramePolicy = "video"
    snapshot_steps: ClassVar[int] = 1200
    people_see: Mapping[str, Any] | None = None
    heights: tuple[int, ...] = ()
    drawn_for: Mapping[str, Any] | None = None
    drawn_height: int | None = None
    shown_info: Mapping[str, gymnasium.spaces.Box] = MappingProxyType({})
    task: Task
    action_space: gymnasium.spaces.Dict  # type: ignore[bad-override-mutable-attribute]
    observation_space: gymnasium.spaces.Dict  # type: ignore[bad-override-mutable-attribute]

    def step(self, action: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, float], bool, bool, dict[str, Any]]:  # type: ignore[override]
        """Play one step with an action for every seat; return Gymnasium's five values, observations and rewards by seat."""
        raise NotImplementedError

    def view(self) -> Frame:
        """Return the player's present picture; valid after `reset`. The next step may reuse the array."""
        raise NotImplementedError

    def view_of(self, seat: str) -> Frame:
        """Return the picture of the player in this seat; by default all seats have the same picture."""
        return self.view()

    def state_of(self, seat: str) -> np.ndarray:
        """Return the numbers that the world gives the player in this seat, float32, shape (n,); valid after `reset`.
        A world that gives only pictures raises NoNumbersError."""
        raise NoNumbersError(
            f"the world of task {self.task.id} gives no numbers, only pictures; choose a pipeline of pictures, such as dqn"
        )

    def scene_of(self, seat: str, gui_size: tuple[int, int]) -> Scene | None:
        """Return a new source of the messages with which this seat's browser draws the view; `gui_size` is the size of its GUI.
        Returns None if a browser cannot draw this world."""
        return None

    def replayed_scene_of(self, seat: str) -> Scene | None:
        """Return the same as `scene_of` for a browser that replays this seat's game and has `land`. The scene sends everything
        in the world, not only the part in sight, until the next `reset` or `restore`."""
        return None

    def land(self) -> Iterable[bytes]:
        """Return the untouched world for browsers that replay: the payloads of all its land frames, each deflated. The first
        frame gives the `size`. The result is empty if browsers cannot replay this world."""
        return ()

    def get_ready(self) -> None:
        """Do now the work for which the first step and the first `scene_of` would otherwise wait."""

    def scene_tables(self) -> bytes | None:
        """Return constant tables for browsers that draw this world, deflated; None if browsers cannot draw it."""
        return None

    def look_of(self, seat: str) -> tuple[float, float] | None:
        """Return the direction of view in this seat, (pitch, yaw) in degrees; None while the camera moves a cursor instead."""
        return None

    def was_turned(self, seat: str) -> bool:
        """Return whether the world, and not the player, turned this player's view in the last step."""
        return False

    def step_unseen(self, action: Mapping[str, Any]) -> tuple[Mapping[str, float], bool, bool, dict[str, Any]]:
        """Play one step without drawing observations; return rewards by seat, terminated, truncated and info."""
        return self.step(action)[1:]

    def draw_for(self, view: Mapping[str, Any] | None, height: int | None = None) -> None:
        """Choose how pictures are drawn from now on (EnvError if the world cannot do this).

        Args:
            view: As `people_see`; None: as agents see it.
            height: Rows of the picture, one of `heights`; None: full size.
        """
        if view is not None or height is not None:
            raise EnvError(f"{self.task.env.id} draws one kind of picture, so it cannot draw {view} with {height} rows")

    def action_of_person(self, action: Any, seat: str, gui_size: tuple[int, int] | None = None) -> Any:
        """Return the action to take and to record for a person's input. It differs from the input only while a cursor is shown.
        The person sees this cursor in a browser with a GUI of `gui_size`, or in the picture of this environment (None)."""
        return action

    def snapshot(self) -> bytes | None:
        """Return the whole state, for `restore` in another process; None if the world has no snapshots."""
        return None

    def restore(self, snapshot: bytes) -> None:
        """Return to a snapshot of this world; the next `step` continues from there (EnvError if the world has no snapshots)."""
        raise EnvError(f"{self.task.env.id} cannot restore snapshots")

    def info_to_record(self, info: dict[str, Any]) -> dict[str, Any]:
        """Return the part of `info` that is recorded with each step, as JSON values; `envs.info` states the rule."""
        return recordable(info)

    def readings(self) -> Mapping[str, Callable[[], Any]]:
        """Return further values for collectors of statistics, name -> a function that reads the present value.
        Example: `ram`, the memory of a console as bytes. A replay must read the same values."""
        return {}

    def outcome_check(self) -> dict[str, bool | int | float | str]:
        """Return the results of a rule that reads the world at the end of an episode; by default empty. `success` says whether
        the task was done, if the rule can tell. The results are shown beside judges' answers; agents never get them."""
        return {}

    def draws_as(self, versions: Mapping[str, str]) -> bool:
        """Return whether equal states give the same pictures, bit by bit, as in an environment with these `versions()`."""
        return True

    def versions(self) -> dict[str, str]:
        """Return name -> version of everything that could change what a replay shows."""
        return {"gymnasium": gymnasium.__version__, "numpy": np.__version__}  # NumPy's chance may change with its version


class SingleAgentEnv(gymnasium.Env[Any, Any]):
    """A world of one seat in Gymnasium's form: actions, observations and rewards are not mappings by seat.

    Raises:
        EnvError: If the world has several seats.
    """

    def __init__(self, env: PlayableEnv) -> None:
        if len(env.task.seats) > 1:
            raise EnvError(
                f"task {env.task.id} has the seats {', '.join(env.task.seats)}; expected a task with one seat\n"
                "Call step with a mapping: seat -> action."
            )
        self.env = env
        (self._seat,) = env.task.seats
        self.action_space = env.action_space[self._seat]
        self.observation_space = env.observation_space[self._seat]
        self.metadata, self.render_mode = env.metadata, env.render_mode

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        observations, info = self.env.reset(seed=seed, options=options)
        return observations[self._seat], info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observations, rewards, terminated, truncated, info = self.env.step({self._seat: action})
        return observations[self._seat], rewards[self._seat], terminated, truncated, info

    def render(self) -> Any:
        return self.env.render()

    def close(self) -> None:
        self.env.close()

    def fork(self) -> SingleAgentEnv:
        """Return a second environment in the same state, if the world can be forked."""
        return SingleAgentEnv(self.env.fork())  # type: ignore[attr-defined]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.env, name)
