"""Studies: recruiting people, checking what they know, sending them back, paying them.

Studies of play have modules of their own: `play/` (variants and games of a visit), `incentives.py` (requirements, bonuses),
`assignment.py` (which variant a visit gets), `questions.py` (about partners); studies of reviews have `review/`. People also
come without a study: `classes/` (one code, nicknames), `scores.py` (how one stands among others).

Services own the transactions: `studies.py` (opening, enrolment, quiz, the end), `play/visits.py`, `review/reviews.py`,
`money/payroll.py` (plan, claim, settle, raffle), `money/raffle.py` (addresses, apart from games), `mturk/hits.py`,
`classes/classes.py`, `scores.py` and `feedback.py`. Pages and commands call them and touch no database.

The rules beneath work on plain values. `definition.py` is a study's file, `enrolment.py` one person's way through it,
`channels/` where people come from, `quizzes/` what they must know, `mturk/` the requests to Mechanical Turk, `money/` what
people's time was worth and what was paid, `tokens.py` who people are where cookies do not reach. Only `mturk/api.py` and
`channels/prolific_api.py` speak to another server.
"""

from interplay.study.channels import OUTCOMES, Arrival, Channel, Departure, make_channel
from interplay.study.errors import (
    ArrivalError,
    EnrolmentTokenError,
    PaymentError,
    PaymentUnknownError,
    QuizAnswerError,
    QuizError,
    StudyError,
)
from interplay.study.quizzes.file import builtin_quizzes, find_quiz

__all__ = [
    "OUTCOMES",
    "Arrival",
    "ArrivalError",
    "Channel",
    "Departure",
    "EnrolmentTokenError",
    "PaymentError",
    "PaymentUnknownError",
    "QuizAnswerError",
    "QuizError",
    "StudyError",
    "builtin_quizzes",
    "find_quiz",
    "make_channel",
]
