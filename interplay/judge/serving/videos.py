"""The videos of matches: where they are, whether they can be shown now, and how long they are."""

from __future__ import annotations

import functools
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from interplay.judge.entrants.twins import twin_path
from interplay.judge.serving import access
from interplay.record.disguise import stated_length_s
from interplay.store import Database

MATCHES_REMEMBERED = 4096
"""Matches whose videos' places are kept in memory."""

Side = Literal["left", "right"]


class VideoArchive(Protocol):
    """What judging needs of `record.Archive`."""

    @property
    def database(self) -> Database:
        """Where matches and answers are."""
        ...

    def video_path(self, episode_id: str) -> Path:
        """Where an episode's mp4 is or would be."""
        ...


class MatchVideos(NamedTuple):
    """What never changes of a match: whose it is, where its videos are or would be, and when it was served."""

    judge: str
    left: Path
    right: Path
    served_at: datetime


def video_length_s(path: Path) -> float | None:
    """How long an mp4 is by its index, seconds; None if it is gone, or states nothing."""
    try:
        return stated_length_s(path)
    except OSError:
        return None


class Videos:
    """Finds the videos of matches; safe to share between threads.

    Args:
        archive: Episodes' videos and the database.
        want: Called with the id of each episode whose video is needed and not there.
    """

    def __init__(self, archive: VideoArchive, want: Callable[[str], bool]) -> None:
        self._archive = archive
        self._want = want
        # A page asks for its videos part by part.
        self.of_match = functools.lru_cache(MATCHES_REMEMBERED)(self._read)

    def has(self, episode_id: str) -> bool:
        """Whether a video can be shown now; one that cannot is asked for."""
        if self._archive.video_path(episode_id).exists():
            return True
        self._want(episode_id)
        return False

    def _read(self, match_id: str) -> MatchVideos:
        with self._archive.database.look() as session:
            match = access.known(session, match_id)
            left, right = (self._archive.video_path(one) for one in (match.left_episode_id, match.right_episode_id))
            # One episode on both sides is two files; the id decides which is which.
            if left == right and twin_path(left).exists():
                left, right = (twin_path(left), right) if int(match.id, 16) % 2 else (left, twin_path(left))
            return MatchVideos(match.judge, left, right, match.served_at)
