"""The chapter about factors: which question measures which factor (BEDD's table 10), and scores (BEDD's figure 4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from interplay.report.bedd.paper import short_name
from interplay.report.bedd.reasons import Groups, among
from interplay.report.plots import plot_factor_scores
from interplay.report.statistics import describe, number_or_none
from interplay.report.table import Column, Figure, Section, Table
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
    """Return the factor that a question measures; the overall question measures the overall impression."""
    return "Better Overall" if question.kind == "overall" else question.factor


def points(question: Question, response: Any) -> tuple[float | None, float | None]:
    """Return the points that an answer gives to the left and the right side; None if it says nothing about a side.

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
    """Compute the scores of `agents` in every factor of one task, from all their comparisons, sorted by question and agent.

    An agent has no row for a question that nobody answered about this agent.
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


def factor_section(
    groups: Groups, forms: Mapping[str, Sequence[Question]], focus: Sequence[str], roster: Sequence[str]
) -> Section:
    """Make the chapter: scores of the `focus` agents, task by task, and the factor of each question.

    `forms` has task id -> questions. `roster` lists all agents; an agent's place in it decides the agent's colour.
    """
    blocks: list[Table | Figure] = []
    slugs = _slugs(groups)
    for name, readings in groups.items():
        questions = forms.get(readings[0].answer.task, ())
        scores = factor_scores((reading.answer for reading in readings), questions, focus)
        inside = among(readings, focus)
        scores_inside = factor_scores((reading.answer for reading in inside), questions, focus)
        if scores:
            blocks += [
                _figure(name, slugs[name], scores, scores_inside, roster),
                _table(f"factors-{slugs[name]}", f"Scores of factors in {name}", scores, "Over all comparisons of an agent."),
            ]
        if scores_inside:
            title = f"Scores of factors in {name}, among these agents"
            how = f"Over the {len(inside):,} comparisons of two of these agents."
            blocks.append(_table(f"among-{slugs[name]}", title, scores_inside, how))
    blocks.append(_mapping(groups, forms))
    return Section(
        "factors",
        "Factors",
        (
            f"What agents are good at. {SCORING}",
            "Each score is given twice: over all comparisons of an agent, and over its comparisons with the other agents "
            "shown. The paper says that it used only the second kind, 394 comparisons (section 5, appendix E.2). But the "
            "numbers of its tables 8 and 9 can come only from the first kind, so its figure 4 may be of either kind.",
        ),
        blocks,
    )


def _figure(
    name: str, slug: str, scores: Sequence[FactorScore], scores_inside: Sequence[FactorScore], roster: Sequence[str]
) -> Figure:
    records = [
        {"comparisons": which} | score._asdict() | {"se": number_or_none(score.se)}
        for which, some in (("all", scores), ("among these", scores_inside))
        for score in some
    ]
    factors = len({score.factor for score in scores})
    best = {score.factor: score for score in sorted(scores, key=lambda score: score.mean)}
    return Figure(
        f"figure-factors-{slug}",
        f"Factors of {name} (figure 4)",
        "Filled: mean score over all comparisons of an agent in this task. Bars show one standard error (standard deviation / "
        "√n) to each side. Hollow: mean score over its comparisons with the other agents shown; the table has the standard "
        "errors of these.",
        records,
        lambda table, ax: plot_factor_scores(table, ax, roster=roster),
        "Best by factor: " + "; ".join(f"{factor}: {score.agent} {score.mean:.2f}" for factor, score in best.items()),
        height_in=1.2 + factors * 0.92,
    )


def _table(id: str, title: str, scores: Sequence[FactorScore], how: str) -> Table:
    agents = list(dict.fromkeys(score.agent for score in scores))
    cells = {(score.factor, score.agent): f"{score.mean:.2f} ± {score.se:.2f}" for score in scores}
    factors = dict.fromkeys(score.factor for score in scores)
    return Table(
        id,
        title,
        (Column("factor"), *(Column(agent, "number") for agent in agents)),
        tuple((factor, *(cells.get((factor, agent)) for agent in agents)) for factor in factors),
        f"{how} Mean ± standard error; answers of not applicable are left out. The figure's CSV has how many there are of "
        "each.",
    )


def _mapping(groups: Groups, forms: Mapping[str, Sequence[Question]]) -> Table:
    """Make the table of questions: factor, score, number of answers given here, and number of imported answers."""
    rows = []
    for name, readings in groups.items():
        for question in forms.get(readings[0].answer.task, ()):
            scored = "1 for no, 0 for yes" if question.is_inverted else "1 for yes, 0 for no"
            answered = [
                one for one in readings if question.kind == "overall" or one.answer.responses.get(question.id) is not None
            ]
            num_imported = sum(bool(reading.answer.dataset) for reading in answered)
            rows.append(
                (
                    name,
                    question.text,
                    question.kind,
                    factor_name(question),
                    scored if question.kind == "direct" else "1, 0.5, 0",
                    len(answered) - num_imported,
                    num_imported,
                )
            )
    columns = [Column(name) for name in ("task", "question", "kind", "factor", "score")]
    return Table(
        "factor-mapping",
        "Which question measures what (table 10)",
        (*columns, Column("given here", "count"), Column("imported", "count")),
        tuple(rows),
        f"{_wording(groups)} The last two columns count the answers to each question. Factors are named as in the paper.",
    )


def _wording(groups: Groups) -> str:
    datasets = [reading.answer.dataset for readings in groups.values() for reading in readings]
    num_imported = sum(map(bool, datasets))
    num_here = len(datasets) - num_imported
    ours = "Questions are in our own words; for the paper's tasks they say the same as the published questions."
    if not num_imported:
        return f"{ours} Judges read these for all {num_here:,} answers."
    theirs = "they answer the questions of their own data set (for BEDD, the published ones) and are matched to ours"
    if not num_here:
        return f"{ours} All {num_imported:,} answers are imported: {theirs}."
    return (
        f"{ours} Judges read these for {num_here:,} answers; the other {num_imported:,} are imported: "
        f"{theirs}. Both count for one factor."
    )


def _slugs(names: Iterable[str]) -> dict[str, str]:
    """Return a different short text for each name, for use in anchors and file names.

    >>> _slugs(["basalt/Find Cave", "basalt/Find-Cave"])
    {'basalt/Find Cave': 'basalt-find-cave', 'basalt/Find-Cave': 'basalt-find-cave-2'}
    """
    slugs: dict[str, str] = {}
    for name in names:
        letters = "".join(char.lower() if char.isalnum() and char.isascii() else " " for char in short_name(name))
        slug = first = "-".join(letters.split()) or "task"
        number = 1
        while slug in slugs.values():
            number += 1
            slug = f"{first}-{number}"
        slugs[name] = slug
    return slugs
