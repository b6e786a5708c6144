"""Behaviour cloning: a network that acts as the demonstrator did (Pomerleau 1991, "Efficient training of artificial neural
networks for autonomous navigation"). One file, read top to bottom.

Each update takes one Adam step on the cross-entropy between the network's action probabilities and the demonstrator's actions.

Differences from usual cloning: by default the learning rate falls along a half cosine, because short runs end better so. In
play, actions are drawn from the policy's probabilities, because a clone of a varying player gets stuck if it always takes the
most probable action. `beta` is d3rlpy's penalty, for results comparable with d3rlpy's. Decisions of people who took over from
an agent can weigh more: with `equal_shares` as much as all other decisions together, as in intervention-weighted regression
(Mandlekar et al. 2020, "Human-in-the-loop imitation learning using remote teleoperation"). Here a weight in the loss does this;
the paper draws half of each batch from each group.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import nn

from interplay.learn.config import ConfigError
from interplay.learn.harness.learner import Batch, Given, Learner, adam, feedforward, step
from interplay.learn.settings import BCConfig, FilteredBCConfig
from interplay.learn.transitions import TransitionError, Transitions


class BC(Learner):
    """Behaviour cloning."""

    def __init__(self, config: BCConfig, given: Given) -> None:
        self._config = config
        if config.shift and len(given.observation_shape) != 3:
            raise ConfigError(
                f"shift moves pictures, and {config.observation!r} gives observations of shape {given.observation_shape}\n"
                "Learn without it:  --shift 0"
            )
        self.acting = feedforward(config, given, initialise)
        self.network = self.acting.network
        self.modules = {"network": self.network}
        self.optimizers = {"network": adam(self.network.parameters(), config.learning_rate, config.weight_decay)}
        weights = weights_of(given.actions, given.num_actions, config.balance)
        self._action_weights = torch.from_numpy(weights).to(given.device, torch.float32)
        by_group = group_weights(given.until_takeover, config)
        self._group_weights = None if by_group is None else torch.from_numpy(by_group).to(given.device, torch.float32)

    def update(self, batch: Batch, number: int, generator: torch.Generator) -> dict[str, torch.Tensor]:
        observations = batch.observations
        if self._config.shift:
            observations = shifted(observations, self._config.shift, generator)
        logits = self.network(observations)
        weights = self._action_weights[batch.actions]
        if self._group_weights is not None:
            assert batch.until_takeover is not None
            weights = weights * self._group_weights[groups(batch.until_takeover, self._config.before_steps)]
        loss = cross_entropy(logits, batch.actions, weights, self._config.label_smoothing)
        if self._config.beta:
            loss = loss + self._config.beta * logits.log_softmax(1).square().mean()
        step(self.optimizers["network"], loss)
        return {"loss": loss, "accuracy": (logits.detach().argmax(1) == batch.actions).float().mean()}

    def measure(self, batch: Batch) -> dict[str, torch.Tensor]:
        logits = self.network(batch.observations)
        return {
            "loss": nn.functional.cross_entropy(logits, batch.actions),
            "accuracy": (logits.argmax(1) == batch.actions).float().mean(),
        }


class FilteredBC(BC):
    """Behaviour cloning of the episodes of the highest return ("%BC" in Chen et al. 2021, "Decision transformer", section 5).

    Differences: the share is counted in training episodes, not in steps, so that no episode is cut in two.
    """

    needs_rewards = True

    @staticmethod
    def choose(data: Transitions, training: np.ndarray, config: FilteredBCConfig) -> np.ndarray:
        """Return the decisions of the best episodes, at least one episode; of equally good episodes, take the first."""
        episodes = np.unique(data.episodes[training])
        returns = data.returns()[episodes]
        best = episodes[np.argsort(-returns, kind="stable")[: max(1, math.ceil(config.best * len(episodes)))]]
        return training[np.isin(data.episodes[training], best)]


def initialise(network: nn.Module) -> None:
    """Set first weights for a short training: orthogonal (Saxe et al. 2014), so that thin sprites still affect the last layer,
    and with almost no preference among actions."""
    for name, layer in network.named_modules():
        if isinstance(layer, nn.Conv2d | nn.Linear):
            nn.init.orthogonal_(layer.weight, gain=0.01 if name == "out" else 2**0.5)
            nn.init.zeros_(layer.bias)  # type: ignore[arg-type]


def cross_entropy(
    logits: torch.Tensor, actions: torch.Tensor, weights: torch.Tensor, label_smoothing: float = 0.0
) -> torch.Tensor:
    """Mean over the batch of w * -sum_k q_k log p_k, with q one-hot on the action a, smoothed.

    Unlike `torch.nn.functional.cross_entropy(weight=...)`, the sum is divided by the batch size and not by the batch's weights,
    so that a batch of rare actions counts for more.

    Args:
        logits: float32, shape (B, num_actions).
        actions, weights: int64 and float32, shape (B,).
        label_smoothing: Share of q spread evenly over all actions (Szegedy et al. 2016, section 7).
    """
    log_probabilities = logits.log_softmax(1)
    likelihood = log_probabilities.gather(1, actions[:, None])[:, 0]
    smoothed = (1 - label_smoothing) * likelihood + label_smoothing * log_probabilities.mean(1)
    return -(weights * smoothed).mean()


def weights_of(actions: np.ndarray, num_actions: int, balance: float) -> np.ndarray:
    """Weight of each action: its frequency to the power of -balance, scaled to mean 1 over the decisions; 1 if never taken.

    >>> weights_of(np.array([0, 0, 0, 1]), 3, 1.0).round(3).tolist()
    [0.667, 2.0, 1.0]
    """
    counts = np.bincount(actions, minlength=num_actions).astype(np.float64)
    raw = np.where(counts > 0, np.maximum(counts, 1) ** -balance, 0)
    scale = counts.sum() / (raw * counts).sum()
    return np.where(counts > 0, raw * scale, 1.0)


def groups(until_takeover: Any, before_steps: int) -> Any:
    """Group of each decision, int64: 0 by a person after taking over from an agent, 1 by an agent shortly before, 2 others.

    `until_takeover` is an array or a tensor, shape (B,); see `Transitions`.

    >>> groups(np.array([-1, 90, 60, 4, 0]), 60).tolist()
    [2, 2, 1, 1, 0]
    """
    rest = (until_takeover < 0) | (until_takeover > before_steps)
    return 2 * rest + 1 * ((until_takeover != 0) & ~rest)


def group_weights(until_takeover: np.ndarray | None, config: BCConfig) -> np.ndarray | None:
    """Weight of each of the `groups`, float64, shape (3,), with mean 1 over the decisions; None if all weights are equal.

    Raises:
        TransitionError: If `equal_shares` is set but nobody took over from an agent, or all decisions have weight 0.
    """
    raw = np.array([config.takeover_weight, config.before_weight, config.rest_weight])
    if not config.equal_shares and np.all(raw == 1):
        return None
    found = np.zeros(0, np.int64) if until_takeover is None else groups(until_takeover, config.before_steps)
    counts = np.bincount(found, minlength=3)
    others = raw[1:] @ counts[1:]
    if config.equal_shares and others > 0:
        if not counts[0]:
            raise TransitionError(
                "in these episodes nobody took over from an agent, so takeovers cannot make up half of the weight\n"
                "Record games in which a person takes over from an agent, at /play/SUITE/TASK?wheel=AGENT, and learn from all "
                "players:  --actor any"
            )
        raw[0] = others / counts[0]
    if not raw @ counts > 0:
        raise TransitionError(
            f"all decisions have weight 0: {counts[0]} after takeovers, {counts[1]} shortly before, and {counts[2]} others\n"
            "Give one of --takeover-weight, --before-weight and --rest-weight that is above 0."
        )
    return raw * counts.sum() / (raw @ counts)


def shifted(observations: torch.Tensor, most: int, generator: torch.Generator) -> torch.Tensor:
    """Move each stack by up to `most` pixels in each direction and repeat the edges ("DrQ", Yarats et al. 2021, section 3.1).

    Observations are uint8, shape (B, 4, H, W) or (B, H, W, 3).
    """
    if observations.shape[3] == 3:
        return shifted(observations.permute(0, 3, 1, 2), most, generator).permute(0, 2, 3, 1)
    size, height, width = len(observations), observations.shape[2], observations.shape[3]
    dy, dx = torch.randint(-most, most + 1, (2, size, 1), generator=generator).to(observations.device)
    rows = (torch.arange(height, device=observations.device) + dy).clamp(0, height - 1)  # (B, H)
    columns = (torch.arange(width, device=observations.device) + dx).clamp(0, width - 1)  # (B, W)
    batch = torch.arange(size, device=observations.device)[:, None, None]
    # Advanced indices around the channel axis put it last: (B, H, W, 4).
    return observations[batch, :, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)
