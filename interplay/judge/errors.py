"""Why a judge's request is refused; each error knows the short code that programs read."""

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
    """Every pair there is has a judge right now."""

    code = "every_pair_taken"


class VideosBeingMadeError(NothingToJudgeError):
    """There are episodes to compare, and their videos are not made yet.

    Args:
        what: They are of.
        is_held: Whether they wait while people play.
    """

    code = "videos_being_made"

    def __init__(self, what: str, *, is_held: bool) -> None:
        when = "wait while people play here; try again later" if is_held else "are being made; try again in a minute"
        super().__init__(f"the videos of {what} {when}")


class VideosMissingError(NothingToJudgeError):
    """There are episodes to compare, their videos are not there, and nobody makes them."""

    code = "videos_missing"


class UnknownMatchError(JudgingError):
    """No match has this id."""

    code = "unknown_match"


class ForeignMatchError(JudgingError):
    """The match was served to another judge, or to this one as part of another study."""

    code = "foreign_match"


class WithdrawnError(JudgingError):
    """Somebody who played in one of the match's games has taken their agreement back: no judge sees it any more."""

    code = "withdrawn"


class AlreadyAnsweredError(JudgingError):
    """The match has its answer; the log is never changed."""

    code = "already_answered"


class NothingToUndoError(JudgingError):
    """The judge has no answer here that may still be taken back."""

    code = "nothing_to_undo"


class SupersededError(JudgingError):
    """A late answer about videos that the same judge has answered about since."""

    code = "superseded"


class BannedError(JudgingError):
    """Answers of this judge are not accepted."""

    code = "banned"


class DailyLimitError(JudgingError):
    """This judge, or everybody at their address, has given all answers of one day; `retry_after_s` says when to come back."""

    code = "daily_limit"

    def __init__(self, message: str, retry_after_s: float) -> None:
        self.retry_after_s = retry_after_s
        super().__init__(message)


class StudyClosedError(JudgingError):
    """The study serves no matches any more; answers to those it has served are still taken."""

    code = "study_closed"


class StudyFullError(JudgingError):
    """The study has all the answers it asked for."""

    code = "study_full"


class QuotaReachedError(JudgingError):
    """This judge has given as many answers as one judge may."""

    code = "quota_reached"


class TooEarlyError(JudgingError):
    """An answer before anybody could have watched the videos; what was sent is worth sending again.

    Attributes:
        retry_after_s: Until the answer is accepted, seconds.
    """

    code = "too_early"

    def __init__(self, message: str, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class FieldError(NamedTuple):
    """One fault of a form: which field, and what to do about it."""

    field: str
    message: str


class InvalidAnswerError(JudgingError):
    """A form with faults, all of them listed in `errors`."""

    code = "invalid"

    def __init__(self, errors: list[FieldError]) -> None:
        self.errors = errors
        super().__init__("\n".join(f"{field}: {message}" for field, message in errors))
