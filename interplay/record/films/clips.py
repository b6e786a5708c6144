"""Films of episodes, and clips: films of some steps of one, which hold no other frame of the game."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from interplay.record.archive import Archive
from interplay.record.films.export import write_mp4

FOLDER = "clips"


class Clip(NamedTuple):
    """The pictures before the first action of some steps and after each of their actions.

    Attributes:
        first_step, last_step: Of the episode; both count.
    """

    episode_id: str
    first_step: int
    last_step: int

    @property
    def name(self) -> str:
        """Name for `Archive.video_path`, used like an episode's id; only a match's address leads to it."""
        return f"{FOLDER}/{self.episode_id}-{self.first_step}-{self.last_step}"


def clip_of(name: str) -> Clip | None:
    """The clip of this name; None if it is an episode's id.

    >>> clip_of(Clip("20260101T120000-1a2b3c4d", 8, 67).name)
    Clip(episode_id='20260101T120000-1a2b3c4d', first_step=8, last_step=67)
    >>> clip_of("20260101T120000-1a2b3c4d")
    """
    folder, is_clip, rest = name.rpartition("/")
    if not is_clip or folder != FOLDER:
        return None
    episode_id, first, last = rest.rsplit("-", 2)
    return Clip(episode_id, int(first), int(last))


def film(
    archive: Archive,
    name: str,
    *,
    begin: Callable[[int], None] = lambda num_frames: None,
    advance: Callable[[int], None] | None = None,
) -> Path:
    """The mp4 of an episode or of a clip, made when missing: the pictures that judges see, drawn alike for people and agents.

    Args:
        name: An episode's id, or a clip's name.
        begin: Called with the number of frames first.
        advance: Called with a number of frames as they are done.
    Raises:
        InterplayError: If there is no such episode, it cannot be read, or shows no picture; or if the file cannot be written.
    """
    path = archive.video_path(name)
    if path.exists():
        return path
    clip = clip_of(name)
    episode = archive.get(name if clip is None else clip.episode_id)
    try:
        if clip is not None:
            path.parent.mkdir(exist_ok=True)
            begin(clip.last_step - clip.first_step + 2)
            frames = episode.observed.range(clip.first_step, clip.last_step + 2)
        else:
            begin(episode.num_steps + 1)
            frames = None if episode.is_video_only else episode.observed
        write_mp4(episode, path, advance=advance, frames=frames)
    finally:
        episode.close()  # a world that was played again for it goes at once
    return path
