"""`interplay episodes release` and `interplay episodes query save | list | show`: releases and citable lists."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from interplay.cli.options import DEFAULT_DATA, DatabaseOption, DataOption, known_task, open_archive, place_options
from interplay.cli.output import JsonOption, emit, table
from interplay.wording import amount

query = typer.Typer(
    help="Lists of episodes that a paper can cite.  Try:  interplay episodes query save good --where 'score >= 20'",
    no_args_is_help=True,
)

LabelArgument = Annotated[str, typer.Argument(metavar="NAME@VERSION", help="A saved query; default: its newest version.")]


def release(
    who: Annotated[
        str | None,
        typer.Argument(metavar="[WHO]", help="A person such as participant-7, or open-play for all games outside studies."),
    ] = None,
    allow: Annotated[bool, typer.Option("--allow", help="Allow the release of these games.")] = False,
    withhold: Annotated[bool, typer.Option("--withhold", help="Forbid the release of these games.")] = False,
    note: Annotated[str, typer.Option(help="Reason or source of the decision; stored with it.")] = "",
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how many episodes may be released, and all decisions; or store a new decision.

    A decision about a person overrides everything else, also the person's answer in a study. Games outside studies are not
    released unless `open-play` is allowed; allow it only if your players knew that.

    Try:  interplay episodes release participant-7 --withhold --note 'e-mail of 3 May'
    """
    from interplay.record.exchange.queries import Queries

    if allow and withhold:
        raise typer.BadParameter("give either --allow or --withhold")
    if (who is None) == (allow or withhold):
        raise typer.BadParameter("name somebody and a decision, as in:  participant-7 --withhold; or neither, to list all")
    queries = Queries(open_archive(data, database, must_exist=True))
    if who is not None:
        queries.choose(who, may_release=allow, note=note)
    counts, choices = queries.counts(), queries.choices()
    document = {"episodes": counts._asdict(), "choices": choices}
    lines = [
        f"{amount(counts.without_people, 'episode')} without people may be released.",
        f"{amount(counts.agreed, 'episode')} with people may be released.",
        f"{amount(counts.withheld, 'episode is', 'episodes are')} withheld: somebody who played did not agree.",
    ]
    rows = [
        (one.who, "may be released" if one.may_release else "are withheld", f"{one.created_at:%Y-%m-%d %H:%M}", one.note)
        for one in choices
    ]
    decided = ["", table(["who", "their games", "decided (UTC)", "note"], rows)] if rows else []
    emit(document, as_json=as_json, text=[*lines, *decided])


@query.command()
def save(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the query: small letters, digits, - and _.")],
    task: Annotated[str | None, typer.Option(help="Every episode of this task.")] = None,
    where: Annotated[
        list[str] | None, typer.Option(help="Condition on episodes, e.g. 'score >= 200'; may be repeated.")
    ] = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Save the list of episodes that meet the conditions now and may be released, with the hash of each file. Saving other
    episodes under the same name makes a new version; a version never changes.

    Try:  interplay episodes query save good_games --task atari/breakout --where 'score >= 20'
    """
    from interplay.record.exchange.queries import Queries

    archive = open_archive(data, database, must_exist=True)
    saved, is_new, num_withheld = Queries(archive).save(name, task=known_task(archive, task), where=where or [])
    lines = [
        f"{'Saved' if is_new else 'There already:'} {saved.label}: {amount(saved.num_episodes, 'episode')}",
        f"sha256 {saved.sha256}",
    ]
    if num_withheld:
        lines.append(f"{num_withheld:,} more fit, but are left out: somebody in them did not agree to a release.")
    place = place_options(data, database)
    lines.append(f"Write them:  interplay episodes export --query {saved.label} --format hugging-face --out data-set{place}")
    emit(_document(saved) | {"is_new": is_new, "num_withheld": num_withheld}, as_json=as_json, text="\n".join(lines))


@query.command("list")
def list_queries(data: DataOption = DEFAULT_DATA, database: DatabaseOption = None, as_json: JsonOption = False) -> None:
    """List every version of every saved query."""
    from interplay.record.exchange.queries import Queries

    found = Queries(open_archive(data, database, must_exist=True)).all()
    rows = [(one.label, one.num_episodes, f"{one.created_at:%Y-%m-%d %H:%M}", one.sha256[:16], _asked(one)) for one in found]
    emit(
        [_document(one) for one in found],
        as_json=as_json,
        text=table(["query", "#episodes", "saved (UTC)", "sha256", "asked for"], rows) if rows else "No query is saved yet.",
    )


@query.command()
def show(
    label: LabelArgument, data: DataOption = DEFAULT_DATA, database: DatabaseOption = None, as_json: JsonOption = False
) -> None:
    """Show the episodes of a saved query, and what has changed since it was saved; exit 1 if anything has."""
    from interplay.record.exchange.queries import Queries

    queries = Queries(open_archive(data, database, must_exist=True))
    saved = queries.find(label)
    episodes, changed = queries.episodes(saved), queries.changed(saved)
    lines = [
        f"{saved.label}: {amount(saved.num_episodes, 'episode')}, saved {saved.created_at:%Y-%m-%d %H:%M} UTC",
        f"sha256 {saved.sha256}",
        f"asked for: {_asked(saved)}",
        "",
    ]
    lines += [f"{name}  {sha256}" for name, sha256 in episodes.items()]
    lines += [f"CHANGED {name}: {reason}" for name, reason in changed.items()]
    lines += [] if changed else ["", "Every episode is here as it was."]
    emit(_document(saved) | {"episodes": episodes, "changed": changed}, as_json=as_json, text="\n".join(lines))
    if changed:
        raise typer.Exit(1)


def _asked(saved: Any) -> str:
    return " and ".join([*([saved.task] if saved.task else []), *saved.where]) or "everything"


def _document(saved: Any) -> dict[str, Any]:
    return {
        "name": saved.name,
        "version": saved.version,
        "task": saved.task,
        "where": list(saved.where),
        "sha256": saved.sha256,
        "num_episodes": saved.num_episodes,
        "created_at": saved.created_at,
    }
