"""`interplay study`: check, open, close and show studies, and list their participants."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interplay.cli.options import (
    DEFAULT_DATA,
    DatabaseOption,
    DataOption,
    is_data_folder,
    open_archive,
    place_options,
    suite_options,
    suites_with,
)
from interplay.cli.output import JsonOption, emit, table
from interplay.cli.study.common import NO_SERVER, AddressOption, local_address, opened_place, print_csv
from interplay.cli.study.hit import hit_lines
from interplay.errors import unknown_name
from interplay.wording import amount

if TYPE_CHECKING:
    from interplay.record import Archive
    from interplay.store.judging import NewSegment
    from interplay.study.definition import Study
    from interplay.study.play.variants import PlayPart
    from interplay.study.review.part import ReviewPart
    from interplay.tasks import Task

app = typer.Typer()

NameArgument = Annotated[
    str, typer.Argument(metavar="STUDY", help="A study file (my_study.toml), or the id of a built-in study.")
]
IdArgument = Annotated[str, typer.Argument(metavar="ID", help="Id of a study that was opened in this data folder.")]
SuiteOption = Annotated[list[Path] | None, typer.Option("--suite", help="A file with tasks of the study; may be repeated.")]


ContactOption = Annotated[
    str | None, typer.Option("--contact", help="Contact that participants are shown; replaces the contact in the file.")
]
EthicsOption = Annotated[
    str | None,
    typer.Option("--ethics", help="Reference of the ethics board, if there is one; replaces the reference in the file."),
]
_NOBODY = "the people who run this server"
"""Contact in the files of shipped studies; it names nobody, so it is refused."""


@app.command()
def check(
    name: NameArgument,
    suite: SuiteOption = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    contact: ContactOption = None,
    ethics: EthicsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check a study file for everything that `study open` would refuse: texts, quiz, pay, rules, tasks, agents, examples.

    Agents, examples and games are looked for in the data folder. If there is no data folder yet, segments are not checked.

    Try:  interplay study check my_study.toml
    """
    import interplay.record
    from interplay.judge.serving.access import judges_at_once

    study = _checked(name, suite, contact, ethics)
    is_there = bool(database) or is_data_folder(data)
    with TemporaryDirectory() as new:  # a command that only looks makes no data folder
        archive = interplay.record.open(data if is_data_folder(data) else Path(new), database=database)
        _look_for_examples(archive, study, data)
        _look_for_agents(archive, study.play)
        if is_there:
            _segments(archive, study, suite)
        judges = judges_at_once(archive.database, suites_with(suite), study.kind, study.judging) if is_there else None
        archive.close()
    lines = [f"{name}: {study.title!r}, all good.", *_summary(study), *_judges_lines(study, judges)]
    given = "".join(f" --{key} {shlex.quote(text)}" for key, text in (("contact", contact), ("ethics", ethics)) if text)
    lines.append(f"Open it:  interplay study open {name}{suite_options(suite)}{given}{place_options(data, database)}")
    emit(_document(study) | {"judges_at_once": judges}, as_json=as_json, text="\n".join(lines))


@app.command("open")
def open_study(
    name: NameArgument,
    suite: SuiteOption = None,
    contact: ContactOption = None,
    ethics: EthicsOption = None,
    address: AddressOption = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Open a study to participants. A changed file becomes a new version; people keep the version they agreed to.

    Try:  interplay study open my_study.toml --address https://lab.example
    """
    from interplay.judge import Rules
    from interplay.judge.segments.studies import SegmentStudies
    from interplay.judge.serving.access import judges_at_once
    from interplay.study.mturk.hits import Hits
    from interplay.study.studies import Studies

    study = _checked(name, suite, contact, ethics)
    archive = open_archive(data, database)
    local = local_address(archive.root) if address is None else None
    address = address or local or NO_SERVER
    _look_for_examples(archive, study, data)
    _look_for_agents(archive, study.play)
    drawn = _segments(archive, study, suite)
    part = Rules.from_mapping(study.judging).segments
    before = Studies(archive.database).open(study)
    num_segments = 0 if part is None else SegmentStudies(archive).keep(study.id, study.content_hash, drawn)
    same = before is not None and before.study.content_hash == study.content_hash
    deed = "is open" if before is None or not same else "is open already" if before.is_open else "is open again"
    deed += "" if same or before is None else " with a new version"
    links = _links(study, address.rstrip("/"))
    preview = f"{address.rstrip('/')}/judge?study={study.id}&preview=1" if study.kind == "comparisons" else None
    lines = [f"{study.id} {deed} ({study.content_hash[:12]})."]
    for name, link in links.items():
        notice = study.channels[name].notice
        lines += [f"{name:9} {link}", *([f"{'':9} {notice}"] if notice else [])]
    if preview is not None:
        lines.append(f"{'preview':9} {preview}   (the form and two videos; nothing is stored)")
    if part is not None:
        lines.append(f"It compares {amount(num_segments, 'segment')} of {part.task}.")
    judges = judges_at_once(archive.database, suites_with(suite), study.kind, study.judging)
    lines += _judges_lines(study, judges)
    if study.review is not None and (unproved := _unproved(archive, study.review)):
        lines.append(
            f"Note: no proof is recorded here of {amount(len(unproved), 'instance')}, such as {unproved[0]}. Make it:  "
            f"interplay explore prove FILE{place_options(data, database)}"
        )
    if older := sum(one.version != study.content_hash for one in Hits(archive.database).made(study.id)):
        which = f"{amount(older, 'HIT')} of other versions"
        lines.append(f"Note: {which} may still be on Mechanical Turk, with the old texts; end them there.")
    if local is not None:
        lines.append("Note: these links work on this machine; for people elsewhere give --address.")
    elif address == NO_SERVER:
        lines.append(f"Note: no server runs on this data folder. Start one:  interplay serve{place_options(data, database)}")
    lines.append(f"Participants:  interplay study participants {study.id}{place_options(data, database)}")
    document: dict[str, Any] = {"study": study.id, "content_hash": study.content_hash, "links": links, "preview": preview}
    document["judges_at_once"] = judges
    if part is not None:
        document["segments"] = num_segments
    emit(document, as_json=as_json, text="\n".join(lines))


@app.command()
def close(
    study: IdArgument, data: DataOption = DEFAULT_DATA, database: DatabaseOption = None, as_json: JsonOption = False
) -> None:
    """Close the study to new participants; current participants finish what they have begun, and then end early.

    Try:  interplay study close atari
    """
    from interplay.study.money.raffle import has_addresses
    from interplay.study.studies import Studies

    archive, hint = opened_place(data, database)
    closed, inside = Studies(archive.database).close(study, hint=hint)
    text = f"{study} is closed; {amount(inside, 'person was', 'people were')} taking part."
    if has_addresses(closed):
        text += f"\nDraw the winners:  interplay study raffle {study}{place_options(data, database)}"
    elif closed.study.pay is not None:
        text += f"\nPay them:  interplay study pay {study}{place_options(data, database)}"
    emit({"study": study, "closed_at": closed.closed_at, "inside": inside}, as_json=as_json, text=text)


@app.command("list")
def list_studies(data: DataOption = DEFAULT_DATA, database: DatabaseOption = None, as_json: JsonOption = False) -> None:
    """List the studies of this data folder, and the built-in ones.

    Try:  interplay study list
    """
    from interplay.study.definition import builtin_studies
    from interplay.study.studies import Studies

    found: dict[str, dict[str, Any]] = {}
    if data.is_dir() or database:
        studies = Studies(open_archive(data, database, must_exist=True).database)
        counts = studies.counts()
        for one in studies.all():
            study, state = one.study, "open" if one.is_open else "closed"
            found[study.id] = {"id": study.id, "title": study.title, "state": state, "people": counts.get(study.id, {})}
    for study in builtin_studies().values():
        found.setdefault(study.id, {"id": study.id, "title": study.title, "state": "ships, not opened", "people": {}})
    rows = [
        (row["id"], row["state"], sum(row["people"].values()), row["people"].get("done", 0), row["title"])
        for row in found.values()
    ]
    emit(list(found.values()), as_json=as_json, text=table(["study", "state", "#people", "#done", "title"], rows))


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="STUDY", help="Id of an opened or built-in study, or a study file.")],
    toml: Annotated[bool, typer.Option("--toml", help="Print the file of a built-in study, to copy and change.")] = False,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show everything about a study: one that was opened here, a built-in one, or a file.

    Try:  interplay study show basalt --toml > my_study.toml
    """
    import sys

    from interplay.study.definition import builtin_text, find_study
    from interplay.study.mturk.hits import Hits
    from interplay.study.studies import Studies

    if toml:
        sys.stdout.write(builtin_text(name))
        return
    document: dict[str, Any] = {}
    study = None
    if not name.endswith(".toml") and (data.is_dir() or database):
        archive = open_archive(data, database, must_exist=True)
        studies = Studies(archive.database)
        if (opened := studies.find(name)) is not None:
            study = opened.study
            document = {
                "opened_at": opened.opened_at,
                "closed_at": opened.closed_at,
                "people": studies.counts().get(name, {}),
                "versions": studies.versions(name),
                "hits": Hits(archive.database).made(name),
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
    """List everybody who agreed to take part, in the order they came.

    The list holds people's ids on their platform: keep it private.

    Try:  interplay study participants atari --csv > people.csv
    """
    from interplay.study.studies import Part, Studies

    archive, hint = opened_place(data, database)
    studies = Studies(archive.database)
    studies.get(study, hint=hint)
    rows = [
        asdict(one)
        | {"arrived_at": one.arrived_at.isoformat(), "ended_at": None if one.ended_at is None else one.ended_at.isoformat()}
        for one in studies.parts(study)
    ]
    if as_csv and not as_json:
        print_csv([field.name for field in fields(Part)], rows)
        return
    is_play = any(row["variant"] for row in rows)
    work = ("enrolment", "variant", "#accepted_min") if is_play else ("#answers",)
    shown = ("participant", "channel", "worker", "assignment", "outcome", "#minutes", "#quiz", *work, "banned")
    cells = [[_cell(row[name.lstrip("#")]) for name in shown] for row in rows]
    emit(rows, as_json=as_json, text=table(shown, cells) if rows else f"Nobody has agreed to take part in {study} yet.")


def _cell(value: Any) -> str:
    return "" if value is None or value is False else "yes" if value is True else str(value)


def _checked(name: str, suite: list[Path] | None, contact: str | None, ethics: str | None) -> Study:
    """Return a study that can be opened; an InterplayError names file, key and remedy.
    It has a contact, known tasks and rules that can be followed, and its texts fit the HIT on Mechanical Turk."""
    from interplay.envs.backends import to_install
    from interplay.explore.instance import parse
    from interplay.judge import Rules
    from interplay.judge.segments.studies import check_segments
    from interplay.study import StudyError
    from interplay.study.definition import check_texts, find_study
    from interplay.study.mturk.plan import settings_of
    from interplay.tasks import index

    study = find_study(name).answered_by(contact, ethics)
    check_texts(name, study.document)
    if "mturk" in study.channels:
        settings_of(study)
    tasks = index(suites_with(suite))
    named: dict[str, str] = {}
    segments = None
    if study.review is not None:
        for instance, document in study.review.instances.items():
            parse(document, source=f"{name}: review.instances: {instance}")
    elif study.play is None:
        rules = Rules.from_mapping(study.judging, f"{name}: [judging]")
        segments = rules.segments
        named = (
            dict.fromkeys(rules.tasks or (), "judging.tasks") if segments is None else {segments.task: "judging.segments.task"}
        )
    else:
        named = {variant.task: f"variants[{place}].task" for place, variant in enumerate(study.play.variants)}
    for task, where in named.items():
        if task not in tasks:
            hint = f"It stands in {name}: {where}; a task file is named by --suite."
            raise StudyError(str(unknown_name("task", task, tasks, hint=hint)))
        if study.play is not None and not tasks[task].env.is_playable:
            raise StudyError(
                f"{name}: {where}: {task} cannot be played; it has only videos to judge\nRemedy: name another task."
            )
        if study.play is not None and (line := to_install(tasks[task])):
            raise StudyError(f"{name}: {where}: {task} is not installed here\nInstall it with:  {line}")
    if segments is not None:
        check_segments(segments, tasks[segments.task])
    if study.play is not None:
        for place, variant in enumerate(study.play.variants):
            names = dict.fromkeys((*variant.treatment.statistics, study.play.accepted))
            _check_statistics(f"variants[{place}] of {name}", names, tasks[variant.task])
            if variant.agents and len(tasks[variant.task].seats) == 1:
                raise StudyError(
                    f"variants[{place}] of {name}: {variant.task} has only one seat, and no seat for {variant.agents[0]!r}\n"
                    "Remedy: leave partner and fallback out."
                )
    if study.contact in ("", _NOBODY):
        example = "Ada Lovelace, ada@lab.example"
        raise StudyError(
            f"{name}: study.contact is missing; people who take part must know whom to ask\n"
            f'Remedy: add contact = "{example}" to [study], and ethics = "..." where an ethics board approved it; or:  '
            f'interplay study check {name} --contact "{example}"'
        )
    return study


def _segments(archive: Archive, study: Study, suite: list[Path] | None) -> list[NewSegment]:
    """Return the segments that a study would compare; raises the errors of `SegmentStudies.draw`."""
    from interplay.judge import Rules
    from interplay.judge.segments.studies import SegmentStudies
    from interplay.tasks import index

    part = Rules.from_mapping(study.judging).segments
    return [] if part is None else SegmentStudies(archive).draw(part, index(suites_with(suite))[part.task], study.content_hash)


def _judges_lines(study: Study, number: int | None) -> list[str]:
    from interplay.study.mturk.plan import settings_of

    if number is None:
        return []
    lines = [f"judges     {number} at the same time: each pair of games is shown to one person at a time"]
    places = settings_of(study).num_assignments if "mturk" in study.channels else 1
    if number < places:
        come = f"the HIT has {places} assignments, and the others are turned away" if number else "nobody can judge yet"
        lines.append(f"Warning: {come}. Add agents, or games of them on more held-out seeds of the task.")
    return lines


def _unproved(archive: Archive, review: ReviewPart) -> list[str]:
    from interplay.explore.instance import parse
    from interplay.explore.results.references import recorded_proof

    return [name for name, one in review.instances.items() if recorded_proof(archive, parse(dict(one))) is None]


def _look_for_agents(archive: Archive, play: PlayPart | None) -> None:
    """Refuse agents that are not in this data folder (NotFoundError for the first, with the nearest name)."""
    from interplay.agents.find import names

    known = [one.name for one in names(archive)]
    for place, variant in enumerate(() if play is None else play.variants):
        for agent in variant.agents:
            if ":" not in agent and agent not in known:
                hint = f"It stands in variants[{place}]. All agents:  interplay agents list    Your own:  module:factory"
                raise unknown_name("agent", agent, known, hint=hint)


def _check_statistics(where: str, names: Iterable[str], task: Task) -> None:
    """Refuse statistics that a task does not measure, and shares, which cannot be added up (StudyError for the first)."""
    from interplay.statistics import defaults, together
    from interplay.study import StudyError
    from interplay.study.play.variants import BUILT_IN

    known, shares = list(BUILT_IN), {}
    for spec in together(defaults(task.env.id, takes_turns=task.takes_turns), task.statistics):
        collector = spec.build()
        statistic = collector.statistic
        counts = [f"{statistic.name}.{count}" for count in collector.count_names]
        known += counts
        if statistic.is_share:
            shares[statistic.name] = counts
        else:
            known.append(statistic.name)
    for one in names:
        if one in shares:
            parts = " and ".join(shares[one])
            raise StudyError(f"{where}: {one} is a share, which cannot be added up over games\nRemedy: name {parts} instead.")
        if one not in known:
            hint = f"It stands in {where}; {task.id} does not measure it."
            raise StudyError(str(unknown_name("statistic", one, known, hint=hint)))


def _look_for_examples(archive: Archive, study: Study, data: Path) -> None:
    """Refuse examples whose videos are not in this data folder (StudyError that names the first)."""
    from interplay.study import StudyError

    for number, example in enumerate(study.examples):
        if not example.video.startswith("/studies/"):
            continue
        path = archive.video_place(example.episode) if example.episode else archive.blobs.path(example.file)
        if archive.has_video(example.episode) if example.episode else path.is_file():
            continue
        raise StudyError(
            f"examples[{number}]: there is no video {data / path.relative_to(archive.root)}\n"
            "Make it first (`interplay episodes export` writes an episode's video), or remove the example."
        )


def _links(study: Study, address: str) -> dict[str, str]:
    from interplay.study.channels import ProlificChannel

    home = study.page(address)
    prolific = study.channels.get("prolific")
    links = dict.fromkeys(study.channels, home)
    if isinstance(prolific, ProlificChannel) and address.startswith("https://"):
        links["prolific"] = prolific.study_url(home)
    return links


def _document(study: Study) -> dict[str, Any]:
    return {"study": study.to_json(), "content_hash": study.content_hash}


def _play_lines(study: Study, play: PlayPart) -> list[str]:
    """Return lines about each variant, the questions about partners, and the pay for waiting for a partner."""
    from interplay.study.incentives import amount

    lines = []
    for variant in play.variants:
        rules = variant.treatment
        asked = ", ".join(
            f"{one.label.lower()} {amount(one.statistic, one.required, is_share=bool(one.out_of))}"
            for one in rules.requirements
        )
        target = "" if variant.target_min is None else f"; target {variant.target_min:g} min"
        money = f"; {rules.reward_cents / 100:.2f} {rules.currency}" if rules.max_cents else ""
        money += "" if rules.bonus is None else f" + up to {rules.bonus.max_cents / 100:.2f}"
        agents = f"; with {' or '.join(variant.partners)}" if variant.partners else ""
        agents += f"; {variant.fallback} where nobody comes" if variant.fallback else ""
        lines.append(f"variant    {variant.name}: {variant.task}{agents}; {asked}{money}{target}")
    questions, waiting = play.questions, play.waiting
    if questions.partner or questions.comparison:
        lines.append(f"questions  {len(questions.partner)} about a partner, {len(questions.comparison)} about two partners")
    if waiting.pay_cents:
        pay = f"{waiting.pay_cents / 100:.2f} {play.variants[0].treatment.currency}"
        lines.append(f"waiting    after {waiting.after_s:g} s without a partner: {pay}")
        codes = getattr(study.channels.get("prolific"), "codes", None)
        if codes is not None and "no_partner" in codes:
            lines.append("           review the code of no_partner by hand: approved people get the whole reward, too")
        elif codes is not None:
            lines.append("           codes has no code for no_partner, so Prolific asks those people to return the submission")
    return lines


def _summary(study: Study) -> list[str]:
    wage = study.pay
    count = study.num_answers
    per_visit = "as many comparisons as people like" if count is None else amount(count, "comparison")
    if study.play is not None:
        num = len(study.play.variants)
        per_visit = "one game, as often as needed" if num == 1 else f"one of {num} variants, {study.play.choice}"
    if study.review is not None:
        num, raters = len(study.review.instances), study.review.raters
        third = ", and a third where two disagree" if study.review.third else ""
        per_visit = f"{count} of {num} instances, each reviewed by {raters}{third}"
    lines = [f"a visit    {per_visit}, about {study.minutes:g} min", f"channels   {', '.join(study.channels)}"]
    lines.append(f"contact    {study.contact or 'none yet: a study without one cannot be opened'}")
    lines += [f"ethics     {study.ethics}"] if study.ethics else []
    quizzes = [study.quiz, *(one.quiz for one in study.play.variants)] if study.play is not None else [study.quiz]
    for quiz in [one for one in quizzes if one is not None]:
        share = f"{quiz.quiz.pass_share:.0%} of {quiz.quiz.num_boxes} boxes"
        lines.append(f"quiz       {quiz.quiz.id}: {share}, attempts: {quiz.attempts}")
    if study.play is not None:
        lines += _play_lines(study, study.play)
    if wage is not None:
        hourly = wage.hourly_cents(study.minutes) / 100
        target = "" if wage.hourly_target_cents is None else f" (target {wage.hourly_target_cents / 100:.2f})"
        lines.append(f"pay        {wage.reward_cents / 100:.2f} {wage.currency}, {hourly:.2f} an hour at that pace{target}")
        if wage.hourly_target_cents is not None and wage.hourly_cents(study.minutes) < wage.hourly_target_cents:
            lines.append("           that is under the target; `interplay study pay` pays the difference")
    consent = study.consent
    text = "none" if consent is None else "a box to tick" if consent.is_required else "shown, no box"
    return [*lines, f"consent    {text}"]
