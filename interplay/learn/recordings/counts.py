"""Count the actions in recordings, and join recordings that are one episode (Milani et al. 2023, appendix C.2.1).

The recorder began a new file after every five minutes, so an episode may be several files. Two files are parts of one episode
if the second follows next in the same player's session and task, the first lasts exactly five minutes, and the player did not
press ESC in the first while no menu was open. The paper found fewer than 1 % of these decisions wrong.

Differences: the paper also marks episodes whose first part was lost. The frames do not show this, so the rest of such an
episode counts as a whole one. An episode whose end was lost is marked: its last file lasts exactly five minutes, nobody pressed
ESC, and the time limit was not reached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

from interplay.files import write_json
from interplay.learn.recordings.labels import items_of, part_of, read_lines
from interplay.learn.recordings.names import FOLDERS, RecordingName, RecordingsError, folder_of, task_ids, task_of, why_bad
from interplay.tables import visible
from interplay.tasks import find
from interplay.wording import amount

PART_STEPS = 6_000
"""Steps after which the recorder began a new file: five minutes at 20 steps a second."""

_MOVING_KEYS = {"key.keyboard.w", "key.keyboard.a", "key.keyboard.s", "key.keyboard.d"}
_ESCAPE = "key.keyboard.escape"
_RIGHT_BUTTON = 1

Ending = Literal["escape", "timeout", "death"]


class Recording(NamedTuple):
    """The counts of one file.

    `has_escape` says whether ESC was pressed while no menu was open. `num_unreadable` counts lines that are no JSON object;
    each is a step in which no key is held. `size_bytes` is the size of the file and of its video, if any (`has_video`).
    """

    stem: str
    task: str
    num_steps: int
    num_clicks: int
    num_moving: int
    has_escape: bool
    num_unreadable: int
    size_bytes: int
    has_video: bool


def recording_files(folder: Path) -> dict[Path, str]:
    """Map each recording below a folder to its task, sorted; a folder on its path has the name of the task.

    Raises:
        RecordingsError: If there is no such folder, no recording in it, or none below a folder with a task's name.
    """
    found = {file: task for file, task in all_files(folder).items() if task is not None}
    if not found:
        raise RecordingsError(
            f"{folder} holds {amount(len(all_files(folder)), 'recording')}, none below a folder named for its task\n"
            f"Put them into folders {', '.join(FOLDERS)}; recordings of another task become episodes with:  "
            f"interplay demos import {folder} --task TASK"
        )
    return found  # type: ignore[return-value]


def all_files(folder: Path) -> dict[Path, str | None]:
    """Map each recording below a folder to its task, or None if no folder on the path names a task; sorted.

    Raises:
        RecordingsError: If there is no such folder, no recording in it, or a recording whose name cannot be written.
    """
    if not folder.is_dir():
        raise RecordingsError(f"there is no folder {folder}\nGive a folder with {', '.join(FOLDERS)} in it.")
    files = visible(folder.rglob("*.jsonl"), folder)
    if not files:
        raise RecordingsError(f"{folder} holds no recordings (*.jsonl)\nFetch some:  interplay demos get --help")
    odd = next((file for file in files if not file.name.isprintable()), None)
    if odd is not None:
        raise RecordingsError(f"{odd.name!a} has characters that cannot be written\nRename the file; it is in {odd.parent}.")
    return {file: task_of(file.absolute().parent.parts) for file in files}


def count_recording(path: Path, task: str) -> Recording:
    """Count the actions in one file, line by line; clicks and ESC count once when pressed, not while held."""
    num_steps = num_clicks = num_moving = num_unreadable = 0
    has_escape = is_escape_held = False
    for frame in read_lines(path):
        num_steps += 1
        if frame is None:
            num_unreadable += 1
            continue
        keys = set(items_of(part_of(frame, "keyboard"), "keys"))
        num_clicks += _RIGHT_BUTTON in items_of(part_of(frame, "mouse"), "newButtons")
        num_moving += bool(keys & _MOVING_KEYS)
        # ESC that closes a menu may still be held in the next frame, when the menu is gone.
        has_escape |= _ESCAPE in keys and not is_escape_held and not frame.get("isGuiOpen")
        is_escape_held = _ESCAPE in keys
    video = path.with_suffix(".mp4")
    has_video = video.is_file()
    size_bytes = path.stat().st_size + (video.stat().st_size if has_video else 0)
    return Recording(path.stem, task, num_steps, num_clicks, num_moving, has_escape, num_unreadable, size_bytes, has_video)


def count_recordings(folder: Path, *, on_file: Callable[[int, int], None] = lambda done, total: None) -> dict[Path, Recording]:
    """Count every recording of `recording_files`; call `on_file(done, total)` after each file."""
    files = recording_files(folder)
    counted = {}
    for done, (path, task) in enumerate(files.items(), start=1):
        counted[path] = count_recording(path, task)
        on_file(done, len(files))
    return counted


def episodes_of(recordings: Iterable[Recording]) -> list[list[Recording]]:
    """Join recordings to episodes by the rule above, oldest part first; a recording with a name of another form stays alone."""
    sessions: dict[tuple[str, str, str], list[tuple[datetime, Recording]]] = {}
    episodes = []
    for recording in recordings:
        name = RecordingName.parse(recording.stem)
        if name is None:
            episodes.append([recording])
        else:
            sessions.setdefault((recording.task, name.alias, name.session), []).append((name.time, recording))
    for session in sessions.values():
        last: tuple[datetime, Recording] | None = None
        for time, recording in sorted(session):
            if last is not None and time > last[0] and _goes_on(last[1]):
                episodes[-1].append(recording)
            else:
                episodes.append([recording])
            last = time, recording
    return episodes


def ending_of(task: str, num_steps: int, *, has_escape: bool) -> Ending:
    """The ending of an episode, by the paper's rule. Without ESC: a timeout if the time limit is reached, else a death.

    >>> ending_of("FindCave", 3_600, has_escape=False), ending_of("FindCave", 3_599, has_escape=False)
    ('timeout', 'death')
    """
    if has_escape:
        return "escape"
    return "timeout" if num_steps >= find(task_ids()[task]).max_steps else "death"


def episode_document(parts: Sequence[Recording]) -> dict[str, Any]:
    """Return the entry of an episode for the episode files.

    `files` are names without ending, oldest first. `incomplete` says whether the end, a video or a line is missing. `known_bad`
    is the reason why the episode is known to be bad, or an empty text.
    """
    num_steps, last = sum(part.num_steps for part in parts), parts[-1]
    ending = ending_of(last.task, num_steps, has_escape=last.has_escape)
    is_cut = _goes_on(last) and ending == "death"  # a player who dies in the very step in which the recorder cuts is rare
    return {
        "files": [part.stem for part in parts],
        "num_steps": num_steps,
        "ended_by_escape": last.has_escape,
        "ending": ending,
        "incomplete": is_cut or any(part.num_unreadable or not part.has_video for part in parts),
        "known_bad": next(filter(None, (why_bad(part.stem, part.task) for part in parts)), ""),
    }


def write_episode_files(recordings: Iterable[Recording], folder: Path) -> list[Path]:
    """Write the list of episodes of each task, `<folder of the task>-episodes.json`, and return the files.

    Raises `RecordingsError` if a file cannot be written; its old content is then kept.
    """
    by_task: dict[str, list[dict[str, Any]]] = {}
    for parts in episodes_of(recordings):
        by_task.setdefault(parts[0].task, []).append(episode_document(parts))
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for task, episodes in sorted(by_task.items()):
            path = folder / f"{folder_of(task)}-episodes.json"
            write_json(path, {"task": task, "episodes": sorted(episodes, key=lambda one: one["files"])})
            written.append(path)
    except OSError as error:
        raise RecordingsError(
            f"cannot write the episode files to {folder}: {error.strerror or error}\nFree some space or name another folder."
        ) from error
    return written


def _goes_on(recording: Recording) -> bool:
    """Whether the recorder ended this file, not the player, so that the episode continues."""
    return recording.num_steps == PART_STEPS and not recording.has_escape
