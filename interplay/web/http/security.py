"""Add headers that protect pages, and refuse requests that other sites send in a visitor's name."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from interplay.play.connections.sockets import host_of_origin
from interplay.web.http.refusals import CODES, document

PLOT_STYLE = "'sha256-zrfVyvY1E/5V+DXZunsRZW8XTqTsuIZzp8dBDThhSn8='"
"""Hash of the only style element that pages may contain: Observable Plot puts it into each of its drawings."""


def content_security_policy(*, frame_ancestors: Iterable[str] = (), form_action: Iterable[str] = ()) -> str:
    """Return the policy of a page: the sources that it may load, the pages that may frame it, and the targets of its forms.

    Args:
        frame_ancestors: Origins whose pages may show it in a frame; empty to forbid frames.
        form_action: Origins, besides our own, that receive its forms.

    >>> content_security_policy(form_action=["https://www.mturk.com"]).split("; ")[7]
    "form-action 'self' https://www.mturk.com"
    """
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self' 'wasm-unsafe-eval'",  # WebAssembly alone: the ray-caster, where a browser has no graphics card
            f"style-src 'self' {PLOT_STYLE}",
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
"""Largest body of a request. The longest form is a judge's answer: a record of watching (64 KiB) and some pages of reasons."""

_SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
_SCOPE_KEY = "interplay.security"


@dataclass
class _Allowed:
    """The other origins that one answer allows. `allow` adds them while the request is handled."""

    frame_ancestors: list[str] = field(default_factory=list)
    form_action: list[str] = field(default_factory=list)


def allow(request: HTTPConnection, *, frame_ancestors: Iterable[str] = (), form_action: Iterable[str] = ()) -> None:
    """Let these origins frame the answer to this request and receive its forms. All other rules stay."""
    allowed: _Allowed = request.scope.setdefault(_SCOPE_KEY, _Allowed())
    for known, new in ((allowed.frame_ancestors, frame_ancestors), (allowed.form_action, form_action)):
        known += [origin for origin in dict.fromkeys(new) if origin not in known]


class SecurityMiddleware:
    """Adds `HEADERS` to every answer (with the exceptions of `allow`), and refuses changes that other sites' pages request.

    A browser says where a request comes from: by `Sec-Fetch-Site`, or, without https, only by `Origin`. (`Origin: null` is a
    page that hides its origin, such as a sandboxed frame.) A program sends neither header. Its requests are accepted, because
    they carry no visitor's cookie.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
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


class HeadMiddleware:
    """Answers HEAD like GET but without a body: no file is read, and a stream ends as soon as it has begun."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return
        has_begun = asyncio.Event()

        async def send_head(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
                await send({"type": "http.response.body", "body": b""})
                has_begun.set()

        async def hang_up() -> Message:
            await has_begun.wait()
            return {"type": "http.disconnect"}

        extensions = {**scope.get("extensions", {}), "http.response.pathsend": {}}
        await self.app({**scope, "method": "GET", "extensions": extensions}, hang_up, send_head)


def _is_of_another_site(headers: Headers) -> bool:
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    origin = headers.get("origin")
    if origin is None:
        return False
    host = host_of_origin(origin)
    return host is None or host not in (headers.get("host"), headers.get("x-forwarded-host"))


LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Hosts:
    """The host names that a server accepts.

    Without this list, another site could let its own name lead to this server (DNS rebinding). Browsers would then let that
    site's page read and play as if it were ours. A bare IP address belongs to no site; if the server listens on every address
    of its machine, every IP address is accepted.

    Attributes:
        any_address: Whether every IP address is accepted.
    """

    names: frozenset[str]
    any_address: bool = False

    @classmethod
    def of(cls, listening: str, more: Iterable[str] = ()) -> Hosts:
        """Accept loopback, the listening address, and `more` names, such as a proxy's (ValueError for an invalid name).

        >>> sorted(Hosts.of("192.0.2.7", ["https://Lab.example"]).names)
        ['127.0.0.1', '192.0.2.7', '::1', 'lab.example', 'localhost']
        """
        names = {*LOOPBACK, _name(f"[{listening}]" if ":" in listening else listening)}
        for text in more:
            name = _name(text.partition("://")[2].partition("/")[0] if "://" in text else text)
            if not name:
                raise ValueError(f"{text!r} is not a host name; write one as in --allow-host lab.example")
            names.add(name)
        everywhere = is_everywhere(listening)
        if everywhere:
            own = socket.gethostname().lower()
            names |= {own, f"{own}.local"}
        return cls(frozenset(names), any_address=everywhere)

    def refusal(self, headers: Headers) -> str | None:
        given = headers.getlist("host")
        name = _name(given[0]) if len(given) == 1 else ""
        if not name:
            return "the request must have exactly one Host header"
        if name in self.names or (self.any_address and _is_address(name)):
            return None
        return (
            f"this server does not accept the host name {name[:100]}; open the address that it printed when it started, "
            f"or start it with  interplay serve --allow-host {name[:100]}"
        )


def is_everywhere(host: str) -> bool:
    return host in ("", "0.0.0.0", "::")


def is_loopback(host: str) -> bool:
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _name(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class HostMiddleware:
    """Answers 421 to requests that name another host: HTTP requests, and web sockets before they are accepted."""

    def __init__(self, app: ASGIApp, hosts: Hosts) -> None:
        self.app = app
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        why = self.hosts.refusal(Headers(scope=scope)) if scope["type"] in ("http", "websocket") else None
        if why is None:
            await self.app(scope, receive, send)
            return
        response: Response = JSONResponse(document("wrong_host", why), 421)
        if scope["type"] == "http" and not scope["path"].startswith("/api/"):
            response = PlainTextResponse(why + "\n", 421)
        if scope["type"] == "http":
            await response(scope, receive, send)
        elif "websocket.http.response" in scope.get("extensions", {}):
            await WebSocket(scope, receive, send).send_denial_response(response)
        else:
            await send({"type": "websocket.close"})


class NulMiddleware:
    """Refuses addresses with the character NUL, which no name on this server holds and PostgreSQL accepts in no text."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and ("\0" in scope["path"] or b"\0" in unquote_to_bytes(scope["query_string"])):
            message = "the address holds the character NUL (%00); remove it"
            await JSONResponse(document(CODES[400], message), 400)(scope, receive, send)
            return
        await self.app(scope, receive, send)


_UPLOAD = re.compile(r"/api/agents/[^/]+/tasks/[^/]+/[^/]+/videos/[^/]+")


def is_upload(scope: Scope) -> bool:
    """Whether a request uploads a video. The handler of uploads checks the sender first, and has its own limit of bytes."""
    return scope["method"] == "PUT" and _UPLOAD.fullmatch(scope["path"]) is not None


class BodyLimitMiddleware:
    """Refuses (413) a request whose body has more than `MAX_BODY_BYTES`, no matter which length the request states.

    Starlette's own middleware would answer in plain text, before the application's error handlers; this one does not.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
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
