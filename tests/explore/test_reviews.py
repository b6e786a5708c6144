"""Agreement and effects: those that were planted in simulated raters are found again."""

from math import sqrt

import numpy as np
import pytest

from interplay.explore.make.reviews import agreement, decided, paired, valid_share, verdicts_of

Z_ONE_IN_A_MILLION = 4.9


def simulated(num: int, valid: float, error: float, seed: int, raters: int = 2) -> dict[str, dict[str, bool]]:
    """Verdicts of raters who err independently, each other people for each instance."""
    rng = np.random.default_rng(seed)
    truth = rng.random(num) < valid
    says = truth[:, None] ^ (rng.random((num, raters)) < error)
    return {f"i{n}": {f"r{(n + k) % 12}": bool(says[n, k]) for k in range(raters)} for n in range(num)}


def planted_kappa(valid: float, error: float) -> float:
    """Of two such raters: chance-corrected agreement, by its definition."""
    alike = (1 - error) ** 2 + error**2
    says_valid = valid * (1 - error) + (1 - valid) * error
    chance = says_valid**2 + (1 - says_valid) ** 2
    return (alike - chance) / (1 - chance)


@pytest.mark.parametrize(("valid", "error", "raters"), [(0.7, 0.1, 2), (0.5, 0.3, 2), (0.8, 0.05, 3), (0.6, 0.5, 2)])
def test_a_planted_kappa_is_found_again(valid, error, raters):
    found = agreement(simulated(1500, valid, error, 1, raters))
    half = (found.high - found.low) / 2 / 1.96 * Z_ONE_IN_A_MILLION
    assert abs(found.kappa - planted_kappa(valid, error)) < half
    assert sum(found.table) == found.num == 1500
    assert found.cohen is None


def test_the_interval_of_kappa_covers_what_was_planted_as_often_as_it_says():
    covered = 0
    for seed in range(60):
        found = agreement(simulated(120, 0.7, 0.15, seed), seed=seed)
        covered += found.low <= planted_kappa(0.7, 0.15) <= found.high
    assert covered / 60 > 0.95 - Z_ONE_IN_A_MILLION * sqrt(0.95 * 0.05 / 60)


def test_kappa_of_a_small_table_by_hand():
    # 10 instances, the same two people: 5 both valid, 3 both not, 1 and 1 split. Alike 0.8; each says valid 6 of 10.
    rows = [(f"i{n}", who, said) for n in range(10) for who, said in (("a", n < 6), ("b", n < 5 or n == 6))]
    found = agreement(verdicts_of(rows))
    assert found.table == (5, 3, 2)
    assert found.agreement == pytest.approx(0.8)
    assert found.cohen == pytest.approx((0.8 - 0.52) / 0.48)
    assert found.kappa == pytest.approx((0.8 - 0.52) / 0.48)


def test_raters_who_always_say_the_same_have_no_kappa_and_no_reviews_have_no_agreement():
    assert agreement(verdicts_of([("a", "r", True), ("a", "s", True)])).kappa is None
    none = agreement(verdicts_of([("a", "r", True)]))
    assert (none.num, none.kappa, none.low) == (0, None, None)


def test_a_planted_effect_between_modes_is_found_and_none_where_there_is_none():
    rng = np.random.default_rng(5)
    hard = rng.random(400)
    better = paired([(bool(one < 0.85), bool(other < 0.6)) for one, other in zip(hard, hard, strict=True)])
    assert better.second_only == 0
    assert better.p < 1e-6
    assert better.num == 400
    assert abs(better.first_only / 400 - 0.25) < Z_ONE_IN_A_MILLION * sqrt(0.25 * 0.75 / 400)
    alike = rng.random((400, 2)) < 0.7
    assert paired([(bool(a), bool(b)) for a, b in alike]).p > 1e-6
    # McNemar's own arithmetic: 3 of 14 by hand, 2 * (1 + 14 + 91 + 364) / 2^14
    assert paired([(True, False)] * 11 + [(False, True)] * 3 + [(True, True)] * 5).p == pytest.approx(2 * 470 / 2**14)


def test_most_reviewers_decide_and_a_tie_is_not_valid():
    assert [
        decided(one) for one in ({"a": True, "b": True}, {"a": True, "b": False}, {}, {"a": False, "b": False, "c": True})
    ] == [
        True,
        None,
        None,
        False,
    ]
    assert valid_share([True, None, False, True]).share == 0.5
