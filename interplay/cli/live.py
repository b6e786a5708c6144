"""`interplay live list | pause | resume | drain`: the games on a running server, and the pause of new games."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from interplay.cli.cluster import drain
from interplay.cli.options import DEFAULT_DATA, DatabaseOption, DataOption, open_archive, place_options
from interplay.cli.output import JsonOption, emit, table
from interplay.cli.study.common import local_address

app = typer.Typer(help="Games that are played now.  Try:  interplay live list", no_args_is_help=True)
app.command()(drain)


@app.command("list")
def list_games(
    address: Annotated[
        str | None, typer.Option("--address", metavar="URL", help="Address of another server; default: the server of --data.")
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(envvar="INTERPLAY_TOKEN", help="The operator's token of that server; default: the token in --data."),
    ] = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the games that are played now or wait for players, with who sits where.

    Try:  interplay live list --json
    """
    from interplay.play.client import live_now
    from interplay.play.connections.tokens import operator_token

    archive = open_archive(data, database, must_exist=True)
    server = address or local_address(archive.root)
    if server is None:
        raise typer.BadParameter(f"no server runs on {data}; start one, or name another with --address and --token")
    found = live_now(server, token or operator_token(archive.root))
    rows = [
        (
            game["number"],
            game["task"],
            seat["seat"],
            seat["who"] or "open",
            seat["state"] if game["state"] == "playing" else game["state"],
            f"{seat['held_s']:.0f}",
            *("-" if seat[name] is None else f"{seat[name]:g}" for name in ("score", "rate_hz", "input_ms")),
        )
        for game in found["games"]
        for seat in game["seats"]
    ]
    text: Any = table(["#game", "task", "seat", "who", "state", "#since s", "#score", "#steps/s", "#input ms"], rows)
    if not rows:
        text = "Nobody plays just now."
    if found["paused"] is not None:
        paused = f"New games are paused: {found['paused']}" if found["paused"] else "New games are paused."
        text = f"{paused}\n{text}" if isinstance(text, str) else text
    emit(found, as_json=as_json, text=text)


@app.command()
def pause(
    note: Annotated[str, typer.Option(help="Text that people read during the pause, such as when you will be back.")] = "",
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Pause new games on this data folder's server; games in progress continue.

    Try:  interplay live pause --note "We are back at 14:00 UTC."
    """
    from interplay.study.pauses import Pauses

    Pauses(open_archive(data, database, must_exist=True).database).pause(note=note)
    text = f"No new game begins. To continue:  interplay live resume{place_options(data, database)}"
    emit({"paused": True, "note": note}, as_json=as_json, text=text)


@app.command()
def resume(data: DataOption = DEFAULT_DATA, database: DatabaseOption = None, as_json: JsonOption = False) -> None:
    """Let new games begin again.

    Try:  interplay live resume
    """
    from interplay.study.pauses import Pauses

    Pauses(open_archive(data, database, must_exist=True).database).resume()
    emit({"paused": False}, as_json=as_json, text="New games may begin.")
