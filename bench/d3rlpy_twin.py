"""The same learner in d3rlpy, with the same first weights: what ours are compared with.

Needs d3rlpy 2.8.0:  pip install 'd3rlpy>=2.8,<2.8.1'  (2.8.1 wants another Gymnasium).
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from interplay.learn.config import TrainingConfig
from interplay.learn.harness.learner import Given, Learner

INSTALL = "pip install 'd3rlpy>=2.8,<2.8.1'"
CONFIGS = {
    "bc": "DiscreteBCConfig",
    "bcq": "DiscreteBCQConfig",
    "cql": "DiscreteCQLConfig",
    "iqn": "DQNConfig",
    "dqn": "DQNConfig",
    "sac": "DiscreteSACConfig",
}
"""Algorithm -> its settings in d3rlpy; IQN is DQN with other value networks there, and double DQN a class of its own."""


def import_d3rlpy() -> Any:
    """d3rlpy, without what its dependency `gym` says about its age.

    Raises:
        ModuleNotFoundError: If it is not installed.
    """
    with contextlib.redirect_stderr(io.StringIO()):
        import d3rlpy  # type: ignore[import-not-found]
    return d3rlpy


class Twin:
    """A learner of d3rlpy with the settings and weights of one of ours.

    Args:
        learner: Ours, of `config` and `given`; its weights are copied.
    """

    def __init__(self, learner: Learner, config: TrainingConfig, given: Given) -> None:
        self._d3rlpy = import_d3rlpy()
        algorithm, settings = config.algorithm, config.to_json()
        name = "DoubleDQNConfig" if settings.get("double") else CONFIGS[algorithm]
        is_picture = len(given.observation_shape) == 3
        encoders, functions = self._d3rlpy.models.encoders, self._d3rlpy.models.q_functions
        encoder = (
            encoders.PixelEncoderFactory(feature_size=config.features)
            if is_picture
            else encoders.VectorEncoderFactory(hidden_units=list(config.hidden))
        )
        theirs: dict[str, Any] = {"batch_size": config.batch_size}
        if is_picture:
            theirs["observation_scaler"] = self._d3rlpy.preprocessing.PixelObservationScaler()
        if algorithm == "sac":
            theirs |= dict.fromkeys(("actor_learning_rate", "critic_learning_rate"), config.learning_rate)
            theirs |= dict.fromkeys(("actor_encoder_factory", "critic_encoder_factory"), encoder)
            theirs |= {
                "temp_learning_rate": settings["entropy_learning_rate"],
                "initial_temperature": settings["entropy_weight"],
            }
        else:
            theirs |= {"learning_rate": config.learning_rate, "encoder_factory": encoder}
        if algorithm in ("bc", "bcq"):
            theirs["beta"] = settings["beta"]
        if algorithm != "bc":
            theirs |= {
                "gamma": settings["gamma"],
                "n_critics": settings["critics"],
                "target_update_interval": settings["target_every"],
            }
        if algorithm == "bcq":
            theirs["action_flexibility"] = settings["flexibility"]
        if algorithm == "cql":
            theirs["alpha"] = settings["alpha"]
            if settings["quantiles"]:
                theirs["q_func_factory"] = functions.QRQFunctionFactory(n_quantiles=settings["quantiles"])
        if algorithm == "iqn":
            theirs["q_func_factory"] = functions.IQNQFunctionFactory(
                n_quantiles=settings["quantiles"],
                n_greedy_quantiles=settings["greedy_quantiles"],
                embed_size=settings["embedding"],
            )
        self._algo = getattr(self._d3rlpy.algos, name)(**theirs).create(device=str(given.device))
        self._algo.create_impl(given.observation_shape, given.num_actions)
        self.modules = self._algo.impl.modules
        self.pairs = dict(self._paired(learner, algorithm))
        with torch.no_grad():
            for ours, other in self.pairs.values():
                other.copy_(ours.view_as(other) if other.numel() == 1 else ours)

    def batch(
        self, observations: np.ndarray, actions: np.ndarray, rewards: np.ndarray, after: np.ndarray, ends: np.ndarray
    ) -> Any:
        """A batch as d3rlpy takes it."""
        columns = [np.asarray(values, np.float32)[:, None] for values in (actions, rewards, ends)]
        return self._d3rlpy.dataset.TransitionMiniBatch(
            observations=observations.astype(np.float32),
            actions=columns[0],
            rewards=columns[1],
            next_observations=after.astype(np.float32),
            next_actions=columns[0],
            terminals=columns[2],
            intervals=np.ones_like(columns[0]),
            transitions=(),
        )

    def update(self, batch: Any) -> float:
        """One update; returns the first loss."""
        measured = self._algo.update(batch)
        return float(measured["critic_loss"] if "critic_loss" in measured else measured["loss"])

    def _paired(self, learner: Learner, algorithm: str) -> Iterator[tuple[str, tuple[torch.Tensor, torch.Tensor]]]:
        """The name of each parameter of ours, with it and theirs."""
        named: dict[int, str] = {
            id(parameter): f"{name}.{part}"
            for name, module in learner.modules.items()
            for part, parameter in module.named_parameters()
        }
        for ours, theirs in self._tensors(learner, algorithm):
            yield named[id(ours)], (ours, theirs)

    def _tensors(self, learner: Learner, algorithm: str) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        modules: Any = learner.modules
        if algorithm == "bc":
            yield from _same(modules["network"], self.modules.imitator, [("out", "_fc")])
            return
        heads = {"iqn": [("out", "_fc"), ("embed", "_embed")], "bcq": [("values", "_fc")]}.get(algorithm, [("out", "_fc")])
        for mine, theirs in (("critics", self.modules.q_funcs), ("targets", self.modules.targ_q_funcs)):
            for critic, other in zip(modules[mine], theirs, strict=True):
                yield from _same(critic, other, heads)
        if algorithm == "bcq":
            yield from zip(modules["critics"][0].imitation.parameters(), self.modules.imitator._fc.parameters(), strict=True)
        if algorithm == "sac":
            yield from _same(modules["actor"], self.modules.policy, [("out", "_fc")])
            (theirs,) = self.modules.log_temp.parameters()
            yield modules["entropy"][0], theirs


def _same(ours: Any, theirs: Any, heads: Sequence[tuple[str, str]]) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    yield from zip(ours.encoder.parameters(), theirs._encoder.parameters(), strict=True)
    for mine, other in heads:
        yield from zip(getattr(ours, mine).parameters(), getattr(theirs, other).parameters(), strict=True)
