"""Write docs/command-line.md from the commands themselves:  python tools/command_line_page.py"""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from typer.core import TyperArgument, TyperOption

from interplay.cli import _VERBS, command_of

PAGE = Path(__file__).parent.parent / "docs" / "command-line.md"
INTRODUCTION = """# The command line

Every verb with its options. `interplay VERB --help` says the same.

This page is made from the commands: `python tools/command_line_page.py`.

Exit status: 0 done, 1 failed, 2 wrong options or an unknown name. Results go to standard output, progress to standard error.
Every command accepts these options; one that has no use for an option ignores it:

| option | what it does |
| --- | --- |
| `--data DIR` | Folder with the database, episodes, videos and models; default `interplay-data`. |
| `--seed N` | Seed of every random draw; drawn and printed if not given. |
| `--json` | Print one JSON document on standard output. |
| `--help` | Show the help of the command. |
"""
EVERYWHERE = {"--data", "--seed", "--json", "--help", "--install-completion", "--show-completion"}
VALUES = {int: "N", float: "X", str: "TEXT", Path: "PATH"}
Command = Any
"""A command or a group of them as Typer makes it; its classes come from Click or from Typer's own copy of Click."""


def commands(name: str, command: Command) -> Iterator[tuple[str, Command]]:
    """A command, and those inside it in the order of its help, each with its whole name."""
    if not command.hidden:
        yield name, command
        for part, inner in getattr(command, "commands", {}).items():
            yield from commands(f"{name} {part}", inner)


def cell(text: str | None) -> str:
    """Text as a table's cell holds it: in one line."""
    return " ".join((text or "").split()).replace("|", "\\|").replace("<", "\\<")


def word(parameter: TyperArgument | TyperOption) -> str:
    """What stands for an argument or for the value of an option."""
    if isinstance(parameter, TyperArgument):
        return (parameter.metavar or (parameter.name or "").upper()).strip("{}[].") + ("..." if parameter.nargs == -1 else "")
    kind = parameter.type_descriptor.annotation
    if get_origin(kind) is Literal:
        return "|".join(get_args(kind))
    kind = next(iter(get_args(kind)), kind)  # of list[kind], for options that may be repeated
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "|".join(str(one.value) for one in kind)
    return parameter.metavar or VALUES.get(kind, "VALUE")


def usage(name: str, command: Command) -> str:
    """The words to type: the name, and the arguments."""
    if getattr(command, "commands", {}):
        return f"{name} COMMAND"
    arguments = [parameter for parameter in command.params if isinstance(parameter, TyperArgument)]
    return " ".join([name, *(word(one) if one.required else f"[{word(one)}]" for one in arguments)])


def row(parameter: TyperArgument | TyperOption) -> str:
    """One line of a table: what to type, and what it does."""
    help = cell(parameter.help)
    if isinstance(parameter, TyperArgument):
        return f"| `{word(parameter)}` | {help} |"
    words = ", ".join([*parameter.opts, *parameter.secondary_opts])
    default = getattr(parameter.default, "value", parameter.default)
    if default not in (None, False, True, (), []) and not callable(default):
        help += f" Default: `{', '.join(map(str, default)) if isinstance(default, list | tuple) else default}`."
    value = "" if parameter.is_flag else " " + word(parameter).replace("|", "\\|")
    return f"| `{words}{value}` | {help} |"


def section(name: str, command: Command) -> str:
    """The part of the page about one command."""
    lines = [f"{'##' if name.count(' ') == 1 else '###'} {name}", "", f"`{usage(name, command)}`", ""]
    for paragraph in inspect.cleandoc(command.help or "").replace("\b", "").split("\n\n"):
        text, _, examples = " ".join(paragraph.split()).partition("Try: ")
        if text:
            lines += [text.replace("<", "\\<").strip(), ""]
        if examples:
            shown = re.split(r" (?=interplay )", examples.strip())
            lines += ["```console no-run", *(f"$ {example}" for example in shown), "```", ""]
    rows = [row(parameter) for parameter in command.params if not EVERYWHERE & set(parameter.opts)]
    if rows:
        lines += ["| | |", "| --- | --- |", *rows, ""]
    return "\n".join(lines)


def page() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    for verb, (_, line) in _VERBS.items():
        command = copy.copy(command_of(verb))
        command.help = command.help or line
        parts += [section(name, inner) for name, inner in commands(f"interplay {verb}", command)]
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
    print(f"Wrote {PAGE}.")
