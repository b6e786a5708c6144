"""Settings of training runs: one frozen dataclass for each algorithm, checked when it is built and saved with the model.

`setting(default, help, ...)` defines a field with its help text, which `interplay learn` shows, and its allowed range.
"""

from __future__ import annotations

import json
from dataclasses import MISSING, Field, asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Self, get_args, get_origin, get_type_hints

from interplay.envs import pipeline_names
from interplay.errors import InterplayError, unknown_name

CHECKPOINT = "checkpoint.safetensors"
"""File in the folder of an unfinished run; the run can continue from it."""

MOST_NAME_BYTES = 200


class ConfigError(InterplayError):
    """A setting cannot be used; the text names the setting, repeats its value, and says which values are allowed."""


class RunError(InterplayError):
    """A run cannot continue; the text says why, and how to continue or begin again."""


def setting(
    default: Any = MISSING,
    help: str = "",
    *,
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    choices: tuple[str, ...] = (),
    is_free: bool = False,
) -> Any:
    """Define a field of a settings dataclass.

    Args:
        low, high, above: Allowed numbers: at least `low` (or more than `above`) and at most `high`.
        is_free: Whether a stopped run may continue with another value, because the value does not change what is learned.
    """
    facts = {"help": help, "low": low, "high": high, "above": above, "choices": choices, "is_free": is_free}
    return field(default=default, metadata=facts) if default is not MISSING else field(metadata=facts)


def inherited(base: type[RunConfig], name: str, default: Any) -> Any:
    """Define a setting as the class `base` has it, but with another default."""
    return field(default=default, metadata=base.__dataclass_fields__[name].metadata)


def check_name(name: str, what: str) -> None:
    """Raise `ConfigError` if a name cannot be a folder's name; `what` says what is named, such as a policy."""
    if not name or not all(letter.isalnum() or letter in "-_." for letter in name) or name.startswith("."):
        raise ConfigError(f"{name!r} cannot name a {what}; use letters, digits, '-', '_' and '.', no '.' at the beginning")
    if len(name.encode()) > MOST_NAME_BYTES:
        raise ConfigError(f"{name[:20]!r}... is too long to name a {what}; use at most {MOST_NAME_BYTES} letters")


@dataclass(frozen=True)
class RunConfig:
    """Settings of every run. A run with `max_seconds` cannot be repeated exactly; use it only where time matters more."""

    algorithm: ClassVar[str] = ""
    presets: ClassVar[dict[str, dict[str, Any]]] = {}
    """Name of a preset -> settings that differ from the defaults."""
    example: ClassVar[str] = "atari/space_invaders"
    """Task and options that the command's example shows."""
    makes: ClassVar[tuple[str, str]] = "policy", "models"
    """Name of a run's product, and of the product's folder in the data folder."""
    learns_by_playing: ClassVar[bool] = False
    """Whether a run plays games itself; it then needs no recorded episodes, and its length is a number of decisions."""

    task: str = setting(help="Id of the task to learn.")
    seat: str | None = setting(None, "Which seat to learn from, in a task with several seats.")
    observation: str = setting("dqn", "Input of the network; see docs/agents.md.")
    batch_size: int = setting(32, "Decisions per gradient step.", low=1, high=65_536)
    learning_rate: float = setting(1e-3, "Adam's learning rate at the start.", above=0, high=1)
    schedule: str = setting(
        "constant", "How the learning rate changes over the run: constant or cosine.", choices=("constant", "cosine")
    )
    weight_decay: float = setting(0.0, "Decoupled weight decay (AdamW); 0 is plain Adam.", low=0, high=1)
    features: int = setting(512, "Units of the layer after the convolutions, for pictures.", low=1, high=65_536)
    hidden: tuple[int, ...] = setting((256, 256), "Units of the hidden layers, for observations that are numbers.")
    seed: int = setting(0, "Seed of every random draw; kept in config.json.", low=0, high=2**63 - 1)
    device: str = setting("auto", "Where to compute: auto, cpu or cuda.", is_free=True)
    threads: int = setting(0, "CPU threads; 0 for all cores.", low=0, high=1024, is_free=True)
    max_seconds: float = setting(0.0, "Stop training after this many seconds; 0 for no limit.", low=0, high=1e9, is_free=True)
    log_every: int = setting(50, "Updates between lines of metrics.", low=1, high=10**9, is_free=True)
    checkpoint_every_s: float = setting(30.0, "Seconds between checkpoints.", low=0, high=1e9, is_free=True)

    def __post_init__(self) -> None:
        for item in fields(self):
            _check_range(item, getattr(self, item.name))
        if self.device not in ("auto", "cpu", "cuda"):
            raise unknown_name("device", self.device, ["auto", "cpu", "cuda"])
        if self.observation not in pipeline_names():
            raise unknown_name("observation pipeline", self.observation, pipeline_names())
        if not self.hidden or any(not 1 <= units <= 65_536 for units in self.hidden):
            raise ConfigError(f"hidden must be one or more numbers of units from 1 to 65536, got {list(self.hidden)!r}")

    def fixed(self) -> dict[str, Any]:
        """The settings that decide what is learned, as JSON values; a stopped run continues only if these are unchanged."""
        free = {item.name for item in fields(self) if item.metadata["is_free"]}
        return {name: value for name, value in self.to_json().items() if name not in free}

    def run_of(self, folder: Path) -> str:
        """The value of the option `--out` that leads to the run in this folder."""
        return folder.name

    @classmethod
    def preset(cls, name: str, task: str, **settings: Any) -> Self:
        """Return the named preset for a task, with `settings` in place of its own; `NotFoundError` for an unknown name."""
        if name not in cls.presets:
            raise unknown_name(f"preset of {cls.algorithm}", name, cls.presets)
        chosen: dict[str, Any] = {"task": task, **cls.presets[name], **settings}
        return cls(**chosen)

    def to_json(self) -> dict[str, Any]:
        return json.loads(json.dumps({"algorithm": self.algorithm, **asdict(self)}))

    @classmethod
    def from_json(cls, document: Any, *, source: str = "config") -> Self:
        """Read settings from JSON values.

        Raises:
            ConfigError: For a missing, unknown or wrongly typed setting, or settings of another algorithm.
        """
        if not isinstance(document, dict):
            raise ConfigError(f"{source}: must hold one JSON object with settings, got {type(document).__name__}")
        document = dict(document)
        algorithm = document.pop("algorithm", cls.algorithm)
        if algorithm != cls.algorithm:
            raise ConfigError(
                f"{source}: holds settings of {algorithm!r}, not of {cls.algorithm!r}\n"
                f"Use them with:  interplay learn {algorithm} --config {source}"
            )
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
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise ConfigError(f"{path}: no such file; a finished run keeps its settings in models/NAME/config.json") from None
        except (OSError, ValueError, RecursionError) as error:
            raise ConfigError(f"{path}: cannot be read as JSON: {error}") from None
        return cls.from_json(document, source=str(path))


@dataclass(frozen=True)
class TrainingConfig(RunConfig):
    """Settings of every run that learns to act from recorded episodes."""

    example: ClassVar[str] = "atari/space_invaders --actor human"
    is_composed: ClassVar[bool] = False
    """Whether the learned actions are keys and a camera (`interplay.agents.first_person`) instead of one whole number."""
    uses_reward: ClassVar[bool] = True

    updates: int = setting(10_000, "Gradient steps.", low=1, high=10**9)
    validation: float = setting(
        0.1, "Share of the episodes held out to measure; at least one if there are two.", low=0, high=0.9
    )
    actor: str | None = setting("human", "Whose episodes: human, agent, model, any, or a name.")
    where: tuple[str, ...] = setting((), "Only episodes such as 'score >= 200'; may be repeated.")
    offsets: tuple[int, ...] = setting((0,), "Frames at which decisions begin, 0 to 3; several give more to learn from.")
    reward: str | None = setting(None, "Learn from this learned reward instead of the game's own; see docs/rewards.md.")
    temperature: float = setting(
        0.0, "Temperature of the policy's draws; 0 takes the most likely action.", low=0, high=100, is_free=True
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.actor == "any":
            object.__setattr__(self, "actor", None)
        if self.reward is not None and not self.uses_reward:
            raise ConfigError(f"{self.algorithm} imitates and does not learn from rewards; leave out reward")
        if not self.offsets or any(not 0 <= offset <= 3 for offset in self.offsets):
            raise ConfigError(f"offsets must be one or more frames from 0 to 3, got {list(self.offsets)!r}")


def _check_range(item: Field[Any], value: Any) -> None:
    low, high, above = (item.metadata.get(name) for name in ("low", "high", "above"))
    if above is not None and not above < value <= high:  # also refuses NaN
        raise ConfigError(f"{item.name} must be above {above:g} and at most {high:g}, got {value!r}")
    if low is not None and not low <= value <= high:
        raise ConfigError(f"{item.name} must lie between {low:g} and {high:g}, got {value!r}")
    choices = item.metadata.get("choices")
    if choices and value not in choices:
        raise unknown_name(item.name, value, choices)


def _typed(value: Any, hint: Any, where: str) -> Any:
    if get_origin(hint) is tuple:
        if not isinstance(value, list | tuple):
            raise ConfigError(f"{where} must be a list, got {value!r}")
        return tuple(_typed(item, get_args(hint)[0], where) for item in value)
    allowed = get_args(hint) or (hint,)
    if float in allowed and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
        names = " or ".join(
            {str: "a text", int: "a whole number", float: "a number", bool: "true or false", type(None): "null"}[one]
            for one in allowed
        )
        raise ConfigError(f"{where} must be {names}, got {value!r}")
    return value
