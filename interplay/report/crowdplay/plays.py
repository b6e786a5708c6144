"""Read plays and decide which are good data. A play is one player's part in one seat of one recording.

A play is good if, by a stated rule, the player did what the task asked for."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from interplay.errors import InterplayError
from interplay.record import Archive, Episode
from interplay.store.episodes import Condition
from interplay.store.places.blobs import Blobs
from interplay.store.sessions import PlayedSeat, played_seats
from interplay.store.uploads import task_definitions
from interplay.study.definition import Study
from interplay.tasks import Task

OWN = "own visit"
"""The channel of people who opened the page by themselves, in no study."""


@dataclass(frozen=True, eq=False)
class Play:
    """One owner's part in one seat of one episode.

    Attributes:
        actions: Action in words -> share of the steps, 0 to 1; for composed actions, key -> share of steps in which the key
            was held. Empty if the file could not be read.
        latencies_ms: Latency of each input, float64: from the painted frame that the player saw until the input took effect.
        unread: Why the file could not be read; empty if it was read.
    """

    held: PlayedSeat
    task: Task
    actions: Mapping[str, float] = field(default_factory=dict)
    latencies_ms: np.ndarray = field(default_factory=lambda: np.zeros(0))
    unread: str = ""

    @property
    def is_person(self) -> bool:
        return self.held.kind == "human"

    @property
    def channel(self) -> str:
        return self.held.channel or OWN

    @property
    def seconds(self) -> float:
        """Seconds for which the owner held the seat: by the frame rate, or by the clock if the world waits for its players."""
        return self.held.duration_s if self.task.takes_turns else self.held.num_steps / self.task.frame_rate_hz

    @property
    def behaviour(self) -> str:
        """The study variant that the player was asked to play, or else the name of the task."""
        return self.held.variant or self.task.name


def meets(play: Play, conditions: Sequence[Condition]) -> bool:
    """Whether a play's statistics meet all conditions; a play that lacks a statistic does not meet its condition.

    `score` is the owner's total reward, and `num_steps` the number of steps for which the owner held the seat.
    """
    known = {"num_steps": float(play.held.num_steps), **play.held.statistics, "score": play.held.total_reward}
    return all(
        one.name in known and not isinstance(one.value, str) and _COMPARE[one.operator](known[one.name], one.value)
        for one in conditions
    )


_COMPARE = {"=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def read_plays(archive: Archive, *, on_file: Callable[[int, int], None] = lambda done, total: None) -> list[Play]:
    """Read every play of an archive, oldest first."""
    with archive.database.read() as session:
        seats = played_seats(session)
        definitions = task_definitions(session, {one.task_hash for one in seats})
    tasks = {task_hash: Task.from_json(document) for task_hash, document in definitions.items()}
    by_episode: dict[str, list[PlayedSeat]] = {}
    for one in seats:
        by_episode.setdefault(one.episode, []).append(one)
    plays = []
    for done, held in enumerate(by_episode.values(), start=1):
        plays += _read(archive.blobs, held, tasks[held[0].task_hash])
        on_file(done, len(by_episode))
    return plays


def _read(blobs: Blobs, held: Sequence[PlayedSeat], task: Task) -> list[Play]:
    """Read the plays of one episode; if its file is missing or damaged, return only the catalogue's facts about the plays."""
    try:
        episode = Episode.open(blobs.path(held[0].path))
        try:
            return [_play(episode, one, task) for one in held]
        finally:
            episode.close()
    except (InterplayError, OSError, pa.ArrowException, KeyError) as error:
        return [Play(one, task, unread=str(error).splitlines()[0]) for one in held]


def _play(episode: Episode, held: PlayedSeat, task: Task) -> Play:
    steps = episode.steps().slice(0, episode.num_steps)
    theirs = steps.filter(pc.equal(steps.column(f"owner.{held.seat}"), held.actor))  # type: ignore[attr-defined]
    actions = action_shares(theirs.column(f"action.{held.seat}").combine_chunks(), task)
    return Play(held, task, actions, latencies(theirs, held.seat))


def action_shares(actions: pa.Array, task: Task) -> dict[str, float]:
    """Return the share of steps in which each action was chosen; for composed actions: each key held, or each number not zero.

    >>> from interplay.tasks import find
    >>> action_shares(pa.array([0, 0, 1, 4]), find("atari/space_invaders"))
    {'no key': 0.5, 'FIRE': 0.25, 'LEFT': 0.25}
    """
    if not len(actions):
        return {}
    if pa.types.is_integer(actions.type):
        counts = Counter(actions.to_pylist())
        names = _names(task)
        return {names.get(action, f"action {action}"): counts[action] / len(actions) for action in sorted(counts)}
    if pa.types.is_struct(actions.type):
        parts = {actions.type.field(place).name: actions.field(place) for place in range(actions.type.num_fields)}
        return {name: _moved(part) for name, part in parts.items()}
    return {"action": _moved(actions)}


def _names(task: Task) -> dict[Any, str]:
    """Return discrete action -> names of the buttons that stand for it."""
    if not task.keys.has_table:
        return {}
    order = task.keys.buttons.index
    return {
        action: "+".join(sorted(buttons, key=order)) or "no key"
        for buttons, action in task.keys.actions.items()
        if isinstance(action, int)
    }


def _moved(part: pa.Array) -> float:
    """Return the share of the entries of an array that are not zero."""
    if pa.types.is_fixed_size_list(part.type):
        return float((part.flatten().to_numpy(zero_copy_only=False).reshape(len(part), -1) != 0).any(axis=1).mean())
    if pa.types.is_integer(part.type) or pa.types.is_floating(part.type):
        return float((part.to_numpy(zero_copy_only=False) != 0).mean())
    return float("nan")


def latencies(steps: pa.Table, seat: str) -> np.ndarray:
    """Return the latency in ms of each input of a seat, float64; an input's first row counts, because later rows repeat it."""
    received, latency = (
        steps.column(f"input.{seat}.{part}").to_numpy(zero_copy_only=False).astype(np.float64)
        for part in ("received_us", "latency_ms")
    )
    known = np.isfinite(latency) & np.isfinite(received)
    received, latency = received[known], latency[known]
    return latency[np.diff(received, prepend=np.nan) != 0]


SHARE = 0.8
"""Least share in good plays, as in the paper: 80 % in the right order, or on the right side (section 4.3 and appendix A.6)."""


@dataclass(frozen=True)
class Quality:
    """The rule for good plays.

    Attributes:
        given: Conditions for every play; if empty, `of_variants` decides.
        of_variants: (task, variant) -> conditions for plays of this variant; all plays of other variants are good.
    """

    given: tuple[Condition, ...] = ()
    of_variants: Mapping[tuple[str, str], tuple[Condition, ...]] = field(default_factory=dict)

    def conditions(self, play: Play) -> tuple[Condition, ...]:
        return self.given or self.of_variants.get((play.held.task, play.held.variant or ""), ())

    def is_good(self, play: Play) -> bool:
        return meets(play, self.conditions(play))

    @property
    def in_words(self) -> str:
        if self.given:
            return f"plays with {_words(self.given)}."
        if not self.of_variants:
            return "all plays, because no study here asks for a behaviour; --quality gives a rule."
        named = [f"{variant}: {_words(rule)}" for (_, variant), rule in sorted(self.of_variants.items())]
        return "plays that did what their study asked for (" + "; ".join(dict.fromkeys(named)) + "); all plays of other tasks."


def _words(conditions: Iterable[Condition]) -> str:
    return " and ".join(f"{one.name} {one.operator} {one.value:g}" for one in conditions)


def quality_of(studies: Iterable[Study], shares: Iterable[str], given: Sequence[Condition] = ()) -> Quality:
    """Return the rule for good plays: the `given` conditions, or else what all versions of an archive's studies imply.

    A variant of a study asks for a behaviour if a requirement or a bonus is about a share, such as `inside_out.good` out of
    `inside_out.all`, or if the variant has the name of the statistic that measures the behaviour. The same rule holds for plays
    in studies that ask for nothing, if the task and the variant's name are the same.
    """
    known = set(shares)
    rules: dict[tuple[str, str], dict[str, float]] = {}
    named: dict[tuple[str, str], str] = {}
    for variant in (variant for study in studies if study.play is not None for variant in study.play.variants):
        key = variant.task, variant.name
        asked = [(one.statistic, one.out_of, one.required) for one in variant.treatment.requirements if one.out_of]
        bonus = variant.treatment.bonus
        if hasattr(bonus, "out_of"):
            asked.append((bonus.correct, bonus.out_of, SHARE))  # type: ignore[union-attr]
        for statistic, out_of, required in asked:
            name = statistic.partition(".")[0]
            if name == out_of.partition(".")[0]:
                rule = rules.setdefault(key, {})
                rule[name] = max(required, rule.get(name, 0.0))
        if variant.name in known:
            named[key] = variant.name
    for key, name in named.items():
        rules.setdefault(key, {name: SHARE})
    ordered = {key: tuple(Condition(name, ">=", share) for name, share in rule.items()) for key, rule in rules.items()}
    return Quality(tuple(given), ordered)
