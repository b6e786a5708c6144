"""`Hits`: the service that makes each HIT of a study on Mechanical Turk once, and writes every step to the ledger of HITs.

The rules are in `plan.py`. Here each step is one transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from sqlalchemy.orm import Session

from interplay.store import Database
from interplay.store.locks import lock
from interplay.store.study.money import add_hit_event, hit_events
from interplay.study.definition import Study
from interplay.study.mturk.api import CreatedHit, MTurkApi
from interplay.study.mturk.plan import Event, Order, Service, State, make, with_qualification


@dataclass(frozen=True)
class MadeHit:
    """A HIT that was made: Amazon's ids, and the content hash of the version of the study for which it was made."""

    hit: str
    hit_type: str
    is_sandbox: bool
    endpoint: str
    version: str
    made_at: datetime
    link: str


class Hits:
    """The HITs of all studies in one database; if several runs work at the same time, each HIT is still made once."""

    def __init__(self, database: Database, clock: Callable[[], datetime] | None = None) -> None:
        self._database = database
        self._clock = clock or (lambda: datetime.now(UTC))

    def events(self, study: str) -> list[Event]:
        with self._database.read() as session:
            return _events(session, study)

    def made(self, study: str) -> list[MadeHit]:
        with self._database.read() as session:
            return [
                MadeHit(
                    hit=one.made["hit"],
                    hit_type=one.made["hit_type"],
                    is_sandbox=one.is_sandbox,
                    endpoint=one.endpoint,
                    version=one.study_hash,
                    made_at=one.created_at,
                    link=CreatedHit(**one.made).preview_url(is_sandbox=one.is_sandbox),
                )
                for one in hit_events(session, study)
                if one.kind == "hit" and one.state == "made"
            ]

    def send(self, study: Study, orders: Sequence[Order], service: Service, api: MTurkApi) -> list[Order]:
        """Carry out one order after the other and return all orders; each line of the ledger is committed before the next step.

        A refusal by Amazon is a state of the order, not an error. If the qualification type cannot be made, no HIT is sent.
        """
        done: list[Order] = []
        for order in orders:
            if done and done[0].kind == "qualification":
                if done[0].state != "made":  # nobody could take a HIT that asks for it
                    return [*done, *orders[len(done) :]]
                order = with_qualification(order, done[0].made["qualification"])
            claim = lambda one: self.claim(study, one, service)  # noqa: E731
            write = lambda one, state, made, detail: self.write(study, one, service, state, made, detail)  # noqa: E731
            done.append(make(order, api, claim=claim, write=write))
        return done

    def claim(self, study: Study, order: Order, service: Service) -> Order:
        """Return an order with its state in the ledger; in the same transaction, write `planned` unless the order was made."""
        with self._database.write() as session:
            lock(session, "study", study.id)  # another run, too, may be making it
            held = replace(order, state="new", made={}).known(_events(session, study.id))
            if held.state != "made":
                self._add(session, study, order, service, "planned", {}, "")
            return held

    def write(
        self, study: Study, order: Order, service: Service, state: State, made: Mapping[str, str], detail: str = ""
    ) -> None:
        """Write one line of the ledger; if two runs find the same HIT at the same time, the line is written once."""
        with self._database.write() as session:
            lock(session, "study", study.id)
            if state != "made" or order.known(_events(session, study.id)).made != made:
                self._add(session, study, order, service, state, made, detail)

    def _add(
        self,
        session: Session,
        study: Study,
        order: Order,
        service: Service,
        state: State,
        made: Mapping[str, str],
        detail: str,
    ) -> None:
        add_hit_event(
            session, study=study.id, study_hash=study.content_hash, kind=order.kind, state=state,
            is_sandbox=service.is_sandbox, endpoint=service.endpoint, request=order.request, made=made, detail=detail,
            now=self._clock(),
        )  # fmt: skip


def _events(session: Session, study: str) -> list[Event]:
    return [Event(one.request, one.state, one.made, one.detail) for one in hit_events(session, study)]
