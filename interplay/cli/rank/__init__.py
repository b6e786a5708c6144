"""`interplay rank`: the leaderboard of a data folder, or of any CSV of answers, by any method, with its uncertainty."""

from __future__ import annotations

from contextlib import closing
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from interplay.cli.options import DEFAULT_DATA, DatabaseOption, DataOption, SeedOption, choose_seed, open_archive, place_options
from interplay.cli.output import JsonOption, emit, progress, progress_bar, progress_console, working
from interplay.errors import InterplayError, unknown_name
from interplay.rank import Comparison, read_answers
from interplay.rank.methods import METHODS
from interplay.rank.ranking import Options

if TYPE_CHECKING:
    from interplay.rank.agreement import Judgement
    from interplay.rank.leaderboards import Boards, Resampling

app = typer.Typer(add_completion=False)
_Unit = Literal["answers", "judges"]


class NoAnswersError(InterplayError):
    """The data folder or file has no answers to rank."""


MethodName = StrEnum("MethodName", [(name, name) for name in METHODS])  # type: ignore[invalid-argument]
"""Ways to rank."""


@app.command()
def rank(
    task: Annotated[str | None, typer.Option("--task", help="Only answers about this task.")] = None,
    answers: Annotated[
        Path | None,
        typer.Option("--answers", help="Read a CSV instead of the database: left,right,outcome and optional task,judge,time."),
    ] = None,
    partners: Annotated[
        str | None,
        typer.Option(
            "--partners",
            metavar="QUESTION",
            help="Rank partners by this question of a study of play, such as prefer, about the last two partners.",
        ),
    ] = None,
    method: Annotated[MethodName, typer.Option("--method", help="How answers become a ranking.")] = MethodName("trueskill"),
    bootstrap: Annotated[int, typer.Option("--bootstrap", min=0, help="Resamples for intervals; 0 for none.")] = 0,
    resample: Annotated[_Unit, typer.Option("--resample", help="Unit that is resampled.")] = "answers",
    level: Annotated[float, typer.Option("--level", help="Share of the resamples that an interval holds.")] = 0.95,
    normalised: Annotated[bool, typer.Option("--normalised", help="Add the mean z-score over the tasks.")] = False,
    matrix: Annotated[bool, typer.Option("--matrix", help="Add the probability that an agent beats each other agent.")] = False,
    agreement: Annotated[bool, typer.Option("--agreement", help="Add Krippendorff's alpha for each question.")] = False,
    bias: Annotated[bool, typer.Option("--bias", help="Add tendencies of judges: side, draws, length of reasons.")] = False,
    transitivity: Annotated[bool, typer.Option("--transitivity", help="Add cycles such as A beats B beats C beats A.")] = False,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    seed: SeedOption = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print the leaderboards as CSV on standard output.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Compute the leaderboard from answers: TrueSkill's mu and sigma, sorted by mu - 3 sigma, or ratings by another method.

    Try:  interplay rank --answers answers.csv --method bradley-terry --bootstrap 1000
    """
    if as_csv and as_json:
        raise typer.BadParameter("--csv and --json are two ways to print the result; give one")
    extras = {"matrix": matrix, "agreement": agreement, "bias": bias, "transitivity": transitivity}
    if as_csv and any(extras.values()):
        idle = " ".join(f"--{name}" for name, wanted in extras.items() if wanted)
        raise typer.BadParameter(f"--csv prints leaderboards only; for {idle} give --json instead")
    if not 0 < level < 1:
        raise typer.BadParameter(f"--level must be between 0 and 1, such as 0.95, got {level:g}")
    if partners is not None and (answers is not None or agreement or bias):
        raise typer.BadParameter("--partners reads answers from the database; leave out --answers, --agreement and --bias")
    if answers is None:
        comparisons = _from_database(data, database, partners)
    else:
        with progress_bar(f"reading {answers.name}") as report:
            comparisons = read_answers(answers, on_progress=report)
    source = str(answers) if answers is not None else database or str(data)
    known = {comparison.task for comparison in comparisons}
    if task is not None and task not in known:
        if answers is not None and known == {""}:
            raise NoAnswersError(f"{answers} has no column 'task', so no answer is about {task!r}\nLeave --task out.")
        from interplay.tasks import builtin_suites, index

        if answers is None and task in index(builtin_suites()):
            place = place_options(data, database)
            raise NoAnswersError(
                f"no answer about {task} counts yet\nLet people compare its agents at /judge:  interplay serve{place}"
            )
        raise unknown_name("task", task, known, hint=f"Only tasks with answers in {source} can be ranked.")
    if task is not None:
        comparisons = [comparison for comparison in comparisons if comparison.task == task]
    if normalised and len(known if task is None else {task}) < 2:
        raise InterplayError(
            "--normalised is a mean over tasks, but there are answers about fewer than two tasks\n"
            "Leave it out: in one task, mu gives the same order."
        )
    from interplay.rank.leaderboards import Resampling

    if seed is None and (bootstrap or transitivity):
        seed = choose_seed(None)
        progress_console.print(f"seed {seed}", highlight=False)
    draws = Resampling(bootstrap, resample, level, seed or 0) if bootstrap else None
    result = _rank(comparisons, method.value, draws)
    from interplay.cli.rank import results

    if as_csv:
        results.print_csv(result, task, normalised)
        return
    with working("comparing answers"):
        judgements = _judgements(answers, data, database, task) if agreement or bias else []
        document = results.leaderboards(result, task, method.value, draws, normalised=normalised)
        if matrix:
            document["probabilities"] = results.probabilities(result.overall, Options())
        if agreement:
            document["agreement"] = results.agreement_by_question(judgements, draws)
        if bias:
            document["bias"] = results.bias(judgements)
        if transitivity:
            document["transitivity"] = results.triads(result.overall, seed or 0)
    emit(document, as_json=as_json, text=None if as_json else results.text(document, result, task))


def _from_database(data: Path, database: str | None, partners: str | None) -> list[Comparison]:
    """Return every answer in the log that counts; or, with `partners`, the answers to that question about partners."""
    if database is None and not (data / "interplay.db").exists():
        raise NoAnswersError(
            f"no answers in {data}: it holds no interplay.db\n"
            "Name the folder with --data, rank a file with --answers, or begin with:  interplay demo --fast"
        )
    from interplay.judge.ratings.answers import comparisons, partner_comparisons

    with working("reading answers"), closing(open_archive(data, database, must_exist=True)) as archive:
        return comparisons(archive.database) if partners is None else partner_comparisons(archive.database, partners)


def _judgements(answers: Path | None, data: Path, database: str | None, task: str | None) -> list[Judgement]:
    from interplay.rank.answers_file import read_judgements

    if answers is not None:
        return [judgement for judgement in read_judgements(answers) if task is None or judgement.task == task]
    from interplay.judge.ratings.answers import judgements

    with closing(open_archive(data, database, must_exist=True)) as archive:
        return judgements(archive.database, task)


def _rank(comparisons: list[Comparison], method: str, draws: Resampling | None) -> Boards:
    from interplay.rank.leaderboards import boards

    if draws is None:
        return boards(comparisons, method)
    with progress(counts=False) as bar:
        job = bar.add_task(f"drawing {draws.unit} {draws.num_resamples:,} times", total=1.0)
        return boards(comparisons, method, resampling=draws, on_progress=lambda share: bar.advance(job, share))
