"""The form in which jobs travel between processes: functions by name, values as JSON or bytes, errors by their class."""

from __future__ import annotations

import importlib
import json
import os
import traceback
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePath
from typing import Any, NamedTuple, get_type_hints

import msgspec

from interplay.errors import InterplayError
from interplay.jobs.errors import UnexpectedError


class Outcome(NamedTuple):
    """Result of a job, or its error if not `is_good`; packed."""

    is_good: bool
    data: bytes


def name_of(function: Callable[..., Any]) -> str:
    return f"{function.__module__}:{function.__qualname__}"


def pack(value: Any) -> bytes:
    """Return a value as JSON; bytes stay as they are. Dataclasses become objects, named tuples lists, paths texts."""
    if isinstance(value, bytes):
        return value
    return json.dumps(msgspec.to_builtins(value, enc_hook=_plain)).encode()


def packed(arguments: Iterable[Any]) -> list[bytes]:
    return [pack(argument) for argument in arguments]


def unpack(data: bytes, kind: Any) -> Any:
    """Return the value of this type that was packed."""
    if kind is bytes:
        return data
    return msgspec.convert(json.loads(data), kind, dec_hook=_of_kind)


def result_of(function: Callable[..., Any], outcome: Outcome) -> Any:
    """Return the result of a function in another process, or raise its error."""
    if outcome.is_good:
        return unpack(outcome.data, _types(function)[-1])
    raise _error(**json.loads(outcome.data))


def perform(name: str, arguments: list[bytes]) -> Outcome:
    """Call an importable function, named `module:name`, with its packed arguments."""
    try:
        module, _, attribute = name.partition(":")
        function = getattr(importlib.import_module(module), attribute)
        return Outcome(True, pack(function(*map(unpack, arguments, _types(function)))))
    except Exception as error:  # whatever it is, it is told to the process that asked
        return failure(error)


def failure(error: Exception) -> Outcome:
    return Outcome(False, json.dumps(_described(error)).encode())


def _types(function: Callable[..., Any]) -> list[Any]:
    """Types of a function's arguments and, at last, of its result."""
    return list(get_type_hints(function).values())


def _described(error: Exception) -> dict[str, str]:
    if isinstance(error, InterplayError):
        return {"module": type(error).__module__, "name": type(error).__qualname__, "text": str(error), "trace": ""}
    return {"module": "", "name": type(error).__name__, "text": str(error), "trace": traceback.format_exc()}


def _error(module: str, name: str, text: str, trace: str) -> Exception:
    """Return an error as it was; an `InterplayError` of a module outside of this package comes as the base class."""
    if not module:
        unexpected = UnexpectedError(f"{name}: {text}")
        unexpected.add_note(f"In another process:\n{trace}")
        return unexpected
    found = getattr(importlib.import_module(module), name, None) if module.startswith("interplay.") else None
    kind = found if isinstance(found, type) and issubclass(found, InterplayError) else InterplayError
    error = kind.__new__(kind)
    error.args = (text,)
    return error


def _plain(value: Any) -> Any:
    if isinstance(value, PurePath):
        return os.path.abspath(value)  # another process may work in another folder
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "item"):  # a number of NumPy
        return value.item()
    raise NotImplementedError(f"{type(value).__name__} does not travel between processes")


def _of_kind(kind: type, value: Any) -> Any:
    if kind is Path:
        return Path(value)
    raise NotImplementedError(f"{kind.__name__} does not travel between processes")
