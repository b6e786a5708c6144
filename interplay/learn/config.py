"""Settings of behaviour cloning: one frozen dataclass, checked when built, saved beside the model."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self, get_args, get_origin, get_type_hints

from interplay.errors import InterplayError, unknown_name

CHECKPOINT = "checkpoint.safetensors"
"""In the folder of a run that has not ended: where to continue it."""


class ConfigError(InterplayError):
    """A setting that cannot be used; the text names it, repeats the value, and says what is allowed."""


@dataclass(frozen=True)
class BCConfig:
    """Everything that decides what a training run does.

    Attributes:
        task: Id of the task whose episodes are learned from.
        actor: Whose episodes: a kind (`human`, `agent`, `model`) or a name; None takes everyone's.
        where: Filters on the catalogue, such as `score >= 200`.
        offsets: Frames at which decisions begin (see `interplay.learn.demonstrations.load`).
        updates: Gradient steps.
        batch_size: Decisions per step.
        learning_rate: Of Adam; falls to zero along a half cosine over the run.
        weight_decay: Decoupled (AdamW); 0 is plain Adam.
        label_smoothing: Share of each label spread over all actions (Szegedy et al. 2016, section 7).
        shift: Pictures are moved by up to so many pixels at random, all four of a stack alike (Yarats et al. 2021).
        balance: Weight of a decision is its action's frequency to the power of -`balance`, scaled to mean 1: 0 learns how
            the demonstrator acts, 1 gives every action equal weight.
        temperature: Of the policy's draws when it plays; 0 always takes the most probable action.
        validation: Share of the episodes held out to measure; at least one if there are two.
        seed: Of the first weights, of the split, of the order of batches and of the shifts.
        device: `auto` (CUDA if there is one), `cpu` or `cuda`.
        threads: CPU threads; 0 takes all cores.
        max_seconds: Stop after so much training, the learning rate arriving at zero then; 0 for no limit. A run that this
            cuts short is not repeatable: use it where time matters more.
        log_every: Updates between lines of metrics.
        checkpoint_every_s: Seconds between checkpoints.
    """

    task: str
    actor: str | None = "human"
    where: tuple[str, ...] = ()
    offsets: tuple[int, ...] = (0,)
    updates: int = 10_000
    batch_size: int = 32
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    label_smoothing: float = 0.0
    shift: int = 0
    balance: float = 0.0
    temperature: float = 1.0
    validation: float = 0.1
    seed: int = 0
    device: str = "auto"
    threads: int = 0
    max_seconds: float = 0.0
    log_every: int = 50
    checkpoint_every_s: float = 30.0

    def __post_init__(self) -> None:
        """Refuse what cannot work.

        Raises:
            ConfigError: Naming the setting.
        """
        for name, low, high in (
            ("updates", 1, 10**9),
            ("batch_size", 1, 65_536),
            ("weight_decay", 0, 1),
            ("label_smoothing", 0, 0.99),
            ("shift", 0, 20),
            ("balance", 0, 1),
            ("temperature", 0, 100),
            ("validation", 0, 0.9),
            ("seed", 0, 2**63 - 1),
            ("threads", 0, 1024),
            ("max_seconds", 0, 1e9),
            ("log_every", 1, 10**9),
            ("checkpoint_every_s", 0, 1e9),
        ):
            value = getattr(self, name)
            if not low <= value <= high:
                raise ConfigError(f"{name} must lie between {low:g} and {high:g}, got {value!r}")
        if not 0 < self.learning_rate <= 1:
            raise ConfigError(f"learning_rate must be above 0 and at most 1, got {self.learning_rate!r}")
        if self.device not in ("auto", "cpu", "cuda"):
            raise unknown_name("device", self.device, ["auto", "cpu", "cuda"])
        if not self.offsets or any(not 0 <= offset <= 3 for offset in self.offsets):
            raise ConfigError(f"offsets must be frames from 0 to 3, at least one, got {list(self.offsets)!r}")

    @classmethod
    def fast(cls, task: str, **settings: Any) -> Self:
        """Settings for less than a minute on two cores, learning from a quarter of an hour of play; the rest as given."""
        return cls(
            **{
                "task": task,
                "updates": 2000,
                "learning_rate": 2e-3,
                "shift": 1,
                "temperature": 0.6,
                "max_seconds": 45.0,
                **settings,
            }
        )

    def to_json(self) -> dict[str, Any]:
        """JSON values, the inverse of `from_json`."""
        return json.loads(json.dumps(asdict(self)))

    @classmethod
    def from_json(cls, document: Any, *, source: str = "config") -> Self:
        """Settings from JSON values.

        Raises:
            ConfigError: For a missing, unknown or wrongly typed setting.
        """
        if not isinstance(document, dict):
            raise ConfigError(f"{source}: must hold one JSON object with settings, got {type(document).__name__}")
        hints = get_type_hints(cls)
        known = {item.name for item in fields(cls)}
        for name in document:
            if name not in known:
                raise ConfigError(f"{source}: {unknown_name('setting', name, known)}")
        if "task" not in document:
            raise ConfigError(f"{source}: 'task' is missing")
        return cls(**{name: _typed(value, hints[name], f"{source}: {name}") for name, value in document.items()})

    @classmethod
    def read(cls, path: Path) -> Self:
        """Settings from a `config.json`.

        Raises:
            ConfigError: If it cannot be read or used.
        """
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise ConfigError(f"{path}: no such file; a finished run keeps its settings in models/NAME/config.json") from None
        except (OSError, ValueError) as error:
            raise ConfigError(f"{path}: cannot be read as JSON: {error}") from None
        return cls.from_json(document, source=str(path))


def _typed(value: Any, hint: Any, where: str) -> Any:
    """`value` as a field's type; whole numbers may stand for others."""
    if get_origin(hint) is tuple:
        if not isinstance(value, list | tuple):
            raise ConfigError(f"{where} must be a list, got {value!r}")
        return tuple(_typed(item, get_args(hint)[0], where) for item in value)
    allowed = get_args(hint) or (hint,)
    if float in allowed and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
        names = " or ".join(
            {str: "a text", int: "a whole number", float: "a number", type(None): "null"}[one] for one in allowed
        )
        raise ConfigError(f"{where} must be {names}, got {value!r}")
    return value
