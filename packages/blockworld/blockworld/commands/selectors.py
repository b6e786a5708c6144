"""Selectors, the targets of a command: `@s`, `@p`, `@a`, `@r`, `@e[type=cow,distance=..8,limit=1,sort=nearest]`."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

import numpy as np

from blockworld.commands.arguments import PLAYER, Reader, Source
from blockworld.registry.entity_types import HEIGHTS, KINDS, NUM_THINGS, WIDTHS
from blockworld.registry.facts import table
from blockworld.state import HALF_WIDTH
from blockworld.world_state import WorldState

GAME_MODES = ("survival", "creative", "adventure", "spectator")
OPTIONS = ("type", "distance", "limit", "sort", "name", "gamemode", "tag", "x", "y", "z", "dx", "dy", "dz")
SORTS = ("nearest", "furthest", "random", "arbitrary")
ENTITY_TYPES = frozenset(row["name"] for row in table("entities")) - {"fishing_bobber"}
"""Minecraft's entity types that a selector may name; it finds nothing for a type that does not exist in this world."""

_TYPE_OF = {name: "experience_orb" if name == "xp_orb" else name for name in KINDS}
_RANGE = re.compile(r"(?:(?P<least>[0-9]*\.?[0-9]+))?(?P<dots>\.\.)?(?P<most>[0-9]*\.?[0-9]+)?")


@dataclass
class Selector:
    """A selector as written in a command.

    Attributes:
        letter: `s`, `p`, `a`, `r` or `e`.
        wanted, unwanted: Option -> values that an entity must have, or must not have.
        least, most: Range of the distance.
        limit: Largest number of entities; None for all.
        sort: One of `SORTS`.
        origin, size: The options x, y, z and dx, dy, dz that are written.
    """

    letter: str
    column: int
    text: str = ""
    wanted: dict[str, list[str]] = field(default_factory=dict)
    unwanted: dict[str, list[str]] = field(default_factory=dict)
    least: float = 0.0
    most: float | None = None
    limit: int | None = None
    sort: str = "arbitrary"
    origin: dict[str, float] = field(default_factory=dict)
    size: dict[str, float] = field(default_factory=dict)

    @property
    def only_players(self) -> bool:
        return self.letter in "par" or (self.letter == "e" and self.wanted.get("type") == ["player"])

    @property
    def at_most_one(self) -> bool:
        return self.letter in "spr" or self.limit == 1 or self.only_players

    def find(self, world: WorldState, source: Source) -> list[int]:
        """Return the ids of the matching entities, in order; `PLAYER` stands for the player."""
        x, y, z = (self.origin.get(axis, here) for axis, here in zip("xyz", (source.x, source.y, source.z), strict=True))
        found: list[tuple[float, int]] = []
        for one in _candidates(world, self.letter, source):
            place = position_of(world, one)
            if place is None or not self._fits(world, one, place, (x, y, z)):
                continue
            found.append((math.dist(place, (x, y, z)), one))
        if self.sort in ("nearest", "furthest"):
            found.sort(key=lambda pair: pair[0], reverse=self.sort == "furthest")
        elif self.sort == "random" and len(found) > 1:
            found = [found[index] for index in world.rng.permutation(len(found)).tolist()]
        return [one for _, one in found[: self.limit]]

    def _fits(self, world: WorldState, one: int, place: tuple[float, float, float], origin: tuple[float, float, float]) -> bool:
        far = math.dist(place, origin)
        if far < self.least or (self.most is not None and far > self.most):
            return False
        if self.size and not self._in_box(world, one, place, origin):
            return False
        facts = {
            "type": [type_of(world, one)],
            "name": [world.extras.get(one, {}).get("name", "") if one != PLAYER else "Player"],
            "tag": world.extras.get(one, {}).get("tags", []) if one != PLAYER else [],
            "gamemode": [world.player.game_mode] if one == PLAYER else [],
        }
        return all(value in facts[key] for key, values in self.wanted.items() for value in values) and not any(
            value in facts[key] for key, values in self.unwanted.items() for value in values
        )

    def _in_box(
        self, world: WorldState, one: int, place: tuple[float, float, float], origin: tuple[float, float, float]
    ) -> bool:
        """Return whether an entity's body touches the box from the origin to one block beyond dx, dy, dz, as in the game."""
        kind = -1 if one == PLAYER else int(world.entities["kind"][world.row_of(one)])
        half, tall = (HALF_WIDTH, world.player.height) if one == PLAYER else (float(WIDTHS[kind]) / 2, float(HEIGHTS[kind]))
        for axis, low, high, start in zip(
            "xyz",
            (place[0] - half, place[1], place[2] - half),
            (place[0] + half, place[1] + tall, place[2] + half),
            origin,
            strict=True,
        ):
            reach = self.size.get("d" + axis, 0.0)
            first, last = min(start, start + reach), max(start, start + reach) + 1
            if high <= first or low >= last:
                return False
        return True


def _candidates(world: WorldState, letter: str, source: Source) -> list[int]:
    if letter == "s":
        return [source.entity]
    if letter != "e":
        return [PLAYER]
    rows = world.entities
    alive = (rows["kind"] >= 0) & ((rows["kind"] < NUM_THINGS) | (rows["health"] > 0))
    player = [] if world.player.dead else [PLAYER]
    return player + sorted(int(one) for one in rows["id"][np.flatnonzero(alive)])


def position_of(world: WorldState, one: int) -> tuple[float, float, float] | None:
    if one == PLAYER:
        me = world.player
        return me.x, me.y, me.z
    row = world.row_of(one)
    if row is None:
        return None
    there = world.entities[row]
    return float(there["x"]), float(there["y"]), float(there["z"])


def type_of(world: WorldState, one: int) -> str:
    if one == PLAYER:
        return "player"
    row = world.row_of(one)
    return "" if row is None else _TYPE_OF[KINDS[int(world.entities["kind"][row])]]


def called(world: WorldState, ids: list[int]) -> str:
    """Return words that stand for entities in a sentence: `cow`, `the player`, `3 entities`."""
    if len(ids) != 1:
        return f"{len(ids)} entities"
    return "the player" if ids[0] == PLAYER else type_of(world, ids[0])


def selector(read: Reader, *, players: bool = False, single: bool = False) -> Selector:
    """Read a selector.

    Args:
        players: Whether only the player is allowed (if `@s` is a mob, the command is refused when it runs).
        single: Whether the selector may match at most one entity.
    """
    column, start = read.column, read.at
    if read.peek() != "@":
        raise read.error(f"expected @s, @p, @a, @r or @e, got {read.rest}; the only player is @p")
    letter = read.text[read.at + 1 : read.at + 2]
    if letter not in ("s", "p", "a", "r", "e"):
        raise read.error(f"expected @s, @p, @a, @r or @e, got {read.rest}")
    read.at += 2
    made = Selector(letter, column)
    if letter in "pr":
        made.limit, made.sort = 1, "nearest" if letter == "p" else "random"
    if read.peek() == "[":
        _options(read, made)
    if read.peek() and not read.peek().isspace():
        raise read.error(f"expected a space after the selector, got {read.rest}")
    made.text = read.text[start : read.at]
    if players and not made.only_players and letter != "s":
        raise read.error(f"only the player can be selected here, got {made.text}; write @p or @a", column)
    if single and not made.at_most_one:
        raise read.error(f"only one entity can be selected here, got {made.text}; add limit=1", column)
    return made


def _options(read: Reader, made: Selector) -> None:
    """Read the options of a selector, `[name=value,...]`."""
    read.at += 1
    said: set[str] = set()
    while True:
        read.skip_spaces()
        if read.peek() == "]":
            break
        column = read.column
        name = read.word("an option or ]")
        if name not in OPTIONS:
            raise read.unknown("selector option", name, OPTIONS, column)
        read.skip_spaces()
        if read.peek() != "=":
            raise read.error(f"expected = after {name}, got {read.rest}")
        read.at += 1
        read.skip_spaces()
        if name in said and name not in ("type", "name", "tag", "gamemode"):
            raise read.error(f"{name} is written twice", column)
        said.add(name)
        _option(read, made, name)
        read.skip_spaces()
        if read.peek() == ",":
            read.at += 1
        elif read.peek() != "]":
            raise read.error(f"expected , or ], got {read.rest}")
    read.at += 1


def _option(read: Reader, made: Selector, name: str) -> None:
    column = read.column
    if name == "limit":
        if made.letter == "s":
            raise read.error("@s is only one entity; leave limit out", column)
        made.limit = read.integer("limit", 1, 2**31 - 1)
    elif name == "sort":
        if made.letter == "s":
            raise read.error("@s is only one entity; leave sort out", column)
        made.sort = read.choice("sort", SORTS)
    elif name == "distance":
        made.least, made.most = _range(read)
    elif name in ("x", "y", "z"):
        made.origin[name] = read.number(name)
    elif name in ("dx", "dy", "dz"):
        made.size[name] = read.number(name)
    else:
        values = made.wanted
        if read.peek() == "!":
            read.at += 1
            values = made.unwanted
            read.skip_spaces()
        values.setdefault(name, []).append(_value(read, made, name, column))


def _value(read: Reader, made: Selector, name: str, column: int) -> str:
    if name == "type":
        if made.letter in "par":
            raise read.error(f"@{made.letter} is always a player; leave type out, or write @e", column)
        if read.peek() == "#":
            raise read.error(f"tags of entities do not exist here, got {read.rest}; name a type", column)
        return read.known("entity type", ENTITY_TYPES)
    if name == "gamemode":
        return read.choice("game mode", GAME_MODES)
    if read.peek() in ("'", '"') and read.peek():
        end = read.text.find(read.peek(), read.at + 1)
        if end < 0:
            raise read.error("this name has no closing quote")
        value = read.text[read.at + 1 : end]
        read.at = end + 1
        return value
    return read.word(f"a {name}")


def _range(read: Reader) -> tuple[float, float | None]:
    """Read a range, `5`, `..5`, `5..` or `3..5`; return its least and largest value."""
    column = read.column
    found = _RANGE.match(read.text, read.at)
    if not found or not found[0] or found[0] == "..":
        raise read.error(f"expected a distance such as ..5, 3..5 or 10.., got {read.rest}")
    text = found[0]
    low, dots, high = text.partition("..")
    read.at = found.end()
    least, most = float(low or 0), float(high) if high else None
    if not dots:
        most = least
    if least > 1e7 or (most is not None and (most > 1e7 or most < least)):
        raise read.error(f"a distance goes from the smaller to the larger number, at most 10000000, got {text[:40]}", column)
    return least, most
