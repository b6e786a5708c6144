"""`ApiTokens`: the service of API tokens. A token allows a program to propose agents, to judge, or to read over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from interplay.judge.errors import JudgingError
from interplay.store import ApiToken, Database, tokens


class ApiTokenError(JudgingError):
    """An API token cannot be made."""

    code = "token"


def check_token(name: str, scope: str) -> tokens.Scope:
    known: tokens.Scope | None = next((one for one in tokens.SCOPES if one == scope), None)
    if known is None:
        raise ApiTokenError(f"there is no scope {scope!r}\nChoose one:  --scope {'|'.join(tokens.SCOPES)}")
    if not tokens.is_token_name(name):
        raise ApiTokenError(f"a token cannot be named {name!r}\nExpected {tokens.TOKEN_NAME}.")
    return known


class ApiTokens:
    """The API tokens of one database."""

    def __init__(self, database: Database, clock: Callable[[], datetime] | None = None) -> None:
        self._database = database
        self._clock = clock or (lambda: datetime.now(UTC))

    def create(self, name: str, scope: str) -> str:
        """Make a new token and return it. Only its digest is stored, so the token cannot be shown again.

        Raises:
            ApiTokenError: If the scope is unknown, or the name is invalid.
            TokenExistsError: If the name was used before.
        """
        known = check_token(name, scope)
        with self._database.write() as session:
            return tokens.create_token(session, name=name, scope=known, now=self._clock())

    def find(self, token: str) -> ApiToken | None:
        with self._database.read() as session:
            return tokens.token_row(session, token)

    def all(self) -> Sequence[ApiToken]:
        with self._database.read() as session:
            return tokens.tokens(session)

    def revoke(self, name: str) -> bool:
        """Revoke a token; return False if it was revoked before (NotFoundError with the nearest name if it is unknown)."""
        with self._database.write() as session:
            return tokens.revoke_token(session, name=name, now=self._clock())
