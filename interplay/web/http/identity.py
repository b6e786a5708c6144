"""Identity of the sender of a request: a participant, the operator, or a program.

A signed cookie identifies a participant. The operator sends a token or signs in on a page; a program sends an API token. A
visitor who only reads pages leaves no trace. The first request that needs a person (`current_participant`) makes a participant,
and the middleware adds the cookie to the answer. The cookie holds a random key, never the participant's number.
"""

from __future__ import annotations

import contextlib
import functools
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from fastapi import HTTPException
from itsdangerous import BadSignature, URLSafeSerializer, URLSafeTimedSerializer
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from interplay.play.connections import tokens
from interplay.play.connections.sockets import client_of
from interplay.store import ApiToken
from interplay.study.people import People
from interplay.web.services import services

COOKIE = "interplay_participant"
ONE_YEAR_S = 365 * 24 * 3600
PUPIL_COOKIE = "interplay_pupil"
"""Cookie of a pupil of a class. While the browser has it, the browser's own participant is not used."""
OPERATOR_COOKIE = "interplay_operator"
SIGNED_IN_S = 12 * 3600
"""How long an operator stays signed in."""
_SCOPE_KEY = "interplay.identity"
_COOKIES_REMEMBERED = 10_000


@dataclass
class _Pending:
    """The cookie to set, or None. The handler of the request writes it; the middleware reads it."""

    cookie: str | None = None


class IdentityMiddleware:
    """Sets the participant cookie on the answer to the request for which the participant was made."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        pending = scope[_SCOPE_KEY] = _Pending()
        secure = "; Secure" if scope.get("scheme") == "https" else ""

        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start" and pending.cookie is not None:
                MutableHeaders(scope=message).append(
                    "Set-Cookie", f"{COOKIE}={pending.cookie}; Path=/; Max-Age={ONE_YEAR_S}; HttpOnly; SameSite=Lax{secure}"
                )
            await send(message)

        await self.app(scope, receive, send_with_cookie)


def participant_numbers(people: People, secret: bytes) -> Callable[[str], int]:
    """Return a function that maps a cookie to the number of its participant.
    Found numbers are cached, because a page sends many requests. For an unknown cookie the function raises LookupError and
    searches again next time."""

    @functools.lru_cache(_COOKIES_REMEMBERED)
    def number(cookie: str) -> int:
        key = _key(secret, cookie)
        if key is None:
            raise LookupError(cookie)
        found = people.find(key)
        if found is None:
            raise LookupError(cookie)
        return found

    return number


def network_of(request: HTTPConnection) -> str:
    return "" if request.client is None else client_of(request.client.host)


def known_participant(request: HTTPConnection) -> int | None:
    """Return the participant's number from the request's cookies, the pupil's cookie first; None if no cookie is known."""
    for name in (PUPIL_COOKIE, COOKIE):
        with contextlib.suppress(LookupError):
            return services(request).participant_number(request.cookies.get(name, ""))
    return None


def current_participant(request: HTTPConnection) -> int:
    """Return the number of the request's participant, and make one if necessary. It may write: call it from `def` handlers."""
    found = known_participant(request)
    if found is not None:
        return found
    # A key this server signed stays the person's own even when the database is a new one.
    secret = services(request).secret
    key = _key(secret, request.cookies.get(COOKIE, "")) or secrets.token_urlsafe(16)
    number = services(request).people.find_or_add(key)
    request.scope[_SCOPE_KEY].cookie = _signer(secret).dumps(key)
    return number


def sign_in_pupil(request: HTTPConnection, response: Response, key: str) -> None:
    value = _signer(services(request).secret).dumps(key)
    response.set_cookie(PUPIL_COOKIE, value, httponly=True, samesite="lax", secure=request.url.scheme == "https")


def sign_out_pupil(response: Response) -> None:
    response.delete_cookie(PUPIL_COOKIE, httponly=True, samesite="lax")


def is_operator(request: HTTPConnection) -> bool:
    """Whether the request carries the operator's token. An unknown token is not ignored but refused (401)."""
    authorization = request.headers.get("authorization")
    if authorization is None:
        return False
    if tokens.is_operator(authorization, tokens.operator_token(services(request).archive.root)):
        return True
    if api_token(request) is None:
        message = "this server does not know this token, or it was revoked; ask the operator of the server for a new one"
        raise HTTPException(401, message, {"WWW-Authenticate": "Bearer"})
    return False


def require_operator_token(request: HTTPConnection) -> None:
    expected = tokens.operator_token(services(request).archive.root)
    if not tokens.is_operator(request.headers.get("authorization"), expected):
        message = "this is not the operator's token; it is in operator.token of the data folder"
        raise HTTPException(401, message, {"WWW-Authenticate": "Bearer"})


def api_token(request: HTTPConnection) -> ApiToken | None:
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not value.strip():
        return None
    return services(request).api_tokens.find(value.strip())


def current_operator(request: HTTPConnection) -> bool:
    """Whether the operator sent the request, by token (an unknown token is refused) or signed in on the page `/operator`."""
    return is_operator(request) or _is_signed_in(request)


def sign_in(request: HTTPConnection, response: Response, token: str) -> bool:
    """Sign in a visitor who knows the operator's token, with a cookie for `SIGNED_IN_S`; False if the token is wrong."""
    expected = tokens.operator_token(services(request).archive.root)
    if not tokens.is_operator(f"Bearer {token}", expected):
        return False
    value = _operator_signer(request).dumps(secrets.token_hex(8))
    # Strict: no other site's link or form brings it along.
    response.set_cookie(
        OPERATOR_COOKIE, value, SIGNED_IN_S, httponly=True, samesite="strict", secure=request.url.scheme == "https"
    )
    return True


def sign_out(response: Response) -> None:
    response.delete_cookie(OPERATOR_COOKIE, httponly=True, samesite="strict")


def _is_signed_in(request: HTTPConnection) -> bool:
    try:
        _operator_signer(request).loads(request.cookies.get(OPERATOR_COOKIE, ""), max_age=SIGNED_IN_S)
    except BadSignature:  # an expired one is one too
        return False
    return True


def _operator_signer(request: HTTPConnection) -> URLSafeTimedSerializer:
    key = services(request).secret + tokens.operator_token(services(request).archive.root).encode()
    return URLSafeTimedSerializer(key, salt="interplay.operator")


def _signer(secret: bytes) -> URLSafeSerializer:
    return URLSafeSerializer(secret, salt="interplay.participant")


def _key(secret: bytes, cookie: str) -> str | None:
    try:
        key = _signer(secret).loads(cookie)
    except BadSignature:
        return None
    return key if isinstance(key, str) else None
