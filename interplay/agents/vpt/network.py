"""VPT's network: a convolutional network for each picture, then a transformer over the last 128 pictures.

Source: Baker et al. 2022, "Video PreTraining (VPT)", appendix D.1; Espeholt et al. 2018 (IMPALA) for the pictures, Dai et al.
2019 (Transformer-XL) for the memory. Names of tensors are those of the published weights, all 134.

Differences from the published code: results differ only by rounding, because attention is one fused call, and pictures are
stored with channels last.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from interplay.agents.vpt.codec import NUM_BUTTONS, NUM_CAMERA

_NUM_BASES = 10
"""Number of functions of the distance in time whose weighted sum is the relative attention of each head."""
_MASKED = -1e9
_TILE = 4
"""Number of pictures that pass the convolutions of a CPU together: few enough that a layer's output stays in the cache."""


@dataclass(frozen=True)
class Architecture:
    """Sizes of a network, named as in the published `.model` files; the defaults are those of the network 1x.

    Attributes:
        hidsize: Length of a latent.
        impala_width: Factor by which the channels `impala_chans` are multiplied.
        impala_chans: Channels of the stacks of convolutions, each of which halves the picture.
        img_shape: Height, width and channels of a picture.
        n_recurrence_layers: Number of transformer blocks, each with `attention_heads` heads.
        pointwise_ratio: Hidden units of a block divided by `hidsize`.
        attention_memory_size, timesteps: Their difference is the number of pictures that a decision sees, including the last.
        temperature: Divisor of the logits.
    """

    hidsize: int = 1024
    attention_heads: int = 8
    impala_width: int = 4
    impala_chans: tuple[int, ...] = (16, 32, 32)
    img_shape: tuple[int, int, int] = (128, 128, 3)
    n_recurrence_layers: int = 4
    pointwise_ratio: int = 4
    attention_memory_size: int = 256
    timesteps: int = 128
    temperature: float = 2.0

    @property
    def memory(self) -> int:
        return self.attention_memory_size - self.timesteps

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


WIDTHS = {
    "1x": Architecture(),
    "2x": Architecture(hidsize=2048, attention_heads=16, impala_width=8),
    "3x": Architecture(hidsize=3072, attention_heads=24, impala_width=12),
}
"""The three published sizes: 70,998,654, 248,495,294 and 532,504,318 parameters."""


def resized(picture: np.ndarray, img_shape: tuple[int, ...]) -> np.ndarray:
    """Resize a picture, uint8, shape (H, W, 3), to the network's size `img_shape` by bilinear interpolation."""
    import cv2  # 0.1 s and 50 MB: only where agents look at pictures

    return cv2.resize(picture, img_shape[1::-1], interpolation=cv2.INTER_LINEAR)


class Memory(NamedTuple):
    """One block's memory of the last M = `Architecture.memory` pictures of B games: keys and values, float32, shape (B, M,
    hidsize).

    `is_there`, bool, shape (B, M): whether the memory holds a picture of this episode at that place.
    """

    is_there: torch.Tensor
    keys: torch.Tensor
    values: torch.Tensor


class Output(NamedTuple):
    """The network's outputs for T pictures of each of B games, float32.

    `latents`, shape (B, T, hidsize), embed each picture and all before it. `buttons`, shape (B, T, 8641), and `camera`, shape
    (B, T, 121), are logarithms of probabilities. `value`, shape (B, T), estimates the reward of the network's training.
    """

    latents: torch.Tensor
    buttons: torch.Tensor
    camera: torch.Tensor
    value: torch.Tensor


class _Unit(nn.Module):
    """A normalisation, then a layer without bias, then a rectifier; the first convolution has a bias and no normalisation."""

    def __init__(self, layer: nn.Module, norm: nn.Module | None = None, *, is_rectified: bool = True) -> None:
        super().__init__()
        self.norm = norm
        self.layer = layer
        self._is_rectified = is_rectified

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.layer(x if self.norm is None else self.norm(x))
        return F.relu(x, inplace=not self.training) if self._is_rectified else x


def _convolution(inputs: int, outputs: int, *, is_normed: bool = True) -> _Unit:
    layer = nn.Conv2d(inputs, outputs, 3, padding=1, bias=not is_normed)
    return _Unit(layer, nn.GroupNorm(1, inputs) if is_normed else None)


def _dense(inputs: int, outputs: int) -> _Unit:
    return _Unit(nn.Linear(inputs, outputs, bias=False), nn.LayerNorm(inputs))


class _Residual(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv0 = _convolution(channels, channels)
        self.conv1 = _convolution(channels, channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.conv1(self.conv0(x))


class _Stack(nn.Module):
    """A convolution, a max-filter that halves the picture, and two residual blocks."""

    def __init__(self, inputs: int, outputs: int, *, is_first: bool) -> None:
        super().__init__()
        self.firstconv = _convolution(inputs, outputs, is_normed=not is_first)
        self.n = nn.GroupNorm(1, outputs)
        self.blocks = nn.ModuleList([_Residual(outputs), _Residual(outputs)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.n(F.max_pool2d(self.firstconv(x), 3, stride=2, padding=1))
        for block in self.blocks:
            x = block(x)
        return x


class _Pictures(nn.Module):
    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        height, width, inputs = architecture.img_shape
        self.stacks = nn.ModuleList()
        for number, channels in enumerate(architecture.impala_chans):
            outputs = channels * architecture.impala_width
            self.stacks.append(_Stack(inputs, outputs, is_first=number == 0))
            inputs, height, width = outputs, (height + 1) // 2, (width + 1) // 2
        self.dense = _dense(inputs * height * width, 256)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for stack in self.stacks:
            x = stack(x)
        return self.dense(x.flatten(1))  # channels first, also where they lie last in memory


class _Picture(nn.Module):
    """A network that maps pictures, uint8, shape (B, T, H, W, 3), to float32, shape (B, T, hidsize)."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.cnn = _Pictures(architecture)
        self.linear = _dense(256, architecture.hidsize)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        flat = pictures.flatten(0, 1).permute(0, 3, 1, 2)
        tiles = flat.split(_TILE) if flat.device.type == "cpu" else (flat,)
        seen = [self.cnn(tile.to(torch.float32, memory_format=torch.channels_last) / 255.0) for tile in tiles]
        return self.linear(torch.cat(seen)).unflatten(0, pictures.shape[:2])


class _Attention(nn.Module):
    """Attention to the last M pictures, by their content and their age. The input is added to the output."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        size, heads = architecture.hidsize, architecture.attention_heads
        self.q_layer = nn.Linear(size, size)
        self.k_layer = nn.Linear(size, size, bias=False)
        self.v_layer = nn.Linear(size, size, bias=False)
        self.proj_layer = nn.Linear(size, size)
        self.r_layer = nn.Linear(size, _NUM_BASES * heads)
        self.b_nd = nn.Parameter(nn.init.uniform_(torch.empty(_NUM_BASES, architecture.memory), -0.3, 0.3))
        self._heads = heads

    def forward(self, x: torch.Tensor, first: torch.Tensor, memory: Memory) -> tuple[torch.Tensor, Memory]:
        num_steps, size = x.shape[1:]
        length = memory.is_there.shape[1]
        keys = torch.cat([memory.keys, self.k_layer(x)], dim=1)
        values = torch.cat([memory.values, self.v_layer(x)], dim=1)
        before = memory.is_there & ~first[:, None]
        now = before.new_ones((len(x), num_steps))
        is_there = torch.cat([before, now], dim=1)

        # Row i is step i of these, column j step j - length: the distance in time is length + i - j.
        ages = torch.arange(length, length + num_steps, device=x.device)[:, None]
        ages = ages - torch.arange(length + num_steps, device=x.device)
        is_near = (ages >= 0) & (ages < length)
        relative = self._split(self.r_layer(x)) @ self.b_nd  # (B, heads, T, M), by distance
        bias = relative.gather(-1, ages.clamp(0, length - 1).expand(*relative.shape[:2], -1, -1))
        bias = bias.masked_fill(~(is_near & is_there[:, None, None, :]), _MASKED)
        attended = F.scaled_dot_product_attention(
            self._split(self.q_layer(x)),
            self._split(keys),
            self._split(values),
            attn_mask=bias,
            scale=self._heads / size,  # one over the size of a head, not its root (Yang et al. 2022, muP)
        )
        remembered = Memory(is_there[:, -length:], keys[:, -length:], values[:, -length:])
        return x + self.proj_layer(attended.transpose(1, 2).flatten(2)), remembered

    def _split(self, x: torch.Tensor) -> torch.Tensor:
        """Split the heads: (B, T, heads * n) -> (B, heads, T, n)."""
        return x.unflatten(-1, (self._heads, -1)).transpose(1, 2)


class _Recurrent(nn.Module):
    """A container, so that the tensors of a block's attention have their published names."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.orc_block = _Attention(architecture)


class _Block(nn.Module):
    """Attention and two dense layers. The layer norm before attention replaces the input: no connection bypasses the norm."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        size, hidden = architecture.hidsize, architecture.hidsize * architecture.pointwise_ratio
        self.mlp0 = _dense(size, hidden)
        self.mlp1 = _Unit(nn.Linear(hidden, size), is_rectified=False)
        self.pre_r_ln = nn.LayerNorm(size)
        self.r = _Recurrent(architecture)

    def forward(self, x: torch.Tensor, first: torch.Tensor, memory: Memory) -> tuple[torch.Tensor, Memory]:
        x, remembered = self.r.orc_block(self.pre_r_ln(x), first, memory)
        return x + self.mlp1(self.mlp0(x)), remembered


class _Blocks(nn.Module):
    """A container, so that the tensors of the blocks have their published names."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([_Block(architecture) for _ in range(architecture.n_recurrence_layers)])


class _Latents(nn.Module):
    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        size = architecture.hidsize
        self.img_process = _Picture(architecture)
        self.recurrent_layer = _Blocks(architecture)
        self.lastlayer = _dense(size, size)
        self.final_ln = nn.LayerNorm(size)

    def forward(self, pictures: torch.Tensor, first: torch.Tensor, state: list[Memory]) -> tuple[torch.Tensor, list[Memory]]:
        x = self.img_process(pictures)
        state_out = []
        for block, memory in zip(self.recurrent_layer.blocks, state, strict=True):
            x, remembered = block(x, first, memory)
            state_out.append(remembered)
        return self.final_ln(self.lastlayer(F.relu(x))), state_out


class _Head(nn.Module):
    def __init__(self, size: int, num_actions: int) -> None:
        super().__init__()
        self.linear_layer = nn.Linear(size, num_actions)

    def forward(self, latents: torch.Tensor) -> torch.Tensor:
        return self.linear_layer(latents)


class _Scale(nn.Module):
    """A layer for the value; the output is scaled with the running mean and standard deviation of the training targets."""

    def __init__(self) -> None:
        super().__init__()
        self.running_mean = nn.Parameter(torch.zeros(1), requires_grad=False)
        self.running_mean_sq = nn.Parameter(torch.zeros(1), requires_grad=False)
        self.debiasing_term = nn.Parameter(torch.tensor(0.0), requires_grad=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weight = self.debiasing_term.clamp(min=1e-5)
        mean = self.running_mean / weight
        variance = (self.running_mean_sq / weight - mean**2).clamp(min=1e-2)
        return x * variance.sqrt() + mean


class _Value(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.linear = nn.Linear(size, 1)
        self.normalizer = _Scale()


class VPT(nn.Module):
    """The whole network: latents of pictures, logits of actions, and a value.

    Pictures come in chunks of any length: one picture when an agent acts, many when a recording is embedded. The memory is
    handed from chunk to chunk, so the length of chunks changes results only by rounding.
    """

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        size = architecture.hidsize
        self.architecture = architecture
        self.net = _Latents(architecture)
        self.value_head = _Value(size)
        self.pi_head = nn.ModuleDict({"camera": _Head(size, NUM_CAMERA), "buttons": _Head(size, NUM_BUTTONS)})

    def initial_state(self, num_games: int) -> list[Memory]:
        """Empty memories for games that begin, one for each block."""
        length, size = self.architecture.memory, self.architecture.hidsize
        like = self.net.final_ln.weight
        return [
            Memory(
                torch.zeros((num_games, length), dtype=torch.bool, device=like.device),
                *(torch.zeros((num_games, length, size), dtype=like.dtype, device=like.device) for _ in range(2)),
            )
            for _ in self.net.recurrent_layer.blocks
        ]

    def latents(
        self, pictures: torch.Tensor, state: list[Memory], first: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, list[Memory]]:
        """Return only the latents, float32, shape (B, T, hidsize), and the new state.

        Args:
            pictures: uint8, shape (B, T, height, width, 3), RGB.
            state: The state of these games; it is not changed.
            first: bool, shape (B,): whether the first picture begins an episode; the memory of this game is then dropped.
        """
        if first is None:
            first = torch.zeros(len(pictures), dtype=torch.bool, device=pictures.device)
        return self.net(pictures, first, state)

    def forward(
        self, pictures: torch.Tensor, state: list[Memory], first: torch.Tensor | None = None
    ) -> tuple[Output, list[Memory]]:
        """Return all outputs and the new state; arguments as of `latents`."""
        latents, state = self.latents(pictures, state, first)
        temperature = self.architecture.temperature
        buttons, camera = (F.log_softmax(self.pi_head[name](latents) / temperature, dim=-1) for name in ("buttons", "camera"))
        value = self.value_head.normalizer(self.value_head.linear(latents)).squeeze(-1)
        return Output(latents, buttons, camera, value), state
