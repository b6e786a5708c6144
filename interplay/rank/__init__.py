"""Ratings and leaderboards from a log of answers: pure arithmetic, no database, no clock, no other room.

`rate_1vs1` is what one answer does to two ratings, `Standings` folds a log, `leaderboard(comparisons)` sorts agents by
mu - 3 sigma, and `read_answers(path)` reads a log from CSV.

Modules are imported by name: `leaderboards` (every leaderboard of a log, by any of the `methods`: TrueSkill,
`bradley_terry` or `davidson`), `bootstrap` (intervals), `compare` (who beats whom, the normalised score),
`agreement`, `bias` and `transitivity` (what the ratings rest on).

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
