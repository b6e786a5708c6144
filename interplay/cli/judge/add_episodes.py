"""`interplay judge add-episodes`: recorded play becomes an entrant."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from interplay.cli.common import (
    DEFAULT_DATA,
    MOST,
    DatabaseOption,
    DataOption,
    JsonOption,
    emit,
    known_task,
    open_archive,
    place_options,
)
from interplay.wording import amount

if TYPE_CHECKING:
    from interplay.judge.entrants.recorded import EnteredTask

app = typer.Typer(add_completion=False)


@app.command("add-episodes")
def add_episodes(
    actor: Annotated[str | None, typer.Option(help="human: the games of all people together.")] = None,
    participant: Annotated[int | None, typer.Option(min=1, max=MOST, help="Number of one person.")] = None,
    agent: Annotated[str | None, typer.Option(help="Name of an agent that played here.")] = None,
    name: Annotated[str | None, typer.Option("--as", help="Name of the entrant on the leaderboard.")] = None,
    task: Annotated[str | None, typer.Option(help="Only episodes of this task.")] = None,
    where: Annotated[list[str] | None, typer.Option(help="A comparison, e.g. 'score >= 200'; may be repeated.")] = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let recorded episodes be judged, under one name of the leaderboard.

    Only episodes on held-out seeds are added, and those of people only where they agreed. In a game of several seats every
    seat counts that the chosen player held. Adding again adds what is new.

    Try:  interplay judge add-episodes --actor human --where 'score >= 200' --as experts
    """
    from interplay.judge.entrants.recorded import Choice
    from interplay.judge.entrants.recorded import add_episodes as add

    if [actor, participant, agent].count(None) != 2:
        raise typer.BadParameter("say whose episodes: exactly one of  --actor human, --participant NUMBER, --agent NAME")
    if actor not in (None, "human"):
        raise typer.BadParameter(f"--actor takes human, got {actor!r}; for an agent:  --agent NAME")
    with closing(open_archive(data, database, must_exist=True)) as archive:
        task = known_task(archive, task)
        choice = Choice(participant=participant, agent=agent, task=task, where=where or (), name=name)
        entered = add(archive.database, choice, datetime.now(UTC))
    lines = [line for one in entered.tasks for line in _lines(one)]
    total = sum(len(one.entered) for one in entered.tasks)
    lines += ["", f"{entered.name} has {amount(total, 'episode')} more to be judged by."]
    lines.append(f"Next:  interplay serve{place_options(data, database)}   (films what has no video, and shows it to judges)")
    emit(asdict(entered), as_json=as_json, text="\n".join(lines))


def _lines(one: EnteredTask) -> list[str]:
    """What became of the episodes of one task."""
    there = f", {one.num_there} there already" if one.num_there else ""
    left_out = [f"  {amount(count, 'episode')} left out: {why}" for why, count in sorted(one.left_out.items())]
    seats = ", ".join(f"{seat} ({amount(count, 'episode')})" for seat, count in sorted(one.seats.items()))
    judged = [f"  judged in these seats: {seats}"] if seats and set(one.seats) != {"player"} else []
    return [f"{one.task}: {amount(len(one.entered), 'episode')} added{there}", *judged, *left_out]
