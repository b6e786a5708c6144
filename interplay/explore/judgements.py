"""What was reached in recorded episodes, kept beside their videos: an episode is played again once, not for each look at it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from interplay.errors import InterplayError
from interplay.explore import published
from interplay.explore.instance import Instance
from interplay.explore.judging import Judgement, judge
from interplay.explore.rules import VERSION
from interplay.files import write_bytes
from interplay.record import Archive, Episode

FOLDER = Path("media") / "milestones"
"""Of a data folder. What is in it can be made again."""


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
    except (OSError, ValueError, KeyError, TypeError):  # it is not there, or not readable: it is made again
        return None


def made(archive: Archive, episode_id: str, *, advance: Callable[[int], None] = lambda _: None) -> Judgement:
    """What was reached in an episode, judged and kept where that is not known yet.

    Raises:
        NotFoundError: If there is no such episode.
        InterplayError: If it is of no instance that comes with the package, or of another scene of that name.
    """
    known = kept(archive.root, episode_id)
    if known is not None:
        return known
    episode = archive.get(episode_id)
    instance = instance_of(episode)
    judgement = judge(episode, instance, advance=advance)
    path = archive.root / FOLDER / f"{episode_id}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, json.dumps(asdict(judgement) | {"content_hash": instance.content_hash}).encode())
    return judgement


def instance_of(episode: Episode) -> Instance:
    """The instance that was played.

    Raises:
        InterplayError: If it is none that comes with the package.
    """
    instance = published.instances().get(episode.task_id)
    if instance is None:
        raise InterplayError(f"{episode.task_id} has no milestones: it is no instance that comes with the package")
    return instance
