"""Let a model play a run, under any of the protocols."""

from __future__ import annotations

import base64
import json
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentText,
    ModelOutput,
)
from inspect_ai.tool import ToolCall, ToolInfo, ToolParam, ToolParams

from interplay.errors import InterplayError
from interplay.explore.evaluation import macros
from interplay.explore.evaluation.calls import Calls, frame_hash
from interplay.explore.evaluation.game import Game
from interplay.explore.evaluation.macros import ARGUMENTS, MACROS
from interplay.explore.evaluation.replies import PLAYED, Reply, clean, read, read_action
from interplay.explore.evaluation.settings import Settings, again_line, frame_line, memory_line, prompt_texts
from interplay.wording import amount

_LOG_CHARS = 2000
"""Largest number of characters of a reply that are written to the log; the run's file has the whole reply."""
MOST_REFUSED = 90
"""Number of unplayable replies in a row that stops the run."""


class RefusedError(InterplayError):
    """Raised when the model's replies cannot be played."""


@dataclass
class Moment:
    """One frame, and the model's thought and action for it."""

    step: int
    picture: str
    thought: str = ""
    action: str = ""


@dataclass
class Notes:
    """Notes about a model's replies, for the run's file.

    Attributes:
        replies: Kind of reply -> number of replies.
        asked: One list for each answered call: its tick, then the kinds of its replies.
        whys: Number of a call, from 0 -> what was wrong with its reply.
        refused: Number of answered calls since the last reply that could be played.
    """

    replies: Counter[str] = field(default_factory=Counter)
    asked: list[list[Any]] = field(default_factory=list)
    whys: dict[int, str] = field(default_factory=dict)
    refused: int = 0

    def weigh(self) -> None:
        """Count the last call; raise a `RefusedError` if too many replies in a row could not be played."""
        self.refused = 0 if PLAYED.intersection(self.asked[-1][1:]) else self.refused + 1
        if self.refused >= MOST_REFUSED:
            raise RefusedError(f"{self.refused} replies in a row could not be played: {self._kinds()}")

    def check(self) -> None:
        """Raise a `RefusedError` if no reply of the run could be played; such a run must not count as bad play."""
        if not PLAYED & self.replies.keys():
            raise RefusedError(f"none of {amount(self.refused, 'reply', 'replies')} could be played: {self._kinds()}")

    def _kinds(self) -> str:
        last = self.asked[len(self.asked) - self.refused :]
        kinds = ", ".join(f"{kind} {number}" for kind, number in Counter(kind for _, *own in last for kind in own).items())
        why = self.whys.get(max(self.whys, default=0), "")
        return kinds + (f"; {why}" if why else "")


@dataclass
class Player:
    """A model that plays a game; `messages` is a short log of the hashes of frames and of the replies."""

    game: Game
    calls: Calls
    settings: Settings
    instructions: str
    messages: list[ChatMessage]
    notes: Notes = field(default_factory=Notes)

    def __post_init__(self) -> None:
        self._tools = {tool.name: tool for tool in _tools(self.settings)}

    async def play(self) -> None:
        if self.settings.protocol in ("tools", "assisted"):
            await self._with_tools()
        else:
            await self._with_frames()

    def _picture(self) -> str:
        data = self.game.picture(self.settings.picture_width)
        self.messages.append(ChatMessageUser(content=f"tick {self.game.num_steps}, frame {frame_hash(data)}"))
        return "data:image/png;base64," + base64.b64encode(data).decode()

    def _said(self, output: ModelOutput) -> None:
        self.notes.asked.append([self.game.num_steps])
        called = output.message.tool_calls
        text = output.completion or " ".join(f"{call.function} {json.dumps(call.arguments)}" for call in called or [])
        self.messages.append(ChatMessageAssistant(content=clean(text, _LOG_CHARS)))

    def _count(self, kind: str, why: str = "") -> None:
        self.notes.replies[kind] += 1
        self.notes.asked[-1].append(kind)
        if why:
            self.notes.whys.setdefault(len(self.notes.asked) - 1, why)

    # Frames in one message, a call for each action

    async def _with_frames(self) -> None:
        moments: deque[Moment] = deque(maxlen=self.settings.window)
        memory = ""
        while self.game.outcome is None:
            moments.append(Moment(self.game.num_steps, self._picture()))
            reply = await self._next_reply(self._prompt(moments, memory))
            self.game.hold(reply.action, reply.ticks)
            memory = memory if reply.memory is None else reply.memory
            moments[-1].thought = reply.thought
            moments[-1].action = _shown(reply)

    def _prompt(self, moments: deque[Moment], memory: str) -> list[Content]:
        content: list[Content] = [ContentText(text=f"{self.instructions}\n\n{memory_line(memory)}")]
        for place, one in enumerate(moments, 1):
            line = frame_line(place, len(moments), one.step, one.thought, one.action)
            content += [ContentText(text=line), ContentImage(image=one.picture, detail="low")]
        return content

    async def _next_reply(self, content: list[Content]) -> Reply:
        """Ask until a reply can be played, and return it; after the last attempt return an empty reply."""
        for _ in range(self.settings.attempts):
            output = await self.calls.ask([ChatMessageUser(content=content)])
            self._said(output)
            reply = read(
                output.completion,
                most_ticks=self.settings.most_ticks,
                memory_words=self.settings.memory_words,
                withheld=_is_withheld(output),
            )
            self._count(reply.kind, reply.why)
            self.notes.weigh()
            if not reply.is_refused:
                return reply
            content = [*content, ContentText(text=again_line(reply.why))]
        return Reply("empty")

    # One conversation, and tools

    async def _with_tools(self) -> None:
        tools = list(self._tools.values())
        first = ChatMessageUser(content=[ContentText(text=self.instructions), *self._seen()])
        turns: deque[list[ChatMessage]] = deque(maxlen=2 * self.settings.window)
        num_idle = 0
        while self.game.outcome is None:
            output = await self.calls.ask(self._conversation(first, turns), tools)
            self._said(output)
            called = output.message.tool_calls
            if called:
                num_idle = 0
                turns.append([output.message, *(self._answer(call, index) for index, call in enumerate(called))])
                self.notes.weigh()
                continue
            self._count("refusal" if _is_withheld(output) else "no_tool")
            self.notes.weigh()
            num_idle += 1
            if num_idle % self.settings.attempts == 0:
                self.game.hold({}, 1)
            asked = ChatMessageUser(content=f"Call one of your tools: {', '.join(self._tools)}.")
            turns.append([ChatMessageAssistant(content=clean(output.completion, _LOG_CHARS) or "(nothing)"), asked])

    def _conversation(self, first: ChatMessage, turns: deque[list[ChatMessage]]) -> list[ChatMessage]:
        """Messages to send; only the last `window` pictures are kept."""
        sent = [first, *(message for turn in turns for message in turn)]
        room = self.settings.window
        for place in range(len(sent) - 1, -1, -1):
            content = sent[place].content
            if isinstance(content, str) or not any(isinstance(part, ContentImage) for part in content):
                continue
            room -= 1
            if room < 0:
                words = " ".join(part.text for part in content if isinstance(part, ContentText))
                sent[place] = sent[place].model_copy(update={"content": f"{words} (The frame is no longer kept.)"})
        return sent

    def _seen(self) -> list[Content]:
        return [ContentText(text=f"Tick {self.game.num_steps}."), ContentImage(image=self._picture(), detail="low")]

    def _answer(self, call: ToolCall, index: int) -> ChatMessageTool:
        """Carry out a tool call and return its result; only the first call of a reply (`index` 0) is carried out."""
        content: str | list[Content]
        if index:
            self._count("parallel_call")
            content = "One tool at a time: only the first was used."
        elif self.game.outcome is not None:
            content = "The game is over."
        elif call.parse_error:
            self._count("cut_json", why := clean(call.parse_error, 500))
            self.game.hold({}, 1)
            content = f"Nothing was done for one tick: the arguments of your call are not whole JSON. {why}"
        elif call.function not in self._tools:
            self._count("unknown_tool")
            self.game.hold({}, 1)
            content = f"That is not a call of a tool you have: {', '.join(self._tools)}."
        elif call.function == "act":
            content = self._acted(call.arguments)
        elif call.function in MACROS:
            content = self._carried_out(call.function, call.arguments)
        else:
            self._count("action")
            content = self.game.carried() if call.function == "inventory" else self._seen()
            self.game.hold({}, 1)
        return ChatMessageTool(content=content, tool_call_id=call.id, function=call.function)

    def _acted(self, arguments: Mapping[str, Any]) -> str | list[Content]:
        reply = read_action(arguments.get("keys"), arguments.get("ticks", 1), most_ticks=self.settings.most_ticks)
        self._count(reply.kind, reply.why)
        self.game.hold(reply.action, 1 if reply.is_refused else reply.ticks)
        if reply.is_refused:
            return f"Nothing was pressed for one tick: {reply.why}."
        return self._seen()

    def _carried_out(self, name: str, arguments: Mapping[str, Any]) -> str | list[Content]:
        try:
            values = macros.read(name, arguments)
        except macros.BadValueError as error:
            self._count("bad_value", str(error))
            self.game.hold({}, 1)
            return f"Nothing was done for one tick: {error}."
        self._count("action")
        begin = self.game.num_steps
        why = self.game.carry_out(macros.doing(self.game.env.world, name, values, seed=begin), self.settings.macro_ticks)
        if self.game.num_steps == begin:
            self.game.hold({}, 1)
        ticks = self.game.num_steps - begin
        said = f"{f'Not done: {why}' if why else 'Done'}. It took {amount(ticks, 'tick')}."
        return [ContentText(text=said), *self._seen()]


def _is_withheld(output: ModelOutput) -> bool:
    """Whether the server's content filter held the reply back; the reply may then be empty."""
    return output.stop_reason == "content_filter"


def _shown(reply: Reply) -> str:
    if reply.kind != "action":
        return "nothing"
    ticks = f" for {reply.ticks} ticks" if reply.ticks > 1 else ""
    return (json.dumps(reply.action) if reply.action else "nothing") + ticks


def _tools(settings: Settings) -> list[ToolInfo]:
    said = prompt_texts()["tools"]
    keys = ToolParam(type="object", description=said["act_keys"], additionalProperties=True)
    ticks = ToolParam(type="integer", description=said["act_ticks"])
    act = ToolParams(properties={"keys": keys, "ticks": ticks}, required=["keys"])
    tools = [
        ToolInfo(name="act", description=said["act"], parameters=act),
        ToolInfo(name="look", description=said["look"]),
        ToolInfo(name="inventory", description=said["inventory"]),
    ]
    if not settings.macro_ticks:
        return tools
    said, about = prompt_texts()["macros"], prompt_texts()["macro_arguments"]
    arguments = {name: ToolParam(type=kind, description=about[name]) for name, kind in ARGUMENTS.items()}  # type: ignore[arg-type]
    arguments["at"].items = ToolParam(type="number")
    return tools + [
        ToolInfo(
            name=name,
            description=said[name],
            parameters=ToolParams(properties={one: arguments[one] for one in macro.takes}, required=list(macro.needs)),
        )
        for name, macro in MACROS.items()
    ]
