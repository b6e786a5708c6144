"""Read all answers of a database (for rankings, agreement and bias), and find the tasks that can be judged."""

from __future__ import annotations

from interplay.errors import unknown_name
from interplay.judge.ratings.ratings import comparison
from interplay.rank import Comparison
from interplay.rank.agreement import Judgement
from interplay.rank.trueskill import Outcome
from interplay.store import Database
from interplay.store import judging as store
from interplay.store.judging.verdicts import full_answers, has_model_answers
from interplay.store.participants import judge_name
from interplay.store.study.visits import partners_compared

_SIDES: dict[str, Outcome] = {"first": "left", "same": "draw", "second": "right"}


def comparisons(database: Database) -> list[Comparison]:
    with database.read() as session:
        return [comparison(answer) for answer in store.answers(session)]


def partner_comparisons(database: Database, question: str) -> list[Comparison]:
    """Return people's answers to one question that compares two partners, from studies of play, oldest first.
    The first partner is `left`. Raises NotFoundError, with the nearest question, if the question was never answered."""
    with database.read() as session:
        answers = partners_compared(session)
    found = [one for one in answers if one.question == question]
    if not found:
        hint = "These are answers about two partners just met, of studies of play with [[questions.comparison]]."
        raise unknown_name("question", question, {one.question for one in answers}, hint=hint)
    return [
        Comparison(one.first, one.second, _SIDES[one.value], one.task, judge_name(one.participant_id), one.answered_at)
        for one in found
    ]


def judgements(database: Database, task: str | None = None) -> list[Judgement]:
    with database.read() as session:
        return [
            Judgement(
                judge=answer.judge,
                left=answer.left_episode,
                right=answer.right_episode,
                outcome=answer.outcome,
                task=answer.task,
                responses=answer.responses,
                num_reason_chars=len(answer.reason),
                duration_s=answer.duration_s,
            )
            for answer in full_answers(session, task)
        ]


def has_answers_of_models(database: Database) -> bool:
    with database.read() as session:
        return has_model_answers(session)


def judged_tasks(database: Database) -> list[str]:
    with database.read() as session:
        return store.judged_tasks(session)
