"""What was reached in recorded episodes, kept beside their videos: an episode is played again once, not for each look at it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from interplay.explore import published
from interplay.explore.instance import Instance
from interplay.explore.rules import VERSION
from interplay.files import write_bytes

FOLDER = Path("media") / "milestones"
"""Of a data folder. What is in it can be made again."""


@dataclass(frozen=True)
class Judgement:
    """What was reached in one episode.

    Attributes:
        episode: Its id.
        instance: Name of the instance.
        semantics: What the rules mean: one of `rules.SEMANTICS`.
        num_steps: Of the episode.
        milestones: Ids of all milestones that can be judged, in their order.
        reached: Id -> the step at which it was reached, 0 if it was so before the first one.
        by_player: Id -> whether the player did it, of milestones reached because something went: see `Progress`.
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
        """Whether all were reached."""
        return len(self.reached) == len(self.milestones) > 0


def kept(root: Path, episode_id: str) -> Judgement | None:
    """What was reached in an episode, by the instance as it is today; None where that is not known yet.

    Args:
        root: The data folder.
    """
    try:
        document = json.loads((root / FOLDER / f"{episode_id}.json").read_bytes())
        instance = published.instances()[published.PREFIX + document["instance"]]
        if (document.pop("content_hash"), document["semantics"]) != (instance.content_hash, VERSION):
            return None
        return Judgement(**document | {"milestones": tuple(document["milestones"])})
    except (OSError, ValueError, KeyError, TypeError):  # it is not there, or cannot be read: it is made again
        return None


def keep(root: Path, judgement: Judgement, instance: Instance) -> None:
    """Keep what was reached, by this version of the instance.

    Raises:
        OSError: If it cannot be written.
    """
    path = root / FOLDER / f"{judgement.episode}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, json.dumps(asdict(judgement) | {"content_hash": instance.content_hash}).encode())
