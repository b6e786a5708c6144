"""What the last page of a study tells people whom nobody pays: what it is about, how they did, and a link to share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import Request

from interplay.store import Enrolment
from interplay.store.scores import SCORE
from interplay.study.channels.base import UNPAID
from interplay.study.definition import Debrief, Study
from interplay.study.playing.variants import Variant
from interplay.study.scores import Scores, Standing, bins, standing
from interplay.tasks import Task
from interplay.web.plots import histogram
from interplay.web.scores.pages import compared_tasks, statistics_of

MOST_SHOWN = 3
FEWEST_OTHERS = 5
"""With fewer people a percentile says nothing."""


@dataclass(frozen=True)
class Compared:
    """One result of a visit beside those of others who played the same variant.

    Attributes:
        title: What it is.
        value: As people read it.
        standing: Among the others.
        plot: Of the others and the visitor; None with too few.
    """

    title: str
    value: str
    standing: Standing
    plot: dict[str, Any] | None


@dataclass(frozen=True)
class Shown:
    """What the page shows.

    Attributes:
        share: The address of the study, which says nothing of who shares it.
        scores: Address of the task's high scores; empty without.
    """

    text: Debrief
    compared: tuple[Compared, ...]
    share: str
    scores: str


def debrief_of(request: Request, study: Study, enrolment: Enrolment) -> Shown | None:
    """What somebody is told at the end of an open study; None where they are paid, or have done nothing."""
    if enrolment.channel not in UNPAID or enrolment.outcome not in ("done", "nothing_left"):
        return None
    share = study.page(str(request.base_url))
    variant = None if study.play is None or enrolment.variant is None else study.play.variant(enrolment.variant)
    task = None if variant is None else request.app.state.tasks.get(variant.task)
    compared: tuple[Compared, ...] = ()
    scores = ""
    if variant is not None and task is not None and task in compared_tasks(request):
        compared = _compared(request, study.id, variant, task, enrolment.participant_id)
        scores = f"/scores/{task.id}"
    return Shown(study.debrief or Debrief((study.summary,)), compared, share, scores)


def _compared(request: Request, study: str, variant: Variant, task: Task, person: int) -> tuple[Compared, ...]:
    service: Scores = request.app.state.scores
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
        found.append(Compared(title, readable(own), standing(own, others, is_lower_better=is_lower_better), plot))
    return tuple(found)
