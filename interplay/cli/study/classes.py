"""`interplay study class open | list | show | close | forget`: classes with one code and no accounts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interplay.cli.options import DEFAULT_DATA, DatabaseOption, DataOption, open_archive, place_options, suites_with
from interplay.cli.output import JsonOption, emit, table
from interplay.cli.study.common import NO_SERVER, AddressOption, local_address
from interplay.errors import unknown_name
from interplay.wording import amount

if TYPE_CHECKING:
    from interplay.study.classes import Classes, Pupil, SchoolClass

app = typer.Typer(
    no_args_is_help=True, help='Classes: one code, nicknames, no accounts.  Try:  interplay study class open "Class 9b"'
)

CodeArgument = Annotated[str, typer.Argument(metavar="CODE", help="Code of the class, with its dash or without.")]
SuiteOption = Annotated[list[Path] | None, typer.Option("--suite", help="A file with tasks of the class; may be repeated.")]


@app.command("open")
def open_class(
    title: Annotated[str, typer.Argument(help="Name of the class, as pupils see it.")],
    task: Annotated[list[str] | None, typer.Option(help="Task of the class; may be repeated. Default: atari/breakout.")] = None,
    hours: Annotated[float, typer.Option(help="Number of hours for which the code works.")] = 3,
    keep_days: Annotated[int, typer.Option(help="Number of days after the class until its nicknames are erased.")] = 30,
    ask_release: Annotated[
        bool,
        typer.Option(
            "--ask-release", help="Ask pupils if their games may be released in data sets; otherwise no game is released."
        ),
    ] = False,
    hide_scores: Annotated[
        bool, typer.Option("--hide-scores", help="Do not show pupils the best scores of the class.")
    ] = False,
    suite: SuiteOption = None,
    address: AddressOption = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a class: prints the code for pupils and the link for the teacher.

    Try:  interplay study class open "Class 9b" --task atari/breakout --task overcooked/cramped_room
    """
    from interplay.envs.backends import to_install
    from interplay.play.connections.tokens import server_secret
    from interplay.study.classes import ClassError
    from interplay.study.tokens import teacher_key
    from interplay.tasks import index

    known = index(suites_with(suite))
    chosen = task or ["atari/breakout"]
    for one in chosen:
        if one not in known:
            raise unknown_name("task", one, known)
        if not known[one].env.is_playable:
            raise ClassError(f"{one} cannot be played; it has only videos to judge\nRemedy: name another task.")
        if line := to_install(known[one]):
            raise ClassError(f"{one} is not installed here\nInstall it with:  {line}")
    archive = open_archive(data, database)
    local = local_address(archive.root) if address is None else None
    home = (address or local or NO_SERVER).rstrip("/")
    made = _classes(data, database).open(
        title, chosen, hours=hours, keep_days=keep_days, asks_release=ask_release, shows_scores=not hide_scores
    )
    key = teacher_key(server_secret(archive.root), made.code)
    document = _document(made) | {"join": f"{home}/join", "link": f"{home}/join/{made.shown_code}"}
    document["teacher"] = f"{home}/classes/{made.code}?key={key}"
    lines = [
        f"The class {made.title} is open until {made.ends_at:%Y-%m-%d %H:%M} UTC. Its code is  {made.shown_code}",
        f"pupils    {document['link']}",
        f"teacher   {document['teacher']}   (keep it to yourself: anybody who has it can close the class)",
    ]
    if local is not None:
        lines.append("Note: these links work on this machine; for people elsewhere give --address.")
    elif home == NO_SERVER:
        lines.append(f"Note: no server runs on this data folder. Start one:  interplay serve{place_options(data, database)}")
    lines.append(f"Results:  interplay study class show {made.code}{place_options(data, database)}")
    emit(document, as_json=as_json, text="\n".join(lines))


@app.command("list")
def list_classes(data: DataOption = DEFAULT_DATA, database: DatabaseOption = None, as_json: JsonOption = False) -> None:
    """List the classes of this data folder, the newest first.

    Try:  interplay study class list
    """
    classes = _classes(data, database, must_exist=True)
    known = classes.all()
    rows = [
        (
            one.shown_code,
            "open" if one.is_open(classes.now()) else "ended",
            number,
            f"{one.opened_at:%Y-%m-%d %H:%M}",
            one.title,
        )
        for one, number in known
    ]
    text = table(["code", "state", "#pupils", "opened, UTC", "title"], rows) if rows else "There is no class yet."
    emit([_document(one) | {"pupils": number} for one, number in known], as_json=as_json, text=text)


@app.command()
def show(
    code: CodeArgument,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print every game as CSV on standard output.")] = False,
    suite: SuiteOption = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a class: who joined, what they have played, and their best scores.

    Try:  interplay study class show RT3-9CH --csv > class.csv
    """
    from interplay.envs.make import has_score
    from interplay.study.classes.pupils import table_csv
    from interplay.tasks import index

    classes = _classes(data, database, must_exist=True)
    found = classes.get(code)
    pupils = classes.pupils(found)
    tasks = index(suites_with(suite))
    scoreless = [one for one in tasks if not has_score(tasks[one])]
    if as_csv and not as_json:
        print(table_csv(pupils, {one: task.title for one, task in tasks.items()}, scoreless), end="")
        return

    def best(pupil: Pupil, task: str) -> str:
        game = pupil.best(task)
        return "" if game is None else "played" if task in scoreless else f"{game.score:g}"

    rows = [
        (
            pupil.nickname,
            *(best(pupil, task) for task in found.tasks),
            len(pupil.games),
            f"{pupil.played_s / 60:.1f}",
        )
        for pupil in pupils
    ]
    heads = ["pupil", *(f"#{task.rpartition('/')[2]}" for task in found.tasks), "#games", "#minutes"]
    text = table(heads, rows) if rows else f"Nobody has joined {found.title} yet. Its code is {found.shown_code}."
    emit(_document(found) | {"pupils": [_pupil(one) for one in pupils]}, as_json=as_json, text=text)


@app.command()
def close(
    code: CodeArgument, data: DataOption = DEFAULT_DATA, database: DatabaseOption = None, as_json: JsonOption = False
) -> None:
    """Close a class: nobody can join or begin a game any more; games in progress are played to their end.

    Try:  interplay study class close RT3-9CH
    """
    closed = _classes(data, database, must_exist=True).close(code)
    text = f"{closed.title} is closed. Its nicknames are erased on {closed.forgets_at:%Y-%m-%d}."
    emit(_document(closed), as_json=as_json, text=text)


@app.command()
def forget(
    code: CodeArgument, data: DataOption = DEFAULT_DATA, database: DatabaseOption = None, as_json: JsonOption = False
) -> None:
    """Erase now the nicknames of a class that has ended. Its games stay, with numbers instead of names.

    Try:  interplay study class forget RT3-9CH
    """
    number = _classes(data, database, must_exist=True).forget(code)
    emit({"erased": number}, as_json=as_json, text=f"{amount(number, 'nickname')} erased.")


def _classes(data: Path, database: str | None, *, must_exist: bool = False) -> Classes:
    """Return the classes of a data folder; nicknames whose time is over are erased first."""
    from interplay.study.classes import Classes

    classes = Classes(open_archive(data, database, must_exist=must_exist).database)
    classes.forget_due()
    return classes


def _document(one: SchoolClass) -> dict[str, Any]:
    return {
        "code": one.code,
        "title": one.title,
        "tasks": list(one.tasks),
        "opened_at": one.opened_at,
        "ended_at": one.ended_at,
        "forgets_at": one.forgets_at,
        "asks_release": one.asks_release,
        "shows_scores": one.shows_scores,
    }


def _pupil(one: Pupil) -> dict[str, Any]:
    games = [
        {"episode": game.episode, "task": game.task, "at": game.at, "seconds": game.duration_s, "score": game.score,
         "outcome": game.outcome, "seats": game.seats}
        for game in one.games
    ]  # fmt: skip
    return {"nickname": one.nickname, "participant": one.participant, "joined_at": one.joined_at, "games": games}
