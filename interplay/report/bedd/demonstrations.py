"""The chapter about demonstrations: their number and length (BEDD's table 1), clicks and movement (BEDD's figure 3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from interplay.learn.recordings.counts import Ending, Recording, count_recordings, ending_of, episodes_of
from interplay.record import Archive
from interplay.report.bedd.paper import paper, published, short_name, task_ids
from interplay.report.plots import SPREAD_CAPTION, plot_spreads
from interplay.report.statistics import spread
from interplay.report.table import Cell, Column, Figure, Measured, Section, Table
from interplay.wording import amount

FRAMES_PER_S = 20
_MOVING_BUTTONS = ("forward", "left", "back", "right")


class Effort(NamedTuple):
    """One episode: its task, length, right clicks, steps of movement, and whether the player ended it with ESC.

    `num_unreadable` counts lines of recordings that are not JSON objects; such a line counts as a step without any key held.
    `num_files` is the number of files that the episode was joined from; `size_bytes` is their size, None if not measured.
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
        return ending_of(self.task, self.num_steps, has_escape=self.ended_by_player)


def recorded_efforts(folder: Path, *, on_file: Callable[[int, int], None] = lambda done, total: None) -> list[Effort]:
    """Measure every episode in a folder of recordings and its subfolders; `on_file` gets the files done and all files.

    Raises:
        RecordingsError: If there is no such folder, or if it has no recording of a known task.
    """
    return [effort_of(parts) for parts in episodes_of(count_recordings(folder, on_file=on_file).values())]


def effort_of(parts: Sequence[Recording]) -> Effort:
    """Measure one episode from its files; the player ended the episode if its last file has the ESC key."""
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
    """Measure people's episodes of the paper's four tasks in an archive (first seat only); a click is a new press of `use`."""
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


def proxy_section(efforts: Sequence[Effort], source: str) -> Section:
    """Make table 1 and figure 3 of the demonstrations; `source` tells the reader where the demonstrations come from."""
    title = "Demonstrations"
    groups = {name: [effort for effort in efforts if effort.task == name] for name in task_ids()}
    if not efforts:
        return Section(
            "demonstrations",
            title,
            (
                "There are no demonstrations: this data folder has no game of a person in one of the four tasks, and no "
                "folder of published recordings was given (--recordings). So only the paper's numbers are shown.",
            ),
            (_demonstrations(groups),),
        )
    some = {name: group for name, group in groups.items() if group}
    blocks: list[Table | Figure] = [_demonstrations(groups)]
    for id, name, label, of in (
        ("clicks", "Right-button clicks", "right-button clicks per episode", lambda effort: effort.num_clicks),
        ("moving", "Movement", "steps per episode with a movement key held", lambda effort: effort.num_moving),
    ):
        records = [{"name": task} | spread([of(effort) for effort in group]) for task, group in some.items()]
        blocks.append(
            Figure(
                f"figure-{id}",
                f"{name} per episode (figure 3)",
                SPREAD_CAPTION,
                records,
                lambda table, ax, label=label: plot_spreads(table, ax, label=label),
                "; ".join(f"{row['name']}: median {row['median']:.0f}" for row in records),
                height_in=1.0 + 0.55 * len(records),
            )
        )
    unreadable = sum(effort.num_unreadable for effort in efforts)
    num_files = sum(effort.num_files for effort in efforts)
    return Section(
        "demonstrations",
        title,
        (
            f"Counted in {amount(num_files, 'recording')} of {amount(len(efforts), 'episode')} ({source}). A click counts when "
            "the right button goes down (the recording's newButtons has 1; in our episodes, use is pressed and was not pressed "
            "one step earlier). A step counts as movement if one of the keys W, A, S, D is held. The paper defines neither."
            + (f" {unreadable:,} lines could not be read and count as steps without keys." if unreadable else ""),
        ),
        [*blocks, _proxies(some)],
    )


def _demonstrations(groups: Mapping[str, Sequence[Effort]]) -> Table:
    rows = [_demonstrations_row(name, group, paper()["demonstrations"][name]) for name, group in groups.items()]
    every = [effort for group in groups.values() for effort in group]
    rows.append(_demonstrations_row("Total", every, paper()["demonstrations_in_all"]))
    columns = [Column("task"), Column("recordings", "count"), Column("episodes", "count"), Column("hours", "mixed", 1)]
    columns += [Column("size (GB)", "mixed", 1), Column("mean length (s)", "mixed", 1)]
    columns += [Column(f"{ending} (%)", "mixed", 1) for ending in ("ended by ESC", "timed out", "died")]
    return Table(
        "demonstrations-by-task",
        "Demonstrations by task (table 1)",
        tuple(columns),
        tuple(rows),
        "The paper calls a recording a video, and an episode that ended with ESC a success. If a published recording lasts "
        "exactly 5 minutes and has no ESC outside menus, it continues in the next one of its session (appendix C.2.1). Lengths "
        "and endings are those of whole episodes. An episode without ESC timed out if it has as many steps as the time "
        "limit, or more. A shorter one counts as a death; it may also be one whose player left or whose first part was "
        "lost. A second has 20 steps. A GB is 10⁹ bytes, of a recording and the video beside it.",
    )


def _demonstrations_row(name: str, group: Sequence[Effort], known: Mapping[str, Any]) -> tuple[Cell, ...]:
    names = ("videos", "episodes", "hours", "size_gb", "seconds", "success_percent")
    if not group:
        return (name, *(Measured(None, known[key]) for key in names), None, None)
    seconds = sum(effort.num_steps for effort in group) / FRAMES_PER_S
    sizes = [effort.size_bytes for effort in group if effort.size_bytes is not None]
    share = {kind: 100 * sum(effort.ending == kind for effort in group) / len(group) for kind in ("escape", "timeout", "death")}
    ours = (
        sum(effort.num_files for effort in group),
        len(group),
        seconds / 3600,
        sum(sizes) / 1e9 if sizes else None,
        seconds / len(group),
        share["escape"],
    )
    measured = (Measured(value, known[key]) for key, value in zip(names, ours, strict=True))
    return (name, *measured, share["timeout"], share["death"])


def _proxies(groups: Mapping[str, Sequence[Effort]]) -> Table:
    rows = []
    for task, group in groups.items():
        clicks, steps = [effort.num_clicks for effort in group], sum(effort.num_steps for effort in group)
        known = published("proxies", task)
        rows.append(
            (
                task,
                sum(effort.num_files for effort in group),
                len(group),
                float(np.mean(clicks)),
                float(np.median(clicks)),
                "–" if known is None else f"about {known[0]}" if known[0] == known[1] else f"{known[0]} to {known[1]}",
                float(np.mean([effort.num_moving for effort in group])),
                100 * sum(effort.num_moving for effort in group) / steps if steps else None,
            )
        )
    columns = [Column("task"), Column("recordings", "count"), Column("episodes", "count")]
    columns += [Column("mean clicks", "number", 1), Column("median clicks", "number", 1), Column("clicks in the paper")]
    columns += [Column("mean steps of movement", "number", 1), Column("movement (% of steps)", "number", 1)]
    return Table(
        "proxies",
        "Clicks and movement by task",
        tuple(columns),
        tuple(rows),
        "Means and medians per episode. The paper says of clicks only where the middle of its figure 3 lies.",
    )
