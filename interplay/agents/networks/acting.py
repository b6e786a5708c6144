"""Networks that act: heads on an encoder's features.

Each takes a batch of observations and gives a row of numbers for each, which `interplay.agents.actions` turns into an action:
logits of probabilities, values of actions, or means and deviations. A recurrent one also takes and gives its memory.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from interplay.agents.networks.encoders import encoder as build_encoder


class Feedforward(nn.Module):
    """An encoder and one linear layer: logits of actions, their values, or other outputs, shape (B, outputs)."""

    def __init__(self, encoder: Mapping[str, Any], outputs: int) -> None:
        super().__init__()
        self.encoder = build_encoder(encoder)
        self.out = nn.Linear(self.encoder.num_features, outputs)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        return self.out(self.encoder(observations))


class Recurrent(nn.Module):
    """An encoder, a gated recurrent unit (Cho et al. 2014) and one linear layer. A game begins with a memory of zeros."""

    def __init__(self, encoder: Mapping[str, Any], outputs: int, memory: int = 256) -> None:
        super().__init__()
        self.memory_size = memory
        self.encoder = build_encoder(encoder)
        self.memory = nn.GRUCell(self.encoder.num_features, memory)
        self.out = nn.Linear(memory, outputs)

    def forward(self, observations: torch.Tensor, memory: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """(float32, shape (B, outputs); the new memory, shape (B, memory_size))."""
        memory = self.memory(self.encoder(observations), memory)
        return self.out(memory), memory


class QuantileValues(nn.Module):
    """Values of actions as quantiles of their returns at fixed fractions (Dabney et al. 2018, "Distributional RL with quantile
    regression", section 4)."""

    fractions: torch.Tensor

    def __init__(self, encoder: Mapping[str, Any], actions: int, quantiles: int = 32) -> None:
        super().__init__()
        self.encoder = build_encoder(encoder)
        self.out = nn.Linear(self.encoder.num_features, actions * quantiles)
        self.num_actions = actions
        fractions = (torch.arange(quantiles, dtype=torch.float32) + 0.5) / quantiles
        self.register_buffer("fractions", fractions, persistent=False)

    def quantiles(self, observations: torch.Tensor) -> torch.Tensor:
        """float32, shape (B, actions, quantiles)."""
        return self.out(self.encoder(observations)).unflatten(1, (self.num_actions, -1))

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        return self.quantiles(observations).mean(2)


class ImplicitQuantileValues(nn.Module):
    """Values of actions as quantiles of their returns at any fractions (Dabney et al. 2018, "Implicit quantile networks",
    section 3.1, equation 4).

    Args:
        embedding: Number of cosines of a fraction.
        greedy_quantiles: Fractions from 0 to 1 whose quantiles' mean is an action's value when it plays.

    Differences: the cosines are of 1 to n times pi, not 0 to n - 1, as in d3rlpy.
    """

    steps: torch.Tensor

    def __init__(self, encoder: Mapping[str, Any], actions: int, embedding: int = 64, greedy_quantiles: int = 32) -> None:
        super().__init__()
        self.encoder = build_encoder(encoder)
        self.out = nn.Linear(self.encoder.num_features, actions)
        self.embed = nn.Linear(embedding, self.encoder.num_features)
        self.greedy_quantiles = greedy_quantiles
        self.register_buffer("steps", math.pi * (torch.arange(embedding, dtype=torch.float32) + 1), persistent=False)

    def quantiles(self, features: torch.Tensor, fractions: torch.Tensor) -> torch.Tensor:
        """Quantiles of each action at fractions, float32, shape (B, N): float32, shape (B, actions, N)."""
        embedded = torch.relu(self.embed(torch.cos(self.steps * fractions[:, :, None])))  # (B, N, features)
        return self.out(features[:, None] * embedded).transpose(1, 2)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        features = self.encoder(observations)
        fractions = torch.linspace(0, 1, self.greedy_quantiles, device=features.device).expand(len(features), -1)
        return self.quantiles(features, fractions).mean(2)


class ConstrainedValues(nn.Module):
    """Values of actions, and how likely the demonstrators take them; an unlikely action is never the best (Fujimoto et al.
    2019, "Benchmarking batch deep RL algorithms", section 4). Both share one encoder.

    Actions less likely than `flexibility` times the most likely one are out.
    """

    def __init__(self, encoder: Mapping[str, Any], actions: int, flexibility: float = 0.3) -> None:
        super().__init__()
        self.encoder = build_encoder(encoder)
        self.values = nn.Linear(self.encoder.num_features, actions)
        self.imitation = nn.Linear(self.encoder.num_features, actions)
        self.flexibility = flexibility

    def heads(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """(values, log-probabilities of imitation), each float32, shape (B, actions)."""
        features = self.encoder(observations)
        return self.values(features), self.imitation(features).log_softmax(1)

    def allowed(self, values: torch.Tensor, log_probabilities: torch.Tensor) -> torch.Tensor:
        """Values, minus infinity where an action is out."""
        likeliest = log_probabilities.amax(1, keepdim=True)
        is_allowed = (log_probabilities - likeliest > math.log(max(self.flexibility, 1e-30))) | (log_probabilities == likeliest)
        return values.masked_fill(~is_allowed, -math.inf)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        return self.allowed(*self.heads(observations))
