"""Golden values for tests/learn/benchmark/test_benchmark_scores.py: what rliable 1.2.0 makes of scores by a formula.

pip install rliable==1.2.0
python tools/make_rliable_scores.py > tests/learn/benchmark/rliable_scores.json
"""

from __future__ import annotations

import json

import numpy as np
from rliable import library, metrics


def scores(kind: int, num_runs: int, num_tasks: int) -> np.ndarray:
    """Scores with ties, values above 1 and below 0; tests/learn/benchmark/test_benchmark_scores.py has the same formula."""
    place = np.arange(num_runs * num_tasks).reshape(num_runs, num_tasks)
    return np.round(np.sin(place * (1.7 + kind)) * 0.9 + 0.1 * kind + 0.3, 1)


def main() -> None:
    """Print the values as JSON."""
    found = []
    for num_runs, num_tasks in ((1, 3), (2, 1), (3, 4), (4, 11), (5, 2), (10, 26)):
        one, other = scores(0, num_runs, num_tasks), scores(1, num_runs, num_tasks)
        levels = np.linspace(-0.5, 1.5, 9)
        found.append(
            {
                "shape": [num_runs, num_tasks],
                "IQM": metrics.aggregate_iqm(one),
                "median": metrics.aggregate_median(one),
                "mean": metrics.aggregate_mean(one),
                "optimality gap": metrics.aggregate_optimality_gap(one),
                "improvement": metrics.probability_of_improvement(one, other),
                "levels": levels.tolist(),
                "profile": [library.run_score_deviation(one, level) for level in levels],
            }
        )
    print(json.dumps(found, indent=1, default=float))


if __name__ == "__main__":
    main()
