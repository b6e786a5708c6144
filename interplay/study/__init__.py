"""Studies: recruit people, check what they know, send them back to their platform, and pay them.

Studies of play have modules of their own: `play/` (variants and games of a visit), `incentives.py` (requirements, bonuses),
`assignment.py` (which variant a visit gets), `questions.py` (about partners). Studies of reviews have `review/`. People can
also come without a study: `classes/` (one code, nicknames), `scores.py` (how one person's result compares with others).

Services own the transactions: `studies.py` (opening, enrolment, quiz, the end), `play/visits.py`, `review/reviews.py`,
`money/payroll.py` (plan, claim, settle, raffle), `money/raffle.py` (addresses, apart from games), `mturk/hits.py`,
`classes/classes.py`, `scores.py` and `feedback.py`. Pages and commands call them and touch no database.

The rules below them work on plain values. `definition.py` reads a study's file, `enrolment.py` holds one person's way through a
study, `channels/` where people come from, `quizzes/` what they must know, `mturk/` the requests to Mechanical Turk, `money/`
what people's time was worth and what was paid, `tokens.py` the identity of people where cookies do not reach. Only
`mturk/api.py` and `channels/prolific_api.py` contact another server.
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
