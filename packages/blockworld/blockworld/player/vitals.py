"""A player's health: food, healing, breath, fire, thorns, effects, death.

Numbers of Minecraft 1.16 (minecraft.wiki: "Hunger", "Damage", "Effect").
"""

from __future__ import annotations

import math

import numpy as np

from blockworld.grid import physics
from blockworld.grid.light import OPAQUE
from blockworld.player import screens
from blockworld.registry.blocks import BOX_START, BOXES, NUM_BOXES, name_of, per_block, properties_of
from blockworld.slots import inventory
from blockworld.state import ARMOUR, HALF_WIDTH, NUM_SLOTS, OFFHAND, Player
from blockworld.world_state import WorldState

AIR_TICKS = 300
SAFE_TICKS = 10
"""Ticks after a blow in which further blows do not hurt."""
_FIRE, _LAVA, _CACTUS, _BERRIES, _CAMPFIRE, _SOUL_FIRE = 1, 2, 4, 8, 16, 32
_HARM = per_block(
    {
        "fire": _FIRE,
        "soul_fire": _SOUL_FIRE,
        "lava": _LAVA,
        "cactus": _CACTUS,
        "sweet_berry_bush": _BERRIES,
        "campfire": _CAMPFIRE,
        "soul_campfire": _CAMPFIRE,
    },
    0,
    np.uint8,
)
_SMOTHERS: np.ndarray = (
    OPAQUE & (NUM_BOXES == 1) & (BOXES[BOX_START.clip(max=len(BOXES) - 1)] == (0, 0, 0, 1, 1, 1)).all(axis=1)
)
_PAST_ARMOUR = frozenset({"fall", "drown", "starve", "void", "suffocation", "fire", "magic", "wither"})
"""Causes of damage against which armour does not protect; this damage does not make the player hungry either."""
_AT_ONCE = frozenset({"instant_health", "instant_damage", "saturation"})


def strength(player: Player, effect: str) -> int:
    active = player.effects.get(effect)
    return active[1] + 1 if active else 0


def exhaust(player: Player, amount: float) -> None:
    """Increase exhaustion by `amount`; 4 units of exhaustion cost one point of saturation or food."""
    if player.game_mode in ("survival", "adventure"):
        player.exhaustion = min(40.0, player.exhaustion + amount)


def heal(player: Player, amount: float) -> None:
    if player.health > 0:
        player.health = min(20.0, player.health + amount)


def eyes_in(world: WorldState) -> int:
    """Return `WATER` or `LAVA` if the player's eyes are in that liquid, else 0."""
    player = world.player
    y = player.eye_y - 1 / 9
    cell = math.floor(y)
    kind, level = physics.fluid_at(world.grid.blocks, math.floor(player.x), cell, math.floor(player.z))
    return int(kind) if kind and y < cell + level else 0


def tick(world: WorldState) -> None:
    """Advance the player's health by one tick; nothing happens to dead players."""
    player = world.player
    if player.dead:
        return
    player.invulnerable = max(0, player.invulnerable - 1)
    _effects(world)
    if player.game_mode in ("survival", "adventure"):
        _surroundings(world)
        _breathe(world)
        _hunger(world)
    if player.sleeping:
        _sleep(world)
    if player.health <= 0 and not player.dead:
        die(world)


def hurt(world: WorldState, amount: float, cause: str, *, knock_x: float = 0.0, knock_z: float = 0.0) -> None:
    """Take half hearts from the player, reduced by armour and resistance.

    Within `SAFE_TICKS` after a blow only a stronger blow hurts, and takes only the difference.

    Args:
        cause: `fall`, `drown`, `starve`, `fire`, `lava`, `cactus`, `magma`, `berries`, `void`, `suffocation`, `magic`, `mob`,
            `arrow`, `explosion`, ...; `void` always hurts, in every game mode.
        knock_x, knock_z: Direction of a push of 0.4 blocks per tick.
    """
    player = world.player
    if player.dead or (cause != "void" and player.game_mode in ("creative", "spectator")):
        return
    if cause in ("fire", "lava", "magma", "campfire") and "fire_resistance" in player.effects:
        return
    weaker = player.last_hurt if player.invulnerable and cause != "void" else 0.0
    if weaker and amount <= weaker:
        return
    player.last_hurt, amount = amount, amount - weaker
    if cause not in _PAST_ARMOUR:
        points, toughness = inventory.armour_points(player.slots)
        for slot in range(ARMOUR, OFFHAND):  # by the whole blow, not by what gets through
            inventory.wear(player.slots, slot, max(1, int(amount / 4)))
        amount *= 1 - min(20.0, max(points / 5, points - amount / (2 + toughness / 4))) / 25
    if cause not in ("void", "starve"):
        amount *= max(0.0, 1 - 0.2 * strength(player, "resistance"))
    if amount <= 0:
        return
    player.health = max(0.0, player.health - amount)
    player.invulnerable = player.invulnerable if weaker else SAFE_TICKS
    player.sleeping = 0
    player.count("hurt", cause)
    if cause not in _PAST_ARMOUR:
        exhaust(player, 0.1)
    length = math.hypot(knock_x, knock_z)
    if length > 0:
        player.vx = player.vx / 2 + knock_x / length * 0.4
        player.vz = player.vz / 2 + knock_z / length * 0.4
        player.vy = min(0.4, player.vy / 2 + 0.4) if player.on_ground else player.vy
    if player.health <= 0:
        die(world)


def die(world: WorldState) -> None:
    """Let the player die: the carried items fall to the ground, unless the rule keepInventory is true."""
    player = world.player
    if world.screen is not None:
        screens.close(world)  # what lies on the cursor and in the grid is carried again, and dropped with the rest
    player.health, player.dead, player.sleeping, player.mining = 0.0, True, 0, None
    player.eating = player.drawing = 0
    player.vx = player.vy = player.vz = 0.0
    player.count("died", "times")
    if world.rules.get("keepInventory", "false") == "true":
        return
    for slot in range(NUM_SLOTS):
        stack, player.slots[slot] = player.slots[slot], None
        if stack is not None:
            turn, far = float(world.rng.random()) * 2 * math.pi, float(world.rng.random()) * 0.5
            world.spawn_item(
                player.x, player.eye_y - 0.3, player.z, stack, vx=-math.sin(turn) * far, vz=math.cos(turn) * far, delay=40
            )
    player.level = player.experience = 0


def _effects(world: WorldState) -> None:
    """Let the player's effects act, and remove those that have run out."""
    player = world.player
    for name in list(player.effects):
        left, amplifier = player.effects[name]
        every = {"regeneration": 50, "poison": 25, "wither": 40}.get(name, 0) >> amplifier
        due = name in ("regeneration", "poison", "wither") and left % max(1, every) == 0
        if name == "regeneration" and due:
            heal(player, 1.0)
        elif name == "poison" and due and player.health > 1:
            hurt(world, min(1.0, player.health - 1), "magic")
        elif name == "wither" and due:
            hurt(world, 1.0, "wither")
        elif name == "hunger":
            exhaust(player, 0.005 * (amplifier + 1))
        elif name == "instant_health":
            heal(player, float(4 << amplifier))
        elif name == "instant_damage":
            hurt(world, float(6 << amplifier), "magic")
        elif name == "saturation":
            player.food = min(20, player.food + amplifier + 1)
            player.saturation = min(float(player.food), player.saturation + 2 * (amplifier + 1))
        if player.dead:
            return
        if left <= 1 or name in _AT_ONCE:
            player.effects.pop(name, None)
        else:
            player.effects[name] = [left - 1, amplifier]


def _surroundings(world: WorldState) -> None:
    """Apply damage by fire, lava, thorns, hot ground, walls and the void."""
    player, blocks = world.player, world.grid.blocks
    if player.y < -64:
        hurt(world, 4.0, "void")
        return
    body = player.x, player.y, player.z, HALF_WIDTH, player.height
    harm = physics.touched(blocks, *body, _HARM)
    lava = physics.immersion(blocks, *body, physics.LAVA)[4] if harm & _LAVA else 0
    cell = math.floor(player.x), math.floor(player.y), math.floor(player.z)
    if lava:
        player.burning = max(player.burning, 300)
        hurt(world, 4.0, "lava")
    elif harm & (_FIRE | _SOUL_FIRE):
        player.burning = max(player.burning, 160)
        hurt(world, 2.0 if harm & _SOUL_FIRE else 1.0, "fire")
    if harm & _CACTUS:
        hurt(world, 1.0, "cactus")
    here = world.grid.get(*cell)
    if harm & _CAMPFIRE and name_of(here).endswith("campfire") and properties_of(here)["lit"] == "true":
        hurt(world, 2.0 if name_of(here) == "soul_campfire" else 1.0, "campfire")
    in_berries = harm & _BERRIES and name_of(here) == "sweet_berry_bush" and properties_of(here)["age"] != "0"
    if in_berries and math.hypot(player.vx, player.vz) >= 0.003:
        hurt(world, 1.0, "berries")
    ground = world.grid.get(cell[0], math.floor(player.y - 0.2), cell[2])
    if player.on_ground and not player.sneaking and name_of(ground) == "magma_block":
        hurt(world, 1.0, "magma")
    if _SMOTHERS[world.grid.get(cell[0], math.floor(player.eye_y), cell[2])]:
        hurt(world, 1.0, "suffocation")
    if player.burning and not lava:
        if player.in_water or "fire_resistance" in player.effects:
            player.burning = 0
        else:
            if player.burning % 20 == 0:
                hurt(world, 1.0, "fire")
            player.burning -= 1


def _breathe(world: WorldState) -> None:
    """Use up air under water: it lasts 300 ticks, then drowning takes two half hearts a second. Air returns 4 times as fast."""
    player = world.player
    if eyes_in(world) != physics.WATER or "water_breathing" in player.effects or "conduit_power" in player.effects:
        player.air = min(AIR_TICKS, player.air + 4)
        return
    player.air -= 1
    if player.air <= -20:
        player.air = 0
        hurt(world, 2.0, "drown")


def _hunger(world: WorldState) -> None:
    """Let exhaustion use up saturation, then food; well-fed players heal, players without food starve."""
    player, difficulty = world.player, world.difficulty
    if player.exhaustion > 4:
        player.exhaustion -= 4
        if player.saturation > 0:
            player.saturation = max(0.0, player.saturation - 1)
        elif difficulty != "peaceful":
            player.food = max(0, player.food - 1)
    heals = world.rules.get("naturalRegeneration", "true") == "true"
    wounded = 0 < player.health < 20
    if difficulty == "peaceful" and heals:
        if wounded and world.ticks % 20 == 0:
            heal(player, 1.0)
        if player.food < 20 and world.ticks % 10 == 0:
            player.food += 1
    player.food_timer += 1
    if heals and wounded and player.saturation > 0 and player.food >= 20:
        if player.food_timer >= 10:
            amount = min(player.saturation, 6.0)
            heal(player, amount / 6)
            exhaust(player, amount)
            player.food_timer = 0
    elif heals and wounded and player.food >= 18:
        if player.food_timer >= 80:
            heal(player, 1.0)
            exhaust(player, 6.0)
            player.food_timer = 0
    elif player.food <= 0:
        if player.food_timer >= 80:
            if player.health > {"easy": 10, "normal": 1, "hard": 0}.get(difficulty, 20):
                hurt(world, 1.0, "starve")
            player.food_timer = 0
    else:
        player.food_timer = 0


def _sleep(world: WorldState) -> None:
    """Make it morning after 100 ticks in bed, unless the rule doDaylightCycle is false."""
    player = world.player
    player.sleeping += 1
    if player.sleeping > 100:
        player.sleeping = 0
        if world.rules.get("doDaylightCycle", "true") == "true":
            world.time = 0
        world.weather = "clear"
