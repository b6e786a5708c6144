"""`interplay study pay`: what measured times say about pay, and paying: a dry run unless it is told to send."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interplay.cli.common import (
    DEFAULT_DATA,
    DatabaseOption,
    DataOption,
    JsonOption,
    emit,
    open_archive,
    place_options,
    progress,
    table,
)
from interplay.cli.study_opened import row_of, version_of
from interplay.errors import InterplayError, unknown_name

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from interplay.record import Archive
    from interplay.store import Enrolment, PayEvent
    from interplay.study.definition import Study
    from interplay.study.ledger import Event, Payer, Payment, Sent, State, Visit

REASON = "The task took you longer than we estimated."


def pay(
    study: Annotated[str, typer.Argument(metavar="ID", help="Id of a study that was opened in this data folder.")],
    channel: Annotated[str | None, typer.Option(help="mturk or prolific; where the study has both.")] = None,
    send: Annotated[bool, typer.Option("--send", help="Really approve and pay, through the platform's API.")] = False,
    bonuses: Annotated[bool, typer.Option("--bonuses/--no-bonuses", help="Top people up to the hourly target.")] = True,
    longest: Annotated[
        float | None, typer.Option("--longest", min=0.1, help="Minutes of a visit that count at most; default: 3 x estimated.")
    ] = None,
    reason: Annotated[str, typer.Option(help="Read by who gets a bonus.")] = REASON,
    production: Annotated[
        bool, typer.Option("--production/--sandbox", help="Of Mechanical Turk; the sandbox pays nobody.")
    ] = False,
    endpoint: Annotated[str | None, typer.Option(help="Another address of the platform's API, such as a stand-in.")] = None,
    settle: Annotated[
        list[str] | None,
        typer.Option("--settle", metavar="REQUEST=sent|failed", help="Write down the end of a payment nobody knew the end of."),
    ] = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """What people's time was worth, and what is still to be paid. Sends nothing without --send.

    Who is paid: finished visits (`done`), each as the version of the study said that the person agreed to. The ledger keeps
    every step, so that running this twice, even at the same time, pays once.

    Example:  interplay study pay basalt --channel prolific --send
    """
    from interplay.store import studies
    from interplay.study.ledger import plan

    archive = open_archive(data, database, must_exist=True)
    with archive.database.read() as session:
        row = row_of(session, study, place_options(data, database))
    if settle:
        _settle(archive, study, settle)
    with archive.database.read() as session:
        done = [one for one in studies.enrolments_of_study(session, study) if one.outcome == "done"]
        books = _Books(longest_min=longest)
        hashes = dict.fromkeys([row.content_hash, *(one.study_hash for one in done)])
        versions = [books.version(session, content_hash) for content_hash in hashes]
        if all(version.pay is None for version in versions):
            raise InterplayError(f"{study} pays nobody\nRemedy: add [pay] with reward and currency, and open it again.")
        books.channel = _channel(versions[0], done, channel)
        visits = books.visits(session, done)
        payments = plan(visits, _events(studies.pay_events(session, study)), with_bonuses=bonuses)
    document: dict[str, Any] = {"study": study, "channel": books.channel, "is_sent": send}
    document["estimates"] = _estimates(visits, books.channel)
    sent: Sequence[Sent] = []
    if send:
        payer = _payer(books.channel, production=production, endpoint=endpoint)
        sent = _send(archive, payments, payer, books, reason)
    document["payments"] = _rows(payments, sent)
    again = f"interplay study pay {study} --channel {books.channel} --send"
    again += "" if bonuses else " --no-bonuses"
    again += "" if longest is None else f" --longest {longest:g}"
    again += "" if reason == REASON else f" --reason {shlex.quote(reason)}"
    again += " --production" if production else ""
    again += "" if endpoint is None else f" --endpoint {shlex.quote(endpoint)}"
    again += place_options(data, database)
    emit(document, as_json=as_json, text=None if as_json else _text(document, again))
    if any(one.state != "sent" for one in sent):
        raise typer.Exit(1)


@dataclass
class _Books:
    """What a visit is worth, by the version its person agreed to.

    Attributes:
        longest_min: Minutes of a visit that count at most; None: three times what its version estimates.
        channel: The paying channel; visits through others are left out.
    """

    longest_min: float | None
    channel: str = ""
    _versions: dict[str, Study] = field(default_factory=dict)

    def version(self, session: Session, content_hash: str) -> Study:
        """A version of the study."""
        if content_hash not in self._versions:
            self._versions[content_hash] = version_of(session, content_hash)
        return self._versions[content_hash]

    def visits(self, session: Session, enrolments: Iterable[Enrolment]) -> list[Visit]:
        """The finished visits among these enrolments that are paid for."""
        from interplay.study.ledger import Visit

        found = []
        for one in enrolments:
            if one.outcome != "done" or one.ended_at is None or one.channel != self.channel:
                continue
            version = self.version(session, one.study_hash)
            wage = version.pay
            if wage is None:
                continue
            time_s = max(1.0, (one.ended_at - one.arrived_at).total_seconds())
            visit = Visit(
                one.id, one.worker, one.assignment, hit=str(one.arrival.get("hit", "")),
                time_s=min(time_s, 60 * (self.longest_min or 3 * version.minutes)),
                reward_cents=wage.reward_cents, hourly_cents=wage.hourly_target_cents, currency=wage.currency,
            )  # fmt: skip
            found.append(visit)
        return found


def _channel(newest: Study, enrolments: Iterable[Enrolment], channel: str | None) -> str:
    """The paying channel: of the study as it is now, or through which people came before."""
    paying = [name for name in dict.fromkeys([*newest.channels, *(one.channel for one in enrolments)]) if name != "open"]
    if channel is None and len(paying) == 1:
        return paying[0]
    if channel is None:
        what = "recruits through no platform" if not paying else f"recruits through {' and '.join(paying)}"
        raise InterplayError(f"{newest.id} {what}\nRemedy: " + ("name one with --channel." if paying else "add a channel."))
    if channel not in paying:
        raise unknown_name("channel", channel, paying)
    return channel


def _events(rows: Iterable[PayEvent]) -> list[Event]:
    from interplay.study.ledger import Event

    return [Event(one.enrolment_id, one.kind, one.state, one.amount_cents, one.request) for one in rows]


def _estimates(visits: Sequence[Visit], channel: str) -> list[dict[str, Any]]:
    """What measured times say, once for all visits that were promised the same; without a target there is nothing to say."""
    from interplay.study.pay import Finished, estimate, find_fee

    alike: dict[tuple[int, int, str], list[Visit]] = {}
    for visit in visits:
        if visit.hourly_cents is not None:
            alike.setdefault((visit.reward_cents, visit.hourly_cents, visit.currency), []).append(visit)
    return [
        {
            "reward_cents": reward,
            "hourly_target_cents": hourly,
            "currency": currency,
            "rows": estimate(
                [Finished(visit.worker, visit.assignment, visit.time_s) for visit in done],
                reward=Decimal(reward) / 100,
                hourly=Decimal(hourly) / 100,
                fee=find_fee(channel),
            ).rows(),
        }
        for (reward, hourly, currency), done in alike.items()
    ]


def _payer(channel: str, *, production: bool, endpoint: str | None) -> Payer:
    """Who pays; accounts come from the environment.

    Raises:
        PaymentError: If the environment has none.
    """
    from interplay.study.payers import MTurkPayer, ProlificPayer

    if channel == "mturk":
        from interplay.study.channels.aws import Credentials
        from interplay.study.channels.mturk_api import MTurkApi

        return MTurkPayer(MTurkApi(Credentials.from_environment(), is_sandbox=not production, endpoint=endpoint))
    from interplay.study.channels.prolific_api import ENDPOINT, ProlificApi

    return ProlificPayer(ProlificApi.from_environment(endpoint=endpoint or ENDPOINT))


def _send(archive: Archive, payments: Sequence[Payment], payer: Payer, books: _Books, reason: str) -> list[Sent]:
    """Send one after the other; every line of the ledger is committed before the next step."""
    from interplay.study.ledger import send

    def claim(payment: Payment) -> Sent | None:
        return _claim(archive, payment, books, repeats_safely=payer.repeats_safely)

    def write(payment: Payment, state: State, detail: str) -> None:
        with archive.database.write() as session:
            _add(session, payment, state, detail)

    sent = []
    with progress() as bar:
        for payment in bar.track(payments, description="Paying"):
            sent.append(send(payment, payer, reason=reason, claim=claim, write=write))
    return sent


def _claim(archive: Archive, payment: Payment, books: _Books, *, repeats_safely: bool) -> Sent | None:
    """Write down that a payment goes out now, in one step with looking whether it still may; else why it may not."""
    from interplay.store import studies
    from interplay.store.judging import lock
    from interplay.study.ledger import refusal

    with archive.database.write() as session:
        lock(session)  # another run, too, may be paying this person
        enrolment = studies.enrolment_by_id(session, payment.visit.enrolment)
        assert enrolment is not None  # it was planned from
        theirs = studies.enrolments_of_participant(session, enrolment.study, enrolment.participant_id)
        events = _events(studies.pay_events_of(session, [one.id for one in theirs]))
        refused = refusal(payment, books.visits(session, theirs), events, repeats_safely=repeats_safely)
        if refused is None:
            _add(session, payment, "planned", "")
        return refused


def _add(session: Session, payment: Payment, state: State, detail: str) -> None:
    from interplay.store import studies

    studies.add_pay_event(
        session, enrolment_id=payment.visit.enrolment, kind=payment.kind, state=state, amount_cents=payment.amount_cents,
        currency=payment.visit.currency, request=payment.request, detail=detail, now=datetime.now(UTC),
    )  # fmt: skip


def _settle(archive: Archive, study: str, settle: Sequence[str]) -> None:
    """Lines for payments whose end somebody has looked up: all of them, or none.

    Raises:
        InterplayError: If one is no payment of the ledger, or its end is known.
    """
    from interplay.store import studies
    from interplay.store.judging import lock

    with archive.database.write() as session:
        lock(session)
        last = {event.request: event for event in studies.pay_events(session, study)}
        unknown = {request: event for request, event in last.items() if event.state == "planned"}
        for one in settle:
            request, _, state = one.rpartition("=")
            if state not in ("sent", "failed") or request not in unknown:
                known = ", ".join(unknown) or "none"
                raise InterplayError(
                    f"--settle {one}: write REQUEST=sent or REQUEST=failed, for a payment whose end is unknown: {known}"
                )
            event = unknown.pop(request)
            studies.add_pay_event(
                session, enrolment_id=event.enrolment_id, kind=event.kind, state=state, amount_cents=event.amount_cents,
                currency=event.currency, request=request, detail="settled by hand", now=datetime.now(UTC),
            )  # fmt: skip


def _rows(payments: Sequence[Payment], sent: Sequence[Sent]) -> list[dict[str, Any]]:
    """Payments as they go out to people and programs."""
    ends = {one.payment.request: one for one in sent}
    return [
        {
            "kind": payment.kind,
            "worker": payment.visit.worker,
            "assignment": payment.visit.assignment,
            "amount_cents": payment.amount_cents,
            "currency": payment.visit.currency,
            "request": payment.request,
            "state": ends[payment.request].state if payment.request in ends else payment.state,
            "detail": ends[payment.request].detail if payment.request in ends else "",
        }
        for payment in payments
    ]


def _text(document: dict[str, Any], again: str) -> Any:
    """The same for people; `again` is the command that pays."""
    from rich.console import Group

    parts: list[Any] = []
    for one in document["estimates"]:
        said = f"what measured times say at {one['reward_cents'] / 100:.2f} {one['currency']}"
        parts += [table([said, ""], one["rows"]), ""]
    rows = [
        (one["kind"], one["worker"], one["assignment"], f"{one['amount_cents'] / 100:.2f} {one['currency']}", one["state"],
         one["detail"].partition("\n")[0])
        for one in document["payments"]
    ]  # fmt: skip
    if not rows:
        return Group(*parts, f"Nothing is to be paid through {document['channel']}.")
    parts += [table(["payment", "worker", "assignment", "#amount", "state", ""], rows), ""]
    if not document["is_sent"]:
        parts.append(f"Nothing was sent. To pay:  {again}")
    return Group(*parts)
