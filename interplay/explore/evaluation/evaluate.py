"""Let a model play instances, several at once, with Inspect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import inspect_ai
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelOutput

from interplay.explore.evaluation.calls import CallError, gates, listeners
from interplay.explore.evaluation.inspect_task import explore
from interplay.explore.evaluation.providers import MOST_RETRIES, At, EvaluationError, model_named, plain
from interplay.explore.evaluation.settings import Settings
from interplay.record import Archive

LOGS = Path("explore") / "logs"


@dataclass(frozen=True)
class Budget:
    """Limits of a command, `None` for no limit: answers of earlier commands do not count, calls in flight do.

    Attributes:
        cost: Dollars, by `price`: dollars for a million tokens read and written.
    """

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    price: tuple[float, float] = (0.0, 0.0)


@dataclass
class Far:
    """Progress of an evaluation: answers, their tokens (`None` if the server does not say), and calls, answered or not."""

    done: int
    total: int
    answers: int = 0
    tokens: int | None = 0
    asked: int = 0
    cost: float = 0.0

    def check(self, budget: Budget) -> None:
        """Count one more call, if the budget allows it."""
        if self.tokens is None and (budget.tokens, budget.cost) != (None, None):
            raise CallError("the server does not say how many tokens it used, so only calls can be limited")
        spent = {"calls": self.asked, "tokens": self.tokens, "cost": self.cost}
        for name, number in spent.items():
            most = getattr(budget, name)
            if most is not None and number is not None and number >= most:
                raise CallError(f"the budget is spent: --max-{name} {most:,}; run the same command with more to continue")
        self.asked += 1


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
    name: str = "",
    budget: Budget = Budget(),
    report: Callable[[Far], None] = lambda far: None,
) -> EvalLog:
    """Play each instance `epochs` times; finished runs are read, unfinished ones continue.

    Args:
        model: As Inspect names it, such as `openai/NAME` or `scripted/ahead`; with `at` as its server calls it.
        timeout_s: A call without an answer after so many seconds is made again, `MOST_RETRIES` times.
        name: Name in tables; the model's own by default. A model that was played at another server needs one.
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
        name,
    )
    far = Far(0, len(task.dataset) * epochs)

    def count(answer: ModelOutput | None) -> None:
        if answer is None:
            far.done += 1
        else:
            far.answers += 1
            usage = answer.usage
            if usage is None or not usage.total_tokens or far.tokens is None:
                far.tokens = None
            else:
                far.tokens += usage.total_tokens
                read, written = budget.price
                far.cost += (read * (usage.total_tokens - usage.output_tokens) + written * usage.output_tokens) / 1e6
        report(far)

    report(far)
    listeners.append(count)
    gates.append(gate := partial(far.check, budget))
    try:
        (log,) = inspect_ai.eval(
            task,
            model=model_named(model, at),
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
        raise EvaluationError(plain(error)) from None
    finally:
        listeners.remove(count)
        gates.remove(gate)
    return log
