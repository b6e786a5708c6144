"""A log of answers as arrays, and the methods that rank it: TrueSkill, Bradley-Terry (a tie is half a win) and Davidson.

`METHODS` lists all methods. Each is one entry with two functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from interplay.rank import bradley_terry, davidson
from interplay.rank.normal import draw_corrections, win_corrections
from interplay.rank.ranking import Options, Ranking, Scale, Scores, connected
from interplay.rank.standings import Comparison, Standings
from interplay.rank.trueskill import OUTCOMES

LEFT, RIGHT, DRAW = range(3)
"""Codes of outcomes: their indices in `OUTCOMES`."""
_CODE = {outcome: code for code, outcome in enumerate(OUTCOMES)}


@dataclass(frozen=True, eq=False)
class Log:
    """N answers about n agents.

    Attributes:
        agents: Names, sorted; arrays refer to agents by their indices here.
        left, right: int64, shape (N,).
        outcome: int64, shape (N,); `LEFT`, `RIGHT` or `DRAW`.
        judges, judge: Names of judges, sorted; and the judge of each answer as an index, int64, shape (N,).
    """

    agents: tuple[str, ...]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    outcome: NDArray[np.int64]
    judges: tuple[str, ...]
    judge: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.outcome)

    @classmethod
    def of(cls, comparisons: Iterable[Comparison], *, agents: Sequence[str] = ()) -> Log:
        """Make a log of answers, in their order; it also includes `agents` that no answer names.

        Raises:
            ValueError: If an answer has the same agent on both sides or an unknown outcome.

        >>> log = Log.of([Comparison("bob", "ada", "left"), Comparison("ada", "bob", "draw")])
        >>> log.agents, log.left.tolist(), log.outcome.tolist()
        (('ada', 'bob'), [1, 0], [0, 2])
        """
        comparisons = comparisons if isinstance(comparisons, list) else list(comparisons)
        for comparison in comparisons:
            if comparison.left == comparison.right:
                raise ValueError(f"an agent cannot be compared with itself, got {comparison.left!r} on both sides")
            if comparison.outcome not in _CODE:
                raise ValueError(f"outcome must be one of {', '.join(OUTCOMES)}, got {comparison.outcome!r}")
        names = sorted({c.left for c in comparisons} | {c.right for c in comparisons} | set(agents))
        place = {name: number for number, name in enumerate(names)}
        judges = sorted({c.judge for c in comparisons})
        seat = {name: number for number, name in enumerate(judges)}
        return cls(
            agents=tuple(names),
            left=np.array([place[c.left] for c in comparisons], np.int64),
            right=np.array([place[c.right] for c in comparisons], np.int64),
            outcome=np.array([_CODE[c.outcome] for c in comparisons], np.int64),
            judges=tuple(judges),
            judge=np.array([seat[c.judge] for c in comparisons], np.int64),
        )

    def select(self, rows: NDArray[np.int64]) -> Log:
        """Return a log of some answers, in the given order; agents and judges keep their indices."""
        return replace(self, left=self.left[rows], right=self.right[rows], outcome=self.outcome[rows], judge=self.judge[rows])

    def compact(self) -> Log:
        used = np.unique(np.concatenate([self.left, self.right]))
        place = np.zeros(len(self.agents), np.int64)
        place[used] = np.arange(len(used))
        agents = tuple(self.agents[number] for number in used.tolist())
        return replace(self, agents=agents, left=place[self.left], right=place[self.right])

    def counts(self, weights: NDArray[np.float64] | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return wins and ties, shape (n, n) or (B, n, n): how often i was better than j, and how often they tied (symmetric).

        `weights` says how often each answer counts: shape (N,), or (B, N) for B logs at once; None: each counts once.
        """
        n = len(self.agents)
        weights = np.ones(len(self)) if weights is None else np.asarray(weights, float)
        first = np.where(self.outcome == RIGHT, self.right, self.left)
        second = np.where(self.outcome == RIGHT, self.left, self.right)
        is_draw = self.outcome == DRAW
        cells = is_draw * n * n + first * n + second
        rows = np.atleast_2d(weights)
        used, place = np.unique(cells, return_inverse=True)
        sums = np.zeros((len(rows), 2 * n * n))
        # Answers in the order of their cells, then one sum for each stretch: no loop, and any number of logs.
        order = np.argsort(place, kind="stable")
        starts = np.searchsorted(place[order], np.arange(len(used)))
        if len(used):
            sums[:, used] = np.add.reduceat(rows[:, order], starts, axis=1)
        tables = sums.reshape(*weights.shape[:-1], 2, n, n)
        ties = tables[..., 1, :, :]
        return tables[..., 0, :, :], ties + np.swapaxes(ties, -1, -2)

    def groups(self) -> NDArray[np.int64]:
        """Group of each agent, from 1, shape (n,): agents connected by answers share a group; group 1 has the most answers."""
        pairs = np.unique(np.stack([self.left, self.right], axis=1), axis=0)
        weight = np.bincount(np.concatenate([self.left, self.right]), minlength=len(self.agents))
        return connected(len(self.agents), [(a, b) for a, b in pairs.tolist()], weight.tolist())

    def num_sources(self, unit: str) -> NDArray[np.int64]:
        """Number of `answers` about each agent, or of different `judges` who gave these answers, shape (n,)."""
        agent = np.concatenate([self.left, self.right])
        if unit == "judges":
            agent = np.unique(np.stack([agent, np.concatenate([self.judge, self.judge])], axis=1), axis=0)[:, 0]
        return np.bincount(agent, minlength=len(self.agents))

    def won_drew_lost(self) -> NDArray[np.int64]:
        """How often each agent was better, equally good, and worse: shape (n, 3)."""
        wins, ties = self.counts()
        return np.stack([wins.sum(axis=1), ties.sum(axis=1), wins.sum(axis=0)], axis=1).astype(np.int64)


Report = Callable[[float], None]
"""Called now and then with the share of all work, in [0, 1], that was done since the last call."""
_REPORT_EVERY = 100
"""Number of answers of each log that TrueSkill rates between two reports."""


class RatingMethod(NamedTuple):
    """A method to rank the agents of one log, or of B resampled logs (see `rate_many`); and its description.

    Attributes:
        title, does: The method's name, and a sentence or two about it.
        scale: `Ranking.scale` of its rankings.
        uses_order: Whether the result depends on the order of the answers.
        sides, uncertainty, draws: Cells of the table of methods: number of agents in an answer, source of the uncertainty, and
            how a draw counts.
    """

    rate: Callable[[Log, Options], Ranking]
    rate_many: Callable[[Log, NDArray[np.int64], Options, Report], Scores]
    title: str
    does: str
    scale: Scale
    uses_order: bool
    sides: str
    uncertainty: str
    draws: str


def rate(log: Log, method: str = "trueskill", options: Options | None = None) -> Ranking:
    """Rank the agents of a log."""
    return _method(method).rate(log, options or Options())


def rate_many(
    log: Log,
    times: NDArray[np.int64],
    method: str = "trueskill",
    options: Options | None = None,
    *,
    on_progress: Report | None = None,
) -> Scores:
    """Rank the agents in B logs made from the answers of `log`; `times`, int64, shape (B, N): how often each answer occurs."""
    chosen = _method(method)
    if not log.agents:
        return Scores(np.zeros((len(times), 0)), np.zeros((len(times), 0)))
    return chosen.rate_many(log, times, options or Options(), on_progress or (lambda share: None))


def _method(name: str) -> RatingMethod:
    if name not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {name!r}")
    return METHODS[name]


# TrueSkill, in the order of the log


def _trueskill(log: Log, options: Options) -> Ranking:
    standings = Standings(options.settings)
    names = log.agents
    for left, right, outcome in zip(log.left.tolist(), log.right.tolist(), log.outcome.tolist(), strict=True):
        standings.add(names[left], names[right], OUTCOMES[outcome])
    ratings = [standings.rating(name) for name in names]  # also of agents that no answer names
    return Ranking.of_skills(names, np.array([one.mu for one in ratings]), np.array([one.sigma for one in ratings]))


def _trueskill_many(log: Log, times: NDArray[np.int64], options: Options, report: Report) -> Scores:
    """Rate the agents in each of B logs. A log repeats the answers of `log` as often as its row of `times` says, in the order
    of `log`; all B logs are replayed side by side, an answer at each step."""
    settings, total = options.settings, max(int(times.sum()), 1)
    num_logs, num_agents = len(times), len(log.agents)
    mu = np.full((num_logs, num_agents), settings.mu)
    variance = np.full((num_logs, num_agents), settings.sigma**2)
    lengths = times.sum(axis=1)
    # Longest first, so that the logs that still go on are always the first ones.
    order = np.argsort(-lengths, kind="stable")
    lengths = lengths[order]
    answers = np.zeros((int(lengths.max(initial=0)), num_logs), np.int32)
    for place, row in enumerate(order.tolist()):
        answers[: lengths[place], place] = np.repeat(np.arange(len(log), dtype=np.int32), times[row])
    better = np.where(log.outcome == RIGHT, log.right, log.left)
    worse = np.where(log.outcome == RIGHT, log.left, log.right)
    num_going_on = np.searchsorted(-lengths, -np.arange(1, len(answers) + 1), side="right")
    offsets = np.arange(num_logs) * num_agents
    flat_mu, flat_variance = mu.reshape(-1), variance.reshape(-1)
    drift, noise, margin = settings.tau**2, 2 * settings.beta**2, settings.draw_margin
    since = 0
    for step, number in enumerate(num_going_on.tolist()):
        answer = answers[step, :number]
        a, b = offsets[:number] + better[answer], offsets[:number] + worse[answer]
        variance_a, variance_b = flat_variance[a] + drift, flat_variance[b] + drift
        c_squared = variance_a + variance_b + noise
        c = np.sqrt(c_squared)
        mu_a, mu_b = flat_mu[a], flat_mu[b]
        t = (mu_a - mu_b) / c
        v, w = win_corrections(t, margin / c)
        drawn = np.flatnonzero(log.outcome[answer] == DRAW)
        if drawn.size:
            v[drawn], w[drawn] = draw_corrections(t[drawn], margin / c[drawn])
        flat_mu[a] = mu_a + variance_a / c * v
        flat_mu[b] = mu_b - variance_b / c * v
        flat_variance[a] = variance_a * (1 - variance_a / c_squared * w)
        flat_variance[b] = variance_b * (1 - variance_b / c_squared * w)
        since += number
        if (step + 1) % _REPORT_EVERY == 0:
            report(since / total)
            since = 0
    if since:
        report(since / total)
    back = np.empty_like(order)
    back[order] = np.arange(num_logs)
    mu, sigma = mu[back], np.sqrt(variance[back])
    return Scores(mu, mu - 3 * sigma)


# Strengths, whatever the order

PHANTOM_NOTE = (
    "some agents never lost to some others, directly or through third agents; so each agent got a draw against a phantom "
    "of average strength; otherwise strengths would be infinite"
)


def _strengths(
    fit: Callable[[NDArray[np.float64], NDArray[np.float64], Options], bradley_terry.BradleyTerry | davidson.Davidson],
) -> Callable[[Log, Options], Ranking]:
    """Make a method that ranks by log strengths, from a function that fits wins and ties."""

    def rate(log: Log, options: Options) -> Ranking:
        if not log.agents:
            return Ranking("log-strength", (), np.zeros(0), np.zeros(0), np.zeros(0), np.zeros((0, 0)))
        result = fit(*log.counts(), options)
        strength, notes = result.log_strength, (PHANTOM_NOTE,) if result.is_regularised else ()
        return Ranking("log-strength", log.agents, strength, result.standard_error, strength, result.covariance, notes)

    return rate


def _bradley_terry_many(log: Log, times: NDArray[np.int64], options: Options, report: Report) -> Scores:
    wins, ties = log.counts(times.astype(float))
    strength = bradley_terry.fit_many(wins + options.tie_weight * ties).log_strength
    report(1.0)
    return Scores(strength, strength)


def _davidson_many(log: Log, times: NDArray[np.int64], options: Options, report: Report) -> Scores:
    strength = davidson.fit_many(*log.counts(times.astype(float))).log_strength
    report(1.0)
    return Scores(strength, strength)


METHODS: Mapping[str, RatingMethod] = {
    "trueskill": RatingMethod(
        _trueskill,
        _trueskill_many,
        "TrueSkill",
        "Each answer changes two ratings, in the order of the answers. Sorted by a careful score, mu - 3 sigma.",
        "skill",
        uses_order=True,
        sides="two here; the model allows more",
        uncertainty="sigma of each agent",
        draws="a margin",
    ),
    "bradley-terry": RatingMethod(
        _strengths(lambda wins, ties, options: bradley_terry.fit(wins, ties, tie_weight=options.tie_weight)),
        _bradley_terry_many,
        "Bradley-Terry",
        "The strengths that make all answers together most likely. The order of answers does not matter. A draw is half a win "
        "for both. The difference of two strengths is the logarithm of the odds.",
        "log-strength",
        uses_order=False,
        sides="two",
        uncertainty="standard error of each agent",
        draws="half a win for either",
    ),
    "davidson": RatingMethod(
        _strengths(lambda wins, ties, options: davidson.fit(wins, ties)),
        _davidson_many,
        "Davidson",
        "Bradley-Terry with a separate probability for draws. Draws are more likely between agents of similar strength.",
        "log-strength",
        uses_order=False,
        sides="two",
        uncertainty="standard error of each agent",
        draws="odds of their own",
    ),
}
"""Name of a method -> the method."""
