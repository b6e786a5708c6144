"""Matches without an answer: decide when other judges may get the pair, and when the match's own judge gets it again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from interplay.judge.pairing.candidates import Candidates
from interplay.store import Match
from interplay.store import judging as store

RELEASE_AFTER_S = 600.0
"""Seconds of silence of a match's page after which the match is released."""
UNTOUCHED_AFTER_S = 90.0
"""When nothing else can be shown, a match is released if its page sent no heartbeat in this time (s) after serving.
A page sends a heartbeat every half minute."""


class OpenMatches:
    """Releases matches, and finds the match with which a judge continues.

    Args:
        has_videos: Returns whether both videos of a match can be shown now.
    """

    def __init__(
        self,
        candidates: Candidates,
        has_videos: Callable[[Session, Match], bool],
        clock: Callable[[], datetime],
        *,
        release_after_s: float,
    ) -> None:
        self._candidates = candidates
        self._has_videos = has_videos
        self._clock = clock
        self._release_after_s = release_after_s
        self._last_release: datetime | None = None

    def is_release_due(self) -> bool:
        """Whether `release_unseen` was not called for a while; it is called at most about 50 times in `release_after_s`."""
        since = None if self._last_release is None else self._clock() - self._last_release
        return since is None or not timedelta(0) <= since < timedelta(seconds=self._release_after_s) / 50

    def release_unseen(self, session: Session) -> int:
        now = self._last_release = self._clock()
        return store.release_unseen(session, seen_before=now - timedelta(seconds=self._release_after_s), now=now)

    def release_untouched(self, session: Session) -> int:
        """Release matches that probably were never looked at. Return their number."""
        now = self._clock()
        return store.release_untouched(session, served_before=now - timedelta(seconds=UNTOUCHED_AFTER_S), now=now)

    def again(self, session: Session, judge: str, task: str | None, study: str | None) -> Match | None:
        """Return the match with which a judge continues: the open match, or a released one with a draft; or None.
        The transaction must hold the lock of the judge."""
        now = self._clock()
        match = store.open_match_of(session, judge)
        if match is not None:
            if self._is_wanted(match, task, study) and self._can_show_again(session, match):
                match.seen_at = now
                return match
            match.released_at = now
            session.flush()
        match = store.drafted_match_of(session, judge, study)
        if match is None or not self._is_wanted(match, task, study) or not self._can_show_again(session, match):
            return None
        if not self._are_candidates(session, match) or not store.take_pair(session, match):
            return None
        match.released_at, match.seen_at = None, now
        return match

    def _is_wanted(self, match: Match, task: str | None, study: str | None) -> bool:
        return task in (None, match.task) and study == match.study

    def _can_show_again(self, session: Session, match: Match) -> bool:
        if store.has_answered_since(session, match):
            return False
        has_form = self._candidates.task(session, match.task, match.task_hash) is not None
        return has_form and self._has_videos(session, match)

    def _are_candidates(self, session: Session, match: Match) -> bool:
        """Whether both sides of a released match may still be shown. (An open match may be finished in any case.)"""
        if match.left_segment_id is not None:
            episodes = {match.left_episode_id, match.right_episode_id}
            return store.agreed_to(session, sorted(episodes)) == episodes
        sides = ((match.left_agent, match.left_episode_id), (match.right_agent, match.right_episode_id))
        return all(
            any(one.agent == agent for one in store.candidates_in(session, match.task, episode_id))
            for agent, episode_id in sides
        )
