"""Networks of trained policies. PyTorch is imported here and nowhere at the top of another module of this room."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from interplay.errors import unknown_name


class NatureCNN(nn.Module):
    """The convolutional network of Mnih et al. 2015 (Nature 518, Methods, "Model architecture").

    Three convolutions (32 of 8x8 stride 4, 64 of 4x4 stride 2, 64 of 3x3 stride 1), 512 hidden units, one output per
    action, rectifiers between.

    Args:
        num_actions: Outputs.
        in_channels: Pictures in a stack.

    Differences: channels are kept last in memory, which is faster on CPUs and changes no result beyond rounding.
    """

    def __init__(self, num_actions: int, in_channels: int = 4) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, 32, 8, stride=4)
        self.conv2 = nn.Conv2d(32, 64, 4, stride=2)
        self.conv3 = nn.Conv2d(64, 64, 3, stride=1)
        self.hidden = nn.Linear(64 * 7 * 7, 512)
        self.out = nn.Linear(512, num_actions)

    def initialise(self) -> None:
        """First weights for a short training: orthogonal, so that thin sprites on black reach the last layer undiminished
        (Saxe et al. 2014), and hardly any preference among actions."""
        for layer in (self.conv1, self.conv2, self.conv3, self.hidden, self.out):
            nn.init.orthogonal_(layer.weight, gain=0.01 if layer is self.out else 2**0.5)
            nn.init.constant_(layer.bias, 0.0)  # type: ignore[arg-type]

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Logits, float32, shape (B, num_actions), of observations, uint8, shape (B, in_channels, 84, 84)."""
        x = observations.to(torch.float32, memory_format=torch.channels_last).div_(255)
        x = self.conv1(x).relu_()  # (B, 32, 20, 20)
        x = self.conv2(x).relu_()  # (B, 64, 9, 9)
        x = self.conv3(x).relu_()  # (B, 64, 7, 7)
        x = self.hidden(x.flatten(1)).relu_()  # (B, 512)
        return self.out(x)


ARCHITECTURES: dict[str, Callable[..., NatureCNN]] = {"nature_cnn": NatureCNN}
"""Name, as `model.json` writes it -> class."""


def build(architecture: Mapping[str, Any]) -> NatureCNN:
    """The network that `model.json` describes: `{"name": "nature_cnn", "num_actions": 18, "in_channels": 4}`.

    Raises:
        NotFoundError: For an unknown name.
        TypeError: For arguments the class does not take.
    """
    arguments = dict(architecture)
    name = arguments.pop("name")
    if name not in ARCHITECTURES:
        raise unknown_name("network architecture", name, ARCHITECTURES)
    return ARCHITECTURES[name](**arguments)
