"""Batch-constrained Q-learning for discrete actions: choose the best among the actions that players do take (Fujimoto et al.
2019, "Benchmarking batch deep reinforcement learning algorithms", section 4 and algorithm 1).

A network of two heads over one encoder gives the values of the actions and their probabilities. Actions less likely than
`flexibility` times the most likely one are never chosen, neither in targets nor in play. Each update takes one Adam step on the
Huber loss of Double DQN plus the cross-entropy of imitation plus `beta` times the mean square of the log-probabilities.

Differences: log-probabilities are penalised where the paper penalises logits, and the target network is first updated right
after the first update. Both are as in d3rlpy.
"""

from __future__ import annotations

import torch
from torch import nn

from interplay.learn.algorithms.targets import ValueLearner, actions_taken, bootstrapped
from interplay.learn.harness.learner import Batch, Given, encoder
from interplay.learn.settings import BCQConfig


class BCQ(ValueLearner):
    """Batch-constrained Q-learning. In play, the first critic chooses its best action among those that are likely enough."""

    def __init__(self, config: BCQConfig, given: Given) -> None:
        architecture = {
            "name": "constrained_values",
            "encoder": encoder(config, given.observation_shape),
            "actions": given.num_actions,
            "flexibility": config.flexibility,
        }
        super().__init__(config, given, architecture)

    def losses(self, batch: Batch, generator: torch.Generator | None) -> dict[str, torch.Tensor]:
        first, *others = self.critics  # only the first one's imitation is used
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
