"""Arriving at a study: its link, what it is about, agreeing or declining. The pages need no script and no cookie.

Opening a link stores nothing: who somebody is travels in the address until they agree, and from then on as a signed token.
"""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from urllib.parse import urlencode

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from interplay.store import Enrolment, bans, studies
from interplay.store.judging import lock
from interplay.store.participants import add_participant, judge_name, participant_by_worker
from interplay.study import Arrival, ArrivalError, Channel
from interplay.study.definition import Study
from interplay.study.enrolment import Admission, Refusal, Visit, admit
from interplay.web import identity
from interplay.web.enrolments import next_address, study_version
from interplay.web.forms import FormPairs, see_other
from interplay.web.pages import render
from interplay.web.study_pages import Opened, end_page, page

router = APIRouter(include_in_schema=False)

_REFUSALS: dict[Refusal, tuple[int, str, str]] = {
    "closed": (
        410,
        "This study is closed",
        "It takes nobody at the moment. If you were sent here to be paid, please return the task.",
    ),
    "banned": (403, "You cannot take part", "Answers you gave here before could not be used. Please return the task."),
    "wrong_worker": (
        403,
        "This link belongs to somebody else",
        "The assignment it names is in another person's hands, or was handed in by another person. Open the study from your "
        "own page of the platform. If somebody gave it back just now and you took it over, come again in half an hour.",
    ),
    "enough_visits": (403, "You have taken part already", "Thank you! Everybody takes part in this study as often as you did."),
}


# Arriving


@router.get("/studies")
def study_list(request: Request) -> Response:
    """Studies that take people through an open link."""
    with request.app.state.archive.database.read() as session:
        rows = [row for row in studies.study_rows(session) if row.closed_at is None]
        found = [study_version(session, row.content_hash) for row in rows]
    shown = [study for study in found if study is not None and "open" in study.channels]
    return render(request, "study_list.html", "Judge", studies=shown)


@router.get("/studies/{study}")
def arrival(request: Request, opened: Opened) -> Response:
    """What the study is about, who keeps what, and the way in; leaves nothing behind."""
    study, _ = opened
    channel, arrived = _arrived(request, study, request.query_params.multi_items())
    visitor_id = identity.known_participant(request) if arrived.channel == "open" else None
    with request.app.state.archive.database.read() as session:
        person_id = visitor_id if visitor_id is not None else _known_person(session, arrived)
        admission = _admission(session, opened, arrived, person_id)
    if admission.kind == "resume":
        return see_other(_next_of(request, admission.enrolment))
    if admission.refusal is not None:
        return _refused(request, study, admission.refusal)
    fields = [(name, value) for name, value in request.query_params.multi_items() if len(name) + len(value) < 1000]
    return _welcome(request, study, channel, fields, is_preview=admission.kind == "preview")


@router.post("/studies/{study}/begin")
def begin(request: Request, opened: Opened, form: FormPairs) -> Response:
    """Agree and begin, or decline and go back; only who agrees is stored."""
    study, _ = opened
    said = {name: value for name, value in form if name in ("decision", "version", "agree")}
    fields = [(name, value) for name, value in form if name not in said]
    channel, arrived = _arrived(request, study, fields)
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
        return _welcome(request, study, channel, fields, status=422, problem=note)
    admission, enrolment_id = _enrol(request, study, arrived)
    if admission.refusal is not None:
        return _refused(request, study, admission.refusal)
    return see_other(_next_of(request, enrolment_id))


def _arrived(request: Request, study: Study, fields: list[tuple[str, str]]) -> tuple[Channel, Arrival]:
    """Who came and through which channel.

    Raises:
        HTTPException: 400, if the link does not say so as its platform does.
    """
    channel = study.channel_of(dict(fields))
    try:
        return channel, channel.arrival(fields)
    except ArrivalError as error:
        raise HTTPException(400, str(error)) from None


def _admission(session: Session, opened: tuple[Study, bool], arrived: Arrival, person_id: int | None) -> Admission:
    """Whether somebody is let in, by what is known of them and of their assignment."""
    study, is_open = opened
    of_assignment: list[Enrolment] = []
    if arrived.assignment:
        of_assignment = studies.enrolments_of_assignment(session, study.id, arrived.channel, arrived.assignment)
    of_worker = [] if person_id is None else studies.enrolments_of_participant(session, study.id, person_id)
    return admit(
        arrived,
        now=datetime.now(UTC),
        is_open=is_open,
        is_banned=person_id is not None and bans.is_banned(session, judge_name(person_id)),
        of_assignment=[_visit(session, enrolment) for enrolment in of_assignment],
        of_worker=[_visit(session, enrolment) for enrolment in of_worker if enrolment.channel == arrived.channel],
        max_visits=study.max_visits,
    )


def _known_person(session: Session, arrived: Arrival) -> int | None:
    """Number of the participant a platform sent, if they were here before."""
    found = participant_by_worker(session, arrived.channel, arrived.worker) if arrived.worker else None
    return None if found is None else found.id


def _visit(session: Session, enrolment: Enrolment) -> Visit:
    seen = studies.last_seen(session, enrolment)
    return Visit(enrolment.id, enrolment.worker, enrolment.assignment, enrolment.outcome, seen)


def _enrol(request: Request, study: Study, arrived: Arrival) -> tuple[Admission, str]:
    """Store somebody who agreed, unless they are known already; the admission, and the id of the enrolment."""
    person_id = identity.current_participant(request) if arrived.channel == "open" else None
    now = datetime.now(UTC)
    with request.app.state.archive.database.write() as session:
        lock(session)  # visits are counted and added by one request at a time, on PostgreSQL as well
        row = studies.study_row(session, study.id)
        is_open = row is not None and row.closed_at is None
        person_id = person_id or _known_person(session, arrived)
        admission = _admission(session, (study, is_open), arrived, person_id)
        if admission.kind == "resume":
            return admission, admission.enrolment
        if admission.kind != "new":
            return admission, ""
        for abandoned in admission.abandoned:
            studies.end_enrolment(session, abandoned, "withdrawn", now)
        worker, assignment = arrived.worker, arrived.assignment
        if person_id is None:
            person_id = add_participant(session, secrets.token_urlsafe(16), now, channel=arrived.channel, worker=worker).id
        if arrived.channel == "open":
            worker = judge_name(person_id)
            num_visits = len(studies.enrolments_of_participant(session, study.id, person_id))
            assignment = f"visit-{num_visits + 1}" if num_visits else ""
        enrolment = studies.add_enrolment(
            session,
            enrolment_id=secrets.token_hex(12),
            study=study.id,
            study_hash=study.content_hash,
            participant_id=person_id,
            channel=arrived.channel,
            worker=worker,
            assignment=assignment,
            arrival={"hit": arrived.hit, "submit_to": arrived.submit_to},
            now=now,
            consented=study.consent is not None,
        )
        return admission, enrolment.id


def _welcome(
    request: Request,
    study: Study,
    channel: Channel,
    fields: list[tuple[str, str]],
    *,
    is_preview: bool = False,
    status: int = 200,
    problem: str = "",
) -> Response:
    """The first page; `fields` are the parameters of the address, carried on in the form."""
    return page(
        request, "study.html", status,
        study=study, channel=channel.name, fields=fields, is_preview=is_preview, problem=problem,
    )  # fmt: skip


def _refused(request: Request, study: Study, refusal: Refusal) -> Response:
    status, headline, message = _REFUSALS[refusal]
    return page(request, "study_stop.html", status, study=study, headline=headline, message=message)


def _next_of(request: Request, enrolment_id: str) -> str:
    with request.app.state.archive.database.read() as session:
        enrolment = studies.enrolment_by_id(session, enrolment_id)
    assert enrolment is not None
    return next_address(request, enrolment)
