"""`interplay explore`: instances of the benchmark, how they are made, and language models that play them."""

from __future__ import annotations

import typer

from interplay.cli.explore import instances
from interplay.cli.explore.bank import bank, filter_tasks
from interplay.cli.explore.make import make
from interplay.cli.explore.runs import results, run

app = typer.Typer(
    add_completion=False,
    help="Scenes with milestones.  Try:  interplay explore check my.json",
    no_args_is_help=True,
)
_more = typer.Typer()
for command in (run, results, bank, make):
    _more.command()(command)
_more.command("filter")(filter_tasks)
for part in (instances.app, _more):
    app.add_typer(part)
