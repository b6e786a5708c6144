"""Choose the next two episodes, given all pairs of agents in the order of a pairing rule. No database is needed."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from interplay.judge.pairing.rule import AgentPair

EpisodePair = frozenset[str]
"""Ids of two episodes, without an order."""


class Candidate(NamedTuple):
    """One seat of an episode that may be shown.

    Attributes:
        was_cut: Whether the time limit ended the episode, so that its length is that limit.
        has_people: Whether a person held a seat of the episode; judges never see their own game.
    """

    agent: str
    task_hash: str
    seed: int
    episode_id: str
    num_steps: int
    was_cut: bool
    has_people: bool = False
    seat: str = ""


class ChosenEpisodes(NamedTuple):
    """Two episodes of one task version and one seed, in which the same seat is compared. Their sides were drawn at random."""

    left: Candidate
    right: Candidate


class JudgeHistory(NamedTuple):
    """The matches of one task that one judge has been shown."""

    pairs: frozenset[EpisodePair]
    times_seed: Mapping[int, int]

    @classmethod
    def of(cls, shown: Iterable[tuple[int, EpisodePair]]) -> JudgeHistory:
        shown = list(shown)
        return cls(frozenset(pair for _, pair in shown), Counter(seed for seed, _ in shown))


def choose(
    candidates: Iterable[Candidate],
    pairs: Sequence[AgentPair],
    *,
    taken: frozenset[EpisodePair],
    history: JudgeHistory,
    times_shown: Callable[[str, str], Mapping[EpisodePair, int]],
    can_show: Callable[[Candidate], bool],
    rng: np.random.Generator,
) -> ChosenEpisodes | None:
    """Choose the next two episodes for one judge; return None when nothing is left to show.

    Pairs of agents are tried in the given order. The first pair of agents with two episodes that this judge has not seen
    together is taken. Only a judge who has seen all episode pairs sees one again. Among the episode pairs of the two agents,
    seeds that this judge has seen least come first, then pairs shown least to anyone; chance decides the rest.

    Args:
        candidates: Candidates of any task versions; two versions are never compared.
        pairs: From `PairingRule.order`.
        taken: Episode pairs that another judge has open.
        times_shown: Two agents -> how often each of their episode pairs was served.
        can_show: Whether an episode's video exists.
        rng: Breaks ties and draws the sides.
    """
    by_agent = _by_agent(candidates)
    for again in (False, True):
        for pair in pairs:
            options = [
                option
                for option in _options(by_agent.get(pair.a, {}), by_agent.get(pair.b, {}))
                if _ids(option) not in taken and (_ids(option) in history.pairs) == again
            ]
            if not options:
                continue
            shown = times_shown(pair.a, pair.b)
            draw = rng.permutation(len(options))
            times_seed = history.times_seed.get
            keys = [(times_seed(one.left.seed, 0), shown.get(_ids(one), 0), at) for one, at in zip(options, draw, strict=True)]
            for place in sorted(range(len(options)), key=keys.__getitem__):
                option = options[place]
                if all([can_show(option.left), can_show(option.right)]):  # both are asked: what is missing is made
                    # Sides are drawn given the pair: judges prefer one side slightly (docs/judging.md, "Sides").
                    return option if rng.random() < 0.5 else ChosenEpisodes(option.right, option.left)
    return None


def num_pairs(candidates: Iterable[Candidate]) -> int:
    options = itertools.starmap(_options, itertools.combinations(_by_agent(candidates).values(), 2))
    return len({_ids(option) for found in options for option in found})


def _by_agent(candidates: Iterable[Candidate]) -> dict[str, dict[tuple[str, int], list[Candidate]]]:
    by_agent: dict[str, dict[tuple[str, int], list[Candidate]]] = defaultdict(lambda: defaultdict(list))
    for candidate in candidates:
        by_agent[candidate.agent][candidate.task_hash, candidate.seed].append(candidate)
    return by_agent


def _options(
    a: Mapping[tuple[str, int], list[Candidate]], b: Mapping[tuple[str, int], list[Candidate]]
) -> list[ChosenEpisodes]:
    """Return all comparable pairs of two entrants' episodes, of one task version and seed. No episode is paired with itself."""
    return [
        ChosenEpisodes(one, other)
        for key in sorted(a.keys() & b.keys())
        for one, other in itertools.product(a[key], b[key])
        if one.episode_id != other.episode_id and one.seat == other.seat and comparable(one, other)
    ]


def comparable(one: Candidate, other: Candidate) -> bool:
    """Whether both episodes could have been played under one time limit.

    A rollout may be cut short (`interplay play --max-seconds`). The limit of an episode that was cut is its own length. Any
    other episode would have ended in the same way under every limit that is not shorter than the episode.

    >>> cut, game = Candidate("a", "", 1, "x", 1800, True), Candidate("b", "", 1, "y", 5000, False)
    >>> comparable(cut, cut), comparable(game, game), comparable(cut, game), comparable(cut, game._replace(num_steps=900))
    (True, True, False, True)
    """
    if one.was_cut and other.was_cut:
        return one.num_steps == other.num_steps
    if one.was_cut or other.was_cut:
        cut, ended = (one, other) if one.was_cut else (other, one)
        return ended.num_steps <= cut.num_steps
    return True


def _ids(pairing: ChosenEpisodes) -> EpisodePair:
    return frozenset((pairing.left.episode_id, pairing.right.episode_id))
