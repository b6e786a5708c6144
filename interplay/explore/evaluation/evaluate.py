"""Let a model play instances, several at once, with Inspect."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import inspect_ai
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import EvalLog
from inspect_ai.model import Model, ModelOutput, get_model

from interplay.errors import InterplayError
from interplay.explore.evaluation.calls import given_keys, listeners, without_keys
from interplay.explore.evaluation.inspect_task import AT_ADDRESS, explore
from interplay.explore.evaluation.settings import Settings
from interplay.record import Archive

LOGS = Path("explore") / "logs"
"""Of a data folder: Inspect's logs."""
MOST_RETRIES = 4
"""Of a call that a server did not answer."""


class EvaluationError(InterplayError):
    """An evaluation that could not begin."""


class At(NamedTuple):
    """An OpenAI-compatible server.

    Attributes:
        address: Up to and without `/chat/completions`.
        key: Its key, if it wants one.
    """

    address: str
    key: str | None = None


@dataclass
class Far:
    """How far an evaluation is.

    Attributes:
        done, total: Runs.
        answers: Of the model, in this process.
        tokens: Of those calls, in and out.
    """

    done: int
    total: int
    answers: int = 0
    tokens: int = 0


def evaluate(
    archive: Archive,
    paths: Sequence[str],
    model: str,
    settings: Settings,
    *,
    at: At | None = None,
    epochs: int = 1,
    num_at_once: int = 4,
    timeout_s: int = 300,
    report: Callable[[Far], None] = lambda far: None,
) -> EvalLog:
    """Play each instance `epochs` times; runs that were played before are read, those that were begun go on.

    Args:
        archive: Where episodes, runs and logs are kept.
        paths: Instances, as `published.files_of` takes them.
        model: As Inspect names it, such as `openai/NAME` or `scripted/ahead`; with `at` as its server calls it.
        settings: How it is asked.
        at: Where it is, if Inspect does not know.
        epochs: Runs of each instance.
        num_at_once: Runs at once.
        timeout_s: A call that is not answered within so many seconds is made again, `MOST_RETRIES` times.
        report: Called when a run is done, and at each answer.
    Raises:
        InstanceError: If an instance cannot be read.
        EvaluationError: If the model cannot be used.
    """
    task = explore(
        list(paths),
        settings.protocol,
        settings.max_steps,
        settings.goal,
        str(archive.root),
        archive.database.address,
    )
    far = Far(0, len(task.dataset) * epochs)

    def count(answer: ModelOutput | None) -> None:
        if answer is None:
            far.done += 1
        else:
            far.answers += 1
            far.tokens += 0 if answer.usage is None else answer.usage.total_tokens
        report(far)

    report(far)
    listeners.append(count)
    try:
        (log,) = inspect_ai.eval(
            task,
            model=_model(model, at),
            epochs=epochs,
            log_dir=str(archive.root / LOGS),
            display="none",
            log_images=False,
            log_realtime=False,
            log_model_api=False,
            score_on_error=True,
            max_samples=num_at_once,
            max_connections=num_at_once,
            max_retries=MOST_RETRIES,
            attempt_timeout=timeout_s,
        )
    except PrerequisiteError as error:
        raise EvaluationError(_plain(error)) from None
    finally:
        listeners.remove(count)
    return log


def _model(name: str, at: At | None) -> Model:
    try:
        if at is not None:
            if at.key is not None:
                given_keys.add(at.key)
            # Tools have arguments that may be left out, which OpenAI's "strict" forbids.
            return get_model(
                AT_ADDRESS + name, base_url=at.address, api_key=at.key or "none", memoize=False, strict_tools=False
            )
        return get_model(name)
    except (ValueError, PrerequisiteError) as error:
        raise EvaluationError(
            f"the model {name!r} cannot be used: {_plain(error)}\n"
            "Name one as Inspect does, such as openai/NAME or scripted/ahead, or say where it is with --address."
        ) from None


def _plain(error: Exception) -> str:
    """What Inspect says of a model that cannot be used, without its colours and empty lines."""
    return re.sub(r"\s*\n\s*", " ", re.sub(r"\[/?[a-z]+\]", "", without_keys(str(error))))
