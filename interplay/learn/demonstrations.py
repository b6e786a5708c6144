"""From recorded episodes to what a learner eats: stacks of pictures and the action of each decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from interplay.envs import pipeline
from interplay.errors import InterplayError

if TYPE_CHECKING:
    from interplay.record import Episode


class DemonstrationError(InterplayError):
    """Episodes that cannot be learned from; the text says what to record or ask for instead."""


class EpisodeCounts(NamedTuple):
    """What one episode gave: its id, seed, steps, and number of decisions."""

    episode: str
    seed: int
    num_steps: int
    num_decisions: int


@dataclass(frozen=True)
class Demonstrations:
    """Decisions of recorded episodes. A stack is kept as indices, so each picture is in memory once.

    Attributes:
        pictures: uint8, shape (P, 84, 84).
        stacks: int32, shape (N, 4): the pictures of each decision's observation, oldest first.
        actions: int64, shape (N,): the action of each decision.
        episodes: int32, shape (N,): index into `counts` of the episode a decision comes from.
        counts: One entry per episode.
    """

    pictures: np.ndarray
    stacks: np.ndarray
    actions: np.ndarray
    episodes: np.ndarray
    counts: tuple[EpisodeCounts, ...]

    def __len__(self) -> int:
        """Number of decisions."""
        return len(self.actions)

    def observations(self, which: np.ndarray) -> np.ndarray:
        """Observations of some decisions: uint8, shape (len(which), 4, 84, 84)."""
        return self.pictures[self.stacks[which]]

    def action_counts(self) -> dict[int, int]:
        """Action -> number of decisions, most frequent first."""
        return dict(Counter(self.actions.tolist()).most_common())

    def split(self, fraction: float, *, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Indices of training and validation decisions, whole episodes kept together.

        Neighbouring decisions look alike, so a validation set drawn from the same episodes would only measure memory.

        Args:
            fraction: Share of the episodes to hold out, rounded, but at least one if there are two or more; 0 for none.
            rng: Chooses them.
        """
        num_episodes = len(self.counts)
        num_held_out = 0
        if fraction > 0 and num_episodes > 1:
            num_held_out = min(num_episodes - 1, max(1, round(fraction * num_episodes)))
        held_out = rng.permutation(num_episodes)[:num_held_out]
        is_held_out = np.isin(self.episodes, held_out)
        return np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)


def load(
    episodes: Iterable[Episode],
    *,
    observation: str = "dqn",
    offsets: Sequence[int] = (0,),
    actor: str | None = None,
    on_episode: Callable[[int], None] | None = None,
) -> Demonstrations:
    """Read episodes into decisions.

    A recording has native frames and an action for each; a network decides once in `frame_skip` (4) of them. The decision
    at step t sees the pipeline's observation of step t, and its label is the action held for most of steps t to t + 3
    (ties: the one pressed first), because a person's finger moves at any frame. The last decision of an episode is kept
    though fewer steps follow it.

    Args:
        episodes: Of one kind of world, with discrete actions.
        observation: Pipeline; its frames must be 84x84 stacks of 4.
        offsets: Steps at which decisions begin, each below the frame skip. `(0,)` reads each frame once; `(0, 1, 2, 3)`
            gives four times as many decisions, each shifted by a frame: more to learn from when episodes are few.
        actor: Whose decisions: a kind (`human`, `agent`, `model`) or a name; None takes everyone's. A decision in whose steps
            somebody else acted, such as an agent at a shared wheel, is left out.
        on_episode: Called with the number of episodes read so far.
    Raises:
        DemonstrationError: If there is no decision at all, or actions are not discrete.
        ValueError: If an offset is not below the frame skip.
    """
    skip = pipeline(observation).frame_skip
    if not offsets or any(not 0 <= offset < skip for offset in offsets):
        raise ValueError(f"offsets must lie between 0 and {skip - 1}, got {tuple(offsets)!r}")
    pictures: list[np.ndarray] = []
    stacks: list[np.ndarray] = []
    actions: list[np.ndarray] = []
    owners: list[np.ndarray] = []
    counts: list[EpisodeCounts] = []
    for index, episode in enumerate(episodes):
        taken = np.asarray(episode.actions())
        if taken.ndim != 1 or not np.issubdtype(taken.dtype, np.integer):
            raise DemonstrationError(
                f"episode {episode.id} of {episode.task_id} has actions of shape {taken.shape[1:]} and type {taken.dtype}; "
                "behaviour cloning here needs one whole number per step"
            )
        acted = _acted(episode, actor)
        num_decisions = 0
        for start, its_pictures in _pictures_by_offset(episode, observation, sorted(set(offsets)), len(taken)):
            labels = held_actions(taken[start:], skip)
            its_pictures = its_pictures[: len(labels)]  # the observation after the last action has no action
            base = sum(map(len, pictures))
            order = np.arange(len(labels))[:, None] + np.arange(-3, 1)
            whole = np.logical_and.reduceat(acted[start:], np.arange(0, len(taken) - start, skip))
            # The first picture fills the first stacks.
            stacks.append((base + np.maximum(order, 0)).astype(np.int32)[whole])
            pictures.append(its_pictures)
            actions.append(labels[whole])
            owners.append(np.full(int(whole.sum()), index, np.int32))
            num_decisions += int(whole.sum())
        counts.append(EpisodeCounts(episode.id, episode.seed, len(taken), num_decisions))
        if on_episode is not None:
            on_episode(index + 1)
    if not any(map(len, actions)):
        raise DemonstrationError("the episodes hold no step to learn from")
    return Demonstrations(
        np.concatenate(pictures), np.concatenate(stacks), np.concatenate(actions), np.concatenate(owners), tuple(counts)
    )


def _acted(episode: Episode, actor: str | None) -> np.ndarray:
    """bool, shape (T,): the steps in which this one acted for the first seat."""
    if actor is None or len(episode.seats) == 1:
        return np.ones(episode.num_steps, bool)
    seat = episode.seats[0].seat
    names = [held.actor for held in episode.seats if held.seat == seat and actor in (held.actor, held.actor_kind)]
    return np.isin(np.array(episode.steps().column(f"owner.{seat}").to_pylist()[:-1]), names)


def held_actions(actions: np.ndarray, skip: int) -> np.ndarray:
    """The label of each decision: the action held for most of its `skip` steps, ties going to the one that came first.

    Args:
        actions: int, shape (T,).
        skip: Steps per decision; the last decision may have fewer.
    Returns:
        int64, shape (ceil(T / skip),).

    >>> held_actions(np.array([0, 3, 3, 3, 4, 4, 1, 1, 2]), 4).tolist()
    [3, 4, 2]
    """
    labels = []
    for start in range(0, len(actions), skip):
        held = Counter(actions[start : start + skip].tolist())  # keeps the order of first appearance, and so does max
        labels.append(max(held, key=held.__getitem__))
    return np.array(labels, np.int64)


def _pictures_by_offset(
    episode: Episode, observation: str, offsets: Sequence[int], num_steps: int
) -> Iterator[tuple[int, np.ndarray]]:
    """(offset, pictures) of the decisions from each offset on, reading the frames once."""
    offsets = [offset for offset in offsets if offset < num_steps]
    views = {offset: pipeline(observation) for offset in offsets}
    seen: dict[int, list[np.ndarray]] = {offset: [] for offset in offsets}
    for step, frame in enumerate(episode.observed.passing(0, num_steps + 1)):
        for offset, view in views.items():
            if step < offset:
                continue
            stack = view.reset(frame) if step == offset else view.push(frame, ended=step == num_steps)
            if stack is not None:
                seen[offset].append(stack[-1].copy())
    for offset in offsets:
        yield offset, np.stack(seen[offset])
