"""VPT's published files: `.model`, which says the network's sizes, and `.weights`. Nothing in them is run.

A `.model` file is a pickle. `interplay.record.plain_values` reads it: numbers, texts, lists and dictionaries, and nothing else.
A `.weights` file is PyTorch's own, also a pickle inside, read with `weights_only`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch

from interplay.agents.vpt.network import VPT, Architecture
from interplay.errors import InterplayError
from interplay.record.plain_values import Limits, Refused, read_values

_SMALL = Limits(read_bytes=1 << 20, kept_bytes=1 << 22, values=10_000, one_bytes=1 << 16)
"""A `.model` file has about two kilobytes."""
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
"""What all published networks that act have in common; another value would be another network."""


class CheckpointError(InterplayError):
    """A file of VPT's that cannot be used; the text says what was found and what was expected."""


def read_model(path: Path) -> Architecture:
    """The sizes in a `.model` file.

    Raises:
        CheckpointError: If it cannot be read, names anything to run, or describes another network.
    """
    try:
        with path.open("rb") as file:
            document = read_values(file, _SMALL)
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror}\nCheck the name of the .model file.") from None
    except Refused as error:
        raise CheckpointError(f"{path} is no .model file of VPT: {error}") from None
    try:
        arguments = document["model"]["args"]
        net, temperature = arguments["net"]["args"], float(arguments["pi_head_opts"]["temperature"])
        found = {name: net[name] for name in (*_SIZES, *_MUST_BE)}
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(
            f"{path} holds plain values, but not those of a .model file: {_problem(error)}\n"
            "Expected are the sizes at model, args, net, args and the temperature at model, args, pi_head_opts. "
            "The inverse dynamics model (4x_idm.model) is another network and cannot be used here."
        ) from None
    for name, expected in _MUST_BE.items():
        if found[name] != expected:
            raise CheckpointError(f"{path} describes another network: {name} is {found[name]!r}, expected {expected!r}")
    return architecture_of({name: found[name] for name in _SIZES} | {"temperature": temperature}, where=str(path))


def architecture_of(document: Mapping[str, Any], *, where: str) -> Architecture:
    """The sizes that a document names.

    Raises:
        CheckpointError: If one is missing, unknown or no size.
    """
    names = {field.name for field in fields(Architecture)}
    if names != document.keys():
        different = ", ".join(sorted(names ^ document.keys()))
        raise CheckpointError(f"{where}: these sizes of a network are missing or unknown: {different}")
    sizes: dict[str, Any] = {}
    for name, value in document.items():
        if name == "temperature":
            is_fine = type(value) in (int, float) and 0 < value < float("inf")
        elif name in ("impala_chans", "img_shape"):
            is_fine = isinstance(value, list | tuple) and bool(value) and all(map(_is_size, value))
        else:
            is_fine = _is_size(value)
        if not is_fine:
            raise CheckpointError(f"{where}: {name} is {value!r}, which is no size of a network")
        sizes[name] = tuple(value) if isinstance(value, list) else value
    architecture = Architecture(**sizes)
    if architecture.memory < 1 or architecture.hidsize % architecture.attention_heads or len(architecture.img_shape) != 3:
        raise CheckpointError(f"{where}: these sizes do not fit each other: {architecture}")
    return architecture


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    """The tensors of a `.weights` file, by name, float32.

    Raises:
        CheckpointError: If it is no file of tensors.
    """
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        raise CheckpointError(
            f"{path} cannot be read: {error.strerror or error}\nCheck the name of the .weights file."
        ) from None
    except Exception as error:  # PyTorch's reader fails in many ways on what is not its own
        first_line = str(error).strip().partition("\n")[0][:200]
        raise CheckpointError(
            f"{path} is no file of weights: {type(error).__name__}: {first_line}\n"
            "It was cut off, or holds more than tensors. Nothing in it was run. Fetch it again from where it was published."
        ) from None
    if not isinstance(found, Mapping) or not all(isinstance(one, torch.Tensor) for one in found.values()):
        raise CheckpointError(f"{path} is no file of weights: it holds no names with tensors")
    return {str(name): tensor.float() for name, tensor in found.items()}


def build(architecture: Architecture, weights: Mapping[str, torch.Tensor], *, where: str) -> VPT:
    """A network with these weights, ready to act; every tensor must be there and have its size.

    Raises:
        CheckpointError: Naming the first tensors that do not fit.
    """
    with torch.device("meta"):  # nothing is drawn that would be overwritten
        network = VPT(architecture)
    expected = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    found = {name: tuple(tensor.shape) for name, tensor in weights.items()}
    wrong = [name for name in expected if name in found and found[name] != expected[name]]
    if wrong:
        width = found.get("net.final_ln.weight", (0,))[0]
        hint = f"\nThese weights are of hidsize {width} and the sizes of {architecture.hidsize}. Take two files of one network."
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
    network.load_state_dict(dict(weights), assign=True)
    return network.requires_grad_(False).eval().to(memory_format=torch.channels_last)  # type: ignore[call-overload]


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 < value <= 1 << 16


def _problem(error: Exception) -> str:
    return f"there is no {error}" if isinstance(error, KeyError) else str(error)
