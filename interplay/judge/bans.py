"""Files of banned judges, in the published format: a JSON list of objects, each with the key `workerId` (or `worker_id`)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from interplay.judge.errors import JudgingError

_KEY = "workerId"
_MAX_CHARS = 200
_REMEDY = f'Expected a list of objects with that key:  [{{"{_KEY}": "A1B2C3"}}]'


class BanFileError(JudgingError):
    """A file that is not a list of banned workers."""

    code = "ban_file"


def read_banned(path: Path) -> list[str]:
    """The workers a file bans, in its order, each once; other keys of an entry are left alone.

    Raises:
        BanFileError: If the file cannot be read or is something else; nothing of it counts then.
    """
    try:
        entries = json.loads(path.read_bytes())
    except OSError as error:
        raise BanFileError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise BanFileError(f"{path}: is not JSON in UTF-8\n{_REMEDY}") from None
    if not isinstance(entries, list):
        raise BanFileError(f"{path}: holds no list\n{_REMEDY}")
    workers: dict[str, None] = {}
    for number, entry in enumerate(entries, 1):
        worker = entry.get(_KEY, entry.get("worker_id")) if isinstance(entry, dict) else None
        if not isinstance(worker, str) or not worker.strip() or len(worker) > _MAX_CHARS or not worker.strip().isprintable():
            raise BanFileError(
                f"{path}: entry {number} has no {_KEY!r} that is a text; got {json.dumps(entry)[:80]}\n{_REMEDY}"
            )
        workers[worker.strip()] = None
    return list(workers)


def banned_document(workers: Iterable[str]) -> str:
    """The file's text."""
    return json.dumps([{_KEY: worker} for worker in workers], indent=2) + "\n"


def worker_of(judge: str, workers: dict[str, str]) -> str:
    """What a ban file calls a judge: their worker id where a channel or a data set gave one, else their name here.

    Args:
        workers: Judge -> what the recruiting channel calls that person.

    >>> worker_of("bedd/A1B2", {}), worker_of("participant-3", {"participant-3": "A9"}), worker_of("robot", {})
    ('A1B2', 'A9', 'robot')
    """
    if judge in workers:
        return workers[judge]
    return judge.partition("/")[2] or judge
