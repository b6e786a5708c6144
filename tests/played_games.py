"""Rows of games that people have played on this server."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from interplay.store import EpisodeRow, EpisodeSeat, PlaySession, SeatStatistic
from interplay.tasks import Task
from interplay.testing import START, add_task, episode_values


def add_game(
    session: Session,
    task: Task,
    people: Mapping[int, float],
    *,
    at: datetime = START,
    enrolment: str | None = None,
    statistics: Mapping[str, float] | None = None,
    **changes: Any,
) -> str:
    """Enter a game that people have played on this server, with their seats and the sessions in which they got them.

    Args:
        people: Number of a participant -> their score; they take the seats of the task in order.
        at: When it began.
        enrolment: Of the visit of a study that it belongs to.
        statistics: Of everybody in it, by name.
        changes: Columns of the episode that are otherwise.
    Returns:
        Its id.
    """
    add_task(session, task)
    first = next(iter(people))
    values = episode_values(task, f"participant-{first}", 1, actor_kind="human", created_at=at, participant_id=first)
    values |= {"id": f"{task.name}-{first}-{at:%d%H%M%S%f}", "total_reward": people[first]} | changes
    steps = {"num_steps": values["num_steps"]}
    held = [
        EpisodeSeat(
            seat=seat, actor=f"participant-{person}", actor_kind="human", total_reward=score, position=place,
            participant_id=person, **steps,
        )
        for place, (seat, (person, score)) in enumerate(zip(task.seats, people.items(), strict=False))
    ]  # fmt: skip
    session.add(EpisodeRow(**values, seats=held))
    session.flush()
    for one in held:
        session.add(
            PlaySession(
                id=f"{values['id']}-{one.seat}", task=task.id, task_hash=task.content_hash, seed=1, created_at=at,
                actor=one.actor, actor_kind="human", participant_id=one.participant_id, episode_id=values["id"],
                state="ended", seat=one.seat, enrolment_id=enrolment,
            )
        )  # fmt: skip
        for name, number in (statistics or {}).items():
            measure = {"kind": "float", "number": number, "counts": {}}
            session.add(SeatStatistic(episode_id=values["id"], seat=one.seat, actor=one.actor, name=name, **measure))
    session.flush()
    return values["id"]
