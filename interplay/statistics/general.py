"""Statistics that mean something in every world: score, active time, actions, lives lost, path length."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from interplay.statistics.statistic import Collector, SeenStep, Setting, Statistic, StatisticError


class Score(Collector):
    """Sum of the rewards as the task counts them; NaN and infinite rewards count 0."""

    statistic = Statistic("score", "Score", "float", "points", "higher")
    count_names = ("points",)

    def see(self, step: SeenStep) -> None:
        for seat, reward in step.rewards.items():
            if reward and math.isfinite(reward):
                self.counts[seat]["points"] += reward


class ActiveTime(Collector):
    """Seconds of play in which the player acts and, where points are expected, scores.

    A step counts if the player took an action other than the no-op (no key pressed) within the last `action_timeout_s` seconds,
    and got a reward that is not 0 within the last `reward_timeout_s` seconds. The task's frame rate converts steps to seconds.

    Source: CrowdPlay (Gerstgrasser et al. 2022, section 3.3), which states 30 s; its code has 20 s for actions and 60 s for
    rewards.

    Differences: nothing counts before the first action (in CrowdPlay's code the first 20 s count even if no key is pressed).
    The frame rate is that of the task (in CrowdPlay always 60 Hz). For a new owner of a seat all begins as at the start of an
    episode, so actions of an earlier owner do not count.

    Args:
        action_timeout_s: Seconds, positive.
        reward_timeout_s: Seconds, counted at first from the start of the episode or from the takeover. With 0 no points are
            needed.
    """

    statistic = Statistic(
        "active_time", "Active time", "duration", "s", "higher", description="The time in which you acted and scored."
    )
    count_names = ("steps",)

    def __init__(self, action_timeout_s: float = 30.0, reward_timeout_s: float = 60.0) -> None:
        _require_number("action_timeout_s", action_timeout_s, above=0)
        _require_number("reward_timeout_s", reward_timeout_s, low=0)
        self._timeouts_s = action_timeout_s, reward_timeout_s

    def begin(self, setting: Setting, info: Mapping[str, Any]) -> None:
        super().begin(setting, info)
        _require_clock(setting)
        action_s, reward_s = self._timeouts_s
        self._action_steps = round(action_s * setting.frame_rate_hz)
        self._reward_steps = round(reward_s * setting.frame_rate_hz) if reward_s else None
        self._noops = {seat: setting.plain_noop(seat) for seat in setting.seats}
        self.memory = {seat: {"owner": None} for seat in setting.seats}

    def see(self, step: SeenStep) -> None:
        now = step.step
        for seat, action in step.plain_actions.items():
            last = self.memory[seat]
            if last["owner"] != (owner := step.owners[seat]):
                last.update(owner=owner, acted=-(10**9), earned=now - 1)
            if action != self._noops[seat]:
                last["acted"] = now
            if step.rewards[seat]:
                last["earned"] = now
            if now - last["acted"] < self._action_steps and (
                self._reward_steps is None or now - last["earned"] < self._reward_steps
            ):
                self.counts[seat]["steps"] += 1

    def value(self, counts: Mapping[str, float]) -> float:
        return counts["steps"] / self.setting.frame_rate_hz


class ActionChanges(Collector):
    """Number of times the action changed. The first action counts if it is not the no-op (no key pressed)."""

    statistic = Statistic(
        "action_changes", "Action changes", "int", description="How often you did something else than before."
    )

    def begin(self, setting: Setting, info: Mapping[str, Any]) -> None:
        super().begin(setting, info)
        self.memory = {seat: setting.plain_noop(seat) for seat in setting.seats}

    def see(self, step: SeenStep) -> None:
        for seat, action in step.plain_actions.items():
            if action != self.memory[seat]:
                self.memory[seat] = action
                self.counts[seat]["count"] += 1


class ActingSteps(Collector):
    """Number of steps with an action other than the no-op (no key pressed)."""

    statistic = Statistic("acting_steps", "Steps with an action", "int", "steps", description="Steps in which you held a key.")

    def begin(self, setting: Setting, info: Mapping[str, Any]) -> None:
        super().begin(setting, info)
        _require_clock(setting)
        self._noops = {seat: setting.plain_noop(seat) for seat in setting.seats}

    def see(self, step: SeenStep) -> None:
        for seat, action in step.plain_actions.items():
            if action != self._noops[seat]:
                self.counts[seat]["count"] += 1


class LivesLost(Collector):
    """Number of lives lost: the sum of all falls of `info["lives"]` or `info["<seat>.lives"]`; lives won back do not reduce it.
    If all seats share their lives, a lost life counts for each seat."""

    statistic = Statistic("lives_lost", "Lives lost", "int", "lives", "lower", description="How many lives you lost.")

    def begin(self, setting: Setting, info: Mapping[str, Any]) -> None:
        super().begin(setting, info)
        self.memory = {seat: _lives(info, seat) for seat in setting.seats}
        if None in self.memory.values():
            raise StatisticError(f"{setting.env} does not say how many lives are left: its info has no 'lives'")

    def see(self, step: SeenStep) -> None:
        for seat, before in self.memory.items():
            now = _lives(step.info, seat)
            if now is not None and now != before:
                if now < before:
                    self.counts[seat]["count"] += before - now
                self.memory[seat] = now


class PathLength(Collector):
    """Metres walked: the sum of the horizontal distances between steps, from `x` and `z` of the info (a block is a metre). A
    step longer than `max_step_m` does not count, since it is a teleport or a new life."""

    statistic = Statistic(
        "path_length", "Metres walked", "float", "m", description="How far you walked; jumps to another place do not count."
    )
    count_names = ("metres",)

    def __init__(self, max_step_m: float = 5.0) -> None:
        _require_number("max_step_m", max_step_m, above=0)
        self._max_step_m = max_step_m

    def begin(self, setting: Setting, info: Mapping[str, Any]) -> None:
        super().begin(setting, info)
        self._names = {seat: ("x", "z") if len(setting.seats) == 1 else (f"{seat}.x", f"{seat}.z") for seat in setting.seats}
        self.memory = {seat: _place(info, names) for seat, names in self._names.items()}
        if None in self.memory.values():
            raise StatisticError(f"{setting.env} does not say where players stand: its info has no 'x' and 'z'")

    def see(self, step: SeenStep) -> None:
        for seat, names in self._names.items():
            now, before = _place(step.info, names), self.memory[seat]
            if now != before:
                if now is None:
                    continue
                way_m = math.hypot(now[0] - before[0], now[1] - before[1])
                if way_m <= self._max_step_m:
                    self.counts[seat]["metres"] += way_m
                self.memory[seat] = now


def _lives(info: Mapping[str, Any], seat: str) -> int | None:
    lives = info.get("lives")
    if lives is None:
        lives = info.get(f"{seat}.lives")
    return None if lives is None else int(lives)


def _place(info: Mapping[str, Any], names: tuple[str, str]) -> list[float] | None:
    x = info.get(names[0])
    return None if x is None else [float(x), float(info[names[1]])]


def _require_clock(setting: Setting) -> None:
    if setting.takes_turns:
        raise StatisticError("it is undefined if players take turns, because then each step is an action and takes no time")


def _require_number(name: str, value: Any, *, above: float | None = None, low: float | None = None) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not is_number or (above is not None and value <= above) or (low is not None and value < low):
        raise StatisticError(f"{name} must be a number {f'above {above}' if low is None else f'>= {low}'}, got {value!r}")
