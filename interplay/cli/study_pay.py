"""`interplay study pay`: what measured times say about pay, and paying: a dry run unless it is told to send."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interplay.cli.common import DEFAULT_DATA, DatabaseOption, DataOption, JsonOption, emit, open_archive, progress, table
from interplay.errors import InterplayError, unknown_name

if TYPE_CHECKING:
    from interplay.record import Archive
    from interplay.store import Enrolment, PayEvent
    from interplay.study.definition import Pay, Study
    from interplay.study.ledger import Payer, Payment, Sent, State, Visit


def pay(
    study: Annotated[str, typer.Argument(metavar="ID", help="Id of a study that was opened in this data folder.")],
    channel: Annotated[str | None, typer.Option(help="mturk or prolific; where the study has both.")] = None,
    send: Annotated[bool, typer.Option("--send", help="Really approve and pay, through the platform's API.")] = False,
    bonuses: Annotated[bool, typer.Option("--bonuses/--no-bonuses", help="Top people up to the hourly target.")] = True,
    longest: Annotated[
        float | None, typer.Option("--longest", min=0.1, help="Minutes of a visit that count at most; default: 3 x estimated.")
    ] = None,
    reason: Annotated[str, typer.Option(help="Read by who gets a bonus.")] = "The task took you longer than we estimated.",
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

    Who is paid: finished visits (`done`). The ledger keeps every step, so that running this twice pays once.

    Example:  interplay study pay basalt --channel prolific --send
    """
    from interplay.store import studies
    from interplay.study.definition import Study
    from interplay.study.ledger import Event, plan

    archive = open_archive(data, database, must_exist=True)
    with archive.database.read() as session:
        row = studies.study_row(session, study)
        if row is None:
            raise unknown_name("study", study, [one.id for one in studies.study_rows(session)])
        version = studies.study_version(session, row.content_hash)
        assert version is not None  # a foreign key says so
        enrolments = studies.enrolments_of_study(session, study)
        events = studies.pay_events(session, study)
    definition = Study.from_json(version.definition)
    wage = definition.pay
    if wage is None:
        raise InterplayError(f"{study} pays nobody\nRemedy: add [pay] with reward and currency, and open it again.")
    name = _channel(definition, channel)
    if settle:
        events += _settle(archive, events, settle, wage.currency)
    longest_s = 60 * (longest or 3 * definition.minutes)
    visits = [visit for visit in map(_visit, enrolments) if visit is not None and visit[0] == name]
    done = [_cut(visit, longest_s) for _, visit in visits]
    kept = [Event(one.enrolment_id, one.kind, one.state, one.amount_cents, one.request) for one in events]
    hourly = wage.hourly_target_cents if bonuses else None
    payments = plan(done, kept, reward_cents=wage.reward_cents, hourly_cents=hourly)
    document: dict[str, Any] = {"study": study, "channel": name, "currency": wage.currency, "is_sent": send}
    document["estimate"] = _estimate(done, wage, name)
    sent: Sequence[Sent] = []
    if send:
        sent = _send(archive, payments, _payer(name, production=production, endpoint=endpoint), wage, reason)
    document["payments"] = _rows(payments, sent)
    emit(document, as_json=as_json, text=None if as_json else _text(document, wage, study, name))
    if any(one.state != "sent" for one in sent):
        raise typer.Exit(1)


def _channel(definition: Study, channel: str | None) -> str:
    """The paying channel."""
    paying = [name for name in definition.channels if name != "open"]
    if channel is None and len(paying) == 1:
        return paying[0]
    if channel is None:
        what = "recruits through no platform" if not paying else f"recruits through {' and '.join(paying)}"
        raise InterplayError(f"{definition.id} {what}\nRemedy: " + ("name one with --channel." if paying else "add a channel."))
    if channel not in paying:
        raise unknown_name("channel", channel, paying)
    return channel


def _visit(enrolment: Enrolment) -> tuple[str, Visit] | None:
    """A finished visit and its channel."""
    from interplay.study.ledger import Visit

    if enrolment.outcome != "done" or enrolment.ended_at is None:
        return None
    time_s = max(1.0, (enrolment.ended_at - enrolment.arrived_at).total_seconds())
    hit = str(enrolment.arrival.get("hit", ""))
    return enrolment.channel, Visit(enrolment.id, enrolment.worker, enrolment.assignment, hit, time_s)


def _cut(visit: Visit, longest_s: float) -> Visit:
    from dataclasses import replace

    return replace(visit, time_s=min(visit.time_s, longest_s))


def _estimate(visits: Sequence[Visit], wage: Pay, channel: str) -> list[tuple[str, str]]:
    """The table of measured times; empty where nobody has finished or there is no target."""
    from interplay.study.pay import Finished, estimate, find_fee

    if not visits or wage.hourly_target_cents is None:
        return []
    return estimate(
        [Finished(visit.worker, visit.assignment, visit.time_s) for visit in visits],
        reward=Decimal(wage.reward_cents) / 100,
        hourly=Decimal(wage.hourly_target_cents) / 100,
        fee=find_fee(channel),
    ).rows()


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


def _send(archive: Archive, payments: Sequence[Payment], payer: Payer, wage: Pay, reason: str) -> list[Sent]:
    """Send one after the other; every line of the ledger is committed before the next step."""
    from interplay.study.ledger import send

    def write(payment: Payment, state: State, detail: str) -> None:
        _add(
            archive, payment.visit.enrolment, payment.kind, state, payment.amount_cents, wage.currency, payment.request, detail
        )

    sent = []
    with progress() as bar:
        for payment in bar.track(payments, description="Paying"):
            sent.append(send(payment, payer, reason=reason, write=write))
    return sent


def _add(
    archive: Archive, enrolment: str, kind: str, state: str, cents: int, currency: str, request: str, detail: str
) -> PayEvent:
    from interplay.store import studies

    with archive.database.write() as session:
        return studies.add_pay_event(
            session, enrolment_id=enrolment, kind=kind, state=state, amount_cents=cents, currency=currency, request=request,
            detail=detail, now=datetime.now(UTC),
        )  # fmt: skip


def _settle(archive: Archive, events: Sequence[PayEvent], settle: Sequence[str], currency: str) -> list[PayEvent]:
    """Lines for payments whose end somebody has looked up.

    Raises:
        InterplayError: If one is no payment of the ledger, or its end is known.
    """
    last = {event.request: event for event in events}
    unknown = {request: event for request, event in last.items() if event.state == "planned"}
    added = []
    for one in settle:
        request, _, state = one.rpartition("=")
        if state not in ("sent", "failed") or request not in unknown:
            known = ", ".join(unknown) or "none"
            raise InterplayError(
                f"--settle {one}: write REQUEST=sent or REQUEST=failed, for a payment whose end is unknown: {known}"
            )
        event = unknown[request]
        added.append(
            _add(archive, event.enrolment_id, event.kind, state, event.amount_cents, currency, request, "settled by hand")
        )
    return added


def _rows(payments: Sequence[Payment], sent: Sequence[Sent]) -> list[dict[str, Any]]:
    """Payments as they go out to people and programs."""
    ends = {one.payment.request: one for one in sent}
    return [
        {
            "kind": payment.kind,
            "worker": payment.visit.worker,
            "assignment": payment.visit.assignment,
            "amount_cents": payment.amount_cents,
            "request": payment.request,
            "state": ends[payment.request].state if payment.request in ends else payment.state,
            "detail": ends[payment.request].detail if payment.request in ends else "",
        }
        for payment in payments
    ]


def _text(document: dict[str, Any], wage: Pay, study: str, channel: str) -> Any:
    """The same for people."""
    from rich.console import Group

    parts: list[Any] = []
    if document["estimate"]:
        parts += [table(["what measured times say", ""], document["estimate"]), ""]
    rows = [
        (one["kind"], one["worker"], one["assignment"], f"{one['amount_cents'] / 100:.2f}", one["state"],
         one["detail"].partition("\n")[0])
        for one in document["payments"]
    ]  # fmt: skip
    if not rows:
        return Group(*parts, f"Nothing is to be paid through {channel}.")
    parts += [table(["payment", "worker", "assignment", f"#{wage.currency}", "state", ""], rows), ""]
    if not document["is_sent"]:
        parts.append(f"Nothing was sent. To pay:  interplay study pay {study} --channel {channel} --send")
    return Group(*parts)
