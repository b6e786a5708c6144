"""Make t-SNE maps with the parameters of CrowdPlay's table 7 (Gerstgrasser et al. 2022), and place new points in such maps."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from interplay.errors import InterplayError, not_installed

LEAST = 10
"""Least number of plays for a map."""
MOST = 5_000
"""Largest number of plays in a map; if there are more, this many are drawn."""
PARAMETERS: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("tsne.toml").read_text(encoding="utf-8"))
PAPER, PLACING = PARAMETERS["paper"], PARAMETERS["placing"]


@dataclass(frozen=True)
class Map:
    """A map of points, float64, shape (n, 2), and all parameters that it was made with."""

    points: np.ndarray
    parameters: dict[str, Any]


@dataclass(frozen=True)
class Nearness:
    """Mean distance to the nearest other point of a map, by features: for placed points, and for the map's own points."""

    placed: float
    among: float


def perplexity_for(num: int) -> float:
    """Return the paper's perplexity, or about a third of the number of points if points are few.

    >>> perplexity_for(500), perplexity_for(31)
    (30.0, 10.0)
    """
    return float(min(PAPER["perplexity"], (num - 1) / 3))


def embed(features: np.ndarray, *, seed: int) -> Map:
    """Make a t-SNE map of features, float64, shape (n, number of features), n at least `LEAST`.

    Only one thread computes, so that the same features and seed give the same map.
    """
    try:
        import sklearn
        from sklearn.manifold import TSNE
        from threadpoolctl import threadpool_limits
    except ModuleNotFoundError:
        raise InterplayError(not_installed("maps of plays need", "scikit-learn", "report")) from None
    parameters = PAPER | {"perplexity": perplexity_for(len(features)), "random_state": seed}
    if np.ptp(features, axis=0).max() == 0:  # principal components of equal points are not defined
        return Map(np.zeros((len(features), 2)), parameters)
    if features.shape[1] < 2:
        features = np.column_stack([features, np.zeros(len(features))])
    with threadpool_limits(1):
        points = cast(Any, TSNE)(**parameters).fit_transform(features)  # without `Any`, its types are guessed for long
    return Map(points.astype(np.float64), parameters | {"scikit-learn": sklearn.__version__})


def place(features: np.ndarray, drawn: Map, new: np.ndarray, *, seed: int) -> np.ndarray | None:
    """Place points with features `new` in the map `drawn` of `features`; return float64, (n, 2), or None without openTSNE."""
    try:
        from openTSNE import TSNEEmbedding
        from openTSNE.affinity import PerplexityBasedNN
        from threadpoolctl import threadpool_limits
    except ModuleNotFoundError:
        return None
    if not drawn.points.any():
        return np.zeros((len(new), 2))
    with threadpool_limits(1):
        affinities = cast(Any, PerplexityBasedNN)(
            features, drawn.parameters["perplexity"], metric="euclidean", method="exact", n_jobs=1, random_state=seed
        )
        embedding = cast(Any, TSNEEmbedding)(
            drawn.points, affinities, negative_gradient_method="bh", n_jobs=1, random_state=seed
        )  # of scikit-learn's points, which stay
        placing = PLACING | {"perplexity": min(5, (len(features) - 1) / 3), "k": min(25, len(features) - 1)}
        return np.asarray(embedding.transform(new, **placing), np.float64)


def nearness(features: np.ndarray, new: np.ndarray) -> Nearness:
    """Measure how near new points are to the points of a map, by their features.

    >>> nearness(np.array([[0.0], [1.0], [3.0]]), np.array([[5.0]]))
    Nearness(placed=2.0, among=1.3333333333333333)
    """
    away = np.linalg.norm(features[:, None] - features[None], axis=2)
    np.fill_diagonal(away, np.inf)
    placed = np.linalg.norm(new[:, None] - features[None], axis=2).min(axis=1)
    return Nearness(float(placed.mean()), float(away.min(axis=1).mean()))
