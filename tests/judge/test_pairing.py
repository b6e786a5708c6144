"""Policies ask about pairs as they say: evenly, by information, by what settles the order, or about a new agent."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from interplay.errors import NotFoundError
from interplay.judge.pairing import (
    DEFAULT_RULE,
    PAIRING_RULES,
    AgentPair,
    Evidence,
    Focus,
    OrderUncertainty,
    PairingError,
    pairing_rule,
)
from interplay.judge.pairing.beliefs import Beliefs, beliefs, information
from interplay.judge.pairing.information import expected_drops, published_drops
from interplay.judge.pairing.order import worth_for_places
from interplay.rank import DEFAULTS, Rating, Standings, expected_drop

NOBODY = (np.zeros(0, np.intp), np.zeros(0, np.intp))


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def every_policy():
    return [pairing_rule(name, agents=["a"]) if name == "focus" else pairing_rule(name) for name in PAIRING_RULES]


def ladder(agents="abcdef", times=2) -> Evidence:
    """Each agent has beaten all behind it so often."""
    return Evidence([(a, b, "left") for a, b in itertools.combinations(agents, 2)] * times)


def names_of(pair: AgentPair) -> frozenset[str]:
    return frozenset(pair[:2])


# What every policy keeps


def check_policy(one):
    """The contract of `PairingRule`."""
    evidence = ladder("abcd")
    pairs = one.order("dbca", evidence, [("a", "b"), ("c", "gone"), ("x", "y")], rng())
    assert sorted(map(sorted, map(names_of, pairs))) == [list(pair) for pair in itertools.combinations("abcd", 2)]
    assert all(math.isfinite(pair.worth) for pair in pairs)
    assert pairs == one.order("abcd", evidence, [("a", "b"), ("c", "gone"), ("x", "y")], rng())
    assert one.order("", evidence, [], rng()) == one.order("a", evidence, [], rng()) == []
    assert len(one.order("ab", Evidence(), [], rng())) == 1
    firsts = {names_of(one.order("abc", Evidence(), [], rng(seed))[0]) for seed in range(60)}
    assert firsts >= {frozenset("ab"), frozenset("ac")}  # equals come in every order; focus on a never begins with b and c
    known = PAIRING_RULES[one.name]
    assert isinstance(one, known)


def test_every_policy_keeps_the_contract():
    for one in every_policy():
        check_policy(one)


def test_answers_about_agents_that_left_do_no_harm():
    for one in every_policy():
        evidence = Evidence([("a", "gone", "left"), ("gone", "b", "left"), ("gone", "away", "draw")])
        assert len(one.order("abc", evidence, [("gone", "a")], rng())) == 3


@pytest.mark.parametrize("name", ["order", "information", "round-robin"])
def test_judges_who_come_at_once_are_spread_over_all_agents(name):
    awaited = []
    for turn in range(20):
        awaited.append(pairing_rule(name).order("abcde", Evidence(), awaited, rng(turn))[0][:2])
    times = Counter(agent for pair in awaited for agent in pair)
    assert all(7 <= times[agent] <= 9 for agent in "abcde")  # 20 matches, 40 seats, 5 agents: 8 each


@pytest.mark.parametrize("name", ["order", "information"])
def test_swapping_left_and_right_of_every_answer_changes_nothing(name):
    answers = [("a", "b", "left"), ("b", "c", "draw"), ("c", "a", "right"), ("d", "a", "left")]
    mirrored = [(right, left, {"left": "right", "right": "left", "draw": "draw"}[outcome]) for left, right, outcome in answers]
    one, other = (pairing_rule(name).order("abcd", Evidence(log), [], rng()) for log in (answers, mirrored))
    assert [pair[:2] for pair in one] == [pair[:2] for pair in other]


def test_the_default_is_order():
    assert (DEFAULT_RULE, pairing_rule().name, pairing_rule("default").name) == ("order", "order", "order")


def test_a_mistyped_policy_is_told_the_nearest():
    with pytest.raises(NotFoundError, match=r"unknown pairing rule 'round_robin'; did you mean 'round-robin'\?"):
        pairing_rule("round_robin")


def test_options_that_make_no_sense_are_refused():
    for name, options, text in [
        ("focus", {}, r"'focus': focus needs the names of one or more agents, agents=\['NAME'\]; got \(\)"),
        ("focus", {"agents": [3]}, r"focus needs the names"),
        ("focus", {"agents": ["a"], "prior_sd": 0}, r"prior_sd must be positive, got 0"),
        ("order", {"prior_sd": "much"}, r"prior_sd must be positive, got 'much'"),
        ("order", {"agents": ["a"]}, r"'order' has no option 'agents'; its options: prior_sd"),
        ("round-robin", {"speed": 1}, r"'round-robin' has no option 'speed'; it has no options"),
    ]:
        with pytest.raises(PairingError, match=text):
            pairing_rule(name, **options)


# Evidence


def test_evidence_counts_draws_half_for_each_and_puts_strangers_last():
    evidence = Evidence([("b", "a", "right"), ("a", "b", "draw"), ("z", "a", "left")])
    counts = evidence.counts(["a", "b", "new"])
    assert counts.agents == ("a", "b", "new", "z")
    assert counts.won.tolist() == [[0, 1.5, 0, 0], [0.5, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]]
    assert counts.compared[0, 1] == counts.compared[1, 0] == 2


def test_evidence_grows_beyond_its_first_table():
    names = [f"agent-{place}" for place in range(100)]
    evidence = Evidence([(a, b, "left") for a, b in itertools.pairwise(names)])
    won = evidence.counts(names).won
    assert won.sum() == 99
    assert all(won[place, place + 1] == 1 for place in range(99))


def test_ratings_of_evidence_are_those_of_the_log():
    answers = [("a", "b", "left"), ("b", "c", "draw"), ("c", "a", "right")]
    evidence, standings = Evidence(answers[:1]), Standings()
    assert evidence.standings.rating("a").mu > 25  # asked in between: carried on from there
    for answer in answers[1:]:
        evidence.add(*answer)
    for answer in answers:
        standings.add(*answer)
    assert all(evidence.standings.rating(name) == standings.rating(name) for name in "abc")


@pytest.mark.parametrize(
    ("answer", "text"), [(("a", "a", "left"), "compared with itself"), (("a", "b", "won"), "outcome must be one of")]
)
def test_evidence_refuses_what_is_no_answer(answer, text):
    with pytest.raises(ValueError, match=text):
        Evidence([answer])


# Round-robin


def test_round_robin_asks_about_every_pair_before_any_again():
    evidence, times = Evidence(), Counter()
    for turn in range(30):
        pair = pairing_rule("round-robin").order("abcde", evidence, [], rng(turn))[0]
        times[names_of(pair)] += 1
        evidence.add(pair.a, pair.b, "left")
        if turn % 10 == 9:
            assert set(times.values()) == {turn // 10 + 1}


# Information


def test_expected_drops_of_all_pairs_equal_those_of_each():
    draws = rng()
    mu, sigma = draws.normal(25, 15, 12), draws.uniform(0.05, 9, 12)
    drops = expected_drops(mu, sigma, DEFAULTS)
    for i, j in itertools.combinations(range(12), 2):
        assert drops[i, j] == pytest.approx(expected_drop(Rating(mu[i], sigma[i]), Rating(mu[j], sigma[j])), abs=1e-8)


def test_information_asks_about_the_largest_expected_drop():
    evidence = Evidence([("a", "b", "left"), ("a", "b", "draw"), ("c", "b", "left")])
    best = pairing_rule("information").order("abcd", evidence, [], rng())[0]
    rating = evidence.standings.rating
    drops = {pair: expected_drop(rating(pair[0]), rating(pair[1])) for pair in itertools.combinations("abcd", 2)}
    assert best.worth == pytest.approx(max(drops.values()))


# Beliefs and order


def test_beliefs_after_one_answer_equal_a_hand_calculation():
    # By symmetry the peak is (s, -s). With prior variance 1: 1 - p(2 s) = s, p the logistic curve, so
    # s = 1 / (1 + exp(2 s)) = 0.3374158.
    known = beliefs(np.array([[0, 1.0], [0, 0]]), NOBODY, prior_sd=1.0)
    assert known.mean == pytest.approx([0.3374158, -0.3374158], abs=1e-6)
    told = known.mean[0] * (1 - known.mean[0])  # p (1 - p), as 1 - p = s
    # Precision [[1 + i, -i], [-i, 1 + i]]: variance 1 along (1, 1), 1 / (1 + 2 i) along (1, -1).
    assert known.difference_variance[0, 1] == pytest.approx(2 / (1 + 2 * told))
    assert known.covariance.sum() == pytest.approx(2)


def test_beliefs_find_the_peak_however_lopsided_the_answers_are():
    won = np.zeros((3, 3))
    won[0, 1], won[1, 2] = 5000, 5000
    known = beliefs(won, NOBODY)
    expected = 1 / (1 + np.exp(known.difference))  # probability that i loses to j
    gradient = (won * expected - won.T * expected.T).sum(axis=1) - known.mean / 1.7**2
    assert np.abs(gradient).max() < 1e-4
    assert known.mean[0] > known.mean[1] > known.mean[2]


def test_an_awaited_answer_leaves_the_mean_and_lowers_the_variance():
    won = ladder("abc").counts("abc").won
    before = beliefs(won, NOBODY)
    after = beliefs(won, (np.array([0, 0]), np.array([1, 1])))
    assert after.mean.tolist() == before.mean.tolist()
    told = 2 * information(before)[0, 1]
    variance = before.difference_variance[0, 1]
    assert after.difference_variance[0, 1] == pytest.approx(variance / (1 + told * variance))


def expected_places(mean, covariance):
    """Expected number of agents each agent is better than."""
    known = Beliefs(mean, covariance)
    z = known.difference / np.sqrt(known.difference_variance)
    share = np.vectorize(lambda x: 0.5 * math.erfc(-x / math.sqrt(2)))(z)
    np.fill_diagonal(share, 0)
    return share.sum(axis=1)


def test_worth_is_the_variance_of_the_moves_of_expected_places():
    """A second way to the same number: move the means a little the way an answer would, and see places move."""
    draws = rng(3)
    root = draws.normal(size=(6, 6)) / 3
    known = Beliefs(draws.normal(size=6), root @ root.T + 0.2 * np.eye(6))
    worth = worth_for_places(known, np.arange(6), 6)
    variance, told = known.difference_variance, information(known)
    for i, j in itertools.combinations(range(6), 2):
        shift = known.covariance[:, i] - known.covariance[:, j]
        step = 1e-5
        there, back = (expected_places(known.mean + sign * step * shift, known.covariance) for sign in (1, -1))
        moves = (there - back) / (2 * step)
        # Means move by `shift` times a gain whose variance is I / (1 + v I).
        gain = told[i, j] / (1 + variance[i, j] * told[i, j])
        assert worth[i, j] == pytest.approx(gain * (moves**2).sum(), rel=1e-5)


def test_order_asks_about_neighbours_once_a_ladder_is_known():
    pairs = pairing_rule("order").order("abcdef", ladder(times=3), [], rng())
    steps = ["abcdef".index(pair.b) - "abcdef".index(pair.a) for pair in pairs]
    assert set(steps[:3]) == {1}
    assert steps[-1] == 5  # the first and the last: beyond doubt


def test_order_asks_about_a_crowd_before_a_lonely_pair():
    """Two close agents far above four that are close: an answer in the crowd settles more places."""
    log = [(top, low, "left") for top in "ab" for low in "cdef"] * 6
    log += [(a, b, outcome) for a, b in [*itertools.combinations("cdef", 2), ("a", "b")] for outcome in ("left", "right")]
    assert names_of(pairing_rule("order").order("abcdef", Evidence(log), [], rng())[0]) <= set("cdef")


def test_order_meets_a_newcomer_in_the_middle_first():
    """Nobody knows its place: the middle halves what is possible, as in sorting by insertion."""
    first = pairing_rule("order").order("abcdefn", ladder("abcdef", times=6), [], rng())[0]
    assert "n" in first[:2]
    assert names_of(first) & set("cd")


def test_order_tells_apart_what_trueskill_cannot():
    """a and b met a third agent each, c and d met each other: as a group c and d are as unknown, their order is not."""
    log = [("c", "d", "left"), ("d", "c", "left")] * 10
    worths = {names_of(pair): pair.worth for pair in pairing_rule("order").order("abcd", Evidence(log), [], rng())}
    assert worths[frozenset("cd")] < worths[frozenset("ab")] / 3


# Focus


def test_focus_asks_about_the_new_agent_against_those_it_may_be_next_to():
    log = [(a, b, "left") for a, b in itertools.combinations("abcdefgh", 2)] * 4 + [("n", "e", "left"), ("n", "d", "right")] * 2
    pairs = Focus(["n"]).order("abcdefghn", Evidence(log), [], rng())
    assert all("n" in pair[:2] for pair in pairs[:8])
    assert not any("n" in pair[:2] for pair in pairs[8:])
    assert {names_of(pair) - {"n"} for pair in pairs[:2]} == {frozenset("d"), frozenset("e")}
    assert names_of(pairs[7]) & set("ah")


def test_focus_on_several_agents_puts_all_of_them_first():
    pairs = Focus(["m", "n", "m"]).order("abmn", Evidence(), [], rng())
    assert all(set("mn") & names_of(pair) for pair in pairs[:5])
    assert names_of(pairs[5]) == set("ab")


def test_focus_on_agents_that_are_not_there_is_order():
    evidence = ladder()
    assert Focus(["gone"]).order("abcdef", evidence, [], rng(5)) == OrderUncertainty().order("abcdef", evidence, [], rng(5))


def test_one_name_may_be_given_bare():
    assert Focus("new-agent").agents == ("new-agent",)


# The published platform's rule


def published_priority(a, b, environment):
    """What the published server computes for two ratings of the `trueskill` package, from its simulated results."""
    uncertainty = a.sigma**2 + b.sigma**2
    chance = 0.5 * math.erfc(-(a.mu - b.mu) / math.sqrt(2 * (environment.beta**2 + uncertainty)))
    won, lost = environment.rate([(a,), (b,)], [0, 1]), environment.rate([(a,), (b,)], [1, 0])
    after = [sum(rating.sigma**2 for (rating,) in result) for result in (won, lost)]
    return chance * (uncertainty - after[0]) + (1 - chance) * (uncertainty - after[1])


def test_the_published_rule_is_matched_to_the_ninth_digit():
    trueskill = pytest.importorskip("trueskill")
    environment = trueskill.TrueSkill(draw_probability=0.10, backend="scipy")  # its own normal distribution errs by 1e-7
    draw = rng(7)
    mu, sigma = draw.normal(25, 6, 17), np.exp(draw.uniform(np.log(0.2), np.log(25 / 3), 17))
    drops = published_drops(mu, sigma, DEFAULTS)
    ratings = [environment.create_rating(*one) for one in zip(mu, sigma, strict=True)]
    wanted = np.array([[published_priority(a, b, environment) for b in ratings] for a in ratings])
    off = ~np.eye(17, dtype=bool)
    assert np.abs(drops - wanted)[off].max() < 1e-9
    assert (drops[off] < 0).any()  # the drift is counted against pairs that are settled
    fresh, settled = (published_drops(np.full(2, 25.0), np.full(2, one), DEFAULTS)[0, 1] for one in (25 / 3, 1.0))
    assert (round(fresh, 4), round(settled, 4)) == (36.0288, 0.0227)


def test_the_published_rule_decides_by_its_own_worth():
    evidence = ladder("abc")
    pairs = pairing_rule("bedd").order("abc", evidence, [], rng())
    names, standings = "abc", evidence.standings
    mu, sigma = (np.array([getattr(standings.rating(name), one) for name in names]) for one in ("mu", "sigma"))
    worth = published_drops(mu, sigma, DEFAULTS)
    assert {names_of(pair): pair.worth for pair in pairs} == {
        frozenset((names[i], names[j])): worth[i, j] for i, j in itertools.combinations(range(3), 2)
    }
    assert [pair.worth for pair in pairs] == sorted((pair.worth for pair in pairs), reverse=True)
