"""A policy that learned from what VPT sees (`interplay learn clone --embeddings DIR`), and the network that sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from interplay.agents.base import Decision
from interplay.agents.policy import Policy, PolicyError
from interplay.agents.vpt.agent import Game, load_network, remember, seen
from interplay.agents.vpt.folder import is_vpt_folder, read_description
from interplay.agents.vpt.network import VPT
from interplay.tasks import Task


class ClonedAgent:
    """Each picture becomes a latent, and the policy draws an action from it; VPT's memory goes from step to step.

    Args:
        policy: Its observations are latents.
        network: The one that made the embeddings it learned from.
    """

    observation = "native"

    def __init__(self, policy: Policy, network: VPT) -> None:
        self.name = policy.name
        self.policy = policy
        self.network = network

    def begin(self, task: Task, *, rng: np.random.Generator) -> Game:
        """Begin a game with an empty memory.

        Raises:
            PolicyError: If the policy was trained in another world.
        """
        self.policy.begin(task, rng=rng)
        return Game(rng, self.network.initial_state(1))

    def decide(self, observations: Sequence[Mapping[str, Any]], states: Sequence[Game]) -> list[Decision]:
        """An action for each game; pictures are uint8, shape (H, W, 3)."""
        with torch.inference_mode():
            latents, after = self.network.latents(*seen(self.network, observations, states))
        remember(states, after)
        outputs = self.policy.outputs(latents[:, 0].cpu().numpy())
        return [Decision(self.policy.drawn(row, game.rng)) for row, game in zip(outputs, states, strict=True)]


def with_network(policy: Policy, models: Path) -> ClonedAgent:
    """A policy with the VPT network that its `model.json` names, which lies beside it.

    Raises:
        PolicyError: If that network is missing, or another one has its name.
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
            f"policy {policy.name!r} learned from embeddings of other weights than {folder} has: SHA-256 is {found[:12]}..., "
            f"expected {embedding['weights_sha256'][:12]}...\nBring the network that made the embeddings, or train again."
        )
    return ClonedAgent(policy, load_network(folder, device="cuda" if torch.cuda.is_available() else "cpu"))
