"""`interplay judge ban|unban|bans|judges`: whose answers count, and what tells that they should not."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interplay.cli.common import DEFAULT_DATA, DatabaseOption, DataOption, JsonOption, emit, open_archive, place_options, table
from interplay.errors import InterplayError, unknown_name

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

app = typer.Typer(add_completion=False)

_Judges = Annotated[list[str] | None, typer.Argument(metavar="JUDGE...", help="Names as the log has them, or worker ids.")]
_File = Annotated[Path | None, typer.Option("--file", help='A published list of workers: [{"workerId": "A1B2"}, ...].')]
_Dataset = Annotated[str | None, typer.Option("--dataset", help="The workers are those of this imported data set.")]


@app.command()
def ban(
    judges: _Judges = None,
    reason: Annotated[str, typer.Option("--reason", help="Why; kept with the ban.")] = "",
    file: _File = None,
    dataset: _Dataset = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let no answer of a judge count, from the first one on. Everything is computed anew; nothing is deleted.

    Try:  interplay judge ban participant-7 --reason "the same words every time"
    """
    from interplay.store import bans as store

    if not reason.strip() and file is None:
        raise InterplayError(
            'a ban needs its reason, for whoever looks at it later\nSay it:  --reason "clicked without watching"'
        )
    because = reason.strip() or f"listed in {file.name if file else ''}"
    _change(
        judges, file, dataset, data, database, as_json,
        lambda session, judge: store.ban(session, judge=judge, reason=because, now=datetime.now(UTC)),
        "banned", "banned already",
    )  # fmt: skip


@app.command()
def unban(
    judges: _Judges = None,
    file: _File = None,
    dataset: _Dataset = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let the answers of a banned judge count again, all of them.

    Try:  interplay judge unban participant-7
    """
    from interplay.store import bans as store

    _change(
        judges, file, dataset, data, database, as_json,
        lambda session, judge: store.unban(session, judge=judge, now=datetime.now(UTC)),
        "unbanned", "not banned",
    )  # fmt: skip


def _change(
    judges: list[str] | None, file: Path | None, dataset: str | None, data: Path, database: str | None, as_json: bool,
    change: Any, done: str, idle: str,
) -> None:  # fmt: skip
    """Ban or unban everyone named, or nobody if one of them is unknown; workers of a file who never came are told."""
    from interplay.judge.bans import read_banned
    from interplay.store import bans as store

    listed = [] if file is None else read_banned(file)
    if not judges and file is None:
        hint = f"Name judges, or a file with --file; all judges:  interplay judge judges{place_options(data, database)}"
        raise InterplayError(f"nobody is named\n{hint}")
    with closing(open_archive(data, database, must_exist=True)) as archive, archive.database.write() as session:
        names = [name for judge in judges or () for name in _names(session, judge, dataset, must_be=True)]
        unseen = [worker for worker in listed if not _names(session, worker, dataset)]
        names += [name for worker in listed for name in _names(session, worker, dataset)]
        names = list(dict.fromkeys(names))
        changed = [name for name in names if change(session, name)]
        counts = store.num_answers_of(session, changed)
    same = [name for name in names if name not in changed]
    num_answers = sum(counts.values())
    lines = [f"{done} {name}: {(count := counts.get(name, 0)):,} answer{'' if count == 1 else 's'}" for name in changed]
    lines += [f"{idle}: {name}" for name in same]
    if unseen:
        lines.append(f"{len(unseen)} of {len(listed)} workers of {file} have given no answers here")
    lines.append(f"Ratings are computed anew at the next look:  interplay rank{place_options(data, database)}")
    document = {done: changed, "unchanged": same, "unseen": unseen, "num_answers": num_answers}
    emit(document, as_json=as_json, text="\n".join(lines))


def _names(session: Session, name: str, dataset: str | None, *, must_be: bool = False) -> list[str]:
    """The judges a name or worker id stands for."""
    from interplay.store import bans as store

    if dataset is not None:
        return [f"{dataset}/{name.removeprefix(f'{dataset}/')}"]
    known = store.known_judges(session)
    banned = store.banned(session)
    if name in known or name in banned:
        return [name]
    found = store.judges_of_worker(session, name)
    if not found and must_be:
        raise unknown_name("judge", name, {*known, *banned}, hint="All judges:  interplay judge judges")
    return found


@app.command()
def bans(
    everything: Annotated[bool, typer.Option("--all", help="Show lifted bans, too.")] = False,
    export: Annotated[Path | None, typer.Option("--export", help="Write the list in the published format.")] = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """List whose answers do not count, since when and why.

    Try:  interplay judge bans --export banned_workers.json
    """
    from interplay.judge.bans import banned_document, worker_of
    from interplay.store import bans as store

    with closing(open_archive(data, database, must_exist=True)) as archive, archive.database.read() as session:
        rows = store.bans(session, lifted=everything)
        workers = store.workers(session)
        counts = store.num_answers_of(session, [row.judge for row in rows])
    document = [
        {
            "judge": row.judge,
            "workerId": worker_of(row.judge, workers),
            "reason": row.reason,
            "created_at": row.created_at,
            "lifted_at": row.lifted_at,
            "num_answers": counts.get(row.judge, 0),
        }
        for row in rows
    ]
    if export is not None:
        text = banned_document(entry["workerId"] for entry in document if entry["lifted_at"] is None)
        try:
            export.write_text(text, encoding="utf-8")
        except OSError as error:
            raise InterplayError(
                f"cannot write {export}: {error.strerror or error}\nName a file in a folder that exists and is yours."
            ) from error
    shown = [
        (entry["judge"], f"{entry['created_at']:%Y-%m-%d}", entry["num_answers"], entry["reason"],
         f"{entry['lifted_at']:%Y-%m-%d}" if entry["lifted_at"] else "")
        for entry in document
    ]  # fmt: skip
    nobody = f"Nobody is banned.\nWho looks careless:  interplay judge judges{place_options(data, database)}"
    emit(document, as_json=as_json, text=table(["judge", "since", "#answers", "reason", "lifted"], shown) if shown else nobody)
    if export is not None and not as_json:
        emit(None, as_json=False, text=f"Wrote {export}.")


@app.command()
def judges(
    study: Annotated[str | None, typer.Option("--study", help="Only answers given in this study.")] = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """How carefully each judge has worked: checks passed, repeated pairs answered alike, sides, time taken.

    Try:  interplay judge judges --study basalt
    """
    import numpy as np

    from interplay.judge import Judging

    with closing(open_archive(data, database, must_exist=True)) as archive:
        summaries = Judging(archive, rng=np.random.default_rng(0)).judges(study)

    def share(value: float | None) -> str:
        return "" if value is None else f"{value:.0%}"

    headers = ["judge", "kind", "#answers", "#checks passed", "#repeats alike", "#left", "#median s", "#at the minimum", ""]
    rows = [
        (
            one.judge,
            one.kind,
            one.num_answers,
            f"{one.attention_passed} / {one.num_attention}" if one.num_attention else "",
            f"{one.repeats_consistent} / {one.num_repeats}" if one.num_repeats else "",
            share(one.left_share),
            f"{one.median_duration_s:.0f}",
            share(one.minimum_time_share),
            "banned" if one.is_banned else "",
        )
        for one in summaries
    ]
    text = table(headers, rows) if rows else "Nobody has judged yet."
    emit([asdict(one) for one in summaries], as_json=as_json, text=text)
