"""Plan the qualification type and the HITs of a study on Mechanical Turk; each is made once, even in several runs.

Title, description, reward and minutes of a HIT come from the study. Each order has a `request`, a name that stays the same
whenever it is planned again. The ledger identifies the order by that name, Amazon uses it as a token for 24 hours, and the HIT
keeps it permanently as its annotation. A line `planned` is in the ledger before anything is sent; if no second line followed,
the HIT is searched for before it is made. An account has at most one qualification type with a given name.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from interplay.study.channels import MTurkChannel
from interplay.study.errors import OptionError, PaymentError, PaymentUnknownError, StudyError
from interplay.study.money.estimates import find_fee
from interplay.study.mturk.settings import HitSettings, qualification_request

if TYPE_CHECKING:
    from interplay.study.definition import Study
    from interplay.study.mturk.api import MTurkApi

LATER = "(id of the qualification type)"
"""Placeholder in a planned HIT for the id of the qualification type, which is made or found just before the HIT is made."""

State = Literal["planned", "made", "failed"]


@dataclass(frozen=True)
class Service:
    """Whether HITs go to the sandbox, where nothing is paid, or to production; and the API's address."""

    is_sandbox: bool
    endpoint: str


@dataclass(frozen=True)
class Event:
    """One line of the ledger; fields as in `store.models.HitEvent`."""

    request: str
    state: str
    made: Mapping[str, str]
    detail: str = ""


@dataclass(frozen=True)
class Order:
    """A qualification type or a HIT that a study needs.

    Attributes:
        fields: Content of the request to Amazon.
        state: `new`, `failed` (refused before), `unknown` (sent, but no answer came), or `made`.
        made: Amazon's ids of the result: `hit` and `hit_type`, or `qualification`; empty until the order is made.
        detail: Amazon's message, if it refused or did not answer.
    """

    kind: Literal["qualification", "hit"]
    request: str
    fields: Mapping[str, Any]
    state: Literal["new", "failed", "unknown", "made"] = "new"
    made: Mapping[str, str] = field(default_factory=dict)
    detail: str = ""

    def known(self, events: Iterable[Event]) -> Order:
        """Return this order with its state in the ledger; a line `made` counts even if other runs wrote later lines."""
        theirs = [event for event in events if event.request == self.request]
        made = next((event for event in reversed(theirs) if event.state == "made"), None)
        if made is not None:
            return replace(self, state="made", made=made.made)
        if not theirs:
            return self
        is_refused = theirs[-1].state == "failed"
        return replace(self, state="failed" if is_refused else "unknown", detail=theirs[-1].detail if is_refused else "")


@dataclass(frozen=True)
class Cost:
    """The price of HITs in USD if every assignment is approved."""

    rewards: Decimal
    fees: Decimal

    @property
    def total(self) -> Decimal:
        return self.rewards + self.fees


def settings_of(study: Study) -> HitSettings:
    """Return the HIT settings of a study.
    Raises StudyError if the study does not recruit through Mechanical Turk, pays in another currency, or its texts do not fit.
    """
    channel = study.channels.get("mturk")
    if not isinstance(channel, MTurkChannel) or study.pay is None:
        raise StudyError(
            f"{study.id} recruits through {' and '.join(study.channels)}, not through mturk\n"
            "Remedy: add [channels.mturk] to its file, and open it again."
        )
    if study.pay.currency != "USD":
        raise StudyError(
            f"{study.id} pays in {study.pay.currency}, and Mechanical Turk pays in USD\n"
            'Remedy: write currency = "USD" under [pay] and open it, or recruit through Prolific.'
        )
    said: dict[str, Any] = {"longest_min": max(HitSettings.longest_min, math.ceil(4 * study.minutes)), **channel.hit}
    try:
        return HitSettings(
            title=study.title,
            description=f"{study.summary} About {study.minutes:g} minutes.",
            reward_usd=Decimal(study.pay.reward_cents) / 100,
            estimated_min=study.minutes,
            **said,
        )
    except StudyError as error:
        raise StudyError(
            f"{study.id} does not fit a HIT: {error}\n"
            "Title, description, reward_usd and estimated_min are the study's title, summary, reward and minutes.\n"
            "Remedy: change them in its file, and open it."
        ) from None


def quiz_request(study: Study, picture_base: str | None = None) -> dict[str, Any]:
    """Return the `CreateQualificationType` request for a study's quiz, with the checkboxes in a fixed order.
    Raises StudyError if there is no usable quiz."""
    import numpy as np

    if study.quiz is None:
        raise StudyError(
            f"{study.id} has no quiz for a qualification\nRemedy: add [quiz] to its file, or leave --qualification out."
        )
    quiz = study.quiz.quiz
    if Fraction(str(quiz.pass_share)) * 100 % 1:
        raise StudyError(
            f"{study.id}: quiz.pass_share is {quiz.pass_share}, and Mechanical Turk keeps whole percents\n"
            "Remedy: write a value such as 0.65 there, and open it again."
        )
    return qualification_request(quiz, np.random.default_rng(int(quiz.content_hash, 16)), picture_base=picture_base)


def plan(
    study: Study, address: str, service: Service, *, num_hits: int, test: Mapping[str, Any] | None, events: Iterable[Event]
) -> list[Order]:
    """Return the qualification type of a study, if it needs one, then its HITs; orders that were made before are included.

    Args:
        address: https address of the server.
        num_hits: Total number of HITs.
        test: `quiz_request(study)`, if the HITs require the quiz as a qualification; else None.
        events: The ledger of the study, in order.
    Raises:
        StudyError: As `settings_of`.
        OptionError: If the address cannot be used.
    """
    parts = urlsplit(address)
    if parts.query or parts.fragment:
        raise OptionError(f"--address {address} has more than a server's name and path\nWrite for example https://lab.example")
    settings, orders, known = settings_of(study), [], list(events)
    if test is not None:
        assert study.quiz is not None  # the test is of its quiz
        orders.append(Order("qualification", _name(service.endpoint, test["Name"]), test).known(known))
        percent = round(100 * study.quiz.quiz.pass_share)
        settings = replace(settings, quiz_qualification=LATER, quiz_percent=percent)
    sent = settings.request(study.page(address), is_sandbox=service.is_sandbox, unique_token="-")
    for number in range(1, num_hits + 1):
        name = _name(service.endpoint, study.id, study.content_hash, sent, number)
        fields = {**sent, "RequesterAnnotation": name, "UniqueRequestToken": name}
        orders.append(Order("hit", name, fields).known(known))
    return orders


def cost_of(settings: HitSettings, num_hits: int) -> Cost:
    count, reward = settings.num_assignments * num_hits, settings.reward_usd
    return Cost(reward * count, find_fee("mturk").on_reward(reward, settings.num_assignments) * count)


def make(
    order: Order,
    api: MTurkApi,
    *,
    claim: Callable[[Order], Order],
    write: Callable[[Order, State, Mapping[str, str], str], None],
) -> Order:
    """Carry out one order, write each step to the ledger before the next step, and return the order with its new state.

    Args:
        claim: In one transaction, reads the ledger again and, unless the order was made, adds the line `planned`; returns the
            order in its state before this line.
        write: Commits another line of the ledger.
    """
    held = claim(order)
    if held.state == "made" and held.kind == "hit":
        return held
    try:
        made = _qualification(held, api) if held.kind == "qualification" else _hit(held, api)
    except PaymentUnknownError as error:
        return replace(held, state="unknown", detail=str(error))
    except PaymentError as error:
        write(held, "failed", {}, str(error))
        return replace(held, state="failed", detail=str(error))
    if made != held.made:
        write(held, "made", made, "")
    return replace(held, state="made", made=made)


def with_qualification(order: Order, qualification: str) -> Order:
    asked = [
        {**one, "QualificationTypeId": qualification} if one["QualificationTypeId"] == LATER else one
        for one in order.fields["QualificationRequirements"]
    ]
    return replace(order, fields={**order.fields, "QualificationRequirements": asked})


def _qualification(order: Order, api: MTurkApi) -> dict[str, str]:
    found = api.find_qualification(order.fields["Name"])
    return {"qualification": found or api.create_qualification(order.fields)}


def _hit(order: Order, api: MTurkApi) -> dict[str, str]:
    """Make a HIT; if the order is not new, search for the HIT first.
    Amazon forgets the token of a request after 24 hours."""
    found = None if order.state == "new" else api.find_hit(order.request)
    made = found or api.create_hit(order.fields)
    return {"hit": made.hit, "hit_type": made.hit_type}


def _name(*parts: Any) -> str:
    """Return the name of a request: a hash of all parts that identify the request, short enough for a token."""
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    return f"interplay-{digest[:48]}"
