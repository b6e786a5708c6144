"""Automatic judges over an archive: learn from people's answers, measure, save, and answer every pair there is."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from interplay.errors import InterplayError, NotFoundError, unknown_name
from interplay.files import write_json
from interplay.judge.automatic import features
from interplay.judge.automatic.calibration import (
    Calibration,
    Contest,
    FactorAgreement,
    answers_saved,
    comparative_agreement,
    cross_validate,
    direct_agreement,
    fit_carefully,
    measure,
    saving_curve,
)
from interplay.judge.automatic.preference import (
    OUTCOMES,
    VERSION,
    PreferenceModel,
    Scale,
    YesNoModel,
    fit_preference,
    fit_yes_no,
    likeliest,
    optimizer,
)
from interplay.judge.automatic.vision import Ask, UnansweredPairError, VisionJudgeError, frames_of
from interplay.judge.checks import SWAPPED
from interplay.judge.matchmaking import Candidate, comparable
from interplay.judge.pool import Pool
from interplay.store import Database, automatic
from interplay.store.automatic import JudgedPair, ModelAnswer
from interplay.tasks import Question

MIN_ANSWERS = 20
MODEL_PREFIX = "model:"
"""How the names of automatic judges begin in the log."""

Array = NDArray[np.float64]
Progress = Callable[[str, int, int], None]


class AutomaticJudgeError(InterplayError):
    """An automatic judge that cannot be made or used; the text says what is missing."""


class Archive(Protocol):
    """What automatic judges need of `record.Archive`."""

    root: Path

    @property
    def database(self) -> Database:
        """Where answers and episodes are."""
        ...

    def video_path(self, episode_id: str) -> Path:
        """Where an episode's mp4 is or would be."""
        ...


@dataclass(frozen=True, eq=False)
class TaskJudge:
    """An automatic judge of one task.

    Attributes:
        name, task: Its name, without `MODEL_PREFIX`, and the task.
        scale: Which features it looks at, and how they are scaled.
        overall: Which episode is better.
        comparative, direct: Question id -> the model of its answers.
        calibration: How far it can be believed.
        seed: Of its random splits.
        trained_at: UTC, ISO 8601.
    """

    name: str
    task: str
    scale: Scale
    overall: PreferenceModel
    comparative: Mapping[str, PreferenceModel]
    direct: Mapping[str, YesNoModel]
    calibration: Calibration
    seed: int
    trained_at: str

    def strongest(self, count: int = 8) -> list[tuple[str, float]]:
        """The features that weigh most, each with what one spread of it adds to the log odds of being preferred."""
        weights = self.overall.weights / self.overall.temperature
        return [(self.scale.names[place], float(weights[place])) for place in np.argsort(-np.abs(weights))[:count]]

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "name": self.name,
            "task": self.task,
            "features_version": features.VERSION,
            "model_version": VERSION,
            "scale": self.scale.to_json(),
            "overall": self.overall.to_json(),
            "comparative": {question: model.to_json() for question, model in self.comparative.items()},
            "direct": {question: model.to_json() for question, model in self.direct.items()},
            "calibration": self.calibration.to_json(),
            "seed": self.seed,
            "trained_at": self.trained_at,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> TaskJudge:
        """The inverse of `to_json`."""
        return cls(
            name=document["name"],
            task=document["task"],
            scale=Scale.from_json(document["scale"]),
            overall=PreferenceModel.from_json(document["overall"]),
            comparative={name: PreferenceModel.from_json(one) for name, one in document["comparative"].items()},
            direct={name: YesNoModel.from_json(one) for name, one in document["direct"].items()},
            calibration=Calibration.from_json(document["calibration"]),
            seed=document["seed"],
            trained_at=document["trained_at"],
        )


class _Learnt(NamedTuple):
    """People's answers about one task as arrays; m answers, F features."""

    pairs: list[JudgedPair]
    scale: Scale
    left: Array
    right: Array
    outcomes: NDArray[np.str_]
    seeds: list[int]


def calibrate(
    archive: Archive,
    task: str,
    *,
    name: str = "preference",
    seed: int = 0,
    now: datetime,
    questions: Sequence[Question] = (),
    pool: Pool | None = None,
    on_progress: Progress = lambda what, done, total: None,
) -> TaskJudge:
    """Learn what people prefer in one task, and measure how well on answers about other seeds.

    Args:
        name: Of the judge.
        seed: Of the random splits.
        now: UTC.
        questions: Of the task's form; each that has enough answers gets a model of its own.
        pool: Candidates for the curve of answers saved; that of the built-in tasks when not given.
        on_progress: Called with what is being done, how much of it is, and of how much.
    Raises:
        AutomaticJudgeError: If there are too few answers, or they are all about one seed.
        InterplayError: If scipy is not installed.
    """
    _check_name(name)
    optimizer()  # or it would be missed after the videos were looked at
    rng = np.random.default_rng(seed)
    with archive.database.read() as session:
        pairs = automatic.judged_pairs(session, task)
        candidates = _candidates(archive, pool or Pool(), session, task)
    if len(pairs) < MIN_ANSWERS or len({pair.seed for pair in pairs}) < 2:
        raise AutomaticJudgeError(
            f"{task} has {len(pairs)} answers by people about {len({pair.seed for pair in pairs})} seeds; an automatic judge "
            f"needs {MIN_ANSWERS} about two or more\nCollect some:  interplay serve, then open /judge?task={task}"
        )
    wanted = {episode for pair in pairs for episode in (pair.left_episode, pair.right_episode)}
    table = _features(archive, wanted | {one.episode_id for one in candidates}, on_progress)
    learnt = _learn(pairs, table)
    model, penalty = fit_carefully(learnt.left, learnt.right, learnt.outcomes, learnt.seeds, rng)
    on_progress("checking it on unseen seeds", 0, 1)
    probabilities = cross_validate(learnt.left, learnt.right, learnt.outcomes, learnt.seeds, rng)
    calibration = measure(probabilities, learnt.outcomes, learnt.seeds, [_oriented(pair) for pair in pairs])
    comparative, direct, factors = _questions(learnt, questions, penalty, rng, on_progress)
    contest = _contest(learnt, candidates, table)
    curve = saving_curve(
        contest, penalty, rng, on_progress=lambda done, total: on_progress("how many answers it saves", done, total)
    )
    return TaskJudge(
        name=name,
        task=task,
        scale=learnt.scale,
        overall=model,
        comparative=comparative,
        direct=direct,
        calibration=replace(calibration, factors=factors, saving=curve, answers_saved=answers_saved(curve)),
        seed=seed,
        trained_at=now.isoformat(),
    )


def answer_all(
    archive: Archive,
    judge: TaskJudge,
    *,
    now: datetime,
    pool: Pool | None = None,
    on_progress: Progress = lambda what, done, total: None,
) -> int:
    """Let a judge say once what it expects of every pair of episodes that could be shown; returns how many were new.

    Its answers are logged under `model:NAME` with judge kind `model`, with its probabilities in `viewing`.
    """
    with archive.database.read() as session:
        candidates = _candidates(archive, pool or Pool(), session, judge.task)
    couples = _couples(candidates)
    table = _features(archive, {one.episode_id for one in candidates}, on_progress)
    if not couples:
        raise AutomaticJudgeError(
            f"there are no two agents with videos of the same seed in {judge.task}\n"
            f"Record some:  interplay play {judge.task} --agent random --seeds heldout"
        )
    names = judge.scale.names
    left = judge.scale(features.matrix([table[one.episode_id] for one, _ in couples], names))
    right = judge.scale(features.matrix([table[other.episode_id] for _, other in couples], names))
    overall = judge.overall.probabilities(left, right)
    outcomes = likeliest(overall)
    comparative = {question: likeliest(model.probabilities(left, right)) for question, model in judge.comparative.items()}
    direct = {question: (model.probabilities(left), model.probabilities(right)) for question, model in judge.direct.items()}
    answers = []
    for place, (one, other) in enumerate(couples):
        responses: dict[str, Any] = {question: OUTCOMES[said[place]] for question, said in comparative.items()}
        responses |= {
            question: {"left": bool(of_left[place] > 0.5), "right": bool(of_right[place] > 0.5)}
            for question, (of_left, of_right) in direct.items()
        }
        p = dict(zip(OUTCOMES, overall[place].round(6).tolist(), strict=True))
        reason = "Expected of people: " + ", ".join(f"{outcome} {share:.0%}" for outcome, share in p.items()) + "."
        outcome = OUTCOMES[outcomes[place]]
        answers.append(model_answer(judge.name, one, other, outcome, responses, reason, {"probabilities": p}))
    with archive.database.write() as session:
        return automatic.add_model_answers(session, judge=MODEL_PREFIX + judge.name, task=judge.task, answers=answers, now=now)


def answer_by_looking(
    archive: Archive,
    name: str,
    task: str,
    ask: Ask,
    *,
    now: Callable[[], datetime],
    rng: np.random.Generator,
    limit: int | None = None,
    pool: Pool | None = None,
    on_progress: Progress = lambda what, done, total: None,
) -> int:
    """Let a judge that looks at frames answer pairs it has not answered yet, in an order that is drawn; returns how many.

    Each answer is logged when it comes, so that a stop loses nothing and the next call goes on. A pair that gets no usable
    answer is counted and passed over; the next call asks about it again.

    Args:
        name: Of the judge; it is logged as `model:NAME`.
        ask: Frames of both -> the form.
        limit: At most so many pairs; all when None.
    Raises:
        VisionJudgeError: If the server does not answer, or if no pair got a usable answer.
    """
    _check_name(name)
    judge = MODEL_PREFIX + name
    with archive.database.read() as session:
        couples = _couples(_candidates(archive, pool or Pool(), session, task))
        known = automatic.answered_matches(session, judge, task)
    waiting = [couple for couple in couples if _match_id(name, *couple) not in known]
    drawn = [waiting[place] for place in rng.permutation(len(waiting))][:limit]
    failures: list[UnansweredPairError] = []
    for place, (one, other) in enumerate(drawn):
        on_progress(f"looking at pairs{f', {len(failures)} unanswered' if failures else ''}", place, len(drawn))
        left, right = (one, other) if rng.random() < 0.5 else (other, one)
        try:
            form = ask(*(frames_of(archive.video_path(side.episode_id)) for side in (left, right)))
        except UnansweredPairError as error:
            failures.append(error)
            continue
        answer = model_answer(name, left, right, form["outcome"], form["responses"], form["reason"], {})
        with archive.database.write() as session:
            automatic.add_model_answers(session, judge=judge, task=task, answers=[answer], now=now())
    if failures and len(failures) == len(drawn):
        raise VisionJudgeError(f"none of {len(drawn)} pairs got a usable answer; the first:\n{failures[0]}")
    return len(drawn) - len(failures)


def model_answer(
    name: str,
    left: Candidate,
    right: Candidate,
    outcome: str,
    responses: dict[str, Any],
    reason: str,
    viewing: dict[str, Any],
) -> ModelAnswer:
    """An answer of an automatic judge, under an id that is the same whenever it is asked about these two episodes."""
    return ModelAnswer(
        match_id=_match_id(name, left, right),
        task_hash=left.task_hash,
        seed=left.seed,
        left_episode=left.episode_id,
        right_episode=right.episode_id,
        left_agent=left.agent,
        right_agent=right.agent,
        outcome=outcome,
        responses=responses,
        reason=reason,
        viewing=viewing,
    )


def _match_id(name: str, left: Candidate, right: Candidate) -> str:
    key = "\n".join((MODEL_PREFIX, name, *sorted((left.episode_id, right.episode_id))))
    return hashlib.sha256(key.encode()).hexdigest()[:24]


# Files


def save(judge: TaskJudge, root: Path) -> Path:
    """Write a judge to `models/judges/NAME/` of a data folder; returns the file."""
    path = _path(root, judge.name, judge.task)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, judge.to_json())
    return path


def load(root: Path, name: str, task: str) -> TaskJudge:
    """Read a judge back.

    Raises:
        NotFoundError: With the nearest name that is there.
        AutomaticJudgeError: If its file cannot be read, or its features or its model are of another version.
    """
    _check_name(name)
    path = _path(root, name, task)
    if not path.is_file():
        known = [f"{one.name} of {one.task}" for one in load_all(root)]
        raise unknown_name(
            "automatic judge",
            f"{name} of {task}",
            known,
            hint=f"Make it:  interplay judge calibrate --task {task} --name {name}",
        )
    return _read(path)


def load_all(root: Path) -> list[TaskJudge]:
    """Every judge of a data folder that can be read, by name and task."""
    found = []
    for path in sorted((root / "models" / "judges").glob("*/*.json")):
        try:
            found.append(_read(path))
        except AutomaticJudgeError:
            continue  # `load` says why
    return found


def _read(path: Path) -> TaskJudge:
    try:
        document = json.loads(path.read_text())
        versions = document["features_version"], document.get("model_version")
        if versions == (features.VERSION, VERSION):
            return TaskJudge.from_json(document)
        reason = "it was made by another version of Interplay"
    except (ValueError, KeyError, TypeError) as error:
        reason = f"{type(error).__name__}: {error}"
    raise AutomaticJudgeError(f"{path} cannot be used: {reason}\nMake it anew:  interplay judge calibrate")


def _path(root: Path, name: str, task: str) -> Path:
    return root / "models" / "judges" / name / f"{task.replace('/', '--')}.json"


def _check_name(name: str) -> None:
    if not re.fullmatch(r"[A-Za-z0-9][\w.-]{0,63}", name):
        raise AutomaticJudgeError(f"an automatic judge is called by letters, digits and . _ -, up to 64 of them; got {name!r}")


# From episodes to arrays


def _candidates(archive: Archive, pool: Pool, session: Any, task: str) -> list[Candidate]:
    """Episodes of the pool whose video is there: an imported answer may be about one that is not."""
    try:
        return [one for one in pool.candidates(session, task) if archive.video_path(one.episode_id).is_file()]
    except NotFoundError:
        return []


def _couples(candidates: Iterable[Candidate]) -> list[tuple[Candidate, Candidate]]:
    """Every two episodes of different agents that may be compared, the agents in order of name."""
    by_place: dict[tuple[str, int], list[Candidate]] = {}
    for candidate in candidates:
        by_place.setdefault((candidate.task_hash, candidate.seed), []).append(candidate)
    return [
        (one, other) if one.agent < other.agent else (other, one)
        for _, together in sorted(by_place.items())
        for one, other in itertools.combinations(together, 2)
        if one.agent != other.agent and comparable(one, other)
    ]


def _features(archive: Archive, episodes: Iterable[str], on_progress: Progress) -> dict[str, dict[str, float]]:
    """Episode id -> features; what a video shows is kept in `media/features/`, because looking takes long."""
    folder = archive.root / "media" / "features"
    folder.mkdir(parents=True, exist_ok=True)
    with archive.database.read() as session:
        rows = automatic.episodes_by_id(session, sorted(episodes))
    found: dict[str, dict[str, float]] = {}
    for place, row in enumerate(rows):
        on_progress("looking at videos", place, len(rows))
        statistics = {one.name: one.number for one in row.statistics if one.number is not None}
        facts = features.from_facts(
            num_steps=row.num_steps,
            duration_s=row.duration_s,
            total_reward=row.total_reward,
            outcome=row.outcome,
            statistics=statistics,
        )
        found[row.id] = facts | _seen(archive.video_path(row.id), folder / f"{row.id}.json")
    return found


def _seen(video: Path, kept: Path) -> dict[str, float]:
    """Features of a video, from its file beside it if that is of this version; none where there is no video."""
    try:
        document = json.loads(kept.read_text())
        if document["version"] == features.VERSION:
            return document["features"]
    except (OSError, ValueError, KeyError):
        pass  # not looked at yet, or cut off while being written
    if not video.is_file():
        return {}
    try:
        seen = features.from_video(video)
    except ValueError as error:
        raise AutomaticJudgeError(str(error)) from error
    write_json(kept, {"version": features.VERSION, "features": seen})
    return seen


def _learn(pairs: list[JudgedPair], table: Mapping[str, Mapping[str, float]]) -> _Learnt:
    """Answers as arrays; features are scaled by the episodes that were judged."""
    judged = sorted({episode for pair in pairs for episode in (pair.left_episode, pair.right_episode)})
    names = sorted({name for episode in judged for name in table[episode]})
    scale = Scale.of(names, features.matrix([table[episode] for episode in judged], names))
    left = scale(features.matrix([table[pair.left_episode] for pair in pairs], names))
    right = scale(features.matrix([table[pair.right_episode] for pair in pairs], names))
    return _Learnt(pairs, scale, left, right, np.array([pair.outcome for pair in pairs]), [pair.seed for pair in pairs])


def _questions(
    learnt: _Learnt, questions: Sequence[Question], penalty: float, rng: np.random.Generator, on_progress: Progress
) -> tuple[dict[str, PreferenceModel], dict[str, YesNoModel], tuple[FactorAgreement, ...]]:
    """A model and its agreement with people for each question with enough answers."""
    comparative: dict[str, PreferenceModel] = {}
    direct: dict[str, YesNoModel] = {}
    factors: list[FactorAgreement] = []
    seeds = np.array(learnt.seeds)
    for place, question in enumerate(questions):
        on_progress("the other questions", place, len(questions))
        said = [pair.responses.get(question.id) for pair in learnt.pairs]
        if question.kind == "comparative":
            chosen = np.array([answer in OUTCOMES for answer in said])
            if chosen.sum() < MIN_ANSWERS:
                continue
            answers = np.array([answer for answer in said if answer in OUTCOMES])
            left, right = learnt.left[chosen], learnt.right[chosen]
            comparative[question.id] = fit_preference(left, right, answers, penalty=penalty)
            found = comparative_agreement(left, right, answers, seeds[chosen], penalty, rng)
        elif question.kind == "direct":
            chosen = np.array([isinstance(answer, Mapping) for answer in said])
            if chosen.sum() < MIN_ANSWERS:
                continue
            both = [answer for answer in said if isinstance(answer, Mapping)]
            rows = np.concatenate([learnt.left[chosen], learnt.right[chosen]])
            answers = [bool(one["left"]) for one in both] + [bool(one["right"]) for one in both]
            direct[question.id] = fit_yes_no(rows, answers, penalty=penalty)
            found = direct_agreement(rows, answers, np.tile(seeds[chosen], 2), penalty, rng)
        else:
            continue
        factors.append(FactorAgreement(question.id, question.factor, len(answers), *found))
    return comparative, direct, tuple(factors)


def _contest(learnt: _Learnt, candidates: Sequence[Candidate], table: Mapping[str, Mapping[str, float]]) -> Contest:
    """Answers and pairs by the agents' places among all that people answered about."""
    agents = tuple(sorted({agent for pair in learnt.pairs for agent in (pair.left_agent, pair.right_agent)}))
    place = {agent: number for number, agent in enumerate(agents)}
    couples = [couple for couple in _couples(candidates) if all(one.agent in place for one in couple)]
    names = learnt.scale.names
    return Contest(
        agents=agents,
        left_agent=np.array([place[pair.left_agent] for pair in learnt.pairs], np.int64),
        right_agent=np.array([place[pair.right_agent] for pair in learnt.pairs], np.int64),
        left=learnt.left,
        right=learnt.right,
        outcomes=learnt.outcomes,
        pair_agents=np.array([[place[one.agent], place[other.agent]] for one, other in couples], np.int64).reshape(-1, 2),
        pair_left=learnt.scale(features.matrix([table[one.episode_id] for one, _ in couples], names)),
        pair_right=learnt.scale(features.matrix([table[other.episode_id] for _, other in couples], names)),
    )


def _oriented(pair: JudgedPair) -> tuple[tuple[str, str], str]:
    """The two episodes in order of id, and the outcome as seen in that order."""
    if pair.left_episode < pair.right_episode:
        return (pair.left_episode, pair.right_episode), pair.outcome
    return (pair.right_episode, pair.left_episode), SWAPPED[pair.outcome]
