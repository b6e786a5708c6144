"""The protocol of all agents, and the check that every implementation passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, NamedTuple, Protocol, runtime_checkable

import gymnasium
import numpy as np

from interplay.envs import Observer, PlayableEnv, make, pipeline
from interplay.errors import InterplayError
from interplay.record import RecordedEpisode
from interplay.record.format.schema import seat_spaces
from interplay.tasks import Task


class AgentError(InterplayError):
    """An agent cannot be built or breaks the protocol; the text says what to change."""


class Decision(NamedTuple):
    """An action from the seat's action space, and the minimum number of steps for which it is held.

    The agent decides again at the first observation after these steps. With a pipeline that gives an observation every fourth
    step, every action is held for at least four steps.
    """

    action: Any
    hold_steps: int = 1


@runtime_checkable
class Agent(Protocol):
    """The full form of an agent, which plays any number of games at once; `SimpleAgent` is the short form.

    `name` is shown by recordings, matches and leaderboards. `observation` names a pipeline (`interplay.envs.pipeline_names()`).
    The pipeline decides the parts and shapes of the agent's observations, and how often the agent gets one.
    """

    name: str
    observation: str

    def begin(self, task: Task, *, rng: np.random.Generator) -> Any:
        """Begin a game of `task` and return the agent's state in it, a mutable object such as a recurrent state. Every random
        draw in this game comes from `rng`. Raises `AgentError` if the agent cannot play this task."""
        ...

    def decide(self, observations: Sequence[Mapping[str, Any]], states: Sequence[Any]) -> Sequence[Decision]:
        """Return one decision for each game, from the games' observations and states; observations must not be changed."""
        ...


@runtime_checkable
class SimpleAgent(Protocol):
    """The short form of an agent: it gets pictures, returns actions, and plays one game at a time."""

    name: str
    observation: str

    def reset(self, task: Task, *, rng: np.random.Generator) -> None:
        """Begin an episode of `task`; every random draw until the next reset comes from `rng`. Raises `AgentError` if the agent
        cannot play this task."""
        ...

    def act(self, observation: np.ndarray) -> Any:
        """Return an action from the action space for one picture, which must not be changed."""
        ...


@runtime_checkable
class Insider(Protocol):
    """A simple agent that also reads the state of its world: a program that shows how a task is done, and does not learn.

    `attach` is called once for each episode, after `SimpleAgent.reset` and before the first `act`.
    """

    def attach(self, env: PlayableEnv, seat: str) -> None: ...


class OneGame:
    """A simple agent, wrapped to have the full form."""

    def __init__(self, agent: SimpleAgent) -> None:
        self.name = agent.name
        self.observation = agent.observation
        self._agent = agent
        self._game: object = None

    def begin(self, task: Task, *, rng: np.random.Generator) -> Any:
        self._agent.reset(task, rng=rng)
        self._game = object()
        return self._game

    def attach(self, env: PlayableEnv, seat: str) -> None:
        if isinstance(self._agent, Insider):
            self._agent.attach(env, seat)

    def decide(self, observations: Sequence[Mapping[str, Any]], states: Sequence[Any]) -> list[Decision]:
        if len(states) != 1 or states[0] is not self._game:
            raise AgentError(f"agent {self.name!r} plays one game at a time; build another one for each game")
        return [Decision(self._agent.act(observations[0]["picture"]))]


def as_agent(agent: Agent | SimpleAgent) -> Agent:
    return agent if isinstance(agent, Agent) else OneGame(agent)


class SeatedAgent:
    """An agent in one seat of one game. It decides at an observation once its last action has been held long enough.

    Raises `AgentError` if the agent cannot play the task.
    """

    def __init__(self, agent: Agent | SimpleAgent, task: Task, *, rng: np.random.Generator) -> None:
        self.agent = as_agent(agent)
        self.observation: dict[str, Any] | None = None
        """Observation for the next decision; None while the last action is held."""
        self.state = self.agent.begin(task, rng=rng)
        self._action: Any = None
        self._num_steps = self._held_until = 0

    def sit(self, world: PlayableEnv, seat: str, info: Mapping[str, Any]) -> None:
        """Take a seat of a world that was just reset; `info` is the result of the reset."""
        if isinstance(self.agent, OneGame):
            self.agent.attach(world, seat)
        self._space = seat_spaces(world)[seat]
        self._observer = Observer(self.agent.observation, world, seat)
        self.observation = self._observer.reset(info)

    def space(self) -> gymnasium.spaces.Dict:
        return self._observer.space()

    def act(self) -> Any:
        """Return the action for the next step; `AgentError` if the agent's action is not in the seat's space."""
        if self.observation is not None:
            decide([self])
        self._num_steps += 1
        return self._action

    def hold(self, otherwise: Any) -> Any:
        """Return the action for the next step if no decision came in time: the last action, or `otherwise` before the first."""
        self._num_steps += 1
        return otherwise if self._action is None else self._action

    def take(self, decision: Decision) -> None:
        """Follow a decision from now on; `AgentError` if its action is not in the seat's space, or `hold_steps` is invalid."""
        name, where = self.agent.name, f"at step {self._num_steps}"
        if not isinstance(decision, Decision):
            raise AgentError(f"agent {name!r} answered {decision!r} {where}, expected a Decision(action, hold_steps)")
        action, hold_steps = decision
        if not self._space.contains(action):
            raise AgentError(f"agent {name!r} chose {action!r} {where}, which is not in {self._space}")
        if not isinstance(hold_steps, int) or isinstance(hold_steps, bool) or hold_steps < 1:
            raise AgentError(f"agent {name!r} holds its action for {hold_steps!r} steps {where}; expected 1 or more")
        self._action = action
        self._held_until = self._num_steps + hold_steps
        self.observation = None

    def see(self, info: Mapping[str, Any]) -> None:
        """Observe the world after a step that did not end the episode; `info` is the result of the step."""
        observation = self._observer.push(info, ended=False)
        self.observation = observation if self._num_steps >= self._held_until else None


def decide(seated: Sequence[SeatedAgent]) -> None:
    """Let one agent decide, in one call, for all of `seated` that have an observation; `act` then returns their actions.

    Raises `AgentError` if `seated` belong to different agents, or a decision is invalid.
    """
    waiting = [(one, one.observation) for one in seated if one.observation is not None]
    if not waiting:
        return
    agent = waiting[0][0].agent
    if any(one.agent is not agent for one, _ in waiting):
        raise AgentError("these seats have different agents; call decide() once for each agent")
    decisions = agent.decide([observation for _, observation in waiting], [one.state for one, _ in waiting])
    if len(decisions) != len(waiting):
        raise AgentError(f"agent {agent.name!r} made {len(decisions)} decisions for {len(waiting)} games")
    for (one, _), decision in zip(waiting, decisions, strict=True):
        one.take(decision)


def require_agent(agent: object, *, where: str) -> Agent | SimpleAgent:
    """Return `agent` if it follows the protocol; else raise an `AgentError` that names `where` and the first fault."""
    has = (
        "An agent has name, observation, reset(task, *, rng) and act(observation), or begin(task, *, rng) and "
        "decide(observations, states); docs/agents.md has one of each to copy."
    )
    for attribute in ("name", "observation"):
        value = getattr(agent, attribute, None)
        if not isinstance(value, str) or not value:
            raise AgentError(f"{where}: {type(agent).__name__}.{attribute} must be a text, got {value!r}\n{has}")
    is_full = callable(getattr(agent, "decide", None))
    for method in ("begin", "decide") if is_full else ("reset", "act"):
        if not callable(getattr(agent, method, None)):
            raise AgentError(f"{where}: {type(agent).__name__} has no method {method!r}\n{has}")
    pipeline(agent.observation)  # type: ignore[attr-defined]  (refuses an unknown name, offering the nearest)
    assert isinstance(agent, Agent | SimpleAgent)
    return agent


def check_agent(agent: Agent | SimpleAgent, task: Task, *, num_decisions: int = 40, seed: int = 0) -> None:
    """Play the beginning of a task twice and refuse an agent that breaks the protocol; every new agent should pass this check.

    The agent must have a name, a pipeline and the methods. Its observations must have the declared shapes, and it must not
    change them. Every action must be in the action space and be held for a whole number of steps. The same generator must give
    the same decisions again. In the full form, a second game played at the same time must not change the decisions.

    Raises:
        AgentError: At the first failed check; the text says which.
        NotFoundError: If its pipeline does not exist.
    """
    require_agent(agent, where="check_agent")
    first = _few_decisions(agent, task, num_decisions, seed)
    second = _few_decisions(agent, task, num_decisions, seed)
    advice = "with the same rng\nDraw only from the generator that the game begins with, and forget the last game."
    _compare(agent, first, second, advice)
    if isinstance(agent, Agent):
        beside = _few_decisions(agent, task, num_decisions, seed, another=seed + 1)
        advice = "beside another game\nKeep what belongs to a game in the state that begin() returns."
        _compare(agent, first, beside, advice)


def _compare(agent: Agent | SimpleAgent, first: Sequence[Decision], second: Sequence[Decision], advice: str) -> None:
    for number, (one, other) in enumerate(zip(first, second, strict=True)):
        if one.hold_steps != other.hold_steps or not _same(one.action, other.action):
            raise AgentError(
                f"agent {agent.name!r} is not repeatable: decision {number} was {one.action!r}, then {other.action!r} {advice}"
            )


def _same(one: Any, other: Any) -> bool:
    """Whether two actions are equal in all entries; floats up to rounding, which depends on a network's batch size."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(value, other[name]) for name, value in one.items())
    first, second = np.asarray(one), np.asarray(other)
    if first.dtype.kind == "f" and first.shape == second.shape:
        return np.allclose(first, second, rtol=1e-4, atol=1e-5)
    return np.array_equal(first, second)


class _Watched:
    """A wrapped agent that stores its decisions in one game, and raises if the agent changes its observations."""

    def __init__(self, agent: Agent) -> None:
        self.name, self.observation = agent.name, agent.observation
        self.decisions: list[Decision] = []
        self.watched: Any = None
        self._agent = agent

    def begin(self, task: Task, *, rng: np.random.Generator) -> Any:
        return self._agent.begin(task, rng=rng)

    def decide(self, observations: Sequence[Mapping[str, Any]], states: Sequence[Any]) -> Sequence[Decision]:
        before = deepcopy(observations)
        decisions = self._agent.decide(observations, states)
        if not all(map(_same_parts, before, observations)):
            raise AgentError(f"agent {self.name!r} changed its observation at decision {len(self.decisions)}; work on a copy")
        self.decisions += [one for one, state in zip(decisions, states, strict=False) if state is self.watched]
        return decisions


def _same_parts(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return one.keys() == other.keys() and all(
        _same_parts(value, other[name]) if isinstance(value, Mapping) else np.array_equal(value, other[name])
        for name, value in one.items()
    )


def _few_decisions(
    agent: Agent | SimpleAgent, task: Task, num_decisions: int, seed: int, *, another: int | None = None
) -> list[Decision]:
    """Return the first decisions in a game in which the agent has the first seat and nobody else acts. If `another` is given,
    the agent plays a second game at the same time, whose seed is `another`."""
    watched = _Watched(as_agent(agent))
    games: list[tuple[RecordedEpisode, SeatedAgent]] = []
    first, *others = task.seats
    try:
        for own in (seed, another):
            if own is None:
                continue
            episode = RecordedEpisode(make(task))
            seated = SeatedAgent(watched, task, rng=np.random.default_rng(own))
            games.append((episode, seated))
            _, info = episode.start(own)
            if isinstance(watched._agent, OneGame):
                watched._agent.attach(episode.env, first)
            seated.sit(episode.env, first, info)
        main, seated = games[0]
        watched.watched = seated.state
        if not seated.space().contains(seated.observation):  # the world or the pipeline is at fault
            raise AgentError(f"observations of {seated.agent.observation!r} do not fit the declared space {seated.space()}")
        while len(watched.decisions) < num_decisions and main.outcome is None:
            running = [(episode, seated) for episode, seated in games if episode.outcome is None]
            decide([seated for _, seated in running])
            for episode, seated in running:
                step = episode.step({first: seated.act()} | {seat: task.keys.of(seat).noop for seat in others})
                if episode.outcome is None:
                    seated.see(step.info)
        return watched.decisions
    finally:
        for episode, _ in games:
            episode.env.close()
