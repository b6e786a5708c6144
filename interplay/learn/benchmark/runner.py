"""Run a benchmark: play, train and measure the missing parts in several processes. A killed run continues where it was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path
from typing import Any

from interplay.agents.evaluate import evaluate, worthwhile_processes
from interplay.files import alone, write_json
from interplay.jobs import Executor
from interplay.learn.benchmark.definition import Benchmark, BenchmarkError, Contender, LearnedTask
from interplay.learn.benchmark.results import Results, Run, Scale, results_file
from interplay.learn.config import TrainingConfig
from interplay.learn.settings import CONFIGS
from interplay.learn.train import matching_episodes, model_folder, train
from interplay.record import Archive, Episode
from interplay.record.place import archive_of_job, place_of
from interplay.tasks import Task, find

Report = Callable[[str, int, int], None]
"""Called with the name of the present work, the amount done, and the total amount."""


@dataclass(frozen=True)
class _Job:
    name: str
    config: dict[str, Any]
    game_seeds: tuple[int, ...]


def run_benchmark(
    archive: Archive, benchmark: Benchmark, *, executor: Executor = Executor(2), report: Report = lambda what, done, total: None
) -> Results:
    """Play, train and measure everything that is missing, and write the results to `benchmarks/<id>/`.

    A run is identified by its settings and its training episodes. When either changes, the run is made again, and the earlier
    policy stays under its own name. Results do not depend on how often a run was stopped or how many runs are made at once:
    each run has one thread unless the file says otherwise.

    Args:
        executor: Where the runs are made; with a cluster, each run that needs a GPU gets one.
    Returns:
        The results; a failed run has the reason as its `problem`, and all other runs are complete.
    Raises:
        TransitionError: If there is nothing to learn from in a task.
        BenchmarkError: If scores cannot be normalised, or another process runs this benchmark.
    """
    path = results_file(archive.root, benchmark.id)
    path.parent.mkdir(parents=True, exist_ok=True)
    busy = f"another process runs benchmark {benchmark.id!r} in {archive.root}\nWait until it ends, then run this again."
    with alone(path.with_name(".lock"), otherwise=BenchmarkError(busy)):
        return _run(archive, benchmark, executor, report, path)


def _run(archive: Archive, benchmark: Benchmark, executor: Executor, report: Report, path: Path) -> Results:
    tasks, scales, found, planned = [], {}, {}, {}
    for learned in benchmark.tasks:
        task = learned.task
        seeds = tuple(task.held_out_seeds[: benchmark.num_games])
        _play(archive, learned, executor, report)
        episodes = {
            contender.name: matching_episodes(archive, benchmark.config(contender, learned, benchmark.seeds[0]), task)
            for contender in benchmark.contenders
        }
        everything = [one for part in episodes.values() for one in part]
        scales[task.id] = _scale(archive, learned, everything, seeds, executor, report)
        found[task.id] = len({one.id for one in everything})
        tasks.append((task, seeds))
        for contender in benchmark.contenders:
            for seed in benchmark.seeds:
                config = benchmark.config(contender, learned, seed)
                name = name_of(benchmark, contender, config, episodes[contender.name])
                planned[name] = Run(contender.name, task.id, seed, name), _Job(name, config.to_json(), seeds)
    results = Results(
        id=benchmark.id,
        title=benchmark.title,
        algorithms=tuple(contender.name for contender in benchmark.contenders),
        seeds=benchmark.seeds,
        tasks=scales,
        game_seeds={task.id: seeds for task, seeds in tasks},
        num_episodes=found,
        runs=tuple(run for run, _ in planned.values()),
    )
    done: dict[str, Run] = {}
    for name, run in _made(archive, planned, executor, report):
        done[name] = run
        results = replace(results, runs=tuple(done.get(one.agent, one) for one in results.runs))
        write_json(path, results.to_json(), indent=1)
    return results


def _play(archive: Archive, learned: LearnedTask, executor: Executor, report: Report) -> None:
    task = learned.task
    for play in learned.play:
        seeds = islice((seed for seed in count() if seed not in task.held_out_seeds), play.num_games)
        _evaluate(archive, task, play.agent, list(seeds), executor, report)


def _evaluate(archive: Archive, task: Task, agent: str, seeds: list[int], executor: Executor, report: Report) -> list[Episode]:
    what = f"{agent} plays {task.id}"
    executor = replace(executor, processes=worthwhile_processes(task, len(seeds)))
    return evaluate(
        archive, task, agent, seeds, video=False, executor=executor, report=lambda done, total: report(what, done, total)
    )


def _scale(
    archive: Archive, learned: LearnedTask, episodes: list[Episode], seeds: tuple[int, ...], executor: Executor, report: Report
) -> Scale:
    """The returns that normalise the scores of a task."""
    random, random_from = learned.random, "given"
    if random is None:
        played = _evaluate(archive, learned.task, "random", list(seeds), executor, report)
        random = sum(episode.total_reward for episode in played) / len(played)
        random_from = f"mean of {len(played)} games on the held-out seeds"
    best, best_from = learned.best, "given"
    if best is None:
        best = max(episode.total_reward for episode in episodes)
        best_from = f"best of {len({one.id for one in episodes})} games learned from"
    if not best > random:
        raise BenchmarkError(
            f"scores of {learned.task.id} cannot be normalised: the best game is {best:g} ({best_from}), "
            f"random play {random:g} ({random_from})\nGive better games to learn from, or `random` and `best` in the file."
        )
    return Scale(float(random), float(best), random_from, best_from)


def name_of(benchmark: Benchmark, contender: Contender, config: TrainingConfig, episodes: list[Episode]) -> str:
    """Name of a run's policy: readable, and different for different settings or data."""
    settings = config.fixed() | {"temperature": config.temperature, "max_seconds": config.max_seconds}
    known = json.dumps([settings, sorted(episode.id for episode in episodes)], sort_keys=True)
    task = config.task.rpartition("/")[2].rpartition(":")[2]
    return f"{benchmark.id}.{contender.slug}.{task}.{config.seed}.{hashlib.sha256(known.encode()).hexdigest()[:8]}"


def _made(
    archive: Archive, planned: dict[str, tuple[Run, _Job]], executor: Executor, report: Report
) -> Iterator[tuple[str, Run]]:
    """Make the planned runs; yield (name, run) of each as soon as it ends."""
    total = sum(job.config["updates"] for _, job in planned.values())
    ended: set[str] = set()

    def tick() -> None:
        updates = sum(
            job.config["updates"] if name in ended else _updates(archive.root / "models" / name)
            for name, (_, job) in planned.items()
        )
        report("training", updates, total)

    jobs = {name: (job,) for name, (_, job) in planned.items()}
    gpus = int(any(job.config["device"] == "cuda" for _, job in planned.values()))
    hint = "Run the benchmark again to continue it."
    for done in executor.map(make_run, jobs, place=place_of(archive), hint=hint, gpus=gpus, tick=tick):
        ended.add(done.key)
        run = planned[done.key][0]
        if done.error is None:
            yield done.key, replace(run, returns=done.get())
        else:  # whatever it is, the other runs go on
            yield done.key, replace(run, problem=str(done.error))


def _updates(folder: Path) -> int:
    """Number of updates that a run has made, read from its last line of metrics."""
    try:
        lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
        return int(json.loads(lines[-1])["update"])
    except (OSError, ValueError, LookupError):
        return 0


def make_run(job: _Job) -> tuple[float, ...]:
    """Train a policy unless it exists, let it play its seeds, and return its returns."""
    config = CONFIGS[job.config["algorithm"]].from_json(job.config)
    if not config.threads:
        config = replace(config, threads=1)
    with archive_of_job() as archive, alone(archive.root / "models" / f".{job.name}.lock"):  # an earlier attempt may still work
        folder = model_folder(archive, job.name)
        if not (folder / "model.json").exists():
            train(archive, config, job.name, resume=(folder / "config.json").exists())
        played = evaluate(archive, find(config.task), job.name, job.game_seeds, video=False)
        return tuple(episode.total_reward for episode in played)
