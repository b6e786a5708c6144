"""Transitions, the data of learners: decisions of recorded episodes with observation, action, reward and next observation.

Pictures stay in a file and are read when a batch needs them; only a few numbers of each decision are in memory.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import gymnasium
import numpy as np

from interplay.agents.first_person import is_composed
from interplay.errors import InterplayError
from interplay.tasks import Task

COLUMNS: dict[str, Any] = {
    "at": np.int64,
    "first": np.int64,
    "actions": np.int64,
    "rewards": np.float64,
    "terminated": np.bool_,
    "truncated": np.bool_,
    "steps": np.int32,
    "held": np.int32,
    "offsets": np.int8,
    "episodes": np.int32,
    "owners": np.int16,
    "until_takeover": np.int32,
    "labels": np.int64,
}
"""Name of each field of `Transitions` that has a value for each decision -> type of these values."""


class TransitionError(InterplayError):
    """A learner cannot use the episodes; the text says what to record or ask for instead."""


class EpisodeCounts(NamedTuple):
    """One episode of the data: its id, seed, number of steps, and number of decisions."""

    episode: str
    seed: int
    num_steps: int
    num_decisions: int


class Owner(NamedTuple):
    """The actor of a step: its name, and its kind: `human`, `agent` or `model`."""

    name: str
    kind: str


@dataclass(frozen=True)
class Transitions:
    """N decisions. A decision lasts `held` steps: its action is repeated, and its reward is the sum of the steps' rewards.

    The decisions of one episode at one offset are a stream: their pictures follow one another, and one more picture shows the
    end. So the next observation of a decision is the observation of the following decision. A stack has the last pictures up to
    a decision; before the start of the stream, its first picture is repeated.

    Attributes:
        pictures: Shape (P, ...); uint8 pictures or float32 numbers, usually one memory map, or many
            (`interplay.learn.latents.Shards`).
        stack: Number of pictures in one observation, along a new first axis; 0: one picture without a new axis.
        at: int64, shape (N,): index of the picture at which the decision was made; the next picture is its next observation.
        first: int64, shape (N,): index of the first picture of its stream.
        actions: int64, shape (N,): the action held for most of its steps, numbered from 0 in its space; for composed actions
            shape (N, 3), the three choices (`interplay.agents.first_person`).
        rewards: float64, shape (N,): the sum of rewards over its steps.
        terminated, truncated: bool, shape (N,): whether the episode ended with the decision, by the world or by a limit.
        steps: int32, shape (N,): the step of the episode at which the decision begins.
        held: int32, shape (N,): number of its steps: the pipeline's frame skip; fewer at the end of an episode, and at the
            beginning of a stream with an offset above 0.
        offsets: int8, shape (N,): the offset of its stream.
        episodes: int32, shape (N,): index of its episode in `counts`.
        owners: int16, shape (N,): index in `names` of the owner of all its steps; -1 if there are several owners or no owner.
        until_takeover: int32, shape (N,): 0 if a person who had taken over from an agent acted in all its steps; n above 0 if
            an agent acted at its first step, and a person took over n steps later; -1 otherwise.
        labels: int64, shape (N,): the action that an expert, asked at each step, would have taken for most of its steps;
            -1 if nobody was asked.
    """

    pictures: Any = field(repr=False)
    stack: int
    at: np.ndarray = field(repr=False)
    first: np.ndarray = field(repr=False)
    actions: np.ndarray = field(repr=False)
    rewards: np.ndarray = field(repr=False)
    terminated: np.ndarray = field(repr=False)
    truncated: np.ndarray = field(repr=False)
    steps: np.ndarray = field(repr=False)
    held: np.ndarray = field(repr=False)
    offsets: np.ndarray = field(repr=False)
    episodes: np.ndarray = field(repr=False)
    owners: np.ndarray = field(repr=False)
    until_takeover: np.ndarray = field(repr=False)
    labels: np.ndarray = field(repr=False)
    counts: tuple[EpisodeCounts, ...] = field(repr=False)
    names: tuple[Owner, ...]

    def __len__(self) -> int:
        return len(self.actions)

    @property
    def observation_shape(self) -> tuple[int, ...]:
        return ((self.stack,) if self.stack else ()) + self.pictures.shape[1:]

    def observations(self, which: np.ndarray) -> np.ndarray:
        """Return the observations of some decisions: shape (len(which), *observation_shape)."""
        return self._seen(which, 0)[0]

    def pairs(self, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (observations, next observations) of some decisions, each of shape (len(which), *observation_shape)."""
        before, after = self._seen(which, 1)
        assert after is not None
        return before, after

    def _seen(self, which: np.ndarray, ahead: int) -> tuple[np.ndarray, np.ndarray | None]:
        order = np.arange(1 - max(self.stack, 1), 1 + ahead)
        places = np.maximum(self.at[which, None] + order, self.first[which, None])
        seen = np.asarray(self.pictures[places])  # (B, stack + ahead, ...)
        if not self.stack:
            return seen[:, 0], seen[:, 1] if ahead else None
        return seen[:, : self.stack], seen[:, 1:] if ahead else None

    def returns(self) -> np.ndarray:
        """Return of each episode of `counts`: float64; the mean over its streams, which differ only by rounding and gaps."""
        streams = np.unique(np.stack([self.episodes, self.offsets]), axis=1)[0]
        sums = np.bincount(self.episodes, self.rewards, minlength=len(self.counts))
        return sums / np.maximum(np.bincount(streams, minlength=len(self.counts)), 1)

    def action_counts(self) -> dict[Any, int]:
        """Map each action (or the choices of a composed action) to its number of decisions, most frequent first."""
        taken = self.actions.tolist() if self.actions.ndim == 1 else map(tuple, self.actions.tolist())
        return dict(Counter(taken).most_common())

    def of(self, actor: str) -> Self:
        """Return the decisions in which this actor, given by name or kind (`human`, `agent`, `model`), acted at every step.

        Other decisions are left out, which leaves gaps; the next observations stay available.
        """
        codes = [code for code, owner in enumerate(self.names) if actor in owner]
        return self.only(np.isin(self.owners, codes))

    def labelled(self, expert: str) -> Self:
        """Return the decisions for which this expert was asked, and the decisions in which it acted itself at every step."""
        is_asked = self.labels >= 0
        acted = np.isin(self.owners, [code for code, owner in enumerate(self.names) if owner.name == expert])
        return replace(self, actions=np.where(is_asked, self.labels, self.actions)).only(is_asked | acted)

    def only(self, wanted: np.ndarray) -> Self:
        """Return the decisions chosen by a mask or indices; `counts` then has the remaining number for each episode."""
        chosen = {name: getattr(self, name)[wanted] for name in COLUMNS}
        left = np.bincount(chosen["episodes"], minlength=len(self.counts)).tolist()
        counts = tuple(one._replace(num_decisions=number) for one, number in zip(self.counts, left, strict=True))
        return replace(self, **chosen, counts=counts)

    def split(self, fraction: float, *, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return the indices of training and of validation decisions; an episode is never split between the two.

        Neighbouring decisions look alike, so a validation set drawn from the same episodes would only measure memory.
        `fraction` is the share of episodes to hold out: rounded, but at least one of two or more episodes; 0 holds out none.
        """
        num_episodes = len(self.counts)
        num_held_out = 0
        if fraction > 0 and num_episodes > 1:
            num_held_out = min(num_episodes - 1, max(1, round(fraction * num_episodes)))
        held_out = rng.permutation(num_episodes)[:num_held_out]
        is_held_out = np.isin(self.episodes, held_out)
        return np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)


NOT_LEARNED = "No algorithm here learns such actions. An agent of your own can play them; docs/agents.md shows one."


def require_discrete(space: gymnasium.Space[Any], task: Task, algorithm: str) -> gymnasium.spaces.Discrete:
    """Return a seat's action space if it is discrete; else raise `TransitionError`, which says what to do instead."""
    if isinstance(space, gymnasium.spaces.Discrete):
        return space
    if is_composed(space):
        raise TransitionError(
            f"the actions of {task.id} are keys and a camera; {algorithm} needs one whole number per step\n"
            f"Learn from first-person games with:  interplay learn clone --task {task.id} --out NAME"
        )
    raise TransitionError(f"task {task.id} has actions in {space}; {algorithm} needs discrete ones\n{NOT_LEARNED}")
