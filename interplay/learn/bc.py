"""Behaviour cloning: a network that acts as the demonstrator did (Pomerleau 1991, "Efficient training of artificial neural
networks for autonomous navigation"). One file, read top to bottom.

Each update draws a batch of decisions and takes one Adam step on the cross-entropy between the network's action
probabilities and the demonstrator's actions. Everything random is a function of the seed and the number of the update, so a
run that was killed continues from its checkpoint to the weights it would have had anyway (bit for bit on one CPU).

Differences from the usual: the learning rate falls along a half cosine, because short runs end better that way; the policy
draws from its probabilities when it plays instead of taking the most probable action, because a clone of someone who
varies gets stuck otherwise.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import safetensors
import safetensors.torch
import torch
from torch import nn

from interplay.agents.networks import build
from interplay.agents.policy import num_actions_of, save_policy
from interplay.files import remove_parts, write_bytes
from interplay.learn.config import CHECKPOINT, BCConfig, ConfigError
from interplay.learn.demonstrations import Demonstrations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interplay.tasks import Task

OBSERVATION = "dqn"


@dataclass(frozen=True)
class TrainingResult:
    """What a run did.

    Attributes:
        folder: `model.safetensors`, `model.json`, `config.json`, `metrics.jsonl`, `curves.svg`.
        updates: Gradient steps in all, those before a resume included.
        seconds: Of training, without loading; those before a resume included.
        metrics: The last line of `metrics.jsonl`.
        num_decisions: Decisions learned from.
        num_episodes: Episodes they come from, held-out ones included.
    """

    folder: Path
    updates: int
    seconds: float
    metrics: dict[str, Any]
    num_decisions: int
    num_episodes: int


def clone(
    demonstrations: Demonstrations,
    config: BCConfig,
    task: Task,
    folder: Path,
    *,
    resume: bool = False,
    on_update: Callable[[int, int], None] | None = None,
    on_metrics: Callable[[dict[str, Any]], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> TrainingResult:
    """Train a policy on demonstrations and write it to a folder.

    Args:
        demonstrations: What to imitate.
        config: How.
        task: What the policy is for.
        folder: Where the run is kept; made if missing.
        resume: Continue from the folder's checkpoint, if there is one.
        on_update: Called after each update with how many are done and how many there will be.
        on_metrics: Called with each line of metrics.
        clock: Seconds, monotonic.
    Raises:
        ConfigError: If CUDA is asked for and missing, or a checkpoint belongs to another run.
    """
    device = _device(config.device)
    folder.mkdir(parents=True, exist_ok=True)
    write_bytes(folder / "config.json", (json.dumps(config.to_json(), indent=2) + "\n").encode())
    with _threads(config.threads):
        return _clone(demonstrations, config, task, folder, device, resume, on_update, on_metrics, clock)


def _clone(
    data: Demonstrations,
    config: BCConfig,
    task: Task,
    folder: Path,
    device: torch.device,
    resume: bool,
    on_update: Callable[[int, int], None] | None,
    on_metrics: Callable[[dict[str, Any]], None] | None,
    clock: Callable[[], float],
) -> TrainingResult:
    # The network and its optimizer.
    architecture = {"name": "nature_cnn", "num_actions": num_actions_of(task), "in_channels": data.stacks.shape[1]}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        network = build(architecture)
        network.initialise()
    network = network.to(device=device, memory_format=torch.channels_last)  # type: ignore[call-overload]
    optimizer = torch.optim.AdamW(network.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay, fused=True)

    # The data: which decisions are for training, how much each one counts.
    training, validation = data.split(config.validation, rng=np.random.default_rng((config.seed, 1)))
    batches = Batches(len(training), config.batch_size, config.seed)
    action_weights = torch.from_numpy(weights_of(data.actions[training], architecture["num_actions"], config.balance))
    action_weights = action_weights.to(device, torch.float32)

    # Where an earlier process stopped.
    update, seconds_before, sums = 0, 0.0, _Sums()
    fingerprint = _fingerprint(config, data)
    if resume and (folder / CHECKPOINT).exists():
        update, seconds_before, sums = _restore(folder, network, optimizer, fingerprint)
    metrics = _Metrics(folder / "metrics.jsonl", keep_until=update)

    # The loop.
    started = saved = clock()
    while update < config.updates:
        seconds = seconds_before + clock() - started
        done = update / config.updates
        if config.max_seconds:
            done = max(done, seconds / config.max_seconds)
            if done >= 1:
                break
        for group in optimizer.param_groups:
            group["lr"] = config.learning_rate * 0.5 * (1 + math.cos(math.pi * done))
        which = training[batches[update]]
        observations = torch.from_numpy(data.observations(which)).to(device)
        actions = torch.from_numpy(data.actions[which]).to(device)
        if config.shift:
            observations = shifted(observations, config.shift, torch.Generator().manual_seed(_mixed(config.seed, 2, update)))
        network.train()
        logits = network(observations)
        loss = cross_entropy(logits, actions, action_weights, config.label_smoothing)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        update += 1
        sums.add(loss.item(), (logits.detach().argmax(1) == actions).float().mean().item())
        if on_update is not None:
            on_update(update, config.updates)
        if update % config.log_every == 0 or update == config.updates:
            seconds = seconds_before + clock() - started
            line = {
                "update": update,
                "loss": sums.loss / sums.count,
                "accuracy": sums.hits / sums.count,
                "learning_rate": optimizer.param_groups[0]["lr"],
                "seconds": round(seconds, 3),
                "updates_per_second": round(update / max(seconds, 1e-9), 2),
            }
            sums = _Sums()
            metrics.write(line)
            if on_metrics is not None:
                on_metrics(line)
        if clock() - saved >= config.checkpoint_every_s:
            metrics.flush()
            _checkpoint(folder, network, optimizer, update, seconds_before + clock() - started, sums, fingerprint)
            saved = clock()

    # What came of it.
    seconds = seconds_before + clock() - started
    final = {"update": update, "seconds": round(seconds, 3), "final": True}
    if len(validation):
        final |= evaluate(network, data, validation, device)
    final["training_loss_last"], final["training_accuracy_last"] = metrics.last("loss"), metrics.last("accuracy")
    metrics.write(final)
    metrics.close()
    save_policy(
        folder,
        network,
        task=task,
        algorithm="bc",
        observation=OBSERVATION,
        details={
            "architecture": architecture,
            "temperature": config.temperature,
            "config": config.to_json(),
            "metrics": final,
            "demonstrations": {
                "decisions": len(data),
                "validation_decisions": len(validation),
                "episodes": [count._asdict() for count in data.counts],
                "actions": {str(action): count for action, count in data.action_counts().items()},
            },
            "versions": {"torch": torch.__version__, "safetensors": safetensors.__version__},
        },
    )
    (folder / CHECKPOINT).unlink(missing_ok=True)
    return TrainingResult(folder, update, seconds, final, len(data), len(data.counts))


# The arithmetic


def cross_entropy(
    logits: torch.Tensor, actions: torch.Tensor, action_weights: torch.Tensor, label_smoothing: float = 0.0
) -> torch.Tensor:
    """Mean over the batch of w[a] * -sum_k q_k log p_k, with q one-hot on the action a, smoothed.

    Unlike `torch.nn.functional.cross_entropy(weight=...)`, the sum is divided by the batch size and not by the batch's
    weights, so that a batch of rare actions does count for more.

    Args:
        logits: float32, shape (B, num_actions).
        actions: int64, shape (B,).
        action_weights: float32, shape (num_actions,).
        label_smoothing: Share of q spread evenly over all actions.
    """
    log_probabilities = logits.log_softmax(1)
    likelihood = log_probabilities.gather(1, actions[:, None])[:, 0]
    smoothed = (1 - label_smoothing) * likelihood + label_smoothing * log_probabilities.mean(1)
    return -(action_weights[actions] * smoothed).mean()


def weights_of(actions: np.ndarray, num_actions: int, balance: float) -> np.ndarray:
    """Weight of each action: frequency to the power of -balance, mean 1 over the decisions; 1 for actions never taken.

    >>> weights_of(np.array([0, 0, 0, 1]), 3, 1.0).round(3).tolist()
    [0.667, 2.0, 1.0]
    """
    counts = np.bincount(actions, minlength=num_actions).astype(np.float64)
    raw = np.where(counts > 0, np.maximum(counts, 1) ** -balance, 0)
    scale = counts.sum() / (raw * counts).sum()
    return np.where(counts > 0, raw * scale, 1.0)


def shifted(observations: torch.Tensor, most: int, generator: torch.Generator) -> torch.Tensor:
    """Move each stack by up to `most` pixels each way, edges repeated ("DrQ", Yarats et al. 2021, section 3.1).

    Args:
        observations: uint8, shape (B, 4, H, W).
    """
    size, height, width = len(observations), observations.shape[2], observations.shape[3]
    dy, dx = torch.randint(-most, most + 1, (2, size, 1), generator=generator).to(observations.device)
    rows = (torch.arange(height, device=observations.device) + dy).clamp(0, height - 1)  # (B, H)
    columns = (torch.arange(width, device=observations.device) + dx).clamp(0, width - 1)  # (B, W)
    batch = torch.arange(size, device=observations.device)[:, None, None]
    # Advanced indices around the channel axis put it last: (B, H, W, 4).
    return observations[batch, :, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)


@torch.inference_mode()
def evaluate(
    network: nn.Module, data: Demonstrations, which: np.ndarray, device: torch.device, batch_size: int = 256
) -> dict[str, float]:
    """Mean cross-entropy and accuracy over some decisions, as `validation_loss` and `validation_accuracy`."""
    network.eval()
    loss, hits = 0.0, 0
    for start in range(0, len(which), batch_size):
        part = which[start : start + batch_size]
        logits = network(torch.from_numpy(data.observations(part)).to(device))
        actions = torch.from_numpy(data.actions[part]).to(device)
        loss += nn.functional.cross_entropy(logits, actions, reduction="sum").item()
        hits += int((logits.argmax(1) == actions).sum())
    return {"validation_loss": loss / len(which), "validation_accuracy": hits / len(which)}


class Batches:
    """`batches[update]`: indices of one batch. Each pass is a fresh shuffle; a batch may span two passes, so none is small.

    >>> batches = Batches(5, 2, seed=0)
    >>> sorted(np.concatenate([batches[0], batches[1], batches[2]])[:5].tolist())
    [0, 1, 2, 3, 4]
    """

    def __init__(self, size: int, batch_size: int, seed: int) -> None:
        self._size, self._batch_size, self._seed = size, batch_size, seed
        self._passes: dict[int, np.ndarray] = {}

    def __getitem__(self, update: int) -> np.ndarray:
        """int64, shape (batch_size,)."""
        first = update * self._batch_size
        positions = np.arange(first, first + self._batch_size)
        result = np.empty(self._batch_size, np.int64)
        for number in range(first // self._size, int(positions[-1]) // self._size + 1):
            here = positions // self._size == number
            result[here] = self._order(number)[positions[here] % self._size]
        return result

    def _order(self, number: int) -> np.ndarray:
        """The shuffle of one pass; the last few are kept."""
        if number not in self._passes:
            if len(self._passes) > 2:
                self._passes.clear()
            generator = torch.Generator().manual_seed(_mixed(self._seed, 0, number))
            self._passes[number] = torch.randperm(self._size, generator=generator).numpy()
        return self._passes[number]


def _mixed(seed: int, purpose: int, number: int) -> int:
    """A seed of its own for each (seed, purpose, number)."""
    return int(np.random.SeedSequence((seed, purpose, number)).generate_state(1, np.uint64)[0] >> 1)


# Surviving a kill


@dataclass
class _Sums:
    """Sums of a stretch between two lines of metrics."""

    loss: float = 0.0
    hits: float = 0.0
    count: int = 0

    def add(self, loss: float, hits: float) -> None:
        self.loss, self.hits, self.count = self.loss + loss, self.hits + hits, self.count + 1


class _Metrics:
    """Lines of `metrics.jsonl`; those a killed process wrote after its last checkpoint are dropped, as they come again."""

    def __init__(self, path: Path, *, keep_until: int) -> None:
        self._last: dict[str, Any] = {}
        kept: list[str] = []
        if keep_until and path.exists():
            for text in path.read_text(encoding="utf-8").splitlines():
                try:
                    line = json.loads(text)
                except ValueError:  # torn by the kill
                    break
                if line["update"] <= keep_until and not line.get("final"):
                    kept.append(text + "\n")
                    self._last = line
        write_bytes(path, "".join(kept).encode())
        self._file = path.open("a", encoding="utf-8")

    def write(self, line: dict[str, Any]) -> None:
        self._last = {**self._last, **line}
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def last(self, name: str) -> Any:
        return self._last.get(name)

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def _checkpoint(
    folder: Path,
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    update: int,
    seconds: float,
    sums: _Sums,
    fingerprint: dict[str, Any],
) -> None:
    """Weights, Adam's averages and where the run is, in one file that appears whole or not at all."""
    tensors = {f"weights.{name}": value.detach().contiguous() for name, value in network.state_dict().items()}
    for index, state in optimizer.state_dict()["state"].items():
        tensors |= {f"adam.{index}.{name}": value.detach().contiguous() for name, value in state.items()}
    where = {"update": update, "seconds": seconds, "sums": vars(sums), "fingerprint": fingerprint}
    remove_parts(folder / CHECKPOINT)  # a run that was killed while it wrote this left a file as large
    write_bytes(folder / CHECKPOINT, safetensors.torch.save(tensors, metadata={"run": json.dumps(where)}))


def _restore(
    folder: Path, network: nn.Module, optimizer: torch.optim.Optimizer, fingerprint: dict[str, Any]
) -> tuple[int, float, _Sums]:
    """Put a checkpoint back; returns how many updates it has seen, seconds of training, and the unfinished sums."""
    path = folder / CHECKPOINT
    again = f"Delete {path} to begin anew with --resume, or choose another name."
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            where = json.loads(file.metadata()["run"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
    except (safetensors.SafetensorError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path} is damaged: {error}\n{again}") from None
    different = [name for name in fingerprint if where["fingerprint"].get(name) != fingerprint[name]]
    if different:
        name = different[0]
        raise ConfigError(
            f"{path} is of another run: {name} was {where['fingerprint'].get(name)!r}, now {fingerprint[name]!r}\n{again}"
        )
    weights = {name.removeprefix("weights."): value for name, value in tensors.items() if name.startswith("weights.")}
    network.load_state_dict(weights)
    state: dict[int, dict[str, torch.Tensor]] = {}
    parameters = list(network.parameters())
    for name, value in tensors.items():
        if name.startswith("adam."):
            _, index, part = name.split(".", 2)
            if value.ndim:  # the fused step walks weights and averages in memory order, so both need the same one
                value = torch.empty_like(parameters[int(index)]).copy_(value)
            state.setdefault(int(index), {})[part] = value
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    return where["update"], where["seconds"], _Sums(**where["sums"])


def _fingerprint(config: BCConfig, data: Demonstrations) -> dict[str, Any]:
    """What must be the same for a checkpoint to be continued; the rest (threads, logging) may change."""
    free = ("device", "threads", "max_seconds", "log_every", "checkpoint_every_s", "temperature")
    settings = {name: value for name, value in config.to_json().items() if name not in free}
    return settings | {"decisions": len(data), "episodes": [count.episode for count in data.counts]}


# The machine


def _device(name: str) -> torch.device:
    """The device of a setting."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name == "cuda" and not torch.cuda.is_available():
        raise ConfigError("device is 'cuda', but PyTorch sees no CUDA device\nUse 'auto', or install a CUDA build of PyTorch.")
    return torch.device(name)


@contextmanager
def _threads(number: int) -> Iterator[None]:
    """Use so many CPU threads inside the block."""
    before = torch.get_num_threads()
    try:
        if number:
            torch.set_num_threads(number)
        yield
    finally:
        torch.set_num_threads(before)
