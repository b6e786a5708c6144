"""Result of `interplay rank`, as one JSON document or as CSV."""

from __future__ import annotations

import csv
import dataclasses
import sys
from typing import Any

import numpy as np

from interplay.rank import LeaderboardRow
from interplay.rank.agreement import METRICS, Judgement, agreement, questions
from interplay.rank.bias import judges, length_bias, side_bias
from interplay.rank.compare import above, beats
from interplay.rank.leaderboards import Board, Boards, Resampling
from interplay.rank.ranking import Method, Options
from interplay.rank.transitivity import expected, transitivity


def leaderboards(
    result: Boards, task: str | None, method: Method, draws: Resampling | None, *, normalised: bool
) -> dict[str, Any]:
    """The result as JSON: the asked task's leaderboard, or the overall one and, where there are several, each task's."""
    document: dict[str, Any] = {"task": task, **_leaderboard(result.overall), "method": method}
    notes = [*result.overall.notes]
    if task is None and len(result.tasks) > 1:
        document["tasks"] = {name: _leaderboard(board) for name, board in sorted(result.tasks.items())}
        notes += [f"{name}: {note}" for name, board in sorted(result.tasks.items()) for note in board.notes]
    if notes:
        document["notes"] = notes
    if draws is not None:
        document["bootstrap"] = dataclasses.asdict(draws)
    if normalised and result.normalised is not None:
        document["normalised"] = [_fields(row) for row in result.normalised]
    return document


def _leaderboard(board: Board) -> dict[str, Any]:
    return {
        "leaderboard": [_fields(row) for row in board.rows],
        "num_answers": len(board.log),
        "num_judges": board.num_judges,
    }


def _fields(row: Any) -> dict[str, Any]:
    return {name: value for name, value in dataclasses.asdict(row).items() if value is not None}


def probabilities(board: Board, options: Options) -> dict[str, Any]:
    """Probabilities that one beats another and that one is above another, agents in the order of the leaderboard."""
    order = np.array([board.ranking.agents.index(row.agent) for row in board.rows], int)
    by = "fit" if board.resampled is None else "bootstrap"
    over = above(board.ranking) if board.resampled is None else board.resampled.above()
    return {
        "agents": [row.agent for row in board.rows],
        "beats": beats(board.ranking, options)[np.ix_(order, order)].tolist(),
        "above": over[np.ix_(order, order)].tolist(),
        "above_by": by,
    }


def agreement_by_question(judgements: list[Judgement], draws: Resampling | None) -> dict[str, Any]:
    num, level, seed = (draws.num_resamples, draws.level, draws.seed) if draws else (0, 0.95, 0)
    return {
        question: {
            metric: dataclasses.asdict(
                agreement(
                    judgements,
                    question=question,
                    metric=metric,
                    num_resamples=num,
                    level=level,
                    rng=np.random.default_rng(seed),
                )
            )
            for metric in METRICS
        }
        for question in questions(judgements)
    }


def bias(judgements: list[Judgement]) -> dict[str, Any]:
    """How judges lean: side, draws, length of reasons, and each judge."""
    return {
        "side": dataclasses.asdict(side_bias(judgements)),
        "length": dataclasses.asdict(length_bias(judgements)),
        "judges": [dataclasses.asdict(row) for row in judges(judgements)],
    }


def triads(board: Board, seed: int) -> dict[str, Any]:
    wins, ties = board.log.counts()
    found = transitivity(wins, ties)
    document: dict[str, Any] = {**found._asdict(), "share_cyclic": found.share_cyclic, "seed": seed}
    for name, equal in (("expected_if_equal", True), ("expected_by_model", False)):
        ranges = expected(wins, ties, rng=np.random.default_rng(seed), equal=equal)
        document[name] = {
            count: dict(zip(("mean", "low", "high"), values, strict=True)) for count, values in ranges._asdict().items()
        }
    return document


def print_csv(result: Boards, task: str | None, normalised: bool) -> None:
    """Leaderboards as one table with a column `board`: `overall`, `task` or `normalised`."""
    columns = [field.name for field in dataclasses.fields(LeaderboardRow)]
    writer = csv.DictWriter(sys.stdout, ["board", "task", *columns], lineterminator="\n")
    writer.writeheader()

    def write(board: str, name: str, rows: list[Any]) -> None:
        for row in rows:
            writer.writerow({"board": board, "task": name, **_fields(row)})

    if task is not None:
        write("task", task, result.overall.rows)
        return
    write("overall", "", result.overall.rows)
    if len(result.tasks) > 1:
        for name, board in sorted(result.tasks.items()):
            write("task", name, board.rows)
    if normalised and result.normalised is not None:
        write("normalised", "", result.normalised)
