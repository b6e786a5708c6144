"""`interplay episodes list | show | verify | replay | repair`: recorded episodes, and whether a replay repeats them."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from interplay.cli.options import (
    DEFAULT_DATA,
    MOST,
    DatabaseOption,
    DataOption,
    RayOption,
    known_task,
    open_archive,
    place_options,
)
from interplay.cli.output import JsonOption, emit, progress, table, working
from interplay.wording import amount

if TYPE_CHECKING:
    from interplay.record import Archive, Episode, Verdict

app = typer.Typer()

EpisodeArgument = Annotated[str, typer.Argument(metavar="ID", help="Id of an episode, as `list` shows it.")]


_Outcome = Literal["terminated", "time_limit", "quit", "left", "interrupted", "unknown"]
_PARALLEL_STEPS = 20_000
"""Number of steps from which on a second process saves more time than its start takes."""
_URL_S = 3600
"""Seconds for which the signed address of a file is valid."""


@app.command("list")
def list_episodes(
    task: Annotated[str | None, typer.Option(help="Task id.")] = None,
    actor: Annotated[str | None, typer.Option(help="Actor: human, agent, model, or a name.")] = None,
    outcome: Annotated[_Outcome | None, typer.Option(help="How the episode ended.")] = None,
    where: Annotated[
        list[str] | None, typer.Option(help="Condition on episodes, e.g. 'score >= 200'; may be repeated.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, max=MOST, help="Show at most N episodes, newest first.")] = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """List sealed episodes, newest first."""
    archive = open_archive(data, database, must_exist=True)
    task = known_task(archive, task)
    episodes = archive.episodes(
        task=task, actor=actor, outcome=outcome, where=where or [], with_uploads=True, newest_first=True, limit=limit
    )
    rows = [
        (
            episode.id,
            episode.task_id,
            _who(episode),
            episode.seed,
            episode.num_steps,
            f"{episode.total_reward:g}",
            episode.outcome,
            f"{episode.duration_s:.1f}",
        )
        for episode in episodes
    ]
    text: Any = table(["episode", "task", "actor", "#seed", "#steps", "#score", "outcome", "#seconds"], rows)
    if not rows:
        text = (
            f"No such episodes in {data}. Record one:  interplay play atari/breakout --agent random --episodes 1"
            + place_options(data, database)
        )
    emit([_document(episode) for episode in episodes], as_json=as_json, text=text)


@app.command()
def show(
    episode_id: EpisodeArgument, data: DataOption = DEFAULT_DATA, database: DatabaseOption = None, as_json: JsonOption = False
) -> None:
    """Show one episode: its facts, statistics, versions and columns."""
    archive = open_archive(data, database, must_exist=True)
    episode = archive.get(episode_id)
    measures = archive.measures([episode]).get(episode.id, [])
    place = place_options(data, database)
    if episode.is_video_only:
        _show_video(episode, place, as_json=as_json)
        return
    header = episode.header
    document = _document(episode) | {
        "env_versions": dict(header.env_versions),
        "session_id": header.session_id,
        "seats": list(header.seats),
        "columns": {field.name: str(field.type) for field in episode.schema},
        "seat_statistics": [one.to_json() for one in measures],
    }
    url = archive.url_of(episode, seconds=_URL_S)
    document |= {} if url is None else {"url": url}
    lines = [f"{episode.id}  {episode.place} ({(episode.size_bytes or 0) / 1e3:,.0f} kB)", ""]
    apart = ("id", "path", "url", "columns", "statistics", "seats", "held", "seat_statistics")
    lines += [f"{name:15} {value}" for name, value in document.items() if name not in apart]
    lines += ["", "seats"] + [
        f"  {held.seat:13} {held.actor} ({held.actor_kind}), {amount(held.num_steps, 'step')}, return {held.total_reward:g}"
        for held in episode.seats
    ]
    lines += ["", "statistics"] + [f"  {name:13} {value}" for name, value in sorted(episode.statistics.items())]
    lines += ["", "statistics of seats"] if measures else []
    lines += [f"  {one.seat:13} {one.actor}  {one.name} {'-' if one.value is None else f'{one.value:g}'}" for one in measures]
    lines += [] if url is None else ["", f"Its file, for an hour and for everybody who has this address:  {url}"]
    lines += ["", f"See it:  interplay episodes replay {episode.id} --out {episode.id}.mp4{place}"]
    emit(document, as_json=as_json, text="\n".join(lines))


def _who(episode: Episode) -> str:
    """Return the names of the players in the order in which they played; for several seats `left=ada right=bob,random`."""
    by_seat: dict[str, list[str]] = {}
    for held in episode.seats:
        by_seat.setdefault(held.seat, []).append(held.actor)
    if len(by_seat) == 1:
        return ",".join(*by_seat.values())
    return " ".join(f"{seat}={','.join(names)}" for seat, names in by_seat.items())


def _show_video(episode: Episode, place: str, *, as_json: bool) -> None:
    """Run `show` for an episode that is only a video, without steps, seats or columns."""
    document = _document(episode)
    there = f"{(episode.size_bytes or 0) / 1e3:,.0f} kB" if episode.sha256 is not None else "its video was not imported"
    lines = [f"{episode.id}  {episode.place} ({there})", "A video only: nothing was recorded step by step.", ""]
    facts = ("task_id", "task_hash", "seed", "actor", "actor_kind", "duration_s", "created_at", "sha256")
    lines += [f"{name:15} {document[name]}" for name in facts]
    if episode.sha256 is not None:
        lines += ["", f"Copy it:  interplay episodes replay {episode.id} --out {episode.id}.mp4{place}"]
    emit(document, as_json=as_json, text="\n".join(lines))


@app.command()
def verify(
    episode_ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Episodes to verify.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Verify every episode of the catalogue.")] = False,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    ray: RayOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check that files are unchanged and replays match; exit 1 if not.  Try:  interplay episodes verify --all"""
    from interplay.record.summary import Summary

    if bool(episode_ids) == every:
        raise typer.BadParameter("give episode ids, or --all for every episode")
    archive = open_archive(data, database, must_exist=True)
    episodes = archive.episodes(with_uploads=True) if every else [archive.get(name) for name in episode_ids or []]
    verdicts = _verify_many(episodes, ray)
    Summary(archive).note(verdicts)
    different = [verdict for verdict in verdicts if not verdict.equal]
    document = {
        "episodes": [asdict(verdict) for verdict in verdicts],
        "num_equal": len(verdicts) - len(different),
        "num_different": len(different),
    }
    lines = [f"{verdict.episode} differs from step {verdict.step} on: {verdict.reason}" for verdict in different]
    lines.append(f"{document['num_equal']} equal, {document['num_different']} different.")
    if any(not verdict.intact for verdict in different):
        lines.append("Restore those files from a backup; the other episodes are not affected.")
    emit(document, as_json=as_json, text="\n".join(lines))
    if different:
        raise typer.Exit(1)


def _verify_many(episodes: list[Episode], ray: str | None) -> list[Verdict]:
    from interplay.jobs import Executor
    from interplay.record.verification.verify import verify_file

    num_steps = {episode.id: episode.num_steps for episode in episodes}
    jobs = {episode.id: (episode.path, episode.id, episode.sha256) for episode in episodes}
    is_short = sum(num_steps.values()) < _PARALLEL_STEPS
    found: dict[str, Verdict] = {}
    with progress() as bar:
        line = bar.add_task("verifying steps", total=sum(num_steps.values()))
        for done in Executor(1 if is_short else 2, ray).map(verify_file, jobs, here=verify_file):
            found[done.key] = done.get()
            bar.advance(line, num_steps[done.key])
    return [found[episode.id] for episode in episodes]


@app.command()
def replay(
    episode_id: EpisodeArgument,
    out: Annotated[Path | None, typer.Option(help="Write what the player saw to this mp4.")] = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Play the recorded actions again, and print the return; with --out, write the episode as a video instead."""
    from interplay.record import RecordingError
    from interplay.record.films.film import write_mp4
    from interplay.record.replay import play_again

    episode = open_archive(data, database, must_exist=True).get(episode_id)
    place = place_options(data, database)
    start = time.perf_counter()
    document: dict[str, Any] = {"episode": episode.id, "num_steps": episode.num_steps, "total_reward": episode.total_reward}
    if out is not None:
        if out.suffix != ".mp4":
            raise typer.BadParameter(f"--out must end in .mp4, got {out}")
        out.parent.mkdir(parents=True, exist_ok=True)
        with progress() as bar:
            done = bar.add_task(out.name, total=episode.num_steps + 1)
            write_mp4(episode, out, advance=lambda frames: bar.advance(done, frames))
        document["video"] = str(out)
    else:
        if episode.is_video_only:
            raise RecordingError(
                f"episode {episode.id} is a video only: no actions were recorded, so there is nothing to play again.\n"
                f"Copy the video:  interplay episodes replay {episode.id} --out {episode.id}.mp4{place}"
            )
        if not episode.header.deterministic:
            raise RecordingError(
                f"episode {episode.id}: {episode.env} is not deterministic, so its actions cannot be played again.\n"
                f"See what was recorded:  interplay episodes replay {episode.id} --out {episode.id}.mp4{place}"
            )
        with working(f"playing {amount(episode.num_steps, 'step')} again"):
            document["replayed_reward"] = play_again(episode)
    document["wall_s"] = time.perf_counter() - start
    document["frames_per_s"] = (episode.num_steps + 1) / document["wall_s"]
    text = f"{amount(episode.num_steps, 'step')}, return {document.get('replayed_reward', episode.total_reward):g}"
    if "replayed_reward" in document and document["replayed_reward"] != episode.total_reward:
        text += (
            f" where {episode.total_reward:g} was recorded; find the step with:  interplay episodes verify {episode.id}{place}"
        )
    emit(
        document, as_json=as_json, text=f"{text} ({document['frames_per_s']:,.0f} frames/s)" + (f"\nWrote {out}" if out else "")
    )


@app.command()
def repair(data: DataOption = DEFAULT_DATA, database: DatabaseOption = None, as_json: JsonOption = False) -> None:
    """Repair a data folder after a crash, a full disk or a lost database: seal unfinished recordings, and add files that the
    catalogue lacks. No recording is deleted. Exit 1 if a file cannot be repaired; all others are repaired.
    """
    from interplay.record.journal import DAMAGED

    archive: Archive = open_archive(data, database, must_exist=True)
    with working("sealing journals and looking through the episodes folder"):
        result = archive.repair()
    document = {
        "sealed": [_document(episode) for episode in result.sealed],
        "empty": result.empty,
        "catalogued": [episode.id for episode in result.catalogued],
        "set_aside": result.set_aside,
        "failed": result.failed,
        "missing": result.missing,
    }
    lines = [
        f"sealed {item.id}: {amount(item.num_steps, 'step')} of {item.task_id} by {item.actor}, {item.outcome}"
        + ("; its journal is damaged behind them, and stays as journal/*.damaged" if DAMAGED in item.statistics else "")
        for item in result.sealed
    ]
    lines += [f"removed {name}: it ended before its first step" for name in result.empty]
    lines += [f"entered {item.id} into the catalogue" for item in result.catalogued]
    lines += [f"set aside {name}: {reason.splitlines()[0]}" for name, reason in result.set_aside.items()]
    lines += ["FAILED " + f"{name}: {reason}".replace("\n", "\n  ") for name, reason in result.failed.items()]
    lines += [f"MISSING {name}: its file is gone; restore it from a backup" for name in result.missing]
    lines += [] if lines else ["Nothing to repair."]
    lines.append(f"Check all episodes:  interplay episodes verify --all{place_options(data, database)}")
    emit(document, as_json=as_json, text="\n".join(lines))
    if result.failed or result.missing:
        raise typer.Exit(1)


def _document(episode: Episode) -> dict[str, Any]:
    facts = episode.to_json()
    facts["held"] = facts.pop("seats")
    return facts | {"path": str(episode.place), "size_bytes": episode.size_bytes, "sha256": episode.sha256}
