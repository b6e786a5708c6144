"""Prove instances, several at once, and record each proof: an agent plays the oracle's actions, and the game is judged."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from blockworld import VERSION, Action
from interplay.agents import AgentError, rollout
from interplay.agents.scripted.blocks import as_keys
from interplay.envs import PlayableEnv
from interplay.envs.voxel import VoxelEnv
from interplay.errors import InterplayError
from interplay.explore import judgement_cache, rules
from interplay.explore.instance import Instance, load
from interplay.explore.judgement_cache import Judgement
from interplay.explore.judging import Watch, of_instance
from interplay.explore.oracle.hops import Hops, examine
from interplay.explore.oracle.proving import MilestoneVerdict, Verdict, prove, replayed
from interplay.explore.results.references import ORACLE
from interplay.jobs import Executor
from interplay.record import Archive, Episode
from interplay.record.archive import derived_episode_id
from interplay.record.place import archive_of_job, place_of
from interplay.tasks import Task

WAY_ROUND = "oracle, another way"


@dataclass(frozen=True)
class Proof:
    """Proof that one version of an instance can be done with keys; `ticks` is the tick of its last milestone."""

    instance: str
    content_hash: str
    episode: str
    task_hash: str
    ticks: int
    milestones: dict[str, int]
    semantics: str
    world: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class Repeated:
    """Agent that plays a list of actions, one in each step, and judges the milestones before each step."""

    observation = "pixels"

    def __init__(self, instance: Instance, actions: tuple[Action, ...], name: str = ORACLE) -> None:
        self._instance, self._actions, self.name = instance, actions, name
        self._watch: Watch | None = None

    def reset(self, task: Task, *, rng: np.random.Generator) -> None:
        if task.content_hash != self._instance.task().content_hash:
            raise AgentError(f"the oracle was made for {self._instance.task().id}, not for {task.id}")
        self._watch, self._step = None, 0

    def attach(self, env: PlayableEnv, seat: str) -> None:
        assert isinstance(env, VoxelEnv)
        self._watch = Watch(env.world, self._instance)

    @property
    def reached(self) -> dict[str, int]:
        return {} if self._watch is None else self._watch.progress.reached

    def judgement(self, episode: Episode) -> Judgement:
        assert self._watch is not None
        return self._watch.judgement(episode)

    def act(self, observation: np.ndarray) -> dict[str, Any]:
        assert self._watch is not None
        if self._step:
            self._watch.look(self._step)
        action = self._actions[self._step] if self._step < len(self._actions) else Action()
        self._step += 1
        return as_keys(action)


def record(archive: Archive, instance: Instance, verdict: Verdict, *, created_at: datetime | None = None) -> Proof:
    """Record the episode of a solved instance, and cache its judgement; if an equal episode exists, use it instead.

    `created_at`, the present time by default, decides the episode's id: attempts of the same time make one episode.

    Raises:
        InterplayError: If the recording does not reach the same milestones as the plan.
    """
    planned = {one.milestone: one.tick for one in verdict.milestones if one.tick is not None}
    episode = _recorded(archive, instance, verdict.actions, planned, ORACLE, created_at or datetime.now(UTC))
    task_hash = instance.task().content_hash
    return Proof(instance.name, instance.content_hash, episode, task_hash, verdict.ticks, planned, rules.VERSION, VERSION)


def record_way(archive: Archive, instance: Instance, actions: tuple[Action, ...], created_at: datetime) -> str:
    """Record a run that reaches an edge's task `then` without `first`, for people to watch; return the episode's id."""
    return _recorded(archive, instance, actions, replayed(instance, actions), WAY_ROUND, created_at)


def _recorded(
    archive: Archive,
    instance: Instance,
    actions: tuple[Action, ...],
    planned: dict[str, int],
    name: str,
    created_at: datetime,
) -> str:
    """Return the id of an episode of these actions; record one if no earlier episode reaches the same milestones."""
    task = instance.task()
    there = archive.episodes(task=task, task_hash=task.content_hash, agent=name, seeds=[instance.seed])
    alike = (one for one in there if one.terminated and one.num_steps == len(actions))
    episode = next((one for one in alike if of_instance(archive, one, instance).reached == planned), None)
    if episode is None:
        player = Repeated(instance, actions, name)
        episode = rollout(
            archive,
            task,
            player,
            instance.seed,
            rng=np.random.default_rng(0),
            episode_id=derived_episode_id(created_at, task.content_hash, name, actions),
            created_at=created_at,
            attempt=secrets.token_hex(4),
        )
        if player.reached != planned:
            raise InterplayError(
                f"{instance.name}: the recording reached {player.reached}, but the plan reached {planned}\n"
                "The same actions gave another game; please report this error with the instance."
            )
        judgement_cache.write(archive.root, player.judgement(episode), instance)
    return episode.id


@dataclass(frozen=True)
class Proved:
    """Result for one file; `hops` is set only if `prove_files` was asked for it."""

    file: str
    verdict: Verdict
    proof: Proof | None
    seconds: float
    hops: Hops | None = None

    def to_json(self) -> dict[str, Any]:
        milestones = [
            {"milestone": one.milestone, "verdict": "solved" if one.tick is not None else one.reason, "tick": one.tick}
            for one in self.verdict.milestones
        ]
        return {
            "instance": self.verdict.instance,
            "file": self.file,
            "solved": self.verdict.solved,
            "verdict": "solved" if self.verdict.solved else "; ".join(dict.fromkeys(self.verdict.reasons)),
            "ticks": self.verdict.ticks,
            "milestones": milestones,
            "proof": None if self.proof is None else self.proof.to_json(),
            "seconds": round(self.seconds, 1),
            "hops": None if self.hops is None else self.hops.to_json(),
        }


def prove_files(
    files: Sequence[Path],
    archive: Archive,
    *,
    executor: Executor = Executor(2),
    hops: bool = False,
    report: Callable[[Proved], None] = lambda proved: None,
) -> list[Proved]:
    """Prove instances, and record an episode of each solved one; return results in the order of `files`.

    Raises:
        LostError: If a process of the executor ends without a message.
    """
    now = datetime.now(UTC)
    jobs = {str(file): (file, hops, now) for file in files}
    found: dict[str, Proved] = {}
    for done in executor.map(prove_job, jobs, here=partial(_prove, archive), place=place_of(archive)):
        found[done.key] = replace(done.get(), file=done.key)
        report(found[done.key])
    return [found[str(file)] for file in files]


def prove_job(file: Path, hops: bool, created_at: datetime) -> Proved:
    """Prove an instance in the archive of this process."""
    with archive_of_job() as archive:
        return _prove(archive, file, hops, created_at)


def _prove(archive: Archive, file: Path, with_hops: bool, created_at: datetime) -> Proved:
    begin = monotonic()
    instance = load(file)
    try:
        verdict = prove(instance)
        proof = record(archive, instance, verdict, created_at=created_at) if verdict.solved else None
    except InterplayError as error:  # it ends this instance, not the others
        missed = tuple(MilestoneVerdict(one.id, None, str(error)) for one in instance.milestones)
        return Proved(str(file), Verdict(instance.name, missed, ()), None, monotonic() - begin)
    hops = examine(instance) if with_hops else None
    if hops is not None:
        edges = (
            replace(one, way=(), episode=record_way(archive, instance, one.way, created_at)) if one.way else one
            for one in hops.edges
        )
        hops = replace(hops, edges=tuple(edges))
    return Proved(str(file), verdict, proof, monotonic() - begin, hops)
