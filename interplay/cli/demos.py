"""`interplay demos`: list, fetch and check published recordings of people in Minecraft, and make episodes of them."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from interplay.cli.options import (
    DEFAULT_DATA,
    DatabaseOption,
    DataOption,
    RayOption,
    known_task,
    misuse,
    open_archive,
    place_options,
)
from interplay.cli.output import JsonOption, emit, progress, progress_bar, table
from interplay.errors import unknown_name
from interplay.wording import amount

if TYPE_CHECKING:
    from interplay.learn.recordings.index import Entry
    from interplay.tasks import Task


def embed(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[FOLDER]", help="Folder with videos (.mp4); without a folder, recorded episodes are embedded."),
    ] = None,
    vpt: Annotated[str | None, typer.Option(help="VPT network: its name in models/, or its folder.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the embeddings, with one file for each recording.")] = None,
    task: Annotated[str | None, typer.Option(help="Only episodes of this task.")] = None,
    where: Annotated[
        list[str] | None, typer.Option(help="Only episodes that meet this condition, e.g. 'score >= 200'; may be repeated.")
    ] = None,
    chunk: Annotated[
        int, typer.Option(min=1, max=1024, help="Number of pictures that the network processes at the same time.")
    ] = 64,
    processes: Annotated[
        int, typer.Option(min=1, help="Number of processes that work at the same time, each with one thread.")
    ] = 1,
    device: Annotated[str, typer.Option(help="Device for the network: auto, cpu or cuda.")] = "auto",
    threads: Annotated[int, typer.Option(min=0, help="CPU threads of one process, at most one for each core; 0 for all.")] = 0,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    ray: RayOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the latents that VPT computes from every picture: one file for each recording or episode. Finished files are not
    written again, so the same command continues a run that was stopped.

    Exit 1 when a recording could not be read; the others are embedded.

    Try:  interplay demos embed recordings/find-cave --vpt vpt-1x --out embeddings/find-cave
    """
    if vpt is None:
        raise typer.BadParameter("say which network:  --vpt NAME  (make one:  interplay agents import-vpt)")
    if out is None:
        raise typer.BadParameter("say where the embeddings go:  --out DIR")
    if folder is not None and (task is not None or where):
        raise typer.BadParameter("--task and --where choose recorded episodes; leave out the folder, or both of them")
    if threads and processes > 1:
        raise typer.BadParameter("with several --processes, each has one thread; leave out --threads, or --processes")
    # PyTorch's threads wait by spinning otherwise, which takes the cores from those that work; read when it is first imported.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from interplay.agents.find import vpt_folder
    from interplay.jobs import Executor
    from interplay.learn.embed import EmbedError, Source, recordings_in
    from interplay.learn.embed import embed as embed_all

    archive = None if folder is not None else open_archive(data, database, must_exist=True)
    network = vpt_folder(vpt, data / "models")
    sources = [] if folder is None else recordings_in(folder)
    if archive is not None:
        found = archive.episodes(task=known_task(archive, task), where=where or ())
        sources = [Source(episode.id, episode.path) for episode in found]
        if not sources:
            raise EmbedError("no episode meets these conditions\nList all:  interplay episodes list")
    with progress_bar("embedding") as bar:
        result = embed_all(
            sources, network, out, chunk=chunk, device=device, executor=Executor(processes, ray), threads=threads, on_shard=bar
        )
    lines = ["FAILED " + f"{name}: {reason}".replace("\n", "\n  ") for name, reason in result.failed.items()]
    rate = f", {result.num_frames / result.seconds:,.0f} a second" if result.seconds else ""
    lines += [
        f"Wrote {amount(len(result.written), 'shard')} to {out}: {amount(result.num_frames, 'picture')} "
        f"in {result.seconds:,.0f} s{rate}; there already: {len(result.kept)}; failed: {len(result.failed)}.",
    ]
    emit(asdict(result) | {"out": str(out)}, as_json=as_json, text="\n".join(lines))
    if result.failed:
        raise typer.Exit(1)


app = typer.Typer(
    help="Recordings that BEDD and VPT publish of people in Minecraft.  Try:  interplay demos index find-cave-Jul-28.json",
    add_completion=False,
    no_args_is_help=True,
)

_MB = 1_000_000


@app.callback()
def demos() -> None:
    """Recordings that BEDD and VPT publish of people in Minecraft.  Try:  interplay demos index find-cave-Jul-28.json"""


SourceArgument = Annotated[
    str,
    typer.Argument(
        metavar="LIST", help="An index of VPT or a list of addresses (as a file or web address), or a folder of recordings."
    ),
]
FolderArgument = Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of recordings (find-cave/*.jsonl ...).")]
LabelsOption = Annotated[
    Literal["minerl", "bedd"],
    typer.Option(
        help="minerl: keep all frames, and the camera in fractions of a degree. bedd: as BEDD's loader, with all its faults."
    ),
]
CutOption = Annotated[
    bool, typer.Option("--cut", help="If a video and its lines differ in length, import the part that both have.")
]
WithBadOption = Annotated[bool, typer.Option("--with-bad", help="Include recordings that the paper lists as faulty.")]


@app.command()
def index(
    source: SourceArgument,
    episodes: Annotated[
        Path | None, typer.Option(help="Join recording files to episodes, and write a list for each task to this folder.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show how many recordings, players and sessions a list has for each task, and how many are known to be bad.

    Try:  interplay demos index recordings --episodes .
    """
    from interplay.learn.recordings.counts import count_recordings, write_episode_files
    from interplay.learn.recordings.download import open_list
    from interplay.learn.recordings.index import summaries

    if episodes is not None and not Path(source).is_dir():
        raise typer.BadParameter(f"--episodes reads the files themselves, so it needs a folder of recordings; got {source}")
    entries = open_list(source)
    found = summaries(entries)
    written: list[Path] = []
    if episodes is not None:
        with progress_bar("counting recordings") as report:
            counted = count_recordings(Path(source), on_file=report)
        written = write_episode_files(counted.values(), episodes)
    document = {
        "tasks": [asdict(one) for one in found],
        "known_bad": {entry.stem: entry.why_bad for entry in entries if entry.why_bad},
        "episode_files": written,
    }
    rows = [
        (
            one.task or "(no task)",
            f"{one.num_recordings:,}",
            one.num_players,
            f"{one.num_sessions:,}",
            one.num_bad,
            one.num_unnamed,
            "" if one.first is None else f"{one.first:%Y-%m-%d}",
            "" if one.last is None else f"{one.last:%Y-%m-%d}",
        )
        for one in found
    ]
    headers = ["task", "#recordings", "#players", "#sessions", "#known bad", "#other names", "from", "to"]
    lines = [f"wrote {path}" for path in written]
    if any(entry.address for entry in entries):
        lines.append(f"Fetch them:  interplay demos get {source} --out recordings")
    elif Path(source).is_dir():
        lines.append(f"Check them:  interplay demos check {source}")
    emit(document, as_json=as_json, text=[table(headers, rows), "\n".join(lines)])


@app.command()
def get(
    source: SourceArgument,
    out: Annotated[Path, typer.Option(help="Folder for the recordings, with one folder for each task.")] = Path("recordings"),
    quota_mb: Annotated[
        float | None,
        typer.Option(min=0.0, help="Limit of each task's folder in MB; recordings that do not fit are skipped."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most N recordings of each task.")] = None,
    task: Annotated[str | None, typer.Option(help="One task: FindCave, MakeWaterfall, ...")] = None,
    with_bad: WithBadOption = False,
    as_json: JsonOption = False,
) -> None:
    """Fetch the lines and the video of each recording. Files that are complete here are not fetched again; a download that
    was cut off continues at the same byte.

    Exit 1 when a recording could not be fetched.  Try:  interplay demos get find-cave-Jul-28.json --quota-mb 1000
    """
    from interplay.learn.recordings.download import fetch, open_list

    chosen = _chosen(open_list(source), task, limit, with_bad=with_bad)
    quota = None if quota_mb is None else quota_mb * _MB
    with progress() as bar:
        line = bar.add_task("fetching", total=len(chosen))

        def on_progress(done: int, total: int, size_bytes: int) -> None:
            bar.update(line, completed=done, total=total, description=f"fetching, {size_bytes / _MB:,.0f} MB came")

        result = fetch(chosen, out, quota_bytes=quota, on_progress=on_progress)
    lines = ["REFUSED " + f"{name}: {reason}".replace("\n", "\n  ") for name, reason in result.refused.items()]
    lines.append(
        f"Fetched {amount(len(result.fetched), 'recording')}, {result.size_bytes / _MB:,.1f} MB, to {out}; "
        f"there already: {len(result.there_already):,}; refused: {len(result.refused):,}."
    )
    if result.over_quota:
        lines.append(f"{len(result.over_quota):,} did not fit the quota of {quota_mb:g} MB.")
    lines.append(f"Check them:  interplay demos check {out}")
    emit(result, as_json=as_json, text="\n".join(lines))
    if result.refused:
        raise typer.Exit(1)


def _chosen(entries: list[Entry], task: str | None, limit: int | None, *, with_bad: bool) -> list[Entry]:
    from interplay.learn.recordings.names import task_of

    if task is not None:
        known = {entry.task for entry in entries if entry.task}
        name = task_of([task])
        if name not in known:
            raise typer.BadParameter(str(unknown_name("task of this list", task[:100], known)))
        entries = [entry for entry in entries if entry.task == name]
    chosen, counts = [], dict.fromkeys((entry.folder for entry in entries), 0)
    for entry in entries:
        if (with_bad or not entry.why_bad) and (limit is None or counts[entry.folder] < limit):
            counts[entry.folder] += 1
            chosen.append(entry)
    return chosen


@app.command()
def check(folder: FolderArgument, as_json: JsonOption = False) -> None:
    """Check whether both files of each recording are complete and fit each other, and whether it is known to be bad.

    Exit 1 when one has a problem.  Try:  interplay demos check recordings
    """
    from interplay.learn.recordings.integrity import check as read_through

    with progress_bar("reading recordings") as report:
        found = read_through(folder, on_file=report)
    lines = [f"{one.path.stem}: {problem}" for one in found for problem in one.problems]
    lines += [f"{one.path.stem}: known to be bad: {one.known_bad}" for one in found if one.known_bad]
    num_broken = sum(bool(one.problems) for one in found)
    num_bad = sum(bool(one.known_bad) for one in found)
    lines.append(
        f"{amount(len(found), 'recording')}, {amount(sum(one.num_lines for one in found), 'step')}; "
        f"{num_broken:,} with problems, {num_bad:,} known to be bad."
    )
    ours = {one.task for one in found if one.task is not None and "/" in one.task}
    option = f" --task {ours.pop()}" if len(ours) == 1 else ""
    which = "the others" if num_broken else "them"
    if num_broken < len(found):
        lines.append(f"Make episodes of {which}:  interplay demos import {folder}{option}")
    emit({"recordings": found, "num_broken": num_broken}, as_json=as_json, text="\n".join(lines))
    if num_broken:
        raise typer.Exit(1)


@app.command("import")
def import_(
    folder: FolderArgument,
    labels: LabelsOption = "minerl",
    task: Annotated[
        str | None, typer.Option(help="Task of the recordings: one of ours, or FindCave, ...; default: named by their folder.")
    ] = None,
    with_bad: WithBadOption = False,
    cut: CutOption = False,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make episodes from recordings, to search, watch, judge and learn from like all others. Importing again adds nothing.

    The files of one episode are joined. No replay can check these episodes, because Minecraft was recorded without a seed.

    Exit 1 when something was refused.  Try:  interplay demos import recordings
    """
    from interplay.learn.recordings.vpt_import import import_recordings

    of_all = None if task is None else _task(task)  # before a data folder is made
    archive = open_archive(data, database)
    with progress() as bar:
        line = bar.add_task("recording steps", total=None)
        result = import_recordings(
            archive,
            folder,
            task=of_all,
            labels=labels,
            with_bad=with_bad,
            cut=cut,
            on_plan=lambda num_steps: bar.update(line, total=num_steps),
            advance=lambda num_steps: bar.advance(line, num_steps),
        )
    imported = result.imported
    document: dict[str, Any] = {
        "imported": list(imported.kept),
        "there_already": imported.there_already,
        "left_out": result.left_out,
        "remarks": result.remarks,
        "refused": imported.refused,
    }
    lines = [f"imported {name}" for name in imported.kept]
    lines += [f"{name}: left out: {one}" for name, remarks in result.remarks.items() for one in remarks]
    lines += ["REFUSED " + f"{name}: {reason}".replace("\n", "\n  ") for name, reason in imported.refused.items()]
    lines.append(
        f"{len(imported.kept):,} imported, {len(imported.there_already):,} there already, {len(result.left_out):,} left out "
        f"because they are known to be bad, {len(imported.refused):,} refused."
    )
    lines.append(f"See them:  interplay episodes list{place_options(data, database)}")
    emit(document, as_json=as_json, text="\n".join(lines))
    if imported.refused:
        raise typer.Exit(1)


def _task(name: str) -> Task | str:
    from interplay.learn.recordings.names import task_of
    from interplay.tasks import find

    with misuse():
        return task_of([name]) or find(name)


app.command()(embed)
