"""`calibrate`: learn what people prefer in one task, and measure how reliable the predictions are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from interplay.judge.pairing.candidates import Candidates
from interplay.judge.pairing.matchmaking import Candidate
from interplay.model_judges import outcomes
from interplay.model_judges.calibration import FactorAgreement, gain_low, measure, people_agreement, split
from interplay.model_judges.cross_validation import (
    comparative_agreement,
    cross_validate,
    direct_agreement,
    fit_carefully,
    leave_agents_out,
    names_only,
)
from interplay.model_judges.features import (
    ModelJudgeError,
    Progress,
    candidates_with_videos,
    couples_of,
    features_of,
    known,
    matrix,
)
from interplay.model_judges.outcomes import OUTCOMES
from interplay.model_judges.preference import (
    PreferenceModel,
    Scale,
    YesNoModel,
    fit_preference,
    fit_yes_no,
    optimizer,
)
from interplay.model_judges.saving import Contest, Expect, answers_saved, saving_curve, virtual_wins
from interplay.model_judges.task_judge import TaskJudge, check_name
from interplay.record import Archive
from interplay.store.judging import model_judges as answers_store
from interplay.store.judging.model_judges import JudgedPair
from interplay.tasks import Question
from interplay.wording import amount

MIN_ANSWERS = 20

Array = NDArray[np.float64]


class _Learnt(NamedTuple):
    """People's answers about one task as arrays, for m answers and F features."""

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
    offered: Candidates | None = None,
    on_progress: Progress = lambda what, done, total: None,
) -> TaskJudge:
    """Learn what people prefer in one task, and measure how well this predicts answers about other seeds.

    Each of the form's `questions` that has enough answers gets its own model. `offered` has the candidates for the curve of
    saved answers; by default these are the candidates of the built-in tasks.

    Raises:
        ModelJudgeError: If too few answers are about episodes with features, or if all are about one seed.
        InterplayError: If scipy is not installed.
    """
    check_name(name)
    optimizer()  # or it would be missed after the videos were looked at
    rng = np.random.default_rng(seed)
    with archive.database.read() as session:
        pairs = answers_store.judged_pairs(session, task)
        candidates = candidates_with_videos(archive, offered or Candidates(), session, task)
    _check_enough(task, pairs, 0)
    wanted = {episode for pair in pairs for episode in (pair.left_episode, pair.right_episode)}
    table = features_of(archive, wanted | {one.episode_id for one in candidates}, on_progress)
    there = known(table)
    num_all, pairs = len(pairs), [pair for pair in pairs if pair.left_episode in there and pair.right_episode in there]
    _check_enough(task, pairs, num_all - len(pairs))
    learnt = _learn(pairs, table)
    model, penalty = fit_carefully(learnt.left, learnt.right, learnt.outcomes, learnt.seeds, rng)
    on_progress("checking it on unseen seeds", 0, 1)
    probabilities = cross_validate(learnt.left, learnt.right, learnt.outcomes, learnt.seeds, rng)
    calibration = measure(probabilities, learnt.outcomes, learnt.seeds, [one[:2] for one in outcomes.overall(pairs)])
    agents = [(pair.left_agent, pair.right_agent) for pair in pairs]
    on_progress("checking it on agents left out", 0, 1)
    unseen, is_told = leave_agents_out(
        learnt.left, learnt.right, learnt.outcomes, agents, rng, penalty=penalty, temperature=model.temperature
    )
    by_name = names_only(agents, learnt.outcomes, learnt.seeds, rng)
    comparative, direct, factors = _questions(learnt, questions, penalty, rng, on_progress)
    contest = Contest.of(pairs)
    curve = saving_curve(
        contest, _expect(contest, learnt, candidates, table, penalty), rng,
        on_progress=lambda done, total: on_progress("how many answers it saves", done, total),
    )  # fmt: skip
    return TaskJudge(
        name=name,
        task=task,
        scale=learnt.scale,
        overall=model,
        comparative=comparative,
        direct=direct,
        calibration=replace(
            calibration,
            factors=factors,
            saving=curve,
            answers_saved=answers_saved(curve),
            num_left_out=num_all - len(pairs),
            left_out=split(unseen[is_told], learnt.outcomes[is_told]),
            names_only=split(by_name, learnt.outcomes),
            gain_over_names_low=gain_low(probabilities, by_name, learnt.outcomes),
        ),
        seed=seed,
        trained_at=now.isoformat(),
    )


def _check_enough(task: str, pairs: Sequence[JudgedPair], num_left_out: int) -> None:
    num_seeds = len({pair.seed for pair in pairs})
    if len(pairs) >= MIN_ANSWERS and num_seeds >= 2:
        return
    seeds = amount(num_seeds, "seed")
    needs = f"a model judge needs {MIN_ANSWERS} answers about two seeds or more"
    if num_left_out:
        raise ModelJudgeError(
            f"{task} has {len(pairs)} answers by people about {seeds} to learn from, and {needs}; "
            f"{num_left_out:,} of {len(pairs) + num_left_out:,} answers were left out, as no video of their episodes is here\n"
            "Import the videos:  interplay judge import FILE --videos DIR"
        )
    raise ModelJudgeError(
        f"{task} has {len(pairs)} answers by people about {seeds}; {needs}\n"
        f"Collect some:  interplay serve, then open /judge?task={task}"
    )


def _learn(pairs: list[JudgedPair], table: Mapping[str, Mapping[str, float]]) -> _Learnt:
    """Return the answers as arrays; features are scaled by their values in the judged episodes."""
    judged = sorted({episode for pair in pairs for episode in (pair.left_episode, pair.right_episode)})
    names = sorted({name for episode in judged for name in table[episode]})
    scale = Scale.of(names, matrix([table[episode] for episode in judged], names))
    left = scale(matrix([table[pair.left_episode] for pair in pairs], names))
    right = scale(matrix([table[pair.right_episode] for pair in pairs], names))
    return _Learnt(pairs, scale, left, right, np.array([pair.outcome for pair in pairs]), [pair.seed for pair in pairs])


def _questions(
    learnt: _Learnt, questions: Sequence[Question], penalty: float, rng: np.random.Generator, on_progress: Progress
) -> tuple[dict[str, PreferenceModel], dict[str, YesNoModel], tuple[FactorAgreement, ...]]:
    comparative: dict[str, PreferenceModel] = {}
    direct: dict[str, YesNoModel] = {}
    factors: list[FactorAgreement] = []
    seeds = np.array(learnt.seeds)
    for place, question in enumerate(questions):
        on_progress("the other questions", place, len(questions))
        said = [pair.responses.get(question.id) for pair in learnt.pairs]
        if question.kind == "comparative":
            chosen = np.array([answer in OUTCOMES for answer in said])
            if chosen.sum() < MIN_ANSWERS or len(set(seeds[chosen])) < 2:
                continue
            answers = np.array([answer for answer in said if answer in OUTCOMES])
            left, right = learnt.left[chosen], learnt.right[chosen]
            comparative[question.id] = fit_preference(left, right, answers, penalty=penalty)
            found = comparative_agreement(left, right, answers, seeds[chosen], penalty, rng)
        elif question.kind == "direct":
            chosen = np.array([isinstance(answer, Mapping) for answer in said])
            if chosen.sum() < MIN_ANSWERS or len(set(seeds[chosen])) < 2:
                continue
            both = [answer for answer in said if isinstance(answer, Mapping)]
            rows = np.concatenate([learnt.left[chosen], learnt.right[chosen]])
            answers = [bool(one["left"]) for one in both] + [bool(one["right"]) for one in both]
            direct[question.id] = fit_yes_no(rows, answers, penalty=penalty)
            found = direct_agreement(rows, answers, np.tile(seeds[chosen], 2), penalty, rng)
        else:
            continue
        agree = people_agreement([one[:2] for one in outcomes.to_question(question, learnt.pairs)])
        factors.append(FactorAgreement(question.id, question.factor, len(answers), *found, *agree))
    return comparative, direct, tuple(factors)


def _expect(
    contest: Contest,
    learnt: _Learnt,
    candidates: Sequence[Candidate],
    table: Mapping[str, Mapping[str, float]],
    penalty: float,
) -> Expect:
    """Make a function that fits a model to some of the answers and returns the agents' expected wins over each other."""
    place = {agent: number for number, agent in enumerate(contest.agents)}
    couples = [couple for couple in couples_of(candidates) if all(one.agent in place for one in couple)]
    pair_agents = np.array([[place[one.agent], place[other.agent]] for one, other in couples], np.int64).reshape(-1, 2)
    left, right = (
        learnt.scale(matrix([table[couple[side].episode_id] for couple in couples], learnt.scale.names)) for side in (0, 1)
    )

    def expect(drawn: NDArray[np.int64]) -> Array:
        model = fit_preference(learnt.left[drawn], learnt.right[drawn], learnt.outcomes[drawn], penalty=penalty)
        return virtual_wins(len(place), pair_agents, model.probabilities(left, right))

    return expect
