"""Use up, exchange and wear items in a player's hands. In creative mode these items do not change."""

from __future__ import annotations

from blockworld.registry.tools import enchantment
from blockworld.slots import inventory
from blockworld.state import Player, Stack
from blockworld.world_state import WorldState


def use_up(world: WorldState, slot: int) -> None:
    stack = world.player.slots[slot]
    if stack is None or world.player.game_mode == "creative":
        return
    stack.count -= 1
    if stack.count <= 0:
        world.player.slots[slot] = None


def exchange(world: WorldState, slot: int, item: str) -> None:
    """Replace one item of a slot by another, such as a bucket by a full one; without room, the new item falls to the ground."""
    player = world.player
    if player.game_mode == "creative":
        return
    use_up(world, slot)
    made = Stack(item)
    if player.slots[slot] is None:
        player.slots[slot] = made
        return
    left = inventory.add(player.slots, made)
    if left is not None:
        world.spawn_item(player.x, player.eye_y - 0.3, player.z, left)


def wear(world: WorldState, slot: int, uses: int = 1) -> None:
    """Wear the item in a slot, and count it as broken if it breaks; the enchantment unbreaking sometimes prevents the wear."""
    player = world.player
    stack = player.slots[slot]
    if stack is None or player.game_mode == "creative":
        return
    unbreaking = enchantment(stack, "unbreaking")
    uses = sum(1 for _ in range(uses) if not unbreaking or world.rng.integers(unbreaking + 1) == 0)
    if uses and inventory.wear(player.slots, slot, uses):
        player.count("broken", stack.item)


def notice(player: Player) -> None:
    """End an action if the item in the hand has changed since: mining, gathering strength for a blow, eating, drawing a bow.

    Called once per tick, after the keys that change the hand. As in the game, the item matters and not its slot: selecting the
    same slot again, or another slot with an equal item, ends no action.
    """
    item = None if player.in_hand is None else player.in_hand.item
    if item == player.wielded:
        return
    player.wielded, player.mining, player.since_swing = item, None, 0
    player.eating = player.drawing = 0
