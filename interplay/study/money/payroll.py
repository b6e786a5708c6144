"""`Payroll`: the service that plans payments, sends each payment once, and writes every step to the ledger.

The rules are in `ledger.py`. Here each step is one transaction.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.orm import Session

from interplay.errors import unknown_name
from interplay.store import Database, Enrolment, PayEvent
from interplay.store.locks import lock
from interplay.store.study import money
from interplay.store.study import studies as store
from interplay.study.channels.base import UNPAID
from interplay.study.definition import Study
from interplay.study.enrolment import PAID
from interplay.study.errors import OptionError, StudyError
from interplay.study.money import ledger
from interplay.study.money.explanation import Explanation, explain
from interplay.study.money.ledger import Event, Payer, Payment, Sent, State, Visit
from interplay.study.money.raffle import Ticket, draw
from interplay.study.play.games import read_visit
from interplay.study.studies import Studies

_TIMES_ESTIMATED = 3
"""A visit counts for at most this many times the minutes that its study estimates."""


@dataclass(frozen=True)
class Bill:
    """The payments that a study owes through one channel.
    `longest_min`: largest number of minutes that count of one visit; None: three times the study's estimate."""

    study: str
    channel: str
    longest_min: float | None
    visits: tuple[Visit, ...]
    payments: tuple[Payment, ...]


@dataclass(frozen=True)
class Drawn:
    """The result of a raffle among `entries` people; each winner is (drawn number, enrolment, worker), the best first."""

    seed: int
    entries: int
    winners: tuple[tuple[str, str, str], ...]
    is_new: bool

    def to_json(self) -> dict[str, Any]:
        winners = [dict(zip(("number", "enrolment", "worker"), one, strict=True)) for one in self.winners]
        return {"seed": self.seed, "entries": self.entries, "winners": winners, "is_new": self.is_new}


class Payroll:
    """The payments of one database; if several runs pay at the same time, each person is paid once."""

    def __init__(self, database: Database, clock: Callable[[], datetime] | None = None) -> None:
        self._database = database
        self._clock = clock or (lambda: datetime.now(UTC))
        self._studies = Studies(database, self._clock)

    def plan(
        self,
        study: str,
        *,
        channel: str | None = None,
        longest_min: float | None = None,
        with_bonuses: bool = True,
        hint: str = "",
    ) -> Bill:
        """Return the payments due now. Writes nothing.

        Args:
            channel: The channel through which to pay; None if the study has only one paying channel.
            longest_min: As in `Bill`.
            with_bonuses: Whether to plan top-ups to the hourly target.
        Raises:
            NotFoundError: For an unknown study or channel.
            StudyError: If no version of the study pays, or it has several paying channels, or no paying channel.
        """
        newest = self._studies.get(study, hint=hint).study
        with self._database.read() as session:
            done = [one for one in store.enrolments_of_study(session, study) if one.outcome in PAID]
            events = _events(money.pay_events(session, study))
        if all(version.pay is None for version in [newest, *(self._studies.version(one.study_hash) for one in done)]):
            raise StudyError(f"{study} pays nobody\nRemedy: add [pay] with reward and currency, and open it again.")
        channel = _channel(newest, done, channel)
        visits = self._visits(done, channel, longest_min)
        payments = ledger.plan(visits, events, with_bonuses=with_bonuses)
        return Bill(study, channel, longest_min, tuple(visits), tuple(payments))

    def send(self, bill: Bill, payer: Payer, *, reason: str) -> Iterator[Sent]:
        """Send one payment after the other and yield each result; a refusal is a result, too.
        Each line of the ledger is committed before the next step."""
        for payment in bill.payments:
            yield ledger.send(
                payment,
                payer,
                reason=reason,
                claim=lambda one: self.claim(bill, one, repeats_safely=payer.repeats_safely),
                write=self._write,
            )

    def claim(self, bill: Bill, payment: Payment, *, repeats_safely: bool) -> Sent | None:
        """Write the line `planned` if this person is still owed the payment (`ledger.refusal`); otherwise return the reason."""
        with self._database.write() as session:
            lock(session, "study", bill.study)  # another run, too, may be paying this person
            enrolment = store.enrolment_by_id(session, payment.visit.enrolment)
            assert enrolment is not None  # it was planned from
            theirs = store.enrolments_of_participant(session, enrolment.study, enrolment.participant_id)
            events = _events(money.pay_events_of(session, [one.id for one in theirs]))
            visits = self._visits(theirs, bill.channel, bill.longest_min)
            refused = ledger.refusal(payment, visits, events, repeats_safely=repeats_safely)
            if refused is None:
                self._add(session, payment, "planned", "")
            return refused

    def settle(self, study: str, endings: Sequence[str], *, hint: str = "") -> None:
        """Write the results of payments that somebody has looked up on the platform; if one text is invalid, write no result.

        Args:
            endings: Texts `REQUEST=sent` or `REQUEST=failed`.
        Raises:
            NotFoundError: For an unknown study.
            OptionError: If a text has another form.
            StudyError: If the result of a named payment is already known.
        """
        for one in endings:
            request, _, state = one.rpartition("=")
            if not request or state not in ("sent", "failed"):
                raise OptionError(f"--settle {one}: write REQUEST=sent or REQUEST=failed")
        self._studies.get(study, hint=hint)
        with self._database.write() as session:
            lock(session, "study", study)
            last = {event.request: event for event in money.pay_events(session, study)}
            unknown = {request: event for request, event in last.items() if event.state == "planned"}
            for one in endings:
                request, _, state = one.rpartition("=")
                if request not in unknown:
                    known = ", ".join(unknown) or "none"
                    raise StudyError(
                        f"--settle {one}: write REQUEST=sent or REQUEST=failed, for a payment whose end is unknown: {known}"
                    )
                event = unknown.pop(request)
                money.add_pay_event(
                    session, enrolment_id=event.enrolment_id, kind=event.kind, state=state, amount_cents=event.amount_cents,
                    currency=event.currency, request=request, detail="settled by hand", now=self._clock(),
                )  # fmt: skip

    def explain(self, study: str, enrolment_id: str, *, hint: str = "") -> Explanation:
        """Explain the pay of one visit to the cent (NotFoundError for an unknown study or enrolment)."""
        self._studies.get(study, hint=hint)
        with self._database.read() as session:
            enrolment = store.enrolment_by_id(session, enrolment_id)
            if enrolment is None or enrolment.study != study:
                known = [one.id for one in store.enrolments_of_study(session, study)]
                raise unknown_name(
                    "enrolment", enrolment_id[:100], known, hint="They are listed by: interplay study participants"
                )
            version = self._studies.version(enrolment.study_hash)
            events = money.pay_events_of(session, [enrolment_id])
            visit = None if version.play is None else read_visit(session, version.play, enrolment, self._clock())
        return explain(version, enrolment, events, visit)

    def raffle(self, study: str, *, seed: int | None = None, hint: str = "") -> Drawn:
        """Draw a study's raffle once and write a line `due` for each winner; a second call returns the first draw.

        Args:
            seed: Seed of the draw; None: a random one.
        Raises:
            NotFoundError: For an unknown study.
            StudyError: If the study has no raffle or is open, nobody has finished, or it was drawn before with another seed.
        """
        opened = self._studies.get(study, hint=hint)
        version = opened.study
        prize = None if version.play is None else version.play.raffle
        if prize is None or version.pay is None:
            raise StudyError(f"{study} has no raffle\nRemedy: add [raffle] with winners and prize, and [pay]; open it again.")
        if opened.is_open:
            raise StudyError(f"{study} is open, and people may still finish\nClose it first:  interplay study close {study}")
        with self._database.write() as session:
            lock(session, "study", study)
            people = {one.id: one for one in store.enrolments_of_study(session, study) if one.outcome == "done"}
            before = [event for event in money.pay_events(session, study) if event.kind == "raffle"]
            if before:
                said = json.loads(before[0].detail)
                if seed not in (None, said["seed"]):
                    raise StudyError(f"the raffle of {study} was drawn before, with the seed {said['seed']}")
                tickets = draw(said["entries"], said["winners"], said["seed"])[0]
                return Drawn(said["seed"], len(said["entries"]), _won(tickets, people), is_new=False)
            if not people:
                raise StudyError(f"nobody has finished {study} yet, so nobody can win")
            seed = secrets.randbelow(2**31) if seed is None else seed
            tickets = draw(people, prize.winners, seed)[0]
            detail = json.dumps({"seed": seed, "winners": prize.winners, "entries": sorted(people)})
            for ticket in tickets:
                money.add_pay_event(
                    session, enrolment_id=ticket.entry, kind="raffle", state="due", amount_cents=prize.prize_cents,
                    currency=version.pay.currency, request=f"raffle:{ticket.entry}", detail=detail, now=self._clock(),
                )  # fmt: skip
            return Drawn(seed, len(people), _won(tickets, people), is_new=True)

    def _visits(self, enrolments: Iterable[Enrolment], channel: str, longest_min: float | None) -> list[Visit]:
        found = []
        for one in enrolments:
            if one.outcome not in PAID or one.ended_at is None or one.channel != channel:
                continue
            version = self._studies.version(one.study_hash)
            wage = version.pay
            if wage is None:
                continue
            time_s = max(1.0, (one.ended_at - one.arrived_at).total_seconds())
            visit = Visit(
                one.id, one.worker, one.assignment, hit=str(one.arrival.get("hit", "")),
                time_s=min(time_s, 60 * (longest_min or _TIMES_ESTIMATED * version.minutes)),
                reward_cents=_reward_cents(version, one, wage.reward_cents),
                hourly_cents=wage.hourly_target_cents, currency=wage.currency, is_done=one.outcome == "done",
            )  # fmt: skip
            found.append(visit)
        return found

    def _write(self, payment: Payment, state: State, detail: str) -> None:
        with self._database.write() as session:
            self._add(session, payment, state, detail)

    def _add(self, session: Session, payment: Payment, state: State, detail: str) -> None:
        money.add_pay_event(
            session, enrolment_id=payment.visit.enrolment, kind=payment.kind, state=state, amount_cents=payment.amount_cents,
            currency=payment.visit.currency, request=payment.request, detail=detail, now=self._clock(),
        )  # fmt: skip


def _reward_cents(version: Study, enrolment: Enrolment, otherwise: int) -> int:
    variant = None if version.play is None or enrolment.variant is None else version.play.variant(enrolment.variant)
    return otherwise if variant is None else variant.treatment.reward_cents


def _won(tickets: Iterable[Ticket], people: Mapping[str, Enrolment]) -> tuple[tuple[str, str, str], ...]:
    return tuple((one.number, one.entry, people[one.entry].worker) for one in tickets)


def _events(rows: Iterable[PayEvent]) -> list[Event]:
    return [Event(one.enrolment_id, one.kind, one.state, one.amount_cents, one.request) for one in rows]


def _channel(newest: Study, enrolments: Iterable[Enrolment], channel: str | None) -> str:
    """Return the channel through which to pay: a channel of the present study, or one through which people came before."""
    paying = [name for name in dict.fromkeys([*newest.channels, *(one.channel for one in enrolments)]) if name not in UNPAID]
    if channel is None and len(paying) == 1:
        return paying[0]
    if channel is None:
        what = "recruits through no platform" if not paying else f"recruits through {' and '.join(paying)}"
        raise StudyError(f"{newest.id} {what}\nRemedy: " + ("name one with --channel." if paying else "add a channel."))
    if channel not in paying:
        raise unknown_name("channel", channel, paying)
    return channel
