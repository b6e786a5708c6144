"""Make a diamond shovel from nothing: get the nearest wood, stone, iron and diamond in turn."""

from __future__ import annotations

import math

import numpy as np

from blockworld import Action, Position, Stack, World
from blockworld.grid import physics
from blockworld.registry import BLOCK_OF, BLOCKS, KINDS, NUM_THINGS, block_of, can_harvest, per_block, speed_on, state_of
from blockworld.terrain import PASSABLE
from interplay.agents.skills.body import Acts, Body
from interplay.agents.skills.crafts import craft, smelt
from interplay.agents.skills.mobs import pick_up
from interplay.agents.skills.navigation import Routes, digging_costs
from interplay.agents.skills.reaching import set_down

LOGS = 9
COBBLES = 15
IRONS = 3
NEAR = 56
"""Ore and paths to trees are searched within this many blocks of the player; stone within 24 blocks."""
DARK = 150.0
"""Additional cost of a cell of a dark cave: digging for up to this many ticks is preferred to walking through the cell."""
_DUG = (
    "stone", "granite", "diorite", "andesite", "dirt", "grass_block", "podzol", "coarse_dirt", "gravel", "sand", "sandstone",
    "clay", "cobblestone", "coal_ore", "iron_ore", "gold_ore", "redstone_ore", "lapis_ore", "diamond_ore", "emerald_ore",
    "snow_block", "red_sand", "terracotta",
)  # fmt: skip
_HOSTILE = {"zombie": 4.0, "spider": 3.5, "skeleton": 3.8, "creeper": 5.0, "witch": 3.8, "slime": 3.0}
"""Kind of hostile mob -> distance, in blocks, below which the player fights it."""
_IS_LOG = per_block(
    {block.name: True for block in BLOCKS if block.name.endswith("_log") and "stripped" not in block.name}, False, np.bool_
)
_IS_LEAF = np.array([block.name.endswith("_leaves") for block in BLOCKS])[BLOCK_OF]


def is_log(item: str) -> bool:
    return item.endswith("_log")


def is_planks(item: str) -> bool:
    return item.endswith("_planks")


def play(world: World, rng: np.random.Generator) -> Acts:
    body = Body(world, rng)
    body.kept = {"crafting_table", "furnace", "cobblestone", "stone_sword"}
    work = _work(body)
    for action in work:
        yield from _fight(body)
        yield action
    return body.count("diamond_shovel") > 0


def _work(body: Body) -> Acts:
    for _ in range(3):
        yield from _wood(body, LOGS)
        if body.count(is_log) * 4 + body.count(is_planks) >= 20:
            break
    yield from _planks(body, 1)
    yield from craft(body, "stick", 2)
    table = yield from _at_table(body)
    yield from _make(body, "wooden_pickaxe", table)
    yield from _dig_for(body, "stone", "cobblestone", COBBLES)
    for item in ("stone_pickaxe", "furnace", "stone_sword"):
        table = yield from _at_table(body)
        yield from _make(body, item, table)
    yield from _dig_for(body, "iron_ore", "iron_ore", IRONS)
    if body.count("cobblestone") < 2:
        yield from _dig_for(body, "stone", "cobblestone", 6)
    for _ in range(3):
        furnace = yield from set_down(body, "furnace", dug=_DUG)
        if furnace is not None and body.count("iron_ore"):
            fuel = (
                "coal"
                if body.count("coal")
                else next((s.item for s in body.world.player.slots if s and is_planks(s.item)), "stick")
            )
            lacking = 3 - body.count("iron_ingot")
            yield from smelt(body, furnace, "iron_ore", min(lacking, body.count("iron_ore")), fuel, 2 if fuel != "stick" else 7)
        if body.count("iron_ingot") >= 3:
            break
    table = yield from _at_table(body)
    yield from _make(body, "iron_pickaxe", table)
    yield from _dig_for(body, "diamond_ore", "diamond", 1)
    table = yield from _at_table(body)
    yield from _make(body, "diamond_shovel", table)
    return body.count("diamond_shovel") > 0


def _planks(body: Body, least: int) -> Acts:
    """Make planks from logs until there are at least `least`, using up one kind of log at a time."""
    for _ in range(6):
        log = next((stack.item for stack in body.world.player.slots if stack is not None and is_log(stack.item)), None)
        if log is None or body.count(is_planks) >= max(least, 24):
            break
        yield from craft(body, log.replace("_log", "_planks"), min(8, body.count(log)))
    return body.count(is_planks) >= least


def _make(body: Body, item: str, table: Position | None) -> Acts:
    """Craft one item at the table, with at most three tries; make sticks first if they are missing."""
    for _ in range(3):
        if body.count(item):
            return True
        if body.count("stick") < 2:
            yield from _planks(body, 4)
            yield from craft(body, "stick", 2)
        yield from _planks(body, 3)
        if table is None:
            table = yield from _at_table(body)
        if table is not None and not (yield from craft(body, item, 1, table=table)):
            table = None
    return body.count(item) > 0


# Wood.


def _wood(body: Body, number: int) -> Acts:
    skipped: set[Position] = set()
    for _ in range(10):
        if body.count(is_log) >= number:
            return True
        costs = _costs(body)
        routes = Routes(body.world.grid, body.footing, None, costs=costs, most=1500.0, around=NEAR)
        tree = _nearest_tree(body, routes, skipped)
        if tree is None:
            return False
        skipped.add(tree)
        x, y, z = tree
        beside = [(x + dx, y + dy, z + dz) for dx in (-1, 0, 1) for dz in (-1, 0, 1) for dy in (-2, -1, 0, 1) if (dx or dz)]
        beside = [cell for cell in beside if math.isfinite(routes.cost(cell))]
        if not (yield from body.walk(beside, costs=costs)):
            continue
        yield from _cut(body, tree, number)
    return body.count(is_log) >= number


def _nearest_tree(body: Body, routes: Routes, skipped: set[Position]) -> Position | None:
    blocks = body.world.grid.blocks
    logs = np.argwhere(_IS_LOG[blocks])
    best, found = math.inf, None
    villages = [house.box for village in body.world.land.villages for house in village.houses]
    for x, z, y in logs.tolist():
        if _IS_LOG[blocks[x, z, y - 1]] or (x, y, z) in skipped or not _IS_LOG[blocks[x, z, y + 1]]:
            continue
        if any(x0 - 2 <= x <= x1 + 2 and z0 - 2 <= z <= z1 + 2 for x0, _, z0, x1, _, z1 in villages):
            continue
        cost = min(
            (routes.cost((x + dx, y + dy, z + dz)) for dx in (-1, 0, 1) for dz in (-1, 0, 1) for dy in (-2, -1, 0, 1)),
            default=math.inf,
        )
        if cost < best:
            best, found = cost, (x, y, z)
    return found


def _cut(body: Body, tree: Position, number: int) -> Acts:
    """Cut a trunk from the bottom up: the two lowest logs from beside the tree, the others from where these two were."""
    x, y, z = tree
    for h in (0, 1):
        yield from _clear_to(body, (x, y + h, z))
        yield from body.mine((x, y + h, z))
    yield from body.walk([(x, y, z), (x, y - 1, z)], tries=2)
    for h in range(2, 7):
        if body.count(is_log) >= number:
            break
        if not _IS_LOG[body.state(x, y + h, z)]:
            break
        yield from _clear_to(body, (x, y + h, z))
        if not (yield from body.mine((x, y + h, z))):
            break
    yield from body.wait(8)
    yield from pick_up(body, 4.0)
    return True


def _clear_to(body: Body, cell: Position) -> Acts:
    me = body.world.player
    for _ in range(5):
        if body.aim(cell) is not None:
            return True
        way = cell[0] + 0.5 - me.x, cell[1] + 0.5 - me.eye_y, cell[2] + 0.5 - me.z
        hit, *found = physics.ray(body.world.grid.blocks, me.x, me.eye_y, me.z, *way, 4.4, sources=False)
        if not hit:
            return False
        there = (int(found[0]), int(found[1]), int(found[2]))
        if there == cell or not (_IS_LEAF[body.state(*there)] or PASSABLE[body.state(*there)]):
            return there == cell
        if not (yield from body.mine(there)):
            return False
    return False


# Stone and ore.


def _costs(body: Body) -> np.ndarray:
    pick = next((f"{tier}_pickaxe" for tier in ("iron", "stone", "wooden") if body.count(f"{tier}_pickaxe")), None)
    tool = None if pick is None else Stack(pick)
    speeds = {}
    for name in _DUG:
        block = block_of(state_of(name))
        if block.hardness is None:
            continue
        with_pick = tool if name not in ("dirt", "grass_block", "sand", "gravel") else None
        harvests = can_harvest(block, with_pick)
        ticks = block.hardness * (30 if harvests else 100) / speed_on(block, with_pick)
        if harvests or name in ("stone",):
            speeds[name] = min(150.0, ticks + 8.0)
    return digging_costs(speeds)


def _dig_for(body: Body, block: str, item: str, number: int) -> Acts:
    """Dig to the nearest blocks of a kind and pick up the dropped items, until there are enough."""
    world = body.world
    failed: set[Position] = set()
    for _ in range(4 * number + 8):
        if body.count(item) >= number:
            return True
        cells = _around(body, block, 24 if block == "stone" else NEAR)
        if block == "stone":
            cells = cells[cells[:, 2] < world.player.y + 1]
        goals = {(x, y, z) for x, z, y in cells[~_beside_cave(world, cells)].tolist()} - failed
        goals = goals or {(x, y, z) for x, z, y in cells.tolist()} - failed
        lower = {(x, y - 1, z) for x, y, z in goals} if block != "stone" else set()
        before = body.count(item)
        costs = _costs(body)
        routes = Routes(world.grid, body.footing, goals | lower, costs=costs, most=6000.0, around=NEAR + 8, dark=DARK)
        if routes.goal is None:
            if world.ticks % 7 == 0:
                yield from body.wait(1)
            failed.clear()
            return False
        goal = routes.goal
        if not (yield from body.follow([body.footing, *routes.way()])):
            yield from body.walk(body.footing, tries=1)
            failed |= {goal, (goal[0], goal[1] + 1, goal[2])} if body.rng.random() < 0.4 else set()
            continue
        above = (goal[0], goal[1] + 1, goal[2])
        if world.grid.get(*above) == state_of(block):
            yield from body.mine(above)
        for _ in range(14):
            if body.count(item) > before:
                break
            yield Action()
        if body.count(item) == before:
            yield from pick_up(body, 3.5)
            failed |= {goal, above}
    return body.count(item) >= number


def _around(body: Body, block: str, reach: int) -> np.ndarray:
    """Return x, z, y of all blocks of a kind at most `reach` columns away along each axis: int64, shape (N, 3)."""
    me = body.world.player
    x, z = (max(0, math.floor(at) - reach) for at in (me.x, me.z))
    near = body.world.grid.blocks[x : math.floor(me.x) + reach + 1, z : math.floor(me.z) + reach + 1]
    return np.argwhere(near == state_of(block)) + np.array((x, z, 0))


def _beside_cave(world: World, cells: np.ndarray) -> np.ndarray:
    """Whether each cell (x, z, y) is next to an open dark place, where monsters are: bool for each cell."""
    blocks, light = world.grid.blocks, world.grid.light
    found = np.zeros(len(cells), np.bool_)
    for way in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)):
        there = tuple(np.clip(cells + way, 0, np.array(blocks.shape) - 1).T)
        found |= PASSABLE[blocks[there]] & (light[there] < 80)
    return found


# Things one puts down.


def _at_table(body: Body):  # type: ignore[no-untyped-def]
    """Return the place of a crafting table in reach; set down a new table if needed."""
    place = yield from set_down(body, "crafting_table", dug=_DUG)
    if place is None and not body.count("crafting_table"):
        if not (yield from _planks(body, 4)):
            yield from _wood(body, 3)
            yield from _planks(body, 4)
        yield from craft(body, "crafting_table", 1)
        place = yield from set_down(body, "crafting_table", dug=_DUG)
    return place


# Danger.


def _fight(body: Body) -> Acts:
    """Hit hostile mobs that come close, with a sword if the player has one; step back from creepers meanwhile."""
    world, me = body.world, body.world.player
    if world.screen is not None:
        return True
    for _ in range(80):
        rows = world.entities[(world.entities["kind"] >= NUM_THINGS) & (world.entities["health"] > 0)]
        near = []
        for row in rows:
            reach = _HOSTILE.get(KINDS[row["kind"]], 0.0)
            x, y, z = float(row["x"]), float(row["y"]) + 1.2, float(row["z"])
            far = math.dist((x, y, z), (me.x, me.eye_y, me.z))
            if far < reach and body.sees(x, y, z):
                near.append((far, x, y, z, KINDS[row["kind"]] == "creeper"))
        if not near or me.dead:
            return True
        far, x, y, z, bursts = min(near)
        sword = body.slot("stone_sword")
        if sword is not None and sword < 9 and me.hotbar != sword:
            yield Action(hotbar=sword + 1)
            continue
        yaw, pitch = body.angles(x, y - 0.2, z)
        ready = me.since_swing >= 12 and far < 3.6
        yield body.turn(
            yaw,
            pitch,
            attack=ready,
            forward=far > 2.9 and not bursts,
            back=far < 2.2 or bursts,
            jump=far > 2.6 and me.hit_wall,
            sprint=far > 4,
        )
    return True
