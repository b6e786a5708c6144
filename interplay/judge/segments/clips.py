"""The videos of segments: clips of their recordings, made by the process that films episodes, and kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import Protocol

from interplay.record.films.film import Clip
from interplay.store.judging import SegmentRow

MOST_AT_ONCE = 16
"""Videos of a study that are on their way at once."""


class ClipArchive(Protocol):
    """What clips need of `record.Archive`."""

    def video_path(self, episode_id: str) -> Path:
        """Where the mp4 of an episode, or of a clip, is or would be."""
        ...


class Clips:
    """Where the videos of segments are, and who makes them.

    Args:
        want: Called with the name of each clip that is needed and not there; returns whether it is being made.
    """

    def __init__(self, archive: ClipArchive, want: Callable[[str], bool]) -> None:
        self._archive = archive
        self._want = want

    def path(self, segment: SegmentRow) -> Path:
        return self._archive.video_path(clip_of_segment(segment).name)

    def want(self, segments: Iterable[SegmentRow]) -> bool:
        """Ask for the videos of these that are missing, until `MOST_AT_ONCE` are on their way: others wait for videos, too.

        Returns:
            Whether any is being made.
        """
        missing = (clip_of_segment(one).name for one in segments if not self.path(one).exists())
        return any(list(islice((True for name in missing if self._want(name)), MOST_AT_ONCE)))


def clip_of_segment(segment: SegmentRow) -> Clip:
    return Clip(segment.episode_id, segment.first_step, segment.last_step)
