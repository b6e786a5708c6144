"""Language models: those that Inspect knows by name, models at a server that the user names, and scripted ones."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    GenerateConfig,
    Model,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    get_model,
    modelapi,
)
from inspect_ai.model._providers.openai_compatible import OpenAICompatibleAPI
from inspect_ai.tool import ToolChoice, ToolInfo
from openai.types.chat import ChatCompletion

from interplay.errors import InterplayError, unknown_name
from interplay.explore.evaluation import scripted
from interplay.explore.evaluation.calls import given_keys, without_keys

AT_ADDRESS = "interplay/"
"""Prefix of the names of models at an address that the user gives."""
MOST_BYTES = 64 * 1024**2
MOST_RETRIES = 4


class EvaluationError(InterplayError):
    """Raised when a model cannot be used, or an evaluation cannot begin."""


class At(NamedTuple):
    """An OpenAI-compatible server; `address` is its URL without the ending `/chat/completions`."""

    address: str
    key: str | None = None


@modelapi(name=AT_ADDRESS.rstrip("/"))
class ModelAtAddress(OpenAICompatibleAPI):
    """A model of an OpenAI-compatible server. An answer may come in a list of parts; its size is limited."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),
        **options: Any,
    ) -> None:
        # Tools have arguments that may be left out, which OpenAI's "strict" forbids.
        # It is Inspect that calls again, `MOST_RETRIES` times.
        options |= {"service": "interplay", "strict_tools": False, "max_retries": 0}
        super().__init__(model_name, base_url, api_key, config, **options)

    def service_model_name(self) -> str:
        return self.model_name

    async def _generate_completion(self, request: dict[str, Any], config: GenerateConfig) -> Any:
        completion = await super()._generate_completion(request, config)
        if isinstance(completion, ChatCompletion):
            completion.choices = completion.choices or []
            for choice in completion.choices:
                if isinstance(parts := choice.message.content, list):
                    texts = [part.get("text") for part in parts if isinstance(part, dict)]
                    choice.message.content = "\n".join(text for text in texts if isinstance(text, str))
        return completion

    def chat_choices_from_completion(self, completion: Any, tools: Any) -> list[ChatCompletionChoice]:
        choices = super().chat_choices_from_completion(completion, tools)
        for choice in choices:
            choice.message.metadata = {"system_fingerprint": completion.system_fingerprint}
        return choices

    def _create_http_client(self) -> Any:
        client = super()._create_http_client()
        client.event_hooks["response"].append(_bounded)
        return client


async def _bounded(response: Any) -> None:
    """Make reading an answer fail after `MOST_BYTES` bytes."""

    class Bounded(type(response.stream)):  # type: ignore[misc]
        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for chunk in super().__aiter__():
                size += len(chunk)
                if size > MOST_BYTES:
                    raise EvaluationError(f"the answer has more than {MOST_BYTES:,} bytes")
                yield chunk

    response.stream.__class__ = Bounded


@modelapi(name="scripted")
class ScriptedModel(ModelAPI):
    """The model `scripted/NAME`, with a NAME of `scripted.SCRIPTED`; raises `NotFoundError` for an unknown name."""

    def __init__(self, model_name: str, *args: Any, **options: Any) -> None:
        if model_name not in scripted.SCRIPTED:
            known = ", ".join(f"scripted/{name}" for name in scripted.SCRIPTED if "-" not in name)
            raise unknown_name("scripted model", model_name, scripted.SCRIPTED, hint=f"There are {known}.")
        super().__init__(model_name, *args, **options)

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """Return the scripted reply with its number of tokens; without this number, Inspect would use the network to count."""
        name = self.model_name
        texts = [message.text for message in input]
        if tools:
            output = ModelOutput.for_tool_call(
                f"scripted/{name}", "act", scripted.acts(name, texts), tool_call_id=f"call{len(input)}"
            )
        else:
            output = ModelOutput.from_content(f"scripted/{name}", scripted.reply(name, texts))
        read, written = sum(map(len, texts)) // 4, len(output.completion) // 4
        output.usage = ModelUsage(input_tokens=read, output_tokens=written, total_tokens=read + written)
        return output


def model_named(name: str, at: At | None = None) -> Model:
    """Return a model by its name in Inspect, such as `openai/NAME`; with `at`, by its name on that server.

    Raises:
        EvaluationError: If the model cannot be used.
    """
    try:
        if at is not None:
            if at.key is not None:
                given_keys.add(at.key)
            return get_model(AT_ADDRESS + name, base_url=at.address, api_key=at.key or "none", memoize=False)
        return get_model(name)
    except (ValueError, PrerequisiteError) as error:
        raise EvaluationError(
            f"the model {name!r} cannot be used: {plain(error)}\n"
            "Write its name as Inspect does, such as openai/NAME or scripted/ahead, or give its server with --address."
        ) from None


def server_of(model: Model) -> str:
    """Host and path of a model's server, without user name or key; empty if the model has no server address."""
    address = urlsplit(getattr(model.api, "base_url", None) or "")
    return address.netloc.rpartition("@")[2] + address.path.rstrip("/")


def plain(error: Exception) -> str:
    """Return the text of an Inspect error without colours and empty lines."""
    return re.sub(r"\s*\n\s*", " ", re.sub(r"\[/?[a-z]+\]", "", without_keys(str(error))))
