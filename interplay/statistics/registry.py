"""Statistics by name: the built-in statistics, the statistics that a game computes by default, and your own."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any

from interplay.errors import InterplayError, unknown_name
from interplay.statistics import atari, general
from interplay.statistics.statistic import Collector, Statistic, StatisticError

BUILT_IN: Mapping[str, Callable[..., Collector]] = {
    "score": general.Score,
    "active_time": general.ActiveTime,
    "action_changes": general.ActionChanges,
    "acting_steps": general.ActingSteps,
    "lives_lost": general.LivesLost,
    "path_length": general.PathLength,
    "left_side": partial(atari.Side, "left"),
    "right_side": partial(atari.Side, "right"),
    "aliens_hit": atari.AliensHit,
    "row_by_row": atari.RowByRow,
    "outside_in": atari.OutsideIn,
    "inside_out": atari.InsideOut,
    "accuracy": atari.Accuracy,
}
"""Name -> factory of its collector; the factory takes the parameters by name."""


@dataclass(frozen=True)
class StatisticSpec:
    """A statistic and its parameters, as a task file gives them. `name`: one of `BUILT_IN`, or `module:factory` for a callable
    that returns a `Collector` of your own."""

    name: str
    parameters: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "parameters": dict(self.parameters)}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> StatisticSpec:
        return cls(document["name"], dict(document["parameters"]))

    @property
    def is_own(self) -> bool:
        return ":" in self.name

    def build(self) -> Collector:
        """Make a new collector.

        Raises:
            NotFoundError: If a name or parameter does not exist; the text names the most similar one.
            StatisticError: If a parameter has a wrong value, or your factory cannot be imported or called, or does not return a
                collector.
        """
        factory = _imported(self.name) if self.is_own else _built_in(self.name)
        try:
            collector = factory(**self.parameters)
        except StatisticError as error:
            raise StatisticError(f"statistic {self.name!r}: {error}") from None
        except Exception as error:
            _check_parameters(self, factory)
            raise StatisticError(f"statistic {self.name!r}: its factory failed: {type(error).__name__}: {error}") from error
        if not isinstance(collector, Collector) or not isinstance(getattr(collector, "statistic", None), Statistic):
            raise StatisticError(
                f"statistic {self.name!r} made {type(collector).__name__}; expected an interplay.statistics.Collector "
                "with its `statistic`"
            )
        return collector


def _built_in(name: str) -> Callable[..., Collector]:
    if name not in BUILT_IN:
        raise unknown_name("statistic", name, BUILT_IN, hint="Your own:  module:factory")
    return BUILT_IN[name]


def _imported(name: str) -> Callable[..., Any]:
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # whatever somebody's module does
        raise StatisticError(
            f"statistic {name!r} cannot be imported: {type(error).__name__}: {error}\n"
            "Write module:factory. The module must be importable: install it, or put its folder on PYTHONPATH."
        ) from error
    if not callable(found):
        raise StatisticError(f"statistic {name!r} must be a class or function, got {type(found).__name__}")
    return found


def _check_parameters(spec: StatisticSpec, factory: Callable[..., Any]) -> None:
    try:
        known = inspect.signature(factory).parameters
    except (TypeError, ValueError):  # one that says nothing of itself
        return
    takes_any = any(one.kind is one.VAR_KEYWORD for one in known.values())
    for name in spec.parameters:
        if name not in known and not takes_any:
            raise unknown_name(f"parameter of statistic {spec.name!r}:", name, known)


_ALWAYS = ("active_time", "action_changes")
_INVADERS = ("aliens_hit", "row_by_row", "outside_in", "inside_out", "accuracy", "left_side", "right_side")
_OF_BACKEND: Mapping[str, tuple[str, ...]] = {
    "ale": ("score", "active_time", "action_changes", "acting_steps", "lives_lost"),
    "ale2p": ("score", "active_time", "action_changes", "acting_steps", "lives_lost"),
    "voxel": (*_ALWAYS, "path_length"),
    "minerl": _ALWAYS,
    "minestudio": _ALWAYS,
}
_OF_WORLD: Mapping[str, tuple[str, ...]] = {
    "ale:space_invaders": _INVADERS,
    "ale2p:space_invaders": _INVADERS,
    "ale:riverraid": ("left_side", "right_side"),
}
_REWARD_TIMEOUT_S = {"ale": 60, "ale2p": 60}
_OF_RARE_POINTS = {"ale:montezuma_revenge": 600}


_OF_TIME = ("active_time", "acting_steps", "action_changes")
"""Statistics that are undefined where each step is a turn."""


def defaults(env: str, *, takes_turns: bool = False) -> tuple[StatisticSpec, ...]:
    """Return the statistics that every game of a world has, in addition to those that its task names.

    >>> [spec.name for spec in defaults("ale:riverraid")][-2:]
    ['left_side', 'right_side']
    """
    backend = env.partition(":")[0]
    names = (*_OF_BACKEND.get(backend, ("score", *_ALWAYS)), *_OF_WORLD.get(env, ()))
    timeout_s = _OF_RARE_POINTS.get(env, _REWARD_TIMEOUT_S.get(backend, 0))
    parameters = {"active_time": {"reward_timeout_s": timeout_s}}
    return tuple(StatisticSpec(name, parameters.get(name, {})) for name in names if not takes_turns or name not in _OF_TIME)


def together(*lists: Iterable[StatisticSpec]) -> tuple[StatisticSpec, ...]:
    """Join several lists. Of two entries for a statistic of the same name the later one stays, in the place of the earlier one.
    An entry that cannot be built also stays; the games report it as left out."""
    found: dict[str, StatisticSpec] = {}
    for spec in (spec for one in lists for spec in one):
        try:
            name = spec.build().statistic.name
        except InterplayError:
            name = repr(spec)
        found[name] = spec
    return tuple(found.values())
