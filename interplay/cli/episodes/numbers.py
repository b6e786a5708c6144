"""`interplay episodes collected | quality`: what was recorded, in numbers."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from interplay.cli.common import DEFAULT_DATA, DatabaseOption, DataOption, JsonOption, emit, open_archive, table

StudyOption = Annotated[str | None, typer.Option(metavar="ID", help="Only the games that this study gave.")]


def collected(
    study: StudyOption = None, data: DataOption = DEFAULT_DATA, database: DatabaseOption = None, as_json: JsonOption = False
) -> None:
    """Show hours of recorded games by day (UTC), task and channel.

    Try:  interplay episodes collected --json
    """
    from interplay.record.summary import Summary

    hours = Summary(open_archive(data, database, must_exist=True)).hours(study)
    rows = [(one.day, one.task, one.channel, f"{one.hours:.2f}", one.num_episodes) for one in hours]
    text: Any = table(["day", "task", "channel", "#hours", "#episodes"], rows) if rows else "Nothing has been recorded yet."
    emit([one._asdict() for one in hours], as_json=as_json, text=text)


def quality(
    study: StudyOption = None, data: DataOption = DEFAULT_DATA, database: DatabaseOption = None, as_json: JsonOption = False
) -> None:
    """Show how good people's games are: latency, lost frames, active time, score and length of each task, and outliers.

    Try:  interplay episodes quality
    """
    from rich.console import Group

    from interplay.record.summary import Summary

    found = Summary(open_archive(data, database, must_exist=True)).quality(study)
    document = {
        "measures": {name: {task: one._asdict() for task, one in spreads.items()} for name, spreads in found.measures.items()},
        "outcomes": found.outcomes,
        "verified": {"equal": found.equal, "different": found.different, "never": found.unverified},
        "different": dict(found.problems),
        "outliers": [vars(one) for one in found.outliers],
    }
    rows = [
        (task, name, one.num, *(f"{value:.4g}" for value in one[1:]))
        for name, spreads in found.measures.items()
        for task, one in spreads.items()
    ]
    parts: list[Any] = [f"verified: {found.equal} equal, {found.different} different, {found.unverified} never"]
    if rows:
        parts += ["", table(["task", "measure", "#games", "#5 %", "#25 %", "#median", "#75 %", "#95 %"], rows)]
    else:
        parts.append("No person has played yet.")
    parts += [f"outlier: {one.episode}, {one.task}: {one.measure} {one.value:.4g}" for one in found.outliers]
    emit(document, as_json=as_json, text=Group(*parts))
