"""`interplay episodes`: list, verify, measure, show and export recorded episodes."""

from __future__ import annotations

import typer

from interplay.cli.episodes import catalogue, measure
from interplay.cli.episodes.data import export, import_episodes, pull
from interplay.cli.episodes.measure import collected, quality
from interplay.cli.episodes.release import query, release

app = typer.Typer(
    add_completion=False,
    help="Recorded episodes.  Try:  interplay episodes list --task atari/breakout --where 'score >= 20'",
    no_args_is_help=True,
)
_more = typer.Typer()
for command in (export, pull, release, collected, quality):
    _more.command()(command)
_more.command("import")(import_episodes)
for part in (catalogue.app, measure.app, _more):
    app.add_typer(part)
app.add_typer(query, name="query")
