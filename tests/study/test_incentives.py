"""Requirements, bonuses, treatments and raffles: against hand calculation, the paper's text, and their own properties."""

import hashlib
import json
from datetime import UTC, datetime
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.study.definition import builtin_studies
from interplay.study.incentives import LinearBonus, Requirement, SlidingBonus, Treatment, completion, progress
from interplay.study.money.raffle import draw
from interplay.study.play.games import PlayedGame, evidence, read_evidence

RULE = SlidingBonus(300, "good", "all")
counts = st.integers(0, 1000)
TREATMENTS = {
    f"{study.id}:{variant.name}": variant.treatment
    for study in builtin_studies().values()
    if study.play is not None
    for variant in study.play.variants
}


def hits(good: int, bad: int) -> list[dict[str, float]]:
    return [{"good": good, "all": good + bad}]


# Requirements


def test_the_least_fulfilled_requirement_says_how_far_a_visit_is():
    wanted = [Requirement("time", 300), Requirement("aliens", 50)]
    assert completion(wanted, [{"time": 300, "aliens": 20}, {"aliens": 5}]) == 0.5
    assert completion(wanted, [{"time": 900, "aliens": 500}]) == 1.0
    assert completion(wanted, []) == 0.0
    assert completion([], []) == 1.0


def test_a_share_is_of_all_games_together_not_the_mean_of_their_shares():
    wanted = Requirement("good", 0.8, out_of="all")
    assert wanted.achieved([{"good": 1, "all": 1}, {"good": 0, "all": 9}]) == 0.1
    assert wanted.achieved([]) == wanted.achieved([{"good": 0, "all": 0}]) == 0.0


def test_a_requirement_of_one_game_looks_at_the_best_one():
    wanted = Requirement("score", 100, scope="game")
    assert progress([wanted], [{"score": 60}, {"score": 70}])[0].share == 0.7


def test_what_is_no_number_and_what_is_negative_counts_as_nothing_reached():
    assert completion([Requirement("score", 10)], [{"score": float("nan")}, {"score": -5}]) == 0.0
    assert completion([Requirement("score", 10)], [{"score": float("inf")}]) == 0.0


@given(st.lists(st.tuples(counts, counts), max_size=5), counts)
def test_playing_more_never_loses_counted_progress(games, more):
    wanted = [Requirement("a", 300), Requirement("b", 50), Requirement("a", 90, scope="game")]
    played = [{"a": a, "b": b} for a, b in games]
    before, after = completion(wanted, played), completion(wanted, [*played, {"a": more, "b": more}])
    assert 0.0 <= before <= after <= 1.0


# Equation (1), set right


def test_the_sliding_bonus_by_hand():
    # 300 x min(1, 150/200) x 2 x (150/200 - 1/2) = 300 x 0.75 x 0.5 = 112.5, rounded up.
    assert RULE.cents(hits(150, 50)) == 113
    assert RULE.cents(hits(200, 0)) == RULE.cents(hits(1000, 0)) == 300
    assert RULE.cents(hits(100, 0)) == 150
    assert RULE.cents(hits(400, 100)) == 180  # enough of them, 80 % right: 300 x 1 x 0.6
    assert RULE.cents([]) == RULE.cents(hits(0, 7)) == 0


@given(counts)
def test_at_one_half_and_below_the_bonus_is_nothing(good):
    assert RULE.cents(hits(good, good)) == 0
    assert RULE.cents(hits(good, good + 1)) == 0


@given(counts, counts, st.integers(0, 10_000))
def test_the_sliding_bonus_is_within_its_bounds_and_equals_the_equation_rounded_up(good, bad, most):
    cents = SlidingBonus(most, "good", "all").cents(hits(good, bad))
    exact = (
        Fraction(0)
        if good + bad == 0
        else (
            most * min(Fraction(1), Fraction(good, 200)) * max(Fraction(0), 2 * (Fraction(good, good + bad) - Fraction(1, 2)))
        )
    )
    assert 0 <= cents <= most
    assert exact <= cents < exact + 1


@given(counts, counts)
def test_one_more_right_hit_never_lowers_the_bonus_and_one_more_wrong_hit_never_raises_it(good, bad):
    assert RULE.cents(hits(good + 1, bad)) >= RULE.cents(hits(good, bad)) >= RULE.cents(hits(good, bad + 1))


@given(st.lists(st.tuples(counts, counts), max_size=6))
def test_a_bonus_depends_on_the_sums_alone_not_on_how_games_are_cut(games):
    parts = [{"good": good, "all": good + bad} for good, bad in games]
    whole = hits(sum(good for good, _ in games), sum(bad for _, bad in games))
    assert RULE.cents(parts) == RULE.cents(whole) == RULE.cents(parts[::-1])


def test_more_right_than_there_are_pays_no_more_than_everything():
    assert RULE.cents([{"good": 500, "all": 200}]) == 300


@given(counts, counts)
def test_a_linear_bonus_rises_with_its_statistic_up_to_its_most(low, more):
    rule = LinearBonus(150, "score", 700)
    assert 0 <= rule.cents([{"score": low}]) <= rule.cents([{"score": low + more}]) <= 150
    assert rule.cents([{"score": 700}]) == 150
    assert rule.cents([{"score": -5}]) == 0


def test_a_bonus_says_in_words_what_it_rises_with():
    assert RULE.in_words() == "rises with good up to 200, and with their share of all above one half"
    assert LinearBonus(300, "x", 60, "bricks").in_words() == "rises with bricks up to 60"


# Treatments


@pytest.mark.parametrize("name", TREATMENTS)
@given(data=st.data())
def test_every_treatment_that_ships_pays_within_its_bounds_and_nothing_before_it_is_complete(name, data):
    treatment = TREATMENTS[name]
    game = st.fixed_dictionaries({statistic: st.integers(0, 2000) for statistic in treatment.statistics})
    earned = treatment.earned(data.draw(st.lists(game, max_size=4)))
    assert 0 <= earned.cents <= treatment.max_cents
    assert earned.is_complete == all(one.share == 1 for one in earned.progress)
    assert earned.cents == (treatment.reward_cents + earned.bonus_cents if earned.is_complete else 0)


@given(counts, counts, counts)
def test_what_the_ledger_keeps_says_the_same_amount_again(good, bad, seconds):
    treatment = Treatment((Requirement("time", 300), Requirement("good", 0.8, out_of="all", label="Good")), 75, RULE, "EUR")
    games = [
        PlayedGame("e1", "a/b", "player", datetime(2026, 1, 1, tzinfo=UTC), {"good": good, "all": good + bad, "time": 0.1}),
        PlayedGame("e2", "a/b", "player", datetime(2026, 1, 2, tzinfo=UTC), {"time": seconds / 3, "other": 1.0}),
    ]
    read, kept = read_evidence(json.loads(json.dumps(evidence("v", treatment, games))))
    assert read == treatment
    assert read.earned([one.statistics for one in kept]) == treatment.earned([one.statistics for one in games])


# Raffles


@given(st.sets(st.text("abcdef0123456789", min_size=1, max_size=8), min_size=1, max_size=30), st.integers(1, 10), counts)
def test_a_raffle_is_the_same_for_everybody_who_draws_it_again(entries, winners, seed):
    won, others = draw(sorted(entries), winners, seed)
    assert (won, others) == draw(sorted(entries, reverse=True), winners, seed)
    assert len(won) == min(winners, len(entries))
    assert {one.entry for one in won + others} == entries
    by_hand = sorted((hashlib.sha256(f"{seed}:{entry}".encode()).hexdigest(), entry) for entry in entries)
    assert [one.entry for one in won] == [entry for _, entry in by_hand[:winners]]


def test_every_entry_wins_about_equally_often():
    # 4,000 draws of 1 among 8: 500 expected, standard deviation 20.9; 4.9 of them is one in a million, with eight entries 5.3.
    wins = dict.fromkeys("abcdefgh", 0)
    for seed in range(4000):
        wins[draw(wins, 1, seed)[0][0].entry] += 1
    assert all(abs(count - 500) < 5.3 * 20.9 for count in wins.values()), wins


def test_a_raffle_without_a_winner_or_with_an_entry_twice_is_refused():
    with pytest.raises(ValueError, match="the number of winners must be at least 1, got 0"):
        draw(["a"], 0, 1)
    with pytest.raises(ValueError, match="an entry occurs twice"):
        draw(["a", "a"], 1, 1)
