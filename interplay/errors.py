"""Errors that a user can meet: each says what was found, what was expected, and what to do next."""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any


class InterplayError(Exception):
    """An error whose text tells the reader what to do; the command line prints it without a traceback and exits with 1."""


class MisuseError(InterplayError):
    """An impossible request; the command line exits with 2."""


class NotFoundError(MisuseError):
    """An unknown name; the text offers the nearest one."""


def install_line(extra: str) -> str:
    """Return the command that installs an extra of this package, or of the checkout from which it runs."""
    is_checkout = (Path(__file__).parent.parent / "pyproject.toml").is_file()
    return f"pip install -e '.[{extra}]'" if is_checkout else f"pip install 'interplay[{extra}]'"


def not_installed(needed: str, package: str | None, extra: str) -> str:
    return f"{needed} {package}, which is not installed\nInstall it with:  {install_line(extra)}"


def shortened(value: Any) -> str:
    """Shorten a value from a file to a few characters for an error message, however large or deeply nested it is.

    >>> shortened(list(range(1000)))
    '[0, 1, 2, 3, 4, 5, ...]'
    """
    return reprlib.repr(value)[:80]


def unknown_name(kind: str, name: str, known: Iterable[str], *, hint: str = "") -> NotFoundError:
    """Return the error for a mistyped name; it suggests the nearest known names.

    >>> print(unknown_name("task", "atari/breakot", ["atari/breakout", "atari/qbert"]))
    unknown task 'atari/breakot'; did you mean 'atari/breakout'?
    """
    names = sorted(set(known))
    near = _nearest(name, names)
    if not near:  # a bare last part ("breakout") is the commonest slip
        near = [known_name for known_name in names if name and known_name.rsplit("/", 1)[-1] == name.rsplit("/", 1)[-1]]
    text = f"unknown {kind} {name!r}"
    if near:
        text += "; did you mean " + " or ".join(repr(candidate) for candidate in near) + "?"
    elif names:
        listed = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
        text += f"; known: {listed}"
    return NotFoundError(f"{text}\n{hint}" if hint else text)


def _nearest(name: str, names: list[str]) -> list[str]:
    """Return the known names closest to this one, best first.
    Names that are clearly farther than the best are left out, so that an obvious slip gets one answer."""
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    likeness = [difflib.SequenceMatcher(None, name, candidate).ratio() for candidate in near]
    return [candidate for candidate, ratio in zip(near, likeness, strict=True) if ratio > likeness[0] - 0.1]
