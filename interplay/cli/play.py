"""`interplay play TASK --agent A --seeds heldout`."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from interplay.cli.common import (
    DEFAULT_DATA,
    DatabaseOption,
    DataOption,
    JsonOption,
    SeedOption,
    choose_seed,
    emit,
    open_archive,
    place_options,
    progress_bar,
    suite_options,
    table,
)
from interplay.tasks import Task, find

app = typer.Typer(add_completion=False)


@app.command()
def play(
    task_id: Annotated[str, typer.Argument(metavar="TASK", help="Id of a task, or my.toml:name.")],
    agent: Annotated[str, typer.Option(help="An agent's name, a policy's folder, or module:factory.")],
    seeds: Annotated[str, typer.Option(help="'heldout', or numbers with commas.")] = "heldout",
    num_episodes: Annotated[int, typer.Option("--episodes", min=1, help="Episodes per seed.")] = 1,
    max_seconds: Annotated[float | None, typer.Option(min=0.1, help="Cut episodes after so many seconds of play.")] = None,
    video: Annotated[bool, typer.Option("--video/--no-video", help="Make an mp4 of every episode.")] = True,
    again: Annotated[bool, typer.Option("--again", help="Play even seeds this agent has played already.")] = False,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    seed: SeedOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let an agent play and record it. Run again after an interruption, it goes on with what is missing.

    Try:  interplay play atari/breakout --agent random --seeds heldout
    """
    from interplay.agents.evaluate import evaluate
    from interplay.record import AUTOMATIC_SUCCESS

    task = find(task_id)
    archive = open_archive(data, database)
    drawn = choose_seed(seed)
    chosen = _seeds(seeds, task)
    begun = datetime.now(UTC)
    with progress_bar(f"{agent} plays {task.id}") as report:
        episodes = evaluate(
            archive,
            task,
            agent,
            chosen,
            num_episodes=num_episodes,
            seed=drawn,
            max_steps=None if max_seconds is None else max(1, round(max_seconds * task.frame_rate_hz)),
            video=video,
            again=again,
            processes=len(os.sched_getaffinity(0)),
            report=report,
        )
    mean_return = sum(episode.total_reward for episode in episodes) / len(episodes)
    passed = [episode.statistics.get(AUTOMATIC_SUCCESS) for episode in episodes]  # None where nothing can tell
    checked = any(one is not None for one in passed)
    emit(
        {
            "task": task.id,
            "agent": agent,
            "seed": drawn,
            "mean_return": mean_return,
            "episodes": [
                {
                    "episode": episode.id,
                    "seed": episode.seed,
                    "total_reward": episode.total_reward,
                    "num_steps": episode.num_steps,
                    "outcome": episode.outcome,
                    "automatic": episode.automatic,
                    "video": str(archive.video_path(episode.id)) if video else None,
                }
                for episode in episodes
            ],
        },
        as_json=as_json,
        text=table(
            ["episode", "#seed", "#return", "#steps", "outcome", *(["check"] if checked else [])],
            [
                (
                    episode.id,
                    episode.seed,
                    f"{episode.total_reward:g}",
                    episode.num_steps,
                    episode.outcome,
                    *(["" if one is None else "passed" if one else "failed"] if checked else []),
                )
                for episode, one in zip(episodes, passed, strict=True)
            ],
        ),
    )
    if not as_json:
        where = f", videos in {archive.root / 'media'}" if video else ""
        place = place_options(data, database)
        next_command = f"interplay episodes list{place}"
        if video and set(chosen) <= set(task.held_out_seeds):
            path, colon, _ = task_id.rpartition(":")
            suite = suite_options([Path(path)] if colon else None)
            next_command = f"interplay serve{place}{suite}   (judge it in the browser)"
        emit(None, as_json=False, text=f"\nMean return {mean_return:g} over {len(episodes)} episodes (--seed {drawn}){where}.")
        if checked:
            emit(None, as_json=False, text=f"Automatic evaluation: {sum(map(bool, passed))} of {len(episodes)} passed.")
        if num_kept := sum(episode.created_at < begun for episode in episodes):
            emit(None, as_json=False, text=f"{num_kept} of them were there already; --again plays their seeds anew.")
        emit(None, as_json=False, text=f"Next:  {next_command}")


def _seeds(text: str, task: Task) -> list[int]:
    """The seeds that `--seeds` names."""
    if text == "heldout":
        return list(task.held_out_seeds)
    try:
        chosen = [int(part) for part in text.split(",")]
    except ValueError:
        raise typer.BadParameter(f"--seeds takes 'heldout' or numbers with commas such as 1,2,3; got {text!r}") from None
    if any(not 0 <= one < 2**31 for one in chosen):
        raise typer.BadParameter(f"a seed lies between 0 and 2**31 - 1; got {text!r}")
    return list(dict.fromkeys(chosen))
