"""How the modules of a package import each other: what must run one way, and may not hide.

Imports count at the top of a module, inside functions and for types alike. Both packages of this repository are held to
it, each by a test of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Import(NamedTuple):
    """One import: by which module of which, and whether inside a function. Names are without the package's: `play.__init__`."""

    by: str
    of: str
    is_hidden: bool


@cache
def parsed(path: Path) -> ast.Module:
    """A module, parsed; `parsed.cache_clear()` frees millions of nodes."""
    return ast.parse(path.read_text())


def modules(package: Path) -> dict[str, Path]:
    """Name -> file of each module of a package."""
    return {".".join(path.relative_to(package).with_suffix("").parts): path for path in sorted(package.rglob("*.py"))}


def room_of(module: str) -> str:
    """The first part of a name: the folder or module right below the package."""
    return module.partition(".")[0]


def imported(tree: ast.AST, *, hidden: bool = False) -> Iterator[tuple[str, bool]]:
    """Full names that are imported anywhere below a node, of modules or of what is in them, and whether inside a function."""
    for name in ("body", "handlers", "cases", "orelse", "finalbody"):  # imports and definitions stand nowhere else
        for child in getattr(tree, name, ()):
            if isinstance(child, ast.Import):
                yield from ((alias.name, hidden) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                yield from ((f"{child.module}.{alias.name}", hidden) for alias in child.names)
            else:
                in_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
                yield from imported(child, hidden=hidden or in_function)


def imports_in(tree: ast.AST, package: str, names: Mapping[str, object]) -> Iterator[tuple[str, bool]]:
    """Which of a package's modules are imported below a node, and whether inside a function."""
    for full, hidden in imported(tree):
        first, _, name = full.partition(".")
        if first == package:
            parent = name.rpartition(".")[0]
            candidates = (name, f"{name}.__init__", parent, f"{parent}.__init__", "__init__")
            yield from [(one, hidden) for one in candidates if one in names][:1]


def imports(package: Path) -> list[Import]:
    """All imports of a package's modules by each other."""
    names = modules(package)
    return [
        Import(by, of, hidden)
        for by, path in names.items()
        for of, hidden in imports_in(parsed(path), package.name, names)
        if of != by
    ]


def upward(found: list[Import], may_use: Mapping[str, set[str]]) -> set[tuple[str, str]]:
    """(module, module) of imports of a room that the first one's room may not use."""
    return {(one.by, one.of) for one in found if room_of(one.of) not in may_use[room_of(one.by)] | {room_of(one.by)}}


def circles(found: list[Import]) -> set[tuple[str, ...]]:
    """Groups of modules that reach each other by their imports, each sorted."""
    known: dict[str, set[str]] = {}
    for one in found:
        known.setdefault(one.by, set()).add(one.of)

    def reached(name: str) -> set[str]:
        reach, ahead = set(), [name]
        while ahead:
            new = known.get(ahead.pop(), set()) - reach
            reach |= new
            ahead.extend(new)
        return reach

    reach = {name: reached(name) for name in known}
    return {
        tuple(sorted(other for other in reach[name] if name in reach.get(other, ()))) for name in known if name in reach[name]
    }
