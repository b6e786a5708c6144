"""From a description, as `model.json` holds it, to an object; its settings are checked against the class's arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args, get_origin, get_type_hints

from interplay.errors import InterplayError, shortened, unknown_name

MOST_UNITS = 65_536
_LEAST = {"blocks": 0}
"""The smallest numbers, where they are not 1."""
_MOST = {"blocks": 64}
"""The largest numbers, where they are not `MOST_UNITS`: a description must not ask for more than a machine can do."""
_MAY_BE_EMPTY = {"hidden"}
"""Lists that may be empty: a network without hidden layers is linear."""


class ArchitectureError(InterplayError):
    """A description of no network; the text names the setting, what was found and what is expected."""


def made(kind: str, registry: Mapping[str, Callable[..., Any]], description: Any) -> Any:
    """Build `registry[description["name"]]` with the rest of the description as arguments.

    Raises:
        NotFoundError: For an unknown name, or a setting that the class does not take.
        ArchitectureError: For a setting that is missing or has a wrong value.
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
    """Refuse a value that a class does not take: whole numbers count things, other numbers are shares."""
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
    """Refuse observations that are no pictures, with an `ArchitectureError`."""
    if len(shape) != 3:
        raise ArchitectureError(f"'shape' is {list(shape)}, expected that of pictures: three numbers")
