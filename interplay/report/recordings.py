"""Published recordings, and the episodes they are parts of (Milani et al. 2023, appendix C.2.1).

The recorder began a new file after every five minutes, so an episode may be several files. A recording is one file of JSON
objects, one a frame (`.jsonl`), called `<alias>-<session>-<YYYYMMDD>-<HHMMSS>`; its video (`.mp4`) may lie beside it. Two
files are parts of one episode if the second is the next in time of the same session and task, the first lasts exactly five
minutes, and the player did not press ESC in it while no menu was open. The paper found fewer than 1 % of these decisions wrong.

Differences: the paper also marks episodes whose first part was lost. The frames do not tell, so nothing is marked here, and
what is left of such an episode counts as a whole one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from interplay.errors import InterplayError
from interplay.report.bedd_paper import task_ids
from interplay.report.efforts import Effort

FOLDERS = {
    "find-cave": "FindCave",
    "waterfall": "MakeWaterfall",
    "pen-animals": "CreateVillageAnimalPen",
    "build-house": "BuildVillageHouse",
}
"""Folder of the published recordings -> task; the task's own names do as well."""

PART_STEPS = 6_000
"""Five minutes at 20 steps a second, after which the recorder began a new file."""

_NAME = re.compile(r"(?P<alias>.+)-(?P<session>[0-9a-f]{12,13})-(?P<time>\d{8}-\d{6})")
_MOVING_KEYS = {"key.keyboard.w", "key.keyboard.a", "key.keyboard.s", "key.keyboard.d"}
_ESCAPE = "key.keyboard.escape"
_RIGHT_BUTTON = 1


class RecordingsError(InterplayError):
    """A folder of recordings in which nothing can be counted; the text says what was looked for."""


class RecordingName(NamedTuple):
    """What a published file is called: who played, in which session (several episodes may share one), and since when."""

    alias: str
    session: str
    time: datetime

    @classmethod
    def parse(cls, stem: str) -> RecordingName | None:
        """A file's name without its ending, taken apart; None if it is of another pattern.

        >>> RecordingName.parse("lazy-red-fox-0123456789ab-20220716-190015").session
        '0123456789ab'
        >>> RecordingName.parse("my own recording") is None
        True
        """
        match = _NAME.fullmatch(stem)
        if match is None:
            return None
        try:
            time = datetime.strptime(match["time"], "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
        except ValueError:  # digits that are no date
            return None
        return cls(match["alias"], match["session"], time)


class Recording(NamedTuple):
    """One file, counted.

    `has_escape` says that ESC went down while no menu was open; `num_unreadable` counts lines that are no JSON object, each a
    step in which nothing is held; `size_bytes` is that of the file and of its video, if that is there.
    """

    stem: str
    task: str
    num_steps: int
    num_clicks: int
    num_moving: int
    has_escape: bool
    num_unreadable: int
    size_bytes: int


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


def count_recording(path: Path, task: str) -> Recording:
    """Count one file, line by line; a click, like ESC, counts when it goes down, not while it is held."""
    num_steps = num_clicks = num_moving = num_unreadable = 0
    has_escape = is_escape_held = False
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
            # ESC that closes a menu may still be held in the next frame, when the menu is gone.
            has_escape |= _ESCAPE in keys and not is_escape_held and not frame.get("isGuiOpen")
            is_escape_held = _ESCAPE in keys
    video = path.with_suffix(".mp4")
    size_bytes = path.stat().st_size + (video.stat().st_size if video.is_file() else 0)
    return Recording(path.stem, task, num_steps, num_clicks, num_moving, has_escape, num_unreadable, size_bytes)


def episodes_of(recordings: Iterable[Recording]) -> list[list[Recording]]:
    """Recordings joined to episodes by the rule above, each in the order of time; other names are episodes by themselves."""
    sessions: dict[tuple[str, str], list[tuple[datetime, Recording]]] = {}
    episodes = []
    for recording in recordings:
        name = RecordingName.parse(recording.stem)
        if name is None:
            episodes.append([recording])
        else:
            sessions.setdefault((recording.task, name.session), []).append((name.time, recording))
    for session in sessions.values():
        last: tuple[datetime, Recording] | None = None
        for time, recording in sorted(session):
            if last is not None and time > last[0] and _goes_on(last[1]):
                episodes[-1].append(recording)
            else:
                episodes.append([recording])
            last = time, recording
    return episodes


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


def recorded_efforts(folder: Path, *, on_file: Callable[[int, int], None] = lambda done, total: None) -> list[Effort]:
    """Count every episode below a folder of recordings; `on_file` is told how many of how many files are done."""
    files = recording_files(folder)
    recordings = []
    for done, (path, task) in enumerate(files.items(), start=1):
        recordings.append(count_recording(path, task))
        on_file(done, len(files))
    return [effort_of(parts) for parts in episodes_of(recordings)]


def _goes_on(recording: Recording) -> bool:
    """Whether the recorder cut here and not the player."""
    return recording.num_steps == PART_STEPS and not recording.has_escape


def _listed(part: Any, key: str) -> list[Any]:
    """A list inside a part of a frame that may be missing, null or anything else."""
    value = part.get(key) if isinstance(part, dict) else None
    return [item for item in value if isinstance(item, str | int)] if isinstance(value, list) else []
