"""Headers that keep pages to themselves, and the refusal of requests other sites send in a visitor's name."""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
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
