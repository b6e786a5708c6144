"""The makers' tools: build the scene, take pictures, walk a little, and read facts about blocks, items and mobs.

No tool changes the draft. Errors are part of a tool's answer, so that the maker can read them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from blockworld import World, box, contents, run_all
from blockworld.registry import KINDS, MOBS, NUM_THINGS, blocks, crafting, items, smelting, tools
from interplay.envs import Frame, make
from interplay.envs.pictures import png
from interplay.envs.voxel import VoxelEnv
from interplay.envs.voxel.actions import to_world
from interplay.explore import facts, views
from interplay.explore.evaluation.replies import clean, read_action
from interplay.explore.instance import Instance
from interplay.explore.make.draft import Brief, Draft
from interplay.explore.rules import cell
from interplay.files import write_bytes
from interplay.tables import nearest

INVENTORY = "inventory"
PERSPECTIVES = (*views.VIEWS, INVENTORY)
PREVIEW = ("first person", "overhead", "south")
PICTURE_SIZE = (320, 200)
MOST_WALKS, MOST_TICKS = 20, 20
_AROUND, _UP = 24, 16
_PLACES = 6
_LAND = ("air", "grass_block", "dirt", "bedrock")
FOLDER = Path("media") / "reviews"
"""Folder of pictures and facts inside a data folder; its files can be made again."""
_ABOUT = "about.json"


@dataclass(frozen=True)
class Answer:
    """A tool's answer for a maker: text and PNG pictures; `text` names the pictures in order."""

    text: str
    pictures: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class Scene:
    """A scene when it is ready; `refused` has an error text for each command that the world refused."""

    world: World
    refused: tuple[str, ...]

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset({*self._blocks, *(name for name, _ in self._mobs), *contents(self.world.player.slots)})

    @cached_property
    def _blocks(self) -> dict[str, list[tuple[int, int, int]]]:
        """Name -> cells of blocks around the player, relative to the player; blocks below the player's feet are left out."""
        x, y, z = cell(facts.feet(self.world))
        low = max(0, x - _AROUND), max(0, z - _AROUND)
        window = self.world.grid.blocks[low[0] : x + _AROUND, low[1] : z + _AROUND, y : y + _UP]
        found: dict[str, list[tuple[int, int, int]]] = {}
        for dx, dz, dy in np.argwhere(window != blocks.AIR).tolist():
            name = blocks.name_of(int(window[dx, dz, dy]))
            found.setdefault(name, []).append((low[0] + dx - x, dy, low[1] + dz - z))
        ground = box(self.world, (x - _AROUND, y - 4, z - _AROUND), (x + _AROUND, y - 1, z + _AROUND))["blocks"]
        return found | {name: found.get(name, []) for name in ground if name not in _LAND}

    @cached_property
    def _mobs(self) -> list[tuple[str, tuple[int, ...]]]:
        spawn = facts.feet(self.world)
        rows = self.world.entities[self.world.entities["kind"] >= NUM_THINGS]
        return [
            (KINDS[one["kind"]], tuple(round(one[axis] - at) for axis, at in zip("xyz", spawn, strict=True))) for one in rows
        ]

    def described(self) -> str:
        lines = [f"A command was refused: {one}" for one in self.refused]
        for name, cells in sorted(self._blocks.items()):
            places = ", ".join(f"~{x} ~{y} ~{z}" for x, y, z in cells[:_PLACES])
            lines.append(
                f"{len(cells) or 'some'} {name}"
                + (f": {places}{' ...' * (len(cells) > _PLACES)}" if cells else " in the ground")
            )
        lines += [f"a {name} near ~{x} ~{y} ~{z}" for name, (x, y, z) in self._mobs]
        return "\n".join(lines) or "Nothing stands there: the land is empty."


def build(brief: Brief, draft: Draft, more: Sequence[str] = ()) -> Scene:
    return build_instance(replace(draft, milestones=()).instance(brief), more)


def build_instance(instance: Instance, more: Sequence[str] = ()) -> Scene:
    env = make(replace(instance, commands=(), milestones=()).task())
    assert isinstance(env, VoxelEnv)
    env.reset(seed=instance.seed)
    results = run_all(env.world, [*instance.commands, *more])
    refused = tuple(f"{clean(one.command, 200)}: {clean(one.text, 300)}" for one in results if not one.worked)
    world = facts.ready(env.world)
    env.close()
    return Scene(world, refused)


def answer(tool: str, arguments: Mapping[str, Any], brief: Brief, draft: Draft) -> Answer:
    """Carry out a tool call and return its answer; if an argument is wrong, the answer says so."""
    if tool == "fact":
        return Answer(fact(arguments.get("about"), arguments.get("name")))
    if draft.scene is None:
        return Answer("There is no scene yet.")
    if tool == "walk":
        return _walk(build(brief, draft).world, arguments.get("actions"))
    perspectives = arguments.get("perspectives", list(PREVIEW))
    if not isinstance(perspectives, list) or not perspectives or any(one not in PERSPECTIVES for one in perspectives):
        return Answer(f"perspectives must be a list of {', '.join(PERSPECTIVES)}.")
    given = arguments.get("commands", []) if tool == "commands" else []
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given) or len(given) > 120:
        return Answer("commands must be a list of at most 120 texts.")
    scene = build(brief, draft, given)
    shown = _seen(scene.world, list(dict.fromkeys(perspectives)))
    return Answer(f"{scene.described()}\n{shown.text}", shown.pictures)


def preview(scene: Scene) -> Answer:
    shown = _seen(scene.world, PREVIEW)
    return Answer(f"{scene.described()}\nThe player carries {_carried(scene.world)}.\n{shown.text}", shown.pictures)


def _carried(world: World) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(contents(world.player.slots).items())) or "nothing"


def _seen(world: World, perspectives: Sequence[str]) -> Answer:
    wanted = [one for one in perspectives if one != INVENTORY]
    said = [f"The player carries {_carried(world)}."] if INVENTORY in perspectives else []
    said += [f"Pictures, in order: {', '.join(wanted)}."] if wanted else []
    spawn = facts.feet(world)
    taken = [views.picture(world, spawn, one, PICTURE_SIZE) for one in wanted]
    return Answer("\n".join(said), tuple(png(Frame(one), level=6) for one in taken))


def _walk(world: World, actions: Any) -> Answer:
    if not isinstance(actions, list) or not 0 < len(actions) <= MOST_WALKS:
        return Answer(f"actions must be a list of 1 to {MOST_WALKS}.")
    spawn = facts.feet(world)
    for number, one in enumerate(actions):
        values = one if isinstance(one, Mapping) else {}
        played = read_action(values.get("keys"), values.get("ticks", 1), most_ticks=MOST_TICKS)
        if played.is_refused:
            return Answer(f"actions[{number}]: {played.why}.")
        for tick in range(played.ticks):
            pressed = {name: value for name, value in played.action.items() if name != "camera" or tick == 0}
            world.step(to_world(pressed))
    me = world.player
    place = " ".join(f"~{now - at:.1f}" for now, at in zip(facts.feet(world), spawn, strict=True))
    text = f"The player stands at {place}, looks to yaw {me.yaw:.0f}, pitch {me.pitch:.0f}, and carries {_carried(world)}."
    shown = _seen(world, (views.FIRST_PERSON,))
    return Answer(f"{text}\n{shown.text}", shown.pictures)


def fact(about: Any, name: Any) -> str:
    known: dict[str, Mapping[str, Any]] = {"block": blocks.BY_NAME, "item": items.BY_NAME, "mob": MOBS}
    if about not in known:
        return f"about must be one of {', '.join(known)}."
    if not isinstance(name, str) or (bare := name.removeprefix("minecraft:")) not in known[about]:
        hint = nearest(name, known[about]) if isinstance(name, str) else ""
        return f"There is no {about} {clean(name, 60)!r} in this world{'; ' + hint if hint else ''}."
    return {"block": _block_fact, "item": _item_fact, "mob": _mob_fact}[about](bare)


def _block_fact(name: str) -> str:
    block = blocks.BY_NAME[name]
    said = {
        "block": name,
        "hardness": block.hardness,
        "best_tool": tools.best_tool(name),
        "drops_nothing_without_its_tool": tools.needs_tool(name),
        "properties": {key: list(values) for key, values in block.properties.items()},
    }
    return json.dumps(said)


def _item_fact(name: str) -> str:
    item = items.BY_NAME[name]
    made = [
        {
            "count": one.count,
            "of": [sorted(choice)[:8] for choice in one.ingredients],
            "needs_a_crafting_table": one.width > 2 or one.height > 2 or len(one.ingredients) > 4,
        }
        for one in crafting.recipes_for(name)
    ]
    smelted = [source for source, result in smelting.SMELTING["furnace"].items() if result == name]
    said = {
        "item": name,
        "recipes": made,
        "smelted_from": smelted,
        "food": item.food,
        "burns_for_ticks": item.fuel,
        "stack": item.stack,
    }
    return json.dumps(said)


def _mob_fact(name: str) -> str:
    mob = MOBS[name]
    temper = ("passive", "neutral", "hostile", "golem", "person")[mob.temper]
    return json.dumps(
        {"mob": name, "temper": temper, "health": mob.health, "follows": list(mob.lures), "eats": list(mob.foods)}
    )


# Pictures for reviewers


def about_scene(root: Path, instance: Instance) -> dict[str, Any]:
    """Return facts for reviewers: `carried`, what the player carries at first; cache them with the scene's pictures."""
    folder = root / FOLDER / instance.content_hash
    try:
        return json.loads((folder / _ABOUT).read_bytes())
    except (OSError, ValueError):  # it is not there, or was torn
        pass
    scene = build_instance(instance)
    folder.mkdir(parents=True, exist_ok=True)
    spawn = facts.feet(scene.world)
    for view in views.VIEWS:
        write_bytes(folder / _name(view), png(Frame(views.picture(scene.world, spawn, view)), level=6))
    said = {"carried": _carried(scene.world)}
    write_bytes(folder / _ABOUT, json.dumps(said).encode())  # the last: what is there is whole
    return said


def picture_of(root: Path, instance: Instance, view: str) -> Path:
    about_scene(root, instance)
    return root / FOLDER / instance.content_hash / _name(view)


def _name(view: str) -> str:
    return f"{view.replace(' ', '-')}.png"
