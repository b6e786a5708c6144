"""Compute a recommended reward, the bonuses that are owed, and the bill from measured times.

All money is `Decimal` in one currency. Pay is rounded up to whole cents, so that rounding brings nobody below the wage.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, ROUND_UP, Decimal

from interplay.errors import unknown_name
from interplay.study.errors import StudyError
from interplay.wording import amount

CENT = Decimal("0.01")
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


@dataclass(frozen=True)
class PlatformFee:
    """The fee of a platform, added to people's pay, without value added tax.

    Attributes:
        share: Fee as a share of each reward and each bonus.
        many_share, many_from: Added to the share of a reward if one HIT has at least `many_from` assignments.
        minimum: Smallest fee of one reward or bonus.
        min_hourly: Wage per hour below which the platform intervenes; 0 if there is no such wage.
        source, read_on: Where the platform says this, and when we read it.
    """

    name: str
    share: Decimal
    source: str
    read_on: date
    many_share: Decimal = Decimal(0)
    many_from: int = 0
    minimum: Decimal = Decimal(0)
    min_hourly: Decimal = Decimal(0)

    def on_reward(self, reward: Decimal, assignments_per_hit: int = 1) -> Decimal:
        has_many = self.many_from and assignments_per_hit >= self.many_from
        return self._fee(reward, self.share + (self.many_share if has_many else 0))

    def on_bonus(self, bonus: Decimal) -> Decimal:
        return self._fee(bonus, self.share)

    def _fee(self, amount: Decimal, share: Decimal) -> Decimal:
        return max((amount * share).quantize(CENT, ROUND_HALF_UP), self.minimum) if amount else Decimal(0)


_PROLIFIC = "prolific.com/pricing", date(2026, 9, 20)
FEES = {
    "none": PlatformFee("no platform", Decimal(0), "", date(2026, 11, 21)),
    "mturk": PlatformFee(
        "Mechanical Turk", Decimal("0.2"), "mturk.com/pricing", date(2026, 10, 7), Decimal("0.2"), many_from=10, minimum=CENT
    ),
    "prolific": PlatformFee("Prolific, companies", Decimal("0.428"), *_PROLIFIC, min_hourly=Decimal(8)),
    "prolific-academic": PlatformFee("Prolific, academic and non-profit", Decimal("0.333"), *_PROLIFIC, min_hourly=Decimal(8)),
}
"""Fee schedules by name. Schedules change: compare them with what the platform shows before you send money."""


def find_fee(name: str) -> PlatformFee:
    if name not in FEES:
        raise unknown_name("fee schedule", name, FEES)
    return FEES[name]


@dataclass(frozen=True)
class Finished:
    """One finished assignment, with its id (the platform's or ours) and the seconds from start to submission."""

    worker: str
    assignment: str
    duration_s: float


@dataclass(frozen=True)
class BonusDue:
    """The pay owed to one person in addition to rewards, in whole cents; it is paid with the longest assignment."""

    worker: str
    assignment: str
    amount: Decimal
    num_assignments: int
    time_s: float


@dataclass(frozen=True)
class PayEstimate:
    """An estimate of pay from measured times.

    Attributes:
        mean_s: Mean duration; `quantiles_s` maps quantiles to durations, interpolated.
        reward: Pay for one assignment.
        hourly: The wage per hour that everybody should reach.
        hourly_mean: Sum of all rewards divided by all time.
        hourly_median: Earnings per hour for the assignment with the median duration, as Prolific computes it.
        share_under: Share of assignments that earned less than `hourly`, 0 to 1.
        recommended_reward: The reward with which `recommended_share` of assignments reach `hourly` without any bonus.
        bonuses: Top-ups that bring everybody to `hourly`, largest first.
        rewards, bonus_total, fees, total: The bill at the reward that was paid.
        recommended_total: The bill for the same assignments at the recommended reward, with the bonuses that would still be
            owed.
    """

    num_assignments: int
    num_workers: int
    mean_s: float
    quantiles_s: dict[float, float]
    reward: Decimal
    hourly: Decimal
    hourly_mean: Decimal
    hourly_median: Decimal
    share_under: float
    recommended_share: float
    recommended_reward: Decimal
    bonuses: tuple[BonusDue, ...]
    rewards: Decimal
    bonus_total: Decimal
    fees: Decimal
    total: Decimal
    recommended_total: Decimal
    fee: PlatformFee

    def rows(self) -> list[tuple[str, str]]:
        quantiles = ", ".join(f"{quantile:.0%} {_minutes(value)}" for quantile, value in self.quantiles_s.items())
        rows = [
            ("finished", f"{amount(self.num_assignments, 'assignment')} by {amount(self.num_workers, 'person', 'people')}"),
            ("time, mean", _minutes(self.mean_s)),
            ("time, quantiles", quantiles),
            ("reward", f"{self.reward:.2f}"),
            ("earned per hour, mean", f"{self.hourly_mean:.2f} (target {self.hourly:.2f})"),
            ("earned per hour, median", f"{self.hourly_median:.2f}"),
            ("assignments under the target", f"{self.share_under:.1%}"),
            ("bonuses to reach it", f"{self.bonus_total:.2f} for {len(self.bonuses)} people"),
            ("rewards", f"{self.rewards:.2f}"),
            ("fees", f"{self.fees:.2f} ({self.fee.name}{f', as of {self.fee.read_on}' if self.fee.source else ''})"),
            ("total", f"{self.total:.2f}"),
            ("recommended reward", f"{self.recommended_reward:.2f} (enough for {self.recommended_share:.0%} of assignments)"),
            ("total at that reward", f"{self.recommended_total:.2f}"),
        ]
        if self.hourly_median < self.fee.min_hourly:
            rows.append(("warning", f"the platform wants at least {self.fee.min_hourly:.2f} per hour at the median"))
        return rows


def estimate(
    finished: Iterable[Finished],
    *,
    reward: Decimal,
    hourly: Decimal,
    fee: PlatformFee = FEES["none"],
    assignments_per_hit: int = 1,
    longest_s: float | None = None,
    recommended_share: float = 0.75,
) -> PayEstimate:
    """Estimate pay from the times of finished assignments.

    A top-up counts all assignments of a person together: quick assignments balance slow ones.

    Args:
        reward: Pay for each assignment, in whole cents.
        hourly: Wage per hour that everybody should reach.
        assignments_per_hit: Number of assignments of one HIT, if the fee depends on it.
        longest_s: Longest time that counts, for pages that stayed open while the person was away; None counts all time.
        recommended_share: Share of assignments that the recommended reward alone should pay at `hourly`, above 0 up to 1.
    Raises:
        StudyError: If there is nothing to estimate from, or a number is out of range.
    """
    done = [_checked(one, longest_s) for one in finished]
    if not done:
        raise StudyError("nobody has finished anything yet, so there is no time to estimate pay from")
    if reward < 0 or reward != reward.quantize(CENT) or hourly <= 0:
        raise StudyError(f"reward must be whole cents and hourly above 0, got {reward} and {hourly}")
    if not 0 < recommended_share <= 1:
        raise StudyError(f"recommended_share must lie above 0 and up to 1, got {recommended_share}")
    times = sorted(one.duration_s for one in done)
    total_s = math.fsum(times)
    recommended = up(hourly * hours(quantile(times, recommended_share)))
    bonuses = bonuses_due(done, reward=reward, hourly=hourly)
    rewards, bonus_total, fees = _bill(len(done), reward, bonuses, fee, assignments_per_hit)
    later = _bill(len(done), recommended, bonuses_due(done, reward=recommended, hourly=hourly), fee, assignments_per_hit)
    return PayEstimate(
        num_assignments=len(done),
        num_workers=len({one.worker for one in done}),
        mean_s=total_s / len(done),
        quantiles_s={share: quantile(times, share) for share in QUANTILES},
        reward=reward,
        hourly=hourly,
        hourly_mean=(reward * len(done) / hours(total_s)).quantize(CENT, ROUND_HALF_UP),
        hourly_median=(reward / hours(quantile(times, 0.5))).quantize(CENT, ROUND_HALF_UP),
        share_under=sum(reward < hourly * hours(time) for time in times) / len(times),
        recommended_share=recommended_share,
        recommended_reward=recommended,
        bonuses=bonuses,
        rewards=rewards,
        bonus_total=bonus_total,
        fees=fees,
        total=rewards + bonus_total + fees,
        recommended_total=sum(later, Decimal(0)),
        fee=fee,
    )


def bonuses_due(finished: Iterable[Finished], *, reward: Decimal, hourly: Decimal) -> tuple[BonusDue, ...]:
    """Return the top-ups that raise each person's pay to `hourly` for all their time; largest first, then by name.

    >>> bonuses_due([Finished("ada", "a1", 3600), Finished("ada", "a2", 1800)], reward=Decimal(5), hourly=Decimal(12))
    (BonusDue(worker='ada', assignment='a1', amount=Decimal('8.00'), num_assignments=2, time_s=5400.0),)
    """
    by_worker: dict[str, list[Finished]] = defaultdict(list)
    for one in finished:
        by_worker[one.worker].append(one)
    due = []
    for worker, theirs in by_worker.items():
        time_s = math.fsum(one.duration_s for one in theirs)
        owed = hourly * hours(time_s) - reward * len(theirs)
        if owed > 0:
            longest = max(theirs, key=lambda one: one.duration_s)
            due.append(BonusDue(worker, longest.assignment, up(owed), len(theirs), time_s))
    return tuple(sorted(due, key=lambda one: (-one.amount, one.worker)))


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return a quantile of ascending values, interpolated linearly between neighbours (NumPy's default).

    >>> quantile([1, 2, 4], 0.75)
    3.0
    """
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def _bill(
    num: int, reward: Decimal, bonuses: Sequence[BonusDue], fee: PlatformFee, assignments_per_hit: int
) -> tuple[Decimal, Decimal, Decimal]:
    fees = num * fee.on_reward(reward, assignments_per_hit) + sum((fee.on_bonus(one.amount) for one in bonuses), Decimal(0))
    return reward * num, sum((one.amount for one in bonuses), Decimal(0)), fees


def _checked(one: Finished, longest_s: float | None) -> Finished:
    if not math.isfinite(one.duration_s) or one.duration_s <= 0:
        raise StudyError(f"assignment {one.assignment!r} took {one.duration_s} seconds; a time must be above 0")
    return one if longest_s is None or one.duration_s <= longest_s else Finished(one.worker, one.assignment, longest_s)


def hours(seconds: float) -> Decimal:
    """Convert seconds to hours, exact to a microsecond.

    >>> hours(900)
    Decimal('0.25')
    """
    return Decimal(round(seconds * 1e6)) / Decimal(3_600_000_000)


def up(amount: Decimal) -> Decimal:
    """Round up to whole cents, after rounding to 9 decimals so that the error of a division does not add a cent.

    >>> up(Decimal("1.001"))
    Decimal('1.01')
    """
    return amount.quantize(Decimal("1e-9"), ROUND_HALF_UP).quantize(CENT, ROUND_UP)


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.1f} min"
