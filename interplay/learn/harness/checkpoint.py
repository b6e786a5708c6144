"""Checkpoints: save the whole state of a run in one file, completely or not at all, so that a killed run can continue."""

from __future__ import annotations

import hashlib
import json
import reprlib
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch

from interplay.files import remove_parts, write_bytes
from interplay.learn.config import CHECKPOINT, ConfigError
from interplay.learn.harness.learner import Trained


def save(folder: Path, learner: Trained, where: dict[str, Any]) -> None:
    """Write weights, the optimizers' averages, and `where`: the progress of the run, JSON values with a `fingerprint`."""
    tensors = {
        f"weights/{name}/{part}": value.detach().contiguous()
        for name, module in learner.modules.items()
        for part, value in module.state_dict().items()
    }
    for name, optimizer in learner.optimizers.items():
        for index, state in optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer/{name}/{index}/{part}": value.detach().contiguous() for part, value in state.items()}
    remove_parts(folder / CHECKPOINT)  # a run that was killed while it wrote this left a file as large
    run = json.dumps(where)
    metadata = {"run": run, "sha256": _sha256(run, tensors)}
    write_bytes(folder / CHECKPOINT, safetensors.torch.save(tensors, metadata=metadata))


def restore(folder: Path, learner: Trained, fingerprint: dict[str, Any]) -> dict[str, Any]:
    """Load a checkpoint into a learner; return the run's progress. `ConfigError` if it is damaged or of another run."""
    path = folder / CHECKPOINT
    again = f"Delete {path} to begin anew with --resume, or choose another name."
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            metadata = file.metadata()
            where = json.loads(metadata["run"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
        if metadata["sha256"] != _sha256(metadata["run"], tensors):
            raise ValueError("its checksum does not match its content")
        if missing := sorted({"fingerprint", "update", "seconds", "means"} - where.keys()):
            raise ValueError(f"it does not say {', '.join(missing)}")
    except (safetensors.SafetensorError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path} is damaged: {error}\n{again}") from None
    different = [name for name in fingerprint if where["fingerprint"].get(name) != fingerprint[name]]
    if different:
        name = different[0]
        before, now = (reprlib.repr(values.get(name)) for values in (where["fingerprint"], fingerprint))
        raise ConfigError(
            f"{path} is of another run: {name} was {before}, now {now}\n"
            f"To continue, leave the settings as they were; --resume alone takes them from {folder / 'config.json'}. {again}"
        )
    try:
        for name, module in learner.modules.items():
            module.load_state_dict(_below(tensors, f"weights/{name}/"))
        for name, optimizer in learner.optimizers.items():
            _restore_optimizer(optimizer, _below(tensors, f"optimizer/{name}/"))
    except (RuntimeError, IndexError, KeyError) as error:
        raise ConfigError(f"{path} does not fit the network: {' '.join(str(error).split())}\n{again}") from None
    return where


def _sha256(run: str, tensors: dict[str, torch.Tensor]) -> str:
    """Digest of a whole checkpoint: the run's progress as text, and each tensor with its name."""
    digest = hashlib.sha256(run.encode())
    for name in sorted(tensors):
        digest.update(name.encode())
        digest.update(tensors[name].cpu().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _below(tensors: dict[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def _restore_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, torch.Tensor]) -> None:
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, value in tensors.items():
        index, part = name.split("/", 1)
        if value.ndim:  # the fused step walks weights and averages in memory order, so both need the same one
            value = torch.empty_like(parameters[int(index)]).copy_(value)
        state.setdefault(int(index), {})[part] = value
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
