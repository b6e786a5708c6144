"""Let an agent play one episode and record it; optionally, an expert is asked at each step which action it would take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np

from interplay.agents.base import Agent, AgentError, SeatedAgent, SimpleAgent
from interplay.envs import Frame, FramePolicy, PlayableEnv, make
from interplay.errors import unknown_name
from interplay.record import Archive, Episode, Owner, RecordedEpisode, RecordingError
from interplay.tasks import Task


class Asked(NamedTuple):
    """A learner in a seat, and an expert that is asked which action it would take there.

    Attributes:
        learner: The agent that recordings name as the holder of the seat.
        expert: The agent that is asked; it observes the same game through its own pipeline.
        share: Probability, drawn at each decision of the learner, that the expert acts instead: the mixture beta * expert +
            (1 - beta) * learner of Ross, Gordon & Bagnell 2011, section 3.
    """

    learner: Agent | SimpleAgent
    expert: Agent | SimpleAgent
    share: float = 0.0

    @property
    def name(self) -> str:
        return self.learner.name


class AskedSeat:
    """`Asked` in one seat of one game; a rollout treats it like a `SeatedAgent`.

    After `act`, `owner` names the agent that acts in the step, and `label` is the expert's action for this step.
    """

    def __init__(self, asked: Asked, task: Task, *, rng: np.random.Generator) -> None:
        own, self._coin = rng.spawn(2)
        self._share = asked.share
        self._learner = SeatedAgent(asked.learner, task, rng=rng)
        self._expert = SeatedAgent(asked.expert, task, rng=own)
        self.owner = asked.learner.name
        self.label: Any = None

    def sit(self, world: PlayableEnv, seat: str, info: Mapping[str, Any]) -> None:
        self._learner.sit(world, seat, info)
        self._expert.sit(world, seat, info)

    def act(self) -> Any:
        """Return the action for the next step. The acting agent can change only at a decision of the learner."""
        if self._learner.observation is not None:
            leads = self._expert if self._coin.random() < self._share else self._learner
            self.owner = leads.agent.name
        action, self.label = self._learner.act(), self._expert.act()
        return self.label if self.owner == self._expert.agent.name else action

    def see(self, info: Mapping[str, Any]) -> None:
        self._learner.see(info)
        self._expert.see(info)


def rollout(
    archive: Archive,
    task: Task,
    agent: Agent | SimpleAgent | Asked | Mapping[str, Agent | SimpleAgent | Asked],
    seed: int,
    *,
    rng: np.random.Generator,
    max_steps: int | None = None,
    frames: FramePolicy | None = None,
    episode_id: str | None = None,
    created_at: datetime | None = None,
    attempt: str = "",
    watch: Callable[[Frame], None] = lambda frame: None,
) -> Episode:
    """Play one episode, record it in native frames, and seal it.

    The agent decides at each observation, and its action is held until the next. Every native step is recorded, with times as
    if the game were played at its own frame rate. The same seed and generator give the same episode.

    Args:
        agent: The player; it begins a game with `rng`. For a task of several seats, a mapping seat -> agent with one object for
            each seat; `rng` spawns a generator for each. With an `Asked`, the recording also has the actions that the expert
            would have taken (`Episode.labels`), and who acted.
        max_steps: A limit below the task's: the last step is then marked truncated, and the outcome is `time_limit`.
        frames: How the recording stores frames; by default as the environment says (`PlayableEnv.frame_policy`).
        episode_id, created_at: Id and time of the recording; by default a new id and the present time.
        attempt: Name of one of several attempts to record the same episode, as in `Archive.recorder`.
        watch: Called with each frame of the recording; a frame is valid until the next call.
    Raises:
        AgentError: If an agent cannot play this task or returns an invalid action, if a seat has no agent, or if one simple
            agent has two seats. Steps already recorded are sealed, with outcome `interrupted`.
    """
    agents = agent if isinstance(agent, Mapping) else {task.seats[0]: agent}
    check_seats(task, agents)
    _check_own_objects(
        [
            (seat, one)
            for seat, each in agents.items()
            for one in ((each.learner, each.expert) if isinstance(each, Asked) else (each,))
        ]
    )
    generators = [rng] if len(agents) == 1 else rng.spawn(len(agents))
    # First: an agent that cannot play this task should leave no trace.
    seated = {seat: _seated(agents[seat], task, own) for seat, own in zip(task.seats, generators, strict=True)}
    world = make(task, frames=frames)
    try:
        owners = {seat: Owner(each.name, "agent") for seat, each in agents.items()}
        experts = {seat: each.expert.name for seat, each in agents.items() if isinstance(each, Asked)}
        recorder = archive.recorder(
            task,
            world,
            seed=seed,
            owners=owners,
            experts=experts,
            episode_id=episode_id,
            created_at=created_at,
            attempt=attempt,
        )
        try:
            outcome = _play(RecordedEpisode(world, recorder, max_steps=max_steps), seated, seed, watch)
        except BaseException:
            with suppress(RecordingError):  # the first error is the one to tell; what is on disk stays either way
                archive.keep(recorder.finish("interrupted"))
            raise
        return archive.seal(recorder.finish(outcome))
    finally:
        world.close()


def check_seats(task: Task, given: Iterable[str]) -> None:
    """Check that agents fill a task's seats: `NotFoundError` for an unknown seat, `AgentError` for an empty seat."""
    given = set(given)
    for seat in sorted(given - set(task.seats)):
        raise unknown_name("seat", seat, task.seats, hint=f"Seats of {task.id}: {', '.join(task.seats)}")
    if empty := [seat for seat in task.seats if seat not in given]:
        raise AgentError(
            f"task {task.id} has the seats {', '.join(task.seats)}, and nobody sits in {', '.join(empty)}\n"
            f"Name an agent for each:  interplay play {task.id} {' '.join(f'--seat {seat}=random' for seat in task.seats)}"
        )


def _seated(agent: Agent | SimpleAgent | Asked, task: Task, rng: np.random.Generator) -> SeatedAgent | AskedSeat:
    kind = AskedSeat if isinstance(agent, Asked) else SeatedAgent
    return kind(agent, task, rng=rng)  # type: ignore[arg-type]


def _check_own_objects(agents: Iterable[tuple[str, Agent | SimpleAgent]]) -> None:
    """Refuse a simple agent in two seats, because its object has the state of only one game."""
    seat_of: dict[int, str] = {}
    for seat, agent in agents:
        other = seat_of.setdefault(id(agent), seat)
        if other != seat and not isinstance(agent, Agent):
            raise AgentError(
                f"agent {agent.name!r} sits in {other} and in {seat}, and plays one game at a time\n"
                "Build another one for each seat, or give it the full form, `begin` and `decide`."
            )


def _play(
    episode: RecordedEpisode, seated: Mapping[str, SeatedAgent | AskedSeat], seed: int, watch: Callable[[Frame], None]
) -> str:
    world = episode.env
    _, info = episode.start(seed)
    watch(world.view())
    for seat, each in seated.items():
        each.sit(world, seat, info)
    asked = {seat: each for seat, each in seated.items() if isinstance(each, AskedSeat)}
    while True:
        actions = {seat: each.act() for seat, each in seated.items()}
        owners = {seat: each.owner for seat, each in asked.items()}
        labels = {seat: each.label for seat, each in asked.items()}
        step = episode.step(actions, owners=owners or None, labels=labels)
        watch(world.view())
        if episode.outcome is not None:
            return episode.outcome
        for each in seated.values():
            each.see(step.info)
