"""Read the parts of commands: words, numbers, names, places, blocks and items. Errors name the column of the mistake."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from blockworld.commands import nbt
from blockworld.errors import WorldError, unknown_name
from blockworld.registry.blocks import BY_NAME as BLOCKS
from blockworld.registry.blocks import change, name_of, properties_of
from blockworld.registry.items import BY_NAME as ITEMS
from blockworld.registry.items import TAGS, Item
from blockworld.state import Position, Stack
from blockworld.world_state import WorldState

MAX_LENGTH = nbt.MAX_LENGTH
PLAYER = 0
"""Number that stands for the player where commands use entity ids."""

ENCHANTMENTS = (
    *("aqua_affinity", "bane_of_arthropods", "binding_curse", "blast_protection", "channeling", "depth_strider", "efficiency"),
    *("feather_falling", "fire_aspect", "fire_protection", "flame", "fortune", "frost_walker", "impaling", "infinity"),
    *("knockback", "looting", "loyalty", "luck_of_the_sea", "lure", "mending", "multishot", "piercing", "power"),
    *("projectile_protection", "protection", "punch", "quick_charge", "respiration", "riptide", "sharpness", "silk_touch"),
    *("smite", "soul_speed", "sweeping", "thorns", "unbreaking", "vanishing_curse"),
)
"""Enchantments of Minecraft 1.16, by the names that commands use."""


class CommandError(WorldError):
    """Error for a command that cannot run; the world is unchanged.

    Attributes:
        column: Position of the mistake, counted from 1.
        what: Description of the mistake and of the expected text.
    """

    def __init__(self, command: str, column: int, what: str) -> None:
        shown = command if len(command) <= 200 else command[:200] + "..."
        super().__init__(f"column {column} of `{shown}`: {what}")
        self.command, self.column, self.what = command, column, what


@dataclass
class Plan:
    """Data for checking a command line before it runs: `mobs` is the number of mobs that it will summon."""

    mobs: int = 0


@dataclass(frozen=True)
class Source:
    """The entity for which a command runs, and its place; `execute` changes both.

    Attributes:
        entity: Id of the entity; `PLAYER` for the player.
        x, y, z: Position of the feet.
        yaw, pitch: The entity's look, in degrees.
        plan: The same object for all sources of one command line.
    """

    entity: int
    x: float
    y: float
    z: float
    yaw: float
    pitch: float
    plan: Plan = field(default_factory=Plan)


class _Part(NamedTuple):
    """One of three coordinates: `kind` is "", "~" or "^"; `column` counts from 1."""

    kind: str
    value: float
    whole: bool
    column: int


@dataclass(frozen=True)
class Place:
    """Three coordinates as written in a command: east, up, south; with `^` left, up, forward."""

    read: Reader
    parts: tuple[_Part, _Part, _Part]

    def _resolved(self, source: Source, centred: bool) -> tuple[float, float, float]:
        if self.parts[0].kind == "^":
            return _local(source, *(part.value for part in self.parts))
        values = []
        for axis, (part, here) in enumerate(zip(self.parts, (source.x, source.y, source.z), strict=True)):
            middle = 0.5 if centred and part.whole and axis != 1 else 0.0
            values.append(here + part.value if part.kind else part.value + middle)
        return values[0], values[1], values[2]

    def point(self, source: Source) -> tuple[float, float, float]:
        """Return the exact point. As in the game, absolute whole numbers for east and south mean the middle of a block."""
        return self._resolved(source, True)

    def standing(self, world: WorldState, source: Source) -> tuple[float, float, float]:
        """Return the point for an entity's feet; CommandError if the point is outside the world."""
        x, y, z = self.point(source)
        sx, sy, sz = world.grid.size
        if not (0 <= x < sx and 0 <= y <= sy and 0 <= z < sz):
            raise self.read.error(
                f"there is no place {x:g} {y:g} {z:g}: the world reaches from 0 0 0 to {sx} {sy} {sz}", self.parts[0].column
            )
        return x, y, z

    def anywhere(self, source: Source) -> Position:
        """Return the cell, which may be outside the world; CommandError if an absolute number is not whole."""
        for part in self.parts:
            if not part.kind and not part.whole:
                raise self.read.error(f"the position of a block must be whole numbers, got {part.value:g}", part.column)
        # What turning leaves of rounding does not move a block.
        x, y, z = (math.floor(round(value, 9)) for value in self._resolved(source, False))
        return x, y, z

    def cell(self, world: WorldState, source: Source) -> Position:
        x, y, z = self.anywhere(source)
        if not world.grid.inside(x, y, z):
            sx, sy, sz = world.grid.size
            raise self.read.error(
                f"there is no block at {x} {y} {z}: the world reaches from 0 0 0 to {sx - 1} {sy - 1} {sz - 1}",
                self.parts[0].column,
            )
        return x, y, z


def _local(source: Source, left: float, up: float, forward: float) -> tuple[float, float, float]:
    """Return the point `^left ^up ^forward`, relative to the feet of the source."""
    yaw, pitch = math.radians(source.yaw), math.radians(source.pitch)
    ahead = (-math.sin(yaw) * math.cos(pitch), -math.sin(pitch), math.cos(yaw) * math.cos(pitch))
    above = (-math.sin(yaw) * math.sin(pitch), math.cos(pitch), math.cos(yaw) * math.sin(pitch))
    aside = (math.cos(yaw), 0.0, math.sin(yaw))
    x, y, z = (
        here + forward * a + up * b + left * c
        for here, a, b, c in zip((source.x, source.y, source.z), ahead, above, aside, strict=True)
    )
    return x, y, z


class BlockGiven(NamedTuple):
    """A block as written in a command.

    Attributes:
        state: The state with the written properties; other properties have default values.
        said: The properties that are written.
        data: The block's NBT as plain values; None if none is written.
        column, data_column: Positions of the block and of its NBT.
    """

    state: int
    said: dict[str, str]
    data: dict[str, Any] | None
    column: int
    data_column: int


class ItemGiven(NamedTuple):
    """An item as written in a command; `damage` and `tag` as in `Stack`."""

    item: Item
    damage: int
    tag: dict[str, Any] | None
    column: int

    def stack(self, count: int) -> Stack:
        return Stack(self.item.name, count, self.damage, self.tag)


_NAME = re.compile(r"#?[A-Za-z0-9_.:/+-]*")
_WORD = re.compile(r"[^\s\[\]{}=,]*")
_INTEGER = re.compile(r"[-+]?[0-9]+(?![0-9]*\.[0-9])")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_PROPERTY = re.compile(r"\s*([A-Za-z0-9_]+)\s*=\s*([A-Za-z0-9_]+)\s*")
_MOST = 30_000_000


class Reader:
    """Reader of a command's text from left to right; `at` is the index of the next character."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def error(self, what: str, column: int | None = None) -> CommandError:
        """Return an error at a column, by default at the next character."""
        return CommandError(self.text, self.at + 1 if column is None else column, what)

    @property
    def column(self) -> int:
        return self.at + 1

    @property
    def done(self) -> bool:
        return not self.text[self.at :].strip()

    @property
    def rest(self) -> str:
        return repr(self.text[self.at : self.at + 30]) if not self.done else "the end"

    def peek(self) -> str:
        """Return the next character without reading it; "" at the end."""
        return self.text[self.at : self.at + 1]

    def space(self, expected: str) -> None:
        if self.done:
            raise self.error(f"expected {expected}, got the end")
        if not self.peek().isspace():
            raise self.error(f"expected a space and {expected}, got {self.rest}")
        self.skip_spaces()

    def skip_spaces(self) -> None:
        while self.peek().isspace():
            self.at += 1

    def end(self) -> None:
        if not self.done:
            self.skip_spaces()
            raise self.error(f"expected the end of the command, got {self.rest}")

    def word(self, expected: str) -> str:
        found = _WORD.match(self.text, self.at)
        if not found or not found[0]:
            raise self.error(f"expected {expected}, got {self.rest}")
        self.at = found.end()
        return found[0]

    def choice(self, kind: str, choices: Collection[str]) -> str:
        """Read one of the words in `choices`; the error for another word offers the nearest choice."""
        column = self.column
        word = self.word(f"{kind}: {', '.join(choices)}")
        if word not in choices:
            raise self.unknown(kind, word, choices, column)
        return word

    def unknown(self, kind: str, name: str, known: Iterable[str], column: int) -> CommandError:
        return self.error(str(unknown_name(kind, name[:100], known)), column)

    def name(self, kind: str) -> str:
        """Read a name such as `minecraft:stone` or `#minecraft:logs`; return the name without `minecraft:`."""
        found = _NAME.match(self.text, self.at)
        if not found or not found[0]:
            raise self.error(f"expected {kind}, got {self.rest}")
        self.at = found.end()
        name = found[0]
        return "#" + name[1:].removeprefix("minecraft:") if name.startswith("#") else name.removeprefix("minecraft:")

    def known(self, kind: str, known: Collection[str]) -> str:
        column = self.column
        name = self.name(f"the name of {'an' if kind[0] in 'aeiou' else 'a'} {kind}")
        if name not in known:
            raise self.unknown(kind, name, known, column)
        return name

    def number(self, what: str, least: float = -_MOST, most: float = _MOST) -> float:
        column = self.column
        found = _NUMBER.match(self.text, self.at)
        if not found:
            raise self.error(f"expected {what}, got {self.rest}")
        self.at = found.end()
        value = float(found[0])
        if not least <= value <= most:
            raise self.error(f"{what} is from {least:g} to {most:g}, got {found[0][:40]}", column)
        return value

    def integer(self, what: str, least: int, most: int) -> int:
        column = self.column
        found = _INTEGER.match(self.text, self.at)
        if not found:
            raise self.error(f"expected {what}, a whole number, got {self.rest}")
        if len(found[0]) > 12 or not least <= int(found[0]) <= most:
            raise self.error(f"{what} is from {least} to {most}, got {found[0][:40]}", column)
        self.at = found.end()
        return int(found[0])

    def flag(self, what: str) -> bool:
        return self.choice(what, ("true", "false")) == "true"

    def _part(self, what: str) -> _Part:
        column, kind = self.column, self.peek()
        if kind in ("~", "^") and kind:
            self.at += 1
            if self.done or self.peek().isspace():
                return _Part(kind, 0.0, True, column)
        else:
            kind = ""
        start = self.at
        value = self.number(what)
        return _Part(kind, value, "." not in self.text[start : self.at], column)

    def place(self, what: str = "a place: three numbers, such as ~ ~1 ~") -> Place:
        """Read three coordinates, which may have `~` or `^`."""
        parts = [self._part(what)]
        for _ in range(2):
            self.space(what)
            parts.append(self._part(what))
        if len({part.kind == "^" for part in parts}) > 1:
            raise self.error("^ must be before all three numbers of a place, or before none", parts[0].column)
        return Place(self, (parts[0], parts[1], parts[2]))

    def angle(self, what: str, most: float) -> _Part:
        """Read an angle in degrees, absolute or relative (`~`), from -`most` to `most`."""
        column = self.column
        part = self._part(what)
        if part.kind == "^" or abs(part.value) > most:
            raise self.error(f"{what} is from {-most:g} to {most:g}, or ~, got {self.text[column - 1 : self.at][:40]}", column)
        return part

    def compound(self, what: str) -> dict[str, Any]:
        if self.peek() != "{":
            raise self.error(f"expected {what} in braces, got {self.rest}")
        try:
            value, self.at = nbt.parse_at(self.text, self.at)
        except nbt.NbtError as error:
            raise self.error(error.what, error.column) from None
        return nbt.plain(value)

    def _properties(self, state: int) -> tuple[int, dict[str, str]]:
        """Read `[property=value,...]` if it comes next; return the new state and the written properties."""
        said: dict[str, str] = {}
        if self.peek() != "[":
            return state, said
        self.at += 1
        while True:
            found = _PROPERTY.match(self.text, self.at)
            if not found:
                if self.text[self.at :].lstrip().startswith("]"):
                    break
                raise self.error(f"expected property=value or ], got {self.rest}")
            name, value = found.groups()
            column = found.start(1) + 1
            try:
                state = change(state, **{name: value})
            except WorldError as error:
                raise self.error(str(error), column) from None
            if name in said:
                raise self.error(f"{name} is written twice", column)
            said[name] = value
            self.at = found.end()
            if self.peek() != ",":
                break
            self.at += 1
        self.skip_spaces()
        if self.peek() != "]":
            raise self.error(f"expected , or ], got {self.rest}")
        self.at += 1
        return state, said

    def block(self) -> BlockGiven:
        """Read a block, `name[property=value,...]{NBT}`."""
        column = self.column
        state, said = self._properties(BLOCKS[self.known("block", BLOCKS)].default)
        data_column = self.column
        data = self.compound("its data") if self.peek() == "{" else None
        return BlockGiven(state, said, data, column, data_column)

    def block_filter(self) -> frozenset[int]:
        """Read `name[property=value,...]` or `#tag`; return all matching states. Omitted properties match any value."""
        column = self.column
        if self.peek() == "#":
            members = self.tag() & BLOCKS.keys()
            if not members:
                raise self.error("no blocks have this tag", column)
            return frozenset(state for name in members for state in _states(name))
        given = self.block()
        if given.data is not None:
            raise self.error("blocks are selected by name and properties, not by data", given.data_column)
        wanted = given.said.items()
        return frozenset(state for state in _states(name_of(given.state)) if wanted <= properties_of(state).items())

    def tag(self) -> frozenset[str]:
        """Read `#tag`; return the names of its items and blocks."""
        column = self.column
        name = self.name("a tag").removeprefix("#")
        if name not in TAGS:
            raise self.unknown("tag", name, TAGS, column)
        return TAGS[name]

    def item(self, *, or_air: bool = False) -> ItemGiven | None:
        """Read an item, `name{NBT}`; return None for `air` where that is allowed."""
        column = self.column
        name = self.known("item", {*ITEMS, "air"})
        if name == "air":
            if or_air:
                return None
            raise self.error("air is not an item; name something that can be carried", column)
        item = ITEMS[name]
        if self.peek() != "{":
            return ItemGiven(item, 0, None, column)
        data_column = self.column
        try:
            damage, tag = tag_of(item, self.compound("its data"))
        except WorldError as error:
            raise error if isinstance(error, CommandError) else self.error(str(error), data_column) from None
        return ItemGiven(item, damage, tag, column)


def _states(name: str) -> range:
    block = BLOCKS[name]
    return range(block.first, block.first + block.num_states)


def whole(value: Any, what: str, least: int, most: int) -> int:
    """Return `value`, read from NBT, as an int; WorldError if it is not whole or is out of range."""
    if isinstance(value, str) or not isinstance(value, (int, float)) or value != int(value) or not least <= value <= most:
        raise WorldError(f"{what} is a whole number from {least} to {most}, got {str(value)[:40]!r}")
    return int(value)


def known_keys(data: Any, what: str, keys: Collection[str]) -> dict[str, Any]:
    """Return `data`; WorldError if it is not an NBT compound, UnknownNameError if one of its names is not among `keys`."""
    if not isinstance(data, dict):
        raise WorldError(f"{what} is data in braces, got {str(data)[:40]!r}")
    for key in data:
        if key not in keys:
            raise unknown_name(f"data of {what}", key[:100], keys)
    return data


def spoken(text: Any, what: str) -> str:
    """Return the text of a text component, `'{"text":"Bob"}'`, `'"Bob"'` or just `Bob`; WorldError for other data."""
    if not isinstance(text, str):
        raise WorldError(f"{what} is a text, got {str(text)[:40]!r}")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    parts = value if isinstance(value, list) else [value]
    said = "".join(str(part.get("text", "")) if isinstance(part, dict) else str(part) for part in parts)
    if any("\ud800" <= letter <= "\udfff" for letter in said):
        raise WorldError(f"{what} has half a character (a lone surrogate), which no text can hold")
    return said[:200]


def tag_of(item: Item, data: dict[str, Any]) -> tuple[int, dict[str, Any] | None]:
    """Return an item's damage, and the rest of its NBT in the form of `Stack.tag`.

    A custom name becomes `name`; `minecraft:` is removed from the names of enchantments and potions.

    Raises:
        WorldError: If a value does not fit.
        UnknownNameError: If an enchantment is unknown.
    """
    tag = dict(data)
    damage = 0
    if "Damage" in tag:
        most = max(0, item.durability - 1)
        damage = whole(tag.pop("Damage"), f"Damage of {item.name}", 0, most)
    for key in ("Enchantments", "StoredEnchantments"):
        if key in tag:
            tag[key] = [_enchantment(entry) for entry in _list(tag[key], key)]
    if "display" in tag:
        display = dict(known_keys(tag["display"], "display", ("Name", "Lore", "color")))
        if "Name" in display:
            tag["name"] = spoken(display.pop("Name"), "a name")
        tag["display"] = display
        if not display:
            del tag["display"]
    if "Potion" in tag:
        tag["Potion"] = str(tag["Potion"]).removeprefix("minecraft:")
    return damage, tag or None


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise WorldError(f"{what} is a list in brackets, got {str(value)[:40]!r}")
    return value


def _enchantment(entry: Any) -> dict[str, Any]:
    entry = known_keys(entry, "an enchantment", ("id", "lvl"))
    name = str(entry.get("id", "")).removeprefix("minecraft:")
    if name not in ENCHANTMENTS:
        raise unknown_name("enchantment", name[:100], ENCHANTMENTS)
    return {"id": name, "lvl": whole(entry.get("lvl", 1), "lvl of an enchantment", 1, 255)}


def stack_of(data: Any, what: str = "an item", *, also: tuple[str, ...] = ()) -> Stack:
    """Return the stack that NBT such as `{id:"minecraft:stone",Count:4b}` describes.

    Args:
        also: Names of entries that are allowed in addition.

    Raises:
        WorldError: If the NBT does not describe a stack.
        UnknownNameError: If there is no such item.
    """
    data = known_keys(data, what, ("id", "Count", "tag", *also))
    name = data.get("id")
    if not isinstance(name, str):
        raise WorldError(f'{what} has an id, such as id:"minecraft:stone", got {str(data)[:60]}')
    name = name.removeprefix("minecraft:")
    if name not in ITEMS or name == "air":
        raise unknown_name("item", name[:100], ITEMS)
    item = ITEMS[name]
    count = whole(data.get("Count", 1), f"Count of {name}", 1, item.stack)
    tag = data.get("tag", {})
    if not isinstance(tag, dict):
        raise WorldError(f"tag of {name} is data in braces, got {str(tag)[:40]!r}")
    damage, rest = tag_of(item, tag)
    return Stack(name, count, damage, rest)
