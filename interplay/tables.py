"""Read the tables of a file that people write: take out each value by its key; errors name file, key and remedy."""

from __future__ import annotations

import codecs
import copy
import difflib
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from interplay.errors import InterplayError

MAX_NAME_CHARS = 64
_OVERRIDES = "\u202d\u202e"
"""Characters that reverse the order of the text after them, so that it is displayed differently from what it is."""
_NAME = re.compile(r"[a-z0-9][a-z0-9_\-]*")
_TYPE_NAMES = {str: "a text", int: "a whole number", float: "a number", list: "a list", dict: "a table", bool: "true or false"}
_STAND_INS: Mapping[Any, Any] = {str: "missing", int: 1, float: 1.0, list: [], dict: {}, bool: False}


def is_name(text: str, *, max_chars: int | None = MAX_NAME_CHARS) -> bool:
    """Return whether a text is a valid name: lower-case letters, digits, `_` and `-`.

    >>> is_name("caves-2"), is_name("Caves")
    (True, False)
    """
    return _NAME.fullmatch(text) is not None and (max_chars is None or len(text) <= max_chars)


def decoded(data: bytes) -> str:
    """Decode a UTF-8 file to text without byte order mark, in which all lines end with a line feed.
    Raises ValueError with line and remedy if the bytes are invalid."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)):
        bits = 32 if data[:4] in (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE) else 16
        raise ValueError(
            f"line 1: the text is UTF-{bits}, not UTF-8\nRemedy: save the file as UTF-8 "
            f"(in PowerShell: ... | Out-File -Encoding utf8 NEW), or:  iconv -f utf{bits} -t utf8 FILE > NEW"
        )
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ValueError(
            f"line {line}: byte {data[error.start]:#04x} is not UTF-8\nRemedy: save the file as UTF-8, or:  "
            "iconv -f latin1 -t utf8 FILE > NEW"
        ) from None
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise ValueError(f"line {line}: a zero byte, so this is not a text file\nRemedy: save it as text, in UTF-8.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def visible(found: Iterable[Path], root: Path) -> list[Path]:
    """Return the files below a folder, sorted, without hidden ones such as `.part`, `._notes` and `__MACOSX`."""
    return sorted(
        path for path in found if not any(part[0] == "." or part == "__MACOSX" for part in path.relative_to(root).parts)
    )


def read_text(file: Path, refuse: type[InterplayError], *, hint: str) -> str:
    """Read the text of a file; `hint` says what to do if it is missing. Errors are raised as `refuse`."""
    try:
        return decoded(file.read_bytes())
    except FileNotFoundError:
        raise refuse(f"{file}: no such file\n{hint}") from None
    except IsADirectoryError:
        raise refuse(f"{file}: is a folder; name a file in it\n{hint}") from None
    except (OSError, ValueError) as error:
        raise refuse(f"{file}: cannot be read as UTF-8 text: {error}") from None


def parse_toml(text: str, source: str, refuse: type[InterplayError]) -> dict[str, Any]:
    """Parse a TOML document; errors are raised as `refuse` and name `source`."""
    try:
        return copy.deepcopy(tomllib.loads(text))  # refuses tables that dotted keys nest deeper than others can read
    except tomllib.TOMLDecodeError as error:
        raise refuse(f"{source}: not valid TOML: {error}\nCheck quotes and brackets near that line.") from None
    except RecursionError:
        raise refuse(f"{source}: lists or tables are nested too deeply\nRemedy: use fewer levels.") from None


class Table:
    """One table that is being read. Each method that takes a key raises `refuse` for an invalid value.

    Args:
        source: Name of the file, for errors.
        where: Path of the table in the file; empty for the top level.
        own: The part of `values` that is written at `where`; the rest comes from `[defaults]`. None if all values are written
            there.
        faults: List that collects errors of missing or unknown keys, to report all of a file together; a missing value gets a
            stand-in. None: the first error is raised.
    """

    def __init__(
        self,
        values: Mapping[str, Any],
        source: str,
        where: str = "",
        *,
        refuse: type[InterplayError],
        own: Mapping[str, Any] | None = None,
        faults: list[InterplayError] | None = None,
    ) -> None:
        self.values = values
        self._faults = faults
        self.source = source
        self.where = where
        self._refuse = refuse
        self._own = own
        self._seen: set[str] = set()

    def over(self, defaults: Mapping[str, Any]) -> Table:
        """Return this table merged over `[defaults]`: tables are merged, other values replace the default.
        Errors name the table in which the wrong value stands."""
        return Table(_merged(defaults, self.values), self.source, self.where, refuse=self._refuse, own=self.values)

    def is_own(self, key: str) -> bool:
        return key in (self.values if self._own is None else self._own)

    def place(self, key: str) -> str:
        """Return the full path of a key for errors, such as `pay.reward`."""
        place = ".".join(part for part in (self.where, key) if part)
        name = key.partition(".")[0].partition("[")[0]
        if name in self.values and not self.is_own(name):
            place = ".".join(["defaults", *place.split(".")[1:]])
        return place

    def error(self, key: str, problem: str, remedy: str) -> InterplayError:
        text = ": ".join(part for part in (self.source, self.place(key), problem) if part)
        return self._refuse(f"{text}\nRemedy: {remedy}.")

    def raw(self, key: str, kind: type | tuple[type, ...], default: Any = ...) -> Any:
        """Return the value of a key, which must have the given type; without a default the key is required."""
        self._seen.add(key)
        if key not in self.values:
            if default is ...:
                remedy = f"add [{key}]" if kind is dict and not self.where else f"add {key} = ..."
                self._fault(self.error(key, "is missing", remedy))
                return _STAND_INS[kind[0] if isinstance(kind, tuple) else kind]
            return default
        value = self.values[key]
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            wanted = " or ".join(_TYPE_NAMES[one] for one in kinds)
            raise self.error(key, f"must be {wanted}, got {value!r}", f"write {wanted} there")
        return value

    def _fault(self, error: InterplayError) -> None:
        if self._faults is None:
            raise error
        self._faults.append(error)

    def table(self, key: str, default: Any = ...) -> Table:
        values = self.raw(key, dict, default)
        own = None if self._own is None else self._own.get(key, {})
        where = ".".join(filter(None, (self.where, key)))
        return Table(values, self.source, where, refuse=self._refuse, own=own, faults=self._faults)

    def optional(self, key: str) -> Table | None:
        """Return the table at a key, or None if the key is missing."""
        return None if self.raw(key, dict, None) is None else self.table(key)

    def tables(self, key: str, default: Any = ...) -> list[Table]:
        found = []
        for index, entry in enumerate(self.raw(key, list, default)):
            name = f"{key}[{index}]"
            if not isinstance(entry, dict):
                raise self.error(name, f"must be a table, got {entry!r}", "write a table there")
            where = ".".join(filter(None, (self.where, name)))
            own = None if self.is_own(key) else {}
            found.append(Table(entry, self.source, where, refuse=self._refuse, own=own, faults=self._faults))
        return found

    def text(self, key: str, default: Any = ...) -> str:
        """Return a text without spaces around it; a required text must not be empty."""
        value = self.raw(key, str, default).strip()
        if not value and default is ...:
            raise self.error(key, "is empty", f"write what {key} should say")
        return value

    def line(self, key: str) -> str:
        """Return a text of one line for lists and headings; control characters, which can hide words, are refused."""
        value = self.text(key)
        if hidden := [char for char in value if unicodedata.category(char) == "Cc" or char in _OVERRIDES]:
            problem = f"holds the control character U+{ord(hidden[0]):04X}, which nobody can see"
            raise self.error(key, problem, "take it out, and write one line")
        return value

    def texts(self, key: str, default: Any = ...) -> tuple[str, ...]:
        """Return a list of texts; none of them may be empty."""
        values = self.raw(key, list, default)
        if not all(isinstance(value, str) and value.strip() for value in values):
            raise self.error(key, f"must hold texts, got {values!r}", 'write ["one", "another"]')
        return tuple(values)

    def paragraphs(self, key: str) -> tuple[str, ...]:
        """Return plain text as paragraphs: empty lines separate paragraphs, single line ends become spaces."""
        return tuple(" ".join(part.split()) for part in re.split(r"\n\s*\n", self.text(key)) if part.strip())

    def name(self, key: str, *, max_chars: int | None = MAX_NAME_CHARS) -> str:
        value = self.text(key)
        if not is_name(value, max_chars=max_chars):
            limit = "" if max_chars is None else f", at most {max_chars}"
            raise self.error(key, f"{value!r} is not a name", f"use lower-case letters, digits, '_' and '-'{limit}")
        return value

    def choice(self, key: str, known: Iterable[str], default: Any = ...) -> str:
        value = self.text(key, default)
        if value not in known and key in self.values:
            raise self.error(key, f"{value!r} is not known", nearest(value, known) or f"write {' or '.join(known)}")
        return value

    def number(self, key: str, default: Any = ..., *, low: float, high: float) -> float:
        """Return a number within bounds; `default` may lie outside."""
        value = self.raw(key, (int, float), default)
        if key in self.values and not low <= value <= high:
            raise self.error(key, f"must lie between {low:g} and {high:g}, got {value!r}", "choose a value in that range")
        return value

    def count(self, key: str, default: Any = ..., *, low: int = 1, high: int = 10_000) -> Any:
        """Return a whole number within bounds; `default` may be None."""
        value = self.raw(key, int, default)
        if key in self.values and not low <= value <= high:
            raise self.error(key, f"must lie between {low} and {high}, got {value!r}", "choose a value in that range")
        return value

    def nothing_else(self, *unread: str) -> None:
        """Refuse keys that were not read, except `unread`: most of them are typing slips."""
        known = sorted({*self._seen, *unread})
        for key in self.values:
            if key not in known:
                remedy = nearest(key, known) or (f"known keys here are {', '.join(known)}" if known else "leave it out")
                self._fault(self.error(key, "is not a known key", remedy))


def nearest(word: str, known: Iterable[str]) -> str:
    """Return a suggestion for a mistyped word; empty if no known word is near.

    >>> nearest("titel", ["title", "summary"])
    "did you mean 'title'"
    """
    near = difflib.get_close_matches(word, list(known), n=1)
    return f"did you mean {near[0]!r}" if near else ""


def _merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(base)
    for key, value in over.items():
        both_tables = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = _merged(result[key], value) if both_tables else value
    return result
