"""`interplay agents list`."""

from __future__ import annotations

import typer

from interplay.cli.common import DEFAULT_DATA, DatabaseOption, DataOption, JsonOption, emit, open_archive, table

app = typer.Typer(add_completion=False, help="What can act.  Try:  interplay agents list", no_args_is_help=True)


@app.callback()
def agents() -> None:
    """What can act.  Try:  interplay agents list"""


@app.command("list")
def list_agents(data: DataOption = DEFAULT_DATA, database: DatabaseOption = None, as_json: JsonOption = False) -> None:
    """List the built-in agents and the trained policies of the data folder."""
    from interplay.agents import names

    # Without a data folder there are the built-in ones; a mistyped name makes no folder.
    known = names(open_archive(data, database) if data.is_dir() or database else None)
    emit(
        [agent._asdict() for agent in known],
        as_json=as_json,
        text=table(["agent", "kind", "what it does"], [(agent.name, agent.kind, agent.description) for agent in known]),
    )
