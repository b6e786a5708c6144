"""`interplay study pause | resume | funnel | money | feedback`: what the operator's pages of studies also do."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from interplay.cli.options import DEFAULT_DATA, DatabaseOption, DataOption, open_archive, place_options
from interplay.cli.output import JsonOption, emit, table
from interplay.cli.study.common import opened_place

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="Id of a study that was opened in this data folder.")]


def pause(
    study: IdArgument,
    note: Annotated[str, typer.Option(help="Text for people who come during the pause.")] = "",
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take no new participants into a study for now; current participants can continue, and are paid.

    Try:  interplay study pause atari --note "We continue tomorrow."
    """
    from interplay.study.pauses import Pauses

    archive, hint = opened_place(data, database)
    Pauses(archive.database).pause(study, note=note, hint=hint)
    place = place_options(data, database)
    text = f"{study} is paused. Pause it on your recruiting platform, too. To continue:  interplay study resume {study}{place}"
    emit({"study": study, "paused": True, "note": note}, as_json=as_json, text=text)


def resume(
    study: IdArgument, data: DataOption = DEFAULT_DATA, database: DatabaseOption = None, as_json: JsonOption = False
) -> None:
    """Let people into a paused study again.

    Try:  interplay study resume atari
    """
    from interplay.study.pauses import Pauses

    archive, hint = opened_place(data, database)
    Pauses(archive.database).resume(study, hint=hint)
    emit({"study": study, "paused": False}, as_json=as_json, text=f"{study} takes people again.")


def funnel(
    study: IdArgument, data: DataOption = DEFAULT_DATA, database: DatabaseOption = None, as_json: JsonOption = False
) -> None:
    """Show how far people get in a study, how visits ended, and how much of each requirement people reach.

    Try:  interplay study funnel crowdplay
    """
    from rich.console import Group

    from interplay.study.overview import Overview

    archive, hint = opened_place(data, database)
    overview = Overview(archive.database)
    numbers, reached = overview.study(study, hint=hint), overview.reached(study, hint=hint)
    document = {
        "study": study,
        "paused": None if numbers.pause is None else numbers.pause.note,
        "funnel": numbers.funnel._asdict(),
        "outcomes": numbers.outcomes,
        "today": numbers.today,
        "reached": [asdict(one) | {"spread": None if one.spread is None else one.spread._asdict()} for one in reached],
    }
    stages = [
        (name, count, f"{100 * count / max(1, numbers.funnel.arrived):.0f} %")
        for name, count in numbers.funnel._asdict().items()
    ]
    parts: list[Any] = [table(["visits", "#number", "#of all"], stages)]
    parts += ["", table(["ended as", "#visits"], sorted(numbers.outcomes.items()))] if numbers.outcomes else []
    rows = [
        (one.variant, one.label, f"{one.required:g}", "-" if one.met is None else f"{one.met} of {one.visits}",
         "-" if one.spread is None else f"{one.spread.p50:g}")
        for one in reached
    ]  # fmt: skip
    parts += ["", table(["variant", "requirement", "#asked", "#reached by", "#median"], rows)] if rows else []
    emit(document, as_json=as_json, text=Group(*parts))


def money(
    study: Annotated[str | None, typer.Argument(metavar="[ID]", help="One study; default: all.")] = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show planned, claimed, settled and refused payments by study and channel; with --json also raffles and winners.

    Try:  interplay study money
    """
    from interplay.study.overview import Overview

    archive, hint = opened_place(data, database)
    overview = Overview(archive.database)
    purses = overview.money(study, hint=hint)
    raffles = overview.raffles(study)
    rows = [
        (one.study, one.channel, one.currency,
         *(f"{cents / 100:.2f}" for cents in (one.planned_cents, one.claimed_cents, one.settled_cents, one.failed_cents)))
        for one in purses
    ]  # fmt: skip
    text: Any = table(["study", "channel", "currency", "#planned", "#claimed", "#settled", "#refused"], rows)
    if not rows:
        text = "Nothing was earned or paid yet."
    document = {"purses": [asdict(one) for one in purses], "raffles": [asdict(one) for one in raffles]}
    emit(document, as_json=as_json, text=text)


def feedback(
    kind: Annotated[str | None, typer.Option(help="Only feedback of this kind: problem, idea or other.")] = None,
    study: Annotated[str | None, typer.Option(help="Only feedback from this study or class.")] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV on standard output.")] = False,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """List what people wrote about pages and games: problems, ideas. The newest comes first.

    Try:  interplay study feedback --kind problem --csv > problems.csv
    """
    from interplay.errors import unknown_name
    from interplay.study.feedback import KINDS, FeedbackBox, feedback_csv

    if kind is not None and kind not in KINDS:
        raise unknown_name("kind", kind, KINDS)
    box = FeedbackBox(open_archive(data, database, must_exist=True).database)
    known = [one for one in box.all() if kind in (None, one.kind) and study in (None, one.study)]
    if as_csv and not as_json:
        print(feedback_csv(known), end="")
        return
    rows = [(f"{one.at:%Y-%m-%d %H:%M}", one.kind, one.page, one.episode, " ".join(one.words.split())) for one in known]
    text = table(["when, UTC", "what", "page", "episode", "words"], rows) if rows else "Nobody has written anything."
    emit([asdict(one) for one in known], as_json=as_json, text=text)
