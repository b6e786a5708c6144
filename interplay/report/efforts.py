"""What a demonstrator did in one episode, counted, from whichever source: published recordings or an archive's own episodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from interplay.learn.recordings.counts import Ending, Recording, count_recordings, ending_of, episodes_of
from interplay.report.bedd.paper import short_name, task_ids

if TYPE_CHECKING:
    from interplay.record import Archive

FRAMES_PER_S = 20
_MOVING_BUTTONS = ("forward", "left", "back", "right")


class Effort(NamedTuple):
    """One episode: its task, length, right clicks, steps of movement, whether the player ended it by ESC.

    `num_unreadable` counts lines of recordings that are no JSON object; they count as steps in which nothing is held.
    `num_files` is how many recordings it is joined from; `size_bytes` theirs, None where no files were measured.
    """

    task: str
    num_steps: int
    num_clicks: int
    num_moving: int
    ended_by_player: bool
    num_unreadable: int = 0
    num_files: int = 1
    size_bytes: int | None = None

    @property
    def ending(self) -> Ending:
        """How it ended, by the paper's rule."""
        return ending_of(self.task, self.num_steps, has_escape=self.ended_by_player)


def recorded_efforts(folder: Path, *, on_file: Callable[[int, int], None] = lambda done, total: None) -> list[Effort]:
    """Count every episode below a folder of recordings; `on_file` is told how many of how many files are done.

    Raises:
        RecordingsError: If there is no such folder, or nothing in it whose task is known.
    """
    return [effort_of(parts) for parts in episodes_of(count_recordings(folder, on_file=on_file).values())]


def effort_of(parts: Sequence[Recording]) -> Effort:
    """An episode counted from its files; the player ended it if the last one has the ESC."""
    return Effort(
        parts[0].task,
        sum(part.num_steps for part in parts),
        sum(part.num_clicks for part in parts),
        sum(part.num_moving for part in parts),
        parts[-1].has_escape,
        sum(part.num_unreadable for part in parts),
        num_files=len(parts),
        size_bytes=sum(part.size_bytes for part in parts),
    )


def archived_efforts(archive: Archive) -> Iterator[Effort]:
    """Every human episode of the paper's four tasks in an archive, its first seat; a click counts when `use` goes down."""
    for task in task_ids().values():
        for episode in archive.episodes(task=task, actor="human"):
            if episode.frame_policy == "uploaded" or not episode.num_steps:
                continue
            actions = episode.actions()
            use = np.array([bool(action["use"]) for action in actions])
            moving = np.array([any(action[button] for button in _MOVING_BUTTONS) for action in actions])
            episode.close()
            yield Effort(
                short_name(task),
                len(actions),
                int(np.sum(use & ~np.concatenate([[False], use[:-1]]))),
                int(moving.sum()),
                bool(actions[-1]["ESC"]),
            )
