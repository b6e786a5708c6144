"""The database: what is small and shared. The only room that knows SQL.

`Database.open(url)` gives sessions over the models in `interplay.store.models`, migrated to the newest schema. Ratings
are never stored as truth: they are computed from the append-only answers.
"""

from interplay.store.database import Database, StoreError
from interplay.store.models import (
    Answer,
    ApiToken,
    Ban,
    Base,
    Enrolment,
    Entrant,
    EntrantEpisode,
    EpisodeRow,
    EpisodeSeat,
    EpisodeStatistic,
    HitEvent,
    JudgingAgreement,
    Match,
    Participant,
    PayEvent,
    PlaySession,
    Problem,
    QuizAttempt,
    SeatStatistic,
    ShownTask,
    StudyRow,
    StudyVersion,
    TaskRow,
)

__all__ = [
    "Answer",
    "ApiToken",
    "Ban",
    "Base",
    "Database",
    "Enrolment",
    "Entrant",
    "EntrantEpisode",
    "EpisodeRow",
    "EpisodeSeat",
    "EpisodeStatistic",
    "HitEvent",
    "JudgingAgreement",
    "Match",
    "Participant",
    "PayEvent",
    "PlaySession",
    "Problem",
    "QuizAttempt",
    "SeatStatistic",
    "ShownTask",
    "StoreError",
    "StudyRow",
    "StudyVersion",
    "TaskRow",
]
