"""Pay is computed from measured times, to the cent, and nobody falls under the wage by rounding."""

from datetime import date
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.errors import NotFoundError
from interplay.study import StudyError
from interplay.study.money.estimates import FEES, Finished, bonuses_due, estimate, find_fee, quantile


def done(*minutes: float) -> list[Finished]:
    """One assignment by each of several people."""
    return [Finished(f"w{place}", f"a{place}", 60 * time) for place, time in enumerate(minutes)]


def test_the_papers_pay_is_43_95_an_hour():
    # Appendix D.1: 3.75 USD, 5.12 minutes on average, "closer to 43.95 USD per hour".
    found = estimate(done(5.12, 5.12), reward=Decimal("3.75"), hourly=Decimal(15))
    assert found.hourly_mean == Decimal("43.95")
    assert (found.share_under, found.bonuses, found.bonus_total) == (0, (), 0)


def test_a_hand_calculation():
    # Times 10, 20, 30, 60 min at 12 an hour are worth 2, 4, 6, 12; paid 5 each, so 20 for two hours.
    found = estimate(done(10, 20, 30, 60), reward=Decimal(5), hourly=Decimal(12), fee=FEES["mturk"], recommended_share=1)
    assert (found.num_assignments, found.num_workers, found.mean_s) == (4, 4, 1800)
    assert (found.hourly_mean, found.hourly_median) == (Decimal("10.00"), Decimal("12.00"))
    assert found.share_under == 0.5
    assert [(one.worker, one.assignment, one.amount) for one in found.bonuses] == [
        ("w3", "a3", Decimal("7.00")),
        ("w2", "a2", Decimal("1.00")),
    ]
    assert (found.rewards, found.bonus_total) == (20, 8)
    assert found.fees == Decimal("5.60")  # 20 % of 20 and of 8
    assert found.total == Decimal("33.60")
    assert found.recommended_reward == 12  # pays the slowest
    assert found.recommended_total == Decimal("57.60")  # 4 * 12 * 1.2, no bonuses left


def test_a_person_is_topped_up_over_all_they_did():
    both = [Finished("ada", "a1", 1800), Finished("ada", "a2", 600), Finished("bob", "b1", 1800)]
    due = bonuses_due(both, reward=Decimal(5), hourly=Decimal(12))
    # Ada: 40 minutes are worth 8 and were paid 10; Bob: 30 minutes are worth 6 and were paid 5.
    assert [(one.worker, one.amount, one.num_assignments, one.time_s) for one in due] == [("bob", Decimal("1.00"), 1, 1800)]


def test_a_bonus_goes_to_the_longest_assignment():
    due = bonuses_due([Finished("ada", "a1", 60), Finished("ada", "a2", 7200)], reward=Decimal(1), hourly=Decimal(10))
    assert due[0].assignment == "a2"


def test_what_is_owed_is_rounded_up():
    found = estimate(done(1), reward=Decimal("0.16"), hourly=Decimal(10))  # a sixth: 0.1666...
    assert found.bonuses[0].amount == Decimal("0.01")
    assert found.recommended_reward == Decimal("0.17")
    assert estimate(done(6), reward=Decimal("1.00"), hourly=Decimal(10)).bonuses == ()  # exactly a tenth: nothing is owed


def test_pages_that_lay_open_count_up_to_the_longest_time():
    found = estimate(done(10, 600), reward=Decimal(2), hourly=Decimal(12), longest_s=1800)
    assert (found.mean_s, found.bonuses[0].amount) == (1200, Decimal("4.00"))


def test_fees_are_those_that_the_platforms_name():
    mturk = FEES["mturk"]
    assert (mturk.on_reward(Decimal("3.75")), mturk.on_reward(Decimal("3.75"), 9)) == (Decimal("0.75"), Decimal("0.75"))
    assert mturk.on_reward(Decimal("3.75"), 10) == Decimal("1.50")  # 20 % more from ten assignments on
    assert mturk.on_bonus(Decimal("3.75")) == Decimal("0.75")
    assert (mturk.on_reward(Decimal("0.02")), mturk.on_reward(Decimal(0))) == (Decimal("0.01"), 0)  # a cent at least
    assert FEES["prolific"].on_reward(Decimal(10)) == Decimal("4.28")
    assert FEES["prolific-academic"].on_bonus(Decimal(10)) == Decimal("3.33")
    assert FEES["none"].on_reward(Decimal(10)) == 0
    assert all(fee.read_on >= date(2026, 9, 20) for fee in FEES.values())


def test_the_papers_bill():
    # 3,049 answers at 3.75 are 11,433.75; with 20 % that is 13,720.50. The paper spent 14,849.16, bonuses for help included.
    found = estimate(
        [Finished(f"w{n % 65}", f"a{n}", 307.2) for n in range(3049)],
        reward=Decimal("3.75"),
        hourly=Decimal(15),
        fee=FEES["mturk"],
    )
    assert (found.rewards, found.total) == (Decimal("11433.75"), Decimal("13720.50"))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.floats(1, 20_000)), min_size=1, max_size=30),
    st.integers(0, 2000),
    st.integers(100, 5000),
)
def test_with_its_bonuses_everybody_reaches_the_wage_and_by_less_than_a_cent_too_much(times, reward_cents, hourly_cents):
    finished = [Finished(worker, f"a{place}", time) for place, (worker, time) in enumerate(times)]
    reward, hourly = Decimal(reward_cents) / 100, Decimal(hourly_cents) / 100
    found = estimate(finished, reward=reward, hourly=hourly)
    owed = {one.worker: one for one in found.bonuses}
    for worker in {one.worker for one in finished}:
        theirs = [one for one in finished if one.worker == worker]
        worth = hourly * Decimal(sum(one.duration_s for one in theirs)) / 3600
        paid = reward * len(theirs) + (owed[worker].amount if worker in owed else 0)
        assert paid - worth > Decimal("-0.000001")
        if worker in owed:
            assert paid - worth < Decimal("0.010001")
    assert found.total == found.rewards + found.bonus_total + found.fees
    assert [one.amount for one in found.bonuses] == sorted((one.amount for one in found.bonuses), reverse=True)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50), st.floats(0, 1))
def test_quantiles_are_numpys(values, share):
    assert quantile(sorted(values), share) == pytest.approx(np.quantile(values, share), rel=1e-9, abs=1e-9)


def test_the_estimate_reads_as_a_table():
    rows = dict(estimate(done(10, 20, 30, 60), reward=Decimal(2), hourly=Decimal(12), fee=FEES["prolific"]).rows())
    assert rows["finished"] == "4 assignments by 4 people"
    assert rows["time, quantiles"].startswith("10% 13.0 min")
    assert rows["earned per hour, mean"] == "4.00 (target 12.00)"
    assert rows["fees"].endswith("(Prolific, companies, as of 2026-09-20)")
    assert rows["warning"] == "the platform wants at least 8.00 per hour at the median"


def test_numbers_that_make_no_sense_are_refused():
    for arguments, message in [
        ({"finished": []}, "nobody has finished anything yet"),
        ({"finished": [Finished("a", "a1", 0)]}, "assignment 'a1' took 0 seconds; a time must be above 0"),
        ({"finished": [Finished("a", "a1", float("nan"))]}, "took nan seconds"),
        ({"finished": [Finished("a", "a1", float("inf"))]}, "took inf seconds"),
        ({"reward": Decimal("-1")}, "reward must be whole cents"),
        ({"reward": Decimal("1.001")}, "reward must be whole cents"),
        ({"hourly": Decimal(0)}, "hourly above 0"),
        ({"recommended_share": 0}, "recommended_share must lie above 0 and up to 1"),
    ]:
        given = {"finished": done(10), "reward": Decimal(1), "hourly": Decimal(12), **arguments}
        with pytest.raises(StudyError) as caught:
            estimate(given.pop("finished"), **given)
        assert message in str(caught.value)


def test_a_mistyped_fee_schedule_gets_the_nearest():
    assert find_fee("mturk") is FEES["mturk"]
    with pytest.raises(NotFoundError, match="unknown fee schedule 'prolfic'; did you mean 'prolific'"):
        find_fee("prolfic")
