"""`interplay tasks list | show | check`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from interplay.cli.common import JsonOption, emit, table
from interplay.errors import InterplayError
from interplay.tasks import Task, TaskError, builtin_suites, find, index, load_suite

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
        [{"id": task.id, "title": task.title, "goal": task.goal, "env": task.env.id} for task in tasks],
        as_json=as_json,
        text=table(["task", "title", "goal"], [(task.id, task.title, task.goal) for task in tasks]),
    )


@app.command()
def show(
    task_id: Annotated[str, typer.Argument(metavar="TASK", help="Id, or my.toml:name.")], as_json: JsonOption = False
) -> None:
    """Show one task whole."""
    task = find(task_id)
    document = task.to_json() | {"content_hash": task.content_hash}
    lines = [f"{task.title}  {task.id}  ({task.content_hash})", task.goal, "", task.instructions, ""]
    lines += [f"environment   {task.env.id} at {task.frame_rate_hz:g} Hz, at most {task.time_limit_s:g} s"]
    lines += [f"held-out      seeds {', '.join(map(str, task.held_out_seeds))}"]
    for button in task.keys.buttons:
        bound = ", ".join(code for code, name in task.keys.bindings.items() if name == button)
        lines.append(f"{button.lower():13} {bound}  {task.keys.labels.get(button, '')}")
    lines += ["", *(f"{question.kind:13} {question.text}  ({question.factor})" for question in task.questions)]
    emit(document, as_json=as_json, text="\n".join(lines))


@app.command()
def check(file: Annotated[Path, typer.Argument(help="A task file (TOML).")], as_json: JsonOption = False) -> None:
    """Check a task file: read it, build every environment, compare every key's action, play one step."""
    suite = load_suite(file)
    index([*builtin_suites(), suite])  # refuses ids that stand in a built-in suite
    for task in suite.tasks:
        try:
            _try_out(task)
        except InterplayError as error:
            raise TaskError(f"{file}: task {task.name}: {error}") from error
    emit(
        {"suite": suite.id, "tasks": [task.id for task in suite.tasks]},
        as_json=as_json,
        text=f"{file}: {len(suite.tasks)} {'task' if len(suite.tasks) == 1 else 'tasks'}, all good.\n"
        f"Play one:  interplay play {file}:{suite.tasks[0].name} --agent random",
    )


def _try_out(task: Task) -> None:
    """Build the environment and play one step.

    Raises:
        InterplayError: If it cannot be built, or a key's action is none of its own.
    """
    from interplay.envs import make

    env = make(task)
    try:
        env.reset(seed=task.held_out_seeds[0])
        env.view()
        for combination, action in task.keys.actions.items():
            if not env.action_space.contains(action):
                raise TaskError(
                    f"keys.actions.{'+'.join(sorted(combination))!r}: {action!r} is not an action of {task.env.id}\n"
                    f"Remedy: actions lie in {env.action_space}."
                )
        env.step(task.keys.noop)
    finally:
        env.close()
