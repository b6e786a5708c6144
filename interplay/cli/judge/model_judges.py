"""`interplay judge calibrate | by-model`: models as judges, measured on people's answers and counted apart from them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interplay.cli.judge.judge_figures import agreement_report, calibration_report
from interplay.cli.options import DEFAULT_DATA, DatabaseOption, DataOption, SeedOption, choose_seed, open_archive, place_options
from interplay.cli.output import JsonOption, emit, progress
from interplay.errors import InterplayError
from interplay.wording import amount

if TYPE_CHECKING:
    from interplay.model_judges import MeasuredJudge, TaskJudge
    from interplay.record import Archive

app = typer.Typer(add_completion=False)

DEFAULT_NAME = "preference"
DEFAULT_LOOKING_NAME = "vision"
TaskOption = Annotated[str | None, typer.Option("--task", help="One task; default: every task that has answers.")]
NameOption = Annotated[str, typer.Option("--name", help="Name of the judge.")]


@app.command("calibrate")
def calibrate(
    task: TaskOption = None,
    name: NameOption = DEFAULT_NAME,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    seed: SeedOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train a preference model on people's answers and measure its accuracy and calibration on seeds that it has not seen.

    A vision-language model is not trained: its answers so far are compared with people's answers.

    Try:  interplay judge calibrate --task atari/space_invaders
    """
    from interplay.model_judges import ModelJudgeError, save
    from interplay.model_judges import calibrate as run

    seed = choose_seed(seed)
    made: list[TaskJudge] = []
    skipped: dict[str, str] = {}
    place = place_options(data, database)
    with closing(open_archive(data, database, must_exist=True)) as archive:
        tasks = _tasks(archive, task)
        # What goes by the default name and gave probabilities was trained here, and its file is gone.
        looked = [one for one in _measured(archive, name) if name != DEFAULT_NAME or not one.has_probabilities]
        looked = [one for one in looked if task in (None, one.task)]
        if looked:
            _emit_agreement(looked, name, place, as_json=as_json)
            return
        for one in tasks:
            with _bar(one) as on_progress:
                try:
                    judge = run(
                        archive, one, name=name, seed=seed, now=datetime.now(UTC), questions=_questions(one),
                        on_progress=on_progress,
                    )  # fmt: skip
                except ModelJudgeError as error:
                    if task is not None:
                        raise
                    skipped[one] = str(error)
                    continue
            save(judge, archive.root)
            made.append(judge)
    if not made:
        raise InterplayError("no task has enough answers for a model judge:\n" + "\n".join(skipped.values()))
    document = {
        "name": name,
        "seed": seed,
        "tasks": {judge.task: judge.calibration.to_json() | {"strongest": judge.strongest()} for judge in made},
        "skipped": _listed(skipped),
    }
    named = "" if name == DEFAULT_NAME else f" --name {name}"
    emit(document, as_json=as_json, text=calibration_report(made, skipped, seed, named + place))


def _emit_agreement(looked: list[MeasuredJudge], name: str, place: str, *, as_json: bool) -> None:
    from interplay.model_judges.agreement import SEED

    found = {one.task: one.agreement.to_json() for one in looked if one.agreement is not None}
    skipped = {
        one.task: f"people have answered about none of the {one.num_answers:,} pairs of {one.task} that model:{name} answered"
        for one in looked
        if one.agreement is None
    }
    if not found:
        reasons = "\n".join(skipped.values())
        raise InterplayError(
            f"{reasons}\nCollect answers:  interplay serve{place}\nTo train a judge on people's answers, choose another --name."
        )
    report = agreement_report(looked, skipped)
    emit({"name": name, "seed": SEED, "agreement": found, "skipped": _listed(skipped)}, as_json=as_json, text=report)


@app.command("by-model")
def by_model(
    task: TaskOption = None,
    name: Annotated[
        str | None,
        typer.Option("--name", help=f"Name of the judge; default: {DEFAULT_NAME}, or {DEFAULT_LOOKING_NAME} with --vision."),
    ] = None,
    vision: Annotated[
        str | None, typer.Option("--vision", help="Address of a vision-language model, up to /chat/completions.")
    ] = None,
    model: Annotated[str | None, typer.Option("--model", help="Name of the vision-language model at that address.")] = None,
    key_env: Annotated[
        str | None, typer.Option("--key-env", help="Environment variable that holds its key; the key is never stored.")
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Ask about at most N pairs (with --vision).")] = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    seed: SeedOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let a calibrated model, or a vision-language model, answer pairs; its answers are marked and counted apart.

    Try:  interplay judge by-model --task atari/space_invaders
    """
    import numpy as np

    from interplay.model_judges import ModelJudgeError, answer_all

    seed = choose_seed(seed)
    key = _checked_options(vision, model, key_env, limit)
    name = name or (DEFAULT_NAME if vision is None else DEFAULT_LOOKING_NAME)
    counts: dict[str, int] = {}
    undecided: dict[str, int] = {}
    skipped: dict[str, str] = {}
    measured: list[MeasuredJudge] = []
    with closing(open_archive(data, database, must_exist=True)) as archive:
        judges = _trained(archive, name, task, place_options(data, database)) if vision is None else {}
        for one in judges or _tasks(archive, task):
            try:
                if vision is None:
                    with _bar(one) as on_progress:
                        now = datetime.now(UTC)
                        counts[one], undecided[one] = answer_all(archive, judges[one], now=now, on_progress=on_progress)
                else:
                    assert model is not None  # the options were checked
                    rng = np.random.default_rng(seed)
                    counts[one] = _look(archive, one, name, vision, model, key, limit, rng)
            except ModelJudgeError as error:
                if task is not None:
                    raise
                skipped[one] = str(error)
        if vision is not None:
            measured = [one for one in _measured(archive, name) if one.task in counts]
    if not counts:
        raise InterplayError("the judge could not answer in any task:\n" + "\n".join(skipped.values()))
    document = {
        "judge": f"model:{name}",
        "seed": seed,
        "new_answers": counts,
        "undecided": undecided,
        "skipped": _listed(skipped),
        "agreement": {one.task: one.agreement.to_json() for one in measured if one.agreement is not None},
    }
    emit(document, as_json=as_json, text=_answered(name, counts, undecided, skipped, measured))


def _checked_options(vision: str | None, model: str | None, key_env: str | None, limit: int | None) -> str | None:
    """Refuse options that do not belong together; return the key of the vision-language model, if it has one."""
    if vision is None:
        given = {"--model": model, "--key-env": key_env, "--limit": limit}
        for option in (option for option, value in given.items() if value is not None):
            raise typer.BadParameter(
                f"{option} needs --vision: a preference model has no address, and answers all pairs within seconds"
            )
        return None
    if model is None:
        raise typer.BadParameter("name the vision-language model:  --vision ADDRESS --model NAME")
    if key_env is None:
        return None
    key = os.environ.get(key_env)
    if not key:
        raise typer.BadParameter(f"the environment variable {key_env} is not set; it should hold the model's key")
    return key


def _trained(archive: Archive, name: str, task: str | None, place: str) -> dict[str, TaskJudge]:
    """Return task -> judge trained on people's answers: for one task, or for all tasks for which it was trained."""
    from interplay.model_judges import load, load_all

    if task is not None:
        return {task: load(archive.root, name, task)}
    judges = {one.task: one for one in load_all(archive.root) if one.name == name}
    if not judges:
        make = f"interplay judge calibrate --name {name}{place}"
        raise InterplayError(f"there is no model judge {name!r} here yet\nMake it:  {make}")
    return judges


def _look(
    archive: Archive, task: str, name: str, address: str, model: str, key: str | None, limit: int | None, rng: Any
) -> int:
    import httpx

    from interplay.model_judges import VisionJudge, answer_by_looking
    from interplay.tasks import find

    looking = VisionJudge(address, model, key, archive.root / "models" / "judges" / name / "calls.jsonl")
    questions = _questions(task)
    goal = find(task).goal
    with httpx.Client() as client, _bar(task) as on_progress:
        return answer_by_looking(
            archive, name, task,
            lambda left, right: looking.ask(goal, questions, left, right, client=client),
            now=lambda: datetime.now(UTC), rng=rng, limit=limit, on_progress=on_progress,
        )  # fmt: skip


def _tasks(archive: Archive, task: str | None) -> list[str]:
    from interplay.judge.ratings.answers import judged_tasks
    from interplay.tasks import find

    if task is not None:
        find(task)
        return [task]
    tasks = judged_tasks(archive.database)
    if not tasks:
        raise InterplayError(f"no task in {archive.root} has two agents to compare\nBegin with:  interplay demo --fast")
    return tasks


def _questions(task: str) -> tuple[Any, ...]:
    from interplay.tasks import find

    return find(task).questions


@contextmanager
def _bar(task: str) -> Iterator[Callable[[str, int, int], None]]:
    with progress() as bar:
        row = bar.add_task(task, total=None)

        def on_progress(what: str, done: int, total: int) -> None:
            bar.update(row, description=f"{task}: {what}", completed=done, total=total)

        yield on_progress


def _measured(archive: Archive, name: str) -> list[MeasuredJudge]:
    from interplay.model_judges import LoggedJudges

    return LoggedJudges(archive, _questions).measure(name)


def _listed(skipped: dict[str, str]) -> list[dict[str, str]]:
    return [{"task": task, "reason": reason} for task, reason in skipped.items()]


def _answered(
    name: str,
    counts: dict[str, int],
    undecided: dict[str, int],
    skipped: dict[str, str],
    measured: list[MeasuredJudge],
) -> Any:
    from rich.console import Group

    lines = []
    for task, count in counts.items():
        others = undecided.get(task, 0)
        passed = f"; {others:,} pairs left out, because it cannot tell their videos apart" if others else ""
        lines.append(f"{task}: {amount(count, 'new answer')} as model:{name}{passed}")
    lines += [f"Skipped: {reason.splitlines()[0]}" for reason in skipped.values()]
    lines += ["They are on the leaderboard's tab of model judges. They never count in the ratings from people's answers."]
    if not any(one.agreement for one in measured):
        return "\n".join(lines)
    return Group(*lines, "", agreement_report(measured, {}))
