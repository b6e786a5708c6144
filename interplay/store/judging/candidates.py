"""Find the entrants and episodes that may be judged, and the studies that judge them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, CompoundSelect, and_, bindparam, exists, func, or_, select, union
from sqlalchemy.orm import Session, aliased

from interplay.store.episodes import UPLOADED
from interplay.store.models import (
    Entrant,
    EntrantEpisode,
    EpisodeRow,
    EpisodeSeat,
    JudgingAgreement,
    StudyRow,
    StudyVersion,
    TaskRow,
)

# Statements of every serve and every answer are built once, here: building one takes longer than running it. They run on the
# session's connection, because rows as objects that are watched for changes cost three times as much as rows.

_MAY_BE_SHOWN = and_(Entrant.approved_at.is_not(None), Entrant.withdrawn_at.is_(None))
_JUDGED_TASKS = select(Entrant.task).where(_MAY_BE_SHOWN).group_by(Entrant.task).having(func.count() > 1).order_by(Entrant.task)
_STATE = select(
    Entrant.name,
    select(func.count()).select_from(EpisodeRow).where(EpisodeRow.task == bindparam("task")).scalar_subquery(),
    # Of all tasks: an index holds its answer, while that of one task would be looked for row by row at every serve.
    select(func.max(EpisodeRow.created_at)).scalar_subquery(),
    select(func.count()).select_from(EntrantEpisode).scalar_subquery(),
    select(func.max(EntrantEpisode.added_at)).scalar_subquery(),
    select(func.count()).select_from(JudgingAgreement).where(JudgingAgreement.agreed).scalar_subquery(),
    select(func.max(JudgingAgreement.created_at)).scalar_subquery(),
).where(Entrant.task == bindparam("task"), _MAY_BE_SHOWN)
_IS_OF_PEOPLE = Entrant.origin.in_(("person", "people"))
_PERSON, _OTHER = aliased(EpisodeSeat), aliased(EpisodeSeat)
_ALONE = ~exists().where(
    _OTHER.episode_id == EpisodeSeat.episode_id,
    _OTHER.seat == EpisodeSeat.seat,
    _OTHER.actor != EpisodeSeat.actor,
    _OTHER.num_steps > 0,
)
"""Condition: only one owner acted in a seat. A seat that another owner took over is not ranked."""
_REFUSES = (
    _PERSON.episode_id == EpisodeRow.id,
    _PERSON.actor_kind == "human",
    ~exists().where(
        JudgingAgreement.episode_id == _PERSON.episode_id,
        JudgingAgreement.participant_id == _PERSON.participant_id,
        JudgingAgreement.agreed,
    ),
)
"""Conditions that find a person in a game who has not agreed that the game may be compared."""
ALL_AGREED = ~exists().where(*_REFUSES)
"""Condition: every person in a game agrees that it may be compared. Otherwise no judge sees the game."""
_ALL_NEEDED_AGREED = ~exists().where(
    *_REFUSES,
    # The video that was uploaded or published of a person needs no agreement here.
    or_(_PERSON.actor != Entrant.name, EpisodeRow.frames != UPLOADED, _IS_OF_PEOPLE),
)
"""Condition: every person whose agreement is needed agrees that an entrant's game may be compared."""


def brought(columns: Sequence[Any], *conditions: ColumnElement[bool], with_seat: bool = False) -> CompoundSelect:
    """Select columns of entrants and their episodes: episodes in which an agent held a seat alone, and entered episodes. Each
    episode comes once; `with_seat` gives a row for each seat that the entrant held, and the seat as the last column."""
    own = (
        select(*columns, *([EpisodeSeat.seat] if with_seat else []))
        .select_from(EpisodeSeat)
        .join(EpisodeRow, EpisodeRow.id == EpisodeSeat.episode_id)
        .join(Entrant, and_(EpisodeRow.task == Entrant.task, EpisodeSeat.actor == Entrant.name, ~_IS_OF_PEOPLE))
        .where(_ALONE)
    )
    entered = (
        select(*columns, *([EntrantEpisode.seat] if with_seat else []))
        .select_from(EpisodeRow)
        .join(EntrantEpisode, EntrantEpisode.episode_id == EpisodeRow.id)
        .join(Entrant, Entrant.id == EntrantEpisode.entrant_id)
        .where(_ALL_NEEDED_AGREED)
    )
    # With one OR no index would be used.
    return union(*(one.where(*conditions) for one in (own, entered)))


def _candidates(*conditions: ColumnElement[bool]) -> CompoundSelect:
    columns = [
        Entrant.name,
        EpisodeRow.task_hash,
        EpisodeRow.seed,
        EpisodeRow.id,
        EpisodeRow.num_steps,
        (EpisodeRow.outcome == "time_limit").label("was_cut"),
        exists().where(_PERSON.episode_id == EpisodeRow.id, _PERSON.participant_id.is_not(None)).label("has_people"),
    ]
    known = (Entrant.task == bindparam("task"), _MAY_BE_SHOWN, _ALL_NEEDED_AGREED)
    return brought(columns, *known, *conditions, with_seat=True)


_EPISODE = _candidates(EpisodeRow.id == bindparam("episode_id"))
_OF_TASK = _candidates(EpisodeRow.outcome != "interrupted")
_VERSIONS = select(_candidates().subquery().c.task_hash).distinct()
_CANDIDATES = _candidates(
    EpisodeRow.task_hash == bindparam("task_hash"),
    EpisodeRow.seed.in_(bindparam("seeds", expanding=True)),
    EpisodeRow.outcome != "interrupted",  # something broke; it says nothing about who played
)
_GAMES = select(EpisodeSeat.episode_id).where(EpisodeSeat.participant_id == bindparam("participant_id"))
_STUDY = select(StudyRow.content_hash, StudyRow.closed_at).where(StudyRow.id == bindparam("study"))


class JudgedStudy(NamedTuple):
    """The version of a study, and the time when it was closed."""

    content_hash: str
    closed_at: datetime | None


class CandidateRow(NamedTuple):
    """An episode that may be shown to judges, with one of its seats."""

    agent: str
    task_hash: str
    seed: int
    episode_id: str
    num_steps: int
    was_cut: bool
    has_people: bool
    seat: str


CandidatesState = frozenset[tuple[Any, ...]]
"""One tuple for each entrant: its name; the number of the task's episodes; the number of entered episodes and of agreements;
and the times of the newest episode, entry and agreement."""


def study(session: Session, study_id: str) -> JudgedStudy | None:
    row = session.connection().execute(_STUDY, {"study": study_id}).first()
    return None if row is None else JudgedStudy(*row)


def study_definition(session: Session, content_hash: str) -> dict[str, Any]:
    """Return the definition of one version of a study. It may hold pictures, so call this once."""
    return session.get_one(StudyVersion, content_hash).definition


def studies(session: Session) -> list[str]:
    return list(session.scalars(select(StudyRow.id).order_by(StudyRow.id)))


def judged_tasks(session: Session) -> list[str]:
    return list(session.connection().scalars(_JUDGED_TASKS))


def task_definition(session: Session, task_hash: str) -> dict[str, Any] | None:
    return session.scalar(select(TaskRow.definition).where(TaskRow.content_hash == task_hash))


def candidates_state(session: Session, task: str) -> CandidatesState:
    """Return a value that changes when the candidates of a task change.
    It has the entrants, the number of episodes, and the newest time at which an episode came, got its video, or was entered."""
    return frozenset(tuple(row) for row in session.connection().execute(_STATE, {"task": task}))


def candidate_versions(session: Session, task: str) -> list[str]:
    return sorted(session.scalars(_VERSIONS, {"task": task}))


def candidates(session: Session, task: str, task_hash: str, seeds: Sequence[int]) -> list[CandidateRow]:
    """Return entrants' episodes that may be judged: of one task version, with the given seeds, and not interrupted."""
    return _rows(session, _CANDIDATES, {"task": task, "task_hash": task_hash, "seeds": list(seeds)})


def candidates_of(session: Session, task: str) -> list[CandidateRow]:
    return _rows(session, _OF_TASK, {"task": task})


def games_of(session: Session, participant_id: int) -> set[str]:
    return set(session.connection().scalars(_GAMES, {"participant_id": participant_id}))


def candidates_in(session: Session, task: str, episode_id: str) -> list[CandidateRow]:
    """Return the rows of one episode of a task, with any seed: one for each approved entrant and each seat that it held."""
    return _rows(session, _EPISODE, {"task": task, "episode_id": episode_id})


def _rows(session: Session, query: CompoundSelect, values: dict[str, Any]) -> list[CandidateRow]:
    rows = session.connection().execute(query, values)
    return sorted((CandidateRow(*row) for row in rows), key=lambda one: (one.episode_id, one.agent, one.seat))
