"""Refusals over the API: one form of them, one code for each status, and their place in the API description."""

from __future__ import annotations

from typing import Any, NoReturn

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
    422: "invalid",
    429: "busy",
    503: "unavailable",
}
"""Status -> the code that programs read, where nothing finer is known."""

_MEANINGS = {
    401: "No token, or one that is unknown or revoked.",
    403: "The token may not do this, or the agent is another's.",
    404: "No such agent, or it is not in this task.",
    409: "The name is taken, or the agent is not in a state for this.",
    413: "The video is larger than the server takes.",
    422: "A value is missing or wrong; the message names it.",
    429: "Another video of this token is being received.",
    503: "The server has no room left.",
}
"""Status -> what it means where agents are proposed."""


class Refusal(BaseModel):
    """Why a request was refused."""

    error: str = Field(description="A short code for programs.", examples=["forbidden"])
    message: str = Field(description="What is wrong and what to do about it.")


def refusal(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> HTTPException:
    """A refusal with a code that programs read and a message for people; to be raised."""
    return HTTPException(status, {"error": code, "message": message}, headers)


def refuse(status: int, message: str) -> NoReturn:
    """Answer with the refusal that the API description promises for a status."""
    raise refusal(status, CODES[status], message, {"WWW-Authenticate": "Bearer"} if status == 401 else None)


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The API description of what may go wrong where agents are proposed."""
    return {status: {"model": Refusal, "description": _MEANINGS[status]} for status in statuses}
