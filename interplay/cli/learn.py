"""`interplay learn ALGORITHM`: train an agent on recorded episodes."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from interplay.cli.common import (
    DEFAULT_DATA,
    DatabaseOption,
    DataOption,
    JsonOption,
    emit,
    misuse,
    open_archive,
    place_options,
    progress,
)
from interplay.errors import InterplayError

app = typer.Typer(
    help="Train an agent on recorded episodes.  Try:  interplay learn bc --task atari/space_invaders --out my-clone",
    add_completion=False,
    no_args_is_help=True,
)


@app.callback()
def learn() -> None:
    """Train an agent on recorded episodes.  Try:  interplay learn bc --task atari/space_invaders --out my-clone"""


@app.command()
def bc(
    task: Annotated[str | None, typer.Option(help="Id of the task to learn.")] = None,
    out: Annotated[str | None, typer.Option(help="Name of the policy; it is kept in models/NAME.")] = None,
    actor: Annotated[
        str | None, typer.Option(help="Whose episodes: human, agent, model, any, or a name.  [default: human]")
    ] = None,
    where: Annotated[list[str] | None, typer.Option(help="Only episodes such as 'score >= 200'; may be repeated.")] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Settings for under a minute on two cores.")] = False,
    updates: Annotated[int | None, typer.Option(help="Gradient steps.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Decisions per gradient step.")] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Adam's learning rate at the start.")] = None,
    balance: Annotated[
        float | None, typer.Option(help="0 keeps each action's own frequency, 1 gives all actions the same weight.")
    ] = None,
    temperature: Annotated[
        float | None, typer.Option(help="Temperature of the policy's draws; 0 takes the most likely action.")
    ] = None,
    max_seconds: Annotated[float | None, typer.Option(help="Stop training after so many seconds.")] = None,
    device: Annotated[str | None, typer.Option(help="auto, cpu or cuda.")] = None,
    threads: Annotated[int | None, typer.Option(help="CPU threads; 0 for all cores.")] = None,
    config: Annotated[Path | None, typer.Option(help="Repeat a run: models/NAME/config.json. Other options change it.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue a run that was stopped, with the settings it had.")
    ] = False,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    seed: Annotated[
        int | None, typer.Option(help="Of every random draw; printed and kept with the model.  [default: 0]")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Behaviour cloning: act as the recorded player did.

    Try:  interplay learn bc --task atari/space_invaders --actor human --out my-clone
    """
    from interplay.learn import BCConfig, train
    from interplay.learn.config import CHECKPOINT
    from interplay.learn.train import model_folder

    archive = open_archive(data, database, must_exist=True)
    given: dict[str, Any] = {
        "task": task,
        "actor": actor,
        "where": tuple(where) if where else None,
        "updates": updates,
        "batch_size": batch_size,
        "learning_rate": learning_rate,
        "balance": balance,
        "temperature": temperature,
        "max_seconds": max_seconds,
        "device": device,
        "threads": threads,
        "seed": seed,
    }
    given = {name: value for name, value in given.items() if value is not None}
    if given.get("actor") == "any":
        given["actor"] = None
    if out is None:
        raise typer.BadParameter("say what to call the policy:  --out NAME")
    folder = model_folder(archive, out)
    if resume and config is None and (folder / "config.json").exists():
        config = folder / "config.json"
    if config is None and task is None:
        raise typer.BadParameter("say what to learn:  --task TASK  (see: interplay tasks list), or --config FILE")
    before = None if config is None else BCConfig.read(config)
    with misuse():
        settings = replace(before, **given) if before else BCConfig.fast(**given) if fast else BCConfig(**given)
    if resume and not (folder / "config.json").exists():
        raise InterplayError(f"there is no run {out!r} in {folder} to resume\nCheck the name, or start one without --resume.")
    if resume and not (folder / "model.json").exists() and not (folder / CHECKPOINT).exists():
        print("That run was stopped before its first checkpoint: it begins anew.", file=sys.stderr)

    with progress() as bar:
        reading = bar.add_task("reading episodes", total=None)
        training = bar.add_task("training", total=settings.updates, visible=False)

        def on_episode(done: int, total: int) -> None:
            bar.update(reading, completed=done, total=total)

        def on_update(done: int, total: int) -> None:
            bar.update(training, completed=done, total=total, visible=True)

        def on_metrics(line: dict[str, Any]) -> None:
            text = f"training  loss {line['loss']:.3f}, {line['accuracy']:.0%} matched, {line['updates_per_second']:.0f}/s"
            bar.update(training, description=text)

        result = train(archive, settings, out, resume=resume, on_episode=on_episode, on_update=on_update, on_metrics=on_metrics)
    emit(
        {
            "agent": out,
            "algorithm": "bc",
            "task": settings.task,
            "folder": str(result.folder),
            "updates": result.updates,
            "seconds": round(result.seconds, 3),
            "episodes": result.num_episodes,
            "decisions": result.num_decisions,
            "metrics": result.metrics,
            "config": settings.to_json(),
        },
        as_json=as_json,
        text=_summary(out, settings.task, result, place_options(data, database)),
    )


def _summary(name: str, task: str, result: Any, place: str) -> str:
    """What was learned and what to do next."""
    lines = [
        f"{name}: {result.updates} updates in {result.seconds:.0f} s on {result.num_decisions} decisions "
        f"of {result.num_episodes} episodes.",
    ]
    if "validation_accuracy" in result.metrics:
        lines.append(f"It matches {result.metrics['validation_accuracy']:.1%} of the decisions in episodes it never saw.")
    lines += [
        f"Wrote {result.folder}: model.safetensors, model.json, config.json, metrics.jsonl, curves.svg",
        f"Next:  interplay play {task} --agent {name}{place}",
    ]
    return "\n".join(lines)
