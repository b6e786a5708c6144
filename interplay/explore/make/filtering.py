"""Run the knowledge filter: ask models about atomic tasks, and write what models and people have decided."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from inspect_ai.model import ChatMessage, ChatMessageUser, GenerateConfig, Model

from interplay.explore.make.chat import Chat, name_of
from interplay.explore.make.knowledge import (
    ATTEMPTS,
    LEAST_MODELS,
    LEAST_SAMPLES,
    KnowledgeError,
    ReplyError,
    Sample,
    Verdict,
    decide,
    read_capabilities,
    read_description,
    read_verdict,
    texts,
)
from interplay.files import write_bytes, write_json
from interplay.wording import amount

TEMPERATURE, MOST_TOKENS = 0.3, 1024
ANALYSIS, QUEUE, VOTES = "task_analysis.json", "queue.tsv", "votes.json"
"""Names of the files: results in the published schema, tasks that wait for people, and all answers of the models."""
_AT_ONCE = 16
_Read = TypeVar("_Read")


async def judge(
    tasks: Sequence[str],
    models: Sequence[Model],
    chat: Chat,
    *,
    num_samples: int = LEAST_SAMPLES,
    decisions: Mapping[str, str] | None = None,
    report: Callable[[Verdict], None] = lambda verdict: None,
) -> list[Verdict]:
    """Ask each model `num_samples` times about each task, and return verdicts; earlier answers are read from the chat's file.

    Args:
        tasks: Names, as `bank.normalised` writes them.
        decisions: Task -> people's verdict.
    Raises:
        KnowledgeError: For fewer than two models or five samples.
        CallError: If a model does not answer. The answers so far are kept.
    """
    num_models = len({name_of(model) for model in models})
    if num_models < LEAST_MODELS or num_samples < LEAST_SAMPLES:
        raise KnowledgeError(
            f"the filter needs at least {LEAST_MODELS} models, each asked at least {LEAST_SAMPLES} times; "
            f"got {amount(num_models, 'model')}, asked {num_samples} times\n"
            "Remedy: add a model with --model, and leave --samples out."
        )
    turns = asyncio.Semaphore(_AT_ONCE)

    async def one(task: str) -> Verdict:
        async with turns:
            asked = [_sample(chat, model, task, number) for model in models for number in range(num_samples)]
            verdict = decide(task, await asyncio.gather(*asked), decisions or {}, num_samples=num_samples)
        report(verdict)
        return verdict

    try:
        async with asyncio.TaskGroup() as group:  # which calls the others off when one fails
            running = [group.create_task(one(task)) for task in tasks]
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return [task.result() for task in running]


async def _sample(chat: Chat, model: Model, task: str, number: int) -> Sample:
    errors: list[str] = []
    talk: list[ChatMessage] = [ChatMessageUser(content=texts()["verdict"].format(task=task).strip())]
    verdict = await _ask(chat, model, talk, number, read_verdict, errors, f"{task}: verdict")
    description: str | None = None
    if verdict is not None:
        talk.append(ChatMessageUser(content=texts()["description"].strip()))
        read = partial(read_description, verdict=verdict)
        description = await _ask(chat, model, talk, number, read, errors, f"{task}: description")
    fresh: list[ChatMessage] = [ChatMessageUser(content=texts()["capabilities"].format(task=task).strip())]
    capabilities = await _ask(chat, model, fresh, number, read_capabilities, errors, f"{task}: capabilities")
    return Sample(name_of(model), verdict, description, capabilities, tuple(errors))


async def _ask(
    chat: Chat,
    model: Model,
    talk: list[ChatMessage],
    number: int,
    read: Callable[[str], _Read],
    errors: list[str],
    about: str,
) -> _Read | None:
    """Ask until a reply can be read; return its value, or `None` after the last attempt. Add the replies to `talk`."""
    config = GenerateConfig(temperature=TEMPERATURE, max_tokens=MOST_TOKENS)
    for _ in range(ATTEMPTS):
        output = await chat.ask(model, talk, sample=number, config=config, about=about)
        talk.append(output.message)
        try:
            return read(output.completion)
        except ReplyError as error:
            errors.append(f"{about.rpartition(': ')[2]}: {error}")
            talk.append(ChatMessageUser(content=texts()["again"].format(why=error).strip()))
    return None


def write(folder: Path, verdicts: Sequence[Verdict]) -> dict[str, Path]:
    """Write three files: decided tasks, tasks that wait for people, and all votes. Return file name -> path."""
    folder.mkdir(parents=True, exist_ok=True)
    places = {name: folder / name for name in (ANALYSIS, QUEUE, VOTES)}
    write_json(places[ANALYSIS], {one.task: one.published() for one in verdicts if one.verdict is not None}, indent=2)
    waiting = [f"{one.task}\t\t{one.why}\n" for one in verdicts if one.verdict is None]
    write_bytes(places[QUEUE], "".join(waiting).encode())
    write_json(places[VOTES], {one.task: _votes(one) for one in verdicts})
    return places


def _votes(one: Verdict) -> dict[str, Any]:
    by_model: dict[str, Any] = {}
    for sample in one.samples:
        row = by_model.setdefault(sample.model, {"verdicts": [], "capabilities": [], "errors": []})
        row["verdicts"].append(sample.verdict)
        row["capabilities"].append(None if sample.capabilities is None else sorted(sample.capabilities))
        row["errors"] += sample.errors
    return {"verdict": one.verdict, "by_people": one.by_people, "why": one.why, "models": by_model}
