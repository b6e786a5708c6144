"""TrueSkill for two players: ratings, their update by an answer, and the expected information of an answer.

Herbrich, Minka & Graepel, "TrueSkill: A Bayesian Skill Rating System" (NIPS 2007), with draws. For two players the
paper's factor graph has no loops, so message passing reduces to the closed form used here.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, NamedTuple, get_args

from interplay.rank.normal import cumulative, draw_correction, win_correction

Outcome = Literal["left", "right", "draw"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


@dataclass(frozen=True, slots=True, order=False)
class Rating:
    """Belief about one agent's skill: Normal(mu, sigma**2), in skill points.

    >>> Rating(25, 25 / 3).score
    0.0
    """

    mu: float = 25.0
    sigma: float = 25.0 / 3

    def __post_init__(self) -> None:
        if not (self.sigma > 0 and math.isfinite(self.sigma) and math.isfinite(self.mu)):
            raise ValueError(
                f"a rating needs a finite mu and a positive finite sigma, got mu={self.mu!r}, sigma={self.sigma!r}"
            )

    @property
    def score(self) -> float:
        """The conservative estimate of skill by which leaderboards are sorted: mu - 3 sigma."""
        return self.mu - 3 * self.sigma


class RatingPair(NamedTuple):
    """The ratings of a match's two agents."""

    left: Rating
    right: Rating


class OutcomeProbabilities(NamedTuple):
    """Probability of each outcome of a match; they sum to 1 up to rounding."""

    left: float
    right: float
    draw: float


@dataclass(frozen=True)
class Settings:
    """The constants of the model (ValueError: if a value is out of range; the text names the value).

    Attributes:
        mu, sigma: The rating of an agent without answers.
        beta: Standard deviation of one performance around the skill, in skill points.
        tau: Standard deviation of the skill's drift before each answer; because of it, ratings never stop changing.
        draw_probability: Share of draws between two agents of equal, known skill.
    """

    mu: float = 25.0
    sigma: float = 25.0 / 3
    beta: float = 25.0 / 6
    tau: float = 25.0 / 300
    draw_probability: float = 0.10

    def __post_init__(self) -> None:
        for name, is_good, expected in (
            ("mu", math.isfinite(self.mu), "finite"),
            ("sigma", 0 < self.sigma < math.inf, "positive"),
            ("beta", 0 < self.beta < math.inf, "positive"),
            ("tau", 0 <= self.tau < math.inf, "zero or positive"),
            ("draw_probability", 0 < self.draw_probability < 1, "between 0 and 1, both excluded"),
        ):
            if not is_good:
                raise ValueError(f"{name} must be {expected}, got {getattr(self, name)!r}")

    @functools.cached_property
    def prior(self) -> Rating:
        """The rating of an agent without answers."""
        return Rating(self.mu, self.sigma)

    @functools.cached_property
    def draw_margin(self) -> float:
        """Performances that differ by less than this are a draw; in skill points (section 2 of the paper, for two players)."""
        return NormalDist().inv_cdf((self.draw_probability + 1) / 2) * math.sqrt(2) * self.beta


DEFAULTS = Settings()


def rate_1vs1(left: Rating, right: Rating, outcome: Outcome, settings: Settings = DEFAULTS) -> RatingPair:
    """Return the ratings after one answer; `outcome` is `left` or `right` for the better agent, or `draw`.

    Raises:
        ValueError: If `outcome` is another value.

    >>> won = rate_1vs1(Rating(), Rating(), "left")
    >>> f"{won.left.mu:.3f} {won.right.mu:.3f} {won.left.sigma:.3f}"
    '29.396 20.604 7.171'
    >>> drawn = rate_1vs1(Rating(), Rating(), "draw")
    >>> f"{drawn.left.mu:.3f} {drawn.right.mu:.3f} {drawn.left.sigma:.3f}"
    '25.000 25.000 6.458'
    """
    left_variance = left.sigma**2 + settings.tau**2
    right_variance = right.sigma**2 + settings.tau**2
    c_squared = left_variance + right_variance + 2 * settings.beta**2
    c = math.sqrt(c_squared)
    t = (left.mu - right.mu) / c
    margin = settings.draw_margin / c
    if outcome == "left":
        v, w = win_correction(t, margin)
    elif outcome == "right":
        v, w = win_correction(-t, margin)
        v = -v
    elif outcome == "draw":
        v, w = draw_correction(t, margin)
    else:
        raise ValueError(f"outcome must be one of {', '.join(OUTCOMES)}, got {outcome!r}")
    return RatingPair(
        Rating(left.mu + left_variance / c * v, math.sqrt(left_variance * (1 - left_variance / c_squared * w))),
        Rating(right.mu - right_variance / c * v, math.sqrt(right_variance * (1 - right_variance / c_squared * w))),
    )


def win_probability(a: Rating, b: Rating, *, beta: float = 25 / 6) -> float:
    """Probability that an agent rated `a` beats an agent rated `b`; draws are left out.

    Performance is skill plus Normal(0, beta**2) noise (the performance model of Herbrich, Minka & Graepel 2007), so the
    difference of two performances has variance `a.sigma**2 + b.sigma**2 + 2 * beta**2`: one beta**2 each.

    Args:
        a, b: Ratings on one scale, in skill points.
        beta: Standard deviation of one performance, in skill points, positive.
    Returns:
        A probability; `win_probability(a, b) + win_probability(b, a)` is 1 up to rounding.
    Raises:
        ValueError: If `beta` is not positive.

    >>> round(win_probability(Rating(30, 1), Rating(25, 1)), 3)
    0.795
    """
    if not beta > 0:
        raise ValueError(f"beta must be positive, got {beta!r}")
    return cumulative((a.mu - b.mu) / math.sqrt(a.sigma**2 + b.sigma**2 + 2 * beta**2))


def outcome_probabilities(left: Rating, right: Rating, settings: Settings = DEFAULTS) -> OutcomeProbabilities:
    """Probability of each outcome of the next match, after the drift `tau` before it.

    >>> round(outcome_probabilities(Rating(25, 0.01), Rating(25, 0.01)).draw, 3)
    0.1
    """
    c = math.sqrt(left.sigma**2 + right.sigma**2 + 2 * settings.tau**2 + 2 * settings.beta**2)
    t, margin = (left.mu - right.mu) / c, settings.draw_margin / c
    left_wins, right_wins = cumulative(t - margin), cumulative(-t - margin)
    return OutcomeProbabilities(left_wins, right_wins, max(0.0, 1 - left_wins - right_wins))


def quality(a: Rating, b: Rating, *, beta: float = 25 / 6) -> float:
    """How even a match is: its chance of a draw, divided by the chance for equal and exactly known skills, in (0, 1].

    Equation 4.1 of the paper: exp(-(mu difference)**2 / (2 c**2)) sqrt(2 beta**2) / c.

    >>> round(quality(Rating(), Rating()), 3)
    0.447
    """
    if not beta > 0:
        raise ValueError(f"beta must be positive, got {beta!r}")
    c_squared = a.sigma**2 + b.sigma**2 + 2 * beta**2
    return math.sqrt(2 * beta**2 / c_squared) * math.exp(-((a.mu - b.mu) ** 2) / (2 * c_squared))


def expected_drop(left: Rating, right: Rating, settings: Settings = DEFAULTS) -> float:
    """Expected decrease of `sigma_left**2 + sigma_right**2` by an answer (win, loss or draw), in skill points squared.

    The decrease is counted from the variances after the drift `tau`, which is the same for every pair. So the value is never
    negative, and the order of pairs is the same as without the drift.

    >>> round(expected_drop(Rating(), Rating()), 2)
    36.91
    """
    left_variance = left.sigma**2 + settings.tau**2
    right_variance = right.sigma**2 + settings.tau**2
    c_squared = left_variance + right_variance + 2 * settings.beta**2
    return (left_variance**2 + right_variance**2) / c_squared * _expected_w(left, right, settings)


def anticipate(left: Rating, right: Rating, settings: Settings = DEFAULTS) -> RatingPair:
    """Return the ratings while an answer is awaited: the same means, with the variances that are expected after the answer.

    Matchmaking uses these ratings for agents in open matches, so that it does not ask for the same answer twice.
    """
    left_variance = left.sigma**2 + settings.tau**2
    right_variance = right.sigma**2 + settings.tau**2
    c_squared = left_variance + right_variance + 2 * settings.beta**2
    w = _expected_w(left, right, settings)
    return RatingPair(
        Rating(left.mu, math.sqrt(left_variance * (1 - left_variance / c_squared * w))),
        Rating(right.mu, math.sqrt(right_variance * (1 - right_variance / c_squared * w))),
    )


def _expected_w(left: Rating, right: Rating, settings: Settings) -> float:
    c = math.sqrt(left.sigma**2 + right.sigma**2 + 2 * settings.tau**2 + 2 * settings.beta**2)
    t, margin = abs(left.mu - right.mu) / c, settings.draw_margin / c
    better_wins, worse_wins = cumulative(t - margin), cumulative(-t - margin)
    draw = max(0.0, 1 - better_wins - worse_wins)
    return (
        better_wins * win_correction(t, margin).w
        + worse_wins * win_correction(-t, margin).w
        + draw * draw_correction(t, margin).w
    )
