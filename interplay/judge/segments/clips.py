"""The videos of segments: made once of the recording, frame by frame, and kept; they hold no other frame of the game."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from interplay.judge.background import Background
from interplay.record import Episode
from interplay.record.export import write_mp4
from interplay.store.judging import SegmentRow


class ClipArchive(Protocol):
    """What clips need of `record.Archive`."""

    def get(self, episode_id: str) -> Episode:
        """A recorded episode."""
        ...

    def video_path(self, episode_id: str) -> Path:
        """Where an episode's mp4 is or would be."""
        ...


class Clips(Background[SegmentRow]):
    """Makes the videos of segments.

    Args:
        archive: Whose games they are of.
    """

    def __init__(self, archive: ClipArchive) -> None:
        self._archive = archive
        super().__init__("clips", self.path, self.make, "no judge is asked about this segment")

    def path(self, segment: SegmentRow) -> Path:
        """Where the video of a segment is or would be; no address leads there but a match's."""
        name = f"{segment.episode_id}-{segment.first_step}-{segment.last_step}.mp4"
        return self._archive.video_path(segment.episode_id).parent / "clips" / name

    def make(self, segment: SegmentRow, target: Path) -> None:
        """Film what was seen before the first action of a segment, and after each of its actions.

        Raises:
            InterplayError: If the episode cannot be read, or shows no picture, or the file cannot be written.
        """
        episode = self._archive.get(segment.episode_id)
        try:
            write_mp4(episode, target, frames=episode.observed.range(segment.first_step, segment.last_step + 2))
        finally:
            episode.close()  # a world that was played again for it goes at once
