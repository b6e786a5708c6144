"""What a model reads: the instructions and the goal. Nothing here knows a milestone or a coordinate."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Any

from interplay.explore.evaluation.settings import PROMPTS, Settings
from interplay.explore.instance import Instance


@cache
def texts() -> dict[str, Any]:
    """The texts of the file."""
    return tomllib.loads(PROMPTS.read_text(encoding="utf-8"))


def instructions(instance: Instance, settings: Settings) -> str:
    """What a model is told before the first frame."""
    return (
        texts()[settings.protocol]["instructions"]
        .format(
            keys=texts()["keys"].strip() + "\n",
            goal=goal(instance, settings.goal),
            memory_words=settings.memory_words,
            most_ticks=settings.most_ticks,
            macro_ticks=settings.macro_ticks,
        )
        .strip()
    )


def goal(instance: Instance, mode: str) -> str:
    """What there is to do: the text as written, or `hidden`, only the tasks that no other task needs.

    >>> from interplay.explore.instance import parse
    >>> graph = {"nodes": ["mine log", "craft_oak_planks"], "edges": [{"from": "mine log", "to": "craft_oak_planks"}]}
    >>> tasks = {"selected_tasks": graph["nodes"], "atomic_tasks_ordered": graph["nodes"], "commands": [], "milestones": []}
    >>> made = parse({"schema": 1, "name": "a", "task_text": "Mine a log, then craft.", "reasoning_graph": graph} | tasks)
    >>> goal(made, "hidden")
    'Craft oak planks.'
    """
    if mode == "written":
        return " ".join(instance.task_text.split())
    needed = {edge.first for edge in instance.edges}
    last = [name for name in instance.atomic_tasks_ordered if name not in needed]
    plain = [name.replace("_", " ").strip().rstrip(".") for name in last]
    return " ".join(f"{name[:1].upper()}{name[1:]}." for name in plain)


def frame_line(place: int, count: int, step: int, thought: str, action: str) -> str:
    """The line above a frame; what was thought and done there is empty at the last one."""
    now = f"You thought: {thought or '(nothing)'}\nYou did: {action}" if action else "This is now. Choose the next action."
    return f"Frame {place} of {count}, tick {step}. {now}"


def memory_line(memory: str) -> str:
    """What the model noted."""
    return f"Your memory: {memory or '(empty)'}"


def again_line(why: str) -> str:
    """After a reply that could not be used."""
    return f"Your last reply could not be used: {why}. Reply again, with one JSON object."
