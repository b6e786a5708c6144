"""One run that plays and learns. This process plays a share of the games; worker processes play the others."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.torch
import torch
from torch import nn

from interplay.agents import networks
from interplay.jobs import Executor, LostError
from interplay.learn.algorithms.ppo import PPO
from interplay.learn.config import RunError
from interplay.learn.harness.learner import Acting, Given, device_of, threads
from interplay.learn.harness.run import TrainingResult, Watch, command_of, explained, finish, keep_settings, loop
from interplay.learn.online.games import GameError, Games, Kind, Played, Where, kind_of
from interplay.learn.reward.storage import KeptReward
from interplay.learn.settings import PPOConfig
from interplay.tasks import Task

MOST_RETURNS = 100
"""Number of latest games whose mean return is shown."""


class Players:
    """The source of a run's rounds: games that continue from round to round, and their results.

    A learned `reward` replaces the game's reward; each seat earns the learned reward of its own observations. The number of
    workers changes a round only by rounding, because the network then computes for fewer games at once.
    """

    def __init__(
        self,
        config: PPOConfig,
        task: Task,
        kind: Kind,
        acting: Acting,
        reward: KeptReward | None,
        executor: Executor = Executor(),
    ) -> None:
        self._acting, self._reward = acting, reward
        self._device = next(acting.network.parameters()).device
        self._num_decisions_each = config.games * config.horizon * len(task.seats)
        self._num_rounds = self._num_finished = 0
        self._returns: deque[float] = deque(maxlen=MOST_RETURNS)
        self._where: list[Where] = []
        ours, *theirs = (part.tolist() for part in np.array_split(np.arange(config.games), config.workers))
        self._shares = [len(ours), *map(len, theirs)]
        self._workers = executor.workers(len(theirs))
        arguments = (config.observation, config.seed, config.horizon)
        begun = self._ask(begin, [(task.to_json(), part, *arguments, acting.architecture) for part in theirs])
        self._games = Games(task, config.observation, ours, config.seed, config.horizon, kind)
        _answers(begun)

    def play(self, number: int) -> Played:
        """Play a round; `GameError` if a world fails or a worker process ends."""
        network = self._acting.network
        playing: list[Callable[[], bytes]] = []
        if self._workers:
            state = {name: value.detach().cpu().contiguous() for name, value in network.state_dict().items()}
            playing = self._ask(play, [(safetensors.torch.save(state), number)] * len(self._workers))
        ours = self._games.play(lambda seen: outputs(network, seen, self._device), number)
        played = Played.joined([ours, *map(Played.from_bytes, _answers(playing))])
        self._num_rounds = number + 1
        self._num_finished += len(played.returns)
        self._returns.extend(played.returns)
        self._where = played.where
        if self._reward is None:
            return played
        seen = played.seen_next()
        rewards = self._reward.of_seen(seen.reshape(-1, *seen.shape[2:])).reshape(seen.shape[:2])
        return replace(played, rewards=rewards.astype(np.float32))

    def facts(self) -> dict[str, Any]:
        """Numbers of decisions and finished games so far, and the mean return of the last games by the game's own rewards."""
        facts: dict[str, Any] = {"decisions": self._num_rounds * self._num_decisions_each, "games": self._num_finished}
        return facts | ({"return": float(np.mean(self._returns))} if self._returns else {})

    def state(self) -> dict[str, Any]:
        """The progress of each game, stored as its actions, and the results of the finished games."""
        return {
            "rounds": self._num_rounds,
            "finished": self._num_finished,
            "returns": list(self._returns),
            "where": [list(one) for one in self._where],
        }

    def restore(self, state: dict[str, Any]) -> None:
        self._num_rounds, self._num_finished = state["rounds"], state["finished"]
        self._returns.extend(state["returns"])
        self._where = [Where(*one) for one in state["where"]]
        ends = np.cumsum(self._shares)
        ours, *theirs = (self._where[end - share : end] for end, share in zip(ends, self._shares, strict=True))
        going_on = self._ask(go_on, [(part,) for part in theirs])
        self._games.go_on(ours)
        _answers(going_on)

    def _ask(self, act: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Callable[[], Any]]:
        return [worker.ask(act, *one) for worker, one in zip(self._workers, arguments, strict=True)]

    def close(self) -> None:
        self._games.close()
        for worker in self._workers:
            worker.stop()


def _answers(waiting: list[Callable[[], Any]]) -> list[Any]:
    try:
        return [answer() for answer in waiting]
    except LostError:
        raise GameError("a process in which games were played ended without a message, perhaps for lack of memory") from None


@torch.inference_mode()
def outputs(network: nn.Module, seen: np.ndarray, device: torch.device) -> np.ndarray:
    """A network's outputs for observations: float32, shape (S, outputs)."""
    return network(torch.from_numpy(seen).to(device)).cpu().numpy()


# In a worker

_own: list[Any] = []
"""The games and the network of this worker process."""


def begin(
    task: dict[str, Any],
    numbers: list[int],
    observation: str,
    seed: int,
    horizon: int,
    architecture: dict[str, Any],
) -> None:
    """Make the games of these numbers, of a task (its JSON), and the network of this architecture."""
    played = Task.from_json(task)
    kind = kind_of(played, observation)
    network = networks.build(architecture).requires_grad_(False).to(memory_format=torch.channels_last)
    _own[:] = [Games(played, observation, numbers, seed, horizon, kind), network]


def play(weights: bytes, number: int) -> bytes:
    """Play a round with a network of these weights (safetensors); return it as `Played.to_bytes` does."""
    games, network = _own
    network.load_state_dict(safetensors.torch.load(weights))
    return games.play(lambda seen: outputs(network, seen, torch.device("cpu")), number).to_bytes()


def go_on(where: list[Where]) -> None:
    _own[0].go_on(where)


# The run


def run(
    config: PPOConfig,
    task: Task,
    folder: Path,
    reward: KeptReward | None,
    *,
    resume: bool = False,
    executor: Executor = Executor(),
    on_update: Callable[[int, int], None] | None = None,
    on_metrics: Callable[[dict[str, Any]], None] | None = None,
) -> TrainingResult:
    """Play and learn, and write the policy to a folder; raises the same errors as `practise`."""
    kind = kind_of(task, config.observation)
    if reward is not None:
        reward.require_shape(kind.shape)
    device = device_of(config.device)
    folder.mkdir(parents=True, exist_ok=True)
    with threads(config.threads), explained(folder, config), _resumable(folder, config):
        keep_settings(folder, config)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            learner = PPO(config, Given(kind.shape, int(kind.space.n), np.empty(0, np.int64), device))
        notes = {} if reward is None else {"reward": reward.origin()}
        size = config.games * config.horizon * len(task.seats)
        tell = None if on_update is None else lambda done, total: on_update(done * size, total * size)
        with closing(Players(config, task, kind, learner.acting, reward, executor)) as players:
            looped = loop(
                learner,
                players.play,
                config,
                folder,
                {**config.fixed(), "task_hash": task.content_hash, **notes},
                updates=config.rounds(len(task.seats)),
                resume=resume,
                watch=Watch(tell, on_metrics),
                source=players,
            )
            facts = players.facts()
        final = looped.final | facts
        details = {"temperature": config.temperature, "seats": list(task.seats), **notes}
        finish(folder, looped.metrics, final, learner.acting, config, task, kind.space, details)
        return TrainingResult(folder, looped.update, looped.seconds, final, facts["decisions"], facts["games"])


@contextmanager
def _resumable(folder: Path, config: PPOConfig) -> Iterator[None]:
    try:
        yield
    except GameError as error:
        again = command_of(folder, config)
        raise RunError(
            f"{error}\nContinue from the last checkpoint:  {again} --out {folder.name} --resume\n"
            f"If it fails there again, play other games:  {again} --seed {config.seed + 1} --out NAME"
        ) from error
