"""Studies: recruiting people, checking what they know, sending them back, paying them.

Nothing here knows what people do in a study; judging uses it, and collecting play can.

Three services own the transactions: `studies.py` (opening, enrolment, quiz, the end), `payroll.py` (plan, claim, settle), and
`hits.py` (what a study has on Mechanical Turk). Pages and commands call them and touch no database.

The rules beneath work on plain values. `definition.py` is a study's file, `enrolment.py` one person's way through it,
`channels/` where people come from, `quiz.py` what they must know, `hit.py` and `hit_plan.py` what Mechanical Turk is told,
`pay.py` what people's time was worth, `ledger.py` what was paid, `tokens.py` who people are where cookies do not reach. Only
the two clients `channels/*_api.py` speak to somebody else.
"""

from interplay.study.channels import OUTCOMES, Arrival, Channel, Departure, Outcome, make_channel
from interplay.study.errors import (
    ArrivalError,
    EnrolmentTokenError,
    PaymentError,
    PaymentUnknownError,
    QuizAnswerError,
    QuizError,
    StudyError,
)
from interplay.study.quiz import Quiz, QuizScore
from interplay.study.quiz_file import builtin_quizzes, find_quiz, load_quiz

__all__ = [
    "OUTCOMES",
    "Arrival",
    "ArrivalError",
    "Channel",
    "Departure",
    "EnrolmentTokenError",
    "Outcome",
    "PaymentError",
    "PaymentUnknownError",
    "Quiz",
    "QuizAnswerError",
    "QuizError",
    "QuizScore",
    "StudyError",
    "builtin_quizzes",
    "find_quiz",
    "load_quiz",
    "make_channel",
]
