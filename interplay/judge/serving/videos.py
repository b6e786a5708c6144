"""The videos of matches: their names, their lengths, and whether they can be shown now.
The video of a segment is a clip of its recording, made by the process that films episodes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

from sqlalchemy.orm import Session

from interplay.judge.entrants.duplicates import VideoArchive, twin_of, with_twins
from interplay.judge.serving import access
from interplay.record.films.film import Clip
from interplay.record.films.variation import stated_length_s
from interplay.store import Match
from interplay.store import judging as store
from interplay.store.judging import SegmentRow

MATCHES_REMEMBERED = 4096
"""Number of matches whose video paths are kept in memory."""

MOST_AT_ONCE = 16
"""Number of a study's videos that are requested at the same time."""

Side = Literal["left", "right"]


class MatchVideos(NamedTuple):
    """Facts of a match that never change: its judge, when it was served, and the names of its videos (made or not)."""

    judge: str
    left: str
    right: str
    served_at: datetime


def video_length_s(path: Path) -> float | None:
    """Return the length of an mp4 in seconds, as its index states it; None if the file is gone or states no length."""
    try:
        return stated_length_s(path)
    except OSError:
        return None


class Clips:
    """Finds the videos of segments, and requests missing videos.

    Args:
        want: Called with the name of each missing clip; returns whether this clip is being made.
    """

    def __init__(self, archive: VideoArchive, want: Callable[[str], bool]) -> None:
        self._archive = archive
        self._want = want

    def made(self, segments: Sequence[SegmentRow], session: Session) -> list[SegmentRow]:
        """Return the segments whose videos exist."""
        made = self._archive.videos_made(map(name_of, segments), session)
        return [one for one in segments if name_of(one) in made]

    def with_twins(self, segments: Iterable[SegmentRow], session: Session) -> set[str]:
        """Return the names of the videos of these segments that have a second file."""
        return with_twins(self._archive, map(name_of, segments), session)

    def want(self, segments: Sequence[SegmentRow], session: Session) -> bool:
        """Request missing videos of these segments. Return whether any of them is being made.
        At most `MOST_AT_ONCE` are requested, so that other videos are made, too."""
        made = self._archive.videos_made(map(name_of, segments), session)
        missing = (name for name in map(name_of, segments) if name not in made)
        return any(list(islice((True for name in missing if self._want(name)), MOST_AT_ONCE)))


def name_of(segment: SegmentRow) -> str:
    """Return the name of a segment's video."""
    return clip_of_segment(segment).name


def clip_of_segment(segment: SegmentRow) -> Clip:
    return Clip(segment.episode_id, segment.first_step, segment.last_step)


class Videos:
    """Finds the videos of matches. Safe to share between threads.
    `want` is called with the id of each episode whose video is missing."""

    def __init__(self, archive: VideoArchive, want: Callable[[str], bool]) -> None:
        self._archive = archive
        self._want = want
        # A page asks for its videos part by part.
        self.of_match = functools.lru_cache(MATCHES_REMEMBERED)(self._read)

    def made(self, session: Session, episodes: Sequence[str]) -> list[str]:
        """Return the episodes whose videos exist, in the given order."""
        made = self._archive.videos_made(episodes, session)
        return [one for one in episodes if one in made]

    def among(self, session: Session, episodes: Iterable[str]) -> Callable[[str], bool]:
        """Return a function that says whether the video of one of these episodes can be shown now, and requests a missing one.
        The database is asked once for all, and the data folder for each video that may be shown next."""
        noted = self._archive.videos_noted(episodes, session)

        def has(episode_id: str) -> bool:
            if episode_id in noted and self._archive.videos_made([episode_id], session):
                return True
            self._want(episode_id)
            return False

        return has

    def with_twins(self, session: Session, episodes: Iterable[str]) -> set[str]:
        """Return the episodes whose videos have a second file."""
        return with_twins(self._archive, episodes, session)

    def has_both(self, session: Session, match: Match) -> bool:
        sides = self.sides(session, match)
        has = self.among(session, sides)
        return all([has(name) for name in sides])

    def sides(self, session: Session, match: Match) -> tuple[str, str]:
        """Return the names of a match's videos."""
        if match.left_segment_id is None or match.right_segment_id is None:
            return match.left_episode_id, match.right_episode_id
        rows = store.segments_by_id(session, (match.left_segment_id, match.right_segment_id))
        return name_of(rows[match.left_segment_id]), name_of(rows[match.right_segment_id])

    def _read(self, match_id: str) -> MatchVideos:
        with self._archive.database.look() as session:
            match = access.known(session, match_id)
            left, right = self.sides(session, match)
            # One episode on both sides is two files; the id decides which is which.
            if left == right and self.with_twins(session, [left]):
                left, right = (twin_of(left), right) if int(match.id, 16) % 2 else (left, twin_of(left))
            return MatchVideos(match.judge, left, right, match.served_at)
