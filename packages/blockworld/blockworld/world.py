"""A world with players: making, stepping, saving, restoring and forking it.

Its data is in `world_state`; the rules of a tick are in `tick`.

>>> world = World(seed=7, kind="flat")
>>> world.step(Action(forward=True))
>>> again = World.restore(world.save())
>>> again.digest() == world.digest()
True
"""

from __future__ import annotations

import copy
import hashlib
import json
import math
import os
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import msgspec
import numpy as np
import zstandard

from blockworld import compiling
from blockworld.blocks import updates
from blockworld.entities import mobs
from blockworld.errors import WorldError
from blockworld.grid.changes import apply, differences
from blockworld.grid.grid import Grid
from blockworld.registry.blocks import AIR, name_of
from blockworld.slots import inventory
from blockworld.slots.screen import Screen
from blockworld.state import ENTITY, Action, Container, Player, Position
from blockworld.terrain.generate import Land, generate, wildlife
from blockworld.terrain.kept import KeptLands
from blockworld.tick import tick
from blockworld.world_state import WorldState

VERSION = 3
"""Version of rules and pictures, which is written into recordings; another version may draw the same world differently. Since
version 3, pictures are the same on every machine, bit by bit."""
FORMAT, SAVED_VERSION = "interplay-world", 2

LANDS = "INTERPLAY_LANDS"
"""Environment variable with the folder in which lands are stored for other processes; if it is not set, none are stored."""
_MADE_BY = compiling.fingerprint()

_HOTBAR_KEYS = range(10)
_UNREADABLE = (
    *(zstandard.ZstdError, msgspec.DecodeError, WorldError),
    *(ArithmeticError, AttributeError, LookupError, TypeError, ValueError),
)
"""Errors that `World.restore` meets if the bytes are no saved world."""


@dataclass(frozen=True, eq=False)
class _Base:
    """A land as generated, with its light; read-only. A saved world contains only its differences from its land."""

    land: Land
    grid: Grid


_LIVING: WeakValueDictionary[tuple[int, str], _Base] = WeakValueDictionary()
"""The lands of all worlds in memory. Each world refers to its land, so a land is dropped with the last of its worlds."""


@lru_cache(maxsize=2)
def _base(seed: int, kind: str) -> _Base:
    """Return the land of a seed; the last two lands stay in memory even if no world uses them."""
    living = _LIVING.get((seed, kind))
    if living is not None:
        return living
    folder = os.environ.get(LANDS)
    lands = KeptLands(Path(folder), _MADE_BY) if folder and kind != "flat" else None  # flat land is made as quickly as read
    found = None if lands is None else lands.read(seed, kind)
    if found is None:
        made = generate(seed, kind)
        grid = Grid(made.blocks).frozen()
        found = replace(made, blocks=grid.blocks), grid
        if lands is not None:
            lands.keep(*found)
    base = _LIVING[seed, kind] = _Base(*found)
    return base


class World(WorldState):
    """A world that can be stepped, saved, restored and forked; its data is in `WorldState`.

    Args:
        seed: Seed of the land, the animals and all random numbers.
        kind: Kind of land: see `terrain.generate.generate`.
        inhabited: Whether the new world has animals and villagers.

    Raises:
        WorldError: If the seed is negative.
        UnknownNameError: If there is no such kind of land.
    """

    def __init__(self, seed: int, kind: str = "default", *, inhabited: bool = True) -> None:
        if seed < 0:
            raise WorldError(f"the seed of a world is 0 or more, got {seed}")
        compiling.ensure()
        self._base = _base(seed, kind)
        super().__init__(seed, kind, self._base.land, self._base.grid)
        if inhabited:
            self._inhabit()

    def _inhabit(self) -> None:
        rng = np.random.default_rng((self.seed, 2))
        for name, x, y, z in wildlife(self.land, rng):
            self.spawn_mob(name, x, y, z)
        for village in self.land.villages:
            for x, y, z, profession in village.residents:
                data = {"profession": profession, "type": village.style, "level": 1}
                self.spawn_mob("villager", x + 0.5, float(y), z + 0.5, VillagerData=data)
            for name, x, y, z in village.livestock:
                self.spawn_mob(name, x + 0.5, float(y), z + 0.5)

    def step(self, *actions: Action) -> None:
        """Advance by one tick, a twentieth of a second, with one action for each player, in the order of their seats.

        Raises:
            WorldError: If there is not one action for each player, or an action has a turn that is not finite, a key that is
                neither True nor False, or a wrong hotbar slot; the world is then unchanged.
        """
        if len(actions) != len(self.players):
            raise WorldError(f"{len(self.players)} players need an action each, got {len(actions)}")
        for action in actions:
            _check(action)
        tick(self, actions)

    def set_block(self, x: int, y: int, z: int, state: int) -> int:
        """Put a state into a cell, let its neighbours react, and return the old state; WorldError if there is no such cell."""
        return updates.set_block(self, x, y, z, state)

    def spawn_mob(self, name: str, x: float, y: float, z: float, **nbt: Any) -> int:
        """Spawn a mob and return its id; arguments and errors are those of `mobs.spawn`."""
        return mobs.spawn(self, name, x, y, z, **nbt)

    # Keeping it

    def fork(self) -> World:
        """Return an independent copy of this world; takes about 10 ms.

        On Linux the copy takes memory only where its blocks or light differ from the land as generated; elsewhere 34 MB.
        Both worlds stay equal as long as they get the same actions. Unlike `restore`, this does not generate the land again.
        """
        shared = {id(one): one for one in (self._base, self.land, self.first)} | {id(self.grid): self.grid.copy()}
        return copy.deepcopy(self, shared)

    def _document(self) -> dict[str, Any]:
        """Return the whole state of the world as plain values and bytes, always in the same order."""
        first = self._screen_document(0)
        blocks, light, skip = ((cells.tobytes(), values.tobytes()) for cells, values in differences(self.first, self.grid))
        others = [self._seat_document(seat) | {"screen": self._screen_document(seat)} for seat in range(1, len(self.players))]
        rows = np.flatnonzero(self.entities["kind"] != -1).astype(np.uint16)
        return {
            "format": FORMAT,
            "version": SAVED_VERSION,
            "seed": self.seed,
            "kind": self.kind,
            "ticks": self.ticks,
            "time": self.time,
            "rules": self.rules,
            "weather": self.weather,
            "difficulty": self.difficulty,
            "spawn": self.spawn,
            "rng": json.dumps(self.rng.bit_generator.state),  # holds whole numbers of 128 bits
            "next_id": self.next_id,
            **self._seat_document(0),
            "rows": rows.tobytes(),
            "entities": self.entities[rows].tobytes(),
            "extras": list(self.extras.items()),
            "containers": [
                [place, one.kind, inventory.dump(one.slots), one.burn, one.burn_total, one.cook]
                for place, one in self.containers.items()
            ],
            "updates": self.updates.state(),
            "screen": first,
            "blocks": blocks,
            "light": light,
            "skip": skip,
            **({"others": others} if others else {}),
        }

    def _seat_document(self, seat: int) -> dict[str, Any]:
        me = self.players[seat]
        return {
            "before": list(self.befores[seat]),
            "player": {item.name: getattr(me, item.name) for item in fields(me) if item.name not in ("slots", "held")},
            "slots": inventory.dump([*me.slots, me.held]),
        }

    def _screen_document(self, seat: int) -> dict[str, Any] | None:
        screen = self.screens[seat]
        return None if screen is None else screen.state()

    def save(self) -> bytes:
        """Return the world's differences from the land as generated, compressed, for `restore` in this or another process."""
        packer = zstandard.ZstdCompressor(write_checksum=True)
        return packer.compress(msgspec.msgpack.encode(self._document()))

    def digest(self) -> str:
        """SHA-256 of everything that `save` stores, as hexadecimal digits."""
        return hashlib.sha256(msgspec.msgpack.encode(self._document())).hexdigest()

    @classmethod
    def restore(cls, saved: bytes) -> World:
        """Return the world as it was when `save` was called; WorldError if the bytes are no saved world of this version."""
        try:
            document = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(saved, allow_extra_data=False))
            if not isinstance(document, dict) or document.get("format") != FORMAT:
                raise ValueError(f"they do not say that they are of the format {FORMAT!r}")
            version = document["version"]
            if version == SAVED_VERSION:
                return cls._of(document)
        except KeyError as error:
            raise WorldError(f"these {len(saved)} bytes are not a saved world: {error} is missing in them") from None
        except _UNREADABLE as error:
            raise WorldError(f"these {len(saved)} bytes are not a saved world: {error}") from None
        raise WorldError(f"this world was saved as version {version!r:.100}; this Interplay reads version {SAVED_VERSION}")

    @classmethod
    def _of(cls, document: dict[str, Any]) -> World:
        world = cls(document["seed"], document["kind"], inhabited=False)
        for name in ("ticks", "time", "rules", "weather", "difficulty"):
            setattr(world, name, document[name])
        world.spawn = _position(document["spawn"])
        world.rng.bit_generator.state = json.loads(document["rng"])
        world.next_id = document["next_id"]
        for seat, one in enumerate((document, *document.get("others", ()))):
            if seat:
                world.join()
            *slots, held = inventory.load(one["slots"])
            me = one["player"]
            me["bed"] = None if me["bed"] is None else _position(me["bed"])
            me["mining"] = None if me["mining"] is None else tuple(me["mining"])
            world.players[seat] = Player(**me, slots=slots, held=held)
            world.befores[seat] = Action(*one["before"])
            world.screens[seat] = None if one["screen"] is None else Screen.load(one["screen"])
        world.turn_to(0)
        rows = np.frombuffer(document["rows"], np.uint16)
        world.entities[rows] = np.frombuffer(document["entities"], ENTITY)
        world.extras = dict(document["extras"])
        for place, kind, stacks, burn, burn_total, cook in document["containers"]:
            world.containers[_position(place)] = Container(kind, inventory.load(stacks), burn, burn_total, cook)
        world.updates.load(document["updates"])
        apply((document["blocks"], document["light"], document["skip"]), world.grid)
        return world


def _check(action: Action) -> None:
    keys = (*action[:5], *action[6:15])
    if action.hotbar not in _HOTBAR_KEYS or keys.count(False) + keys.count(True) != len(keys):
        raise WorldError(f"keys are True or False, hotbar is 0 to 9, got {action}")
    if not (math.isfinite(action.camera_pitch) and math.isfinite(action.camera_yaw)):
        raise WorldError(f"the camera must turn by finite degrees, got {action.camera_pitch} and {action.camera_yaw}")


def box(world: World, low: Position, high: Position, *, cells: bool = False) -> dict[str, Any]:
    """List the blocks and mobs in a box of cells, both corners included.

    Args:
        cells: Whether the result also lists every cell that is not air.

    Returns:
        `blocks`: name -> number of cells. `mobs`: `{"id", "name", "x", "y", "z", "health"}` of each mob. `deaths`: the same for
        mobs that died in the box in the last tick, and `killer`: `player` if a player gave the last blow, else `other`. If
        `cells` is true, also `cells`: a list of `{"name", "x", "y", "z"}`.
    """
    (x0, x1), (y0, y1), (z0, z1) = (sorted(pair) for pair in zip(low, high, strict=True))
    sx, sy, sz = world.grid.size
    states_there = world.grid.blocks[max(0, x0) : min(sx, x1 + 1), max(0, z0) : min(sz, z1 + 1), max(0, y0) : min(sy, y1 + 1)]
    states, counts = np.unique(states_there, return_counts=True)
    blocks: dict[str, int] = {}
    for state, count in zip(states.tolist(), counts.tolist(), strict=True):
        name = name_of(state)
        blocks[name] = blocks.get(name, 0) + count

    def inside(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [one for one in found if x0 <= one["x"] < x1 + 1 and y0 <= one["y"] < y1 + 1 and z0 <= one["z"] < z1 + 1]

    living = [mobs.described(one) for one in world.entities[world.entities["kind"] >= mobs.NUM_THINGS]]
    found = {"blocks": blocks, "mobs": inside(living), "deaths": inside(world.deaths)}
    return found | {"cells": _cells(states_there, max(0, x0), max(0, y0), max(0, z0))} if cells else found


def _cells(states: np.ndarray, x0: int, y0: int, z0: int) -> list[dict[str, Any]]:
    """List the cells that are not air in `states`, uint16 (x, z, y), a box whose low corner is at (x0, y0, z0)."""
    return [
        {"name": name_of(int(states[x, z, y])), "x": x0 + x, "y": y0 + y, "z": z0 + z}
        for x, z, y in np.argwhere(states != AIR).tolist()
    ]


def _position(values: list[int]) -> Position:
    x, y, z = values
    return x, y, z
