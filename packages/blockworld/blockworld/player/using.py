"""Use held items: buckets, hoes, lighters, bone meal, food, bows, eggs.

Rules of Minecraft 1.16. Functions that use an item return whether something happened.
"""

from __future__ import annotations

from typing import Any

from blockworld.blocks import fire, growth, supports
from blockworld.blocks.orientation import STEPS, TALL, is_replaceable
from blockworld.blocks.updates import set_block, tell
from blockworld.entities import items_and_projectiles, mobs
from blockworld.grid import physics
from blockworld.grid.physics import DOWN, FACES
from blockworld.player import mining
from blockworld.player.hands import exchange, use_up, wear
from blockworld.player.movement import direction
from blockworld.player.touching import is_tool
from blockworld.registry.blocks import AIR, BY_NAME, NUM_BOXES, change, name_of, properties_of, state_of
from blockworld.registry.entity_types import KIND
from blockworld.registry.items import item_named, mob_of_egg
from blockworld.registry.tools import enchantment
from blockworld.slots import inventory
from blockworld.state import Stack
from blockworld.world_state import WorldState

EAT_TICKS = 32
DRAW_TICKS = 20
ARROW_SPEED = 3.0
"""Speed of an arrow from a fully drawn bow, in blocks per tick; things thrown by hand have 1.5."""
_THROWN = {"snowball": "snowball", "egg": "egg", "ender_pearl": "ender_pearl"}
_DRUNK = {"milk_bucket": "bucket", "honey_bottle": "glass_bottle", "potion": "glass_bottle"}
_ALWAYS_EATEN = frozenset({"golden_apple", "enchanted_golden_apple", "chorus_fruit", "honey_bottle", "milk_bucket", "potion"})
_LEFT_OF_FOOD = {name: "bowl" for name in ("mushroom_stew", "rabbit_stew", "beetroot_soup", "suspicious_stew")}
# Food -> chance, and effects as (name, ticks, amplifier).
_FOOD_EFFECTS: dict[str, tuple[float, tuple[tuple[str, int, int], ...]]] = {
    "golden_apple": (1.0, (("regeneration", 100, 1), ("absorption", 2400, 0))),
    "enchanted_golden_apple": (
        1.0,
        (("regeneration", 400, 1), ("resistance", 6000, 0), ("fire_resistance", 6000, 0), ("absorption", 2400, 3)),
    ),
    "rotten_flesh": (0.8, (("hunger", 600, 0),)),
    "chicken": (0.3, (("hunger", 600, 0),)),
    "spider_eye": (1.0, (("poison", 100, 0),)),
    "poisonous_potato": (0.6, (("poison", 100, 0),)),
    "pufferfish": (1.0, (("poison", 1200, 3), ("hunger", 300, 2))),
}


def on_block(world: WorldState, slot: int, found: mining.Target) -> bool:
    """Use a held item on a block in all ways except placing a block."""
    stack = world.player.slots[slot]
    if stack is None:
        return False
    x, y, z, face = found[:4]
    state, above = world.grid.get(x, y, z), world.grid.get(x, y + 1, z)
    name = name_of(state)
    open_above = name_of(above) in ("air", "cave_air") and face != DOWN
    made: int | None = None
    if is_tool(stack, "hoe") and open_above:
        made = {
            "dirt": state_of("farmland"),
            "grass_block": state_of("farmland"),
            "grass_path": state_of("farmland"),
            "coarse_dirt": state_of("dirt"),
        }.get(name)
    elif is_tool(stack, "shovel"):
        if name == "grass_block" and open_above:
            made = state_of("grass_path")
        elif name.endswith("campfire") and properties_of(state)["lit"] == "true":
            made = change(state, lit="false")
    elif is_tool(stack, "axe") and name.endswith(("_log", "_wood", "_stem", "_hyphae")) and f"stripped_{name}" in BY_NAME:
        made = state_of(f"stripped_{name}", axis=properties_of(state)["axis"])
    elif stack.item == "shears" and name == "pumpkin":
        side = FACES[face] if FACES[face] in ("north", "south", "west", "east") else "north"
        made = state_of("carved_pumpkin", facing=side)
        world.spawn_item(x + 0.5, y + 0.5, z + 0.5, Stack("pumpkin_seeds", 4))
    elif stack.item in ("flint_and_steel", "fire_charge"):
        return _light(world, slot, found)
    elif stack.item == "bone_meal":
        if growth.bone_meal(world, x, y, z):
            world.player.count("used", stack.item)
            use_up(world, slot)
            return True
        return False
    elif (mob := mob_of_egg(stack.item)) is not None:
        return _hatch(world, slot, mob, found)
    if made is None:
        return False
    set_block(world, x, y, z, made)
    world.player.count("used", stack.item)
    wear(world, slot)
    return True


def in_air(world: WorldState, slot: int, fresh: bool) -> bool:
    """Use a held item that needs no block in front; `fresh` is true in the tick in which the key went down."""
    player, stack = world.player, world.player.slots[slot]
    if stack is None:
        return False
    if stack.item in ("bucket", "water_bucket", "lava_bucket"):
        return _bucket(world, slot)
    if eatable(world, stack):
        player.eating = 1
        return True
    if stack.item == "bow":
        if player.game_mode == "creative" or any(other and other.item == "arrow" for other in player.slots):
            player.drawing = 1
            return True
        return False
    if stack.item in _THROWN:
        return _throw(world, slot, _THROWN[stack.item], 1.5)
    worn = item_named(stack.item).armour_slot
    if worn is not None and player.slots[worn] is None and fresh and stack.item != "carved_pumpkin":
        player.slots[worn] = inventory.copied(stack, 1)
        stack.count -= 1
        player.slots[slot] = stack if stack.count else None
        return True
    return False


# Eating and shooting, which take time.


def eatable(world: WorldState, stack: Stack) -> bool:
    if stack.item in _ALWAYS_EATEN:
        return True
    food = item_named(stack.item).food
    hungry = world.player.food < 20 or world.player.game_mode == "creative"
    return food > 0 and hungry and stack.item != "cake"


def eat(world: WorldState, slot: int) -> bool:
    """Eat a held item for one more tick; return False if the item is not food."""
    player, stack = world.player, world.player.slots[slot]
    if stack is None or not eatable(world, stack):
        player.eating = 0
        return False
    player.eating += 1
    needed = {"dried_kelp": 16, "honey_bottle": 40}.get(stack.item, EAT_TICKS)
    if player.eating <= needed:
        return True
    player.eating = 0
    item = item_named(stack.item)
    player.food = min(20, player.food + item.food)
    player.saturation = min(float(player.food), player.saturation + item.saturation)
    if stack.item == "milk_bucket":
        player.effects.clear()
    if stack.item == "honey_bottle":
        player.effects.pop("poison", None)
    chance, effects = _FOOD_EFFECTS.get(stack.item, (0.0, ()))
    if chance and world.rng.random() < chance:
        for name, ticks, amplifier in effects:
            player.effects[name] = [ticks, amplifier]
    player.count("eaten", stack.item)
    player.count("used", stack.item)
    left = _DRUNK.get(stack.item) or _LEFT_OF_FOOD.get(stack.item)
    if left:
        exchange(world, slot, left)
    else:
        use_up(world, slot)
    return True


def shoot(world: WorldState, slot: int) -> None:
    player, bow = world.player, world.player.slots[slot]
    pull = power(player.drawing)
    player.drawing = 0
    if bow is None or bow.item != "bow" or pull < 0.1:
        return
    quiver = next((place for place in (40, *range(36)) if (there := player.slots[place]) and there.item == "arrow"), None)
    free = player.game_mode == "creative"
    if quiver is None and not free:
        return
    kept, power_level = free or enchantment(bow, "infinity") > 0, enchantment(bow, "power")
    damage = 2.0 + (0.5 * power_level + 0.5 if power_level else 0.0)
    _launch(world, "arrow", ARROW_SPEED * pull, damage=damage, critical=pull == 1.0, can_take=not kept)
    if quiver is not None and not kept:
        use_up(world, quiver)
    player.count("used", "bow")
    wear(world, slot)


def _launch(world: WorldState, kind: str, speed: float, **values: Any) -> None:
    player = world.player
    dx, dy, dz = direction(player)
    place, speeds = (player.x, player.eye_y - 0.1, player.z), (dx * speed, dy * speed, dz * speed)
    items_and_projectiles.shoot(world, kind, *place, *speeds, 0, seat=world.seat, **values)


def _throw(world: WorldState, slot: int, kind: str, speed: float) -> bool:
    stack = world.player.slots[slot]
    assert stack is not None
    _launch(world, kind, speed)
    world.player.count("used", stack.item)
    use_up(world, slot)
    return True


# Liquids.


def _bucket(world: WorldState, slot: int) -> bool:
    stack = world.player.slots[slot]
    assert stack is not None
    found = mining.target(world, sources=stack.item == "bucket")
    if found is None or world.player.game_mode == "adventure":
        return False
    x, y, z, face = found[:4]
    state = world.grid.get(x, y, z)
    if stack.item == "bucket":
        if state in (state_of("water"), state_of("lava")):
            set_block(world, x, y, z, AIR)
            filled = f"{name_of(state)}_bucket"
        elif properties_of(state).get("waterlogged") == "true":
            set_block(world, x, y, z, change(state, waterlogged="false"))
            filled = "water_bucket"
        else:
            return False
        world.player.count("used", "bucket")
        exchange(world, slot, filled)
        return True
    liquid = stack.item.removesuffix("_bucket")
    if not pour(world, x, y, z, liquid):
        dx, dy, dz = physics.NORMALS[face]
        if not pour(world, x + dx, y + dy, z + dz, liquid):
            return False
    world.player.count("used", stack.item)
    exchange(world, slot, "bucket")
    return True


def pour(world: WorldState, x: int, y: int, z: int, liquid: str) -> bool:
    """Put a source of water or lava into a cell, washing away blocks that are not solid; return False if there is no room."""
    if not world.grid.inside(x, y, z):
        return False
    state = world.grid.get(x, y, z)
    if liquid == "water" and properties_of(state).get("waterlogged") == "false" and not name_of(state).endswith("_leaves"):
        double = properties_of(state).get("type") == "double"
        if not double:
            set_block(world, x, y, z, change(state, waterlogged="true"))
            return True
    if NUM_BOXES[state] or properties_of(state).get("waterlogged") or name_of(state).endswith(("_sign", "_fence_gate")):
        return False
    if not is_replaceable(state):
        mining.break_block(world, x, y, z)
    elif name_of(state) in TALL or name_of(state) == "tall_seagrass":
        mining.break_block(world, x, y, z, None, False)
    set_block(world, x, y, z, state_of(liquid))
    return True


# Fire, eggs, what has two halves.


def _light(world: WorldState, slot: int, found: mining.Target) -> bool:
    stack = world.player.slots[slot]
    assert stack is not None
    x, y, z, face = found[:4]
    state = world.grid.get(x, y, z)
    if name_of(state).endswith("campfire") and properties_of(state)["lit"] == properties_of(state)["waterlogged"] == "false":
        set_block(world, x, y, z, change(state, lit="true"))
    else:
        dx, dy, dz = physics.NORMALS[face]
        x, y, z = x + dx, y + dy, z + dz
        here, burning = name_of(world.grid.get(x, y, z)), fire.fire_at(world, x, y, z)
        free = world.grid.inside(x, y, z) and here in ("air", "cave_air")
        if not free or not supports.stays(world.grid, x, y, z, burning):
            return False
        set_block(world, x, y, z, burning)
    world.player.count("used", stack.item)
    if stack.item == "fire_charge":
        use_up(world, slot)
    else:
        wear(world, slot)
    return True


def _hatch(world: WorldState, slot: int, mob: str, found: mining.Target) -> bool:
    stack = world.player.slots[slot]
    assert stack is not None
    x, y, z, face = found[:4]
    if NUM_BOXES[world.grid.get(x, y, z)]:
        dx, dy, dz = physics.NORMALS[face]
        x, y, z = x + dx, y + dy, z + dz
    if not world.grid.inside(x, y, z):
        return False
    if mob not in KIND:
        return False
    mobs.spawn(world, mob, x + 0.5, float(y), z + 0.5)
    world.player.count("used", stack.item)
    use_up(world, slot)
    return True


def place_tall(world: WorldState, x: int, y: int, z: int, lower: int) -> bool:
    """Place both halves of a tall plant or door; return False if there is no room above."""
    if not world.grid.inside(x, y + 1, z) or not is_replaceable(world.grid.get(x, y + 1, z)):
        return False
    # The upper half goes straight into the grid, so that nothing sees the lower one alone.
    upper = change(lower, half="upper")
    before = world.grid.set(x, y + 1, z, upper)
    set_block(world, x, y, z, lower)
    tell(world, x, y + 1, z, before, upper)
    return True


def place_bed(world: WorldState, x: int, y: int, z: int, foot: int) -> None:
    dx, _, dz = STEPS[properties_of(foot)["facing"]]
    head = change(foot, part="head")
    before = world.grid.set(x + dx, y, z + dz, head)
    set_block(world, x, y, z, foot)
    tell(world, x + dx, y, z + dz, before, head)


def power(drawn_ticks: int) -> float:
    """Speed of an arrow from a bow drawn for `drawn_ticks`, as a share of its full speed."""
    pulled = min(drawn_ticks, DRAW_TICKS) / DRAW_TICKS
    return min(1.0, (pulled * pulled + 2 * pulled) / 3)
