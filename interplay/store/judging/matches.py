"""Matches: they are served to judges, and are then open, answered or released."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from operator import eq
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    String,
    and_,
    bindparam,
    exists,
    func,
    insert,
    inspect,
    null,
    or_,
    select,
    union_all,
    update,
)
from sqlalchemy.orm import Session, aliased

from interplay.store.locks import lock, try_lock
from interplay.store.models import Answer, JudgingAgreement, Match, Problem, Retraction

# Statements of every serve and every answer are built once, here: building one takes longer than running it. They run on the
# session's connection, because rows as objects that are watched for changes cost three times as much as rows.

STANDS = Answer.sequence.not_in(select(Retraction.sequence))
"""Condition: the answer's judge has not taken it back."""
TAKEN_BACK = select(Answer.match_id).join(Retraction, Retraction.sequence == Answer.sequence)
"""Matches whose answers were taken back by their judges; these matches stay answered."""
_IS_OPEN = and_(Match.answered_at.is_(None), Match.released_at.is_(None))
_OF_WHOLE_GAMES = Match.left_segment_id.is_(None)
_OPEN_PAIRS = (
    select(Match.left_agent, Match.right_agent, Match.left_episode_id, Match.right_episode_id, Match.purpose)
    .where(Match.task == bindparam("task"), _IS_OPEN, _OF_WHOLE_GAMES)
    .order_by(Match.served_at, Match.id)
)
_SHOWN_TO = select(Match.seed, Match.left_episode_id, Match.right_episode_id).where(
    Match.judge == bindparam("judge"),
    # Not compared as it is: SQLite would take the index on tasks, and read everybody's matches instead of one judge's.
    Match.task.op("||")("") == bindparam("task"),
    _OF_WHOLE_GAMES,
)
_LAST_SERVED = (
    select(Match.purpose, Match.answered_at)
    .where(Match.judge == bindparam("judge"), Match.study == bindparam("study"))
    .order_by(Match.served_at.desc(), Match.id)
    .limit(1)
)
_SHOWN_OF_AGENTS = select(Match.left_episode_id, Match.right_episode_id).where(Match.task == bindparam("task"), _OF_WHOLE_GAMES)
# Two searches of one index each: with OR and GROUP BY this takes SQLite five times as long.
_TIMES_SHOWN = union_all(
    _SHOWN_OF_AGENTS.where(Match.left_agent == bindparam("a"), Match.right_agent == bindparam("b")),
    _SHOWN_OF_AGENTS.where(Match.left_agent == bindparam("b"), Match.right_agent == bindparam("a")),
)
_OPEN_OF_JUDGE = select(Match.id).where(Match.judge == bindparam("judge"), _IS_OPEN).order_by(Match.served_at.desc()).limit(1)
_MATCH = select(*Match.__table__.columns).where(Match.id == bindparam("match_id"))
_IS_WITHDRAWN = select(
    exists().where(
        Match.id == bindparam("match_id"),
        Match.answered_at.is_(None),
        JudgingAgreement.episode_id.in_([Match.left_episode_id, Match.right_episode_id]),
        ~JudgingAgreement.agreed,
    )
)
_DRAFTED_OF_JUDGE = (
    select(Match.id)
    .where(Match.judge == bindparam("judge"), Match.draft.is_not(None), Match.answered_at.is_(None))
    .where(
        Match.released_at.is_not(None), func.coalesce(Match.study, "") == func.coalesce(bindparam("study", type_=String), "")
    )
    .order_by(Match.served_at.desc())
    .limit(1)
)
_TOUCH = (
    update(Match)
    .where(Match.id == bindparam("match_id"), Match.judge == bindparam("of_judge"), _IS_OPEN)
    .where(
        or_(
            Match.judge_kind != "person",
            func.coalesce(Match.study, "") == func.coalesce(bindparam("of_study", type_=String), ""),
        )
    )
    .values(seen_at=bindparam("now"))
)
_TOUCH_WITH_DRAFT = _TOUCH.values(draft=bindparam("new_draft", type_=Match.draft.type))
_RELEASE = (
    update(Match)
    .where(Match.id == bindparam("match_id"))
    .values(
        released_at=func.coalesce(Match.released_at, bindparam("now", type_=Match.released_at.type)),
        seen_at=bindparam("now"),
        draft=null(),
    )
)
_UNSEEN = Match.seen_at < bindparam("seen_before")
_UNTOUCHED = and_(Match.seen_at == Match.served_at, Match.served_at < bindparam("served_before"))
# These matches are of any judge, whose locks nobody holds here. What another transaction changes just now is skipped: its judge
# is there, and nobody waits for it.
_RELEASE_UNSEEN, _RELEASE_UNTOUCHED = (
    update(Match)
    .where(Match.id.in_(select(Match.id).where(_IS_OPEN, is_silent).with_for_update(skip_locked=True)))
    .values(released_at=bindparam("now"))
    for is_silent in (_UNSEEN, _UNTOUCHED)
)
_OTHER = aliased(Match)


def _shows(match: type[Match]) -> ColumnElement[bool]:
    """Return a condition: a match shows the two episodes (or segments) that `_about` names, in either order."""
    segments = [func.coalesce(one, 0) for one in (match.left_segment_id, match.right_segment_id)]
    shown = (match.left_episode_id, segments[0], match.right_episode_id, segments[1])
    left, right = (tuple(bindparam(name) for name in (side, f"{side}_segment")) for side in ("left", "right"))
    return or_(*(and_(*map(eq, shown, (*one, *other))) for one, other in ((left, right), (right, left))))


_ANSWERED_SINCE = (
    select(_OTHER.id)
    .where(_OTHER.judge == bindparam("of_judge"), _OTHER.id != bindparam("match_id"), _OTHER.answered_at > bindparam("since"))
    .where(_shows(_OTHER), _OTHER.id.not_in(TAKEN_BACK))
    .limit(1)
)
_OPEN_SHOWING = select(Match.id).where(_IS_OPEN, _shows(Match)).limit(1)
_ADD_MATCH = insert(Match)
_MARK_ANSWERED = (
    update(Match)
    .where(Match.id == bindparam("match_id"), Match.answered_at.is_(None), ~_ANSWERED_SINCE.exists())
    .values(answered_at=bindparam("now"), draft=null())
)


class OpenPair(NamedTuple):
    """A match that a judge has open; `informs` says whether its answer will count for ratings."""

    left: str
    right: str
    episodes: frozenset[str]
    informs: bool


def open_pairs(session: Session, task: str) -> list[OpenPair]:
    rows = session.connection().execute(_OPEN_PAIRS, {"task": task})
    return [
        OpenPair(left, right, frozenset((left_id, right_id)), purpose == "rating")
        for left, right, left_id, right_id, purpose in rows
    ]


def take_pair(session: Session, match: Match) -> bool:
    """Return whether no judge has the pair of a match open. Then no other transaction can take it until this one ends.
    A pair that another transaction takes at this moment counts as open."""
    sides = ((match.left_episode_id, match.left_segment_id), (match.right_episode_id, match.right_segment_id))
    if not try_lock(session, "pair", " ".join(sorted(f"{episode} {segment or 0}" for episode, segment in sides))):
        return False
    return session.connection().scalar(_OPEN_SHOWING, _sides(match)) is None


def pairs_shown_to(session: Session, judge: str, task: str) -> list[tuple[int, frozenset[str]]]:
    rows = session.connection().execute(_SHOWN_TO, {"judge": judge, "task": task})
    return [(seed, frozenset((left, right))) for seed, left, right in rows]


def times_shown(session: Session, task: str, a: str, b: str) -> Counter[frozenset[str]]:
    """Return how often each pair of episodes of two agents was served to any judge."""
    rows = session.connection().execute(_TIMES_SHOWN, {"task": task, "a": a, "b": b})
    return Counter(frozenset((left, right)) for left, right in rows)


def first_task_of(session: Session, judge: str, study: str) -> str | None:
    query = select(Match.task).where(Match.judge == judge, Match.study == study).order_by(Match.served_at, Match.id)
    return session.scalar(query.limit(1))


def unanswered_purpose(session: Session, judge: str, study: str) -> str | None:
    """Return the purpose of the match that this judge was served last in a study; None without a match or if it is answered."""
    row = session.connection().execute(_LAST_SERVED, {"judge": judge, "study": study}).first()
    return None if row is None or row.answered_at is not None else row.purpose


def matches_to_repeat(session: Session, judge: str, study: str) -> list[tuple[Match, str]]:
    """Return the matches that this judge answered once in a study, oldest first, with their outcomes.
    Checks are left out, and also segments about which the judge answered `na` (cannot tell)."""
    again = aliased(Match)
    query = (
        select(Match, Answer.outcome)
        .join(Answer, Answer.match_id == Match.id)
        .where(Match.judge == judge, Match.study == study, Match.purpose.in_(("rating", "segment")), Answer.outcome != "na")
        .where(
            STANDS,
            ~select(again.id)
            .where(
                again.repeat_of == Match.id, again.judge == judge, again.answered_at.is_not(None), again.id.not_in(TAKEN_BACK)
            )
            .exists(),
        )
        .order_by(Answer.sequence)
    )
    return [(match, outcome) for match, outcome in session.execute(query)]


def match_by_id(session: Session, match_id: str) -> Match | None:
    return session.get(Match, match_id)


def match_to_read(session: Session, match_id: str) -> Match | None:
    """Return one match as it is now; changes to the returned object are not stored."""
    row = session.connection().execute(_MATCH, {"match_id": match_id}).first()
    return None if row is None else Match(**row._asdict())


def is_withdrawn(session: Session, match_id: str) -> bool:
    """Return whether an unanswered match shows a game whose player no longer agrees."""
    return bool(session.connection().scalar(_IS_WITHDRAWN, {"match_id": match_id}))


def add_match(session: Session, match: Match) -> None:
    values = {column.key: getattr(match, column.key) for column in inspect(Match).column_attrs}
    # What is not there is left out: a JSON column given None would hold JSON's null, which is something.
    values = {name: value for name, value in values.items() if value is not None}
    session.connection().execute(_ADD_MATCH, values)


def open_match_of(session: Session, judge: str) -> Match | None:
    return _match(session, session.connection().scalar(_OPEN_OF_JUDGE, {"judge": judge}))


def drafted_match_of(session: Session, judge: str, study: str | None) -> Match | None:
    """Return the released match of a study for which this judge last saved a draft."""
    return _match(session, session.connection().scalar(_DRAFTED_OF_JUDGE, {"judge": judge, "study": study}))


def _match(session: Session, match_id: str | None) -> Match | None:
    return None if match_id is None else session.get(Match, match_id)


def touch(
    session: Session, match_id: str, judge: str, study: str | None, now: datetime, draft: dict[str, Any] | None = None
) -> bool:
    """Store a heartbeat of an open match and, if given, a draft of its answer.
    Return False if the judge has no such open match; for a person, the match must belong to the study that they work in."""
    values: dict[str, Any] = {"match_id": match_id, "of_judge": judge, "of_study": study, "now": now}
    if draft is None:
        return _rowcount(session, _TOUCH, values) == 1
    return _rowcount(session, _TOUCH_WITH_DRAFT, values | {"new_draft": draft}) == 1


def release(session: Session, match: Match, now: datetime) -> None:
    """Release a match without an answer because its judge wants this (see `was_given_back`).
    Its draft is deleted; otherwise the match would be served again because of the draft."""
    _rowcount(session, _RELEASE, {"match_id": match.id, "now": now})


def add_problem(session: Session, match: Match, *, kind: str, words: str, now: datetime) -> None:
    session.add(Problem(match_id=match.id, judge=match.judge, kind=kind, words=words, created_at=now))
    session.flush()


def last_problems(session: Session, limit: int) -> list[tuple[Problem, Match]]:
    query = select(Problem, Match).join(Match, Match.id == Problem.match_id).order_by(Problem.id.desc()).limit(limit)
    return [(problem, match) for problem, match in session.execute(query)]


def release_open_of(session: Session, judge: str, now: datetime, *, study: str | None = None) -> int:
    """Release the open match of this judge, in one study or in any; return the number of matches. Drafts are kept."""
    mine = update(Match).where(Match.judge == judge, _IS_OPEN)
    return _rowcount(session, (mine if study is None else mine.where(Match.study == study)).values(released_at=now), {})


def release_showing(session: Session, episode_id: str, now: datetime) -> int:
    """Release every unanswered match that shows an episode, as if its judge had released it; return the number of matches."""
    shows = or_(Match.left_episode_id == episode_id, Match.right_episode_id == episode_id)
    is_unanswered = and_(Match.answered_at.is_(None), or_(Match.released_at.is_(None), Match.draft.is_not(None)), shows)
    judges = session.scalars(select(Match.judge).where(is_unanswered)).all()
    if not judges:
        return 0
    lock(session, "judge", *judges)
    showing = update(Match).where(is_unanswered, Match.judge.in_(judges))
    return _rowcount(session, showing.values(released_at=now, seen_at=now, draft=null()), {})


def was_given_back(match: Match) -> bool:
    """Return whether the judge released this match. Such a release counts as a heartbeat; a release after silence does not."""
    return match.released_at is not None and match.seen_at >= match.released_at


def release_unseen(session: Session, *, seen_before: datetime, now: datetime) -> int:
    """Release every open match without a heartbeat since `seen_before`; return the number of matches."""
    return _rowcount(session, _RELEASE_UNSEEN, {"seen_before": seen_before, "now": now})


def release_untouched(session: Session, *, served_before: datetime, now: datetime) -> int:
    """Release every open match that was served before a time and never had a heartbeat; return the number of matches."""
    return _rowcount(session, _RELEASE_UNTOUCHED, {"served_before": served_before, "now": now})


def has_answered_since(session: Session, match: Match) -> bool:
    """Return whether the judge answered another match about the same two episodes (or segments) after this one was served."""
    return session.connection().scalar(_ANSWERED_SINCE, _about(match)) is not None


def mark_answered(session: Session, match: Match, now: datetime) -> bool:
    """Mark a match as answered, unless it is already or `has_answered_since` holds."""
    return _rowcount(session, _MARK_ANSWERED, _about(match) | {"now": now}) == 1


def _about(match: Match) -> dict[str, Any]:
    return {"of_judge": match.judge, "match_id": match.id, "since": match.served_at} | _sides(match)


def _sides(match: Match) -> dict[str, Any]:
    return {
        "left": match.left_episode_id,
        "left_segment": match.left_segment_id or 0,
        "right": match.right_episode_id,
        "right_segment": match.right_segment_id or 0,
    }


def _rowcount(session: Session, statement: Any, values: dict[str, Any]) -> int:
    """Return the number of changed rows; objects that the session already holds are not updated."""
    return session.connection().execute(statement, values).rowcount
