"""The qualification type and HITs that a study needs on Mechanical Turk, and how each is made once, in any number of runs.

Title, description, reward and minutes of a HIT are the study's, so that the two cannot disagree. Each order has a `request`, a
name that is the same whenever it is planned again: the ledger knows it by that name, Amazon by that token for 24 hours, and a
HIT carries it as its annotation for ever. A line `planned` stands in the ledger before anything is sent; where no second line
followed, the HIT is looked for before it is made. An account has one qualification type of a name.
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
"""Stands in a planned HIT for the qualification type that is made, or found, right before it."""

State = Literal["planned", "made", "failed"]


@dataclass(frozen=True)
class Service:
    """The sandbox, where nothing is paid, or production; and the address of its API."""

    is_sandbox: bool
    endpoint: str


@dataclass(frozen=True)
class Event:
    """One line of the ledger; fields as in `store.HitEvent`."""

    request: str
    state: str
    made: Mapping[str, str]
    detail: str = ""


@dataclass(frozen=True)
class Order:
    """A qualification type or a HIT that a study needs.

    Attributes:
        fields: The request to Amazon.
        state: `new`, `failed` (refused before), `unknown` (sent and never answered), or `made`.
        made: Amazon's ids of it: `hit` and `hit_type`, or `qualification`; empty before.
        detail: Amazon's words, where it refused or did not answer.
    """

    kind: Literal["qualification", "hit"]
    request: str
    fields: Mapping[str, Any]
    state: Literal["new", "failed", "unknown", "made"] = "new"
    made: Mapping[str, str] = field(default_factory=dict)
    detail: str = ""

    def known(self, events: Iterable[Event]) -> Order:
        """The same with its state in the ledger; an order that was made stays made, whatever another run writes later."""
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
    """The price of HITs if every assignment is approved, USD."""

    rewards: Decimal
    fees: Decimal

    @property
    def total(self) -> Decimal:
        return self.rewards + self.fees


def settings_of(study: Study) -> HitSettings:
    """The HIT of a study (StudyError if it does not recruit through Mechanical Turk, pays other money, or its texts do not
    fit)."""
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
    """The `CreateQualificationType` request of a study's quiz, its boxes in a fixed order (StudyError if there is no usable
    quiz)."""
    import numpy as np

    if study.quiz is None:
        raise StudyError(
            f"{study.id} has no quiz to make a qualification of\nRemedy: add [quiz] to its file, or leave --qualification out."
        )
    quiz = study.quiz.quiz
    if Fraction(str(quiz.pass_share)) * 100 % 1:
        raise StudyError(
            f"{study.id}: quiz.pass_share is {quiz.pass_share}, and Mechanical Turk keeps whole percents\n"
            "Remedy: write such as 0.65 there, and open it again."
        )
    return qualification_request(quiz, np.random.default_rng(int(quiz.content_hash, 16)), picture_base=picture_base)


def plan(
    study: Study, address: str, service: Service, *, num_hits: int, test: Mapping[str, Any] | None, events: Iterable[Event]
) -> list[Order]:
    """The qualification type of a study, if it needs one, then its HITs; orders that were made before are among them.

    Args:
        address: https address of the server.
        num_hits: In all.
        test: `quiz_request(study)`, where its quiz is to be a qualification that the HITs ask for.
        events: The study's ledger, in order.
    Raises:
        StudyError: As `settings_of`.
        OptionError: If the address cannot be used.
    """
    parts = urlsplit(address)
    if parts.query or parts.fragment:
        raise OptionError(f"--address {address} has more than a server's name and path\nWrite such as https://lab.example")
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
    """Make one order, or find it, and write each step down before the next. Returns the order as it is now.

    Args:
        claim: Reads the ledger again and, unless the order was made, adds the line `planned`, while nobody else writes; returns
            the order as it stood before that line.
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
    """Find or make a HIT; a new one is not looked for, and after 24 hours Amazon has forgotten the token."""
    found = None if order.state == "new" else api.find_hit(order.request)
    made = found or api.create_hit(order.fields)
    return {"hit": made.hit, "hit_type": made.hit_type}


def _name(*parts: Any) -> str:
    """A request's name, made of everything that tells it from others; short enough for a token."""
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    return f"interplay-{digest[:48]}"
