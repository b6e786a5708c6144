"""The actors in the seats of a live episode: people, or agents that act for them.

An agent that looks into its world acts in the worker that holds the world (`InsideDriver`); all others decide in another
process (`asking`). A failure of an agent costs only its own seat: from then on the built-in agent `noop` acts there, and is
recorded as owner.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from interplay.agents import SeatedAgent, find
from interplay.envs import PlayableEnv
from interplay.play.workers.channel import Acting, AgentLost, Event
from interplay.record import InputTiming

log = logging.getLogger("interplay.play.partners")

NOBODY = "noop"
"""Name of the agent that acts for a seat whose own agent failed."""


class Driver(Protocol):
    """An agent in a seat of a live episode, with its name for `interplay.agents.find` and its name in recordings."""

    agent: str
    name: str

    @property
    def has_decided(self) -> bool: ...

    def act(self, step: int) -> tuple[Any, InputTiming | None]:
        """Return the action for the step that is made now, and the observation on which it was decided."""
        ...

    def see(self, info: Mapping[str, Any], step: int, due_us: int) -> None:
        """Look at the world after a step. `due_us`: when the next action is due, on the monotonic clock, in microseconds."""
        ...

    def leave(self) -> None: ...


class InsideDriver:
    """A built-in agent that acts in this process, because it looks into the world and takes little time. `step`: number of
    steps made."""

    def __init__(self, agent: str, world: PlayableEnv, seat: str, info: Mapping[str, Any], *, step: int, seed: int) -> None:
        self.agent = agent
        self._world = world
        self._seated = SeatedAgent(find(agent), world.task, rng=np.random.default_rng(seed))
        self.name = self._seated.agent.name
        with as_agents_see(world):
            self._seated.sit(world, seat, info)
        self._seen_step = step

    @property
    def has_decided(self) -> bool:
        return True

    def act(self, step: int) -> tuple[Any, InputTiming | None]:
        if self._seated.observation is not None:
            self._seen_step = step
        return self._seated.act(), decided_on(self._seen_step)

    def see(self, info: Mapping[str, Any], step: int, due_us: int) -> None:
        with as_agents_see(self._world):
            self._seated.see(info)

    def leave(self) -> None:
        """Do nothing: the agent leaves nothing behind."""


def decided_on(step: int) -> InputTiming:
    """Return the recorded timing of an agent's action: the step of the observation on which it was decided."""
    return InputTiming(step, None, None, None, None)  # type: ignore[arg-type]  (the columns take null, as of seats without input)


@contextmanager
def as_agents_see(world: PlayableEnv) -> Iterator[None]:
    """Inside this context, draw a world as agents see it, even if it is drawn in another way for people."""
    view, height = world.drawn_for, world.drawn_height
    if view is None and height is None:
        yield
        return
    world.draw_for(None)
    try:
        yield
    finally:
        world.draw_for(view, height)


class Driving:
    """The actors in the seats of one live episode. `tell` is called with the index of a seat and an event about the seat."""

    def __init__(self, world: PlayableEnv, tell: Callable[[int, Event], object]) -> None:
        self.owners: dict[str, str] = {}
        self._world = world
        self._seats = world.task.seats
        self._tell = tell
        self._drivers: dict[str, Driver] = {}
        self._coming: dict[str, Driver] = {}

    def sit(self, owners: Mapping[str, str]) -> None:
        """Let these owners act from now on, except in seats where an agent already acts."""
        self.owners = dict(owners) | {seat: driver.name for seat, driver in self._drivers.items()}

    def has_agent(self, seat: str) -> bool:
        return seat in self._drivers

    def expect(self, seat: str, driver: Driver) -> None:
        """Let an agent act for a seat as soon as it has begun; until then the present actor continues."""
        self.forget(seat)
        self._coming[seat] = driver

    def is_expected(self, seat: str, driver: Driver) -> bool:
        """Whether this agent is still wanted for the seat, and no other actor was chosen meanwhile."""
        return self._coming.get(seat) is driver

    def has_decided(self, seat: str) -> bool:
        return self._drivers[seat].has_decided

    @property
    def awaits_agents(self) -> bool:
        if not self._drivers:  # as in most games: asked at every step
            return False
        return not all(driver.has_decided for driver in self._drivers.values())

    def let_agent(self, seat: str, driver: Driver, *, step: int, total_reward: float) -> None:
        if self.is_expected(seat, driver):
            del self._coming[seat]
        self._leave(seat)
        self._drivers[seat] = driver
        self.owners[seat] = driver.name
        self._tell(self._seats.index(seat), Acting(driver.name, driver.agent, step, total_reward))

    def let_person(self, seat: str, owner: str, *, step: int, total_reward: float) -> None:
        self._leave(seat)
        self.owners[seat] = owner
        self._tell(self._seats.index(seat), Acting(owner, None, step, total_reward))

    def act(self, seat: str, step: int) -> tuple[Any, InputTiming | None]:
        """Return the action of the agent in this seat for the step that is made now; if the agent fails, return the action
        without any pressed key."""
        try:
            return self._drivers[seat].act(step)
        except Exception as error:
            self.lose(seat, error, step=step)
            return self._world.task.keys.of(seat).noop, None

    def see(self, info: Mapping[str, Any], *, step: int, due_us: int) -> None:
        if not self._drivers:
            return
        for seat, driver in list(self._drivers.items()):
            try:
                driver.see(info, step, due_us)
            except Exception as error:
                self.lose(seat, error, step=step)

    def lose(self, seat: str, error: Exception, *, step: int) -> None:
        """Note that the agent in a seat has failed: nobody presses a key there from now on, and the players are told."""
        driver = self._drivers[seat]
        log.error("task %s, step %d: agent %r loses seat %s", self._world.task.id, step, driver.agent, seat, exc_info=error)
        self._leave(seat)
        nobody = InsideDriver(NOBODY, self._world, seat, {}, step=step, seed=0)
        self._drivers[seat] = nobody
        self.owners[seat] = nobody.name
        self._tell(self._seats.index(seat), AgentLost(driver.agent, reason_of(error)))

    def close(self) -> None:
        for seat in self._seats:
            self._leave(seat)

    def forget(self, seat: str) -> None:
        driver = self._coming.pop(seat, None)
        if driver is not None:
            driver.leave()

    def _leave(self, seat: str) -> None:
        self.forget(seat)
        driver = self._drivers.pop(seat, None)
        if driver is not None:
            driver.leave()


def reason_of(error: Exception) -> str:
    """Return in one line why an agent failed, for players."""
    text = " ".join(str(error).splitlines()[:1])
    return (text or type(error).__name__)[:300]
