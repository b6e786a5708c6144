"""The evaluation as an Inspect task: logs, viewer, limits, retries and scoring work as with any other task.

inspect eval interplay/explore -T paths=instances -T protocol=paper --model openai/NAME
inspect view
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import LimitExceededError

import interplay.record
from interplay.explore import checking
from interplay.explore.evaluation import metrics
from interplay.explore.evaluation.calls import Calls, listeners, without_keys
from interplay.explore.evaluation.game import Game
from interplay.explore.evaluation.playing import Notes, Player, RefusedError
from interplay.explore.evaluation.providers import AT_ADDRESS, server_of
from interplay.explore.evaluation.runs import FOLDER, Run, RunError, RunFile, check_server, header, read
from interplay.explore.evaluation.settings import Settings, goal_text, instructions
from interplay.explore.instance import Instance, load_all, parse
from interplay.explore.published import files_of
from interplay.record import Archive

_SAMPLING = ("temperature", "top_p", "top_k", "seed", "max_tokens", "effort", "reasoning_effort", "reasoning_tokens")
"""Options of Inspect with which a model is another player."""


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
    """Instances, played by a model and recorded in a data folder.

    Args:
        paths: Instances as `files_of` takes them, such as `published`; in one text with commas between.
        protocol: See `settings.PROTOCOLS`.
        max_steps: Ticks of a run at most.
        goal: See `settings.GOALS`.
        data: Folder of episodes and runs.
        database: Address of its database; SQLite in the folder by default.
        name: Name in tables; the model's own by default.
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
    """Solver that plays the instance of a sample; a finished run is read, an unfinished one continues."""

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
        with closing(run_file) as file, closing(interplay.record.open(data, database)) as archive:
            if file.run.end is None:
                try:
                    await _attempt(file, archive, instance, settings, state)
                finally:
                    _tell()
                    state.store.set("result", metrics.result_of(read(path)).to_json())
            else:
                _tell()
                _seal(archive, file.run.begin["episode"] if file.run.begin else "")
                state.store.set("result", metrics.result_of(file.run).to_json())
        state.completed = True
        return state

    return solve


def _tell() -> None:
    for listener in listeners:
        listener(None)


def name_of(state: TaskState, name: str = "") -> str:
    """Given name, or the model's own, with its sampling options."""
    said = get_model().config.model_dump(include=set(_SAMPLING), exclude_none=True)
    return " ".join(
        [name or str(state.model).removeprefix(AT_ADDRESS), *(f"{key}={said[key]}" for key in _SAMPLING if key in said)]
    )


def _seal(archive: Archive, episode: str) -> None:
    """Seal a recording that was whole when its process was killed."""
    for path in sorted(archive.journal_folder.glob(f"{episode}.*.arrows"))[:1]:
        archive.seal(path)


async def _attempt(file: RunFile, archive: Archive, instance: Instance, settings: Settings, state: TaskState) -> None:
    """Play a run; it ends, or fails with an error that holds no key."""
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
    if game is not None:
        game.finish("quit" if ended == "limit" else str(ended))
        end = {"outcome": ended, "said_done": game.said_done, "num_steps": game.num_steps, "reached": game.reached}
        file.append({"end": end | _told(notes, game)})
        game.seal()


def _told(notes: Notes, game: Game | None) -> dict[str, Any]:
    played = {} if game is None else {"path": game.path, "seen": game.seen}
    return {"replies": dict(notes.replies), "asked": notes.asked, "whys": notes.whys} | played


# Scores


def _share(name: str, rate: Callable[[list[metrics.Result]], metrics.Rate]) -> Metric:
    """A metric of Inspect; NaN where there is nothing to count."""

    def compute(scores: list[SampleScore]) -> float:
        value = rate([metrics.Result.from_json((one.score.metadata or {})["result"]) for one in scores]).value
        return math.nan if value is None else value

    return metric(name=name, scores="unreduced")(lambda: compute)()


_RATES = {"tsr": metrics.tsr, "msr": metrics.msr, "ordered_msr": partial(metrics.msr, ordered=True)}


@scorer(metrics=[_share(name, rate) for name, rate in _RATES.items()])
def milestones() -> Scorer:
    """Whether every milestone of a run was reached; the whole result is in the metadata."""

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
