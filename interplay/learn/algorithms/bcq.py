"""Batch-constrained Q-learning for discrete actions: values, but only of actions that players do take (Fujimoto et al. 2019,
"Benchmarking batch deep reinforcement learning algorithms", section 4 and algorithm 1).

A network of two heads over one encoder values the actions and says how likely they are; those less likely than `flexibility`
beside the likeliest are never chosen, neither in targets nor in play. Each update takes one Adam step on the Huber loss of
Double DQN plus the cross-entropy of imitation plus `beta` times the mean square of its log-probabilities.

Differences: log-probabilities are penalised where the paper penalises logits, and the target follows after the first update
already, both as in d3rlpy.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import torch
from torch import nn

from interplay.agents import networks
from interplay.learn.algorithms.targets import actions_taken, bootstrapped
from interplay.learn.harness.learner import Acting, Batch, Given, Learner, adam, encoder, follow, step
from interplay.learn.settings import BCQConfig


class BCQ(Learner):
    """Batch-constrained Q-learning."""

    looks_ahead = True
    needs_rewards = True

    def __init__(self, config: BCQConfig, given: Given) -> None:
        self._config = config
        self._architecture = {
            "name": "constrained_values",
            "encoder": encoder(config, given.observation_shape),
            "actions": given.num_actions,
            "flexibility": config.flexibility,
        }
        critics = [given.ready(networks.build(self._architecture)) for _ in range(config.critics)]
        self.critics: Any = nn.ModuleList(critics)  # only the first one's imitation is used
        self.targets: Any = deepcopy(self.critics).requires_grad_(False)
        self.modules = {"critics": self.critics, "targets": self.targets}
        self.optimizers = {"critics": adam(self.critics.parameters(), config.learning_rate, config.weight_decay)}

    def update(self, batch: Batch, number: int, generator: torch.Generator) -> dict[str, torch.Tensor]:
        """One step on both losses of a batch."""
        measured = self._losses(batch)
        step(self.optimizers["critics"], measured["loss"])
        if number % self._config.target_every == 0:
            follow(self.targets, self.critics)
        return measured

    def _losses(self, batch: Batch) -> dict[str, torch.Tensor]:
        first, *others = self.critics
        with torch.no_grad():
            values, log_probabilities = first.heads(batch.next_observations)
            for other in others:
                values = values + other.heads(batch.next_observations)[0]
            best = first.allowed(values / len(self.critics), log_probabilities).argmax(1)
            after = torch.stack([target.heads(batch.next_observations)[0] for target in self.targets])
            target = bootstrapped(self._config, batch, actions_taken(after, best).amin(0))
        values, log_probabilities = first.heads(batch.observations)
        taken = [actions_taken(values, batch.actions)]
        taken += [actions_taken(other.heads(batch.observations)[0], batch.actions) for other in others]
        td_loss = torch.stack([nn.functional.huber_loss(values, target) for values in taken]).sum()
        imitation_loss = -actions_taken(log_probabilities, batch.actions).mean()
        loss = td_loss + imitation_loss + self._config.beta * log_probabilities.square().mean()
        return {"loss": loss, "td_loss": td_loss, "imitation_loss": imitation_loss, "value": taken[0].mean()}

    def measure(self, batch: Batch) -> dict[str, torch.Tensor]:
        """The losses, as in training."""
        return self._losses(batch)

    def acting(self) -> Acting:
        """The first critic: its best action among those that are likely enough."""
        return Acting(self.critics[0], self._architecture)
