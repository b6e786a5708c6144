"""An environment check: record a world for some steps, seal, read, verify, and say why it cannot be recorded or replayed.

It runs the recorder, the sealer and the catalogue that a study would run, in a folder that the caller throws away.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import gymnasium

from interplay.envs import make
from interplay.envs.base import PlayableEnv
from interplay.errors import InterplayError
from interplay.record.archive import Archive
from interplay.record.format.schema import frame_hash, seat_spaces
from interplay.record.stepper import RecordedEpisode
from interplay.record.verification.verify import verify
from interplay.tasks import Task

Verdict = Literal["good", "not replayed", "not recorded", "not made"]

MAX_EPISODES = 30
"""Worlds may end after a step or two; so many of their episodes are enough."""


@dataclass(frozen=True)
class EnvironmentCheck:
    """Result of a check.

    Attributes:
        verdict: `good`; or the part that fails: `not replayed`, `not recorded`, or `not made` (a package is missing, the id is
            one of other packages' templates).
        reason: Why, and what to do; empty where all is good.
        num_steps, num_episodes: Recorded ones.
        num_nonfinite: Rewards that were NaN or infinite.
        left_out: Names in its infos that are not recorded.
        num_outside: Observations, as recorded, that are not in its observation space.
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


def check_environment(archive: Archive, task: Task, *, num_steps: int = 100, seed: int = 0) -> EnvironmentCheck:
    """Record random actions until `num_steps` are made, over as many episodes as that takes, and prove each of them.

    Args:
        archive: Of a folder for this alone; the episodes stay in it.
        num_steps: In all; `MAX_EPISODES` episodes end it, too.
        seed: Of the first episode and of the actions.
    """
    found = _Found()
    verdict: Verdict = "good"
    reason = ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Gymnasium, about worlds that others made
        try:
            _check(archive, task, num_steps, seed, found)
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


def _check(archive: Archive, task: Task, num_steps: int, seed: int, found: _Found) -> None:
    try:
        env = make(task)
    except Exception as error:
        raise _Problem("not made", _said(error).removeprefix(f"task {task.id}: ")) from error
    try:
        env.action_space.seed(seed)
        while found.num_steps < num_steps and found.num_episodes < MAX_EPISODES:
            _one_episode(archive, env, num_steps - found.num_steps, seed + found.num_episodes, found)
    finally:
        env.close()


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
"""Step whose frame is asked for alone, as a page does that jumps; `verify` looks at every one in order."""

_NOT_DETERMINISTIC = (
    "Seed and actions do not decide everything in this world. Record it with env.options.deterministic = false: "
    "its frames are then kept as video."
)


def _look_at(env: PlayableEnv, info: Any, found: _Found) -> None:
    if type(env).info_to_record is PlayableEnv.info_to_record and isinstance(info, Mapping):
        named = {str(name) for name, value in info.items() if value is not None}
        found.left_out |= named - env.info_to_record(dict(info)).keys()


def _said(error: Exception) -> str:
    """An error in words: its own where they are meant for readers, else with its kind."""
    if isinstance(error, InterplayError | gymnasium.error.Error):
        return str(error)
    return f"{type(error).__name__}: {str(error) or 'no words'}"
