"""The videos of matches: their paths, their lengths, and whether they can be shown now.
The video of a segment is a clip of its recording, made by the process that films episodes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from sqlalchemy.orm import Session

from interplay.judge.entrants.duplicates import twin_path
from interplay.judge.serving import access
from interplay.record.films.film import Clip
from interplay.record.films.variation import stated_length_s
from interplay.store import Database, Match
from interplay.store import judging as store
from interplay.store.judging import SegmentRow

MATCHES_REMEMBERED = 4096
"""Number of matches whose video paths are kept in memory."""

MOST_AT_ONCE = 16
"""Number of a study's videos that are requested at the same time."""

Side = Literal["left", "right"]


class VideoArchive(Protocol):
    """The part of `record.Archive` that judging needs."""

    @property
    def database(self) -> Database: ...

    def video_path(self, episode_id: str) -> Path:
        """Return the path of the mp4 of an episode or clip, whether it is made or not."""
        ...


class MatchVideos(NamedTuple):
    """Facts of a match that never change: its judge, when it was served, and the paths of its videos (made or not)."""

    judge: str
    left: Path
    right: Path
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

    def path(self, segment: SegmentRow) -> Path:
        return self._archive.video_path(clip_of_segment(segment).name)

    def want(self, segments: Iterable[SegmentRow]) -> bool:
        """Request missing videos of these segments. Return whether any of them is being made.
        At most `MOST_AT_ONCE` are requested, so that other videos are made, too."""
        missing = (clip_of_segment(one).name for one in segments if not self.path(one).exists())
        return any(list(islice((True for name in missing if self._want(name)), MOST_AT_ONCE)))


def clip_of_segment(segment: SegmentRow) -> Clip:
    return Clip(segment.episode_id, segment.first_step, segment.last_step)


class Videos:
    """Finds the videos of matches. Safe to share between threads.
    `want` is called with the id of each episode whose video is missing."""

    def __init__(self, archive: VideoArchive, want: Callable[[str], bool], clips: Clips) -> None:
        self._archive = archive
        self._clips = clips
        self._want = want
        # A page asks for its videos part by part.
        self.of_match = functools.lru_cache(MATCHES_REMEMBERED)(self._read)

    def has(self, episode_id: str) -> bool:
        """Whether a video can be shown now. A missing video is requested."""
        if self._archive.video_path(episode_id).exists():
            return True
        self._want(episode_id)
        return False

    def has_both(self, session: Session, match: Match) -> bool:
        if match.left_segment_id is None:
            return self.has(match.left_episode_id) and self.has(match.right_episode_id)
        return all(path.exists() for path in self.sides(session, match))

    def sides(self, session: Session, match: Match) -> tuple[Path, Path]:
        if match.left_segment_id is None or match.right_segment_id is None:
            return self._archive.video_path(match.left_episode_id), self._archive.video_path(match.right_episode_id)
        rows = store.segments_by_id(session, (match.left_segment_id, match.right_segment_id))
        return self._clips.path(rows[match.left_segment_id]), self._clips.path(rows[match.right_segment_id])

    def _read(self, match_id: str) -> MatchVideos:
        with self._archive.database.look() as session:
            match = access.known(session, match_id)
            left, right = self.sides(session, match)
            # One episode on both sides is two files; the id decides which is which.
            if left == right and twin_path(left).exists():
                left, right = (twin_path(left), right) if int(match.id, 16) % 2 else (left, twin_path(left))
            return MatchVideos(match.judge, left, right, match.served_at)
