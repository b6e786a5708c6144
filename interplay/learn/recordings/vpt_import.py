"""Make episodes from recordings of people: join their files, keep the pictures as video, and take the actions from the labels.

Minecraft was recorded without a seed and cannot be replayed exactly, so no replay can prove these episodes. A recording has a
picture before each of its T actions; if there is no picture after the last action, the picture before it is repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from interplay.envs import minerl_actions
from interplay.learn.recordings.counts import Recording, all_files, count_recording, ending_of, episodes_of
from interplay.learn.recordings.labels import Way
from interplay.learn.recordings.loader import Loader
from interplay.learn.recordings.names import (
    FOLDERS,
    SUITE,
    RecordingName,
    RecordingsError,
    episode_id_of,
    own_task_of,
    task_ids,
    why_bad,
)
from interplay.record import Archive, Owner
from interplay.record.exchange.importer import Brought, Imported, Importing, Spaces, imported_name
from interplay.record.exchange.playback import Taken
from interplay.tasks import EnvSpec, Task, find
from interplay.wording import amount

MAX_STEPS = 20_000
"""Limit of an episode's steps; no published episode has more, though some exceed their task's limit by up to three seconds."""
_UNPROVED = "Minecraft was recorded without a seed"


@dataclass(frozen=True)
class ImportedRecordings:
    """The result of an import: the episodes by their first file, the reason for each recording left out (`left_out`), and
    remarks about the parts of episodes that were left out."""

    imported: Imported
    left_out: dict[str, str] = field(default_factory=dict)
    remarks: dict[str, list[str]] = field(default_factory=dict)


def task_of_recordings(name: str) -> Task:
    """The Minecraft task of published recordings, by its published name.

    >>> task_of_recordings("FindCave").id, task_of_recordings("FindCave").env.id
    ('bedd/find_cave', 'minerl:MineRLBasaltFindCave-v0')
    """
    task = find(task_ids()[name])
    env = EnvSpec(f"minerl:MineRLBasalt{name}-v0", {})
    return replace(task, id=f"{SUITE}/{task.name}", env=env, max_steps=MAX_STEPS, held_out_seeds=())


def import_recordings(
    archive: Archive,
    folder: Path,
    *,
    task: Task | str | None = None,
    labels: Way = "minerl",
    with_bad: bool = False,
    cut: bool = False,
    on_plan: Callable[[int], None] = lambda num_steps: None,
    advance: Callable[[int], None] = lambda num_steps: None,
) -> ImportedRecordings:
    """Make episodes of the recordings below a folder. Importing again adds nothing.

    Args:
        task: The task of all recordings, or its published name; None if folders name the published tasks.
        labels: The way from lines to actions.
        with_bad: Whether to import recordings that are known to be bad, too.
        cut: Whether to use the common part of a video and its lines if their lengths differ.
    Raises:
        RecordingsError: If there is no recording, or no recording whose task is known.
        RecordingError: If no episode can be made of any recording. An episode is added completely or not at all.
    """
    of_all = task.id if isinstance(task, Task) else task
    files = {path: of_all or name for path, name in all_files(folder).items()}
    if not any(files.values()):
        ours = next(filter(None, (own_task_of(folder, path) for path in files)), "TASK")
        raise RecordingsError(
            f"{folder} holds {amount(len(files), 'recording')}, none below a folder named for its task\n"
            f"Put them into folders {', '.join(FOLDERS)}, or name their task:  --task {ours}"
        )
    result = ImportedRecordings(Imported())
    paths: dict[str, Path] = {}
    same_name = {path: paths[path.stem] for path in files if paths.setdefault(path.stem, path) != path}
    counted = [count_recording(path, name) for path in paths.values() if (name := files[path]) is not None]
    chosen: list[list[Recording]] = []
    for parts in episodes_of(counted):
        reason = next(filter(None, (why_bad(part.stem, part.task) for part in parts)), "")
        if reason and not with_bad:
            result.left_out[parts[0].stem] = reason
        else:
            chosen.append(parts)
    on_plan(sum(part.num_steps for parts in chosen for part in parts))
    with Importing.to(archive) as importing:
        for path, first in same_name.items():
            importing.result.refused[str(path)] = f"{first} has the same name\nGive each recording a name of its own."
        for parts in chosen:
            its_task = task if isinstance(task, Task) else task_of_recordings(parts[0].task)
            loader = Loader([paths[part.stem] for part in parts], labels, is_small=False, chunk=16, cut=cut)
            stem = parts[0].stem
            if importing.take(stem, partial(_brought, parts, its_task, loader, advance)) and loader.remarks:
                result.remarks[stem] = loader.remarks
    return replace(result, imported=importing.result)


def _brought(parts: Sequence[Recording], task: Task, loader: Loader, advance: Callable[[int], None]) -> Brought:
    name = RecordingName.parse(parts[0].stem)
    seat = task.seats[0]
    if len(task.seats) > 1:
        raise RecordingsError(f"{task.id} has {len(task.seats)} seats, but a recording has one player\nGive another --task.")
    stream = _Stream(loader, seat, _outcome(parts), advance)
    height, width = stream.picture(0).shape[:2]
    return Brought(
        id=episode_id_of(parts[0].stem),
        task=task,
        seed=None,
        owners={seat: Owner(imported_name(name.alias if name else "unknown", "human"), "human")},
        outcome=stream.outcome,
        created_at=None if name is None else name.time,
        why_not=_UNPROVED,
        steps=_Steps(stream),
        observations=lambda: _Pictures(stream, seat),
        look=lambda: lambda *_: False,
        spaces=Spaces(
            gymnasium.spaces.Dict({seat: minerl_actions.action_space()}),
            gymnasium.spaces.Dict({seat: gymnasium.spaces.Box(0, 255, (height, width, 3), np.uint8)}),
        ),
        observes_view=True,
    )


def _outcome(parts: Sequence[Recording]) -> str:
    last = parts[-1]
    if last.task not in task_ids():  # of which nobody knows how long they may last
        return "terminated" if last.has_escape else "quit"
    ending = ending_of(last.task, sum(part.num_steps for part in parts), has_escape=last.has_escape)
    return "time_limit" if ending == "timeout" else "terminated"


class _Stream:
    """The steps of a recording, read one step ahead so that the last step is known; three steps are in memory."""

    def __init__(self, loader: Loader, seat: str, outcome: str, advance: Callable[[int], None]) -> None:
        self.outcome = outcome
        self._seat = seat
        self._advance = advance
        self._loader = loader
        self._coming = _steps_of(loader)
        self._held: dict[int, tuple[np.ndarray, Mapping[str, Any]]] = {}
        self._num_read = 0
        self.num_steps: int | None = None
        if not self._reach(0):
            raise RecordingsError(
                f"{loader.parts[0].name} has no step{''.join(f'; left out: {one}' for one in loader.remarks)}"
            )

    def _reach(self, step: int) -> bool:
        while self.num_steps is None and self._num_read <= step:
            coming = next(self._coming, None)
            if coming is None:
                self.num_steps = self._num_read
            else:
                self._held[self._num_read] = coming
                self._held.pop(self._num_read - 3, None)
                self._num_read += 1
                self._advance(1)
        return step in self._held

    def picture(self, step: int) -> np.ndarray:
        """The observation before a step; after the last step, the previous picture if no picture is recorded."""
        if self._reach(step):
            return self._held[step][0]
        return self._held[self._num_read - 1][0] if self._loader.last is None else self._loader.last

    def taken(self, step: int) -> Taken | None:
        is_last = not self._reach(step + 1)
        if step not in self._held:
            return None
        is_over = is_last and self.outcome == "terminated"
        return Taken({self._seat: self._held[step][1]}, {self._seat: 0.0}, is_over, is_last and not is_over)


def _steps_of(loader: Loader) -> Iterator[tuple[np.ndarray, Mapping[str, Any]]]:
    for steps in loader:
        turns = np.clip(steps.camera, -minerl_actions.MAX_TURN, minerl_actions.MAX_TURN).astype(np.float32)
        for picture, keys, turn in zip(steps.frames, steps.keys, turns, strict=True):
            action = dict(zip(minerl_actions.KEYS, map(int, keys), strict=True))
            yield picture, action | {minerl_actions.CAMERA: turn}


class _Steps(Sequence):
    """The steps in the form of `Brought`; each step is read when it is accessed."""

    def __init__(self, stream: _Stream) -> None:
        self._stream = stream

    def __len__(self) -> int:
        return self._stream.num_steps or 0

    def __getitem__(self, step: Any) -> Any:
        taken = self._stream.taken(step)
        if taken is None:
            raise IndexError(step)
        return taken


class _Pictures(_Steps):
    """The pictures in the form of `Brought`."""

    def __init__(self, stream: _Stream, seat: str) -> None:
        super().__init__(stream)
        self._seat = seat

    def __getitem__(self, step: Any) -> Any:
        return {self._seat: self._stream.picture(step)}
