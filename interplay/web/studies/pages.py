"""Shared parts of study pages: their look, and the enrolment to which a page belongs."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Request
from fastapi.responses import Response

from interplay.store import Enrolment
from interplay.study import Departure
from interplay.study.channels.base import TITLES, UNPAID
from interplay.study.definition import Study
from interplay.study.incentives import Requirement, amount
from interplay.study.play.variants import PlayPart
from interplay.study.studies import OpenedStudy
from interplay.web.rendering import render, templates
from interplay.web.services import services
from interplay.web.studies.enrolments import allow_framing, enrolment_of

NOBODY_ELSES = {"Cache-Control": "no-store"}
"""Headers of personal pages, which no cache may store."""


def in_words(requirement: Requirement, value: float) -> str:
    return amount(requirement.statistic, value, is_share=bool(requirement.out_of))


def platforms(channels: Iterable[str]) -> str:
    return " or ".join(TITLES[name] for name in channels if name not in UNPAID)


templates.env.filters["platforms"] = platforms


def asked(requirement: Requirement) -> str:
    return f"at least {in_words(requirement, requirement.required)}"


templates.env.filters["asked"] = asked


def asked_in_all(play: PlayPart) -> list[tuple[str, str]]:
    """Return the requirements of all variants as (label, text); a text is `at least 100 to 1,000, in some games`."""
    found: dict[str, list[Requirement]] = {}
    for one in (one for variant in play.variants for one in variant.treatment.requirements):
        found.setdefault(one.label, []).append(one)
    lines = []
    for label, ones in found.items():
        least, most = (in_words(one, one.required) for one in (min(ones, key=_required), max(ones, key=_required)))
        some = ", in some games" if len(ones) < len(play.variants) else ""
        lines.append((label, f"at least {least}{f' to {most}' if most != least else ''}{some}"))
    return lines


templates.env.filters["asked_in_all"] = asked_in_all
_required = attrgetter("required")


def page(request: Request, name: str, status: int = 200, /, **context: Any) -> Response:
    return render(request, name, "", status=status, headers=NOBODY_ELSES, alone=True, **context)


def opened_study(request: Request, study: str) -> OpenedStudy:
    opened = services(request).studies.get(study, only_open=True)
    allow_framing(request, opened.study)
    return opened


Opened = Annotated[OpenedStudy, Depends(opened_study)]


def own_enrolment(request: Request, study: str) -> Enrolment:
    enrolment = enrolment_of(request)
    if enrolment is None or enrolment.study != study:
        raise HTTPException(401, "this page needs your personal link to the study\nOpen the study again from its start.")
    return enrolment


Enrolled = Annotated[Enrolment, Depends(own_enrolment)]


def end_page(
    request: Request, study: Study, departure: Departure, outcome: str, *, again: str = "", status: int = 200, **context: Any
) -> Response:
    """Show the last page: thanks, and the way back. `again` is a link with which people who declined can still agree."""
    code = departure.url.partition("cc=")[2] if departure.kind == "redirect" else ""
    context = {"visit": None, "debrief": None, "revealed": [], "attempt": None} | context
    return page(
        request, "study_end.html", status, study=study, departure=departure, outcome=outcome, code=code, again=again, **context
    )
