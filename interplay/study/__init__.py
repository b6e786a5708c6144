"""Studies: recruit people, check what they know, send them back to their platform, and pay them.

Some modules serve only studies of play: `play/` (variants and games of a visit), `incentives.py` (requirements, bonuses),
`assignment.py` (which variant a visit gets), `questions.py` (questions about partners). `review/` serves studies of reviews.
`classes/` and `scores.py` are for people who play outside a study: classes of pupils, and high scores.

Services read and write the database: `studies.py` (opening, enrolment, quiz, end of a visit), `play/visits.py`,
`review/reviews.py`, `money/payroll.py` (plan, claim, settle, raffle), `money/raffle.py` (e-mail addresses, stored apart from
games), `mturk/hits.py`, `classes/classes.py`, `scores.py` and `feedback.py`. Pages and commands call only these services.

The other modules contain rules and use no database. `definition.py` reads a study's file, `enrolment.py` decides the steps of a
person through a study, `channels/` reads where people come from, `quizzes/` tests what they know, `mturk/` makes the requests
to Mechanical Turk, `money/` computes pay, and `tokens.py` identifies people without cookies. Only `mturk/api.py` and
`channels/prolific_api.py` contact another server.
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
