"""`SegmentMatchmaker` chooses the next two segments for a judge in a study of segments, or a check that looks the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from interplay.judge.entrants.duplicates import NUM_OF_TASK, Twins
from interplay.judge.errors import EveryPairTakenError, NothingToJudgeError, VideosBeingMadeError, VideosMissingError
from interplay.judge.segments.definition import Segments
from interplay.judge.segments.selection import SegmentPair, Sums, next_pair
from interplay.judge.serving.checks import SWAPPED, Purpose
from interplay.judge.serving.matchmaker import NUM_BETWEEN, Request, checks_of, new_match
from interplay.judge.serving.videos import Clips, name_of
from interplay.store import Match
from interplay.store import judging as store
from interplay.store.judging import SegmentRow
from interplay.store.participants import participant_number


@dataclass(frozen=True)
class SegmentPlan:
    """A judge's next match, as far as it can be planned while other judges are served.

    Attributes:
        segments: Segments that this judge may see and whose videos exist.
        num_missing: Number of segments that this judge may see but whose videos are missing.
        is_making: Whether some of the missing videos are being made.
        sums: Sums of the reward that guides the selection; None before a reward was learned.
        must_check: Whether a due check must come now, because its block ends (see `checks.checks_due`).
    """

    request: Request
    part: Segments
    segments: list[SegmentRow]
    num_missing: int
    is_making: bool
    sums: Sums | None
    due: Sequence[Purpose]
    must_check: bool
    rng: np.random.Generator


class SegmentMatchmaker:
    """Chooses matches of segments. Safe to share between threads. Arguments as in `Matchmaker`."""

    def __init__(self, clips: Clips, twins: Twins, is_held: Callable[[], bool]) -> None:
        self._clips = clips
        self._twins = twins
        self._is_held = is_held
        self._sums: dict[str, tuple[store.Guide, Sums]] = {}

    def plan(self, session: Session, request: Request, study_hash: str, rng: np.random.Generator) -> SegmentPlan:
        """Do the part of `next_match` that needs no transaction (NothingToJudgeError if no segment of the study may be shown).

        Args:
            study_hash: Hash of the study's version.
            rng: Generator for this match only.
        """
        part = request.rules.segments
        assert part is not None
        assert request.study is not None  # only studies compare segments
        if request.task not in (None, part.task):
            raise NothingToJudgeError(f"this study does not ask about {request.task}; it asks about {part.task}")
        segments = store.segments_of(session, study_hash)
        if not segments:
            raise NothingToJudgeError("this study has no segments of games that may be shown")
        person = participant_number(request.judge)
        own = store.games_of(session, person) if person is not None else set()
        due, must_check = checks_of(session, request, rng)
        segments = [one for one in segments if one.episode_id not in own]
        is_making = self._clips.want(segments, session)
        shown = self._clips.made(segments, session)
        if request.rules.attention_every is not None:
            self._twins.want(map(name_of, shown[:NUM_OF_TASK]), session)
        sums = self._sums_of(session, request.study)
        return SegmentPlan(request, part, shown, len(segments) - len(shown), is_making, sums, due, must_check, rng)

    def next_match(self, session: Session, plan: SegmentPlan, now: datetime) -> Match:
        """Make a new match of a pair that no judge has had, without storing it (NothingToJudgeError if nothing can be shown).
        The transaction must hold the lock of the judge."""
        request = plan.request
        assert request.study is not None
        for purpose in plan.due:
            check = self._attention(session, plan, now) if purpose == "attention" else self._repeat(session, plan, now)
            if check is not None:
                return check
        taken = store.segment_pairs_shown(session, request.study)
        while pair := next_pair(plan.segments, plan.part, sums=plan.sums, taken=taken, rng=plan.rng):
            match = match_of(request, pair, now, purpose="segment")
            ids = frozenset((pair.left.id, pair.right.id))
            if store.take_pair(session, match) and ids not in store.segment_pairs_shown(session, request.study):
                return match
            taken.add(ids)  # another judge was served it just now
        if plan.is_making:
            raise VideosBeingMadeError("the segments", is_held=self._is_held())
        if plan.num_missing:
            raise VideosMissingError(
                f"{plan.num_missing} videos of this study are missing, and they are not being made\n"
                "Tell the operator of this server: the page for moderators says why."
            )
        if taken:
            raise EveryPairTakenError("every pair of segments that can be shown is answered, or is being judged right now")
        raise NothingToJudgeError("there are no two segments of games to compare")

    def example_pair(self, session: Session, study_hash: str) -> SegmentPair:
        """Return two segments to look at, always the same two (NothingToJudgeError if too few videos exist)."""
        segments = store.segments_of(session, study_hash)
        self._clips.want(segments, session)
        shown = sorted(self._clips.made(segments, session), key=lambda one: sha256(one.key.encode()).digest())
        others = [one for one in shown[1:] if one.episode_id != shown[0].episode_id] or shown[1:]
        if not others:
            raise NothingToJudgeError("there is no pair of videos to look at yet")
        return SegmentPair(shown[0], others[0])

    def _sums_of(self, session: Session, study: str) -> Sums | None:
        guide = store.newest_guide(session, study)
        if guide is None:
            return None
        known = self._sums.get(study)
        if known is None or known[0] != guide:
            known = self._sums[study] = guide, store.guide_sums(session, guide)
        return known[1]

    # Checks

    def _attention(self, session: Session, plan: SegmentPlan, now: datetime) -> Match | None:
        """Make an attention check: one segment on both sides, so that the right answer is a draw.
        A segment that this judge has not had in a check is preferred. Return None while second files are being made, if the
        check can wait until the judge's next match."""
        request = plan.request
        had = store.segments_in_attention(session, request.study or "", request.judge)
        shown = [plan.segments[place] for place in plan.rng.permutation(len(plan.segments))]
        shown = [one for one in shown if one.id not in had] or shown
        twins = self._clips.with_twins(shown, session)
        twin = next((one for one in shown if name_of(one) in twins), None)
        if not shown or (twin is None and self._twins.is_busy and not plan.must_check):
            return None
        chosen = twin or shown[0]
        return match_of(request, SegmentPair(chosen, chosen), now, purpose="attention", expected="draw")

    def _repeat(self, session: Session, plan: SegmentPlan, now: datetime) -> Match | None:
        request = plan.request
        assert request.study is not None
        by_id = {one.id: one for one in plan.segments}
        matches = store.matches_to_repeat(session, request.judge, request.study)[:-NUM_BETWEEN]
        for place in plan.rng.permutation(len(matches)):
            match, outcome = matches[place]
            left, right = by_id.get(match.right_segment_id or 0), by_id.get(match.left_segment_id or 0)
            if left is not None and right is not None and store.take_pair(session, match):
                return match_of(
                    request, SegmentPair(left, right), now, purpose="repeat", expected=SWAPPED[outcome], repeat_of=match.id
                )
        return None


def match_of(request: Request, pair: SegmentPair, now: datetime, **more: Any) -> Match:
    left, right = pair
    seat = "" if request.rules.segments is None else request.rules.segments.seat
    return new_match(
        request, left.task, left, right, now, seat=seat, left_segment_id=left.id, right_segment_id=right.id, **more
    )
