"""`interplay explore bank | filter`, and `make --mode planner`: atomic tasks and planned instances."""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import asdict
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
    spent_text,
)
from interplay.cli.options import DEFAULT_DATA, DataOption, open_archive
from interplay.cli.output import JsonOption, emit, progress, table, writing
from interplay.errors import InterplayError
from interplay.wording import amount

if TYPE_CHECKING:
    from interplay.explore.evaluation.metrics import Rate
    from interplay.explore.make.knowledge import Measures, Verdict

_HOPS = (1, 2, 3, 4)


def bank(
    add: Annotated[
        list[Path] | None,
        typer.Option("--add", help="File with more tasks: a bank, or one name in each line; may be repeated."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write the bank to this file.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Make atomic tasks from the tables of the world, each with what it needs, and show how much of each table they cover.

    Try:  interplay explore bank --out bank.json
    """
    from interplay.explore.make import bank as banks

    tasks, refused = banks.drawn(), dict[str, str]()
    for path in add or ():
        try:
            tasks = banks.joined([*tasks.values(), *banks.load(path).values()], source=str(path))
        except InterplayError as error:
            refused[str(path)] = str(error).removeprefix(f"{path}: ")
    covered = banks.covered(tasks)
    if out is not None:
        with writing(out, "name another file with --out."):
            banks.write(out, tasks)
    verbs: dict[str, int] = {}
    for task in tasks.values():
        verbs[task.verb] = verbs.get(task.verb, 0) + 1
    document = {
        "tasks": len(tasks),
        "verbs": verbs,
        "covered": [asdict(one) | {"covered": one.covered} for one in covered],
        "refused": [{"file": file, "text": text} for file, text in refused.items()],
        "written": None if out is None else str(out),
    }
    rows = []
    for one in covered:
        more = f" and {len(one.left_out) - 6} more" if len(one.left_out) > 6 else ""
        rows.append((one.table, one.covered, one.total, ", ".join(one.left_out[:6]) + more))
    counted = ", ".join(f"{verb} {number:,}" for verb, number in sorted(verbs.items(), key=lambda item: -item[1]))
    lines = [f"{amount(len(tasks), 'task')}: {counted}."]
    lines += [f"refused    {file}: {text}" for file, text in refused.items()]
    lines += [f"Wrote {out}.  Next:  interplay explore filter --tasks {out} --model NAME --model OTHER"] if out else []
    emit(document, as_json=as_json, text=[table(["table", "#covered", "#of", "left out"], rows), *lines])
    if refused:
        raise typer.Exit(1)


def filter_tasks(
    model: Annotated[
        list[str], typer.Option("--model", help="Name of a model in Inspect, or on the server at --address; give two or more.")
    ],
    tasks: Annotated[
        Path | None,
        typer.Option(
            "--tasks",
            help="File with tasks: a bank, or one name in each line; default: the golden set, whose labels are known.",
        ),
    ] = None,
    samples: Annotated[int, typer.Option("--samples", min=1, help="Number of answers from each model, 5 or more.")] = 5,
    decisions: Annotated[
        Path | None,
        typer.Option("--decisions", help="The queue file, in which people wrote Yes or No after the tab of each line."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the decisions; default: explore/make/filter in the data folder.")
    ] = None,
    address: AddressOption = None,
    key_env: KeyOption = None,
    prices: PricesOption = None,
    timeout: TimeoutOption = 300,
    at_once: Annotated[int, typer.Option("--at-once", min=1, help="Number of calls at the same time.")] = 8,
    data: DataOption = DEFAULT_DATA,
    as_json: JsonOption = False,
) -> None:
    """Ask models which atomic tasks need knowledge of the game, and what a task needs of a player. After an interruption, run
    it again: it continues, and pays for no answer twice.

    Try:  interplay explore filter --tasks bank.json --model openai/ONE --model openai/OTHER
    """
    with needs_models("filter"):
        from interplay.explore.evaluation.providers import model_named
    from interplay.explore.make import bank as banks
    from interplay.explore.make import filtering, knowledge
    from interplay.explore.make.chat import FOLDER, Chat

    at = server_at(address, key_env)
    golden = knowledge.golden()
    asked = list(banks.load(tasks)) if tasks is not None else list(golden)
    decided = {} if decisions is None else knowledge.read_decisions(decisions)
    open_archive(data).close()  # its folder keeps what models say
    with (
        progress() as bar,
        closing(Chat(data / FOLDER / "filter.jsonl", prices=prices_of(prices), num_at_once=at_once, timeout_s=timeout)) as chat,
    ):
        line: Any = bar.add_task("filtering", total=len(asked))

        def report(verdict: Verdict) -> None:
            bar.update(line, description=f"filtering, {spent_text(chat.spent)}", advance=1)

        models = [model_named(name, at) for name in model]
        verdicts = asyncio.run(filtering.judge(asked, models, chat, num_samples=samples, decisions=decided, report=report))
    try:
        places = filtering.write(out or data / FOLDER / "filter", verdicts)
    except OSError as error:
        raise InterplayError(
            f"{error.filename} cannot be written: {error.strerror}\nRemedy: name a folder with --out."
        ) from None
    verbs = knowledge.by_verb(verdicts)
    measures = knowledge.measure(verdicts, golden) if any(one.task in golden for one in verdicts) else None
    document = {
        "tasks": len(verdicts),
        "verbs": verbs,
        "refused_replies": sum(len(sample.errors) for one in verdicts for sample in one.samples),
        "golden": None if measures is None else asdict(measures),
        "spent": {name: one.to_json() for name, one in chat.spent.items()},
        "written": {name: str(place) for name, place in places.items()},
    }
    rows = [(verb, row["kept"], row["dropped"], row["waiting"]) for verb, row in verbs.items()]
    lines = [] if measures is None else _measured(measures)
    if waiting := sum(row["waiting"] for row in verbs.values()):
        lines.append(
            f"{amount(waiting, 'task waits', 'tasks wait')} for people: "
            "write Yes or No after the tab, and give the file as --decisions."
        )
    lines += [f"{name}: {place}" for name, place in places.items()]
    lines.append(f"Next:  interplay explore make --tasks {places[filtering.ANALYSIS]} --model NAME")
    emit(document, as_json=as_json, text=[table(["verb", "#kept", "#dropped", "#waiting"], rows), *lines])


def _measured(measures: Measures) -> list[str]:
    def said(one: Rate) -> str:
        if one.value is None:
            return "-"
        return f"{100 * one.value:.1f} % ({100 * (one.low or 0):.1f} to {100 * (one.high or 0):.1f})"

    num = measures.waiting.num_instances
    lines = [
        f"Measured on {amount(num, 'task')} whose label is known (95 % intervals):",
        f"Kept: precision {said(measures.precision)}, recall {said(measures.recall)}, "
        f"self-consistency {said(measures.consistency)}.",
        f"Dropped: precision {said(measures.dropped_precision)}, recall {said(measures.dropped_recall)}, "
        f"self-consistency {said(measures.dropped_consistency)}.",
    ]
    return [*lines, *(f"{model}: {said(one)} of its single verdicts are right." for model, one in measures.accuracy.items())]


def planned(hops: int | None, count: int, out: Path, seed: int, *, as_json: bool) -> None:
    """Run `interplay explore make --mode planner`: make instances of each number of hops in a folder.
    Exits with 1 if some were not made."""
    from interplay.explore.instance import load
    from interplay.explore.make import planner

    numbers = planner.names(_HOPS if hops is None else (hops,), count, seed)
    made, written = [load(file) for name in numbers if (file := out / f"{name}.json").exists()], []
    if other := next((one for one in made if one.num_hops != numbers.get(one.name)), None):
        raise InterplayError(
            f"{out}: the instance {other.name}, with {other.num_hops} hops, exists already, and differs from the one to make\n"
            "Remedy: name another folder with --out, or give the seed and the numbers of hops that the folder was made with."
        )
    num_there = len(made)
    with progress() as bar, writing(out, "name another folder with --out."):
        line: Any = bar.add_task("planning", total=len(numbers), completed=len(made))
        out.mkdir(parents=True, exist_ok=True)
        for one in planner.make_set(numbers, seed, made=made):
            made.append(one)
            written.append(out / f"{one.name}.json")
            planner.write(written[-1], one)
            bar.advance(line)
    made.sort(key=lambda one: one.name)
    document = {
        "seed": seed,
        "asked": len(numbers),
        "made": len(made),
        "instances": [{"name": one.name, "hops": one.num_hops, "goal": one.task_text, "tasks": one.nodes} for one in made],
        "written": [str(place) for place in written],
    }
    rows = [(one.name, one.num_hops, one.task_text, ", ".join(one.nodes)) for one in made]
    there = f" {num_there} of them were there already; to make others, name another folder with --out." if num_there else ""
    said = f"Made with seed {seed}.{there}  Next:  interplay explore prove {out} --hops" if made else None
    emit(document, as_json=as_json, text=[table(["instance", "#hops", "goal", "tasks"], rows), said])
    if len(made) < len(numbers):
        raise typer.Exit(1)
