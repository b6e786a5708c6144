"""Read the data in Minecraft's commands (SNBT), such as `{id:"minecraft:chest",Count:1b,tag:{Damage:3}}`.

A compound becomes a dict, a list a list, a string a str. Numbers keep their type as `Byte`, `Short`, `Long`, `Float` (`1b`,
`2s`, `3L`, `1.5f`); a plain int is an Int, a plain float a Double. Arrays become `Array`. `plain` converts all to JSON values.

>>> value, end = parse_at('{Slot:0b,Pos:[1.5,2d],Tags:["a",b]} 1', 0)
>>> value["Slot"], plain(value), end
(Byte(0), {'Slot': 0, 'Pos': [1.5, 2.0], 'Tags': ['a', 'b']}, 35)

Differences from the game: a number that is too large for its type is an error, not a string.
"""

from __future__ import annotations

import math
import re
from typing import Any

from blockworld.errors import WorldError

MAX_LENGTH = 32_500
"""Largest number of characters that are read, as in a command of Minecraft."""
MAX_DEPTH = 64


class _Whole(int):
    """A whole number that keeps its NBT type; it is equal to the same int."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({int(self)})"


class Byte(_Whole):
    """A whole number from -128 to 127; true is 1, false is 0."""


class Short(_Whole):
    """A whole number from -32,768 to 32,767."""


class Long(_Whole):
    """A whole number of 64 bits."""


class Float(float):
    """A floating-point number that has single precision in the game."""

    def __repr__(self) -> str:
        return f"Float({float(self)!r})"


class Array(list[int]):
    """An array of numbers of one type, `B`, `I` or `L`."""

    def __init__(self, kind: str, values: list[int]) -> None:
        super().__init__(values)
        self.kind = kind

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Array) and self.kind == other.kind and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Array({self.kind!r}, {list(self)!r})"


class NbtError(WorldError):
    """Error for text that is not SNBT; `column` counts from 1."""

    def __init__(self, text: str, column: int, what: str) -> None:
        shown = text if len(text) <= 200 else text[:200] + "..."
        super().__init__(f"column {column} of `{shown}`: {what}")
        self.column, self.what = column, what


_BITS = {"b": 8, "s": 16, "": 32, "l": 64}
_NAMES = {"b": "byte (b)", "s": "short (s)", "": "whole number", "l": "long (L)"}
_TYPES: dict[str, type[int]] = {"b": Byte, "s": Short, "": int, "l": Long}
_ELEMENTS = {"B": "b", "I": "", "L": "l"}
_WHOLE = re.compile(r"([-+]?(?:0|[1-9][0-9]*))([bsl]?)", re.I)
_BROKEN = re.compile(
    r"[-+]?(?:[0-9]+\.?|[0-9]*\.[0-9]+)(?:e[-+]?[0-9]+)?([dfDF])|[-+]?(?:[0-9]+\.|[0-9]*\.[0-9]+)(?:e[-+]?[0-9]+)?", re.I
)
_BARE = re.compile(r"[0-9A-Za-z_.+-]+")
_SPACE = re.compile(r"\s*")


def parse_at(text: str, start: int) -> tuple[Any, int]:
    """Return the value at an index of a text and the index after the value. NbtError has the column in the whole text."""
    if len(text) > MAX_LENGTH:
        raise NbtError(text, MAX_LENGTH + 1, f"the text has {len(text)} characters; at most {MAX_LENGTH} are read")
    return _value(text, start, 0)


def plain(value: Any) -> Any:
    """Convert a value to JSON values: numbers lose their NBT types, arrays become lists."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, list):
        return [plain(part) for part in value]
    if isinstance(value, str):
        return value
    return float(value) if isinstance(value, float) else int(value)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None  # it matches nothing, too
    return found.end()


def _value(text: str, at: int, depth: int) -> tuple[Any, int]:
    at = _skip(text, at)
    if depth > MAX_DEPTH:
        raise NbtError(text, at + 1, f"lists and compounds are nested more than {MAX_DEPTH} deep")
    first = text[at : at + 1]
    if not first:
        raise NbtError(text, at + 1, "expected a value, got the end")
    if first == "{":
        return _compound(text, at, depth)
    if first == "[":
        if text[at + 2 : at + 3] == ";" and text[at + 1] not in "\"'":
            return _array(text, at, depth)
        return _list(text, at, depth)
    if first in "\"'":
        return _string(text, at)
    bare = _BARE.match(text, at)
    if bare is None:
        raise NbtError(text, at + 1, f"expected a value, got {first!r}")
    return _number(text, at, bare[0]), bare.end()


def _number(text: str, at: int, bare: str) -> Any:
    if bare.lower() in ("true", "false"):
        return Byte(bare.lower() == "true")
    whole = _WHOLE.fullmatch(bare)
    if whole:
        kind = whole[2].lower()
        most = 1 << _BITS[kind] - 1
        if len(whole[1]) > 20 or not -most <= int(whole[1]) < most:
            raise NbtError(text, at + 1, f"a {_NAMES[kind]} is from {-most} to {most - 1}, got {bare[:40]}")
        return _TYPES[kind](whole[1])
    broken = _BROKEN.fullmatch(bare)
    if broken:
        value = float(bare[:-1] if broken[1] else bare)
        if not math.isfinite(value):
            raise NbtError(text, at + 1, f"{bare[:40]} is not a finite number")
        return Float(value) if (broken[1] or "").lower() == "f" else value
    return bare


def _string(text: str, at: int) -> tuple[str, int]:
    """Read a string in single or double quotes; a backslash escapes the quote or another backslash."""
    quote, parts, index = text[at], [], at + 1
    while index < len(text):
        letter = text[index]
        if letter == quote:
            return "".join(parts), index + 1
        if letter == "\\":
            index += 1
            letter = text[index : index + 1]
            if letter not in (quote, "\\"):
                raise NbtError(text, index + 1, f"expected {quote} or a backslash after a backslash, got {letter!r}")
        parts.append(letter)
        index += 1
    raise NbtError(text, at + 1, f"this string has no closing {quote}")


def _key(text: str, at: int) -> tuple[str, int]:
    if text[at : at + 1] and text[at] in "\"'":
        return _string(text, at)
    bare = _BARE.match(text, at)
    if bare is None:
        raise NbtError(text, at + 1, f"expected a name or }}, got {text[at : at + 1]!r}")
    return bare[0], bare.end()


def _compound(text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
    values: dict[str, Any] = {}
    at = _skip(text, at + 1)
    while text[at : at + 1] != "}":
        start = at
        name, at = _key(text, at)
        if not name:
            raise NbtError(text, start + 1, "a name cannot be empty")
        at = _skip(text, at)
        if text[at : at + 1] != ":":
            raise NbtError(text, at + 1, f"expected : after {name[:40]!r}, got {text[at : at + 1]!r}")
        values[name], at = _value(text, at + 1, depth + 1)
        at = _next(text, at, "}")
    return values, at + 1


def _list(text: str, at: int, depth: int) -> tuple[list[Any], int]:
    values: list[Any] = []
    at = _skip(text, at + 1)
    while text[at : at + 1] != "]":
        start = at
        value, at = _value(text, at, depth + 1)
        if values and _type(value) != _type(values[0]):
            raise NbtError(text, start + 1, f"a list has values of one type, got {_type(value)} among {_type(values[0])}")
        values.append(value)
        at = _next(text, at, "]")
    return values, at + 1


def _type(value: Any) -> str:
    names = {dict: "compound", list: "list", str: "string", int: "int", float: "double"}
    return names.get(type(value), type(value).__name__.lower())


def _array(text: str, at: int, depth: int) -> tuple[Array, int]:
    kind = text[at + 1]
    if kind not in _ELEMENTS:
        raise NbtError(text, at + 2, f"an array is [B; ...], [I; ...] or [L; ...], got {kind!r}")
    wanted = _TYPES[_ELEMENTS[kind]]
    values: list[int] = []
    at = _skip(text, at + 3)
    while text[at : at + 1] != "]":
        start = at
        value, at = _value(text, at, depth + 1)
        if type(value) is not wanted:
            raise NbtError(
                text, start + 1, f"an array [{kind};] has numbers of type {_NAMES[_ELEMENTS[kind]]}, got {_type(value)}"
            )
        values.append(value)
        at = _next(text, at, "]")
    return Array(kind, [int(value) for value in values]), at + 1


def _next(text: str, at: int, closing: str) -> int:
    """Return the index after a comma, or the index of the closing bracket."""
    at = _skip(text, at)
    letter = text[at : at + 1]
    if letter == ",":
        return _skip(text, at + 1)
    if letter != closing:
        raise NbtError(
            text, at + 1, f"expected , or {closing}, got {letter!r}" if letter else f"expected {closing}, got the end"
        )
    return at
