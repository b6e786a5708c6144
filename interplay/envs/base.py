"""The interface of every world beyond Gymnasium: a view for people, snapshots, and its version."""

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
"""How an episode keeps its frames: rebuilt by playing again, stored as palette indices, or as H.264 video."""


def play_without_screen() -> None:
    """Let worlds drawn with pygame do without a screen, and leave signals alone: pygame would keep SIGTERM to itself, and
    nothing could end the program. Call it before such a world is made."""
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    os.environ.setdefault("SDL_NO_SIGNAL_HANDLERS", "1")


class EnvError(InterplayError):
    """A world that cannot be built or was used wrongly."""


class NotInstalledError(EnvError):
    """A missing package that a world needs; the text names it and the line that installs it, and nothing else."""


def require_actions(task: Task, action: Any, seats: Collection[str]) -> None:
    """Refuse a joint action that leaves one of these seats out (EnvError)."""
    missing = [seat for seat in seats if not isinstance(action, Mapping) or seat not in action]
    if missing:
        raise EnvError(f"task {task.id}: an action is a mapping from every seat, got none for {', '.join(missing)}")


def reward_of(value: Any) -> float:
    """The reward of another project's environment: a number, an array of one, or None, which counts as missing (NaN)."""
    try:
        return np.nan if value is None else float(np.asarray(value).item())
    except (TypeError, ValueError):
        raise EnvError(f"the reward is {value!r}, expected one number\nCorrect it in the environment or a wrapper.") from None


def picture_of(given: Any, env_id: str, before: np.ndarray | None) -> np.ndarray:
    """The picture of another project's environment, as uint8, shape (H, W, 3). Floats may go from 0 to 1; a channel for
    transparency is left out where nothing is transparent.

    Args:
        before: The picture before it, of the same size.
    Raises:
        EnvError: If it cannot become such a picture without being changed.
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
            f"{env_id} drew a picture of shape {before.shape} and then one of {picture.shape}; an episode has one size\n"
            "Fill or scale them to one size in its render method or in a wrapper."
        )
    return picture


BLANK = np.full((64, 64, 3), 128, np.uint8)
"""Stands where there is no picture."""


class NoNumbersError(EnvError):
    """A world that gives pictures only was asked for numbers."""


class Frame(NamedTuple):
    """A picture for a person.

    Attributes:
        pixels: uint8, shape (H, W) palette indices when `palette` is given, else (H, W, 3) RGB.
        palette: uint8, shape (256, 3), or None.
    """

    pixels: np.ndarray
    palette: np.ndarray | None = None

    def rgb(self) -> np.ndarray:
        return self.pixels if self.palette is None else self.palette[self.pixels]


class Scene(Protocol):
    """Messages with which the browser of one player draws their view itself, packed as `docs/protocol.md` says."""

    def scene(self, fresh: bool, turned: bool) -> bytes:
        """All changes since the last call, deflated.

        Args:
            fresh: Send everything; the browser has forgotten what it knew, the land too.
            turned: Whether the world turned the player's view since the last call.
        """
        ...

    def land_parts(self, num_parts: int) -> list[bytes]:
        """At most so many parts of the land that the browser does not have, the nearest first, each deflated."""
        ...


class PlayableEnv(gymnasium.Env[Mapping[str, Any], Mapping[str, Any]]):
    """A Gymnasium environment with the additions for recording and live play.

    Actions, observations and rewards are mappings by seat, also where the task has one seat; both spaces are a
    `gymnasium.spaces.Dict` with an entry for each seat. `SingleAgentEnv` shows a world of one seat without the mappings.

    Class attributes:
        observes_view: The observation is `view().pixels`, alone or beside values that a replay gives again (the block world's
            `inventory`), so episodes keep it once.
        draws: It has a picture at every step; where not, `view()` says how large one is, episodes keep no hashes of
            pictures, and those are drawn when the episode is played again. Set it to False, and worlds that give numbers
            (`state_of`) leave drawing out from then on, and have no `view()`.
        deterministic: Seed and actions decide everything, so a replay equals the recording.
        frame_policy: How episodes of it keep frames unless told otherwise.
        snapshot_steps: Steps between the snapshots of a recording, which a resumed game, or a replay that jumps, plays again at
            most. 1,200 of an Atari game take 0.2 s.
        people_see: How its picture is drawn for people who play live, as `draw_for` takes it; None where they see what agents
            see. It never changes the world's state.
        heights: Rows of the pictures it can draw for people, the full size first; empty where there is one size only.
        drawn_for, drawn_height: Arguments of the last `draw_for`.
        shown_info: Infos that a player can read off the screen, name -> space: an agent may get them as numbers.
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
        """One step with an action of every seat: observations and rewards by seat, terminated, truncated and info."""
        raise NotImplementedError

    def view(self) -> Frame:
        """The player's picture now; valid after `reset`. The array may be reused by the next step."""
        raise NotImplementedError

    def view_of(self, seat: str) -> Frame:
        """The picture of the player in this seat; the same for all of them unless a world of several seats says otherwise."""
        return self.view()

    def state_of(self, seat: str) -> np.ndarray:
        """The numbers that the world gives the player in this seat, float32, shape (n,); valid after `reset`. A world with
        pictures only raises NoNumbersError."""
        raise NoNumbersError(
            f"the world of task {self.task.id} gives no numbers, only pictures; choose a pipeline of pictures, such as dqn"
        )

    def scene_of(self, seat: str, gui_size: tuple[int, int]) -> Scene | None:
        """A new source of the messages with which this seat's browser draws the view, with a GUI of this size; None if it
        cannot."""
        return None

    def replayed_scene_of(self, seat: str) -> Scene | None:
        """As `scene_of`, for a browser that replays this seat's game and has `land`: it is told of everything in the world, not
        only of the part in sight. It serves until the next `reset` or `restore`."""
        return None

    def land(self) -> Iterable[bytes]:
        """The world as it was before anybody was in it, for browsers that replay: the payloads of all its land frames, each
        deflated, of which the first says the `size`; empty where browsers cannot replay it."""
        return ()

    def get_ready(self) -> None:
        """Do now the work that the first step, and the first `scene_of`, would wait for."""

    def scene_tables(self) -> bytes | None:
        """Constant tables for browsers that draw this world, deflated; None where browsers cannot."""
        return None

    def look_of(self, seat: str) -> tuple[float, float] | None:
        """Direction of the view in this seat, (pitch, yaw) in degrees; None while the camera moves something else."""
        return None

    def was_turned(self, seat: str) -> bool:
        """Whether in the last step the world turned this player's view, and not the player."""
        return False

    def step_unseen(self, action: Mapping[str, Any]) -> tuple[Mapping[str, float], bool, bool, dict[str, Any]]:
        """As `step` without observations, which a world then does not draw: rewards by seat, terminated, truncated and info."""
        return self.step(action)[1:]

    def draw_for(self, view: Mapping[str, Any] | None, height: int | None = None) -> None:
        """From now on, draw pictures in this way (EnvError if it cannot).

        Args:
            view: As `people_see`; None as agents see it.
            height: Rows of the picture, one of `heights`; None for the full size.
        """
        if view is not None or height is not None:
            raise EnvError(f"{self.task.env.id} draws one kind of picture, so it cannot draw {view} with {height} rows")

    def action_of_person(self, action: Any, seat: str, gui_size: tuple[int, int] | None = None) -> Any:
        """The action to take and to record for a person's input; it differs only for the cursor of a screen, as they see it in
        a browser with a GUI of this size, or (of None) in our picture."""
        return action

    def snapshot(self) -> bytes | None:
        """The whole state, for `restore` in another process; None where the world has no such thing."""
        return None

    def restore(self, snapshot: bytes) -> None:
        """Go back to a snapshot of this world; the next `step` continues from there (EnvError if the world has no
        snapshots)."""
        raise EnvError(f"{self.task.env.id} cannot restore snapshots")

    def info_to_record(self, info: dict[str, Any]) -> dict[str, Any]:
        """The part of `info` that is recorded with each step, as JSON values; `envs.info` states the rule."""
        return recordable(info)

    def readings(self) -> Mapping[str, Callable[[], Any]]:
        """Values that collectors of statistics may read beside the info, name -> a function that reads the current value:
        `ram`, the memory of a console as bytes. A replay must read the same."""
        return {}

    def outcome_check(self) -> dict[str, bool | int | float | str]:
        """Results of a rule about the episode, read from the world at its end; `success` if it can tell whether the task was
        done. Empty by default. It stands beside judges' answers; agents never get it."""
        return {}

    def draws_as(self, versions: Mapping[str, str]) -> bool:
        """Whether its pictures equal those of an environment with these `versions()`, bit by bit, when the states are equal."""
        return True

    def versions(self) -> dict[str, str]:
        """Name -> version of everything that could change what a replay shows."""
        return {"gymnasium": gymnasium.__version__, "numpy": np.__version__}  # NumPy's chance may change with its version


class SingleAgentEnv(gymnasium.Env[Any, Any]):
    """A world of one seat as Gymnasium has it: `step` takes an action and gives an observation and a reward, without the
    seat."""

    def __init__(self, env: PlayableEnv) -> None:
        if len(env.task.seats) > 1:
            raise EnvError(f"task {env.task.id} has the seats {', '.join(env.task.seats)}; expected one\nStep it by seat.")
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
        """A second one in the same state, of worlds that can be forked."""
        return SingleAgentEnv(self.env.fork())  # type: ignore[attr-defined]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.env, name)
