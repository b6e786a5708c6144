"""`interplay judge add-agent`: an agent known by its videos."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from interplay.cli.common import (
    DEFAULT_DATA,
    DatabaseOption,
    DataOption,
    JsonOption,
    emit,
    open_archive,
    place_options,
    stage_bars,
    suite_options,
    suites_with,
)
from interplay.wording import amount

app = typer.Typer(add_completion=False)

SuiteOption = Annotated[list[Path] | None, typer.Option("--suite", help="Another task file (TOML), beside the built-in ones.")]


@app.command("add-agent")
def add_agent(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name on the leaderboard.")],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="DIR/TASK/seed_<number>.mp4, TASK for example FindCave.")],
    kind: Annotated[str, typer.Option(help="agent, human, model, or a finer word such as bc.")] = "agent",
    description: Annotated[str, typer.Option(help="For the agent's page.")] = "",
    replace_missing: Annotated[
        bool, typer.Option("--replace-missing", help="Add the videos that an existing agent lacks; those it has stay.")
    ] = False,
    suite: SuiteOption = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let an agent be judged by its videos of held-out seeds. All videos are checked first. If one is wrong, nothing is stored.

    Try:  interplay judge add-agent GoUp rollouts/GoUp
    """
    from interplay.judge.entrants import uploads

    with closing(open_archive(data, database)) as archive, stage_bars() as report:
        added = uploads.add_agent(
            archive,
            name,
            folder,
            kind=kind,
            description=description,
            suites=suites_with(suite),
            replace_missing=replace_missing,
            on_progress=report,
        )
    lines = []
    for task in added.tasks:
        num = len(task.episodes)
        line = f"{task.task}: {amount(num, 'video')} added"
        line += f", {len(task.kept_seeds)} kept as they were" if task.kept_seeds else ""
        lines.append(line)
        if task.missing_seeds:
            lines.append(f"  warning: none of seed {', '.join(map(str, task.missing_seeds))}; others cannot be compared there")
    lines += [f"note: {note}" for note in added.notes]
    total = sum(len(task.episodes) for task in added.tasks)
    lines += ["", f"{added.name} ({added.kind}) has {amount(total, 'new video')}."]
    served = f"interplay serve{place_options(data, database)}{suite_options(suite)}"
    lines.append(f"Next:  {served}   (judge it in the browser)")
    emit(asdict(added), as_json=as_json, text="\n".join(lines))
