"""How the ways to rate agents compare, in general and on these answers: the counterpart of BEDD's table 4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from interplay.rank.compare import rank_correlation
from interplay.rank.leaderboards import Board
from interplay.rank.methods import METHODS, rate
from interplay.rank.ranking import Method
from interplay.report.factors import factor_scores
from interplay.report.reading import Groups
from interplay.report.table import Cell, Column, Table
from interplay.tasks import Question

_NAMES: dict[Method, str] = {
    "trueskill": "TrueSkill",
    "bradley-terry": "Bradley-Terry",
    "davidson": "Davidson",
}
_TRAITS: dict[Method, tuple[str, str, str, str, str]] = {
    "trueskill": ("yes", "two here; the model allows more", "sigma of each agent", "counts", "a margin"),
    "bradley-terry": ("yes", "two", "standard error of each agent", "does not count", "half a win for either"),
    "davidson": ("yes", "two", "standard error of each agent", "does not count", "odds of their own"),
}
_ALONE = ("no, each side is judged separately", "one", "standard error of each share", "does not count", "none")


def methods_table(board: Board, groups: Groups, forms: Mapping[str, Sequence[Question]]) -> Table:
    """One row a method: what it offers, and how its order of the agents agrees with TrueSkill's and with itself.

    Args:
        board: TrueSkill of all answers.
        groups: Answers by task, for the direct questions.
        forms: Task id -> questions.
    """
    score = board.ranking.score
    backwards = board.log.select(np.arange(len(board.log))[::-1])
    rows: list[tuple[Cell, ...]] = []
    notes: dict[str, None] = {}
    for method in METHODS:
        ranking = rate(board.log, method)
        notes |= dict.fromkeys(ranking.notes)
        again = _correlation(ranking.score, rate(backwards, method).score)
        rows.append((_NAMES[method], *_TRAITS[method], _correlation(ranking.score, score), again))
    alone = _direct_scores(groups, forms, board.ranking.agents)
    if alone:
        theirs = [score[board.ranking.agents.index(agent)] for agent in alone]
        rows.append(("direct questions alone", *_ALONE, _correlation(np.array(list(alone.values())), np.array(theirs)), None))
    return Table(
        "rating-methods",
        "Ways to rate agents (counterpart of table 4)",
        (
            Column("method"),
            Column("compares agents"),
            Column("agents in an answer"),
            Column("uncertainty"),
            Column("order of answers"),
            Column("draws"),
            Column("rank correlation with TrueSkill", "number", 3),
            Column("with itself, answers reversed", "number", 3),
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
    """None where one side is all equal, and so has no order."""
    return None if np.ptp(a) == 0 or np.ptp(b) == 0 else rank_correlation(a, b)


def _direct_scores(groups: Groups, forms: Mapping[str, Sequence[Question]], agents: Sequence[str]) -> dict[str, float]:
    """Agent -> mean score over the direct questions of all tasks, each question weighing the same."""
    scores: dict[str, list[float]] = {agent: [] for agent in agents}
    for readings in groups.values():
        direct = [question for question in forms.get(readings[0].answer.task, ()) if question.kind == "direct"]
        for row in factor_scores((reading.answer for reading in readings), direct, agents):
            scores[row.agent].append(row.mean)
    return {agent: float(np.mean(values)) for agent, values in scores.items() if values}
