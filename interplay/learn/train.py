"""Train a policy on episodes chosen from the catalogue, and write it to the archive's `models/`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import gymnasium

from interplay.agents.first_person import CHOICES, CODING, is_composed
from interplay.agents.policy import action_space_of
from interplay.errors import InterplayError, NotFoundError, not_installed
from interplay.files import alone
from interplay.learn.config import CHECKPOINT, ConfigError, RunConfig, RunError, TrainingConfig, check_name
from interplay.learn.reading import FOLDER, in_order, load
from interplay.learn.reward.storage import KeptReward, RewardError, load_reward, relabelled
from interplay.learn.settings import CloneConfig
from interplay.learn.transitions import NOT_LEARNED, TransitionError, Transitions, require_discrete
from interplay.record import Archive, Episode
from interplay.store.episodes import ACTOR_KINDS
from interplay.tasks import Task, find

if TYPE_CHECKING:
    from interplay.learn.harness.run import TrainingResult


RESERVED = (*ACTOR_KINDS, "any")
"""Words that `--actor` does not read as names; so no policy can have one of these names."""


class MissingTorchError(InterplayError):
    """Packages that training needs are not installed."""


def train(
    archive: Archive,
    config: TrainingConfig,
    name: str,
    *,
    resume: bool = False,
    episodes: list[Episode] | None = None,
    expert: str | None = None,
    notes: Mapping[str, Any] = MappingProxyType({}),
    on_episode: Callable[[int, int], None] | None = None,
    on_update: Callable[[int, int], None] | None = None,
    on_metrics: Callable[[dict[str, Any]], None] | None = None,
) -> TrainingResult:
    """Learn from some of the archive's episodes; afterwards the policy is an agent called `name`.

    Episodes on the task's held-out seeds are never used, because agents are compared on these seeds.

    Args:
        config: Chooses the episodes and how to learn from them; its class says which algorithm.
        episodes: Training episodes in place of those that `config` chooses.
        expert: Learn only the actions and labels of this agent.
        notes: Additional entries of `model.json`; JSON values.
    Raises:
        TransitionError: If no episode fits; the text says how to record some.
        ConfigError: If the name cannot be used, a policy or (without `resume`) an unfinished run has that name, another process
            works on this run, or the checkpoint is of another run.
        RunError: If the run cannot continue: the loss is not a number, the disk is full, or the device has no memory left.
    """
    folder = model_folder(archive, name)
    with claimed(folder, name, resume=resume):
        task, space = _task_of(archive, config)
        check_torch()
        from interplay.learn.algorithms import LEARNERS
        from interplay.learn.harness.run import Watch, run

        reward = None if config.reward is None else reward_of(archive, config.reward, task, [config.seat or task.seats[0]])
        space = _chosen_from(config, task, space)
        episodes = matching_episodes(archive, config, task) if episodes is None else episodes
        if config.is_composed:
            notes = {**notes, "coding": CODING}
        if isinstance(config, CloneConfig) and config.embeddings is not None:
            from interplay.learn.latents import load_embedded, network_of

            embeddings = Path(config.embeddings)
            notes = {**notes, "embedding": network_of(embeddings)}
            data = load_embedded(episodes, embeddings, seat=config.seat, actor=config.actor)
        else:
            data = load(
                episodes,
                observation=config.observation,
                offsets=config.offsets,
                seat=config.seat,
                actor=config.actor if expert is None else None,
                composed=config.is_composed,
                cache=archive.root / FOLDER,
                on_episode=None if on_episode is None else lambda done: on_episode(done, len(episodes)),
            )
        data = data if expert is None else data.labelled(expert)
        if reward is not None:
            data = _rewarded(archive, config, episodes, data, reward)
            notes = {**notes, "reward": reward.origin()}
        watch = Watch(on_update, on_metrics)
        result = run(LEARNERS[config.algorithm], data, config, task, space, folder, resume=resume, watch=watch, notes=notes)
        draw_curves(folder)
        archive.put_model(folder)
        return result


def draw_curves(folder: Path) -> None:
    """Draw a run's learning curves; `RunError` if the picture cannot be written (the policy is then complete)."""
    from interplay.learn.plots import save_curves

    try:
        save_curves(folder)
    except OSError as error:
        raise RunError(f"the policy is in {folder}, but its curves.svg cannot be written: {error.strerror}") from error


def _task_of(archive: Archive, config: TrainingConfig) -> tuple[Task, gymnasium.Space[Any]]:
    """The task of a run and its seat's action space. If no suite has the task, as with published recordings, both are taken
    from an episode, so that its world need not be installed."""
    try:
        task = find(config.task)
    except NotFoundError:
        recorded = archive.episodes(task=config.task, newest_first=True, limit=1)
        if not recorded:
            raise
        check_seat(config, recorded[0].task)
        return recorded[0].task, recorded[0].header.action_spaces[config.seat or recorded[0].task.seats[0]]
    return task, action_space_of(task, config.seat)


def _chosen_from(config: TrainingConfig, task: Task, space: gymnasium.Space[Any]) -> gymnasium.Space[Any]:
    """The action space of the network; `TransitionError` if the algorithm cannot learn the seat's actions."""
    if not config.is_composed:
        return require_discrete(space, task, config.algorithm)
    if not is_composed(space):
        bc = f"Clone one whole number per step instead:  interplay learn bc --task {task.id} --out NAME"
        raise TransitionError(
            f"task {task.id} has actions in {space}; {config.algorithm} needs keys and a camera, as the block world has them\n"
            + (bc if isinstance(space, gymnasium.spaces.Discrete) else NOT_LEARNED)
        )
    return CHOICES


def reward_of(archive: Archive, name: str, task: Task, seats: Sequence[str]) -> KeptReward:
    """Load the learned reward for a run that learns these seats.

    Raises:
        NotFoundError, RewardError: If there is no such reward model, or it is of another task or seat.
    """
    reward = load_reward(archive, name)
    for what, values in {"task": [task.id], "seat": seats}.items():
        if reward.description[what] not in values:
            raise RewardError(
                f"reward {name!r} is of {what} {reward.description[what]}, but this run is of {' and '.join(values)}"
            )
    return reward


def _rewarded(
    archive: Archive, config: TrainingConfig, episodes: list[Episode], data: Transitions, reward: KeptReward
) -> Transitions:
    seen = data
    if reward.description["observation"] != config.observation:
        seen = load(
            episodes,
            observation=reward.description["observation"],
            offsets=config.offsets,
            seat=config.seat,
            actor=config.actor,
            cache=archive.root / FOLDER,
        )
    return relabelled(data, seen, reward)


def matching_episodes(archive: Archive, config: TrainingConfig, task: Task) -> list[Episode]:
    """The episodes that a run learns from, without held-out seeds, in the order of `in_order`.

    Raises:
        TransitionError: If there are no such episodes (the text says which exist and how to record some), or if the task has
            several seats and none of them is chosen.
    """
    check_seat(config, task)
    found = archive.episodes(task=task.id, actor=config.actor, where=list(config.where))
    usable = [episode for episode in found if episode.seed not in task.held_out_seeds and episode.num_steps > 0]
    if usable:
        return in_order(usable)
    asked = f"task {task.id}"
    if config.actor is not None:
        asked += f", actor {config.actor}"
    if config.where:
        asked += ", " + ", ".join(config.where)
    actors = sorted({episode.actor for episode in archive.episodes(task=task.id)})
    there = (
        f"Recorded so far by: {', '.join(actors)}; choose one with --actor NAME, or everyone's with --actor any."
        if actors
        else "Nothing is recorded of this task yet."
    )
    if found:
        there = (
            f"{len(found)} fit, but have no steps, or are on the task's held-out seeds, which are kept for comparing agents."
        )
    raise TransitionError(
        f"no episodes to learn from: {asked}\n{there}\n"
        f"To record a person:  interplay serve --data {archive.root}\n"
        f"To record a scripted player:  interplay play {task.id} --agent scripted --seeds 1,2,3,4,5,6,7,8 --data {archive.root}"
    )


def check_seat(config: RunConfig, task: Task) -> None:
    """Raise `TransitionError` if the task does not have the seat, or has several seats and no seat is chosen."""
    if len(task.seats) > 1 and config.seat is None:
        raise TransitionError(
            f"task {task.id} has {len(task.seats)} seats; say whose seat to learn, with --seat {' or --seat '.join(task.seats)}"
        )
    if config.seat is not None and config.seat not in task.seats:
        raise TransitionError(f"task {task.id} has no seat {config.seat!r}; its seats are {', '.join(task.seats)}")


def model_folder(archive: Archive, name: str) -> Path:
    """The folder of a policy of this name; `ConfigError` if the name cannot be a folder or belongs to another agent."""
    from interplay.agents.find import BUILTIN

    check_name(name, "policy")
    if name in BUILTIN:
        raise ConfigError(f"{name!r} is a built-in agent; choose another name for the policy")
    if name in RESERVED:
        raise ConfigError(f"{name!r} is a word of --actor that chooses episodes; choose another name for the policy")
    return archive.blobs.fetch(f"models/{name}")


def check_torch() -> None:
    """Check that PyTorch is installed, and set how its threads wait; call it before PyTorch is imported.

    Raises:
        MissingTorchError: If PyTorch is missing; the text has the command that installs it.
    """
    # PyTorch's threads wait for each other by spinning, which on cores that other processes want made training ten times
    # slower; read by OpenMP when PyTorch is first imported, hence here.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        import safetensors  # noqa: F401
        import torch  # noqa: F401
    except ModuleNotFoundError as error:
        raise MissingTorchError(not_installed("training needs", error.name, "train")) from None


@contextmanager
def claimed(folder: Path, name: str, *, resume: bool, what: str = "policy", last: str = "model.json") -> Iterator[None]:
    """Lock a run's folder for this process while the block runs; an empty folder is removed again.

    Raises:
        ConfigError: If there is a policy or an unfinished run of that name, a resumed run has ended, or another process works
            on this run.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(
            f"{folder} cannot be made: {error.strerror}\nChoose another data folder (--data), or make it writable."
        ) from error
    lock = folder / ".lock"
    busy = f"another process works on the run {name!r} in {folder}\nWait until it ends, or choose another name."
    with alone(lock, otherwise=ConfigError(busy)):
        try:
            _check_run(folder, name, resume=resume, what=what, last=last)
            yield
        finally:
            lock.unlink(missing_ok=True)
            if not any(folder.iterdir()):
                folder.rmdir()


def _check_run(folder: Path, name: str, *, resume: bool, what: str, last: str) -> None:
    finished, begun = (folder / last).exists(), (folder / "config.json").exists()
    if resume and finished and not (folder / CHECKPOINT).exists():
        raise ConfigError(f"the run in {folder} has ended; there is nothing to resume")
    if not resume and finished:
        raise ConfigError(f"there is a {what} {name!r} in {folder} already\nChoose another name, or delete that folder first.")
    if not resume and begun:
        raise ConfigError(
            f"there is an unfinished run {name!r} in {folder}\n"
            "Resume it (--resume), choose another name, or delete that folder first."
        )
