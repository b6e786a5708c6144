"""`interplay cluster status | drain | resume`: the servers of a database, and the games that each holds."""

from __future__ import annotations

from typing import Annotated

import typer

from interplay.cli.options import DEFAULT_DATA, DatabaseOption, DataOption, open_archive, place_options
from interplay.cli.output import JsonOption, emit, table

app = typer.Typer(help="Several servers on one database.  Try:  interplay cluster status", no_args_is_help=True)
NodeArgument = Annotated[str, typer.Argument(metavar="NODE", help="Name of the server, as in `interplay serve --node`.")]


@app.command()
def status(data: DataOption = DEFAULT_DATA, database: DatabaseOption = None, as_json: JsonOption = False) -> None:
    """List the servers with a name that use this database, and how many games each holds.

    Try:  interplay cluster status --database postgresql+psycopg://interplay@db.lab.example/interplay
    """
    from interplay.play.nodes.servers import servers

    found = servers(open_archive(data, database, must_exist=True).database)
    rows = [
        (
            node.node,
            "takes no new games" if node.is_alive and node.is_draining else "runs" if node.is_alive else "is gone",
            node.num_games,
            node.version,
            f"{node.seen_s:.1f}",
        )
        for node in found
    ]
    text = table(["server", "state", "#games", "version", "#seen s ago"], rows) if rows else "No server with a name runs."
    emit({"nodes": [node._asdict() for node in found]}, as_json=as_json, text=text)


@app.command()
def drain(
    node: NodeArgument, data: DataOption = DEFAULT_DATA, database: DatabaseOption = None, as_json: JsonOption = False
) -> None:
    """Let a server give its games to the other servers of its cluster, and take no new ones. Players continue there after
    about a second; no step is lost. Then stop the server.

    Try:  interplay cluster drain node-1
    """
    from interplay.play.nodes.servers import set_draining

    set_draining(open_archive(data, database, must_exist=True).database, node, is_draining=True)
    place = place_options(data, database)
    text = f"{node} gives its games away. To see how many are left:  interplay cluster status{place}"
    emit({"node": node, "is_draining": True}, as_json=as_json, text=text)


@app.command()
def resume(
    node: NodeArgument, data: DataOption = DEFAULT_DATA, database: DatabaseOption = None, as_json: JsonOption = False
) -> None:
    """Let a server take new games again.

    Try:  interplay cluster resume node-1
    """
    from interplay.play.nodes.servers import set_draining

    set_draining(open_archive(data, database, must_exist=True).database, node, is_draining=False)
    emit({"node": node, "is_draining": False}, as_json=as_json, text=f"{node} takes new games.")
