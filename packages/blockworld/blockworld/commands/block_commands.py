"""Commands that change blocks and their contents: `fill`, `setblock`, `data merge block`, `replaceitem block`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from blockworld.blocks.falling import FALLS
from blockworld.blocks.updates import break_unsupported, changed_box, set_block
from blockworld.commands.arguments import (
    BlockGiven,
    CommandError,
    ItemGiven,
    Place,
    Reader,
    Source,
    known_keys,
    stack_of,
    whole,
)
from blockworld.errors import WorldError
from blockworld.grid.connections import joined
from blockworld.grid.fluids import LAVA_SOURCE, WATER_SOURCE
from blockworld.registry.blocks import AIR, BLOCK_OF, name_of, state_of
from blockworld.registry.containers import NUM_SLOTS_OF, kind_of_block
from blockworld.state import Position, Stack
from blockworld.world_state import WorldState

Deed = Callable[[], str]
Prepared = Callable[[WorldState, Source], Deed]
"""A command that has been read: a function that checks the command and returns the function that performs it."""

MAX_FILL = 2_000_000
"""Largest number of cells in a fill; Minecraft's own limit is 32,768."""
MAX_DESTROY = 32_768
_AIRS = np.array([AIR, state_of("cave_air"), state_of("void_air")])
_FILL_MODES = ("destroy", "hollow", "keep", "outline", "replace")
_SET_MODES = ("destroy", "keep", "replace")
_FURNACE = {"BurnTime": "burn", "CookTime": "cook"}
_QUIET = ("CustomName", "Lock", "CookTimeTotal", "x", "y", "z", "id")
"""NBT entries of containers that are accepted but have no effect in this world."""
_SIGN_TEXT = ("Text1", "Text2", "Text3", "Text4", "Color")

Data = Callable[[WorldState, Position], None]


def block_data(read: Reader, name: str, data: dict[str, Any], column: int) -> tuple[Data | None, str]:
    """Return a function that puts a block's NBT into a cell (or None), and a remark; CommandError if the NBT is invalid."""
    kind = kind_of_block(name)
    try:
        if kind is None:
            if name.endswith("_sign"):
                known_keys(data, name, _SIGN_TEXT)
                return None, "; its text is not shown" if data else ""
            if data:
                raise read.error(f"{name} keeps no data in this world, only containers do; leave the braces out", column)
            return None, ""
        furnace = _FURNACE if kind in ("furnace", "blast_furnace", "smoker") else {}
        known_keys(data, name, ("Items", *furnace, *_QUIET))
        items = _slots(kind, name, data["Items"]) if "Items" in data else None
        numbers = {field: whole(data[key], f"{key} of a {name}", 0, 32767) for key, field in furnace.items() if key in data}
    except WorldError as error:
        raise error if isinstance(error, CommandError) else read.error(str(error), column) from None

    def put(world: WorldState, position: Position) -> None:
        container = world.container_at(position)
        if container is None:
            return
        if items is not None:
            container.slots[:] = [None if one is None else Stack(one.item, one.count, one.damage, one.tag) for one in items]
        for field, value in numbers.items():
            setattr(container, field, value)
        if "burn" in numbers:
            container.burn_total = max(container.burn_total, numbers["burn"])

    return put, ""


def _slots(kind: str, name: str, items: Any) -> list[Stack | None]:
    """Return a container's slots as `Items:[{Slot:0b,id:...,Count:1b}]` describes them."""
    slots: list[Stack | None] = [None] * NUM_SLOTS_OF[kind]
    if not isinstance(items, list):
        items = [items]
    for entry in items:
        stack = stack_of(entry, f"an item of {name}", also=("Slot",))
        slot = whole(entry.get("Slot", 0), f"Slot of a {name}", 0, len(slots) - 1)
        slots[slot] = stack
    return slots


def setblock(read: Reader) -> Prepared:
    """Read `setblock <place> <block> [destroy|keep|replace]`."""
    place = _place(read)
    read.space("a block")
    block = read.block()
    put, note = _data(read, block)
    mode = _mode(read, _SET_MODES)
    read.end()

    def prepare(world: WorldState, source: Source) -> Deed:
        x, y, z = place.cell(world, source)

        def do() -> str:
            before = world.grid.get(x, y, z)
            if mode == "keep" and before not in _AIRS:
                return f"kept {name_of(before)} at {x} {y} {z}"
            if mode == "destroy":
                break_unsupported(world, x, y, z)
            world.containers.pop((x, y, z), None)
            # As in the game, a fence placed by a command joins what stands beside it at once.
            set_block(world, x, y, z, joined(world.grid, x, y, z, block.state))
            if put is not None and name_of(world.grid.get(x, y, z)) == name_of(block.state):
                put(world, (x, y, z))
            return f"set {x} {y} {z} to {_shown(block)}{note}"

        return do

    return prepare


def _shown(block: BlockGiven) -> str:
    name = name_of(block.state)
    return name + ("[" + ",".join(f"{key}={value}" for key, value in block.said.items()) + "]" if block.said else "")


def _place(read: Reader, what: str = "a place: three numbers, such as ~ ~1 ~") -> Place:
    read.space(what)
    return read.place()


def _data(read: Reader, block: BlockGiven) -> tuple[Data | None, str]:
    if block.data is None:
        return None, ""
    return block_data(read, name_of(block.state), block.data, block.data_column)


def _mode(read: Reader, modes: tuple[str, ...]) -> str:
    if read.done:
        return "replace"
    read.space("a mode")
    if read.peek().isdigit():
        raise read.error(f"expected a mode ({', '.join(modes)}), got {read.rest}; since 1.13 no number follows a block")
    return read.choice("mode", modes)


def fill(read: Reader) -> Prepared:
    """Read `fill <from> <to> <block> [destroy|hollow|keep|outline|replace [filter]]`."""
    first = _place(read, "a corner: three numbers, such as ~ ~1 ~")
    last = _place(read, "the other corner: three numbers, such as ~ ~1 ~")
    read.space("a block")
    block = read.block()
    put, note = _data(read, block)
    mode = _mode(read, _FILL_MODES)
    only: frozenset[int] | None = None
    if mode == "replace" and not read.done:
        read.space("a block to replace")
        only = read.block_filter()
    read.end()

    def prepare(world: WorldState, source: Source) -> Deed:
        low, high = _box(read, world, first, last, source, MAX_DESTROY if mode == "destroy" else MAX_FILL)

        def do() -> str:
            num_changed = _fill(world, low, high, block.state, mode, only, put)
            where = f"from {low[0]} {low[1]} {low[2]} to {high[0]} {high[1]} {high[2]}"
            if not num_changed:
                return f"nothing to change {where}"
            return f"filled {num_changed} {'block' if num_changed == 1 else 'blocks'} {where} with {_shown(block)}{note}"

        return do

    return prepare


def _box(read: Reader, world: WorldState, first: Place, last: Place, source: Source, most: int) -> tuple[Position, Position]:
    one, other = first.anywhere(source), last.anywhere(source)
    low = (min(one[0], other[0]), min(one[1], other[1]), min(one[2], other[2]))
    high = (max(one[0], other[0]), max(one[1], other[1]), max(one[2], other[2]))
    if not (world.grid.inside(*low) and world.grid.inside(*high)):
        sx, sy, sz = world.grid.size
        raise read.error(
            f"the box from {low[0]} {low[1]} {low[2]} to {high[0]} {high[1]} {high[2]} is not inside the world, which reaches "
            f"from 0 0 0 to {sx - 1} {sy - 1} {sz - 1}; relative to here from {-_floor(source.x)} {-_floor(source.y)} "
            f"{-_floor(source.z)} to {sx - 1 - _floor(source.x)} {sy - 1 - _floor(source.y)} {sz - 1 - _floor(source.z)}",
            first.parts[0].column,
        )
    size = (high[0] - low[0] + 1) * (high[1] - low[1] + 1) * (high[2] - low[2] + 1)
    if size > most:
        raise read.error(f"the box has {size} blocks; at most {most} are filled at once", first.parts[0].column)
    return low, high


def _floor(value: float) -> int:
    return int(value // 1)


def _fill(
    world: WorldState, low: Position, high: Position, state: int, mode: str, only: frozenset[int] | None, put: Data | None
) -> int:
    (x0, y0, z0), (x1, y1, z1) = low, high
    box = world.grid.blocks[x0 : x1 + 1, z0 : z1 + 1, y0 : y1 + 1]
    inner = (slice(1, -1),) * 3
    values, placed = np.full(box.shape, state, box.dtype), np.ones(box.shape, np.bool_)
    if mode == "hollow":
        values[inner] = AIR
    elif mode == "outline":
        placed[inner] = False
    elif mode == "keep":
        placed = np.isin(box, _AIRS)
    elif only is not None:
        placed = np.isin(box, np.fromiter(sorted(only), box.dtype))
    num_changed = int(np.count_nonzero(placed & (values != box)))
    if mode == "destroy":
        for dx, dz, dy in np.argwhere(~np.isin(box, _AIRS)).tolist():
            # A neighbour may have fallen with one before it.
            if box[dx, dz, dy] not in _AIRS:
                break_unsupported(world, x0 + dx, y0 + dy, z0 + dz)
    _empty(world, low, high, placed)
    before = box.copy()
    box[placed] = values[placed]
    if num_changed:
        world.grid.changed_box(x0, y0, z0, x1, y1, z1)
        for part in _restless(low, high, state) if placed.all() and mode != "hollow" else ((low, high),):
            (a0, b0, c0), (a1, b1, c1) = part
            was = before[a0 - x0 : a1 - x0 + 1, c0 - z0 : c1 - z0 + 1, b0 - y0 : b1 - y0 + 1]
            changed_box(world, a0, b0, c0, was)
    if put is not None:
        for dx, dz, dy in np.argwhere(placed & (values == state)).tolist():
            place = x0 + dx, y0 + dy, z0 + dz
            if name_of(world.grid.get(*place)) == name_of(state):
                put(world, place)
    return num_changed


def _restless(low: Position, high: Position, state: int) -> Iterable[tuple[Position, Position]]:
    """Yield the parts of a filled box whose blocks may react: the whole box, or for sand and still fluids its six sides."""
    calm = state in (WATER_SOURCE, LAVA_SOURCE) or FALLS[BLOCK_OF[state]]
    if not calm or min(b - a for a, b in zip(low, high, strict=True)) < 4:
        yield low, high
        return
    for axis in range(3):
        for side in (low[axis], high[axis]):
            first, last = list(low), list(high)
            first[axis] = last[axis] = side
            yield (first[0], first[1], first[2]), (last[0], last[1], last[2])


def _empty(world: WorldState, low: Position, high: Position, cells: np.ndarray) -> None:
    """Delete the contents of containers in a box, in the cells where `cells` is true."""
    for x, y, z in list(world.containers):
        dx, dy, dz = x - low[0], y - low[1], z - low[2]
        inside = 0 <= dx <= high[0] - low[0] and 0 <= dy <= high[1] - low[1] and 0 <= dz <= high[2] - low[2]
        if inside and cells[dx, dz, dy]:
            del world.containers[x, y, z]


def data(read: Reader) -> Prepared:
    """Read `data merge block <place> {NBT}`."""
    for expected, others in (("merge", "get, modify and remove"), ("block", "entities and storage")):
        read.space(f"{expected!r}")
        column = read.column
        word = read.word(f"{expected!r}")
        if word != expected:
            raise read.error(f"only `data merge block` works in this world, not {others}; got {word[:40]!r}", column)
    place = _place(read)
    read.space("data in braces")
    column = read.column
    nbt = read.compound("data")
    read.end()

    def prepare(world: WorldState, source: Source) -> Deed:
        x, y, z = place.cell(world, source)
        name = name_of(world.grid.get(x, y, z))
        if kind_of_block(name) is None and not name.endswith("_sign"):
            raise read.error(f"{name} at {x} {y} {z} keeps no data; only containers do", place.parts[0].column)
        put, note = block_data(read, name, nbt, column)

        def do() -> str:
            if put is not None and name_of(world.grid.get(x, y, z)) == name:
                put(world, (x, y, z))
            return f"changed the data of {name} at {x} {y} {z}{note}"

        return do

    return prepare


def replaceitem_block(read: Reader) -> Prepared:
    """Read the rest of `replaceitem block <place> container.<n> <item> [count]` after the word `block`."""
    place = _place(read)
    read.space("a slot, such as container.0")
    slot_column = read.column
    slot = read.word("a slot, such as container.0")
    number = slot.removeprefix("container.")
    if not (slot.startswith("container.") and number.isascii() and number.isdigit() and len(number) < 4):
        raise read.error(f"a block's slots are container.0 and so on, got {slot[:40]!r}", slot_column)
    stack = stack_given(read)
    read.end()

    def prepare(world: WorldState, source: Source) -> Deed:
        x, y, z = place.cell(world, source)
        name = name_of(world.grid.get(x, y, z))
        kind = kind_of_block(name)
        if kind is None:
            raise read.error(f"{name} at {x} {y} {z} cannot hold items; only containers can", place.parts[0].column)
        if int(number) >= NUM_SLOTS_OF[kind]:
            raise read.error(f"a {name} has container.0 to container.{NUM_SLOTS_OF[kind] - 1}, got {slot}", slot_column)

        def do() -> str:
            container = world.container_at((x, y, z))
            if container is not None:
                container.slots[int(number)] = stack()
            return f"put {said(stack())} into {slot} of {name} at {x} {y} {z}"

        return do

    return prepare


def stack_given(read: Reader) -> Callable[[], Stack | None]:
    """Read `<item> [count]`; return a function that makes the stack (None for air)."""
    read.space("an item")
    item: ItemGiven | None = read.item(or_air=True)
    count = 1
    if not read.done:
        read.space("a count")
        count = read.integer("a count", 1, 64 if item is None else item.item.stack)
    return lambda: None if item is None else item.stack(count)


def said(stack: Stack | None) -> str:
    return "nothing" if stack is None else f"{stack.count} {stack.item}"
