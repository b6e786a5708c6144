"""Matches: served to judges, open, answered or released."""

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

from interplay.store.models import Answer, JudgingAgreement, Match, Problem, Retraction

# Statements of every serve and every answer are built once, here: building one takes longer than running it. They run on the
# session's connection, because rows as objects that are watched for changes cost three times as much as rows.

STANDS = Answer.sequence.not_in(select(Retraction.sequence))
"""Answers that their judges have not taken back."""
TAKEN_BACK = select(Answer.match_id).join(Retraction, Retraction.sequence == Answer.sequence)
"""Matches whose answers their judges have taken back; they stay answered."""
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
_RELEASE_UNSEEN = update(Match).where(_IS_OPEN, Match.seen_at < bindparam("seen_before")).values(released_at=bindparam("now"))
_RELEASE_UNTOUCHED = (
    update(Match)
    .where(_IS_OPEN, Match.seen_at == Match.served_at, Match.served_at < bindparam("served_before"))
    .values(released_at=bindparam("now"))
)
_OTHER = aliased(Match)


def _shows(match: type[Match]) -> ColumnElement[bool]:
    """Whether a match shows the two episodes, or the two segments of them, that `_about` names, in either order."""
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
    """A match that a judge has open; the answer to one that `informs` will rate."""

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


def is_pair_open(session: Session, match: Match) -> bool:
    return session.connection().scalar(_OPEN_SHOWING, _sides(match)) is not None


def pairs_shown_to(session: Session, judge: str, task: str) -> list[tuple[int, frozenset[str]]]:
    rows = session.connection().execute(_SHOWN_TO, {"judge": judge, "task": task})
    return [(seed, frozenset((left, right))) for seed, left, right in rows]


def times_shown(session: Session, task: str, a: str, b: str) -> Counter[frozenset[str]]:
    """How often each pair of episodes of two agents was served to anyone."""
    rows = session.connection().execute(_TIMES_SHOWN, {"task": task, "a": a, "b": b})
    return Counter(frozenset((left, right)) for left, right in rows)


def first_task_of(session: Session, judge: str, study: str) -> str | None:
    query = select(Match.task).where(Match.judge == judge, Match.study == study).order_by(Match.served_at, Match.id)
    return session.scalar(query.limit(1))


def unanswered_purpose(session: Session, judge: str, study: str) -> str | None:
    """Purpose of the match this judge was served last in a study; None without one, or it has its answer."""
    row = session.connection().execute(_LAST_SERVED, {"judge": judge, "study": study}).first()
    return None if row is None or row.answered_at is not None else row.purpose


def matches_to_repeat(session: Session, judge: str, study: str) -> list[tuple[Match, str]]:
    """Matches, no checks, that this judge answered in a study and has not answered again, oldest first, each with the outcome
    given; those about segments that they could not tell are left out."""
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
    """One match as it is now; changes to what is returned go nowhere."""
    row = session.connection().execute(_MATCH, {"match_id": match_id}).first()
    return None if row is None else Match(**row._asdict())


def is_withdrawn(session: Session, match_id: str) -> bool:
    """Whether an unanswered match shows a game whose player no longer agrees to that."""
    return bool(session.connection().scalar(_IS_WITHDRAWN, {"match_id": match_id}))


def add_match(session: Session, match: Match) -> None:
    values = {column.key: getattr(match, column.key) for column in inspect(Match).column_attrs}
    # What is not there is left out: a JSON column given None would hold JSON's null, which is something.
    values = {name: value for name, value in values.items() if value is not None}
    session.connection().execute(_ADD_MATCH, values)


def open_match_of(session: Session, judge: str) -> Match | None:
    return _match(session, session.connection().scalar(_OPEN_OF_JUDGE, {"judge": judge}))


def drafted_match_of(session: Session, judge: str, study: str | None) -> Match | None:
    """The released match of a study this judge last wrote something for."""
    return _match(session, session.connection().scalar(_DRAFTED_OF_JUDGE, {"judge": judge, "study": study}))


def _match(session: Session, match_id: str | None) -> Match | None:
    return None if match_id is None else session.get(Match, match_id)


def touch(
    session: Session, match_id: str, judge: str, study: str | None, now: datetime, draft: dict[str, Any] | None = None
) -> bool:
    """Note a heartbeat of an open match, and what was filled in so far if anything is given; False if there is no such
    open match of this judge, a person's being one of the study they work in."""
    values: dict[str, Any] = {"match_id": match_id, "of_judge": judge, "of_study": study, "now": now}
    if draft is None:
        return _rowcount(session, _TOUCH, values) == 1
    return _rowcount(session, _TOUCH_WITH_DRAFT, values | {"new_draft": draft}) == 1


def release(session: Session, match: Match, now: datetime) -> None:
    """Release a match that is not answered, see `was_given_back`. Its draft goes, or it would be served again for what was
    written."""
    _rowcount(session, _RELEASE, {"match_id": match.id, "now": now})


def add_problem(session: Session, match: Match, *, kind: str, words: str, now: datetime) -> None:
    session.add(Problem(match_id=match.id, judge=match.judge, kind=kind, words=words, created_at=now))
    session.flush()


def last_problems(session: Session, limit: int) -> list[tuple[Problem, Match]]:
    query = select(Problem, Match).join(Match, Match.id == Problem.match_id).order_by(Problem.id.desc()).limit(limit)
    return [(problem, match) for problem, match in session.execute(query)]


def release_open_of(session: Session, judge: str, now: datetime, *, study: str | None = None) -> int:
    """Take back the open match of this judge, in one study or at all; returns how many there were. A draft stays."""
    mine = update(Match).where(Match.judge == judge, _IS_OPEN)
    return _rowcount(session, (mine if study is None else mine.where(Match.study == study)).values(released_at=now), {})


def release_showing(session: Session, episode_id: str, now: datetime) -> int:
    """Take back every unanswered match that shows an episode, as if its judge had released it; returns how many."""
    shows = or_(Match.left_episode_id == episode_id, Match.right_episode_id == episode_id)
    showing = update(Match).where(
        Match.answered_at.is_(None), or_(Match.released_at.is_(None), Match.draft.is_not(None)), shows
    )
    return _rowcount(session, showing.values(released_at=now, seen_at=now, draft=null()), {})


def was_given_back(match: Match) -> bool:
    """Whether its judge released this match, which counts as a heartbeat; one released by silence had its last one before."""
    return match.released_at is not None and match.seen_at >= match.released_at


def release_unseen(session: Session, *, seen_before: datetime, now: datetime) -> int:
    """Release every open match without a heartbeat since `seen_before`; returns how many."""
    return _rowcount(session, _RELEASE_UNSEEN, {"seen_before": seen_before, "now": now})


def release_untouched(session: Session, *, served_before: datetime, now: datetime) -> int:
    """Release every open match that was served before a time and never had a heartbeat; returns how many."""
    return _rowcount(session, _RELEASE_UNTOUCHED, {"served_before": served_before, "now": now})


def has_answered_since(session: Session, match: Match) -> bool:
    """Whether the judge of this match answered another one about the same two episodes (or segments) after it was served."""
    return session.connection().scalar(_ANSWERED_SINCE, _about(match)) is not None


def mark_answered(session: Session, match: Match, now: datetime) -> bool:
    """Close a match for its answer, unless it has one or `has_answered_since` holds. The transaction must hold `lock`."""
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
    """Rows a change touched; objects the session already holds are not told of it."""
    return session.connection().execute(statement, values).rowcount
