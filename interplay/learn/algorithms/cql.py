"""Conservative Q-learning for discrete actions: keep low the values of actions that nobody took (Kumar et al. 2020, equation 4,
the variant CQL(H), with the discrete actions of its appendix F).

Each update takes one Adam step on the loss of Double DQN plus `alpha` times (log-sum-exp of all values minus the value of the
action taken). With `quantiles`, values are means of quantiles (Dabney et al. 2018), as in the paper's Atari runs.

Differences: the target network is first updated right after the first update, as in d3rlpy.
"""

from __future__ import annotations

import torch
from torch import nn

from interplay.learn.algorithms.targets import ValueLearner, actions_taken, bootstrapped, least, quantile_loss, quantiles_taken
from interplay.learn.harness.learner import Batch, Given, encoder
from interplay.learn.settings import CQLConfig


class CQL(ValueLearner):
    """Conservative Q-learning."""

    def __init__(self, config: CQLConfig, given: Given) -> None:
        architecture = {
            "name": "quantile_values",
            "encoder": encoder(config, given.observation_shape),
            "actions": given.num_actions,
            "quantiles": config.quantiles,
        }
        super().__init__(config, given, architecture if config.quantiles else None)

    def losses(self, batch: Batch, generator: torch.Generator | None) -> dict[str, torch.Tensor]:
        if self._config.quantiles:
            td_loss, values = self._of_quantiles(batch)
        else:
            td_loss, values = self._of_means(batch)
        taken = actions_taken(values, batch.actions)
        conservative_loss = (values.logsumexp(1) - taken).mean()
        loss = td_loss + self._config.alpha * conservative_loss
        return {"loss": loss, "td_loss": td_loss, "conservative_loss": conservative_loss, "value": taken.mean()}

    def _of_means(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Return (loss of Double DQN, values of all actions as means over the critics, shape (B, A))."""
        with torch.no_grad():
            best = torch.stack([critic(batch.next_observations) for critic in self.critics]).mean(0).argmax(1)
            after = torch.stack([target(batch.next_observations) for target in self.targets])
            target = bootstrapped(self._config, batch, actions_taken(after, best).amin(0))
        values = torch.stack([critic(batch.observations) for critic in self.critics])  # (critics, B, A)
        taken = actions_taken(values, batch.actions)
        return nn.functional.huber_loss(taken, target.expand_as(taken)) * len(taken), values.mean(0)

    def _of_quantiles(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        with torch.no_grad():
            best = torch.stack([critic(batch.next_observations) for critic in self.critics]).mean(0).argmax(1)
            after = [quantiles_taken(target.quantiles(batch.next_observations), best) for target in self.targets]
            target = bootstrapped(self._config, batch, least(torch.stack(after)))
        quantiles = [critic.quantiles(batch.observations) for critic in self.critics]  # each (B, A, N)
        fractions = self.critics[0].fractions[None]
        losses = [quantile_loss(quantiles_taken(one, batch.actions), fractions, target) for one in quantiles]
        return torch.stack(losses).sum(), torch.stack(quantiles).mean((0, 3))
