"""The machine that a run computes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from interplay.learn.config import ConfigError


def device_of(name: str) -> torch.device:
    """The device of a setting; `ConfigError` if CUDA is asked for and missing."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name == "cuda" and not torch.cuda.is_available():
        raise ConfigError("device is 'cuda', but PyTorch sees no CUDA device\nUse 'auto', or install a CUDA build of PyTorch.")
    return torch.device(name)


@contextmanager
def threads(number: int) -> Iterator[None]:
    """Use so many CPU threads inside the block; 0 leaves them as they are."""
    before = torch.get_num_threads()
    try:
        if number:
            torch.set_num_threads(number)
        yield
    finally:
        torch.set_num_threads(before)
