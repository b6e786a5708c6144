"""A log of answers becomes a leaderboard, overall and by task, in whatever portions it arrives."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.rank import Comparison, Rating, Standings, leaderboard, rate_1vs1, rate_all

AGENTS = ["ada", "bob", "cyd", "dot"]
MIRROR = {"left": "right", "right": "left", "draw": "draw"}


@st.composite
def comparisons(draw):
    left, right = draw(st.permutations(AGENTS))[:2]
    return Comparison(left, right, draw(st.sampled_from(list(MIRROR))), draw(st.sampled_from(["dig", "jump"])), "eve")


logs = st.lists(comparisons(), max_size=40)


def test_a_hand_worked_log():
    rows = leaderboard([Comparison("ada", "bob", "left"), Comparison("bob", "cyd", "draw"), Comparison("cyd", "ada", "right")])
    assert [(row.rank, row.agent, row.won, row.drew, row.lost, row.num_answers) for row in rows] == [
        (1, "ada", 2, 0, 0, 2),
        (2, "bob", 0, 1, 1, 2),
        (3, "cyd", 0, 1, 1, 2),
    ]
    ada, bob, cyd = Rating(), Rating(), Rating()
    ada, bob = rate_1vs1(ada, bob, "left")
    bob, cyd = rate_1vs1(bob, cyd, "draw")
    cyd, ada = rate_1vs1(cyd, ada, "right")
    assert [(row.mu, row.sigma) for row in rows] == [(agent.mu, agent.sigma) for agent in (ada, bob, cyd)]


@given(logs)
def test_rows_are_ordered_by_score_which_is_mu_minus_three_sigma(log):
    rows = leaderboard(log)
    assert all(row.score == row.mu - 3 * row.sigma for row in rows)
    assert [row.group for row in rows] == sorted(row.group for row in rows)
    for group in {row.group for row in rows}:
        own = [row for row in rows if row.group == group]
        assert all(a.score >= b.score - 1e-9 for a, b in pairwise(own))
        assert [row.rank for row in own] == [1 + sum(other.score > row.score + 1e-9 for other in own) for row in own]


@given(logs)
def test_swapping_the_sides_of_every_answer_changes_nothing(log):
    mirrored = [Comparison(c.right, c.left, MIRROR[c.outcome]) for c in log]
    assert leaderboard(mirrored) == leaderboard(log)


@given(logs)
def test_counts_add_up(log):
    rows = leaderboard(log)
    assert sum(row.num_answers for row in rows) == 2 * len(log)
    assert sum(row.won for row in rows) == sum(row.lost for row in rows)
    assert all(row.num_answers == row.won + row.drew + row.lost for row in rows)


@given(logs, st.integers(0, 40))
def test_a_log_in_portions_gives_the_same_as_at_once(log, cut):
    standings = rate_all(log[:cut])
    standings.overall.leaderboard()
    for comparison in log[cut:]:
        standings.add(comparison)
    assert standings.overall.leaderboard() == leaderboard(log)


@given(logs)
def test_a_tasks_ratings_come_from_its_answers_alone(log):
    standings = rate_all(log)
    for task in ("dig", "jump"):
        assert standings.task(task).leaderboard() == leaderboard([c for c in log if c.task == task])
    assert standings.overall.leaderboard() == leaderboard(log)
    assert set(standings.by_task) == {c.task for c in log}


def test_equal_agents_share_a_rank():
    draw = leaderboard([Comparison("ada", "bob", "draw")])
    assert [(row.rank, row.agent) for row in draw] == [(1, "ada"), (1, "bob")]


def test_judges_are_counted_once_each():
    log = [
        Comparison("ada", "bob", "left", task, judge)
        for task, judge in [("dig", "eve"), ("dig", "eve"), ("jump", "fay"), ("jump", "")]
    ]
    standings = rate_all(log)
    assert (standings.num_judges(), standings.num_judges("dig"), standings.num_judges("jump")) == (2, 1, 1)


def test_no_answers_is_an_empty_leaderboard():
    assert leaderboard([]) == []
    assert Standings().rating("nobody") == Rating()


def test_an_agent_against_itself_is_refused():
    with pytest.raises(ValueError, match="cannot be compared with itself, got 'ada' on both sides"):
        Standings().add("ada", "ada", "left")
