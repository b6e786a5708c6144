"""Simulate how many answers a pairing rule needs before the ranking is right.

Skills are drawn from a profile. A rule chooses the pairs; simulated judges compare performances that vary around the skills. A
rating method ranks the agents, and the rank correlation with the true skills is computed after every few answers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from interplay.errors import InterplayError, unknown_name
from interplay.judge.pairing import Evidence, pairing_rule
from interplay.rank import DEFAULTS
from interplay.rank.bradley_terry import fit
from interplay.rank.compare import rank_correlation
from interplay.rank.normal import cumulative

Array = NDArray[np.float64]

NOISE = math.sqrt(2) * DEFAULTS.beta
"""Standard deviation of the difference of two performances in skill points, as TrueSkill assumes it."""
PROFILES = ("normal", "bedd")
METHODS = ("trueskill", "bradley-terry", "trueskill-score")
"""Values by which agents are ranked: TrueSkill's mu, Bradley-Terry's log strength, TrueSkill's mu - 3 sigma."""
REFERENCE = "round-robin"
"""The rule with which all other rules are compared."""
PUBLISHED_SCORES = (2.43, 2.17, 0.73, 0.13, -0.32, -1.35)
"""Normalised TrueSkill of six of the 17 agents of BEDD (table 3): two humans, two contestants, behaviour cloning, random."""


class SimulationError(InterplayError):
    """The settings cannot be simulated; the text names the invalid setting."""


@dataclass(frozen=True)
class Simulation:
    """Settings of a simulation.

    Attributes:
        num_agents: Number of agents to rank, at least 3.
        max_answers: Number of answers after which a run ends, even if it has not reached its target.
        target: Rank correlation (Spearman) with the truth that a run should reach, between 0 and 1.
        profile: Distribution of skills: `normal`, or `bedd` for the published scores of six agents and others around them.
        spread: Standard deviation of skills as a multiple of `NOISE`. At 1, the better of two random agents gets 80 % of the
            answers that are no draw; at 0.5 it gets 70 %, at 2 it gets 90 %.
        draws: Share of draws if every pair were asked equally often. Agents of similar skill draw more often than others.
        num_judges: Number of open matches at any time; any of them may be answered next.
        every: Number of answers between two computations of the ranking.
    Raises:
        SimulationError: If a value is outside its range; the text names the value.
    """

    num_agents: int = 17
    max_answers: int = 600
    target: float = 0.95
    profile: str = "normal"
    spread: float = 1.0
    draws: float = 0.12
    num_judges: int = 1
    every: int = 5

    def __post_init__(self) -> None:
        if self.profile not in PROFILES:
            raise unknown_name("profile of skills", self.profile, PROFILES)
        for name, is_good, expected in (
            ("num_agents", 3 <= self.num_agents <= 1000, "from 3 to 1000"),
            ("max_answers", self.max_answers >= 1, "1 or more"),
            ("target", 0 < self.target < 1, "between 0 and 1, both excluded"),
            ("spread", 0 < self.spread <= 100, "above 0 and at most 100"),
            ("draws", 0 < self.draws < 1, "between 0 and 1, both excluded"),
            ("num_judges", 1 <= self.num_judges <= 10_000, "from 1 to 10000"),
            ("every", 1 <= self.every <= self.max_answers, "from 1 to the number of answers"),
        ):
            if not is_good:
                raise SimulationError(f"{name} must be {expected}; got {getattr(self, name)!r}")


class Run(NamedTuple):
    """One run of one rule and seed.

    Attributes:
        answers: Number of answers at each computation of the ranking.
        correlation: Method -> rank correlation with the truth at each of these numbers.
    """

    policy: str
    seed: int
    answers: list[int]
    correlation: dict[str, list[float]]


class Needed(NamedTuple):
    """Number of answers until the target was reached once (`first`) and for the rest of the run (`lasting`); None: never."""

    first: int | None
    lasting: int | None


class Quartiles(NamedTuple):
    """Quartiles over seeds; None for a value beyond the end of the runs. `num_reached` of `num` seeds reached the target."""

    q1: float | None
    median: float | None
    q3: float | None
    num_reached: int
    num: int


def true_skills(settings: Simulation, rng: np.random.Generator) -> Array:
    """Draw the true skills: skill points, mean 0, shape (num_agents,), in random order.

    With `bedd`, six agents have the published scores. The others are drawn and then adjusted so that 17 agents have mean 0 and
    standard deviation 1 (before scaling): 14 agents are close together, two are far above and one is below.
    """
    scores = rng.normal(size=settings.num_agents)
    if settings.profile == "bedd":
        num_published = min(len(PUBLISHED_SCORES), settings.num_agents)
        scores[:num_published] = PUBLISHED_SCORES[:num_published]
        others = scores[num_published:]
        if len(others) > 1:
            mean = -sum(PUBLISHED_SCORES) / 11
            variance = (17 - sum(score**2 for score in PUBLISHED_SCORES)) / 11 - mean**2
            scores[num_published:] = mean + math.sqrt(variance) * (others - others.mean()) / others.std()
    skills = rng.permutation(scores) * settings.spread * NOISE
    return skills - skills.mean()


def draw_margin(skills: Array, draws: float) -> float:
    """Return the largest difference of performances that is a draw, so that `draws` is the share of draws over all pairs."""
    rows, columns = np.triu_indices(len(skills), 1)
    differences = (np.abs(skills[rows] - skills[columns]) / NOISE).tolist()
    low, high = 0.0, 1.0
    while _share_of_draws(differences, high) < draws:
        high *= 2
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if _share_of_draws(differences, middle) < draws else (low, middle)
    return high * NOISE


def _share_of_draws(differences: Sequence[float], margin: float) -> float:
    return sum(cumulative(margin - one) - cumulative(-margin - one) for one in differences) / len(differences)


def simulate(settings: Simulation, policy_name: str, seed: int, methods: Sequence[str] = METHODS[:2]) -> Run:
    """Simulate one run. The true skills and the judges' errors depend only on the seed, so all rules get the same agents.

    Args:
        policy_name: Name of the rule, as in `pairing_rule`. `focus` is simulated with one random agent.
        methods: Rating methods, from `METHODS`.
    Raises:
        NotFoundError: If the rule or a method is unknown.
    """
    for method in methods:
        if method not in METHODS:
            raise unknown_name("rating method", method, METHODS)
    truth_rng, judge_rng, policy_rng = (np.random.default_rng([seed, stream]) for stream in range(3))
    skills = true_skills(settings, truth_rng)
    margin = draw_margin(skills, settings.draws)
    names = [f"agent-{place:03}" for place in range(settings.num_agents)]
    # Agents lie in random places, so the first is as good as any to focus on.
    chooser = pairing_rule(policy_name, agents=names[:1]) if policy_name == "focus" else pairing_rule(policy_name)
    evidence = Evidence()
    answers: list[int] = []
    correlation: dict[str, list[float]] = {method: [] for method in methods}
    awaited: list[tuple[str, str]] = []
    for number in range(1, settings.max_answers + 1):
        while len(awaited) < settings.num_judges:
            a, b, _ = chooser.order(names, evidence, awaited, policy_rng)[0]
            awaited.append((a, b))
        left, right = awaited.pop(int(judge_rng.integers(len(awaited))))
        lead = skills[names.index(left)] - skills[names.index(right)] + judge_rng.normal(0, NOISE)
        evidence.add(left, right, "draw" if abs(lead) <= margin else "left" if lead > 0 else "right")
        if number % settings.every == 0:
            answers.append(number)
            for method in methods:
                correlation[method].append(round(rank_correlation(skills, estimates(evidence, names, method)), 6))
    return Run(policy_name, seed, answers, correlation)


def estimates(evidence: Evidence, names: Sequence[str], method: str) -> Array:
    if method == "bradley-terry":
        return fit(evidence.counts(names).won).log_strength
    ratings = [evidence.standings.rating(name) for name in names]
    return np.array([rating.score if method == "trueskill-score" else rating.mu for rating in ratings])


def needed(answers: Sequence[int], correlation: Sequence[float], target: float) -> Needed:
    """Return the numbers of answers at which one run reached its target.

    >>> needed([5, 10, 15, 20], [0.8, 0.96, 0.94, 0.97], 0.95)
    Needed(first=10, lasting=20)
    """
    there = [value >= target for value in correlation]
    first = next((number for number, is_there in zip(answers, there, strict=True) if is_there), None)
    num_at_end = next((place for place, is_there in enumerate(reversed(there)) if not is_there), len(there))
    return Needed(first, answers[len(there) - num_at_end] if num_at_end else None)


def quartiles(values: Sequence[int | None]) -> Quartiles:
    """Return the quartiles of numbers of answers. A run that missed its target (None) counts as longer than all others.

    >>> quartiles([10, 20, None, 30])
    Quartiles(q1=17.5, median=25.0, q3=None, num_reached=3, num=4)
    """
    reached = sorted(value for value in values if value is not None)
    numbers = [*map(float, reached), *[math.inf] * (len(values) - len(reached))]
    q1, median, q3 = (_quantile(numbers, share) for share in (0.25, 0.5, 0.75))
    return Quartiles(q1, median, q3, len(reached), len(values))


def _quantile(numbers: Sequence[float], share: float) -> float | None:
    if not numbers:
        return None
    place = share * (len(numbers) - 1)
    low, high = numbers[math.floor(place)], numbers[math.ceil(place)]
    value = low if low == high else low + (high - low) * (place - math.floor(place))
    return value if math.isfinite(value) else None


def summary(runs: Sequence[Run], target: float) -> list[dict[str, Any]]:
    """Return one row for each rule and rating method: the needed answers, and their medians relative to round-robin.

    Each row has `policy` (the rule), `method`, `first` and `lasting` (`Quartiles`), and `median_curve`: the number of answers
    after which the median of the runs' correlations reaches the target. `first_ratio`, `lasting_ratio` and `median_curve_ratio`
    divide these numbers by those of round-robin; a ratio equals None if round-robin did not run, or if a number is missing.
    """
    rows: list[dict[str, Any]] = []
    for name in dict.fromkeys(run.policy for run in runs):
        of_policy = [run for run in runs if run.policy == name]
        for method in of_policy[0].correlation:
            ends = [needed(run.answers, run.correlation[method], target) for run in of_policy]
            medians = [band["median"] for band in curves(of_policy) if band["method"] == method]
            rows.append(
                {
                    "policy": name,
                    "method": method,
                    "first": quartiles([end.first for end in ends]),
                    "lasting": quartiles([end.lasting for end in ends]),
                    "median_curve": needed(of_policy[0].answers, medians, target).first,
                }
            )
    reference = {row["method"]: row for row in rows if row["policy"] == REFERENCE}
    for row in rows:
        other = reference.get(row["method"])
        for kind in ("first", "lasting"):
            row[f"{kind}_ratio"] = _ratio(row[kind].median, other[kind].median) if other else None
        row["median_curve_ratio"] = _ratio(row["median_curve"], other["median_curve"]) if other else None
    return rows


def _ratio(one: float | None, other: float | None) -> float | None:
    return round(one / other, 3) if one is not None and other else None


def curves(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return the rows of the plot: `policy`, `method`, `answers`, the correlation's quartiles, and `num` (of seeds)."""
    rows: list[dict[str, Any]] = []
    for name in dict.fromkeys(run.policy for run in runs):
        of_policy = [run for run in runs if run.policy == name]
        for method in of_policy[0].correlation:
            values = np.array([run.correlation[method] for run in of_policy])
            bands = np.quantile(values, (0.25, 0.5, 0.75), axis=0).round(6).T.tolist()
            for number, (q1, median, q3) in zip(of_policy[0].answers, bands, strict=True):
                rows.append(
                    {"policy": name, "method": method, "answers": number}
                    | {"q1": q1, "median": median, "q3": q3, "num": len(of_policy)}
                )
    return rows


def fingerprint(settings: Simulation, methods: Sequence[str]) -> Mapping[str, Any]:
    """Return the settings that must be equal if a stored run is to be used again. `target` is left out: it changes no run."""
    return {**asdict(settings), "methods": sorted(methods), "target": None}
