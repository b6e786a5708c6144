"""Compute due payments from finished visits and the ledger, and send each payment only once.

Each payment has a `request`, a name that stays the same whenever the payment is planned again. Before anything is sent, the
ledger gets a line `planned`; the platform's answer is a second line, `sent` or `failed`. If the second line is missing, it is
unknown whether the payment was made. Such a payment may be sent again on Mechanical Turk, which is first searched for the
request's name, but not on Prolific.

Earnings of a visit of play, pay for waiting for a partner, and prizes are lines `due`. Each of these lines is paid by a bonus
with the request `pay:<request of the line>`.

Each person is paid by the version of the study to which they agreed, so that visits differ in their terms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, Protocol

from interplay.study.errors import PaymentError, PaymentUnknownError
from interplay.study.money.estimates import hours, up

if TYPE_CHECKING:
    from interplay.study.channels.prolific_api import ProlificApi
    from interplay.study.mturk.api import MTurkApi

State = Literal["planned", "sent", "failed"]
PAY = "pay:"
"""Prefix of the request of a bonus that pays a line `due`."""


@dataclass(frozen=True)
class Visit:
    """One finished visit, with the terms of pay to which the person agreed.

    Attributes:
        enrolment: Our id of the visit.
        worker, assignment, hit: The platform's ids of the person, the visit, and the HIT or study.
        time_s: Length of the visit, up to the longest time that counts.
        reward_cents: Reward promised for the visit, in hundredths of `currency`.
        hourly_cents: Intended pay of an hour; None: no target, and no top-up.
        is_done: False if the person waited and no partner came. Then only lines `due` are paid, without reward or top-up.
    """

    enrolment: str
    worker: str
    assignment: str
    hit: str
    time_s: float
    reward_cents: int
    hourly_cents: int | None = None
    currency: str = "USD"
    is_done: bool = True


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
    """A reward or a bonus to be sent.
    A payment in state `failed` may be sent again; the module's text explains `unknown`."""

    kind: Literal["reward", "bonus"]
    visit: Visit
    amount_cents: int
    request: str
    state: Literal["new", "failed", "unknown"] = "new"


class Payer(Protocol):
    """A platform that pays (PaymentError: nothing was paid; PaymentUnknownError: it is unknown whether something was paid)."""

    repeats_safely: bool
    """Whether a payment whose result is unknown may be sent again under the same request."""

    def reward(self, visit: Visit) -> None:
        """Approve a visit, after asking the platform whether this worker has this assignment."""
        ...

    def bonus(self, payment: Payment, reason: str) -> None:
        """Pay a bonus."""
        ...


def plan(visits: Sequence[Visit], events: Iterable[Event], *, with_bonuses: bool = True) -> list[Payment]:
    """Return the payments due now: rewards in the order of visits, then bonuses for lines `due`, then top-ups, largest first.

    `visits` are all finished visits of one channel, or of one person; `events` are the ledger of these visits, in order.
    """
    last: dict[str, Event] = {event.request: event for event in events}
    payments: list[Payment] = []
    for visit in visits:
        request = f"reward:{visit.enrolment}"
        event = last.get(request)
        if visit.is_done and (event is None or event.state != "sent"):
            payments.append(Payment("reward", visit, visit.reward_cents, request, _state(event)))
    payments += _dues(visits, last)
    if not with_bonuses:
        return payments
    theirs: dict[tuple[str, str], list[Visit]] = {}
    for visit in visits:
        theirs.setdefault((visit.worker, visit.currency), []).append(visit)
    bonuses = [bonus for of_one in theirs.values() if (bonus := _bonus(of_one, last)) is not None]
    return payments + sorted(bonuses, key=lambda one: (-one.amount_cents, one.visit.worker))


def _dues(visits: Sequence[Visit], last: Mapping[str, Event]) -> Iterator[Payment]:
    """Yield bonuses for lines `due`; they come after the reward of the same visit."""
    by_enrolment = {visit.enrolment: visit for visit in visits}
    for due in last.values():
        if due.state != "due" or due.amount_cents <= 0 or due.enrolment not in by_enrolment:
            continue
        paid = last.get(request := PAY + due.request)
        if paid is None or paid.state != "sent":
            yield Payment("bonus", by_enrolment[due.enrolment], due.amount_cents, request, _state(paid))


def _bonus(visits: Sequence[Visit], last: Mapping[str, Event]) -> Payment | None:
    """Return the top-up that one person's rewards and earlier bonuses lack, or None; quick visits balance slow visits."""
    timed = [visit for visit in visits if visit.is_done and visit.hourly_cents is not None]
    if not timed:
        return None
    by_enrolment = {visit.enrolment: visit for visit in visits}
    theirs = [event for event in last.values() if event.enrolment in by_enrolment]
    bonuses = [event for event in theirs if event.kind == "bonus" and not event.request.startswith(PAY)]
    are_timed = {visit.enrolment for visit in timed}
    earned = sum(event.amount_cents for event in theirs if event.kind == "earned" and event.enrolment in are_timed)
    for event in bonuses:
        if event.state == "planned":  # the same payment again, not another one beside it
            return Payment("bonus", by_enrolment[event.enrolment], event.amount_cents, event.request, "unknown")
    paid = sum(event.amount_cents for event in bonuses if event.state == "sent")
    worth = sum((Decimal(visit.hourly_cents or 0) / 100 * hours(visit.time_s) for visit in timed), Decimal(0))
    due = round(up(worth - Decimal(sum(visit.reward_cents for visit in timed) + earned) / 100) * 100)
    if (owed := due - paid) <= 0:
        return None
    # With what was paid before in its name, a bonus for later work is another payment.
    longest = max(timed, key=lambda visit: visit.time_s)
    request = f"bonus:{longest.enrolment}:{paid}+{owed}"
    return Payment("bonus", longest, owed, request, _state(last.get(request)))


def _state(event: Event | None) -> Literal["new", "failed", "unknown"]:
    return "new" if event is None else "failed" if event.state == "failed" else "unknown"


@dataclass(frozen=True)
class Sent:
    """The result of a payment: `sent`, `failed`, or `unknown`, and the platform's message."""

    payment: Payment
    state: Literal["sent", "failed", "unknown"]
    detail: str = ""


def refusal(payment: Payment, visits: Sequence[Visit], events: Sequence[Event], *, repeats_safely: bool) -> Sent | None:
    """Return why a planned payment must not be sent any more; None if it may be sent.

    Another run may pay at the same time: call this, and write `planned`, while no other process can write.

    Args:
        visits: All present finished visits of this person.
        events: The present ledger of these visits, in order.
    """
    if any(event.request == payment.request and event.state == "sent" for event in events):
        return Sent(payment, "sent", "another run has paid it in the meantime")
    now = next((one for one in plan(visits, events) if one.request == payment.request), None)
    if now is None or now.amount_cents != payment.amount_cents:
        return Sent(payment, "failed", "what this person is owed has changed; nothing was sent: run it again")
    if now.state == "unknown" and payment.kind == "bonus" and not repeats_safely:
        return Sent(
            payment, "unknown", "sent before, without an answer: look on the platform, then record the end with --settle"
        )
    return None


def send(
    payment: Payment,
    payer: Payer,
    *,
    reason: str,
    claim: Callable[[Payment], Sent | None],
    write: Callable[[Payment, State, str], None],
) -> Sent:
    """Send one payment, and write each step to the ledger before the next step.

    Args:
        claim: Commits the line `planned` and returns None, or returns why the payment must not be sent (`refusal`). If two runs
            claim a payment that cannot be repeated safely, only one run may send it.
        write: Commits a line with the result.
    """
    refused = claim(payment)
    if refused is not None:
        return refused
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


class MTurkPayer:
    """A payer through Mechanical Turk: rewards by approval, bonuses by SendBonus with the payment's request as a reference."""

    repeats_safely = True

    def __init__(self, api: MTurkApi) -> None:
        self._api = api

    def reward(self, visit: Visit) -> None:
        _check("Mechanical Turk", visit, self._api.assignment(visit.assignment).worker)
        self._api.approve(visit.assignment)

    def bonus(self, payment: Payment, reason: str) -> None:
        visit, amount = payment.visit, Decimal(payment.amount_cents) / 100
        _check("Mechanical Turk", visit, self._api.assignment(visit.assignment).worker)
        self._api.send_bonus(visit.worker, visit.assignment, amount, reason, request=payment.request)


class ProlificPayer:
    """A payer through Prolific: rewards by approval, each bonus as a separate batch, so that one refusal affects no others."""

    repeats_safely = False

    def __init__(self, api: ProlificApi) -> None:
        self._api = api

    def reward(self, visit: Visit) -> None:
        _check("Prolific", visit, self._api.submission(visit.assignment).participant)
        self._api.approve(visit.assignment)

    def bonus(self, payment: Payment, reason: str) -> None:
        visit = payment.visit
        _check("Prolific", visit, self._api.submission(visit.assignment).participant)
        batch = self._api.set_up_bonuses(visit.hit, {visit.assignment: Decimal(payment.amount_cents) / 100})
        self._api.pay_bonuses(batch.batch)


def _check(platform: str, visit: Visit, holder: str) -> None:
    if holder != visit.worker:
        raise PaymentError(
            f"{platform} says that {visit.assignment} belongs to {holder or 'nobody'}, but {visit.worker} came here with it\n"
            "Nothing was paid. Somebody may have typed another person's ids into the link."
        )
