"""Run one loop over an episode: the world takes a step, the step limit is applied, the step is recorded.

People's games, rollouts, checks of agents and environments, and replays all step a world through `RecordedEpisode`. So only
this module has the rules of a step: which seat gives which action, when an episode is cut off, what time it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from interplay.envs.base import PlayableEnv
from interplay.envs.info import SeatEnd, seat_end
from interplay.record.errors import RecordingError
from interplay.record.format.schema import InputTiming, PaintedPicture
from interplay.record.recorder import Recorder
from interplay.statistics import Collection

MAX_SEED = 2**63 - 1
"""Largest integer that SQLite can store."""


class Step(NamedTuple):
    """Result of one step.

    Attributes:
        observations: Seat -> observation; None if nobody saw the step.
        rewards: Seat -> reward by the task's rule (`Task.reward`).
        truncated: Whether the world or the step limit cut the episode off.
        info: Info that the environment returned.
    """

    observations: Mapping[str, Any] | None
    rewards: Mapping[str, float]
    terminated: bool
    truncated: bool
    info: dict[str, Any]

    def end_of(self, seat: str) -> SeatEnd:
        """Return how the game of one seat has ended; in some worlds the other seats may continue."""
        return seat_end(seat, self.info, seats=self.rewards, terminated=self.terminated, truncated=self.truncated)


class RecordedEpisode:
    """An episode while it is played: its world, and the recorder that stores it.

    Args:
        env: The world. Reset it with `start`, or give a world that is in the middle of an episode.
        recorder: Stores every step; None to store nothing. A recorder that was started elsewhere may be set later, before
            the first step.
        max_steps: A step limit below that of the task.
        num_steps: Number of steps made before, if an episode continues.
        collection: Statistics that get the steps; if there is a recorder, its statistics are used.

    Attributes:
        max_steps: The step limit: the step that reaches it is truncated, unless it is terminated.
        outcome: `terminated` or `time_limit` after the episode has ended by itself; None before.
    """

    def __init__(
        self,
        env: PlayableEnv,
        recorder: Recorder | None = None,
        *,
        max_steps: int | None = None,
        num_steps: int = 0,
        collection: Collection | None = None,
    ) -> None:
        if max_steps is not None and max_steps < 1:
            raise ValueError(f"max_steps must be at least 1, got {max_steps}")
        task = env.task
        self.env = env
        self.recorder = recorder
        self._collection = collection
        self.seats = task.seats
        self.num_steps = num_steps
        self.max_steps = task.max_steps if max_steps is None else min(max_steps, task.max_steps)
        self.outcome: Literal["terminated", "time_limit"] | None = None
        self._seats = set(task.seats)
        self._is_shared = task.reward == "shared"
        self._frame_rate_hz = task.frame_rate_hz

    def start(self, seed: int, options: dict[str, Any] | None = None) -> tuple[Mapping[str, Any], dict[str, Any]]:
        """Reset the world and record its first observation; return the result of `env.reset`.
        Raises RecordingError if the recording cannot begin, or the seed is above 2**63 - 1."""
        if seed > MAX_SEED:
            raise RecordingError(f"a seed is a whole number from 0 to 2**63 - 1, got {seed}\nTake its remainder:  seed % 2**63")
        observations, info = self.env.reset(seed=seed, options=options)
        if self.recorder is not None:
            self.recorder.start(observations, info)
        elif self._collection is not None:
            self._collection.begin(info, self.env.readings())
        return observations, info

    def step(
        self,
        joint_action: Mapping[str, Any],
        *,
        owners: Mapping[str, str] | None = None,
        labels: Mapping[str, Any] | None = None,
        timing: Mapping[str, InputTiming | None] | None = None,
        painted: Mapping[str, PaintedPicture | None] | None = None,
        options: Mapping[str, str] | None = None,
        clock_us: int | None = None,
        is_seen: bool = True,
    ) -> Step:
        """Take one step with an action of every seat, and record it.

        An error of the world leaves `num_steps` unchanged. An error of the recorder comes after `num_steps` has increased.

        Args:
            joint_action: Seat -> action.
            owners: Seat -> name of its owner; a seat that is missing belongs to its first owner.
            labels, timing, painted, options: As `Recorder.step`.
            clock_us: Time on the caller's clock in microseconds; by default the time of a game at its own frame rate.
            is_seen: Whether anybody looks at the picture. If not, the step has no observation and its recording no hash of the
                picture. False requires a world that observes its view, with frame storage `replay`.
        Raises:
            RecordingError: If a seat has no action, a seat is unknown, or the step cannot be written.
        """
        if joint_action.keys() != self._seats:
            raise RecordingError(
                f"a step of {self.env.task.id} needs one action for each seat ({', '.join(self.seats)}); "
                f"got actions for {', '.join(joint_action) or 'none'}"
            )
        observations: Mapping[str, Any] | None = None
        if is_seen:
            observations, gained, terminated, truncated, info = self.env.step(joint_action)
        else:
            gained, terminated, truncated, info = self.env.step_unseen(joint_action)
        self.num_steps = num_steps = self.num_steps + 1
        if num_steps >= self.max_steps and not terminated:
            truncated = True
        rewards = earned = {seat: float(gained[seat]) for seat in self.seats}  # type: ignore[index]
        if self._is_shared:
            rewards = dict.fromkeys(rewards, sum(rewards.values()))
        collection = self._collection if self.recorder is None else self.recorder.collection
        if collection is not None:
            collection.see(joint_action, rewards, earned, info, owners)
        if self.recorder is not None:
            if clock_us is None:
                clock_us = round(num_steps / self._frame_rate_hz * 1e6)
            self.recorder.step(
                joint_action,
                (observations, rewards, terminated, truncated, info),
                owners=owners,
                labels=labels,
                timing=timing,
                painted=painted,
                options=options,
                clock_us=clock_us,
                is_seen=is_seen,
            )
        if terminated or truncated:
            self.outcome = "terminated" if terminated else "time_limit"
        return Step(observations, rewards, terminated, truncated, info)
