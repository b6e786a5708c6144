"""`interplay play TASK --agent A --seeds heldout`, or with `--seat NAME=A` for each seat."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interplay.cli.options import (
    DEFAULT_DATA,
    BlobsOption,
    DatabaseOption,
    DataOption,
    RayOption,
    SeedOption,
    choose_seed,
    keep_lands,
    open_archive,
    place_options,
    seeds_of,
    suite_options,
)
from interplay.cli.output import JsonOption, emit, progress_bar, table
from interplay.explore.instance import load
from interplay.explore.published import file_of
from interplay.tasks import Task, find
from interplay.wording import amount

if TYPE_CHECKING:
    from interplay.record import Episode

app = typer.Typer(add_completion=False)


@app.command()
def play(
    task_id: Annotated[
        str, typer.Argument(metavar="TASK", help="Id of a task, my.toml:name, or an instance: a file, or explore/NAME.")
    ],
    agent: Annotated[
        str | None, typer.Option(help="An agent's name, a policy's folder, or module:factory; it takes every seat of the task.")
    ] = None,
    seats: Annotated[
        list[str] | None,
        typer.Option("--seat", metavar="NAME=AGENT", help="The agent in one seat of the task; repeat for each seat."),
    ] = None,
    seeds: Annotated[str, typer.Option(help="'heldout' for the held-out seeds, or numbers separated by commas.")] = "heldout",
    num_episodes: Annotated[int, typer.Option("--episodes", min=1, help="Episodes per seed.")] = 1,
    max_seconds: Annotated[float | None, typer.Option(min=0.1, help="Cut episodes after this many seconds of play.")] = None,
    video: Annotated[bool, typer.Option("--video/--no-video", help="Make an mp4 of every episode.")] = True,
    out: Annotated[
        Path | None,
        typer.Option(help="Also write videos DIR/TASK/seed_<n>.mp4, and for each a file seed_<n>.jsonl of what happened."),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Also play seeds that this agent has already played.")] = False,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    ray: RayOption = None,
    blobs: BlobsOption = None,
    seed: SeedOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let an agent play, and record it. After an interruption, run it again: it continues with the missing episodes.

    Try:  interplay play atari/breakout --agent random --seeds heldout
    """
    from interplay.agents.evaluate import evaluate, worthwhile_processes
    from interplay.agents.rollout_folder import write_rollouts
    from interplay.jobs import Executor
    from interplay.record import OUTCOME_CHECK_SUCCESS

    if out is not None and (num_episodes > 1 or not video):
        raise typer.BadParameter("--out writes one video for each seed; leave out --episodes and --no-video")
    task = _task(task_id)
    archive = open_archive(data, database, blobs=blobs)
    keep_lands(data)
    drawn = choose_seed(seed)
    chosen = seeds_of(seeds, task)
    max_steps = None if max_seconds is None else max(1, round(max_seconds * task.frame_rate_hz))
    begun = datetime.now(UTC)
    playing = _seats(agent, seats)
    who = playing if isinstance(playing, str) else " and ".join(playing.values())
    with progress_bar(f"{who} {'plays' if isinstance(playing, str) else 'play'} {task.id}") as report:
        episodes = evaluate(
            archive,
            task,
            playing,
            chosen,
            num_episodes=num_episodes,
            seed=drawn,
            max_steps=max_steps,
            video=video,
            again=again,
            executor=Executor(worthwhile_processes(task, len(chosen) * num_episodes, max_steps), ray),
            report=report,
        )
    if out is not None:
        write_rollouts(archive, episodes, out)
    returns = [{held.seat: held.total_reward for held in episode.seats} for episode in episodes]
    passed = [episode.statistics.get(OUTCOME_CHECK_SUCCESS) for episode in episodes]  # None where nothing can tell
    document = {
        "task": task.id,
        "agent": agent,
        "seats": dict.fromkeys(task.seats, playing) if isinstance(playing, str) else playing,
        "seed": drawn,
        "mean_return": _mean([episode.total_reward for episode in episodes]),
        "episodes": [
            {
                "episode": episode.id,
                "seed": episode.seed,
                "total_reward": episode.total_reward,
                "returns": earned,
                "num_steps": episode.num_steps,
                "outcome": episode.outcome,
                "outcome_check": episode.outcome_check,
                "video": str(archive.video_path(episode.id)) if video else None,
            }
            for episode, earned in zip(episodes, returns, strict=True)
        ],
    }
    where = f", videos in {archive.root / 'media' if out is None else out}" if video else ""
    place = place_options(data, database)
    next_command = f"interplay episodes list{place}"
    can_be_judged = video and task.suite != "explore" and set(chosen) <= set(task.held_out_seeds)
    if can_be_judged and (isinstance(playing, str) or len({*playing.values()}) == 1):
        path, colon, _ = task_id.rpartition(":")
        suite = suite_options([Path(path)] if colon else None)
        next_command = f"interplay serve{place}{suite}   (judge it in the browser)"
    several = len(task.seats) > 1
    means = [f"{f'{seat} ' if several else ''}{_mean([one[seat] for one in returns]):g}" for seat in task.seats]
    lines = [f"\nMean return {', '.join(means)} over {amount(len(episodes), 'episode')} (--seed {drawn}){where}."]
    if any(one is not None for one in passed):
        lines.append(f"Outcome check: {sum(map(bool, passed))} of {len(episodes)} passed.")
    if num_old := sum(episode.created_at < begun for episode in episodes):
        lines.append(f"{num_old} of them were there already; --again plays their seeds anew.")
    texts = [_table(task, episodes, returns, passed), *lines, f"Next:  {next_command}"]
    emit(document, as_json=as_json, text=texts)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _table(task: Task, episodes: Sequence[Episode], returns: Sequence[dict[str, float]], passed: Sequence[Any]) -> Any:
    several, checked = len(task.seats) > 1, any(one is not None for one in passed)
    returned = [f"#return {seat}" if several else "#return" for seat in task.seats]
    rows = [
        (
            episode.id,
            episode.seed,
            *(f"{earned[seat]:g}" for seat in task.seats),
            episode.num_steps,
            episode.outcome,
            *(["" if one is None else "passed" if one else "failed"] if checked else []),
        )
        for episode, earned, one in zip(episodes, returns, passed, strict=True)
    ]
    return table(["episode", "#seed", *returned, "#steps", "outcome", *(["check"] if checked else [])], rows)


def _task(text: str) -> Task:
    file = file_of(text)
    return load(file).task() if file.suffix == ".json" else find(text)


def _seats(agent: str | None, seats: list[str] | None) -> str | dict[str, str]:
    if (agent is None) == (not seats):
        raise typer.BadParameter("give --agent A, or --seat NAME=A for each seat of the task")
    if agent is not None:
        return agent
    chosen: dict[str, str] = {}
    for text in seats or []:
        seat, equals, name = text.partition("=")
        if not (seat and equals and name):
            raise typer.BadParameter(f"--seat takes NAME=AGENT, such as --seat left=random; got {text!r}")
        if seat in chosen:
            raise typer.BadParameter(f"--seat {seat} is given twice: {chosen[seat]} and {name}")
        chosen[seat] = name
    return chosen
