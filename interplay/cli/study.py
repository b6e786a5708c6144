"""`interplay study check | open | close | list | show | participants | hit | pay`."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interplay.cli.common import (
    DEFAULT_DATA,
    DatabaseOption,
    DataOption,
    JsonOption,
    emit,
    open_archive,
    place_options,
    suite_options,
    suites_with,
    table,
)
from interplay.cli.study_hit import hit, hit_lines, hits_made
from interplay.cli.study_opened import row_of, version_of
from interplay.cli.study_pay import pay
from interplay.errors import unknown_name

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from interplay.record import Archive
    from interplay.study.definition import Study

app = typer.Typer(
    add_completion=False,
    help="Studies: who takes part, how they come and go, what they are paid.  Try:  interplay study open atari",
    no_args_is_help=True,
)
app.command("hit")(hit)
app.command("pay")(pay)

NameArgument = Annotated[
    str, typer.Argument(metavar="STUDY", help="A study file (my_study.toml), or the id of one that ships.")
]
IdArgument = Annotated[str, typer.Argument(metavar="ID", help="Id of a study that was opened in this data folder.")]
SuiteOption = Annotated[list[Path] | None, typer.Option("--suite", help="A task file the study is about; may be repeated.")]
AddressOption = Annotated[str, typer.Option("--address", help="Where people reach this server, for the links to paste.")]


@app.command()
def check(name: NameArgument, suite: SuiteOption = None, as_json: JsonOption = False) -> None:
    """Check a study file: text, quiz, channels, pay, the rules of judging, and that its tasks exist.

    Example:  interplay study check my_study.toml
    """
    study = _checked(name, suite)
    lines = [f"{name}: {study.title!r}, all good.", *_summary(study)]
    lines.append(f"Open it:  interplay study open {name}{suite_options(suite)}")
    emit(_document(study), as_json=as_json, text="\n".join(lines))


@app.command("open")
def open_study(
    name: NameArgument,
    suite: SuiteOption = None,
    address: AddressOption = "https://YOUR-SERVER",
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let people in; opening a changed file again makes a new version, and those inside keep the one they agreed to.

    Example:  interplay study open my_study.toml --address https://lab.example
    """
    from interplay.store import studies

    study = _checked(name, suite)
    archive = open_archive(data, database)
    _look_for_examples(archive, study)
    with archive.database.write() as session:
        before = studies.study_row(session, study.id)
        same = before is not None and before.content_hash == study.content_hash
        was_open = before is not None and before.closed_at is None
        studies.open_study(
            session, study=study.id, content_hash=study.content_hash, definition=study.to_json(), now=datetime.now(UTC)
        )
        hits = hits_made(session, study.id)
    deed = "is open already" if same and was_open else "is open again" if same else "is open"
    deed += "" if same or before is None else " with a new version"
    links = _links(study, address.rstrip("/"))
    preview = f"{address.rstrip('/')}/judge?study={study.id}&preview=1"
    lines = [f"{study.id} {deed} ({study.content_hash[:12]}).", *(f"{name:9} {link}" for name, link in links.items())]
    lines.append(f"{'preview':9} {preview}   (the form and two videos; nothing is stored)")
    lines += [f"Note on {channel.name}: {channel.notice}" for channel in study.channels.values() if channel.notice]
    if older := sum(one["version"] != study.content_hash for one in hits):
        which = f"{older} HIT{'s' if older > 1 else ''} of other versions"
        lines.append(f"Note: {which} may still be on Mechanical Turk and promise what those say; end them there.")
    lines.append(f"Who came:  interplay study participants {study.id}{place_options(data, database)}")
    document = {"study": study.id, "content_hash": study.content_hash, "links": links, "preview": preview}
    emit(document, as_json=as_json, text="\n".join(lines))


@app.command()
def close(
    study: IdArgument, data: DataOption = DEFAULT_DATA, database: DatabaseOption = None, as_json: JsonOption = False
) -> None:
    """Let nobody in any more; who is inside is sent home with what they did.

    Example:  interplay study close atari
    """
    from interplay.store import studies

    archive = open_archive(data, database, must_exist=True)
    with archive.database.write() as session:
        row_of(session, study, place_options(data, database))
        row = studies.close_study(session, study, datetime.now(UTC))
        assert row is not None
        inside = studies.count_enrolments(session).get(study, {}).get("working", 0)
        is_paid = version_of(session, row.content_hash).pay is not None
    text = f"{study} is closed; {inside} {'person was' if inside == 1 else 'people were'} inside."
    if is_paid:
        text += f"\nTheir pay:  interplay study pay {study}{place_options(data, database)}"
    emit({"study": study, "closed_at": row.closed_at, "inside": inside}, as_json=as_json, text=text)


@app.command("list")
def list_studies(data: DataOption = DEFAULT_DATA, database: DatabaseOption = None, as_json: JsonOption = False) -> None:
    """Studies of this data folder, and those that ship.

    Example:  interplay study list
    """
    from interplay.store import studies
    from interplay.study.definition import builtin_studies

    found: dict[str, dict[str, Any]] = {}
    if data.is_dir() or database:
        with open_archive(data, database).database.read() as session:
            counts = studies.count_enrolments(session)
            for row in studies.study_rows(session):
                state = "open" if row.closed_at is None else "closed"
                people = counts.get(row.id, {})
                title = version_of(session, row.content_hash).title
                found[row.id] = {"id": row.id, "title": title, "state": state, "people": people}
    for study in builtin_studies().values():
        found.setdefault(study.id, {"id": study.id, "title": study.title, "state": "ships, not opened", "people": {}})
    rows = [
        (one["id"], one["state"], sum(one["people"].values()), one["people"].get("done", 0), one["title"])
        for one in found.values()
    ]
    emit(list(found.values()), as_json=as_json, text=table(["study", "state", "#people", "#done", "title"], rows))


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="STUDY", help="Id of a study opened here or shipped, or a study file.")],
    toml: Annotated[bool, typer.Option("--toml", help="The file of a study that ships, to copy and change.")] = False,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a study whole, as it was opened here; or one that ships, or a file.

    Example:  interplay study show basalt --toml > my_study.toml
    """
    import sys

    from interplay.store import studies
    from interplay.study.definition import builtin_text, find_study

    if toml:
        sys.stdout.write(builtin_text(name))
        return
    document: dict[str, Any] = {}
    study = None
    if not name.endswith(".toml") and (data.is_dir() or database):
        with open_archive(data, database).database.read() as session:
            row = studies.study_row(session, name)
            if row is not None:
                study = version_of(session, row.content_hash)
                document = {
                    "opened_at": row.opened_at,
                    "closed_at": row.closed_at,
                    "people": studies.count_enrolments(session).get(name, {}),
                    "versions": [one.content_hash for one in studies.study_versions(session, name)],
                    "hits": hits_made(session, name),
                }
    study = study or find_study(name)
    lines = [f"{study.title}  {study.id}  ({study.content_hash[:12]})", study.summary, "", *study.instructions, ""]
    if document:
        state = "closed" if document["closed_at"] else "open"
        people = ", ".join(f"{count} {outcome}" for outcome, count in document["people"].items()) or "nobody yet"
        lines += [f"state      {state}, versions: {len(document['versions'])}", f"people     {people}"]
        lines += hit_lines(document["hits"])
    emit(_document(study) | document, as_json=as_json, text="\n".join(lines + _summary(study)))


@app.command()
def participants(
    study: IdArgument,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV on standard output.")] = False,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Everybody who agreed to take part, in the order they came.

    Worker and assignment are what the platform calls them; keep such a list to yourself.

    Example:  interplay study participants atari --csv > people.csv
    """
    archive = open_archive(data, database, must_exist=True)
    with archive.database.read() as session:
        row_of(session, study, place_options(data, database))
        rows = _people(session, study)
    if as_csv and not as_json:
        text = io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]) if rows else _COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        print(text.getvalue(), end="")
        return
    shown = ("participant", "channel", "worker", "assignment", "outcome", "#minutes", "#quiz", "#answers", "banned")
    cells = [[_cell(row[name.lstrip("#")]) for name in shown] for row in rows]
    emit(rows, as_json=as_json, text=table(shown, cells) if rows else f"Nobody has agreed to take part in {study} yet.")


_COLUMNS = [
    "enrolment", "participant", "channel", "worker", "assignment", "hit", "version", "arrived_at", "ended_at", "outcome",
    "minutes", "quiz", "attempts", "answers", "banned",
]  # fmt: skip


def _people(session: Session, study: str) -> list[dict[str, Any]]:
    """One row an enrolment; `quiz` is the best share of right boxes, `answers` those given between arriving and the end."""
    from interplay.store import bans, studies
    from interplay.store.participants import judge_name

    banned = bans.banned(session)
    attempts: dict[str, list[Any]] = {}
    for attempt in studies.quiz_attempts_of_study(session, study):
        attempts.setdefault(attempt.enrolment_id, []).append(attempt)
    answers = studies.answers_by_judge(session, study)
    rows = []
    for one in studies.enrolments_of_study(session, study):
        tried = attempts.get(one.id, [])
        given = answers.get(judge_name(one.participant_id), [])
        minutes = None if one.ended_at is None else round((one.ended_at - one.arrived_at).total_seconds() / 60, 2)
        values = (
            one.id, judge_name(one.participant_id), one.channel, one.worker, one.assignment, one.arrival.get("hit", ""),
            one.study_hash[:12], one.arrived_at.isoformat(), one.ended_at and one.ended_at.isoformat(),
            one.outcome or "working", minutes, max((round(attempt.share, 4) for attempt in tried), default=None), len(tried),
            sum(one.arrived_at <= at and (one.ended_at is None or at <= one.ended_at) for at, _ in given),
            judge_name(one.participant_id) in banned,
        )  # fmt: skip
        rows.append(dict(zip(_COLUMNS, values, strict=True)))
    return rows


def _cell(value: Any) -> str:
    return "" if value is None or value is False else "yes" if value is True else str(value)


def _checked(name: str, suite: list[Path] | None) -> Study:
    """A study whose rules can be followed, whose tasks exist, and which fits the HIT it is to be on Mechanical Turk.

    Raises:
        InterplayError: Naming file, key and remedy.
    """
    from interplay.judge import Rules
    from interplay.study.definition import find_study
    from interplay.study.hit_plan import settings_of
    from interplay.tasks import index

    study = find_study(name)
    if "mturk" in study.channels:
        settings_of(study)
    rules = Rules.from_mapping(study.judging, f"{name}: [judging]")
    tasks = index(suites_with(suite))
    for task in rules.tasks or ():
        if task not in tasks:
            raise unknown_name(
                "task", task, tasks, hint=f"It stands in {name}: judging.tasks; a task file is named by --suite."
            )
    return study


def _look_for_examples(archive: Archive, study: Study) -> None:
    """Refuse examples whose videos are not here.

    Raises:
        StudyError: Naming the first.
    """
    from interplay.study import StudyError

    for number, example in enumerate(study.examples):
        path = archive.video_path(example.episode) if example.episode else archive.root / example.file
        if not example.video.startswith("/studies/") or path.is_file():
            continue
        raise StudyError(
            f"examples[{number}]: there is no video {path}\n"
            "Make it first (`interplay episodes export` writes an episode's video), or take the example out."
        )


def _links(study: Study, address: str) -> dict[str, str]:
    """Channel -> what to paste there."""
    from interplay.study.channels import ProlificChannel

    home = study.page(address)
    prolific = study.channels.get("prolific")
    links = dict.fromkeys(study.channels, home)
    if isinstance(prolific, ProlificChannel) and address.startswith("https://"):
        links["prolific"] = prolific.study_url(home)
    return links


def _document(study: Study) -> dict[str, Any]:
    return {"study": study.to_json(), "content_hash": study.content_hash}


def _summary(study: Study) -> list[str]:
    """A few lines that say what a study asks and gives."""
    quiz, wage = study.quiz, study.pay
    count = study.num_answers
    per_visit = "as many comparisons as people like" if count is None else f"{count} comparison{'s' if count > 1 else ''}"
    lines = [f"a visit    {per_visit}, about {study.minutes:g} min", f"channels   {', '.join(study.channels)}"]
    if quiz is not None:
        share = f"{quiz.quiz.pass_share:.0%} of {quiz.quiz.num_boxes} boxes"
        lines.append(f"quiz       {quiz.quiz.id}: {share}, attempts: {quiz.attempts}")
    if wage is not None:
        hourly = wage.hourly_cents(study.minutes) / 100
        target = "" if wage.hourly_target_cents is None else f" (target {wage.hourly_target_cents / 100:.2f})"
        lines.append(f"pay        {wage.reward_cents / 100:.2f} {wage.currency}, {hourly:.2f} an hour at that pace{target}")
        if wage.hourly_target_cents is not None and wage.hourly_cents(study.minutes) < wage.hourly_target_cents:
            lines.append("           that is under the target; `interplay study pay` tops people up")
    consent = study.consent
    text = "none" if consent is None else "a box to tick" if consent.is_required else "shown, no box"
    return [*lines, f"consent    {text}"]
