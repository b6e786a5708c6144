"""Plays: every owner of every seat of every recording, with the actions and latencies of its file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from interplay.errors import InterplayError
from interplay.record import Archive, Episode
from interplay.store.episodes import Condition
from interplay.store.played_seats import PlayedSeat, played_seats
from interplay.store.uploads import task_definitions
from interplay.tasks import Task

OWN = "own visit"
"""The channel of people who opened the page by themselves, in no study."""


@dataclass(frozen=True, eq=False)
class Play:
    """One owner's part in one seat of one episode.

    Attributes:
        actions: Action in words -> share of the steps, 0 to 1; of composed actions the share of steps each key was held.
            Empty where the file could not be read.
        latencies_ms: float64: of each input, from the painted frame on which it was made until it took effect.
        unread: Why the file could not be read; empty where it was.
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
        """How long they held the seat; at the task's own frame rate, or by the clock where the world waits for its players."""
        return self.held.duration_s if self.task.takes_turns else self.held.num_steps / self.task.frame_rate_hz

    @property
    def behaviour(self) -> str:
        """The variant of a study that was asked for, else the task."""
        return self.held.variant or self.task.name


def meets(play: Play, conditions: Sequence[Condition]) -> bool:
    """Whether a play meets every one of some conditions on its own statistics; one that lacks the number does not.

    `score` is what its owner earned, `num_steps` how long it had the seat.
    """
    known = {"num_steps": float(play.held.num_steps), **play.held.statistics, "score": play.held.total_reward}
    return all(
        one.name in known and not isinstance(one.value, str) and _COMPARE[one.operator](known[one.name], one.value)
        for one in conditions
    )


_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def read_plays(archive: Archive, *, on_file: Callable[[int, int], None] = lambda done, total: None) -> list[Play]:
    """Every play of an archive, oldest first."""
    with archive.database.read() as session:
        seats = played_seats(session)
        definitions = task_definitions(session, {one.task_hash for one in seats})
    tasks = {task_hash: Task.from_json(document) for task_hash, document in definitions.items()}
    by_episode: dict[str, list[PlayedSeat]] = {}
    for one in seats:
        by_episode.setdefault(one.episode, []).append(one)
    plays = []
    for done, held in enumerate(by_episode.values(), start=1):
        plays += _read(archive.root, held, tasks[held[0].task_hash])
        on_file(done, len(by_episode))
    return plays


def _read(root: Path, held: Sequence[PlayedSeat], task: Task) -> list[Play]:
    """The plays of one episode; of one whose file is gone or damaged, what the catalogue says."""
    try:
        episode = Episode.open(root / held[0].path)
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
    """Share of the steps in which each action was chosen; of composed actions each key held; of others each number not zero.

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
    """Discrete action -> the buttons that mean it."""
    if not task.keys.has_table:
        return {}
    order = task.keys.buttons.index
    return {
        action: "+".join(sorted(buttons, key=order)) or "no key"
        for buttons, action in task.keys.actions.items()
        if isinstance(action, int)
    }


def _moved(part: pa.Array) -> float:
    """Share of the entries of an array that hold something else than zero."""
    if pa.types.is_fixed_size_list(part.type):
        return float((part.flatten().to_numpy(zero_copy_only=False).reshape(len(part), -1) != 0).any(axis=1).mean())
    if pa.types.is_integer(part.type) or pa.types.is_floating(part.type):
        return float((part.to_numpy(zero_copy_only=False) != 0).mean())
    return float("nan")


def latencies(steps: pa.Table, seat: str) -> np.ndarray:
    """Latency of each input of a seat, ms, float64: rows repeat the input that is in force, so each counts where it is new."""
    received, latency = (
        steps.column(f"input.{seat}.{part}").to_numpy(zero_copy_only=False).astype(np.float64)
        for part in ("received_us", "latency_ms")
    )
    known = np.isfinite(latency) & np.isfinite(received)
    received, latency = received[known], latency[known]
    return latency[np.diff(received, prepend=np.nan) != 0]
