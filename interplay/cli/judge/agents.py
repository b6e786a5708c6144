"""`interplay judge list-agents|approve|decline|withdraw|restore`: which agents judges are shown."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interplay.cli.common import (
    DEFAULT_DATA,
    DatabaseOption,
    DataOption,
    JsonOption,
    emit,
    known_task,
    open_archive,
    place_options,
    table,
)
from interplay.wording import amount

if TYPE_CHECKING:
    from interplay.judge.entrants.roster import Verb
    from interplay.store import Entrant

app = typer.Typer(add_completion=False)

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
    """Let an agent that waits, or was declined, into matchmaking.

    Try:  interplay judge approve team-red-v2
    """
    _change(data, database, name, task, "approve", "approved", as_json)


@app.command()
def decline(
    name: NameArgument,
    reason: Annotated[str, typer.Option("--reason", help="The proposer of the agent sees it.")],
    task: TaskOption = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Refuse an agent that waits; what it brought is kept.

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
    """Change an entrant's state and say what it is now.

    Raises:
        NotFoundError: If nobody has this name, or they are not in this task; with the nearest.
    """
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
