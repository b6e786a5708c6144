"""Jobs in processes of this machine, which end whenever this process ends."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool

from interplay.jobs.wire import Outcome, perform
from interplay.parallel import process_pool


def run(
    name: str,
    jobs: Mapping[str, list[bytes]],
    processes: int,
    environment: Mapping[str, str],
    tick_s: float,
    tick: Callable[[], None],
) -> Generator[tuple[str, Outcome | None]]:
    """Yield (key, outcome) of each job as it ends; None for a job whose process ended without a message.

    Closing the generator waits for the jobs that have begun; Ctrl-C ends all processes at once.
    """
    with process_pool(min(processes, len(jobs)), environment) as pool:
        waiting = {pool.submit(perform, name, packed): key for key, packed in jobs.items()}
        while waiting:
            ended, _ = wait(waiting, timeout=tick_s, return_when=FIRST_COMPLETED)
            for future in ended:
                yield waiting.pop(future), _outcome(future)
            tick()


class LocalWorker:
    """One process that keeps its state between calls."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._pool = process_pool(1, environment)

    def ask(self, name: str, arguments: list[bytes]) -> Callable[[], Outcome | None]:
        future = self._pool.submit(perform, name, arguments)
        return lambda: _outcome(future)

    def stop(self) -> None:
        self._pool.stop()


def _outcome(future: Future[Outcome]) -> Outcome | None:
    try:
        return future.result()
    except BrokenProcessPool:
        return None
