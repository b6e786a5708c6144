"""Operations on lists of stacks, the same for a player, a chest and a furnace.

A slot is a `Stack` or None. An operation either succeeds completely, or raises an error and changes nothing. No operation
creates or loses items.

>>> slots = [Stack("dirt", 60), None]
>>> add(slots, Stack("dirt", 10))
>>> [slot.count for slot in slots], contents(slots)
([64, 6], {'dirt': 70})
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

from blockworld.errors import WorldError
from blockworld.registry.items import copied, item_named
from blockworld.state import ARMOUR, NUM_SLOTS, OFFHAND, Player, Stack

Slots = list[Stack | None]
CARRIED = range(36)
"""Indices of a player's hotbar and main slots."""


def filled_by_pickup(slots: Sequence[Stack | None]) -> Sequence[int]:
    """Indices of the slots that `add` fills: a player's hotbar, then the main slots, never armour; all slots of a container."""
    return CARRIED if len(slots) == NUM_SLOTS else range(len(slots))


def add(slots: Slots, stack: Stack, *, places: Iterable[int] | None = None, selected: int | None = None) -> Stack | None:
    """Add a stack to slots as when it is picked up: first onto stacks of the same item, then into the first empty slots.

    Args:
        slots: The slots, changed in place.
        stack: The stack to add; it is not changed.
        places: Indices of the slots to fill, in order; `filled_by_pickup` if None.
        selected: A player's selected slot. Stacks of the item in this slot, then in the other hand, are filled up first.
    Returns:
        The part that did not fit; None if all did.
    """
    order = list(filled_by_pickup(slots) if places is None else places)
    most = item_named(stack.item).stack
    left = stack.count
    first = [] if selected is None else [selected, *([OFFHAND] if len(slots) == NUM_SLOTS else [])]
    for index in [*first, *order]:
        there = slots[index]
        if left and there is not None and there.count < most and there.same_kind(stack):
            moved = min(left, most - there.count)
            there.count += moved
            left -= moved
    for index in order:
        if left and slots[index] is None:
            moved = min(left, most)
            slots[index] = copied(stack, moved)
            left -= moved
    return copied(stack, left) if left else None


def room_for(slots: Sequence[Stack | None], stack: Stack) -> int:
    """Number of further items of this kind for which the slots have room."""
    most = item_named(stack.item).stack
    room = 0
    for index in filled_by_pickup(slots):
        there = slots[index]
        if there is None:
            room += most
        elif there.same_kind(stack):
            room += max(0, most - there.count)
    return room


def contents(slots: Sequence[Stack | None]) -> dict[str, int]:
    totals: dict[str, int] = {}
    for slot in slots:
        if slot is not None:
            totals[slot.item] = totals.get(slot.item, 0) + slot.count
    return totals


def take(slots: Slots, index: int, number: int | None = None) -> Stack:
    """Take up to `number` items (all if None) out of a slot; WorldError if there is no such slot, or it is empty."""
    slot = _slot(slots, index)
    if slot is None:
        raise WorldError(f"slot {index} is empty; nothing to take")
    taken = slot.count if number is None else max(0, min(number, slot.count))
    out = copied(slot, taken)
    slot.count -= taken
    if not slot.count:
        slots[index] = None
    return out


def accepts(slots: Sequence[Stack | None], index: int, stack: Stack) -> bool:
    """Whether a slot may hold this stack: a player's armour slots take only the matching piece of armour."""
    if len(slots) == NUM_SLOTS and ARMOUR <= index < OFFHAND:
        return item_named(stack.item).armour_slot == index
    return True


def swap(slots: Slots, a: int, b: int) -> None:
    """Exchange two slots; WorldError if there is no such slot, or an armour slot would get a wrong item."""
    for source, target in ((a, b), (b, a)):
        stack = _slot(slots, source)
        if stack is not None and not accepts(slots, target, stack):
            raise WorldError(f"slot {target} takes armour of its own kind only, got {stack.item}")
        if stack is not None and ARMOUR <= target < OFFHAND and len(slots) == NUM_SLOTS and stack.count > 1:
            raise WorldError(f"slot {target} takes one piece of armour, got {stack.count} of {stack.item}")
    slots[a], slots[b] = slots[b], slots[a]


def select(player: Player, slot: int) -> None:
    """Select a player's slot of the hotbar, 0 to 8; WorldError for another number."""
    if not 0 <= slot <= 8:
        raise WorldError(f"the hotbar has slots 0 to 8, got {slot}")
    player.hotbar = slot


def drop(slots: Slots, index: int, *, whole: bool = False) -> Stack | None:
    """Take one item, or the `whole` stack, out of a slot to throw it; None if empty, WorldError if there is no such slot."""
    if _slot(slots, index) is None:
        return None
    return take(slots, index, None if whole else 1)


def wear(slots: Slots, index: int, uses: int = 1) -> bool:
    """Wear the tool or armour in a slot; return True if it broke and is gone. Other items do not change.

    Raises:
        WorldError: If there is no such slot.
    """
    slot = _slot(slots, index)
    durability = 0 if slot is None else item_named(slot.item).durability
    if slot is None or not durability:
        return False
    slot.damage += uses
    if slot.damage < durability:
        return False
    slots[index] = None
    return True


def armour_points(slots: Sequence[Stack | None]) -> tuple[int, int]:
    worn = [item_named(slot.item) for slot in slots[ARMOUR:OFFHAND] if slot is not None]
    return sum(item.armour for item in worn), sum(item.toughness for item in worn)


def _slot(slots: Sequence[Stack | None], index: int) -> Stack | None:
    """Return a slot after a check of its index, because a negative index would silently count from the end."""
    if not 0 <= index < len(slots):
        raise WorldError(f"there is no slot {index}; slots are 0 to {len(slots) - 1}")
    return slots[index]


def dump(slots: Sequence[Stack | None]) -> list[list[object] | None]:
    """Convert slots to JSON values: each is [item, count, damage, tag] or None."""
    return [None if slot is None else [slot.item, slot.count, slot.damage, copy.deepcopy(slot.tag)] for slot in slots]


def load(rows: Sequence[Sequence[Any] | None]) -> Slots:
    """Convert the values of `dump` back to slots; WorldError if a row is no stack, UnknownNameError if an item is unknown."""
    slots: Slots = []
    for row in rows:
        if row is not None and (len(row) != 4 or not isinstance(row[1], int) or row[1] < 1):
            raise WorldError(f"{str(row)[:100]} is not a stack; write [item, count, damage, tag]")
        slots.append(None if row is None else Stack(item_named(row[0]).name, row[1], row[2], copy.deepcopy(row[3])))
    return slots
