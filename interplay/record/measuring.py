"""Compute statistics of recordings: replay an episode and give its steps to the collectors that live games use."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.envs import make
from interplay.errors import InterplayError
from interplay.jobs import Executor
from interplay.record.errors import RecordingError
from interplay.record.format.spaces import plain_action
from interplay.record.sealed.episode import Episode
from interplay.record.stepper import RecordedEpisode
from interplay.statistics import Collection, Measure, StatisticSpec, together

if TYPE_CHECKING:
    from interplay.record.archive import Archive

PARALLEL_STEPS = 20_000
"""Number of steps from which a second process is worth its start."""


@dataclass(frozen=True)
class Measured:
    """Result of measuring one episode.

    Attributes:
        left_out: Statistic -> why it could not be computed.
        differences: Sentences about values that differ from the stored ones; filled only with `check`.
        failed: Why no statistic could be computed; None if that was possible.
        num_kept: Number of values that were compared, or that existed before.
        was_complete: Whether all values existed already, so that nothing was computed.
    """

    episode: str
    measures: tuple[Measure, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    differences: tuple[str, ...] = ()
    failed: str | None = None
    num_kept: int = 0
    was_complete: bool = False


def measure(episode: Episode, specs: Sequence[StatisticSpec]) -> Measured:
    """Compute statistics of a sealed episode.

    The episode is replayed at the full speed of its world. If its world cannot be replayed, its rows are read instead, and
    collectors that need more of the world than the rows hold are left out.

    Raises:
        RecordingError: If the episode is only a video, or the replay earns other rewards than the recording says.
    """
    header = episode.header
    collection = Collection(specs, header.task.setting, {seat: owner.name for seat, owner in header.owners.items()})
    if header.deterministic:
        _play_again(episode, collection)
    else:
        _read(episode, collection)
    return Measured(episode.id, tuple(collection.measures()), collection.left_out)


def _play_again(episode: Episode, collection: Collection) -> None:
    with closing(make(episode.task)) as env:
        again = RecordedEpisode(env, collection=collection)
        again.start(episode.seed)
        earned: dict[str, list[float]] = {seat: [] for seat in again.seats}
        for actions, owners in _steps(episode):
            for seat, reward in again.step(actions, owners=owners, is_seen=False).rewards.items():
                earned[seat].append(reward)
    for seat, rewards in earned.items():
        if not np.array_equal(np.array(rewards, np.float64), episode.rewards(seat), equal_nan=True):
            raise RecordingError(
                f"episode {episode.id}: playing it again earns other rewards than it recorded, so it cannot be measured\n"
                f"Find the step:  interplay episodes verify {episode.id}"
            )


def _read(episode: Episode, collection: Collection) -> None:
    infos = list(map(json.loads, episode.steps().column("info").to_pylist()))
    rewards = {seat: episode.rewards(seat).tolist() for seat in episode.header.seats}
    collection.begin(infos[0], {})
    for step, (actions, owners) in enumerate(_steps(episode)):
        earned = {seat: of_seat[step] for seat, of_seat in rewards.items()}
        collection.see(actions, earned, earned, infos[step + 1], owners)


def _steps(episode: Episode) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
    """Yield actions and owners of each step, by seat; the owners are the same object until someone takes over a seat."""
    seats = episode.header.seats
    names = [episode.steps().column(f"owner.{seat}").to_pylist()[: episode.num_steps] for seat in seats]
    actions = [[plain_action(action) for action in episode.actions(seat)] for seat in seats]
    owners: dict[str, str] = {}
    last = None
    for held, given in zip(zip(*names, strict=True), zip(*actions, strict=True), strict=True):
        if held != last:
            owners, last = dict(zip(seats, held, strict=True)), held
        yield dict(zip(seats, given, strict=True)), owners


def measure_all(
    archive: Archive,
    episodes: Sequence[Episode],
    *,
    check: bool = False,
    executor: Executor = Executor(2),
    advance: Callable[[int], None] = lambda num_steps: None,
) -> Iterator[Measured]:
    """Measure episodes and store missing values in the catalogue after each one, so that a stopped run can continue.

    Args:
        check: Compute all values and compare them with those in the file (from play) and in the catalogue; store nothing.
        advance: Called with numbers of finished steps.
    """
    kept = archive.measures(episodes)
    jobs: list[tuple[Episode, tuple[StatisticSpec, ...]]] = []
    for episode in episodes:
        if episode.is_video_only:
            continue
        try:
            specs = together(archive.statistics_of(episode.task), episode.header.statistics)
        except RecordingError as error:
            yield Measured(episode.id, failed=str(error))
            advance(episode.num_steps)
            continue
        names = {one.name for one in kept.get(episode.id, ())}
        if not check and all(_name_of(spec) in names for spec in specs):
            yield Measured(episode.id, num_kept=len(kept[episode.id]), was_complete=True)
            advance(episode.num_steps)
            continue
        jobs.append((episode, specs))
    for episode, found in _measured(jobs, executor):
        known = kept.get(episode.id, [])
        if check and found.failed is None:
            found = _compared(found, [*episode.live_measures, *known])
        elif found.failed is None:
            names = {one.name for one in known}
            new = tuple(one for one in found.measures if one.name not in names)
            archive.add_measures(episode.id, new)
            found = Measured(episode.id, new, found.left_out, num_kept=len(known))
        advance(episode.num_steps)
        yield found


def _measured(jobs: list[tuple[Episode, tuple[StatisticSpec, ...]]], executor: Executor) -> Iterator[tuple[Episode, Measured]]:
    episodes = {episode.id: episode for episode, _ in jobs}
    keyed = {episode.id: (episode.path, specs) for episode, specs in jobs}
    if sum(episode.num_steps for episode in episodes.values()) < PARALLEL_STEPS:
        executor = replace(executor, processes=1)
    for done in executor.map(measure_file, keyed, here=measure_file):
        yield episodes[done.key], done.get()


def measure_file(path: Path, specs: tuple[StatisticSpec, ...]) -> Measured:
    try:
        return measure(Episode.open(path), specs)
    except InterplayError as error:
        return Measured(path.stem, failed=str(error))
    except Exception as error:  # whatever a damaged file or a world does: the others go on
        return Measured(path.stem, failed=f"{type(error).__name__}: {error}")


def _name_of(spec: StatisticSpec) -> str:
    """Return the name of the statistic that a spec builds; if it cannot be built, the name of the spec."""
    try:
        return spec.build().statistic.name
    except InterplayError:
        return spec.name


def _compared(found: Measured, kept: Sequence[Measure]) -> Measured:
    now = {(one.seat, one.actor, one.name): one for one in found.measures}
    differences = []
    num_compared = 0
    for one in kept:
        if one.name in found.left_out:
            continue
        num_compared += 1
        other = now.get((one.seat, one.actor, one.name))
        if other is None or other != one:
            computed = "nothing" if other is None else f"{other.value} of {dict(other.counts)}"
            differences.append(
                f"{one.name} of {one.actor} in {one.seat}: kept {one.value} of {dict(one.counts)}, computed now {computed}"
            )
    return Measured(found.episode, found.measures, found.left_out, tuple(dict.fromkeys(differences)), num_kept=num_compared)
