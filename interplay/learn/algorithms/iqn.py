"""Implicit quantile network: what returns an action may bring, not only their mean (Dabney et al. 2018, "Implicit quantile
networks for distributional reinforcement learning", section 3 and equation 3).

Each update draws fractions between 0 and 1 for each decision, and takes one Adam step on the quantile Huber loss between the
quantiles of the action taken and targets, the reward plus the discounted quantiles of the best next action.

Differences: as many fractions are drawn for the choice of the next action, its quantiles and the prediction; the loss is a
sum over predicted quantiles and a mean over targets; the target follows after the first update already. All as in d3rlpy.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import torch
from torch import nn

from interplay.agents import networks
from interplay.learn.algorithms.targets import bootstrapped, least, quantile_loss, quantiles_taken
from interplay.learn.harness.learner import Acting, Batch, Given, Learner, adam, encoder, follow, step
from interplay.learn.settings import IQNConfig


class IQN(Learner):
    """Implicit quantile network."""

    looks_ahead = True
    needs_rewards = True

    def __init__(self, config: IQNConfig, given: Given) -> None:
        self._config = config
        self._architecture = {
            "name": "implicit_quantile_values",
            "encoder": encoder(config, given.observation_shape),
            "actions": given.num_actions,
            "embedding": config.embedding,
            "greedy_quantiles": config.greedy_quantiles,
        }
        self.critics: Any = nn.ModuleList(given.ready(networks.build(self._architecture)) for _ in range(config.critics))
        self.targets: Any = deepcopy(self.critics).requires_grad_(False)
        self.modules = {"critics": self.critics, "targets": self.targets}
        self.optimizers = {"critics": adam(self.critics.parameters(), config.learning_rate, config.weight_decay)}

    def update(self, batch: Batch, number: int, generator: torch.Generator) -> dict[str, torch.Tensor]:
        """One step on the quantile Huber loss of a batch."""
        shape, device = (len(batch.actions), self._config.quantiles), batch.observations.device
        drawn = [torch.rand(shape, generator=generator).to(device) for _ in range(3 * self._config.critics)]
        loss, values = self._loss(batch, drawn)
        step(self.optimizers["critics"], loss)
        if number % self._config.target_every == 0:
            follow(self.targets, self.critics)
        return {"loss": loss, "value": values}

    def _loss(self, batch: Batch, drawn: list[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        """(the loss, the mean value of the actions taken), with fractions for three passes of each critic."""
        size = len(self.critics)
        to_choose, to_value, to_predict = (drawn[start : start + size] for start in (0, size, 2 * size))
        with torch.no_grad():
            features = [target.encoder(batch.next_observations) for target in self.targets]
            values = [
                target.quantiles(one, fractions).mean(2)
                for target, one, fractions in zip(self.targets, features, to_choose, strict=True)
            ]
            best = torch.stack(values).mean(0).argmax(1)
            after = [
                quantiles_taken(target.quantiles(one, fractions), best)
                for target, one, fractions in zip(self.targets, features, to_value, strict=True)
            ]
            target = bootstrapped(self._config, batch, least(torch.stack(after)))
        losses, means = [], []
        for critic, fractions in zip(self.critics, to_predict, strict=True):
            taken = quantiles_taken(critic.quantiles(critic.encoder(batch.observations), fractions), batch.actions)
            losses.append(quantile_loss(taken, fractions, target))
            means.append(taken.mean())
        return torch.stack(losses).sum(), means[0]

    def measure(self, batch: Batch) -> dict[str, torch.Tensor]:
        """The loss, as in training, but at evenly spread fractions."""
        number, device = self._config.quantiles, batch.observations.device
        fractions = ((torch.arange(number, device=device) + 0.5) / number).expand(len(batch.actions), -1)
        loss, values = self._loss(batch, [fractions] * (3 * self._config.critics))
        return {"loss": loss, "value": values}

    def acting(self) -> Acting:
        """The first critic: the action of the highest mean."""
        return Acting(self.critics[0], self._architecture)
