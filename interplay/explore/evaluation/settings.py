"""How a model is asked: a protocol and its numbers. Runs with different settings never stand in one table."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from interplay.errors import InterplayError, unknown_name
from interplay.explore.rules import VERSION

PROTOCOLS = {
    "paper": "one call is one tick; the last 20 frames, a memory of 200 words, three attempts",
    "hold": "as paper, and an action lasts 1 to 20 ticks",
    "tools": "the model calls the tools act, look and inventory, in one conversation",
    "assisted": "as tools, and macros such as mine and craft are carried out as keys",
}
"""Name -> one line."""
GOALS = {
    "written": "the text of the instance, as it is",
    "hidden": "the last tasks alone: what they need first is for the model to find out",
}
"""What the model is told -> one line."""
PROMPTS = Path(__file__).with_name("prompts.toml")


class SettingsError(InterplayError):
    """Settings that cannot be used."""


@cache
def _prompts_hash() -> str:
    return hashlib.sha256(PROMPTS.read_bytes()).hexdigest()[:12]


@dataclass(frozen=True)
class Settings:
    """All that decides how a model is asked and judged.

    Attributes:
        protocol: One of `PROTOCOLS`.
        max_steps: Ticks of a run at most; the published evaluation has 1,800, its program 300.
        goal: One of `GOALS`.
        window: Frames that are shown, or kept in the conversation.
        memory_words: Of the memory that a model rewrites.
        attempts: Replies asked for until a tick passes without an action.
        most_ticks: For how many ticks one action may last.
        macro_ticks: For how many ticks one macro may last; 0 where there are none.
        picture_width: Pixels of the pictures that a model sees.
        prompts: Hash of the texts.
        semantics: Of the rules.
    Raises:
        NotFoundError: For an unknown protocol or goal.
        SettingsError: For fewer than 1 step.
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
            raise SettingsError(f"a run has at least 1 step, got {self.max_steps}\nWrite 1800, as the paper, or 300.")
        object.__setattr__(self, "most_ticks", 1 if self.protocol == "paper" else 20)
        object.__setattr__(self, "macro_ticks", 1000 if self.protocol == "assisted" else 0)
        object.__setattr__(self, "prompts", self.prompts or _prompts_hash())

    def to_json(self) -> dict[str, Any]:
        """All of them."""
        return asdict(self)

    @property
    def label(self) -> str:
        """Short, for names: `paper`, `hold-300`, `paper-hidden`."""
        parts = [self.protocol]
        parts += [str(self.max_steps)] if self.max_steps != 1800 else []
        parts += [self.goal] if self.goal != "written" else []
        return "-".join(parts)
