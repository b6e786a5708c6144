"""The possible partners for a task: the scripted player that was written for it, or the agent that the operator names. Each
agent is tried before anybody plays with it: it begins a game in a process of its own (`main`), because its imports may be
large, or may fail."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import interplay.record
from interplay.agents import AgentError, SeatedAgent, find, names
from interplay.agents.find import BUILTIN
from interplay.agents.scripted import has_player
from interplay.errors import InterplayError, unknown_name
from interplay.play.partners.driving import reason_of
from interplay.play.workers import processes, starting
from interplay.record import Archive
from interplay.tasks import Task

NO_PARTNER = "none"
"""Used instead of an agent's name: this task has no partner, so a game ends when one of its people leaves."""
SCRIPTED = "scripted"
BEGINS_WITHIN_S = 120.0


class Roster:
    """The agents that may act in live games.

    Args:
        given: Task id -> name of an agent for `interplay.agents.find`, or `none`; it replaces the scripted player.
    Raises:
        NotFoundError: For a task that is not on offer, or an agent that does not exist; the text names the nearest one.
        AgentError: For an agent that cannot begin a game of the task, with its reason.
    """

    def __init__(self, archive: Archive, given: Mapping[str, str], tasks: Mapping[str, Task]) -> None:
        self._archive = archive
        for task_id, agent in given.items():
            if task_id not in tasks:
                raise unknown_name("task", task_id, list(tasks))
            if agent != NO_PARTNER:
                self.check(agent)
                require_player(agent, tasks[task_id], archive, beside=not acts_inside(agent))
        self._given = dict(given)

    def partner(self, task: Task) -> str | None:
        """Return the agent that acts for a person who has left, and plays where no second person comes; None if no agent
        does."""
        given = self._given.get(task.id)
        if given is not None:
            return None if given == NO_PARTNER else given
        return SCRIPTED if has_player(task) else None

    def choices(self, task: Task) -> list[str]:
        """Return every agent that people may have as a partner in a task, the agent of `partner` first."""
        policies = [one.name for one in names(self._archive) if one.kind == "policy" and one.task == task.id]
        scripted = [SCRIPTED] if has_player(task) else []
        partner = self.partner(task)
        return list(dict.fromkeys([*([] if partner is None else [partner]), *scripted, *policies, "random", "noop"]))

    def has(self, agent: str) -> bool:
        """Whether an agent of this name exists; a `module:factory` does not count."""
        return any(one.name == agent for one in names(self._archive))

    def check(self, agent: str) -> None:
        """Refuse the name of an agent that does not exist (`NotFoundError`) or whose module is missing (`AgentError`). Other
        faults of an agent are found when it begins."""
        known = [one.name for one in names(self._archive)]
        module, colon, factory = agent.partition(":")
        if agent in known:
            return
        if not (colon and module and factory):
            raise unknown_name("agent", agent, known, hint="All agents:  interplay agents list    Your own:  module:factory")
        try:
            is_there = find_spec(module) is not None
        except (ImportError, ValueError):
            is_there = False
        if not is_there:
            raise AgentError(
                f"agent {agent!r}: there is no module {module!r}\n"
                "It must be importable: install it, or put its folder on PYTHONPATH (PYTHONPATH=. interplay serve ...)."
            )


def acts_inside(agent: str) -> bool:
    """Whether an agent acts in the worker that holds the world. Built-in agents do, because they look into the world and take
    little time; all others decide in another process."""
    return agent in BUILTIN


def require_player(agent: str, task: Task, archive: Archive, *, beside: bool) -> None:
    """Raise `AgentError` if an agent cannot begin a game of a task. `beside`: whether to try it in a process of its own."""
    reason = _tried_beside(agent, task, archive) if beside else _tried(agent, task, archive)
    if reason:
        raise AgentError(
            f"agent {agent!r} cannot be the partner of {task.id}: {reason}\n"
            f"Name another agent, or none:  --partner {task.id}=none    All agents:  interplay agents list"
        )


def _tried(agent: str, task: Task, archive: Archive | None) -> str:
    try:
        SeatedAgent(find(agent, archive), task, rng=np.random.default_rng(0))
    except InterplayError as error:
        return str(error).splitlines()[0].removeprefix(f"agent {agent!r}: ")
    except Exception as error:
        return reason_of(error)
    return ""


def _tried_beside(agent: str, task: Task, archive: Archive) -> str:
    process, ours = starting.start(__name__)
    with ours:
        try:
            ours.settimeout(BEGINS_WITHIN_S)
            asked = {
                "agent": agent,
                "task": task.to_json(),
                "data": str(archive.root.resolve()),
                "database": archive.database.address,
            }
            ours.sendall(json.dumps(asked).encode() + b"\n")
            with ours.makefile("rb") as answers:
                answer = answers.readline()
        except TimeoutError:
            return f"it has not begun a game within {BEGINS_WITHIN_S:g} s"
        finally:
            process.kill()
    return json.loads(answer)["reason"] if answer else "its process died"


def main(descriptor: int) -> None:
    with processes.enter(descriptor, "trying") as channel, channel.makefile("rb") as questions:
        asked = json.loads(questions.readline())
        archive = interplay.record.open(Path(asked["data"]), database=asked["database"])
        reason = _tried(asked["agent"], Task.from_json(asked["task"]), archive)
        channel.sendall(json.dumps({"reason": reason}).encode() + b"\n")
