"""Kinds of mobs and things: names, sizes and strengths of Minecraft 1.16, as arrays that the kernels read.

`ENTITY.kind` is an index into `KINDS`: things first (`NUM_THINGS` of them), then mobs. Fields of a row have further meanings
that depend on the kind:

| field | of a mob | of a thing |
| --- | --- | --- |
| `variant` | sheep: colour 0 white to 15 black; villager: index into `PROFESSIONS`; slime: size 1, 2, 4; else the number of its look | shot by a player: the player's seat |
| `love` | ticks for which it still looks for a partner; if negative, ticks until it can look again | |
| `goal`, `goal_ticks` | what it does (`mob_kernel`); a creeper about to explode counts its `goal_ticks` down from 0 to -30 | item: ticks until it can be picked up; arrow: 1 once it sticks |
| `goal_x`, `goal_y`, `goal_z` | where it walks to next | arrow: the cell it sticks in |
| `item`, `count` | villager: x and z of its home's cell, -1 for no home; chicken: `count` ticks to the next egg; fighter: `count` ticks to the next blow | item: index into `ITEMS`, how many; arrow: `count` 1 if it can be picked up; orb: `count` points |
| `target` | id of the entity it fights, follows or flees; 0 the player, -1 nobody | id of the mob or player who threw it |
| `health` | half hearts | arrow: damage per block per tick of speed |
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from blockworld.registry.facts import table

THINGS = ("item", "arrow", "snowball", "egg", "xp_orb", "ender_pearl")
NUM_THINGS = len(THINGS)
ITEM, ARROW, SNOWBALL, EGG, XP_ORB, ENDER_PEARL = range(NUM_THINGS)

PASSIVE, NEUTRAL, HOSTILE, GOLEM, PERSON = range(5)
"""A mob's attitude to others; villagers are persons."""


@dataclass(frozen=True)
class Mob:
    """Facts about all mobs of a kind (minecraft.wiki, Java Edition 1.16; normal difficulty).

    Attributes:
        temper: Its attitude: `PASSIVE`, `NEUTRAL`, `HOSTILE`, `GOLEM` or `PERSON`.
        health: In half hearts.
        speed: The game's speed attribute: the mob walks `speed**2 / 0.454` blocks per tick.
        wander, flee, lured: Factors on `speed` while the mob strolls, flees or follows a lure.
        attack: Half hearts of a blow; a slime's blow is this number times its size.
        steadiness: Share of a push that has no effect on the mob.
        sight: Distance in blocks within which it chooses targets.
        step: Height of an edge that it climbs without jumping.
        lures: Items in a player's hand that it follows.
        foods: Items that make it look for a partner.
        experience: Points it leaves when the player kills it.
    """

    temper: int
    health: float
    speed: float
    wander: float = 1.0
    flee: float = 1.5
    lured: float = 1.0
    attack: float = 0.0
    steadiness: float = 0.0
    sight: float = 16.0
    step: float = 0.6
    lures: tuple[str, ...] = ()
    foods: tuple[str, ...] = ()
    experience: int = 5


_SEEDS = ("wheat_seeds", "melon_seeds", "pumpkin_seeds", "beetroot_seeds")
_ROOTS = ("carrot", "potato", "beetroot")
_GREENS = ("carrot", "golden_carrot", "dandelion")
_GOLDEN = ("golden_carrot", "golden_apple", "enchanted_golden_apple")
_FISH = ("cod", "salmon")
_MEAT = (
    *("beef", "cooked_beef", "porkchop", "cooked_porkchop", "chicken", "cooked_chicken", "mutton", "cooked_mutton"),
    *("rabbit", "cooked_rabbit", "rotten_flesh"),
)

MOBS: Mapping[str, Mob] = {
    "cow": Mob(PASSIVE, 10, 0.2, flee=2.0, lured=1.25, lures=("wheat",), foods=("wheat",), experience=2),
    "pig": Mob(PASSIVE, 10, 0.25, flee=1.25, lured=1.2, lures=(*_ROOTS, "carrot_on_a_stick"), foods=_ROOTS, experience=2),
    "sheep": Mob(PASSIVE, 8, 0.23, flee=1.25, lured=1.1, lures=("wheat",), foods=("wheat",), experience=2),
    "chicken": Mob(PASSIVE, 4, 0.25, flee=1.4, lures=_SEEDS, foods=_SEEDS, experience=2),
    "rabbit": Mob(PASSIVE, 3, 0.3, wander=0.6, flee=2.2, lures=_GREENS, foods=_GREENS, experience=2),
    "horse": Mob(PASSIVE, 22, 0.225, wander=0.7, flee=1.2, lured=1.25, step=1.0, lures=_GOLDEN, foods=_GOLDEN, experience=2),
    "donkey": Mob(PASSIVE, 22, 0.175, wander=0.7, flee=1.2, lured=1.25, step=1.0, lures=_GOLDEN, foods=_GOLDEN, experience=2),
    "wolf": Mob(NEUTRAL, 8, 0.3, attack=4, foods=_MEAT, experience=2),
    "cat": Mob(PASSIVE, 10, 0.3, wander=0.8, flee=1.33, foods=_FISH, experience=2),
    "villager": Mob(PERSON, 20, 0.5, wander=0.5, flee=0.75, experience=0),
    "zombie": Mob(HOSTILE, 20, 0.23, attack=3, sight=35.0),
    "skeleton": Mob(HOSTILE, 20, 0.25, sight=16.0),
    "spider": Mob(HOSTILE, 16, 0.3, wander=0.8, attack=2),
    "creeper": Mob(HOSTILE, 20, 0.25, wander=0.8),
    "enderman": Mob(NEUTRAL, 40, 0.3, attack=7, sight=64.0, step=1.0),
    "witch": Mob(HOSTILE, 26, 0.25, attack=2),
    "slime": Mob(HOSTILE, 1, 0.3, attack=1, experience=1),
    "iron_golem": Mob(GOLEM, 100, 0.25, wander=0.6, attack=15, steadiness=1.0, step=1.0, experience=0),
    "snow_golem": Mob(GOLEM, 4, 0.2, sight=10.0, experience=0),
}

KINDS: tuple[str, ...] = (*THINGS, *MOBS)
"""Names of all kinds, in the order of `ENTITY.kind`."""
KIND: Mapping[str, int] = {name: index for index, name in enumerate(KINDS)}

PROFESSIONS = (
    *("none", "armorer", "butcher", "cartographer", "cleric", "farmer", "fisherman", "fletcher", "leatherworker", "librarian"),
    *("mason", "nitwit", "shepherd", "toolsmith", "weaponsmith"),
)
"""Professions of villagers: a villager's `variant` is an index into these."""

FLAGS: Mapping[str, int] = {
    name: 1 << bit
    for bit, name in enumerate(
        (
            *("no_ai", "silent", "persistent", "tamed", "sheared", "sitting", "angry", "ignited", "invulnerable"),
            *("player_hit", "critical", "tagged"),
        )
    )
}
"""Bits of `ENTITY.flags`. `angry`: a neutral mob fights the player. `player_hit`: the player gave the last blow. `critical`:
an arrow from a fully drawn bow. `tagged`: an item with damage or a tag in `WorldState.extras`, which never merges."""
NO_AI, SILENT, PERSISTENT, TAMED, SHEARED, SITTING, ANGRY, IGNITED, INVULNERABLE, PLAYER_HIT, CRITICAL, TAGGED = FLAGS.values()

GROWS_TICKS = 24_000
"""Ticks for which an animal is young."""
LOVE_TICKS = 600
REST_TICKS = 6_000
"""Ticks after a birth until the parents can have another young."""
SAFE_TICKS = 10
"""Ticks after a blow in which further blows do not hurt."""
FUSE_TICKS = 30
"""Ticks from a creeper's first hiss to its explosion."""


def _sizes() -> tuple[np.ndarray, np.ndarray]:
    rows = {row["name"]: row for row in table("entities")}
    names = ["experience_orb" if name == "xp_orb" else name for name in KINDS]
    return np.array([rows[name]["width"] for name in names]), np.array([rows[name]["height"] for name in names])


WIDTHS, HEIGHTS = _sizes()
"""Two arrays, float64, one entry per kind: width and height of a grown mob, in blocks; for slimes, of a slime of size 4."""


def _of_mobs(field: str) -> np.ndarray:
    values = [getattr(mob, field) for mob in MOBS.values()]
    return np.array([0.0] * NUM_THINGS + [float(value) for value in values])


TEMPERS: np.ndarray = np.array([-1] * NUM_THINGS + [mob.temper for mob in MOBS.values()], np.int64)
SPEEDS, WANDERS, FLEES, LUREDS = _of_mobs("speed"), _of_mobs("wander"), _of_mobs("flee"), _of_mobs("lured")
ATTACKS, STEADINESS, SIGHTS, STEPS = _of_mobs("attack"), _of_mobs("steadiness"), _of_mobs("sight"), _of_mobs("step")


def _lure_masks() -> dict[str, int]:
    masks: dict[str, int] = {}
    for name, mob in MOBS.items():
        for item in mob.lures:
            masks[item] = masks.get(item, 0) | 1 << KIND[name]
    return masks


LURES: Mapping[str, int] = _lure_masks()
"""Item -> bits of the kinds of mobs that follow a player who holds the item."""
