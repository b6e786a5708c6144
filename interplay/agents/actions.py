"""From a network's outputs to actions: what the numbers of a row mean, by the space of the actions.

| space | numbers of a row | action |
| --- | --- | --- |
| Discrete | one an action | softmax(numbers / temperature) says how likely each is |
| MultiDiscrete, MultiBinary | those of each part in turn; two for a bit | each part as if it were Discrete |
| Box | a mean, then the logarithm of a standard deviation, of each entry | normal noise times temperature around the mean |
| Dict, Tuple | those of each part in turn | each part by its own space |

Temperature 0 takes the most probable action. What a policy's actions are is written in its `model.json` as a Gymnasium space.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.errors import InterplayError
from interplay.record import spaces as recorded


class ActionError(InterplayError):
    """Actions that no policy here can take."""


def num_outputs(space: spaces.Space[Any]) -> int:
    """How many numbers a network gives for one action.

    Raises:
        ActionError: For a space that is not in the table above.
    """
    match space:
        case spaces.Discrete():
            return int(space.n)
        case spaces.MultiDiscrete():
            return int(space.nvec.sum())
        case spaces.MultiBinary():
            return 2 * int(np.prod(space.shape))
        case spaces.Box():
            return 2 * int(np.prod(space.shape))
        case spaces.Dict():
            return sum(map(num_outputs, space.spaces.values()))
        case spaces.Tuple():
            return sum(map(num_outputs, space.spaces))
    raise ActionError(f"no policy here has actions in {space}; it can have numbers, bits, boxes, and mappings of these")


def draw(space: spaces.Space[Any], outputs: np.ndarray, temperature: float, rng: np.random.Generator) -> Any:
    """An action of a space.

    Args:
        space: Of the actions.
        outputs: Of the network for one observation: float32, shape (num_outputs(space),).
        temperature: 0 takes the most probable action.
        rng: Of the draw.
    """
    match space:
        case spaces.Discrete():
            return int(space.start) + _choice(outputs, temperature, rng)
        case spaces.MultiDiscrete():
            sizes = space.nvec.ravel()
            chosen = [_choice(part, temperature, rng) for part in np.split(outputs, np.cumsum(sizes)[:-1])]
            return (np.reshape(chosen, space.shape) + space.start).astype(space.dtype)
        case spaces.MultiBinary():
            chosen = [_choice(part, temperature, rng) for part in outputs.reshape(-1, 2)]
            return np.reshape(chosen, space.shape).astype(space.dtype)
        case spaces.Box():
            mean, log_deviation = outputs.reshape(2, *space.shape)
            noise = temperature * np.exp(log_deviation) * rng.standard_normal(space.shape) if temperature else 0
            return np.clip(mean + noise, space.low, space.high).astype(space.dtype)
        case spaces.Dict():
            parts = np.split(outputs, np.cumsum([num_outputs(one) for one in space.spaces.values()])[:-1])
            return {
                name: draw(one, part, temperature, rng) for (name, one), part in zip(space.spaces.items(), parts, strict=True)
            }
        case spaces.Tuple():
            parts = np.split(outputs, np.cumsum([num_outputs(one) for one in space.spaces])[:-1])
            return tuple(draw(one, part, temperature, rng) for one, part in zip(space.spaces, parts, strict=True))
    raise ActionError(f"no policy here has actions in {space}")


def _choice(logits: np.ndarray, temperature: float, rng: np.random.Generator) -> int:
    """Drawing by Gumbel noise (argmax of logits / T + G) needs no normalisation."""
    if temperature == 0:
        return int(np.argmax(logits))
    return int(np.argmax(logits / temperature + rng.gumbel(size=logits.shape)))


def to_json(space: spaces.Space[Any]) -> dict[str, Any]:
    """A space of actions as JSON values: as in a recording (`interplay.record.spaces`), and with the bounds of boxes."""
    document = recorded.to_json(space)
    if isinstance(space, spaces.Box):
        bounds = {"low": space.low, "high": space.high}
        return document | {
            name: [float(value) if np.isfinite(value) else None for value in bound.ravel()] for name, bound in bounds.items()
        }
    if isinstance(space, spaces.Dict):
        return document | {"parts": {name: to_json(part) for name, part in space.spaces.items()}}
    if isinstance(space, spaces.Tuple):
        return document | {"parts": {str(index): to_json(part) for index, part in enumerate(space.spaces)}}
    return document


def from_json(document: Mapping[str, Any]) -> spaces.Space[Any]:
    """The inverse of `to_json`.

    Raises:
        KeyError, ValueError, RecordingError: If it says no space.
    """
    match document["kind"]:
        case "Box":
            shape = tuple(document["shape"])
            low, high = (
                np.array([limit if value is None else value for value in document[name]], np.dtype(document["dtype"]))
                for name, limit in (("low", -np.inf), ("high", np.inf))
            )
            return spaces.Box(low.reshape(shape), high.reshape(shape), shape, np.dtype(document["dtype"]).type)
        case "Dict":
            return spaces.Dict([(name, from_json(part)) for name, part in document["parts"].items()])
        case "Tuple":
            return spaces.Tuple([from_json(part) for part in document["parts"].values()])
    return recorded.from_json(document)
