"""`interplay study feedback`: what people wrote about play, study and class pages."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from interplay.cli.common import DEFAULT_DATA, DatabaseOption, DataOption, JsonOption, emit, open_archive, table


def feedback(
    kind: Annotated[str | None, typer.Option(help="Only these: problem, idea or other.")] = None,
    study: Annotated[str | None, typer.Option(help="Only what was written in this study or class.")] = None,
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
