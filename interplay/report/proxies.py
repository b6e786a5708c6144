"""What demonstrators did, counted: right-button clicks and steps with a movement key held (BEDD's figure 3, table 1).

Two sources give the same `Effort`: human episodes of the block world in an archive, and folders of published recordings
(one JSON object a frame, `.jsonl`). A click is counted when the button goes down, not while it is held.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from interplay.errors import InterplayError
from interplay.report.bedd_paper import paper, published, short_name, task_ids
from interplay.report.bedd_tasks import SPREAD_CAPTION, spread
from interplay.report.plots import plot_spreads
from interplay.report.table import Column, Figure, Measured, Section, Table

if TYPE_CHECKING:
    from interplay.record import Archive

FOLDERS = {
    "find-cave": "FindCave",
    "waterfall": "MakeWaterfall",
    "pen-animals": "CreateVillageAnimalPen",
    "build-house": "BuildVillageHouse",
}
"""Folder of the published recordings -> task; the task's own names do as well."""

FRAMES_PER_S = 20
_MOVING_KEYS = {"key.keyboard.w", "key.keyboard.a", "key.keyboard.s", "key.keyboard.d"}
_MOVING_BUTTONS = ("forward", "left", "back", "right")
_RIGHT_BUTTON = 1


class RecordingsError(InterplayError):
    """A folder of recordings in which nothing can be counted; the text says what was looked for."""


class Effort(NamedTuple):
    """One episode (or one published file): its task, length, right clicks, steps of movement, whether the player ended it.

    `num_unreadable` counts lines that are no JSON object; they count as steps in which nothing is held.
    """

    task: str
    num_steps: int
    num_clicks: int
    num_moving: int
    ended_by_player: bool
    num_unreadable: int = 0


def archived_efforts(archive: Archive) -> Iterator[Effort]:
    """Every human episode of the paper's four tasks in an archive, its first seat."""
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


def recording_files(folder: Path) -> dict[Path, str]:
    """Recordings below a folder -> task, told by a folder on their way; sorted.

    Raises:
        RecordingsError: If there is no such folder, no recording in it, or none below a folder with a task's name.
    """
    if not folder.is_dir():
        raise RecordingsError(f"there is no folder {folder}\n--recordings takes a folder with {', '.join(FOLDERS)} in it.")
    files = sorted(folder.rglob("*.jsonl"))
    if not files:
        raise RecordingsError(f"{folder} holds no recordings (*.jsonl)\nDownload some of BEDD's, or leave --recordings out.")
    names = FOLDERS | {name: name for name in task_ids()}
    found = {}
    for file in files:
        task = next((names[part] for part in reversed(file.parent.parts) if part in names), None)
        if task is not None:
            found[file] = task
    if not found:
        raise RecordingsError(
            f"{folder} holds {len(files)} recordings, none below a folder named for its task\n"
            f"Put them into folders {', '.join(FOLDERS)}."
        )
    return found


def recorded_effort(path: Path, task: str) -> Effort:
    """Count one published recording, line by line; lines that are no JSON object are stepped over and counted."""
    num_steps = num_clicks = num_moving = num_unreadable = 0
    has_ended = False
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if not line.strip():
                continue
            num_steps += 1
            try:
                frame = json.loads(line)
            except (ValueError, RecursionError):
                frame = None
            if not isinstance(frame, dict):
                num_unreadable += 1
                continue
            keys = set(_listed(frame.get("keyboard"), "keys"))
            num_clicks += _RIGHT_BUTTON in _listed(frame.get("mouse"), "newButtons")
            num_moving += bool(keys & _MOVING_KEYS)
            has_ended |= "key.keyboard.escape" in keys and not frame.get("isGuiOpen")
    return Effort(task, num_steps, num_clicks, num_moving, has_ended, num_unreadable)


def recorded_efforts(folder: Path, *, on_file: Callable[[int, int], None] = lambda done, total: None) -> list[Effort]:
    """Count every recording below a folder; `on_file` is told how many of how many are done."""
    files = recording_files(folder)
    efforts = []
    for done, (path, task) in enumerate(files.items(), start=1):
        efforts.append(recorded_effort(path, task))
        on_file(done, len(files))
    return efforts


def proxy_section(efforts: Sequence[Effort], source: str) -> Section:
    """Figure 3 and what table 1 says of lengths, from whatever demonstrations there are.

    Args:
        source: Where they come from, for the reader.
    """
    title = "Demonstrations"
    if not efforts:
        return Section(
            "demonstrations",
            title,
            (
                "No demonstrations here: no person has played one of the four tasks into this archive, and no folder of "
                "published recordings was given (--recordings). The paper's numbers stand alone.",
            ),
            (_published_table(),),
        )
    groups = {name: [effort for effort in efforts if effort.task == name] for name in task_ids()}
    groups = {name: group for name, group in groups.items() if group}
    blocks: list[Table | Figure] = []
    for id, name, label, of in (
        ("clicks", "Right-button clicks", "right-button clicks per episode", lambda effort: effort.num_clicks),
        ("moving", "Movement", "steps per episode with a movement key held", lambda effort: effort.num_moving),
    ):
        records = [{"name": task} | spread([of(effort) for effort in group]) for task, group in groups.items()]
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
    blocks += [_table(groups), _published_table()]
    unreadable = sum(effort.num_unreadable for effort in efforts)
    return Section(
        "demonstrations",
        title,
        (
            f"Counted in {len(efforts):,} recordings ({source}). A click counts when the right button goes down (the "
            "recording's newButtons holds 1; in our episodes, use is pressed and was not the step before); a step is one of "
            "movement when any of the keys W, A, S, D is held. The paper leaves both open."
            + (f" {unreadable:,} lines could not be read and count as steps without keys." if unreadable else ""),
        ),
        blocks,
    )


def _table(groups: dict[str, list[Effort]]) -> Table:
    rows = []
    for task, group in groups.items():
        steps = sum(effort.num_steps for effort in group)
        clicks = [effort.num_clicks for effort in group]
        known = published("proxies", task)
        rows.append(
            (
                task,
                len(group),
                Measured(steps / len(group) / FRAMES_PER_S, published("demonstrations", task, "seconds")),
                float(np.mean(clicks)),
                float(np.median(clicks)),
                "–" if known is None else f"about {known[0]}" if known[0] == known[1] else f"{known[0]} to {known[1]}",
                float(np.mean([effort.num_moving for effort in group])),
                100 * sum(effort.num_moving for effort in group) / steps,
                Measured(
                    100 * sum(effort.ended_by_player for effort in group) / len(group),
                    published("demonstrations", task, "success_percent"),
                ),
            )
        )
    columns = [Column("task"), Column("recordings", "count"), Column("mean length (s)", "number", 1)]
    columns += [Column("mean clicks", "number", 1), Column("median clicks", "number", 1), Column("clicks in the paper")]
    columns += [Column("mean steps of movement", "number", 1), Column("movement (% of steps)", "number", 1)]
    return Table(
        "proxies",
        "Clicks and movement by task",
        (*columns, Column("ended by the player (%)", "number", 1)),
        tuple(rows),
        "At 20 steps a second. The paper says of clicks only where the middle of its figure 3 lies, and counts episodes, which "
        "may be joined from several published files; a file is counted by itself here. It calls an episode ended by the player "
        "a success.",
    )


def _published_table() -> Table:
    rows = tuple(
        (name, row["videos"], row["episodes"], row["hours"], row["seconds"], row["success_percent"])
        for name, row in paper()["demonstrations"].items()
    )
    return Table(
        "demonstrations-published",
        "The paper's demonstrations (table 1)",
        (
            Column("task"),
            Column("videos", "count"),
            Column("episodes", "count"),
            Column("hours", "count"),
            Column("mean length (s)", "count"),
            Column("success (%)", "count"),
        ),
        rows,
        "As published, for comparison.",
    )


def _listed(part: Any, key: str) -> list[Any]:
    """A list inside a part of a frame that may be missing, null or anything else."""
    value = part.get(key) if isinstance(part, dict) else None
    return [item for item in value if isinstance(item, str | int)] if isinstance(value, list) else []
