"""Prove many instances, several at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Any

import interplay.record
from interplay.errors import InterplayError
from interplay.explore.instance import load
from interplay.explore.oracle.hops import Hops, examine
from interplay.explore.oracle.proving import MilestoneVerdict, Verdict, prove
from interplay.explore.oracle.recording import Proof, record, record_way
from interplay.parallel import process_pool


@dataclass(frozen=True)
class Proved:
    """Result for one file; `hops` only if asked for."""

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


@dataclass(frozen=True)
class Job:
    """One instance to prove: everything another process needs to know."""

    file: Path
    hops: bool
    data: str
    database: str = field(repr=False)


def prove_files(
    files: Sequence[Path],
    archive: interplay.record.Archive,
    *,
    processes: int = 2,
    hops: bool = False,
    report: Callable[[Proved], None] = lambda proved: None,
) -> list[Proved]:
    """Prove instances, `processes` at once, and record an episode of each that is solved; results in the order of `files`.

    More than one process needs a main module that is safe to import.

    Raises:
        InterplayError: If a process ends without a message.
    """
    jobs = [Job(file, hops, str(archive.root.resolve()), archive.database.address) for file in files]
    found: dict[Path, Proved] = {}
    for one in _run(jobs, archive, min(processes, len(jobs))):
        found[Path(one.file)] = one
        report(one)
    return [found[file] for file in files]


def _run(jobs: Sequence[Job], archive: interplay.record.Archive, processes: int) -> Iterator[Proved]:
    if processes <= 1:
        for job in jobs:
            yield _prove(job, archive)
        return
    with process_pool(processes) as pool:
        futures = {pool.submit(_prove_apart, job): job for job in jobs}
        for future in as_completed(futures):
            try:
                yield future.result()
            except BrokenProcessPool:
                text = f"a process ended without a message, perhaps at {futures[future].file}"
                raise InterplayError(f"{text}\nRun the same command again; what was recorded is kept.") from None


def _prove_apart(job: Job) -> Proved:
    archive = interplay.record.open(Path(job.data), database=job.database)
    try:
        return _prove(job, archive)
    finally:
        archive.close()


def _prove(job: Job, archive: interplay.record.Archive) -> Proved:
    begin = monotonic()
    instance = load(job.file)
    try:
        verdict = prove(instance)
        proof = record(archive, instance, verdict) if verdict.solved else None
    except InterplayError as error:  # it ends this instance, not the others
        missed = tuple(MilestoneVerdict(one.id, None, str(error)) for one in instance.milestones)
        return Proved(str(job.file), Verdict(instance.name, missed, ()), None, monotonic() - begin)
    hops = examine(instance) if job.hops else None
    if hops is not None:
        edges = (replace(one, way=(), episode=record_way(archive, instance, one.way)) if one.way else one for one in hops.edges)
        hops = replace(hops, edges=tuple(edges))
    return Proved(str(job.file), verdict, proof, monotonic() - begin, hops)
