"""The settings of each algorithm, and presets of published settings. The first line of a class is the help of its command.

`paper` is Table 7 of Gerstgrasser, Trivedi & Parkes 2022 (CrowdPlay, ICLR); what the table leaves open is d3rlpy's default.
`code` is their published program (`offline/offline-atari.py`), which differs: every batch has 256 decisions, targets are
updated every 2,500 updates, "DQN" is Double DQN, and a recording is read at one offset unless asked otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any, ClassVar, Self

from interplay.learn.config import ConfigError, RunConfig, TrainingConfig, inherited, setting

_MILLION = {"updates": 1_000_000}
_PAPER: dict[str, Any] = {**_MILLION, "offsets": (0, 1, 2, 3), "temperature": 0.0, "schedule": "constant"}
_CODE: dict[str, Any] = {**_MILLION, "offsets": (0,), "temperature": 0.0, "schedule": "constant", "batch_size": 256}
_CODE_Q = {**_CODE, "target_every": 2500}


@dataclass(frozen=True)
class BCConfig(TrainingConfig):
    """Behaviour cloning: act as the recorded player did."""

    algorithm: ClassVar[str] = "bc"
    uses_reward: ClassVar[bool] = False
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "fast": {"updates": 2000, "learning_rate": 2e-3, "shift": 1, "temperature": 0.6, "max_seconds": 45.0},
        "paper": {**_PAPER, "learning_rate": 1e-3, "batch_size": 100, "beta": 0.5},
        "code": {**_CODE, "learning_rate": 3e-5, "beta": 0.5},
        "iwr": {"actor": "any", "equal_shares": True},
    }

    schedule: str = inherited(RunConfig, "schedule", "cosine")
    temperature: float = inherited(TrainingConfig, "temperature", 1.0)
    label_smoothing: float = setting(0.0, "Share of each label spread over all actions.", low=0, high=0.99)
    beta: float = setting(0.0, "Weight of the penalty on the squares of the log-probabilities.", low=0, high=1000)
    shift: int = setting(0, "Move pictures by up to N pixels at random.", low=0, high=20)
    balance: float = setting(0.0, "0 keeps each action's own frequency, 1 gives all actions the same weight.", low=0, high=1)
    takeover_weight: float = setting(1.0, "Weight of a decision of a person who took over from an agent.", low=0, high=1e6)
    before_weight: float = setting(1.0, "Weight of an agent's decision shortly before a person took over.", low=0, high=1e6)
    rest_weight: float = setting(1.0, "Weight of every other decision.", low=0, high=1e6)
    before_steps: int = setting(60, "Steps before a takeover that count as shortly before it.", low=0, high=10**9)
    equal_shares: bool = setting(False, "Weigh all decisions after takeovers as much as all other decisions together.")

    @classmethod
    def fast(cls, task: str, **settings: Any) -> Self:
        """Settings for less than a minute on two cores, learning from a quarter of an hour of play."""
        return cls.preset("fast", task, **settings)


@dataclass(frozen=True)
class FilteredBCConfig(BCConfig):
    """Behaviour cloning of the episodes with the highest return."""

    algorithm: ClassVar[str] = "fbc"
    uses_reward: ClassVar[bool] = True

    best: float = setting(0.1, "Share of the episodes that are cloned, those of the highest return.", above=0, high=1)


_BEDD: dict[str, Any] = {
    "batch_size": 4096,
    "every": 2,
    "skip_still": True,
    "entropy_weight": 1e-5,
    "schedule": "constant",
    "mask_camera": False,
}


@dataclass(frozen=True)
class CloneConfig(TrainingConfig):
    """Cloning in first person: keys and camera, from pixels or from embeddings of VPT."""

    algorithm: ClassVar[str] = "clone"
    example: ClassVar[str] = "first-person/get_log --actor human"
    is_composed: ClassVar[bool] = True
    uses_reward: ClassVar[bool] = False
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {**_BEDD, "learning_rate": 1e-5},
        "code": {**_BEDD, "learning_rate": 1e-3},
    }

    embeddings: str | None = setting(None, "Learn from what VPT sees: a folder that `interplay demos embed` wrote.")
    observation: str = setting("small", "Input of the network, where it learns from pixels; see docs/agents.md.")
    updates: int = inherited(TrainingConfig, "updates", 3000)
    batch_size: int = inherited(RunConfig, "batch_size", 64)
    schedule: str = inherited(RunConfig, "schedule", "cosine")
    temperature: float = inherited(TrainingConfig, "temperature", 1.0)
    channels: tuple[int, ...] = setting((16, 32, 32), "Channels of each stack of convolutions, for pictures.")
    blocks: int = setting(2, "Residual blocks of each stack.", low=0, high=20)
    features: int = inherited(RunConfig, "features", 256)
    hidden: tuple[int, ...] = setting((1024, 1024, 1024), "Units of the hidden layers, for embeddings.")
    mask_camera: bool = setting(False, "Learn the camera only from decisions whose buttons turn it.")
    escape_weight: float = setting(1.0, "Weight of a decision that presses ESC, relative to others.", above=0, high=1e6)
    entropy_weight: float = setting(0.0, "Weight of the entropy; more entropy means more varied choices.", low=0, high=1000)
    l2_weight: float = setting(0.0, "Weight of the penalty: half the sum of the network's squared weights.", low=0, high=1000)
    every: int = setting(1, "Learn from every N-th decision.", low=1, high=10_000)
    skip_still: bool = setting(False, "Leave out decisions in which nothing was done.")
    shift: int = setting(0, "Move pictures by up to N pixels at random.", low=0, high=20)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.channels or any(not 1 <= one <= 4096 for one in self.channels):
            raise ConfigError(f"channels must be one or more numbers from 1 to 4096, got {list(self.channels)!r}")
        if self.embeddings is not None and (self.offsets != (0,) or self.shift):
            raise ConfigError(
                "offsets and shift are for pictures, and embeddings have none\nLearn without them: every step is a decision."
            )


@dataclass(frozen=True)
class DaggerConfig(BCConfig):
    """Rounds in which the learner plays and an expert, an agent or a person, says what to do (DAgger).

    See `interplay.learn.dagger`.
    """

    algorithm: ClassVar[str] = "dagger"
    example: ClassVar[str] = "atari/space_invaders --expert scripted"

    expert: str = setting("scripted", "Expert that says what to do: the name of an agent, or person.")
    rounds: int = setting(5, "Rounds; each makes an agent of its own.", low=1, high=1000, is_free=True)
    labels: int = setting(1000, "Decisions in each round for which the expert says what to do.", low=1, high=10**9)
    expert_share: float = setting(
        0.0, "Share of decisions by the expert in round 2; in round n, this share to the power of n - 1.", low=0, high=1
    )
    wait: bool = setting(True, "Wait until people have played enough; else continue with the games so far.", is_free=True)
    url: str = setting("http://127.0.0.1:8000", "Address of the server on which people play.", is_free=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("where", "equal_shares"):
            if getattr(self, name) and not self.by_person:
                raise ConfigError(f"{name} is only for people as experts, but the expert is {self.expert!r}; leave it out")

    @property
    def by_person(self) -> bool:
        return self.expert == "person"

    def run_of(self, folder: Path) -> str:
        return folder.name.rpartition(".")[0]


@dataclass(frozen=True)
class OfflineConfig(TrainingConfig):
    """Settings of the algorithms that learn from rewards."""

    learning_rate: float = inherited(RunConfig, "learning_rate", 6.25e-5)
    gamma: float = setting(0.99, "Discount factor of each decision.", low=0, high=1)
    critics: int = setting(1, "Number of value networks; targets take the lowest value.", low=1, high=100)
    reward_scale: float = setting(1.0, "Number by which rewards are multiplied.", above=0, high=1e9)
    reward_clip: float = setting(
        0.0, "Clip the reward of each decision to plus or minus this; 0 for no limit.", low=0, high=1e9
    )


@dataclass(frozen=True)
class ValueConfig(OfflineConfig):
    """Settings of the algorithms with target networks."""

    target_every: int = setting(8000, "Updates between copies of the value network to its target.", low=1, high=10**9)


@dataclass(frozen=True)
class DQNConfig(ValueConfig):
    """Deep Q-network: the action with the highest value."""

    algorithm: ClassVar[str] = "dqn"
    presets: ClassVar[dict[str, dict[str, Any]]] = {"paper": _PAPER, "code": {**_CODE_Q, "learning_rate": 3e-5, "double": True}}

    double: bool = setting(False, "Double DQN: the online network chooses the action that the target network values.")


@dataclass(frozen=True)
class BCQConfig(ValueConfig):
    """Batch-constrained Q-learning: the best of the actions that players take."""

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
    """Conservative Q-learning: the values of actions that nobody took are kept low."""

    algorithm: ClassVar[str] = "cql"
    presets: ClassVar[dict[str, dict[str, Any]]] = {"paper": {**_PAPER, "quantiles": 32}, "code": {**_CODE_Q, "quantiles": 32}}

    alpha: float = setting(1.0, "Weight of the conservative penalty.", low=0, high=1e6)
    quantiles: int = setting(0, "Quantiles of the value network; 0 learns the mean.", low=0, high=4096)


@dataclass(frozen=True)
class IQNConfig(ValueConfig):
    """Implicit quantile network: learn the whole distribution of returns, take the action with the highest mean."""

    algorithm: ClassVar[str] = "iqn"
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": _PAPER,
        "code": {**_CODE_Q, "learning_rate": 1e-4, "quantiles": 16, "greedy_quantiles": 16, "embedding": 512},
    }

    quantiles: int = setting(64, "Quantiles drawn for each decision of a batch.", low=1, high=4096)
    greedy_quantiles: int = setting(32, "Quantiles whose mean the policy uses to choose an action.", low=2, high=4096)
    embedding: int = setting(64, "Number of cosines in the embedding of a quantile.", low=1, high=4096)


@dataclass(frozen=True)
class SACConfig(ValueConfig):
    """Discrete soft actor-critic: action probabilities that balance value and variety."""

    algorithm: ClassVar[str] = "sac"
    presets: ClassVar[dict[str, dict[str, Any]]] = {"paper": _PAPER, "code": _CODE_Q}

    batch_size: int = inherited(RunConfig, "batch_size", 64)
    learning_rate: float = inherited(OfflineConfig, "learning_rate", 3e-4)
    entropy_learning_rate: float = setting(3e-4, "Adam's learning rate of the entropy's weight.", above=0, high=1)
    entropy_weight: float = setting(1.0, "Weight of the entropy at the start.", above=0, high=1e6)
    critics: int = inherited(OfflineConfig, "critics", 2)
    temperature: float = inherited(TrainingConfig, "temperature", 1.0)


@dataclass(frozen=True)
class IQLConfig(OfflineConfig):
    """Implicit Q-learning: imitate most the actions that turned out best."""

    algorithm: ClassVar[str] = "iql"

    batch_size: int = inherited(RunConfig, "batch_size", 256)
    learning_rate: float = inherited(OfflineConfig, "learning_rate", 3e-4)
    critics: int = inherited(OfflineConfig, "critics", 2)
    expectile: float = setting(0.7, "Expectile of the taken actions' values that is the value of a state.", above=0, high=1)
    sharpness: float = setting(3.0, "How strongly imitation prefers better actions (beta in the paper).", low=0, high=1000)
    max_weight: float = setting(100.0, "Largest weight of an imitated action.", above=0, high=1e9)
    target_rate: float = setting(
        0.005, "Share by which target networks approach the value networks at each update.", above=0, high=1
    )
    temperature: float = inherited(TrainingConfig, "temperature", 1.0)


@dataclass(frozen=True)
class RewardConfig(RunConfig):
    """A reward learned from judged pairs; the other algorithms take it as `--reward NAME`.

    See `interplay.learn.reward`.
    """

    algorithm: ClassVar[str] = "reward"
    makes: ClassVar[tuple[str, str]] = "reward", "rewards"

    study: str | None = setting(
        None, "Learn from the answers of a study of segments; the reward then chooses what it asks next."
    )
    judges: str = setting("people", "Whose answers: people, models or all.", choices=("people", "models", "all"))
    updates: int = setting(2000, "Gradient steps.", low=1, high=10**9)
    weight_decay: float = inherited(RunConfig, "weight_decay", 0.01)
    learning_rate: float = inherited(RunConfig, "learning_rate", 3e-4)
    hidden: tuple[int, ...] = inherited(RunConfig, "hidden", (64, 64))
    batch_size: int = setting(32, "Pairs per gradient step.", low=1, high=65_536)
    members: int = setting(3, "Number of networks; where they disagree, the reward is unsure.", low=1, high=100)
    samples: int = setting(32, "Number of decisions of each game that are used to compare a pair.", low=1, high=10_000)
    validation: float = setting(0.2, "Share of the worlds (seeds) held out to measure.", low=0, high=0.9)


@dataclass(frozen=True)
class PPOConfig(RunConfig):
    """Proximal policy optimisation: learn by playing, in every seat of the task at once.

    The preset `atari` is that of Huang et al. 2022, "The 37 implementation details of proximal policy optimization"; `control`
    is for small worlds that give numbers, such as cart and pole. See `interplay.learn.online`.
    """

    algorithm: ClassVar[str] = "ppo"
    learns_by_playing: ClassVar[bool] = True
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "atari": {"steps": 10_000_000, "clip": 0.1, "clip_values": True, "reward_clip": 1.0},
        "control": {"observation": "state", "steps": 100_000, "learning_rate": 1e-3, "batch_size": 128, "epochs": 10},
    }

    seat: str | None = setting(None, "Not allowed: one network plays every seat and learns from all.")
    steps: int = setting(
        1_000_000, "Decisions to learn from, of all games and seats; the last round is played to its end.", low=1, high=10**12
    )
    games: int = setting(8, "Games that are played at once.", low=1, high=10_000)
    horizon: int = setting(128, "Decisions of each seat in a round, after which the network learns.", low=1, high=1_000_000)
    workers: int = setting(1, "Processes that play games, including the process that learns.", low=1, high=1000)
    epochs: int = setting(4, "How often the network learns from each decision of a round.", low=1, high=1000)
    batch_size: int = setting(256, "Rough number of decisions per gradient step: rounds are cut evenly.", low=1, high=65_536)
    learning_rate: float = inherited(RunConfig, "learning_rate", 2.5e-4)
    schedule: str = setting(
        "linear",
        "How the learning rate changes over the run: constant, cosine or linear, the last two to zero.",
        choices=("constant", "cosine", "linear"),
    )
    hidden: tuple[int, ...] = inherited(RunConfig, "hidden", (64, 64))
    gamma: float = inherited(OfflineConfig, "gamma", 0.99)
    gae_lambda: float = setting(0.95, "How far advantages look ahead: 0 for one decision, 1 to the end.", low=0, high=1)
    clip: float = setting(0.2, "How far the probability of an action may move in a round, as a share.", above=0, high=1e9)
    clip_values: bool = setting(False, "Clip the change of values in the same way.")
    value_weight: float = setting(0.5, "Weight of the values' loss.", low=0, high=1e6)
    entropy_weight: float = setting(0.01, "Weight of the entropy, which keeps actions varied.", low=0, high=1e6)
    max_gradient: float = setting(0.5, "Largest norm of a gradient; longer gradients are scaled down to it.", above=0, high=1e9)
    reward: str | None = inherited(TrainingConfig, "reward", None)
    reward_scale: float = inherited(OfflineConfig, "reward_scale", 1.0)
    reward_clip: float = inherited(OfflineConfig, "reward_clip", 0.0)
    temperature: float = inherited(TrainingConfig, "temperature", 1.0)
    log_every: int = setting(1, "Rounds between lines of metrics.", low=1, high=10**9, is_free=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.workers > self.games:
            raise ConfigError(f"workers must be at most games, which is {self.games}, got {self.workers}")
        if self.batch_size > self.games * self.horizon:
            raise ConfigError(
                f"batch_size must be at most the decisions of a round, {self.games} games x {self.horizon} (horizon) = "
                f"{self.games * self.horizon}, got {self.batch_size}"
            )

    def rounds(self, num_seats: int) -> int:
        """Number of rounds that together have at least `steps` decisions.

        >>> PPOConfig("t", steps=1000, games=4, horizon=12, batch_size=48).rounds(num_seats=2)
        11
        """
        return ceil(self.steps / (self.games * self.horizon * num_seats))


CONFIGS: dict[str, type[TrainingConfig]] = {
    config.algorithm: config
    for config in (BCConfig, FilteredBCConfig, CloneConfig, BCQConfig, CQLConfig, DQNConfig, IQLConfig, IQNConfig, SACConfig)
}
"""Algorithm -> class of its settings."""
