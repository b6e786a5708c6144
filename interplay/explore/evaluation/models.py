"""Language models by name, as Inspect knows them, or at an address of the user's."""

from __future__ import annotations

import re
from typing import NamedTuple

from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import Model, get_model

from interplay.errors import InterplayError
from interplay.explore.evaluation.calls import given_keys, without_keys

AT_ADDRESS = "openai-api/interplay/"
"""Before the names of models at an address of the user's."""
MOST_RETRIES = 4
"""Of a call that a server did not answer."""


class EvaluationError(InterplayError):
    """A model that cannot be used, or an evaluation that could not begin."""


class At(NamedTuple):
    """An OpenAI-compatible server.

    Attributes:
        address: Up to and without `/chat/completions`.
        key: Its key, if it wants one.
    """

    address: str
    key: str | None = None


def model_named(name: str, at: At | None = None) -> Model:
    """A model by its name for Inspect, such as `openai/NAME`; with `at` by its name on that server.

    Raises:
        EvaluationError: If it cannot be used.
    """
    try:
        if at is not None:
            if at.key is not None:
                given_keys.add(at.key)
            # Tools have arguments that may be left out, which OpenAI's "strict" forbids.
            return get_model(
                AT_ADDRESS + name, base_url=at.address, api_key=at.key or "none", memoize=False, strict_tools=False
            )
        return get_model(name)
    except (ValueError, PrerequisiteError) as error:
        raise EvaluationError(
            f"the model {name!r} cannot be used: {plain(error)}\n"
            "Name one as Inspect does, such as openai/NAME or scripted/ahead, or say where it is with --address."
        ) from None


def plain(error: Exception) -> str:
    """What Inspect says of a model that cannot be used, without its colours and empty lines."""
    return re.sub(r"\s*\n\s*", " ", re.sub(r"\[/?[a-z]+\]", "", without_keys(str(error))))
