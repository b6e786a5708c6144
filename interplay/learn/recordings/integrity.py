"""Check that both files of a recording are complete and fit each other, and that it is not known to be bad."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from interplay.learn.recordings.counts import all_files
from interplay.learn.recordings.labels import read_lines
from interplay.learn.recordings.names import RecordingsError, own_task_of, why_bad
from interplay.record import RecordingError
from interplay.record.films.mp4 import probe
from interplay.tables import visible
from interplay.wording import amount


@dataclass(frozen=True)
class Checked:
    """The result for one recording: problems with their remedies, and the reason why it is known to be bad (or empty)."""

    path: Path
    task: str | None
    num_lines: int
    num_frames: int
    problems: list[str] = field(default_factory=list)
    known_bad: str = ""


def check(folder: Path, *, on_file: Callable[[int, int], None] = lambda done, total: None) -> list[Checked]:
    """Check every recording below a folder; there must be at least one. Call `on_file(done, total)` after each."""
    files = all_files(folder)
    found = []
    for done, (path, task) in enumerate(files.items(), start=1):
        found.append(_check(folder, path, task))
        on_file(done, len(files))
    lonely = {path.with_suffix("") for path in visible(folder.rglob("*.mp4"), folder)} - {
        path.with_suffix("") for path in files
    }
    found += [
        Checked(path.with_suffix(".jsonl"), None, 0, 0, ["the video has no lines; fetch it again:  interplay demos get"])
        for path in sorted(lonely)
    ]
    return found


def _check(folder: Path, path: Path, task: str | None) -> Checked:
    problems: list[str] = []
    num_lines = num_frames = 0
    unreadable: list[int] = []
    try:
        for number, line in enumerate(read_lines(path), start=1):
            num_lines = number
            if line is None:
                unreadable.append(number)
    except RecordingsError as error:
        problems.append(str(error).replace("\n", "; "))
    if unreadable:
        more = f" and {len(unreadable) - 1} more" if len(unreadable) > 1 else ""
        problems.append(
            f"line {unreadable[0]}{more} of {path.name} is not a JSON object; fetch the file again, or import it as it is"
        )
    video = path.with_suffix(".mp4")
    try:
        num_frames = probe(video, for_browsers=False).num_frames if video.exists() else 0
    except (RecordingError, RecordingsError) as error:
        problems.append(str(error).splitlines()[0] + "; delete it and fetch it again")
    else:
        if not video.exists():
            problems.append(f"it has no video: there is no file {video}; fetch it again")
        elif abs(num_lines - num_frames) > 1:
            problems.append(
                f"{amount(num_lines, 'line')}, and {amount(num_frames, 'frame')} in the video; fetch both again, or use --cut"
            )
    if task is None:
        ours = own_task_of(folder, path)
        if ours is None:
            problems.append(f"no folder on the path of {path.name} names its task; import it with --task TASK")
        task = ours
    return Checked(path, task, num_lines, num_frames, problems, why_bad(path.stem, task))
