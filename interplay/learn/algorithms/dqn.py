"""Deep Q-network: learn a value for each action from the values of the next state (Mnih et al. 2015, Nature 518, "Methods").

Each update takes one Adam step on the Huber loss between the value of the action taken and its target. The target is the reward
plus the discounted value of the best next action by a target network, which is updated at intervals. Double DQN lets the online
network choose that action (van Hasselt et al. 2016, equation 4).

Differences: Adam; no exploration, as the data is recorded; the target network is first updated right after the first update, as
in d3rlpy.
"""

from __future__ import annotations

import torch
from torch import nn

from interplay.learn.algorithms.targets import ValueLearner, actions_taken, bootstrapped, rewards_of
from interplay.learn.harness.learner import Batch


class DQN(ValueLearner):
    """Deep Q-network."""

    def losses(self, batch: Batch, generator: torch.Generator | None) -> dict[str, torch.Tensor]:
        with torch.no_grad():
            after = torch.stack([target(batch.next_observations) for target in self.targets])  # (critics, B, A)
            chooser = after
            if self._config.double:
                chooser = torch.stack([critic(batch.next_observations) for critic in self.critics])
            best = chooser.mean(0).argmax(1)
            target = bootstrapped(self._config, batch, actions_taken(after, best).amin(0))
        taken = [actions_taken(critic(batch.observations), batch.actions) for critic in self.critics]
        loss = torch.stack([nn.functional.huber_loss(values, target) for values in taken]).sum()
        return {"loss": loss, "value": taken[0].mean()}

    def measure(self, batch: Batch) -> dict[str, torch.Tensor]:
        return super().measure(batch) | {"reward": rewards_of(self._config, batch).mean()}
