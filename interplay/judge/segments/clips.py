"""The videos of segments: clips of their recordings, made by the process that films episodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import Protocol

from interplay.record.clips import Clip
from interplay.store.judging import SegmentRow

MOST_AT_ONCE = 16
"""Videos of a study that are on their way at once."""


class ClipArchive(Protocol):
    """Part of `record.Archive` that clips need."""

    def video_path(self, episode_id: str) -> Path:
        """Path of the mp4 of an episode or clip, made or not."""
        ...


class Clips:
    """Finds the videos of segments, and asks for missing ones.

    Args:
        want: Called with the name of each missing clip; returns whether it is being made.
    """

    def __init__(self, archive: ClipArchive, want: Callable[[str], bool]) -> None:
        self._archive = archive
        self._want = want

    def path(self, segment: SegmentRow) -> Path:
        return self._archive.video_path(clip_of_segment(segment).name)

    def want(self, segments: Iterable[SegmentRow]) -> bool:
        """Ask for the missing videos of these, at most `MOST_AT_ONCE`, so that others are made, too; returns whether any is
        being made."""
        missing = (clip_of_segment(one).name for one in segments if not self.path(one).exists())
        return any(list(islice((True for name in missing if self._want(name)), MOST_AT_ONCE)))


def clip_of_segment(segment: SegmentRow) -> Clip:
    return Clip(segment.episode_id, segment.first_step, segment.last_step)
