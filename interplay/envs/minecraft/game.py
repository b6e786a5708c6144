"""The common base of MineRL and MineStudio: picture, actions, endings, and failures of the real Minecraft.

The game is a program that the user installed and that this project does not contain. Therefore these environments are not
deterministic, keep their frames as video, and have no snapshots. The game can stop at any moment.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

import gymnasium
import numpy as np

from interplay.envs import minerl_actions
from interplay.envs.base import EnvError, Frame, NotInstalledError, PlayableEnv, require_actions
from interplay.tasks import Task

WIDTH, HEIGHT = 640, 360
"""Size of the picture in pixels: the same as in MineRL 1.0 and MineStudio, and the default of the block world."""


class Answer(NamedTuple):
    """The game's answer to a reset or a step; `error` in the info means that the game has stopped and the picture is noise."""

    picture: Any
    info: dict[str, Any]
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False


class MinecraftEnv(PlayableEnv):
    """A task in a Minecraft that the user installed; subclasses implement `_open`, `_begin` and `_advance`.

    If the game fails in `reset` or `step`, the episode ends with an `EnvError`; the next `reset` starts the game again.
    """

    observes_view = True
    deterministic = False
    frame_policy = "video"

    _packages: ClassVar[tuple[str, ...]]
    """Installed packages whose versions recordings keep."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self._seat = task.seats[0]
        seen = gymnasium.spaces.Dict({"pov": gymnasium.spaces.Box(0, 255, (HEIGHT, WIDTH, 3), np.uint8)})
        self.observation_space = gymnasium.spaces.Dict({self._seat: seen})
        self.action_space = gymnasium.spaces.Dict({self._seat: minerl_actions.action_space()})
        self.render_mode = "rgb_array"
        self.metadata = {"render_modes": ["rgb_array"], "render_fps": round(task.frame_rate_hz)}
        self._num_steps = 0
        self._over = True
        self._picture: np.ndarray | None = None
        self._game: Any = self._open()

    @abstractmethod
    def _open(self) -> Any:
        """Return the game's own environment, which has a `close` method (EnvError, which says what is missing)."""

    @abstractmethod
    def _begin(self, seed: int) -> Answer:
        """Start an episode in a world with this seed."""

    @abstractmethod
    def _advance(self, pressed: minerl_actions.Pressed) -> Answer:
        """Play a twentieth of a second; `_num_steps` already counts this step."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode; a seed decides the land, but neither the animals nor the exact course of events."""
        super().reset(seed=seed)
        number = int(self.np_random.integers(2**31)) if seed is None else int(seed)
        self._num_steps, self._over = 0, True
        if self._game is None:
            self._game = self._open()
        answer = self._ask(self._begin, number)
        self._over = False
        return self._observation(), answer.info

    def step(self, action: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, float], bool, bool, dict[str, Any]]:
        """Play a twentieth of a second. Raises EnvError after the end, if the game fails, or for an invalid action, which is
        not sent to the game."""
        if self._over:
            raise EnvError(f"task {self.task.id}: the episode has ended; call reset before the next step")
        require_actions(self.task, action, (self._seat,))
        pressed = minerl_actions.read(action[self._seat])
        self._num_steps += 1
        answer = self._ask(self._advance, pressed)
        truncated = answer.truncated or self._num_steps >= self.task.max_steps
        self._over = answer.terminated or truncated
        rewards = {self._seat: float(answer.reward)}
        return self._observation(), rewards, answer.terminated, truncated, answer.info

    def _ask(self, call: Callable[[Any], Answer], argument: Any) -> Answer:
        """Return the game's answer with a checked picture; if the game fails, close it and end the episode."""
        try:
            answer = call(argument)
            if "error" in answer.info:
                raise EnvError(str(answer.info["error"]))
            picture = np.array(answer.picture, order="C")  # a copy: both games may hand out a buffer of theirs
            if picture.dtype != np.uint8 or picture.shape != (HEIGHT, WIDTH, 3):
                found = f"{picture.dtype}, shape {picture.shape}"
                raise EnvError(f"a picture is uint8, shape {(HEIGHT, WIDTH, 3)}, but this one is {found}")
        except Exception as error:
            when = f"in step {self._num_steps}" if self._num_steps else "when it was to start an episode"
            self.close()
            what = str(error) if isinstance(error, EnvError) else f"{type(error).__name__}: {error}"
            raise EnvError(
                f"task {self.task.id}: Minecraft failed {when}: {what}\n"
                "This ended the episode. The next reset starts the game again. See what the game printed."
            ) from error
        self._picture = picture
        return answer

    def _observation(self) -> dict[str, Any]:
        return {self._seat: {"pov": self.view().pixels}}

    def view(self) -> Frame:
        """Return the player's picture, uint8, shape (360, 640, 3) (EnvError before the first reset)."""
        if self._picture is None:
            raise EnvError(f"task {self.task.id} has no picture yet; call reset first")
        return Frame(self._picture)

    def render(self) -> np.ndarray:  # type: ignore[override]
        return self.view().pixels

    def versions(self) -> dict[str, str]:
        found = super().versions()
        for package in self._packages:
            try:
                found[package] = importlib.metadata.version(package)
            except importlib.metadata.PackageNotFoundError:
                found[package] = "unknown"
        return found

    def close(self) -> None:
        game, self._game = self._game, None
        self._over = True
        if game is not None:
            # A game that has crashed cannot close its sockets either; the error that matters came before.
            with contextlib.suppress(Exception):
                game.close()


def need(task: Task, *modules: str, install: str) -> list[Any]:
    """Import the modules of a game (EnvError, which says how to install the game and what to use instead)."""
    try:
        return [importlib.import_module(module) for module in modules]
    except Exception as error:  # their old dependencies fail in many ways beside ImportError
        kind = NotInstalledError if isinstance(error, ModuleNotFoundError) else EnvError
        raise kind(
            f"task {task.id}: {task.env.id!r} cannot be opened: {type(error).__name__}: {error}\n{install}\n"
            'The embedded block world needs none of this: use env.id = "voxel:..." (docs/tasks.md, "The real Minecraft").'
        ) from error
