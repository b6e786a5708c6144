"""Studies: recruiting people, checking what they know, sending them back, paying them.

Nothing here knows how games are run or videos compared. What is special to studies of play has rooms of its own: `playing/`
(what a visit plays and has played), `incentives/` (what it must reach and what it earns), `assigning/` (who plays what),
`asking/` (questions about partners). `reviewing/` is what studies of reviews have of their own. So have people who come without
a study: `classes/` (one code, nicknames), `scores/` (how one stands among others).

Services own the transactions: `studies.py` (opening, enrolment, quiz, the end), `playing/visits.py` (what a visit plays),
`reviewing/reviews.py` (what people say of instances), `payroll.py` (plan, claim, settle, raffle), `raffle_entries.py`
(addresses, apart from games), `hits.py` (what a study has on Mechanical Turk), `classes/classes.py`, `scores/scores.py`, and
`feedback.py` (what people write about pages). Pages and commands call them and touch no database.

The rules beneath work on plain values. `definition.py` is a study's file, `enrolment.py` one person's way through it,
`channels/` where people come from, `quiz.py` what they must know, `hit.py` and `hit_plan.py` what Mechanical Turk is told,
`pay.py` what people's time was worth, `ledger.py` what was paid, `explanation.py` why, `tokens.py` who people are where cookies
do not reach. Only the two clients `channels/*_api.py` speak to somebody else.
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
from interplay.study.quizzes.file import builtin_quizzes, find_quiz, load_quiz
from interplay.study.quizzes.quiz import Quiz, QuizScore

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
