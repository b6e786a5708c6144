"""`interplay judge`: commands about judging. Each module has the commands of one subject; all form one group."""

from __future__ import annotations

import typer

from interplay.cli.judge import agents, dataset, judges, model_judges, quiz, simulate

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Agents, published answers, bans, quizzes, model judges and simulation.\n\nTry:  interplay judge list-agents",
)

for _part in (agents, judges, dataset, model_judges):
    app.add_typer(_part.app)
app.add_typer(quiz.app, name="quiz")
app.add_typer(simulate.app)
app.add_typer(judges.token_app, name="token")
