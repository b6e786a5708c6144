"""Discrete soft actor-critic: action probabilities that balance value and variety (Haarnoja et al. 2018, with the discrete
actions of Christodoulou 2019, "Soft actor-critic for discrete action settings", section 3).

Each update takes three Adam steps: one of the critics, on the Huber loss to the reward plus the discounted soft value of the
next state; one of the entropy's weight, towards 98 % of the largest possible entropy; and one of the actor, whose loss is the
expected weighted log-probability minus the least of the critics' values.

Differences: Huber loss in place of squares, and target networks that are updated at intervals, as in d3rlpy.
"""

from __future__ import annotations

import math
from copy import deepcopy
from typing import Any

import torch
from torch import nn

from interplay.learn.algorithms.targets import actions_taken, bootstrapped
from interplay.learn.harness.learner import Batch, Given, Learner, adam, feedforward, follow, step
from interplay.learn.settings import SACConfig


class SAC(Learner):
    """Discrete soft actor-critic."""

    looks_ahead = True
    needs_rewards = True

    def __init__(self, config: SACConfig, given: Given) -> None:
        self._config = config
        self.acting = feedforward(config, given)
        self.actor = self.acting.network
        self.critics: Any = nn.ModuleList(feedforward(config, given).network for _ in range(config.critics))
        self.targets: Any = deepcopy(self.critics).requires_grad_(False)
        self.log_weight = nn.Parameter(torch.tensor([math.log(config.entropy_weight)], device=given.device))
        self.target_entropy = 0.98 * math.log(given.num_actions)
        self.modules = {
            "actor": self.actor,
            "critics": self.critics,
            "targets": self.targets,
            "entropy": nn.ParameterList([self.log_weight]),
        }
        self.optimizers = {
            "actor": adam(self.actor.parameters(), config.learning_rate, config.weight_decay),
            "critics": adam(self.critics.parameters(), config.learning_rate, config.weight_decay),
            "entropy": adam([self.log_weight], config.entropy_learning_rate),
        }

    def update(self, batch: Batch, number: int, generator: torch.Generator) -> dict[str, torch.Tensor]:
        loss = self._critic_loss(batch)
        step(self.optimizers["critics"], loss)

        with torch.no_grad():
            values = torch.stack([critic(batch.observations) for critic in self.critics]).amin(0)  # (B, A)
        log_probabilities = self.actor(batch.observations).log_softmax(1)
        probabilities = log_probabilities.exp()
        entropy = -(probabilities * log_probabilities).sum(1).detach()
        step(self.optimizers["entropy"], (self.log_weight.exp() * (entropy - self.target_entropy)).mean())

        weight = self.log_weight.detach().exp()
        actor_loss = (probabilities * (weight * log_probabilities - values)).sum(1).mean()
        step(self.optimizers["actor"], actor_loss)
        if number % self._config.target_every == 0:
            follow(self.targets, self.critics)
        return {"loss": loss, "actor_loss": actor_loss, "entropy": entropy.mean(), "entropy_weight": weight.mean()}

    def _critic_loss(self, batch: Batch) -> torch.Tensor:
        with torch.no_grad():
            log_probabilities = self.actor(batch.next_observations).log_softmax(1)
            after = torch.stack([target(batch.next_observations) for target in self.targets]).amin(0)
            soft = (log_probabilities.exp() * (after - self.log_weight.exp() * log_probabilities)).sum(1)
            target = bootstrapped(self._config, batch, soft)
        losses = [
            nn.functional.huber_loss(actions_taken(critic(batch.observations), batch.actions), target)
            for critic in self.critics
        ]
        return torch.stack(losses).sum()

    def measure(self, batch: Batch) -> dict[str, torch.Tensor]:
        matched = (self.actor(batch.observations).argmax(1) == batch.actions).float().mean()
        return {"loss": self._critic_loss(batch), "accuracy": matched}
