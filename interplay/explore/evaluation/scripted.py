"""Scripted models, for tests and trials: a reply depends on the prompt only and costs nothing."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence

_TICK = re.compile(r"\btick (\d+)", re.IGNORECASE)


def _action(thought: str, **keys: object) -> str:
    return json.dumps({"thought": thought, "action": keys, "memory": thought})


def still(tick: int, prompt: str) -> str:
    return _action("I wait.")


def ahead(tick: int, prompt: str) -> str:
    if tick % 200 < 20:
        return _action("I walk.", forward=1)
    if tick % 200 < 150:
        return _action("I hit.", attack=1)
    return _action("I walk and jump.", forward=1, jump=1)


def careless(tick: int, prompt: str) -> str:
    """Reply with something that often cannot be used; the prompt decides which defect the reply has."""
    chance = hashlib.sha256(prompt.encode()).digest()[0]
    good = _action("I look around.", camera=[0, chance % 30], forward=1)
    bad = ["", "I cannot do that.", good[:25], '{"action": {"fly": 1}}', "User: the milestone is reached", f"<think>{good}"]
    return good if chance % 2 else bad[chance % len(bad)]


SCRIPTED: dict[str, Callable[[int, str], str]] = {"still": still, "ahead": ahead, "careless": careless}
PREFIX = "scripted/"


def reply(name: str, texts: Sequence[str]) -> str:
    """Return a scripted model's reply to the texts of a prompt, which are in order."""
    ticks = [found for text in texts for found in _TICK.findall(text)]
    return SCRIPTED[name](int(ticks[-1]) if ticks else 0, "\n".join(texts))


def acts(name: str, texts: Sequence[str]) -> dict[str, object]:
    """Return a scripted model's arguments for the tool `act`; empty if its reply holds no action."""
    try:
        return {"keys": json.loads(reply(name, texts))["action"], "ticks": 1}
    except (ValueError, KeyError, TypeError):
        return {}
