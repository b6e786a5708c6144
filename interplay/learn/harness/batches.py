"""Batches as functions of the seed and the number of the update, so that there is no state to lose."""

from __future__ import annotations

import numpy as np
import torch


class Batches:
    """`batches[update]`: indices of one batch, int64, shape (batch_size,).

    Each pass is a fresh shuffle; a batch may span two passes, so none is small.

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
        """The shuffle of one pass; the last few stay in memory."""
        if number not in self._passes:
            if len(self._passes) > 2:
                self._passes.clear()
            generator = torch.Generator().manual_seed(mixed(self._seed, 0, number))
            self._passes[number] = torch.randperm(self._size, generator=generator).numpy()
        return self._passes[number]


def mixed(seed: int, purpose: int, number: int) -> int:
    """A seed of its own for each (seed, purpose, number)."""
    return int(np.random.SeedSequence((seed, purpose, number)).generate_state(1, np.uint64)[0] >> 1)
