"""Common parts of value learners: critics and their targets, scaled rewards, values of the actions taken."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import torch
from torch import nn

from interplay.agents import networks
from interplay.learn.harness.learner import Acting, Batch, Given, Learner, adam, feedforward, follow, step
from interplay.learn.settings import OfflineConfig, ValueConfig


class ValueLearner(Learner):
    """Critics, and target networks copied from them at intervals. The first critic plays; an update is one Adam step.

    Critics have the given architecture, by default that of the usual network (`feedforward`).
    """

    looks_ahead = True
    needs_rewards = True

    def __init__(self, config: ValueConfig, given: Given, architecture: dict[str, Any] | None = None) -> None:
        self._config: Any = config
        critics = [
            feedforward(config, given)
            if architecture is None
            else Acting(given.ready(networks.build(architecture)), architecture)
            for _ in range(config.critics)
        ]
        self.acting = critics[0]
        self.critics: Any = nn.ModuleList(critic.network for critic in critics)
        self.targets: Any = deepcopy(self.critics).requires_grad_(False)
        self.modules = {"critics": self.critics, "targets": self.targets}
        self.optimizers = {"critics": adam(self.critics.parameters(), config.learning_rate, config.weight_decay)}

    def losses(self, batch: Batch, generator: torch.Generator | None) -> dict[str, torch.Tensor]:
        """The `loss` of a batch and other measures; without a generator, nothing is drawn at random."""
        raise NotImplementedError

    def update(self, batch: Batch, number: int, generator: torch.Generator) -> dict[str, torch.Tensor]:
        measured = self.losses(batch, generator)
        step(self.optimizers["critics"], measured["loss"])
        if number % self._config.target_every == 0:
            follow(self.targets, self.critics)
        return measured

    def measure(self, batch: Batch) -> dict[str, torch.Tensor]:
        return self.losses(batch, None)


def rewards_of(config: OfflineConfig, batch: Batch) -> torch.Tensor:
    """Rewards of a batch, scaled and clipped by the run's settings: float32, shape (B,)."""
    rewards = batch.rewards * config.reward_scale
    return rewards.clamp(-config.reward_clip, config.reward_clip) if config.reward_clip else rewards


def bootstrapped(config: OfflineConfig, batch: Batch, values: torch.Tensor) -> torch.Tensor:
    """Reward plus the discounted value of the next state; after a terminal step the reward alone.

    Values are float32, shape (B,) or (B, quantiles).
    """
    shape = (-1,) + (1,) * (values.ndim - 1)
    return rewards_of(config, batch).view(shape) + config.gamma * batch.continues.view(shape) * values


def actions_taken(values: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
    """Values of the actions taken, shape (..., B), from the values of all actions, shape (..., B, A)."""
    return values[..., torch.arange(len(actions), device=actions.device), actions]


def quantiles_taken(quantiles: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
    """Quantiles of the actions taken, shape (B, N), from the quantiles of all actions, shape (B, A, N)."""
    return quantiles[torch.arange(len(actions), device=actions.device), actions]


def least(quantiles: torch.Tensor) -> torch.Tensor:
    """For each decision, the quantiles of the critic with the least mean: shape (B, N), from shape (critics, B, N)."""
    lowest = quantiles.mean(2).argmin(0)
    return quantiles[lowest, torch.arange(len(lowest), device=lowest.device)]


def quantile_loss(quantiles: torch.Tensor, fractions: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Quantile Huber loss (Dabney et al. 2018, "Distributional RL with quantile regression", equation 10): summed over the
    quantiles, averaged over targets and decisions.

    Args:
        quantiles: float32, shape (B, N), at `fractions`, shape (B, N) or (1, N).
        target: float32, shape (B, M), without a gradient.
    """
    error = target[:, :, None] - quantiles[:, None]  # (B, M, N)
    huber = torch.where(error.detach().abs() < 1, 0.5 * error.square(), error.abs() - 0.5)
    weights = (fractions[:, None] - (error.detach() < 0).float()).abs()
    return (weights * huber).sum(2).mean()
