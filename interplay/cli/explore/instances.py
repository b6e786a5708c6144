"""`interplay explore check | import | prove | judge`: instances of the benchmark, and recorded episodes of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interplay.cli.options import DEFAULT_DATA, DatabaseOption, DataOption, RayOption, open_archive, place_options
from interplay.cli.output import JsonOption, emit, progress, table, writing
from interplay.errors import InterplayError
from interplay.wording import amount

if TYPE_CHECKING:
    from interplay.explore.instance import Instance
    from interplay.explore.judgement_cache import Judgement
    from interplay.explore.oracle.hops import Hops

_WHICH = "Instances: files, folders, explore/NAME, or 'published' or 'planner' for those that come with the package."

app = typer.Typer()


@app.command()
def check(
    names: Annotated[list[str], typer.Argument(metavar="FILE...", help=_WHICH)],
    as_json: JsonOption = False,
) -> None:
    """Read instances, build their scenes, and list all faults, each with file, key and remedy; exit 1 if there are any.

    Try:  interplay explore check my.json
    """
    from interplay.explore import checking
    from interplay.explore.published import load_each

    files, refused = load_each(names)
    found: dict[str, checking.Report] = {}
    with progress() as bar:
        for file, made in bar.track(list(files.items()), description="checking"):
            try:
                found[str(file)] = checking.check(made)
            except InterplayError as error:
                refused[str(file)] = str(error)
    for file, said in refused.items():
        text, _, remedy = said.partition("\n")
        remedy = remedy.removeprefix("Remedy: ").rstrip(".") or "write it as docs/explore.md says"
        found[file] = checking.Report((checking.Finding("document", text, remedy),), ())
    wrong = [(file, one) for file, report in found.items() for one in report.findings]
    lines = [f"{file}: {one}" for file, one in wrong]
    good = sum(not report.findings for report in found.values())
    lines.append(f"{good} of {len(found)} good.")
    if not wrong:
        lines.append(f"Play one:  interplay play {next(iter(files))} --agent random")
    document = {
        "files": len(found),
        "good": good,
        "errors": [{"file": file} | asdict(one) for file, one in wrong],
    }
    emit(document, as_json=as_json, text="\n".join(lines))
    if wrong:
        raise typer.Exit(1)


@app.command()
def prove(
    names: Annotated[list[str], typer.Argument(metavar="PATH...", help=_WHICH)],
    out: Annotated[
        Path | None, typer.Option("--out", help="Write each solved instance to this folder, with its proof, as NAME.json.")
    ] = None,
    hops: Annotated[
        bool,
        typer.Option("--hops", help="Also try tasks without the tasks they need, and players who do nothing; takes longer."),
    ] = False,
    processes: Annotated[int, typer.Option(min=1, help="Number of instances that are proved at the same time.")] = 2,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    ray: RayOption = None,
    as_json: JsonOption = False,
) -> None:
    """Search for key presses that solve instances, record them as episodes, and say why other instances are not solved.
    Exit 1 if an instance is not solved.

    Try:  interplay explore prove published
    """
    from interplay.explore.oracle.recording import prove_files
    from interplay.explore.published import load_each
    from interplay.jobs import Executor

    begin = monotonic()
    good, refused = load_each(names)
    files, made = list(good), list(good.values())
    places, there = _places(made, out) if out is not None else ([], [])
    if there:
        raise InterplayError(f"{there[0]} exists already, or two instances share it\nRemedy: name an empty folder with --out.")
    archive = open_archive(data, database)
    with progress() as bar:
        line: Any = bar.add_task("proving", total=len(files))
        found = prove_files(files, archive, executor=Executor(processes, ray), hops=hops, report=lambda _: bar.advance(line))
    written = []
    for place, instance, one in zip(places, made, found, strict=False):
        if one.proof is not None:
            hops_found = {} if one.hops is None else {"hops": one.to_json()["hops"]}
            _write(place, replace(instance, proofs=(*instance.proofs, one.proof.to_json() | hops_found)))
            written.append(str(place))
    details = [one.to_json() for one in found]
    verdicts = [one for detail in details for one in detail["milestones"]]
    document = {
        "instances": len(found),
        "solved": sum(one.verdict.solved for one in found),
        "milestones": len(verdicts),
        "milestones_solved": sum(one["tick"] is not None for one in verdicts),
        "seconds": round(monotonic() - begin, 1),
        "details": details,
        "refused": [{"file": file, "text": text} for file, text in refused.items()],
        "written": written,
    }
    solved = {one["instance"]: sum(each["tick"] is not None for each in one["milestones"]) for one in details}
    rows = [
        (one["instance"], f"{solved[one['instance']]} of {len(one['milestones'])}", one["ticks"], one["verdict"])
        for one in details
    ]
    lines = [f"refused    {file}: {text}" for file, text in refused.items()]
    lines += [line for one in found if one.hops is not None for line in _hop_lines(one.verdict.instance, one.hops)]
    text = f"\nSolved {document['solved']} of {len(found)} instances, {sum(solved.values())} of {len(verdicts)} milestones"
    lines.append(f"{text}, in {document['seconds']:.0f} s.")
    if document["solved"]:
        place = place_options(data, database)
        lines.append(f"Each solved one is an episode. Verify them:  interplay episodes verify --all{place}")
    emit(document, as_json=as_json, text=[table(["instance", "milestones", "#ticks", "verdict"], rows), *lines])
    if refused or document["solved"] < len(found):
        raise typer.Exit(1)


def _hop_lines(name: str, hops: Hops) -> list[str]:
    lines = [f"\n{name}: {amount(hops.depth, 'task')} deep by proof."]
    for one in hops.edges:
        text = f"{one.first!r} -> {one.then!r}: {one.verdict}"
        seen = f". Watch it:  interplay episodes replay {one.episode} --out way.mp4" if one.episode else ""
        lines.append(f"  {text}{f', {one.why}' if one.why else ''}{seen}")
    lines += [f"  {one} is reached at the start" for one in hops.reached_at_start]
    lines += [f"  {one} is reached at step {tick} by a player who does nothing" for one, tick in hops.reached_by_noop.items()]
    return lines + ([f"  the text names {', '.join(hops.named)}, which other tasks need"] if hops.leaks else [])


@app.command("import")
def import_instances(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A folder with metadata.json or other files, or one file.")],
    out: Annotated[Path | None, typer.Option("--out", help="Write each instance to this folder, as NAME.json.")] = None,
    expect: Annotated[
        str | None,
        typer.Option(help="Give 'published' to check that the published set is complete; if it is not, the exit status is 1."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Read instances in MineExplorer's published layout, judge every milestone at the start, and list irregularities.

    Try:  interplay explore import benchmark --out instances
    """
    from interplay.explore import checking, mineexplorer

    if expect not in (None, "published"):
        raise typer.BadParameter(f"--expect takes 'published', got {expect!r}")
    found = mineexplorer.import_path(path)
    places, there = _places(found.instances.values(), out) if out is not None else ([], [])
    starts: list[checking.Start] = []
    lost: Counter[str] = Counter()
    with progress() as bar:
        for file, made in bar.track(list(found.instances.items()), description="building scenes"):
            report = checking.check(made)
            starts += report.starts
            lost.update(what.partition(";")[0] for what in report.refused)
            found.irregularities += [mineexplorer.Remark(file, one.key, f"{one.text}; {one.remedy}") for one in report.findings]
    for place, one in zip(places, found.instances.values(), strict=False):
        if place not in there:
            _write(place, one)
    counts = found.counts()
    expected = mineexplorer.PUBLISHED if expect else counts
    document: dict[str, Any] = {
        "files": found.files,
        "imported": len(found.instances),
        "hops": counts,
        "milestones": len(starts),
        "milestones_judged": sum(one.reached is not None for one in starts),
        "milestones_reached_at_start": sum(one.reached is True for one in starts),
        "commands_refused": dict(lost.most_common()),
        "irregularities": [asdict(one) for one in found.irregularities],
        "refused": [asdict(one) for one in found.refused],
        "written": [str(place) for place in places if place not in there],
        "not_written": [f"{place} is there already" for place in there],
        "as_expected": counts == expected,
    }
    emit(document, as_json=as_json, text="\n".join(_lines(document, expected)))
    if counts != expected or not found.instances or there:
        raise typer.Exit(1)


@app.command()
def judge(
    things: Annotated[list[str], typer.Argument(metavar="WHAT...", help=f"{_WHICH} And ids of episodes.")],
    semantics: Annotated[str | None, typer.Option(help="Version of the rules; docs/explore.md lists the versions.")] = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Judge recorded episodes of instances again: the episodes that you name, or all episodes of the instances. Exit 1 if one
    cannot be judged, or if the file of a model's run contradicts its episode or has none.

    Try:  interplay explore judge my.json --semantics published-prompt
    """
    from interplay.explore.judging import judge as judge_episode
    from interplay.explore.published import FOLDERS, PREFIX, load_each, names
    from interplay.explore.results.verification import WrongRun, wrong_runs
    from interplay.explore.rules import SEMANTICS, VERSION

    chosen = VERSION if semantics is None else semantics
    if chosen not in SEMANTICS:
        raise typer.BadParameter(f"--semantics takes {', '.join(SEMANTICS)}; got {chosen!r}")
    named = [thing for thing in things if not (thing in FOLDERS or thing.startswith(PREFIX) or Path(thing).exists())]
    archive = open_archive(data, database, must_exist=True)
    episodes = [archive.get(name) for name in named]
    ours = {one.task_id for one in episodes} & set(names())
    good, bad = load_each([*(thing for thing in things if thing not in named), *sorted(ours)])
    instances = {made.task().id: made for made in good.values()}
    if not named:
        episodes = [one for made in instances.values() for one in archive.episodes(task=made.task())]
    judgements: dict[str, Judgement] = {}
    refused = [{"episode": file, "text": text} for file, text in bad.items()]
    with progress() as bar:
        for episode in bar.track(episodes, description="judging"):
            try:
                if episode.task_id not in instances:
                    raise InterplayError(f"no instance of {episode.task_id} was named\nRemedy: name its file, too.")
                judgements[episode.id] = judge_episode(episode, instances[episode.task_id], chosen)
            except InterplayError as error:
                refused.append({"episode": episode.id, "text": str(error)})
    wrong: list[WrongRun] = []
    if chosen == VERSION:
        tasks = {episode.id: episode.task_id for episode in episodes}
        wrong = list(wrong_runs(archive.root, tasks, judgements, () if named else instances))
    document = {
        "semantics": chosen,
        "milestones": sum(len(one.milestones) for one in judgements.values()),
        "milestones_reached": sum(len(one.reached) for one in judgements.values()),
        "episodes": [asdict(one) | {"success": one.success} for one in judgements.values()],
        "refused": refused,
        "wrong_runs": [one._asdict() for one in wrong],
    }
    emit(document, as_json=as_json, text="\n".join(_judged_lines(document)))
    if refused or wrong:
        raise typer.Exit(1)


def _judged_lines(document: Mapping[str, Any]) -> list[str]:
    lines = []
    for one in document["episodes"]:
        whose = {None: "", True: " (by the player)", False: " (not by the player)"}
        when = [f"{name} at step {step}" + whose[one["by_player"].get(name)] for name, step in one["reached"].items()]
        reached = f"{len(one['reached'])} of {len(one['milestones'])}"
        lines.append(f"{one['episode']}  {one['instance']}  {reached} reached{': ' * bool(when)}{', '.join(when)}")
    lines += [f"{one['episode']}  not judged: {one['text']}" for one in document["refused"]]
    lines += [f"{one['file']}  wrong run: {one['text']}" for one in document["wrong_runs"]]
    lines.append(
        f"{document['milestones_reached']} of {document['milestones']} milestones of {len(document['episodes'])} episodes, "
        f"by {document['semantics']}."
    )
    return lines


def _write(place: Path, instance: Instance) -> None:
    with writing(place, "name another folder with --out."):
        place.write_text(json.dumps(instance.to_json(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _places(instances: Iterable[Instance], out: Path) -> tuple[list[Path], list[Path]]:
    """Make the folder; return the path of each instance's file, and the paths that must not be written.
    These are files that exist already, and paths that two instances share."""
    places = [out / f"{one.name}.json" for one in instances]
    with writing(out, "name another folder with --out."):
        out.mkdir(parents=True, exist_ok=True)
        return places, [place for place in dict.fromkeys(places) if place.exists() or places.count(place) > 1]


def _lines(document: Mapping[str, Any], expected: Mapping[str, int]) -> list[str]:
    lines = [f"irregular  {one['file']}: {one['key']}: {one['text']}" for one in document["irregularities"]]
    lines += [f"refused    {one['file']}: {one['text']}" for one in document["refused"]]
    lines.append(f"{document['imported']} instances from {document['files']} documents, {len(document['refused'])} refused.")
    hops = document["hops"]
    lines.append("Hops: " + ", ".join(f"{name}: {number}" for name, number in hops.items()) + ".")
    lines.append(
        f"Milestones: {document['milestones']}, judged {document['milestones_judged']}, "
        f"reached at the start {document['milestones_reached_at_start']}."
    )
    lines += [f"Refused commands, {number}: {what}." for what, number in document["commands_refused"].items()]
    for name in sorted({*hops, *expected}):
        if hops.get(name, 0) != expected.get(name, 0):
            lines.append(f"Expected {expected.get(name, 0)} instances of hops {name}, got {hops.get(name, 0)}.")
    lines += [f"not written  {one}\nRemedy: name an empty folder with --out." for one in document["not_written"]]
    if document["written"]:
        lines.append(
            f"Wrote {len(document['written'])} files. Play one:  interplay play {document['written'][0]} --agent random"
        )
    return lines
