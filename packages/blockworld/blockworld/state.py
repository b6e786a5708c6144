"""State of the world between two ticks, except its blocks: plain data that the rules read and write.

Coordinates are Minecraft's: x east, y up, z south; the cell (x, y, z) reaches to x + 1, y + 1, z + 1. Yaw is in degrees:
0 looks south (+z), 90 west (-x), -90 east, 180 north. Pitch is positive when looking down. The world is finite: x and z are
from 0 to 255, y from 0 to 127.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

EYE_HEIGHT = 1.62
SNEAKING_EYE_HEIGHT = 1.27
HALF_WIDTH, HEIGHT, SNEAKING_HEIGHT = 0.3, 1.8, 1.5
"""Half width, height and height when sneaking of the player's body, in blocks."""
REACH = 4.5
"""Distance in blocks within which a player can use blocks; mobs can be hit within 3.0."""
ATTACK_REACH = 3.0
NUM_SLOTS = 41
"""Slots of a player: 0-8 hotbar, 9-35 main, 36-39 armour (feet, legs, chest, head), 40 the other hand."""
ARMOUR, OFFHAND = 36, 40
DAY_TICKS = 24_000

Position = tuple[int, int, int]


class Action(NamedTuple):
    """A player's input in one tick, with the keys of MineRL 1.0.

    Attributes:
        hotbar: Slot to select, 1 to 9; 0 for none.
        camera_pitch, camera_yaw: Degrees to turn; down and clockwise are positive.
    """

    esc: bool = False
    attack: bool = False
    back: bool = False
    drop: bool = False
    forward: bool = False
    hotbar: int = 0
    inventory: bool = False
    jump: bool = False
    left: bool = False
    pick_item: bool = False
    right: bool = False
    sneak: bool = False
    sprint: bool = False
    swap_hands: bool = False
    use: bool = False
    camera_pitch: float = 0.0
    camera_yaw: float = 0.0


STILL = Action()
"""Action without any key pressed and without a turn of the camera."""


@dataclass
class Stack:
    """A number of equal items.

    Attributes:
        item: Name of the item, as in the `items` table.
        damage: Number of uses already spent, for tools.
        tag: Further data as JSON values, such as enchantments.
    """

    item: str
    count: int = 1
    damage: int = 0
    tag: dict[str, Any] | None = None

    def same_kind(self, other: Stack) -> bool:
        return (self.item, self.damage, self.tag) == (other.item, other.damage, other.tag)


@dataclass
class Player:
    """A person or agent in the world.

    Attributes:
        x, y, z: Position of the feet, at the middle of the body.
        vx, vy, vz: Velocity in blocks per tick.
        health: In half hearts, 0 to 20.
        food: In half drumsticks, 0 to 20; `saturation` and `exhaustion` are as in the game.
        air: Ticks of breath left, 300 at the surface.
        hotbar: Selected slot, 0 to 8.
        slots: The carried stacks, `NUM_SLOTS` entries.
        held: Stack on the mouse cursor while a screen is open.
        mining: The block being mined, and the share of it mined so far, 0 to 1.
        use_delay: Ticks until the use key works again while it is held down.
        eating: Ticks for which the player has been eating the held food; a meal takes 32.
        drawing: Ticks for which the bow has been drawn.
        invulnerable: Ticks until the next blow can hurt in full.
        counts: Kind of deed (`mined`, `crafted`, `used`, `killed`, `picked_up`, ...) -> name -> count.
        bed: Place where the player comes back after death.
        jump_delay: Ticks until the player jumps again while the jump key is held down.
        hit_wall: Whether a wall stopped the last move.
        last_hurt: Half hearts of the last blow received. While `invulnerable`, a stronger blow only takes the difference.
        since_swing: Ticks since the player's last blow; a blow that follows quickly is weak.
        attack_held, use_held: Whether the attack key and the use key were down in the last tick.
        experience: Points towards the next level.
        wielded: Item in the hand in the last tick. If the item changes, the action begun with it ends: see `hands.notice`.
    """

    x: float = 128.5
    y: float = 64.0
    z: float = 128.5
    vx: float = 0.0
    vy: float = 0.0
    vz: float = 0.0
    yaw: float = 0.0
    pitch: float = 0.0
    on_ground: bool = False
    in_water: bool = False
    on_ladder: bool = False
    sneaking: bool = False
    sprinting: bool = False
    fall_distance: float = 0.0
    health: float = 20.0
    food: int = 20
    saturation: float = 5.0
    exhaustion: float = 0.0
    food_timer: int = 0
    air: int = 300
    burning: int = 0
    hotbar: int = 0
    slots: list[Stack | None] = field(default_factory=lambda: [None] * NUM_SLOTS)
    held: Stack | None = None
    mining: tuple[int, int, int, float] | None = None
    use_delay: int = 0
    attack_delay: int = 0
    eating: int = 0
    drawing: int = 0
    swing: int = 0
    invulnerable: int = 0
    game_mode: str = "survival"
    bed: Position | None = None
    sleeping: int = 0
    dead: bool = False
    level: int = 0
    effects: dict[str, list[int]] = field(default_factory=dict)
    """Effect -> [ticks left, amplifier]."""
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    jump_delay: int = 0
    hit_wall: bool = False
    last_hurt: float = 0.0
    since_swing: int = 100
    attack_held: bool = False
    use_held: bool = False
    experience: int = 0
    wielded: str | None = None

    def count(self, kind: str, name: str, number: int = 1) -> None:
        of_kind = self.counts.setdefault(kind, {})
        of_kind[name] = of_kind.get(name, 0) + number

    @property
    def in_hand(self) -> Stack | None:
        return self.slots[self.hotbar]

    @property
    def eye_y(self) -> float:
        return self.y + (SNEAKING_EYE_HEIGHT if self.sneaking else EYE_HEIGHT)

    @property
    def height(self) -> float:
        """Current height of the body, standing or sneaking, in blocks."""
        return SNEAKING_HEIGHT if self.sneaking else HEIGHT


@dataclass
class Container:
    """Contents of a chest, barrel or furnace.

    Attributes:
        kind: `chest`, `barrel`, `furnace`, `blast_furnace`, `smoker`, `shulker_box`, ...
        slots: The stacks: 27 in a chest; input, fuel and output in a furnace.
        burn, burn_total: Ticks that the present piece of fuel still burns, and ticks that it burns in all.
        cook: Ticks for which the input has been smelted.
    """

    kind: str
    slots: list[Stack | None]
    burn: int = 0
    burn_total: int = 0
    cook: int = 0


MAX_ENTITIES = 256
MAX_MOBS = 240
"""Largest number of mobs; the other rows of entities are reserved for items on the ground and flying things."""

ENTITY = np.dtype(
    [
        ("kind", np.int16),  # index into `entity_types.KINDS`; -1: this row is free
        ("id", np.int32),
        ("x", np.float64),
        ("y", np.float64),
        ("z", np.float64),
        ("vx", np.float64),
        ("vy", np.float64),
        ("vz", np.float64),
        ("yaw", np.float32),
        ("head_yaw", np.float32),
        ("pitch", np.float32),
        ("walked", np.float32),  # blocks walked, for the swing of legs
        ("on_ground", np.bool_),
        ("in_water", np.bool_),
        ("health", np.float32),
        ("hurt", np.int16),  # ticks of redness and safety left after a blow
        ("fire", np.int16),
        ("age", np.int32),  # ticks; negative: a young animal
        ("love", np.int16),  # ticks left of looking for a partner
        ("goal", np.int16),  # what it is doing, and for how long, and where
        ("goal_ticks", np.int16),
        ("goal_x", np.float64),
        ("goal_y", np.float64),
        ("goal_z", np.float64),
        ("target", np.int32),  # id of the entity it follows or fights; 0 the player, -1 none
        ("variant", np.int16),  # colour, profession, and so on
        ("flags", np.int32),  # bits: see `entity_types.FLAGS`
        ("item", np.int16),  # of an item: index into the items table; see `entity_types` for mobs
        ("count", np.int16),
        ("fall", np.float32),
    ]
)
"""One entity: a mob, an item on the ground, an arrow. The entities form a structured array, so that Numba can move all in one
call. Data that few entities have (a villager's offers, an item's tag, a name) is in `WorldState.extras`, by id."""
