"""Errors of studies, and of the people and platforms that a study works with."""

from __future__ import annotations

from interplay.errors import InterplayError, MisuseError


class StudyError(InterplayError):
    """The settings of a study are wrong, or a platform refused what the study asked for."""


class OptionError(StudyError, MisuseError):
    """An option of a study's command cannot be read, such as an invalid address."""


class ArrivalError(StudyError):
    """A link does not identify the person as the platform's links do; the text is for the person who opened the link."""


class EnrolmentTokenError(StudyError):
    """An enrolment token was not signed by this server."""


class QuizError(StudyError):
    """A quiz is invalid."""


class QuizAnswerError(StudyError):
    """Answers do not fit the questions of the quiz."""


class FormError(StudyError):
    """The answers in a form cannot be stored; the text is for the person who sent the form."""


class PaymentError(StudyError):
    """The platform refused a payment or could not be reached; this request paid nothing."""


class PaymentUnknownError(PaymentError):
    """A payment request got no answer and may have been paid; look on the platform before you send the payment again."""
