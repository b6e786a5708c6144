"""`interplay judge ban | unban | bans | judges`: banned judges, and signs of careless judging.
`interplay judge token`: tokens with which programs propose agents, judge or read over HTTP."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interplay.cli.options import DEFAULT_DATA, DatabaseOption, DataOption, misuse, open_archive, place_options
from interplay.cli.output import JsonOption, emit, table
from interplay.errors import InterplayError
from interplay.wording import amount

if TYPE_CHECKING:
    from interplay.store import ApiToken


app = typer.Typer(add_completion=False)

_Judges = Annotated[
    list[str] | None, typer.Argument(metavar="JUDGE...", help="Names of judges as in the log of answers, or worker ids.")
]
_File = Annotated[Path | None, typer.Option("--file", help='A published list of workers: [{"workerId": "A1B2"}, ...].')]
_Dataset = Annotated[str | None, typer.Option("--dataset", help="The workers are those of this imported data set.")]


@app.command()
def ban(
    judges: _Judges = None,
    reason: Annotated[str, typer.Option("--reason", help="Reason; stored with the ban.")] = "",
    file: _File = None,
    dataset: _Dataset = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Stop counting all answers of a judge. The ratings are computed again; nothing is deleted.

    Try:  interplay judge ban participant-7 --reason "the same words every time"
    """
    if not reason.strip() and file is None:
        raise typer.BadParameter(
            'a ban needs its reason, for people who look at it later\nSay it:  --reason "clicked without watching"'
        )
    because = reason.strip() or f"listed in {file.name if file else ''}"
    _change(judges, file, dataset, data, database, as_json, because)


@app.command()
def unban(
    judges: _Judges = None,
    file: _File = None,
    dataset: _Dataset = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count all answers of a banned judge again.

    Try:  interplay judge unban participant-7
    """
    _change(judges, file, dataset, data, database, as_json, None)


def _change(
    judges: list[str] | None, file: Path | None, dataset: str | None, data: Path, database: str | None, as_json: bool,
    reason: str | None,
) -> None:  # fmt: skip
    """Ban (with a reason) or unban all named judges, or nobody if a name is unknown.
    Print how many workers of the file have given no answers here."""
    from interplay.judge.bans import Bans, read_banned

    if not judges and file is None:
        hint = f"Name judges, or a file with --file; all judges:  interplay judge judges{place_options(data, database)}"
        raise typer.BadParameter(f"no judge is named\n{hint}")
    listed = [] if file is None else read_banned(file)
    with closing(open_archive(data, database, must_exist=True)) as archive:
        bans = Bans(archive.database)
        if reason is None:
            change = bans.unban(judges or (), listed=listed, dataset=dataset)
        else:
            change = bans.ban(judges or (), reason, listed=listed, dataset=dataset)
    done, idle = ("unbanned", "not banned") if reason is None else ("banned", "banned already")
    num_answers = sum(change.changed.values())
    lines = [f"{done} {name}: {amount(count, 'answer')}" for name, count in change.changed.items()]
    lines += [f"{idle}: {name}" for name in change.unchanged]
    if change.unseen:
        lines.append(f"{len(change.unseen)} of {len(listed)} workers of {file} have given no answers here")
    lines.append(f"Ratings are computed anew at the next look:  interplay rank{place_options(data, database)}")
    document = {done: list(change.changed), "unchanged": change.unchanged, "unseen": change.unseen, "num_answers": num_answers}
    emit(document, as_json=as_json, text="\n".join(lines))


@app.command()
def bans(
    everything: Annotated[bool, typer.Option("--all", help="Show lifted bans, too.")] = False,
    export: Annotated[Path | None, typer.Option("--export", help="Write the list in the published format.")] = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the judges whose answers do not count, since when and why.

    Try:  interplay judge bans --export banned_workers.json
    """
    from interplay.judge.bans import Bans, banned_document

    with closing(open_archive(data, database, must_exist=True)) as archive:
        found = Bans(archive.database).all(lifted=everything)
    document = [
        {
            "judge": one.ban.judge,
            "workerId": one.worker,
            "reason": one.ban.reason,
            "created_at": one.ban.created_at,
            "lifted_at": one.ban.lifted_at,
            "num_answers": one.num_answers,
        }
        for one in found
    ]
    if export is not None:
        text = banned_document(entry["workerId"] for entry in document if entry["lifted_at"] is None)
        try:
            export.write_text(text, encoding="utf-8")
        except OSError as error:
            raise InterplayError(
                f"cannot write {export}: {error.strerror or error}\nName a file in a folder that exists and is yours."
            ) from error
    shown = [
        (entry["judge"], f"{entry['created_at']:%Y-%m-%d}", entry["num_answers"], entry["reason"],
         f"{entry['lifted_at']:%Y-%m-%d}" if entry["lifted_at"] else "")
        for entry in document
    ]  # fmt: skip
    nobody = f"Nobody is banned.\nJudges with failed checks:  interplay judge judges{place_options(data, database)}"
    listed: Any = table(["judge", "since", "#answers", "reason", "lifted"], shown) if shown else nobody
    emit(document, as_json=as_json, text=[listed, None if export is None else f"Wrote {export}."])


@app.command()
def judges(
    study: Annotated[str | None, typer.Option("--study", help="Only answers given in this study.")] = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how carefully each judge worked: checks passed, repeated pairs answered the same way, sides, time.

    Try:  interplay judge judges --study basalt
    """
    import numpy as np

    from interplay.judge import Judging

    with closing(open_archive(data, database, must_exist=True)) as archive:
        summaries = Judging(archive, rng=np.random.default_rng(0)).judges(study)

    def share(value: float | None) -> str:
        return "" if value is None else f"{value:.0%}"

    headers = ["judge", "kind", "#answers", "#checks passed", "#repeats alike", "#left", "#median s", "#at the minimum", ""]
    rows = [
        (
            one.judge,
            one.kind,
            one.num_answers,
            f"{one.attention_passed} / {one.num_attention}" if one.num_attention else "",
            f"{one.repeats_consistent} / {one.num_repeats}" if one.num_repeats else "",
            share(one.left_share),
            "" if one.median_duration_s is None else f"{one.median_duration_s:.0f}",
            share(one.minimum_time_share),
            "banned" if one.is_banned else "",
        )
        for one in summaries
    ]
    text = table(headers, rows) if rows else "Nobody has judged yet."
    emit([asdict(one) for one in summaries], as_json=as_json, text=text)


token_app = typer.Typer(no_args_is_help=True, add_completion=False, help="Tokens for programs: create, list, revoke.")


@token_app.command("create")
def create(
    name: Annotated[str, typer.Argument(help="Name of the token's holder, such as a team.")],
    scope: Annotated[
        str, typer.Option(help="agents: propose agents and upload their videos; judge: judge under this name; read: read only.")
    ],
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a token and show it; it cannot be shown again.

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


@token_app.command("list")
def list_tokens(data: DataOption = DEFAULT_DATA, database: DatabaseOption = None, as_json: JsonOption = False) -> None:
    """List all tokens by their names; the secret tokens themselves are not shown."""
    from interplay.judge.entrants.api_tokens import ApiTokens

    with closing(open_archive(data, database, must_exist=True)) as archive:
        known = [_document(row) for row in ApiTokens(archive.database).all()]
    rows = [(row["name"], row["scope"], row["created_at"][:10], (row["revoked_at"] or "")[:10] or "no") for row in known]
    none = f"No tokens yet: interplay judge token create NAME{place_options(data, database)}"
    text = table(["name", "scope", "made", "revoked"], rows) if rows else none
    emit(known, as_json=as_json, text=text)


@token_app.command("revoke")
def revoke(
    name: Annotated[str, typer.Argument(help="The token's name.")],
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Revoke a token; agents that were proposed with it stay.

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
