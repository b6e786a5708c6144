"""Cached calls of models: each answer is kept in the run's file and read from there later, so that it is paid for once."""

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
"""API keys that users gave for models in this process; they are removed from all output."""
listeners: list[Callable[[ModelOutput | None], None]] = []
"""Functions for progress bars: called with each answer of a model, and with None when a run is done."""
gates: list[Callable[[], None]] = []
"""Functions called before each call of a model; the run stops if a function raises an error."""
_SECRET = ("KEY", "TOKEN", "SECRET", "PASSWORD")
"""Endings of the names of environment variables whose values are secret."""
_FIXED = ("role", "source", "stop_reason", "type")
"""Fields of an answer whose values are chosen by Inspect, not by the server."""
_FREE = ("arguments", "data", "internal", "metadata")
"""Fields of an answer whose values have field names chosen by the server."""


class CallError(InterplayError):
    """Raised when a model call gets no answer; the error text contains no API key."""


class Calls:
    """The model calls of one attempt, in order."""

    def __init__(self, file: RunFile, model: Model) -> None:
        self._file = file
        self._model = model
        self._next = 0

    async def ask(self, messages: list[ChatMessage], tools: Sequence[ToolInfo] = ()) -> ModelOutput:
        """Return the answer to a prompt: from the run's file if the answer is there, else from the model.

        Raises:
            RunError: If the file has, for this call, an answer to another prompt.
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
    """Ask a model; return its answer, the answer as JSON without API keys, and the time taken in milliseconds.

    Raises:
        CallError: If the model does not answer, or its server reports an error.
    """
    begin = time.perf_counter()
    try:
        output = await model.generate(messages, list(tools), config=config or GenerateConfig())
    except LimitExceededError:
        raise
    except Exception as error:
        _take_keys_out_of_the_log()
        cause = (error.last_attempt.exception() if isinstance(error, RetryError) else None) or error
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
    """Remove the request from an error text; Inspect writes the whole request before the error's message.

    >>> _without_request("ModelGenerateError: \\nRequest:\\n{}\\n\\nTimeout(4)"), _without_request("Timeout: first\\n\\nsecond")
    ('ModelGenerateError: Timeout(4)', 'Timeout: first\\n\\nsecond')
    """
    kind, request, rest = said.partition("\nRequest:\n")  # JSON, in which no line is empty
    return kind + rest.partition("\n\n")[2] if request else said


def _cut(output: ModelOutput) -> None:
    """Shorten a very long answer; its metadata keeps the original length and hash."""
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


def _take_frames_out_of_the_log() -> None:
    """Replace the pictures in Inspect's log by their hashes; the episode has every frame."""
    for event in reversed(transcript().events):
        if isinstance(event, ModelEvent):
            before, event.input = event.input, [_hashed(message) for message in event.input]
            if all(map(operator.is_, before, event.input)):
                return  # it was done after an earlier call


def _hashed(message: ChatMessage) -> ChatMessage:
    if isinstance(message.content, str):
        return message
    parts = [
        ContentText(text=f"frame {frame_hash(base64.b64decode(part.image.partition(',')[2]))}")
        if isinstance(part, ContentImage)
        else part
        for part in message.content
    ]
    return message if parts == message.content else message.model_copy(update={"content": parts})


def frame_hash(picture: bytes) -> str:
    return hashlib.sha256(picture).hexdigest()[:16]


def _take_keys_out_of_the_log() -> None:
    """Remove API keys from Inspect's log, because a server's answer or error may repeat the key that was sent."""
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
    """Return the hash of everything that a model reads: roles, texts, pictures and tool calls."""
    said: list[Any] = []
    for message in messages:
        content = message.content
        parts = content if isinstance(content, str) else [part.model_dump(include={"text", "image"}) for part in content]
        called = message.tool_calls if isinstance(message, ChatMessageAssistant) else None
        answers = message.tool_call_id if isinstance(message, ChatMessageTool) else None
        said.append([message.role, parts, [[call.id, call.function, call.arguments] for call in called or []], answers])
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:24]


def without_keys(text: str) -> str:
    """Return an error text without API keys, at most 2,000 characters long."""
    return clean(_hidden(text), 2000)


def _hidden(text: str) -> str:
    of_environment = {value for name, value in os.environ.items() if name.upper().endswith(_SECRET)}
    for value in given_keys | of_environment:
        if len(value) > 5:
            text = text.replace(value, "(key)")
    return text


def _without_keys_in(value: Any, *, is_free: bool = False) -> Any:
    """Remove API keys from a JSON value of an answer; `is_free`: also from field names, because the server chose them."""
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
