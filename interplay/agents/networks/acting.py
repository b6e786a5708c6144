"""Networks that choose actions: heads on an encoder's features.

A network maps each observation of a batch to a row of numbers: logits of probabilities, values of actions, or means and
deviations. `interplay.agents.actions` turns the row into an action. A recurrent network also takes and returns its memory.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from interplay.agents.networks.encoders import encoder as build_encoder


class Feedforward(nn.Module):
    """An encoder and one linear layer; its outputs, such as logits or values of actions, have the shape (B, outputs)."""

    def __init__(self, encoder: Mapping[str, Any], outputs: int) -> None:
        super().__init__()
        self.encoder = build_encoder(encoder)
        self.out = nn.Linear(self.encoder.num_features, outputs)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the outputs: float32, shape (B, outputs)."""
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
        """Return (outputs, float32, shape (B, outputs); the new memory, shape (B, memory_size))."""
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
        """Return the quantiles of each action's returns: float32, shape (B, actions, quantiles)."""
        return self.out(self.encoder(observations)).unflatten(1, (self.num_actions, -1))

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the mean of each action's quantiles: float32, shape (B, actions)."""
        return self.quantiles(observations).mean(2)


class ImplicitQuantileValues(nn.Module):
    """Values of actions as quantiles of their returns at any fractions (Dabney et al. 2018, "Implicit quantile networks",
    section 3.1, equation 4).

    Args:
        embedding: Number of cosines that encode a fraction.
        greedy_quantiles: Number of fractions used in play; an action's value is the mean of its quantiles at these fractions.

    Differences: the cosines' factors are 1 to n times pi, as in d3rlpy, not 0 to n - 1.
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
        """Return quantiles of each action, float32, shape (B, actions, N), at `fractions`, float32, shape (B, N)."""
        embedded = torch.relu(self.embed(torch.cos(self.steps * fractions[:, :, None])))  # (B, N, features)
        return self.out(features[:, None] * embedded).transpose(1, 2)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the values of the actions: float32, shape (B, actions)."""
        features = self.encoder(observations)
        fractions = torch.linspace(0, 1, self.greedy_quantiles, device=features.device).expand(len(features), -1)
        return self.quantiles(features, fractions).mean(2)


class ConstrainedValues(nn.Module):
    """Values of actions, and probabilities that the demonstrators choose them, from one encoder; unlikely actions are never
    chosen (Fujimoto et al. 2019, "Benchmarking batch deep RL algorithms", section 4).

    An action is excluded if it is less likely than `flexibility` times the most likely action.
    """

    def __init__(self, encoder: Mapping[str, Any], actions: int, flexibility: float = 0.3) -> None:
        super().__init__()
        self.encoder = build_encoder(encoder)
        self.values = nn.Linear(self.encoder.num_features, actions)
        self.imitation = nn.Linear(self.encoder.num_features, actions)
        self.flexibility = flexibility

    def heads(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return (values, log-probabilities that the demonstrators choose the actions), each float32, shape (B, actions)."""
        features = self.encoder(observations)
        return self.values(features), self.imitation(features).log_softmax(1)

    def allowed(self, values: torch.Tensor, log_probabilities: torch.Tensor) -> torch.Tensor:
        """Return the values, float32, shape (B, actions), with minus infinity for excluded actions."""
        likeliest = log_probabilities.amax(1, keepdim=True)
        is_allowed = (log_probabilities - likeliest > math.log(max(self.flexibility, 1e-30))) | (log_probabilities == likeliest)
        return values.masked_fill(~is_allowed, -math.inf)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the values of the actions: float32, shape (B, actions), with minus infinity for excluded actions."""
        return self.allowed(*self.heads(observations))
