"""`interplay judge list-agents|approve|decline|withdraw|restore`: which agents judges are shown."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interplay.cli.common import DEFAULT_DATA, DatabaseOption, DataOption, JsonOption, emit, open_archive, place_options, table
from interplay.errors import InterplayError, unknown_name

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from interplay.store import Agent

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
    from interplay.store import agents as store

    with closing(open_archive(data, database, must_exist=True)) as archive, archive.database.read() as session:
        rows = [
            _document(agent, len(store.episodes_of(session, agent.name, agent.task))) for agent in store.agents(session, task)
        ]
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
    from interplay.store import agents as store

    now = datetime.now(UTC)
    _change(
        data, database, name, task, "approved", as_json, lambda session: store.approve(session, name=name, task=task, now=now)
    )


@app.command()
def decline(
    name: NameArgument,
    reason: Annotated[str, typer.Option("--reason", help="Told to whoever proposed it.")],
    task: TaskOption = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Refuse an agent that waits; what it brought is kept.

    Try:  interplay judge decline team-red-v2 --reason "The videos show another task."
    """
    from interplay.store import agents as store

    if not reason.strip():
        raise InterplayError("declining needs a reason\nSay what would have to change:  --reason TEXT")
    now = datetime.now(UTC)
    _change(
        data, database, name, task, "declined", as_json,
        lambda session: store.decline(session, name=name, task=task, reason=reason.strip(), now=now),
    )  # fmt: skip


@app.command()
def withdraw(
    name: NameArgument,
    task: TaskOption = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show an agent to judges no more; its answers stay and count. `restore` brings it back.

    Try:  interplay judge withdraw noop --task atari/breakout
    """
    from interplay.store import agents as store

    now = datetime.now(UTC)
    _change(
        data, database, name, task, "withdrawn", as_json, lambda session: store.withdraw(session, name=name, task=task, now=now)
    )


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
    from interplay.store import agents as store

    _change(data, database, name, task, "restored", as_json, lambda session: store.restore(session, name=name, task=task))


def _change(
    data: Path, database: str | None, name: str, task: str | None, done: str, as_json: bool, change: Callable[[Session], int]
) -> None:
    """Change an agent's state and say what it is now.

    Raises:
        NotFoundError: If no agent has this name, or it is not in this task; with the nearest.
    """
    from interplay.store import agents as store

    with closing(open_archive(data, database, must_exist=True)) as archive:
        with archive.database.write() as session:
            rows = store.agents(session, name=name)
            if not rows:
                known = {agent.name for agent in store.agents(session)}
                hint = f"All agents:  interplay judge list-agents{place_options(data, database)}"
                raise unknown_name("agent", name, known, hint=hint)
            if task is not None and task not in {agent.task for agent in rows}:
                raise unknown_name("task of this agent", task, [agent.task for agent in rows])
            count = change(session)
        with archive.database.read() as session:
            states = {agent.task: store.state(agent) for agent in store.agents(session, task, name=name)}
    what = f"{name} is {done} in {count} task{'' if count == 1 else 's'}." if count else f"Nothing to change for {name}."
    lines = [what, *(f"  {one}: {state}" for one, state in states.items())]
    emit({"agent": name, "changed": count, "states": states}, as_json=as_json, text="\n".join(lines))


def _document(agent: Agent, num_episodes: int) -> dict[str, Any]:
    from interplay.store import agents as store

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
