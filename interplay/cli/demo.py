"""`interplay demo`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from interplay.cli.output import JsonOption, emit, stage_bars, table
from interplay.wording import amount

app = typer.Typer(add_completion=False)


@app.command()
def demo(
    fast: Annotated[bool, typer.Option("--fast", help="Use small settings, which take three minutes on two cores.")] = False,
    data: Annotated[Path, typer.Option("--data", help="Folder for everything that the demonstration makes.")] = Path(
        "demo-data"
    ),
    seed: Annotated[int, typer.Option("--seed", help="Seed of every random draw.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Run the whole loop with scripted players and judges: play, learn, roll out, judge, rank.

    Try:  interplay demo --fast
    """
    from interplay.demo import DemoSettings, run_demo

    settings = DemoSettings.fast(seed) if fast else DemoSettings(seed=seed)
    try:
        with stage_bars(counts=False) as report:
            result = run_demo(data, settings, report)
    except KeyboardInterrupt:
        print(f"Stopped. The games are in {data}; a new demonstration needs another folder.", file=sys.stderr)
        raise
    heads = ["#", "agent", "#mu", "#sigma", "#mu - 3 sigma", "#answers", "#won", "#drew", "#lost", "#mean return"]
    rows = [
        (
            row["rank"],
            row["agent"],
            *(f"{row[name]:.2f}" for name in ("mu", "sigma", "score")),
            *(row[name] for name in ("num_answers", "won", "drew", "lost")),
            f"{result.mean_returns[row['agent']]:.0f}",
        )
        for row in result.leaderboard
    ]
    minutes = result.demonstration_steps / 60 / 60
    stages = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in result.stages_s.items())
    work = f"{amount(result.demonstrations, 'demonstration')} ({minutes:.0f} minutes of play), {result.updates:,} updates"
    said = f"\n{work}, {amount(result.answers, 'answer')}, {result.wall_s:.0f} s in all ({stages})."
    next_one = f"See it in the browser:  interplay serve --data {data}"
    emit(result.to_json(), as_json=as_json, text=[table(heads, rows), said, next_one])
