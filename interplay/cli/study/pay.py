"""`interplay study pay`: show what people are owed for their measured time, and pay; without --send it is a dry run."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interplay.cli.options import DEFAULT_DATA, DatabaseOption, DataOption, place_options
from interplay.cli.output import JsonOption, emit, progress, table
from interplay.cli.study.common import opened_place

if TYPE_CHECKING:
    from interplay.study.money.ledger import Payer, Payment, Sent, Visit


REASON = "The task took you longer than we estimated."


def pay(
    study: Annotated[str, typer.Argument(metavar="ID", help="Id of a study that was opened in this data folder.")],
    channel: Annotated[str | None, typer.Option(help="mturk or prolific; needed if the study has both.")] = None,
    send: Annotated[bool, typer.Option("--send", help="Approve and pay, through the platform's API.")] = False,
    bonuses: Annotated[bool, typer.Option("--bonuses/--no-bonuses", help="Pay bonuses up to the hourly target.")] = True,
    longest: Annotated[
        float | None,
        typer.Option("--longest", min=0.1, help="Largest number of minutes of a visit that count; default: 3 x the estimate."),
    ] = None,
    reason: Annotated[str, typer.Option(help="Message to people who get a bonus.")] = REASON,
    production: Annotated[
        bool, typer.Option("--production/--sandbox", help="Service of Mechanical Turk to use; the sandbox pays nobody.")
    ] = False,
    endpoint: Annotated[str | None, typer.Option(help="Another address of the platform's API, such as a test server.")] = None,
    settle: Annotated[
        list[str] | None,
        typer.Option("--settle", metavar="REQUEST=sent|failed", help="Record how a payment with an unknown end has ended."),
    ] = None,
    explain: Annotated[
        str | None,
        typer.Option("--explain", metavar="ENROLMENT", help="Explain the pay of one visit to the cent; pays nobody."),
    ] = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what people's time was worth, and what is still to be paid. Pays nothing without --send.

    Finished visits (`done`) are paid by the terms of the study's version that the person agreed to. The ledger stores every
    step, so nobody is paid twice, even by two runs at the same time.

    Try:  interplay study pay basalt --channel prolific --send
    """
    from interplay.study.money.payroll import Payroll
    from interplay.study.studies import Studies

    archive, hint = opened_place(data, database)
    payroll = Payroll(archive.database)
    if settle:
        payroll.settle(study, settle, hint=hint)
    if explain is not None:
        explained = payroll.explain(study, explain, hint=hint).to_json()
        emit(explained, as_json=as_json, text=None if as_json else explained_text(explained))
        return
    Studies(archive.database).finish_left(study, hint=hint)
    bill = payroll.plan(study, channel=channel, longest_min=longest, with_bonuses=bonuses, hint=hint)
    document: dict[str, Any] = {"study": study, "channel": bill.channel, "is_sent": send}
    document["estimates"] = _estimates(bill.visits, bill.channel)
    sent: list[Sent] = []
    if send:
        payer = _payer(bill.channel, production=production, endpoint=endpoint)
        with progress() as bar:
            paying = bar.add_task("Paying", total=len(bill.payments))
            for one in payroll.send(bill, payer, reason=reason):
                sent.append(one)
                bar.advance(paying)
    document["payments"] = _rows(bill.payments, sent)
    again = f"interplay study pay {study} --channel {bill.channel} --send"
    again += "" if bonuses else " --no-bonuses"
    again += "" if longest is None else f" --longest {longest:g}"
    again += "" if reason == REASON else f" --reason {shlex.quote(reason)}"
    again += " --production" if production else ""
    again += "" if endpoint is None else f" --endpoint {shlex.quote(endpoint)}"
    again += place_options(data, database)
    emit(document, as_json=as_json, text=None if as_json else _text(document, again))
    if any(one.state != "sent" for one in sent):
        raise typer.Exit(1)


def _estimates(visits: Sequence[Visit], channel: str) -> list[dict[str, Any]]:
    """Return pay estimates from measured times, one for all visits with the same promised pay and hourly target."""
    from interplay.study.money.estimates import Finished, estimate, find_fee

    alike: dict[tuple[int, int, str], list[Visit]] = {}
    for visit in visits:
        if visit.is_done and visit.hourly_cents is not None:
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
    """Return the account that pays, from environment variables (PaymentError if they are not set)."""
    from interplay.study.money.ledger import MTurkPayer, ProlificPayer

    if channel == "mturk":
        from interplay.study.mturk.api import MTurkApi

        return MTurkPayer(MTurkApi.from_environment(is_sandbox=not production, endpoint=endpoint))
    from interplay.study.channels.prolific_api import ENDPOINT, ProlificApi

    return ProlificPayer(ProlificApi.from_environment(endpoint=endpoint or ENDPOINT))


def _rows(payments: Sequence[Payment], sent: Sequence[Sent]) -> list[dict[str, Any]]:
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
    from rich.console import Group

    parts: list[Any] = []
    for one in document["estimates"]:
        said = f"measured times at a reward of {one['reward_cents'] / 100:.2f} {one['currency']}"
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


def explained_text(document: dict[str, Any]) -> Any:
    """Return the document of `Explanation.to_json` as a page of text."""
    from rich.console import Group

    from interplay.study.incentives import amount

    one, rules = document, document["treatment"]
    currency = "" if rules is None else rules["currency"]
    lines = [f"enrolment  {one['enrolment']}, {one['worker']}: {one['outcome']}", f"version    {one['version'][:12]}"]
    if rules is None:
        lines.append("games      none: nothing was given to play")
    else:
        lines.append(f"variant    {one['variant']} (given because: {one['variant_reason']})")
    parts: list[Any] = [*lines, ""]
    if one["games"]:
        names = list(one["totals"])
        rows = [
            (game["episode"], game["at"][:19], *(f"{game['statistics'].get(name, 0):g}" for name in names))
            for game in one["games"]
        ]
        rows.append(("all games", "", *(f"{one['totals'][name]:g}" for name in names)))
        parts += [table(["game", "began", *(f"#{name}" for name in names)], rows), ""]
    if one["requirements"]:
        rows = [
            (part["label"], f"{part['achieved']:g}", f"{part['required']:g}", f"{100 * part['share']:.0f} %")
            for part in one["requirements"]
        ]
        parts += [table(["requirement", "#reached", "#asked", "#share"], rows), ""]
    if rules is not None and rules["bonus"] is not None:
        parts += [f"bonus rule  {_rule(rules['bonus'])}", ""]
    if one["ledger"]:
        rows = [
            (line["number"], line["at"][:19], line["kind"], line["state"], f"{line['amount_cents'] / 100:.2f}", line["request"])
            for line in one["ledger"]
        ]
        parts += [table(["#line", "written", "kind", "state", "#amount", "request"], rows), ""]
    owed = (one["reward_cents"] + one["bonus_cents"]) / 100
    said = f"owed {owed:.2f} {currency} ({one['reward_cents'] / 100:.2f} reward + {one['bonus_cents'] / 100:.2f} earned or won)"
    if (waited := one["waited"]) is not None:
        how_long, enough = amount("time", waited["waited_s"]), amount("time", waited["after_s"])
        parts.append(
            f"Waited {how_long} for a partner, and nobody came; {enough} is enough for {waited['pay_cents'] / 100:.2f}."
        )
    parts.append(f"{said}; the ledger says that {one['sent_cents'] / 100:.2f} was sent.")
    if not one["is_final"] and one["waited"] is None:
        parts.append("The visit has not ended as done: these are its games up to now.")
    parts.append(
        "The rules give the amount in the ledger."
        if one["agrees"]
        else "The rules do NOT give the amount in the ledger: please report this."
    )
    return Group(*parts)


def _rule(bonus: dict[str, Any]) -> str:
    most = f"{bonus['max_cents'] / 100:.2f}"
    counted = f"{bonus.get('statistic') or bonus['correct']} / {bonus['full_at']:g}"
    share = f"{bonus.get('correct')} / {bonus.get('out_of')}"
    if bonus["kind"] == "sliding":
        return f"{most} x min(1, {counted}) x max(0, 2 x ({share} - 1/2)), rounded up"
    return f"{most} x min(1, {counted}{f', {share}' if bonus.get('out_of') else ''}), rounded up"
