"""Proximal policy optimisation: play a little, move the policy a little, play again (Schulman et al. 2017, "Proximal policy
optimization algorithms"). One file, read top to bottom.

After each round of play, every decision's advantage is estimated from the rewards and values that follow it (Schulman et al.
2016, "High-dimensional continuous control using generalized advantage estimation"). Then the network learns from the round
a few times, in small batches: one Adam step each on the clipped objective, the values' error and the entropy. One network plays
every seat of a task and learns from the decisions of each seat: self-play.

Details are those of Huang et al. 2022, "The 37 implementation details of proximal policy optimization": orthogonal first
weights, Adam's epsilon of 1e-5, a learning rate that falls to zero, advantages normalised in each batch, clipped values, and
clipped gradients. For pictures, policy and values share one encoder; for numbers, each has its own.

Differences: where the step limit cut a game off, the value of the last observation replaces the rewards that would have
followed (Pardo et al. 2018, "Time limits in reinforcement learning"). Rectifiers replace hyperbolic tangents. Rewards are
clipped, not replaced by their signs. Games are played as people play them: without random first steps, and a lost life ends
no episode.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from interplay.agents import networks
from interplay.learn.algorithms.bc import initialise
from interplay.learn.harness.learner import Given, adam, feedforward
from interplay.learn.online.games import Played
from interplay.learn.settings import PPOConfig


class Decisions(NamedTuple):
    """D decisions with their advantages.

    `observations` is uint8 or float32, shape (D, ...); `actions` is int64, shape (D,); all others are float32, shape (D,).
    """

    observations: torch.Tensor
    actions: torch.Tensor
    log_probabilities: torch.Tensor
    values: torch.Tensor
    advantages: torch.Tensor

    def part(self, which: torch.Tensor) -> Decisions:
        return Decisions(*(one[which] for one in self))


class PPO:
    """Proximal policy optimisation."""

    def __init__(self, config: PPOConfig, given: Given) -> None:
        self._config, self._device = config, given.device
        self.acting = feedforward(config, given, initialise)
        self.actor = self.acting.network
        self._shares_encoder = len(given.observation_shape) == 3
        if self._shares_encoder:
            self.critic: Any = given.ready(nn.Linear(self.actor.encoder.num_features, 1))  # type: ignore[union-attr]
            last = self.critic
        else:
            critic = networks.build({**self.acting.architecture, "outputs": 1})
            initialise(critic)
            last, self.critic = critic.out, given.ready(critic)
        nn.init.orthogonal_(last.weight, gain=1.0)
        nn.init.zeros_(last.bias)
        self.modules: Mapping[str, nn.Module] = {"actor": self.actor, "critic": self.critic}
        self._parameters = [*self.actor.parameters(), *self.critic.parameters()]
        optimizer = adam(self._parameters, config.learning_rate, config.weight_decay, epsilon=1e-5)
        self.optimizers: Mapping[str, torch.optim.Optimizer] = {"both": optimizer}

    def update(self, batch: Played, number: int, generator: torch.Generator) -> dict[str, torch.Tensor]:
        """Learn from a round, `epochs` times; return means over the batches."""
        config = self._config
        decisions = self.decisions(batch)
        size = len(decisions.actions)
        measured: list[dict[str, torch.Tensor]] = []
        for _epoch in range(config.epochs):
            order = torch.randperm(size, generator=generator).to(self._device)
            for which in order.tensor_split(max(1, round(size / config.batch_size))):
                found = self.loss(decisions.part(which))
                self.optimizers["both"].zero_grad(set_to_none=True)
                found["loss"].backward()
                nn.utils.clip_grad_norm_(self._parameters, config.max_gradient)
                self.optimizers["both"].step()
                measured.append({name: value.detach() for name, value in found.items()})
        return {name: torch.stack([one[name] for one in measured]).mean() for name in measured[0]}

    def decisions(self, played: Played) -> Decisions:
        """The decisions of a round, with their advantages; decisions of seats whose game was over are left out."""
        config, device = self._config, self._device
        observations = torch.from_numpy(played.observations).to(device)  # (T + 1, S, ...)
        actions = torch.from_numpy(played.actions).to(device)  # (T, S)
        with torch.no_grad():
            logits, values = self._looked_at(observations.flatten(0, 1))
            values = values.view(observations.shape[:2]).cpu()  # (T + 1, S)
            logits = logits.view(*observations.shape[:2], -1)[:-1]  # (T, S, A)
            log_probabilities = _of_actions(logits, actions)
            rewards = torch.from_numpy(played.rewards) * config.reward_scale
            if config.reward_clip:
                rewards = rewards.clamp(-config.reward_clip, config.reward_clip)
            if played.truncated.any():
                following = values[1:].clone()  # (T, S), of a seat's last observation also while others play on
                steps, slots = played.ends.T
                cut_off = played.truncated[steps, slots]  # (E,)
                if cut_off.any():
                    last = torch.from_numpy(played.final_observations[cut_off]).to(device)
                    following[steps[cut_off], slots[cut_off]] = self._looked_at(last)[1].cpu()
                rewards += config.gamma * following * torch.from_numpy(played.truncated)
            ended = torch.from_numpy(played.terminated | played.truncated)
            advantages = estimated(rewards, values, ended, config.gamma, config.gae_lambda)
        which = torch.from_numpy(np.flatnonzero(played.is_playing)).to(device)
        every = (observations[:-1], actions, log_probabilities, values[:-1].to(device), advantages.to(device))
        return Decisions(*(one.flatten(0, 1)[which] for one in every))

    def loss(self, batch: Decisions) -> dict[str, torch.Tensor]:
        """The loss (equation 9 of Schulman et al. 2017 with the opposite sign) and its parts."""
        config = self._config
        logits, values = self._both(batch.observations)
        advantages = batch.advantages
        if len(advantages) > 1:
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)

        # The policy (equation 7): no reward for moving the probabilities further than the clip.
        log_ratio = _of_actions(logits, batch.actions) - batch.log_probabilities
        ratio = log_ratio.exp()
        clipped_ratio = ratio.clamp(1 - config.clip, 1 + config.clip)
        policy_loss = -torch.min(ratio * advantages, clipped_ratio * advantages).mean()

        # The values: towards the advantages added to what they were.
        returns = batch.advantages + batch.values
        error = (values - returns).square()
        if config.clip_values:
            near = batch.values + (values - batch.values).clamp(-config.clip, config.clip)
            error = torch.max(error, (near - returns).square())
        value_loss = 0.5 * error.mean()

        log_policy = logits.log_softmax(1)
        entropy = -(log_policy.exp() * log_policy).sum(1).mean()
        return {
            "loss": policy_loss + config.value_weight * value_loss - config.entropy_weight * entropy,
            "policy_loss": policy_loss,
            "value_loss": value_loss,
            "entropy": entropy,
            "change": (ratio - 1 - log_ratio).mean(),  # of the policy: an estimate of the Kullback-Leibler divergence
            "clipped": ((ratio - 1).abs() > config.clip).float().mean(),
        }

    def _both(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return (logits of the actions, shape (B, actions); values, shape (B,))."""
        if self._shares_encoder:
            features = self.actor.encoder(observations)  # type: ignore[operator]
            return self.actor.out(features), self.critic(features)[:, 0]  # type: ignore[operator]
        return self.actor(observations), self.critic(observations)[:, 0]

    def _looked_at(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Apply `_both` to any number of observations, one batch after the other."""
        parts = [self._both(part) for part in observations.split(self._config.batch_size)]
        return torch.cat([logits for logits, _ in parts]), torch.cat([values for _, values in parts])


def estimated(
    rewards: torch.Tensor, values: torch.Tensor, ended: torch.Tensor, gamma: float, gae_lambda: float
) -> torch.Tensor:
    """Advantages of decisions (Schulman et al. 2016, equation 16; in rounds as equations 11 and 12 of Schulman et al. 2017).

    With the error d[t] = r[t] + gamma V[t + 1] - V[t] of a decision, its advantage is A[t] = d[t] + gamma lambda A[t + 1].
    Where a game ended, V[t + 1] and A[t + 1] are 0. `rewards` is float32, shape (T, S); `values` float32, shape (T + 1, S);
    `ended` bool, shape (T, S).

    >>> one = lambda *numbers: torch.tensor(numbers)[:, None]
    >>> estimated(one(1.0, 0.0, 2.0), one(0.5, 1.0, 1.0, 3.0), one(False, True, False), 0.5, 0.5)[:, 0].tolist()
    [0.75, -1.0, 2.5]
    """
    advantages = torch.empty_like(rewards)
    following = torch.zeros_like(rewards[0])
    goes_on = (~ended).to(rewards.dtype)
    for decision in reversed(range(len(rewards))):
        surprise = rewards[decision] + gamma * values[decision + 1] * goes_on[decision] - values[decision]
        following = surprise + gamma * gae_lambda * goes_on[decision] * following
        advantages[decision] = following
    return advantages


def _of_actions(logits: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
    """Log-probabilities of the actions taken, shape (...), from logits, shape (..., A)."""
    return logits.log_softmax(-1).gather(-1, actions[..., None])[..., 0]
