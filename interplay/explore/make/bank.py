"""The bank of atomic tasks: each task once, with what it needs and gives; and how much of the world the bank covers.

>>> [normalised(name) for name in ("find_Iron_Ore", "Craft to  minecraft:oak door", "Hook a cow using fishing rod.")]
['find iron_ore', 'craft to oak_door', 'hook a cow using fishing rod']
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from blockworld import Stack, offers_of
from blockworld.registry import (
    AIR,
    BIOMES,
    BLOCKS,
    HOSTILE,
    ITEMS,
    MOBS,
    PROFESSIONS,
    SPEEDS,
    Block,
    can_harvest,
    crafting,
    name_of,
    smelting,
    table,
)
from blockworld.registry import ITEMS_BY_NAME as ITEM_BY_NAME
from blockworld.terrain import STYLES
from interplay.errors import InterplayError
from interplay.explore.instance import read_json
from interplay.explore.oracle.sources import left_by_block
from interplay.files import write_json
from interplay.tables import Table, read_text

SCHEMA = 1
VERBS = (
    *("craft to", "trade for", "smelt to", "find", "mine", "hunt", "combat", "sell", "place", "build", "collect", "eat"),
    *("drink", "breed", "feed", "shear", "milk", "tame", "use", "enter", "enchant", "brew"),
)
"""First words of task names; names that begin otherwise are free sentences."""
_TOOLS = (*(f"{tier}_{kind}" for kind in ("pickaxe", "shovel", "axe", "hoe", "sword") for tier in SPEEDS), "shears")
_LEAST = 0.01
_SHEARED, _MILKED = ("sheep", "snow_golem"), ("cow",)
_TAMED = {"wolf": "bone", "cat": "cod", "horse": "saddle", "donkey": "saddle"}
_NO_FINDING = frozenset({name_of(AIR), "cave_air", "void_air", "moving_piston", "structure_void", "barrier"})


class BankError(InterplayError):
    """Raised when a bank cannot be used; the text names the file, the key and the remedy."""


@dataclass(frozen=True)
class Atomic:
    """One task with a `normalised` name; it needs everything in `needs`. `table` is empty if people wrote the task."""

    name: str
    needs: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()
    table: str = ""

    @property
    def verb(self) -> str:
        return verb_of(self.name)

    @property
    def about(self) -> str:
        return self.name.removeprefix(self.verb).strip()


@dataclass(frozen=True)
class Covered:
    """Coverage of one table of the world; `left_out` lists the entries without a task."""

    table: str
    total: int
    left_out: tuple[str, ...] = field(repr=False)

    @property
    def covered(self) -> int:
        return self.total - len(self.left_out)


def normalised(name: str) -> str:
    """Bring a name into standard form: lower case, verb, then object with `_` for spaces; free sentences keep their spaces.

    Raises:
        BankError: If the text holds no name.
    """
    text = re.sub(r"[\s_]+", " ", name.replace("minecraft:", " ").strip().lower().rstrip(".!"))
    if not re.fullmatch(r"[a-z0-9][a-z0-9 '(),-]*", text) or len(text) > 100:
        raise BankError(f"{name!r:.100} is not the name of a task\nRemedy: write a verb and an object, such as 'mine oak_log'.")
    verb = verb_of(text)
    about = text.removeprefix(verb).strip()
    known = verb in VERBS and about.replace(" ", "_") in _KNOWN
    return f"{verb} {about.replace(' ', '_') if known else about}".strip()


def verb_of(name: str) -> str:
    """Verb of a normalised name: one of `VERBS`, or else its first word."""
    return next((verb for verb in VERBS if name.startswith(f"{verb} ")), name.partition(" ")[0])


_KNOWN = frozenset(
    {block.name for block in BLOCKS}
    | ITEM_BY_NAME.keys()
    | MOBS.keys()
    | set(BIOMES)
    | {f"village_{style}" for style in STYLES}
)


def joined(tasks: Iterable[Atomic], *, source: str = "the bank") -> dict[str, Atomic]:
    """Return name -> task, in order; raise a `BankError` if two tasks have the same name, even in different spellings."""
    found: dict[str, Atomic] = {}
    for task in tasks:
        if task.name in found:
            raise BankError(f"{source}: {task.name!r} occurs twice\nRemedy: keep one of them.")
        found[task.name] = task
    return found


# Of the world's tables


def drawn() -> dict[str, Atomic]:
    return joined(_drawn(), source="the world's tables")


def _drawn() -> Iterator[Atomic]:
    yield from _crafted()
    yield from _smelted()
    yield from _traded()
    for block in BLOCKS:
        yield from _of_block(block)
    yield from _of_mobs()
    for row in table("foods"):
        yield Atomic(f"eat {row['name']}", (row["name"],), table="foods")
    for biome in BIOMES:
        yield Atomic(f"find {biome}", table="biomes")
    for style in STYLES:
        yield Atomic(f"find village_{style}", table="structures")


def _crafted() -> Iterator[Atomic]:
    for item in dict.fromkeys(recipe.item for recipe in crafting.RECIPES):
        recipe = crafting.recipes_for(item)[0]
        pieces = sorted({min(choice) for choice in recipe.ingredients})
        is_small = max(recipe.height, recipe.width) <= 2 and len(recipe.ingredients) <= 4
        yield Atomic(f"craft to {item}", (*pieces, *(() if is_small else ("crafting_table",))), (item,), "recipes")


def _smelted() -> Iterator[Atomic]:
    sources: dict[str, str] = {}
    for source, item in smelting.SMELTING["furnace"].items():
        sources.setdefault(item, source)
    for item, source in sources.items():
        yield Atomic(f"smelt to {item}", (source, "furnace"), (item,), "smelting")


def _traded() -> Iterator[Atomic]:
    offers = [offer for profession in PROFESSIONS for offer in offers_of(profession, 5)]
    for sold in dict.fromkeys(offer["sell"][0] for offer in offers if offer["buy"][0] == "emerald"):
        yield Atomic(f"trade for {sold}", ("emerald", "villager"), (sold,), "trades")
    for bought in dict.fromkeys(offer["buy"][0] for offer in offers if offer["buy"][0] != "emerald"):
        yield Atomic(f"sell {bought}", (bought, "villager"), ("emerald",), "trades")


def _of_block(block: Block) -> Iterator[Atomic]:
    if block.name in _NO_FINDING:
        return
    yield Atomic(f"find {block.name}", (block.name,), table="blocks")
    if block.hardness is not None:
        tool = next((one for one in (None, *_TOOLS) if can_harvest(block, None if one is None else Stack(one))), None)
        left = left_by_block(block.default, None if tool is None else Stack(tool))
        gives = tuple(sorted(item for item, number in left.items() if number >= _LEAST))
        yield Atomic(f"mine {block.name}", (block.name, *(() if tool is None else (tool,))), gives, "blocks")
    if block.name in ITEM_BY_NAME:
        yield Atomic(f"place {block.name}", (block.name,), table="blocks")


def _of_mobs() -> Iterator[Atomic]:
    loot = {row["entity"]: tuple(sorted({drop["item"] for drop in row["drops"]})) for row in table("entity_loot")}
    for name, mob in MOBS.items():
        yield Atomic(f"find {name}", (name,), table="mobs")
        verb = "combat" if mob.temper == HOSTILE else "hunt"
        yield Atomic(f"{verb} {name}", (name,), loot.get(name, ()), "mobs")
        if mob.foods:
            yield Atomic(f"breed {name}", (name, mob.foods[0]), table="mobs")
        if name in _SHEARED:
            yield Atomic(f"shear {name}", (name, "shears"), ("white_wool",) if name == "sheep" else (), "mobs")
        if name in _MILKED:
            yield Atomic(f"milk {name}", (name, "bucket"), ("milk_bucket",), "mobs")
        if name in _TAMED:
            yield Atomic(f"tame {name}", (name, _TAMED[name]), table="mobs")


def covered(tasks: Mapping[str, Atomic]) -> list[Covered]:
    """Return the coverage of each table: an item is covered if a task gives it, any other entry if a task is about it."""
    gives = {item for task in tasks.values() for item in task.gives}
    about = {task.about for task in tasks.values()}
    every = drawn().values()
    found = [Covered("items", len(ITEMS), tuple(item.name for item in ITEMS if item.name not in gives))]
    entries = {"blocks": [block.name for block in BLOCKS], "mobs": list(MOBS)}
    for name, names in entries.items():
        found.append(Covered(name, len(names), tuple(one for one in names if one not in about)))
    for name in ("recipes", "smelting", "trades", "foods", "biomes", "structures"):
        names = [task.name for task in every if task.table == name]
        found.append(Covered(name, len(names), tuple(one for one in names if one not in tasks)))
    return found


# Files


def to_json(tasks: Mapping[str, Atomic]) -> dict[str, Any]:
    rows = [asdict(task) | {"verb": task.verb, "needs": [*task.needs], "gives": [*task.gives]} for task in tasks.values()]
    return {"schema": SCHEMA, "tasks": rows}


def write(path: Path, tasks: Mapping[str, Atomic]) -> None:
    write_json(path, to_json(tasks))


def load(path: Path) -> dict[str, Atomic]:
    """Read a bank, or a text with one name on each line; return name -> task.

    Raises:
        BankError: If the file cannot be read, has an unknown key, or has a name twice, even in different spellings.
    """
    text = read_text(path, BankError, hint="Make one with:  interplay explore bank --out bank.json")
    if path.suffix != ".json":
        names = [line for line in text.splitlines() if line.strip()]
        if not names:
            raise BankError(f"{path} names no task\nRemedy: write one name on each line, such as: mine oak_log")
        return joined((Atomic(normalised(name)) for name in names), source=str(path))
    return parse(read_json(text, str(path)), source=str(path))


def parse(document: Any, *, source: str = "<document>") -> dict[str, Atomic]:
    if not isinstance(document, Mapping):
        raise BankError(
            f"{source}: is not a JSON object but {document!r:.60}\nRemedy: write what `interplay explore bank --out` writes."
        )
    root = Table(document, source, refuse=BankError)
    if root.raw("schema", int) != SCHEMA:
        raise root.error("schema", f"is {document['schema']!r}; this version reads {SCHEMA}", f"write {SCHEMA}")
    found = joined((_atomic(one) for one in root.tables("tasks")), source=source)
    root.nothing_else()
    return found


def _atomic(one: Table) -> Atomic:
    name = normalised(one.text("name"))
    verb = one.text("verb", "")
    if verb not in ("", verb_of(name)):
        raise one.error("verb", f"is {verb!r}, and the name begins with {verb_of(name)!r}", "leave it out")
    made = Atomic(name, one.texts("needs", []), one.texts("gives", []), one.text("table", ""))
    one.nothing_else()
    return made
