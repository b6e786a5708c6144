"""`interplay rank`: the leaderboard of a data folder, or of any CSV of answers."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from interplay.cli.common import DEFAULT_DATA, DatabaseOption, DataOption, JsonOption, emit, open_archive, progress, table
from interplay.errors import InterplayError, unknown_name
from interplay.rank import Comparison, Standings, TaskStandings, read_answers

app = typer.Typer(add_completion=False)


class NoAnswersError(InterplayError):
    """Nothing to rank where the command looked."""


@app.command()
def rank(
    task: Annotated[str | None, typer.Option("--task", help="Only answers about this task.")] = None,
    answers: Annotated[
        Path | None,
        typer.Option("--answers", help="A CSV with columns left,right,outcome and optional task,judge,time, not the database."),
    ] = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compute the leaderboard from answers: TrueSkill's mu and sigma, sorted by mu - 3 sigma.

    Try:  interplay rank --answers answers.csv
    """
    if answers is not None:
        standings = _replay(_from_file(answers), answers.name)
        source = str(answers)
    else:
        standings = _from_database(data, database)
        source = database or str(data)
    if task is not None and task not in standings.by_task:
        if answers is not None and set(standings.by_task) == {""}:
            raise NoAnswersError(f"{answers} has no column 'task', so no answer is about {task!r}\nLeave --task out.")
        raise unknown_name("task", task, standings.by_task, hint=f"Only tasks with answers in {source} can be ranked.")
    emit(_document(standings, task), as_json=as_json, text=_text(standings, task))


def _from_file(path: Path) -> list[Comparison]:
    """Every answer of a CSV, in order."""
    with progress() as bar:
        reading = bar.add_task(f"reading {path.name}", total=None)
        return read_answers(path, on_progress=lambda done, total: bar.update(reading, completed=done, total=total))


def _from_database(data: Path, database: str | None) -> TaskStandings:
    """Every answer of the log."""
    if database is None and not (data / "interplay.db").exists():
        raise NoAnswersError(
            f"no answers in {data}: it holds no interplay.db\n"
            "Name the folder with --data, rank a file with --answers, or begin with:  interplay demo --fast"
        )
    from interplay.judge.ratings import comparison
    from interplay.store import judging as store

    archive = open_archive(data, database)
    try:
        with archive.database.read() as session:
            return _replay((comparison(answer) for answer in store.answers(session)), "answers", store.num_answers(session))
    finally:
        archive.database.close()


def _replay(comparisons: Iterable[Comparison], name: str, total: int | None = None) -> TaskStandings:
    """Standings after all answers, with a progress bar on long logs."""
    total = len(comparisons) if isinstance(comparisons, list) else total
    standings = TaskStandings()
    with ExitStack() as stack:
        if total and total > 20_000:  # a second's work and more
            comparisons = stack.enter_context(progress()).track(comparisons, total=total, description=f"rating {name}")
        for comparison in comparisons:
            standings.add(comparison)
    return standings


def _document(standings: TaskStandings, task: str | None) -> dict[str, Any]:
    """The result as JSON: the asked task's leaderboard, or the overall one and, where there are several, each task's."""
    board = standings.overall if task is None else standings.task(task)
    document: dict[str, Any] = {
        "task": task,
        "leaderboard": _rows(board),
        "num_answers": board.num_answers,
        "num_judges": standings.num_judges(task),
    }
    if task is None and len(standings.by_task) > 1:
        document["tasks"] = {
            name: {"leaderboard": _rows(one), "num_answers": one.num_answers, "num_judges": standings.num_judges(name)}
            for name, one in sorted(standings.by_task.items())
        }
    return document


def _rows(standings: Standings) -> list[dict[str, Any]]:
    return [asdict(row) for row in standings.leaderboard()]


def _text(standings: TaskStandings, task: str | None) -> Any:
    """Tables for people."""
    from rich.console import Group

    if standings.overall.num_answers == 0:
        return "No answers yet.\nCompare some videos:  interplay serve, then open http://127.0.0.1:8000/judge"
    several = len(standings.by_task) > 1
    title = task or ("all tasks" if several else next(iter(standings.by_task)) or None)
    parts: list[Any] = [_table(standings.overall if task is None else standings.task(task), title)]
    if task is None and several:
        for name, one in sorted(standings.by_task.items()):
            parts += ["", _table(one, name or "(no task named)")]
    parts += ["", "Agents are sorted by mu - 3 sigma, a skill they have with near certainty."]
    return Group(*parts)


def _table(standings: Standings, title: str | None) -> Any:
    headers = ["#rank", "agent", "#mu", "#sigma", "#mu - 3 sigma", "#won", "#drew", "#lost", "#answers"]
    rows = [
        (
            row.rank,
            row.agent,
            f"{row.mu:.3f}",
            f"{row.sigma:.3f}",
            f"{row.score:.3f}",
            row.won,
            row.drew,
            row.lost,
            row.num_answers,
        )
        for row in standings.leaderboard()
    ]
    answers = f"{standings.num_answers:,} answer{'' if standings.num_answers == 1 else 's'}"
    return table(headers, rows, title=f"{title}: {answers}" if title else answers)
