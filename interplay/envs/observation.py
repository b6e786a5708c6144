"""Observations of agents: pipelines over native frames; the same code runs live and over recordings.

A pipeline gets every native frame and says when it is time to act. `reset(frame)` returns the first picture. `push(frame,
ended)` returns the next picture if the agent decides at this frame; else it returns None, and the last action is repeated. In a
running world an `Observer` adds the other parts that the pipeline names.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, Protocol

import gymnasium
import numpy as np

from interplay.envs.base import EnvError, Frame, PlayableEnv
from interplay.envs.pictures import LUMA, PALETTE
from interplay.errors import unknown_name

MAX_TEXT = 16_384
"""Largest number of characters in a text of an observation."""


Looks = Literal["view", "state"]
"""Source of a pipeline's frames: what a person sees, or the numbers that the world itself gives (`PlayableEnv.state_of`)."""


class AnyText(gymnasium.spaces.Text):
    """The space of all texts, in any script, up to a maximum length."""

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and self.min_length <= len(x) <= self.max_length


class Pipeline(Protocol):
    """Turns native frames into an agent's observations."""

    name: str
    frame_skip: int
    """Number of native frames for each decision."""
    stack: int
    """Number of pictures along the first axis of an observation; 0 if an observation is one picture without that axis."""
    looks_at: Looks

    @property
    def parts(self) -> tuple[str, ...]:
        """Parts of an observation: `picture` or `state`, which this pipeline makes, then `info` and `text`."""
        ...

    def space(self) -> gymnasium.Space: ...

    def reset(self, frame: Frame) -> np.ndarray:
        """Begin an episode with its first frame; return the observation for the first decision."""
        ...

    def push(self, frame: Frame, *, ended: bool) -> np.ndarray | None:
        """Take the next native frame; return an observation when it is time to decide or the episode has ended, else None.
        `ended` means terminated or truncated."""
        ...


class DQN:
    """DQN's input: maximum of two frames, every fourth frame, grey 84x84, last four stacked (Mnih et al. 2015, Methods).

    Equals `gymnasium.wrappers.AtariPreprocessing(noop_max=0)` wrapped in `FrameStackObservation(4)`, with two peculiarities.
    The first stack repeats the first picture. An episode that ends within the four frames of a decision shows the picture of
    earlier frames (the last maximum with the present content of the second buffer), not the last frame.

    Observations: uint8, shape (4, 84, 84), oldest first.
    """

    name = "dqn"
    parts = ("picture",)
    frame_skip = 4
    stack = 4
    looks_at: Looks = "view"
    size = 84

    def __init__(self) -> None:
        self._newest = np.zeros((0, 0), np.uint8)
        self._second = self._newest
        self._offset = 0
        self._pictures: deque[np.ndarray] = deque(maxlen=self.stack)

    def space(self) -> gymnasium.Space:
        """Return the space of observations: uint8, shape (4, 84, 84)."""
        return gymnasium.spaces.Box(0, 255, (self.stack, self.size, self.size), np.uint8)

    def reset(self, frame: Frame) -> np.ndarray:
        self._newest = grey(frame)
        self._second = np.zeros_like(self._newest)
        self._offset = 0
        self._pictures.extend([self._picture()] * self.stack)
        return np.stack(self._pictures)

    def push(self, frame: Frame, *, ended: bool) -> np.ndarray | None:
        self._offset += 1
        if not ended:
            if self._offset == self.frame_skip - 1:
                self._second = grey(frame)
            elif self._offset == self.frame_skip:
                self._newest = grey(frame)
            if self._offset < self.frame_skip:
                return None
        self._offset = 0
        self._pictures.append(self._picture())
        return np.stack(self._pictures)

    def _picture(self) -> np.ndarray:
        """Return one 84x84 picture; the maximum stays in the first buffer, as in Gymnasium."""
        import cv2  # 0.1 s and 50 MB: only where agents look at pictures

        np.maximum(self._newest, self._second, out=self._newest)
        return cv2.resize(self._newest, (self.size, self.size), interpolation=cv2.INTER_AREA)


class EveryFrame:
    """A pipeline with a decision at every native frame. `take(frame)` returns the part `parts[0]` of the observation: an array
    of `dtype` with values from `low` to `high`."""

    frame_skip = 1
    stack = 0

    def __init__(
        self,
        name: str,
        parts: tuple[str, ...],
        take: Callable[[Frame], np.ndarray],
        *,
        looks_at: Looks = "view",
        low: float = 0,
        high: float = 255,
        dtype: type[Any] = np.uint8,
    ) -> None:
        self.name, self.parts, self.looks_at = name, parts, looks_at
        self._take, self._bounds, self._dtype = take, (low, high), dtype
        self._shape: tuple[int, ...] = (0,)

    def space(self) -> gymnasium.Space:
        return gymnasium.spaces.Box(*self._bounds, self._shape, self._dtype)

    def reset(self, frame: Frame) -> np.ndarray:
        taken = self._take(frame)
        self._shape = taken.shape
        return taken

    def push(self, frame: Frame, *, ended: bool) -> np.ndarray:
        return self._take(frame)


class Small:
    """Every fourth native frame, small and in RGB, for networks that see in colour and in first person.

    Observations: uint8, shape (36, 64, 3), scaled by the mean of the pixels (OpenCV's INTER_AREA); pictures with another aspect
    ratio are stretched.
    """

    name = "small"
    parts = ("picture",)
    frame_skip = 4
    stack = 0
    looks_at: Looks = "view"
    size = (64, 36)

    def __init__(self) -> None:
        self._offset = 0

    def space(self) -> gymnasium.Space:
        """Return the space of observations: uint8, shape (36, 64, 3)."""
        return gymnasium.spaces.Box(0, 255, (self.size[1], self.size[0], 3), np.uint8)

    def reset(self, frame: Frame) -> np.ndarray:
        self._offset = 0
        return self._picture(frame)

    def push(self, frame: Frame, *, ended: bool) -> np.ndarray | None:
        self._offset = 0 if ended else (self._offset + 1) % self.frame_skip
        return None if self._offset else self._picture(frame)

    def _picture(self, frame: Frame) -> np.ndarray:
        import cv2  # 0.1 s and 50 MB: only where agents look at pictures

        return cv2.resize(frame.rgb(), self.size, interpolation=cv2.INTER_AREA)


class Observer:
    """Makes the observations of an agent in one seat of a running world: a mapping with the parts that its pipeline names.

    `picture` or `state` comes from the pipeline. `info` holds the numbers of `PlayableEnv.shown_info`, which a player reads on
    the screen. `text` is the task's instructions, and the `text` of the world's infos.
    """

    def __init__(self, name: str, world: PlayableEnv, seat: str) -> None:
        self.pipeline = pipeline(name)
        self._world = world
        self._seat = seat

    def space(self) -> gymnasium.spaces.Dict:
        """Return the parts with their shapes and dtypes, which are known after `reset`."""
        spaces: dict[str, gymnasium.Space] = {
            self.pipeline.parts[0]: self.pipeline.space(),
            "info": gymnasium.spaces.Dict(dict(self._world.shown_info)),
            "text": AnyText(MAX_TEXT, min_length=0),
        }
        return gymnasium.spaces.Dict({part: spaces[part] for part in self.pipeline.parts})

    def reset(self, info: Mapping[str, Any]) -> dict[str, Any]:
        return self._with_parts(self.pipeline.reset(self._look()), info)

    def push(self, info: Mapping[str, Any], *, ended: bool) -> dict[str, Any] | None:
        seen = self.pipeline.push(self._look(), ended=ended)
        return None if seen is None else self._with_parts(seen, info)

    def _look(self) -> Frame:
        if self.pipeline.looks_at == "state":
            return Frame(self._world.state_of(self._seat))
        return self._world.view_of(self._seat)

    def _with_parts(self, seen: np.ndarray, info: Mapping[str, Any]) -> dict[str, Any]:
        observation: dict[str, Any] = {self.pipeline.parts[0]: seen}
        if "info" in self.pipeline.parts:
            shown = self._world.shown_info.items()
            own = f"{self._seat}."  # of a world of several seats
            observation["info"] = {
                name: np.asarray(info[name if name in info else own + name], space.dtype) for name, space in shown
            }
        if "text" in self.pipeline.parts:
            said = info.get("text")
            texts = [self._world.task.instructions, *([said] if isinstance(said, str) else [])]
            observation["text"] = "\n\n".join(texts)[:MAX_TEXT]
        return observation


_PIPELINES: dict[str, Callable[[], Pipeline]] = {
    "dqn": DQN,
    "native": lambda: EveryFrame("native", ("picture",), Frame.rgb),
    # As episodes keep them, as palette indices where there are any: to scripted players, an Atari sprite is one index.
    "pixels": lambda: EveryFrame("pixels", ("picture",), lambda frame: frame.pixels.copy()),
    "small": Small,
    "scene": lambda: EveryFrame("scene", ("picture", "info", "text"), Frame.rgb),
    # Of worlds that give numbers, such as Gymnasium's classic control: float32, shape (n,).
    "state": lambda: EveryFrame(
        "state", ("state",), lambda frame: frame.pixels, looks_at="state", low=-np.inf, high=np.inf, dtype=np.float32
    ),
}


def pipeline_names() -> list[str]:
    return sorted(_PIPELINES)


def pipeline(name: str) -> Pipeline:
    """Return a new pipeline by name (NotFoundError, which names the most similar name)."""
    if name not in _PIPELINES:
        raise unknown_name("observation pipeline", name, _PIPELINES)
    return _PIPELINES[name]()


def observe(view: Pipeline, frames: Iterable[Frame], *, ended: bool = True) -> Iterator[tuple[int, np.ndarray]]:
    """Run a pipeline over the frames of a recorded episode.

    Args:
        view: The pipeline, which is reset first.
        frames: T + 1 frames; frame t is what the player saw before action t.
        ended: Whether the last frame ended the episode (terminated or truncated).
    Yields:
        `(t, observation)` for each decision: the observation before action t; with `ended`, the last pair is `(T, observation
        after the last action)`.
    """
    iterator = iter(frames)
    current = next(iterator, None)
    if current is None:
        return
    yield 0, view.reset(current)
    step = 0
    upcoming = next(iterator, None)
    while upcoming is not None:
        current, upcoming = upcoming, next(iterator, None)
        step += 1
        observation = view.push(current, ended=ended and upcoming is None)
        if observation is not None:
            yield step, observation


def grey(frame: Frame) -> np.ndarray:
    """Return the luma of a frame, uint8, shape (H, W), always as a new array.
    Raises EnvError if the frame has a palette of another shape than (256, 3)."""
    if frame.palette is PALETTE:
        import cv2  # as above; an eighth of the time of LUMA[frame.pixels]

        return cv2.LUT(frame.pixels, LUMA)
    if frame.palette is not None and frame.palette.shape != (256, 3):
        raise EnvError(f"a palette must have shape (256, 3), got {frame.palette.shape}")
    weights = np.array((0.299, 0.587, 0.114))
    if frame.palette is not None:
        return np.rint(frame.palette @ weights).astype(np.uint8)[frame.pixels]
    return np.rint(frame.pixels @ weights).astype(np.uint8)
