"""Errors between a study and the people and platforms it works with."""

from __future__ import annotations

from interplay.errors import InterplayError, MisuseError


class StudyError(InterplayError):
    """Anything wrong with a study's settings, or with what a platform did with them."""


class OptionError(StudyError, MisuseError):
    """An option of a study's command that cannot be read, such as an invalid address."""


class ArrivalError(StudyError):
    """A link that does not say who came, or says it in a way the platform never does; for the person who opened it."""


class EnrolmentTokenError(StudyError):
    """An enrolment token this server did not sign."""


class QuizError(StudyError):
    """A quiz that cannot be used as it is written."""


class QuizAnswerError(StudyError):
    """Answers that do not belong to the quiz's questions."""


class FormError(StudyError):
    """A form about a partner that cannot be kept; the text is for the person who sent it."""


class PaymentError(StudyError):
    """The platform refused, or could not be asked; nothing was paid by this request."""


class PaymentUnknownError(PaymentError):
    """The request went out and no answer came back: it may have been paid. Look before sending it again."""
