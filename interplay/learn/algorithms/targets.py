"""What value learners share: rewards as a run wants them, targets, values of the actions taken."""

from __future__ import annotations

import torch

from interplay.learn.harness.learner import Batch
from interplay.learn.settings import OfflineConfig


def rewards_of(config: OfflineConfig, batch: Batch) -> torch.Tensor:
    """Rewards, scaled and clipped as a run wants them: float32, shape (B,)."""
    rewards = batch.rewards * config.reward_scale
    return rewards.clamp(-config.reward_clip, config.reward_clip) if config.reward_clip else rewards


def bootstrapped(config: OfflineConfig, batch: Batch, values: torch.Tensor) -> torch.Tensor:
    """Reward plus discounted value of what follows, which is nothing after a terminal step.

    Args:
        values: float32, shape (B,) or (B, quantiles).
    """
    shape = (-1,) + (1,) * (values.ndim - 1)
    return rewards_of(config, batch).view(shape) + config.gamma * batch.continues.view(shape) * values


def actions_taken(values: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
    """Of values of all actions, shape (..., B, A), those of one for each decision, shape (..., B)."""
    return values[..., torch.arange(len(actions), device=actions.device), actions]
