"""The executor: one call for jobs in this process, in several processes, or in a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from interplay.jobs import cluster, local, wire
from interplay.jobs.errors import LostError
from interplay.jobs.place import Place

R = TypeVar("R")

TICK_S = 1.0
"""Seconds between two calls of `tick`."""
HINT = "What is finished is kept. Run the same command again to do the rest."


@dataclass(frozen=True)
class Done(Generic[R]):
    """One job that has ended, with its result or its error."""

    key: str
    result: R | None = None
    error: Exception | None = None

    def get(self) -> R:
        """Return the result, or raise the error."""
        if self.error is not None:
            raise self.error
        return self.result  # type: ignore[return-value]


@dataclass(frozen=True)
class Executor:
    """Where jobs are done.

    Attributes:
        processes: Number of jobs at once; more than one needs a main module that is safe to import.
        ray: Address of a Ray cluster, which does the jobs instead; it decides how many at once.
    """

    processes: int = 1
    ray: str | None = None

    def map(
        self,
        function: Callable[..., R],
        jobs: Mapping[str, tuple[Any, ...]],
        *,
        here: Callable[..., R] | None = None,
        place: Place | None = None,
        hint: str = HINT,
        gpus: int = 0,
        tick: Callable[[], None] = lambda: None,
    ) -> Iterator[Done[R]]:
        """Call a function for each job, and yield what has ended, in the order of their ends.

        Args:
            function: A function at the top of a module, with annotated positional arguments.
            jobs: Key -> arguments. Errors name the key, so it should tell a reader which job it is.
            here: Called in this process instead, if one job is to be done at a time; without it another process is started.
            place: Data folder and database of the jobs. Processes of this machine get it in their environment; nodes of a
                cluster must have the same in theirs.
            hint: Advice for the reader if a process ends without a message.
            gpus: Number of GPUs that each job needs; a cluster gives it to no other job meanwhile.
            tick: Called about each second, and after each job.
        """
        if self.ray is None and here is not None and min(self.processes, len(jobs)) <= 1:
            for key, job in jobs.items():
                yield _done(key, partial(here, *job))
            return
        if not jobs:
            return
        packed = {key: wire.packed(job) for key, job in jobs.items()}
        name = wire.name_of(function)
        if self.ray is None:
            environment = {} if place is None else place.environment()
            ending = local.run(name, packed, self.processes, environment, TICK_S, tick)
        else:
            ending = cluster.run(self.ray, name, packed, "" if place is None else place.digest(), gpus, TICK_S, tick)
        with closing(ending):  # the traceback of an error keeps this frame, and with it the jobs
            for key, outcome in ending:
                yield _done(key, partial(_result, function, outcome, f"perhaps at {key}", hint))

    def workers(self, number: int) -> list[Worker]:
        """Start processes that keep their state from call to call."""
        processes: Sequence[_Process]
        if self.ray is None:
            processes = [local.LocalWorker({}) for _ in range(number)]
        else:
            processes = cluster.workers(self.ray, number)
        return [Worker(process) for process in processes]


class _Process(Protocol):
    def ask(self, name: str, arguments: list[bytes]) -> Callable[[], wire.Outcome | None]: ...
    def stop(self) -> None: ...


class Worker:
    """A process that keeps its state; call `stop` at the end."""

    def __init__(self, process: _Process) -> None:
        self._process = process

    def ask(self, function: Callable[..., R], *arguments: Any) -> Callable[[], R]:
        """Begin a call; the returned function waits for its result, or raises its error or a `LostError`."""
        answer = self._process.ask(wire.name_of(function), wire.packed(arguments))
        return lambda: _result(function, answer(), "perhaps for lack of memory", HINT)

    def stop(self) -> None:
        self._process.stop()


def _done(key: str, call: Callable[[], Any]) -> Done[Any]:
    try:
        return Done(key, call())
    except Exception as error:  # for the caller to raise or to tell
        return Done(key, error=error)


def _result(function: Callable[..., R], outcome: wire.Outcome | None, where: str, hint: str) -> R:
    if outcome is None:
        raise LostError(f"a process ended without a message, {where}\n{hint}")
    return wire.result_of(function, outcome)
