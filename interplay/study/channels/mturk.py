"""Mechanical Turk: the study is shown in a frame of Amazon's page; at the end the worker's browser posts a form to Amazon.

Conventions: Amazon Mechanical Turk API Reference (2017-01-17), "ExternalQuestion"; Developer Guide, "How tasks are rendered".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from interplay.study.channels.base import (
    AGAIN,
    Arrival,
    Departure,
    Outcome,
    Query,
    check_departure,
    identifier,
    parameters,
    quoted,
    refuse_strangers,
)
from interplay.study.errors import ArrivalError, StudyError

PRODUCTION = "https://www.mturk.com"
SANDBOX = "https://workersandbox.mturk.com"
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
NO_NEW_CUSTOMERS = (
    "Since 30 July 2026 Mechanical Turk takes no new customers; accounts that exist continue. "
    "Without one, recruit through Prolific (docs/recruiting.md)."
)

_ENTITY = re.compile(r"[A-Z0-9]{1,64}")  # `EntityId` and `CustomerId` of the API's model
_WORKER = re.compile(r"A[A-Z0-9]{1,63}")
_FIELD = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_RETURN = "Please return the HIT; that does not lower your approval rate."
_TEXTS: dict[Outcome, str] = {
    "done": "That was everything. Press the button to hand the HIT in.",
    "failed_check": "Thank you for your time. The study ends here; press the button to hand in what you did.",
    "no_partner": "Nobody else came. Press the button to hand the HIT in; your waiting counts.",
    "nothing_left": f"There is nothing left to do at the moment. {_RETURN}",
    "screened_out": f"This study looks for people with other experience. {_RETURN}",
    "no_consent": f"You did not consent, so nothing was recorded. {_RETURN}",
    "withdrawn": f"You have withdrawn from the study. {_RETURN}",
}
_HANDED_IN: frozenset[Outcome] = frozenset({"done", "failed_check", "no_partner"})
"""Outcomes after which the assignment is submitted; after some days without a decision Amazon approves it. After other outcomes
the worker returns the HIT and is not paid for it."""


class MTurkChannel:
    """A HIT with an external question.

    Anybody can type ids into an address. The ids name the worker to pay, so before paying we ask Amazon whether the worker has
    the assignment (`MTurkApi.assignment`).

    Args:
        extra_hosts: Origins, in addition to Amazon's two, to which finished forms may be posted, such as a local test server.
        hit: Settings of the HIT in the study's file, as arguments of `HitSettings`.
    """

    name = "mturk"
    frame_ancestors: tuple[str, ...] = ("https://worker.mturk.com", "https://requester.mturk.com", PRODUCTION, SANDBOX)
    notice = NO_NEW_CUSTOMERS

    def __init__(self, extra_hosts: Iterable[str] = (), hit: Mapping[str, Any] | None = None) -> None:
        extra = tuple(_checked_origin(host) for host in extra_hosts)
        self.submit_hosts = (PRODUCTION, SANDBOX, *extra)
        self.hit = dict(hit or {})

    def arrival(self, query: Query) -> Arrival:
        """Return worker, assignment and HIT; or a preview, if `assignmentId` is ASSIGNMENT_ID_NOT_AVAILABLE."""
        found = parameters(query)
        refuse_strangers(self.name, found)
        if found.get("assignmentId") == PREVIEW:
            hit = found.get("hitId", "")
            return Arrival(self.name, hit=hit if _ENTITY.fullmatch(hit) else "", is_preview=True)
        if not any(name in found for name in ("assignmentId", "workerId", "hitId", "turkSubmitTo")):
            raise ArrivalError("this page was not opened by Mechanical Turk\nFind the HIT there, and accept it.")
        return Arrival(
            self.name,
            worker=identifier(found, "workerId", _WORKER, example="A2EXAMPLE9WORKER"),
            assignment=identifier(found, "assignmentId", _ENTITY, example="3EXAMPLE7ASSIGNMENT"),
            hit=identifier(found, "hitId", _ENTITY, example="3EXAMPLE5HIT"),
            submit_to=self._submit_to(found.get("turkSubmitTo", "")),
        )

    def departure(self, arrival: Arrival, outcome: Outcome, results: Mapping[str, str] | None = None) -> Departure:
        """Return a form for Amazon with `assignmentId`, `outcome` and the results, which the worker's browser posts.
        For outcomes after which nothing is submitted, return a page that asks the worker to return the HIT. The host is checked
        again, because the arrival may come from the database."""
        check_departure(arrival, outcome, self.name)
        if outcome not in _HANDED_IN:
            return Departure("page", _TEXTS[outcome])
        fields = {"assignmentId": arrival.assignment, "outcome": outcome}
        for name, value in (results or {}).items():
            if not _FIELD.fullmatch(name) or name in fields:
                raise StudyError(f"a result cannot be named {name!r}; use letters, digits, '_', but not {' or '.join(fields)}")
            fields[name] = value
        return Departure("post", _TEXTS[outcome], f"{self._submit_to(arrival.submit_to)}/mturk/externalSubmit", fields)

    def _submit_to(self, value: str) -> str:
        """Return the origin that receives the form (ArrivalError if not allowed: a forged link must not redirect answers)."""
        origin = value.strip().rstrip("/")
        if not origin:
            raise ArrivalError(f"the link has no turkSubmitTo\n{AGAIN}")
        if origin not in self.submit_hosts:
            allowed = ", ".join(self.submit_hosts)
            raise ArrivalError(f"the link would send the work to {quoted(value)}, which is not one of {allowed}\n{AGAIN}")
        return origin


def _checked_origin(host: str) -> str:
    """Return a host as `https://host[:port]`, or with `http` for this machine."""
    try:
        parts = urlsplit(host)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    name = parts.hostname or ""
    shown_name = f"[{name}]" if ":" in name else name
    origin = f"{parts.scheme}://{shown_name}" + (f":{port}" if port is not None else "")
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and name in _LOOPBACK)
    if not name or not is_safe or host.rstrip("/") != origin:
        raise StudyError(
            f"extra_hosts: {host!r} is not an origin; write https://host or, on this machine, http://127.0.0.1:port"
        )
    return origin
