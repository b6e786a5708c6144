"""The evaluation as an Inspect task: logs, viewer, limits, retries and scoring work as with any other task.

inspect eval interplay/explore -T paths=instances -T protocol=paper --model openai/NAME
inspect view
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import inspect_ai
from inspect_ai import Task, task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import LimitExceededError

import interplay.record
from interplay.explore import checking
from interplay.explore.evaluation import metrics
from interplay.explore.evaluation.calls import CallError, Calls, gates, listeners, without_keys
from interplay.explore.evaluation.game import Game
from interplay.explore.evaluation.playing import Notes, Player, RefusedError
from interplay.explore.evaluation.providers import AT_ADDRESS, MOST_RETRIES, At, EvaluationError, model_named, plain, server_of
from interplay.explore.evaluation.runs import FOLDER, Run, RunError, RunFile, check_server, header, read
from interplay.explore.evaluation.settings import Settings, goal_text, instructions
from interplay.explore.instance import Instance, load_all, parse
from interplay.explore.published import files_of
from interplay.record import Archive

_SAMPLING = ("temperature", "top_p", "top_k", "seed", "max_tokens", "effort", "reasoning_effort", "reasoning_tokens")
"""Options of Inspect that change how a model plays, so that they belong to the player's name."""
databases: dict[str, str] = {}
"""Data folder -> address of its database while `evaluate` runs. The address may hold a password, and Inspect writes the
arguments of a task to its log."""


@task
def explore(
    paths: str | list[str],
    protocol: str = "paper",
    max_steps: int = 1800,
    goal: str = "written",
    data: str = "interplay-data",
    database: str | None = None,
    name: str = "",
) -> Task:
    """Inspect task: let a model play instances and record the games in a data folder.

    Args:
        paths: Instances as `files_of` takes them, such as `published`; a single text may hold several, separated by commas.
        database: Address of the database that belongs to the folder `data`; by default SQLite in that folder.
        name: The model's name in tables; by default its own name.
    """
    settings = Settings(protocol, max_steps, goal)
    named = paths.split(",") if isinstance(paths, str) else paths
    samples = [
        Sample(goal_text(one, goal), id=one.name, metadata={"instance": one.to_json(), "settings": settings.to_json()})
        for one in load_all(files_of(named))
    ]
    return Task(
        dataset=MemoryDataset(samples, name="explore"),
        solver=plays(str(Path(data).resolve()), database, name),
        scorer=milestones(),
        name=f"explore-{settings.label}",
        fail_on_error=False,
    )


@solver
def plays(data: str, database: str | None = None, name: str = "") -> Solver:
    """Solver that plays a sample's instance; it reads a finished run from the run's file and continues an unfinished run."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        instance, settings = parse(state.metadata["instance"]), Settings(**state.metadata["settings"])
        head = header(instance, settings, name_of(state, name), state.epoch, server := server_of(get_model()))
        path = Path(data) / FOLDER / f"{head['run']}.jsonl"
        try:
            if not name:
                check_server(Path(data), head["model"], server)
            run_file = RunFile(path, head, datetime.now(UTC))
        except RunError as error:  # another process plays it, say
            state.store.set("result", metrics.result_of(Run(head, failed={"error": str(error)})).to_json())
            raise
        with closing(run_file) as file, closing(interplay.record.open(data, database or databases.get(data))) as archive:
            try:
                if file.run.end is None:
                    await _attempt(file, archive, instance, settings, state)
                elif file.run.begin:  # its recording is not sealed yet if its process was killed
                    for recording in sorted(archive.journal_folder.glob(f"{file.run.begin['episode']}.*.arrows"))[:1]:
                        archive.seal(recording)
            finally:
                for listener in listeners:
                    listener(None)
                state.store.set("result", metrics.result_of(read(path)).to_json())
        state.completed = True
        return state

    return solve


def name_of(state: TaskState, name: str = "") -> str:
    """Return the name for tables: the given name, or the model's own name, then the sampling options that were set."""
    said = get_model().config.model_dump(include=set(_SAMPLING), exclude_none=True)
    return " ".join(
        [name or str(state.model).removeprefix(AT_ADDRESS), *(f"{key}={said[key]}" for key in _SAMPLING if key in said)]
    )


async def _attempt(file: RunFile, archive: Archive, instance: Instance, settings: Settings, state: TaskState) -> None:
    """Play a run and write its end, or its failure, to its file; the error text contains no API key."""
    for torn in archive.journal_folder.glob(f"{file.episode}.*.arrows"):
        torn.unlink()  # the answers that are kept play it again, step by step
    notes = Notes()
    game: Game | None = None
    try:
        game = Game(
            archive,
            instance,
            player=f"{file.header['model']} ({settings.label})",
            max_steps=settings.max_steps,
            episode_id=file.episode,
            created_at=datetime.fromisoformat(file.header["created_at"]),
        )
        not_judged = [one.id for one in instance.milestones if not checking.is_judged(one)]
        file.append({"begin": {"episode": file.episode, "at_start": game.at_start, "not_judged": not_judged}})
        told = instructions(instance, settings)
        try:
            await Player(game, Calls(file, get_model()), settings, told, state.messages, notes).play()
            ended = game.outcome
        except LimitExceededError:
            ended = "limit"
        notes.check()
    except Exception as error:
        if game is not None:
            game.finish("interrupted")
            game.seal()
        again = {"again": notes.refused} if isinstance(error, RefusedError) else {}
        file.append({"failed": {"error": f"{type(error).__name__}: {without_keys(str(error))}"} | again | _told(notes, game)})
        raise
    except BaseException:
        if game is not None:
            game.abandon()
        raise
    game.finish("quit" if ended == "limit" else str(ended))
    end = {"outcome": ended, "said_done": game.said_done, "num_steps": game.num_steps, "reached": game.reached}
    file.append({"end": end | _told(notes, game)})
    game.seal()


def _told(notes: Notes, game: Game | None) -> dict[str, Any]:
    played = {} if game is None else {"path": game.path, "seen": game.seen}
    return {"replies": dict(notes.replies), "asked": notes.asked, "whys": notes.whys} | played


def _share(name: str, rate: Callable[[list[metrics.Result]], metrics.Rate]) -> Metric:
    """Make a metric of Inspect from a rate; its value is NaN where there is nothing to count."""

    def compute(scores: list[SampleScore]) -> float:
        value = rate([metrics.Result.from_json((one.score.metadata or {})["result"]) for one in scores]).value
        return math.nan if value is None else value

    return metric(name=name, scores="unreduced")(lambda: compute)()


_RATES = {"tsr": metrics.tsr, "msr": metrics.msr, "ordered_msr": partial(metrics.msr, ordered=True)}


@scorer(metrics=[_share(name, rate) for name, rate in _RATES.items()])
def milestones() -> Scorer:
    """Scorer: whether a run reached every milestone; the metadata has the whole result."""

    async def score(state: TaskState, target: Target) -> Score:
        document = state.store.get("result")
        if document is None:
            instance, settings = parse(state.metadata["instance"]), Settings(**state.metadata["settings"])
            document = metrics.result_of(Run(header(instance, settings, name_of(state), state.epoch))).to_json()
        result = metrics.Result.from_json(document)
        said = ", ".join(f"{one.id} at tick {one.tick}" for one in result.outcomes if one.tick is not None)
        return Score(
            value=math.nan if result.failed is not None else float(result.is_done and bool(result.outcomes)),
            answer=f"{result.num_reached} of {len(result.outcomes)}",
            explanation=result.failed or said or "no milestone",
            metadata={"result": document},
        )

    return score


LOGS = Path("explore") / "logs"


@dataclass(frozen=True)
class Budget:
    """Limits of one command; `None` means no limit. Unanswered calls count, too; answers to earlier commands do not.

    Attributes:
        cost: In dollars, computed with `price`.
        price: Dollars for a million tokens read, and for a million tokens written.
    """

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    price: tuple[float, float] = (0.0, 0.0)


@dataclass
class Far:
    """Progress of an evaluation: `asked` counts all calls, answered or not; `tokens` is `None` if the server reports none."""

    done: int
    total: int
    answers: int = 0
    tokens: int | None = 0
    asked: int = 0
    cost: float = 0.0

    def check(self, budget: Budget) -> None:
        """Count one more call; raise a `CallError` if the budget does not allow it."""
        if self.tokens is None and (budget.tokens, budget.cost) != (None, None):
            raise CallError("the server does not say how many tokens it used, so only calls can be limited")
        spent = {"calls": self.asked, "tokens": self.tokens, "cost": self.cost}
        for name, number in spent.items():
            most = getattr(budget, name)
            if most is not None and number is not None and number >= most:
                raise CallError(f"the budget is spent: --max-{name} {most:,}; run the same command with a higher limit")
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
    """Let a model play each instance `epochs` times; read finished runs from their files and continue unfinished ones.

    Args:
        model: The model's name in Inspect, such as `openai/NAME` or `scripted/ahead`; with `at`, its name on that server.
        timeout_s: Seconds to wait for an answer; then the call is made again, up to `MOST_RETRIES` times.
        name: The model's name in tables; by default its own. Choose another name if runs under this name used another server.
        report: Called at each answer, and when a run is done.
    Raises:
        InstanceError: If an instance cannot be read.
        EvaluationError: If the model cannot be used.
    """
    how = (settings.protocol, settings.max_steps, settings.goal)
    task = explore(list(paths), *how, str(archive.root), name=name)
    data = str(archive.root.resolve())
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
    databases[data] = archive.database.address
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
        del databases[data]
        listeners.remove(count)
        gates.remove(gate)
    return log
