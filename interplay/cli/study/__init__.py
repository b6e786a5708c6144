"""`interplay study`: check, open and close studies, list and pay participants, run classes."""

from __future__ import annotations

import typer

from interplay.cli.study import classes, studies
from interplay.cli.study.hit import hit
from interplay.cli.study.numbers import feedback, funnel, money, pause, resume
from interplay.cli.study.pay import pay
from interplay.cli.study.play import answers, raffle, simulate

app = typer.Typer(
    add_completion=False,
    help="Open and close studies, list their participants, pay them.  Try:  interplay study show atari",
    no_args_is_help=True,
)
_more = typer.Typer()
for command in (hit, pay, simulate, answers, raffle, feedback, pause, resume, funnel, money):
    _more.command()(command)
for part in (studies.app, _more):
    app.add_typer(part)
app.add_typer(classes.app, name="class")
