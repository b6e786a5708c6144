"""Games that a learner plays in one process: all seats of all games decide together, round after round."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import gymnasium
import numpy as np

from interplay.agents.actions import action_at
from interplay.envs import NoNumbersError, Observer, make, pipeline, pipeline_names
from interplay.learn.config import RunError
from interplay.learn.transitions import require_discrete
from interplay.record import RecordedEpisode
from interplay.record.format.schema import seat_spaces
from interplay.tasks import Task

_WORLDS, _DRAWS = 7, 8
"""Purposes of random numbers: the seeds of worlds, the draws of actions."""


class GameError(RunError):
    """A world that failed, or a process that played: the run may continue from its last checkpoint."""


class Kind(NamedTuple):
    """Shape and type of an observation, and the space of actions, which all seats of a task share."""

    shape: tuple[int, ...]
    dtype: np.dtype
    space: gymnasium.spaces.Discrete


class Where(NamedTuple):
    """The place of a game: its episode's number, and the actions of all seats at each decision of it so far."""

    episode: int
    actions: list[list[int]]


class Acted(NamedTuple):
    """The result of one decision of all seats of a game, arrays of shape (seats,); rewards are sums until the next decision."""

    rewards: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    is_over: bool


@dataclass(frozen=True)
class Played:
    """A round: T decisions of S slots; a slot is a seat of a game, the seats of one game beside each other.

    Attributes:
        observations: uint8 or float32, shape (T + 1, S, ...): before each decision, and after the last. After the end of a game
            they are of the next one.
        actions: int64, shape (T, S), from 0.
        rewards: float32, shape (T, S): the sum until the next decision.
        terminated, truncated: bool, shape (T, S): how the decision ended the seat's game, if it did.
        is_playing: bool, shape (T, S): False for a seat that was done while others continued: nothing is learned from it.
        ends: int64, shape (E, 2): (decision, slot) wherever a game was over.
        final_observations: As `observations`, shape (E, ...): the last ones there.
        returns: Of the games that ended, in their order: the mean over the seats.
    """

    observations: np.ndarray
    actions: np.ndarray
    rewards: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    is_playing: np.ndarray
    ends: np.ndarray
    final_observations: np.ndarray
    returns: list[float]
    where: list[Where]

    def seen_next(self) -> np.ndarray:
        """Observations after each decision: shape (T, S, ...)."""
        seen = self.observations[1:].copy()
        seen[self.ends[:, 0], self.ends[:, 1]] = self.final_observations
        return seen

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The rounds of several processes as one."""
        first = parts[0]
        if len(parts) == 1:
            return first
        slots = np.cumsum([0] + [part.actions.shape[1] for part in parts[:-1]])
        beside = ("observations", "actions", "rewards", "terminated", "truncated", "is_playing")
        return replace(
            first,
            **{name: np.concatenate([getattr(part, name) for part in parts], axis=1) for name in beside},
            ends=np.concatenate([part.ends + np.array([0, slot]) for part, slot in zip(parts, slots, strict=True)]),
            final_observations=np.concatenate([part.final_observations for part in parts]),
            returns=[one for part in parts for one in part.returns],
            where=[one for part in parts for one in part.where],
        )


class Game:
    """One world with all its seats, from one decision to the next; `begin` or `go_on` comes first.

    Its episodes are functions of the seed, its number and the number of the episode; held-out seeds are left out. `seen` holds
    the observation of each seat now, `done` which seats are done.
    """

    def __init__(self, task: Task, observation: str, number: int, seed: int) -> None:
        self.seats = task.seats
        self._task, self._number, self._seed = task, number, seed
        self._world = make(task)
        self._observers = [Observer(observation, self._world, seat) for seat in task.seats]
        pipeline = self._observers[0].pipeline
        self._part = pipeline.parts[0]
        if pipeline.looks_at == "state":
            self._world.draws = False
        self.seen: list[np.ndarray] = []
        self.done = np.zeros(len(task.seats), bool)

    def spaces(self) -> dict[str, gymnasium.Space]:
        return seat_spaces(self._world)

    def where(self) -> Where:
        return Where(self._number_of_episode, list(self._actions))

    def begin(self, episode: int) -> None:
        """Begin an episode; `GameError` if the world fails."""
        self._number_of_episode = episode
        self._actions: list[list[int]] = []
        rng = np.random.default_rng((self._seed, _WORLDS, self._number, episode))
        self._world_seed = self._task.draw_seed(rng)
        self.done[:] = False
        self.earned = np.zeros(len(self.seats))
        self._episode = RecordedEpisode(self._world)
        try:
            _, info = self._episode.start(self._world_seed)
            self.seen = [observer.reset(info)[self._part] for observer in self._observers]
        except NoNumbersError as error:
            having = ", ".join(name for name in pipeline_names() if pipeline(name).looks_at == "view")
            raise RunError(f"{error}\nObservations of this task, for --observation:  {having}") from None
        except Exception as error:
            raise self._failed(error) from error

    def go_on(self, where: Where) -> None:
        """Go to where it was, by playing the same again; a world in which that leads elsewhere begins the next episode."""
        self.begin(where.episode)
        if self._world.deterministic:
            for actions in where.actions:
                if self.act(actions).is_over:
                    break
            else:
                return
        self.begin(where.episode + 1)

    def act(self, actions: Sequence[int]) -> Acted:
        """Play as all seats decided, until they decide again; `GameError` if the world fails."""
        self._actions.append([int(action) for action in actions])
        taken = zip(self.spaces().items(), self._actions[-1], strict=True)
        joint = {seat: int(action_at(space, index)) for (seat, space), index in taken}
        rewards = np.zeros(len(self.seats))
        try:
            while True:
                step = self._episode.step(joint)
                rewards += [step.rewards[seat] for seat in self.seats]
                is_over = self._episode.outcome is not None
                seen = [observer.push(step.info, ended=is_over) for observer in self._observers]
                if seen[0] is not None:
                    break
        except Exception as error:
            raise self._failed(error) from error
        self.seen = [one[self._part] for one in seen if one is not None]
        self.earned += rewards
        was_done = self.done.copy()
        terminated, truncated = np.array([step.end_of(seat) for seat in self.seats]).T
        self.done |= terminated | truncated
        return Acted(rewards, terminated & ~was_done, truncated & ~was_done, is_over)

    def close(self) -> None:
        self._world.close()

    def _failed(self, error: Exception) -> GameError:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return GameError(
            f"the world of {self._task.id} failed at decision {len(self._actions)} of an episode with seed {self._world_seed}: "
            f"{type(error).__name__}: {error}\nIt happened in {where.filename}, line {where.lineno}."
        )


class Games:
    """Some games of a run, played together."""

    def __init__(self, task: Task, observation: str, numbers: Sequence[int], seed: int, horizon: int, kind: Kind) -> None:
        self._numbers, self._seed, self._horizon, self._kind = numbers, seed, horizon, kind
        self._games = [Game(task, observation, number, seed) for number in numbers]
        for game in self._games:
            game.begin(0)
        self._num_seats = len(task.seats)

    def go_on(self, where: Sequence[Where]) -> None:
        for game, one in zip(self._games, where, strict=True):
            game.go_on(one)

    def play(self, outputs: Callable[[np.ndarray], np.ndarray], number: int) -> Played:
        """Play a round; `GameError` if a world fails.

        Args:
            outputs: Observations, shape (S, ...) -> logits of the actions, float32, shape (S, actions).
            number: Of the round, from 0; its draws are functions of it.
        """
        horizon, seats, games = self._horizon, self._num_seats, self._games
        num_slots = seats * len(games)
        observations = np.empty((horizon + 1, num_slots, *self._kind.shape), self._kind.dtype)
        actions = np.empty((horizon, num_slots), np.int64)
        rewards = np.zeros((horizon, num_slots), np.float32)
        terminated, truncated = (np.zeros((horizon, num_slots), bool) for _ in range(2))
        is_playing = np.empty((horizon, num_slots), bool)
        ends, final, returns = [], [], []
        # Drawing by Gumbel noise (argmax of logits + noise) needs no normalisation; each game has noise of its own.
        size = (horizon, seats, int(self._kind.space.n))
        noise = np.concatenate(
            [np.random.default_rng((self._seed, _DRAWS, number, one)).gumbel(size=size) for one in self._numbers], axis=1
        )
        for decision in range(horizon + 1):
            for index, game in enumerate(games):
                observations[decision, index * seats : (index + 1) * seats] = game.seen
            if decision == horizon:
                break
            actions[decision] = (outputs(observations[decision]) + noise[decision]).argmax(1)
            for index, game in enumerate(games):
                slots = slice(index * seats, (index + 1) * seats)
                is_playing[decision, slots] = ~game.done
                acted = game.act(actions[decision, slots].tolist())
                rewards[decision, slots] = acted.rewards
                terminated[decision, slots], truncated[decision, slots] = acted.terminated, acted.truncated
                if acted.is_over:
                    ends += [(decision, index * seats + seat) for seat in range(seats)]
                    final += game.seen
                    returns.append(float(game.earned.mean()))
                    game.begin(game.where().episode + 1)
        return Played(
            observations,
            actions,
            rewards,
            terminated,
            truncated,
            is_playing,
            np.array(ends, np.int64).reshape(-1, 2),
            np.array(final, self._kind.dtype).reshape(-1, *self._kind.shape),
            returns,
            [game.where() for game in games],
        )

    def close(self) -> None:
        for game in self._games:
            game.close()


def kind_of(task: Task, observation: str) -> Kind:
    """The common observations and actions of a task's seats; else `TransitionError` or `RunError`."""
    game = Game(task, observation, 0, 0)
    try:
        spaces = game.spaces()
        for seat, space in spaces.items():
            require_discrete(space, task, "ppo")
            if space != spaces[task.seats[0]]:
                raise RunError(
                    f"the seats of task {task.id} have other actions than each other, and one network plays them all: "
                    f"{task.seats[0]} has {spaces[task.seats[0]]}, {seat} has {space}"
                )
        game.begin(0)
        shapes = {seat: seen.shape for seat, seen in zip(task.seats, game.seen, strict=True)}
        if len(set(shapes.values())) > 1:
            raise RunError(
                f"the seats of task {task.id} see observations of different shapes, and one network plays them all: "
                + ", ".join(f"{seat} {shape}" for seat, shape in shapes.items())
            )
        first = spaces[task.seats[0]]
        assert isinstance(first, gymnasium.spaces.Discrete)
        return Kind(game.seen[0].shape, game.seen[0].dtype, first)
    finally:
        game.close()
