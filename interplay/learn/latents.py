"""Transitions with embeddings as observations: each step of an episode is a decision and has the latent of its picture.

`interplay demos embed` writes one shard for each episode. Shards are memory-mapped, so that a batch reads only its part.
"""

from __future__ import annotations

import json
import resource
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from interplay.learn.embed import DESCRIPTION, EmbedError, read_shard
from interplay.learn.reading import actions_of, by, joined, stream_of
from interplay.learn.recordings.names import episode_id_of
from interplay.learn.transitions import COLUMNS, EpisodeCounts, Owner, TransitionError, Transitions
from interplay.record import Episode


class Shards:
    """The latents of many episodes, one episode after the other, indexed like one array.

    Args:
        parts: Latents of each episode, float32, shape (T + 1, hidsize); or shape (T, hidsize) for a recording without a picture
            after its last action: then the last latent is used twice.
        lengths: Number of latents of each episode: T + 1.
    """

    dtype = np.dtype(np.float32)

    def __init__(self, parts: Sequence[np.ndarray], lengths: Sequence[int]) -> None:
        self._parts = parts
        self._starts = np.cumsum([0, *lengths[:-1]])
        self._ends = np.cumsum(lengths)
        self.shape = (int(self._ends[-1]), parts[0].shape[1])

    def __getitem__(self, places: np.ndarray) -> np.ndarray:
        """Return the latents at these indices: float32, shape (*places.shape, hidsize)."""
        flat = places.ravel()
        found = np.empty((len(flat), self.shape[1]), np.float32)
        owners = np.searchsorted(self._ends, flat, side="right")
        for index in np.unique(owners).tolist():
            part, here = self._parts[index], owners == index
            found[here] = part[np.minimum(flat[here] - self._starts[index], len(part) - 1)]
        return found.reshape(*places.shape, -1)


def network_of(folder: Path) -> dict[str, Any]:
    """The VPT network that wrote a folder of embeddings, as `network` (name) and `weights_sha256`; else `TransitionError`."""
    path = folder / DESCRIPTION
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return {name: document[name] for name in ("network", "weights_sha256")}
    except (OSError, ValueError, RecursionError, LookupError, TypeError):
        raise TransitionError(
            f"{folder} is not a folder of embeddings: {DESCRIPTION} is missing or damaged\n"
            f"Make them:  interplay demos embed --task TASK --vpt NAME --out {folder}"
        ) from None


def load_embedded(
    episodes: Sequence[Episode], folder: Path, *, seat: str | None = None, actor: str | None = None
) -> Transitions:
    """Load the decisions of episodes with composed actions, one for each step, with embeddings from a folder of shards.

    Raises:
        TransitionError: If a shard is missing or damaged, has another number of latents than its episode has pictures, or has
            another width than the other shards; or if there is no decision at all.
    """
    with suppress(ValueError, OSError):  # each shard stays open
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    again = f"interplay demos embed --task {episodes[0].task_id} --vpt NAME --out {folder}"
    paths = {episode_id_of(path.stem): path for path in sorted(folder.rglob("*.safetensors"))}
    missing = [episode.id for episode in episodes if episode.id not in paths]
    if missing:
        raise TransitionError(
            f"{folder} lacks embeddings of {len(missing)} of {len(episodes)} episodes, {missing[0]} among them\n"
            f"Make the missing ones (existing ones are kept) with:  {again}"
        )
    parts: list[np.ndarray] = []
    columns: dict[str, list[np.ndarray]] = {name: [] for name in COLUMNS}
    names: dict[Owner, int] = {}
    counts = []
    base = 0
    for index, episode in enumerate(episodes):
        try:
            part = read_shard(paths[episode.id])
        except EmbedError as error:
            raise TransitionError(str(error)) from None
        if len(part) not in (episode.num_steps, episode.num_steps + 1):
            raise TransitionError(
                f"{paths[episode.id]} has {len(part)} latents, expected {episode.num_steps + 1}, one for each picture of the "
                f"episode\nIts recording was changed, or is in several files. Delete it and embed the episode:  {again}"
            )
        if parts and part.shape[1] != parts[0].shape[1]:
            raise TransitionError(
                f"{paths[episode.id]} has {part.shape[1]} numbers in a latent, others have {parts[0].shape[1]}: they are of "
                "different networks\nEmbed all episodes with one network, in a folder of its own:  "
                f"interplay demos embed --task {episode.task_id} --vpt NAME --out DIR"
            )
        ended = num_steps, _ = episode.ended(seat)
        starts = np.arange(num_steps)
        stream = stream_of(episode, seat, ended, starts, names) | {
            "at": base + starts,
            "first": np.full(len(starts), base),
            "actions": actions_of(episode, seat, num_steps, composed=True)(starts),
            "offsets": np.zeros(len(starts), np.int8),
            "episodes": np.full(len(starts), index),
            "labels": np.full(len(starts), -1),
        }
        for name, values in stream.items():
            columns[name].append(values)
        counts.append(EpisodeCounts(episode.id, episode.seed, episode.num_steps, len(starts)))
        parts.append(part)
        base += episode.num_steps + 1
    held = {name: joined(columns[name], dtype) for name, dtype in COLUMNS.items()}
    return by(
        actor,
        Transitions(
            Shards(parts, [episode.num_steps + 1 for episode in episodes]), 0, **held, counts=tuple(counts), names=tuple(names)
        ),
    )
