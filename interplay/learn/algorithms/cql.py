"""Conservative Q-learning for discrete actions: values that do not hope for actions nobody took (Kumar et al. 2020, equation 4,
the variant CQL(H), with the discrete actions of its appendix F).

Each update takes one Adam step on the loss of Double DQN plus `alpha` times how far the log-sum-exp of all values is above the
value of the action taken. With `quantiles`, values are means of quantiles (Dabney et al. 2018), as in the paper's Atari runs.

Differences: the target follows after the first update already, as in d3rlpy.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import torch
from torch import nn

from interplay.agents import networks
from interplay.learn.algorithms.targets import actions_taken, bootstrapped, least, quantile_loss, quantiles_taken
from interplay.learn.harness.learner import Acting, Batch, Given, Learner, adam, encoder, feedforward, follow, step
from interplay.learn.settings import CQLConfig


class CQL(Learner):
    """Conservative Q-learning."""

    looks_ahead = True
    needs_rewards = True

    def __init__(self, config: CQLConfig, given: Given) -> None:
        self._config = config
        critics = [_critic(config, given) for _ in range(config.critics)]
        self._acting = critics[0]
        self.critics: Any = nn.ModuleList(critic.network for critic in critics)
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
        if self._config.quantiles:
            td_loss, values = self._of_quantiles(batch)
        else:
            td_loss, values = self._of_means(batch)
        taken = actions_taken(values, batch.actions)
        conservative_loss = (values.logsumexp(1) - taken).mean()
        loss = td_loss + self._config.alpha * conservative_loss
        return {"loss": loss, "td_loss": td_loss, "conservative_loss": conservative_loss, "value": taken.mean()}

    def _of_means(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """(loss of Double DQN; values of all actions, the mean of the critics, shape (B, A))."""
        with torch.no_grad():
            best = torch.stack([critic(batch.next_observations) for critic in self.critics]).mean(0).argmax(1)
            after = torch.stack([target(batch.next_observations) for target in self.targets])
            target = bootstrapped(self._config, batch, actions_taken(after, best).amin(0))
        values = torch.stack([critic(batch.observations) for critic in self.critics])  # (critics, B, A)
        taken = actions_taken(values, batch.actions)
        return nn.functional.huber_loss(taken, target.expand_as(taken)) * len(taken), values.mean(0)

    def _of_quantiles(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """The same for critics of quantiles."""
        with torch.no_grad():
            best = torch.stack([critic(batch.next_observations) for critic in self.critics]).mean(0).argmax(1)
            after = [quantiles_taken(target.quantiles(batch.next_observations), best) for target in self.targets]
            target = bootstrapped(self._config, batch, least(torch.stack(after)))
        quantiles = [critic.quantiles(batch.observations) for critic in self.critics]  # each (B, A, N)
        fractions = self.critics[0].fractions[None]
        losses = [quantile_loss(quantiles_taken(one, batch.actions), fractions, target) for one in quantiles]
        return torch.stack(losses).sum(), torch.stack(quantiles).mean((0, 3))

    def measure(self, batch: Batch) -> dict[str, torch.Tensor]:
        """The losses, as in training."""
        return self._losses(batch)

    def acting(self) -> Acting:
        """The first critic: its best action."""
        return self._acting


def _critic(config: CQLConfig, given: Given) -> Acting:
    if not config.quantiles:
        return feedforward(config, given)
    architecture = {
        "name": "quantile_values",
        "encoder": encoder(config, given.observation_shape),
        "actions": given.num_actions,
        "quantiles": config.quantiles,
    }
    return Acting(given.ready(networks.build(architecture)), architecture)
