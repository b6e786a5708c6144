"""Signed tokens in addresses: they identify a participant whose browser sends no cookie, and open the pages of a class."""

from __future__ import annotations

import re

from itsdangerous import BadData, Signer, URLSafeSerializer

from interplay.study.errors import EnrolmentTokenError

_SALT = "interplay.study.enrolment"
_TEACHER_SALT = "interplay.study.class"
_ENROLMENT = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MAX_CHARS = 512


def make(secret: bytes, enrolment_id: str) -> str:
    """Return a token for one enrolment that is safe in addresses and headers.

    A page in a frame of another site gets no cookies if the browser separates third-party storage, so that the token is sent in
    the address or in a header. A token does not expire, because people may return to an unfinished assignment; the database
    says when an enrolment has ended.

    Args:
        secret: The server's signing key.
        enrolment_id: Letters, digits, `_` and `-`; at most 64 (ValueError for anything else).

    >>> read(b"secret", make(b"secret", "0123456789abcdef01234567"))
    '0123456789abcdef01234567'
    """
    if not _ENROLMENT.fullmatch(enrolment_id):
        raise ValueError(f"an enrolment id is 1 to 64 letters, digits, '_' or '-'; got {enrolment_id!r}")
    token = URLSafeSerializer(secret, salt=_SALT).dumps(enrolment_id)
    return token if isinstance(token, str) else token.decode()


def read(secret: bytes, token: str) -> str:
    """Return the enrolment id in a token (EnrolmentTokenError if this server did not sign the token)."""
    try:
        enrolment = URLSafeSerializer(secret, salt=_SALT).loads(token) if len(token) <= _MAX_CHARS else None
    except (BadData, ValueError, TypeError):
        enrolment = None
    if not isinstance(enrolment, str) or not _ENROLMENT.fullmatch(enrolment):
        raise EnrolmentTokenError(
            "this link was not signed by this server, or a part of it is missing\n"
            "Open the study again from the place where you found it."
        )
    return enrolment


def teacher_key(secret: bytes, code: str) -> str:
    """Return the key in the link for the teacher of a class; it opens the page of the class and the button that closes it.

    >>> is_teacher_key(b"secret", "RT39CH", teacher_key(b"secret", "RT39CH"))
    True
    """
    return Signer(secret, salt=_TEACHER_SALT).get_signature(code).decode()


def is_teacher_key(secret: bytes, code: str, key: str) -> bool:
    return Signer(secret, salt=_TEACHER_SALT).verify_signature(code, key[:_MAX_CHARS])
