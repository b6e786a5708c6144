"""Payers: Mechanical Turk and Prolific, each behind the same two verbs. Both are asked first who holds an assignment."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from interplay.study.errors import PaymentError
from interplay.study.money.ledger import Payment, Visit

if TYPE_CHECKING:
    from interplay.study.channels.prolific_api import ProlificApi
    from interplay.study.mturk.api import MTurkApi


class MTurkPayer:
    """Rewards by approving, bonuses by SendBonus under the payment's request."""

    repeats_safely = True

    def __init__(self, api: MTurkApi) -> None:
        self._api = api

    def reward(self, visit: Visit) -> None:
        self._check(visit)
        self._api.approve(visit.assignment)

    def bonus(self, payment: Payment, reason: str) -> None:
        visit = payment.visit
        self._check(visit)
        self._api.send_bonus(
            visit.worker, visit.assignment, Decimal(payment.amount_cents) / 100, reason, request=payment.request
        )

    def _check(self, visit: Visit) -> None:
        held = self._api.assignment(visit.assignment)
        if held.worker != visit.worker:
            raise _wrong_worker("Mechanical Turk", visit, held.worker)


class ProlificPayer:
    """Rewards by approving, each bonus a batch of its own, so that one refusal delays nobody else."""

    repeats_safely = False

    def __init__(self, api: ProlificApi) -> None:
        self._api = api

    def reward(self, visit: Visit) -> None:
        self._check(visit)
        self._api.approve(visit.assignment)

    def bonus(self, payment: Payment, reason: str) -> None:
        visit = payment.visit
        self._check(visit)
        batch = self._api.set_up_bonuses(visit.hit, {visit.assignment: Decimal(payment.amount_cents) / 100})
        self._api.pay_bonuses(batch.batch)

    def _check(self, visit: Visit) -> None:
        found = self._api.submission(visit.assignment)
        if found.participant != visit.worker:
            raise _wrong_worker("Prolific", visit, found.participant)


def _wrong_worker(platform: str, visit: Visit, holder: str) -> PaymentError:
    return PaymentError(
        f"{platform} says that {visit.assignment} belongs to {holder or 'nobody'}, and here {visit.worker} came with it\n"
        "Nothing was paid. Somebody may have typed another person's ids into the link."
    )
