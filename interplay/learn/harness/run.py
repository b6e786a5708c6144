"""One training run: learn from transitions and write a policy to a folder; survive kills and full disks."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import gymnasium
import numpy as np
import safetensors
import torch

from interplay.agents.actions import action_at, num_outputs
from interplay.agents.policy import save_policy
from interplay.files import is_disk_full, json_text, write_bytes, write_json
from interplay.learn.config import CHECKPOINT, RunConfig, RunError, TrainingConfig
from interplay.learn.harness import checkpoint
from interplay.learn.harness.learner import Acting, Batch, Batches, Given, Learner, Trained, device_of, mixed, threads
from interplay.learn.transitions import TransitionError, Transitions
from interplay.tasks import Task


class Means:
    """Means of the updates' measures since the last line of metrics. Sums stay on the device, because reading one is slow."""

    def __init__(self, sums: Mapping[str, float] | None = None, count: int = 0) -> None:
        self._sums: dict[str, Any] = dict(sums or {})
        self.count = count

    def add(self, measured: Mapping[str, torch.Tensor]) -> None:
        for name, value in measured.items():
            self._sums[name] = self._sums.get(name, 0.0) + value.detach().double()
        self.count += 1

    def sums(self) -> dict[str, float]:
        return {name: float(value) for name, value in self._sums.items()}

    def wrong(self) -> tuple[str, float] | None:
        """Name and sum of the first measure that is not a finite number; None if all are finite."""
        return next(((name, value) for name, value in self.sums().items() if not math.isfinite(value)), None)

    def line(self) -> dict[str, float]:
        return {name: value / self.count for name, value in self.sums().items()}


class Metrics:
    """The file `metrics.jsonl`. Lines written after the last checkpoint by a killed process are dropped and written again."""

    def __init__(self, path: Path, *, keep_until: int) -> None:
        self.last: dict[str, Any] = {}
        kept: list[str] = []
        if keep_until and path.exists():
            for text in path.read_text(encoding="utf-8").splitlines():
                try:
                    line = json.loads(text)
                except ValueError:  # torn by the kill
                    break
                if line["update"] <= keep_until and not line.get("final"):
                    kept.append(text + "\n")
                    self.last = line
        write_bytes(path, "".join(kept).encode())
        self._file = path.open("a", encoding="utf-8")

    def write(self, line: dict[str, Any]) -> None:
        self.last = line
        self._file.write(json_text(line) + "\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()


MEASURE_BATCH = 256
SCHEDULES: dict[str, Callable[[float], float]] = {
    "constant": lambda done: 1.0,
    "cosine": lambda done: 0.5 * (1 + math.cos(math.pi * done)),
    "linear": lambda done: 1 - done,
}
"""Name of a schedule -> function from the completed share of the run to a factor of the learning rate."""


@dataclass(frozen=True)
class TrainingResult:
    """The result of a run; `updates` and `seconds` (without loading) also count what was done before a resume.

    `metrics` is the last line of `metrics.jsonl`. `num_decisions` counts training and held-out decisions, and `num_episodes`
    their episodes. A run that plays counts only finished episodes.
    """

    folder: Path
    updates: int
    seconds: float
    metrics: dict[str, Any]
    num_decisions: int
    num_episodes: int


@dataclass(frozen=True)
class Watch:
    """Callbacks of a run, and its clock."""

    on_update: Callable[[int, int], None] | None = None
    on_metrics: Callable[[dict[str, Any]], None] | None = None
    clock: Callable[[], float] = time.monotonic


def run(
    learner_class: type[Learner],
    data: Transitions,
    config: TrainingConfig,
    task: Task,
    space: gymnasium.Space[Any],
    folder: Path,
    *,
    resume: bool = False,
    watch: Watch | None = None,
    notes: Mapping[str, Any] = MappingProxyType({}),
) -> TrainingResult:
    """Train a policy on transitions and write it to a folder.

    Args:
        resume: Continue from the folder's checkpoint, if there is one.
        notes: Additional entries of `model.json`, such as the reward model that was used; JSON values.
    Raises:
        ConfigError: If CUDA is asked for and missing, or a checkpoint belongs to another run.
        TransitionError: If there is nothing to learn, for example no rewards where the algorithm needs rewards.
        RunError: If the run cannot continue: the loss is not a number, the disk is full, or the device has no memory left.
    """
    if learner_class.needs_rewards and not np.any(data.rewards):
        raise TransitionError(
            f"{config.algorithm} learns from rewards, and none of the {len(data.counts)} episodes has one other than 0\n"
            f"Clone what the players did instead:  interplay learn bc --task {task.id} --out NAME"
        )
    device = device_of(config.device)
    folder.mkdir(parents=True, exist_ok=True)
    with threads(config.threads), explained(folder, config):
        keep_settings(folder, config)
        # The data, and a learner with its first weights.
        training, validation = data.split(config.validation, rng=np.random.default_rng((config.seed, 1)))
        training = learner_class.choose(data, training, config)
        batches = Batches(len(training), config.batch_size, config.seed)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            given = Given(
                data.observation_shape,
                num_outputs(space),
                np.asarray(data.actions[training]),
                device,
                data.until_takeover[training],
            )
            learner = learner_class(config, given)

        def batch_of(update: int) -> Batch:
            return Batch.of(data, training[batches[update]], device, with_next=learner.looks_ahead)

        episodes = [count.episode for count in data.counts]
        fingerprint = {**config.fixed(), "decisions": len(data), "episodes": episodes, **notes}
        looped = loop(
            learner, batch_of, config, folder, fingerprint, updates=config.updates, resume=resume, watch=watch or Watch()
        )
        final = looped.final | {
            f"validation_{name}": value for name, value in _measured(learner, data, validation, device).items()
        }
        demonstrations = {
            "decisions": len(data),
            "validation_decisions": len(validation),
            "episodes": [count._asdict() for count in data.counts],
            "actions": {
                str(index if isinstance(index, tuple) else action_at(space, index)): count
                for index, count in data.action_counts().items()
            },
        }
        details = {
            "temperature": config.temperature,
            "seat": config.seat or task.seats[0],
            "demonstrations": demonstrations,
            **notes,
        }
        finish(folder, looped.metrics, final, learner.acting, config, task, space, details)
        return TrainingResult(folder, looped.update, looped.seconds, final, len(data), len(data.counts))


def keep_settings(folder: Path, config: RunConfig) -> None:
    if not (folder / CHECKPOINT).exists():
        write_json(folder / "config.json", config.to_json(), indent=2)


class Source(Protocol):
    """A source of batches that do not depend on the seed alone, such as games that continue from batch to batch."""

    def facts(self) -> dict[str, Any]:
        """Return additional entries for the next line of metrics: JSON values."""
        ...

    def state(self) -> dict[str, Any]:
        """Return the source's part of a checkpoint: JSON values."""
        ...

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from this state of a checkpoint."""
        ...


@dataclass(frozen=True)
class Looped:
    """The result of the loop: number of updates, seconds, the open file of metrics, and the first entries of its last line."""

    update: int
    seconds: float
    metrics: Metrics
    final: dict[str, Any]


def loop(
    learner: Trained,
    batch_of: Callable[[int], Any],
    config: RunConfig,
    folder: Path,
    fingerprint: dict[str, Any],
    *,
    updates: int,
    resume: bool,
    watch: Watch,
    source: Source | None = None,
) -> Looped:
    """Update a learner until the run ends, with metrics and checkpoints; the caller saves the result and deletes a checkpoint.

    `batch_of(number)` returns the batch of an update, made from the seed or from `source`, whose state is in the checkpoint.
    A checkpoint is continued only if its `fingerprint` is the same.
    """
    # Where an earlier process stopped.
    update, seconds_before, means = 0, 0.0, Means()
    if resume and (folder / CHECKPOINT).exists():
        where = checkpoint.restore(folder, learner, fingerprint)
        write_json(folder / "config.json", config.to_json(), indent=2)  # only now: of a run that was begun otherwise it stays
        update, seconds_before, means = where["update"], where["seconds"], Means(**where["means"])
        if source is not None:
            source.restore(where["source"])
    metrics = Metrics(folder / "metrics.jsonl", keep_until=update)

    def save() -> None:
        _check(means, update, config, folder)
        sums = {"sums": means.sums(), "count": means.count}
        seconds = seconds_before + watch.clock() - started
        where = {"update": update, "seconds": seconds, "means": sums, "fingerprint": fingerprint}
        checkpoint.save(folder, learner, where | ({} if source is None else {"source": source.state()}))

    # The loop.
    started = saved = watch.clock()
    try:
        while update < updates:
            seconds = seconds_before + watch.clock() - started
            done = update / updates
            if config.max_seconds:
                done = max(done, seconds / config.max_seconds)
                if done >= 1:
                    break
            factor = SCHEDULES[config.schedule](done)
            for optimizer in learner.optimizers.values():
                for group in optimizer.param_groups:
                    group["lr"] = group["initial_lr"] * factor
            generator = torch.Generator().manual_seed(mixed(config.seed, 2, update))
            means.add(learner.update(batch_of(update), update, generator))
            update += 1
            if watch.on_update is not None:
                watch.on_update(update, updates)
            if update % config.log_every == 0 or update == updates:
                _check(means, update, config, folder)
                seconds = seconds_before + watch.clock() - started
                line = {
                    "update": update,
                    **({} if source is None else source.facts()),
                    **means.line(),
                    "learning_rate": config.learning_rate * factor,
                    "seconds": round(seconds, 3),
                    "updates_per_second": round(update / max(seconds, 1e-9), 2),
                }
                means = Means()
                metrics.write(line)
                if watch.on_metrics is not None:
                    watch.on_metrics(line)
            if watch.clock() - saved >= config.checkpoint_every_s:
                save()
                saved = watch.clock()
        seconds = seconds_before + watch.clock() - started
        if update == 0:
            raise RunError(
                f"max_seconds is {config.max_seconds:g}, and this time ended before the first update: nothing was learned, "
                f"and no policy is kept\nGive it more time:  {command_of(folder, config)} --out {config.run_of(folder)} "
                "--resume --max-seconds 60"
            )
        final = {"update": update, "seconds": round(seconds, 3), "final": True}
        final |= {f"training_{name}_last": value for name, value in metrics.last.items() if name in ("loss", "accuracy")}
    except BaseException:
        metrics.close()
        raise
    return Looped(update, seconds, metrics, final)


def _measured(learner: Learner, data: Transitions, which: np.ndarray, device: torch.device) -> dict[str, float]:
    sums: dict[str, float] = {}
    with torch.inference_mode():
        for start in range(0, len(which), MEASURE_BATCH):
            part = which[start : start + MEASURE_BATCH]
            batch = Batch.of(data, part, device, with_next=learner.looks_ahead)
            for name, value in learner.measure(batch).items():
                sums[name] = sums.get(name, 0.0) + value.item() * len(part)
    return {name: value / len(which) for name, value in sums.items()}


def finish(
    folder: Path,
    metrics: Metrics,
    final: dict[str, Any],
    acting: Acting,
    config: RunConfig,
    task: Task,
    space: gymnasium.Space[Any],
    details: Mapping[str, Any],
) -> None:
    """Write the last line of metrics and the policy, with `details` in its `model.json`; then delete the checkpoint."""
    metrics.write(final)
    metrics.close()
    save_policy(
        folder,
        acting.network,
        task=task,
        algorithm=config.algorithm,
        observation=config.observation,
        space=space,
        details={
            "architecture": acting.architecture,
            "config": config.to_json(),
            "metrics": final,
            "versions": {"torch": torch.__version__, "safetensors": safetensors.__version__},
            **details,
        },
    )
    (folder / CHECKPOINT).unlink(missing_ok=True)


def _check(means: Means, update: int, config: RunConfig, folder: Path) -> None:
    """Raise `RunError` if a measure is not a finite number, before a checkpoint is written."""
    wrong = means.wrong()
    if wrong is None:
        return
    name, value = wrong
    raise RunError(
        f"{name} became {value} between updates {update - means.count + 1} and {update} of the run in {folder}\n"
        f"The learning rate ({config.learning_rate:g}), the rewards or the observations are probably too large; nothing of "
        "this is kept.\n"
        f"Start another run:  {command_of(folder, config)} --learning-rate {config.learning_rate / 10:g} --out NAME"
    )


def command_of(folder: Path, config: RunConfig) -> str:
    return f"interplay learn {config.algorithm} --config {folder / 'config.json'} --data {folder.parent.parent}"


@contextmanager
def explained(folder: Path, config: RunConfig) -> Iterator[None]:
    """Turn errors of a full disk or device into a `RunError` that says what to do."""
    again = command_of(folder, config)
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise RunError(
            f"the device has no memory left: {str(error).splitlines()[0]}\n"
            f"The batch size is {config.batch_size}. Take a smaller one:  "
            f"{again} --batch-size {max(1, config.batch_size // 2)} --out NAME\n"
            f"Or continue on the CPU:  {again} --device cpu --out {config.run_of(folder)} --resume"
        ) from error
    except OSError as error:
        if not is_disk_full(error):
            raise
        raise RunError(
            f"the disk is full: the run cannot write to {folder}\n"
            f"Its files stay. Free some space, then continue:  {again} --out {config.run_of(folder)} --resume"
        ) from error
