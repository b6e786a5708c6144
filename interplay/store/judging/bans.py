"""Bans: the answers of a banned judge do not count. A ban is a row that is never deleted; lifting it sets its end time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import Session

from interplay.store.judging import BANNED, STANDS, release_open_of
from interplay.store.locks import lock
from interplay.store.models import Answer, Ban, Match, Participant
from interplay.store.participants import judge_name

_BAN_OF = select(Ban.id).where(Ban.judge == bindparam("judge"), Ban.lifted_at.is_(None)).limit(1)


def banned(session: Session) -> frozenset[str]:
    return frozenset(session.connection().scalars(BANNED))


def is_banned(session: Session, judge: str) -> bool:
    return session.connection().scalar(_BAN_OF, {"judge": judge}) is not None


def ban(session: Session, *, judge: str, reason: str, now: datetime) -> bool:
    """Ban a judge: no answer of theirs counts, and their open match is released. Return False if they were banned already."""
    lock(session, "judge", judge)  # the judge is served nothing meanwhile, and is banned once
    if is_banned(session, judge):
        return False
    session.add(Ban(judge=judge, reason=reason, created_at=now))
    session.flush()
    release_open_of(session, judge, now)
    return True


def unban(session: Session, *, judge: str, now: datetime) -> bool:
    lock(session, "judge", judge)
    found = session.scalars(select(Ban).where(Ban.judge == judge, Ban.lifted_at.is_(None))).all()
    for row in found:
        row.lifted_at = now
    session.flush()
    return bool(found)


def bans(session: Session, *, lifted: bool = False) -> Sequence[Ban]:
    """Return every ban in force, oldest first; with `lifted` also lifted bans."""
    query = select(Ban).order_by(Ban.id)
    return session.scalars(query if lifted else query.where(Ban.lifted_at.is_(None))).all()


def known_judges(session: Session) -> list[str]:
    return sorted({*session.scalars(select(Match.judge).distinct()), *session.scalars(select(Answer.judge).distinct())})


def num_answers_of(session: Session, judges: Iterable[str], study: str | None = None) -> dict[str, int]:
    """Map each judge to the number of their answers that stand, checks included, in one study or in all."""
    query = select(Answer.judge, func.count()).where(Answer.judge.in_(list(judges)), STANDS).group_by(Answer.judge)
    return {judge: count for judge, count in session.execute(query if study is None else query.where(Answer.study == study))}


def judges_of_worker(session: Session, worker: str) -> list[str]:
    """Return every judge name in the log that belongs to a worker of a recruiting channel or of a published data set."""
    people = session.scalars(select(Participant.id).where(Participant.worker == worker).order_by(Participant.id))
    imported = [judge for judge in known_judges(session) if "/" in judge and judge.partition("/")[2] == worker]
    return [*(judge_name(number) for number in people), *imported]


def workers(session: Session) -> dict[str, str]:
    people = select(Participant.id, Participant.worker).where(Participant.worker.is_not(None))
    return {judge_name(number): worker for number, worker in session.execute(people) if worker is not None}
