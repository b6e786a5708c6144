"""The data folder and the database of jobs. Other processes have both in their environment, never in a job's arguments."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from interplay.jobs.errors import JobsError

DATA_VARIABLE = "INTERPLAY_DATA"
DATABASE_VARIABLE = "INTERPLAY_DATABASE"


@dataclass(frozen=True)
class Place:
    """A data folder, and the address of its database (SQLAlchemy's form, with the password)."""

    data: Path
    database: str = field(repr=False)

    @classmethod
    def of_environment(cls) -> Place:
        """Return the place of this process.

        Raises:
            JobsError: If the environment names none.
        """
        data = os.environ.get(DATA_VARIABLE)
        if not data:
            raise JobsError(
                f"a process of jobs has no {DATA_VARIABLE} in its environment\n"
                f"Set {DATA_VARIABLE} and {DATABASE_VARIABLE} where Ray is started on each node; see docs/jobs.md."
            )
        return cls(Path(data), os.environ.get(DATABASE_VARIABLE) or f"sqlite:///{Path(data).resolve() / 'interplay.db'}")

    def environment(self) -> dict[str, str]:
        return {DATA_VARIABLE: str(self.data), DATABASE_VARIABLE: self.database}

    def digest(self) -> str:
        """Return what is equal for the same archive, from whichever node it is seen.
        It is a hash of the folder's path and of the database's kind and name."""
        address = urlsplit(self.database)
        text = f"{self.data.resolve()} {address.scheme.partition('+')[0]} {address.path}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]
