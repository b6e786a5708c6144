"""Refusals of a judge's request, each with a short code for programs."""

from __future__ import annotations

from typing import NamedTuple

from interplay.errors import InterplayError


class JudgingError(InterplayError):
    """A judge's request is refused; `code` names the reason for programs."""

    code = "refused"


class NothingToJudgeError(JudgingError):
    """No pair can be served now."""

    code = "nothing_to_judge"


class EveryPairTakenError(NothingToJudgeError):
    """Every pair is being judged by somebody else at present."""

    code = "every_pair_taken"


class VideosBeingMadeError(NothingToJudgeError):
    """Videos of the episodes to compare are being made. If `is_held`, they are made later, because people are playing."""

    code = "videos_being_made"

    def __init__(self, what: str, *, is_held: bool) -> None:
        when = "wait while people play here; try again later" if is_held else "are being made; try again in a minute"
        super().__init__(f"the videos of {what} {when}")


class VideosMissingError(NothingToJudgeError):
    """Episodes to compare exist, but their videos are missing and are not being made."""

    code = "videos_missing"


class UnknownMatchError(JudgingError):
    """No match has this id."""

    code = "unknown_match"


class ForeignMatchError(JudgingError):
    """The match was served to another judge, or to the same judge in another study."""

    code = "foreign_match"


class WithdrawnError(JudgingError):
    """A player of one of the games has withdrawn consent, so no judge may see the match any more."""

    code = "withdrawn"


class AlreadyAnsweredError(JudgingError):
    """The match was answered before. Answers in the log are never changed."""

    code = "already_answered"


class NothingToUndoError(JudgingError):
    """The judge has no answer that may still be taken back."""

    code = "nothing_to_undo"


class SupersededError(JudgingError):
    """The answer is late: after the match was served, the same judge answered another match with the same two videos."""

    code = "superseded"


class BannedError(JudgingError):
    """Answers of this judge are not accepted."""

    code = "banned"


class DailyLimitError(JudgingError):
    """This judge, or this network address, has reached its daily limit. The judge may return after `retry_after_s` seconds."""

    code = "daily_limit"

    def __init__(self, message: str, retry_after_s: float) -> None:
        self.retry_after_s = retry_after_s
        super().__init__(message)


class StudyClosedError(JudgingError):
    """The study serves no more matches. Answers to matches that were served before are still accepted."""

    code = "study_closed"


class StudyFullError(JudgingError):
    """The study has as many answers as it asked for."""

    code = "study_full"


class QuotaReachedError(JudgingError):
    """This judge has given as many answers as one judge may give."""

    code = "quota_reached"


class TooEarlyError(JudgingError):
    """The answer came before the judge could have watched the videos. It may be sent again after `retry_after_s` seconds."""

    code = "too_early"

    def __init__(self, message: str, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class FieldError(NamedTuple):
    """A fault in a form: the field, and how to correct it."""

    field: str
    message: str


class InvalidAnswerError(JudgingError):
    """The form has faults; `errors` lists all of them."""

    code = "invalid"

    def __init__(self, errors: list[FieldError]) -> None:
        self.errors = errors
        super().__init__("\n".join(f"{field}: {message}" for field, message in errors))
