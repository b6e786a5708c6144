"""`interplay judge add-agent|add-episodes|list-agents|approve|decline|withdraw|restore`: agents that are shown to judges."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interplay.cli.options import (
    DEFAULT_DATA,
    MOST,
    DatabaseOption,
    DataOption,
    known_task,
    open_archive,
    place_options,
    suite_options,
    suites_with,
)
from interplay.cli.output import JsonOption, emit, stage_bars, table
from interplay.wording import amount

if TYPE_CHECKING:
    from interplay.judge.entrants.episodes import EnteredTask
    from interplay.judge.entrants.roster import Verb
    from interplay.store import Entrant


app = typer.Typer(add_completion=False)


SuiteOption = Annotated[list[Path] | None, typer.Option("--suite", help="Another task file (TOML), besides the built-in ones.")]


@app.command("add-agent")
def add_agent(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name on the leaderboard.")],
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder with videos DIR/TASK/seed_<number>.mp4; TASK is for example FindCave.")
    ],
    kind: Annotated[
        str, typer.Option(help="Kind of the agent: agent, human, model, or a more exact word such as bc.")
    ] = "agent",
    description: Annotated[str, typer.Option(help="Text for the agent's page.")] = "",
    replace_missing: Annotated[
        bool, typer.Option("--replace-missing", help="Add the missing videos of an existing agent; its other videos stay.")
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
        there = f", {len(task.kept_seeds)} kept as they were" if task.kept_seeds else ""
        lines.append(f"{task.task}: {amount(len(task.episodes), 'video')} added{there}")
        if task.missing_seeds:
            lines.append(f"  warning: none of seed {', '.join(map(str, task.missing_seeds))}; others cannot be compared there")
    lines += [f"note: {note}" for note in added.notes]
    total = sum(len(task.episodes) for task in added.tasks)
    lines += ["", f"{added.name} ({added.kind}) has {amount(total, 'new video')}."]
    served = f"interplay serve{place_options(data, database)}{suite_options(suite)}"
    lines.append(f"Next:  {served}   (judge it in the browser)")
    emit(asdict(added), as_json=as_json, text="\n".join(lines))


@app.command("add-episodes")
def add_episodes(
    actor: Annotated[str | None, typer.Option(help="Give 'human' for the games of all people together.")] = None,
    participant: Annotated[
        int | None, typer.Option(min=1, max=MOST, help="Number of the person whose games are added.")
    ] = None,
    agent: Annotated[str | None, typer.Option(help="Name of an agent whose games in this data folder are added.")] = None,
    name: Annotated[str | None, typer.Option("--as", help="Name of the entrant on the leaderboard.")] = None,
    task: Annotated[str | None, typer.Option(help="Only episodes of this task.")] = None,
    where: Annotated[
        list[str] | None, typer.Option(help="Condition on episodes, e.g. 'score >= 200'; may be repeated.")
    ] = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let recorded episodes be judged, under one name of the leaderboard.

    Only episodes on held-out seeds are added, and games of people only if the people agreed. In a game of several seats, each
    seat that the chosen player held is added. Adding again adds only new episodes.

    Try:  interplay judge add-episodes --actor human --where 'score >= 200' --as experts
    """
    from interplay.judge.entrants.episodes import Choice
    from interplay.judge.entrants.episodes import add_episodes as add

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
    lines += ["", f"{entered.name} has {amount(total, 'episode')} more to be judged."]
    lines.append(f"Next:  interplay serve{place_options(data, database)}   (makes missing videos and shows them to judges)")
    emit(asdict(entered), as_json=as_json, text="\n".join(lines))


def _lines(one: EnteredTask) -> list[str]:
    there = f", {one.num_there} there already" if one.num_there else ""
    left_out = [f"  {amount(count, 'episode')} left out: {why}" for why, count in sorted(one.left_out.items())]
    seats = ", ".join(f"{seat} ({amount(count, 'episode')})" for seat, count in sorted(one.seats.items()))
    judged = [f"  judged in these seats: {seats}"] if seats and set(one.seats) != {"player"} else []
    return [f"{one.task}: {amount(len(one.entered), 'episode')} added{there}", *judged, *left_out]


NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The agent's name.")]
TaskOption = Annotated[str | None, typer.Option("--task", help="Only in this task; in all of its tasks if not given.")]


@app.command("list-agents")
def list_agents(
    task: Annotated[str | None, typer.Option("--task", help="Only agents of this task.")] = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """List every agent that is, was or wants to be judged.

    Try:  interplay judge list-agents --task basalt/find_cave
    """
    from interplay.judge.entrants.roster import Roster

    with closing(open_archive(data, database, must_exist=True)) as archive:
        roster = Roster(archive.database)
        found = roster.rows(task=known_task(archive, task))
        brought = roster.brought({one.name for one in found})
    rows = [_document(one, len(brought.get((one.name, one.task), []))) for one in found]
    shown = [
        (row["agent"], row["task"], row["kind"], row["state"], row["num_episodes"], row["proposed_by"] or "") for row in rows
    ]
    text = table(["agent", "task", "kind", "state", "#episodes", "proposed by"], shown)
    place = place_options(data, database)
    none = f"No agents yet: interplay judge add-agent NAME FOLDER{place}, or interplay play TASK --agent AGENT{place}"
    emit(rows, as_json=as_json, text=text if rows else none)


@app.command()
def approve(
    name: NameArgument,
    task: TaskOption = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Approve an agent that waits or was declined: it will be shown to judges.

    Try:  interplay judge approve team-red-v2
    """
    _change(data, database, name, task, "approve", "approved", as_json)


@app.command()
def decline(
    name: NameArgument,
    reason: Annotated[str, typer.Option("--reason", help="Reason, which the proposer of the agent can read.")],
    task: TaskOption = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Decline an agent that waits; its videos are kept.

    Try:  interplay judge decline team-red-v2 --reason "The videos show another task."
    """
    if not reason.strip():
        raise typer.BadParameter("declining needs a reason\nSay what would have to change:  --reason TEXT")
    _change(data, database, name, task, "decline", "declined", as_json, reason.strip())


@app.command()
def withdraw(
    name: NameArgument,
    task: TaskOption = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Stop showing an agent to judges. Its answers stay and count. `restore` brings it back.

    Try:  interplay judge withdraw noop --task atari/breakout
    """
    _change(data, database, name, task, "withdraw", "withdrawn", as_json)


@app.command()
def restore(
    name: NameArgument,
    task: TaskOption = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Undo a withdrawal.

    Try:  interplay judge restore noop
    """
    _change(data, database, name, task, "restore", "restored", as_json)


def _change(
    data: Path, database: str | None, name: str, task: str | None, verb: Verb, done: str, as_json: bool, reason: str = ""
) -> None:
    """Change an entrant's state and print the new state (NotFoundError with the nearest name)."""
    from interplay.judge.entrants.roster import Roster
    from interplay.store.entrants import state

    with closing(open_archive(data, database, must_exist=True)) as archive:
        roster = Roster(archive.database)
        hint = f"All agents:  interplay judge list-agents{place_options(data, database)}"
        count = roster.change(verb, name, task=task, reason=reason, hint=hint)
        states = {row.task: state(row) for row in roster.rows(name=name, task=task)}
    what = f"{name} is {done} in {amount(count, 'task')}." if count else f"Nothing to change for {name}."
    lines = [what, *(f"  {one}: {state}" for one, state in states.items())]
    emit({"agent": name, "changed": count, "states": states}, as_json=as_json, text="\n".join(lines))


def _document(agent: Entrant, num_episodes: int) -> dict[str, Any]:
    from interplay.store import entrants as store

    return {
        "agent": agent.name,
        "task": agent.task,
        "kind": agent.kind,
        "state": store.state(agent),
        "num_episodes": num_episodes,
        "proposed_by": agent.proposed_by,
        "declined_because": agent.declined_because,
        "description": agent.description,
    }
