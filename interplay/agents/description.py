"""`model.json`: the description of a trained policy, and its checks.

The file names the network (`architecture`, see `interplay.agents.networks`), the pipeline of its observations (`observation`),
and the meaning of its outputs (`actions`, a Gymnasium space, see `interplay.agents.actions`). The optional `coding` says how
these actions are translated to actions of the world (`interplay.agents.first_person`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gymnasium

from interplay.agents import actions, first_person
from interplay.envs import pipeline_names
from interplay.errors import InterplayError, shortened, unknown_name
from interplay.record.format import spaces

FORMAT = "interplay-policy"
VERSION = 2
FILE, WEIGHTS = "model.json", "model.safetensors"
REMEDY = "Train it again, or copy the whole folder from where it was trained."

MOST_TEMPERATURE = 100.0
MOST_OUTPUTS = 65_536


class PolicyError(InterplayError):
    """A policy's files are missing, damaged, or do not fit each other or the task."""


def read_description(folder: Path) -> dict[str, Any]:
    """Read `model.json` and check all that can be checked without PyTorch; `check_network` checks the rest.

    Raises:
        PolicyError: If the file is missing or is not JSON, or a value is missing or wrong; the text names the file, the key,
            and the expected value.
    """
    path = folder / FILE
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise PolicyError(f"policy {folder.name!r}: {path} is missing\n{REMEDY}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise PolicyError(f"policy {folder.name!r}: {path} is damaged: {error}\n{REMEDY}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise PolicyError(f"policy {folder.name!r}: {path} does not describe a policy (no format {FORMAT!r})\n{REMEDY}")
    if document.get("version") != VERSION:
        raise PolicyError(
            f"policy {folder.name!r}: {path} has version {document.get('version')!r}, this Interplay reads version {VERSION}\n"
            "Upgrade Interplay, or train the policy again."
        )
    for key, check in _CHECKS.items():
        if key in document or key not in _OPTIONAL:
            problem = check(document.get(key)) if key in document else "it is missing"
            if problem:
                raise PolicyError(f"policy {folder.name!r}: {path}: {key!r}: {problem}\n{REMEDY}")
    if "coding" in document and spaces.from_json(document["actions"]) != first_person.CHOICES:
        raise PolicyError(
            f"policy {folder.name!r}: {path}: 'actions' is {spaces.from_json(document['actions'])}, "
            f"expected {first_person.CHOICES}, which 'coding' requires\n{REMEDY}"
        )
    return document


def check_network(folder: Path, description: Mapping[str, Any], weights: Mapping[str, Any]) -> None:
    """Refuse an architecture that is invalid, or does not fit the actions or the weights; no memory is allocated for it."""
    import torch

    from interplay.agents import networks

    where = f"policy {folder.name!r}: {folder / FILE}: 'architecture'"
    try:
        with torch.device("meta"):  # shapes without numbers
            network = networks.build(description["architecture"])
            shape = description["architecture"]["encoder"]["shape"]
            memory_size = getattr(network, "memory_size", None)
            seen = [torch.empty(1, *shape), *([] if memory_size is None else [torch.empty(1, memory_size)])]
            outputs = network(*seen)
    except (InterplayError, RuntimeError, TypeError, ValueError, OverflowError) as error:
        raise PolicyError(f"{where}: {' '.join(str(error).split())}\n{REMEDY}") from None
    given = (outputs if memory_size is None else outputs[0]).shape[1]
    space = spaces.from_json(description["actions"])
    if given != (needed := actions.num_outputs(space)):
        raise PolicyError(f"{where}: its network gives {given} numbers, expected {needed} for 'actions' in {space}\n{REMEDY}")
    try:
        network.load_state_dict(dict(weights), assign=True)
    except RuntimeError as error:
        first_line = " ".join(str(error).split())
        raise PolicyError(
            f"policy {folder.name!r}: weights do not fit the architecture {description['architecture']}: {first_line}\n{REMEDY}"
        ) from None


# What a value must be: a sentence about what is wrong, or nothing


def _text(value: Any) -> str:
    return "" if isinstance(value, str) and value.strip() else f"it is {shortened(value)}, expected a text"


def _table(value: Any) -> str:
    return "" if isinstance(value, dict) else f"it is {shortened(value)}, expected a table"


def _temperature(value: Any) -> str:
    fits = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MOST_TEMPERATURE
    return "" if fits else f"it is {shortened(value)}, expected a number from 0 to {MOST_TEMPERATURE:g}"


def _env(value: Any) -> str:
    return _table(value) or (_text(value.get("id")) and f"its 'id' is {shortened(value.get('id'))}, expected a text")


def _observation(value: Any) -> str:
    return _text(value) or ("" if value in pipeline_names() else str(unknown_name("pipeline", value, pipeline_names())))


def _actions(value: Any) -> str:
    try:
        space: gymnasium.Space[Any] = spaces.from_json(value)
        num_outputs = actions.num_outputs(space)
    except (InterplayError, ValueError, TypeError, LookupError, AttributeError, AssertionError, OverflowError) as error:
        return f"it is {shortened(value)}, expected a space ({type(error).__name__}: {error})"
    fits = 1 <= num_outputs <= MOST_OUTPUTS
    return "" if fits else f"a network would give {num_outputs} numbers for {shortened(value)}, expected 1 to {MOST_OUTPUTS}"


def _coding(value: Any) -> str:
    return "" if value == first_person.CODING else f"it is {shortened(value)}; this Interplay knows {first_person.CODING!r}"


def _embedding(value: Any) -> str:
    names = [value.get(key) for key in ("network", "weights_sha256")] if isinstance(value, dict) else [None]
    fits = all(isinstance(name, str) and name and not name.startswith(".") and not set(name) & {"/", "\\"} for name in names)
    return "" if fits else f"it is {shortened(value)}, expected a table with 'network', a name, and 'weights_sha256'"


_CHECKS: dict[str, Callable[[Any], str]] = {
    "name": _text,
    "algorithm": _text,
    "task": _text,
    "task_hash": _text,
    "env": _env,
    "observation": _observation,
    "architecture": _table,
    "actions": _actions,
    "temperature": _temperature,
    "weights_sha256": _text,
    "coding": _coding,
    "embedding": _embedding,
    "metrics": _table,
}
_OPTIONAL = {"coding", "embedding", "metrics"}
