"""Addresses of one server of a cluster: a proxy passes `/n/<node>/...` to that server, and every other address to any."""

from __future__ import annotations

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from interplay.play.connections.tokens import NODE_NAME
from interplay.web.http.refusals import CODES, document

PREFIX = "/n/"


class NodeMiddleware:
    """Takes the name of this server off addresses, and refuses addresses of other servers: the proxy is then not set up. No
    route takes a socket at the address of another server, so it is closed before it is accepted (403)."""

    def __init__(self, app: ASGIApp, *, node: str) -> None:
        self.app = app
        self._node = node

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and scope["path"].startswith(PREFIX):
            node, _, path = scope["path"].removeprefix(PREFIX).partition("/")
            if node == self._node:
                scope = {**scope, "path": f"/{path}"}
            elif scope["type"] == "http":
                message = f"this is the server {self._node}, and no server has the name in this address"
                if NODE_NAME.fullmatch(node):
                    message = f"this is the server {self._node}; the proxy must pass {PREFIX}{node}/ to the server {node}"
                await JSONResponse(document(CODES[421], message), 421)(scope, receive, send)
                return
        await self.app(scope, receive, send)
