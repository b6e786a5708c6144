"""Every method, over one log and over many; the trueskill package over a study of the paper's size; agents taken out again."""

import functools
import math
from statistics import NormalDist

import numpy as np
import pytest
import trueskill
from random_logs import random_log

from interplay.rank import Standings, rate_all
from interplay.rank.methods import METHODS, Log, rate, rate_many
from interplay.rank.ranking import ranks

EXACT = (
    lambda x: 0.5 * math.erfc(-x / math.sqrt(2)),
    lambda x: math.exp(-x * x / 2) / math.sqrt(2 * math.pi),
    functools.cache(NormalDist().inv_cdf),
)


def test_ratings_of_a_study_equal_the_trueskill_package():
    # The paper's size: 3,049 answers, 17 agents, 4 tasks, 12 % draws; each task and all together.
    log = random_log(0)
    standings = rate_all(log)
    assert (standings.overall.num_answers, len(standings.by_task)) == (3049, 4)
    for task in (None, *standings.by_task):
        env = trueskill.TrueSkill(backend=EXACT)
        ratings = {}
        for left, right, outcome, *_ in (c for c in log if task in (None, c.task)):
            a, b = ratings.get(left) or env.create_rating(), ratings.get(right) or env.create_rating()
            if outcome == "right":
                b, a = trueskill.rate_1vs1(b, a, env=env)
            else:
                a, b = trueskill.rate_1vs1(a, b, drawn=outcome == "draw", env=env)
            ratings[left], ratings[right] = a, b
        ours = standings.overall if task is None else standings.task(task)
        assert len(ratings) == 17
        for agent, rating in ratings.items():
            assert ours.rating(agent).mu == pytest.approx(rating.mu, abs=1e-6)
            assert ours.rating(agent).sigma == pytest.approx(rating.sigma, abs=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_without_an_agent_the_rest_is_as_if_it_had_never_been(method):
    log = random_log(1, 400)
    gone = "agent-03"
    # What a rebuild from the log does: the agent still has a place, its answers are left out.
    whole = Log.of(log)
    place = whole.agents.index(gone)
    keep = np.flatnonzero((whole.left != place) & (whole.right != place))
    rebuilt = rate(whole.select(keep), method)
    never = rate(Log.of([c for c in log if gone not in (c.left, c.right)]), method)
    assert gone not in never.agents
    others = [whole.agents.index(name) for name in never.agents]
    if method == "trueskill":
        np.testing.assert_array_equal(rebuilt.mu[others], never.mu)
        np.testing.assert_array_equal(rebuilt.sigma[others], never.sigma)
    else:  # an agent nobody judged asks for phantom draws, so it must leave the table, too
        assert rebuilt.notes
        assert not never.notes


def test_standings_without_an_agent_are_as_if_it_had_never_been():
    log = random_log(2, 500)
    rest = [c for c in log if "agent-05" not in (c.left, c.right)]
    standings = Standings()
    for c in rest:
        standings.add(c.left, c.right, c.outcome)
    assert rate_all(rest).overall.leaderboard() == standings.leaderboard()
    assert "agent-05" not in {row.agent for row in standings.leaderboard()}


@pytest.mark.parametrize("method", METHODS)
def test_many_logs_at_once_are_each_as_alone(method):
    log = Log.of(random_log(3, 120, 6))
    times = np.random.default_rng(0).multinomial(120, np.full(120, 1 / 120), size=10)
    times[8:, ::2] = 0  # shorter logs, as when judges are resampled
    times[9] = 0
    many = rate_many(log, times, method)
    for row in range(9):
        alone = rate(log.select(np.repeat(np.arange(120), times[row])), method)
        np.testing.assert_allclose(many.mu[row], alone.mu, rtol=0, atol=1e-7)
        np.testing.assert_allclose(many.score[row], alone.score, rtol=0, atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_a_clear_order(method):
    log = random_log(4, 2000, 5)
    skill = np.random.default_rng(4).normal(25, 6, 5)
    ranking = rate(Log.of(log), method)
    assert ranking.agents == tuple(f"agent-{i:02}" for i in range(5))
    assert np.argsort(-skill).tolist() == np.argsort(ranking.rank).tolist()
    assert (np.diag(ranking.covariance) > 0).all()


@pytest.mark.parametrize("method", METHODS)
def test_an_empty_log_ranks_nobody(method):
    ranking = rate(Log.of([]), method)
    assert (ranking.agents, ranking.score.tolist()) == ((), [])
    assert rate_many(Log.of([]), np.zeros((3, 0), np.int64), method).score.shape == (3, 0)


def test_progress_adds_up_to_the_whole():
    log = Log.of(random_log(5, 300, 5))
    times = np.random.default_rng(0).multinomial(300, np.full(300, 1 / 300), size=20)
    for method in METHODS:
        shares = []
        rate_many(log, times, method, on_progress=shares.append)
        assert sum(shares) == pytest.approx(1)


def test_phantom_draws_are_noted():
    log = Log.of([c for c in random_log(6, 1, 2)])
    assert "a draw against a phantom of average strength" in rate(log, "bradley-terry").notes[0]
    assert rate(log, "trueskill").notes == ()


def test_equal_scores_share_the_best_rank():
    assert ranks(np.array([[1.0, 5.0, 5.0, 0.0], [2.0, 2.0, 2.0, 2.0]])).tolist() == [[3, 1, 1, 4], [1, 1, 1, 1]]


def test_an_unknown_method_is_refused():
    with pytest.raises(ValueError, match="method must be one of trueskill, bradley-terry, davidson, got 'elo'"):
        rate(Log.of([]), "elo")  # type: ignore[arg-type]
