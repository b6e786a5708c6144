"""Arrival at a study: its link, its description, and the choice to agree or decline. The pages need no script and no cookie.

Opening a link stores nothing. Until the person agrees, the address of each page carries their identity; afterwards a signed
token does.
"""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response

from interplay.study import Arrival, ArrivalError, Channel
from interplay.study.channels.base import UNPAID
from interplay.study.definition import Study
from interplay.study.enrolment import Refusal
from interplay.study.play.visits import LINK_PARAMETER
from interplay.web.http import identity
from interplay.web.http.forms import FormPairs, see_other
from interplay.web.rendering import render
from interplay.web.services import services
from interplay.web.studies.enrolments import next_address_of
from interplay.web.studies.pages import Opened, end_page, page

router = APIRouter(include_in_schema=False)

_REFUSALS: dict[Refusal, tuple[int, str, str]] = {
    "closed": (
        410,
        "This study is closed",
        "Nobody new can join now. If a platform sent you here, please return the task there.",
    ),
    "paused": (
        503,
        "This study is paused",
        "Nobody new can begin just now. Please come back later. If a platform sent you here and you cannot wait, return the "
        "task there.",
    ),
    "banned": (403, "You cannot take part", "We could not use your earlier answers. Please return the task."),
    "wrong_worker": (
        403,
        "This link belongs to somebody else",
        "Another person is working on this assignment, or has handed it in. Open the study from your own page on the platform. "
        "If somebody returned the assignment just now and you accepted it, try again in half an hour.",
    ),
    "enough_visits": (
        403,
        "You have already taken part",
        "Thank you! You have made all the visits that one person may make.",
    ),
}


SAID = ("decision", "version", "agree", "release")
"""Fields of the form that only the person may fill in; values from a link are ignored."""

# Arriving


@router.get("/studies")
def study_list(request: Request) -> Response:
    shown = [one.study for one in services(request).studies.all() if one.is_open and "open" in one.study.channels]
    return render(request, "study_list.html", "Judge", studies=shown)


@router.get("/studies/{study}")
def arrival(request: Request, opened: Opened) -> Response:
    study = opened.study
    channel, arrived = _arrived(study, request.query_params.multi_items())
    visitor = identity.known_participant(request) if arrived.channel in UNPAID else None
    admission = services(request).studies.admission(opened, arrived, visitor)
    if admission.kind == "resume":
        return see_other(next_address_of(request, study.id, admission.enrolment))
    if admission.refusal is not None:
        return _refused(request, study, admission.refusal)
    given = request.query_params.multi_items()
    fields = [(name, value) for name, value in given if len(name) + len(value) < 1000 and name not in SAID]
    return _welcome(request, study, channel, fields, is_preview=admission.kind == "preview")


@router.post("/studies/{study}/begin")
def begin(request: Request, opened: Opened, form: FormPairs) -> Response:
    study = opened.study
    said = {name: value for name, value in form if name in SAID}
    fields = [(name, value) for name, value in form if name not in said]
    channel, arrived = _arrived(study, fields)
    if arrived.is_preview:
        raise HTTPException(403, "this is a preview; accept the task first, then begin")
    if said.get("decision") == "decline":
        again = f"/studies/{study.id}?{urlencode(fields)}"
        return end_page(request, study, channel.departure(arrived, "no_consent"), "no_consent", again=again)
    if said.get("version") != study.content_hash:
        note = "This text has changed since you opened the page. Please read it again."
        return _welcome(request, study, channel, fields, status=409, problem=note)
    if study.consent is not None and study.consent.is_required and said.get("agree") != "yes":
        note = "Please tick the box if you agree. If you do not, choose 'I do not want to take part'."
        ticked = said.get("release") == "yes"
        return _welcome(request, study, channel, fields, status=422, problem=note, release_ticked=ticked)
    visitor = identity.current_participant(request) if arrived.channel in UNPAID else None
    linked = dict(fields).get(LINK_PARAMETER, "") if study.play is not None and study.play.by_link else ""
    more = {LINK_PARAMETER: linked} if linked else {}
    admission = services(request).studies.enrol(study, arrived, visitor, more=more, release_ticked=said.get("release") == "yes")
    if admission.refusal is not None:
        return _refused(request, study, admission.refusal)
    return see_other(next_address_of(request, study.id, admission.enrolment))


def _arrived(study: Study, fields: list[tuple[str, str]]) -> tuple[Channel, Arrival]:
    channel = study.channel_of(dict(fields))
    try:
        return channel, channel.arrival(fields)
    except ArrivalError as error:
        raise HTTPException(400, str(error)) from None


def _welcome(
    request: Request,
    study: Study,
    channel: Channel,
    fields: list[tuple[str, str]],
    *,
    is_preview: bool = False,
    status: int = 200,
    problem: str = "",
    release_ticked: bool = False,
) -> Response:
    if study.kind == "comparisons" and not is_preview:
        services(request).judging.prepare(study.id)  # while they read
    return page(
        request, "study.html", status,
        study=study, channel=channel.name, fields=fields, is_preview=is_preview, problem=problem,
        release_ticked=release_ticked, may_wait=_may_wait(request, study),
    )  # fmt: skip


def _may_wait(request: Request, study: Study) -> bool:
    tasks = services(request).tasks
    people = [one.task for one in study.play.variants if not one.partners] if study.play is not None else []
    return any(task in tasks and len(tasks[task].seats) > 1 for task in people)


def _refused(request: Request, study: Study, refusal: Refusal) -> Response:
    status, headline, message = _REFUSALS[refusal]
    pause = services(request).pauses.of(study.id) if refusal == "paused" else None
    message = message if pause is None or not pause.note else pause.note
    return page(request, "study_stop.html", status, study=study, headline=headline, message=message)
