"""What was answered, read whole from a database: for rankings, for agreement and bias, and which tasks can be judged."""

from __future__ import annotations

from interplay.judge.ratings.ratings import comparison
from interplay.rank import Comparison
from interplay.rank.judgements import Judgement
from interplay.store import Database
from interplay.store import judging as store
from interplay.store.answers import full_answers
from interplay.store.boards import has_model_answers


def comparisons(database: Database) -> list[Comparison]:
    """Every answer that counts, in the order of the log, as ratings see it."""
    with database.read() as session:
        return [comparison(answer) for answer in store.answers(session)]


def judgements(database: Database, task: str | None = None) -> list[Judgement]:
    """Every answer that counts, of one task or all, as agreement and bias see it."""
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
    """Whether any model judge has answered."""
    with database.read() as session:
        return has_model_answers(session)


def judged_tasks(database: Database) -> list[str]:
    """Tasks with two entrants or more to compare, by id."""
    with database.read() as session:
        return store.judged_tasks(session)
