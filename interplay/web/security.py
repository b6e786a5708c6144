"""Headers that keep pages to themselves, and the refusal of requests other sites send in a visitor's name."""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",  # Pico draws its check marks from data: addresses
        "media-src 'self'",
        "connect-src 'self'",
        "font-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)

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


class SecurityMiddleware:
    """Adds `HEADERS` to every answer and refuses changes asked for by pages of other sites.

    Browsers say where a request comes from (`Sec-Fetch-Site`); programs send no such header and are let through, because
    they carry no visitor's cookie either.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or answer 403."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        site = Headers(scope=scope).get("sec-fetch-site", "none")
        if scope["method"] not in _SAFE_METHODS and site not in ("same-origin", "none"):
            refusal = JSONResponse(
                {"error": "cross_site", "message": "this request came from a page of another site; open Interplay itself"}, 403
            )
            await refusal(scope, receive, send_with_headers)
            return
        await self.app(scope, receive, send_with_headers)


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

        await self.app(scope, receive_counted if scope["type"] == "http" else receive, send)
