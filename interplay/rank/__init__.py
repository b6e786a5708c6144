"""Ratings and leaderboards from a log of answers: pure arithmetic, without a database or a clock.

`rate_1vs1` updates two ratings by one answer, `Standings` rates a whole log, `leaderboard(comparisons)` sorts agents by
mu - 3 sigma, and `read_answers(path)` reads a log from CSV.

Import other modules by name: `leaderboards` (every leaderboard of a log, by any of the `methods`: TrueSkill,
`bradley_terry` or `davidson`), `bootstrap` (intervals), `compare` (probabilities about two agents, the normalised score),
`agreement`, `bias` and `transitivity` (how far the answers can be trusted).

>>> rows = leaderboard([Comparison("ada", "bob", "left"), Comparison("bob", "cyd", "draw")])
>>> [(row.rank, row.agent, row.num_answers) for row in rows]
[(1, 'ada', 1), (2, 'bob', 2), (3, 'cyd', 1)]
"""

from interplay.rank.answers_file import AnswersError, read_answers
from interplay.rank.standings import Comparison, LeaderboardRow, Standings, TaskStandings, leaderboard, rate_all
from interplay.rank.trueskill import (
    DEFAULTS,
    OUTCOMES,
    Outcome,
    OutcomeProbabilities,
    Rating,
    RatingPair,
    Settings,
    anticipate,
    expected_drop,
    outcome_probabilities,
    quality,
    rate_1vs1,
    win_probability,
)

__all__ = [
    "DEFAULTS",
    "OUTCOMES",
    "AnswersError",
    "Comparison",
    "LeaderboardRow",
    "Outcome",
    "OutcomeProbabilities",
    "Rating",
    "RatingPair",
    "Settings",
    "Standings",
    "TaskStandings",
    "anticipate",
    "expected_drop",
    "leaderboard",
    "outcome_probabilities",
    "quality",
    "rate_1vs1",
    "rate_all",
    "read_answers",
    "win_probability",
]
