"""Find and build agents by the names used on the command line."""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from interplay.agents.base import Agent, AgentError, SimpleAgent, require_agent
from interplay.agents.description import FILE
from interplay.agents.scripted import ScriptedAgent
from interplay.agents.simple import NoopAgent, RandomAgent
from interplay.agents.vpt.folder import DESCRIPTION, describe_networks, is_vpt_folder
from interplay.errors import not_installed, unknown_name
from interplay.record import Archive

BUILTIN: dict[str, tuple[Callable[[], SimpleAgent], str]] = {
    "random": (RandomAgent, "chooses random actions, a new one every four frames"),
    "noop": (NoopAgent, "never presses a key"),
    "scripted": (
        ScriptedAgent,
        "a hand-written player for each built-in Atari game, each game for two and each task of the block world",
    ),
}


class AgentName(NamedTuple):
    """A name that `find` takes; its kind is `builtin`, `policy` or `vpt`. A policy also has the id of its task."""

    name: str
    kind: str
    description: str
    task: str | None = None


def names(archive: Archive | None = None) -> list[AgentName]:
    """Return the names of the built-in agents, then of the archive's trained policies, then of its VPT networks."""
    from interplay.agents.policy import describe_policies

    found = [AgentName(name, "builtin", description) for name, (_, description) in BUILTIN.items()]
    if archive is not None:
        models = archive.root / "models"
        found += [AgentName(name, "policy", line, task) for name, task, line in describe_policies(models)]
        found += [AgentName(name, "vpt", line) for name, line in describe_networks(models)]
    return found


def find(name: str, archive: Archive | None = None) -> Agent | SimpleAgent:
    """Build the agent that a name stands for.

    Args:
        name: `random`, `noop`, `scripted`; a trained policy or a VPT network by its name in the archive's `models/` or by the
            path of its folder; or `module:factory`, a callable without arguments that returns an agent of your own.
    Raises:
        NotFoundError: If no agent has this name; the text suggests the most similar name.
        AgentError: If your factory cannot be imported or called, or does not return an agent.
        PolicyError, VPTError: If a network's files are missing, damaged, or do not fit together.
    """
    if name in BUILTIN:
        return BUILTIN[name][0]()
    from interplay.agents.policy import is_policy_folder, load_policy

    places = [Path(name)]
    if archive is not None and "/" not in name and "\\" not in name:
        places.insert(0, archive.blobs.fetch(f"models/{name}"))
    for place in places:
        if is_policy_folder(place):
            policy = load_policy(place)
            if "embedding" not in policy.description:
                return policy
            from interplay.agents.vpt.agent import with_network

            return with_network(policy, place.parent)
        if is_vpt_folder(place):
            try:
                from interplay.agents.vpt.agent import load_agent
            except ModuleNotFoundError as error:
                raise AgentError(not_installed("VPT needs", error.name, "train")) from None
            return load_agent(place)
    if ":" in name:
        return _from_module(name)
    hint = "All agents:  interplay agents list    Your own:  module:factory"
    raise unknown_name("agent", name, [known.name for known in names(archive)], hint=hint)


def files_hash(name: str, archive: Archive) -> str:
    """Return a hash of the files of an agent that `find` knows: a network's description, which names its weights, or the module
    of your own agent. Built-in agents have none."""
    files = [folder / file for folder in (archive.root / "models" / name, Path(name)) for file in (FILE, DESCRIPTION)]
    if own := getattr(sys.modules.get(name.partition(":")[0]), "__file__", None):
        files.append(Path(own))
    found = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files if file.is_file()]
    return found[0] if found and name not in BUILTIN else ""


def vpt_folder(name: str, models: Path) -> Path:
    """Return the folder of a VPT network, given its name in `models` or its path (NotFoundError if there is no network)."""
    for place in (models / name, Path(name)):
        if is_vpt_folder(place):
            return place
    hint = "Make one of published files:  interplay agents import-vpt FILE.model FILE.weights --name NAME"
    raise unknown_name("VPT network", name, [known for known, _ in describe_networks(models)], hint=hint)


def _from_module(name: str) -> Agent | SimpleAgent:
    module_name, _, attribute = name.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and not (module_name + ".").startswith(error.name + "."):
            raise AgentError(f"agent {name!r}: module {module_name!r} needs {error.name!r}, which is not installed") from error
        raise AgentError(
            f"agent {name!r}: there is no module {module_name!r}\n"
            "It must be importable: install it, or put its folder on PYTHONPATH (PYTHONPATH=. interplay play ...)."
        ) from None
    except ValueError as error:  # an empty or relative module name
        raise AgentError(f"agent {name!r}: {module_name!r} is not a module name; write module:factory") from error
    except Exception as error:
        raise AgentError(f"agent {name!r}: importing {module_name!r} failed: {type(error).__name__}: {error}") from error
    factory = getattr(module, attribute, None)
    if factory is None:
        raise unknown_name(
            f"factory in module {module_name!r}:", attribute, [known for known in dir(module) if not known.startswith("_")]
        )
    if not callable(factory):
        raise AgentError(
            f"agent {name!r}: {attribute} is {type(factory).__name__}, which cannot be called; name a class or function"
        )
    try:
        agent = factory()
    except Exception as error:
        raise AgentError(
            f"agent {name!r}: {attribute}() failed: {type(error).__name__}: {error}\nA factory takes no arguments."
        ) from error
    return require_agent(agent, where=f"agent {name!r}")
