"""Errors of studies, and of the people and platforms that a study works with."""

from __future__ import annotations

from interplay.errors import InterplayError, MisuseError


class StudyError(InterplayError):
    """The settings of a study are wrong, or a platform refused what the study asked for."""


class OptionError(StudyError, MisuseError):
    """An option of a study's command cannot be read, such as an invalid address."""


class ArrivalError(StudyError):
    """A link does not say who came, or not as the platform says it; the text is for the person who opened it."""


class EnrolmentTokenError(StudyError):
    """An enrolment token was not signed by this server."""


class QuizError(StudyError):
    """A quiz is written in a way that cannot be used."""


class QuizAnswerError(StudyError):
    """Answers do not belong to the questions of the quiz."""


class FormError(StudyError):
    """A form about a partner cannot be stored; the text is for the person who sent it."""


class PaymentError(StudyError):
    """The platform refused a payment, or could not be asked; this request paid nothing."""


class PaymentUnknownError(PaymentError):
    """A payment request got no answer and may have been paid; look on the platform before sending it again."""
