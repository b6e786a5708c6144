"""The one protocol of everything that acts, and the check that every implementation passes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np

from interplay.envs import PlayableEnv, make, pipeline, pipeline_names
from interplay.errors import InterplayError
from interplay.tasks import Task


class AgentError(InterplayError):
    """An agent that cannot be built or does not keep the protocol; the text says what to change."""


@runtime_checkable
class Agent(Protocol):
    """Whoever sits in a seat: told when an episode begins, asked for an action at every decision.

    Attributes:
        name: How recordings, matches and leaderboards call it.
        observation: Name of the pipeline it sees the world through (`interplay.envs.pipeline_names()`). The pipeline also
            says how often it decides; in between, its last action is held.
    """

    name: str
    observation: str

    def reset(self, task: Task, *, rng: np.random.Generator) -> None:
        """Begin an episode of `task`; every random draw until the next reset comes from `rng`.

        Raises:
            AgentError: If it cannot play this task.
        """
        ...

    def act(self, observation: np.ndarray) -> Any:
        """The action for one observation: a member of the action space. The observation is not kept or changed."""
        ...


@runtime_checkable
class Insider(Protocol):
    """An agent that also looks into its world: a program that shows how a task is done, no learner.

    `rollout` calls `attach` once for each episode, after `Agent.reset` and before the first `act`.
    """

    def attach(self, env: PlayableEnv) -> None:
        """Take the environment that will be played."""
        ...


def require_agent(agent: object, *, where: str) -> Agent:
    """`agent` itself, if it has what the protocol names.

    Raises:
        AgentError: Naming the first missing or wrong part; `where` says where the object came from.
    """
    for attribute in ("name", "observation"):
        value = getattr(agent, attribute, None)
        if not isinstance(value, str) or not value:
            raise AgentError(
                f"{where}: {type(agent).__name__}.{attribute} must be a text, got {value!r}\n"
                "An agent has name, observation, reset(task, *, rng) and act(observation); docs/agents.md has one to copy."
            )
    for method in ("reset", "act"):
        if not callable(getattr(agent, method, None)):
            raise AgentError(
                f"{where}: {type(agent).__name__} has no method {method!r}\n"
                "An agent has name, observation, reset(task, *, rng) and act(observation); docs/agents.md has one to copy."
            )
    pipeline(agent.observation)  # type: ignore[attr-defined]  (refuses an unknown name, offering the nearest)
    assert isinstance(agent, Agent)
    return agent


def check_agent(agent: Agent, task: Task, *, num_decisions: int = 40, seed: int = 0) -> None:
    """Play a little of a task and refuse an agent that breaks the protocol: the contract test of every implementation.

    Checked: name, pipeline and methods; every action lies in the action space; observations are left unchanged; the same
    generator gives the same actions again, so a rollout can be repeated.

    Args:
        agent: The agent; it is reset.
        task: What it plays.
        num_decisions: How many decisions are played, twice.
        seed: Seed of the environment and of the agent's generator.
    Raises:
        AgentError: At the first broken promise, saying which.
        NotFoundError: If its pipeline does not exist.
    """
    require_agent(agent, where="check_agent")
    if agent.observation not in pipeline_names():
        raise AgentError(f"agent {agent.name!r} sees through {agent.observation!r}; known: {', '.join(pipeline_names())}")
    first = _few_actions(agent, task, num_decisions, seed)
    second = _few_actions(agent, task, num_decisions, seed)
    for decision, (one, other) in enumerate(zip(first, second, strict=True)):
        if not _same(one, other):
            raise AgentError(
                f"agent {agent.name!r} is not repeatable: decision {decision} was {one!r}, then {other!r} with the same rng\n"
                "Draw only from the generator that reset() gives, and forget the last episode in reset()."
            )


def _same(one: Any, other: Any) -> bool:
    """Whether two actions are equal, entry by entry where they are composed."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(np.array_equal(value, other[name]) for name, value in one.items())
    return np.array_equal(np.asarray(one), np.asarray(other))


def _few_actions(agent: Agent, task: Task, num_decisions: int, seed: int) -> list[Any]:
    """The first actions of an episode, each checked."""
    env = make(task)
    try:
        view = pipeline(agent.observation)
        env.reset(seed=seed)
        observation = view.reset(env.view())
        agent.reset(task, rng=np.random.default_rng(seed))
        if isinstance(agent, Insider):
            agent.attach(env)
        actions: list[Any] = []
        while len(actions) < num_decisions:
            before = observation.copy()
            action = agent.act(observation)
            if not np.array_equal(before, observation):
                raise AgentError(f"agent {agent.name!r} changed its observation at decision {len(actions)}; work on a copy")
            if not env.action_space.contains(action):
                raise AgentError(
                    f"agent {agent.name!r} chose {action!r} at decision {len(actions)}, which is not in {env.action_space}"
                )
            actions.append(action)
            upcoming, ended = None, False
            while upcoming is None:
                _, _, terminated, truncated, _ = env.step(action)
                ended = terminated or truncated
                upcoming = view.push(env.view(), ended=ended)
            if ended:
                break
            observation = upcoming
        return actions
    finally:
        env.close()
