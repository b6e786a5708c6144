"""Agents that use VPT's network, in the block world and in MineRL: VPT itself, and policies trained on its embeddings
(`interplay learn clone --embeddings DIR`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.torch
import torch

from interplay.agents.base import AgentError, Decision
from interplay.agents.policy import Policy, PolicyError
from interplay.agents.vpt.checkpoint import CheckpointError, architecture_of, build, read_model, read_weights
from interplay.agents.vpt.codec import Joint, decode, to_minerl
from interplay.agents.vpt.folder import DESCRIPTION, FORMAT, VERSION, WEIGHTS, VPTError, is_vpt_folder, read_description
from interplay.agents.vpt.network import VPT, Memory, resized
from interplay.files import remove_parts, replacing, sha256_of, write_json
from interplay.tasks import Task


@dataclass
class Game:
    """The agent's state in a game: its generator, and the network's memory."""

    rng: np.random.Generator
    state: list[Memory]


class VPTAgent:
    """An agent that draws each action from the network's probabilities, one picture at a time.

    It presses all of MineRL's keys but `ESC`, `pickItem` and `swapHands`, so it never ends an episode. Like the published
    agent, it resizes pictures of any size to 128x128 by bilinear interpolation, without keeping their aspect ratio.
    """

    observation = "native"

    def __init__(self, name: str, network: VPT) -> None:
        self.name = name
        self.network = network

    def begin(self, task: Task, *, rng: np.random.Generator) -> Game:
        """Begin a game with an empty memory; `AgentError` if the task is not played with MineRL's keys."""
        if not task.keys.compose:
            raise AgentError(
                f"agent {self.name!r} presses MineRL's keys and cannot play {task.id} ({task.env.id})\n"
                "Choose a task of the block world:  interplay tasks list"
            )
        return Game(rng, self.network.initial_state(1))

    def decide(self, observations: Sequence[Mapping[str, Any]], states: Sequence[Game]) -> list[Decision]:
        with torch.inference_mode():
            output, after = self.network(*seen(self.network, observations, states))
        remember(states, after)
        heads = [head[:, 0].cpu().numpy() for head in (output.buttons, output.camera)]
        chosen = []
        for number, game in enumerate(states):
            # The most probable after adding Gumbel noise is a draw from the probabilities.
            chosen.append([int(np.argmax(head[number] + game.rng.gumbel(size=head[number].shape))) for head in heads])
        buttons, camera = np.array(chosen).T
        return [Decision(action) for action in to_minerl(decode(Joint(buttons, camera)))]


def seen(network: VPT, observations: Sequence[Mapping[str, Any]], states: Sequence[Game]) -> tuple[torch.Tensor, list[Memory]]:
    """Return the pictures of some games, uint8, shape (B, 1, H, W, 3), and the network's joined memories of these games."""
    size = network.architecture.img_shape
    pictures = np.stack([resized(observation["picture"], size) for observation in observations])[:, None]
    together = [
        Memory(*(torch.cat(parts) for parts in zip(*memories, strict=True)))
        for memories in zip(*(game.state for game in states), strict=True)
    ]
    return torch.from_numpy(pictures).to(network.net.final_ln.weight.device), together


def remember(states: Sequence[Game], after: list[Memory]) -> None:
    for number, game in enumerate(states):
        game.state = [Memory(*(part[number : number + 1] for part in memory)) for memory in after]


def import_files(model: Path, weights: Path, folder: Path) -> Path:
    """Import a network from published files (`.model`, `.weights`) into the models of a data folder; return the path of
    `vpt.json`.

    Raises:
        CheckpointError: If a file cannot be used, or the two files belong to different networks.
        VPTError: If a model with this name exists, or the network cannot be written.
    """
    stopped = folder.is_dir() and all(path.name == WEIGHTS or path.name.endswith(".part") for path in folder.iterdir())
    if folder.exists() and not stopped:  # a stopped import leaves nothing else
        raise VPTError(
            f"there is a model {folder.name!r} in {folder} already\nChoose another name, or delete that folder first."
        )
    network = build(read_model(model), read_weights(weights), where=str(weights))
    return save(folder, network, made_from=[model.name, weights.name])


def save(folder: Path, network: VPT, *, made_from: Sequence[str]) -> Path:
    """Write a network, each file completely or not at all, the description last; return the path of `vpt.json`.

    Raises:
        VPTError: If a file cannot be written.
    """
    # Copies, because safetensors takes no two tensors that share memory.
    tensors = {name: tensor.cpu().clone(memory_format=torch.contiguous_format) for name, tensor in network.state_dict().items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        remove_parts(folder / WEIGHTS)
        with replacing(folder / WEIGHTS) as part:
            safetensors.torch.save_file(tensors, part)
            digest = sha256_of(part)
        document = {
            "format": FORMAT,
            "version": VERSION,
            "name": folder.name,
            "sizes": network.architecture.to_json(),
            "weights_sha256": digest,
            "made_from": list(made_from),
        }
        write_json(folder / DESCRIPTION, document)
    except (OSError, safetensors.SafetensorError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise VPTError(f"{folder} cannot be written: {why}\nMake room, and run the same command again.") from None
    return folder / DESCRIPTION


def load_network(folder: Path, *, device: str = "cpu") -> VPT:
    """Read the network of a folder, ready to act; `VPTError` if a file is missing or damaged, or the files do not match."""
    document = read_description(folder)
    path, remedy = folder / WEIGHTS, "Import the published files again, or copy the whole folder from where it was made."
    try:
        found = sha256_of(path)
        if found != document["weights_sha256"]:
            raise VPTError(
                f"VPT network {folder.name!r}: {path} is not the file that {DESCRIPTION} describes: "
                f"SHA-256 is {found[:12]}..., expected {document['weights_sha256'][:12]}...\n{remedy}"
            )
        tensors = safetensors.torch.load_file(path, device=device)
        network = build(architecture_of(document["sizes"], where=str(folder / DESCRIPTION)), tensors, where=str(path))
    except OSError as error:
        raise VPTError(f"VPT network {folder.name!r}: {path} cannot be read: {error.strerror}\n{remedy}") from None
    except (CheckpointError, safetensors.SafetensorError) as error:
        raise VPTError(f"VPT network {folder.name!r}: {error}\n{remedy}") from None
    return network


def load_agent(folder: Path) -> VPTAgent:
    """Read the agent of a folder, on a GPU if available; raises the same errors as `load_network`."""
    return VPTAgent(folder.name, load_network(folder, device="cuda" if torch.cuda.is_available() else "cpu"))


class ClonedAgent:
    """An agent that turns each picture into a latent with VPT's network, which has a memory; a policy then draws the action.

    The network is the one that made the embeddings on which the policy was trained.
    """

    observation = "native"

    def __init__(self, policy: Policy, network: VPT) -> None:
        self.name = policy.name
        self.policy = policy
        self.network = network

    def begin(self, task: Task, *, rng: np.random.Generator) -> Game:
        """Begin a game with an empty memory; `PolicyError` if the policy was trained in another world."""
        self.policy.begin(task, rng=rng)
        return Game(rng, self.network.initial_state(1))

    def decide(self, observations: Sequence[Mapping[str, Any]], states: Sequence[Game]) -> list[Decision]:
        with torch.inference_mode():
            latents, after = self.network.latents(*seen(self.network, observations, states))
        remember(states, after)
        outputs = self.policy.outputs(latents[:, 0].cpu().numpy())
        return [Decision(self.policy.drawn(row, game.rng)) for row, game in zip(outputs, states, strict=True)]


def with_network(policy: Policy, models: Path) -> ClonedAgent:
    """Join a policy with the VPT network that its `model.json` names, from the same folder of models.

    Raises:
        PolicyError: If that network is missing, or another network has its name.
        VPTError: If its files are damaged.
    """
    embedding = policy.description["embedding"]
    folder = models / embedding["network"]
    if not is_vpt_folder(folder):
        raise PolicyError(
            f"policy {policy.name!r} learned from embeddings of the VPT network {embedding['network']!r}, "
            f"which is not in {models}\n"
            f"Import it:  interplay agents import-vpt FILE.model FILE.weights --name {embedding['network']}"
        )
    found = read_description(folder)["weights_sha256"]
    if found != embedding["weights_sha256"]:
        raise PolicyError(
            f"policy {policy.name!r} learned from embeddings of another network than {folder}: SHA-256 is {found[:12]}..., "
            f"expected {embedding['weights_sha256'][:12]}...\nBring the network that made the embeddings, or train again."
        )
    return ClonedAgent(policy, load_network(folder, device="cuda" if torch.cuda.is_available() else "cpu"))
