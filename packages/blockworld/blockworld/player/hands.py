"""Changes to items in a player's hands: used up, exchanged, worn out. Creative players keep their items as they are."""

from __future__ import annotations

from blockworld.registry.tools import enchantment
from blockworld.slots import inventory
from blockworld.state import Player, Stack
from blockworld.world_state import WorldState


def use_up(world: WorldState, slot: int, number: int = 1) -> None:
    stack = world.player.slots[slot]
    if stack is None or world.player.game_mode == "creative":
        return
    stack.count -= number
    if stack.count <= 0:
        world.player.slots[slot] = None


def exchange(world: WorldState, slot: int, item: str) -> None:
    """Turn one of a slot into something else, as a bucket that is filled; without room it falls to the ground."""
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
    """Wear the item in a slot, and count it when it breaks; unbreaking spares it at times."""
    player = world.player
    stack = player.slots[slot]
    if stack is None or player.game_mode == "creative":
        return
    unbreaking = enchantment(stack, "unbreaking")
    uses = sum(1 for _ in range(uses) if not unbreaking or world.rng.integers(unbreaking + 1) == 0)
    if uses and inventory.wear(player.slots, slot, uses):
        player.count("broken", stack.item)


def notice(player: Player) -> None:
    """End an action begun with another item in hand: a block half mined, a blow gathered, a meal, a drawn bow.

    Called once a tick, after the keys that change the hand. As in the game, the item counts and not its slot: to select the
    selected slot again, or another with an equal item, ends nothing.
    """
    item = None if player.in_hand is None else player.in_hand.item
    if item == player.wielded:
        return
    player.wielded, player.mining, player.since_swing = item, None, 0
    player.eating = player.drawing = 0
