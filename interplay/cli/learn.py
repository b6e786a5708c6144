"""`interplay learn ALGORITHM`: train an agent; each algorithm is a command, and each of its settings is an option."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import typer

from interplay.cli.options import DEFAULT_DATA, DatabaseOption, DataOption, RayOption, misuse, open_archive, place_options
from interplay.cli.output import JsonOption, emit, progress, stage_bars, table
from interplay.errors import InterplayError, NotFoundError
from interplay.jobs import Executor
from interplay.learn import CONFIGS, PPOConfig, practise, train
from interplay.learn.config import CHECKPOINT, RunConfig
from interplay.learn.settings import DaggerConfig, RewardConfig
from interplay.learn.train import model_folder
from interplay.tasks import find
from interplay.wording import amount

if TYPE_CHECKING:
    from interplay.learn.benchmark import Results
    from interplay.learn.harness.run import TrainingResult
    from interplay.learn.reward.training import FittedReward
    from interplay.record import Archive

Config = TypeVar("Config", bound=RunConfig)

app = typer.Typer(
    help="Train an agent, on recorded episodes or by playing.  Try:  interplay learn bc --task atari/qbert --out my-clone",
    add_completion=False,
    no_args_is_help=True,
)


@app.callback()
def learn() -> None:
    """Train an agent, on recorded episodes or by playing.  Try:  interplay learn bc --task atari/qbert --out my-clone"""


@dataclass(frozen=True)
class _Options:
    """Options of a run that are not settings of the algorithm."""

    out: str
    config: Path | None
    resume: bool
    data: Path
    database: str | None
    as_json: bool
    preset: str | None = None
    fast: bool = False
    ray: str | None = None

    @property
    def place(self) -> str:
        return place_options(self.data, self.database)


def add_command(config_class: type[RunConfig], act: Callable[..., None]) -> None:
    """Add the command of an algorithm, with an option for each of its settings; the command calls `act`."""
    settings = {item.name: item for item in fields(config_class)}
    hints = get_type_hints(config_class)
    presets = sorted(config_class.presets)

    makes, place = config_class.makes

    def run(**values: Any) -> None:
        if values["out"] is None:
            raise typer.BadParameter(f"name the {makes}:  --out NAME")
        given = {name: _value(hints[name], values[name], name) for name in settings if values[name] not in (None, [])}
        act(config_class, given, _Options(**{name: value for name, value in values.items() if name not in settings}))

    options: dict[str, Any] = {"out": _option(f"Name of the {makes}; it is kept in {place}/NAME.", str)}
    for name, item in settings.items():
        default = item.default
        shown = "" if default is MISSING or default is False or default in (None, ()) else f" Default: {_shown(default)}."
        options[name] = _option(item.metadata["help"] + shown, _kind(hints[name]))
    if presets:
        options["preset"] = _option(f"Settings to begin with: {', '.join(presets)}; see docs/learning.md.", str)
    if "fast" in presets:
        options["fast"] = Annotated[bool, typer.Option("--fast", help="Settings for under a minute on two cores.")]
    options["config"] = _option(f"Repeat a run: {place}/NAME/config.json. Other options change it.", Path)
    resume = typer.Option("--resume", help="Continue a run that was stopped, with the settings it had.")
    if "workers" in settings:
        options["ray"] = RayOption
    options |= {"resume": Annotated[bool, resume], "data": DataOption, "database": DatabaseOption, "as_json": JsonOption}
    defaults = {"fast": False, "resume": False, "data": DEFAULT_DATA, "as_json": False}
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  (what Typer makes its options of)
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults.get(name), annotation=annotation)
            for name, annotation in options.items()
        ]
    )
    name = config_class.algorithm
    does = (config_class.__doc__ or "").partition("\n")[0]
    text = f"{does}\n\nTry:  interplay learn {name} --task {config_class.example} --out my-{name}"
    app.command(name, help=text)(run)


def _option(help: str, kind: Any) -> Any:
    return Annotated[kind | None, typer.Option(help=help)]


def _kind(hint: Any) -> Any:
    """Return the type that Typer uses for the option of a setting; a list of numbers is read as text."""
    if get_origin(hint) is tuple:
        return list[str] if get_args(hint)[0] is str else str
    return next(one for one in (*get_args(hint), hint) if one is not type(None))


def _shown(default: Any) -> str:
    return ",".join(map(str, default)) if isinstance(default, tuple) else str(default)


def _value(hint: Any, value: Any, name: str) -> Any:
    if get_origin(hint) is not tuple:
        return value
    if get_args(hint)[0] is str:
        return tuple(value)
    try:
        return tuple(int(part) for part in value.split(","))
    except ValueError:
        raise typer.BadParameter(
            f"--{name} must be whole numbers separated by commas, such as 0,1,2,3; got {value!r}"
        ) from None


def _learn(
    train: Callable[..., TrainingResult],
    config_class: type[RunConfig],
    given: dict[str, Any],
    options: _Options,
) -> None:
    archive = open_archive(options.data, options.database, must_exist=not config_class.learns_by_playing)
    folder = model_folder(archive, options.out)
    settings = _settings(config_class, given, folder, options, "model.json")
    with _stoppable(folder, settings, options.place):
        result = _watched(train, archive, settings, options)
    emit(
        {
            "agent": options.out,
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
        as_json=options.as_json,
        text=_summary(options.out, settings, result, options.place),
    )


def _learn_reward(config_class: type[RewardConfig], given: dict[str, Any], options: _Options) -> None:
    from interplay.learn.reward.pairs import asked_segments
    from interplay.learn.reward.storage import reward_folder
    from interplay.learn.reward.training import fit

    archive = open_archive(options.data, options.database, must_exist=True)
    if "study" in given and "task" not in given and options.config is None and not options.resume:
        asked = asked_segments(archive.database, given["study"])
        given = {"seat": asked.seat, **given, "task": asked.task}
    folder = reward_folder(archive, options.out)
    settings = _settings(config_class, given, folder, options, "reward.json")
    with _stoppable(folder, settings, options.place):
        result = _watched(fit, archive, settings, options)
    emit(
        {"reward": options.out, "folder": str(result.folder), "updates": result.updates, "seconds": round(result.seconds, 3)}
        | result.description,
        as_json=options.as_json,
        text=_reward_text(options.out, settings.task, result, options.place),
    )


def _learn_dagger(config_class: type[DaggerConfig], given: dict[str, Any], options: _Options) -> None:
    from rich.console import Group

    from interplay.learn.dagger import dagger

    archive, out = open_archive(options.data, options.database), options.out
    folder = model_folder(archive, out)
    settings = _settings(config_class, given, folder, options, "config.json")
    with _stoppable(folder, settings, options.place), stage_bars() as report:
        lines = dagger(archive, settings, out, report=report, say=lambda text: print(text, file=sys.stderr, flush=True))
    rows = [
        [
            *(line[name] for name in ("agent", "player", "games", "labels")),
            "" if line["matched"] is None else f"{line['matched']:.1%}",
            f"{line['mean_return']:.4g}",
        ]
        for line in lines
    ]
    emit(
        {"run": out, "task": settings.task, "agent": lines[-1]["agent"], "rounds": lines, "config": settings.to_json()},
        as_json=options.as_json,
        text=Group(
            table(
                ["agent", "who played", "#games", "#labels", "#matched the expert", "#mean return"],
                rows,
                title=f"{out}: {amount(len(lines), 'round')} on {settings.task}",
            ),
            f"Next:  interplay play {settings.task} --agent {lines[-1]['agent']} --seeds heldout{options.place}",
        ),
    )


def _settings(config_class: type[Config], given: dict[str, Any], folder: Path, options: _Options, last: str) -> Config:
    """Return the settings of a run: those of the run that it continues or repeats, changed by the given options."""
    config, preset, fast, resume = options.config, options.preset, options.fast, options.resume
    if fast and preset is not None:
        raise typer.BadParameter("--fast is a preset; choose it or --preset, not both")
    if config is not None and (fast or preset is not None):
        raise typer.BadParameter("--config gives all settings; choose it or a preset, not both")
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
        raise InterplayError(
            f"there is no run {options.out!r} in {folder} to resume\nCheck the name, or start one without --resume."
        )
    if resume and not (folder / last).exists() and not (folder / CHECKPOINT).exists():
        print("That run was stopped before its first checkpoint: it begins anew.", file=sys.stderr)
    return settings


def _watched(act: Callable[..., Any], archive: Archive, settings: RunConfig, options: _Options) -> Any:
    with progress() as bar:
        plays = settings.learns_by_playing
        reading = bar.add_task("beginning to play" if plays else "reading episodes", total=None)
        training = bar.add_task("training", total=None, visible=False)

        def on_episode(done: int, total: int) -> None:
            bar.update(reading, completed=done, total=total)

        def on_update(done: int, total: int) -> None:
            bar.update(reading, visible=False)
            bar.update(training, completed=done, total=total, visible=True)

        def on_metrics(line: dict[str, Any]) -> None:
            more = f", {line['accuracy']:.0%} matched" if "accuracy" in line else ""
            more += f", mean return {line['return']:.4g}" if "return" in line else ""
            speed = line.get("decisions", line["update"]) / max(line["seconds"], 1e-9)
            bar.update(training, description=f"training  loss {line['loss']:.4g}{more}, {speed:.0f}/s")

        follow: dict[str, Any] = {"on_update": on_update, "on_metrics": on_metrics}
        if not plays:
            follow["on_episode"] = on_episode
        if isinstance(settings, PPOConfig):
            follow["executor"] = Executor(ray=options.ray)
        return act(archive, settings, options.out, resume=options.resume, **follow)


@contextmanager
def _said_when_stopped(text: Callable[[], str]) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        print(text(), file=sys.stderr, flush=True)
        raise


@contextmanager
def _stoppable(folder: Path, settings: RunConfig, place: str) -> Iterator[None]:
    def text() -> str:
        for name, what in (("model.json", "policy"), ("reward.json", "reward")):
            if (folder / name).exists():  # written last; curves are drawn afterwards
                return f"Stopped, but the {what} is finished and kept in {folder}; only its curves may be missing."
        again = f"Continue:  interplay learn {settings.algorithm} --out {folder.name} --resume{place}"
        if (folder / "rounds.json").exists():
            return f"Stopped: the games and agents of finished rounds are kept in {folder}. {again}"
        if (folder / CHECKPOINT).exists():
            return f"Stopped: the last checkpoint is kept in {folder}. {again}"
        if (folder / "config.json").exists():
            return f"Stopped before the first checkpoint: only the settings are kept, in {folder}. {again}"
        return "Stopped before the run began: nothing is kept of it."

    with _said_when_stopped(text):
        yield


def _reward_text(name: str, task: str, result: FittedReward, place: str) -> str:
    found = result.description
    lines = [f"{name}: a reward from {found['answers']} answers about {found['games']} games, in {result.seconds:.0f} s."]
    if found["answers_left_out"]:
        lines.append(f"Left out: {found['answers_left_out']} answers about a segment that holds no whole decision.")
    if "unseen_accuracy" in found:
        share, num = found["unseen_accuracy"], found["unseen_answers"]
        lines.append(f"There are {num} answers about worlds that it never saw. Draws apart, it predicts {share:.1%} of them.")
        if found["is_at_chance"]:
            lines.append(
                "That is no better than a coin: do not train on this reward. Collect more answers, and learn it again."
            )
    if found.get("correlation") is not None:
        goes = f"its rank correlation with the game's own score is {found['correlation']:.2f}"
        lines.append(f"In {found['unseen_games']} games that it did not learn from, {goes}.")
    if found["study"] is not None:
        lines.append(f"Study {found['study']} now asks about the pairs of segments that it is least sure about.")
    elif found["unsure"]:
        one = found["unsure"][0]
        lines.append(
            f"It is least sure about the games {one['left']} and {one['right']} (seed {one['seed']}): ask about them next."
        )
    lines.append(f"Next:  interplay learn iql --task {task} --reward {name} --out NAME{place}")
    return "\n".join(lines)


def _summary(name: str, settings: Any, result: TrainingResult, place: str) -> str:
    lines = [
        f"{name}: {amount(result.updates, 'update')} in {result.seconds:.0f} s on {amount(result.num_decisions, 'decision')} "
        f"of {amount(result.num_episodes, 'episode')}.",
    ]
    if settings.learns_by_playing:
        made, planned, counted = result.num_decisions, settings.steps, "decisions"
    else:
        made, planned, counted = result.updates, settings.updates, "updates"
    if made < planned:
        lines.append(f"Training stopped after {settings.max_seconds:g} s (max_seconds), at {made} of {planned} {counted}.")
    if "return" in result.metrics:
        lines.append(f"The mean return of its last games is {result.metrics['return']:.4g}.")
    if "validation_accuracy" in result.metrics:
        lines.append(f"It matches {result.metrics['validation_accuracy']:.1%} of the decisions in episodes it never saw.")
    lines += [
        f"Wrote {result.folder}: model.safetensors, model.json, config.json, metrics.jsonl, curves.svg",
        _to_play(settings.task, name, place),
    ]
    return "\n".join(lines)


def _to_play(task: str, name: str, place: str) -> str:
    """Return the command that lets the policy play; if it was learned from recordings, its task may be in no suite."""
    try:
        find(task)
    except NotFoundError:
        return f"Next:  interplay play FILE.toml:NAME --agent {name}{place}   (a task of your own in the world of {task})"
    return f"Next:  interplay play {task} --agent {name}{place}"


@app.command()
def benchmark(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="TOML file with tasks, algorithms and seeds.")],
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Number of runs at the same time; default: one for each core.")
    ] = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    ray: RayOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train and measure every algorithm of a file on every task and seed; runs that exist already are kept.

    After an interruption, run it again: it continues. See the report with:  interplay report offline

    Try:  interplay learn benchmark bench/tiny.toml
    """
    from interplay.learn.benchmark import read
    from interplay.learn.benchmark.runner import run_benchmark

    chosen = read(file)
    archive = open_archive(data, database)
    executor = Executor(jobs or len(os.sched_getaffinity(0)), ray)
    with (
        _said_when_stopped(lambda: _benchmark_kept(file, jobs, place_options(data, database))),
        stage_bars(counts=False) as report,
    ):
        results = run_benchmark(archive, chosen, executor=executor, report=report)
    emit(results.to_json() | results.summary(), as_json=as_json, text=_benchmark_text(results, place_options(data, database)))
    if failed := [run for run in results.runs if run.problem]:
        reasons = "\n".join(f"{run.agent}: {run.problem}" for run in failed)
        raise InterplayError(f"{len(failed)} of {len(results.runs)} runs failed; the others are kept\n{reasons}")


def _benchmark_kept(file: Path, jobs: int | None, place: str) -> str:
    again = f"interplay learn benchmark {file}{'' if jobs is None else f' --jobs {jobs}'}{place}"
    return f"Stopped: finished runs and checkpoints are kept. Continue:  {again}"


def _benchmark_text(results: Results, place: str) -> Any:
    from rich.console import Group

    from interplay.learn.benchmark.scores import AGGREGATES

    summary = results.summary()
    ranked = sorted(summary["aggregates"].items(), key=lambda item: -item[1]["IQM"]["value"])
    rows = [
        [name, *("{value:.3f} ({low:.3f} to {high:.3f})".format(**one) for one in kinds.values())] for name, kinds in ranked
    ]
    complete = f"{len(summary['complete_tasks'])} of {len(results.tasks)} tasks complete"
    return Group(
        table(
            ["algorithm", *(f"#{kind}" for kind in AGGREGATES)],
            rows,
            title=f"{results.title}: {amount(len(results.seeds), 'seed')}, {complete}",
        ),
        "",
        "Scores: 0 is random play, 1 the best game compared with. 95 % intervals come from resampling the runs of each task.",
        f"Next:  interplay report offline --benchmark {results.id}{place}",
    )


for _config_class in CONFIGS.values():
    add_command(_config_class, partial(_learn, train))
add_command(PPOConfig, partial(_learn, practise))
add_command(DaggerConfig, _learn_dagger)
add_command(RewardConfig, _learn_reward)
