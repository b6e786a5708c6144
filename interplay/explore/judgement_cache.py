"""Cache of the milestones reached in recorded episodes, so that an episode is replayed only once."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from interplay.explore import published
from interplay.explore.instance import Instance
from interplay.explore.rules import VERSION
from interplay.files import write_bytes

FOLDER = Path("media") / "milestones"
"""Folder of the cache inside a data folder; its files can be made again."""


@dataclass(frozen=True)
class Judgement:
    """Milestones that one episode reached.

    Attributes:
        semantics: Meaning of the rules, one of `rules.SEMANTICS`.
        milestones: Ids of all milestones that can be judged, in order.
        reached: Id -> step at which the milestone was reached; 0 if it was reached before the first step.
        by_player: Id -> whether the player removed the blocks or mobs that had to go: see `rules.Progress`.
    """

    episode: str
    instance: str
    semantics: str
    num_steps: int
    milestones: tuple[str, ...]
    reached: dict[str, int]
    by_player: dict[str, bool]

    @property
    def success(self) -> bool:
        return len(self.reached) == len(self.milestones) > 0


def read(root: Path, episode_id: str, task_hash: str | None = None) -> Judgement | None:
    """Return an episode's cached judgement by the present version of a package's instance; None if it is missing.

    Args:
        task_hash: Also accept a judgement by this version of the task; needed for instances outside the package.
    """
    try:
        document = json.loads((root / FOLDER / f"{episode_id}.json").read_bytes())
        instance = published.instances().get(published.PREFIX + document["instance"])
        is_of_today = document.pop("content_hash") == (instance and instance.content_hash)
        is_of_version = document.pop("task_hash", None) == (task_hash or "")
        if not (is_of_today or is_of_version) or document["semantics"] != VERSION:
            return None
        return Judgement(**document | {"milestones": tuple(document["milestones"])})
    except (OSError, ValueError, KeyError, TypeError):  # it is not there, or cannot be read: it is made again
        return None


def write(root: Path, judgement: Judgement, instance: Instance) -> None:
    path = root / FOLDER / f"{judgement.episode}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    versions = {"content_hash": instance.content_hash, "task_hash": instance.task().content_hash}
    write_bytes(path, json.dumps(asdict(judgement) | versions).encode())
