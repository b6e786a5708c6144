"""Judging: matches between two episodes, forms, answers, matchmaking.

`Judging(archive, rng=...)` is the room: `serve` gives a judge the match expected to tell most, `answer` adds to the append-only
log, `leaderboard` shows what the log says. Rooms inside: `serving` (matches), `pairing` (which pair next), `entrants` (who is
ranked), `ratings`, `published` (data sets), `segments`. `form.py`, `rules.py` and `viewing.py` are rules without a database.
"""

from interplay.judge.errors import (
    AlreadyAnsweredError,
    BannedError,
    DailyLimitError,
    EveryPairTakenError,
    FieldError,
    ForeignMatchError,
    InvalidAnswerError,
    JudgingError,
    NothingToJudgeError,
    NothingToUndoError,
    QuotaReachedError,
    StudyClosedError,
    StudyFullError,
    SupersededError,
    TooEarlyError,
    UnknownMatchError,
    VideosBeingMadeError,
    VideosMissingError,
    WithdrawnError,
)
from interplay.judge.form import MIN_REASON_CHARS, check_form
from interplay.judge.ratings.board import NextPair
from interplay.judge.rules import OPEN_ROOM, Rules, RulesError
from interplay.judge.scripted import ScriptedJudge
from interplay.judge.serving.judging import AcceptedAnswer, JudgeKind, Judging, Preview
from interplay.judge.serving.match import ServedMatch

__all__ = [
    "MIN_REASON_CHARS",
    "OPEN_ROOM",
    "AcceptedAnswer",
    "AlreadyAnsweredError",
    "BannedError",
    "DailyLimitError",
    "EveryPairTakenError",
    "FieldError",
    "ForeignMatchError",
    "InvalidAnswerError",
    "JudgeKind",
    "Judging",
    "JudgingError",
    "NextPair",
    "NothingToJudgeError",
    "NothingToUndoError",
    "Preview",
    "QuotaReachedError",
    "Rules",
    "RulesError",
    "ScriptedJudge",
    "ServedMatch",
    "StudyClosedError",
    "StudyFullError",
    "SupersededError",
    "TooEarlyError",
    "UnknownMatchError",
    "VideosBeingMadeError",
    "VideosMissingError",
    "WithdrawnError",
    "check_form",
]
