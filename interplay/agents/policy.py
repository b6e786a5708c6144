"""Trained policies: a folder with `model.safetensors` (weights) and `model.json` (everything else)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from interplay.agents.base import AgentError, Decision
from interplay.envs import make
from interplay.errors import InterplayError
from interplay.files import write_bytes
from interplay.tasks import Task

FORMAT = "interplay-policy"
VERSION = 1

_INSTALL = "Install it with:  pip install 'interplay[train]'"
_REQUIRED: dict[str, type | tuple[type, ...]] = {
    "name": str,
    "algorithm": str,
    "task": str,
    "task_hash": str,
    "env": dict,
    "observation": str,
    "architecture": dict,
    "temperature": (int, float),
    "weights_sha256": str,
}


class PolicyError(InterplayError):
    """A policy's files are missing, damaged, or do not fit each other or the task."""


class Policy:
    """An agent that draws its actions from a trained network.

    Args:
        description: What `model.json` says.
        network: Logits of a batch of observations.

    Each decision is drawn from softmax(logits / temperature); temperature 0 takes the most probable action. A clone of
    someone who varies gets stuck when it always takes the most probable action, so learners store a temperature above 0.
    """

    def __init__(self, description: Mapping[str, Any], network: Any) -> None:
        self.description = dict(description)
        self.name: str = description["name"]
        self.observation: str = description["observation"]
        self.temperature = float(description["temperature"])
        self._network = network

    def begin(self, task: Task, *, rng: np.random.Generator) -> np.random.Generator:
        """Begin a game; all that it needs to remember is its generator.

        Raises:
            PolicyError: If the policy was trained in another world.
        """
        env = {"id": task.env.id, "options": dict(task.env.options)}
        if env["id"] != self.description["env"]["id"]:
            raise PolicyError(
                f"policy {self.name!r} was trained on {self.description['task']} ({self.description['env']['id']}) "
                f"and cannot play {task.id} ({env['id']})\n"
                f"Train one for it:  interplay learn bc --task {task.id} --out NAME"
            )
        return rng

    def decide(self, observations: Sequence[Mapping[str, Any]], states: Sequence[np.random.Generator]) -> list[Decision]:
        """Draw an action for each game; pictures are uint8, shape (4, 84, 84), and pass the network together."""
        logits = self.logits(np.stack([observation["picture"] for observation in observations]))
        return [Decision(self._draw(row, rng)) for row, rng in zip(logits, states, strict=True)]

    def _draw(self, logits: np.ndarray, rng: np.random.Generator) -> int:
        if self.temperature == 0:
            return int(np.argmax(logits))
        # Drawing by Gumbel noise (argmax of logits / T + G) needs no normalisation.
        return int(np.argmax(logits / self.temperature + rng.gumbel(size=logits.shape)))

    def logits(self, observations: np.ndarray) -> np.ndarray:
        """Logits, float32, shape (B, num_actions), of a batch of observations."""
        import torch

        with torch.inference_mode():
            return self._network(torch.from_numpy(np.ascontiguousarray(observations))).numpy()


def is_policy_folder(folder: Path) -> bool:
    """Whether a folder holds, or should hold, a policy."""
    return (folder / "model.json").is_file() or (folder / "model.safetensors").is_file()


def describe_policies(models: Path) -> Iterator[tuple[str, str, str]]:
    """(name, task, one line) of each readable policy below a folder; damaged ones say so in their line."""
    if not models.is_dir():
        return
    for folder in sorted(models.iterdir()):
        if not is_policy_folder(folder):
            continue
        try:
            description = read_description(folder)
        except PolicyError as error:
            yield folder.name, "", f"damaged: {str(error).splitlines()[0]}"
            continue
        yield folder.name, description["task"], f"{description['algorithm']} on {description['task']}"


def read_description(folder: Path) -> dict[str, Any]:
    """Read and check `model.json`.

    Raises:
        PolicyError: If it is missing, is not JSON, or lacks something.
    """
    path = folder / "model.json"
    remedy = "Train it again, or copy the whole folder from where it was trained."
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise PolicyError(f"policy {folder.name!r}: {path} is missing\n{remedy}") from None
    except (OSError, ValueError) as error:
        raise PolicyError(f"policy {folder.name!r}: {path} is damaged: {error}\n{remedy}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise PolicyError(f"policy {folder.name!r}: {path} does not describe a policy (no format {FORMAT!r})\n{remedy}")
    if document.get("version") != VERSION:
        raise PolicyError(
            f"policy {folder.name!r}: {path} has version {document.get('version')!r}, this Interplay reads {VERSION}\n"
            "Upgrade Interplay, or train the policy again."
        )
    for key, kind in _REQUIRED.items():
        if not isinstance(document.get(key), kind):
            raise PolicyError(
                f"policy {folder.name!r}: {path}: {key!r} is {document.get(key)!r}, expected {_kind(kind)}\n{remedy}"
            )
    return document


def load_policy(folder: Path) -> Policy:
    """Read a policy from its folder.

    Raises:
        PolicyError: If a file is missing or damaged, or weights and architecture do not fit; what is wrong is named.
        AgentError: If PyTorch or safetensors is not installed.
    """
    description = read_description(folder)
    try:
        import safetensors
        import safetensors.torch
        import torch

        from interplay.agents import networks
    except ModuleNotFoundError as error:
        raise AgentError(f"a trained policy needs {error.name}, which is not installed\n{_INSTALL}") from None
    path = folder / "model.safetensors"
    remedy = "Train it again, or copy the whole folder from where it was trained."
    try:
        data = path.read_bytes()
    except OSError as error:
        raise PolicyError(f"policy {folder.name!r}: {path} cannot be read: {error.strerror}\n{remedy}") from None
    found = hashlib.sha256(data).hexdigest()
    if found != description["weights_sha256"]:
        raise PolicyError(
            f"policy {folder.name!r}: {path} is not the file that model.json describes: "
            f"SHA-256 is {found[:12]}..., expected {description['weights_sha256'][:12]}...\n{remedy}"
        )
    try:
        weights = safetensors.torch.load(data)
        network = networks.build(description["architecture"])
        network.load_state_dict(weights)
    except (safetensors.SafetensorError, RuntimeError, TypeError, KeyError, InterplayError) as error:
        first_line = " ".join(str(error).split())
        raise PolicyError(
            f"policy {folder.name!r}: weights do not fit the architecture {description['architecture']}: {first_line}\n{remedy}"
        ) from None
    network.eval()
    # Else each call brings the weights into this order.
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return Policy(description, network)


def save_policy(
    folder: Path, network: Any, *, task: Task, algorithm: str, observation: str, details: Mapping[str, Any]
) -> Path:
    """Write a policy; each file appears whole or not at all.

    Args:
        folder: Made if missing; its name is the policy's.
        network: A module of `networks.ARCHITECTURES`.
        task: What it was trained for.
        algorithm: For example `bc`.
        observation: Pipeline of its observations.
        details: Must hold `architecture` and `temperature`; `config`, `metrics` and the like are kept as they are.
    Returns:
        The path of `model.json`.
    """
    import safetensors.torch

    folder.mkdir(parents=True, exist_ok=True)
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
    data = safetensors.torch.save(weights)
    write_bytes(folder / "model.safetensors", data)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "name": folder.name,
        "algorithm": algorithm,
        "task": task.id,
        "task_hash": task.content_hash,
        "env": {"id": task.env.id, "options": dict(task.env.options)},
        "observation": observation,
        "weights_sha256": hashlib.sha256(data).hexdigest(),
        **details,
    }
    write_bytes(folder / "model.json", (json.dumps(document, indent=2) + "\n").encode())
    return folder / "model.json"


def num_actions_of(task: Task) -> int:
    """Number of discrete actions of a task's environment.

    Raises:
        AgentError: If its actions are not discrete.
    """
    import gymnasium

    env = make(task)
    try:
        if not isinstance(env.action_space, gymnasium.spaces.Discrete):
            raise AgentError(f"task {task.id} has actions in {env.action_space}; this learner needs discrete ones")
        return int(env.action_space.n)
    finally:
        env.close()


def _kind(kind: type | tuple[type, ...]) -> str:
    """A type in words."""
    words = {str: "a text", dict: "a table", int: "a number", float: "a number"}
    return words[kind[0] if isinstance(kind, tuple) else kind]
