"""Judging: matches between two episodes, forms, answers, matchmaking.

`Judging(archive, rng=...)` is the service. `serve` gives a judge the match whose answer is expected to be most informative.
`answer` adds an answer to the append-only log; `leaderboard` computes the ranking from the log. Subpackages: `serving`
(matches), `pairing` (which pair comes next), `entrants` (agents, videos and people that are ranked), `ratings`, `published`
(data sets), `segments`. `form.py`, `rules.py` and `viewing.py` hold rules that need no database.
"""

from interplay.judge.errors import JudgingError
from interplay.judge.rules import OPEN_ROOM, Rules, RulesError
from interplay.judge.scripted import ScriptedJudge
from interplay.judge.serving.judging import Judging

__all__ = ["OPEN_ROOM", "Judging", "JudgingError", "Rules", "RulesError", "ScriptedJudge"]
