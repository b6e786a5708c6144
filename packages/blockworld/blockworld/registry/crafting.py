"""Crafting: the 1,198 recipes of Minecraft 1.16.2's table, and the special recipes that are used most.

The table lists a recipe once for each kind of wood or stone. This module joins recipes of the same shape and result, so that a
chest may be made of mixed planks, as in the game. Shaped recipes match anywhere in the grid, also mirrored.

>>> match(["oak_planks", "birch_planks", "oak_planks", "oak_planks"], 2).stack
Stack(item='crafting_table', count=1, damage=0, tag=None)
>>> match([None, None, "coal", None, None, "stick"] + 3 * [None], 3).stack.count
4

Differences from the game: there are no recipes for cloning maps and written books, extending maps, firework stars, tipped
arrows, dyeing leather, or painting shields and banners.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product

from blockworld.errors import WorldError
from blockworld.registry.facts import table
from blockworld.registry.items import BY_NAME, COLOURS, TAGS, copied, item_named
from blockworld.state import Stack

Names = tuple[str | None, ...]
Choice = frozenset[str]
"""Names of all items that fit in one place of a recipe."""


@dataclass(frozen=True)
class Recipe:
    """A recipe for a crafting grid, which gives `count` of `item`.

    Attributes:
        height, width: Size of the shape, in slots; 0 for a shapeless recipe.
        cells: Ingredients row by row, None for an empty slot; for a shapeless recipe in any order.
    """

    item: str
    count: int
    height: int
    width: int
    cells: tuple[Choice | None, ...]

    @property
    def shaped(self) -> bool:
        """Whether the places of the ingredients matter."""
        return self.height > 0

    @property
    def ingredients(self) -> tuple[Choice, ...]:
        return tuple(cell for cell in self.cells if cell is not None)

    def grid(self, width: int = 3) -> list[Choice | None]:
        """Lay the recipe out from the upper left of a grid `width` slots wide and high; WorldError if it does not fit."""
        if (self.shaped and max(self.height, self.width) > width) or len(self.ingredients) > width * width:
            raise WorldError(f"{self.item} does not fit a {width} x {width} grid; use a crafting table")
        laid: list[Choice | None] = [None] * (width * width)
        for index, cell in enumerate(self.cells):
            row, column = divmod(index, self.width) if self.shaped else divmod(index, width)
            laid[row * width + column] = cell
        return laid


@dataclass(frozen=True)
class Craft:
    """Result of crafting from a filled grid.

    Attributes:
        stack: The output.
        remainders: An entry per slot of the grid: the item that stays in this slot when one piece is used up, such as a bucket.
        recipe: The recipe of the table; None for a special recipe.
    """

    stack: Stack
    remainders: tuple[str | None, ...]
    recipe: Recipe | None


def _read() -> tuple[Recipe, ...]:
    """Read the table, and join recipes of the same shape and result into one with several possible items per place."""
    shaped: dict[tuple[str, int, int, int, tuple[bool, ...]], list[Names]] = {}
    shapeless: list[Recipe] = []
    for row in table("recipes"):
        if "shape" not in row:
            cells = tuple(frozenset({name}) for name in row["ingredients"])
            shapeless.append(Recipe(row["item"], row["count"], 0, 0, cells))
            continue
        rows = row["shape"]
        names: Names = tuple(name for line in rows for name in line)
        key = (row["item"], row["count"], len(rows), len(rows[0]), tuple(name is not None for name in names))
        shaped.setdefault(key, []).append(names)
    joined = [
        Recipe(item, count, height, width, tuple(frozenset(filter(None, cell)) or None for cell in zip(*ways, strict=True)))
        for (item, count, height, width, _), ways in shaped.items()
    ]
    return (*joined, *shapeless)


RECIPES: tuple[Recipe, ...] = _read()


Cells = tuple[Choice | None, ...]


@cache
def _shaped() -> dict[tuple[int, int, str], tuple[tuple[Cells, Recipe], ...]]:
    """Map (height, width, first item) to shaped recipes with their cells; the mirror image of each recipe is also listed."""
    index: dict[tuple[int, int, str], list[tuple[Cells, Recipe]]] = {}
    for recipe in filter(lambda recipe: recipe.shaped, RECIPES):
        rows = [recipe.cells[at : at + recipe.width] for at in range(0, len(recipe.cells), recipe.width)]
        mirrored = tuple(cell for row in rows for cell in reversed(row))
        for cells in (recipe.cells, mirrored) if mirrored != recipe.cells else (recipe.cells,):
            for name in next(cell for cell in cells if cell is not None):
                index.setdefault((recipe.height, recipe.width, name), []).append((cells, recipe))
    return {key: tuple(ways) for key, ways in index.items()}


@cache
def _shapeless() -> dict[tuple[str, ...], Recipe]:
    """Map sorted items to their shapeless recipe."""
    return {
        tuple(sorted(names)): recipe
        for recipe in RECIPES
        if not recipe.shaped
        for names in product(*(sorted(choice) for choice in recipe.ingredients))
    }


@lru_cache(maxsize=4096)
def find(names: Names, width: int) -> Recipe | None:
    """Find the table's recipe that a grid matches; None without one. `names`: an item or None per slot, `width` in a row."""
    rows = [names[at : at + width] for at in range(0, len(names), width)]
    filled_rows = [at for at, row in enumerate(rows) if any(row)]
    if not filled_rows:
        return None
    columns = [at for at in range(width) if any(row[at] for row in rows)]
    top, bottom, left, right = filled_rows[0], filled_rows[-1], columns[0], columns[-1]
    inside = [name for row in rows[top : bottom + 1] for name in row[left : right + 1]]
    first = next(name for name in inside if name is not None)
    for cells, recipe in _shaped().get((bottom - top + 1, right - left + 1, first), ()):
        if all((name is None) if cell is None else (name in cell) for name, cell in zip(inside, cells, strict=True)):
            return recipe
    return _shapeless().get(tuple(sorted(name for name in names if name is not None)))


def match(grid: Sequence[Stack | str | None], width: int) -> Craft | None:
    """Find the result of the items in a grid; None if they match no recipe.

    Args:
        grid: An entry per slot, row by row: a stack, a name, or None. To mend tools, give stacks: they know the damage.
        width: Slots in a row: 2 for the player's own grid, 3 for a crafting table.

    Raises:
        WorldError: If the grid is not square.
    """
    if len(grid) != width * width:
        raise WorldError(f"a crafting grid of width {width} has {width * width} slots, got {len(grid)}")
    names: Names = tuple(entry.item if isinstance(entry, Stack) else entry for entry in grid)
    remainders = tuple(BY_NAME[name].remains if name is not None and name in BY_NAME else None for name in names)
    recipe = find(names, width)
    if recipe is not None:
        return Craft(Stack(recipe.item, recipe.count), remainders, recipe)
    special = _special([entry if isinstance(entry, Stack) else Stack(entry) for entry in grid if entry is not None])
    return None if special is None else Craft(special, remainders, None)


def _special(inside: list[Stack]) -> Stack | None:
    """Find the result of special recipes, which are not in the table: mending, shulker boxes, rockets, stew with a flower."""
    names = sorted(stack.item for stack in inside)
    if len(inside) == 2 and names[0] == names[1]:
        return _mended(*inside)
    if len(inside) == 2:
        for box, dye in (inside, reversed(inside)):
            colour = dye.item.removesuffix("_dye")
            if box.item in TAGS["shulker_boxes"] and dye.item in TAGS["dyes"] and colour in COLOURS:
                return Stack(f"{colour}_shulker_box", 1, 0, copied(box, 1).tag)
    if 2 <= len(names) <= 4 and names.count("paper") == 1 and names.count("gunpowder") == len(names) - 1:
        return Stack("firework_rocket", 3, 0, {"flight": len(names) - 1})
    if len(names) == 4 and {"bowl", "brown_mushroom", "red_mushroom"} < set(names):
        (flower,) = set(names) - {"bowl", "brown_mushroom", "red_mushroom"}
        if flower in TAGS["small_flowers"]:
            return Stack("suspicious_stew", 1, 0, {"flower": flower})
    return None


def _mended(one: Stack, other: Stack) -> Stack | None:
    """Mend two worn tools of a kind into one with the sum of their remaining uses, plus 5 % of the uses of a new tool."""
    durability = BY_NAME[one.item].durability if one.item in BY_NAME else 0
    if not durability or one.count != 1 or other.count != 1:
        return None
    left = (durability - one.damage) + (durability - other.damage) + durability * 5 // 100
    return Stack(one.item, 1, max(0, durability - left))


@cache
def _by_result() -> dict[str, tuple[Recipe, ...]]:
    made: dict[str, list[Recipe]] = {}
    for recipe in RECIPES:
        made.setdefault(recipe.item, []).append(recipe)
    return {name: tuple(ways) for name, ways in made.items()}


def recipes_for(name: str) -> tuple[Recipe, ...]:
    """Return all recipes for an item, perhaps none; UnknownNameError if there is no such item."""
    return _by_result().get(item_named(name).name, ())


def plan(recipe: Recipe, slots: Sequence[Stack | None], width: int = 3) -> list[str | None] | None:
    """Plan which carried item to lay into each slot of a grid; None if an ingredient is missing.

    A place that accepts fewer items is planned before a place that accepts more. This finds a plan whenever one exists, if any
    two places accept either the same items or no common item; all recipes of the table are like this.
    """
    try:
        laid = recipe.grid(width)
    except WorldError:
        return None
    have: dict[str, int] = {}
    for slot in slots:
        if slot is not None:
            have[slot.item] = have.get(slot.item, 0) + slot.count
    chosen: list[str | None] = [None] * len(laid)
    for index in sorted((i for i, cell in enumerate(laid) if cell is not None), key=lambda i: (len(laid[i] or ()), i)):
        cell = laid[index] or frozenset()
        name = max((name for name in sorted(cell) if have.get(name)), key=have.__getitem__, default=None)
        if name is None:
            return None
        have[name] -= 1
        chosen[index] = name
    return chosen


def can_make(name: str, slots: Sequence[Stack | None], width: int = 3) -> Recipe | None:
    """Return the first recipe for the item `name` that the stacks in `slots` suffice for; None if there is no such recipe.

    Args:
        width: 2 for the player's own grid, 3 for a crafting table.

    Raises:
        UnknownNameError: If there is no such item.
    """
    return next((recipe for recipe in recipes_for(name) if plan(recipe, slots, width) is not None), None)


STONECUTTING: dict[str, tuple[Stack, ...]] = {
    source: tuple(Stack(name, count) for name, count in made) for source, made in table("stonecutting").items()
}
"""Stone -> what a stonecutter can make of one such block (minecraft.wiki, "Stonecutter", Java Edition 1.16), in table order."""
