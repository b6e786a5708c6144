"""Judging over HTTP: JSON and videos, and the page that uses both.

Before a match is answered, no answer of these routes reveals who made its videos: no agent, episode, seed, hash, file name or
file date. Nor does any answer reveal whether a match is a check.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import math
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from anyio import CapacityLimiter
from anyio.lowlevel import RunVar
from fastapi import APIRouter, Depends, Request
from fastapi.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.requests import ClientDisconnect

from interplay.errors import NotFoundError
from interplay.judge import JudgingError, RulesError
from interplay.judge.errors import DailyLimitError, InvalidAnswerError, TooEarlyError, UnknownMatchError
from interplay.judge.form import MIN_REASON_CHARS, PROBLEMS
from interplay.judge.serving.judging import Preview
from interplay.judge.serving.match import ServedMatch
from interplay.tables import is_name
from interplay.web.agents.access import check_may_know, unplayed_tasks
from interplay.web.http.identity import network_of
from interplay.web.http.refusals import invalid, judging_refusals, refusal
from interplay.web.judging.judges import Judge, judge_of
from interplay.web.rendering import find_task, render
from interplay.web.services import services
from interplay.web.studies import enrolments
from interplay.web.videos import varied_response

log = logging.getLogger("interplay.web")
router = APIRouter(tags=["judging"])

_STATUS = {
    "unknown_match": 404,
    "foreign_match": 403,
    "banned": 403,
    "superseded": 410,
    "withdrawn": 410,
    "study_closed": 410,
    "too_early": 425,
    "daily_limit": 429,
}
"""Code of an error -> its status; 409 for all others."""


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except InvalidAnswerError as error:
        faults = [fault._asdict() for fault in error.errors]
        raise refusal(422, str(error), code=error.code, errors=faults) from None
    except (TooEarlyError, DailyLimitError) as error:
        seconds = math.ceil(error.retry_after_s)
        headers = {"Retry-After": str(seconds)}
        raise refusal(_STATUS[error.code], str(error), code=error.code, headers=headers, retry_after_s=seconds) from None
    except JudgingError as error:
        raise refusal(_STATUS.get(error.code, 409), str(error), code=error.code) from None
    except RulesError as error:
        log.error("%s", error)
        message = "this study is temporarily unavailable because of a configuration error"
        raise refusal(503, message, code="study_unusable") from None
    except NotFoundError as error:
        raise refusal(404, str(error).partition("\n")[0]) from None


async def _body(request: Request) -> dict[str, Any]:
    try:
        received = await request.body()
    except ClientDisconnect:  # a page that was closed while it sent; nobody hears this
        raise refusal(400, "the request is incomplete; send it again") from None
    if not received.strip():
        return {}
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise refusal(415, "send the body as application/json")
    try:
        document = json.loads(received)
    except (ValueError, RecursionError):
        raise refusal(400, "the body is not JSON in UTF-8") from None
    if not isinstance(document, dict):
        raise invalid("body", "expected a JSON object")
    for field, value in document.items():
        try:
            json.dumps({field: value}, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise invalid(
                ascii(field)[1:-1][:100], "holds half a character (a lone surrogate), which is not valid text"
            ) from None
    return document


Body = Annotated[dict[str, Any], Depends(_body)]


async def _match_id(match: str) -> str:
    if not re.fullmatch(r"[0-9a-f]{24}", match):
        raise refusal(404, "there is no such match; ask for a new match", code=UnknownMatchError.code)
    return match


def _study(study: str | None) -> str | None:
    """Return the study's name if it is valid. Refuse (404) any other text, because the database does not accept every text."""
    if study is not None and not is_name(study):
        raise refusal(404, f"unknown study {study[:100]!r}")
    return study


MatchId = Annotated[str, Depends(_match_id)]

_AT_ONCE = 4
"""Number of requests (`serve`, `answer`) that are handled at the same time.
Python runs one thread at a time: if fifty requests took turns, all of them would end late."""
_places: RunVar[CapacityLimiter] = RunVar("interplay.judging_places")


async def _a_place(_body: Body) -> AsyncIterator[None]:
    """Wait for one of the `_AT_ONCE` places after the body has arrived, and keep this place until the work is done."""
    try:
        places = _places.get()
    except LookupError:
        places = CapacityLimiter(_AT_ONCE)
        _places.set(places)
    async with places:
        yield


_ORDERLY = [Depends(_a_place, scope="function")]


def _document(request: Request, match: ServedMatch, judge: Judge) -> dict[str, Any]:
    address = f"/api/judge/matches/{match.id}"
    query, answered, wanted = "", match.num_answered, match.num_wanted
    if judge.enrolment is not None:
        query = "?" + urlencode({enrolments.PARAMETER: enrolments.token_of(request, judge.enrolment)})
        facts = judge.facts or enrolments.facts_of(request, judge.enrolment)  # counts this visit alone
        answered, wanted = facts.num_answers, facts.num_wanted
    return {
        "match": match.id,
        "task": match.task,
        "title": match.title,
        "goal": match.goal,
        "seat": match.seat,
        "segments": match.is_of_segments,
        "frame_rate_hz": match.frame_rate_hz,
        "questions": [asdict(question) for question in match.questions],
        "left": {"video": f"{address}/left.mp4{query}"},
        "right": {"video": f"{address}/right.mp4{query}"},
        "min_reason_chars": match.min_reason_chars,
        "min_viewing_s": match.min_viewing_s,
        "min_watched_share": match.min_watched_share,
        "served_at": match.served_at.isoformat(),
        "elapsed_s": round(match.elapsed_s, 3),
        "state": match.state,
        "answered": answered,
        "wanted": wanted,
        "study": match.study,
        "examples": [{"video": example.video, "caption": example.caption} for example in match.examples],
        "draft": match.draft,
    }


# How the routes describe themselves


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties}
    return {"requestBody": {"content": {"application/json": {"schema": schema}}}}


_TEXT = {"type": "string"}
_NAMED = {"judge": {"type": "string", "description": "Name of the judge. Only with the operator's token."}}
_DRAFT = {"draft": {"type": "object", "description": "The answer and the watching so far. At most 128 KiB."}}
_BODY = (400, 401, 403, 404, 409, 410, 413, 415, 422)


# A match, from serving to the answer


@router.post(
    "/api/judge/matches",
    status_code=201,
    dependencies=_ORDERLY,
    responses=judging_refusals(*_BODY, 429),
    openapi_extra=_object(
        task=_TEXT, study={"type": "string", "description": "Only for programs. People enrol in a study first."}, **_NAMED
    ),
)
def serve(request: Request, body: Body) -> JSONResponse:
    """Get this judge's open match, or a new one. 409 if there is nothing to show now."""
    for name in ("task", "study"):
        if body.get(name) is not None and not isinstance(body[name], str):
            raise invalid(name, f"expected a {name} id")
    judge = judge_of(request, body.get("judge"), make=True, must_work=True)
    study = _study(body.get("study")) if judge.enrolment is None else judge.study
    if judge.kind == "person" and study is not None and judge.enrolment is None:
        message = "open the link of the study to take part; you read there what the study is about"
        raise refusal(403, message, code="enrolment_needed")
    if judge.enrolment is not None and services(request).studies.version(judge.enrolment.study_hash).kind != "comparisons":
        raise refusal(409, "in this study people do not compare videos", code="no_comparisons")
    with _refusals():
        served = services(request).judging.serve(
            judge.name, body.get("task"), study=study, judge_kind=judge.kind, address=network_of(request)
        )
    response = JSONResponse(_document(request, served, judge), 201, {"Cache-Control": "no-store"})
    if judge.enrolment is not None:
        enrolments.remember_part(request, response, judge.enrolment)
    return response


@router.get("/api/judge/matches/{match}", responses=judging_refusals(400, 401, 403, 404, 410, 422))
def show(request: Request, match: MatchId, judge: str | None = None) -> JSONResponse:
    """Get one of your own matches again."""
    asking = judge_of(request, judge)
    with _refusals():
        served = services(request).judging.get(match, asking.name)
    return JSONResponse(_document(request, served, asking), headers={"Cache-Control": "no-store"})


def _video(request: Request, path: Path, tag: str, served_at: datetime) -> Response:
    # The defaults come from the file's size and date: they would be the same wherever this video is shown.
    headers = {
        "ETag": f'"{tag}"',
        "Last-Modified": format_datetime(served_at, usegmt=True),
        "Cache-Control": "private, max-age=3600",
    }
    secret = hmac.new(services(request).secret, b"video:" + tag.encode(), hashlib.sha256).digest()
    try:
        return varied_response(request, path, headers, secret)
    except FileNotFoundError:
        message = "this video is no longer on the server; release the match and ask for another one"
        raise refusal(404, message, code="no_video") from None


_VIDEO = {200: {"content": {"video/mp4": {}}}, 206: {"description": "The part asked for.", "content": {"video/mp4": {}}}}
_VIDEO |= {416: {"description": "No such part."}} | judging_refusals(400, 401, 403, 404, 410, 422)


@router.get("/api/judge/matches/{match}/{side}.mp4", response_class=FileResponse, responses=_VIDEO)
@router.head("/api/judge/matches/{match}/{side}.mp4", include_in_schema=False)
def video(request: Request, match: MatchId, side: Literal["left", "right"], judge: str | None = None) -> Response:
    """Get the video of one side. Range requests work."""
    with _refusals():
        path, served_at = services(request).judging.video(match, side, judge_of(request, judge).name)
    return _video(request, path, f"{match}-{side}", served_at)


@router.post(
    "/api/judge/matches/{match}/heartbeat", responses=judging_refusals(*_BODY), openapi_extra=_object(**_DRAFT, **_NAMED)
)
def heartbeat(request: Request, match: MatchId, body: Body) -> dict[str, Any]:
    """Tell the server that the page is still open, and store the draft. The state is `open`, or `released` if the pair may
    go to others."""
    judging = services(request).judging
    judge = judge_of(request, body.get("judge"), must_work=True, has_begun=True)
    with _refusals():
        state = judging.heartbeat(match, judge.name, body.get("draft"), study=judge.study)
    return {"match": match, "state": state, "release_after_s": judging.release_after_s}


@router.post(
    "/api/judge/matches/{match}/release",
    responses=judging_refusals(*_BODY),
    openapi_extra=_object(
        problem={
            "type": "object",
            "description": "What is wrong with the pair, if anything. Stored with the match.",
            "properties": {"kind": {"enum": [*PROBLEMS]}, "words": {"type": "string", "maxLength": 2000}},
        },
        **_NAMED,
    ),
)
def release(request: Request, match: MatchId, body: Body) -> dict[str, Any]:
    """Release a match and delete its draft. With `problem`, say what is wrong with the pair."""
    with _refusals():
        services(request).judging.release(match, judge_of(request, body.get("judge")).name, body.get("problem"))
    return {"match": match, "state": "released"}


@router.post(
    "/api/judge/matches/{match}/answer",
    status_code=201,
    dependencies=_ORDERLY,
    responses=judging_refusals(*_BODY, 425, 429),
    openapi_extra=_object(
        outcome={"enum": ["left", "right", "draw", "na"], "description": "`na` (cannot tell) is only for segments."},
        responses={"type": "object", "description": "Question id -> {left, right} (direct) or left|draw|right|na."},
        reason={"type": "string", "minLength": MIN_REASON_CHARS},
        viewing={"type": "object", "description": "Times at which the judge watched each video. At most 64 KiB."},
        **_NAMED,
    ),
)
def answer(request: Request, match: MatchId, body: Body) -> dict[str, Any]:
    """Answer a match, once. In a study, the last answer returns `next`, the address to open then."""
    judging = services(request).judging
    fields = {name: body.get(name) for name in ("outcome", "responses", "reason", "viewing")}
    judge = judge_of(request, body.get("judge"), must_work=True, has_begun=True)
    with _refusals():
        accepted = judging.answer(match, judge.name, study=judge.study, address=network_of(request), **fields)
    document: dict[str, Any] = {"answer": accepted.sequence, "answered": accepted.num_by_judge}
    if judge.enrolment is not None:
        facts = enrolments.facts_of(request, judge.enrolment)
        document["answered"] = facts.num_answers
        if services(request).studies.finish_if_due(judge.enrolment, facts).outcome is not None:
            document["next"] = enrolments.end_address(request, judge.enrolment)
    return document


@router.post(
    "/api/judge/undo",
    status_code=201,
    dependencies=_ORDERLY,
    responses=judging_refusals(*_BODY),
    openapi_extra=_object(**_NAMED),
)
def undo(request: Request, body: Body) -> dict[str, Any]:
    """Take back your last answer, if it is at most ten minutes old, and get its two videos again."""
    judge = judge_of(request, body.get("judge"), must_work=True, has_begun=True)
    with _refusals():
        served = services(request).judging.undo(judge.name, study=judge.study)
    return _document(request, served, judge)


# Looking without judging


def _preview(request: Request, task: str | None, study: str | None) -> Preview:
    """Return the pair to look at. Tasks of `explore` that the visitor may still play are skipped, or refused (403) if named."""
    with _refusals():
        shown = services(request).judging.preview(task, _study(study), but=unplayed_tasks(request))
    check_may_know(request, shown.match.task)
    return shown


@router.get("/api/judge/preview", responses=judging_refusals(400, 403, 404, 409, 422))
def preview(request: Request, task: str | None = None, study: str | None = None) -> JSONResponse:
    """Get a pair to look at: a match without an id. Nothing is reserved or stored."""
    shown = _preview(request, task, study)
    query = "?" + urlencode({"task": shown.match.task} | ({} if study is None else {"study": study}))
    document = _document(request, shown.match, Judge("", "person")) | {
        "match": None,
        "left": {"video": f"/api/judge/preview/left.mp4{query}"},
        "right": {"video": f"/api/judge/preview/right.mp4{query}"},
    }
    return JSONResponse(document, headers={"Cache-Control": "no-store"})


@router.get("/api/judge/preview/{side}.mp4", response_class=FileResponse, responses=_VIDEO | judging_refusals(409))
@router.head("/api/judge/preview/{side}.mp4", include_in_schema=False)
def preview_video(
    request: Request, side: Literal["left", "right"], task: str | None = None, study: str | None = None
) -> Response:
    """Get the video of one side of the pair that `/api/judge/preview` shows."""
    shown = _preview(request, task, study)
    name = shown.left if side == "left" else shown.right
    # Another pair is shown when agents come or go, and no part of one video may be put behind a part of another.
    which = hmac.new(services(request).secret, b"preview:" + name.encode(), hashlib.sha256).hexdigest()[:24]
    path = services(request).archive.video_path(name)
    return _video(request, path, f"preview-{side}-{which}", shown.match.served_at)


# The page


@router.get("/judge", include_in_schema=False)
def page(request: Request, task: str = "", study: str = "", preview: bool = False) -> Response:
    if task:
        find_task(request, task)
    enrolment = enrolments.enrolment_of(request)
    if enrolment is not None:
        study = enrolment.study
        if not preview and enrolments.next_step(enrolments.facts_of(request, enrolment)) != "work":
            return RedirectResponse(enrolments.next_address(request, enrolment), 303)
    elif study and not preview:
        return RedirectResponse(f"/studies/{study}", 303)
    if study and (known := services(request).studies.find(study)) is not None and known.study.kind != "comparisons":
        return RedirectResponse(f"/studies/{study}", 303)  # nothing is compared there
    context: dict[str, Any] = {
        "task": task,
        "study": None,
        "enrolment": "",
        "preview": preview,
        "alone": bool(study),
        "problems": PROBLEMS,
    }
    if study:
        known = services(request).studies
        context["study"] = known.get(study).study if enrolment is None else known.version(enrolment.study_hash)
    if enrolment is not None:
        context["enrolment"] = enrolments.token_of(request, enrolment)
    return render(request, "judge.html", "Judge", **context)
