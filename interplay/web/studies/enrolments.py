"""Enrolments of requests: find a person's part in a study by a signed token.

The token stands in a header or in the address, because browsers send no cookies from another site's frame. Use
`enrolment_of(request)`, or `part_of` if the outcome does not matter. `working(request)` also refuses people who may not work
now. Pages of a study that a platform shows in a frame get headers that let only that platform frame these pages.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

from fastapi import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import Response

from interplay.play.games.for_study import ForStudy
from interplay.store import Enrolment
from interplay.study import StudyError, tokens
from interplay.study.definition import Study
from interplay.study.enrolment import Facts, due_outcome, next_step
from interplay.web.http.refusals import refusal
from interplay.web.http.security import allow
from interplay.web.services import services

HEADER = "Interplay-Enrolment"
PARAMETER = "enrolment"
PART_COOKIE = "interplay_part"
_REMEMBERED_S = 24 * 3600


def part_of(request: HTTPConnection) -> Enrolment | None:
    """Return the enrolment of this request, from memory, so its `outcome` may be out of date; None without a token.

    Raises:
        HTTPException: 401, if the token is not this server's or its enrolment is gone.
    """
    token = request.headers.get(HEADER) or request.query_params.get(PARAMETER)
    if not token:
        return None
    try:
        enrolment = services(request).studies.remembered(tokens.read(services(request).secret, token))
    except StudyError as error:
        raise HTTPException(401, str(error)) from None
    except LookupError:
        raise HTTPException(
            401, "this server does not have the study of this link\nOpen the study again from its start."
        ) from None
    allow_framing(request, services(request).studies.version(enrolment.study_hash))
    return enrolment


def remember_part(request: HTTPConnection, response: Response, enrolment: Enrolment) -> None:
    """Set a cookie that identifies the person who works in a study: people from a platform's link have no other cookie.
    With it, they see their own games; games of others are hidden while they have an open pair of the same task."""
    response.set_cookie(
        PART_COOKIE, token_of(request, enrolment), max_age=_REMEMBERED_S, httponly=True, samesite="lax",
        secure=request.url.scheme == "https",
    )  # fmt: skip


def part_here(request: HTTPConnection) -> int | None:
    token = request.cookies.get(PART_COOKIE)
    if not token:
        return None
    try:
        return services(request).studies.remembered(tokens.read(services(request).secret, token)).participant_id
    except (StudyError, LookupError):
        return None


def enrolment_of(request: HTTPConnection) -> Enrolment | None:
    """Return the enrolment of this request's token, read from the database; None without a token (errors: see `part_of`)."""
    part = part_of(request)
    return None if part is None else services(request).studies.enrolment(part.id)


def token_of(request: HTTPConnection, enrolment: Enrolment) -> str:
    return tokens.make(services(request).secret, enrolment.id)


def working(request: HTTPConnection, *, has_begun: bool = False) -> tuple[Enrolment, Facts] | None:
    """Return the enrolment of a person who may work now, and its facts; None without a token.

    Args:
        has_begun: Whether the request belongs to work that was begun before; a closed study still accepts such work.
    Raises:
        HTTPException: 401 for a bad token; 403 before the quiz, or for a banned person; 409 after the end, or while questions
            about a partner are not answered; 410 if the study is closed. Its detail has `next`, the page to continue with.
    """
    enrolment = part_of(request)
    if enrolment is None:
        return None
    facts = facts_of(request, enrolment)
    step = next_step(replace(facts, is_open=True) if has_begun else facts)
    if step == "work":
        return enrolment, facts
    if step == "questions":
        _refuse(request, enrolment, 409, "questions_first", "please answer the questions about your partner first")
    if step == "quiz":
        _refuse(request, enrolment, 403, "quiz_first", "please take the quiz first")
    if facts.is_banned:
        _refuse(request, enrolment, 403, "banned", "this study does not accept your answers")
    if facts.outcome is None and not facts.is_open and due_outcome(facts) == "nothing_left":
        _refuse(request, enrolment, 410, "study_closed", "this study is closed; it takes no more answers")
    return _refuse(request, enrolment, 409, "ended", "your part in this study has ended; it takes no more answers")


def may_play(request: HTTPConnection, task: str) -> tuple[Enrolment, ForStudy] | None:
    """Return the enrolment of a person who may begin a game of this task now, and the study's rules for this game.

    None without a token. A person may play only one game at a time; otherwise parallel games would be paid twice.

    Raises:
        HTTPException: As in `working`; 409 if the study asks for another task, or if the person has a game open.
    """
    part = working(request)
    if part is None:
        return None
    enrolment = part[0]
    play = services(request).studies.version(enrolment.study_hash).play
    if play is None:
        _refuse(request, enrolment, 409, "no_play", "in this study people do not play games")
    visit = services(request).visits.get(enrolment)
    if visit.variant is None or visit.variant.task != task:
        _refuse(request, enrolment, 409, "another_task", "this study asks you to play something else; load the page again")
    if visit.is_playing or visit.is_waiting:
        _refuse_second_game(request, enrolment)
    if visit.is_over:
        _refuse(request, enrolment, 409, "ended", "you have played all the games of this study")
    partner = visit.variant.partner(enrolment.id, len(visit.games))
    fallback = visit.variant.fallback or None
    return enrolment, ForStudy(enrolment.study, visit.variant.name, partner, fallback, play.waiting.after_s, play.is_blind)


def give_seat(request: HTTPConnection, enrolment: Enrolment, session_id: str) -> None:
    """Note that a seat belongs to a visit (HTTPException 409 if the person requested two seats at once and has the other)."""
    if not services(request).visits.bind(enrolment, session_id):
        _refuse_second_game(request, enrolment)


def _refuse_second_game(request: HTTPConnection, enrolment: Enrolment) -> NoReturn:
    message = "you have a game open already: continue in that window. If it is closed, try again in two minutes"
    _refuse(request, enrolment, 409, "game_open", message)


def _refuse(request: HTTPConnection, enrolment: Enrolment, status: int, code: str, message: str) -> NoReturn:
    raise refusal(status, message, code=code, next=next_address(request, enrolment))


def facts_of(request: HTTPConnection, enrolment: Enrolment) -> Facts:
    return services(request).studies.facts(enrolment)


def next_address(request: HTTPConnection, enrolment: Enrolment) -> str:
    return next_address_of(request, enrolment.study, enrolment.id)


def next_address_of(request: HTTPConnection, study: str, enrolment_id: str) -> str:
    return f"/studies/{study}/next?{PARAMETER}={tokens.make(services(request).secret, enrolment_id)}"


def end_address(request: HTTPConnection, enrolment: Enrolment) -> str:
    return f"/studies/{enrolment.study}/end?{PARAMETER}={token_of(request, enrolment)}"


def allow_framing(request: HTTPConnection, study: Study) -> None:
    """Let the platforms of a study show this answer in a frame and receive its forms."""
    for channel in study.channels.values():
        hosts = getattr(channel, "submit_hosts", ())
        allow(request, frame_ancestors=(*channel.frame_ancestors, *hosts), form_action=hosts)
