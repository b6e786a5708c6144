"""`interplay report offline`: results of learning benchmarks, and a check of CrowdPlay's published scores."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from interplay.learn.benchmark.results import Results
from interplay.learn.benchmark.scores import AGGREGATES, Estimate, aggregates, improvements, normalised, profiles
from interplay.report.plots import plot_intervals, plot_matrix, plot_profiles
from interplay.report.table import Cell, Column, Figure, Measured, Report, Section, Table, number_columns, text_columns

FILE = Path(__file__).with_name("offline_paper.toml")
TOLERANCE = 0.015
"""Largest difference in per cent that rounding explains: printed scores and returns have two decimals."""
_NUM_LEVELS = 61


class Disagreement(NamedTuple):
    """A printed score that does not follow from the printed return."""

    task: str
    algorithm: str
    returned: float
    printed: float
    recomputed: float


@cache
def paper() -> dict[str, Any]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def recomputed() -> list[tuple[str, list[Measured]]]:
    """Return for each task the algorithms' scores in per cent: computed from the paper's table 5, and as printed in table 6."""
    return [
        (
            task["name"],
            [
                Measured(100 * normalised(value, random=task["random"], best=task["best"]), printed)
                for value, printed in zip(task["returns"], task["scores"], strict=True)
            ],
        )
        for task in paper()["task"]
    ]


def disagreements() -> list[Disagreement]:
    """Return the scores in the paper's table 6 that do not follow from the returns in its table 5."""
    algorithms = paper()["source"]["algorithms"]
    returns = {task["name"]: task["returns"] for task in paper()["task"]}
    return [
        Disagreement(task, algorithms[place], returns[task][place], cell.paper or 0.0, cell.value or 0.0)
        for task, cells in recomputed()
        for place, cell in enumerate(cells)
        if abs(cell.difference or 0.0) > TOLERANCE
    ]


def offline_report(found: Sequence[Results], *, seed: int = 0) -> Report:
    """Make the report on the results of benchmarks; without results, only on the paper's tables."""
    sections = [section for results in found for section in _sections(results, seed=seed)]
    runs = [run for results in found for run in results.runs]
    return Report(
        "offline",
        "Learning from recordings",
        "How well algorithms learn from recorded games alone: scores normalised by random play and the best game, "
        "aggregates that a few lucky runs do not move (Agarwal et al. 2021), and intervals of 95 %.",
        (*sections, _paper_section()),
        (
            ("benchmarks", str(len(found))),
            ("runs", str(sum(run.returns is not None for run in runs))),
            ("missing runs", str(sum(run.returns is None for run in runs))),
            ("seed of intervals", str(seed)),
        ),
    )


def _sections(results: Results, *, seed: int) -> list[Section]:
    scores = results.matrices()
    num_games = ", ".join(sorted({str(len(seeds)) for seeds in results.game_seeds.values()}))
    head = [
        f"Algorithms: {len(results.algorithms)}; tasks: {len(results.tasks)}; runs of each: {len(results.seeds)}. Every policy "
        f"plays {num_games} held-out seeds, and a run's return is the mean of these games. A score is (return - random play) / "
        "(best game - random play): 0 is random play, 1 the best game. Intervals draw the runs of each task anew, 2,000 times."
    ]
    if len(results.complete_tasks) < len(results.tasks):
        missing = ", ".join(task for task in results.tasks if task not in results.complete_tasks)
        head.append(f"Aggregates leave out tasks in which a run is missing: {missing}. Run the benchmark again to make it.")
    if len(results.seeds) < 3:
        head.append("With fewer than three runs a task, intervals are far too narrow: take them for a first look.")
    blocks: list[Table | Figure] = []
    if scores:
        blocks += [
            *_aggregates(results.id, scores, seed),
            _profiles(results.id, scores, seed),
            *_improvements(results.id, scores, seed),
        ]
    sections = [Section(f"{results.id}-compared", results.title, head, blocks)]
    sections.append(
        Section(f"{results.id}-runs", f"{results.title}: tasks and runs", (), [_returns(results), _scales(results)])
    )
    if failed := [run for run in results.runs if run.problem]:
        rows = tuple((run.algorithm, run.task, run.seed, run.problem.splitlines()[0]) for run in failed)
        columns = (Column("algorithm"), Column("task"), Column("seed", "count"), Column("why"))
        sections.append(
            Section(f"{results.id}-failed", "Runs that failed", (), [Table(f"{results.id}-failed", "Failed", columns, rows)])
        )
    return sections


def _aggregates(id: str, scores: dict[str, np.ndarray], seed: int) -> list[Table | Figure]:
    found = aggregates(scores, seed=seed)
    columns: tuple[Column, ...] = (Column("algorithm"),)
    for kind in AGGREGATES:
        columns += (Column(kind, "number", 3), Column(f"{kind}, 95 %"))
    order = sorted(scores, key=lambda name: -found[name]["IQM"].value)
    rows = tuple((name, *(part for kind in AGGREGATES for part in _with_interval(found[name][kind]))) for name in order)
    blocks: list[Table | Figure] = [
        Table(
            f"{id}-aggregates",
            "Aggregates over tasks",
            columns,
            rows,
            "IQM: mean of the middle half of all runs. Optimality gap: how far runs stay below the best game; less is better.",
        )
    ]
    for kind, label in (
        ("IQM", "interquartile mean (1 is the best game)"),
        ("optimality gap", "optimality gap (less is better)"),
    ):
        records = [{"name": name, "num": scores[name].size, **found[name][kind]._asdict()} for name in order]
        blocks.append(
            Figure(
                f"{id}-figure-{kind.replace(' ', '-').lower()}",
                f"{kind[0].upper()}{kind[1:]} with its interval",
                "Each point an algorithm over all tasks; the line is the interval of 95 %.",
                records,
                lambda table, ax, label=label: plot_intervals(table, ax, label=label, roster=[*scores]),
                "; ".join(f"{row['name']} {row['value']:.2f} ({row['low']:.2f} to {row['high']:.2f})" for row in records),
                height_in=0.9 + 0.42 * len(records),
            )
        )
    return blocks


def _with_interval(found: Estimate) -> tuple[float, str]:
    number = Column("", "number", 3)
    return found.value, f"{number.write(found.low)} to {number.write(found.high)}"


def _profiles(id: str, scores: dict[str, np.ndarray], seed: int) -> Figure:
    every = np.concatenate([matrix.ravel() for matrix in scores.values()])
    levels = np.linspace(min(0.0, float(every.min())), max(1.0, float(every.max())), _NUM_LEVELS)
    found = profiles(scores, levels.tolist(), seed=seed)
    records = [
        {"name": name, "score": float(level), **share._asdict()}
        for name, shares in found.items()
        for level, share in zip(levels, shares, strict=True)
    ]
    middle = {name: shares[int(np.abs(levels - 0.5).argmin())].value for name, shares in found.items()}
    return Figure(
        f"{id}-figure-profiles",
        "Performance profiles",
        "Share of runs with more than a score; higher is better. Bands are intervals of 95 % at each score.",
        records,
        plot_profiles,
        "share of runs above a score of one half: " + ", ".join(f"{name} {share:.0%}" for name, share in middle.items()),
    )


def _improvements(id: str, scores: dict[str, np.ndarray], seed: int) -> list[Table | Figure]:
    if len(scores) < 2:
        return []
    found: dict[tuple[str, str], Estimate] = improvements(scores, seed=seed)
    rows = tuple((one, other, *chance) for (one, other), chance in found.items())
    columns = (*text_columns("algorithm", "over"), *number_columns("probability", "from", "to", digits=3))
    said = "The chance that a run of the one beats a run of the other in a task drawn at random."
    records = [
        {"row": one, "column": other, "value": found[one, other].value if one != other else None, "num": scores[one].size}
        for one in scores
        for other in scores
    ]
    best = max(scores, key=lambda one: sum(found[one, other].value for other in scores if other != one))
    return [
        Figure(
            f"{id}-figure-improvement",
            "Probability of improvement",
            said + " Rows over columns.",
            records,
            lambda table, ax: plot_matrix(table, ax, rows="algorithm", columns="over", digits=2),
            f"{best} beats the others most often",
            height_in=1.2 + 0.4 * len(scores),
        ),
        Table(f"{id}-improvement", "Probability of improvement with its interval", columns, rows, said),
    ]


def _returns(results: Results) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for task in results.tasks:
        for name in results.algorithms:
            runs = {run.seed: run for run in results.runs if (run.algorithm, run.task) == (name, task)}
            means = results.mean(name, task)
            mean = float(np.mean(means)) if means else None
            rows.append(
                (
                    task,
                    name,
                    mean,
                    None if mean is None else results.score(task, mean),
                    *(runs[seed].mean for seed in results.seeds),
                )
            )
    columns = (Column("task"), Column("algorithm"), Column("mean return", "number"), Column("score", "number", 3))
    columns += tuple(Column(f"seed {seed}", "number") for seed in results.seeds)
    return Table(
        f"{results.id}-returns", "Returns", columns, tuple(rows), "A column a training seed; – where a run is missing."
    )


def _scales(results: Results) -> Table:
    rows = tuple(
        (task, results.num_episodes[task], scale.random, scale.random_from, scale.best, scale.best_from)
        for task, scale in results.tasks.items()
    )
    columns = (
        Column("task"),
        Column("episodes learned from", "count"),
        Column("random play", "number"),
        Column("random play is"),
        Column("best game", "number"),
        Column("best game is"),
    )
    return Table(f"{results.id}-scales", "What scores are normalised by", columns, rows)


def _paper_section() -> Section:
    algorithms = paper()["source"]["algorithms"]
    cells = recomputed()
    wrong = disagreements()
    num = sum(len(row) for _, row in cells)
    said = "; ".join(
        f"{one.algorithm} in {one.task} is printed as {one.printed:.2f}, and its return of {one.returned:.2f} "
        f"gives {one.recomputed:.2f}"
        for one in wrong
    )
    return Section(
        "paper",
        "CrowdPlay's published scores",
        (
            f"Table 6 of Gerstgrasser et al. 2022 (normalised scores in per cent) recomputed from its table 5 (returns): "
            f"{num - len(wrong)} of {num} cells agree. {said[0].upper()}{said[1:]}.",
            "These are scores on people's games that are not here: a reference, not a target.",
        ),
        [
            Table(
                "paper-scores",
                "Table 6 from table 5",
                (Column("task"), *(Column(name, "number") for name in algorithms)),
                tuple((task, *row) for task, row in cells),
                "Per cent, in brackets as printed, with ours minus theirs.",
            )
        ],
    )
