"""Turn a network's outputs into actions: the meaning of a row of numbers depends on the action space.

| space | numbers in a row | action |
| --- | --- | --- |
| Discrete | one for each action | drawn with the probabilities softmax(numbers / temperature) |
| MultiDiscrete, MultiBinary | the numbers of each part, in the order of the parts; two for each bit | each as in Discrete |
| Box | all means, then all logarithms of standard deviations | drawn from N(mean, (temperature * standard deviation)^2) |
| Dict, Tuple | the numbers of each part, in the order of the parts | each part by its own space |

Temperature 0 takes the most probable action. A policy's `model.json` holds the space of its actions as a Gymnasium space.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.errors import InterplayError


class ActionError(InterplayError):
    """The action space is of a kind that policies do not support."""


def num_outputs(space: spaces.Space[Any]) -> int:
    """Return the number of network outputs for one action; `ActionError` if the space is not in the table."""
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
    raise ActionError(f"policies do not support actions in {space}, only numbers, bits, boxes, and mappings of these")


def draw(space: spaces.Space[Any], outputs: np.ndarray, temperature: float, rng: np.random.Generator) -> Any:
    """Draw an action of a space; `outputs` are the network's for one observation, float32, shape (num_outputs(space),)."""
    match space:
        case spaces.Discrete():
            return action_at(space, _choice(outputs, temperature, rng))
        case spaces.MultiDiscrete():
            sizes = space.nvec.ravel()
            chosen = [_choice(part, temperature, rng) for part in np.split(outputs, np.cumsum(sizes)[:-1])]
            return action_at(space, np.reshape(chosen, space.shape)).astype(space.dtype)
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
    raise ActionError(f"policies do not support actions in {space}")


def action_at(space: spaces.Space[Any], index: Any) -> Any:
    """Return the action with this index in a Discrete or MultiDiscrete space: indices begin at 0, actions at `space.start`.

    Learning works with indices; environments, episodes and data sets contain actions.
    """
    return index + space.start if isinstance(space, spaces.Discrete | spaces.MultiDiscrete) else index


def index_of(space: spaces.Space[Any], action: Any) -> Any:
    return action - space.start if isinstance(space, spaces.Discrete | spaces.MultiDiscrete) else action


def _choice(logits: np.ndarray, temperature: float, rng: np.random.Generator) -> int:
    """Draw an index as argmax(logits / temperature + Gumbel noise), which needs no normalisation of the logits."""
    if temperature == 0:
        return int(np.argmax(logits))
    return int(np.argmax(logits / temperature + rng.gumbel(size=logits.shape)))
