"""Names of published recordings, their tasks, and the list of bad ones."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple

from interplay.errors import InterplayError
from interplay.record.exchange.importer import EPISODE_ID
from interplay.tasks import builtin_suites
from interplay.tasks.task import published_name, published_names

FOLDERS = {
    "find-cave": "FindCave",
    "waterfall": "MakeWaterfall",
    "pen-animals": "CreateVillageAnimalPen",
    "build-house": "BuildVillageHouse",
}
"""Folder of the published recordings -> name of the task."""
SUITE = "bedd"
"""Suite of the published tasks, which are played in Minecraft; they are not the tasks of the block world."""

_NAME = re.compile(r"(?P<alias>.+)-(?P<session>[0-9a-f]{12,13})-(?P<time>\d{8}-\d{6})")
_KNOWN_BAD = Path(__file__).with_name("known_bad.toml")


class RecordingsError(InterplayError):
    """Recordings cannot be read, fetched or used; the text says what was found and what to do."""


class RecordingName(NamedTuple):
    """The name of a published file: the player, the player's session (of one or more episodes), and the file's start time."""

    alias: str
    session: str
    time: datetime

    @classmethod
    def parse(cls, stem: str) -> RecordingName | None:
        """Split a file's name without ending into its parts; None if the name has another form.

        >>> RecordingName.parse("lazy-red-fox-0123456789ab-20220716-190015").session
        '0123456789ab'
        """
        match = _NAME.fullmatch(stem)
        if match is None:
            return None
        try:
            time = datetime.strptime(match["time"], "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
        except ValueError:  # digits that are no date
            return None
        return cls(match["alias"], match["session"], time)

    def stem(self) -> str:
        """Return the name of the file, without ending.

        >>> RecordingName.parse("lazy-red-fox-0123456789ab-20220716-190015").stem()
        'lazy-red-fox-0123456789ab-20220716-190015'
        """
        return f"{self.alias}-{self.session}-{self.time:%Y%m%d-%H%M%S}"


@cache
def task_ids() -> dict[str, str]:
    """Map the published names of the four tasks with recordings to the ids of these tasks in our basalt suite."""
    ours = {published_name(task): task.id for suite in builtin_suites() for task in suite.tasks}
    return {name: ours[name] for name in FOLDERS.values()}


@cache
def _names() -> dict[str, str]:
    spellings = {
        spelling: published_name(task)
        for suite in builtin_suites()
        for task in suite.tasks
        if task.id in task_ids().values()
        for spelling in published_names(task)
    }
    made = {f"{SUITE}/{id.rpartition('/')[2]}": name for name, id in task_ids().items()}
    return FOLDERS | spellings | made


def task_of(parts: Iterable[str]) -> str | None:
    """Return the task named by the folders on the path to a recording, the nearest folder first; None if no folder names one.

    >>> task_of(["data", "find-cave"]), task_of(["MineRLBasaltMakeWaterfall-v0"]), task_of(["videos"])
    ('FindCave', 'MakeWaterfall', None)
    >>> task_of(["bedd/find_cave"])
    'FindCave'
    """
    return next((_names()[part] for part in reversed(list(parts)) if part in _names()), None)


def own_task_of(folder: Path, path: Path) -> str | None:
    """The id of our task that a folder of exported recordings names: `folder`, or a folder between `folder` and `path`.
    Such recordings need the option `--task`. Folders above `folder` are not considered, because the user chose their names.

    >>> own_task_of(Path("recordings"), Path("recordings/first-person-get_log/a.jsonl"))
    'first-person/get_log'
    >>> own_task_of(Path("/home/me/atari-breakout/vpt"), Path("/home/me/atari-breakout/vpt/a.jsonl"))
    """
    ours = {folder_of(published_name(task)): task.id for suite in builtin_suites() for task in suite.tasks}
    parts = [folder.absolute().name, *path.relative_to(folder).parent.parts]
    return next((ours[part] for part in reversed(parts) if part in ours), None)


def folder_of(task: str) -> str:
    """The folder name for a task's recordings: the published name, or else a name made from the task's id.

    >>> folder_of("FindCave"), folder_of("atari/breakout")
    ('find-cave', 'atari-breakout')
    """
    return next((folder for folder, name in FOLDERS.items() if name == task), task.replace("/", "-"))


def episode_id_of(stem: str) -> str:
    """The id of the episode that is made from a recording; for an episode in several files, `stem` is that of the first.

    >>> episode_id_of("lazy-red-fox-0123456789ab-20220716-190015"), episode_id_of("my own recording")
    ('lazy-red-fox-0123456789ab-20220716-190015', 'recording-ea27bd558e21c630d82c03f9')
    """
    return stem if EPISODE_ID.fullmatch(stem) else f"recording-{hashlib.sha256(stem.encode()).hexdigest()[:24]}"


@cache
def _known_bad() -> list[dict[str, str]]:
    return tomllib.loads(_KNOWN_BAD.read_text(encoding="utf-8"))["recording"]


def why_bad(stem: str, task: str | None) -> str:
    """Reason why a recording is known to be bad (`known_bad.toml`, after the paper's appendix C.2.2); empty if it is not.

    >>> why_bad("whiny-ecru-cougar-f153ac423f61-20220712-192050", "FindCave")
    'the player plays freely and does not do the task'
    """
    name = RecordingName.parse(stem)
    for bad in _known_bad():
        is_player = name is not None and bad.get("alias") == name.alias and bad["task"] == task
        if bad.get("name") == stem or is_player:
            return bad["reason"]
    return ""
