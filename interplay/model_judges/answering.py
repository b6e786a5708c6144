"""Let model judges answer pairs of episodes, and log each answer under the judge's name."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np

from interplay.judge.pairing.candidates import Candidates
from interplay.judge.pairing.matchmaking import Candidate
from interplay.model_judges.features import ModelJudgeError, Progress, couples_to_answer, features_of, matrix
from interplay.model_judges.outcomes import OUTCOMES, UNDECIDED, likeliest
from interplay.model_judges.task_judge import MODEL_PREFIX, TaskJudge, check_name, has_learnt
from interplay.model_judges.vision import Ask, UnansweredPairError, VisionJudgeError, frames_of
from interplay.record import Archive
from interplay.store.judging import model_judges as answers_store
from interplay.store.judging.model_judges import ModelAnswer


class Answered(NamedTuple):
    """Number of a judge's new answers, and of pairs whose episodes the judge cannot tell apart."""

    num_new: int
    num_undecided: int


def answer_all(
    archive: Archive,
    judge: TaskJudge,
    *,
    now: datetime,
    offered: Candidates | None = None,
    on_progress: Progress = lambda what, done, total: None,
) -> Answered:
    """Log, under `model:NAME`, a judge's expected answer about every pair of episodes that could be shown.

    The judge gives no answer about a pair if it cannot tell the episodes apart, because it could only guess.

    Raises:
        ModelJudgeError: If there is no pair of videos, or if the judge has learnt nothing.
    """
    if not judge.strongest(1):
        raise ModelJudgeError(
            f"{MODEL_PREFIX}{judge.name} has learnt nothing about {judge.task}: no feature predicts which episode people "
            f"prefer\nCollect more answers, then:  interplay judge calibrate --task {judge.task} --name {judge.name}"
        )
    with archive.database.read() as session:
        shown = couples_to_answer(archive, offered or Candidates(), session, judge.task)
    table = features_of(archive, {one.episode_id for couple in shown for one in couple}, on_progress)
    names = judge.scale.names
    weighing = {name for name, _ in judge.strongest(len(names))}
    couples = [couple for couple in shown if not any(weighing.isdisjoint(table[one.episode_id]) for one in couple)]
    left = judge.scale(matrix([table[one.episode_id] for one, _ in couples], names))
    right = judge.scale(matrix([table[other.episode_id] for _, other in couples], names))
    overall = judge.overall.probabilities(left, right)
    outcomes = likeliest(overall)
    comparative = {question: likeliest(model.probabilities(left, right)) for question, model in judge.comparative.items()}
    direct = {question: (model.probabilities(left), model.probabilities(right)) for question, model in judge.direct.items()}
    answers = []
    for place, (one, other) in enumerate(couples):
        if outcomes[place] == UNDECIDED:
            continue
        responses: dict[str, Any] = {
            question: OUTCOMES[said[place]] for question, said in comparative.items() if said[place] != UNDECIDED
        }
        responses |= {
            question: {"left": bool(of_left[place] > 0.5), "right": bool(of_right[place] > 0.5)}
            for question, (of_left, of_right) in direct.items()
        }
        p = dict(zip(OUTCOMES, overall[place].round(6).tolist(), strict=True))
        reason = "Expected of people: " + ", ".join(f"{outcome} {share:.0%}" for outcome, share in p.items()) + "."
        outcome = OUTCOMES[outcomes[place]]
        answers.append(model_answer(judge.name, one, other, outcome, responses, reason, {"probabilities": p}))
    with archive.database.write() as session:
        num_new = answers_store.add_model_answers(
            session, judge=MODEL_PREFIX + judge.name, task=judge.task, answers=answers, now=now
        )
    return Answered(num_new, len(shown) - len(answers))


def answer_by_looking(
    archive: Archive,
    name: str,
    task: str,
    ask: Ask,
    *,
    now: Callable[[], datetime],
    rng: np.random.Generator,
    limit: int | None = None,
    offered: Candidates | None = None,
    on_progress: Progress = lambda what, done, total: None,
) -> int:
    """Let a vision judge answer pairs that it has not answered yet, in random order; return the number of new answers.

    Each answer is logged at once, so that an interruption loses nothing and the next call continues. A pair without a usable
    answer is skipped; the next call asks about it again.

    Raises:
        ModelJudgeError: If there is no pair of videos, or if a judge of this name has learnt from people's answers.
        VisionJudgeError: If the server does not answer, or if no pair got a usable answer.
    """
    check_name(name)
    if has_learnt(archive.root, name, task):
        raise ModelJudgeError(
            f"{MODEL_PREFIX}{name} is a judge that learnt from people's answers about {task}; a vision judge needs "
            "another name\nChoose one:  --name eye"
        )
    judge = MODEL_PREFIX + name
    with archive.database.read() as session:
        couples = couples_to_answer(archive, offered or Candidates(), session, task)
        known = answers_store.answered_matches(session, judge, task)
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
            answers_store.add_model_answers(session, judge=judge, task=task, answers=[answer], now=now())
    if failures and len(failures) == len(drawn):
        raise VisionJudgeError(f"none of {len(drawn)} pairs got a usable answer; the first error:\n{failures[0]}")
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
    """Make an answer of a model judge; its id is always the same for the same judge, seat and two episodes."""
    return ModelAnswer(
        match_id=_match_id(name, left, right),
        task_hash=left.task_hash,
        seed=left.seed,
        seat=left.seat,
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
    seat = [left.seat] if left.seat != "player" else []  # tasks without named seats: ids of earlier answers stay
    key = "\n".join((MODEL_PREFIX, name, *sorted((left.episode_id, right.episode_id)), *seat))
    return hashlib.sha256(key.encode()).hexdigest()[:24]
