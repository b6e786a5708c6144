"""Refusals of a judge's request, each with a short code for programs."""

from __future__ import annotations

from typing import NamedTuple

from interplay.errors import InterplayError


class JudgingError(InterplayError):
    """A refusal; `code` is its name for programs."""

    code = "refused"


class NothingToJudgeError(JudgingError):
    """No pair can be served now."""

    code = "nothing_to_judge"


class EveryPairTakenError(NothingToJudgeError):
    """Every pair has a judge right now."""

    code = "every_pair_taken"


class VideosBeingMadeError(NothingToJudgeError):
    """There are episodes to compare, and their videos are being made, or wait (`is_held`) while people play."""

    code = "videos_being_made"

    def __init__(self, what: str, *, is_held: bool) -> None:
        when = "wait while people play here; try again later" if is_held else "are being made; try again in a minute"
        super().__init__(f"the videos of {what} {when}")


class VideosMissingError(NothingToJudgeError):
    """There are episodes to compare, but no videos of them, and none are being made."""

    code = "videos_missing"


class UnknownMatchError(JudgingError):
    """No match has this id."""

    code = "unknown_match"


class ForeignMatchError(JudgingError):
    """The match was served to another judge, or to this one as part of another study."""

    code = "foreign_match"


class WithdrawnError(JudgingError):
    """A player of one of the games has withdrawn their agreement: no judge sees the match any more."""

    code = "withdrawn"


class AlreadyAnsweredError(JudgingError):
    """The match has its answer; the log is never changed."""

    code = "already_answered"


class NothingToUndoError(JudgingError):
    """The judge has no answer that may still be taken back."""

    code = "nothing_to_undo"


class SupersededError(JudgingError):
    """A late answer about videos that the same judge has answered about since."""

    code = "superseded"


class BannedError(JudgingError):
    """Answers of this judge are not accepted."""

    code = "banned"


class DailyLimitError(JudgingError):
    """This judge, or everybody at their address, has reached the limit of one day; `retry_after_s` says when to come back."""

    code = "daily_limit"

    def __init__(self, message: str, retry_after_s: float) -> None:
        self.retry_after_s = retry_after_s
        super().__init__(message)


class StudyClosedError(JudgingError):
    """The study serves no matches any more; answers to served ones are still accepted."""

    code = "study_closed"


class StudyFullError(JudgingError):
    """The study has all its answers."""

    code = "study_full"


class QuotaReachedError(JudgingError):
    """This judge has reached the limit of answers."""

    code = "quota_reached"


class TooEarlyError(JudgingError):
    """An answer before anybody could have watched the videos; it may be sent again after `retry_after_s`."""

    code = "too_early"

    def __init__(self, message: str, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class FieldError(NamedTuple):
    """A fault of a form: the field, and the remedy."""

    field: str
    message: str


class InvalidAnswerError(JudgingError):
    """A form with faults, all listed in `errors`."""

    code = "invalid"

    def __init__(self, errors: list[FieldError]) -> None:
        self.errors = errors
        super().__init__("\n".join(f"{field}: {message}" for field, message in errors))
