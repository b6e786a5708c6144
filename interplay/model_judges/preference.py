"""Predict which of two episodes people prefer, by a Davidson model whose strengths are linear in the episodes' features.

Davidson, "On Extending the Bradley-Terry Model to Accommodate Ties" (JASA 1970): with a difference d of two log strengths,

    P(left) : P(draw) : P(right)  =  exp(d / 2) : exp(b) : exp(-d / 2)

as in `interplay.rank.davidson` (exp(b) is its nu), and d = w (x_left - x_right) / temperature. Swapping the sides swaps the
probabilities, so the model has no favourite side. The weights are fitted by penalised maximum likelihood, which is concave.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interplay.errors import InterplayError, not_installed
from interplay.model_judges.outcomes import OUTCOMES, Texts, columns, log_loss
from interplay.rank.bradley_terry import sigmoid

Array = NDArray[np.float64]

VERSION = 3
"""Version of the numbers' meaning; models of another version must be made again."""


@dataclass(frozen=True, eq=False)
class Scale:
    """Middle and spread of F features, float64, shape (F,); spread is never 0."""

    names: tuple[str, ...]
    centre: Array
    spread: Array

    @classmethod
    def of(cls, names: Sequence[str], values: Array) -> Scale:
        """Compute middle and spread of the known values; a feature that never varies gets weight 0 in every fit.

        Args:
            values: Shape (n, F); NaN where unknown.
        """
        known = np.isfinite(values)
        count = np.maximum(known.sum(axis=0), 1)
        filled = np.where(known, values, 0.0)
        centre = filled.sum(axis=0) / count
        spread = np.sqrt((np.where(known, values - centre, 0.0) ** 2).sum(axis=0) / count)
        return cls(tuple(names), centre, np.where(spread > 1e-9, spread, 1.0))

    def __call__(self, values: Array) -> Array:
        """Return scaled features, shape (n, F); unknown values become the middle, and far values are limited to 5 spreads."""
        return np.clip(np.nan_to_num((values - self.centre) / self.spread), -5, 5)


@dataclass(frozen=True, eq=False)
class PreferenceModel:
    """A fitted model.

    Attributes:
        weights: float64, shape (F,): one for each feature.
        draw: b in the module's formula; `None` if no answer was a draw.
        temperature: Above 1 if the fit's probabilities were too extreme; chosen on answers that the fit had not seen.
    """

    weights: Array
    draw: float | None
    temperature: float = 1.0

    def probabilities(self, left: Array, right: Array) -> Array:
        """Return the probabilities of left, draw and right, shape (n, 3), from scaled features, shape (n, F)."""
        return _davidson((left - right) @ self.weights / self.temperature, self.draw)


@dataclass(frozen=True, eq=False)
class YesNoModel:
    """Logistic regression: whether people say yes about one episode; the intercept is for an episode with average features."""

    weights: Array
    """float64, shape (F,)."""
    intercept: float

    def probabilities(self, features: Array) -> Array:
        """Return the probabilities of yes, shape (n,), from scaled features, shape (n, F)."""
        return sigmoid(features @ self.weights + self.intercept)


def fit_preference(left: Array, right: Array, outcomes: Texts, *, penalty: float) -> PreferenceModel:
    """Fit the weights by maximum penalised likelihood, at temperature 1.

    Args:
        left, right: Scaled features, shape (n, F).
        outcomes: n texts: `left`, `draw` or `right`.
        penalty: Factor of half the sum of squared weights, positive.
    Raises:
        ValueError: If there are no outcomes, or one is unknown.
    """
    if not len(outcomes):
        raise ValueError("there are no answers to fit a preference model to")
    said = np.asarray(outcomes)
    won, drawn, lost = ((said == name).astype(float) for name in OUTCOMES)
    if (won + drawn + lost != 1).any():
        strange = next(outcome for outcome in outcomes if outcome not in OUTCOMES)
        raise ValueError(f"outcome must be one of {', '.join(OUTCOMES)}, got {strange!r}")
    difference = left - right
    has_draws = bool(drawn.any())

    def split(parameters: Array) -> tuple[Array, Array]:
        weights, draw = parameters[:-1], parameters[-1] if has_draws else None
        return weights, _davidson(difference @ weights, draw)

    def loss(parameters: Array) -> tuple[float, Array]:
        weights, p = split(parameters)
        log_p = np.log(np.maximum(p, 1e-300))
        value = -(won * log_p[:, 0] + drawn * log_p[:, 1] + lost * log_p[:, 2]).sum() + penalty / 2 * (weights @ weights)
        by_d = ((p[:, 0] - p[:, 2]) - (won - lost)) / 2
        by_draw = (p[:, 1] - drawn).sum() if has_draws else 0.0
        return value, np.append(difference.T @ by_d + penalty * weights, by_draw)

    def curvature(parameters: Array) -> Array:
        _, p = split(parameters)
        lean = p[:, 0] - p[:, 2]
        by_d, by_both, by_draw = (1 - p[:, 1] - lean**2) / 4, -lean * p[:, 1] / 2, p[:, 1] * (1 - p[:, 1])
        return _bordered(difference, by_d, by_both, by_draw.sum() if has_draws else 1.0, penalty)

    best = _newton(loss, curvature, difference.shape[1] + 1)
    return PreferenceModel(best[:-1], float(best[-1]) if has_draws else None)


def fit_yes_no(features: Array, answers: Sequence[bool] | NDArray[np.bool_], *, penalty: float) -> YesNoModel:
    """Fit a logistic regression of scaled features, shape (n, F), by penalised maximum likelihood.

    `penalty`, positive, is the factor of half the sum of squared weights. The intercept has a hundredth of this penalty, so
    that it stays finite if everybody gives the same answer.
    """
    said = np.array(answers, float)

    def loss(parameters: Array) -> tuple[float, Array]:
        weights, intercept = parameters[:-1], parameters[-1]
        logit = features @ weights + intercept
        value = (np.logaddexp(0, logit) - said * logit).sum() + penalty / 2 * (weights @ weights + intercept**2 / 100)
        error = sigmoid(logit) - said
        return value, np.append(features.T @ error + penalty * weights, error.sum() + penalty * intercept / 100)

    def curvature(parameters: Array) -> Array:
        p = sigmoid(features @ parameters[:-1] + parameters[-1])
        spread = p * (1 - p)
        return _bordered(features, spread, spread, spread.sum() + penalty / 100, penalty)

    best = _newton(loss, curvature, features.shape[1] + 1)
    return YesNoModel(best[:-1], float(best[-1]))


def best_temperature(logits: Array, draw: float | None, outcomes: Texts) -> float:
    """Return the temperature, between 1/4 and 4, at which unseen answers are most probable; `logits` are d at temperature 1.

    The method is Guo et al., "On Calibration of Modern Neural Networks" (ICML 2017), section 4.2, applied to this model.
    """
    column = columns(outcomes)

    def loss(log_temperature: float) -> float:
        return float(log_loss(_davidson(logits / np.exp(log_temperature), draw), column).sum())

    found = optimizer().minimize_scalar(loss, bounds=(-np.log(4), np.log(4)), method="bounded")
    return float(np.exp(found.x))


def optimizer() -> Any:
    """Return `scipy.optimize`; raise an `InterplayError` with the command that installs scipy if it is missing."""
    try:
        from scipy import optimize
    except ModuleNotFoundError:
        raise InterplayError(not_installed("to learn, model judges need", "scipy", "report")) from None
    return optimize


def _newton(loss: Callable[[Array], tuple[float, Array]], curvature: Callable[[Array], Array], size: int) -> Array:
    found = optimizer().minimize(loss, np.zeros(size), jac=True, hess=curvature, method="trust-exact", options={"gtol": 1e-6})
    return found.x


def _bordered(rows: Array, by_d: Array, by_both: Array, by_last: float, penalty: float) -> Array:
    """Return the second derivatives of a loss in F weights and an additional parameter, shape (F + 1, F + 1).

    Args:
        rows: Features that the weights multiply, shape (n, F).
        by_d, by_both: Second derivatives of each row's loss, shape (n,): in d = rows @ weights, and in d and that parameter.
        by_last: Second derivative of the loss in the additional parameter.
    """
    size = rows.shape[1]
    matrix = np.empty((size + 1, size + 1))
    matrix[:size, :size] = (rows * by_d[:, None]).T @ rows + penalty * np.eye(size)
    matrix[:size, size] = matrix[size, :size] = rows.T @ by_both
    matrix[size, size] = by_last
    return matrix


def _davidson(d: Array, draw: float | None) -> Array:
    """Return exp(d / 2) : exp(draw) : exp(-d / 2) as probabilities, shape (n, 3), computed without overflow."""
    logits = np.stack([d / 2, np.full_like(d, -np.inf if draw is None else draw), -d / 2], axis=1)
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)
