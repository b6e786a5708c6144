"""`interplay explore run | results`: language models play instances, and the results of their runs."""

from __future__ import annotations

from collections import Counter
from contextlib import closing, suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interplay.cli.explore.models import (
    AddressOption,
    KeyOption,
    PricesOption,
    TimeoutOption,
    needs_models,
    prices_of,
    server_at,
)
from interplay.cli.options import (
    DEFAULT_DATA,
    DatabaseOption,
    DataOption,
    SeedOption,
    is_data_folder,
    open_archive,
    place_options,
)
from interplay.cli.output import JsonOption, emit, progress, stage_bars, table, writing
from interplay.errors import InterplayError, unknown_name
from interplay.wording import amount

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.table import Table

    from interplay.explore.evaluation.metrics import Result
    from interplay.explore.judgement_cache import Judgement
    from interplay.record import Archive


_MOST_PAIRS = 10
"""Largest number of pairs of models whose tests are printed."""


def run(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="Instances: files, folders of them, explore/NAME, 'published' or 'planner'."),
    ],
    model: Annotated[
        str, typer.Option("--model", help="Name of the model in Inspect: openai/NAME, ...; scripted/ahead needs no network.")
    ],
    protocol: Annotated[
        str, typer.Option(help="How the model plays: paper, hold, tools or assisted; docs/explore.md explains them.")
    ] = "paper",
    steps: Annotated[
        int,
        typer.Option("--steps", min=1, max=100_000, help="Longest run, in ticks: 1800 as in the paper; 300 for a short run."),
    ] = 1800,
    goal: Annotated[
        str, typer.Option(help="Goal that the model reads: 'written' for the whole text, 'hidden' for only the last tasks.")
    ] = "written",
    epochs: Annotated[int, typer.Option(min=1, help="Number of runs of each instance.")] = 1,
    address: AddressOption = None,
    key_env: KeyOption = None,
    timeout: TimeoutOption = 300,
    name: Annotated[str, typer.Option("--name", help="Name of the model in tables; default: --model.")] = "",
    max_calls: Annotated[int | None, typer.Option("--max-calls", min=1, help="Stop after N calls of the model.")] = None,
    max_tokens: Annotated[
        int | None, typer.Option("--max-tokens", min=1, help="Stop after N tokens, read and written.")
    ] = None,
    max_cost: Annotated[
        float | None, typer.Option("--max-cost", min=0, help="Stop after this many dollars; needs --price.")
    ] = None,
    prices: PricesOption = None,
    at_once: Annotated[int, typer.Option("--at-once", min=1, help="Number of runs at the same time.")] = 4,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let a language model play instances. After an interruption, run it again: it continues, and pays for no answer twice.

    Try:  interplay explore run first_log.json --model scripted/ahead --steps 100
    """
    with needs_models("run"):
        from interplay.explore.evaluation import inspect_task
    from interplay.explore.evaluation.metrics import Result, tables
    from interplay.explore.evaluation.settings import Settings
    from interplay.explore.published import load_each

    if not model.strip():
        raise typer.BadParameter("--model is empty; name one, such as openai/NAME or scripted/ahead")
    at, of_models, called = server_at(address, key_env), prices_of(prices), name or model
    if unknown := of_models.keys() - {called}:
        raise unknown_name("model", min(unknown), [called])
    if max_cost is not None and not of_models:
        raise typer.BadParameter(f"--max-cost needs a price, such as --price {called}=2.5,10")
    budget = inspect_task.Budget(max_calls, max_tokens, max_cost, of_models.get(called, (0.0, 0.0)))
    good, refused = load_each(paths)
    if not good:
        raise InterplayError("\n".join(f"{file}: {text}" for file, text in refused.items()))
    with closing(open_archive(data, database)) as archive, progress() as bar:
        line = bar.add_task(f"{model} plays", total=None)

        def report(far: inspect_task.Far) -> None:
            tokens = "tokens unknown" if far.tokens is None else amount(far.tokens, "token")
            said = f"{model} plays, {amount(far.answers, 'answer')}, {tokens}"
            bar.update(line, description=said, completed=far.done, total=far.total)

        log = inspect_task.evaluate(
            archive,
            paths if not refused else [str(file) for file in good],
            model,
            Settings(protocol, steps, goal),
            at=at,
            epochs=epochs,
            num_at_once=at_once,
            timeout_s=timeout,
            name=name,
            budget=budget,
            report=report,
        )
    if log.status != "success":
        what = log.error.message if log.error else "it was stopped"
        raise InterplayError(f"the evaluation ended with status {log.status}: {what}\nRun the same command to continue.")
    scores = [score for sample in log.samples or [] for score in (sample.scores or {}).values()]
    results = [Result.from_json((score.metadata or {})["result"]) for score in scores]
    (made,) = tables(results, of_models)
    failed = _failed(results)
    said = [{"file": file, "text": text} for file, text in refused.items()]
    document = {
        "table": made,
        "failed": failed,
        "refused": said,
        "log": log.location,
        "runs": [one.to_json() for one in results],
    }
    lines = [f"failed  {one['task']}, epoch {one['epoch']}: {one['error']}" for one in failed]
    lines += [f"refused  {one['file']}: {one['text']}" for one in said]
    place = place_options(data, database)
    lines += ["", f"Next:  interplay explore results{place}    inspect view --log-dir {data / inspect_task.LOGS}"]
    emit(document, as_json=as_json, text=[_text(made), *lines])
    if failed or refused:
        raise typer.Exit(1)


def results(
    answers: Annotated[
        Path | None, typer.Option("--answers", help="Write pairs of runs for `interplay rank --answers` to this CSV.")
    ] = None,
    protocol: Annotated[
        str | None, typer.Option(help="Only the table of this name, such as paper or hold-300; --answers needs one table.")
    ] = None,
    prices: PricesOption = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    seed: SeedOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make the tables of all recorded runs: one for each protocol, with intervals, tests between models, and failed runs.

    Try:  interplay explore results --answers answers.csv
    """
    import numpy as np

    from interplay.explore.evaluation import metrics
    from interplay.explore.judging import judge
    from interplay.explore.results import boards, references, verification
    from interplay.explore.results.boards import sorted_out

    if not data.is_dir():
        raise InterplayError(f"there is no folder {data}\nCheck --data; runs are made by:  interplay explore run")
    read, unreadable = metrics.read_results(data)
    every = {path: result for path, (_, result) in read.items()}
    found = list(every.values())
    if not found:
        if unreadable:
            raise InterplayError("\n".join(unreadable.values()))
        raise InterplayError(f"{data} holds no runs\nMake some with:  interplay explore run PATH --model scripted/ahead")
    of_models = prices_of(prices)
    if unknown := of_models.keys() - (played := {one.model for one in found}):
        raise unknown_name("model", min(unknown), sorted(played))
    beside = references.References({}, (), ())
    verdicts = {one.run: verification.compared(None, path, read[path][0], one, judge) for path, one in every.items()}
    if database is not None or is_data_folder(data):
        with closing(open_archive(data, database, must_exist=True)) as archive, stage_bars() as report:
            beside = references.references(archive.database, data, partial(_judged, archive, report))
            for number, (path, one) in enumerate(every.items(), 1):
                report("comparing runs with their episodes", number, len(every))
                verdicts[one.run] = verification.compared(archive, path, read[path][0], one, judge)
    found, wrong, believed = sorted_out(found, verdicts)
    made = metrics.tables(found, of_models, beside.rows)
    if protocol is not None:
        if protocol not in (names := sorted(one["name"] for one in made)):
            raise InterplayError(f"no runs of {protocol!r}; there are {', '.join(names)}")
        made = [one for one in made if one["name"] == protocol]
    shown = {one["key"] for one in made}
    found = [one for one in found if one.settings in shown]
    for one in made:
        of_table = [result for result in found if result.settings == one["key"]]
        one["pairs"] = boards.paired_tests(of_table, np.random.default_rng(seed or 0))
        one["attempts_not_judged"] = beside.num_waiting(of_table)
    written = None
    if answers is not None:
        if len(made) > 1:
            names = ", ".join(one["name"] for one in made)
            raise InterplayError(f"--answers takes runs of one table, but there are {names}\nChoose one with --protocol.")
        with writing(answers, "name another file."):
            written = boards.write_answers(found, answers)
    at_start = [{"task": one.task, "milestones": list(one.at_start)} for one in found if one.at_start]
    document = {
        "tables": made,
        "failed": _failed(found),
        "left_out": [{"task": one.task, "model": one.model, "run": one.run, "why": why} for one, why in wrong],
        "not_compared": [one.run for one in believed],
        "unreadable": [{"file": str(path), "why": why} for path, why in unreadable.items()],
        "reached_at_start": [one for place, one in enumerate(at_start) if one not in at_start[:place]],
        "answers": written,
    }
    emit(document, as_json=as_json, text=_texts(document, answers))
    if unreadable:
        raise typer.Exit(1)


def _judged(archive: Archive, report: Callable[[str, float, float], None], episode: str) -> Judgement | None:
    """Return the milestones reached in an episode, which may be replayed for this; None if it cannot be judged."""
    from interplay.explore import judgement_cache, judging

    known = judgement_cache.read(archive.root, episode)
    if known is not None:
        return known
    with suppress(InterplayError):
        steps, total = count(1), archive.get(episode).num_steps
        return judging.known(archive, episode, advance=lambda _: report(f"judging {episode}", next(steps), total))
    return None


def _failed(found: list[Result]) -> list[dict[str, Any]]:
    return [
        {"task": one.task, "model": one.model, "epoch": one.epoch, "run": one.run, "error": one.failed}
        for one in found
        if one.failed is not None
    ]


def _text(made: dict[str, Any]) -> Table | str:
    from interplay.explore.results.references import ORACLE

    names = ["runs", "failed", "false done", "TSR", "MSR", "ordered MSR", "calls", "refused", "tokens", "cost", "ms a call"]
    return table(
        ["model", *(f"#{name}" for name in names)],
        [
            (
                row["model"],
                row["runs"],
                row["failed"],
                row["false_done"],
                *(_percent(row[name], by_proof=row["model"] == ORACLE) for name in ("tsr", "msr", "ordered_msr")),
                row["calls"],
                row["refused_replies"],
                "unknown" if row["input_tokens"] is None else row["input_tokens"] + row["output_tokens"],
                "unknown" if row["cost"] is None else f"{row['cost']:.2f}",
                "" if row["latency_ms"] is None else f"{row['latency_ms']:.0f}",
            )
            for row in (*made["references"], *made["models"])
        ],
        title=made["name"],
    )


def _parts(made: dict[str, Any], by: str) -> Table | str | None:
    groups = dict.fromkeys(group for row in made["models"] for group in row[f"by_{by}"])
    if not groups:
        return None
    rows = [(group, *(_both(row[f"by_{by}"].get(group)) for row in made["models"])) for group in groups]
    return table([by, *(f"#{row['model']}" for row in made["models"])], rows, title=f"{made['name']} by {by}: TSR, MSR")


def _both(rates: dict[str, Any] | None) -> str:
    return ", ".join(_percent(rates[name]).partition(" (")[0] for name in ("tsr", "msr")) if rates else "-"


def _percent(rate: dict[str, Any], *, by_proof: bool = False) -> str:
    if rate["value"] is None:
        return "-"
    if by_proof:
        return f"{'at least ' if rate['value'] < 1 else ''}{100 * rate['value']:.1f} % (by proof)"
    return f"{100 * rate['value']:.1f} % ({100 * rate['low']:.1f} to {100 * rate['high']:.1f})"


def _texts(document: dict[str, Any], answers: Path | None) -> list[Any]:
    from interplay.explore.evaluation.metrics import BY

    texts: list[Any] = []
    counting = [any(row["runs"] > row["failed"] for row in made["models"]) for made in document["tables"]]
    if not any(counting):
        whys = [one["error"] for one in document["failed"]] + [one["why"] for one in document["left_out"]]
        short = Counter(why.splitlines()[0].partition(": ")[0].rstrip(".") for why in whys)
        said = ", ".join(f"{number} x {why}" for why, number in short.most_common())
        texts.append(f"No run counts, so there is no table. Why: {said}.")
    for made, counts in zip(document["tables"], counting, strict=True):
        if counts:
            texts.append(_text(made))
        for by in ("difficulty", "depth", "capability") if counts else ():
            texts += [_parts(made, by), f"{BY[by]}\n"]
        for row in made["models"]:
            if row["answered_by"] not in ([], [row["model"]]):
                texts.append(f"{row['model']}: answered by {', '.join(row['answered_by'])}")
        if num := made["attempts_not_judged"]:
            texts.append(f"first attempts of people that cannot be judged, and are left out: {num}")
        tested = [pair for pair in made["pairs"] if pair["runs"]]
        if len(tested) > _MOST_PAIRS:
            texts.append(f"{len(tested)} pairs of models: --json and the page have the tests of all")
        for pair in tested if len(tested) <= _MOST_PAIRS else ():
            texts.append(
                f"{pair['first']} and {pair['second']}: {pair['runs']} pairs of {pair['instances']} instances, "
                f"MSR differs by {100 * (pair['msr_difference'] or 0):.1f} points (p = {pair['msr_holm']:.3g})"
            )
    for one in document["failed"]:
        texts.append(f"failed  {one['model']} on {one['task']}, epoch {one['epoch']}: {one['error']}")
    texts += [f"left out  {one['why']}" for one in document["unreadable"]]
    for one in document["left_out"]:
        texts.append(f"left out  {one['model']} on {one['task']}, run {one['run']}: {one['why']}")
    if number := len(document["not_compared"]):
        texts.append(f"not compared with the recorded episode: {amount(number, 'run')}")
    for one in document["reached_at_start"]:
        texts.append(f"reached at the start, in no total  {one['task']}: {', '.join(one['milestones'])}")
    if answers is not None:
        texts.append(f"Wrote {document['answers']} answers.  Next:  interplay rank --answers {answers}")
    return texts
