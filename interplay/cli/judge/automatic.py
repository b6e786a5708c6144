"""`interplay judge calibrate` and `automatic`: models as judges, measured on people's answers and kept apart."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

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
    progress,
    table,
)
from interplay.errors import InterplayError

if TYPE_CHECKING:
    from interplay.judge.automatic import TaskJudge
    from interplay.record import Archive

app = typer.Typer(add_completion=False)

DEFAULT_NAME = "preference"
TaskOption = Annotated[str | None, typer.Option("--task", help="One task; all that have answers when left out.")]
NameOption = Annotated[str, typer.Option("--name", help="What the judge is called.")]


@app.command("calibrate")
def calibrate(
    task: TaskOption = None,
    name: NameOption = DEFAULT_NAME,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    seed: SeedOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train a preference model on people's answers and measure how far it can be believed, on seeds it has not seen.

    Try:  interplay judge calibrate --task atari/space_invaders
    """
    from interplay.judge.automatic import AutomaticJudgeError, save
    from interplay.judge.automatic import calibrate as run

    seed = choose_seed(seed)
    made: list[TaskJudge] = []
    skipped: dict[str, str] = {}
    with closing(open_archive(data, database, must_exist=True)) as archive:
        for one in _tasks(archive, task):
            with _bar(one) as on_progress:
                try:
                    judge = run(
                        archive, one, name=name, seed=seed, now=datetime.now(UTC), questions=_questions(archive, one),
                        on_progress=on_progress,
                    )  # fmt: skip
                except AutomaticJudgeError as error:
                    if task is not None:
                        raise
                    skipped[one] = str(error)
                    continue
            save(judge, archive.root)
            made.append(judge)
    if not made:
        raise InterplayError("no task has enough answers for an automatic judge:\n" + "\n".join(skipped.values()))
    document = {
        "name": name,
        "seed": seed,
        "tasks": {judge.task: judge.calibration.to_json() | {"strongest": judge.strongest()} for judge in made},
        "skipped": skipped,
    }
    emit(document, as_json=as_json, text=_report(made, skipped, seed, name, place_options(data, database)))


@app.command("automatic")
def automatic(
    task: TaskOption = None,
    name: NameOption = DEFAULT_NAME,
    vision: Annotated[
        str | None, typer.Option("--vision", help="Address of a vision-language model, up to /chat/completions.")
    ] = None,
    model: Annotated[str | None, typer.Option("--model", help="The vision-language model's name there.")] = None,
    key_env: Annotated[
        str | None, typer.Option("--key-env", help="Environment variable that holds its key; the key is never stored.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Ask about at most so many pairs (with --vision).")
    ] = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    seed: SeedOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let a calibrated model, or a vision-language model, answer pairs; its answers are marked and counted apart.

    Try:  interplay judge automatic --task atari/space_invaders
    """
    import numpy as np

    from interplay.judge.automatic import answer_all, load, load_all

    seed = choose_seed(seed)
    with closing(open_archive(data, database, must_exist=True)) as archive:
        if vision is None:
            if limit is not None:
                raise InterplayError("--limit goes with --vision: a preference model answers every pair at once, in a moment")
            judges = [load(archive.root, name, task)] if task else [one for one in load_all(archive.root) if one.name == name]
            if not judges:
                make = f"interplay judge calibrate --name {name}{place_options(data, database)}"
                raise InterplayError(f"there is no automatic judge {name!r} here yet\nMake it:  {make}")
            counts = {}
            for judge in judges:
                with _bar(judge.task) as on_progress:
                    counts[judge.task] = answer_all(archive, judge, now=datetime.now(UTC), on_progress=on_progress)
        else:
            tasks = _tasks(archive, task)
            counts = {
                one: _look(archive, one, name, vision, model, key_env, limit, np.random.default_rng(seed)) for one in tasks
            }
    lines = [f"{one}: {count:,} new answer{'' if count == 1 else 's'} as model:{name}" for one, count in counts.items()]
    lines += ["They stand on the leaderboard's tab of automatic judges and count in no rating of people's."]
    emit({"judge": f"model:{name}", "seed": seed, "new_answers": counts}, as_json=as_json, text="\n".join(lines))


def _look(
    archive: Archive, task: str, name: str, address: str, model: str | None, key_env: str | None, limit: int | None, rng: Any
) -> int:
    """Let a vision-language model answer pairs of one task."""
    import httpx

    from interplay.judge.automatic import VisionJudge, answer_by_looking
    from interplay.tasks import find

    if model is None:
        raise InterplayError("name the vision-language model:  --vision ADDRESS --model NAME")
    key = None
    if key_env is not None:
        key = os.environ.get(key_env)
        if not key:
            raise InterplayError(f"the environment variable {key_env} is not set; it should hold the model's key")
    looking = VisionJudge(address, model, key, archive.root / "models" / "judges" / name / "calls.jsonl")
    questions = _questions(archive, task)
    goal = find(task).goal
    with httpx.Client() as client, _bar(task) as on_progress:
        return answer_by_looking(
            archive, name, task,
            lambda left, right: looking.ask(goal, questions, left, right, client=client),
            now=lambda: datetime.now(UTC), rng=rng, limit=limit, on_progress=on_progress,
        )  # fmt: skip


def _tasks(archive: Archive, task: str | None) -> list[str]:
    """The asked task, or all that can be judged."""
    from interplay.store import judging as store

    with archive.database.read() as session:
        tasks = store.judged_tasks(session)
    if task is not None:
        from interplay.tasks import find

        find(task)
        return [task]
    if not tasks:
        raise InterplayError(f"no task in {archive.root} has two agents to compare\nBegin with:  interplay demo --fast")
    return tasks


def _questions(archive: Archive, task: str) -> tuple[Any, ...]:
    from interplay.tasks import find

    return find(task).questions


@contextmanager
def _bar(task: str) -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar that says what is being done."""
    with progress() as bar:
        row = bar.add_task(task, total=None)

        def on_progress(what: str, done: int, total: int) -> None:
            bar.update(row, description=f"{task}: {what}", completed=done, total=total)

        yield on_progress


def _report(made: list[TaskJudge], skipped: dict[str, str], seed: int, name: str, place: str) -> Any:
    """Tables for people."""
    from rich.console import Group

    rows = []
    for judge in made:
        found = judge.calibration
        people = "–" if found.people_agree is None else f"{found.people_agree:.0%} of {found.num_people_pairs}"
        saved = "–" if found.answers_saved is None else f"{found.answers_saved:,}"
        rows.append(
            (
                judge.task,
                f"{found.num_answers:,}",
                f"{found.accuracy:.0%} ({found.commonest:.0%})",
                f"{found.decided_accuracy:.0%}",
                f"{found.brier:.3f} ({found.brier_reference:.3f})",
                f"{found.calibration_error:.3f}",
                people,
                saved,
            )
        )
    headers = [
        "task",
        "#answers",
        "#right (commonest)",
        "#side right",
        "#Brier (shares)",
        "#ECE",
        "#people agree",
        "#answers saved",
    ]
    parts: list[Any] = [table(headers, rows)]
    for judge in made:
        strongest = ", ".join(f"{name} {weight:+.2f}" for name, weight in judge.strongest(5))
        nothing = "nothing it sees tells which episode people prefer; it has learnt nothing"
        parts += ["", f"{judge.task} looks most at: {strongest}" if strongest else f"{judge.task}: {nothing}"]
    if skipped:
        parts += ["", f"Too few answers yet: {', '.join(skipped)}"]
    parts += ["", f"Every figure is about seeds the model did not see. Seed of the splits: {seed}."]
    named = "" if name == DEFAULT_NAME else f" --name {name}"
    parts += [f"Let it answer:  interplay judge automatic{named}{place}      See more:  /judges/automatic on the server"]
    return Group(*parts)
