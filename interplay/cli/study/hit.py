"""`interplay study hit`: a study's HITs on Mechanical Turk; without --send it is a dry run."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interplay.cli.options import DEFAULT_DATA, DatabaseOption, DataOption, place_options
from interplay.cli.output import JsonOption, emit, progress_console, table
from interplay.cli.study.common import opened_place
from interplay.errors import InterplayError
from interplay.wording import amount

if TYPE_CHECKING:
    from interplay.study.definition import Study
    from interplay.study.mturk.hits import MadeHit
    from interplay.study.mturk.plan import Order, Service

_OPERATIONS = {"hit": "CreateHIT", "qualification": "CreateQualificationType"}


def hit(
    study: Annotated[str, typer.Argument(metavar="ID", help="Id of a study that was opened in this data folder.")],
    address: Annotated[str, typer.Option("--address", help="Where people reach this server: https://lab.example")],
    hits: Annotated[
        int,
        typer.Option("--hits", min=1, max=1000, help="Total number of HITs, including those made earlier."),
    ] = 1,
    qualification: Annotated[
        bool, typer.Option("--qualification", help="Make the quiz a qualification that the HIT requires.")
    ] = False,
    picture_base: Annotated[
        str | None, typer.Option("--picture-base", help="https address of the quiz's pictures, for --qualification.")
    ] = None,
    send: Annotated[bool, typer.Option("--send", help="Make the HITs through Mechanical Turk's API.")] = False,
    production: Annotated[
        bool, typer.Option("--production/--sandbox", help="The sandbox has no workers and pays nobody.")
    ] = False,
    endpoint: Annotated[str | None, typer.Option(help="Another address of the API, such as a test server.")] = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Put a study on Mechanical Turk. Shows what would be sent and what it costs; sends nothing without --send.

    Title, minutes and reward are the study's. The ledger stores every step, so that two runs never make a HIT twice.

    Try:  interplay study hit basalt --address https://lab.example --send
    """
    from interplay.study.mturk.api import PRODUCTION, SANDBOX, MTurkApi
    from interplay.study.mturk.hits import Hits
    from interplay.study.mturk.plan import Service, plan, quiz_request
    from interplay.study.studies import Studies

    if picture_base is not None and not qualification:
        raise typer.BadParameter("--picture-base is where Amazon finds the quiz's pictures; it needs --qualification")
    archive, hint = opened_place(data, database)
    opened, ledger = Studies(archive.database).get(study, hint=hint), Hits(archive.database)
    version = opened.study
    if not opened.is_open:
        raise InterplayError(f"{study} is closed, so workers would find nothing to do\nRemedy: open it again.")
    service = Service(not production, endpoint.rstrip("/") if endpoint else PRODUCTION if production else SANDBOX)
    test = quiz_request(version, picture_base) if qualification else None
    orders = plan(version, address, service, num_hits=hits, test=test, events=ledger.events(study))
    document = _document(version, orders, service)
    if send and (missing := document["cost"]["hits"]):
        api = MTurkApi.from_environment(is_sandbox=service.is_sandbox, endpoint=service.endpoint)
        total = f"{document['cost']['total_cents'] / 100:.2f} USD with fees"
        progress_console.print(f"Making {amount(missing, 'HIT')} ({_place(service)}), {total} ...")
        orders = ledger.send(version, orders, service, api)
    document |= {"is_sent": send, "orders": [_order(order) for order in orders], "hits": ledger.made(study)}
    again = f"interplay study hit {study} --address {shlex.quote(address)} --send"
    again += "" if hits == 1 else f" --hits {hits}"
    again += " --qualification" if qualification else ""
    again += "" if picture_base is None else f" --picture-base {shlex.quote(picture_base)}"
    again += " --production" if production else ""
    again += "" if endpoint is None else f" --endpoint {shlex.quote(endpoint)}"
    again += place_options(data, database)
    next_one = f"interplay study participants {study}{place_options(data, database)}"
    emit(document, as_json=as_json, text=None if as_json else _text(document, version, again, next_one))
    if send and any(order.state != "made" for order in orders):
        raise typer.Exit(1)


def hit_lines(hits: Sequence[MadeHit]) -> list[str]:
    return [
        f"HIT        {one.hit}, {_place(one)}, {one.made_at:%Y-%m-%d %H:%M} UTC, version {one.version[:12]}: {one.link}"
        for one in hits
    ]


def _place(what: MadeHit | Service) -> str:
    from interplay.study.mturk.api import PRODUCTION, SANDBOX

    stand_in = "" if what.endpoint in (PRODUCTION, SANDBOX) else f" at {what.endpoint}"
    return ("sandbox" if what.is_sandbox else "production") + stand_in


def _document(study: Study, orders: Sequence[Order], service: Service) -> dict[str, Any]:
    from interplay.study.mturk.plan import cost_of, settings_of

    settings = settings_of(study)
    missing = sum(order.kind == "hit" and order.state != "made" for order in orders)
    cost = cost_of(settings, missing)
    assert study.pay is not None  # settings_of says so
    return {
        "study": study.id,
        "content_hash": study.content_hash,
        "is_sandbox": service.is_sandbox,
        "endpoint": service.endpoint,
        "cost": {
            "hits": missing,
            "assignments": settings.num_assignments * missing,
            "reward_cents": study.pay.reward_cents,
            "rewards_cents": int(cost.rewards * 100),
            "fees_cents": int(cost.fees * 100),
            "total_cents": int(cost.total * 100),
            "hourly_cents": int(settings.hourly_usd * 100),
            "hourly_target_cents": study.pay.hourly_target_cents,
        },
    }


def _order(order: Order) -> dict[str, Any]:
    return {
        "operation": _OPERATIONS[order.kind],
        "fields": dict(order.fields),
        "request": order.request,
        "state": order.state,
        "made": dict(order.made),
        "detail": order.detail,
    }


def _text(document: dict[str, Any], study: Study, again: str, next_one: str) -> Any:
    from rich.console import Group

    from interplay.study.channels.mturk import NO_NEW_CUSTOMERS

    parts: list[Any] = []
    if not document["is_sent"]:
        shown = {one["operation"]: one for one in reversed(document["orders"]) if one["state"] != "made"}
        for name, one in reversed(shown.items()):
            parts += [table([name, ""], [(key, _cell(key, value)) for key, value in one["fields"].items()]), ""]
    rows = [
        (one["operation"], ", ".join(one["made"].values()), one["state"], one["detail"].replace("\n", " "))
        for one in document["orders"]
    ]
    parts += [table(["what", "made", "state", ""], rows), "", *_cost_lines(document, study)]
    parts += hit_lines(document["hits"])
    ours = [one["made"].get("hit") for one in document["orders"]]
    if others := sum(one.hit not in ours for one in document["hits"]):
        parts.append(f"{others} of them with other settings or of another version; these stay as they are.")
    if any(one["operation"] == "CreateQualificationType" for one in document["orders"]):
        parts.append("The study's own page asks the quiz again: it cannot know who holds a qualification.")
    parts.append(f"Note on mturk: {NO_NEW_CUSTOMERS}")
    is_all_there = all(one["state"] == "made" for one in document["orders"])
    if is_all_there:
        parts.append(f"Participants:  {next_one}")
    else:
        parts.append(f"{'Not all was made. To try again' if document['is_sent'] else 'Nothing was sent. To make it'}:  {again}")
    return Group(*parts)


def _cell(key: str, value: Any) -> str:
    """Return a field of a request as text; for the two long documents, return only the length."""
    if key in ("Test", "AnswerKey"):
        return f"XML, {len(value.encode()):,} bytes; --json shows it"
    if isinstance(value, list):
        return "\n".join(map(json.dumps, value)) or "none"
    return str(value)


def _cost_lines(document: dict[str, Any], study: Study) -> list[str]:
    cost = document["cost"]
    dollars = {name: f"{value / 100:.2f}" for name, value in cost.items() if name.endswith("_cents") and value is not None}
    lines = []
    if cost["hits"]:
        free = "  (the sandbox takes no money)" if document["is_sandbox"] else ""
        lines.append(
            f"cost       {cost['assignments']} x {dollars['reward_cents']} = {dollars['rewards_cents']} and fees of "
            f"{dollars['fees_cents']}: {dollars['total_cents']} USD{free}"
        )
    target = dollars.get("hourly_target_cents")
    lines.append(
        f"wage       {dollars['hourly_cents']} USD an hour at {study.minutes:g} min" + (f" (target {target})" if target else "")
    )
    if cost["hourly_target_cents"] is not None and cost["hourly_cents"] < cost["hourly_target_cents"]:
        lines.append("           that is under the target; `interplay study pay` pays the difference")
    return lines
