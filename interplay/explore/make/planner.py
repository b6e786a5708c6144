"""Make instances without a model: a chain of tasks becomes a scene with a station for each task; the goal names the last task.

`chains` proves from the tables that no hop can be skipped; here the oracle also solves each instance and examines its hops.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from blockworld import VERSION
from interplay.explore import checking, rules
from interplay.explore.instance import CAPABILITIES, Instance, parse
from interplay.explore.make.chains import LAST, PlanError, Way, carried_at_start, draw, times, words
from interplay.explore.oracle.hops import Hops, examine, leaked
from interplay.explore.oracle.proving import Verdict, packed, prove
from interplay.explore.rules import FRAME
from interplay.files import write_json

CLEAR = ("/kill @e[type=!player]", "/kill @e[type=item]")
"""First commands of a scene: remove animals and drops of the land, which could give things of a chain."""
_PLACES = 9
_NEAR, _FAR = 8, 12
"""Least and largest distance of stations in blocks; random players do not walk so far."""
_TRIES = 40
"""Number of tries for each instance of a set; after that many failures the instance is left out."""


def instance_of(chain: Sequence[Way], name: str, rng: np.random.Generator) -> Instance:
    commands, of_task = [*CLEAR], dict[str, dict[str, Any]]()
    turn = rng.permutation(_PLACES)
    opening: tuple[int, int] | None = None
    for place, (way, often) in enumerate(zip(chain, times(chain), strict=True)):
        angle = 2 * math.pi * (int(turn[place]) + float(rng.uniform(-0.15, 0.15))) / _PLACES
        far = float(rng.uniform(_NEAR, _FAR))
        at = round(far * math.sin(angle)), round(far * math.cos(angle))
        if way.verb == "break":
            opening = at
        if way.verb == "open":
            assert opening is not None
            at = opening
        commands += _station(way, often, at)
        of_task[way.task] = _rule(way, at)
    commands += [f"/give @p minecraft:{item} {number}" for item, number in carried_at_start(chain).items()]
    tasks = list(of_task)
    document = {
        "schema": 1,
        "name": name,
        "selected_tasks": tasks,
        "reasoning_graph": {
            "nodes": tasks,
            "edges": [{"from": first.task, "to": then.task, "reason": _reason(first, then)} for first, then in pairwise(chain)],
        },
        "milestones": [
            {
                "task": way.task,
                "milestone_id": way.task.replace(" ", "_"),
                "description": _description(way),
                "rules": [of_task[way.task]],
            }
            for way in chain
        ],
        "task_text": f"Get {phrase(chain[-1].gives)}.",
        "atomic_tasks_ordered": tasks,
        "commands": commands,
        "scene_name": f"stations_{'_'.join(way.verb for way in chain)}",
        "scene_description": f"{len(chain)} stations round the player, each for one task, on flat land.",
        "capabilities": [one for one in CAPABILITIES if any(one in words()["can"][way.verb] for way in chain)],
        "source": {"made_by": "interplay explore make --mode planner", "hops": len(chain)},
    }
    return parse(document, source=name)


def _station(way: Way, often: int, at: tuple[int, int]) -> list[str]:
    x, z = at
    if way.verb == "mine":
        return [f"/fill ~{x} ~0 ~{z} ~{x} ~{often - 1} ~{z} minecraft:{way.what}"]
    if way.verb == "hunt":
        tag = "{NoAI:1b,Silent:1b,PersistenceRequired:1b}"
        return [f"/summon minecraft:{way.what} ~{x + 2 * number} ~0 ~{z} {tag}" for number in range(often)]
    if way.verb == "break":  # the plug is on the side of the player
        dx, dz = (-int(math.copysign(1, x)), 0) if abs(x) >= abs(z) else (0, -int(math.copysign(1, z)))
        return [
            f"/fill ~{x - 1} ~0 ~{z - 1} ~{x + 1} ~2 ~{z + 1} minecraft:bedrock",
            f"/setblock ~{x + dx} ~1 ~{z + dz} minecraft:{way.what}",
        ]
    if way.what == "barrel":
        up = 1 if way.verb == "open" else 0
        place = f"~{x} ~{up} ~{z}"
        return [
            f"/setblock {place} minecraft:barrel[facing=up]",
            f"/replaceitem block {place} container.13 minecraft:{way.gives} {often * way.many}",
        ]
    if way.verb in ("sell", "buy"):
        buy = f'{{id:"minecraft:{way.needs}",Count:{way.number}b}}'
        sell = f'{{id:"minecraft:{way.gives}",Count:{way.many}b}}'
        data = f"VillagerData:{{profession:{way.what},level:5,type:plains}}"
        offers = f"Offers:{{Recipes:[{{buy:{buy},sell:{sell},maxUses:99}}]}}"
        tag = f"{{NoAI:1b,Silent:1b,PersistenceRequired:1b,{data},{offers}}}"
        return [f"/summon minecraft:villager ~{x} ~0 ~{z} {tag}"]
    return [f"/setblock ~{x} ~0 ~{z} minecraft:{way.what}"] if way.what else []


def _rule(way: Way, at: tuple[int, int]) -> dict[str, Any]:
    """Return the rule that says when a way's task is done: the player carries one of the item, or the plug is gone."""
    if way.verb != "break":
        return {"type": "inventory_has", "params": {"item": way.gives, "min_count": 1}}
    x, z = at
    box = {"min": [x - 1, 0, z - 1], "max": [x + 1, 2, z + 1], "coordinate_frame": FRAME}
    return {"type": "count_in_box_at_most", "params": {"kind": "block", "object": way.what, **box, "max_count": 0}}


def _description(way: Way) -> str:
    if way.verb == "break":
        return f"The {way.what} before the barrel is gone: nothing else lets anybody reach into the bedrock."
    return f"One {way.gives} is carried: the player begins with none, and it comes from this task alone."


def _reason(first: Way, then: Way) -> str:
    """Say in 15 to 25 words why the task `then` needs the task `first`."""
    if then.verb == "open":
        return f"The barrel with the {then.gives} is closed in by bedrock and nobody reaches it before the {first.what} is gone"
    if then.verb in ("mine", "break"):
        without = "leaves nothing" if then.verb == "mine" else "stays where it is"
        given = f"which the player gets by {first.task!r} and by nothing else in the scene"
        return f"The {then.what} {without} without the {then.needs} {given}"
    uses = {
        "craft": f"The recipe of {then.gives} takes {then.number} {then.needs}",
        "smelt": f"The furnace makes {then.gives} out of {then.needs} alone",
        "sell": f"The {then.what} gives an emerald for {then.needs} alone",
        "buy": f"The {then.what} sells the {then.gives} for an emerald alone",
    }
    return f"{uses[then.verb]} and the player has none of it before {first.task!r} is done"


def phrase(item: str) -> str:
    """Write an item in words, with its article.

    >>> phrase("oak_boat"), phrase("iron_axe"), phrase("bread"), phrase("cooked_beef"), phrase("iron_boots")
    ('an oak boat', 'an iron axe', 'some bread', 'some cooked beef', 'some iron boots')
    """
    said = item.replace("_", " ")
    last = said.split()[-1]
    is_many = last.endswith("s") and not last.endswith("ss") and last != "compass"
    if last in words()["mass"] or is_many:
        return f"some {said}"
    return f"{'an' if said[0] in 'aeiou' else 'a'} {said}"


# Making


def make(
    hops: int, name: str, rng: np.random.Generator, *, last: str | None = None, avoid: Iterable[Instance] = ()
) -> Instance | None:
    """Draw a chain and make an instance with its proof; return `None` if the instance does not hold (see below).

    An instance holds if its document and scene have no mistakes, its goal names no earlier task, the oracle solves it and finds
    every hop enforced, and neither an idle player nor 20 random players reach a milestone. Its tasks must differ from those of
    each instance in `avoid`, and its goal from that of each with equally many hops. Raises a `PlanError` if there is no chain.
    """
    instance = instance_of(draw(hops, rng, last), name, rng)
    if any(_is_like(instance, other) for other in avoid) or leaked(instance)[0] or checking.check(instance).findings:
        return None
    verdict = prove(instance)
    if not verdict.solved:
        return None
    found = examine(instance)
    return replace(instance, proofs=(proof_of(instance, verdict, found),)) if holds(instance, found) else None


def names(hops: Sequence[int], count: int, seed: int) -> dict[str, int]:
    """Name `count` instances for each number of hops; return name -> hops. The names do not reveal the number of hops."""
    order = np.random.default_rng(seed).permutation(len(hops) * count)
    return {f"p{number:03}": hops[int(place) % len(hops)] for number, place in enumerate(order, 1)}


def make_set(numbers: Mapping[str, int], seed: int, *, made: Iterable[Instance] = ()) -> Iterator[Instance]:
    """Make the instances of `numbers` (name -> hops) from a seed and yield each when it is ready; skip those in `made`."""
    there = {one.name: one for one in made}
    turns = dict.fromkeys(numbers.values(), 0)
    for name, hops in numbers.items():
        verbs = LAST[min(hops, 2)]
        last, turns[hops] = verbs[turns[hops] % len(verbs)], turns[hops] + 1
        for attempt in range(_TRIES) if name not in there else ():
            rng = np.random.default_rng([seed, hops, turns[hops], attempt])
            try:
                one = make(hops, name, rng, last=last, avoid=there.values())
            except PlanError:
                one = None
            if one is not None:
                there[name] = one
                yield one
                break
            if attempt >= _TRIES // 4:
                last = None  # what gives nothing new, such as the few animals, gives way to the others


def proof_of(instance: Instance, verdict: Verdict, found: Hops) -> dict[str, Any]:
    """Return the proof that an instance carries: the oracle's actions, the milestones, and the findings about the hops."""
    return {
        "instance": instance.name,
        "content_hash": instance.content_hash,
        "task_hash": instance.task().content_hash,
        "ticks": verdict.ticks,
        "milestones": {one.milestone: one.tick for one in verdict.milestones},
        "semantics": rules.VERSION,
        "world": VERSION,
        "hops": found.to_json(),
        "actions": packed(verdict.actions),
    }


def _is_like(one: Instance, other: Instance) -> bool:
    same_goal = one.task_text == other.task_text and one.num_hops == other.num_hops
    return same_goal or set(one.nodes) == set(other.nodes)


def holds(instance: Instance, found: Hops) -> bool:
    """Whether every hop is enforced, idle or random play reaches no milestone, and the goal names no earlier task."""
    reached = found.reached_at_start or found.reached_by_noop or found.reached_by_random
    return found.depth == instance.num_hops and not reached and not found.named


def write(path: Path, instance: Instance) -> None:
    write_json(path, instance.to_json())
