"""Errors of the world."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class WorldError(Exception):
    """The world cannot do what was asked; it stays unchanged."""


class UnknownNameError(WorldError):
    """The world does not know a name; the message offers the nearest known names."""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UnknownNameError:
    """Return the error for an unknown name; its message offers the nearest known names.

    >>> print(unknown_name("item", "stik", ["stick", "stone"]))
    unknown item 'stik'; did you mean 'stick'?
    """
    names = sorted(set(known))
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    likeness = [difflib.SequenceMatcher(None, name, candidate).ratio() for candidate in near]
    near = [candidate for candidate, ratio in zip(near, likeness, strict=True) if ratio > likeness[0] - 0.1]
    if near:
        return UnknownNameError(f"unknown {kind} {name!r}; did you mean " + " or ".join(map(repr, near)) + "?")
    listed = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return UnknownNameError(f"unknown {kind} {name!r}; known: {listed}" if names else f"unknown {kind} {name!r}")
