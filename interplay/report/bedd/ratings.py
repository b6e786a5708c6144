"""The chapter about agents: ratings, the normalised score (BEDD's table 3), leaderboard, and ratings by task and by method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan

import numpy as np
from numpy.typing import NDArray

from interplay.rank import Comparison, LeaderboardRow
from interplay.rank.compare import rank_correlation
from interplay.rank.leaderboards import Board, Boards, Resampling, boards
from interplay.rank.methods import METHODS, rate
from interplay.report.bedd.factors import factor_scores
from interplay.report.bedd.paper import paper, published, short_name, task_ids
from interplay.report.bedd.reasons import Groups, Reading
from interplay.report.plots import plot_intervals
from interplay.report.table import Cell, Column, Figure, Measured, Section, Table, count_columns, number_columns, text_columns
from interplay.tasks import Question

NUM_FOCUS = 6
NUM_RESAMPLES = 500
_FEW_JUDGES = 10
"""Least number of judges for resampling judges; with fewer, answers are resampled."""


def boards_of(readings: Sequence[Reading], resampling: Resampling) -> Boards:
    """Rate agents by TrueSkill, overall and by task, with normalised scores and intervals; answers in the log's order."""
    return boards(
        [
            Comparison(answer.left, answer.right, answer.outcome, answer.task, answer.judge, answer.created_at)  # type: ignore[arg-type]
            for answer in (reading.answer for reading in readings)
        ],
        resampling=resampling,
    )


def resampling_of(readings: Sequence[Reading], seed: int) -> Resampling:
    """Choose what to resample: whole judges, because answers of one judge are alike, or single answers if judges are few."""
    num_judges = len({reading.answer.judge for reading in readings})
    return Resampling(NUM_RESAMPLES, "judges" if num_judges >= _FEW_JUDGES else "answers", 0.95, seed)


def focus_agents(made: Boards) -> list[str]:
    """Choose agents for the details if none are named: the paper's six, if they were judged, then the best by score."""
    board = [row.agent for row in made.overall.rows]
    known = [agent for agent in paper()["source"]["agents"] if agent in board]
    return known + [agent for agent in board if agent not in known][: NUM_FOCUS - len(known)]


def rating_section(
    made: Boards, resampling: Resampling, focus: Sequence[str], roster: Sequence[str], methods: Table
) -> Section:
    """Make the chapter: TrueSkill overall and by task, and the normalised score; `resampling` made the intervals."""
    drawn = f"{resampling.num_resamples} bootstrap resamples of the {resampling.unit} (seed {resampling.seed})"
    how = f"Intervals hold 95 % of {drawn}."
    if any(row.score_low is None for row in made.overall.rows):
        how += f" An agent has no interval if its {resampling.unit} are too few, or all say the same."
    rated = {row.agent: row for row in made.overall.rows}
    blocks: list[Table | Figure] = []
    if made.normalised is not None:
        blocks = [
            _figure("normalised TrueSkill", made.normalised, rated, how, roster),
            _normalised(made.normalised, rated, focus, how),
        ]
    blocks += [_figure("mu − 3 sigma", made.overall.rows, rated, how, roster), _leaderboard(made.overall.rows, how)]
    if len(made.tasks) > 1:
        blocks.append(_by_task(made))
    blocks.append(methods)
    notes = tuple(f"{note[0].upper()}{note[1:]}." for note in made.overall.notes)
    return Section(
        "ratings",
        "Ratings",
        (
            "TrueSkill with mu 25, sigma 25/3, beta 25/6, tau 25/300 and 10 % draws. Answers count in the order in which they "
            "were given. The paper does not define its normalised score. Here it is the agent's mu as a z-score among all "
            "agents of a task, averaged over tasks.",
            *notes,
        ),
        blocks,
    )


def _figure(
    what: str, rows: Sequence[LeaderboardRow], rated: dict[str, LeaderboardRow], how: str, roster: Sequence[str]
) -> Figure:
    is_normalised = what.startswith("normalised")
    records = [
        {
            "name": row.agent,
            "num": rated[row.agent].num_answers,
            "value": row.score,
            "low": nan if row.score_low is None else row.score_low,
            "high": nan if row.score_high is None else row.score_high,
        }
        for row in rows
    ]
    return Figure(
        "figure-normalised" if is_normalised else "figure-ratings",
        "Normalised TrueSkill of every agent" if is_normalised else "Leaderboard over all tasks, as a picture",
        f"{how} n is the number of answers.",
        records,
        lambda table, ax: plot_intervals(table, ax, label=what, roster=roster, zero=is_normalised),
        "; ".join(f"{row['name']}: {row['value']:.2f}" for row in records),
        height_in=0.8 + 0.42 * len(records),
    )


def _normalised(rows: Sequence[LeaderboardRow], rated: dict[str, LeaderboardRow], focus: Sequence[str], how: str) -> Table:
    return Table(
        "normalised",
        "Normalised TrueSkill (table 3)",
        (
            Column("agent"),
            *number_columns("normalised TrueSkill", "95 % from", "95 % to"),
            *count_columns("tasks", "answers"),
            Column("won (%)", "number", 1),
        ),
        tuple(
            (
                row.agent,
                Measured(row.score, published("agents", row.agent, "normalized_trueskill")),
                row.score_low,
                row.score_high,
                row.num_tasks,
                rated[row.agent].num_answers,
                100 * rated[row.agent].won / rated[row.agent].num_answers,
            )
            for row in rows
            if row.agent in focus
        ),
        f"Over all comparisons, with any other agent. {how}",
    )


def _leaderboard(rows: Sequence[LeaderboardRow], how: str) -> Table:
    groups = [Column("group", "count")] if any(row.group > 1 for row in rows) else []
    columns = [*groups, Column("rank", "count"), Column("agent")]
    columns += [Column(name, "number") for name in ("mu", "sigma", "mu − 3 sigma")]
    columns += [Column("95 % of ranks"), *(Column(name, "count") for name in ("won", "drew", "lost", "answers"))]
    return Table(
        "leaderboard",
        "Leaderboard over all tasks",
        tuple(columns),
        tuple(
            (
                *([row.group] if groups else []),
                *(row.rank, row.agent, row.mu, row.sigma, row.score, _ranks(row)),
                *(row.won, row.drew, row.lost, row.num_answers),
            )
            for row in rows
        ),
        f"One rating per agent from the answers of all tasks together, sorted by mu − 3 sigma. {how}",
    )


def _ranks(row: LeaderboardRow) -> str | None:
    if row.rank_low is None or row.rank_high is None:
        return None
    return f"{row.rank_low}" if row.rank_low == row.rank_high else f"{row.rank_low} to {row.rank_high}"


def _by_task(made: Boards) -> Table:
    names = list(task_ids().values())
    tasks = sorted(made.tasks, key=lambda task: (names.index(task) if task in names else len(names), task))
    rated = {task: {row.agent: row for row in made.tasks[task].rows} for task in tasks}
    rows = []
    for agent in (row.agent for row in made.overall.rows):
        row: list[Cell] = [agent]
        for task in tasks:
            one = rated[task].get(agent)
            row += [None, None] if one is None else [one.mu, one.sigma]
        rows.append(tuple(row))
    columns = [Column("agent")]
    for task in tasks:
        columns += [Column(f"{short_name(task)} mu", "number", 1), Column(f"{short_name(task)} sigma", "number", 1)]
    return Table(
        "ratings-by-task", "TrueSkill by task", tuple(columns), tuple(rows), "Each task rated from its own answers alone."
    )


_ALONE = ("no, each side is judged separately", "one", "standard error of each share", "does not count", "none")


def methods_table(board: Board, groups: Groups, forms: Mapping[str, Sequence[Question]]) -> Table:
    """Make a row for each method: its traits, and its correlation with TrueSkill, and with itself on reversed answers."""
    score = board.ranking.score
    backwards = board.log.select(np.arange(len(board.log))[::-1])
    rows: list[tuple[Cell, ...]] = []
    notes: dict[str, None] = {}
    for method, one in METHODS.items():
        ranking = rate(board.log, method)
        notes |= dict.fromkeys(ranking.notes)
        again = _correlation(ranking.score, rate(backwards, method).score)
        traits = "yes", one.sides, one.uncertainty, "counts" if one.uses_order else "does not count", one.draws
        rows.append((one.title, *traits, _correlation(ranking.score, score), again))
    alone = _direct_scores(groups, forms, board.ranking.agents)
    if alone:
        theirs = [score[board.ranking.agents.index(agent)] for agent in alone]
        rows.append(("direct questions alone", *_ALONE, _correlation(np.array(list(alone.values())), np.array(theirs)), None))
    return Table(
        "rating-methods",
        "Ways to rate agents (counterpart of table 4)",
        (
            *text_columns("method", "compares agents", "agents in an answer", "uncertainty", "order of answers", "draws"),
            *number_columns("rank correlation with TrueSkill", "with itself, answers reversed", digits=3),
        ),
        tuple(rows),
        "The last two columns are measured on these answers: Spearman's correlation of the scores of "
        f"{len(score)} agents, over all tasks together. The paper's table 4 compares TrueSkill (easy comparison, several "
        "agents at once, uncertainty) with Elo (easy comparison only) and with the analysis of single agents (none of the "
        "three), but measures nothing. Elo is not part of this program. In place of the analysis of single agents stand the "
        "direct questions: the share of good answers, averaged over questions and tasks."
        + "".join(f" Note: {note}." for note in notes),
    )


def _correlation(a: NDArray[np.float64], b: NDArray[np.float64]) -> float | None:
    """Return the rank correlation; None if all values in `a` or in `b` are equal and so have no order."""
    return None if np.ptp(a) == 0 or np.ptp(b) == 0 else rank_correlation(a, b)


def _direct_scores(groups: Groups, forms: Mapping[str, Sequence[Question]], agents: Sequence[str]) -> dict[str, float]:
    """Return agent -> mean score over the direct questions of all tasks; every question has the same weight."""
    scores: dict[str, list[float]] = {agent: [] for agent in agents}
    for readings in groups.values():
        direct = [question for question in forms.get(readings[0].answer.task, ()) if question.kind == "direct"]
        for row in factor_scores((reading.answer for reading in readings), direct, agents):
            scores[row.agent].append(row.mean)
    return {agent: float(np.mean(values)) for agent, values in scores.items() if values}
