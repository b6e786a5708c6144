"""Trained policies: a folder with `model.safetensors` (weights) and `model.json` (everything else, see `description`)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from interplay.agents import actions, first_person
from interplay.agents.base import AgentError, Decision
from interplay.agents.description import FILE, FORMAT, REMEDY, VERSION, WEIGHTS, PolicyError, check_network, read_description
from interplay.envs import make, pipeline
from interplay.errors import not_installed
from interplay.files import write_bytes
from interplay.record.format import spaces
from interplay.record.format.schema import seat_spaces
from interplay.tasks import Task


@dataclass
class Game:
    """A policy's state in a game: its generator, and a recurrent network's memory, float32, shape (memory_size,)."""

    rng: np.random.Generator
    memory: np.ndarray | None


class Policy:
    """An agent that draws its actions from a trained network's outputs; see `interplay.agents.actions`.

    At temperature 0 a policy that was cloned from a varying player gets stuck, so cloning stores a temperature above 0.
    """

    def __init__(self, description: Mapping[str, Any], network: Any) -> None:
        self.description = dict(description)
        self.name: str = description["name"]
        self.observation: str = description["observation"]
        self.temperature = float(description["temperature"])
        self.space: gymnasium.Space = spaces.from_json(description["actions"])
        self._part = pipeline(self.observation).parts[0]
        self._coding = description.get("coding")
        self._network = network

    def begin(self, task: Task, *, rng: np.random.Generator) -> Game:
        """Begin a game; `PolicyError` if the policy was trained in another world."""
        env = {"id": task.env.id, "options": dict(task.env.options)}
        if env["id"] != self.description["env"]["id"]:
            raise PolicyError(
                f"policy {self.name!r} was trained on {self.description['task']} ({self.description['env']['id']}) "
                f"and cannot play {task.id} ({env['id']})\n"
                f"Train one for it:  interplay learn {self.description['algorithm']} --task {task.id} --out NAME"
            )
        memory_size = getattr(self._network, "memory_size", None)
        return Game(rng, None if memory_size is None else np.zeros(memory_size, np.float32))

    def decide(self, observations: Sequence[Mapping[str, Any]], states: Sequence[Game]) -> list[Decision]:
        """Draw an action for each game; the network gets the observations of all games in one batch."""
        outputs = self.outputs(np.stack([observation[self._part] for observation in observations]), states)
        return [Decision(self.drawn(row, game.rng)) for row, game in zip(outputs, states, strict=True)]

    def drawn(self, outputs: np.ndarray, rng: np.random.Generator) -> Any:
        chosen = actions.draw(self.space, outputs, self.temperature, rng)
        return chosen if self._coding is None else first_person.action_of(chosen)

    def outputs(self, observations: np.ndarray, games: Sequence[Game] = ()) -> np.ndarray:
        """Return the network's outputs, float32, shape (B, outputs). A recurrent network updates the memory in `games`."""
        import torch

        with torch.inference_mode():
            batch = torch.from_numpy(np.ascontiguousarray(observations))
            if not hasattr(self._network, "memory_size"):
                return self._network(batch).numpy()
            remembered = np.stack([game.memory for game in games if game.memory is not None])
            outputs, memories = self._network(batch, torch.from_numpy(remembered))
            for game, memory in zip(games, memories.numpy(), strict=True):
                game.memory = memory
            return outputs.numpy()


def is_policy_folder(folder: Path) -> bool:
    return (folder / FILE).is_file() or (folder / WEIGHTS).is_file()


def describe_policies(models: Path) -> Iterator[tuple[str, str, str]]:
    """Yield (name, task, description in one line) of each policy below a folder; the line says if a policy is damaged."""
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


def load_policy(folder: Path) -> Policy:
    """Read a policy from its folder.

    Raises:
        PolicyError: If a file is missing or damaged, or weights and architecture do not fit; the text names the fault.
        AgentError: If PyTorch or safetensors is not installed.
    """
    description = read_description(folder)
    try:
        import safetensors
        import safetensors.torch
        import torch

        from interplay.agents import networks
    except ModuleNotFoundError as error:
        raise AgentError(not_installed("a trained policy needs", error.name, "train")) from None
    path = folder / WEIGHTS
    try:
        data = path.read_bytes()
    except OSError as error:
        raise PolicyError(f"policy {folder.name!r}: {path} cannot be read: {error.strerror}\n{REMEDY}") from None
    found = hashlib.sha256(data).hexdigest()
    if found != description["weights_sha256"]:
        raise PolicyError(
            f"policy {folder.name!r}: {path} is not the file that model.json describes: "
            f"SHA-256 is {found[:12]}..., expected {description['weights_sha256'][:12]}...\n{REMEDY}"
        )
    try:
        weights = safetensors.torch.load(data)
    except safetensors.SafetensorError as error:
        raise PolicyError(f"policy {folder.name!r}: {path} is damaged: {error}\n{REMEDY}") from None
    check_network(folder, description, weights)
    network = networks.build(description["architecture"])
    network.load_state_dict(weights)
    # In the memory order of convolutions, else each call brings the weights into it.
    network.requires_grad_(False).eval().to(memory_format=torch.channels_last)
    return Policy(description, network)


def save_policy(
    folder: Path,
    network: Any,
    *,
    task: Task,
    algorithm: str,
    observation: str,
    space: gymnasium.Space[Any],
    details: Mapping[str, Any],
) -> Path:
    """Write a policy, each file completely or not at all, and return the path of `model.json`.

    `details` must have `architecture` and `temperature`; other entries, such as `config` and `metrics`, are stored unchanged.
    """
    import safetensors.torch

    folder.mkdir(parents=True, exist_ok=True)
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
    data = safetensors.torch.save(weights)
    write_bytes(folder / WEIGHTS, data)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "name": folder.name,
        "algorithm": algorithm,
        "task": task.id,
        "task_hash": task.content_hash,
        "env": {"id": task.env.id, "options": dict(task.env.options)},
        "observation": observation,
        "actions": spaces.to_json(space),
        "weights_sha256": hashlib.sha256(data).hexdigest(),
        **details,
    }
    write_bytes(folder / FILE, (json.dumps(document, indent=2) + "\n").encode())
    return folder / FILE


def action_space_of(task: Task, seat: str | None = None) -> gymnasium.Space[Any]:
    """Return the action space of a seat, by default the first; `AgentError` if the task has no such seat."""
    if seat is not None and seat not in task.seats:
        raise AgentError(f"task {task.id} has no seat {seat!r}; its seats are {', '.join(task.seats)}")
    env = make(task)
    try:
        return seat_spaces(env)[seat or task.seats[0]]
    finally:
        env.close()
