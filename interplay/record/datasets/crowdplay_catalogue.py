"""Read the database of published CrowdPlay episodes: task, people and time of each episode. It is opened read-only."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

from interplay.record.datasets.plain_values import Refused, read_each
from interplay.record.errors import RecordingError

DOCUMENT = "dataset.sqlite"
_SUFFIXES = (".pickle.bz2", ".pickle.gz", ".pickle")
_VALUE_BYTES = 1 << 16
_MOST_WORK = 20_000
"""Limit in thousands of SQLite instructions to read one database; a view in a foreign database may run without end."""
_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")


@dataclass(frozen=True)
class Published:
    """One episode of the database.

    Attributes:
        path: The episode's file; None if it is missing.
        game: Name of the game, such as `space_invaders`; empty if the database does not say it.
        kind: Kind of the task: `plain`, `left`, `cooperative`.
        people: Key of an agent -> pseudonym of the person who played it.
        created_at: Time of recording; None if the database does not say it.
    """

    id: str
    path: Path | None
    task: str
    game: str
    kind: str
    people: Mapping[str, str]
    created_at: datetime | None


def episodes_in(folder: Path) -> list[Published]:
    try:
        place = f"{(folder / DOCUMENT).resolve().as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(place, uri=True)) as database:
            database.execute("pragma trusted_schema = off")
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _VALUE_BYTES)
            work = count()
            database.set_progress_handler(lambda: next(work) >= _MOST_WORK, 1000)
            rows = database.execute(
                "select episodes.episode_id, environments.environment_id, environments.task_id"
                " from episodes join environments on episodes.environment_id = environments.environment_id order by 1"
            ).fetchall()
            users = database.execute("select environment_id, agent_id, permanent_user_id from users").fetchall()
            of_environments = _said(database, "environment", ("game", "task"))
            of_episodes = _said(database, "episode", ("created_on",))
    except sqlite3.Error as error:
        raise RecordingError(f"{folder / DOCUMENT} cannot be read: {error}\nFetch it again.") from error
    except Refused as error:
        raise RecordingError(f"{folder / DOCUMENT} cannot be read: {error}") from error
    people: dict[str, dict[str, str]] = {}
    for environment, agent, person in users:
        people.setdefault(environment, {})[str(agent)] = str(person)
    found = []
    for name, environment, task in rows:
        said, created = of_environments.get(environment, {}), of_episodes.get(name, {}).get("created_on")
        game, kind = (value if isinstance(value := said.get(key), str) else "" for key in ("game", "task"))
        path = _file_of(folder, str(name))
        when = created if isinstance(created, datetime) else None
        found.append(Published(str(name), path, str(task), game, kind, people.get(environment, {}), when))
    return found


def _said(database: sqlite3.Connection, of: str, keys: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Map each id to its values of these keys in the database's table of keywords; a value that is refused is left out."""
    marks = ",".join("?" * len(keys))
    query = f"select {of}_id, key, value from {of}keyworddata where agent_id = 'all' and key in ({marks})"
    found: dict[str, dict[str, Any]] = {}
    rows = [row for row in database.execute(query, keys) if isinstance(row[2], bytes)]
    for (name, key, _), value in zip(rows, read_each([row[2] for row in rows]), strict=True):
        if not isinstance(value, Refused):
            found.setdefault(name, {})[key] = value
    return found


def _file_of(folder: Path, name: str) -> Path | None:
    if not _ID.fullmatch(name):
        return None
    return next((path for suffix in _SUFFIXES if (path := folder / f"{name}{suffix}").is_file()), None)
