"""Whose part in which study a request belongs to: a signed token in a header or in the address, because cookies do not reach
into another site's frame.

`enrolment_of(request)` is the door (`part_of` where it does not matter how the part ended); `working(request)` also refuses
whoever may not work now. Pages of a study that is shown inside a platform's frame get headers that let exactly that platform
frame them: asking for the enrolment is enough.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NoReturn

from fastapi import HTTPException
from sqlalchemy.orm import Session
from starlette.requests import HTTPConnection
from starlette.responses import Response

from interplay.store import Enrolment, studies
from interplay.store.judging import lock
from interplay.study import Outcome, StudyError, tokens
from interplay.study.definition import Study
from interplay.study.enrolment import Facts, due_outcome, next_step
from interplay.web.refusals import refusal
from interplay.web.security import allow

if TYPE_CHECKING:
    from interplay.record import Archive

HEADER = "Interplay-Enrolment"
PARAMETER = "enrolment"
JUDGING_COOKIE = "interplay_judging"
_JUDGING_S = 24 * 3600
_ENROLMENTS_REMEMBERED = 10_000


def remembered_enrolments(archive: Archive) -> Callable[[str], Enrolment]:
    """Id -> enrolment as it was when it was first asked for: who takes part in what stays the same, how it ends does not.

    What it returns raises LookupError for an id of nobody, and looks again next time.
    """

    @functools.lru_cache(_ENROLMENTS_REMEMBERED)
    def remembered(enrolment_id: str) -> Enrolment:
        with archive.database.look() as session:
            enrolment = studies.enrolment_by_id(session, enrolment_id)
            if enrolment is None:
                raise LookupError(enrolment_id)
            study_of(session, enrolment)
            return enrolment

    return remembered


def part_of(request: HTTPConnection) -> Enrolment | None:
    """Whose part in which study this request belongs to, from memory: its `outcome` may be of before; None without a token.

    Raises:
        HTTPException: 401, if the token is not this server's or its enrolment is gone.
    """
    token = request.headers.get(HEADER) or request.query_params.get(PARAMETER)
    if not token:
        return None
    try:
        enrolment = request.app.state.enrolment(tokens.read(request.app.state.secret, token))
    except StudyError as error:
        raise HTTPException(401, str(error)) from None
    except LookupError:
        raise HTTPException(
            401, "this link belongs to a study that is not on this server\nOpen the study again from its start."
        ) from None
    allow_framing(request, _versions[enrolment.study_hash])
    return enrolment


def remember_judging(request: HTTPConnection, response: Response, enrolment: Enrolment) -> None:
    """Let this browser say that a pair of a study is before it: those who come by a platform's link have no other cookie."""
    response.set_cookie(
        JUDGING_COOKIE, token_of(request, enrolment), max_age=_JUDGING_S, httponly=True, samesite="lax",
        secure=request.url.scheme == "https",
    )  # fmt: skip


def judging_here(request: HTTPConnection) -> int | None:
    """Number of the participant whose pair of a study this browser was last served; None if it does not say so."""
    token = request.cookies.get(JUDGING_COOKIE)
    if not token:
        return None
    try:
        return request.app.state.enrolment(tokens.read(request.app.state.secret, token)).participant_id
    except (StudyError, LookupError):
        return None


def enrolment_of(request: HTTPConnection) -> Enrolment | None:
    """The enrolment this request's token stands for, read now; None if it carries no token. Errors as `part_of`."""
    part = part_of(request)
    if part is None:
        return None
    with request.app.state.archive.database.look() as session:
        return studies.enrolment_by_id(session, part.id)


def token_of(request: HTTPConnection, enrolment: Enrolment) -> str:
    """The token that stands for an enrolment, for addresses and headers."""
    return tokens.make(request.app.state.secret, enrolment.id)


def working(request: HTTPConnection, *, has_begun: bool = False) -> tuple[Enrolment, Facts] | None:
    """The enrolment of this request, of somebody who may work now, and what says so; None if it carries no token.

    Args:
        has_begun: Whether this is about work already begun, which a study that was closed since still takes.
    Raises:
        HTTPException: 401 for a bad token; 403 before the quiz, and for a banned person; 409 after the end;
            410 where the study is closed. The detail names `next`, the page that says more.
    """
    enrolment = part_of(request)
    if enrolment is None:
        return None
    facts = facts_of(request, enrolment)
    step = next_step(replace(facts, is_open=True) if has_begun else facts)
    if step == "work":
        return enrolment, facts
    if step == "quiz":
        _refuse(request, enrolment, 403, "quiz_first", "the quiz comes first")
    if facts.is_banned:
        _refuse(request, enrolment, 403, "banned", "answers of this participant are not accepted")
    if facts.outcome is None and not facts.is_open and due_outcome(facts) == "nothing_left":
        _refuse(request, enrolment, 410, "study_closed", "this study is closed; nothing more can be answered in it")
    return _refuse(request, enrolment, 409, "ended", "this part of the study has ended; nothing more can be answered in it")


def _refuse(request: HTTPConnection, enrolment: Enrolment, status: int, code: str, message: str) -> NoReturn:
    raise refusal(status, message, code=code, next=next_address(request, enrolment))


def facts_of(request: HTTPConnection, enrolment: Enrolment) -> Facts:
    """What decides an enrolment's next step, read now."""
    with request.app.state.archive.database.look() as session:
        return facts_in(session, enrolment)


def facts_in(session: Session, enrolment: Enrolment) -> Facts:
    """The same, within a session that is open already."""
    study = study_of(session, enrolment)
    standing = studies.standing(session, enrolment)
    # Answers that finished another visit were counted there: one answer never completes two assignments.
    others = studies.versions_of_other_visits_done(session, enrolment) if standing.has_done_before else []
    num_counted = sum(_known_version(session, other).num_answers or 0 for other in others)
    return Facts(
        is_open=standing.is_open,
        is_banned=standing.is_banned,
        needs_quiz=study.quiz is not None,
        num_attempts=standing.num_attempts,
        max_attempts=0 if study.quiz is None else study.quiz.attempts,
        has_passed=standing.num_passed > 0,
        num_answers=max(0, standing.num_answers - num_counted),
        num_wanted=study.num_answers,
        outcome=standing.outcome,
    )


def study_of(session: Session, enrolment: Enrolment) -> Study:
    """The version of the study somebody agreed to."""
    return _known_version(session, enrolment.study_hash)


def _known_version(session: Session, content_hash: str) -> Study:
    study = study_version(session, content_hash)
    assert study is not None  # a foreign key says so
    return study


_versions: dict[str, Study] = {}


def study_version(session: Session, content_hash: str) -> Study | None:
    """A version of a study; read once, for a hash means the same for ever."""
    if content_hash not in _versions:
        version = studies.study_version(session, content_hash)
        if version is None:
            return None
        _versions[content_hash] = Study.from_json(version.definition)
    return _versions[content_hash]


def finish(request: HTTPConnection, enrolment: Enrolment, outcome: Outcome) -> Enrolment:
    """End somebody's part, once: an outcome that is there already stays, and one that has become due meanwhile goes first."""
    with request.app.state.archive.database.write() as session:
        lock(session)
        outcome = due_outcome(facts_in(session, enrolment)) or outcome
        return studies.end_enrolment(session, enrolment.id, outcome, datetime.now(UTC))


def finish_if_due(request: HTTPConnection, enrolment: Enrolment, facts: Facts) -> Enrolment:
    """End somebody's part if by these facts it has all its answers, or cannot go on; otherwise leave it."""
    outcome = None if facts.outcome else due_outcome(facts)
    return enrolment if outcome is None else finish(request, enrolment, outcome)


def next_address(request: HTTPConnection, enrolment: Enrolment) -> str:
    """The page that sends somebody to what comes next: quiz, work or end."""
    return f"/studies/{enrolment.study}/next?{PARAMETER}={token_of(request, enrolment)}"


def end_address(request: HTTPConnection, enrolment: Enrolment) -> str:
    """The page that thanks and sends back; it also says how much is still to do."""
    return f"/studies/{enrolment.study}/end?{PARAMETER}={token_of(request, enrolment)}"


def allow_framing(request: HTTPConnection, study: Study) -> None:
    """Let the platforms of a study show this answer in their frames, and let its form go to their hosts."""
    for channel in study.channels.values():
        hosts = getattr(channel, "submit_hosts", ())
        allow(request, frame_ancestors=(*channel.frame_ancestors, *hosts), form_action=hosts)
