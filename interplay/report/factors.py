"""From answers to questions to scores of factors: what figure 4 of BEDD shows. The scoring is ours, the paper gives none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from interplay.report.statistics import describe
from interplay.store.judging.verdicts import FullAnswer
from interplay.tasks import Question

SCORING = (
    "A comparative answer gives 1 to the side it names and 0 to the other, or 0.5 to both for a draw. Answers of not "
    "applicable are left out. A direct answer gives 1 for yes and 0 for no. If the factor is the least of something, such "
    "as Least Village Harm, yes gives 0 and no gives 1."
)
_POINTS = {"left": (1.0, 0.0), "draw": (0.5, 0.5), "right": (0.0, 1.0)}


class FactorScore(NamedTuple):
    """Mean score of an agent in one factor of a task over `num` answers; `se` is NaN for a single one."""

    factor: str
    agent: str
    num: int
    mean: float
    se: float


def factor_name(question: Question) -> str:
    """What a question measures; the overall question measures the overall impression."""
    return "Better Overall" if question.kind == "overall" else question.factor


def points(question: Question, response: Any) -> tuple[float | None, float | None]:
    """What an answer to a question gives to the left and to the right side; None where it says nothing.

    >>> points(Question("q", "Better Style", "comparative", ""), "draw")
    (0.5, 0.5)
    >>> points(Question("q", "Least Harm", "direct", ""), {"left": True, "right": False})
    (0.0, 1.0)
    """
    if question.kind == "direct":
        sides = response if isinstance(response, Mapping) else {}
        left, right = (
            float(side != question.is_inverted) if isinstance(side, bool) else None
            for side in (sides.get("left"), sides.get("right"))
        )
        return left, right
    return _POINTS.get(response, (None, None)) if isinstance(response, str) else (None, None)


def factor_scores(answers: Iterable[FullAnswer], questions: Sequence[Question], agents: Sequence[str]) -> list[FactorScore]:
    """Scores of agents in every factor of one task, over all their comparisons in it, whoever the other side was.

    Args:
        answers: Of that task.
        questions: Its form.
        agents: Whose scores; those without an answer to a question have no row for it.
    Returns:
        Rows by question in the form's order, then by agent in the order given.
    """
    collected: dict[tuple[str, str], list[float]] = {(question.id, agent): [] for question in questions for agent in agents}
    wanted = set(agents)
    for answer in answers:
        if answer.left not in wanted and answer.right not in wanted:
            continue
        for question in questions:
            response = answer.outcome if question.kind == "overall" else answer.responses.get(question.id)
            for agent, score in zip((answer.left, answer.right), points(question, response), strict=True):
                if agent in wanted and score is not None:
                    collected[question.id, agent].append(score)
    rows = []
    for question in questions:
        for agent in agents:
            scores = collected[question.id, agent]
            if scores:
                summary = describe(scores)
                rows.append(FactorScore(factor_name(question), agent, len(scores), summary.mean, summary.se))
    return rows
