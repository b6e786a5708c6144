"""Use blocks: open doors, sleep in beds, open the screens of chests.

Rules of Minecraft 1.16. Redstone is not simulated: levers and buttons only change their own state.
"""

from __future__ import annotations

from blockworld.blocks.halves import other_half
from blockworld.blocks.orientation import OPPOSITE, facing
from blockworld.blocks.updates import set_block
from blockworld.player import screens
from blockworld.player.hands import exchange, use_up
from blockworld.registry.blocks import BY_NAME, change, name_of, properties_of, state_of
from blockworld.registry.items import item_named
from blockworld.slots import inventory
from blockworld.state import Container, Stack
from blockworld.world_state import WorldState

NIGHT = range(12542, 23460)
"""Times of day, in ticks, at which players can sleep."""
_WITHOUT_SCREEN = frozenset(
    [
        "anvil", "chipped_anvil", "damaged_anvil", "enchanting_table", "loom", "grindstone", "cartography_table",
        "brewing_stand", "beacon", "smithing_table", "bell", "ender_chest", "lectern",
    ]
)  # fmt: skip
_COMPOST = {
    0.3: "beetroot_seeds dried_kelp grass kelp melon_seeds pumpkin_seeds seagrass sweet_berries wheat_seeds",
    0.5: "cactus dried_kelp_block melon_slice nether_sprouts sugar_cane tall_grass twisting_vines vine weeping_vines",
    0.65: "apple beetroot carrot cocoa_beans fern large_fern lily_pad melon nether_wart potato pumpkin carved_pumpkin "
    "sea_pickle wheat brown_mushroom red_mushroom crimson_fungus warped_fungus crimson_roots warped_roots shroomlight "
    "mushroom_stem dandelion poppy blue_orchid allium azure_bluet oxeye_daisy cornflower lily_of_the_valley wither_rose "
    "sunflower lilac rose_bush peony",
    0.85: "baked_potato bread cookie hay_block brown_mushroom_block red_mushroom_block nether_wart_block warped_wart_block",
    1.0: "cake pumpkin_pie",
}


def compost_chance(item: str) -> float:
    """Chance that an item raises the level of a composter; 0 if it cannot be composted."""
    for chance, names in _COMPOST.items():
        if item in names.split():
            return chance
    if item.endswith(("_sapling", "_leaves")):
        return 0.3
    return 0.65 if item.endswith("_tulip") else 0.0


def touch(world: WorldState, x: int, y: int, z: int, slot: int) -> bool:
    """Use a block with the item in `slot`; return False if nothing happens, so that the item may be used on the block."""
    state = world.grid.get(x, y, z)
    name, values = name_of(state), properties_of(state)
    stack = world.player.slots[slot]
    if name.endswith(("_door", "_trapdoor", "_fence_gate")):
        return _open(world, x, y, z, state)
    if name == "lever":
        set_block(world, x, y, z, change(state, powered="false" if values["powered"] == "true" else "true"))
        return True
    if name.endswith("_button"):
        set_block(world, x, y, z, change(state, powered="true"))
        return True
    if name.endswith("_bed"):
        return _sleep(world, x, y, z, state)
    if name == "cake":
        return _eat_cake(world, x, y, z, state)
    if name == "note_block":
        note = (int(values["note"]) + 1) % 25
        set_block(world, x, y, z, change(state, note=str(note)))
        return True
    if name == "jukebox":
        return _jukebox(world, x, y, z, state, slot)
    if name == "composter":
        return _compost(world, x, y, z, state, slot)
    if name == "cauldron":
        return _cauldron(world, x, y, z, state, slot)
    if name == "flower_pot" or name.startswith("potted_"):
        return _pot(world, x, y, z, name, slot)
    if name == "sweet_berry_bush" and int(values["age"]) > 1 and (stack is None or stack.item != "bone_meal"):
        number = int(world.rng.integers(1, 3)) + (values["age"] == "3")
        set_block(world, x, y, z, change(state, age="1"))
        world.spawn_item(x + 0.5, y + 0.5, z + 0.5, Stack("sweet_berries", number))
        return True
    if name == "repeater":
        set_block(world, x, y, z, change(state, delay=str(int(values["delay"]) % 4 + 1)))
        return True
    if name == "comparator":
        set_block(world, x, y, z, change(state, mode="compare" if values["mode"] == "subtract" else "subtract"))
        return True
    if name == "daylight_detector":
        set_block(world, x, y, z, change(state, inverted="false" if values["inverted"] == "true" else "true"))
        return True
    if name in _WITHOUT_SCREEN:
        return True
    return screens.open_block(world, (x, y, z))


def _open(world: WorldState, x: int, y: int, z: int, state: int) -> bool:
    name, values = name_of(state), properties_of(state)
    if name.startswith("iron_"):
        return False
    opened = "false" if values["open"] == "true" else "true"
    after = change(state, open=opened)
    if name.endswith("_fence_gate") and opened == "true":
        # A gate swings away from who opens it.
        look = facing(world.player.yaw)
        after = change(after, facing=look) if values["facing"] == OPPOSITE[look] else after
    other = other_half(world, x, y, z)
    if other is not None:
        world.grid.set(*other, change(world.grid.get(*other), open=opened))
    set_block(world, x, y, z, after)
    return True


def _sleep(world: WorldState, x: int, y: int, z: int, state: int) -> bool:
    """Store a bed as the player's own, and let the player sleep in it at night or in a thunderstorm."""
    player = world.player
    player.bed = (x, y, z)
    if world.time % 24000 in NIGHT or world.weather == "thunder":
        other = other_half(world, x, y, z)
        head = (x, y, z) if properties_of(state)["part"] == "head" or other is None else other
        player.sleeping = 1
        player.x, player.y, player.z = head[0] + 0.5, y + 0.5625, head[2] + 0.5
        player.fall_distance = 0.0
        player.count("used", "bed")
    return True


def _eat_cake(world: WorldState, x: int, y: int, z: int, state: int) -> bool:
    player = world.player
    if player.food >= 20 and player.game_mode != "creative":
        return False
    player.food = min(20, player.food + 2)
    player.saturation = min(float(player.food), player.saturation + 0.4)
    bites = int(properties_of(state)["bites"])
    set_block(world, x, y, z, change(state, bites=str(bites + 1)) if bites < 6 else 0)
    player.count("eaten", "cake")
    return True


def _jukebox(world: WorldState, x: int, y: int, z: int, state: int, slot: int) -> bool:
    stack = world.player.slots[slot]
    if properties_of(state)["has_record"] == "true":
        inside = world.containers.pop((x, y, z), None)
        for disc in inside.slots if inside else ():
            if disc is not None:
                world.spawn_item(x + 0.5, y + 1.1, z + 0.5, disc)
        set_block(world, x, y, z, change(state, has_record="false"))
        return True
    if stack is None or not stack.item.startswith("music_disc_"):
        return False
    world.containers[(x, y, z)] = Container("jukebox", [inventory.copied(stack, 1)])
    set_block(world, x, y, z, change(state, has_record="true"))
    use_up(world, slot)
    return True


def _compost(world: WorldState, x: int, y: int, z: int, state: int, slot: int) -> bool:
    level, stack = int(properties_of(state)["level"]), world.player.slots[slot]
    if level == 8:
        world.spawn_item(x + 0.5, y + 1.1, z + 0.5, Stack("bone_meal"))
        set_block(world, x, y, z, change(state, level="0"))
        return True
    chance = 0.0 if stack is None else compost_chance(stack.item)
    if not chance:
        return False
    if world.rng.random() < chance or level == 0:
        # Full ones ripen at once; the game waits a second.
        set_block(world, x, y, z, change(state, level=str(8 if level == 6 else level + 1)))
    use_up(world, slot)
    return True


def _cauldron(world: WorldState, x: int, y: int, z: int, state: int, slot: int) -> bool:
    level, stack = int(properties_of(state)["level"]), world.player.slots[slot]
    if stack is None:
        return False
    if stack.item == "water_bucket":
        set_block(world, x, y, z, change(state, level="3"))
        exchange(world, slot, "bucket")
        return True
    if stack.item == "bucket" and level == 3:
        set_block(world, x, y, z, change(state, level="0"))
        exchange(world, slot, "water_bucket")
        return True
    return False


def _pot(world: WorldState, x: int, y: int, z: int, name: str, slot: int) -> bool:
    stack = world.player.slots[slot]
    if name != "flower_pot":
        left = world.give(Stack(name.removeprefix("potted_")))
        if left is not None:
            world.spawn_item(x + 0.5, y + 0.5, z + 0.5, left)
        set_block(world, x, y, z, state_of("flower_pot"))
        return True
    if stack is None or f"potted_{stack.item}" not in BY_NAME:
        return False
    set_block(world, x, y, z, state_of(f"potted_{stack.item}"))
    world.player.count("used", stack.item)
    use_up(world, slot)
    return True


def is_tool(stack: Stack | None, kind: str) -> bool:
    return stack is not None and item_named(stack.item).kind == kind
