"""Transitions, which every learner learns from: decisions of recorded episodes, with observation, action, reward, and next
observation.

Pictures lie in a file and are read when a batch asks for them; only some numbers of each decision are in memory.
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
"""Field of `Transitions` with a value for each decision -> its type."""


class TransitionError(InterplayError):
    """Episodes that cannot be learned from; the text says what to record or ask for instead."""


class EpisodeCounts(NamedTuple):
    """The contribution of one episode: its id, seed, steps, and number of decisions."""

    episode: str
    seed: int
    num_steps: int
    num_decisions: int


class Owner(NamedTuple):
    """The owner of a step: a name, and `human`, `agent` or `model`."""

    name: str
    kind: str


@dataclass(frozen=True)
class Transitions:
    """N decisions. Each lasts some steps (`held`), in which its action is repeated and whose rewards are its reward.

    Decisions of one episode at one offset are a stream: their pictures follow one another, and one more shows the end. So the
    next observation of decision n is the observation of the decision after it, and a stack is the pictures up to one of them,
    the first of the stream standing in for those before it.

    Attributes:
        pictures: Shape (P, ...); uint8 pictures or float32 numbers, usually a memory map, or several
            (`interplay.learn.latents.Shards`).
        stack: How many pictures are one observation, along a new first axis; 0 where a picture is one without that axis.
        at: int64, shape (N,): the picture at which a decision was made; the next one is its next observation.
        first: int64, shape (N,): the first picture of its stream.
        actions: int64, shape (N,): the action held for most of its steps, as its place in its space, from 0; shape (N, 3) for
            composed actions, their choices (`interplay.agents.first_person`).
        rewards: float64, shape (N,): the sum over its own steps.
        terminated, truncated: bool, shape (N,): whether the episode ended with it, by the world or by us.
        steps: int32, shape (N,): the step of the episode at which it begins.
        held: int32, shape (N,): how many steps it lasts; fewer than the pipeline's at the end of an episode, and at the
            beginning of a stream that starts with another frame.
        offsets: int8, shape (N,): the offset of its stream.
        episodes: int32, shape (N,): index into `counts`.
        owners: int16, shape (N,): index into `names` of the owner of all its steps; -1 where there are several, or none.
        until_takeover: int32, shape (N,): 0 where a person acted in all its steps who had taken over from an agent; n above 0
            where an agent acted at its first step, and a person took over n steps later; -1 elsewhere.
        labels: int64, shape (N,): the action that an expert who was asked at each step would have taken for most of its steps;
            -1 where nobody was asked.
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
        """Observations of some decisions: shape (len(which), *observation_shape)."""
        return self._seen(which, 0)[0]

    def pairs(self, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(observations, the next observations) of some decisions, each of shape (len(which), *observation_shape)."""
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
        """Return of each episode of `counts`: float64; the mean over its streams, which are equal but for rounding and gaps."""
        streams = np.unique(np.stack([self.episodes, self.offsets]), axis=1)[0]
        sums = np.bincount(self.episodes, self.rewards, minlength=len(self.counts))
        return sums / np.maximum(np.bincount(streams, minlength=len(self.counts)), 1)

    def action_counts(self) -> dict[Any, int]:
        """Action, or the choices of a composed one -> number of decisions, most frequent first."""
        taken = self.actions.tolist() if self.actions.ndim == 1 else map(tuple, self.actions.tolist())
        return dict(Counter(taken).most_common())

    def of(self, actor: str) -> Self:
        """The decisions in whose steps only this actor acted, a name or a kind (`human`, `agent`, `model`).

        Such a choice leaves gaps; the next observations stay known.
        """
        codes = [code for code, owner in enumerate(self.names) if actor in owner]
        return self.only(np.isin(self.owners, codes))

    def labelled(self, expert: str) -> Self:
        """The decisions with an expert's action: those for which it was asked, and those in whose steps it acted itself."""
        is_asked = self.labels >= 0
        acted = np.isin(self.owners, [code for code, owner in enumerate(self.names) if owner.name == expert])
        return replace(self, actions=np.where(is_asked, self.labels, self.actions)).only(is_asked | acted)

    def only(self, wanted: np.ndarray) -> Self:
        """Some of the decisions, by a mask or indices; `counts` says how many are left of each episode."""
        chosen = {name: getattr(self, name)[wanted] for name in COLUMNS}
        left = np.bincount(chosen["episodes"], minlength=len(self.counts)).tolist()
        counts = tuple(one._replace(num_decisions=number) for one, number in zip(self.counts, left, strict=True))
        return replace(self, **chosen, counts=counts)

    def split(self, fraction: float, *, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Indices of training and validation decisions, whole episodes kept together.

        Neighbouring decisions look alike, so a validation set drawn from the same episodes would only measure memory.
        `fraction` is the share of the episodes to hold out, rounded, but at least one if there are two or more; 0 for none.
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
    """The space of a seat's actions, if an algorithm can learn them; else `TransitionError`, which names one that can."""
    if isinstance(space, gymnasium.spaces.Discrete):
        return space
    if is_composed(space):
        raise TransitionError(
            f"the actions of {task.id} are keys and a camera; {algorithm} needs one whole number per step\n"
            f"Learn from first-person games with:  interplay learn clone --task {task.id} --out NAME"
        )
    raise TransitionError(f"task {task.id} has actions in {space}; {algorithm} needs discrete ones\n{NOT_LEARNED}")
