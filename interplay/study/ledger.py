"""What is to be paid, from who finished and what the ledger says was paid; and how it is sent, so that nothing is paid twice.

Each payment has a `request`, a name that is the same whenever it is planned again. Before anything is sent the ledger gets a
line `planned`; the platform's answer is a second line, `sent` or `failed`. A `planned` line without a second one is a payment
nobody knows the end of: Mechanical Turk may be asked again (it looks for the request's name first), Prolific may not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, Protocol

from interplay.study.errors import PaymentError, PaymentUnknownError
from interplay.study.pay import Finished, bonuses_due

State = Literal["planned", "sent", "failed"]


@dataclass(frozen=True)
class Visit:
    """One finished visit: our id of it, the platform's ids of person, part and whole, and the seconds it took."""

    enrolment: str
    worker: str
    assignment: str
    hit: str
    time_s: float


@dataclass(frozen=True)
class Event:
    """One line of the ledger; fields as in `store.PayEvent`."""

    enrolment: str
    kind: str
    state: str
    amount_cents: int
    request: str


@dataclass(frozen=True)
class Payment:
    """A reward or a bonus that is to be sent.

    Attributes:
        state: What the ledger knows of it: `new`, `failed` (refused before, may be sent again) or `unknown` (see above).
    """

    kind: Literal["reward", "bonus"]
    visit: Visit
    amount_cents: int
    request: str
    state: Literal["new", "failed", "unknown"] = "new"


class Payer(Protocol):
    """A platform that pays. It raises PaymentError where nothing was paid, PaymentUnknownError where nobody knows."""

    repeats_safely: bool
    """Whether a payment whose end is unknown may be sent again under the same request."""

    def reward(self, visit: Visit) -> None:
        """Approve a visit, after asking whether this worker holds this assignment."""
        ...

    def bonus(self, payment: Payment, reason: str) -> None:
        """Pay a bonus."""
        ...


def plan(visits: Sequence[Visit], events: Iterable[Event], *, reward_cents: int, hourly_cents: int | None) -> list[Payment]:
    """What is to be paid now.

    Args:
        visits: Every finished visit of one channel.
        events: The ledger, in order.
        reward_cents: For each visit.
        hourly_cents: What every person's hours should come to; what is missing after bonuses already sent is a bonus.
            None: no bonuses.
    Returns:
        Rewards in the order of visits, then bonuses, largest first. What was sent is not there.
    """
    last: dict[str, Event] = {event.request: event for event in events}
    payments = []
    for visit in visits:
        request = f"reward:{visit.enrolment}"
        event = last.get(request)
        if event is None or event.state != "sent":
            payments.append(Payment("reward", visit, reward_cents, request, _state(event)))
    return payments + ([] if hourly_cents is None else _bonuses(visits, last, reward_cents, hourly_cents))


def _bonuses(visits: Sequence[Visit], last: Mapping[str, Event], reward_cents: int, hourly_cents: int) -> list[Payment]:
    """One bonus for each person whose hours are worth more than rewards and earlier bonuses."""
    by_enrolment = {visit.enrolment: visit for visit in visits}
    sent: dict[str, int] = {}
    unknown: dict[str, Event] = {}
    for event in last.values():
        visit = by_enrolment.get(event.enrolment)
        if event.kind != "bonus" or visit is None:
            continue
        if event.state == "sent":
            sent[visit.worker] = sent.get(visit.worker, 0) + event.amount_cents
        elif event.state == "planned":
            unknown[visit.worker] = event
    finished = [Finished(visit.worker, visit.enrolment, visit.time_s) for visit in visits]
    payments = []
    for due in bonuses_due(finished, reward=Decimal(reward_cents) / 100, hourly=Decimal(hourly_cents) / 100):
        paid = sent.get(due.worker, 0)
        if due.worker in unknown:  # the same payment again, not another one beside it
            event = unknown[due.worker]
            payments.append(Payment("bonus", by_enrolment[event.enrolment], event.amount_cents, event.request, "unknown"))
        elif (owed := round(due.amount * 100) - paid) > 0:
            # With what was paid before in its name, a bonus for later work is another payment.
            request = f"bonus:{due.assignment}:{paid}+{owed}"
            payments.append(Payment("bonus", by_enrolment[due.assignment], owed, request, _state(last.get(request))))
    return payments


def _state(event: Event | None) -> Literal["new", "failed", "unknown"]:
    return "new" if event is None else "failed" if event.state == "failed" else "unknown"


@dataclass(frozen=True)
class Sent:
    """What became of a payment: `sent`, `failed`, or `unknown`, with the platform's words."""

    payment: Payment
    state: Literal["sent", "failed", "unknown"]
    detail: str = ""


def send(payment: Payment, payer: Payer, *, reason: str, write: Callable[[Payment, State, str], None]) -> Sent:
    """Send one payment, and write each step down before the next.

    Args:
        reason: Read by who gets a bonus.
        write: Adds a line to the ledger, and has kept it when it returns.
    """
    if payment.state == "unknown" and not payer.repeats_safely and payment.kind == "bonus":
        return Sent(payment, "unknown", "sent before and never answered: look on the platform, then settle it by hand")
    write(payment, "planned", "")
    try:
        if payment.kind == "reward":
            payer.reward(payment.visit)
        else:
            payer.bonus(payment, reason)
    except PaymentUnknownError as error:
        return Sent(payment, "unknown", str(error))
    except PaymentError as error:
        write(payment, "failed", str(error))
        return Sent(payment, "failed", str(error))
    write(payment, "sent", "")
    return Sent(payment, "sent")
