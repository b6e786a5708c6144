"""The possible partners for a task: the scripted player that was written for it, or the agent that the operator names."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

from interplay.agents import AgentError, names
from interplay.agents.find import BUILTIN
from interplay.agents.scripted import has_player
from interplay.errors import unknown_name
from interplay.play.partners.trying import require_player
from interplay.record import Archive
from interplay.tasks import Task

NO_PARTNER = "none"
"""In the place of an agent's name: this task has no partner, so a game ends when one of its people leaves."""
SCRIPTED = "scripted"


class Roster:
    """The agents that may act in live games.

    Args:
        given: Task id -> name of an agent as `interplay.agents.find` takes it, or `none`; overrides the scripted player.
    Raises:
        NotFoundError: For a task that is not on offer, or an agent that does not exist; the nearest is offered.
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
        """The agent that acts for a person who has left, and plays where no second person comes; None if nobody does."""
        given = self._given.get(task.id)
        if given is not None:
            return None if given == NO_PARTNER else given
        return SCRIPTED if has_player(task) else None

    def choices(self, task: Task) -> list[str]:
        """Every agent that people may have as a partner in a task, its `partner` first."""
        policies = [one.name for one in names(self._archive) if one.kind == "policy" and one.task == task.id]
        scripted = [SCRIPTED] if has_player(task) else []
        partner = self.partner(task)
        return list(dict.fromkeys([*([] if partner is None else [partner]), *scripted, *policies, "random", "noop"]))

    def has(self, agent: str) -> bool:
        """Whether an agent of this name exists; a `module:factory` does not count."""
        return any(one.name == agent for one in names(self._archive))

    def check(self, agent: str) -> None:
        """Refuse the name of an agent that does not exist (`NotFoundError`) or whose module is missing (`AgentError`); faults
        of an existing one are found when it begins."""
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
    """Whether an agent acts in the worker that holds the world: built-in ones do, which look into it and take little time. All
    others decide in another process."""
    return agent in BUILTIN
