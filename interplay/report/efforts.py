"""What a demonstrator did in one episode, counted, from whichever source: published recordings or an archive's own episodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from interplay.report.bedd_paper import short_name, task_ids
from interplay.tasks import find

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
    def ending(self) -> Literal["escape", "timeout", "death"]:
        """How it ended, by the paper's rule: without ESC, the time limit's steps or more are a timeout, fewer a death.

        >>> Effort("FindCave", 3_600, 0, 0, False).ending, Effort("FindCave", 3_599, 0, 0, False).ending
        ('timeout', 'death')
        """
        if self.ended_by_player:
            return "escape"
        return "timeout" if self.num_steps >= find(task_ids()[self.task]).max_steps else "death"


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
