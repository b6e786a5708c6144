"""`interplay judge import | export`: published evaluation sets."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from interplay.cli.judge.agents import SuiteOption
from interplay.cli.options import DEFAULT_DATA, DatabaseOption, DataOption, known_task, open_archive, place_options, suites_with
from interplay.cli.output import JsonOption, emit, stage_bars
from interplay.wording import amount

app = typer.Typer(add_completion=False)


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Answers as published: a JSON list, newest first.")],
    banned: Annotated[Path | None, typer.Option(help='Workers whose answers do not count: [{"workerId": "A1B2"}].')] = None,
    videos: Annotated[Path | None, typer.Option(help="Videos as DIR/AGENT/TASK/seed_<number>.mp4.")] = None,
    name: Annotated[str, typer.Option(help="Name of the set here; judges become NAME/worker.")] = "bedd",
    suite: SuiteOption = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import a published set of answers with its agents, and say what was dropped and why. A second import adds nothing.

    Try:  interplay judge import human_answers.json --banned banned_workers.json --videos rollouts
    """
    from interplay.judge.published import import_answers
    from interplay.judge.published.report import report_text
    from interplay.judge.published.row import load_json
    from interplay.judge.published.segments import import_segments, is_of_segments

    if is_of_segments(document := load_json(file)):
        if banned or videos or suite:
            raise typer.BadParameter("the file has answers about segments: leave out --banned, --videos and --suite")
        with closing(open_archive(data, database)) as archive:
            counts = import_segments(archive, document, name, str(file))
        dropped = "".join(f"\nDropped {number}: {reason}" for reason, number in counts["dropped"].items())
        text = f"Imported {amount(counts['imported'], 'answer')} about segments; {counts['there_before']} were here.{dropped}\n"
        text += f"Next:  interplay learn reward --study {name} --out NAME{place_options(data, database)}"
        emit(counts, as_json=as_json, text=text)
        return
    with closing(open_archive(data, database)) as archive, stage_bars() as progress:
        report = import_answers(
            archive, file, name=name, banned=banned, videos=videos, suites=suites_with(suite), on_progress=progress
        )
    path = archive.root / "imports" / f"{name}-report.json"
    text = f"{report_text(report)}\n\nWrote {path}\nNext:  interplay rank{place_options(data, database)}"
    emit(report | {"report": str(path)}, as_json=as_json, text=text)


@app.command()
def export(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A .json in the published format, or a .parquet or .csv table.")],
    name: Annotated[str | None, typer.Option(help="Only answers that were imported under this name.")] = None,
    task: Annotated[str | None, typer.Option(help="Only answers about this task.")] = None,
    include_banned: Annotated[bool, typer.Option("--include-banned", help="Include the answers of banned judges.")] = False,
    anonymise: Annotated[bool, typer.Option("--anonymise", help="Replace people's names by pseudonyms.")] = False,
    segments: Annotated[
        bool, typer.Option("--segments", help="Write the answers about segments; OUT must be a .json file.")
    ] = False,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the answers that were imported or given here, for others to use.

    Try:  interplay judge export answers.json --anonymise
    """
    from interplay.judge.published import ENDINGS, Selection, export_file, open_pseudonyms

    if out.suffix not in ENDINGS:
        raise typer.BadParameter(f"OUT must end in .json, .parquet or .csv, got {str(out)!r}")
    if segments and out.suffix != ".json":
        raise typer.BadParameter(f"with --segments, OUT must end in .json, got {str(out)!r}; tables hold segments without it")
    with closing(open_archive(data, database, must_exist=True)) as archive:
        selection = Selection(
            name, known_task(archive, task), include_banned, open_pseudonyms(archive.root) if anonymise else None
        )
        num_answers = export_file(archive.database, selection, out, segments=segments)
    again = (
        f"interplay judge import {out} --name copy --data OTHER"
        if out.suffix == ".json"
        else f"interplay rank{place_options(data, database)}"
    )
    emit(
        {"file": str(out), "num_answers": num_answers, "size_bytes": out.stat().st_size, "anonymised": anonymise},
        as_json=as_json,
        text=f"Wrote {amount(num_answers, 'answer')} to {out}\nNext:  {again}",
    )
