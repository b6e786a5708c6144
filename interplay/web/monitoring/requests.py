"""Gives each request a name in the log."""

from __future__ import annotations

import re
import secrets

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from interplay import logs

_NAME = re.compile(r"[A-Za-z0-9-]{1,64}")


class RequestNameMiddleware:
    """Shows the name of the request in all that is logged about it. A proxy may name it, in the header `X-Request-Id`."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            given = Headers(scope=scope).get("x-request-id", "")
            logs.bind(request=given if _NAME.fullmatch(given) else secrets.token_hex(8))
        await self.app(scope, receive, send)
