"""The chapter about factors: which question measures what (BEDD's table 10) and how agents score (its figure 4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from interplay.report.bedd_paper import short_name
from interplay.report.factors import SCORING, FactorScore, factor_name, factor_scores, is_inverted
from interplay.report.plots import plot_factor_scores
from interplay.report.reading import Groups
from interplay.report.statistics import number_or_none
from interplay.report.table import Column, Figure, Section, Table
from interplay.tasks import Question


def factor_section(
    groups: Groups, forms: Mapping[str, Sequence[Question]], focus: Sequence[str], roster: Sequence[str]
) -> Section:
    """Scores of the agents looked at, task by task, and the mapping of questions to factors.

    Args:
        groups: By task.
        forms: Task id -> questions.
        focus: Agents to show.
        roster: Every agent, in the order that gives them their colours.
    """
    blocks: list[Table | Figure] = []
    slugs = _slugs(groups)
    for name, readings in groups.items():
        questions = forms.get(readings[0].answer.task, ())
        scores = factor_scores((reading.answer for reading in readings), questions, focus)
        if scores:
            blocks += [_figure(name, slugs[name], scores, roster), _table(name, slugs[name], scores)]
    blocks.append(_mapping({name: forms.get(readings[0].answer.task, ()) for name, readings in groups.items()}))
    return Section("factors", "Factors", (f"What agents are good at. {SCORING}",), blocks)


def _figure(name: str, slug: str, scores: Sequence[FactorScore], roster: Sequence[str]) -> Figure:
    records = [score._asdict() | {"se": number_or_none(score.se)} for score in scores]
    factors = len({score.factor for score in scores})
    best = {score.factor: score for score in sorted(scores, key=lambda score: score.mean)}
    return Figure(
        f"figure-factors-{slug}",
        f"Factors of {name} (figure 4)",
        "Mean score over all comparisons of an agent in this task; "
        "bars are one standard error (standard deviation / √n) to each side.",
        records,
        lambda table, ax: plot_factor_scores(table, ax, roster=roster),
        "Best by factor: " + "; ".join(f"{factor}: {score.agent} {score.mean:.2f}" for factor, score in best.items()),
        height_in=1.2 + factors * 0.92,
    )


def _table(name: str, slug: str, scores: Sequence[FactorScore]) -> Table:
    """Factors down, agents across."""
    agents = list(dict.fromkeys(score.agent for score in scores))
    cells = {(score.factor, score.agent): f"{score.mean:.2f} ± {score.se:.2f}" for score in scores}
    factors = dict.fromkeys(score.factor for score in scores)
    return Table(
        f"factors-{slug}",
        f"Scores of factors in {name}",
        (Column("factor"), *(Column(agent, "number") for agent in agents)),
        tuple((factor, *(cells.get((factor, agent)) for agent in agents)) for factor in factors),
        "Mean ± standard error; answers of not applicable are left out. The figure's CSV has how many there are of each.",
    )


def _mapping(forms: Mapping[str, Sequence[Question]]) -> Table:
    rows = []
    for name, questions in forms.items():
        for question in questions:
            scored = "1 for no, 0 for yes" if is_inverted(question) else "1 for yes, 0 for no"
            rows.append(
                (
                    name,
                    question.text,
                    question.kind,
                    factor_name(question),
                    scored if question.kind == "direct" else "1, 0.5, 0",
                )
            )
    return Table(
        "factor-mapping",
        "Which question measures what (table 10)",
        (Column("task"), Column("question"), Column("kind"), Column("factor"), Column("score")),
        tuple(rows),
        "Questions as judges read them here; factors as the paper names them.",
    )


def _slugs(names: Iterable[str]) -> dict[str, str]:
    """Each name's part of anchors and file names, no two the same.

    >>> _slugs(["basalt/Find Cave", "basalt/Find-Cave"])
    {'basalt/Find Cave': 'basalt-find-cave', 'basalt/Find-Cave': 'basalt-find-cave-2'}
    """
    slugs: dict[str, str] = {}
    for name in names:
        slug = first = _slug(name)
        number = 1
        while slug in slugs.values():
            number += 1
            slug = f"{first}-{number}"
        slugs[name] = slug
    return slugs


def _slug(name: str) -> str:
    """A name as part of an anchor and of a file name.

    >>> _slug("basalt/Find Cave")
    'basalt-find-cave'
    """
    return (
        "-".join("".join(char.lower() if char.isalnum() and char.isascii() else " " for char in short_name(name)).split())
        or "task"
    )
