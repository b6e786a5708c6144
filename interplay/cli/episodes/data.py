"""`interplay episodes export | import | pull`: data sets in several formats, and episodes from another server."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from interplay.cli.options import DEFAULT_DATA, DatabaseOption, DataOption, known_task, open_archive, place_options
from interplay.cli.output import JsonOption, emit, progress
from interplay.wording import amount

if TYPE_CHECKING:
    from interplay.record import Episode
    from interplay.record.exchange.card import Release
    from interplay.record.exchange.importer import Imported

_MP4, _VPT, _MINARI, _CROWDPLAY = "mp4", "vpt", "minari", "crowdplay"


_DATA_SETS = (_MINARI, "lerobot", "hugging-face")
_Pictures = Literal["video", "images", "none"]


def _writer(format_name: str, seat: str | None, observations: str | None, pictures: _Pictures | None, release: Release) -> Any:
    """Return the function that writes data sets in a format, with the options of that format."""
    if format_name == _MINARI:
        from interplay.record.datasets.minari_export import export as to_minari

        return partial(to_minari, seat=seat, observations=observations or "pixels")
    if format_name == "lerobot":
        from interplay.record.datasets.lerobot_export import export as to_lerobot

        return partial(to_lerobot, pictures=pictures or "video", release=release)
    from interplay.record.datasets.hugging_face import export as to_hugging_face

    return partial(to_hugging_face, pictures=pictures or "images", release=release)


def _load_line(format_name: str, root: Path, name: str) -> str:
    if format_name == _MINARI:
        code, folder = f"import minari; print(minari.load_dataset('{name}')[0])", shlex.quote(str(root))
        return f'MINARI_DATASETS_PATH={folder} python -c "{code}"'
    place = root / name
    if format_name == "lerobot":
        return (
            'python -c "from lerobot.datasets.lerobot_dataset import LeRobotDataset; '
            f"print(LeRobotDataset('local', root={str(place)!r})[0])\""
        )
    return f"python -c \"import datasets; print(datasets.load_dataset({str(place)!r}, 'steps'))\""


def export(
    episode_ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Episodes; or use --all.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every episode of the catalogue.")] = False,
    task: Annotated[str | None, typer.Option(help="Every episode of this task.")] = None,
    where: Annotated[
        list[str] | None, typer.Option(help="Every episode that meets this condition, e.g. 'score >= 200'; may be repeated.")
    ] = None,
    query: Annotated[
        str | None, typer.Option(metavar="NAME@VERSION", help="Episodes of a saved query; default: its newest version.")
    ] = None,
    out: Annotated[
        str, typer.Option(help="Folder for the files; for minari also the name of one data set, NAME-v0.")
    ] = "export",
    format_name: Annotated[
        str, typer.Option("--format", help="Format of the files: mp4, vpt, minari, lerobot or hugging-face.")
    ] = _MP4,
    seat: Annotated[str | None, typer.Option(help="Minari: write only this seat; default: one data set for each seat.")] = None,
    observations: Annotated[
        str | None,
        typer.Option(help="Minari: a pipeline (default: pixels), or 'environment' for the environment's own observations."),
    ] = None,
    pictures: Annotated[
        _Pictures | None, typer.Option(help="How pictures are stored; default: video for LeRobot, images for Hugging Face.")
    ] = None,
    license_name: Annotated[
        str | None, typer.Option("--license", help="LeRobot, Hugging Face: the license on the card, e.g. cc-by-4.0.")
    ] = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write episodes as videos, as recordings in the format of VPT and BEDD, or as data sets. Existing videos and recordings
    are kept, so a stopped export continues. Episodes of people who did not agree to a release are always left out; people
    get pseudonyms.

    Try:  interplay episodes export --all --out videos
    interplay episodes export --task atari/breakout --format lerobot --out ./lerobot
    """
    from interplay.errors import unknown_name
    from interplay.record.exchange.card import Release
    from interplay.record.exchange.pseudonyms import open_pseudonyms
    from interplay.record.exchange.queries import Queries

    chosen = every or task is not None or bool(where)
    if sum((bool(episode_ids), chosen, query is not None)) != 1:
        raise typer.BadParameter(
            "give episode ids, or --all for every episode, or choose some by --task and --where, or by --query"
        )
    if format_name not in (formats := [_MP4, _VPT, *_DATA_SETS]):
        raise typer.BadParameter(str(unknown_name("export format", format_name, formats)))
    if format_name != _MINARI and (seat is not None or observations is not None):
        raise typer.BadParameter("--seat and --observations are only for data sets of Minari; add --format minari")
    if format_name in (_MP4, _VPT, _MINARI) and (pictures is not None or license_name is not None):
        raise typer.BadParameter("--pictures and --license are for other data sets; add --format lerobot or hugging-face")
    archive = open_archive(data, database, must_exist=True)
    saved = None if query is None else Queries(archive).find(query)
    released = archive.released(
        ids=episode_ids,
        task=known_task(archive, task),
        where=where or [],
        saved=None if saved is None else (saved.name, saved.version),
        with_uploads=True,
    )
    left_out = []
    if count := released.num_withheld:
        left_out = [
            f"{amount(count, 'episode was', 'episodes were')} left out: somebody in them did not agree to a release.",
            f"All decisions:  interplay episodes release{place_options(data, database)}",
        ]
    if format_name == _MP4:
        episodes = released.episodes
        if not episode_ids:  # answers about a video may have been imported without it
            episodes = [episode for episode in episodes if not episode.is_video_only or episode.sha256 is not None]
        _export_videos(episodes, Path(out), released.num_withheld, left_out, as_json=as_json)
        return
    if format_name == _VPT:
        _export_recordings(released.episodes, Path(out), archive.root, released.num_withheld, left_out, as_json=as_json)
        return
    if not released.episodes and released.num_withheld:
        raise typer.BadParameter("there is nothing to write\n" + "\n".join(left_out))
    cited = "" if saved is None else f"{saved.label}, {saved.sha256}"
    card = Release(license_name or "unknown", released.num_withheld, cited)
    write = _writer(format_name, seat, observations, pictures, card)
    with progress() as bar:
        of_seats = (lambda one: len({held.seat for held in one.seats})) if format_name == _MINARI and not seat else lambda _: 1
        done = bar.add_task("exporting steps", total=sum(one.num_steps * of_seats(one) for one in released.episodes))
        exported = write(
            released.episodes, out, pseudonyms=open_pseudonyms(archive.root), advance=lambda steps: bar.advance(done, steps)
        )
    lines = [
        f"{'Wrote' if one.is_new else 'There already:'} {one.id}: {amount(one.num_episodes, 'episode')}, "
        f"{amount(one.num_steps, 'step')}, in {one.root / one.id}"
        for one in exported.datasets
    ]
    lines += [f"left out {name}: {reason}" for name, reason in exported.left_out.items()]
    lines += left_out
    first = exported.datasets[0]
    lines.append(f"Load it:  {_load_line(format_name, first.root, first.id)}")
    emit(
        {"datasets": exported.datasets, "left_out": exported.left_out, "num_withheld": released.num_withheld},
        as_json=as_json,
        text="\n".join(lines),
    )


def _export_videos(episodes: list[Episode], out: Path, num_withheld: int, left_out: list[str], *, as_json: bool) -> None:
    from interplay.record import RecordingError
    from interplay.record.films.film import write_mp4

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordingError(f"cannot write to {out}: {error.strerror}\nGive another folder with --out.") from error
    written, kept = [], []
    with progress() as bar:
        new = [episode for episode in episodes if not (out / f"{episode.id}.mp4").exists()]
        done = bar.add_task("exporting frames", total=sum(episode.num_steps + 1 for episode in new))
        for episode in episodes:
            path = out / f"{episode.id}.mp4"
            if path.exists():
                kept.append(str(path))
                continue
            write_mp4(episode, path, advance=lambda frames: bar.advance(done, frames))
            if episode.is_video_only:  # copied as it is
                bar.advance(done, episode.num_steps + 1)
            written.append(str(path))
    said = f"Wrote {amount(len(written), 'file')} to {out}" + (f"; there already: {len(kept)}" if kept else "")
    emit(
        {"written": written, "kept": kept, "num_withheld": num_withheld},
        as_json=as_json,
        text="\n".join([said, *left_out]),
    )


def _export_recordings(
    episodes: list[Episode], out: Path, root: Path, num_withheld: int, withheld: list[str], *, as_json: bool
) -> None:
    from interplay.learn.recordings.vpt_export import export as write
    from interplay.record.exchange.pseudonyms import open_pseudonyms

    with progress() as bar:
        done = bar.add_task("exporting frames", total=sum(episode.num_steps + 1 for episode in episodes))
        result = write(episodes, out, pseudonyms=open_pseudonyms(root), advance=lambda frames: bar.advance(done, frames))
    lines = [
        f"Wrote {amount(len(result.written), 'recording')} to {out}"
        + (f"; there already: {len(result.kept)}" if result.kept else "")
    ]
    lines += [f"left out {name}: {reason}" for name, reason in result.left_out.items()]
    document = {"written": result.written, "kept": result.kept, "left_out": result.left_out, "num_withheld": num_withheld}
    emit(document, as_json=as_json, text="\n".join([*lines, *withheld]))


def _reader(format_name: str, place: str) -> tuple[int, Callable[..., Imported]]:
    if format_name == _MINARI:
        from interplay.record.datasets.minari_import import import_data_sets, num_steps_in
        from interplay.record.datasets.minari_places import require_minari

        require_minari()
        return num_steps_in(place), import_data_sets
    if format_name == "lerobot":
        from interplay.record.datasets.lerobot_import import FORMAT
    elif format_name == _CROWDPLAY:
        from interplay.record.datasets.crowdplay_import import FORMAT
    else:
        from interplay.record.datasets.hugging_face import FORMAT
    return FORMAT.num_steps_in(place), FORMAT.import_data_sets


PlaceArgument = Annotated[
    str, typer.Argument(metavar="FOLDER_OR_ID", help="Folder of a data set, folder of several data sets, or id of Minari.")
]
FormatOption = Annotated[
    str, typer.Option("--format", help="Format of the data sets: minari, lerobot, hugging-face or crowdplay.")
]


def import_episodes(
    place: PlaceArgument, format_name: FormatOption = _MINARI, data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None, as_json: JsonOption = False,
) -> None:  # fmt: skip
    """Make episodes from data sets on this computer. Each episode is played again. If the replay equals the data, only its
    actions are stored; if not, the observations of the data set are stored, too. Importing again adds nothing.

    CrowdPlay's files are pickles: nothing in them is run, and a file that asks for anything but arrays is refused.

    Exit 1 when something was refused.  Try:  interplay episodes import ./minari
    """
    from interplay.errors import unknown_name

    if format_name not in (formats := [*_DATA_SETS, _CROWDPLAY]):
        raise typer.BadParameter(str(unknown_name("import format", format_name, formats)))
    num_steps, read = _reader(format_name, place)
    archive = open_archive(data, database)
    with progress() as bar:
        done = bar.add_task("playing steps again", total=num_steps)
        imported = read(archive, place, advance=lambda steps: bar.advance(done, steps))
    document = {
        "proved": [episode.id for episode in imported.proved],
        "kept": imported.kept,
        "there_already": imported.there_already,
        "refused": imported.refused,
    }
    lines = [
        f"proved {episode.id}: {amount(episode.num_steps, 'step')} of {episode.task_id}, seed {episode.seed}"
        for episode in imported.proved
    ]
    lines += [f"kept {name} with its observations: {reason}" for name, reason in imported.kept.items()]
    lines += ["REFUSED " + f"{name}: {reason}".replace("\n", "\n  ") for name, reason in imported.refused.items()]
    lines.append(
        f"{len(imported.proved)} proved by replay, {len(imported.kept)} kept with observations, "
        f"{len(imported.there_already)} there already, {len(imported.refused)} refused."
    )
    lines.append(f"See them:  interplay episodes list{place_options(data, database)}")
    emit(document, as_json=as_json, text="\n".join(lines))
    if imported.refused:
        raise typer.Exit(1)


def pull(
    url: Annotated[str, typer.Argument(metavar="URL", help="Address of another Interplay server.")],
    task: Annotated[str | None, typer.Option(help="Every episode of this task.")] = None,
    where: Annotated[
        list[str] | None, typer.Option(help="Condition on episodes, e.g. 'score >= 200'; may be repeated.")
    ] = None,
    query: Annotated[str | None, typer.Option(metavar="NAME@VERSION", help="A query saved on that server.")] = None,
    token: Annotated[
        str | None,
        typer.Option(envvar="INTERPLAY_TOKEN", help="The operator's token of that server, from its file operator.token."),
    ] = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Fetch episodes of another server into this data folder: only those whose players agreed to a release. People have
    pseudonyms.

    Files that are here already are not fetched again, and a file that was cut off continues at the same byte. Each file is
    checked by its hash.

    Exit 1 when a file could not be fetched.  Try:  interplay episodes pull https://lab.example --task atari/breakout
    """
    from interplay.record.exchange.pull import Asked, pull_episodes

    if query is not None and (task is not None or where):
        raise typer.BadParameter("--query already chooses the episodes; leave out --task and --where")
    if token is None:
        raise typer.BadParameter("give the token of that server's operator, with --token TOKEN or in INTERPLAY_TOKEN")
    archive = open_archive(data, database)
    with progress(counts=False) as bar:
        done = bar.add_task("fetching", total=None)
        pulled = pull_episodes(
            archive,
            url,
            token,
            Asked(task, tuple(where or ()), query),
            on_progress=lambda now, total: bar.update(done, completed=now, total=total),
        )
    document: dict[str, Any] = {
        "fetched": [episode.id for episode in pulled.fetched],
        "there_already": pulled.there_already,
        "refused": pulled.refused,
        "num_withheld": pulled.num_withheld,
        "size_bytes": pulled.size_bytes,
    }
    lines = ["REFUSED " + f"{name}: {reason}".replace("\n", "\n  ") for name, reason in pulled.refused.items()]
    lines.append(
        f"Fetched {amount(len(pulled.fetched), 'episode')}, {pulled.size_bytes / 1e6:,.1f} MB; "
        f"there already: {len(pulled.there_already)}; refused: {len(pulled.refused)}."
    )
    if pulled.num_withheld:
        lines.append(f"That server kept {pulled.num_withheld:,} back: somebody in them did not agree to a release.")
    lines.append(f"See them:  interplay episodes list{place_options(data, database)}")
    emit(document, as_json=as_json, text="\n".join(lines))
    if pulled.refused:
        raise typer.Exit(1)
