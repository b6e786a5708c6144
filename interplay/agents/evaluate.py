"""An agent plays a list of seeds: several at once, each recorded, filmed, and kept when the command is run again."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.agents.base import AgentError
from interplay.agents.find import find
from interplay.agents.rollout import rollout
from interplay.envs.make import check_playable
from interplay.errors import InterplayError
from interplay.parallel import process_pool
from interplay.store import agents as store
from interplay.tasks import Task

if TYPE_CHECKING:
    from interplay.record import Archive, Episode


@dataclass(frozen=True)
class Job:
    """One rollout to make: everything another process needs to know.

    Attributes:
        data: The archive's folder.
        database: Its database's address.
        task: `Task.to_json()`.
        agent: A name that `agents.find` takes.
        seed: Seed of the environment.
        draw: Seeds the agent's generator.
        max_steps: Cut the episode there, or None.
        video: Whether to make the mp4 too.
    """

    data: str
    database: str
    task: dict[str, Any]
    agent: str
    seed: int
    draw: tuple[int, ...]
    max_steps: int | None
    video: bool


def evaluate(
    archive: Archive,
    task: Task,
    agent: str,
    seeds: Sequence[int],
    *,
    num_episodes: int = 1,
    seed: int = 0,
    max_steps: int | None = None,
    video: bool = True,
    again: bool = False,
    processes: int = 1,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> list[Episode]:
    """Let an agent play each seed, and admit it to judging in this task if it played held-out ones with video.

    Whole episodes that this agent has already recorded on a seed count, so a run that was interrupted is finished by calling
    again. Each rollout draws from a generator of its own, so the result does not depend on the number of processes.

    Args:
        archive: Where the episodes go.
        agent: A name that `agents.find` takes.
        seeds: Seeds of the environment.
        num_episodes: Episodes per seed.
        seed: Of the agents' draws.
        max_steps: Cut episodes there (outcome `time_limit`).
        video: Make the mp4s too.
        again: Play even what is there already.
        processes: Rollouts at once; more than one needs a main module that is safe to import.
        report: Called with the number of rollouts done and wanted.
    Returns:
        The episodes, in the order of `seeds`.
    Raises:
        NotFoundError, AgentError: If there is no such agent or it cannot play this task.
    """
    name, found, jobs = _plan(
        archive,
        task,
        agent,
        seeds,
        num_episodes=num_episodes,
        seed=seed,
        max_steps=max_steps,
        video=video,
        again=again,
    )
    total = len(found) + len(jobs)
    report(len(found), total)
    episodes = list(found)
    for episode_id in _run(archive, jobs, processes):
        episodes.append(archive.get(episode_id))
        report(len(episodes), total)
    if video and set(seeds) & set(task.held_out_seeds):
        _admit(archive, [(name, task)])
    order = {env_seed: place for place, env_seed in enumerate(seeds)}
    return sorted(episodes, key=lambda episode: (order[episode.seed], episode.created_at))


def first_rollouts(
    archive: Archive,
    tasks: Sequence[Task],
    *,
    agents: Sequence[str] = ("random", "scripted"),
    num_seeds: int = 2,
    max_seconds: float = 30.0,
    processes: int = 1,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> int:
    """Give a new archive something to judge: a few short filmed rollouts of each task by built-in agents.

    Args:
        tasks: Those that have agents already are left alone.
        num_seeds: The first held-out seeds of each task.
        max_seconds: Length of play.
        report: As in `evaluate`.
    Returns:
        How many rollouts were made.
    """
    new = [task for task in tasks if not has_agents(archive, task)]
    jobs: list[Job] = []
    for task in new:
        for agent in agents:
            steps = round(max_seconds * task.frame_rate_hz)
            jobs += _plan(archive, task, agent, task.held_out_seeds[:num_seeds], max_steps=steps)[2]
    report(0, len(jobs))
    for done, _ in enumerate(_run(archive, jobs, processes), start=1):
        report(done, len(jobs))
    _admit(archive, [(agent, task) for task in new for agent in agents])
    return len(jobs)


def has_agents(archive: Archive, task: Task) -> bool:
    """Whether any agent may be judged in a task."""
    with archive.database.read() as session:
        return bool(store.agents(session, task.id))


def _plan(
    archive: Archive,
    task: Task,
    agent: str,
    seeds: Sequence[int],
    *,
    num_episodes: int = 1,
    seed: int = 0,
    max_steps: int | None = None,
    video: bool = True,
    again: bool = False,
) -> tuple[str, list[Episode], list[Job]]:
    """The agent's own name, the episodes that are there already (filmed, if wanted), and the rollouts that are missing."""
    check_playable(task)
    name = find(agent, archive).name
    limit = task.max_steps if max_steps is None else min(max_steps, task.max_steps)
    kept: dict[int, list[Episode]] = {}
    for known in [] if again else archive.episodes(task=task, task_hash=task.content_hash, agent=name, seeds=seeds):
        if known.terminated or known.num_steps >= limit:
            kept.setdefault(known.seed, []).append(known)
    found, jobs = [], []
    for env_seed in seeds:
        there = kept.get(env_seed, [])[:num_episodes]
        if video:
            for episode in there:
                archive.video(episode)
        found += there
        jobs += [
            Job(
                data=str(archive.root.resolve()),
                database=archive.database.address,
                task=task.to_json(),
                agent=agent,
                seed=env_seed,
                draw=(seed, env_seed, number),
                max_steps=max_steps,
                video=video,
            )
            for number in range(len(there), num_episodes)
        ]
    return name, found, jobs


def _admit(archive: Archive, admitted: Sequence[tuple[str, Task]]) -> None:
    """These agents may be judged in these tasks."""
    with archive.database.write() as session:
        for name, task in admitted:
            store.admit(session, name=name, task=task.id, kind="agent", now=datetime.now(UTC))


def _run(archive: Archive, jobs: Sequence[Job], processes: int) -> Iterator[str]:
    """Ids of the episodes the jobs make, as they are made."""
    processes = min(processes, len(jobs))
    if processes <= 1:
        for job in jobs:
            yield _play(archive, job)
        return
    with process_pool(processes) as pool:
        futures = {pool.submit(_play_apart, job): job for job in jobs}
        try:
            for future in as_completed(futures):
                job = futures[future]
                try:
                    yield future.result()
                except BrokenProcessPool:
                    raise AgentError(
                        f"a process in which agent {job.agent!r} played ended without a word, perhaps at seed {job.seed}\n"
                        f"What it had recorded is kept; seal it with:  interplay episodes repair --data {job.data}\n"
                        "Run the same command again to go on with what is missing."
                    ) from None
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _play_apart(job: Job) -> str:
    """A job in a process of its own."""
    import interplay.record

    archive = interplay.record.open(Path(job.data), database=job.database)
    try:
        return _play(archive, job)
    finally:
        archive.close()


def _play(archive: Archive, job: Job) -> str:
    """Play, record and film; returns the episode's id."""
    agent = find(job.agent, archive)
    task = Task.from_json(job.task)
    try:
        episode = rollout(archive, task, agent, job.seed, rng=np.random.default_rng(job.draw), max_steps=job.max_steps)
    except InterplayError:
        raise
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        raise AgentError(
            f"agent {job.agent!r} failed on seed {job.seed}: {type(error).__name__}: {error}\n"
            f"It happened in {where.filename}, line {where.lineno}. What was recorded until then is sealed."
        ) from error
    if job.video:
        archive.video(episode)
    return episode.id
