"""Chat with language models through a cache: every answer is kept in a file and paid for once.

    models = [model_named("openai/one"), model_named("two", At("http://127.0.0.1:8080/v1"))]
    with closing(Chat(folder / "answers.jsonl")) as chat:
        output = await chat.ask(models[0], [ChatMessageUser(content="Is this hard?")], sample=3)

After a crash, run the same code with the same file: answers in the file are not paid for again.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput

from interplay.errors import InterplayError
from interplay.explore.evaluation.calls import CallError, answered, prompt_hash
from interplay.explore.evaluation.metrics import total
from interplay.explore.evaluation.providers import AT_ADDRESS, MOST_RETRIES
from interplay.explore.evaluation.runs import LineFile

FOLDER = Path("explore") / "make"


class ChatError(InterplayError):
    """Raised when a file of answers cannot be used."""


@dataclass
class Spent:
    """Totals of one model's answers: `calls` counts answers asked for now, `kept` counts answers read from the file.

    Tokens are `None` if the server does not count tokens. The cost, in dollars, is `None` without tokens or a price.
    """

    calls: int = 0
    kept: int = 0
    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cost: float | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class Chat:
    """Ask language models, several calls at once, and keep every answer; call `close` at the end.

    Args:
        path: The file of answers; made if missing. One process writes it at a time.
        prices: Model -> dollars for a million tokens read, and for a million written.
        timeout_s: Seconds to wait for an answer; then the call is made again.
        report: Called after each answer with the model's name.

    Raises:
        LinesError: If another process has the file open for writing.
        ChatError: If the file is not a file of answers.
    """

    def __init__(
        self,
        path: Path,
        *,
        prices: Mapping[str, tuple[float, float]] | None = None,
        num_at_once: int = 4,
        timeout_s: int = 300,
        report: Callable[[str], None] = lambda model: None,
    ) -> None:
        self._file = LineFile(path)
        self._prices, self._report = prices or {}, report
        self._turns, self._timeout_s = asyncio.Semaphore(num_at_once), timeout_s
        self.spent: dict[str, Spent] = {}
        try:
            lines = [json.loads(line) for line in self._file.whole.splitlines()]
            self._answers: dict[str, dict[str, Any]] = {line["asked"]: line["output"] for line in lines}
        except (ValueError, KeyError, TypeError) as error:
            self._file.close()
            raise ChatError(f"{path} is not a file of answers: {error}\nMove it away; models are then asked again.") from None

    def close(self) -> None:
        self._file.close()

    async def ask(
        self,
        model: Model,
        messages: list[ChatMessage],
        *,
        sample: int = 0,
        config: GenerateConfig | None = None,
        about: str = "",
    ) -> ModelOutput:
        """Return a model's answer; read it from the file if the same question was asked before.

        Args:
            sample: Number of this answer among several to the same prompt; the model does not see this number.
            config: Sampling options, such as `GenerateConfig(temperature=0.3)`.
            about: Purpose of the call, kept with the answer for people who read the file.
        Raises:
            CallError: If the model does not answer.
            LinesError: If the answer cannot be written.
        """
        config = config or GenerateConfig()
        name = name_of(model)
        said: list[Any] = [name, prompt_hash(messages), []]  # an empty list of tools: files of answers have it in their hashes
        said += [config.model_dump(mode="json", exclude_none=True), sample]
        asked = hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:32]
        if asked in self._answers:
            output = ModelOutput.model_validate(self._answers[asked])
            self._count(name, output, is_kept=True)
            return output
        patient = GenerateConfig(max_retries=MOST_RETRIES, attempt_timeout=self._timeout_s)
        async with self._turns:
            try:
                output, document, latency_ms = await answered(model, messages, (), patient.merge(config))
            except CallError as error:
                text = f"{name} did not answer: {error}\nAll answers so far are kept. Run the same command again to continue."
                raise CallError(text) from None
            self._file.append({"asked": asked, "model": name, "about": about, "output": document, "latency_ms": latency_ms})
        self._answers[asked] = document
        self._count(name, output, is_kept=False)
        return output

    def _count(self, name: str, output: ModelOutput, *, is_kept: bool) -> None:
        spent = self.spent.setdefault(name, Spent())
        spent.kept += is_kept
        spent.calls += not is_kept
        usage = output.usage if output.usage and output.usage.total_tokens else None
        spent.input_tokens = total([spent.input_tokens, usage.input_tokens if usage else None])
        spent.output_tokens = total([spent.output_tokens, usage.output_tokens if usage else None])
        if name in self._prices:
            tokens = zip((spent.input_tokens, spent.output_tokens), self._prices[name], strict=True)
            spent.cost = total(None if number is None else number * dollars / 1e6 for number, dollars in tokens)
        self._report(name)


def name_of(model: Model) -> str:
    return str(model).removeprefix(AT_ADDRESS)
