"""Judging and the leaderboard over HTTP: JSON and videos; the pages stand on it.

Before a match is answered nothing here says whose videos they are: no agent, episode, seed, hash, file name or file date.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from email.utils import format_datetime
from typing import Annotated, Any, Literal, NoReturn

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import FileResponse, JSONResponse, Response

from interplay.errors import NotFoundError
from interplay.judge import (
    MIN_REASON_CHARS,
    AlreadyAnsweredError,
    ForeignMatchError,
    InvalidAnswerError,
    Judging,
    JudgingError,
    NothingToJudgeError,
    ServedMatch,
    SupersededError,
    UnknownMatchError,
)
from interplay.web.board import public_board
from interplay.web.identity import GIVEN_NAME, PERSON, current_participant, is_given_name, is_operator, known_participant

router = APIRouter(tags=["judging"])

_OPERATOR = "operator"
_STATUS = {
    NothingToJudgeError: 409,
    UnknownMatchError: 404,
    ForeignMatchError: 403,
    AlreadyAnsweredError: 409,
    SupersededError: 410,
}


@contextmanager
def _refusals() -> Iterator[None]:
    """Errors of the judging room as HTTP answers."""
    try:
        yield
    except InvalidAnswerError as error:
        errors = [fault._asdict() for fault in error.errors]
        raise HTTPException(422, {"error": error.code, "message": str(error), "errors": errors}) from None
    except JudgingError as error:
        raise HTTPException(_STATUS[type(error)], {"error": error.code, "message": str(error)}) from None
    except NotFoundError as error:
        _refuse(404, "not_found", str(error))


def _refuse(status: int, code: str, message: str) -> NoReturn:
    raise HTTPException(status, {"error": code, "message": message}) from None


def _invalid(field: str, message: str) -> NoReturn:
    fault = {"field": field, "message": message}
    raise HTTPException(422, {"error": "invalid", "message": f"{field}: {message}", "errors": [fault]}) from None


async def _body(request: Request) -> dict[str, Any]:
    """The request's JSON object; an empty body is an empty object."""
    received = await request.body()
    if not received.strip():
        return {}
    try:
        document = json.loads(received)
    except (ValueError, RecursionError):
        _refuse(400, "bad_request", "the body is not JSON in UTF-8")
    if not isinstance(document, dict):
        _invalid("body", "expected a JSON object")
    return document


Body = Annotated[dict[str, Any], Depends(_body)]


def _judging(request: Request) -> Judging:
    return request.app.state.judging


def _judge(request: Request, named: Any = None, *, make: bool = False) -> str:
    """Who is asking: the cookie's participant, or whom the operator names (`operator` if nobody)."""
    if is_operator(request):
        if named is None:
            return _OPERATOR
        if not isinstance(named, str) or not is_given_name(named):
            _invalid("judge", GIVEN_NAME)
        return named
    if named is not None:
        _refuse(403, "forbidden", "only the operator may name a judge; send the token as 'Authorization: Bearer ...'")
    if make:
        return f"{PERSON}{current_participant(request)}"
    participant = known_participant(request)
    return f"{PERSON}{participant.id}" if participant else ""  # nobody's match is theirs


def _match_id(match: str) -> str:
    """Ids as we make them; anything else is unknown without asking the database."""
    if not re.fullmatch(r"[0-9a-f]{24}", match):
        _refuse(404, UnknownMatchError.code, "there is no such match; ask for a new one")
    return match


MatchId = Annotated[str, Depends(_match_id)]


def _document(match: ServedMatch) -> dict[str, Any]:
    address = f"/api/judge/matches/{match.id}"
    return {
        "match": match.id,
        "task": match.task,
        "title": match.title,
        "goal": match.goal,
        "frame_rate_hz": match.frame_rate_hz,
        "questions": [asdict(question) for question in match.questions],
        "left": {"video": f"{address}/left.mp4"},
        "right": {"video": f"{address}/right.mp4"},
        "min_reason_chars": MIN_REASON_CHARS,
        "served_at": match.served_at.isoformat(),
        "state": match.state,
        "answered": match.num_answered,
    }


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    """The API description of a JSON body."""
    schema = {"type": "object", "properties": properties}
    return {"requestBody": {"content": {"application/json": {"schema": schema}}}}


_TEXT = {"type": "string"}
_NAMED = {"judge": {"type": "string", "description": "Who judges; with the operator's token only."}}


@router.post("/api/judge/matches", status_code=201, openapi_extra=_object(task=_TEXT, **_NAMED))
def serve(request: Request, body: Body) -> JSONResponse:
    """The match this judge has open, or a new one; 409 when nothing can be shown now."""
    judging = _judging(request)
    task = body.get("task")
    if task is not None and not isinstance(task, str):
        _invalid("task", "expected a task id")
    judge = _judge(request, body.get("judge"), make=True)
    with _refusals():
        return JSONResponse(_document(judging.serve(judge, task)), 201, {"Cache-Control": "no-store"})


@router.get("/api/judge/matches/{match}")
def show(request: Request, match: MatchId, judge: str | None = None) -> JSONResponse:
    """One's own match again."""
    with _refusals():
        served = _judging(request).get(match, _judge(request, judge))
    return JSONResponse(_document(served), headers={"Cache-Control": "no-store"})


@router.get("/api/judge/matches/{match}/{side}.mp4")
@router.head("/api/judge/matches/{match}/{side}.mp4", include_in_schema=False)
def video(request: Request, match: MatchId, side: Literal["left", "right"], judge: str | None = None) -> Response:
    """One side's video; ranges are answered."""
    judging = _judging(request)
    with _refusals():
        path, served_at = judging.video(match, side, _judge(request, judge))
    if not path.is_file():
        _refuse(404, "no_video", "this video is gone from the server; give the match back and ask for another")
    # The defaults come from the file's size and date: they would be the same wherever this video is shown.
    headers = {
        "ETag": f'"{match}-{side}"',
        "Last-Modified": format_datetime(served_at, usegmt=True),
        "Cache-Control": "private, max-age=3600",
    }
    return FileResponse(path, headers=headers, media_type="video/mp4")


@router.post("/api/judge/matches/{match}/heartbeat", openapi_extra=_object(**_NAMED))
def heartbeat(request: Request, match: MatchId, body: Body) -> dict[str, Any]:
    """A sign of life: the page is open. Answers `open`, or `released` when the pair may go to others."""
    judging = _judging(request)
    with _refusals():
        state = judging.heartbeat(match, _judge(request, body.get("judge")))
    return {"match": match, "state": state, "release_after_s": judging.release_after_s}


@router.post("/api/judge/matches/{match}/release", openapi_extra=_object(**_NAMED))
def release(request: Request, match: MatchId, body: Body) -> dict[str, Any]:
    """Give a match back."""
    with _refusals():
        _judging(request).release(match, _judge(request, body.get("judge")))
    return {"match": match, "state": "released"}


@router.post(
    "/api/judge/matches/{match}/answer",
    status_code=201,
    openapi_extra=_object(
        outcome={"enum": ["left", "right", "draw"]},
        responses={"type": "object", "description": "Question id -> {left, right} (direct) or left|draw|right|na."},
        reason={"type": "string", "minLength": MIN_REASON_CHARS},
        viewing={"type": "object", "description": "What was watched and when; at most 64 KiB."},
        **_NAMED,
    ),
)
def answer(request: Request, match: MatchId, body: Body) -> dict[str, Any]:
    """Answer a match, once."""
    judging = _judging(request)
    fields = {name: body.get(name) for name in ("outcome", "responses", "reason", "viewing")}
    with _refusals():
        accepted = judging.answer(match, _judge(request, body.get("judge")), **fields)
    return {"answer": accepted.sequence, "answered": accepted.num_by_judge}


@router.get("/api/leaderboard")
def leaderboard(request: Request, task: str | None = None) -> dict[str, Any]:
    """Agents by score, of one task or over all; which two agents come next is for operators."""
    with _refusals():
        board = _judging(request).leaderboard(task)
    return board if is_operator(request) else public_board(board)
