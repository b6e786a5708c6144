"""Implicit Q-learning for discrete actions: never use the values of actions that nobody took (Kostrikov et al. 2022, "Offline
reinforcement learning with implicit Q-learning", equations 5 to 7).

Each update first takes an Adam step of the critics, on the squared error to the reward plus the discounted value of the next
state (equation 6), together with a step of that state value, on the expectile loss to the least of the target critics' values
of the action taken (equation 5). Then the actor takes a step on the log-likelihood of the actions taken, weighted by
exp(sharpness * advantage) (equation 7). The target critics move a little after each update.

Differences: critics have an output for each action.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import torch
from torch import nn

from interplay.learn.algorithms.targets import actions_taken, bootstrapped
from interplay.learn.harness.learner import Batch, Given, Learner, adam, feedforward, follow, step
from interplay.learn.settings import IQLConfig


class IQL(Learner):
    """Implicit Q-learning."""

    looks_ahead = True
    needs_rewards = True

    def __init__(self, config: IQLConfig, given: Given) -> None:
        self._config = config
        self.acting = feedforward(config, given)
        self.actor = self.acting.network
        self.critics: Any = nn.ModuleList(feedforward(config, given).network for _ in range(config.critics))
        self.targets: Any = deepcopy(self.critics).requires_grad_(False)
        self.value = feedforward(config, given._replace(num_actions=1)).network
        self.modules = {"actor": self.actor, "critics": self.critics, "targets": self.targets, "value": self.value}
        valued = [*self.critics.parameters(), *self.value.parameters()]
        self.optimizers = {
            "actor": adam(self.actor.parameters(), config.learning_rate, config.weight_decay),
            "critics": adam(valued, config.learning_rate, config.weight_decay),
        }

    def update(self, batch: Batch, number: int, generator: torch.Generator) -> dict[str, torch.Tensor]:
        critic_loss, value_loss, taken = self._value_losses(batch)
        step(self.optimizers["critics"], critic_loss + value_loss)

        with torch.no_grad():
            advantage = taken - self.value(batch.observations)[:, 0]
            weights = (self._config.sharpness * advantage).exp().clamp(max=self._config.max_weight)
        log_probabilities = actions_taken(self.actor(batch.observations).log_softmax(1), batch.actions)
        actor_loss = -(weights * log_probabilities).mean()
        step(self.optimizers["actor"], actor_loss)
        follow(self.targets, self.critics, self._config.target_rate)
        return {"loss": critic_loss + value_loss, "actor_loss": actor_loss, "advantage": advantage.mean()}

    def _value_losses(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return (the critics' loss, the value's loss, the least of the target critics' values of the actions taken)."""
        with torch.no_grad():
            target = bootstrapped(self._config, batch, self.value(batch.next_observations)[:, 0])
            taken = torch.stack([actions_taken(one(batch.observations), batch.actions) for one in self.targets]).amin(0)
        errors = [nn.functional.mse_loss(actions_taken(one(batch.observations), batch.actions), target) for one in self.critics]
        above = taken - self.value(batch.observations)[:, 0]
        weights = torch.where(above < 0, 1 - self._config.expectile, self._config.expectile)
        return torch.stack(errors).sum(), (weights * above.square()).mean(), taken

    def measure(self, batch: Batch) -> dict[str, torch.Tensor]:
        critic_loss, value_loss, _ = self._value_losses(batch)
        matched = (self.actor(batch.observations).argmax(1) == batch.actions).float().mean()
        return {"loss": critic_loss + value_loss, "accuracy": matched}
