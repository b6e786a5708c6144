"""Parse the replies of models: strict about the action, tolerant of the text around it. No text makes the parser fail.

Words, code fences and thoughts around the JSON object are ignored; the last object with an action counts. An action with an
unknown key or an invalid value is refused as a whole. A reply cannot claim a milestone: milestones are read from the world.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from interplay.envs.minerl_actions import CAMERA, KEYS

KINDS = {
    "action": "an action that can be played",
    "contradiction": "an action against itself, played as none: sneak or sprint without a direction, or two hotbar keys",
    "empty": "nothing, or thoughts alone",
    "refusal": "the model will not, or its server would not let it",
    "role_swapped": "the model goes on as the user, or invents frames",
    "too_long": "more text than anybody reads",
    "cut_json": "an object that ends in the middle",
    "no_json": "words without an object",
    "no_action": "an object without an action",
    "unknown_key": "a key that is not one",
    "bad_value": "a key that is neither 0 nor 1, a camera that is not a pair of finite degrees, or what else means nothing",
    "no_tool": "words without a call of a tool",
    "unknown_tool": "a tool that is not there",
    "parallel_call": "one more call of a tool in a reply of which the first was used",
}
"""Kind of reply -> its meaning in words. Replies of all kinds but the first two are refused."""
PLAYED = {"action", "contradiction"}
MOST_CHARS = 20_000
"""Most characters of a reply without its thoughts."""
MOST_KEPT = 200_000
"""Most characters that are stored of a reply with its thoughts."""
MOST_OBJECTS = 20
THOUGHT_CHARS, MEMORY_CHARS = 600, 2_000
MOST_PITCH, MOST_YAW = 90.0, 180.0
"""Largest turn in one action, in degrees; larger turns are cut."""
_MOVES = ("forward", "back", "left", "right")
_HOTBAR = tuple(key for key in KEYS if key.startswith("hotbar."))
_FENCE = re.compile(r"```(?:json|JSON)?\s*\n?(.*?)```", re.DOTALL)
_THOUGHTS = re.compile(r"<(think|thinking)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_END_OF_THOUGHTS = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_OWN_ROLE = re.compile(r"\A\W{0,3}assistant\W{0,3}:", re.IGNORECASE)
_ROLE = re.compile(r"^\W{0,4}(?:(?:user|human|system|assistant)\W{0,3}:|frame \d+ of \d+, tick)", re.IGNORECASE | re.MULTILINE)
_REFUSAL = re.compile(
    r"\b(?:I(?:'m| am)? (?:cannot|can't|unable|won't|will not|sorry|not able)|as an AI\b|cannot (?:help|assist))", re.IGNORECASE
)


@dataclass(frozen=True)
class Reply:
    """A parsed reply.

    Attributes:
        kind: One of `KINDS`.
        memory: The new memory; `None` if the old memory stays.
        why: Reason of a refusal, written for the model.
    """

    kind: str
    action: Mapping[str, Any] = field(default_factory=dict)
    thought: str = ""
    memory: str | None = None
    ticks: int = 1
    why: str = ""

    @property
    def is_refused(self) -> bool:
        return self.kind not in PLAYED


def read(text: Any, *, most_ticks: int = 1, memory_words: int = 200, withheld: bool = False) -> Reply:
    """Parse any reply of a model; `withheld`: the server says that it held the reply back."""
    said = objects(text, withheld=withheld)
    if isinstance(said, Reply):
        return said
    playable = next((value for value in said if "action" in value), None)
    if playable is None:
        return Reply("no_action", why='the object has no "action"')
    reply = read_action(playable["action"], playable.get("ticks", 1) if most_ticks > 1 else 1, most_ticks=most_ticks)
    if reply.is_refused:
        return reply
    memory, thought = playable.get("memory"), clean(playable.get("thought", ""), THOUGHT_CHARS)
    words = clean(" ".join(memory.split()[:memory_words]), MEMORY_CHARS) if isinstance(memory, str) else None
    return replace(reply, thought=thought, memory=words)


def objects(text: Any, *, withheld: bool = False) -> list[Mapping[str, Any]] | Reply:
    """Return a reply's JSON objects, or a refused `Reply` if it has none; objects in code fences and late ones come first."""
    if withheld:
        return Reply("refusal", why="it was withheld")
    said = _without_thoughts(text) if isinstance(text, str) else ""
    if not said:
        return Reply("empty", why="it is empty")
    if len(said) > MOST_CHARS:
        return Reply("too_long", why=f"it has more than {MOST_CHARS} characters")
    if _ROLE.search(said):
        return Reply("role_swapped", why="it speaks for somebody else; speak as the player alone")
    found = list(_objects(said))
    if found:
        return found
    if _REFUSAL.search(said):
        return Reply("refusal", why="it holds no action")
    if "{" in said:
        return Reply("cut_json", why="the JSON object is not whole")
    return Reply("no_json", why="it holds no JSON object")


def shortened(text: str) -> str:
    """Shorten a very long reply, so that parsing it still gives the same result."""
    if len(text) <= MOST_CHARS:
        return text
    said = _without_thoughts(text)
    if len(said) > MOST_CHARS:
        return said[:MOST_CHARS] + "…"
    return text if len(text) <= MOST_KEPT else said


def _without_thoughts(text: str) -> str:
    """Return a reply without the model's thoughts; the mark at their start or end may be missing."""
    said = _END_OF_THOUGHTS.sub(" ", _THOUGHTS.sub(" ", text)).strip()
    return _OWN_ROLE.sub("", said).strip()


def _objects(said: str) -> Iterator[Mapping[str, Any]]:
    fenced = [found.group(1) for found in _FENCE.finditer(said)]
    for part in [*reversed(fenced), said]:
        for span in list(_spans(part))[: -MOST_OBJECTS - 1 : -1]:
            try:
                value = json.loads(span)
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict):
                yield value


def _spans(text: str) -> Iterator[str]:
    """Yield each text between outermost braces, braces included; braces inside strings of an object do not count."""
    depth, start, quoted, escaped = 0, 0, False, False
    for place, char in enumerate(text):
        if quoted:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                quoted = False
        elif char == '"':
            quoted = depth > 0
        elif char == "{":
            start, depth = (place if depth == 0 else start), depth + 1
        elif char == "}" and depth:
            depth -= 1
            if depth == 0:
                yield text[start : place + 1]


def read_action(action: Any, ticks: Any = 1, *, most_ticks: int = 1) -> Reply:
    if not isinstance(action, Mapping):
        return Reply("no_action", why='"action" must be an object of keys')
    pressed: dict[str, Any] = {}
    for name, value in action.items():
        if name == CAMERA:
            turn = _turn(value)
            if turn is None:
                return Reply("bad_value", why="camera must be two finite numbers of degrees, [down, right]")
            pressed |= {CAMERA: turn} if any(turn) else {}
        elif name not in KEYS:
            return Reply("unknown_key", why=f"{clean(name, 40)!r} is not a key")
        elif (bit := _bit(value)) is None:
            return Reply("bad_value", why=f"{name} must be 0 or 1")
        elif bit:
            pressed[name] = 1
    if isinstance(ticks, bool) or not isinstance(ticks, int | float) or ticks not in range(1, most_ticks + 1):
        return Reply("bad_value", why=f"ticks must be a whole number from 1 to {most_ticks}")
    if sum(key in pressed for key in _HOTBAR) > 1 or (
        ("sneak" in pressed or "sprint" in pressed) and not any(move in pressed for move in _MOVES)
    ):
        return Reply("contradiction", {}, ticks=int(ticks), why=KINDS["contradiction"])
    return Reply("action", pressed, ticks=int(ticks))


def _bit(value: Any) -> int | None:
    """Read 0 or 1, also written as true, false, 1.0 or "1"; `None` for anything else."""
    if isinstance(value, str) and value.strip() in ("0", "1"):
        return int(value)
    return int(value) if isinstance(value, bool | int | float) and value in (0, 1) else None


def _turn(value: Any) -> tuple[float, float] | None:
    """Read pitch and yaw and limit them to one turn; `None` if the value is not two finite numbers."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        return None
    turn = []
    for degrees, most in zip(value, (MOST_PITCH, MOST_YAW), strict=True):
        if isinstance(degrees, bool) or not isinstance(degrees, int | float) or degrees != degrees:
            return None
        if isinstance(degrees, float) and math.isinf(degrees):
            return None
        turn.append(float(min(most, max(-most, degrees))))
    return turn[0], turn[1]


def clean(value: Any, most_chars: int) -> str:
    """Return a text that every file and database can store, at most `most_chars` long; empty if `value` is no text."""
    if not isinstance(value, str):
        return ""
    return value[:most_chars].replace("\0", " ").encode(errors="replace").decode()
