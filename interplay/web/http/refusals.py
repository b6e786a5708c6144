"""Refusals over the API: their form, a code for each status, and their description in routes."""

from __future__ import annotations

from typing import Any

from fastapi import HTTPException
from pydantic import BaseModel, Field

CODES = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    409: "conflict",
    410: "gone",
    413: "too_large",
    415: "unsupported_media_type",
    421: "other_server",
    422: "invalid",
    429: "busy",
    503: "unavailable",
}
"""Status -> the code for programs, unless a more exact code is known."""


def document(code: str, message: str, **more: Any) -> dict[str, Any]:
    return {"error": code, "message": message, **more}


def refusal(
    status: int, message: str, *, code: str | None = None, headers: dict[str, str] | None = None, **more: Any
) -> HTTPException:
    """Make a refusal to raise. `code` replaces the general code of the status."""
    if status == 401:
        headers = {"WWW-Authenticate": "Bearer"} | (headers or {})
    return HTTPException(status, document(code or CODES[status], message, **more), headers)


def invalid(field: str, message: str) -> HTTPException:
    return refusal(422, f"{field}: {message}", errors=[{"field": field, "message": message}])


# How routes describe them


class Refusal(BaseModel):
    """Why a request was refused."""

    error: str = Field(description="A short code for programs.", examples=["forbidden"])
    message: str = Field(description="What is wrong and what to do about it.")


_OF_AGENTS = {
    401: "No token, or one that is unknown or revoked.",
    403: "The token may not do this, or somebody else proposed the agent.",
    404: "No such agent, or it is not in this task.",
    409: "The name is taken, or the agent's state does not allow this.",
    413: "The video is larger than the server allows.",
    422: "A value is missing or wrong. The message names it.",
    429: "The server is still receiving another video with this token.",
    503: "The server has no space left.",
}
"""Status -> its meaning in the routes of agents."""

_OF_JUDGING = {
    400: "The body is not JSON, or the address has the character NUL: `bad_request`.",
    401: "Unknown token: `unauthorized`.",
    403: "Not allowed for you: `foreign_match`, `forbidden`, `banned`, `quiz_first`, `enrolment_needed`, `cross_site`.",
    404: "No such match, task, study or video: `unknown_match`, `not_found`, `no_video`.",
    409: "Not now: `nothing_to_judge`, `every_pair_taken`, `videos_being_made`, `videos_missing`, `already_answered`, "
    "`quota_reached`, `study_full`, `ended`.",
    410: "Too late: `superseded`, `study_closed`.",
    413: "Larger than 256 KiB: `too_large`.",
    415: "The body was not sent as JSON: `unsupported_media_type`.",
    422: "Some fields are wrong; each is listed in `errors`: `invalid`.",
    429: "The daily limit of answers is reached: `daily_limit`; `retry_after_s` says how long to wait.",
    425: "Too early: both videos cannot have been watched yet: `too_early`; `retry_after_s` says how long to wait.",
}
"""Status -> its meaning, and its codes, in the routes of judging."""

_JUDGING_SCHEMA = {
    "type": "object",
    "required": ["error", "message"],
    "properties": {
        "error": {"type": "string", "description": "The refusal's code, for programs."},
        "message": {"type": "string", "description": "What is wrong, and what to do, for people."},
    },
}


def agent_refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": Refusal, "description": _OF_AGENTS[status]} for status in statuses}


def judging_refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {
        status: {"description": _OF_JUDGING[status], "content": {"application/json": {"schema": _JUDGING_SCHEMA}}}
        for status in statuses
    }
