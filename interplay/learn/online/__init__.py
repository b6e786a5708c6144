"""Learn by playing: play rounds of games, and learn from each round before the next.

`practise(archive, PPOConfig(task="overcooked/cramped_room", observation="state"), "cook")` plays and learns, and leaves a
policy that all of Interplay knows as the agent `cook`. `games` plays the seats of worlds in one process; `run` manages several
processes and the run of the algorithm. Metrics, checkpoints and resuming are in `learn.harness`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from interplay.envs.backends import check_playable
from interplay.jobs import Executor
from interplay.learn.config import ConfigError
from interplay.learn.reward.storage import RewardError
from interplay.learn.settings import PPOConfig
from interplay.learn.train import check_torch, claimed, draw_curves, model_folder, reward_of
from interplay.record import Archive
from interplay.tasks import find

if TYPE_CHECKING:
    from interplay.learn.harness.run import TrainingResult

__all__ = ["practise"]


def practise(
    archive: Archive,
    config: PPOConfig,
    name: str,
    *,
    resume: bool = False,
    executor: Executor = Executor(),
    on_update: Callable[[int, int], None] | None = None,
    on_metrics: Callable[[dict[str, Any]], None] | None = None,
) -> TrainingResult:
    """Learn a task by playing it; afterwards the policy is an agent called `name`. The games are not recorded.

    One network plays every seat and learns from the decisions of every seat. The seeds of the worlds depend on `config.seed`
    only; held-out seeds are never played.

    Raises:
        ConfigError: If the name cannot be used, a policy or (without `resume`) an unfinished run has that name, another process
            works on this run, the checkpoint is of another run, or only one of several seats is chosen.
        RewardError: If the reward is of another task, or uses other observations.
        EnvError: If the task cannot be played, or does not have the observations that are asked for.
        RunError: If one network cannot play all seats of the task, or the run cannot continue.
        MissingTorchError: If PyTorch is missing; the text has the command that installs it.
    """
    folder = model_folder(archive, name)
    with claimed(folder, name, resume=resume):
        task = find(config.task)
        check_playable(task)
        if config.seat is not None and (len(task.seats) > 1 or config.seat not in task.seats):
            raise ConfigError(
                f"{config.algorithm} plays every seat of a task ({', '.join(task.seats)}) with one network; leave out --seat"
            )
        check_torch()
        from interplay.learn.online.run import run

        reward = None if config.reward is None else reward_of(archive, config.reward, task, task.seats)
        if reward is not None and (looks := reward.description["observation"]) != config.observation:
            raise RewardError(
                f"reward {reward.name!r} sees games through {looks!r}, but this run through {config.observation!r}\n"
                f"Learn with the same pipeline:  --observation {looks}"
            )
        result = run(config, task, folder, reward, resume=resume, executor=executor, on_update=on_update, on_metrics=on_metrics)
        draw_curves(folder)
        archive.put_model(folder)
        return result
