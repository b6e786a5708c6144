"""`interplay judge`: what stands around the judging page; one module a noun, merged into one group of commands."""

from __future__ import annotations

import typer

app = typer.Typer(no_args_is_help=True, add_completion=False)

for _part in ():
    app.add_typer(_part.app)
