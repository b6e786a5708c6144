"""Deep Q-network: a value for each action, learned from the values after it (Mnih et al. 2015, Nature 518, "Methods").

Each update takes one Adam step on the Huber loss between the value of the action taken and its target, the reward plus the
discounted value of the best next action, which a target network gives that follows at intervals. Double DQN lets the online
network choose that action (van Hasselt et al. 2016, equation 4).

Differences: Adam, and no exploration, as the data is recorded; the target follows after the first update already, as in d3rlpy.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import torch
from torch import nn

from interplay.learn.algorithms.targets import actions_taken, bootstrapped, rewards_of
from interplay.learn.harness.learner import Acting, Batch, Given, Learner, adam, feedforward, follow, step
from interplay.learn.settings import DQNConfig


class DQN(Learner):
    """Deep Q-network."""

    looks_ahead = True
    needs_rewards = True

    def __init__(self, config: DQNConfig, given: Given) -> None:
        self._config = config
        critics = [feedforward(config, given) for _ in range(config.critics)]
        self._acting = critics[0]
        self.critics: Any = nn.ModuleList(critic.network for critic in critics)
        self.targets: Any = deepcopy(self.critics).requires_grad_(False)
        self.modules = {"critics": self.critics, "targets": self.targets}
        self.optimizers = {"critics": adam(self.critics.parameters(), config.learning_rate, config.weight_decay)}

    def update(self, batch: Batch, number: int, generator: torch.Generator) -> dict[str, torch.Tensor]:
        """One step on the Huber loss of a batch."""
        loss, values = self._loss(batch)
        step(self.optimizers["critics"], loss)
        if number % self._config.target_every == 0:
            follow(self.targets, self.critics)
        return {"loss": loss, "value": values.mean()}

    def _loss(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """(the loss, the values of the actions taken by the first critic)."""
        with torch.no_grad():
            after = torch.stack([target(batch.next_observations) for target in self.targets])  # (critics, B, A)
            chooser = after
            if self._config.double:
                chooser = torch.stack([critic(batch.next_observations) for critic in self.critics])
            best = chooser.mean(0).argmax(1)
            target = bootstrapped(self._config, batch, actions_taken(after, best).amin(0))
        taken = [actions_taken(critic(batch.observations), batch.actions) for critic in self.critics]
        return torch.stack([nn.functional.huber_loss(values, target) for values in taken]).sum(), taken[0]

    def measure(self, batch: Batch) -> dict[str, torch.Tensor]:
        """The loss, as in training."""
        loss, values = self._loss(batch)
        return {"loss": loss, "value": values.mean(), "reward": rewards_of(self._config, batch).mean()}

    def acting(self) -> Acting:
        """The first critic: its best action."""
        return self._acting
