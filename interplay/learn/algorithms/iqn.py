"""Implicit quantile network: learn the distribution of each action's returns, not only its mean (Dabney et al. 2018, "Implicit
quantile networks for distributional reinforcement learning", section 3 and equation 3).

Each update draws fractions between 0 and 1 for each decision. It takes one Adam step on the quantile Huber loss between the
quantiles of the action taken and the targets: the reward plus the discounted quantiles of the best next action.

Differences: the choice of the next action, its quantiles and the prediction each draw the same number of fractions; the loss is
a sum over predicted quantiles and a mean over targets; the target network is first updated right after the first update. All
of this is as in d3rlpy.
"""

from __future__ import annotations

import torch

from interplay.learn.algorithms.targets import ValueLearner, bootstrapped, least, quantile_loss, quantiles_taken
from interplay.learn.harness.learner import Batch, Given, encoder
from interplay.learn.settings import IQNConfig


class IQN(ValueLearner):
    """Implicit quantile network."""

    def __init__(self, config: IQNConfig, given: Given) -> None:
        architecture = {
            "name": "implicit_quantile_values",
            "encoder": encoder(config, given.observation_shape),
            "actions": given.num_actions,
            "embedding": config.embedding,
            "greedy_quantiles": config.greedy_quantiles,
        }
        super().__init__(config, given, architecture)

    def losses(self, batch: Batch, generator: torch.Generator | None) -> dict[str, torch.Tensor]:
        """Losses of a batch. Fractions for three passes of each critic are random; without a generator, evenly spaced."""
        size, number, device = len(self.critics), self._config.quantiles, batch.observations.device
        if generator is None:
            spread = ((torch.arange(number, device=device) + 0.5) / number).expand(len(batch.actions), -1)
            drawn = [spread] * (3 * size)
        else:
            drawn = [torch.rand((len(batch.actions), number), generator=generator).to(device) for _ in range(3 * size)]
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
        return {"loss": torch.stack(losses).sum(), "value": means[0]}
