"""Signed seat tokens, and the two secrets kept in the data folder: the signing key and the operator's token."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from itsdangerous import BadSignature, URLSafeSerializer

from interplay.files import keep_to_owner

SECRET_FILE = "secret.key"
OPERATOR_FILE = "operator.token"
NODE_NAME = re.compile(r"[A-Za-z0-9-]{1,60}")
"""Form of the name of a server, which is a part of addresses."""


class TokenError(ValueError):
    """A token this server did not sign."""


class ExpiredTokenError(TokenError):
    """A token that has expired."""


class SeatTokens:
    """Signs and checks the tokens that bind a socket to a seat. `ttl_s`: seconds that a token is valid; `clock`: seconds since
    the epoch."""

    def __init__(self, secret: bytes, *, ttl_s: float, clock: Callable[[], float] = time.time) -> None:
        self._signer = URLSafeSerializer(secret, salt="interplay.seat")
        self._ttl_s = ttl_s
        self._clock = clock

    def sign(self, session: str) -> tuple[str, datetime]:
        """Return a token for a seat, and the time (UTC) at which it expires."""
        expires = self._clock() + self._ttl_s
        return self._signer.dumps([session, round(expires, 3)]), datetime.fromtimestamp(expires, UTC)

    def verify(self, token: str) -> str:
        """Return the session of a token. Raises `ExpiredTokenError` if the token has expired, `TokenError` if this server did
        not sign it."""
        try:
            session, expires = self._signer.loads(token)
        except (BadSignature, ValueError, TypeError):
            raise TokenError("this seat token was not signed by this server; open the task again") from None
        if self._clock() >= expires:
            raise ExpiredTokenError("this seat token has expired; open the task again")
        return session


def server_secret(root: Path) -> bytes:
    """Return the signing key of a data folder. It is made on first use, and only its owner can read it."""
    return _kept(root / SECRET_FILE, lambda: secrets.token_bytes(32))


def node_of(secret: bytes) -> str:
    """Return the name of a server in its database: a digest of its signing key, so that it is the same at each start."""
    return hashlib.sha256(b"node" + secret).hexdigest()[:16]


def operator_token(root: Path) -> str:
    """Return the operator's bearer token. It is made on first use, and only its owner can read it."""
    return _kept(root / OPERATOR_FILE, lambda: secrets.token_urlsafe(32).encode() + b"\n").decode().strip()


def is_operator(authorization: str | None, token: str) -> bool:
    """Whether an `Authorization` header carries the operator's token; compared in constant time."""
    scheme, _, value = (authorization or "").partition(" ")
    return scheme.lower() == "bearer" and hmac.compare_digest(value.strip().encode(), token.encode())


def _kept(path: Path, make: Callable[[], bytes]) -> bytes:
    """Return the content of a file that only its owner may read. A new file is first written whole under another name, so that
    two processes that start at once agree."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(make())
        try:
            os.link(draft, path)  # unlike a rename, this leaves the file of whoever came first
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    keep_to_owner(path)
    return path.read_bytes()
