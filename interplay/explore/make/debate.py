"""Make one instance: the makers take turns, the gate checks every revision, and the debate ends when all approve.

The caller passes the function that asks models, so scripted models work, too. Every prompt is made from the draft, the notes
and the gate's reasons. Only the values that a reply gives in the required form are used.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from interplay.explore.instance import Instance
from interplay.explore.make import sandbox
from interplay.explore.make.dialogue import (
    DEBATE,
    MOST_DEBATES,
    MOST_TRIES,
    OPENING,
    ROLES,
    SINGLE,
    SINGLE_AGAIN,
    ReplyError,
    Role,
    Said,
    ToolCall,
    Turn,
    read,
    texts,
)
from interplay.explore.make.draft import Brief, Draft, Ruling, rule

APPROVALS = {
    "inspect": ("expert",),
    "validate_graph": ("graph",),
    "validate_milestones": ("milestones",),
    "validate": ("graph", "milestones"),
}
"""Kind of turn -> approvals that its reply gives or refuses."""
LAST_NOTES = 24


@dataclass(frozen=True)
class Message:
    """One message of a prompt; `pictures` are PNG, after the text."""

    author: Literal["system", "user", "assistant"]
    text: str
    pictures: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class Reply:
    """Answer of a model; `withheld`: the server says that it held the text back."""

    text: str
    withheld: bool = False


Ask = Callable[[Role, Sequence[Message], str], Awaitable[Reply]]
"""Function that asks the model of a role; the last argument tells people the purpose of the call."""


@dataclass
class Made:
    """Result of making one instance; `instance` is set only if the gate and all critics approved it.

    Attributes:
        turns: One entry for each turn: its role, its kind, and the refused replies.
        first_reasons: Why the gate refused the first whole draft.
        replies: Kind of reply -> number; the kind `used` counts replies that were accepted.
    """

    name: str
    mode: str
    hops: int
    candidates: tuple[str, ...]
    source: Mapping[str, Any]
    instance: Instance | None = None
    ruling: Ruling | None = None
    reasons: tuple[str, ...] = ()
    turns: list[dict[str, Any]] = field(default_factory=list)
    rulings: int = 0
    first_reasons: tuple[str, ...] = ()
    debates: int = 0
    replies: dict[str, int] = field(default_factory=dict)
    tools: dict[str, int] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        return self.instance is not None

    def to_json(self) -> dict[str, Any]:
        plain = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in ("instance", "ruling")}
        return plain | {"passed": self.passed, "document": None if self.instance is None else self.instance.to_json()}


class _Making:
    def __init__(self, brief: Brief, mode: str, ask: Ask) -> None:
        self._brief, self._ask = brief, ask
        self.draft = Draft()
        self.ruling: Ruling | None = None
        self.notes: list[str] = []
        self.approvals: dict[str, str] = {}
        self.made = Made(brief.name, mode, brief.hops, brief.candidates, brief.source)
        self._replies, self._tools = Counter[str](), Counter[str]()

    @property
    def is_agreed(self) -> bool:
        """Whether the gate and all critics approved the draft as it is now."""
        wanted = {name for names in APPROVALS.values() for name in names}
        return self.is_proved and all(self.approvals.get(name) == self.draft.digest for name in wanted)

    @property
    def is_proved(self) -> bool:
        """Whether the gate approved the draft as it is now."""
        return self.ruling is not None and self.ruling.passed and self.ruling.digest == self.draft.digest

    async def take(self, turn: Turn) -> None:
        """Carry out one turn with its tool calls and repeated attempts; if the draft has changed, let the gate check it."""
        role, before = ROLES[turn.role], self.draft
        refused: list[str] = []
        said = await self._said(turn, role, refused)
        note = {"role": turn.role, "kind": turn.kind, "refused": refused, "used": said is not None}
        if said is not None:
            self.draft = said.draft
            self.notes += [f"{turn.role}: {one}" for one in said.notes]
            if said.approved is not None:
                note["approved"] = said.approved
                for name in APPROVALS.get(turn.kind, ()):
                    self.approvals[name] = self.draft.digest if said.approved else ""
        if self.draft.digest != before.digest:
            note["changed"] = True
            await self._pass_the_gate(note)
        self.made.turns.append(note)

    async def _pass_the_gate(self, note: dict[str, Any]) -> None:
        if not self.draft.is_whole:
            self.ruling = None
            return
        self.ruling = await asyncio.to_thread(rule, self._brief, self.draft)
        self.made.rulings += 1
        if self.made.rulings == 1:
            self.made.first_reasons = self.ruling.reasons
        note["gate"] = list(self.ruling.reasons)

    async def _said(self, turn: Turn, role: Role, refused: list[str]) -> Said | None:
        """Ask until a turn has a usable reply, and return it; `None` if no attempt gives a usable reply."""
        scene = None
        if turn.kind == "report":
            if self.draft.scene is None:
                return None
            scene = await asyncio.to_thread(sandbox.build, self._brief, self.draft)
        messages = self._prompt(turn, role, scene)
        calls = 0
        while len(refused) < MOST_TRIES:
            about = f"{self._brief.name} {turn.role} {turn.kind}"
            reply = await self._ask(role, messages, about)
            try:
                there = scene.names if scene is not None else ()
                found = read(turn, role, reply.text, self.draft, there=there, withheld=reply.withheld)
                if isinstance(found, ToolCall) and calls == role.most_calls:
                    raise ReplyError("unknown_tool", "no more tools can be called in this turn")
            except ReplyError as error:
                refused.append(f"{error.kind}: {error}")
                self._replies[error.kind] += 1
                again = texts()["shared"]["again"].format(why=str(error))
                messages = [*messages, Message("assistant", reply.text[:2000] or "(nothing)"), Message("user", again)]
                continue
            if isinstance(found, Said):
                self._replies["used"] += 1
                return found
            calls += 1
            self._tools[found.tool] += 1
            came = await asyncio.to_thread(sandbox.answer, found.tool, found.arguments, self._brief, self.draft)
            text = f"{texts()['shared']['tool_result'].format(tool=found.tool)}\n{came.text}"
            text += f"\n{texts()['shared']['no_more_tools']}" if calls == role.most_calls else ""
            messages = [*messages, Message("assistant", reply.text[:2000]), Message("user", text, came.pictures)]
        return None

    def _prompt(self, turn: Turn, role: Role, scene: sandbox.Scene | None) -> list[Message]:
        said, shared = texts(), texts()["shared"]
        duty = said[role.name]["duty"].strip()
        parts = [f"BRIEF {json.dumps(self._brief.to_json())}"]
        if self.draft.tasks:
            parts.append(f"DRAFT {json.dumps(self.draft.to_json())}")
        if self.notes:
            parts.append("What was said, the latest last:\n" + "\n".join(self.notes[-LAST_NOTES:]))
        parts.append(self._gate_says())
        shown = sandbox.preview(scene) if scene is not None else None
        if shown is not None:
            parts.append(f"{shared['preview']}\n{shown.text}")
        own = said["turns"][turn.kind]
        parts.append(f"TURN {turn.role} {turn.kind}\n{own['say']}")
        if role.tools:
            parts.append(
                shared["tools"].format(most_calls=role.most_calls) + "\n" + "\n".join(said["tools"][one] for one in role.tools)
            )
        parts.append(f"{shared['reply']}\n{own['form']}")
        pictures = () if shown is None else shown.pictures
        return [Message("system", f"{shared['world'].strip()}\n\n{duty}"), Message("user", "\n\n".join(parts), pictures)]

    def _gate_says(self) -> str:
        shared = texts()["shared"]
        if self.ruling is None or self.ruling.digest != self.draft.digest:
            return shared["unproved"]
        if self.ruling.passed and self.ruling.verdict is not None:
            return shared["passed"].format(ticks=self.ruling.verdict.ticks)
        return "\n".join([shared["refused"], *self.ruling.reasons])

    def end(self, *, agreed: bool) -> Made:
        made = self.made
        made.replies, made.tools = dict(self._replies), dict(self._tools)
        if agreed and self.is_proved:
            made.instance, made.ruling = self.draft.instance(self._brief), self.ruling
        elif self.ruling is not None and not self.ruling.passed:
            made.reasons = self.ruling.reasons
        elif self.ruling is None:
            missing = [name for name in ("tasks", "scene", "milestones") if not getattr(self.draft, name)]
            made.reasons = (f"no usable {' and no usable '.join(missing)} came of the turns",)
        else:
            against = [name for name in ("expert", "graph", "milestones") if self.approvals.get(name) != self.draft.digest]
            made.reasons = (f"not approved: {', '.join(against)}", *self.notes[-3:])
        return made


async def multi(brief: Brief, ask: Ask, report: Callable[[str], None] = lambda turn: None) -> Made:
    """Make an instance with several makers: five opening turns, then up to two debates of nine turns, until all approve."""
    making = _Making(brief, "multi", ask)
    for turn in OPENING:
        await making.take(turn)
        report(turn.kind)
    for _ in range(MOST_DEBATES):
        making.made.debates += 1
        for turn in DEBATE:
            await making.take(turn)
            report(turn.kind)
            if making.is_agreed:
                return making.end(agreed=True)
    return making.end(agreed=False)


async def single(brief: Brief, ask: Ask, report: Callable[[str], None] = lambda turn: None) -> Made:
    """Make an instance with one maker; if the gate refuses it, show the reasons and ask again, at most `MOST_DEBATES` times."""
    making = _Making(brief, "single", ask)
    for turn in (SINGLE, *(SINGLE_AGAIN for _ in range(MOST_DEBATES))):
        await making.take(turn)
        report(turn.kind)
        if making.is_proved:
            break
    return making.end(agreed=making.is_proved)
