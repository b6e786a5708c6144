"""Check an environment: record some steps, seal, read and verify them, and say why it cannot be recorded or replayed.

The check uses the same recorder, sealer and catalogue as a study, in a folder that the caller deletes afterwards.

`try_out` checks whether a task's keys and statistics fit its environment.
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Literal

import gymnasium
import numpy as np

from interplay import statistics
from interplay.envs import make
from interplay.envs.base import PlayableEnv
from interplay.errors import InterplayError
from interplay.record.archive import Archive
from interplay.record.format.schema import frame_hash, seat_spaces
from interplay.record.stepper import RecordedEpisode
from interplay.record.verification.verify import verify
from interplay.tasks import Task, TaskError
from interplay.tasks.keys import MAX_TURN

Verdict = Literal["good", "not replayed", "not recorded", "not made"]

MAX_EPISODES = 30
"""Largest number of episodes of a check, because worlds may end after a step or two."""


@dataclass(frozen=True)
class EnvironmentCheck:
    """Result of an environment check.

    Attributes:
        verdict: `good`; or the part that fails: `not replayed`, `not recorded`, or `not made` (a package is missing, or the id
            is only a template of another package).
        reason: Why the check failed and what to do; empty if the verdict is `good`.
        num_steps, num_episodes: Number of recorded steps and episodes.
        num_nonfinite: Number of rewards that were NaN or infinite.
        left_out: Names in the infos that are not recorded.
        num_outside: Number of recorded observations that are not in the observation space.
    """

    env: str
    verdict: Verdict
    reason: str
    num_steps: int
    num_episodes: int
    num_nonfinite: int
    left_out: tuple[str, ...]
    num_outside: int = 0


class _Problem(Exception):
    def __init__(self, verdict: Verdict, reason: str) -> None:
        super().__init__(reason)
        self.verdict: Verdict = verdict
        self.reason = reason


class _Found:
    def __init__(self) -> None:
        self.num_steps = self.num_episodes = self.num_nonfinite = self.num_outside = 0
        self.left_out: set[str] = set()


def check_environment(archive: Archive, task: Task, *, num_steps: int) -> EnvironmentCheck:
    """Record random actions until `num_steps` are made, over as many episodes as needed, and prove each episode.

    Args:
        archive: Archive of a folder that is used only for this check; the episodes stay in it.
        num_steps: Number of steps in all; the check also ends after `MAX_EPISODES` episodes.
    """
    found = _Found()
    verdict: Verdict = "good"
    reason = ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Gymnasium, about worlds that others made
        try:
            try:
                env = make(task)
            except Exception as error:
                raise _Problem("not made", _said(error).removeprefix(f"task {task.id}: ")) from error
            with closing(env):
                env.action_space.seed(0)
                while found.num_steps < num_steps and found.num_episodes < MAX_EPISODES:
                    _one_episode(archive, env, num_steps - found.num_steps, found.num_episodes, found)
        except _Problem as problem:
            verdict, reason = problem.verdict, problem.reason
    return EnvironmentCheck(
        task.env.id,
        verdict,
        reason,
        found.num_steps,
        found.num_episodes,
        found.num_nonfinite,
        tuple(sorted(found.left_out)),
        found.num_outside,
    )


def _one_episode(archive: Archive, env: PlayableEnv, num_steps: int, seed: int, found: _Found) -> None:
    doing = "the recorder cannot start"
    try:
        recorder = archive.recorder(env.task, env, seed=seed, actor="rehearsal", actor_kind="agent")
        played = RecordedEpisode(env)
        doing = "reset fails"
        observation, info = played.start(seed)
        doing = "the first observation cannot be recorded"
        recorder.start(observation, info)
        played.recorder = recorder
        _look_at(env, info, found)
        views = [frame_hash(env.view().pixels)]
        while played.num_steps < num_steps and played.outcome is None:
            actions = _random_actions(env)
            step = played.num_steps
            doing = f"step {step} fails with the action {actions if len(actions) > 1 else actions[played.seats[0]]}"
            try:
                result = played.step(actions)
            except Exception:
                if played.num_steps > step:  # the world has taken it
                    doing = f"step {step} cannot be recorded"
                raise
            _look_at(env, result.info, found)
            views.append(frame_hash(env.view().pixels))
        step = played.num_steps
        doing = "the last steps cannot be recorded"
        path = recorder.finish(played.outcome or "quit")
        doing = "the recording cannot be sealed"
        episode = archive.get(archive.seal(path).id)
        doing = "the recording cannot be read"
        looked_at = min(step, _LOOKED_AT)
        if episode.frame_policy != "video" and frame_hash(episode.frames[looked_at].pixels) != views[looked_at]:
            raise _Problem("not replayed", "the frame that is read is not the one that was recorded\n" + _NOT_DETERMINISTIC)
        if len(episode.actions()) != step:
            raise _Problem("not recorded", f"{len(episode.actions())} of {step} actions are in the file")
        if (space := episode.header.observation_space) is not None:
            found.num_outside += sum(not space.contains(value) for value in episode.raw_observations())
    except _Problem:
        raise
    except Exception as error:
        kind: Verdict = "not made" if isinstance(error, gymnasium.error.DependencyNotInstalled) else "not recorded"
        raise _Problem(kind, f"{doing}: {_said(error)}") from error
    found.num_steps += step
    found.num_episodes += 1
    found.num_nonfinite += int(episode.statistics.get("nonfinite_rewards", 0))
    verdict = verify(episode)
    if not verdict.equal:
        raise _Problem("not replayed", f"from step {verdict.step} on: {verdict.reason}\n" + _NOT_DETERMINISTIC)


def _random_actions(env: PlayableEnv) -> dict[str, Any]:
    actions = {seat: space.sample() for seat, space in seat_spaces(env).items()}
    for action in actions.values():
        if isinstance(action, dict) and "ESC" in action:
            action["ESC"] = 0  # ends an episode of MineRL's worlds, and a world takes seconds to make
    return actions


_LOOKED_AT = 20
"""Step whose frame is read alone, as a page does when it jumps to a step; `verify` reads all frames in order."""

_NOT_DETERMINISTIC = (
    "Seed and actions do not decide everything in this world. Record it with env.options.deterministic = false: "
    "its frames are then kept as video."
)


def _look_at(env: PlayableEnv, info: Any, found: _Found) -> None:
    if type(env).info_to_record is PlayableEnv.info_to_record and isinstance(info, Mapping):
        named = {str(name) for name, value in info.items() if value is not None}
        found.left_out |= named - env.info_to_record(dict(info)).keys()


def _said(error: Exception) -> str:
    """Return an error in words: its own text if that is written for readers, else with the kind of error."""
    if isinstance(error, InterplayError | gymnasium.error.Error):
        return str(error)
    return f"{type(error).__name__}: {str(error) or 'no words'}"


def try_out(task: Task) -> None:
    """Make the environment and play one step; an error names the key or statistic that does not fit."""
    with closing(make(task)) as env:
        _, info = env.reset(seed=task.held_out_seeds[0])
        for spec in task.statistics:
            try:
                statistics.try_out(spec, task.setting, info, env.readings())
            except InterplayError as error:
                raise TaskError(f"statistics: {spec.name!r} cannot be computed: {error}\nRemedy: leave it out.") from None
        env.view()
        noops = {}
        for seat, space in seat_spaces(env).items():
            keys, noops[seat] = task.keys.of(seat), task.keys.of(seat).noop
            if keys.compose:
                _compare_entries(task, space)
            if keys.axes:
                _compare_axes(task, space)
            for combination, action in keys.actions.items():
                if not _has(space, action):
                    name = f"keys.seats.{seat}" if seat in task.keys.seats else "keys.actions"
                    whose = f" for its seat {seat}" if len(task.seats) > 1 else ""
                    own = f"; write keys.seats.{seat} where this seat has its own" if len(task.seats) > 1 else ""
                    raise TaskError(
                        f"{name}.{'+'.join(sorted(combination))!r}: {action!r} is not an action of {task.env.id}{whose}\n"
                        f"Remedy: actions lie in {space}{own}."
                    )
        env.step(noops)


def _has(space: gymnasium.Space, action: Any) -> bool:
    if _has_truth(space, action):
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of lists, which a task file has for arrays
        return space.contains(action)


def _has_truth(space: gymnasium.Space | None, action: Any) -> bool:
    """Return whether True or False is in a place for numbers, because Python accepts True as 1."""
    match space:
        case gymnasium.spaces.MultiBinary():
            return False
        case gymnasium.spaces.Dict() if isinstance(action, dict):
            parts = [(space.spaces.get(name), part) for name, part in action.items()]
        case gymnasium.spaces.Tuple() if isinstance(action, list | tuple):
            parts = list(zip(space.spaces, action, strict=False))
        case _:
            parts = [(None, part) for part in action] if isinstance(action, list | tuple) else []
    return isinstance(action, bool) or any(_has_truth(*one) for one in parts)


def _compare_axes(task: Task, space: gymnasium.Space) -> None:
    axes = task.keys.axes
    if not isinstance(space, gymnasium.spaces.Box) or space.shape != (len(axes),) or space.dtype != np.float32:
        raise TaskError(
            f"keys.axes: actions of {task.env.id} are not a Box of {len(axes)} float32 but lie in {space}\n"
            "Remedy: give each number of the action an axis; wrap the environment where its Box has another type."
        )
    for place, axis in enumerate(axes):
        for end in axis.values:
            if not space.low[place] <= end <= space.high[place]:
                raise TaskError(
                    f"keys.axes[{place}].values: {end:g} is not an action of {task.env.id}\n"
                    f"Remedy: this number lies between {space.low[place]:g} and {space.high[place]:g}."
                )


def _compare_entries(task: Task, space: gymnasium.Space) -> None:
    keys = task.keys
    if not isinstance(space, gymnasium.spaces.Dict):
        raise TaskError(
            f"keys.compose: actions of {task.env.id} are not a Dict but lie in {space}\nRemedy: write keys.actions instead."
        )
    for entry in (*keys.entries, *([keys.pointer] if keys.pointer is not None else [])):
        key = "keys.pointer" if entry == keys.pointer else "keys.buttons"
        if entry not in space.spaces:
            near = difflib.get_close_matches(entry, space.spaces, n=1)
            remedy = f"did you mean {near[0]!r}" if near else f"entries are {', '.join(space.spaces)}"
            raise TaskError(f"{key}: the action of {task.env.id} has no entry {entry!r}\nRemedy: {remedy}.")
        part = space.spaces[entry]
        if entry == keys.pointer:
            if not all(part.contains(np.array(turn, np.float32)) for turn in ((MAX_TURN, -MAX_TURN), (-MAX_TURN, MAX_TURN))):
                raise TaskError(
                    f"keys.pointer: {entry!r} of {task.env.id} does not take every (pitch, yaw) from -{MAX_TURN:g} to "
                    f"{MAX_TURN:g} degrees: {part}\n"
                    f"Remedy: wrap the environment so that it is Box(-{MAX_TURN:g}, {MAX_TURN:g}, (2,), float32)."
                )
        elif not isinstance(part, gymnasium.spaces.Discrete) or part.n != 2 or part.start != 0:
            raise TaskError(
                f"keys.buttons: {entry!r} of {task.env.id} is not 0 or 1 but {part}\n"
                "Remedy: name entries of Discrete(2) only; wrap the environment where others are needed."
            )
    missing = [name for name in space.spaces if name not in keys.entries and name != keys.pointer]
    if missing:
        raise TaskError(
            f"keys.buttons: the action of {task.env.id} has the entry {missing[0]!r}, and no button sets it\n"
            f"Remedy: add {missing[0]!r} to the buttons; it needs no key."
        )
