"""The interface between the harness and the algorithms, with batches, devices and common networks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
import torch
from torch import nn

from interplay.agents import networks
from interplay.learn.config import ConfigError, RunConfig
from interplay.learn.transitions import Transitions


@dataclass(frozen=True)
class Batch:
    """B decisions on the device of the run.

    Attributes:
        observations: uint8 or float32, shape (B, ...).
        actions: int64, shape (B,); for composed actions the three choices, shape (B, 3).
        rewards: float32, shape (B,).
        next_observations: As `observations`; the same tensor as `observations` for a learner that does not use it.
        continues: float32, shape (B,): 0 where the world ended the episode; 1 elsewhere, also where the episode was cut off.
        until_takeover: int64, shape (B,), see `Transitions`; None in a batch made by hand.
    """

    observations: torch.Tensor
    actions: torch.Tensor
    rewards: torch.Tensor
    next_observations: torch.Tensor
    continues: torch.Tensor
    until_takeover: torch.Tensor | None = None

    @classmethod
    def of(cls, data: Transitions, which: np.ndarray, device: torch.device, *, with_next: bool) -> Self:
        if with_next:
            before, after = map(torch.from_numpy, data.pairs(which))
        else:
            before = after = torch.from_numpy(data.observations(which))
        numbers = (
            np.asarray(data.actions[which], np.int64),
            np.asarray(data.rewards[which], np.float32),
            np.asarray(~data.terminated[which], np.float32),
            np.asarray(data.until_takeover[which], np.int64),
        )
        actions, rewards, continues, until = (torch.from_numpy(values).to(device) for values in numbers)
        before = before.to(device)
        return cls(before, actions, rewards, after.to(device) if with_next else before, continues, until)


def device_of(name: str) -> torch.device:
    """Return the device with this name; `ConfigError` if CUDA is asked for and missing."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name == "cuda" and not torch.cuda.is_available():
        raise ConfigError("device is 'cuda', but PyTorch sees no CUDA device\nUse 'auto', or install a CUDA build of PyTorch.")
    return torch.device(name)


@contextmanager
def threads(number: int) -> Iterator[None]:
    """Use this number of CPU threads inside the block; 0 does not change the number."""
    before = torch.get_num_threads()
    try:
        if number:
            torch.set_num_threads(number)
        yield
    finally:
        torch.set_num_threads(before)


class Batches:
    """`batches[update]`: indices of one batch, int64, shape (batch_size,).

    Each pass over the data has a new random order. A batch may span two passes, so every batch is full.

    >>> batches = Batches(5, 2, seed=0)
    >>> sorted(np.concatenate([batches[0], batches[1], batches[2]])[:5].tolist())
    [0, 1, 2, 3, 4]
    """

    def __init__(self, size: int, batch_size: int, seed: int) -> None:
        self._size, self._batch_size, self._seed = size, batch_size, seed
        self._passes: dict[int, np.ndarray] = {}

    def __getitem__(self, update: int) -> np.ndarray:
        first = update * self._batch_size
        positions = np.arange(first, first + self._batch_size)
        result = np.empty(self._batch_size, np.int64)
        for number in range(first // self._size, int(positions[-1]) // self._size + 1):
            here = positions // self._size == number
            result[here] = self._order(number)[positions[here] % self._size]
        return result

    def _order(self, number: int) -> np.ndarray:
        """Random order of the data in one pass; the last few orders stay in memory."""
        if number not in self._passes:
            if len(self._passes) > 2:
                self._passes.clear()
            generator = torch.Generator().manual_seed(mixed(self._seed, 0, number))
            self._passes[number] = torch.randperm(self._size, generator=generator).numpy()
        return self._passes[number]


def mixed(seed: int, purpose: int, number: int) -> int:
    """Return a different seed for each (seed, purpose, number)."""
    return int(np.random.SeedSequence((seed, purpose, number)).generate_state(1, np.uint64)[0] >> 1)


class Given(NamedTuple):
    """The arguments of a learner; for composed actions, `num_actions` counts all choices together.

    `actions` (int64) and `until_takeover` (int32) are those of the training decisions; see `Transitions`.
    """

    observation_shape: tuple[int, ...]
    num_actions: int
    actions: np.ndarray
    device: torch.device
    until_takeover: np.ndarray | None = None

    def ready(self, network: nn.Module) -> Any:
        """Move a network to the device, in the memory order in which convolutions are fast."""
        return network.to(device=self.device, memory_format=torch.channels_last)  # type: ignore[call-overload]


class Acting(NamedTuple):
    """The network that plays, and its description; see `interplay.agents.networks.build`."""

    network: nn.Module
    architecture: dict[str, Any]


class Trained(Protocol):
    """The trained state of a run. First weights come from torch's global generator, other random draws from given generators.

    A checkpoint keeps all networks and parameters (`modules`) and all `optimizers`, by name.
    """

    modules: Mapping[str, nn.Module]
    optimizers: Mapping[str, torch.optim.Optimizer]

    def update(self, batch: Any, number: int, generator: torch.Generator) -> dict[str, torch.Tensor]:
        """Make update `number` (from 0); return its measures, including `loss`, each a tensor of one number.
        Random draws come from `generator`, on the CPU."""
        ...


class Learner(Trained, Protocol):
    """An algorithm that learns to act: the base of every class in `algorithms.LEARNERS`.

    `looks_ahead`: whether the algorithm needs the next observations. `needs_rewards`: whether it cannot learn from episodes
    without rewards.
    """

    looks_ahead: ClassVar[bool] = False
    needs_rewards: ClassVar[bool] = False
    acting: Acting

    def __init__(self, config: Any, given: Given) -> None: ...

    @staticmethod
    def choose(data: Transitions, training: np.ndarray, config: Any) -> np.ndarray:
        """Return the indices of the training decisions that the algorithm learns from; by default all."""
        return training

    def measure(self, batch: Batch) -> dict[str, torch.Tensor]:
        """Return the mean measures of a validation batch, without gradients and without random draws."""
        ...


def encoder(config: RunConfig, observation_shape: tuple[int, ...]) -> dict[str, Any]:
    """Encoder for observations of this shape: convolutions for pictures, else plain layers; see `networks.encoders`."""
    if len(observation_shape) == 3:
        return {"name": "conv", "shape": list(observation_shape), "features": config.features}
    return {"name": "mlp", "shape": list(observation_shape), "hidden": list(config.hidden)}


def feedforward(config: RunConfig, given: Given, initialise: Callable[[nn.Module], None] | None = None) -> Acting:
    """Build the usual network for logits or values of the actions; first weights are torch's, or set by `initialise`."""
    architecture = {"name": "feedforward", "encoder": encoder(config, given.observation_shape), "outputs": given.num_actions}
    network = networks.build(architecture)
    if initialise is not None:
        initialise(network)
    return Acting(given.ready(network), architecture)


def adam(
    parameters: Iterable[torch.Tensor], learning_rate: float, weight_decay: float = 0.0, epsilon: float = 1e-8
) -> torch.optim.Optimizer:
    """Adam optimizer (Kingma & Ba 2015) with decoupled weight decay (Loshchilov & Hutter 2019)."""
    optimizer = torch.optim.AdamW(parameters, lr=learning_rate, weight_decay=weight_decay, eps=epsilon, fused=True)
    for group in optimizer.param_groups:
        group["initial_lr"] = learning_rate
    return optimizer


def step(optimizer: torch.optim.Optimizer, loss: torch.Tensor) -> None:
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()


@torch.no_grad()
def follow(target: nn.Module, source: nn.Module, rate: float = 1.0) -> None:
    """Move a target network's weights towards those of `source`: completely, or by the share `rate` of the difference."""
    for ours, theirs in zip(target.parameters(), source.parameters(), strict=True):
        ours.copy_(theirs) if rate == 1 else ours.lerp_(theirs, rate)
