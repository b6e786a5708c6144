"""Fifty judges at once: how long they wait for the next match, and whether anything is mixed up or lost when the server dies.

    python -m bench.judging --judges 50 --answers 10000 --database sqlite --json
    python -m bench.judging --database postgresql --servers 1,2 --json          # see `judging_servers`

A server process, and judges in another one: people with cookies who are served a match, fetch parts of both videos, send a
draft, and answer; some reload, give back, answer late or twice. First they take their time (`--think` seconds a turn), then
they take none, so that the server is as busy as it can be. In the middle of both the server is killed (SIGKILL) and started
again. Afterwards everything they were told is held against the database, see `judging_checks`.

The baseline is the same server with nothing kept between requests (`judging_server`), on the log of the runs before.
Latency of a request: from sending it to the last byte of the reply; of what had to be sent again, the last sending.
Exit status 1 unless the 99th percentile of the first crowd's waits meets its bar and every check passes.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from bench import judging_data, judging_servers
from bench.judging_checks import check
from bench.judging_crowd import leaderboards, quantiles, run_crowd
from bench.judging_data import DATABASES, TASKS
from bench.judging_server import FORGETFUL, Server
from interplay.store import Database

MAX_SERVE_P99_MS = 100.0


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judges", type=int, default=50)
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--think", type=float, default=3.0, help="mean seconds a judge spends on a match")
    parser.add_argument("--database", choices=DATABASES, default="sqlite")
    parser.add_argument("--busy-answers", type=int, default=2000, help="answers of judges who take no time; 0 leaves it out")
    parser.add_argument("--baseline-answers", type=int, default=100, help="the baseline's; 0 leaves it out")
    parser.add_argument("--servers", help="numbers of servers on one PostgreSQL database, such as 1,2; measures only these")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.servers and options.database != "postgresql":
        parser.error("--servers needs --database postgresql")
    result = judging_servers.measure(options) if options.servers else measure(options)
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        for key, value in result.items():
            print(key)
            for name, number in value.items() if isinstance(value, dict) else [("", value)]:
                print(f"  {name:28} {number}")
    raise SystemExit(0 if result["passed"] else 1)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Every figure of one run."""
    with (
        tempfile.TemporaryDirectory(prefix="interplay-bench-") as folder,
        judging_data.empty_database(options.database) as database,
    ):
        root = Path(folder)
        data = root / "data"
        num_episodes = judging_data.fill(data, database)
        bench = _Bench(root, options.judges, options.seed)
        result: dict[str, Any] = {
            "database": options.database,
            "cores": len(os.sched_getaffinity(0)),
            "load_before": _load(),
            "num_episodes": num_episodes,
        }
        with Server(data, database, log=root / "server.log") as server:
            result["judges"] = bench.crowd(server, options.answers, options.think, kill=True)
            if options.busy_answers:
                result["busy_judges"] = bench.crowd(server, options.busy_answers, 0.0, kill=True)
            boards = leaderboards(server.address, TASKS)
        store = Database.open(database or f"sqlite:///{data}/interplay.db")
        result["checks"] = check(store, bench.seen, boards).to_json()
        store.close()
        if options.baseline_answers:
            with Server(data, database, program=FORGETFUL, log=root / "baseline.log") as baseline:
                result["baseline"] = bench.crowd(baseline, options.baseline_answers, 0.0, kill=False)
        if options.busy_answers and options.baseline_answers:
            ours, theirs = result["busy_judges"], result["baseline"]
            result["ratio"] = {
                "answers_per_s": round(ours["answers_per_s"] / theirs["answers_per_s"], 1),
                "server_cpu_per_answer": round(theirs["server_cpu_ms_per_answer"] / ours["server_cpu_ms_per_answer"], 1),
            }
        p99 = result["judges"]["serve_ms"]["p99"]
        result["passed"] = p99 <= MAX_SERVE_P99_MS and result["checks"]["passed"]
        return result


class _Bench:
    """Sends crowds to servers and keeps what they saw."""

    def __init__(self, folder: Path, num_judges: int, seed: int) -> None:
        self._folder, self._num_judges, self._seed = folder, num_judges, seed
        self.seen: list[dict[str, Any]] = []

    def crowd(self, server: Server, num_answers: int, think_s: float, *, kill: bool) -> dict[str, Any]:
        """Let judges give so many answers; kill the server when half of them are in, and start it again."""
        cpu_s, load = server.cpu_s(), _load()
        outage: dict[str, Any] = {}
        seen = run_crowd(
            self._folder / f"crowd-{len(self.seen)}.json",
            server.address,
            num_judges=self._num_judges,
            num_answers=num_answers,
            think_s=think_s,
            seed=self._seed + len(self.seen),
            at_half=(lambda: outage.update(_kill_and_start(server))) if kill else None,
        )
        self.seen.append(seen)
        cpu_s = server.cpu_s() - cpu_s
        elapsed_s = seen["end_s"] - seen["begin_s"]
        working_s = elapsed_s - outage.get("outage_s", 0.0)
        num_accepted = len(seen["accepted"])
        return {
            "judges": self._num_judges,
            "answers": num_accepted,
            "think_s": think_s,
            "elapsed_s": round(elapsed_s, 1),
            "load": [load[0], _load()[0]],
            "answers_per_s": round(num_accepted / working_s, 1),
            "requests_per_s": round(sum(seen["statuses"].values()) / working_s, 1),
            "serve_ms": quantiles([latency for _, latency in seen["serves"]]),
            "num_serves_over_bar": sum(latency > MAX_SERVE_P99_MS for _, latency in seen["serves"]),
            **{f"{kind}_ms": quantiles(seen["latencies_ms"][kind]) for kind in ("answer", "heartbeat", "video")},
            "server_cpu_ms_per_answer": round(1000 * cpu_s / num_accepted, 2),
            "server_cpu_percent": round(100 * cpu_s / working_s),
            "judges_cpu_percent": round(100 * seen["cpu_s"] / elapsed_s),
            **outage,
            "requests_without_reply": seen["num_lost"],
            "answers_whose_reply_was_lost": sum(sequence is None for sequence, _ in seen["accepted"].values()),
            "statuses": dict(sorted(seen["statuses"].items())),
        }


def _kill_and_start(server: Server) -> dict[str, Any]:
    begin = time.monotonic()
    server.kill()
    server.start()
    return {"outage_s": round(time.monotonic() - begin, 2)}


def _load() -> list[float]:
    return [round(value, 2) for value in os.getloadavg()]


if __name__ == "__main__":
    main()
