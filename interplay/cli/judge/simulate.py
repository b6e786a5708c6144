"""`interplay judge simulate`: how many answers each pairing rule needs to recover a known ranking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Group

from interplay.cli.options import RayOption, misuse
from interplay.cli.output import JsonOption, emit, progress, table

if TYPE_CHECKING:
    from interplay.jobs import Executor
    from interplay.judge.pairing.simulate import Quartiles, Run, Simulation

app = typer.Typer(add_completion=False)


class PolicyName(StrEnum):
    """Rules that choose the pairs."""

    order = "order"
    round_robin = "round-robin"
    information = "information"
    bedd = "bedd"
    focus = "focus"
    default = "default"


class RatingName(StrEnum):
    """Ways to compute ratings of the simulated agents."""

    trueskill = "trueskill"
    bradley_terry = "bradley-terry"
    trueskill_score = "trueskill-score"


class ProfileName(StrEnum):
    """Distributions of the skills."""

    normal = "normal"
    bedd = "bedd"


@app.command()
def simulate(
    agents: Annotated[int, typer.Option(help="How many agents there are to rank.")] = 17,
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each rule, each with its own agents and answers.")] = 20,
    target: Annotated[float, typer.Option(help="Rank correlation (Spearman) with the truth that must be reached.")] = 0.95,
    policy: Annotated[
        list[PolicyName] | None, typer.Option(help="Rule that chooses the pairs; may be repeated.  [default: all]")
    ] = None,
    method: Annotated[
        list[RatingName] | None,
        typer.Option(help="How answers become ratings; may be repeated.  [default: trueskill, bradley-terry]"),
    ] = None,
    answers: Annotated[int, typer.Option(help="Largest number of answers in a run.")] = 600,
    draws: Annotated[float, typer.Option(help="Share of draws, if every pair were asked about equally often.")] = 0.12,
    judges: Annotated[int, typer.Option("--judges", "--concurrent", help="Matches that are open at the same time.")] = 1,
    profile: Annotated[ProfileName, typer.Option(help="Distribution of the skills.")] = ProfileName.normal,
    spread: Annotated[
        float, typer.Option(help="Standard deviation of the skills; 1 is that of the difference between two performances.")
    ] = 1.0,
    every: Annotated[int, typer.Option(help="Compute the ranking after every N answers.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="First seed; the others follow it.")] = 0,
    processes: Annotated[int, typer.Option(min=1, max=2, help="Number of runs at the same time.")] = 2,
    resume: Annotated[
        Path | None, typer.Option("--resume", help="File that keeps finished runs; a run in it is not repeated.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Plot (.svg, .png, .pdf); its table is saved beside it.")] = None,
    ray: RayOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure how many answers each pairing rule needs to recover a known ranking; takes about a minute.

    Try:  interplay judge simulate --policy order --policy round-robin --seeds 5 --out plot.svg
    """
    from interplay.jobs import Executor
    from interplay.judge.pairing import DEFAULT_RULE, PAIRING_RULES
    from interplay.judge.pairing.simulate import METHODS, Simulation, curves, summary
    from interplay.judge.pairing.simulated_runs import SimulatedRuns

    with misuse():
        settings = Simulation(
            num_agents=agents, max_answers=answers, target=target, profile=profile.value, spread=spread, draws=draws,
            num_judges=judges, every=every,
        )  # fmt: skip
    asked = [name.value for name in policy or ()] or PAIRING_RULES
    policies = list(dict.fromkeys(DEFAULT_RULE if name == "default" else name for name in asked))
    methods = list(dict.fromkeys([name.value for name in method or ()] or METHODS[:2]))
    if out is not None and out.suffix not in (".svg", ".png", ".pdf"):
        raise typer.BadParameter(f"cannot draw {out}: the name must end in .svg, .png or .pdf")
    if out is not None and not out.parent.is_dir():
        raise typer.BadParameter(f"cannot write {out}: there is no folder {out.parent}\nMake it, or name another with --out.")
    kept = SimulatedRuns(resume, settings, methods)
    jobs = [(name, number) for number in range(seed, seed + seeds) for name in policies]
    missing = [job for job in jobs if kept.get(*job) is None]
    with progress() as bar:
        running = bar.add_task("simulating", total=len(jobs), completed=len(jobs) - len(missing))
        for run in _runs(settings, missing, methods, Executor(processes, ray)):
            kept.add(run)
            bar.advance(running)
    # By policy and seed, whatever order they were finished in.
    runs = [run for name in policies for number in range(seed, seed + seeds) if (run := kept.get(name, number)) is not None]
    rows = summary(runs, target)
    document: dict[str, Any] = {
        "settings": asdict(settings),
        "seeds": list(range(seed, seed + seeds)),
        "default_policy": DEFAULT_RULE,
        "results": [
            {key: value._asdict() if hasattr(value, "_asdict") else value for key, value in row.items()} for row in rows
        ],
    }
    if out is not None:
        from interplay.report.matchmaking import save_matchmaking

        beside = save_matchmaking(curves(runs), target, out)
        document |= {"plot": out, "table": beside}
    emit(document, as_json=as_json, text=_text(settings, seeds, rows, document))


def _runs(settings: Simulation, jobs: Sequence[tuple[str, int]], methods: Sequence[str], executor: Executor) -> Iterator[Run]:
    from interplay.judge.pairing.simulate import simulate as run_one

    keyed = {f"seed {seed} of {name}": (settings, name, seed, methods) for name, seed in jobs}
    if len(jobs) < 4:  # a process takes longer to begin than a few runs take
        executor = replace(executor, processes=1)
    for done in executor.map(run_one, keyed, here=run_one):
        yield done.get()


def _text(settings: Simulation, num_seeds: int, rows: list[dict[str, Any]], document: dict[str, Any]) -> Group:
    cells = [
        (
            row["policy"],
            row["method"],
            _band(row["first"]),
            _number(row["first_ratio"]),
            _band(row["lasting"]),
            _number(row["lasting_ratio"]),
            f"{row['lasting'].num_reached}/{row['lasting'].num}",
        )
        for row in rows
    ]
    title = (
        f"Answers until the rank correlation is {settings.target:g}: {settings.num_agents} agents, {num_seeds} seeds, median "
        "(quartiles), ratio to round-robin"
    )
    parts: list[Any] = [
        table(["policy", "method", "#first there", "#ratio", "#there to stay", "#ratio", "#stayed"], cells, title=title),
        f"A dash: not within {settings.max_answers} answers.",
    ]
    if "plot" in document:
        parts.append(f"Wrote {document['plot']} and its table {document['table']}.")
    else:
        parts.append("For a plot:  interplay judge simulate --out matchmaking.svg")
    return Group(*parts)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _band(values: Quartiles) -> str:
    low, middle, high = ("-" if value is None else f"{value:.0f}" for value in (values.q1, values.median, values.q3))
    return f"{middle} ({low} to {high})"
