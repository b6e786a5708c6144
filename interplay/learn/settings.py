"""The settings of each algorithm, and the presets that repeat published ones.

`paper` is Table 7 of Gerstgrasser, Trivedi & Parkes 2022 (CrowdPlay, ICLR); what the table leaves open is d3rlpy's default.
`code` is what their published program sets (`offline/offline-atari.py`), which differs: every batch has 256 decisions, targets
follow every 2,500 updates, "DQN" is Double DQN, and a recording is read at one offset unless asked otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from interplay.learn.config import ConfigError, RunConfig, TrainingConfig, setting

_MILLION = {"updates": 1_000_000}
_PAPER: dict[str, Any] = {**_MILLION, "offsets": (0, 1, 2, 3), "temperature": 0.0, "schedule": "constant"}
_CODE: dict[str, Any] = {**_MILLION, "offsets": (0,), "temperature": 0.0, "schedule": "constant", "batch_size": 256}
_CODE_Q = {**_CODE, "target_every": 2500}


@dataclass(frozen=True)
class BCConfig(TrainingConfig):
    """Behaviour cloning."""

    algorithm: ClassVar[str] = "bc"
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "fast": {"updates": 2000, "learning_rate": 2e-3, "shift": 1, "temperature": 0.6, "max_seconds": 45.0},
        "paper": {**_PAPER, "learning_rate": 1e-3, "batch_size": 100, "beta": 0.5},
        "code": {**_CODE, "learning_rate": 3e-5, "beta": 0.5},
        "iwr": {"actor": "any", "equal_shares": True},
    }

    schedule: str = setting(
        "cosine", "How the learning rate changes over the run: constant or cosine.", choices=("constant", "cosine")
    )
    temperature: float = setting(
        1.0, "Temperature of the policy's draws; 0 takes the most likely action.", low=0, high=100, is_free=True
    )
    label_smoothing: float = setting(0.0, "Share of each label spread over all actions.", low=0, high=0.99)
    beta: float = setting(0.0, "Weight of the penalty on the squares of the log-probabilities.", low=0, high=1000)
    shift: int = setting(0, "Move pictures by up to so many pixels at random.", low=0, high=20)
    balance: float = setting(0.0, "0 keeps each action's own frequency, 1 gives all actions the same weight.", low=0, high=1)
    takeover_weight: float = setting(1.0, "Weight of a decision of a person who took over from an agent.", low=0, high=1e6)
    before_weight: float = setting(1.0, "Weight of an agent's decision shortly before a person took over.", low=0, high=1e6)
    rest_weight: float = setting(1.0, "Weight of every other decision.", low=0, high=1e6)
    before_steps: int = setting(60, "Steps before a takeover that count as shortly before it.", low=0, high=10**9)
    equal_shares: bool = setting(False, "Give the decisions that people took over as much weight as all others together.")

    @classmethod
    def fast(cls, task: str, **settings: Any) -> Self:
        """Settings for less than a minute on two cores, learning from a quarter of an hour of play; the rest as given."""
        return cls.preset("fast", task, **settings)


@dataclass(frozen=True)
class FilteredBCConfig(BCConfig):
    """Behaviour cloning of the best episodes."""

    algorithm: ClassVar[str] = "fbc"

    best: float = setting(0.1, "Share of the episodes that are cloned, those of the highest return.", above=0, high=1)


@dataclass(frozen=True)
class DaggerConfig(BCConfig):
    """Rounds in which the learner plays and an expert says what to do, see `interplay.learn.dagger`."""

    algorithm: ClassVar[str] = "dagger"

    expert: str = setting("scripted", "Who says what to do: the name of an agent, or person.")
    rounds: int = setting(5, "Rounds; each makes an agent of its own.", low=1, high=1000, is_free=True)
    labels: int = setting(1000, "Decisions in each round for which the expert says what to do.", low=1, high=10**9)
    expert_share: float = setting(
        0.0, "Share of the decisions that the expert makes itself in round 2; in round n to the power of n - 1.", low=0, high=1
    )
    wait: bool = setting(True, "Wait until people have played enough; else go on with the games that are there.", is_free=True)
    url: str = setting("http://127.0.0.1:8000", "Address of the server on which people play.", is_free=True)

    def __post_init__(self) -> None:
        """Refuse what cannot work, as for every run.

        Raises:
            ConfigError: Naming the setting.
        """
        super().__post_init__()
        if self.where and not self.by_person:
            raise ConfigError(f"where chooses among people's games, and here {self.expert!r} says what to do; leave it out")

    @property
    def by_person(self) -> bool:
        """Whether people say what to do, by playing."""
        return self.expert == "person"

    def run_of(self, folder: Path) -> str:
        """The name without the number of the round."""
        return folder.name.rpartition(".")[0]


@dataclass(frozen=True)
class OfflineConfig(TrainingConfig):
    """What the algorithms that learn from rewards share."""

    learning_rate: float = setting(6.25e-5, "Adam's learning rate at the start.", above=0, high=1)
    gamma: float = setting(0.99, "Discount factor of each decision.", low=0, high=1)
    critics: int = setting(1, "Number of value networks; targets take the lowest value.", low=1, high=100)
    reward_scale: float = setting(1.0, "Rewards are multiplied by it.", above=0, high=1e9)
    reward_clip: float = setting(
        0.0, "Clip the reward of each decision to plus or minus this; 0 for no limit.", low=0, high=1e9
    )


@dataclass(frozen=True)
class ValueConfig(OfflineConfig):
    """What the algorithms with target networks share."""

    target_every: int = setting(8000, "Updates between copies of the value network to its target.", low=1, high=10**9)


@dataclass(frozen=True)
class DQNConfig(ValueConfig):
    """Deep Q-network."""

    algorithm: ClassVar[str] = "dqn"
    presets: ClassVar[dict[str, dict[str, Any]]] = {"paper": _PAPER, "code": {**_CODE_Q, "learning_rate": 3e-5, "double": True}}

    double: bool = setting(False, "Double DQN: the online network chooses the action that the target network values.")


@dataclass(frozen=True)
class BCQConfig(ValueConfig):
    """Batch-constrained Q-learning."""

    algorithm: ClassVar[str] = "bcq"
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {**_PAPER, "flexibility": 0.3, "beta": 0.5},
        "code": {**_CODE_Q, "learning_rate": 1e-4, "flexibility": 0.5, "beta": 0.5},
    }

    flexibility: float = setting(
        0.3, "An action may be chosen if it is at least this likely, relative to the most likely one.", low=0, high=1
    )
    beta: float = setting(0.5, "Weight of the penalty on the squares of the log-probabilities.", low=0, high=1000)


@dataclass(frozen=True)
class CQLConfig(ValueConfig):
    """Conservative Q-learning."""

    algorithm: ClassVar[str] = "cql"
    presets: ClassVar[dict[str, dict[str, Any]]] = {"paper": {**_PAPER, "quantiles": 32}, "code": {**_CODE_Q, "quantiles": 32}}

    alpha: float = setting(1.0, "Weight of the conservative penalty.", low=0, high=1e6)
    quantiles: int = setting(0, "Quantiles of the value network; 0 learns the mean.", low=0, high=4096)


@dataclass(frozen=True)
class IQNConfig(ValueConfig):
    """Implicit quantile network."""

    algorithm: ClassVar[str] = "iqn"
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": _PAPER,
        "code": {**_CODE_Q, "learning_rate": 1e-4, "quantiles": 16, "greedy_quantiles": 16, "embedding": 512},
    }

    quantiles: int = setting(64, "Quantiles drawn for each decision of a batch.", low=1, high=4096)
    greedy_quantiles: int = setting(32, "Quantiles whose mean the policy acts on.", low=2, high=4096)
    embedding: int = setting(64, "Cosines that a quantile is embedded in.", low=1, high=4096)


@dataclass(frozen=True)
class SACConfig(ValueConfig):
    """Discrete soft actor-critic."""

    algorithm: ClassVar[str] = "sac"
    presets: ClassVar[dict[str, dict[str, Any]]] = {"paper": _PAPER, "code": _CODE_Q}

    batch_size: int = setting(64, "Decisions per gradient step.", low=1, high=65_536)
    learning_rate: float = setting(3e-4, "Adam's learning rate at the start.", above=0, high=1)
    entropy_learning_rate: float = setting(3e-4, "Adam's learning rate of the entropy's weight.", above=0, high=1)
    entropy_weight: float = setting(1.0, "Weight of the entropy at the start.", above=0, high=1e6)
    critics: int = setting(2, "Number of value networks; targets take the lowest value.", low=1, high=100)
    temperature: float = setting(
        1.0, "Temperature of the policy's draws; 0 takes the most likely action.", low=0, high=100, is_free=True
    )


@dataclass(frozen=True)
class IQLConfig(OfflineConfig):
    """Implicit Q-learning."""

    algorithm: ClassVar[str] = "iql"

    batch_size: int = setting(256, "Decisions per gradient step.", low=1, high=65_536)
    learning_rate: float = setting(3e-4, "Adam's learning rate at the start.", above=0, high=1)
    critics: int = setting(2, "Number of value networks; targets take the lowest value.", low=1, high=100)
    expectile: float = setting(0.7, "Which expectile of the values of its actions is the value of a state.", above=0, high=1)
    sharpness: float = setting(3.0, "How much more a better action is imitated (beta in the paper).", low=0, high=1000)
    max_weight: float = setting(100.0, "Largest weight of an imitated action.", above=0, high=1e9)
    target_rate: float = setting(
        0.005, "How far the target networks move to the value networks at each update.", above=0, high=1
    )
    temperature: float = setting(
        1.0, "Temperature of the policy's draws; 0 takes the most likely action.", low=0, high=100, is_free=True
    )


@dataclass(frozen=True)
class RewardConfig(RunConfig):
    """A reward from judged pairs, see `interplay.learn.reward`."""

    algorithm: ClassVar[str] = "reward"

    judges: str = setting("people", "Whose answers: people, models or all.", choices=("people", "models", "all"))
    updates: int = setting(2000, "Gradient steps.", low=1, high=10**9)
    weight_decay: float = setting(0.01, "Decoupled weight decay (AdamW); 0 is plain Adam.", low=0, high=1)
    learning_rate: float = setting(3e-4, "Adam's learning rate at the start.", above=0, high=1)
    hidden: tuple[int, ...] = setting((64, 64), "Units of the hidden layers, for observations that are numbers.")
    batch_size: int = setting(32, "Pairs per gradient step.", low=1, high=65_536)
    members: int = setting(3, "Number of networks; where they disagree, the reward is unsure.", low=1, high=100)
    samples: int = setting(32, "Decisions of each game that are looked at to compare a pair.", low=1, high=10_000)
    validation: float = setting(0.2, "Share of the worlds (seeds) held out to measure.", low=0, high=0.9)


CONFIGS: dict[str, type[TrainingConfig]] = {
    config.algorithm: config
    for config in (BCConfig, FilteredBCConfig, BCQConfig, CQLConfig, DQNConfig, IQLConfig, IQNConfig, SACConfig)
}
"""Algorithm -> its settings."""
