"""Results of a benchmark: returns of every run, and the comparison of algorithms."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from interplay.learn.benchmark.definition import BenchmarkError
from interplay.learn.benchmark.scores import Array, aggregates, improvements, normalised

FOLDER = "benchmarks"
FILE = "results.json"
FORMAT = "interplay benchmark results"
VERSION = 1


@dataclass(frozen=True)
class Scale:
    """The two returns that normalise the scores of a task, and the origin of each, in words."""

    random: float
    best: float
    random_from: str
    best_from: str


@dataclass(frozen=True)
class Run:
    """One training run: finished, with the return of each game on held-out seeds; failed, with a problem; or unfinished."""

    algorithm: str
    task: str
    seed: int
    agent: str
    returns: tuple[float, ...] | None = None
    problem: str = ""

    @property
    def mean(self) -> float | None:
        return None if self.returns is None else float(np.mean(self.returns))


@dataclass(frozen=True)
class Results:
    """The results of a benchmark; for each task: its scale, the held-out seeds played, and the number of training episodes."""

    id: str
    title: str
    algorithms: tuple[str, ...]
    seeds: tuple[int, ...]
    tasks: dict[str, Scale]
    game_seeds: dict[str, tuple[int, ...]]
    num_episodes: dict[str, int]
    runs: tuple[Run, ...]

    def mean(self, algorithm: str, task: str) -> list[float]:
        """Mean return of each finished run of an algorithm in a task, in the order of the seeds."""
        return [run.mean for run in self.runs if (run.algorithm, run.task) == (algorithm, task) and run.mean is not None]

    def score(self, task: str, value: float) -> float:
        scale = self.tasks[task]
        return normalised(value, random=scale.random, best=scale.best)

    @property
    def complete_tasks(self) -> list[str]:
        """Tasks in which no run is missing; algorithms are compared over these only."""
        return [task for task in self.tasks if all(len(self.mean(name, task)) == len(self.seeds) for name in self.algorithms)]

    def matrices(self) -> dict[str, Array]:
        """Map each algorithm to its normalised scores in the complete tasks, shape (seeds, tasks)."""
        tasks = self.complete_tasks
        return {
            name: np.array([[self.score(task, value) for value in self.mean(name, task)] for task in tasks]).T
            for name in self.algorithms
            if tasks
        }

    def to_json(self) -> dict[str, Any]:
        return {"format": FORMAT, "version": VERSION, **asdict(self)}

    def summary(self) -> dict[str, Any]:
        """The comparison as JSON values: scores of each run, aggregates with 95 % intervals, probabilities of improvement."""
        matrices = self.matrices()
        found = {name: {kind: one._asdict() for kind, one in kinds.items()} for name, kinds in aggregates(matrices).items()}
        chances = [
            {"algorithm": one, "over": other, **chance._asdict()} for (one, other), chance in improvements(matrices).items()
        ]
        scores = [
            {"algorithm": name, "task": task, "scores": [self.score(task, value) for value in self.mean(name, task)]}
            for name in self.algorithms
            for task in self.tasks
        ]
        return {"complete_tasks": self.complete_tasks, "scores": scores, "aggregates": found, "improvement": chances}

    @classmethod
    def from_json(cls, document: Any, *, source: str) -> Self:
        """Read results from JSON values; raise `BenchmarkError` if they are not of the expected form."""
        try:
            if document["format"] != FORMAT or document["version"] != VERSION:
                raise ValueError(f"it is of format {document['format']!r} {document['version']!r}")
            return cls(
                id=document["id"],
                title=document["title"],
                algorithms=tuple(document["algorithms"]),
                seeds=tuple(document["seeds"]),
                tasks={name: Scale(**one) for name, one in document["tasks"].items()},
                game_seeds={name: tuple(one) for name, one in document["game_seeds"].items()},
                num_episodes=dict(document["num_episodes"]),
                runs=tuple(
                    replace(run, returns=None if run.returns is None else tuple(run.returns))
                    for run in (Run(**one) for one in document["runs"])
                ),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BenchmarkError(
                f"{source} does not hold the results of a benchmark: {error}\nRun it again:  interplay learn benchmark FILE"
            ) from None


def results_file(root: Path, name: str) -> Path:
    return root / FOLDER / name / FILE


def read_results(root: Path, names: Sequence[str] = ()) -> list[Results]:
    there = sorted(path.parent.name for path in (root / FOLDER).glob(f"*/{FILE}"))
    if missing := [name for name in names if name not in there]:
        known = f"there are results of {', '.join(there)}" if there else "none was run yet"
        raise BenchmarkError(
            f"no results of a benchmark {missing[0]!r} in {root}: {known}\nRun it:  interplay learn benchmark FILE"
        )
    found = []
    for name in names or there:
        path = results_file(root, name)
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise BenchmarkError(f"{path} cannot be read: {error}\nRun it again:  interplay learn benchmark FILE") from None
        found.append(Results.from_json(document, source=str(path)))
    return found
