"""One run that plays and learns, from the first round to a policy in a folder, through kills and full disks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from interplay.learn.algorithms.ppo import PPO
from interplay.learn.config import RunError
from interplay.learn.harness.devices import device_of, threads
from interplay.learn.harness.learner import Given
from interplay.learn.harness.run import TrainingResult, Watch, explained, finish, keep_settings, loop
from interplay.learn.online.games import GameError, kind_of
from interplay.learn.online.players import Players
from interplay.learn.reward.storage import KeptReward
from interplay.learn.settings import PPOConfig
from interplay.tasks import Task


def run(
    config: PPOConfig,
    task: Task,
    folder: Path,
    reward: KeptReward | None,
    *,
    resume: bool = False,
    on_update: Callable[[int, int], None] | None = None,
    on_metrics: Callable[[dict[str, Any]], None] | None = None,
) -> TrainingResult:
    """Play and learn, and write the policy to a folder.

    Raises:
        ConfigError: If CUDA is asked for and missing, or a checkpoint belongs to another run.
        RewardError: If the reward has learned from other observations.
        RunError: If one network cannot play all seats with discrete actions; or if the run cannot continue: a world that fails,
            a loss that is no number, a full disk, no memory left on the device.
    """
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
        acting = learner.acting()
        notes = {} if reward is None else {"reward": reward.origin()}
        size = config.games * config.horizon * len(task.seats)
        tell = None if on_update is None else lambda done, total: on_update(done * size, total * size)
        with closing(Players(config, task, kind, acting, reward)) as players:
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
        finish(folder, looped.metrics, final, acting, config, task, kind.space, details)
        return TrainingResult(folder, looped.update, looped.seconds, final, facts["decisions"], facts["games"])


@contextmanager
def _resumable(folder: Path, config: PPOConfig) -> Iterator[None]:
    try:
        yield
    except GameError as error:
        again = f"interplay learn {config.algorithm} --config {folder / 'config.json'} --data {folder.parent.parent}"
        raise RunError(
            f"{error}\nContinue from the last checkpoint:  {again} --out {folder.name} --resume\n"
            f"If it fails there again, play other games:  {again} --seed {config.seed + 1} --out NAME"
        ) from error
