"""The reward model: an ensemble of networks. Sums of rewards over two games or segments give the odds of an answer.

Bradley-Terry over sums of rewards (Christiano et al. 2017, "Deep reinforcement learning from human preferences", section
2.2.3), with Davidson's draws (1970) as in `interplay.rank.davidson`: with d the difference of the sums, the answers
"first", "second" and "draw" have the odds exp(d / 2) : exp(-d / 2) : nu.

Differences: for whole games, a sum is the mean over decisions at even distances, times the game's length divided by the mean
length; for a segment, it is the mean over all its decisions. The reward of a decision is that of its next observation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from interplay.agents.networks.encoders import encoder as built_encoder
from interplay.learn.harness.learner import Batches, adam, encoder, mixed, step
from interplay.learn.reward.pairs import DRAW, Pair, Side
from interplay.learn.settings import RewardConfig
from interplay.learn.transitions import Transitions

_AT_ONCE = 1024
"""Number of observations that pass the networks together."""


class RewardNetwork(nn.Module):
    """A network that maps observations, shape (B, ...), to rewards, float32, shape (B,)."""

    def __init__(self, description: dict[str, Any]) -> None:
        super().__init__()
        self.encoder = built_encoder(description)
        self.head = nn.Linear(self.encoder.num_features, 1)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        return self.head(self.encoder(observations))[:, 0]


class Ensemble(nn.Module):
    """Several reward networks, each with its own first weights and its own random order of the answers."""

    def __init__(self, description: dict[str, Any], members: int) -> None:
        super().__init__()
        self.members = nn.ModuleList(RewardNetwork(description) for _ in range(members))
        self.log_nu = nn.Parameter(torch.zeros(members))

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the rewards by each member: float32, shape (members, B)."""
        return torch.stack([member(observations) for member in self.members])


class Compared(NamedTuple):
    """A batch of pairs; each member of the ensemble draws its own.

    `observations` follow some decisions of each game: shape (members, B, 2, samples, ...). `lengths` are the games' numbers of
    decisions divided by the mean: float32, shape (members, B, 2). `outcomes` are int64, shape (members, B).
    """

    observations: torch.Tensor
    lengths: torch.Tensor
    outcomes: torch.Tensor


def log_odds(difference: torch.Tensor, log_nu: torch.Tensor, *, has_draws: bool) -> torch.Tensor:
    """Logits of the outcomes `FIRST`, `SECOND` and `DRAW`, shape (..., 3), of differences of sums, shape (...)."""
    draw = log_nu.expand_as(difference) if has_draws else torch.full_like(difference, -torch.inf)
    return torch.stack([difference / 2, -difference / 2, draw], dim=-1)


class PreferenceLearner:
    """The trained state of a run of the reward model, with its training pairs; each side has at least one decision."""

    def __init__(self, config: RewardConfig, data: Transitions, pairs: list[Pair], device: torch.device) -> None:
        self._config, self._data, self.device = config, data, device
        self.games = games_of(data)
        self._pairs = pairs
        self._looked_at: dict[Side, np.ndarray] = {}
        lengths = [len(self.decisions_of(side)) for pair in pairs for side in pair.sides]
        self.mean_length = float(np.mean(lengths))
        self._samples = max(lengths) if any(pair.spans for pair in pairs) else config.samples
        self.has_draws = any(pair.outcome == DRAW for pair in pairs)
        self.description = encoder(config, data.observation_shape)
        self.ensemble = Ensemble(self.description, config.members).to(device)
        self.modules: Mapping[str, nn.Module] = {"ensemble": self.ensemble}
        optimizer = adam(self.ensemble.parameters(), config.learning_rate, config.weight_decay)
        self.optimizers: Mapping[str, torch.optim.Optimizer] = {"ensemble": optimizer}
        self._batches = [
            Batches(len(pairs), config.batch_size, mixed(config.seed, 3, number)) for number in range(config.members)
        ]

    def batch(self, update: int) -> Compared:
        """Return the pairs of an update; each member has its own random order of pairs and its own sample of decisions."""
        rng = np.random.default_rng(mixed(self._config.seed, 4, update))
        chosen = [[self._pairs[index] for index in batches[update]] for batches in self._batches]
        return self.compared(chosen, rng.random((len(chosen), len(chosen[0]))))

    def decisions_of(self, side: Side) -> np.ndarray:
        if side not in self._looked_at:
            self._looked_at[side] = decisions_of(side, self.games, self._data)
        return self._looked_at[side]

    def compared(self, chosen: list[list[Pair]], phases: np.ndarray) -> Compared:
        """Return the batch of chosen pairs of each member. `phases`, shape (members, B), shift the evenly spaced decisions."""
        samples = self._samples
        games = [[tuple(self.decisions_of(side) for side in pair.sides) for pair in pairs] for pairs in chosen]
        places = np.empty((*phases.shape, 2, samples), np.int64)
        lengths = np.empty((*phases.shape, 2), np.float32)
        for member, pairs in enumerate(games):
            for number, both in enumerate(pairs):
                shares = (np.arange(samples) + phases[member, number]) / samples
                for side, game in enumerate(both):
                    at = game if len(game) == samples else game[(shares * len(game)).astype(np.int64)]
                    places[member, number, side] = at
                    lengths[member, number, side] = len(game) / self.mean_length
        seen = self._data.pairs(places.ravel())[1]
        outcomes = np.array([[pair.outcome for pair in pairs] for pairs in chosen])
        return Compared(
            torch.from_numpy(seen).to(self.device).unflatten(0, places.shape),
            torch.from_numpy(lengths).to(self.device),
            torch.from_numpy(outcomes).to(self.device),
        )

    def differences(self, batch: Compared) -> torch.Tensor:
        """Sum of rewards of the first game minus that of the second, by each member: shape (members, B)."""
        found = []
        for member, network in enumerate(self.ensemble.members):
            seen = batch.observations[member]
            rewards = network(seen.flatten(0, 2)).unflatten(0, seen.shape[:3])  # (B, 2, samples)
            sums = rewards.mean(-1) * batch.lengths[member]
            found.append(sums[:, 0] - sums[:, 1])
        return torch.stack(found)

    def update(self, batch: Compared, number: int, generator: torch.Generator) -> dict[str, torch.Tensor]:
        measured = self.measure(batch)
        step(self.optimizers["ensemble"], measured["loss"] * len(self.ensemble.members))
        return measured

    def measure(self, batch: Compared) -> dict[str, torch.Tensor]:
        """Return the mean cross-entropy, and the share of decided answers that the members predict correctly."""
        difference = self.differences(batch)
        logits = log_odds(difference, self.ensemble.log_nu[:, None], has_draws=self.has_draws)
        loss = -logits.log_softmax(-1).gather(-1, batch.outcomes[..., None]).mean()
        decided = batch.outcomes != DRAW
        right = ((difference < 0).long() == batch.outcomes) & decided
        return {"loss": loss, "accuracy": right.sum() / decided.sum().clamp(min=1)}


def games_of(data: Transitions) -> dict[str, np.ndarray]:
    """Map each episode to the indices of its decisions at the first offset, in their order: int64."""
    first = int(data.offsets.min()) if len(data) else 0
    places = np.flatnonzero(data.offsets == first)
    order = places[np.argsort(data.episodes[places], kind="stable")]
    bounds = np.searchsorted(data.episodes[order], np.arange(len(data.counts) + 1))
    return {
        count.episode: order[start:end]
        for count, start, end in zip(data.counts, bounds[:-1], bounds[1:], strict=True)
        if end > start
    }


def decisions_of(side: Side, games: Mapping[str, np.ndarray], data: Transitions) -> np.ndarray:
    """Indices of the decisions of one side of a pair: all of a game, or those whose steps all lie in the segment. Empty for a
    segment after the end of the seat's game. `games` is the result of `games_of`."""
    episode, span = side
    places = games[episode]
    if span is None:
        return places
    first, last = data.steps[places], data.steps[places] + data.held[places] - 1
    return places[(first >= span[0]) & (last <= span[1])]


@torch.inference_mode()
def rewards_of(ensemble: Ensemble, data: Transitions, device: torch.device) -> np.ndarray:
    """Reward of each decision by each member: float32, shape (members, N)."""
    parts = []
    for start in range(0, len(data), _AT_ONCE):
        seen = data.pairs(np.arange(start, min(start + _AT_ONCE, len(data))))[1]
        parts.append(rewards_of_seen(ensemble, seen, device))
    return np.concatenate(parts, axis=1)


@torch.inference_mode()
def rewards_of_seen(ensemble: Ensemble, seen: np.ndarray, device: torch.device | None = None) -> np.ndarray:
    """Reward of each observation by each member: float32, shape (members, N)."""
    parts = np.split(seen, range(_AT_ONCE, len(seen), _AT_ONCE))
    return np.concatenate([ensemble(torch.from_numpy(part).to(device)).cpu().numpy() for part in parts], axis=1)
