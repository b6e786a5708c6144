"""Judging: matches between two episodes, forms, answers, matchmaking.

`Judging(archive, rng=...)` is the room: `serve` gives a judge the match expected to tell most, `answer` adds to the append-only
log, `leaderboard` shows what the log says. Rooms inside: `serving` (matches), `pairing` (which pair next), `entrants` (who is
ranked), `ratings`, `published` (data sets), `segments`. `form.py`, `rules.py` and `viewing.py` are rules without a database.
"""

from interplay.judge.errors import JudgingError
from interplay.judge.rules import OPEN_ROOM, Rules, RulesError
from interplay.judge.scripted import ScriptedJudge
from interplay.judge.serving.judging import Judging

__all__ = ["OPEN_ROOM", "Judging", "JudgingError", "Rules", "RulesError", "ScriptedJudge"]
