"""Read VPT's published files: `.model`, with the network's sizes, and `.weights`. No code in these files is run.

A `.model` file is a pickle, read by `interplay.record.datasets.plain_values`: numbers, texts, lists and dictionaries only. A
`.weights` file is a file of PyTorch, which also contains a pickle; it is read with `weights_only`.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch

from interplay.agents.vpt.network import VPT, Architecture
from interplay.errors import InterplayError, shortened
from interplay.record.datasets.plain_values import SMALL, Refused, read_values

_MOST = 1 << 13
"""Limit of every size: more than any size of the largest network. To try larger sizes would take minutes."""
_MOST_LAYERS, _MOST_STACKS = 64, 8
_SIZES = [field.name for field in fields(Architecture) if field.name != "temperature"]
_MUST_BE: dict[str, Any] = {
    "attention_mask_style": "clipped_causal",
    "diff_mlp_embedding": False,
    "impala_kwargs": {"post_pool_groups": 1},
    "init_norm_kwargs": {"batch_norm": False, "group_norm_groups": 1},
    "pointwise_use_activation": False,
    "recurrence_is_residual": True,
    "recurrence_type": "transformer",
    "use_pointwise_layer": True,
    "use_pre_lstm_ln": False,
}
"""Values that all published networks that act have in common; another value would mean another network."""


class CheckpointError(InterplayError):
    """A file of VPT cannot be used; the text says what was found and what was expected."""


def read_model(path: Path) -> Architecture:
    """Read the sizes from a `.model` file; `CheckpointError` if it contains code, or describes another kind of network."""
    try:
        document = read_values(path, SMALL)
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror}\nCheck the name of the .model file.") from None
    except Refused as error:
        what, _, to_do = str(error).partition("\n")
        to_do = to_do or "The .model file comes first, then the .weights file. Fetch both from where they were published."
        raise CheckpointError(f"{path} is not a .model file of VPT: {what}\n{to_do}") from None
    try:
        arguments = document["model"]["args"]
        net, temperature = arguments["net"]["args"], float(arguments["pi_head_opts"]["temperature"])
        found = {name: net[name] for name in (*_SIZES, *_MUST_BE)}
    except (KeyError, TypeError, ValueError) as error:
        problem = f"there is no {error}" if isinstance(error, KeyError) else str(error)[:200]
        raise CheckpointError(
            f"{path} does not hold the values of a .model file: {problem}\n"
            "Expected are the sizes in model/args/net/args and the temperature in model/args/pi_head_opts. "
            "The inverse dynamics model (4x_idm.model) is another network and cannot be used here."
        ) from None
    for name, expected in _MUST_BE.items():
        if found[name] != expected:
            raise CheckpointError(
                f"{path} describes another network: {name} is {shortened(found[name])}, expected {expected!r}"
            )
    return architecture_of({name: found[name] for name in _SIZES} | {"temperature": temperature}, where=str(path))


def architecture_of(document: Mapping[str, Any], *, where: str) -> Architecture:
    """Read the sizes from a document; `CheckpointError` if a size is missing, unknown or invalid."""
    names = {field.name for field in fields(Architecture)}
    if names != document.keys():
        different = ", ".join(sorted(names ^ document.keys()))
        raise CheckpointError(f"{where}: these sizes of a network are missing or unknown: {different}")
    sizes: dict[str, Any] = {}
    for name, value in document.items():
        if name == "temperature":
            is_fine = type(value) in (int, float) and 0 < value < float("inf")
        elif name in ("impala_chans", "img_shape"):
            is_fine = isinstance(value, list | tuple) and 0 < len(value) <= _MOST_STACKS and all(map(_is_size, value))
        else:
            is_fine = _is_size(value) and (name != "n_recurrence_layers" or value <= _MOST_LAYERS)
        if not is_fine:
            raise CheckpointError(f"{where}: {name} is {shortened(value)}, which is not a size of a network")
        sizes[name] = tuple(value) if isinstance(value, list) else value
    architecture = Architecture(**sizes)
    is_rgb = len(architecture.img_shape) == 3 and architecture.img_shape[2] == 3
    if architecture.memory < 1 or architecture.hidsize % architecture.attention_heads or not is_rgb:
        raise CheckpointError(f"{where}: these sizes do not fit each other: {architecture}")
    return architecture


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    """Read the tensors of a `.weights` file, by name; `CheckpointError` for another file or a tensor without all its data."""
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as file:
                if any(part.compress_type != zipfile.ZIP_STORED for part in file.infolist()):
                    raise ValueError("it is compressed, which PyTorch never does")
                if (damaged := file.testzip()) is not None:
                    raise ValueError(f"its part {damaged} is damaged: the checksum does not fit")
        found = torch.load(path, map_location="cpu", weights_only=True)
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror}\nCheck the name of the .weights file.") from None
    except Exception as error:  # PyTorch's reader fails in many ways on what is not its own
        raise CheckpointError(
            f"{path} is not a file of weights: {_why(error)}\n"
            "It was cut off, or holds more than tensors. Nothing in it was run. Fetch it again from where it was published."
        ) from None
    if not isinstance(found, Mapping) or not all(
        isinstance(name, str) and isinstance(one, torch.Tensor) for name, one in found.items()
    ):
        raise CheckpointError(f"{path} is not a file of weights: expected a mapping from names to tensors")
    for name, tensor in found.items():
        if not _is_plain(tensor):
            raise CheckpointError(
                f"{path} is not a file of weights: {name[:80]} is of {tensor.dtype}, {tensor.layout}, on {tensor.device}; "
                "expected floating-point numbers that are all in the file"
            )
    return dict(found)


def build(architecture: Architecture, weights: Mapping[str, torch.Tensor], *, where: str) -> VPT:
    """Build a float32 network with these weights, ready to act; `CheckpointError` if one is missing, unfit or not finite."""
    with torch.device("meta"):  # nothing is drawn that would be overwritten
        network = VPT(architecture)
    expected = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    found = {name: tuple(tensor.shape) for name, tensor in weights.items()}
    wrong = [name for name in expected if name in found and found[name] != expected[name]]
    if wrong:
        width = found.get("net.final_ln.weight", (0,))[0]
        hint = f"\nThe weights have hidsize {width}, the .model file has {architecture.hidsize}. Take two files of one network."
        raise CheckpointError(
            f"{where}: {wrong[0]} has shape {found[wrong[0]]}, expected {expected[wrong[0]]}; "
            f"{len(wrong)} of {len(expected)} tensors do not fit{hint if width not in (0, architecture.hidsize) else ''}"
        )
    if found.keys() != expected.keys():
        missing, unknown = sorted(expected.keys() - found.keys()), sorted(found.keys() - expected.keys())
        parts = [
            f"{len(names)} tensors are {what}, such as {names[0]}"
            for what, names in (("missing", missing), ("unknown", unknown))
            if names
        ]
        raise CheckpointError(f"{where}: these are not the weights of a VPT network that acts: {'; '.join(parts)}")
    numbers = {name: tensor.float() for name, tensor in weights.items()}
    broken = [name for name in expected if not numbers[name].isfinite().all()]
    if broken:
        raise CheckpointError(
            f"{where}: {broken[0]} contains NaN or infinity; {len(broken)} of {len(expected)} tensors contain such numbers\n"
            "The training of the network failed, or the file is damaged. Fetch it again."
        )
    network.load_state_dict(numbers, assign=True)
    return network.requires_grad_(False).eval().to(memory_format=torch.channels_last)  # type: ignore[call-overload]


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 < value <= _MOST


def _is_plain(tensor: torch.Tensor) -> bool:
    """Whether a tensor consists of floating-point numbers and stores each of them once in memory."""
    if tensor.layout != torch.strided or tensor.device.type != "cpu" or not tensor.is_floating_point():
        return False
    return tensor.nbytes <= tensor.untyped_storage().nbytes()


def _why(error: Exception) -> str:
    """Reason why PyTorch could not read a file. PyTorch's message is not shown, because it advises to run the file's code."""
    if (named := re.search(r"GLOBAL (\S+)", str(error))) is not None:
        return f"it names {named[1][:80]}, which could run a program"
    if type(error).__name__ == "UnpicklingError":
        return "it is not a pickle of tensors"
    first_line = str(error).strip().partition("\n")[0][:200]
    return f"{type(error).__name__}: {first_line}"
