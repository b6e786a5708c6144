"""`interplay learn ALGORITHM`: train an agent on recorded episodes; each algorithm is a command, each setting an option."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

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
from interplay.learn import CONFIGS, TrainingConfig, train
from interplay.learn.config import CHECKPOINT
from interplay.learn.train import model_folder

app = typer.Typer(
    help="Train an agent on recorded episodes.  Try:  interplay learn bc --task atari/space_invaders --out my-clone",
    add_completion=False,
    no_args_is_help=True,
)

DOES = {
    "bc": "Behaviour cloning: act as the recorded player did.",
    "fbc": "Behaviour cloning of the episodes with the highest return.",
    "bcq": "Batch-constrained Q-learning: the best of the actions that players do take.",
    "cql": "Conservative Q-learning: values that do not hope for actions nobody took.",
    "dqn": "Deep Q-network: the action of the highest value.",
    "iql": "Implicit Q-learning: imitate more what turned out better.",
    "iqn": "Implicit quantile network: the action of the highest mean of all returns that may come.",
    "sac": "Discrete soft actor-critic: probabilities that weigh value against variety.",
}
"""Algorithm -> what it does, in a sentence."""


@app.callback()
def learn() -> None:
    """Train an agent on recorded episodes.  Try:  interplay learn bc --task atari/space_invaders --out my-clone"""


def command(config_class: type[TrainingConfig]) -> Callable[..., None]:
    """The command of an algorithm, with an option for each of its settings."""
    settings = {item.name: item for item in fields(config_class)}
    hints = get_type_hints(config_class)
    presets = sorted(config_class.presets)

    def run(**options: Any) -> None:
        given = {name: _value(hints[name], options[name], name) for name in settings if options[name] is not None}
        _learn(config_class, given, **{name: value for name, value in options.items() if name not in settings})

    annotations: dict[str, Any] = {"out": _option("Name of the policy; it is kept in models/NAME.", str)}
    for name, item in settings.items():
        default = item.default
        shown = "" if default is MISSING or default is False or default in (None, ()) else f"  [default: {_shown(default)}]"
        annotations[name] = _option(item.metadata["help"] + shown, _kind(hints[name]))
    if presets:
        annotations["preset"] = _option(f"Settings to begin with: {', '.join(presets)}; see docs/learning.md.", str)
    if "fast" in presets:
        annotations["fast"] = Annotated[bool, typer.Option("--fast", help="Settings for under a minute on two cores.")]
    annotations["config"] = _option("Repeat a run: models/NAME/config.json. Other options change it.", Path)
    resume = typer.Option("--resume", help="Continue a run that was stopped, with the settings it had.")
    annotations |= {"resume": Annotated[bool, resume], "data": DataOption, "database": DatabaseOption, "as_json": JsonOption}
    defaults = {"fast": False, "resume": False, "data": DEFAULT_DATA, "as_json": False}
    run.__annotations__ = annotations
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  (what Typer makes its options of)
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults.get(name), annotation=annotation)
            for name, annotation in annotations.items()
        ]
    )
    name = config_class.algorithm
    run.__doc__ = f"{DOES[name]}\n\nTry:  interplay learn {name} --task atari/space_invaders --actor human --out my-{name}"
    return run


def _option(help: str, kind: Any) -> Any:
    return Annotated[kind | None, typer.Option(help=help)]


def _kind(hint: Any) -> Any:
    """What Typer reads an option of a setting as; numbers of a list are one text."""
    if get_origin(hint) is tuple:
        return list[str] if get_args(hint)[0] is str else str
    return next(one for one in (*get_args(hint), hint) if one is not type(None))


def _shown(default: Any) -> str:
    return ",".join(map(str, default)) if isinstance(default, tuple) else str(default)


def _value(hint: Any, value: Any, name: str) -> Any:
    """An option's value as its setting takes it."""
    if get_origin(hint) is not tuple:
        return value
    if get_args(hint)[0] is str:
        return tuple(value)
    try:
        return tuple(int(part) for part in value.split(","))
    except ValueError:
        raise typer.BadParameter(
            f"--{name} must be whole numbers with commas between, such as 0,1,2,3; got {value!r}"
        ) from None


def _learn(
    config_class: type[TrainingConfig],
    given: dict[str, Any],
    *,
    out: str | None,
    config: Path | None,
    resume: bool,
    data: Path,
    database: str | None,
    as_json: bool,
    preset: str | None = None,
    fast: bool = False,
) -> None:
    """Train as asked, show how it goes, and say what came of it."""
    archive = open_archive(data, database, must_exist=True)
    if given.get("actor") == "any":
        given["actor"] = None
    if not given.get("where", True):
        del given["where"]
    if out is None:
        raise typer.BadParameter("say what to call the policy:  --out NAME")
    folder = model_folder(archive, out)
    if resume and config is None and (folder / "config.json").exists():
        config = folder / "config.json"
    if config is None and "task" not in given:
        raise typer.BadParameter("say what to learn:  --task TASK  (see: interplay tasks list), or --config FILE")
    before = None if config is None else config_class.read(config)
    preset = "fast" if fast else preset
    with misuse():
        if before is not None:
            settings = replace(before, **given)
        else:
            settings = config_class(**given) if preset is None else config_class.preset(preset, **given)
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
            matched = f", {line['accuracy']:.0%} matched" if "accuracy" in line else ""
            bar.update(training, description=f"training  loss {line['loss']:.3f}{matched}, {line['updates_per_second']:.0f}/s")

        result = train(archive, settings, out, resume=resume, on_episode=on_episode, on_update=on_update, on_metrics=on_metrics)
    emit(
        {
            "agent": out,
            "algorithm": settings.algorithm,
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


for _name, _config_class in CONFIGS.items():
    app.command(_name)(command(_config_class))
