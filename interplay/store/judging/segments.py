"""Segments of games: the segments of a study, the answers about them, and the reward that chooses the next pair."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

from sqlalchemy import and_, bindparam, exists, func, insert, or_, select
from sqlalchemy.orm import Session

from interplay.store.judging.candidates import ALL_AGREED, CandidateRow, candidates_of
from interplay.store.judging.log import BANNED, STANDS
from interplay.store.judging.matches import TAKEN_BACK
from interplay.store.models import Answer, Entrant, EpisodeRow, Match, Segment, SegmentGuide

_COLUMNS = (
    Segment.id, Segment.episode_id, Segment.first_step, Segment.last_step, Segment.agent, Segment.is_held_out,
    EpisodeRow.seed, EpisodeRow.task, EpisodeRow.task_hash,
)  # fmt: skip
_SEGMENTS = select(*_COLUMNS).join(EpisodeRow, EpisodeRow.id == Segment.episode_id).order_by(Segment.id)
_WITHDRAWN = exists().where(Entrant.name == Segment.agent, Entrant.task == EpisodeRow.task, Entrant.withdrawn_at.is_not(None))
_MAY_BE_SHOWN = _SEGMENTS.where(Segment.study_hash == bindparam("study_hash"), ALL_AGREED, ~_WITHDRAWN)
_PAIRS_SHOWN = (
    select(Match.left_segment_id, Match.right_segment_id)
    .where(Match.study == bindparam("study"), Match.purpose == "segment")
    .where(Match.judge_kind != "model", Match.judge.not_in(BANNED))
    .where(or_(Match.answered_at.is_not(None), Match.released_at.is_(None)), Match.id.not_in(TAKEN_BACK))
)
_COUNTS = and_(Answer.purpose == "segment", Answer.judge.not_in(BANNED), STANDS)
_NUM_ANSWERS = (
    select(func.count()).select_from(Answer).where(Answer.study == bindparam("study"), _COUNTS, Answer.judge_kind != "model")
)
_IN_ATTENTION = select(Match.left_segment_id).where(
    Match.study == bindparam("study"), Match.judge == bindparam("judge"), Match.purpose == "attention"
)
_NEWEST_GUIDE = (
    select(SegmentGuide.id, SegmentGuide.reward)
    .where(SegmentGuide.study == bindparam("study"))
    .order_by(SegmentGuide.id.desc())
    .limit(1)
)
_IDS_AT_ONCE = 500


class NewSegment(NamedTuple):
    """A new segment; its fields are the columns of `models.Segment`."""

    episode_id: str
    first_step: int
    last_step: int
    agent: str
    is_held_out: bool


class SegmentRow(NamedTuple):
    """A segment of a study, with facts of its episode."""

    id: int
    episode_id: str
    first_step: int
    last_step: int
    agent: str
    is_held_out: bool
    seed: int
    task: str
    task_hash: str

    @property
    def key(self) -> str:
        """Name of the segment in a guide's sums; it is the same in every version of a study."""
        return f"{self.episode_id}:{self.first_step}:{self.last_step}"


class Guide(NamedTuple):
    """The learned reward that chooses the next pair; a newer guide has another `id`."""

    id: int
    reward: str


class SegmentAnswer(NamedTuple):
    """An answer about two segments, and the seat that it is about; the seat is empty in a task with one seat."""

    outcome: str
    left: SegmentRow
    right: SegmentRow
    seat: str


def agreed_to(session: Session, episode_ids: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for start in range(0, len(episode_ids), _IDS_AT_ONCE):
        some = episode_ids[start : start + _IDS_AT_ONCE]
        found.update(session.scalars(select(EpisodeRow.id).where(EpisodeRow.id.in_(some), ALL_AGREED)))
    return found


def entered_by(session: Session, task: str, entrants: Collection[str]) -> list[CandidateRow]:
    return [row for row in candidates_of(session, task) if row.agent in entrants]


def add_segments(session: Session, study: str, study_hash: str, segments: Sequence[NewSegment]) -> None:
    rows = [{"study": study, "study_hash": study_hash, **segment._asdict()} for segment in segments]
    session.execute(insert(Segment), rows)


def entered_segment(session: Session, study: str, study_hash: str, segment: NewSegment) -> SegmentRow:
    there = and_(
        Segment.study_hash == study_hash,
        Segment.episode_id == segment.episode_id,
        Segment.first_step == segment.first_step,
        Segment.last_step == segment.last_step,
    )
    if session.scalar(select(Segment.id).where(there)) is None:
        add_segments(session, study, study_hash, [segment])
    return SegmentRow(*session.execute(_SEGMENTS.where(there)).one())


def segments_of(session: Session, study_hash: str) -> list[SegmentRow]:
    """Return the segments of a study version that may be shown: their players agree, and their agent is not withdrawn."""
    return [SegmentRow(*row) for row in session.connection().execute(_MAY_BE_SHOWN, {"study_hash": study_hash})]


def segments_by_id(session: Session, ids: Collection[int]) -> dict[int, SegmentRow]:
    wanted, found = sorted(ids), {}
    for start in range(0, len(wanted), _IDS_AT_ONCE):
        rows = session.connection().execute(_SEGMENTS.where(Segment.id.in_(wanted[start : start + _IDS_AT_ONCE])))
        found |= {row.id: SegmentRow(*row) for row in rows}
    return found


def segments_of_study(session: Session, study: str) -> list[SegmentRow]:
    return [SegmentRow(*row) for row in session.execute(_SEGMENTS.where(Segment.study == study))]


def segment_pairs_shown(session: Session, study: str) -> set[frozenset[int]]:
    """Return the pairs of a study's segments that judges have answered or have open; model and banned judges are left out."""
    rows = session.connection().execute(_PAIRS_SHOWN, {"study": study})
    return {frozenset((left or 0, right or 0)) for left, right in rows}


def segments_in_attention(session: Session, study: str, judge: str) -> set[int]:
    rows = session.connection().execute(_IN_ATTENTION, {"study": study, "judge": judge})
    return {segment or 0 for (segment,) in rows}


def num_segment_answers(session: Session, study: str) -> int:
    """Return the number of people's answers about segments in a study, without checks and banned judges."""
    return session.connection().scalar(_NUM_ANSWERS, {"study": study}) or 0


def segment_answers(
    session: Session, study: str, *, judges: Literal["people", "models", "all"] = "people"
) -> Iterator[SegmentAnswer]:
    """Yield the answers about a study's segments that count, in the order of the log, unless the judge could not tell."""
    known = {row.id: row for row in segments_of_study(session, study)}
    query = (
        select(Answer.outcome, Match.left_segment_id, Match.right_segment_id, Match.seat)
        .join(Match, Match.id == Answer.match_id)
        .where(Answer.study == study, _COUNTS, Answer.outcome != "na")
        .order_by(Answer.sequence)
    )
    if judges != "all":
        is_model = Answer.judge_kind == "model"
        query = query.where(is_model if judges == "models" else ~is_model)
    for outcome, left, right, seat in session.execute(query):
        yield SegmentAnswer(outcome, known[left or 0], known[right or 0], seat)


def add_guide(session: Session, study: str, reward: str, sums: dict[str, Any], now: datetime) -> None:
    session.add(SegmentGuide(study=study, reward=reward, sums=sums, created_at=now))
    session.flush()


def newest_guide(session: Session, study: str) -> Guide | None:
    row = session.connection().execute(_NEWEST_GUIDE, {"study": study}).first()
    return None if row is None else Guide(*row)


def guide_sums(session: Session, guide: Guide) -> dict[str, list[float]]:
    """Map each segment key to its sums of rewards, one for each network of the guide."""
    return session.get_one(SegmentGuide, guide.id).sums
