"""Behaviour cloning in first person: learn keys and camera, from pixels or from VPT's embeddings.

From embeddings this is BEDD's baseline (Milani et al. 2023; their code for the sizes): three layers of 1024 units with tanh,
then three independent choices: one of 8641 combinations of buttons, one of 121 turns, and ESC or not. The loss is

    mean(-log p(buttons) - log p(camera) - log p(escape)) - entropy_weight * entropy + l2_weight * sum(w^2) / 2

and begins near ln(8641 * 121 * 2) = 14.553. From pixels the same choices are made by the convolutions of Espeholt et al. 2018
(IMPALA, figure 3, right).

Differences from BEDD's code: the learning rate can be set (BEDD's was always 1e-3); there is no value network (in
BEDD's code only `l2_weight` changed it); a step counts as still if its choices do nothing (BEDD looked at the mouse before its
movement was put into bins); `mask_camera` leaves log p(camera) out where the chosen buttons do not turn the camera;
`escape_weight` gives decisions that press ESC more weight.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from interplay.agents import networks
from interplay.agents.first_person import NUM_PARTS, STILL_CHOICE, turns_camera
from interplay.learn.algorithms.bc import initialise, shifted
from interplay.learn.harness.learner import Acting, Batch, Given, Learner, adam, step
from interplay.learn.settings import CloneConfig
from interplay.learn.transitions import Transitions


class Clone(Learner):
    """Cloning of composed actions."""

    def __init__(self, config: CloneConfig, given: Given) -> None:
        self._config = config
        architecture = {
            "name": "feedforward",
            "encoder": encoder(config, given.observation_shape),
            "outputs": given.num_actions,
        }
        self.network = networks.build(architecture)
        initialise(self.network)
        given.ready(self.network)
        self.acting = Acting(self.network, architecture)
        self.modules = {"network": self.network}
        self.optimizers = {"network": adam(self.network.parameters(), config.learning_rate, config.weight_decay)}

    @staticmethod
    def choose(data: Transitions, training: np.ndarray, config: CloneConfig) -> np.ndarray:
        """Return every `config.every`-th decision; with `config.skip_still`, first leave out decisions that do nothing."""
        if config.skip_still:
            training = training[(np.asarray(data.actions[training]) != STILL_CHOICE).any(axis=1)]
        return training[:: config.every]

    def update(self, batch: Batch, number: int, generator: torch.Generator) -> dict[str, torch.Tensor]:
        observations = batch.observations
        if self._config.shift:
            observations = shifted(observations, self._config.shift, generator)
        parts = likelihoods(self.network(observations), batch.actions, mask_camera=self._config.mask_camera)
        loss = self._loss(parts, batch.actions)
        step(self.optimizers["network"], loss)
        return {"loss": loss, **_named(parts)}

    def _loss(self, parts: Likelihoods, actions: torch.Tensor) -> torch.Tensor:
        config = self._config
        weights = 1 + (config.escape_weight - 1) * actions[:, 2]
        loss = -(weights * (parts.buttons + parts.camera + parts.escape)).mean()
        if config.entropy_weight:
            loss = loss - config.entropy_weight * parts.entropy.mean()
        if config.l2_weight:
            loss = loss + config.l2_weight * sum(weight.square().sum() for weight in self.network.parameters()) / 2
        return loss

    def measure(self, batch: Batch) -> dict[str, torch.Tensor]:
        """The loss (negative log-likelihood), its three parts, and the share of decisions whose three choices all match."""
        parts = likelihoods(self.network(batch.observations), batch.actions, mask_camera=self._config.mask_camera)
        return {"loss": -(parts.buttons + parts.camera + parts.escape).mean(), **_named(parts)}


def encoder(config: CloneConfig, observation_shape: tuple[int, ...]) -> dict[str, object]:
    shape = list(observation_shape)
    if len(shape) == 3:
        sizes = {"channels": list(config.channels), "blocks": config.blocks, "features": config.features}
        return {"name": "impala", "shape": shape, **sizes}
    return {"name": "mlp", "shape": shape, "hidden": list(config.hidden), "activation": "tanh"}


class Likelihoods(NamedTuple):
    """Likelihoods of the choices of a batch, each float32, shape (B,).

    `buttons`, `camera` and `escape` are log-probabilities; `camera` is 0 for a masked turn. `entropy` is that of all three
    together, in nats. `is_matched` is 1 where all three choices are the most likely ones.
    """

    buttons: torch.Tensor
    camera: torch.Tensor
    escape: torch.Tensor
    entropy: torch.Tensor
    is_matched: torch.Tensor


def likelihoods(outputs: torch.Tensor, choices: torch.Tensor, *, mask_camera: bool = False) -> Likelihoods:
    """Likelihoods of choices (int64, shape (B, 3)) under the concatenated logits of all three (float32, shape (B, 8764))."""
    logs = [part.log_softmax(1) for part in outputs.split(NUM_PARTS, dim=1)]
    buttons, camera, escape = (log.gather(1, choices[:, [index]])[:, 0] for index, log in enumerate(logs))
    if mask_camera:
        camera = camera * turns_camera(choices[:, 0])
    entropy = -torch.stack([(log.exp() * log).sum(1) for log in logs]).sum(0)
    hits = torch.stack([log.argmax(1) == choices[:, index] for index, log in enumerate(logs)])
    if mask_camera:  # whoever plays asks the camera only where the buttons turn it
        hits[1] |= ~turns_camera(choices[:, 0])
    matched = hits.all(0)
    return Likelihoods(buttons, camera, escape, entropy, matched.float())


def _named(parts: Likelihoods) -> dict[str, torch.Tensor]:
    losses = {"buttons": -parts.buttons, "camera": -parts.camera, "escape": -parts.escape}
    return {"accuracy": parts.is_matched.mean()} | {name: value.mean() for name, value in losses.items()}
