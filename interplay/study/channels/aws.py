"""Signature Version 4 for requests that post JSON to the root of an AWS service.

Source: AWS General Reference, "Signing AWS API requests". Written here rather than taken from botocore (16 MB, and bound to
an old python-dateutil) because one service with one kind of request needs thirty lines; the tests hold them to signatures that
botocore made.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import urlsplit

from interplay.study.errors import PaymentError

_ALGORITHM = "AWS4-HMAC-SHA256"


@dataclass(frozen=True)
class Credentials:
    """An AWS access key; `repr` keeps its secrets."""

    key_id: str
    secret: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Credentials:
        """From AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, for temporary keys, AWS_SESSION_TOKEN. Nothing is stored.

        Raises:
            PaymentError: If one is missing.
        """
        values = os.environ if environment is None else environment
        key_id, secret = values.get("AWS_ACCESS_KEY_ID", ""), values.get("AWS_SECRET_ACCESS_KEY", "")
        if not key_id or not secret:
            raise PaymentError(
                "no AWS access key in the environment\n"
                "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN for temporary keys) for this command."
            )
        return cls(key_id, secret, values.get("AWS_SESSION_TOKEN") or None)


def signed_headers(
    credentials: Credentials, address: str, body: bytes, headers: Mapping[str, str], *, region: str, service: str, now: datetime
) -> dict[str, str]:
    """`headers` with `Host`, `X-Amz-Date` and `Authorization` added, for a POST of `body` to `address`.

    Args:
        address: Scheme, host and, if any, port; the path is `/`.
        headers: Every one of them is signed.
        now: UTC; Amazon refuses a clock that is more than five minutes off.
    """
    stamp, day = now.strftime("%Y%m%dT%H%M%SZ"), now.strftime("%Y%m%d")
    complete = {**headers, "Host": urlsplit(address).netloc, "X-Amz-Date": stamp}
    if credentials.session_token:
        complete["X-Amz-Security-Token"] = credentials.session_token
    lower = {name.lower(): " ".join(value.split()) for name, value in complete.items()}
    names = ";".join(sorted(lower))
    canonical = "\n".join(
        ["POST", "/", "", *(f"{name}:{lower[name]}" for name in sorted(lower)), "", names, hashlib.sha256(body).hexdigest()]
    )
    scope = f"{day}/{region}/{service}/aws4_request"
    to_sign = "\n".join([_ALGORITHM, stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = f"AWS4{credentials.secret}".encode()
    for part in (day, region, service, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, to_sign.encode(), "sha256").hex()
    complete["Authorization"] = (
        f"{_ALGORITHM} Credential={credentials.key_id}/{scope}, SignedHeaders={names}, Signature={signature}"
    )
    return complete
