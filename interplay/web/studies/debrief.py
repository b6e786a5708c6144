"""The last page of a study for unpaid people: the study's purpose, the person's results, and a link to share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import Request

from interplay.store import Enrolment
from interplay.store.scores import SCORE
from interplay.study.channels.base import UNPAID
from interplay.study.definition import Debrief, Study
from interplay.study.play.variants import Variant
from interplay.study.scores import Standing, bins, standing
from interplay.tasks import Task
from interplay.web.plots import histogram
from interplay.web.scores.pages import compared_tasks, statistics_of
from interplay.web.services import services

MOST_SHOWN = 3
FEWEST_OTHERS = 5
"""Least number of other people for a comparison; with fewer, a percentile has no meaning."""


@dataclass(frozen=True)
class ScoreComparison:
    """One result of a visit, compared with others who played the same variant. With too few others, there is no `plot`."""

    title: str
    value: str
    standing: Standing
    plot: dict[str, Any] | None


@dataclass(frozen=True)
class DebriefView:
    """The contents of the page: `share` is the address of the study, `scores` the address of the task's high scores or ""."""

    text: Debrief
    compared: tuple[ScoreComparison, ...]
    share: str
    scores: str


def debrief_of(request: Request, study: Study, enrolment: Enrolment) -> DebriefView | None:
    if enrolment.channel not in UNPAID or enrolment.outcome not in ("done", "nothing_left"):
        return None
    share = study.page(str(request.base_url))
    variant = None if study.play is None or enrolment.variant is None else study.play.variant(enrolment.variant)
    task = None if variant is None else services(request).tasks.get(variant.task)
    compared: tuple[ScoreComparison, ...] = ()
    scores = ""
    if variant is not None and task is not None and task in compared_tasks(request):
        compared = _compared(request, study.id, variant, task, enrolment.participant_id)
        scores = f"/scores/{task.id}"
    return DebriefView(study.debrief or Debrief((study.summary,)), compared, share, scores)


def _compared(request: Request, study: str, variant: Variant, task: Task, person: int) -> tuple[ScoreComparison, ...]:
    service = services(request).scores
    asked = [SCORE, *(name.partition(".")[0] for name in variant.treatment.statistics)]
    known = statistics_of(request, task)
    found = []
    for name in [one for one in dict.fromkeys(asked) if one in known][:MOST_SHOWN]:
        title, is_lower_better, readable = known[name]
        best = service.of_visits(task, (study, variant.name), statistic=name, is_lower_better=is_lower_better)
        if (own := best.pop(person, None)) is None:  # no game to its end: a part of one compares with nothing
            continue
        others = list(best.values())
        plot = None
        if len(others) >= FEWEST_OTHERS:
            is_whole = all(float(value).is_integer() for value in (*others, own))
            plot = histogram(bins(others, [own], is_whole=is_whole), "people", own=own)
        found.append(ScoreComparison(title, readable(own), standing(own, others, is_lower_better=is_lower_better), plot))
    return tuple(found)
