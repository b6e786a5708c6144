"""`interplay tasks list | show | check`."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import gymnasium
import typer

from interplay.cli.output import JsonOption, emit, progress, table
from interplay.envs.backends import to_install
from interplay.errors import InterplayError
from interplay.tasks import Task, TaskError, builtin_suites, find, index, load_suite
from interplay.wording import amount

if TYPE_CHECKING:
    from interplay.record.verification.environment_check import EnvironmentCheck, Verdict

app = typer.Typer(
    add_completion=False,
    help="Tasks: what is asked of a player.  Try:  interplay tasks show atari/breakout",
    no_args_is_help=True,
)


@app.command("list")
def list_tasks(as_json: JsonOption = False) -> None:
    """List the built-in tasks."""
    tasks = [task for suite in builtin_suites() for task in suite.tasks]
    emit(
        [
            {"id": task.id, "title": task.title, "goal": task.goal, "env": task.env.id, "to_install": to_install(task)}
            for task in tasks
        ],
        as_json=as_json,
        text=table(["task", "title", "goal"], [(task.id, task.title, _not_here(task) or task.goal) for task in tasks]),
    )


def _not_here(task: Task) -> str:
    """Return the line that says that a task's world is not installed, and how to install it; empty if it is installed."""
    line = to_install(task)
    return f"not installed; install it with:  {line}" if line else ""


@app.command()
def show(
    task_id: Annotated[str, typer.Argument(metavar="TASK", help="Id of a task, or my.toml:name.")], as_json: JsonOption = False
) -> None:
    """Show all about one task: texts, limits, seeds, keys and questions."""
    task = find(task_id)
    document = task.to_json() | {"content_hash": task.content_hash, "to_install": to_install(task)}
    lines = [f"{task.title}  {task.id}  ({task.content_hash})", task.goal, "", task.instructions, ""]
    if task.env.is_playable:
        limit = f"by turns, at most {task.max_steps}" if task.takes_turns else f"at most {task.time_limit_s:g} s"
        lines += [f"environment   {task.env.id} at {task.frame_rate_hz:g} Hz, {limit}"]
        lines += [f"              {_not_here(task)}"] if _not_here(task) else []
    else:
        lines += [f"environment   none: videos only, to judge, at {task.frame_rate_hz:g} Hz"]
    lines += [f"held-out      seeds {', '.join(map(str, task.held_out_seeds))}"]
    for button in task.keys.buttons:
        bound = ", ".join(code for code, name in task.keys.bindings.items() if name == button)
        lines.append(f"{button:13} {bound}  {task.keys.labels.get(button, '')}")
    if task.keys.pointer is not None:
        lines.append(f"{task.keys.pointer:13} the mouse, {task.keys.pointer_degrees:g} degrees a pixel")
    for axis in task.keys.axes:
        first, last = axis.values
        lines.append(f"{axis.pointer:13} the pointer over the picture, from {first:g} to {last:g}")
    lines += ["", *(f"{question.kind:13} {question.text}  ({question.factor})" for question in task.questions)]
    emit(document, as_json=as_json, text="\n".join(lines))


@app.command()
def check(
    file: Annotated[Path | None, typer.Argument(help="A task file (TOML).")] = None,
    env_id: Annotated[
        list[str] | None,
        typer.Option("--env", metavar="ID", help="Check this Gymnasium id instead of a file; may be repeated."),
    ] = None,
    every_env: Annotated[
        bool, typer.Option("--every-env", help="Check every id that the installed packages register, instead of a file.")
    ] = False,
    steps: Annotated[int, typer.Option(min=1, max=1_000_000, help="Number of steps to record in each environment.")] = 60,
    as_json: JsonOption = False,
) -> None:
    """Check a task file: read it, build every environment, compare every key's action, then record, seal, verify and replay.

    Random actions are recorded, in a temporary folder. Tasks that have only videos have no environment; for them only the
    file is read. Exit 1 when something cannot be recorded or replayed.

    Try:  interplay tasks check my.toml      interplay tasks check --env Taxi-v4 --steps 200
    """
    if (file is not None) + bool(env_id) + every_env != 1:
        raise typer.BadParameter("give a task file, or --env ID, or --every-env")
    if file is not None:
        _check_file(file, steps, as_json=as_json)
    else:
        _check_ids(env_id, steps, as_json=as_json)


def _check_file(file: Path, steps: int, *, as_json: bool) -> None:
    from interplay.record.verification.environment_check import try_out

    suite = load_suite(file)
    index([*builtin_suites(), suite])  # refuses ids that stand in a built-in suite
    playable = [task for task in suite.tasks if task.env.is_playable]
    faults: dict[str, str] = {}
    for task in playable:
        try:
            try_out(task)
        except (Exception, SystemExit) as error:  # a world of others may fail in any way, or end the program
            faults[task.name] = str(error) if isinstance(error, InterplayError) else f"{type(error).__name__}: {error}"
    tried = [task for task in playable if task.name not in faults]
    found = _checks(tried, steps)
    for task, check in zip(tried, found, strict=True):
        if check.verdict != "good":
            faults[task.name] = f"{_WORDS[check.verdict]}: {check.reason}"
    if faults:
        raise TaskError("\n".join(f"{file}: task {name}: {fault}" for name, fault in faults.items()))
    lines = [f"{file}: {amount(len(suite.tasks), 'task')}, all good."]
    lines += [f"{task.name}: {_line(check)}" for task, check in zip(playable, found, strict=True)]
    lines.append(
        f"Play one:  interplay play {file}:{playable[0].name} --agent random"
        if playable
        else f"Add videos to judge:  interplay judge add-agent NAME DIR --suite {file}"
    )
    document = {
        "suite": suite.id,
        "tasks": [task.id for task in suite.tasks],
        "rehearsals": [asdict(check) for check in found],
    }
    emit(document, as_json=as_json, text="\n".join(lines))


def _check_ids(ids: list[str] | None, steps: int, *, as_json: bool) -> None:
    from interplay.record.gymnasium_task import task_of

    chosen = registered_ids() if ids is None else ids
    found = _checks([task_of(env_id) for env_id in chosen], steps)
    counts: dict[Verdict, int] = {verdict: sum(one.verdict == verdict for one in found) for verdict in _WORDS}
    lines = [f"{env_id}: {_line(one)}" for env_id, one in zip(chosen, found, strict=True)]
    lines.append(", ".join(f"{count} {_WORDS[verdict]}" for verdict, count in counts.items() if count) + ".")
    document = {"environments": [asdict(one) for one in found], "counts": counts}
    emit(document, as_json=as_json, text="\n".join(lines))
    # Of every id, some need packages that nobody asked for.
    if counts["not recorded"] or counts["not replayed"] or (counts["not made"] and ids is not None):
        raise typer.Exit(1)


def registered_ids() -> list[str]:
    """Return every environment id that the installed packages register with Gymnasium."""
    import interplay.envs  # noqa: F401

    with suppress(ImportError):
        import ale_py  # noqa: F401
    return sorted(gymnasium.registry)


_WORDS: dict[Verdict, str] = {
    "good": "recorded, verified and replayed",
    "not replayed": "recorded but not replayed",
    "not recorded": "cannot be recorded",
    "not made": "cannot be made here",
}


def _checks(tasks: Sequence[Task], steps: int) -> list[EnvironmentCheck]:
    import interplay.record
    from interplay.record.verification.environment_check import check_environment

    if not tasks:
        return []
    log = logging.getLogger("interplay.record")
    level = log.level
    log.setLevel(logging.ERROR)  # what is left out of infos is in the answer
    try:
        with (
            tempfile.TemporaryDirectory(prefix="interplay-check-") as folder,
            closing(interplay.record.open(folder)) as archive,
            progress() as bar,
        ):
            return [
                check_environment(archive, task, num_steps=steps)
                for task in bar.track(tasks, description="recording and replaying")
            ]
    finally:
        log.setLevel(level)


def _line(found: EnvironmentCheck) -> str:
    """Return the result of a check as a line; if there is a reason, with all its lines."""
    if found.verdict != "good":
        return f"{_WORDS[found.verdict]}: {found.reason}".replace("\n", "\n  ")
    episodes = f" in {found.num_episodes} episodes" if found.num_episodes > 1 else ""
    text = f"{amount(found.num_steps, 'step')}{episodes} {_WORDS['good']}"
    if found.num_nonfinite:
        text += f"; {found.num_nonfinite} rewards are NaN or infinite and count for nothing in totals"
    if found.num_outside:
        text += f"; {amount(found.num_outside, 'observation')} outside of the observation space"
    if found.left_out:
        text += f"; not recorded of info: {', '.join(found.left_out)}"
    return text
