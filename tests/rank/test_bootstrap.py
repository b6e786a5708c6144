"""The bootstrap's spread is that of repeated studies; judges are drawn whole; the same generator gives the same intervals."""

import numpy as np
import pytest
from random_logs import random_log

from interplay.rank import Comparison
from interplay.rank.bootstrap import bootstrap, bootstrap_tasks, percentiles, resample
from interplay.rank.compare import normalised
from interplay.rank.methods import METHODS, Log, rate


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.mark.parametrize("method", METHODS)
def test_intervals_hold_the_scores_of_the_log(method):
    log = Log.of(random_log(0, 600, 6))
    result = bootstrap(log, method, num_resamples=200, rng=rng())
    score, rank = rate(log, method).score, rate(log, method).rank
    low, high = result.score_interval(0.99)
    assert ((low < score) & (score < high)).all()
    low, high = result.rank_interval(0.99)
    assert ((low <= rank) & (rank <= high)).all()
    assert set(np.unique(low)) <= set(range(1, 7))


def test_the_spread_is_the_standard_error_where_that_is_known():
    # Two agents, 400 decided answers: the standard error of half a logit of 0.75 is 1 / (2 sqrt(400 * 0.75 * 0.25)).
    log = Log.of([Comparison("ada", "bob", "left" if number % 4 else "right") for number in range(400)])
    result = bootstrap(log, "bradley-terry", num_resamples=4000, rng=rng())
    assert result.score[:, 0].std() == pytest.approx(1 / (2 * np.sqrt(75)), rel=0.1)  # 4 000 draws: 1.1 % is one deviation
    assert result.above()[0, 1] == 1
    assert result.above()[0, 0] == 0.5


def test_judges_are_drawn_with_all_their_answers():
    log = Log.of(random_log(1, 300, 5, num_judges=7))
    (times,) = resample(log, 50, rng(), "judges")
    for row in times:
        by_judge = [set(row[log.judge == judge].tolist()) for judge in range(7)]
        assert all(len(seen) == 1 for seen in by_judge)
        assert sum(seen.pop() for seen in by_judge) == 7


def test_judges_who_each_say_one_thing_make_wide_intervals():
    # Ten judges, each of 30 answers of one mind; 6 prefer ada. Answer by answer 180 of 300 looks settled; it is 6 of 10.
    log = Log.of(
        [Comparison("ada", "bob", "left" if judge < 6 else "right", "", str(judge)) for judge in range(10) for _ in range(30)]
    )
    by_answer = bootstrap(log, "bradley-terry", num_resamples=500, rng=rng())
    by_judge = bootstrap(log, "bradley-terry", num_resamples=500, rng=rng(), unit="judges")
    assert by_answer.above()[0, 1] > 0.98
    assert 0.5 < by_judge.above()[0, 1] < 0.95
    assert by_judge.score[:, 0].std() > 3 * by_answer.score[:, 0].std()


def test_the_same_generator_gives_the_same_intervals():
    log = Log.of(random_log(2, 100, 4))
    first, second = (bootstrap(log, num_resamples=20, rng=np.random.default_rng(7)) for _ in range(2))
    np.testing.assert_array_equal(first.score, second.score)


def test_tasks_share_resamples_and_the_normalised_score_is_made_of_them():
    comparisons = random_log(3, 400, 6, num_tasks=3)
    log = Log.of(comparisons)
    task = np.array([int(c.task[-1]) for c in comparisons])
    results, overall = bootstrap_tasks(log, task, 3, num_resamples=40, rng=rng())
    assert [result.score.shape for result in results] == [(40, 6)] * 3
    np.testing.assert_allclose(overall.score, normalised(np.stack([result.mu for result in results], axis=1)))
    point = normalised(np.stack([rate(log.select(np.flatnonzero(task == number))).mu for number in range(3)]))
    low, high = overall.score_interval(0.99)
    assert ((low < point) & (point < high)).all()


def test_progress_adds_up_to_the_whole():
    comparisons = random_log(3, 200, 4, num_tasks=2)
    log, task = Log.of(comparisons), np.array([int(c.task[-1]) for c in comparisons])
    for unit in ("answers", "judges"):
        shares = []
        bootstrap(log, num_resamples=10, rng=rng(), unit=unit, on_progress=shares.append)
        assert sum(shares) == pytest.approx(1)
        shares.clear()
        bootstrap_tasks(log, task, 2, num_resamples=10, rng=rng(), unit=unit, on_progress=shares.append)
        assert sum(shares) == pytest.approx(1)


def test_percentiles_leave_half_out_at_either_end():
    low, high = percentiles(np.arange(101.0)[:, None], 0.9)
    assert (low.item(), high.item()) == pytest.approx((5, 95))


def test_an_agent_that_is_not_in_a_task_is_not_ranked_there():
    log = [*random_log(4, 200, 4, num_tasks=1), *(c._replace(task="jump") for c in random_log(5, 100, 3))]
    task = np.array([int(c.task == "jump") for c in log])
    (dig, jump), overall = bootstrap_tasks(Log.of(log), task, 2, "bradley-terry", num_resamples=50, rng=rng())
    assert (len(dig.agents), len(jump.agents), len(overall.agents)) == (4, 3, 4)
    assert np.isfinite(overall.score).all()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"num_resamples": 0}, "num_resamples must be at least 1, got 0"),
        ({"unit": "agents"}, "unit must be one of answers, judges, got 'agents'"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(arguments, text):
    log = Log.of(random_log(0, 10, 3))
    with pytest.raises(ValueError, match=text):
        bootstrap(log, rng=rng(), **arguments)


def test_nothing_cannot_be_resampled():
    with pytest.raises(ValueError, match="there is no answer to resample"):
        bootstrap(Log.of([]), rng=rng())
    log = Log.of(random_log(0, 10, 3))
    with pytest.raises(ValueError, match="level must be between 0 and 1, both excluded, got 95"):
        bootstrap(log, rng=rng(), num_resamples=2).score_interval(95)
