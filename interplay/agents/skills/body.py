"""A player's body in the block world: look, walk, mine, place and hold, by keys and camera only.

Each act is a generator of `Action`: `yield from body.walk(cell)` plays the necessary ticks and returns whether it succeeded. So
the code of a player is a list of its acts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import pairwise, product
from typing import Any, cast

import numpy as np

from blockworld import REACH, Action, Position, World, is_replaceable, mob_in_front, target
from blockworld.grid import physics
from blockworld.registry import NUM_BOXES, best_tool, item_named, name_of, properties_of
from interplay.agents.skills.cursor import MOST_TURN, Acts, fetch
from interplay.agents.skills.navigation import CLIMBED, PASSABLE, STANDABLE, Routes

USED = (
    "_door",
    "_fence_gate",
    "_trapdoor",
    "_bed",
    "chest",
    "crafting_table",
    "furnace",
    "smoker",
    "barrel",
    "lever",
    "_button",
)
"""Endings of the names of blocks that the use key works on; nothing is placed against these blocks."""
_ASIDE: tuple[tuple[float, tuple[str, ...]], ...] = (
    *((0.0, ("forward",)), (45.0, ("forward", "right")), (-45.0, ("forward", "left")), (90.0, ("right",)), (-90.0, ("left",))),
    *((135.0, ("back", "right")), (-135.0, ("back", "left")), (180.0, ("back",))),
)
"""Directions, in degrees to the right of the view, and the keys that move the player there."""
_RANKS = ("wooden", "golden", "stone", "iron", "diamond", "netherite")


class Body:
    """A player's body in a world; it reads the world directly, but changes it only by actions.

    Attributes:
        kept: Items that stay in the hotbar when another item is fetched there.
        haste: Share of a turn that is made in one tick.
        spared: Blocks that are never mined to clear a way.
        shut: Cells that no way may cross.
        shuns: Function of the eye's position; returns a yaw to avoid there and its range to either side, in degrees, or None.
        field: Distance, in blocks along each axis, within which ways are searched; to search a whole land takes 0.1 s.
    """

    def __init__(self, world: World, rng: np.random.Generator) -> None:
        self.world, self.rng = world, rng
        self.kept: set[str] = set()
        self.spared: frozenset[str] = frozenset()
        self.shut: Collection[Position] = ()
        self.shuns: Callable[[tuple[float, float, float]], tuple[float, float] | None] = lambda eye: None
        self.field = 256
        self.haste = float(rng.uniform(0.38, 0.55))
        self.sprints = bool(rng.random() < 0.8)

    # Where I am

    @property
    def cell(self) -> Position:
        """Cell of the feet; on a path or slab, the cell above it."""
        me = self.world.player
        return math.floor(me.x), math.floor(me.y + 0.5), math.floor(me.z)

    @property
    def footing(self) -> Position:
        """The cell nearest to the feet with room to stand in; at an edge, the middle of the body may be over empty space."""
        x, y, z = self.cell
        me = self.world.player
        around = [
            (math.hypot(x + dx + 0.5 - me.x, z + dz + 0.5 - me.z) + 2 * abs(dy), (x + dx, y + dy, z + dz))
            for dx, dy, dz in product((0, -1, 1), (0, -1, 1), (0, -1, 1))
        ]
        for _, cell in sorted(around):
            if self.stands(*cell):
                return cell
        return x, y, z

    def state(self, x: int, y: int, z: int) -> int:
        return self.world.grid.get(x, y, z)

    def name(self, x: int, y: int, z: int) -> str:
        return name_of(self.state(x, y, z))

    def stands(self, x: int, y: int, z: int) -> bool:
        here, above, below = self.state(x, y, z), self.state(x, y + 1, z), self.state(x, y - 1, z)
        if name_of(here) == "water":
            return bool(PASSABLE[above]) or name_of(above) == "water"
        return bool(PASSABLE[here] and PASSABLE[above] and (STANDABLE[below] or CLIMBED[here]))

    def count(self, wanted: str | Callable[[str], bool]) -> int:
        fits = wanted if callable(wanted) else wanted.__eq__
        return sum(stack.count for stack in self.world.player.slots if stack is not None and fits(stack.item))

    # Looking

    def angles(self, x: float, y: float, z: float) -> tuple[float, float]:
        me = self.world.player
        return self._angles((me.x, me.eye_y, me.z), x, y, z)

    @staticmethod
    def _angles(eye: tuple[float, float, float], x: float, y: float, z: float) -> tuple[float, float]:
        dx, dy, dz = x - eye[0], y - eye[1], z - eye[2]
        return math.degrees(math.atan2(-dx, dz)), -math.degrees(math.atan2(dy, math.hypot(dx, dz)))

    def off(self, yaw: float) -> float:
        """Degrees from the player's yaw to `yaw`, by the shorter way round."""
        return (yaw - self.world.player.yaw + 180.0) % 360.0 - 180.0

    def turn(self, yaw: float, pitch: float, **keys: Any) -> Action:
        """Action of one tick: turn towards a direction as fast as a hand does, never past a yaw to avoid, and press `keys`."""
        me = self.world.player
        turn = self.off(yaw)
        if (shunned := self.shuns((me.x, me.eye_y, me.z))) is not None:
            middle, half = shunned
            here, there = (me.yaw - middle) % 360.0, (yaw - middle) % 360.0
            turn = min(360.0 - half, max(half, there)) - here
        return Action(camera_yaw=self._slow(turn), camera_pitch=self._slow(pitch - me.pitch), **keys)

    def may_look(self, yaw: float, eye: tuple[float, float, float]) -> bool:
        shunned = self.shuns(eye)
        return shunned is None or abs((yaw - shunned[0] + 180.0) % 360.0 - 180.0) >= shunned[1]

    def _slow(self, error: float) -> float:
        if abs(error) < 1.0:
            return error
        step = error * self.haste * float(self.rng.uniform(0.85, 1.15))
        return min(MOST_TURN, max(-MOST_TURN, math.copysign(max(1.0, abs(step)), error)))

    def look(self, yaw: float, pitch: float, *, tolerance: float = 0.5, most: int = 60) -> Acts:
        for _ in range(most):
            if abs(self.off(yaw)) <= tolerance and abs(pitch - self.world.player.pitch) <= tolerance:
                return True
            yield self.turn(yaw, pitch)
        return False

    def look_at(self, x: float, y: float, z: float) -> Acts:
        return (yield from self.look(*self.angles(x, y, z)))

    def wait(self, ticks: int) -> Acts:
        for _ in range(ticks):
            yield Action()
        return True

    def end(self) -> Acts:
        yield Action(esc=True)
        yield Action()
        return True

    def sees(self, x: float, y: float, z: float, *, eye: tuple[float, float, float] | None = None) -> bool:
        """Whether the line between a point and an eye (by default the player's) is free of blocks."""
        me = self.world.player
        ex, ey, ez = eye or (me.x, me.eye_y, me.z)
        far = math.dist((ex, ey, ez), (x, y, z))
        if far < 1e-6:
            return True
        return not physics.ray(self.world.grid.blocks, ex, ey, ez, x - ex, y - ey, z - ez, far - 0.05, sources=False)[0]

    # Walking

    def walk(
        self,
        goals: Position | Iterable[Position],
        *,
        costs: np.ndarray | None = None,
        pace: Callable[[], bool] | None = None,
        tries: int = 6,
        most: float = 4000.0,
        around: int | None = None,
        until: Callable[[], bool] | None = None,
    ) -> Acts:
        """Go to the nearest of some cells; dig where `costs` allow it.

        Args:
            pace: Called before each tick; returns whether to wait for somebody.
            around: Replaces `field` for this way.
            until: Called at each tick; returns whether to stop early, which counts as success.
        """
        wanted = {cast(Position, goals)} if isinstance(goals, tuple) else set(cast(Iterable[Position], goals))
        for _ in range(tries):
            if self.footing in wanted and self._near(self.footing, 0.45):
                return True
            field = around or self.field
            routes = Routes(self.world.grid, self.footing, wanted, costs=costs, most=most, around=field, shut=self.shut)
            if routes.goal is None:
                return False
            if (yield from self.follow([self.footing, *routes.way()], pace=pace, until=until)):
                return True
            if until is not None and until():
                return True
            for _ in range(int(self.rng.integers(4, 9))):  # something is in the way
                yield self.turn(
                    self.world.player.yaw + float(self.rng.uniform(-60, 60)), 0.0, back=True, jump=bool(self.rng.random() < 0.5)
                )
        return self.footing in wanted

    def _near(self, cell: Position, reach: float) -> bool:
        me = self.world.player
        return math.hypot(cell[0] + 0.5 - me.x, cell[2] + 0.5 - me.z) <= reach and abs(me.y - cell[1]) < 0.7

    def follow(
        self, way: list[Position], *, pace: Callable[[], bool] | None = None, until: Callable[[], bool] | None = None
    ) -> Acts:
        """Walk along these cells; return False if the way is blocked."""
        index = 0
        still, best = 0, math.inf
        me = self.world.player
        while index < len(way):
            if me.dead:
                return False
            if until is not None and until():
                return True
            goal = way[index]
            last = index == len(way) - 1
            level = not last and way[index + 1][1] == goal[1] and not self._blocked(way[index + 1])
            held = me.on_ground or me.in_water or me.on_ladder
            if self._near(goal, 0.25 if last else 0.7 if level else 0.3) and (held or level):
                index += 1
                still, best = 0, math.inf
                if index < len(way):
                    before = way[index - 1]
                    blocked = self._in_way(before, way[index])
                    if blocked and not (yield from self._make_way(blocked)):
                        return False
                continue
            if pace is not None and pace():
                yield Action()
                continue
            far = math.hypot(goal[0] + 0.5 - me.x, goal[2] + 0.5 - me.z) + 0.5 * abs(goal[1] - me.y)
            still, best = (0, far) if far < best - 0.05 else (still + 1, best)
            if still > 40:
                return False
            yield self._step(way, index, still)
        return True

    def _step(self, way: list[Position], index: int, still: int) -> Action:
        me = self.world.player
        goal = way[index]
        yaw, _ = self.angles(goal[0] + 0.5, me.eye_y, goal[2] + 0.5)
        eye = me.x, me.eye_y, me.z
        aside, keys = next((one for one in _ASIDE if self.may_look(yaw - one[0], eye)), _ASIDE[0])
        yaw -= aside
        far = math.hypot(goal[0] + 0.5 - me.x, goal[2] + 0.5 - me.z)
        error = abs(self.off(yaw))
        straight = far > 0.15
        if far < 0.35:
            error = min(error, 30.0)
        rises = goal[1] > me.y + 0.55
        ahead = way[index : index + 4]
        bends = len({(b[0] - a[0], b[2] - a[2]) for a, b in pairwise(ahead)}) > 1
        easy = len(ahead) == 4 and len({cell[1] for cell in ahead}) == 1 and not bends
        sinks = me.in_water and goal[1] < me.y - 0.9
        jump = (
            (me.in_water and not sinks)
            or (rises and (far < 1.35 or me.hit_wall) and error < 45)
            or (me.hit_wall and still > 12)
        )
        dips = goal[1] < me.y - 1.5
        pitch = 28.0 if dips else 8.0 if not rises else 0.0
        return self.turn(
            yaw if straight else me.yaw,
            pitch if abs(pitch - me.pitch) > 12 else me.pitch,
            **dict.fromkeys(keys, straight and error < (50 if far > 0.8 and not aside else 25)),
            jump=jump,
            sneak=sinks,
            sprint=self.sprints and easy and error < 15 and not me.in_water and not aside,
        )

    def _blocked(self, cell: Position) -> bool:
        x, y, z = cell
        return not self._open(x, y, z) or not self._open(x, y + 1, z)

    def _open(self, x: int, y: int, z: int) -> bool:
        state = self.state(x, y, z)
        name = name_of(state)
        if name.endswith(("_door", "_fence_gate")):
            return properties_of(state)["open"] == "true"
        return bool(PASSABLE[state]) or name == "water"

    def _in_way(self, here: Position, goal: Position) -> list[Position]:
        """Cells that must be free for a step from `here` to `goal`, from the top down."""
        x, y, z = here
        a, h, b = goal
        cells = [(a, k, b) for k in range(max(h, y) + 1, h - 1, -1) if (a, b) != (x, z) or k < y]
        if h > y:
            cells.insert(0, (x, y + 2, z))
        return [cell for cell in cells if not self._open(*cell)]

    def _make_way(self, cells: list[Position]) -> Acts:
        for cell in cells:
            for _ in range(6):  # sand and gravel come after
                if self._open(*cell):
                    break
                name = self.name(*cell)
                if name.endswith(("_door", "_fence_gate")):
                    if not (yield from self.use_on(cell)):
                        return False
                elif not (yield from self.mine(cell)):
                    return False
                if self.name(cell[0], cell[1] + 1, cell[2]) in ("sand", "gravel", "red_sand"):
                    yield from self.wait(12)
        return True

    # Hands

    def aim(
        self,
        cell: Position,
        faces: Iterable[int] = range(6),
        *,
        into: Position | None = None,
        eye: tuple[float, float, float] | None = None,
    ) -> tuple[float, float] | None:
        """Yaw and pitch at which the crosshair meets one of these faces of a block in reach; None if all are hidden.

        Args:
            into: A cell whose plants the crosshair may meet instead, because a placed block replaces the plants.
            eye: Position to look from; the player's eye by default.
        """
        me, blocks = self.world.player, self.world.grid.blocks
        x, y, z = cell
        best, found = -1.0, None
        eye = eye or (me.x, me.eye_y, me.z)
        for face in faces:
            nx, ny, nz = physics.NORMALS[face]
            if (eye[0] - x - 0.5) * nx + (eye[1] - y - 0.5) * ny + (eye[2] - z - 0.5) * nz <= (
                0.5 if NUM_BOXES[self.state(*cell)] else -1.0
            ):
                continue
            for u, v in product((0.5, 0.25, 0.75, 0.08, 0.92), repeat=2):
                point = [u, v]
                place = [0.5 + 0.5 * n if n else point.pop() for n in (nx, ny, nz)]
                px, py, pz = x + place[0], y + place[1], z + place[2]
                way = px - eye[0], py - eye[1], pz - eye[2]
                hit, bx, by, bz, side, *_ = physics.ray(blocks, *eye, *way, REACH - 0.05, sources=False)
                good = hit and (((bx, by, bz) == cell and side == face) or (bx, by, bz) == into)
                if good and self.may_look(self._angles(eye, px, py, pz)[0], eye):
                    score = 1.0 - abs(u - 0.5) - abs(v - 0.5)
                    if score > best:
                        best, found = score, self._angles(eye, px, py, pz)
            if found is not None and best > 0.4:
                return found
        if found is None and not NUM_BOXES[self.state(*cell)]:  # plants, torches: their outline is smaller than the cell
            px, py, pz = x + 0.5, y + 0.3, z + 0.5
            way = px - eye[0], py - eye[1], pz - eye[2]
            hit, bx, by, bz, *_ = physics.ray(blocks, *eye, *way, REACH - 0.05, sources=False)
            return self._angles(eye, px, py, pz) if hit and (bx, by, bz) == cell else None
        return found

    def mine(self, cell: Position, *, tool: str | None = None, most: int = 500) -> Acts:
        """Mine a block in reach with the best carried tool, or with the named tool; "" is the bare hand."""
        before = self.state(*cell)
        if tool is None:
            yield from self.hold_tool(name_of(before))
        else:
            yield from self.hold(tool) if tool else self.free_hand()
        aimed = self.aim(cell)
        if aimed is None:
            return False
        yield from self.look(*aimed, tolerance=1.0)
        for _ in range(most):
            if self.state(*cell) != before:
                return True
            aimed = self.aim(cell)
            if aimed is None or self.world.player.dead:
                return False
            yield self.turn(*aimed, attack=mob_in_front(self.world) is None)
        return False

    def press_use(self) -> Acts:
        """Press the use key for a tick. First wait while a mob that would react to the key is in front of the player."""
        for _ in range(40):
            if mob_in_front(self.world) is None:
                break
            yield Action()
        else:
            return False
        yield Action(use=True)
        yield Action()
        return True

    def use_on(self, cell: Position) -> Acts:
        before = self.state(*cell)
        for _ in range(4):
            aimed = self.aim(cell)
            if aimed is None:
                return False
            yield from self.look(*aimed, tolerance=0.05)
            found = target(self.world)
            if found is None or found[:3] != cell:
                yield Action()
                continue
            yield from self.press_use()
            if self.state(*cell) != before or self.world.screen is not None:
                return True
        return False

    def sides(self, cell: Position, faces: Iterable[int] = (1, 2, 3, 4, 5, 0)) -> Iterator[tuple[Position, int]]:
        """Yield the blocks beside a cell against which a block can be placed, each with the face that points into the cell."""
        for face in faces:
            nx, ny, nz = physics.NORMALS[face]
            base = cell[0] - nx, cell[1] - ny, cell[2] - nz
            state = self.state(*base)
            if NUM_BOXES[state] and not is_replaceable(state) and not name_of(state).endswith(USED):
                yield base, face

    def place(self, cell: Position, item: str, faces: Iterable[int] = (1, 2, 3, 4, 5, 0)) -> Acts:
        """Place an item's block into a cell, against a visible neighbour; also succeeds if the block is already there."""
        if not (yield from self.hold(item)):
            return False
        for _ in range(6):
            if not is_replaceable(self.state(*cell)):
                return self.name(*cell) == item or NUM_BOXES[self.state(*cell)] > 0
            seen = ((base, face, self.aim(base, (face,), into=cell)) for base, face in self.sides(cell, faces))
            base, face, aimed = next((one for one in seen if one[2] is not None), (cell, -1, None))
            if aimed is None:
                return False
            yield from self.look(*aimed, tolerance=0.05)
            met = target(self.world)
            if mob_in_front(self.world) is not None:
                yield from self.wait(5)
                continue
            if met is None or not ((met[:3] == base and met[3] == face) or met[:3] == cell):
                yield Action()
                continue
            yield from self.press_use()
        return not is_replaceable(self.state(*cell))

    # What is in the hand

    def slot(self, item: str) -> int | None:
        slots = self.world.player.slots
        return next((n for n in range(36) if (stack := slots[n]) is not None and stack.item == item), None)

    def hold(self, item: str) -> Acts:
        """Take an item from the hotbar or the inventory into the hand."""
        me = self.world.player
        if me.in_hand is not None and me.in_hand.item == item:
            return True
        slot = self.slot(item)
        if slot is None:
            return False
        if slot >= 9:
            free = (n for n in range(9) if (stack := me.slots[n]) is None or stack.item not in self.kept)
            if not (yield from fetch(self.world, slot, next(free, me.hotbar))):
                return False
            return me.in_hand is not None and me.in_hand.item == item
        yield Action(hotbar=slot + 1)
        return True

    def free_hand(self) -> Acts:
        """Select an empty slot if possible, else an item that animals do not follow."""
        slots = self.world.player.slots
        slot = next((n for n in range(9) if slots[n] is None), None)
        slot = slot if slot is not None else next((n for n in range(9) if slots[n].item.endswith(("fence", "gate"))), 0)  # type: ignore[union-attr]
        yield Action(hotbar=slot + 1)
        return True

    def hold_tool(self, block: str) -> Acts:
        """Take the best tool for a block into the hand; without such a tool, do not change the hand."""
        kind = best_tool(block)
        slots = self.world.player.slots
        tools = [n for n in range(36) if (stack := slots[n]) is not None and item_named(stack.item).kind == kind]
        if kind is None or not tools:
            return True

        def rank(slot: int) -> int:
            stack = slots[slot]
            assert stack is not None
            return _RANKS.index(item_named(stack.item).tier or "wooden")

        best = max(tools, key=lambda slot: (rank(slot), slot < 9))
        stack = slots[best]
        assert stack is not None
        return (yield from self.hold(stack.item))
