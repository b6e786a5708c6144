"""Settings of an evaluation, and the prompts made from them. Runs with different settings are in different tables."""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from interplay.errors import InterplayError, unknown_name
from interplay.explore.instance import Instance
from interplay.explore.rules import VERSION

PROTOCOLS = {
    "paper": "one call is one tick; the last 20 frames, a memory of 200 words, three attempts",
    "hold": "as paper, and an action lasts 1 to 20 ticks",
    "tools": "the model calls the tools act, look and inventory, in one conversation",
    "assisted": "as tools, and macros such as mine and craft are carried out as keys",
}
GOALS = {
    "written": "the text of the instance, as it is",
    "hidden": "the last tasks alone: what they need first is for the model to find out",
}
PROMPTS = Path(__file__).with_name("prompts.toml")


class SettingsError(InterplayError):
    """Raised when the settings cannot be used."""


@cache
def _prompts_hash() -> str:
    return hashlib.sha256(PROMPTS.read_bytes()).hexdigest()[:12]


@dataclass(frozen=True)
class Settings:
    """Everything that decides how a model is asked and judged.

    Attributes:
        max_steps: Most ticks of a run: 1,800 in the published evaluation, 300 in the program published with it.
        window: Number of frames in a prompt, or kept in the conversation.
        attempts: Number of unusable replies after which one tick passes without an action.
        macro_ticks: Longest duration of one macro, in ticks; 0 if there are no macros.
        picture_width: In pixels.
    Raises:
        NotFoundError: If the protocol or the goal is unknown.
        SettingsError: If there is fewer than 1 step.
    """

    protocol: str = "paper"
    max_steps: int = 1800
    goal: str = "written"
    window: int = 20
    memory_words: int = 200
    attempts: int = 3
    most_ticks: int = 1
    macro_ticks: int = 0
    picture_width: int = 320
    prompts: str = ""
    semantics: str = VERSION

    def __post_init__(self) -> None:
        if self.protocol not in PROTOCOLS:
            raise unknown_name("protocol", self.protocol, PROTOCOLS)
        if self.goal not in GOALS:
            raise unknown_name("goal", self.goal, GOALS)
        if self.max_steps < 1:
            raise SettingsError(f"a run has at least 1 step, got {self.max_steps}\nWrite 1800, as in the paper, or 300.")
        object.__setattr__(self, "most_ticks", 1 if self.protocol == "paper" else 20)
        object.__setattr__(self, "macro_ticks", 1000 if self.protocol == "assisted" else 0)
        object.__setattr__(self, "prompts", self.prompts or _prompts_hash())

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def label(self) -> str:
        parts = [self.protocol]
        parts += [str(self.max_steps)] if self.max_steps != 1800 else []
        parts += [self.goal] if self.goal != "written" else []
        return "-".join(parts)


@cache
def prompt_texts() -> dict[str, Any]:
    return tomllib.loads(PROMPTS.read_text(encoding="utf-8"))


def instructions(instance: Instance, settings: Settings) -> str:
    return (
        prompt_texts()[settings.protocol]["instructions"]
        .format(
            keys=prompt_texts()["keys"].strip() + "\n",
            goal=goal_text(instance, settings.goal),
            memory_words=settings.memory_words,
            most_ticks=settings.most_ticks,
            macro_ticks=settings.macro_ticks,
        )
        .strip()
    )


def goal_text(instance: Instance, mode: str) -> str:
    """Return the goal: the text as written, or, with `hidden`, only the tasks that no other task needs.

    >>> from interplay.explore.instance import parse
    >>> graph = {"nodes": ["mine log", "craft_oak_planks"], "edges": [{"from": "mine log", "to": "craft_oak_planks"}]}
    >>> tasks = {"selected_tasks": graph["nodes"], "atomic_tasks_ordered": graph["nodes"], "commands": [], "milestones": []}
    >>> made = parse({"schema": 1, "name": "a", "task_text": "Mine a log, then craft.", "reasoning_graph": graph} | tasks)
    >>> goal_text(made, "hidden")
    'Craft oak planks.'
    """
    if mode == "written":
        return " ".join(instance.task_text.split())
    needed = {edge.first for edge in instance.edges}
    last = [name for name in instance.atomic_tasks_ordered if name not in needed]
    plain = [name.replace("_", " ").strip().rstrip(".") for name in last]
    return " ".join(f"{name[:1].upper()}{name[1:]}." for name in plain)


def frame_line(place: int, count: int, step: int, thought: str, action: str) -> str:
    """Return the line above a frame of a prompt; thought and action are empty at the last frame."""
    now = f"You thought: {thought or '(nothing)'}\nYou did: {action}" if action else "This is now. Choose the next action."
    return f"Frame {place} of {count}, tick {step}. {now}"


def memory_line(memory: str) -> str:
    return f"Your memory: {memory or '(empty)'}"


def again_line(why: str) -> str:
    return f"Your last reply could not be used: {why}. Reply again, with one JSON object."
