"""Record an environment in your own loop: a Gymnasium wrapper that seals every episode and enters it into the catalogue."""

from __future__ import annotations

import copy
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec

from interplay.envs.base import PlayableEnv, SingleAgentEnv
from interplay.record.archive import Archive, open
from interplay.record.errors import RecordingError
from interplay.record.format.spaces import arrow_type, held
from interplay.record.gymnasium_task import is_of, task_of_spec, why_not_replayed
from interplay.record.recorder import BATCH_US, Recorder
from interplay.record.sealed.episode import Episode
from interplay.record.stepper import RecordedEpisode
from interplay.tasks import Task


class Recording(gymnasium.Wrapper):
    """Records every episode of a Gymnasium environment while you reset and step it as usual.

    An episode begins with the first step after `reset`, is a journal while it runs, and is sealed when it terminates or is
    truncated. If `reset` or `close` comes earlier, the episode is kept as truncated, with outcome `quit`. `interplay episodes
    repair` seals the journal of a killed process. `reset` without a seed draws a seed, so that each episode can be replayed.

    Actions, rewards, ends, infos and observations are kept. If an environment can be made again from its registered id, its
    pictures are drawn again when they are needed: make it without a render mode, and nothing is drawn while it is recorded.
    The pictures of all other environments (wrapped, not registered, nondeterministic) are kept as video if the environment has
    `render_mode="rgb_array"`; otherwise there are only observations and a grey picture. `interplay episodes verify` then
    proves the file and says that the episode was not replayed.

    Args:
        env: An environment for one agent, with actions and observations of the kinds that `docs/episode-format.md` lists.
        data: The data folder, or its archive. An archive stays open when the recording is closed.
        actor_kind: `agent`, `human` or `model`.
        task: A task of this environment, or the name of a new task, `suite/name`; by default `gymnasium/<id>`. An
            environment made by `interplay.envs.make` has its own task.
        deterministic: Whether seed and actions alone decide the course of an episode. The default is what the environment's
            registration says. `interplay episodes verify` proves it.
        rng: Draws the seeds that are not given. A given seed also seeds this generator, as in Gymnasium.
        clock: Returns seconds; it decides when the journal is written.

    Attributes:
        episode: The episode that was sealed last; None before the first.

    Raises:
        RecordingError: If the environment cannot be recorded, or another recording already records it.
    """

    _recorded: ClassVar[weakref.WeakSet[gymnasium.Env]] = weakref.WeakSet()
    """Environments that have an open recording. A second recording is refused, because the steps of both would be mixed."""

    def __init__(
        self,
        env: gymnasium.Env,
        data: str | Path | Archive = "interplay-data",
        *,
        actor: str,
        actor_kind: str = "agent",
        task: Task | str | None = None,
        deterministic: bool | None = None,
        rng: np.random.Generator | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(env)
        if env.unwrapped in self._recorded:
            raise RecordingError(
                f"{_named(env)} is recorded already, and the steps of two recordings would be mixed\n"
                "Close the other Recording first, or make another environment."
            )
        self._world, self._max_steps = _world(env, task, deterministic)
        self.task = self._world.task
        (self._seat,) = self.task.seats
        self._space: gymnasium.Space = self._world.action_space[self._seat]
        self.observation_space = self._world.observation_space[self._seat]
        for space in (self._space, self.observation_space):
            arrow_type(space)  # a kind of space that cannot be recorded is refused here, not after the first steps
        self.action_space = copy.deepcopy(self._space)  # that of the environment is seeded with each episode, as a replay does
        self.episode: Episode | None = None
        self._actor, self._actor_kind = actor, actor_kind
        self._is_own_archive = not isinstance(data, Archive)
        self._archive = data if isinstance(data, Archive) else open(data)
        self._rng = np.random.default_rng() if rng is None else rng
        self._clock = clock
        self._written_s = 0.0
        self._played: RecordedEpisode | None = None
        self._first: tuple[int, dict[str, Any], dict[str, Any]] = (0, {}, {})
        self._is_closed = False
        self._recorded.add(env.unwrapped)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode. An episode that has not ended is kept as truncated.

        Args:
            seed: Seed of the episode; drawn by default.
            options: Allowed only for environments that are not replayed, because a recording does not keep options.
        Raises:
            RecordingError: If the recording is closed, or there are options that a replay would lack.
        """
        self._check_open()
        if options and self._world.deterministic:
            raise RecordingError(
                f"{self.task.env.id} is played again from seed and actions alone, so reset takes no options; got {options}\n"
                "Give them to gymnasium.make, or keep pictures:  Recording(env, ..., deterministic=False)"
            )
        self._finish("quit")
        if seed is None:
            seed = int(self._rng.integers(2**31))
        else:
            self._rng = np.random.default_rng(seed)
        self._played = RecordedEpisode(self._world, max_steps=self._max_steps)
        observations, info = self._played.start(int(seed), options)
        observation = observations[self._seat]
        kept = None if self._world.observes_view else held(self.observation_space, observation)
        self._first = int(seed), {self._seat: kept}, dict(info)
        return observation, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take a step and record it. The environment gets the recorded action: a copy in the dtype of its action space.

        Raises:
            RecordingError: If no episode runs, the action is not in the action space, or the step cannot be written.
        """
        self._check_open()
        played = self._played
        if played is None or played.outcome is not None:
            ended = (
                "" if played is None or self.episode is None else f" the last one, {self.episode.id}, has ended and is sealed;"
            )
            raise RecordingError(f"no episode is running:{ended} call env.reset() before env.step(action)")
        action = self._action(action)
        recorder = played.recorder or self._begin(played)
        try:
            observations, rewards, terminated, truncated, info = played.step({self._seat: action})
        except RecordingError:  # the world has taken the step: what comes after would not follow from what is recorded
            self._finish("interrupted")
            self._played = None
            raise
        now_s = self._clock()
        if now_s - self._written_s >= BATCH_US / 1e6:  # the recorder's clock is the game's: an agent may think for minutes
            recorder.flush()
            self._written_s = now_s
        if played.outcome is not None:
            self._finish(played.outcome)
        return observations[self._seat], rewards[self._seat], terminated, truncated, info  # type: ignore[index]

    def close(self) -> None:
        """Keep a running episode as truncated, and close the environment. A second call has no effect."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            self._finish("quit")
        finally:
            self._recorded.discard(self.env.unwrapped)
            if self._is_own_archive:
                self._archive.close()
            super().close()

    def _begin(self, played: RecordedEpisode) -> Recorder:
        """Open the journal. This happens at the first step, because an episode has at least one step."""
        seed, observations, info = self._first
        recorder = self._archive.recorder(self.task, self._world, seed=seed, actor=self._actor, actor_kind=self._actor_kind)
        recorder.start(observations, info)
        played.recorder = recorder
        self._written_s = self._clock()
        return recorder

    def _finish(self, outcome: str) -> None:
        if self._played is None or self._played.recorder is None:
            return
        recorder, self._played.recorder = self._played.recorder, None
        self.episode = self._archive.seal(recorder.finish(outcome))

    def _action(self, action: Any) -> Any:
        kept = held(self._space, action)
        if not self._space.contains(kept):
            raise RecordingError(f"the action {action!r} is not in {self._space}; nothing was done or recorded")
        return kept

    def _check_open(self) -> None:
        if self._is_closed:
            raise RecordingError("this recording is closed; wrap the environment again:  env = Recording(env, ...)")


def _world(env: gymnasium.Env, task: Task | str | None, deterministic: bool | None) -> tuple[PlayableEnv, int | None]:
    """Return the world to step and record, and its step limit if that is below the limit of its task.

    Raises:
        RecordingError: If the environment cannot be recorded.
    """
    spec, inner = env.spec, env.unwrapped
    is_itself = env is inner or (spec is not None and not spec.additional_wrappers)
    if isinstance(inner, SingleAgentEnv):
        inner = inner.env
    if isinstance(inner, PlayableEnv) and is_itself:
        if len(inner.task.seats) > 1:
            raise RecordingError(
                f"{inner.task.id} has the seats {', '.join(inner.task.seats)}, and a Recording is for one agent\n"
                "Record it with RecordedEpisode, as docs/episode-format.md shows."
            )
        if task is not None and task not in (inner.task, inner.task.id):
            raise RecordingError(f"the environment plays {inner.task.id}; leave out task=")
        return inner, None if spec is None else spec.max_episode_steps
    if env.render_mode not in (None, "rgb_array"):
        raise RecordingError(
            f"{_named(env)} was made with render_mode={env.render_mode!r}, but a recording needs 'rgb_array' or none\n"
            f"Make it with:  gymnasium.make({_named(env)!r}, render_mode='rgb_array')"
        )
    reason = why_not_replayed(spec)
    if isinstance(task, Task):
        if spec is None or not is_of(task, spec):
            raise RecordingError(
                f"task {task.id} is played in {task.env.id}, and the environment is {_named(env)}, or has other arguments\n"
                "Give the task of this environment, or a name for a new one, SUITE/NAME."
            )
        deterministic = bool(task.env.options.get("deterministic", True))
    replayed = not reason if deterministic is None else deterministic
    if replayed and reason:
        raise RecordingError(
            f"{_named(env)} cannot be played again from a recording: {reason}\nSay that it is not deterministic:  "
            "Recording(env, ..., deterministic=False); in a task, env.options.deterministic = false"
        )
    if not isinstance(task, Task):
        named = spec or EnvSpec(type(inner).__name__)
        task = task_of_spec(named, deterministic=replayed, task_id=task, frame_rate_hz=env.metadata.get("render_fps"))
    from interplay.envs.gym import GymEnv  # lets pygame do without a screen

    return GymEnv(task, env), None if spec is None else spec.max_episode_steps


def _named(env: gymnasium.Env) -> str:
    return type(env.unwrapped).__name__ if env.spec is None else env.spec.id
