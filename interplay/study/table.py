"""Tables of a study's file: values taken out one by one, refused with file, key and remedy where they cannot be meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import Any

from interplay.study.errors import StudyError

_NAME = re.compile(r"[a-z0-9][a-z0-9_\-]{0,63}")
_TYPE_NAMES = {str: "a text", int: "a whole number", float: "a number", list: "a list", dict: "a table", bool: "true or false"}


def is_name(text: str) -> bool:
    """Whether a text is fit for a name: lower-case letters, digits, `_` and `-`, at most 64.

    >>> is_name("caves-2"), is_name("Caves")
    (True, False)
    """
    return _NAME.fullmatch(text) is not None


class Table:
    """One table being read.

    Args:
        values: What it holds.
        source: Name of the file, for errors.
        where: Path of the table in the file, empty for the file itself.
    """

    def __init__(self, values: Mapping[str, Any], source: str, where: str = "") -> None:
        self.values = values
        self.source = source
        self.where = where
        self._seen: set[str] = set()

    def place(self, key: str) -> str:
        """Where a key stands: `pay.reward`."""
        return ".".join(part for part in (self.where, key) if part)

    def error(self, key: str, problem: str, remedy: str) -> StudyError:
        """The error of this file, at this key."""
        return StudyError(f"{self.source}: {self.place(key)}: {problem}\nRemedy: {remedy}.")

    def raw(self, key: str, kind: type | tuple[type, ...], default: Any = ...) -> Any:
        """A value of the given type; without a default it must be there."""
        self._seen.add(key)
        if key not in self.values:
            if default is ...:
                raise self.error(key, "is missing", f"add [{self.place(key)}]" if kind is dict else f"add {key} = ...")
            return default
        value = self.values[key]
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            wanted = " or ".join(_TYPE_NAMES[one] for one in kinds)
            raise self.error(key, f"must be {wanted}, got {value!r}", f"write {wanted} there")
        return value

    def table(self, key: str) -> Table:
        """A table that must be there."""
        return Table(self.raw(key, dict), self.source, self.place(key))

    def optional(self, key: str) -> Table | None:
        """A table, or None where the file has none."""
        return self.table(key) if key in self.values else self.raw(key, dict, None)

    def text(self, key: str, default: Any = ...) -> str:
        """A text without spaces around it; one that must be there must say something."""
        value = self.raw(key, str, default).strip()
        if not value and default is ...:
            raise self.error(key, "is empty", f"write what {key} should say")
        return value

    def paragraphs(self, key: str, default: Any = ...) -> tuple[str, ...]:
        """Plain text as paragraphs: an empty line parts them, single line ends are spaces."""
        text = self.text(key, default)
        return tuple(" ".join(part.split()) for part in re.split(r"\n\s*\n", text) if part.strip())

    def name(self, key: str) -> str:
        """A name fit for addresses and files."""
        value = self.text(key)
        if not is_name(value):
            raise self.error(key, f"{value!r} is not a name", "use lower-case letters, digits, '_' and '-', at most 64")
        return value

    def choice(self, key: str, known: tuple[str, ...], default: Any = ...) -> str:
        """One of a few words."""
        value = self.text(key, default)
        if value not in known:
            near = difflib.get_close_matches(value, known, n=1)
            raise self.error(
                key,
                f"{value!r} is not known",
                f"did you mean {near[0]!r}?".rstrip("?") if near else f"write {' or '.join(known)}",
            )
        return value

    def number(self, key: str, default: Any = ..., *, low: float, high: float) -> float:
        """A number within bounds; `default` may lie outside."""
        value = self.raw(key, (int, float), default)
        if key in self.values and not low <= value <= high:
            raise self.error(key, f"must lie between {low:g} and {high:g}, got {value!r}", "choose a value in that range")
        return value

    def count(self, key: str, default: Any = ..., *, low: int = 1, high: int = 10_000) -> Any:
        """A whole number within bounds; `default` may be None."""
        value = self.raw(key, int, default)
        if key in self.values and not low <= value <= high:
            raise self.error(key, f"must lie between {low} and {high}, got {value!r}", "choose a value in that range")
        return value

    def texts(self, key: str, default: Any = ...) -> tuple[str, ...]:
        """A list of texts."""
        values = self.raw(key, list, default)
        if not all(isinstance(value, str) and value.strip() for value in values):
            raise self.error(key, f"must hold texts, got {values!r}", "put each entry in quotes")
        return tuple(" ".join(value.split()) for value in values)

    def nothing_else(self) -> None:
        """Refuse keys nobody asked for: most are typing slips."""
        for key in self.values:
            if key not in self._seen:
                near = difflib.get_close_matches(key, self._seen, n=1)
                remedy = f"did you mean {near[0]!r}" if near else f"known keys here are {', '.join(sorted(self._seen))}"
                raise self.error(key, "is not a known key", remedy)
