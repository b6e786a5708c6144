"""Through time equals a slow second implementation and, for one answer, TrueSkill; near the exact posterior; order-free."""

import math
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_logs import random_log

from interplay.rank import DEFAULTS, OUTCOMES, Comparison, Rating, Settings, rate_1vs1
from interplay.rank.log import Log
from interplay.rank.normal import draw_correction, win_correction
from interplay.rank.through_time import fit, fit_many, time_steps

STATIC = Settings(tau=1e-12)  # one answer at a time must not drift to be comparable


def slow(log: list[Comparison], steps: list[int], drift: float, num_rounds: int = 3000) -> dict[tuple[str, int], Rating]:
    """The paper's messages one answer after the other, through ordinary dictionaries, until nothing moves.

    No counts, no damping and no gauge: what `fit` saves work with is not here.
    """
    agents = sorted({name for c in log for name in (c.left, c.right)})
    last = max(steps)
    begun = {name: min(s for c, s in zip(log, steps, strict=True) if name in (c.left, c.right)) for name in agents}
    prior = 1 / DEFAULTS.sigma**2, DEFAULTS.mu / DEFAULTS.sigma**2
    messages = {(number, side): (0.0, 0.0) for number in range(len(log)) for side in ("left", "right")}

    def node(name: str, step: int) -> tuple[float, float]:
        """Natural parameters of a skill at a step: prior, answers there, and the past and the future."""

        def said(s: int) -> tuple[float, float]:
            own = [
                messages[number, side]
                for number, c in enumerate(log)
                if steps[number] == s
                for side in ("left", "right")
                if getattr(c, side) == name
            ]
            return sum(m[0] for m in own), sum(m[1] for m in own)

        def blur(p: float, q: float) -> tuple[float, float]:
            return p / (1 + p * drift**2), q / (1 + p * drift**2)

        forward = prior
        for s in range(begun[name], step):
            here = said(s)
            forward = blur(forward[0] + here[0], forward[1] + here[1])
        backward = (0.0, 0.0)
        for s in range(last, step, -1):
            here = said(s)
            backward = blur(backward[0] + here[0], backward[1] + here[1])
        here = said(step)
        return forward[0] + here[0] + backward[0], forward[1] + here[1] + backward[1]

    for _ in range(num_rounds):
        moved = 0.0
        for number, c in enumerate(log):
            cavity = []
            for side in ("left", "right"):
                p, q = node(getattr(c, side), steps[number])
                p, q = p - messages[number, side][0], q - messages[number, side][1]
                cavity.append((q / p, 1 / p))
            (mean_a, var_a), (mean_b, var_b) = cavity
            spread = math.sqrt(var_a + var_b + 2 * DEFAULTS.beta**2)
            t, margin = (mean_a - mean_b) / spread, DEFAULTS.draw_margin / spread
            if c.outcome == "draw":
                v, w = draw_correction(t, margin)
            else:
                v, w = win_correction(t if c.outcome == "left" else -t, margin)
                v = v if c.outcome == "left" else -v
            for side, (mean, var), sign in (("left", cavity[0], 1), ("right", cavity[1], -1)):
                new_mean, new_var = mean + sign * var / spread * v, var * (1 - var / spread**2 * w)
                new = 1 / new_var - 1 / var, new_mean / new_var - mean / var
                moved = max(moved, abs(new[0] - messages[number, side][0]), abs(new[1] - messages[number, side][1]))
                messages[number, side] = new
        if moved < 1e-13:
            break
    result = {}
    for name in agents:
        for step in range(begun[name], last + 1):
            p, q = node(name, step)
            result[name, step] = Rating(q / p, math.sqrt(1 / p))
    return result


@pytest.mark.parametrize(
    ("seed", "num_answers", "num_agents", "num_steps", "drift"),
    [(0, 1, 2, 1, 0.0), (1, 12, 2, 1, 0.0), (2, 14, 4, 1, 0.0), (3, 14, 4, 3, 0.5), (4, 10, 3, 4, 3.0)],
)
def test_ratings_equal_messages_passed_one_by_one(seed, num_answers, num_agents, num_steps, drift):
    log = random_log(seed, num_answers, num_agents, draws=0.25)
    steps = np.random.default_rng(seed).integers(num_steps, size=num_answers)
    steps[-1] = num_steps - 1
    result = fit(Log.of(log), steps=steps, drift=drift)
    assert result.has_converged
    for (name, step), rating in slow(log, steps.tolist(), drift).items():
        place = result.agents.index(name)
        assert result.mu[step, place] == pytest.approx(rating.mu, abs=1e-6)
        assert result.sigma[step, place] == pytest.approx(rating.sigma, abs=1e-6)


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_one_answer_is_trueskill_without_drift(outcome):
    ratings = fit(Log.of([Comparison("ada", "bob", outcome)])).ratings()
    expected = rate_1vs1(Rating(), Rating(), outcome, STATIC)
    for name, rating in (("ada", expected.left), ("bob", expected.right)):
        assert ratings[name].mu == pytest.approx(rating.mu, abs=1e-8)
        assert ratings[name].sigma == pytest.approx(rating.sigma, abs=1e-8)


def test_three_agents_are_close_to_the_exact_posterior():
    # Skills on a grid, the likelihood of every answer written down from the model: no message, no approximation.
    log = [Comparison(*c) for c in [("a", "b", "left"), ("b", "c", "left"), ("a", "c", "draw"), ("c", "a", "right")]]
    grid = np.linspace(-15, 65, 161)
    a, b, c = np.meshgrid(grid, grid, grid, indexing="ij", sparse=True)
    skill = {"a": a, "b": b, "c": c}
    erf = np.vectorize(math.erf)
    weight = np.exp(-((a - 25) ** 2 + (b - 25) ** 2 + (c - 25) ** 2) / (2 * DEFAULTS.sigma**2))
    for left, right, outcome, *_ in log:
        difference = np.round(skill[left] - skill[right], 9)
        values, place = np.unique(difference, return_inverse=True)

        def below(x):
            return (1 + erf(x / (2 * DEFAULTS.beta))) / 2  # the noise of two performances has variance 2 beta**2

        margin = DEFAULTS.draw_margin
        chance = {
            "left": below(values - margin),
            "right": below(-values - margin),
            "draw": below(margin - values) - below(-margin - values),
        }[outcome]
        weight = weight * chance[place.reshape(difference.shape)]
    weight /= weight.sum()
    result = fit(Log.of(log))
    means = {name: float((weight * skill[name]).sum()) for name in skill}
    for place, name in enumerate("abc"):
        assert result.mu[0, place] == pytest.approx(means[name], abs=0.2)
        exact = math.sqrt(float((weight * (skill[name] - means[name]) ** 2).sum()))
        assert math.sqrt(result.covariance[place, place]) == pytest.approx(exact, rel=0.02)
        assert 0.8 * exact < result.sigma[0, place] < exact  # the belief of one skill by itself is too sure
        for other, other_name in enumerate("abc"):
            covariance = float((weight * (skill[name] - means[name]) * (skill[other_name] - means[other_name])).sum())
            assert result.covariance[place, other] == pytest.approx(covariance, abs=0.5)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000), st.randoms(use_true_random=False))
def test_the_order_of_answers_changes_nothing(seed, random):
    log = random_log(seed, 40, 6)
    shuffled = random.sample(log, len(log))
    there, back = fit(Log.of(log)), fit(Log.of(shuffled))
    np.testing.assert_allclose(there.mu, back.mu, atol=1e-7)
    np.testing.assert_allclose(there.sigma, back.sigma, atol=1e-7)


def test_swapping_the_sides_changes_nothing():
    log = random_log(3, 60, 5)
    mirror = {"left": "right", "right": "left", "draw": "draw"}
    there = fit(Log.of(log))
    back = fit(Log.of([c._replace(left=c.right, right=c.left, outcome=mirror[c.outcome]) for c in log]))
    np.testing.assert_allclose(there.mu, back.mu, atol=1e-7)


def test_the_mean_of_connected_agents_stays_at_the_prior():
    result = fit(Log.of(random_log(5, 200, 9)))
    assert result.mu[0].mean() == pytest.approx(25, abs=1e-8)


def test_islands_have_each_a_mean_of_their_own_at_the_prior():
    log = [Comparison("a", "b", "left"), Comparison("c", "d", "left"), Comparison("c", "d", "left")]
    mu = {name: rating.mu for name, rating in fit(Log.of(log)).ratings().items()}
    assert (mu["a"] + mu["b"]) / 2 == pytest.approx(25, abs=1e-8)
    assert (mu["c"] + mu["d"]) / 2 == pytest.approx(25, abs=1e-8)
    assert mu["c"] > mu["a"]


def test_without_drift_time_does_not_matter_and_with_drift_it_does():
    log = Log.of(random_log(6, 100, 5))
    steps = time_steps(log, timedelta(hours=25))
    assert steps.max() == 3
    still, flat = fit(log, steps=steps), fit(log)
    np.testing.assert_allclose(still.mu, np.repeat(flat.mu, 4, axis=0), atol=1e-7)
    assert np.abs(fit(log, steps=steps, drift=2.0).mu[0] - flat.mu[0]).max() > 0.1


def test_an_agent_that_changed_is_seen_to_change():
    log = [Comparison("ada", "bob", "left" if number < 20 else "right") for number in range(40)]
    steps = np.arange(40) // 10
    mu = fit(Log.of(log), steps=steps, drift=3.0).mu[:, 0]
    assert mu[0] > 26 > 24 > mu[-1]
    assert fit(Log.of(log), steps=steps).mu[-1, 0] == pytest.approx(25, abs=1e-7)


def test_many_logs_at_once_are_each_as_alone():
    comparisons = random_log(7, 50, 6)
    log = Log.of(comparisons)
    times = np.random.default_rng(0).multinomial(50, np.full(50, 1 / 50), size=12)
    times[-1] = 0
    many = fit_many(log, times.astype(float))
    for row in range(len(times)):
        drawn = [c for c, count in zip(comparisons, times[row].tolist(), strict=True) for _ in range(count)]
        alone = fit(Log.of(drawn, agents=log.agents))
        np.testing.assert_allclose(many.mu[row], alone.mu[-1], atol=1e-7)
        np.testing.assert_allclose(many.sigma[row], alone.sigma[-1], atol=1e-7)
    assert many.mu[-1].tolist() == [25.0] * 6


def test_a_thousand_answers_all_one_way_stay_finite():
    ratings = fit(Log.of([Comparison("ada", "bob", "left")] * 1000)).ratings()
    assert ratings["ada"].mu > 35 > 15 > ratings["bob"].mu


def test_a_log_without_answers_has_no_ratings_and_unjudged_agents_have_the_prior():
    assert fit(Log.of([])).ratings() == {}
    rating = fit(Log.of([], agents=["ada"])).ratings()["ada"]
    assert (rating.mu, rating.sigma) == pytest.approx((25, 25 / 3))


def test_steps_and_drift_that_make_no_sense_are_refused():
    log = Log.of([Comparison("ada", "bob", "left")])
    with pytest.raises(ValueError, match="drift must be zero or positive, got -1"):
        fit(log, drift=-1)
    with pytest.raises(ValueError, match="steps must give each of 1 answers a step of 0 or more"):
        fit(log, steps=np.array([0, 1]))
    with pytest.raises(ValueError, match="drift needs the time of every answer, and an answer here has none"):
        time_steps(log, timedelta(days=1))
    timed = Log.of(random_log(0, 2, 2))
    with pytest.raises(ValueError, match="length must be positive"):
        time_steps(timed, timedelta(0))
