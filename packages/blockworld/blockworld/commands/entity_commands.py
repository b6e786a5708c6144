"""Commands that act on the player and mobs: give, clear, replaceitem entity, summon, effect, tp, kill, xp, gamemode."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from blockworld.commands.arguments import PLAYER, Reader, Source, known_keys, spoken, stack_of, whole
from blockworld.commands.block_commands import Deed, Prepared, said, stack_given
from blockworld.commands.selectors import ENTITY_TYPES, GAME_MODES, Selector, called, position_of, selector
from blockworld.entities import items_and_projectiles, mobs
from blockworld.errors import WorldError
from blockworld.player import vitals
from blockworld.registry.entity_types import MOBS, NUM_THINGS
from blockworld.registry.items import item_named, stacks
from blockworld.slots import inventory
from blockworld.state import ARMOUR, ENTITY, MAX_MOBS, OFFHAND, Stack
from blockworld.world_state import WorldState

MAX_STACKS = 100
"""Largest number of stacks that one /give gives."""

EFFECTS = (
    *("speed", "slowness", "haste", "mining_fatigue", "strength", "instant_health", "instant_damage", "jump_boost", "nausea"),
    *("regeneration", "resistance", "fire_resistance", "water_breathing", "invisibility", "blindness", "night_vision"),
    *("hunger", "weakness", "poison", "wither", "health_boost", "absorption", "saturation", "glowing", "levitation", "luck"),
    *("unluck", "slow_falling", "conduit_power", "dolphins_grace", "bad_omen", "hero_of_the_village"),
)
"""Effects of Minecraft 1.16."""
IDLE_EFFECTS = frozenset(
    {"nausea", "invisibility", "night_vision", "health_boost", "absorption", "glowing", "luck", "unluck", "dolphins_grace"}
    | {"bad_omen", "hero_of_the_village"}
)
"""Effects that change nothing in this world; the result text of the command says so."""
_AT_ONCE = ("instant_health", "instant_damage", "saturation")

_SLOTS = {
    "weapon.offhand": OFFHAND,
    "armor.feet": ARMOUR,
    "armor.legs": ARMOUR + 1,
    "armor.chest": ARMOUR + 2,
    "armor.head": ARMOUR + 3,
    **{f"hotbar.{number}": number for number in range(9)},
    **{f"inventory.{number}": 9 + number for number in range(27)},
    **{f"container.{number}": number for number in range(36)},
}
_HANDS = ("weapon", "weapon.mainhand")

_SAID_OF_MOBS = (
    *("NoAI", "PersistenceRequired", "Silent", "Tame", "Sheared", "Sitting", "Invulnerable", "ignited", "CustomNameVisible"),
    *("Age", "InLove", "Color", "Health", "Size", "Variant", "CatType", "RabbitType", "Fire", "AngerTime"),
    *("VillagerData", "Offers", "CustomName", "Owner", "Rotation", "Motion", "Tags", "IsBaby"),
)
_SAID_OF_ITEMS = ("Item", "Age", "PickupDelay", "Motion", "Tags", "NoGravity", "Invulnerable")
_RECIPE = ("buy", "buyB", "sell", "maxUses", "uses", "rewardExp", "xp", "priceMultiplier", "specialPrice", "demand")


def _selected(read: Reader, what: str = "who: @s, @p, @a or @e", **kind: bool) -> Selector:
    read.space(what)
    return selector(read, **kind)


def _the_player(read: Reader, who: Selector, world: WorldState, source: Source) -> bool:
    """Return whether a selector for players finds the player; CommandError if it finds a mob."""
    found = who.find(world, source)
    if any(one != PLAYER for one in found):
        raise read.error(f"only the player can be selected here, but {who.text} is a {called(world, found)}", who.column)
    return bool(found)


_NOBODY = "nobody was found"


def _for_player(read: Reader, who: Selector | None, do: Callable[[WorldState], str]) -> Prepared:
    """Return a command that calls `do` if the selector finds the player."""

    def prepare(world: WorldState, source: Source) -> Deed:
        found = source.entity == PLAYER if who is None else _the_player(read, who, world, source)
        return lambda: do(world) if found else _NOBODY

    return prepare


def give(read: Reader) -> Prepared:
    """Read `give <player> <item>{NBT} [count]`; items that do not fit drop to the ground."""
    who = _selected(read, players=True)
    read.space("an item")
    item = read.item()
    assert item is not None  # air is refused
    count = 1
    if not read.done:
        read.space("a count")
        count = read.integer("a count", 1, MAX_STACKS * item.item.stack)
    read.end()

    def do(world: WorldState) -> str:
        me, dropped = world.player, 0
        for part in stacks(item.item.name, count):
            left = world.give(item.stack(part.count))
            if left is not None:
                dropped += left.count
                world.spawn_item(me.x, me.y + 0.5, me.z, left, delay=0)
        fallen = f"; {dropped} did not fit and lie on the ground" if dropped else ""
        return f"gave the player {count} {item.item.name}{fallen}"

    return _for_player(read, who, do)


def clear(read: Reader) -> Prepared:
    """Read `clear [player] [item] [most]`, which removes all items, or up to `most` of one item (0: only counts them)."""
    who = None if read.done else _selected(read, players=True)
    wanted: frozenset[str] | None = None
    tag: dict[str, Any] | None = None
    damage = 0
    name = "items"
    most: int | None = None
    if not read.done:
        read.space("an item")
        if read.peek() == "#":
            start = read.at
            wanted = read.tag()
            name = read.text[start : read.at]
        else:
            item = read.item()
            assert item is not None  # air is refused
            wanted, tag, damage, name = frozenset({item.item.name}), item.tag, item.damage, item.item.name
    if not read.done:
        read.space("how many at most")
        most = read.integer("how many at most", 0, 2**31 - 1)
    read.end()

    def fits(stack: Stack | None) -> bool:
        if stack is None or (wanted is not None and stack.item not in wanted):
            return False
        return (not damage or stack.damage == damage) and all(
            (stack.tag or {}).get(key) == value for key, value in (tag or {}).items()
        )

    def do(world: WorldState) -> str:
        me = world.player
        if most == 0:
            return f"the player has {sum(stack.count for stack in me.slots if stack and fits(stack))} {name}"
        taken = 0
        for index, stack in enumerate(me.slots):
            if stack is not None and fits(stack) and (most is None or taken < most):
                taken += inventory.take(me.slots, index, None if most is None else most - taken).count
        if most is None and fits(me.held) and me.held is not None:
            taken += me.held.count
            me.held = None
        if most is None and world.screen is not None and world.screen.kind == "inventory":
            for index, stack in enumerate(world.screen.craft):
                if stack is not None and fits(stack):
                    taken += inventory.take(world.screen.craft, index).count
        return f"took {taken} {name} from the player"

    return _for_player(read, who, do)


def replaceitem_entity(read: Reader) -> Prepared:
    """Read the rest of `replaceitem entity <player> <slot> <item> [count]` after the word `entity`."""
    who = _selected(read, players=True)
    read.space("a slot, such as weapon.mainhand or hotbar.0")
    column = read.column
    slot = read.choice("slot", (*_HANDS, *_SLOTS))
    stack = stack_given(read)
    read.end()
    sample = stack()
    if slot.startswith("armor.") and sample is not None:
        worn = item_named(sample.item).armour_slot
        if worn != _SLOTS[slot] and not (worn is None and slot == "armor.head"):
            raise read.error(f"{sample.item} cannot be worn at {slot}", column)

    def do(world: WorldState) -> str:
        me = world.player
        me.slots[me.hotbar if slot in _HANDS else _SLOTS[slot]] = stack()
        return f"put {said(stack())} into {slot} of the player"

    return _for_player(read, who, do)


# Summoning


def summon(read: Reader) -> Prepared:
    """Read `summon <entity> [place] [NBT]`."""
    read.space("the name of a mob")
    column = read.column
    name = read.known("entity type", ENTITY_TYPES)
    if name not in MOBS and name not in ("item", "experience_orb"):
        raise read.error(f"{name} is not simulated; this world has {', '.join(MOBS)}, and also item and experience_orb", column)
    place = None
    if not read.done:
        read.space("a place: three numbers, such as ~ ~1 ~")
        place = read.place()
    data_column, data = read.column, {}
    if not read.done:
        read.space("data in braces")
        data_column = read.column
        data = read.compound("data")
    read.end()
    try:
        values = _of_item(data) if name == "item" else _of_orb(data) if name == "experience_orb" else _of_mob(name, data)
    except WorldError as error:
        raise read.error(str(error), data_column) from None

    def prepare(world: WorldState, source: Source) -> Deed:
        x, y, z = (source.x, source.y, source.z) if place is None else place.standing(world, source)
        if name in MOBS:
            _make_room(read, world, source, column)

        def do() -> str:
            where = f"at {x:g} {y:g} {z:g}"
            if name == "item":
                stack: Stack = values["stack"]
                one = world.spawn_item(x, y, z, stack, delay=values["delay"], **values["motion"])
                world.entities["age"][world.row_of(one)] = values["age"]
                return f"summoned {said(stack)} {where}"
            if name == "experience_orb":
                items_and_projectiles.spawn_xp(world, x, y, z, values["points"])
            else:
                mobs.spawn(world, name, x, y, z, **values)
            return f"summoned {name} {where}"

        return do

    return prepare


def _make_room(read: Reader, world: WorldState, source: Source, column: int) -> None:
    """Count one more mob to be summoned; CommandError if the world would then have too many mobs."""
    source.plan.mobs += 1
    there = int(np.count_nonzero(world.entities["kind"] >= NUM_THINGS))
    if there + source.plan.mobs > MAX_MOBS:
        raise read.error(f"there are {there} mobs, and at most {MAX_MOBS} can exist; /kill some first", column)


def _of_mob(name: str, data: dict[str, Any]) -> dict[str, Any]:
    """Convert NBT to the arguments of `mobs.spawn`; WorldError for an invalid value."""
    known_keys(data, name, _SAID_OF_MOBS)
    values = {key: value for key, value in data.items() if key not in ("IsBaby", "CustomNameVisible")}
    if whole(data.get("IsBaby", 0), "IsBaby", 0, 1) and "Age" not in values:
        values["Age"] = -24000
    if "CustomName" in values:
        values["CustomName"] = spoken(values["CustomName"], "CustomName")
    if "Owner" in values and not isinstance(values["Owner"], (str, list)):
        raise _not("Owner", "the number of a player", values["Owner"])
    if "Tags" in values and not (isinstance(values["Tags"], list) and all(isinstance(tag, str) for tag in values["Tags"])):
        raise _not("Tags", 'a list such as ["a","b"]', values["Tags"])
    for key, size in (("Rotation", 2), ("Motion", 3)):
        if key in values:
            values[key] = _numbers(key, values[key], size, 10.0 if key == "Motion" else 360.0)
    if "VillagerData" in values:
        villager = known_keys(values["VillagerData"], "VillagerData", ("profession", "level", "type"))
        for key in ("profession", "type"):
            if not isinstance(villager.get(key, ""), str):
                raise _not(key, "a name", villager[key])
    if "Offers" in values:
        values["Offers"] = _offers(values["Offers"])
    # Coming into an empty room shows whether everything else fits, too.
    room: Any = SimpleNamespace(entities=np.zeros(1, ENTITY), rng=np.random.default_rng(0), extras={}, free_row=lambda: 0)
    mobs.spawn(room, name, 0.0, 0.0, 0.0, **values)
    return values


def _not(what: str, wanted: str, value: Any) -> WorldError:
    return WorldError(f"{what} is {wanted}, got {str(value)[:40]!r}")


def _numbers(what: str, value: Any, size: int, most: float) -> list[float]:
    fine = isinstance(value, list) and len(value) == size and not any(isinstance(part, (str, list, dict)) for part in value)
    if not fine or not all(abs(part) <= most for part in value):
        raise _not(what, f"a list of {size} numbers from {-most:g} to {most:g}", value)
    return [float(part) for part in value]


def _offers(data: Any) -> dict[str, Any]:
    data = known_keys(data, "Offers", ("Recipes",))
    recipes = data.get("Recipes", [])
    if not isinstance(recipes, list):
        raise _not("Recipes", "a list in brackets", recipes)
    made = []
    for recipe in recipes:
        known_keys(recipe, "an offer", _RECIPE)
        offer: dict[str, Any] = {
            "maxUses": whole(recipe.get("maxUses", 16), "maxUses", 0, 2**31 - 1),
            "uses": whole(recipe.get("uses", 0), "uses", 0, 2**31 - 1),
        }
        for key in ("buy", "buyB", "sell"):
            if key == "buyB" and _is_nothing(recipe.get(key)):
                continue
            if key not in recipe:
                raise WorldError(f"an offer has buy and sell, got only {', '.join(recipe) or 'nothing'}")
            stack = stack_of(recipe[key], key)
            offer[key] = {"id": stack.item, "Count": stack.count, **({"tag": stack.tag} if stack.tag else {})}
        made.append(offer)
    return {"Recipes": made}


def _is_nothing(data: Any) -> bool:
    return data is None or (isinstance(data, dict) and str(data.get("id", "air")).removeprefix("minecraft:") in ("air", ""))


def _of_item(data: dict[str, Any]) -> dict[str, Any]:
    """Convert NBT to the fields of an item on the ground."""
    known_keys(data, "an item on the ground", _SAID_OF_ITEMS)
    if "Item" not in data:
        raise WorldError('an item on the ground is summoned with {Item:{id:"minecraft:stone",Count:1b}}')
    vx, vy, vz = _numbers("Motion", data.get("Motion", [0.0, 0.0, 0.0]), 3, 10.0)
    return {
        "stack": stack_of(data["Item"], "Item"),
        "delay": whole(data.get("PickupDelay", 0), "PickupDelay", 0, 32767),
        "age": whole(data.get("Age", 0), "Age", -32768, 6000),
        "motion": {"vx": vx, "vy": vy, "vz": vz},
    }


def _of_orb(data: dict[str, Any]) -> dict[str, Any]:
    known_keys(data, "experience", ("Value", "Age"))
    return {"points": whole(data.get("Value", 1), "Value", 1, 32767)}


# Health and place


def effect(read: Reader) -> Prepared:
    """Read `effect give <player> <effect> [seconds] [amplifier] [hide]` or `effect clear [player] [effect]`."""
    read.space("give or clear")
    if read.choice("word", ("give", "clear")) == "clear":
        return _effect_clear(read)
    who = _selected(read, players=True)
    read.space("an effect")
    name = read.known("effect", EFFECTS)
    at_once = name in _AT_ONCE
    ticks, amplifier = (1 if at_once else 600), 0
    if not read.done:
        read.space("seconds")
        seconds = read.integer("seconds", 1, 1_000_000)
        ticks = seconds if at_once else 20 * seconds
    if not read.done:
        read.space("an amplifier")
        amplifier = read.integer("an amplifier", 0, 255)
    if not read.done:
        read.space("true or false")
        read.flag("whether to hide particles")
    read.end()

    def do(world: WorldState) -> str:
        active = world.player.effects.get(name)
        if active is not None and (active[1] > amplifier or (active[1] == amplifier and active[0] >= ticks)):
            return f"the player has a stronger {name} already"
        world.player.effects[name] = [ticks, amplifier]
        idle = "; nothing in this world reacts to it" if name in IDLE_EFFECTS else ""
        return f"gave the player {name} {amplifier + 1} for {ticks / 20:g} s{idle}"

    return _for_player(read, who, do)


def _effect_clear(read: Reader) -> Prepared:
    who = None if read.done else _selected(read)
    name = None
    if not read.done:
        read.space("an effect")
        name = read.known("effect", EFFECTS)
    read.end()

    def prepare(world: WorldState, source: Source) -> Deed:
        found = [source.entity] if who is None else who.find(world, source)

        def do() -> str:
            effects = world.player.effects
            gone = [one for one in effects if name in (None, one)] if PLAYER in found else []
            for one in gone:
                del effects[one]
            return f"took {', '.join(gone)} from the player" if gone else "there was no effect to take"

        return do

    return prepare


def teleport(read: Reader) -> Prepared:
    """Read `tp [who] <place> [yaw pitch | facing ...]` or `tp [who] <whom to>`."""
    who: Selector | None = None
    read.space("who, or where to")
    if read.peek() == "@":
        first = selector(read)
        if read.done:
            if not first.at_most_one:
                raise read.error(f"the goal must be one entity, got {first.text}; add limit=1", first.column)
            return _to_entity(None, first)
        who = first
        read.space("where to")
        if read.peek() == "@":
            goal = selector(read, single=True)
            read.end()
            return _to_entity(who, goal)
    place = read.place()
    turn = None
    facing: Any = None
    if not read.done:
        read.space("yaw and pitch, or facing")
        column = read.column
        if read.peek() in "~^-+.0123456789":
            yaw = read.angle("a yaw", 360)
            read.space("a pitch")
            turn = yaw, read.angle("a pitch", 90)
        elif read.word("yaw and pitch, or facing") == "facing":
            facing = _facing(read)
        else:
            raise read.error("expected yaw and pitch, or facing", column)
    read.end()

    def prepare(world: WorldState, source: Source) -> Deed:
        found = [source.entity] if who is None else who.find(world, source)
        point = place.standing(world, source)
        look = None if facing is None else facing(world, source)

        def do() -> str:
            for one in found:
                angles = None
                if turn is not None:
                    angles = tuple(
                        part.value + (here if part.kind else 0.0)
                        for part, here in zip(turn, (source.yaw, source.pitch), strict=True)
                    )
                elif look is not None:
                    angles = _towards(point, look)
                _move(world, one, point, angles)
            if not found:
                return _NOBODY
            return f"put {called(world, found)} to {point[0]:g} {point[1]:g} {point[2]:g}"

        return do

    return prepare


def _facing(read: Reader) -> Any:
    """Read a place or `entity <whom> [eyes|feet]` after `facing`; return a function that returns the point to look at."""
    read.space("a place, or entity")
    if read.text.startswith("entity", read.at):
        read.at += len("entity")
        whom = _selected(read, "whom to face", single=True)
        part = "feet"
        if not read.done:
            read.space("eyes or feet")
            part = read.choice("part", ("eyes", "feet"))

        def of_entity(world: WorldState, source: Source) -> tuple[float, float, float] | None:
            found = whom.find(world, source)
            there = position_of(world, found[0]) if found else None
            if there is None:
                raise read.error(f"there is nobody to face: {whom.text} was not found", whom.column)
            if part == "feet":
                return there
            if found[0] == PLAYER:
                return there[0], world.player.eye_y, there[2]
            kind = int(world.entities["kind"][world.row_of(found[0])])
            return there[0], there[1] + 0.85 * float(mobs.HEIGHTS[kind]), there[2]

        return of_entity
    place = read.place()
    return lambda world, source: place.point(source)


def _towards(point: tuple[float, float, float], look: tuple[float, float, float]) -> tuple[float, float]:
    dx, dy, dz = (there - here for there, here in zip(look, point, strict=True))
    return math.degrees(math.atan2(-dx, dz)), -math.degrees(math.atan2(dy, math.hypot(dx, dz)))


def _to_entity(who: Selector | None, goal: Selector) -> Prepared:
    def prepare(world: WorldState, source: Source) -> Deed:
        moved = [source.entity] if who is None else who.find(world, source)
        found = goal.find(world, source)
        point = position_of(world, found[0]) if found else None

        def do() -> str:
            if point is None or not moved:
                return _NOBODY
            for one in moved:
                _move(world, one, point, None)
            return f"put {called(world, moved)} to {called(world, found)}"

        return do

    return prepare


def _wrapped(yaw: float) -> float:
    return (yaw + 180.0) % 360.0 - 180.0


def _move(world: WorldState, one: int, point: tuple[float, float, float], angles: Any) -> None:
    """Move an entity to a point and set the distance of its fall to 0."""
    if one == PLAYER:
        me = world.player
        me.x, me.y, me.z = point
        me.vy, me.fall_distance, me.sleeping, me.mining = 0.0, 0.0, 0, None
        if angles is not None:
            me.yaw, me.pitch = _wrapped(angles[0]), min(90.0, max(-90.0, angles[1]))
        return
    row = world.row_of(one)
    if row is None:
        return
    there = world.entities[row]
    there["x"], there["y"], there["z"] = point
    there["vy"] = there["fall"] = 0
    if there["kind"] >= NUM_THINGS:
        there["goal_x"], there["goal_y"], there["goal_z"] = point
    if angles is not None:
        there["yaw"] = there["head_yaw"] = _wrapped(angles[0])
        there["pitch"] = min(90.0, max(-90.0, angles[1]))


def kill(read: Reader) -> Prepared:
    """Read `kill [whom]`, which kills mobs (they drop loot), removes things, or kills the player."""
    who = None if read.done else _selected(read)
    read.end()

    def prepare(world: WorldState, source: Source) -> Deed:
        found = [source.entity] if who is None else who.find(world, source)

        def do() -> str:
            if not found:
                return _NOBODY
            text = f"killed {called(world, found)}"
            for one in found:
                _kill(world, one)
            return text

        return do

    return prepare


def _kill(world: WorldState, one: int) -> None:
    if one == PLAYER:
        if not world.player.dead:
            vitals.die(world)
        return
    row = world.row_of(one)
    if row is None:
        return
    if world.entities["kind"][row] < NUM_THINGS:
        world.remove(row)
        return
    try:
        mobs.kill(world, row)
    except WorldError:  # no room for what it leaves
        if world.row_of(one) == row:
            world.remove(row)


def experience(read: Reader) -> Prepared:
    """Read `xp add|set <player> <amount> [points|levels]` or `xp query <player> points|levels`."""
    read.space("add, set or query")
    what = read.choice("word", ("add", "set", "query"))
    who = _selected(read, players=True)
    amount, column, unit = 0, read.column, "points"
    if what != "query":
        read.space("an amount")
        column = read.column
        amount = read.integer("an amount", 0 if what == "set" else -1_000_000, 1_000_000)
    if what == "query" or not read.done:
        read.space("points or levels")
        unit = read.choice("unit", ("points", "levels"))
    read.end()

    def prepare(world: WorldState, source: Source) -> Deed:
        found = _the_player(read, who, world, source)
        most = items_and_projectiles.points_needed(world.player.level) - 1
        if what == "set" and unit == "points" and amount > most:
            raise read.error(f"level {world.player.level} has 0 to {most} points, got {amount}", column)

        def do() -> str:
            if not found:
                return _NOBODY
            if what == "query":
                return f"the player has {world.player.experience if unit == 'points' else world.player.level} {unit}"
            if unit == "levels":
                world.player.level = max(0, amount if what == "set" else world.player.level + amount)
                if what == "add" and world.player.level == 0 and amount < 0:
                    world.player.experience = 0
            elif what == "set":
                world.player.experience = amount
            else:
                _add_points(world, amount)
            return f"the player has level {world.player.level} and {world.player.experience} points"

        return do

    return prepare


def _add_points(world: WorldState, points: int) -> None:
    if points >= 0:
        items_and_projectiles.gain(world, points)
        return
    me = world.player
    me.experience += points
    while me.experience < 0 and me.level > 0:
        me.level -= 1
        me.experience += items_and_projectiles.points_needed(me.level)
    me.experience = max(0, me.experience)


def gamemode(read: Reader) -> Prepared:
    read.space(f"a game mode: {', '.join(GAME_MODES)}")
    mode = read.choice("game mode", GAME_MODES)
    who = None if read.done else _selected(read, players=True)
    read.end()

    def do(world: WorldState) -> str:
        world.player.game_mode = mode
        return f"the player is in {mode} mode"

    return _for_player(read, who, do)
