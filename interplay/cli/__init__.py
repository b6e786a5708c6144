"""The `interplay` command, with one verb for each task. Exit status: 0 done, 1 failed, 2 misused."""

from __future__ import annotations

import difflib
import importlib
import io
import sys
from functools import cache
from typing import Any

from interplay import __version__
from interplay.errors import InterplayError, MisuseError

_VERBS = {
    "demo": ("interplay.cli.demo", "The whole loop with scripted players and judges: play, learn, roll out, judge, rank."),
    "serve": ("interplay.cli.serve", "Start the web server: play, judge, leaderboard."),
    "compile": ("interplay.cli.compile", "Compile the block world once; otherwise the first game compiles it."),
    "tasks": ("interplay.cli.tasks", "List, show and check tasks."),
    "agents": ("interplay.cli.agents", "List agents, or import one."),
    "play": ("interplay.cli.play", "Let an agent play a task and record it."),
    "data": ("interplay.cli.data", "Move everything to another database and a store of files."),
    "episodes": (
        "interplay.cli.episodes",
        "List, show, verify, measure, replay, export, import, pull and repair recorded episodes.",
    ),
    "learn": ("interplay.cli.learn", "Train an agent, on recorded episodes or by playing."),
    "demos": ("interplay.cli.demos", "Published recordings of people: list, fetch, check, import, embed with VPT."),
    "judge": ("interplay.cli.judge", "Agents to be judged, tokens, bans, quizzes, published answers, model judges."),
    "study": ("interplay.cli.study", "Check, open, pause and close studies; list and pay participants; classes; feedback."),
    "live": ("interplay.cli.live", "List the games that are played now; pause new games."),
    "cluster": ("interplay.cli.cluster", "List the servers of one database; move their games."),
    "rank": ("interplay.cli.rank", "Compute the leaderboard from answers."),
    "report": ("interplay.cli.report", "Tables and figures of everything recorded."),
    "explore": ("interplay.cli.explore", "Scenes with milestones: check and import them, let language models play them."),
    "bench": ("interplay.cli.bench", "Run a measurement together with its baseline."),
}
"""Map each verb to its module and its line of help. The module has `app`, a `typer.Typer` (one command, or a group), and is
loaded when it is used."""


_HELP = """Usage: interplay VERB [OPTIONS] ...

People and agents play, are recorded, compared and ranked.

  interplay demo --fast              see the whole loop in three minutes
  interplay serve                    play and judge at http://127.0.0.1:8000
  interplay VERB --help              what a verb does, with an example

Verbs:
{verbs}
"""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit; errors meant for people are printed without a traceback.
    The module of a verb is imported only when the verb is called, so that help and small verbs start at once."""
    for stream in (sys.stdout, sys.stderr):
        # Files and pipes get what we read again, whatever the locale says.
        if isinstance(stream, io.TextIOWrapper) and stream.encoding.lower() != "utf-8":
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")
    sys.exit(_run(sys.argv[1:] if arguments is None else arguments))


def _run(arguments: list[str]) -> int:
    """Run one command line; return the exit status."""
    if not arguments or arguments[0] in ("--help", "-h", "help"):
        print(_HELP.format(verbs="\n".join(f"  {verb:10} {line}" for verb, (_, line) in _VERBS.items())), end="")
        return 0
    verb, *rest = arguments
    if verb == "--version":
        print(f"interplay {__version__}")
        return 0
    if verb not in _VERBS:
        near = difflib.get_close_matches(verb, _VERBS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "see: interplay --help"
        print(f"error: no such verb {verb!r}; {hint}", file=sys.stderr)
        return 2
    import typer

    try:
        command = command_of(verb)
        status = command.main(_without_idle_options(command, rest), prog_name=f"interplay {verb}", standalone_mode=False)
    except typer.TyperException as error:  # whatever is wrong with options and arguments
        given = getattr(error.__cause__, "errors", list)()  # of a number or choice; the message does not repeat it
        if given:
            said = error.message.partition(", unable")[0].replace("Input should be", "it must be").removeprefix("Value error, ")
            error.message = said if repr(given[0]["input"]) in said else f"{said}; got {given[0]['input']!r}"
        error.show()  # type: ignore[attr-defined]
        return error.exit_code
    except SystemExit as stop:  # typer's way to end: 0, 2 for misuse, or a verb's own status
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except InterplayError as error:
        from interplay.cli.output import printable

        print(f"error: {printable(str(error))}", file=sys.stderr)
        return 2 if isinstance(error, MisuseError) else 1
    except BrokenPipeError:  # the reader of our output went away, as `| head` does
        sys.stderr.close()
        return 1
    except KeyboardInterrupt:
        return 130
    return status if isinstance(status, int) else 0  # a number where the verb, or its help, ended it


@cache
def command_of(verb: str) -> Any:
    """Return the command, or group of commands, of a verb; it is built only once, since large groups take 20 ms."""
    import typer

    return typer.main.get_command(importlib.import_module(_VERBS[verb][0]).app)


def _without_idle_options(command: Any, arguments: list[str]) -> list[str]:
    """Return the arguments without the options `--data`, `--seed` and `--json` that this command does not have.

    Scripts may pass these three options to every verb."""
    for part in arguments:
        command = getattr(command, "commands", {}).get(part, command)
    declared = {name for parameter in command.params for name in parameter.opts}
    kept: list[str] = []
    rest = iter(arguments)
    for part in rest:
        name = part.partition("=")[0]
        if name in declared or name not in ("--data", "--seed", "--json"):
            kept.append(part)
        elif name != "--json" and "=" not in part:
            next(rest, None)  # its value
    return kept
