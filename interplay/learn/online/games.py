"""Games that a learner plays in one process: one call of the network decides for all seats of all games."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import gymnasium
import numpy as np
import safetensors.numpy

from interplay.agents.actions import action_at
from interplay.envs import NoNumbersError, Observer, make, pipeline, pipeline_names
from interplay.learn.config import RunError
from interplay.learn.transitions import require_discrete
from interplay.record import RecordedEpisode
from interplay.record.format.schema import seat_spaces
from interplay.tasks import Task

_WORLDS, _DRAWS = 7, 8
"""Parts of the seeds of two generators: one draws the worlds' seeds, the other draws actions."""


class GameError(RunError):
    """A world or a playing process failed; the run can continue from its last checkpoint."""


class Kind(NamedTuple):
    """Shape and type of the observations and the space of the actions, the same for all seats of a task."""

    shape: tuple[int, ...]
    dtype: np.dtype
    space: gymnasium.spaces.Discrete


class Where(NamedTuple):
    """The progress of a game: the number of its episode, and the actions of all seats at each decision so far."""

    episode: int
    actions: list[list[int]]


class Acted(NamedTuple):
    """The result of one decision of all seats.

    Attributes:
        rewards: float64, shape (seats,): sums until the next decision.
        terminated, truncated: bool, shape (seats,): whether the decision ended the seat's game, by the world or by a limit.
    """

    rewards: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    is_over: bool


@dataclass(frozen=True)
class Played:
    """A round: T decisions of S slots. A slot is one seat of one game; seats of the same game are neighbours.

    Attributes:
        observations: uint8 or float32, shape (T + 1, S, ...): before each decision, and after the last one. After the end of a
            game, the observation is the first one of the next game.
        actions: int64, shape (T, S), from 0.
        rewards: float32, shape (T, S): the sum until the next decision.
        terminated, truncated: bool, shape (T, S): whether the decision ended the seat's game, by the world or by a limit.
        is_playing: bool, shape (T, S): False for a seat whose game is over while other seats play; nothing is learned from it.
        ends: int64, shape (E, 2): (decision, slot) of each end of a game.
        final_observations: As `observations`, shape (E, ...): the last observation before each of `ends`.
        returns: Return of each game that ended: the mean over the game's seats.
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

    def to_bytes(self) -> bytes:
        """Return the round as a safetensors file; `returns` and `where` are JSON in its metadata."""
        arrays = {name: np.ascontiguousarray(value) for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        return safetensors.numpy.save(arrays, {"rest": json.dumps([self.returns, self.where])})

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        returns, where = json.loads(header["__metadata__"]["rest"])
        return cls(**safetensors.numpy.load(data), returns=returns, where=[Where(*one) for one in where])

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Join the rounds of several processes into one."""
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
    """One world with all its seats, played decision by decision; call `begin` or `go_on` first.

    The seed of an episode depends only on the run's seed, the game's number and the episode's number; held-out seeds are left
    out. `seen` holds the present observation of each seat; `done` says which seats have finished.
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
        """Begin the episode with this number; `GameError` if the world fails."""
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
        """Restore the progress of a game by replaying its actions; if the replay ends differently, begin the next episode."""
        self.begin(where.episode)
        if self._world.deterministic:
            for actions in where.actions:
                if self.act(actions).is_over:
                    break
            else:
                return
        self.begin(where.episode + 1)

    def act(self, actions: Sequence[int]) -> Acted:
        """Play one decision of all seats, until the next decision; `GameError` if the world fails."""
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
    """Several games of a run, played together."""

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
            outputs: Maps observations, shape (S, ...), to logits of the actions, float32, shape (S, actions).
            number: Number of the round, from 0; it decides the random draws of the round.
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
    """Observations and actions of all seats; `TransitionError` if actions are not discrete, `RunError` if seats differ."""
    game = Game(task, observation, 0, 0)
    try:
        spaces = game.spaces()
        for seat, space in spaces.items():
            require_discrete(space, task, "ppo")
            if space != spaces[task.seats[0]]:
                raise RunError(
                    f"the seats of task {task.id} have different actions, but one network plays them all: "
                    f"{task.seats[0]} has {spaces[task.seats[0]]}, {seat} has {space}"
                )
        game.begin(0)
        shapes = {seat: seen.shape for seat, seen in zip(task.seats, game.seen, strict=True)}
        if len(set(shapes.values())) > 1:
            raise RunError(
                f"the seats of task {task.id} see observations of different shapes, but one network plays them all: "
                + ", ".join(f"{seat} {shape}" for seat, shape in shapes.items())
            )
        first = spaces[task.seats[0]]
        assert isinstance(first, gymnasium.spaces.Discrete)
        return Kind(game.seen[0].shape, game.seen[0].dtype, first)
    finally:
        game.close()
