"""Reward models on disk: `rewards/<name>/` in a data folder, read back to give transitions their rewards."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.errors import InterplayError, unknown_name
from interplay.files import write_bytes, write_json
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
    """A reward model that is missing, damaged, or of another task; the text says which and what to do."""


@dataclass(frozen=True)
class KeptReward:
    """A reward model."""

    name: str
    description: dict[str, Any]
    ensemble: Ensemble

    def of_decisions(self, data: Transitions) -> tuple[np.ndarray, np.ndarray]:
        """(reward, how far its networks disagree about it) of each decision: float64, shape (N,) each. The reward is scaled so
        that it is of size 1 in the mean over the games it was learned from; the other is a standard deviation."""
        import torch

        from interplay.learn.reward.model import rewards_of

        rewards = rewards_of(self.ensemble, data, torch.device("cpu")).astype(np.float64) * self.description["scale"]
        return rewards.mean(0), rewards.std(0)

    def of_seen(self, observations: np.ndarray) -> np.ndarray:
        """The reward of decisions with these next observations: float64, shape (N,), of shape (N, ...)."""
        from interplay.learn.reward.model import rewards_of_seen

        return rewards_of_seen(self.ensemble, observations).astype(np.float64).mean(0) * self.description["scale"]

    def require_shape(self, found: tuple[int, ...]) -> None:
        """Refuse observations of another shape than it has learned from, with a `RewardError` that names both."""
        shape = tuple(self.description["encoder"]["shape"])
        if found != shape:
            raise RewardError(
                f"reward {self.name!r} looks at observations of shape {shape}, and these games have {found}: "
                f"they are of another version of the task\n{_REMEDY}"
            )

    def origin(self) -> dict[str, Any]:
        """Its entry in the `model.json` of a policy that was trained on it."""
        return {name: self.description[name] for name in ("name", "answers", "judges", "weights_sha256")}


def reward_folder(archive: Archive, name: str) -> Path:
    """The folder of a reward of this name; `ConfigError` if the name cannot be a folder."""
    check_name(name, "reward")
    return archive.root / FOLDER / name


def save_reward(folder: Path, ensemble: Ensemble, document: dict[str, Any]) -> dict[str, Any]:
    """Write a reward model, each file whole or not at all; return the content of `reward.json`."""
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
        NotFoundError: For an unknown name; the nearest is offered.
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
    """Transitions with the rewards that a model gives them.

    `seen` are the same decisions, as the reward's pipeline sees them, often `data` itself. `RewardError` if they are not the
    same decisions, or of another shape than the reward has learned from.
    """
    reward.require_shape(seen.observation_shape)
    if len(data) != len(seen) or not np.array_equal(data.steps, seen.steps):
        raise RewardError(
            f"reward {reward.name!r} decides at other steps than this run: it sees games through "
            f"{reward.description['observation']!r}\n"
            f"Learn with the same pipeline:  --observation {reward.description['observation']}"
        )
    return replace(data, rewards=reward.of_decisions(seen)[0])
