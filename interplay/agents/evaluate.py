"""Let an agent play a list of seeds, several games at once; each game is recorded and filmed, and later runs reuse it."""

from __future__ import annotations

import os
import secrets
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np

from interplay.agents.base import AgentError
from interplay.agents.find import files_hash, find
from interplay.agents.rollout import check_seats, rollout
from interplay.envs.backends import check_playable, of
from interplay.errors import InterplayError
from interplay.jobs import Executor
from interplay.record import Archive, Episode
from interplay.record.archive import derived_episode_id
from interplay.record.films.film import film
from interplay.record.place import archive_of_job, place_of
from interplay.store import entrants as store
from interplay.tasks import Task

_SHORT_S = 60.0
"""Seconds of play in a fast world, summed over all rollouts, that one process plays while a second process is starting."""


@dataclass(frozen=True)
class Job:
    """One rollout to make.

    Attributes:
        draw: Seed of the agents' random draws.
        episode: Id of the episode, derived from all that decides the rollout: a second attempt makes no second episode.
        created_at: Time of the plan, ISO 8601.
    """

    episode: str
    created_at: str
    task: dict[str, Any]
    agents: dict[str, str]
    seed: int
    draw: tuple[int, ...]
    max_steps: int | None
    video: bool

    def who(self) -> str:
        if len(self.agents) == 1:
            return "agent " + "".join(map(repr, self.agents.values()))
        return "agents " + " ".join(f"{seat}={name}" for seat, name in self.agents.items())

    def key(self) -> str:
        return f"seed {self.seed}, game {self.draw[-1] + 1} of {self.who()} in {self.task['id']}"


def evaluate(
    archive: Archive,
    task: Task,
    agent: str | Mapping[str, str],
    seeds: Sequence[int],
    *,
    num_episodes: int = 1,
    seed: int = 0,
    max_steps: int | None = None,
    video: bool = True,
    again: bool = False,
    executor: Executor = Executor(),
    report: Callable[[int, int], None] = lambda done, total: None,
) -> list[Episode]:
    """Let an agent play each seed; admit the agent to judging in this task if it played held-out seeds with video.

    Complete episodes that this agent has recorded on a seed are reused, so the same call finishes an interrupted run. Each
    rollout has its own random generator, so the result does not depend on the number of processes. Games with different agents
    in the seats are recorded and filmed, but admit no agent to judging.

    Args:
        agent: A name that `agents.find` takes, used for every seat of the task; or a mapping seat -> name.
        executor: Where the rollouts are played.
    Returns:
        The episodes, in the order of `seeds`.
    Raises:
        NotFoundError, AgentError: If there is no such agent or it cannot play this task.
        LostError: If a process of the executor ends without a message.
        EntrantError: If the agent would be judged, but its name is reserved for people in judging; then no game is played.
    """
    check_playable(task)
    agents = dict.fromkeys(task.seats, agent) if isinstance(agent, str) else agent
    check_seats(task, agents)
    names = {seat: find(agents[seat], archive).name for seat in task.seats}
    is_entrant = video and bool(set(seeds) & set(task.held_out_seeds)) and len(set(names.values())) == 1
    name = names[task.seats[0]]
    if is_entrant:
        with archive.database.read() as session:
            store.check_name(session, name, "agent")
    found, jobs = plan(
        archive, task, agents, names, seeds, num_episodes=num_episodes, seed=seed, max_steps=max_steps, video=video, again=again
    )
    total = len(found) + len(jobs)
    report(len(found), total)
    episodes = list(found)
    for episode_id in run_jobs(archive, jobs, executor):
        episodes.append(archive.get(episode_id))
        report(len(episodes), total)
    if is_entrant:
        with archive.database.write() as session:
            store.admit(session, name=name, task=task.id, kind="agent", now=datetime.now(UTC))
    order = {env_seed: place for place, env_seed in enumerate(seeds)}
    return sorted(episodes, key=lambda episode: (order[episode.seed], episode.created_at))


def plan(
    archive: Archive,
    task: Task,
    agents: Mapping[str, str],
    names: Mapping[str, str],
    seeds: Sequence[int],
    *,
    num_episodes: int,
    seed: int,
    max_steps: int | None,
    video: bool,
    again: bool,
) -> tuple[list[Episode], list[Job]]:
    """Return the existing episodes (filmed if `video`) and the missing rollouts; `names`: seat -> its agent's own name."""
    first = names[task.seats[0]]
    limit = task.max_steps if max_steps is None else min(max_steps, task.max_steps)
    kept: dict[int, list[Episode]] = {}
    for known in [] if again else archive.episodes(task=task, task_hash=task.content_hash, agent=first, seeds=seeds):
        if [(held.seat, held.actor) for held in known.seats] != [*names.items()]:
            continue  # others played too
        if known.num_steps <= limit and (known.terminated or known.num_steps == limit):  # a longer one earned more
            kept.setdefault(known.seed, []).append(known)
    found, jobs = [], []
    now = datetime.now(UTC)
    players = [[seat, names[seat], files_hash(agents[seat], archive)] for seat in task.seats]
    for env_seed in seeds:
        there = kept.get(env_seed, [])[:num_episodes]
        if video:
            for episode in there:
                film(archive, episode.id)
        found += there
        jobs += [
            Job(
                episode=derived_episode_id(now, task.content_hash, players, env_seed, [seed, number], limit),
                created_at=now.isoformat(),
                task=task.to_json(),
                agents={seat: agents[seat] for seat in task.seats},
                seed=env_seed,
                draw=(seed, env_seed, number),
                max_steps=max_steps,
                video=video,
            )
            for number in range(len(there), num_episodes)
        ]
    return found, jobs


def worthwhile_processes(task: Task, num_rollouts: int, max_steps: int | None = None) -> int:
    """Return how many rollouts to play at once: one for each core, or one if all rollouts would end before a second process
    could start.

    `max_steps` is the limit of each rollout, if it is below the task's limit.
    """
    played_s = num_rollouts * min(max_steps or task.max_steps, task.max_steps) / task.frame_rate_hz
    return 1 if played_s < (_SHORT_S / 6 if of(task).is_slow else _SHORT_S) else len(os.sched_getaffinity(0))


def run_jobs(archive: Archive, jobs: Sequence[Job], executor: Executor) -> Iterator[str]:
    """Yield the id of each job's episode as soon as it is recorded."""
    hint = (
        f"Its recordings are kept; seal them with:  interplay episodes repair --data {archive.root.resolve()}\n"
        "Run the same command again to play the missing games."
    )
    keyed = {job.key(): (job,) for job in jobs}
    for done in executor.map(play_job, keyed, here=partial(_play, archive), place=place_of(archive), hint=hint):
        yield done.get()


def play_job(job: Job) -> str:
    """Play a rollout in the archive of this process; return the id of its episode."""
    with archive_of_job() as archive:
        return _play(archive, job)


def _play(archive: Archive, job: Job) -> str:
    if archive.complete(job.episode) is None:
        _record(archive, job)
    if job.video:
        film(archive, job.episode)
    return job.episode


def _record(archive: Archive, job: Job) -> None:
    agents = {seat: find(name, archive) for seat, name in job.agents.items()}
    task = Task.from_json(job.task)
    try:
        rollout(
            archive,
            task,
            agents,
            job.seed,
            rng=np.random.default_rng(job.draw),
            max_steps=job.max_steps,
            episode_id=job.episode,
            created_at=datetime.fromisoformat(job.created_at),
            attempt=secrets.token_hex(4),
        )
    except InterplayError:
        raise
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        raise AgentError(
            f"{job.who()} failed on seed {job.seed}: {type(error).__name__}: {error}\n"
            f"It happened in {where.filename}, line {where.lineno}. The steps before the error are recorded."
        ) from error
