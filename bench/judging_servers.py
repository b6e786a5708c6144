"""Several servers on one PostgreSQL database, with judges who take no time: answers a second, and how long locks are held.

    python -m bench.judging --database postgresql --servers 1,2 --json

For each number of servers there is a new database. Each server has its own data folder, which shares the videos, and its own
judges. Servers, database and judges get cores of their own if the machine has enough; else nothing is pinned, and the ratio of
servers is no bar. Locks are timed inside each server, from the driver's calls: waiting, from asking to getting the lock;
holding, from then until the connection is given back after the commit (so a busy processor makes both longer).

Exit status 1 unless every check of every run passes, the lock that the smallest number of servers holds longest would be held
at most `MAX_SHARE_HELD` of the time at `ANSWERS_PER_S`, and, with cores of their own, the largest number of servers gives at
least `MIN_RATIO` times the answers of the smallest.
"""

from __future__ import annotations

import argparse
import json
import os
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import sqlalchemy as sa

from bench import judging_data
from bench.judging_checks import check
from bench.judging_crowd import leaderboards, quantiles, run_crowd
from bench.judging_server import LOCKS, TIMED, Server
from interplay.store import Database

ANSWERS_PER_S = 40.0
"""What one server reached when one lock guarded everything; that lock was then held 79 to 91 percent of the time."""
MAX_SHARE_HELD = 0.4
MIN_RATIO = 1.5
_SHARED = ("episodes", "media")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Every figure of one run: for each number of servers, and the ratio of the largest number to the smallest."""
    numbers = [int(number) for number in options.servers.split(",")]
    cores = sorted(os.sched_getaffinity(0))
    is_pinned = len(cores) >= max(numbers) + 2
    pins = Pins([set(cores)] * max(numbers), set(cores), set(cores))
    if is_pinned:
        pins = Pins([{core} for core in cores[: max(numbers)]], set(cores[max(numbers) : -1]), {cores[-1]})
        machine = f"{len(cores)} cores: one for each server, one for the judges, the others for the database"
    else:
        machine = (
            f"{len(cores)} cores, too few for {max(numbers)} servers, the judges and the database apart ({max(numbers) + 2}): "
            "nothing is pinned, and the ratio says what the cores allow, not what the locks allow"
        )
    runs = {number: _run(number, options, pins) for number in numbers}
    ratio = runs[max(numbers)]["answers_per_s"] / runs[min(numbers)]["answers_per_s"]
    passed = all(run["checks"]["passed"] for run in runs.values())
    passed &= runs[min(numbers)]["most_held"]["share_at_40_answers_per_s"] <= MAX_SHARE_HELD
    return {
        "database": options.database,
        "machine": machine,
        "servers": {str(number): run for number, run in runs.items()},
        "ratio": round(ratio, 2),
        "passed": passed and (ratio >= MIN_RATIO or not is_pinned),
    }


class Pins(NamedTuple):
    """Cores on which each server, the database and the judges run."""

    servers: list[set[int]]
    database: set[int]
    judges: set[int]


@contextmanager
def _on(cores: set[int]) -> Iterator[None]:
    """Let processes that this thread starts in the block run on these cores only."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _run(num_servers: int, options: argparse.Namespace, pins: Pins) -> dict[str, Any]:
    with ExitStack() as stack:
        root = Path(stack.enter_context(TemporaryDirectory(prefix="interplay-bench-")))
        with _on(pins.database):
            database = stack.enter_context(judging_data.empty_database("postgresql"))
        assert database is not None
        folders = [root / f"data-{number}" for number in range(num_servers)]
        judging_data.fill(folders[0], database)
        for folder in folders[1:]:
            folder.mkdir()
            for name in _SHARED:
                (folder / name).symlink_to(folders[0] / name)
        servers = []
        for number, folder in enumerate(folders):
            server = Server(folder, database, program=TIMED, log=root / f"server-{number}.log")
            with _on(pins.servers[number]):
                servers.append(stack.enter_context(server))
        seen: list[dict[str, Any]] = [{} for _ in servers]
        before = [server.cpu_s() for server in servers]

        def judge(number: int) -> None:
            with _on(pins.judges):
                seen[number] = run_crowd(
                    root / f"crowd-{number}.json",
                    servers[number].address,
                    num_judges=options.judges // num_servers,
                    num_answers=options.busy_answers // num_servers,
                    think_s=0.0,
                    seed=options.seed + number,
                )

        crowds = [threading.Thread(target=judge, args=(number,)) for number in range(num_servers)]
        for crowd in crowds:
            crowd.start()
        for crowd in crowds:
            crowd.join()
        cpu_s = sum(server.cpu_s() - earlier for server, earlier in zip(servers, before, strict=True))
        boards = [leaderboards(server.address, judging_data.TASKS) for server in servers]
        for server in servers:
            server.stop()
        store = Database.open(database)
        findings = check(store, seen, boards[0])
        if any(board != boards[0] for board in boards):
            findings.faults["the servers show different boards"].append(f"{len(boards)} servers")
        with store.look() as session:
            commits = session.scalar(sa.text("SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"))
        store.close()
        begin_s, end_s = min(one["begin_s"] for one in seen), max(one["end_s"] for one in seen)
        num_answers = sum(len(one["accepted"]) for one in seen)
        locks = [json.loads(line) for folder in folders for line in (folder / LOCKS).read_text().splitlines()]
        return {
            "judges": num_servers * (options.judges // num_servers),
            "answers": num_answers,
            "answers_per_s": round(num_answers / (end_s - begin_s), 1),
            "server_cpu_ms_per_answer": round(1000 * cpu_s / num_answers, 2),
            "commits_per_answer": round((commits or 0) / num_answers, 2),
            "serve_ms": quantiles([latency for one in seen for _, latency in one["serves"]]),
            **_times([one for one in locks if begin_s <= one["asked_s"] <= end_s], end_s - begin_s, num_answers),
            "checks": findings.to_json(),
        }


def _times(locks: Sequence[Mapping[str, Any]], elapsed_s: float, num_answers: int) -> dict[str, Any]:
    """How long locks were waited for and held, by kind; and of all locks, the one that was held longest.

    Args:
        locks: Each `{"kind", "name", "asked_s", "got_s", "ended_s"}`.
    """
    by_kind, held_s = defaultdict(list), defaultdict[str, float](float)
    for one in locks:
        by_kind[one["kind"]].append(one)
        held_s[f"{one['kind']} {one['name']}"] += one["ended_s"] - one["got_s"]
    most = max(held_s, key=held_s.__getitem__)
    return {
        "locks_per_answer": round(len(locks) / num_answers, 2),
        "locks": {
            kind: {
                "per_answer": round(len(found) / num_answers, 2),
                "waited_ms": _spread([one["got_s"] - one["asked_s"] for one in found]),
                "held_ms": _spread([one["ended_s"] - one["got_s"] for one in found]),
            }
            for kind, found in sorted(by_kind.items())
        },
        "most_held": {
            "lock": most,
            "held_ms_per_answer": round(1000 * held_s[most] / num_answers, 2),
            "share_of_time": round(held_s[most] / elapsed_s, 3),
            "share_at_40_answers_per_s": round(ANSWERS_PER_S * held_s[most] / num_answers, 3),
        },
    }


def _spread(seconds: Sequence[float]) -> dict[str, float]:
    return {"mean": round(1000 * float(np.mean(seconds)), 2), "p99": round(1000 * float(np.percentile(seconds, 99)), 2)}
