"""Jobs on a Ray cluster whose nodes are killed: each is done exactly once, and gives what processes of this machine give.

    python -m bench.jobs --ray local --nodes 2 --kill 10 --json

The same 40 rollouts, 10 proofs and 4 trainings four times, each time in a copy of one data folder: by processes of this
machine, by a cluster of raylets with one core each, by processes again, and by such a cluster while raylets are killed
(SIGKILL) in the middle of jobs and others take their places. Afterwards the catalogue and the folders are compared: every job
once, with the same steps, frames and weights. The overhead is the time of the undisturbed cluster over the mean of both local
runs; the start of the cluster is not in it, and that of processes is in both.
Exit status 1 unless every job was done exactly once and alike, and the overhead is within its bar.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import secrets
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import interplay.record
from interplay.agents.evaluate import evaluate
from interplay.explore import published
from interplay.explore.oracle.recording import prove_files
from interplay.jobs import Executor
from interplay.learn.benchmark import read
from interplay.learn.benchmark.runner import run_benchmark
from interplay.record import Archive, Episode
from interplay.record.place import place_of
from interplay.tasks import find

MAX_OVERHEAD = 0.10
NUM_ROLLOUTS, NUM_TRAININGS = 40, 4
TASK, MAX_STEPS = "atari/breakout", 1200
PROVED = [f"explore/{name}" for name in ("0007", "0009", "0013", "0021", "0037", "0056", "0067", "0076", "0116", "0127")]
BENCHMARK = Path(__file__).parent / "tiny.toml"
_NOTICE = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 500,
    "health_check_failure_threshold": 3,
}
"""Settings of Ray with which a dead node is noticed after two seconds, not fifteen."""


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ray", choices=["local"], default="local", help="a cluster of this machine")
    parser.add_argument("--nodes", type=int, default=2, help="raylets with one core each; also the number of local processes")
    parser.add_argument("--kill", type=int, default=10, help="raylets that are killed")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    result = measure(options.nodes, options.kill)
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        for key, value in result.items():
            print(f"{key:24} {value}")
    sys.exit(0 if result["passed"] else 1)


def measure(num_nodes: int, num_kills: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="jobs-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        root = Path(folder)
        _prepare(root / "begin")
        local = _run(root, "local", lambda place: _here(num_nodes))
        undisturbed = _run(root, "cluster", lambda place: _cluster(num_nodes, place))
        again = _run(root, "local again", lambda place: _here(num_nodes))
        killed = _run(root, "killed", lambda place: _cluster(num_nodes, place, num_kills=num_kills))
    overhead = undisturbed["seconds"] / ((local["seconds"] + again["seconds"]) / 2) - 1
    runs = {"local": local, "cluster": undisturbed, "local again": again, "killed": killed}
    alike = {name: [job for job in local["made"] if run["made"].get(job) != local["made"][job]] for name, run in runs.items()}
    result: dict[str, Any] = {
        "jobs": {"rollouts": NUM_ROLLOUTS, "proofs": len(PROVED), "trainings": NUM_TRAININGS},
        "nodes": num_nodes,
        "kills": killed["kills"],
        "seconds": {name: round(run["seconds"], 1) for name, run in runs.items()},
        "cluster_start_s": round(undisturbed["start_s"], 1),
        "overhead": round(overhead, 3),
        "not_exactly_once": {name: run["not_once"] for name, run in runs.items()},
        "different": alike,
        "journals_left_by_killed_attempts": killed["journals"],
    }
    once = (
        not any(run["not_once"] for run in runs.values()) and len(local["made"]) == NUM_ROLLOUTS + len(PROVED) + NUM_TRAININGS
    )
    result["passed"] = once and not any(alike.values()) and overhead <= MAX_OVERHEAD and killed["kills"] == num_kills
    return result


def _prepare(data: Path) -> None:
    """Make a data folder with the games that the trainings learn from."""
    with closing(interplay.record.open(data)) as archive:
        for learned in read(BENCHMARK).tasks:
            for play in learned.play:
                seeds = [seed for seed in range(10_000) if seed not in learned.task.held_out_seeds][: play.num_games]
                evaluate(archive, learned.task, play.agent, seeds, video=False)


class _Kills:
    """Kills of raylets, spread over the jobs. `seen` is called as jobs proceed."""

    def __init__(self, num_kills: int, kill: Callable[[int], None]) -> None:
        self.num_done, self._num_kills, self._kill = 0, num_kills, kill

    def of_stage(self, share: float, every: int) -> Callable[[], None]:
        """Return what a stage calls as it proceeds: each `every`-th call kills, up to this share of all kills."""
        most, calls = min(self._num_kills, self.num_done + round(share * self._num_kills)), 0

        def seen() -> None:
            nonlocal calls
            calls += 1
            if calls % every == 0 and self.num_done < most:
                self._kill(self.num_done)
                self.num_done += 1

        return seen


@contextmanager
def _here(num_processes: int) -> Iterator[tuple[Executor, _Kills]]:
    yield Executor(num_processes), _Kills(0, lambda number: None)


@contextmanager
def _cluster(num_nodes: int, place: dict[str, str], *, num_kills: int = 0) -> Iterator[tuple[Executor, _Kills]]:
    """A cluster whose nodes have a place in their environment; a killed raylet is replaced."""
    os.environ.update(place)
    import ray
    from ray.cluster_utils import Cluster

    size = {"object_store_memory": 100 * 2**20, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "_system_config": _NOTICE, **size})
    nodes = [cluster.add_node(num_cpus=1, **size) for _ in range(num_nodes)]

    def kill(number: int) -> None:
        which = number % num_nodes
        cluster.remove_node(nodes[which], allow_graceful=False)
        nodes[which] = cluster.add_node(num_cpus=1, **size)

    try:
        yield Executor(ray=cluster.address), _Kills(num_kills, kill)
    finally:
        ray.shutdown()
        cluster.shutdown()


def _run(root: Path, name: str, executing: Callable[[dict[str, str]], Any]) -> dict[str, Any]:
    """Do all jobs in a copy of the data folder; return times and what was made."""
    data = root / name
    shutil.copytree(root / "begin", data)
    with closing(interplay.record.open(data)) as archive:
        before = {episode.id for episode in archive.episodes()}
        begun = time.monotonic()
        with executing(place_of(archive).environment()) as (executor, kills):
            start_s = time.monotonic() - begun
            begun = time.monotonic()
            _roll_out(archive, executor, kills.of_stage(0.5, 7))
            _prove(archive, executor, kills.of_stage(0.3, 2))
            returns = _train(archive, executor, kills.of_stage(1.0, 2))
            seconds = time.monotonic() - begun
        journals = len([*archive.journal_folder.iterdir()])
        archive.repair()
        new = [episode for episode in archive.episodes() if episode.id not in before]
        once = Counter(_name_of(episode) for episode in new)
        made = {_name_of(episode): _digest(episode) for episode in new if not episode.task_id.startswith("bench/")}
        policies = sorted((data / "models").glob("*/model.safetensors"))
        made |= {path.parent.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in policies}
        assert len(returns) == len(policies)
    return {
        "seconds": seconds,
        "start_s": start_s,
        "made": made,
        "not_once": {job: number for job, number in once.items() if number != 1},
        "journals": journals,
        "kills": kills.num_done,
    }


def _roll_out(archive: Archive, executor: Executor, seen: Callable[[], None]) -> None:
    task = find(TASK)
    seeds = [seed for seed in range(1000) if seed not in task.held_out_seeds][:NUM_ROLLOUTS]
    report = lambda done, total: seen() if done else None  # noqa: E731
    evaluate(archive, task, "random", seeds, max_steps=MAX_STEPS, video=False, executor=executor, report=report)


def _prove(archive: Archive, executor: Executor, seen: Callable[[], None]) -> None:
    files = published.files_of(PROVED)
    found = prove_files(files, archive, executor=executor, report=lambda proved: seen())
    assert all(one.proof is not None for one in found), [one.verdict.reasons for one in found]


def _train(archive: Archive, executor: Executor, seen: Callable[[], None]) -> dict[str, tuple[float, ...]]:
    report = lambda what, done, total: seen() if what == "training" else None  # noqa: E731
    results = run_benchmark(archive, read(BENCHMARK), executor=executor, report=report)
    assert not any(run.problem for run in results.runs), [run.problem for run in results.runs]
    return {run.agent: run.returns for run in results.runs if run.returns is not None}


def _name_of(episode: Episode) -> str:
    return f"{episode.task_id} seed {episode.seed} {episode.header.owners[episode.header.seats[0]].name}"


def _digest(episode: Episode) -> str:
    """Hash of what was done, earned and seen in each step."""
    steps = episode.steps()
    columns = [name for name in steps.column_names if name.startswith(("action.", "reward.", "frame_hash"))]
    return hashlib.sha256(
        json.dumps({name: steps.column(name).to_pylist() for name in columns}, default=str).encode()
    ).hexdigest()


if __name__ == "__main__":
    token = Path(tempfile.gettempdir()) / f"interplay-bench-jobs-{os.getpid()}.token"
    token.write_text(secrets.token_hex(32), "utf-8")
    token.chmod(0o600)
    os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token), "RAY_USAGE_STATS_ENABLED": "0"}
    try:
        main()
    finally:
        token.unlink()
