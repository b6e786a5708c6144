"""API tokens let a program act over HTTP. Only digests are stored, so a stolen database gives no access."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Literal, get_args

from sqlalchemy import select
from sqlalchemy.orm import Session

from interplay.errors import InterplayError, unknown_name
from interplay.store.models import ApiToken
from interplay.store.participants import is_given_name

Scope = Literal["agents", "judge", "read"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
PREFIX = "interplay-"
"""Prefix of every token, so that scanners for leaked secrets can recognize it."""
TOKEN_NAME = '1 to 60 letters, digits or . _ - @ +, neither "operator" nor beginning with "participant-"'


def is_token_name(name: str) -> bool:
    """Return whether `TOKEN_NAME` allows a name. A token may judge under its name, which must not be a person's name."""
    return is_given_name(name) and len(name) <= 60 and name != "operator" and not set(name) & {" ", ":"}


class TokenExistsError(InterplayError):
    """A token of this name was made before. Names are not used twice, because agents stay with the token that proposed them."""


def create_token(session: Session, *, name: str, scope: Scope, now: datetime) -> str:
    """Return a new token for a name that was never used; the token is not stored and cannot be shown again.

    Raises:
        TokenExistsError: If a token has or had this name.
        ValueError: If there is no such scope.
    """
    if scope not in SCOPES:
        raise ValueError(f"scope must be one of {', '.join(SCOPES)}, got {scope!r}")
    if session.scalar(select(ApiToken.id).where(ApiToken.name == name)) is not None:
        raise TokenExistsError(
            f"a token named {name!r} exists or existed before; choose another name\nAll tokens:  interplay judge token list"
        )
    token = PREFIX + secrets.token_urlsafe(32)
    session.add(ApiToken(name=name, digest=_digest(token), scope=scope, created_at=now))
    session.flush()
    return token


def token_row(session: Session, token: str) -> ApiToken | None:
    """Return the row of a valid token; None for a token that never existed or is revoked.

    The row is found by the first part of the digest, and the whole digest is compared in constant time. So the time of the
    answer tells nothing about any token, because nobody can choose how a digest begins.
    """
    digest = _digest(token)
    for row in session.scalars(select(ApiToken).where(ApiToken.digest.startswith(digest[:8], autoescape=True))):
        if hmac.compare_digest(row.digest, digest):
            return row if row.revoked_at is None else None
    return None


def tokens(session: Session) -> Sequence[ApiToken]:
    return session.scalars(select(ApiToken).order_by(ApiToken.name)).all()


def revoke_token(session: Session, *, name: str, now: datetime) -> bool:
    """Revoke a token; return False if it was revoked before. Its agents and answers stay.
    Raises NotFoundError, with the nearest name, if no token has this name."""
    rows = {row.name: row for row in tokens(session)}
    if name not in rows:
        raise unknown_name("token", name, rows, hint="Make one:  interplay judge token create NAME --scope agents")
    if rows[name].revoked_at is not None:
        return False
    rows[name].revoked_at = now
    return True


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
