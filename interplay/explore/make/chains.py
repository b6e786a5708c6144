"""Chains of tasks drawn from the world's tables: each task needs the task before it, and the tables show no way to skip one.

A way turns one thing into another: by mining with a tool, crafting, smelting, selling, buying, or opening a walled barrel.
A hop is one task of a chain. `leads_past` says whether the tables let a player skip a hop.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from blockworld import Stack, offers_of
from blockworld.registry import PROFESSIONS, crafting, items, smelting, state_of
from interplay.errors import InterplayError
from interplay.explore.oracle.needs import Turn, breaks, closure, turn
from interplay.explore.oracle.sources import left_by_block

OPENED = "(opened)"
"""Name for access to a walled barrel, which a player gets by mining the plug (the block in front of the barrel)."""
OPENER = "diamond_pickaxe"
_LAND = ("dirt", "grass_block", "stone")
_TIERS = ("wooden", "stone", "iron", "diamond")
_MOST = {"mine": 3, "hunt": 2, "smelt": 2, "craft": 3, "buy": 2, "sell": 3, "collect": 1, "break": 1, "open": 1}
"""Verb -> how many times a task with this verb may have to be repeated; some tasks take long."""
LAST = {
    1: ("mine", "craft", "smelt", "buy", "craft", "mine", "smelt", "hunt"),
    2: ("buy", "craft", "mine", "smelt", "craft", "buy", "smelt", "open"),
}
"""Number of hops (1, or 2 for two hops or more) -> verbs that the last task may have; planned sets use them in turn."""
_CERTAIN = 0.99
_DRAWS = 400
_FEW_WALLS = 0.8
"""Chance that no walled barrel is drawn if another way exists; otherwise a third of the chains would have one."""


class PlanError(InterplayError):
    """Raised when an instance cannot be planned."""


@dataclass(frozen=True)
class Way:
    """One way to get a thing: an item, or `OPENED`.

    Attributes:
        needs: The thing that the player must have first.
        number: How many of the needed thing are used up each time; 1 for a tool.
        given: Pairs (item, count) of other items that are used up each time.
        what: Block, mob or profession at the way's station; empty if the way has no station.
    """

    verb: str
    gives: str
    many: int = 1
    needs: str | None = None
    number: int = 1
    given: tuple[tuple[str, int], ...] = ()
    what: str = ""

    @property
    def task(self) -> str:
        """Name of the task that uses this way, as in the published set."""
        said = {
            "mine": f"mine {self.what}",
            "break": f"mine {self.what}",
            "hunt": f"hunt {self.what}",
            "craft": f"craft to {self.gives}",
            "smelt": f"smelt to {self.gives}",
            "sell": f"sell {self.needs}",
            "buy": f"trade for {self.gives}",
        }
        return said.get(self.verb, f"collect {self.gives}")


@cache
def words() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


@cache
def ways() -> tuple[Way, ...]:
    hunted = [Way("hunt", item, what=mob) for mob, item in words()["hunted"].items()]
    return tuple(dict.fromkeys([*_mined(), *hunted, *_kept(), *_crafted(), *_smelted(), *_traded()]))


def _mined() -> Iterator[Way]:
    for block in words()["by_hand"]:
        for item, number in left_by_block(state_of(block), None).items():
            if number >= _CERTAIN:
                yield Way("mine", item, math.floor(number + 0.01), what=block)
    for block in words()["by_tool"]:
        by_hand = left_by_block(state_of(block), None)
        tools = [f"{tier}_{kind}" for kind in ("pickaxe", "shovel") for tier in _TIERS] + ["shears", "iron_sword"]
        for tool in tools:
            left = left_by_block(state_of(block), Stack(tool))
            found = [(item, number) for item, number in left.items() if number >= _CERTAIN and item not in by_hand]
            if found:
                yield from (Way("mine", item, math.floor(number + 0.01), needs=tool, what=block) for item, number in found)
                break  # the weakest tool that will do
    yield from (Way("break", OPENED, needs=OPENER, what=plug) for plug in words()["plugs"])


def _kept() -> Iterator[Way]:
    for item in words()["kept"]:
        yield Way("collect", item, what="barrel")
        yield Way("open", item, needs=OPENED, what="barrel")


def _crafted() -> Iterator[Way]:
    for item in words()["crafted"]:
        for recipe in crafting.recipes_for(item):
            pieces = [sorted(choice) for choice in recipe.ingredients]
            for key in dict.fromkeys(name for choice in pieces for name in choice):
                number = sum(key in choice for choice in pieces)
                others = [next((name for name in choice if name != key), "") for choice in pieces if key not in choice]
                given = tuple(sorted((name, others.count(name)) for name in set(others)))
                is_small = max(recipe.height, recipe.width) <= 2 and len(pieces) <= 4
                if number <= 4 and len(given) <= 3:
                    yield Way("craft", item, recipe.count, key, number, given, "" if is_small else "crafting_table")


def _smelted() -> Iterator[Way]:
    for source, item in smelting.SMELTING["furnace"].items():
        if items.item_named(source).kind is None and not source.endswith("horse_armor"):
            yield Way("smelt", item, needs=source, what="furnace")


def _traded() -> Iterator[Way]:
    for profession in PROFESSIONS:
        for offer in offers_of(profession, 5):
            (buys, _), (sells, many) = offer["buy"], offer["sell"]
            if buys == "emerald":
                yield Way("buy", sells, min(many, 4), needs="emerald", what=profession)
            else:
                yield Way("sell", sells, needs=buys, what=profession)


# Chains


def draw(hops: int, rng: np.random.Generator, last: str | None = None) -> tuple[Way, ...]:
    """Draw a chain of `hops` ways, in order, in which no hop can be skipped; raise a `PlanError` if none is found.

    `last` is the verb of the last way; if it is not given, it is drawn, too.
    """
    for _ in range(_DRAWS):
        verb = last or str(rng.choice(LAST[min(hops, 2)]))
        chain = _before(_one([way for way in ways() if way.verb == verb], rng), hops, rng)
        if chain is not None and _fits(chain):
            return chain
    raise PlanError(f"no chain of {hops} hops was found in {_DRAWS} draws\nTry fewer hops, or another seed.")


def _one(found: Sequence[Way], rng: np.random.Generator) -> Way:
    return found[int(rng.integers(len(found)))]


def _before(last: Way, hops: int, rng: np.random.Generator) -> tuple[Way, ...] | None:
    chain = [last]
    while len(chain) < hops:
        first, verbs = chain[0], [way.verb for way in chain]
        able = [way for way in ways() if way.gives == first.needs and (way.verb != first.verb or way.verb == "mine")]
        if last.verb != "open" and rng.random() < _FEW_WALLS:
            able = [way for way in able if way.verb != "open"]
        # So that no verb fills a chain: first how, then which.
        kinds = sorted({way.verb for way in able if verbs.count(way.verb) < 2})
        if not kinds:
            return None
        kind = str(rng.choice(kinds))
        chain.insert(0, _one([way for way in able if way.verb == kind], rng))
    return tuple(chain)


def times(chain: Sequence[Way]) -> list[int]:
    found, needed = [], 1
    for way in reversed(chain):
        often = math.ceil(needed / way.many)
        found.insert(0, often)
        is_used_up = way.verb not in ("mine", "break", "open")
        needed = way.number * often if is_used_up else 1
    return found


def _fits(chain: Sequence[Way]) -> bool:
    """Whether a chain is short, gives nothing twice, and has no hop that a player can skip according to the tables."""
    names = [way.gives for way in chain]
    first = chain[0]
    if len(set(names)) < len(names) or first.needs in names or first.needs == OPENED or not _is_tidy(chain):
        return False
    if any(often > _MOST[way.verb] for way, often in zip(chain, times(chain), strict=True)):
        return False
    return not any(leads_past(chain, place) for place in range(len(chain) - 1))


def _is_tidy(chain: Sequence[Way]) -> bool:
    """Whether no station occurs twice, and no extra item given at the start is needed or given by a way of the chain."""
    stations = [way.what for way in chain if way.verb in ("craft", "smelt", "sell", "buy") and way.what]
    given = {name for way in chain for name, _ in way.given}
    lasting = {way.needs for way in chain if way.needs is not None}
    return len(set(stations)) == len(stations) and not given & (lasting | {way.gives for way in chain})


def leads_past(chain: Sequence[Way], place: int) -> bool:
    """Whether the tables let a player get the thing of `chain[place + 1]` without ever having the thing of `chain[place]`.

    Counts, distances and fuel are ignored. If the result is false, then no player can do so.
    """
    return chain[place + 1].gives in had(chain, carried_at_start(chain), frozenset({chain[place].gives}))


def carried_at_start(chain: Sequence[Way]) -> dict[str, int]:
    carried: dict[str, int] = {}
    first, often = chain[0], times(chain)
    if first.needs is not None:
        carried[first.needs] = 1 if first.verb in ("mine", "break") else first.number * often[0]
    for way, number in zip(chain, often, strict=True):
        for name, count in way.given:
            carried[name] = carried.get(name, 0) + count * number
    if any(way.verb == "smelt" for way in chain):
        names = {name for way in chain for name in (way.gives, way.needs, *(one for one, _ in way.given))}
        burns = names & {"coal", "charcoal", "torch", "campfire", "coal_block"}
        carried["blaze_rod" if burns else "coal"] = 2
    return carried


def had(stations: Sequence[Way], carried: Mapping[str, int], without: frozenset[str]) -> set[str]:
    """Return all things that a player can get according to the tables without ever having the one thing in `without`."""
    start, turns = set(carried) | {f"#{block}" for block in _LAND}, list[Turn]()
    for way in stations:
        if way.verb == "hunt":
            start.add(f"@{way.what}")
        if way.verb in ("hunt", "collect"):
            start.add(way.gives)
        elif way.verb in ("sell", "buy", "open"):
            turns.append(turn((way.needs or "",), (way.gives,), way.what))
        if way.verb == "break":
            tools = ("", *(one.name for one in items.ITEMS if one.kind is not None))
            turns += [turn((tool,) if tool else (), (way.gives,)) for tool in tools if breaks(way.what, tool)]
        elif way.verb in ("mine", "craft", "smelt", "open", "collect") and way.what:
            start.add(f"#{way.what}")
    (never,) = without
    return closure(start, turns, never=never)
