"""Reward models on disk, in `rewards/<name>/` of a data folder, and transitions with learned rewards.

When a reward is learned, its values along games are stored, so that pages can show them beside a replay without PyTorch.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from interplay.errors import InterplayError, unknown_name
from interplay.files import replacing, write_bytes, write_json
from interplay.learn.config import check_name
from interplay.learn.transitions import Transitions
from interplay.record import Archive

if TYPE_CHECKING:
    from interplay.learn.reward.model import Ensemble

FOLDER = "rewards"
FORMAT = "interplay reward"
VERSION = 1
_REMEDY = "Learn it again:  interplay learn reward --task TASK --out NAME"


class RewardError(InterplayError):
    """A reward model is missing, damaged, or of another task; the text says which of these, and what to do."""


@dataclass(frozen=True)
class KeptReward:
    """A reward model that was loaded from its folder."""

    name: str
    description: dict[str, Any]
    ensemble: Ensemble

    def of_decisions(self, data: Transitions) -> tuple[np.ndarray, np.ndarray]:
        """Return (reward, standard deviation over the networks) of each decision, float64, shape (N,) each. Rewards are scaled
        so that their mean absolute value over the training games is 1."""
        import torch

        from interplay.learn.reward.model import rewards_of

        rewards = rewards_of(self.ensemble, data, torch.device("cpu")).astype(np.float64) * self.description["scale"]
        return rewards.mean(0), rewards.std(0)

    def of_seen(self, observations: np.ndarray) -> np.ndarray:
        """Return the rewards of decisions with these next observations, shape (N, ...): float64, shape (N,)."""
        from interplay.learn.reward.model import rewards_of_seen

        return rewards_of_seen(self.ensemble, observations).astype(np.float64).mean(0) * self.description["scale"]

    def require_shape(self, found: tuple[int, ...]) -> None:
        """Raise `RewardError` if observations have another shape than those the model was trained on; the text names both."""
        shape = tuple(self.description["encoder"]["shape"])
        if found != shape:
            raise RewardError(
                f"reward {self.name!r} needs observations of shape {shape}, but these games give shape {found}: "
                f"they are of another version of the task\n{_REMEDY}"
            )

    def origin(self) -> dict[str, Any]:
        """The entry about this reward in the `model.json` of a policy that was trained on it."""
        return {name: self.description[name] for name in ("name", "answers", "judges", "weights_sha256")}


def reward_folder(archive: Archive, name: str) -> Path:
    """The folder of a reward of this name; `ConfigError` if the name cannot be a folder."""
    check_name(name, "reward")
    return archive.root / FOLDER / name


def save_reward(folder: Path, ensemble: Ensemble, document: dict[str, Any]) -> dict[str, Any]:
    """Write a reward model, each file completely or not at all; return the content of `reward.json`."""
    import safetensors.torch

    weights = {name: value.detach().cpu().contiguous() for name, value in ensemble.state_dict().items()}
    data = safetensors.torch.save(weights)
    write_bytes(folder / "model.safetensors", data)
    digest = hashlib.sha256(data).hexdigest()
    document = {"format": FORMAT, "version": VERSION, "weights_sha256": digest, **document}
    write_json(folder / "reward.json", document)
    return document


def load_reward(archive: Archive, name: str) -> KeptReward:
    """Read a reward model.

    Raises:
        NotFoundError: If the name is unknown; the text suggests the most similar name.
        RewardError: If a file is missing or damaged.
    """
    folder = reward_folder(archive, name)
    if not (folder / "reward.json").is_file():
        known = sorted(path.parent.name for path in (archive.root / FOLDER).glob("*/reward.json"))
        raise unknown_name("reward", name, known, hint=_REMEDY.replace("it again", "one"))
    import safetensors
    import safetensors.torch

    from interplay.learn.reward.model import Ensemble

    try:
        document = json.loads((folder / "reward.json").read_text(encoding="utf-8"))
        if (document["format"], document["version"]) != (FORMAT, VERSION):
            raise ValueError(f"it is of format {document['format']!r} {document['version']!r}")
        data = (folder / "model.safetensors").read_bytes()
        if hashlib.sha256(data).hexdigest() != document["weights_sha256"]:
            raise ValueError("model.safetensors is not the file that reward.json describes")
        ensemble = Ensemble(document["encoder"], document["members"])
        ensemble.load_state_dict(safetensors.torch.load(data))
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, safetensors.SafetensorError) as error:
        raise RewardError(f"reward {name!r} in {folder} is damaged: {' '.join(str(error).split())}\n{_REMEDY}") from None
    ensemble.eval()
    return KeptReward(name, document, ensemble)


def relabelled(data: Transitions, seen: Transitions, reward: KeptReward) -> Transitions:
    """Return the transitions with the rewards of a reward model in place of their own.

    `seen` has the same decisions with the observations of the reward's pipeline; it is often `data` itself. `RewardError` if
    the decisions differ, or observations have another shape than the reward was trained on.
    """
    reward.require_shape(seen.observation_shape)
    if len(data) != len(seen) or not np.array_equal(data.steps, seen.steps):
        raise RewardError(
            f"reward {reward.name!r} decides at other steps than this run: it sees games through "
            f"{reward.description['observation']!r}\n"
            f"Learn with the same pipeline:  --observation {reward.description['observation']}"
        )
    return replace(data, rewards=reward.of_decisions(seen)[0])


# Along games

CURVES = "along.parquet"
SCHEMA = pa.schema(
    [
        ("episode", pa.string()),
        ("steps", pa.list_(pa.int32())),
        ("rewards", pa.list_(pa.float32())),
        ("spread", pa.list_(pa.float32())),
    ]
)
MOST_POINTS = 600


@dataclass(frozen=True)
class Along:
    """A learned reward along one game, at P steps, and the disagreement of its networks.

    `steps`, `rewards` and `spread` (the disagreement) have length P. `correlation` is the correlation with the game's own score
    in games outside its training; None if unknown.
    """

    name: str
    answers: int
    judges: str
    correlation: float | None
    steps: list[int]
    rewards: list[float]
    spread: list[float]


def write_along(folder: Path, games: Iterable[tuple[str, np.ndarray, np.ndarray, np.ndarray]]) -> None:
    """Store (episode, steps, rewards, spread) of each game."""
    rows = list(games)
    columns = [[row[place] for row in rows] for place in range(4)]
    with replacing(folder / CURVES) as part:
        pq.write_table(pa.table([pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA), part)


def read_along(root: Path, episode: str) -> list[Along]:
    """Return the stored values of each learned reward along one game, sorted by name; damaged files are left out."""
    found = []
    for path in sorted((root / FOLDER).glob(f"*/{CURVES}")):
        try:
            rows = pq.read_table(path, filters=[("episode", "=", episode)]).to_pylist()
            described = json.loads(path.with_name("reward.json").read_text(encoding="utf-8"))
            if rows:
                points = [thinned(np.array(rows[0][name])) for name in ("steps", "rewards", "spread")]
                steps, rewards, spread = (part.tolist() for part in points)
                number = described["answers"], described["judges"], described.get("correlation")
                found.append(Along(path.parent.name, *number, list(map(int, steps)), rewards, spread))
        except (OSError, ValueError, KeyError, pa.ArrowInvalid):
            continue
    return found


def thinned(values: np.ndarray, most: int = MOST_POINTS) -> np.ndarray:
    """Return at most `most` numbers: means of parts of equal size; only the last part may be smaller.

    >>> thinned(np.array([1.0, 3.0, 5.0, 7.0, 9.0]), 3).tolist()
    [2.0, 6.0, 9.0]
    """
    size = -(-len(values) // most) if len(values) else 1
    if size == 1:
        return values
    starts = np.arange(0, len(values), size)
    return np.add.reduceat(values, starts) / np.diff(np.append(starts, len(values)))
