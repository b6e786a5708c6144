import stat
from pathlib import Path

import pytest

from interplay.play.connections.tokens import (
    ExpiredTokenError,
    SeatTokens,
    TokenError,
    is_operator,
    operator_token,
    server_secret,
)


def test_a_token_names_its_session_until_it_expires() -> None:
    now = [1000.0]
    tokens = SeatTokens(b"key", ttl_s=60, clock=lambda: now[0])
    token, expires_at = tokens.sign("abc")
    assert expires_at.timestamp() == 1060
    assert tokens.verify(token) == "abc"
    now[0] = 1060.0
    with pytest.raises(ExpiredTokenError, match="expired"):
        tokens.verify(token)


def test_other_tokens_are_refused() -> None:
    for token in ["", "x", "a.b.c", "W10.x", "\x00", "é" * 30]:
        with pytest.raises(TokenError, match="not signed by this server"):
            SeatTokens(b"key", ttl_s=60).verify(token)


def test_a_token_signed_with_another_key_is_refused() -> None:
    token, _ = SeatTokens(b"other", ttl_s=60).sign("abc")
    with pytest.raises(TokenError):
        SeatTokens(b"key", ttl_s=60).verify(token)


def test_secrets_are_kept_and_readable_by_their_owner_only(tmp_path: Path) -> None:
    assert server_secret(tmp_path) == server_secret(tmp_path)
    token = operator_token(tmp_path)
    assert token == operator_token(tmp_path)
    for path in tmp_path.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert is_operator(f"Bearer {token}", token)
    for header in (None, "", token, f"Basic {token}", "Bearer ", f"Bearer {token}x"):
        assert not is_operator(header, token)


def test_secrets_that_others_could_read_are_not_left_so(tmp_path: Path) -> None:
    token = operator_token(tmp_path)
    (tmp_path / "operator.token").chmod(0o644)
    assert operator_token(tmp_path) == token
    assert stat.S_IMODE((tmp_path / "operator.token").stat().st_mode) == 0o600
