"""Who plays what: open seats, then what lacks most accepted time; and the simulation of it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.study.assignment import Assignment, Stand, assign, simulate
from interplay.study.definition import builtin_studies
from interplay.study.incentives import Requirement, Treatment
from interplay.study.play.variants import PlayPart, Variant

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def variant(name: str, **changes) -> Variant:
    return replace(Variant(name, "atari/breakout", "", (), Treatment((Requirement("games", 1),))), **changes)


def given_to(*stands: Stand, history=None, at_target="continue", seed=0) -> Assignment | None:
    rng = np.random.default_rng(seed)
    return assign(stands, now=NOW, history=history or {}, minutes=10, rng=rng, at_target=at_target)


def test_what_lacks_most_of_its_target_comes_first():
    half, most = Stand(variant("a", target_min=100.0), 50.0), Stand(variant("b", target_min=1000.0), 700.0)
    assert given_to(half, most) == Assignment("a", "target")


def test_accepted_time_decides_not_how_many_visits_there_were():
    # 30 short visits brought 60 minutes, three long ones 90.
    many, few = Stand(variant("many", target_min=100.0), 60.0, 30), Stand(variant("few", target_min=100.0), 90.0, 3)
    assert given_to(many, few).variant == "many"


def test_a_seat_that_waits_for_a_player_comes_before_everything():
    waits = Stand(variant("waits", target_min=100.0), 99.0, open_seats=1)
    assert given_to(Stand(variant("empty", target_min=100.0)), waits) == Assignment("waits", "open_seat")


def test_people_at_work_count_with_what_they_will_probably_bring():
    # Both have 50 of 100 minutes; two people play the first, and a visit of it has brought 5 minutes on average.
    busy = Stand(variant("busy", target_min=100.0), 50.0, 10, working=2)
    assert given_to(busy, Stand(variant("idle", target_min=100.0), 50.0, 10)).variant == "idle"


def test_times_and_limits_of_a_person_are_kept():
    early = variant("early", opens=NOW + timedelta(seconds=1))
    late = variant("late", closes=NOW)
    twice = variant("twice", max_visits=2)
    free = variant("free")
    stands = [Stand(one) for one in (early, late, twice, free)]
    assert {given_to(*stands, history={"twice": 2}, seed=seed).variant for seed in range(20)} == {"free"}
    assert {given_to(*stands, history={"twice": 1}, seed=seed).variant for seed in range(20)} == {"free", "twice"}
    assert given_to(*stands[:3], history={"twice": 2}) is None


def test_a_study_may_stop_at_its_targets_but_never_while_somebody_waits_for_a_partner():
    full = Stand(variant("full", target_min=100.0), 100.0, 10)
    assert given_to(full) == Assignment("full", "target")
    assert given_to(full, at_target="stop") is None
    assert given_to(replace(full, open_seats=1), at_target="stop") == Assignment("full", "open_seat")


def test_nobody_is_sent_away_while_a_target_is_not_filled():
    # With two visits of ten minutes as a prior, a visit brings (20 + 92) / (2 + 10) = 9.3 minutes on average.
    nearly = Stand(variant("nearly", target_min=100.0), 92.0, 10)
    assert given_to(nearly, at_target="stop") == Assignment("nearly", "target")
    assert nearly.places(10) == 1
    assert given_to(replace(nearly, working=1), at_target="stop") is None
    assert replace(nearly, working=1).places(10) == 0


@given(
    st.lists(st.tuples(st.floats(0, 500), st.integers(0, 50), st.integers(0, 9), st.integers(0, 1)), min_size=1, max_size=6),
    st.integers(0, 5),
)
def test_nobody_is_given_what_is_fuller_than_another_that_is_on_offer(ones, seed):
    stands = [
        Stand(variant(f"v{place}", target_min=100.0), accepted, ended, working, seats)
        for place, (accepted, ended, working, seats) in enumerate(ones)
    ]
    found = given_to(*stands, seed=seed)
    chosen = next(one for one in stands if one.variant.name == found.variant)
    rivals = [one for one in stands if one.open_seats] or stands
    assert chosen in rivals
    assert chosen.filled(10) <= min(one.filled(10) for one in rivals) + 1e-9
    assert found == given_to(*stands, seed=seed), "the same draw gives the same"


@pytest.mark.parametrize("at_target", ["continue", "stop"])
def test_a_thousand_arrivals_with_dropouts_come_near_their_targets(at_target):
    targets = (200.0, 400.0, 600.0, 800.0)
    play = PlayPart(tuple(variant(f"v{place}", target_min=one) for place, one in enumerate(targets)), at_target=at_target)
    outcomes = list(simulate(play, minutes=10, arrivals=1000, dropout=0.3, seeds=3))
    ours = [one for one in outcomes if one.method == "balanced"]
    theirs = [one for one in outcomes if one.method == "random"]
    assert max(one.spread for one in ours) <= 0.1
    for one in outcomes:
        reached = {name: accepted / target for (name, accepted), target in zip(one.accepted_min.items(), targets, strict=True)}
        assert one.deviation == pytest.approx(max(abs(share - 1) for share in reached.values())), "from the targets themselves"
    if at_target == "stop":
        assert max(one.deviation for one in ours) <= 0.1
        assert all(min(one.of_target.values()) >= 1 for one in ours if one.turned_away)
    assert sum(one.spread for one in ours) <= sum(one.spread for one in theirs) / 2
    assert [one.seed for one in ours] == [0, 1, 2]
    assert outcomes == list(simulate(play, minutes=10, arrivals=1000, dropout=0.3, seeds=3))


def test_when_everybody_drops_out_nothing_is_accepted():
    play = builtin_studies()["crowdplay"].play
    one = next(simulate(play, minutes=10, arrivals=20, dropout=1.0, seeds=1))
    assert (sum(one.accepted_min.values()), one.deviation, one.dropped_out) == (0.0, 1.0, 20)
