"""Networks of trained policies. Only this package imports PyTorch at the top of its modules; the rest of `agents` does not.

`build(architecture)` makes the network that a `model.json` describes: an encoder (`encoders`) and a head on its features
(`acting`). To add another kind of network, write a class and add a line to `ARCHITECTURES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from interplay.agents.networks.acting import ConstrainedValues, Feedforward, ImplicitQuantileValues, QuantileValues, Recurrent
from interplay.agents.networks.encoders import made

ARCHITECTURES: dict[str, Callable[..., Any]] = {
    "feedforward": Feedforward,
    "recurrent": Recurrent,
    "quantile_values": QuantileValues,
    "implicit_quantile_values": ImplicitQuantileValues,
    "constrained_values": ConstrainedValues,
}
"""Name in `model.json` -> class."""


def build(architecture: Mapping[str, Any]) -> Any:
    """Build the network of a description; `NotFoundError` or `ArchitectureError` names the fault of an invalid one.

    For example `{"name": "feedforward", "encoder": {"name": "conv", "shape": [4, 84, 84]}, "outputs": 18}`.
    """
    return made("network architecture", ARCHITECTURES, architecture)
