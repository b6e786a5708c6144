"""Cached model calls: an answered call is kept in the run's file, answered from there later, and paid for once."""

from __future__ import annotations

import base64
import hashlib
import json
import operator
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    ContentImage,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    Model,
    ModelOutput,
)
from inspect_ai.tool import ToolInfo
from inspect_ai.util import LimitExceededError
from tenacity import RetryError

from interplay.errors import InterplayError
from interplay.explore.evaluation.replies import MOST_CHARS, MOST_KEPT, MOST_OBJECTS, clean, shortened
from interplay.explore.evaluation.runs import RunError, RunFile

given_keys: set[str] = set()
"""Keys that users gave for models in this process. They are taken out of everything that is written."""
listeners: list[Callable[[ModelOutput | None], None]] = []
"""Called with each answer of a model, and with None when a run is done: for progress bars."""
gates: list[Callable[[], None]] = []
"""Called before each call of a model; one that raises stops the run."""
_SECRET = ("KEY", "TOKEN", "SECRET", "PASSWORD")
"""How names of variables end whose values are secrets."""
_FIXED = ("role", "source", "stop_reason", "type")
"""Fields of an answer that have one of a few words, which Inspect writes."""
_FREE = ("arguments", "data", "internal", "metadata")
"""Fields of an answer in which names of fields are from the server, too."""


class CallError(InterplayError):
    """A call that was not answered; the text holds no key."""


class Calls:
    """The calls of one attempt, in order."""

    def __init__(self, file: RunFile, model: Model) -> None:
        self._file = file
        self._model = model
        self._next = 0

    async def ask(self, messages: list[ChatMessage], tools: Sequence[ToolInfo] = ()) -> ModelOutput:
        """Answer to a prompt, from the run's file if it has one.

        Raises:
            RunError: If the run's file has an answer to another prompt at this place.
            CallError: If the model does not answer.
        """
        digest = prompt_hash(messages)
        number, self._next = self._next, self._next + 1
        if number < len(self._file.run.calls):
            kept = self._file.run.calls[number]
            if kept["prompt"] != digest:
                raise RunError(
                    f"call {number} was made with another prompt, so the world or the program has changed\n"
                    f"Move {self._file.path} away; the run is then played again from the start."
                )
            return ModelOutput.model_validate(kept["output"])
        for gate in gates:
            gate()
        output, document, latency_ms = await answered(self._model, messages, tools)
        self._file.append({"call": {"prompt": digest, "output": document, "latency_ms": latency_ms}})
        for listener in listeners:
            listener(output)
        return output


async def answered(
    model: Model, messages: list[ChatMessage], tools: Sequence[ToolInfo] = (), config: GenerateConfig | None = None
) -> tuple[ModelOutput, dict[str, Any], float]:
    """Answer of a model, the same as JSON without any key, and the milliseconds that it took.

    Raises:
        CallError: If the model does not answer, or its server says that it cannot.
    """
    begin = time.perf_counter()
    try:
        output = await model.generate(messages, list(tools), config=config or GenerateConfig())
    except LimitExceededError:
        raise
    except Exception as error:
        _take_keys_out_of_the_log()
        cause = _cause(error)
        raise CallError(without_keys(_without_request(f"{type(cause).__name__}: {cause}"))) from None
    finally:
        _take_frames_out_of_the_log()
    if not output.choices:
        raise CallError("the server sent an answer without choices")
    if output.stop_reason == "model_length":
        raise CallError(f"the prompt does not fit into the context of the model: {without_keys(output.completion)}")
    _cut(output)
    document = output.model_dump(mode="json", exclude_none=True, exclude={"completion"}, fallback=str)
    if (without := _without_keys_in(document)) != document:
        document, output = without, ModelOutput.model_validate(without)
        _take_keys_out_of_the_log()
    return output, document, round(1000 * (time.perf_counter() - begin), 1)


def _without_request(said: str) -> str:
    """Text of an error without the whole request, which Inspect writes before it.

    >>> _without_request("ModelGenerateError: \\nRequest:\\n{}\\n\\nTimeout(4)"), _without_request("Timeout: first\\n\\nsecond")
    ('ModelGenerateError: Timeout(4)', 'Timeout: first\\n\\nsecond')
    """
    kind, request, rest = said.partition("\nRequest:\n")  # JSON, in which no line is empty
    return kind + rest.partition("\n\n")[2] if request else said


def _cut(output: ModelOutput) -> None:
    """Shorten an answer that is longer than anybody reads; its length and hash stay in its metadata."""
    output.choices = output.choices[:1]
    message = output.message
    whole = json.dumps(message.model_dump(mode="json", fallback=str))
    if len(whole) <= MOST_CHARS:
        return
    if isinstance(message.content, str):
        message.content = shortened(message.content)
    else:
        for part in message.content:
            if isinstance(part, ContentText):
                part.text = shortened(part.text)
            elif isinstance(part, ContentReasoning):
                part.reasoning = part.reasoning[:MOST_KEPT]
    for call in (calls := message.tool_calls or []):
        if len(json.dumps(call.arguments)) > MOST_CHARS:
            call.arguments, call.parse_error = {}, f"the arguments have more than {MOST_CHARS} characters"
        call.parse_error = call.parse_error and clean(call.parse_error, 1000)
    del calls[MOST_OBJECTS:]
    if len(json.dumps(message.model_dump(mode="json", fallback=str))) < len(whole):
        digest = hashlib.sha256(whole.encode()).hexdigest()
        output.completion = message.text
        output.metadata = {**(output.metadata or {}), "cut": {"characters": len(whole), "sha256": digest}}


def _cause(error: Exception) -> BaseException:
    last = error.last_attempt.exception() if isinstance(error, RetryError) else None
    return last or error


def _take_frames_out_of_the_log() -> None:
    """Inspect keeps the pictures of each prompt; their hashes are enough, for the episode has every frame."""
    for event in reversed(transcript().events):
        if isinstance(event, ModelEvent):
            before, event.input = event.input, [_hashed(message) for message in event.input]
            if all(map(operator.is_, before, event.input)):
                return  # it was done after an earlier call


def _hashed(message: ChatMessage) -> ChatMessage:
    if isinstance(message.content, str):
        return message
    parts = [_hash_of(part) if isinstance(part, ContentImage) else part for part in message.content]
    return message if parts == message.content else message.model_copy(update={"content": parts})


def _hash_of(frame: ContentImage) -> ContentText:
    return ContentText(text=f"frame {frame_hash(base64.b64decode(frame.image.partition(',')[2]))}")


def frame_hash(picture: bytes) -> str:
    return hashlib.sha256(picture).hexdigest()[:16]


def _take_keys_out_of_the_log() -> None:
    """A server may say back what it was sent, and Inspect logs refusals and answers whole."""
    for event in transcript().events:
        if not isinstance(event, ModelEvent):
            continue
        if event.error is not None:
            event.error, event.call = without_keys(event.error), None
            event.traceback = event.traceback_ansi = None
        said = event.output.model_dump(mode="json", fallback=str)
        if (without := _without_keys_in(said)) != said:
            event.output, event.call = ModelOutput.model_validate(without), None


def prompt_hash(messages: Sequence[ChatMessage]) -> str:
    """Hash of everything that a model reads: roles, texts, pictures, and calls of tools."""
    said: list[Any] = []
    for message in messages:
        content = message.content
        parts = content if isinstance(content, str) else [part.model_dump(include={"text", "image"}) for part in content]
        called = message.tool_calls if isinstance(message, ChatMessageAssistant) else None
        answers = message.tool_call_id if isinstance(message, ChatMessageTool) else None
        said.append([message.role, parts, [[call.id, call.function, call.arguments] for call in called or []], answers])
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:24]


def without_keys(text: str) -> str:
    """Text of an error, short, without any key."""
    return clean(_hidden(text), 2000)


def _hidden(text: str) -> str:
    of_environment = {value for name, value in os.environ.items() if name.upper().endswith(_SECRET)}
    for value in given_keys | of_environment:
        if len(value) > 5:
            text = text.replace(value, "(key)")
    return text


def _without_keys_in(value: Any, *, is_free: bool = False) -> Any:
    """JSON value of an answer without keys; `is_free` if names of fields are the server's, too."""
    if isinstance(value, str):
        return _hidden(value)
    if isinstance(value, list):
        return [_without_keys_in(one, is_free=is_free) for one in value]
    if isinstance(value, dict):
        return {
            _hidden(name) if is_free else name: one
            if name in _FIXED and not is_free
            else _without_keys_in(one, is_free=is_free or name in _FREE)
            for name, one in value.items()
        }
    return value
