"""Encoders map observations to features: the first part of every network; they are built from `model.json`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, get_args, get_origin, get_type_hints

import torch
from torch import nn

from interplay.errors import InterplayError, shortened, unknown_name

MOST_UNITS = 65_536
_LEAST = {"blocks": 0}
"""Setting -> its smallest allowed whole number, if this is not 1."""
_MOST = {"blocks": 64}
"""Setting -> its largest allowed whole number, if not `MOST_UNITS`, so that a network is not too large for a machine."""
_MAY_BE_EMPTY = {"hidden"}
"""Settings whose list may be empty: a network without hidden layers is linear."""


class ArchitectureError(InterplayError):
    """A description of a network is invalid; the text names the setting, the value found, and the expected value."""


def made(kind: str, registry: Mapping[str, Callable[..., Any]], description: Any) -> Any:
    """Build `registry[description["name"]]` with the rest of the description as arguments.

    Raises:
        NotFoundError: If the name is unknown, or the class does not take a setting.
        ArchitectureError: If a setting is missing or has a wrong value.
    """
    if not isinstance(description, Mapping) or not isinstance(description.get("name"), str):
        raise ArchitectureError(f"{kind} is {shortened(description)}, expected a table with a name")
    settings = {key: value for key, value in description.items() if key != "name"}
    name = description["name"]
    if name not in registry:
        raise unknown_name(kind, name, registry)
    taken = inspect.signature(registry[name]).parameters
    hints = get_type_hints(registry[name].__init__)  # type: ignore[misc]
    for key, value in settings.items():
        if key not in taken:
            raise unknown_name(f"setting of {kind} {name!r}:", key, taken)
        bounds = _LEAST.get(key, 1), _MOST.get(key, MOST_UNITS)
        _check(f"{kind} {name!r}: {key!r}", value, hints[key], bounds, fewest=0 if key in _MAY_BE_EMPTY else 1)
    for key, parameter in taken.items():
        if parameter.default is parameter.empty and key not in settings:
            raise ArchitectureError(f"{kind} {name!r}: {key!r} is missing")
    return registry[name](**settings)


def _check(where: str, value: Any, hint: Any, bounds: tuple[int, int], fewest: int = 1) -> None:
    """Raise `ArchitectureError` if a value is invalid: whole numbers must be within `bounds`, other numbers from 0 to 1."""
    if hint is int:
        least, most = bounds
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ArchitectureError(f"{where} is {shortened(value)}, expected a whole number from {least} to {most}")
    elif hint is float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:  # also refuses NaN
            raise ArchitectureError(f"{where} is {shortened(value)}, expected a number from 0 to 1")
    elif hint is str:
        if not isinstance(value, str):
            raise ArchitectureError(f"{where} is {shortened(value)}, expected a text")
    elif get_origin(hint) is Sequence:
        if isinstance(value, str) or not isinstance(value, Sequence) or not fewest <= len(value) <= 64:
            raise ArchitectureError(f"{where} is {shortened(value)}, expected a list of {fewest} to 64 values")
        for item in value:
            _check(where, item, get_args(hint)[0], bounds)


def require_pictures(shape: Sequence[int]) -> None:
    """Raise `ArchitectureError` if observations of this shape are not pictures."""
    if len(shape) != 3:
        raise ArchitectureError(f"'shape' is {list(shape)}, expected the shape of a picture: three numbers")


NATURE = ((32, 8, 4), (64, 4, 2), (64, 3, 1))
"""Channels, size and stride of each convolution of Mnih et al. 2015 (Nature 518, Methods, "Model architecture")."""


class ConvEncoder(nn.Module):
    """Convolutions, then one layer of features, with rectifiers; by default as in Mnih et al. 2015.

    Observations have the shape (C, H, W), or (H, W, 3) as drawn by worlds. `filters` has channels, size and stride of each
    convolution. `InterplayError` if the pictures are too small for the convolutions.

    Differences: channels are kept last in memory, which is faster on CPUs and changes no result beyond rounding.
    """

    def __init__(self, shape: Sequence[int], filters: Sequence[Sequence[int]] = NATURE, features: int = 512) -> None:
        super().__init__()
        require_pictures(shape)
        self.channels_last = shape[2] == 3 and shape[0] > 4
        channels, height, width = (shape[2], shape[0], shape[1]) if self.channels_last else shape
        self.num_convolutions = len(filters)
        for index, (out_channels, size, stride) in enumerate(filters, 1):
            self.add_module(f"conv{index}", nn.Conv2d(channels, out_channels, size, stride))
            channels, height, width = out_channels, (height - size) // stride + 1, (width - size) // stride + 1
            if height < 1 or width < 1:
                raise InterplayError(f"observations of shape {tuple(shape)} are too small for convolutions {list(filters)}")
        self.hidden = nn.Linear(channels * height * width, features)
        self.num_features = features

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return features, float32, shape (B, features), of observations, uint8 from 0 to 255, or float32."""
        x = observations.permute(0, 3, 1, 2) if self.channels_last else observations
        if x.dtype == torch.uint8:
            x = x.to(torch.float32, memory_format=torch.channels_last).div_(255)
        else:
            x = x.contiguous(memory_format=torch.channels_last)
        for index in range(1, self.num_convolutions + 1):
            x = self.get_submodule(f"conv{index}")(x).relu_()
        return self.hidden(x.flatten(1)).relu_()


class MLPEncoder(nn.Module):
    """Fully connected layers with rectifiers, for observations that are numbers, not pictures; observations are flattened."""

    def __init__(self, shape: Sequence[int], hidden: Sequence[int] = (256, 256), activation: str = "relu") -> None:
        super().__init__()
        if activation not in _ACTIVATIONS:
            raise unknown_name("activation", activation, _ACTIVATIONS)
        self._activate = _ACTIVATIONS[activation]
        sizes = [prod(shape), *hidden]
        self.layers = nn.ModuleList(nn.Linear(size, units) for size, units in zip(sizes, hidden, strict=False))
        self.num_features = sizes[-1]

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return features, float32, shape (B, hidden[-1]), of observations, shape (B, *shape)."""
        x = observations.to(torch.float32).flatten(1)
        for layer in self.layers:
            x = self._activate(layer(x))
        return x


_ACTIVATIONS = {"relu": torch.relu, "tanh": torch.tanh}


class _Residual(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.conv2(torch.relu(self.conv1(torch.relu(x))))


class ImpalaEncoder(nn.Module):
    """The convolutions of Espeholt et al. 2018 ("IMPALA", figure 3, right), without the LSTM. Each stack has a convolution, a
    max-filter that halves the picture, and residual blocks; a layer of features follows. `shape`: (H, W, 3) or (C, H, W)."""

    def __init__(
        self, shape: Sequence[int], channels: Sequence[int] = (16, 32, 32), blocks: int = 2, features: int = 256
    ) -> None:
        super().__init__()
        require_pictures(shape)
        self.channels_last = shape[2] == 3 and shape[0] > 4
        inputs, height, width = (shape[2], shape[0], shape[1]) if self.channels_last else shape
        self.stacks = nn.ModuleList()
        for outputs in channels:
            layers = [nn.Conv2d(inputs, outputs, 3, padding=1), nn.MaxPool2d(3, 2, padding=1)]
            self.stacks.append(nn.Sequential(*layers, *(_Residual(outputs) for _ in range(blocks))))
            inputs, height, width = outputs, (height + 1) // 2, (width + 1) // 2
        self.hidden = nn.Linear(inputs * height * width, features)
        self.num_features = features

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return features, float32, shape (B, features), of observations, uint8 from 0 to 255."""
        x = observations.permute(0, 3, 1, 2) if self.channels_last else observations
        x = x.to(torch.float32, memory_format=torch.channels_last) / 255
        for stack in self.stacks:
            x = stack(x)
        return torch.relu(self.hidden(torch.relu(x).flatten(1)))


ENCODERS: dict[str, Callable[..., Any]] = {"conv": ConvEncoder, "impala": ImpalaEncoder, "mlp": MLPEncoder}
"""Name in `model.json` -> class; each encoder has `num_features`."""


def encoder(description: Mapping[str, Any]) -> Any:
    """Build the encoder of a description, such as `{"name": "conv", "shape": [4, 84, 84], "features": 512}`.

    Raises `NotFoundError` or `ArchitectureError`, which names the fault of an invalid description.
    """
    return made("encoder", ENCODERS, description)
