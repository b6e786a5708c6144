"""`interplay judge token create|list|revoke`: tokens with which programs propose agents, judge or read over HTTP."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interplay.cli.options import DEFAULT_DATA, DatabaseOption, DataOption, misuse, open_archive, place_options
from interplay.cli.output import JsonOption, emit, table

if TYPE_CHECKING:
    from interplay.store import ApiToken

app = typer.Typer(add_completion=False)
_token = typer.Typer(no_args_is_help=True, add_completion=False, help="Tokens for programs: create, list, revoke.")
app.add_typer(_token, name="token")


@_token.command("create")
def create(
    name: Annotated[str, typer.Argument(help="Name of its holder, such as a team.")],
    scope: Annotated[
        str, typer.Option(help="agents: propose agents and upload their videos; judge: judge under this name; read: read only.")
    ],
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a token and show it, once.

    Try:  interplay judge token create team-red --scope agents
    """
    from interplay.judge.entrants.api_tokens import ApiTokens, check_token

    with misuse():
        check_token(name, scope)
    with closing(open_archive(data, database)) as archive:
        token = ApiTokens(archive.database).create(name, scope)
    emit(
        {"name": name, "scope": scope, "token": token},
        as_json=as_json,
        text=f"{token}\n\nKeep it now: only its digest is stored. It is sent as\n  Authorization: Bearer {token}\n"
        f"To take it back:  interplay judge token revoke {name}{place_options(data, database)}",
    )


@_token.command("list")
def list_tokens(data: DataOption = DEFAULT_DATA, database: DatabaseOption = None, as_json: JsonOption = False) -> None:
    """List the tokens that were made, without showing any."""
    from interplay.judge.entrants.api_tokens import ApiTokens

    with closing(open_archive(data, database, must_exist=True)) as archive:
        known = [_document(row) for row in ApiTokens(archive.database).all()]
    rows = [(row["name"], row["scope"], row["created_at"][:10], (row["revoked_at"] or "")[:10] or "no") for row in known]
    none = f"No tokens yet: interplay judge token create NAME{place_options(data, database)}"
    text = table(["name", "scope", "made", "revoked"], rows) if rows else none
    emit(known, as_json=as_json, text=text)


@_token.command("revoke")
def revoke(
    name: Annotated[str, typer.Argument(help="The token's name.")],
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take a token back; agents it brought stay.

    Try:  interplay judge token revoke team-red
    """
    from interplay.judge.entrants.api_tokens import ApiTokens

    with closing(open_archive(data, database, must_exist=True)) as archive:
        changed = ApiTokens(archive.database).revoke(name)
    text = f"The token {name} opens nothing any more." if changed else f"The token {name} was revoked before."
    emit({"name": name, "revoked": True, "changed": changed}, as_json=as_json, text=text)


def _document(row: ApiToken) -> dict[str, Any]:
    return {
        "name": row.name,
        "scope": row.scope,
        "created_at": row.created_at.isoformat(),
        "revoked_at": row.revoked_at and row.revoked_at.isoformat(),
    }
