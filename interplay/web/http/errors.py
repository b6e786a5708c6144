"""Answer errors in one style: a page for people, and `{"error", "message"}` for programs (every address under /api)."""

from __future__ import annotations

import difflib
import logging
from typing import Any
from urllib.parse import urlencode

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from sqlalchemy.exc import DBAPIError
from starlette.exceptions import HTTPException

from interplay.errors import InterplayError, NotFoundError
from interplay.files import is_disk_full
from interplay.play.limits import PlayError
from interplay.play.nodes.cluster import ElsewhereError
from interplay.record.errors import MissingFileError
from interplay.store.places.blobs import BlobsAwayError
from interplay.tasks import Task
from interplay.web.http.nodes import PREFIX
from interplay.web.http.refusals import CODES, document
from interplay.web.http.security import HEADERS
from interplay.web.rendering import templates
from interplay.web.services import services

log = logging.getLogger("interplay.web")

_DISK_FULL = (
    "The disk of this server is full, so nothing was saved. Earlier data is kept. "
    "Please ask the operator of the server to free some space, then try again."
)
_STORE_AWAY = "The store with the recordings does not answer right now. Nothing recorded is lost. Please try again in a minute."
_CRASH = "An unexpected error happened on the server. Its log has the details. Nothing recorded is lost."
_HEADLINES = {
    403: "You may not open this page",
    404: "Page not found",
    405: "This address takes another kind of request",
    500: "Something went wrong on our side",
    429: "Too many requests",
    503: "Not available right now",
}


def install(app: FastAPI) -> None:
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(InterplayError, _interplay_error)
    app.add_exception_handler(ElsewhereError, _elsewhere)
    app.add_exception_handler(OSError, _storage_error)
    app.add_exception_handler(DBAPIError, _storage_error)
    app.add_exception_handler(Exception, _crash)


def _answer(request: Request, status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    if request.url.path.startswith("/api/"):
        code = CODES.get(status, "error" if status < 500 else "internal_error")
        return JSONResponse(document(code, message), status, headers)
    near = _near_tasks(request) if status == 404 else []
    context = {
        "status": status,
        "headline": _HEADLINES.get(status, "That did not work"),
        "message": message.partition("; did you mean")[0] if near else message,  # the page offers links instead
        "near": near,
    }
    return templates.TemplateResponse(request, "error.html", context, status_code=status, headers=headers)


def _near_tasks(request: Request) -> list[Task]:
    tasks = services(request).tasks
    asked = "/".join(request.url.path.strip("/").lower().split("/")[-2:])
    return [tasks[task_id] for task_id in difflib.get_close_matches(asked, tasks, n=2, cutoff=0.8)]


def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    detail: Any = error.detail
    message = str(detail.get("message") if isinstance(detail, dict) else detail)
    if error.status_code == 404 and message == "Not Found":
        message = f"No page has the address {request.url.path}."
    headers = dict(error.headers) if error.headers else None
    if isinstance(error.detail, dict) and request.url.path.startswith("/api/"):
        return JSONResponse(error.detail, error.status_code, headers)
    return _answer(request, error.status_code, message, headers)


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    is_body = all(tuple(item["loc"]) == ("body",) for item in error.errors())
    if is_body and kind and kind != "application/json":
        message = f"send the body as JSON, with the header 'Content-Type: application/json', got {kind[:60]!r}"
        return _answer(request, 415, message)
    problems = [
        {"field": ".".join(str(part) for part in item["loc"][1:] or item["loc"]), "message": item["msg"]}
        for item in error.errors()
    ]
    text = "; ".join(f"{item['field']}: {item['message']}" for item in problems)
    if request.url.path.startswith("/api/"):
        return JSONResponse(document(CODES[422], text, errors=problems), 422)
    return _answer(request, 422, text)


def _interplay_error(request: Request, error: Exception) -> Response:
    # The first line says what is wrong; the others name commands and folders of the machine this runs on.
    text = str(error).partition("\n")[0]
    if isinstance(error, NotFoundError):
        return _answer(request, 404, text)
    if isinstance(error, MissingFileError):
        log.warning("%s %s: %s", request.method, request.url.path, text)
        return _answer(request, 404, f"The recording of episode {error.episode} is not on this server.")
    if isinstance(error, PlayError):  # full, or stopping; or the visitor holds too much
        return _answer(request, 429 if error.is_own else 503, text, {"Retry-After": str(error.retry_after_s)})
    if is_disk_full(error):
        return _disk_full(request, error)
    if isinstance(error, BlobsAwayError):
        log.error("%s %s: %s", request.method, request.url.path, text)
        return _answer(request, 503, _STORE_AWAY, {"Retry-After": "60"})
    # Nothing a visitor asked for wrongly: a file, a database or a world is in trouble, and the text may name folders.
    log.error("%s %s: %s", request.method, request.url.path, error, exc_info=error)
    return _answer(request, 500, _CRASH)


def _elsewhere(request: Request, error: Exception) -> Response:
    """Send a request for a seat to another server of the cluster."""
    assert isinstance(error, ElsewhereError)
    play = services(request).play
    assert play is not None
    asked = ",".join(filter(None, (request.query_params.get("asked"), play.node)))
    return RedirectResponse(f"{PREFIX}{error.node}{request.url.path}?{urlencode({'asked': asked})}", 307)


def _storage_error(request: Request, error: Exception) -> Response:
    """Answer a failure of a file or of the database. A full disk gets a message; every other error is unexpected."""
    if not isinstance(request, Request) or not is_disk_full(error):  # a socket has nobody to answer
        raise error
    return _disk_full(request, error)


def _disk_full(request: Request, error: Exception) -> Response:
    log.error("%s %s: the disk is full: %s", request.method, request.url.path, str(error).partition("\n")[0])
    return _answer(request, 503, _DISK_FULL, {"Retry-After": "60"})


def _crash(request: Request, _error: Exception) -> Response:
    """Answer an unexpected error. The traceback is in the log; the visitor gets a simple page."""
    return _answer(request, 500, _CRASH, dict(HEADERS))  # this answer is made outside of the middleware that adds them
