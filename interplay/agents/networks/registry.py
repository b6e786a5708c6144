"""From a description, as `model.json` holds it, to an object."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from interplay.errors import unknown_name


def made(kind: str, registry: Mapping[str, Callable[..., Any]], description: Mapping[str, Any]) -> Any:
    """What `registry[description["name"]]` makes of the rest of the description.

    Raises:
        NotFoundError: For an unknown name.
        TypeError: For arguments it does not take.
    """
    arguments = dict(description)
    name = arguments.pop("name")
    if name not in registry:
        raise unknown_name(kind, name, registry)
    return registry[name](**arguments)
