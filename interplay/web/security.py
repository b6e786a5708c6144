"""Headers that keep pages to themselves, and the refusal of requests other sites send in a visitor's name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from interplay.web.refusals import CODES, document


def content_security_policy(*, frame_ancestors: Iterable[str] = (), form_action: Iterable[str] = ()) -> str:
    """What a page may load, who may frame it, and where its forms may go.

    Args:
        frame_ancestors: Origins whose pages may show it in a frame; without any: none.
        form_action: Origins beside our own that take its forms.

    >>> content_security_policy(form_action=["https://www.mturk.com"]).split("; ")[7]
    "form-action 'self' https://www.mturk.com"
    """
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self' data: blob:",  # Pico draws its check marks from data: addresses
            "media-src 'self'",
            "connect-src 'self'",
            "font-src 'self'",
            " ".join(("form-action 'self'", *form_action)),
            "base-uri 'none'",
            f"frame-ancestors {' '.join(frame_ancestors) or chr(39) + 'none' + chr(39)}",
        )
    )


CONTENT_SECURITY_POLICY = content_security_policy()

HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), fullscreen=(self)",
}

MAX_BODY_BYTES = 256 * 1024
"""Of a request: the longest form is a judge's answer with what was watched (64 KiB) and a few pages of reasons."""

_SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
_SCOPE_KEY = "interplay.security"


@dataclass
class _Allowed:
    """Other origins this answer has to do with; filled while the request is handled."""

    frame_ancestors: list[str] = field(default_factory=list)
    form_action: list[str] = field(default_factory=list)


def allow(request: HTTPConnection, *, frame_ancestors: Iterable[str] = (), form_action: Iterable[str] = ()) -> None:
    """Let these origins frame the answer to this request, and take its forms; nothing else is loosened."""
    allowed: _Allowed = request.scope.setdefault(_SCOPE_KEY, _Allowed())
    for known, new in ((allowed.frame_ancestors, frame_ancestors), (allowed.form_action, form_action)):
        known += [origin for origin in dict.fromkeys(new) if origin not in known]


class SecurityMiddleware:
    """Adds `HEADERS` to every answer, loosened where `allow` was called, and refuses changes asked for by other sites' pages.

    Browsers say where a request comes from: by `Sec-Fetch-Site`, or, of servers without https, by `Origin` alone. Programs
    send neither header and are let through, because they carry no visitor's cookie either.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or answer 403."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        allowed = scope[_SCOPE_KEY] = _Allowed()

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if allowed.frame_ancestors or allowed.form_action:
                    headers["Content-Security-Policy"] = content_security_policy(
                        frame_ancestors=allowed.frame_ancestors, form_action=allowed.form_action
                    )
            await send(message)

        if scope["method"] not in _SAFE_METHODS and _is_of_another_site(Headers(scope=scope)):
            message = "this request came from a page of another site; open Interplay itself"
            await JSONResponse(document("cross_site", message), 403)(scope, receive, send_with_headers)
            return
        await self.app(scope, receive, send_with_headers)


def _is_of_another_site(headers: Headers) -> bool:
    """Whether a browser says that a page of another site sent this."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    origin = urlsplit(headers.get("origin", "")).netloc  # empty too where a page hides where it is from
    return bool(origin) and origin not in (headers.get("host"), headers.get("x-forwarded-host"))


class NulMiddleware:
    """Refuses addresses that hold the character NUL: nothing here has it in its name, and PostgreSQL takes it in no text."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or answer 400."""
        if scope["type"] == "http" and ("\0" in scope["path"] or b"\0" in unquote_to_bytes(scope["query_string"])):
            message = "the address holds the character NUL (%00), which is in no name; leave it out"
            await JSONResponse(document(CODES[400], message), 400)(scope, receive, send)
            return
        await self.app(scope, receive, send)


_UPLOAD = re.compile(r"/api/agents/[^/]+/tasks/[^/]+/[^/]+/videos/[^/]+")


def is_upload(scope: Scope) -> bool:
    """Whether a request brings a video: its handler looks at the sender first, and then counts bytes by a limit of its own."""
    return scope["method"] == "PUT" and _UPLOAD.fullmatch(scope["path"]) is not None


class BodyLimitMiddleware:
    """Stops reading a request's body after `MAX_BODY_BYTES`, whatever length it claims: 413, in the form of our other errors.

    Starlette's own middleware answers in plain text before the application's error handlers see anything.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, counting what is read."""
        num_bytes = 0

        async def receive_counted() -> Message:
            nonlocal num_bytes
            message = await receive()
            if message["type"] == "http.request":
                num_bytes += len(message.get("body", b""))
                if num_bytes > MAX_BODY_BYTES:
                    raise HTTPException(413, f"the request is larger than {MAX_BODY_BYTES // 1024} KiB")
            return message

        is_counted = scope["type"] == "http" and not is_upload(scope)
        await self.app(scope, receive_counted if is_counted else receive, send)
