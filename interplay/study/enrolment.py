"""Rules of one person's way through one study, from the link to the completion code: admission, next steps, outcomes.

    link --(preview: looks, leaves nothing)--> agreed --> quiz --> work --> ended (done, screened_out, failed_check, ...)

No data about people are kept before they agree; an enrolment begins with the agreement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from interplay.study.channels import Arrival, Outcome
from interplay.study.channels.base import UNPAID

Step = Literal["quiz", "work", "questions", "end"]
Refusal = Literal["closed", "paused", "banned", "wrong_worker", "enough_visits"]

HOLD = timedelta(minutes=30)
"""How long an assignment stays reserved for a worker after the last sign of activity. Mechanical Turk does not report when a
worker returns an assignment, and gives the next worker the same id."""
GIVEN_BACK: frozenset[Outcome] = frozenset({"withdrawn", "screened_out", "no_consent"})
"""Outcomes after which the person returns the assignment; the platform may then give the same id to another person."""
PAID: frozenset[Outcome] = frozenset({"done", "no_partner"})
"""Outcomes that may be paid: with the promised reward, or for the time spent waiting for a partner."""


@dataclass(frozen=True)
class Visit:
    """The data of an enrolment that `admit` needs.
    Fields are those of `store.Enrolment`, and the time when the person was last seen."""

    id: str
    worker: str
    assignment: str
    outcome: str | None = None
    last_seen: datetime | None = None


@dataclass(frozen=True)
class Admission:
    """The decision about somebody who opens a study's link.

    Attributes:
        kind: `preview`: may look. `new`: may agree and begin. `resume`: continues with `enrolment`. `refuse`: sees the reason.
        enrolment: Id of the enrolment for `resume`, and for `new` after the person has agreed; else empty.
        abandoned: Ids of enrolments that end as `withdrawn` when this person begins, who now has their assignment.
    """

    kind: Literal["preview", "new", "resume", "refuse"]
    enrolment: str = ""
    refusal: Refusal | None = None
    abandoned: tuple[str, ...] = ()


def admit(
    arrival: Arrival,
    *,
    now: datetime,
    is_open: bool,
    is_banned: bool = False,
    of_assignment: Sequence[Visit] = (),
    of_worker: Sequence[Visit] = (),
    max_visits: int | None = None,
    is_paused: bool = False,
) -> Admission:
    """Decide whether the person who opens the link may begin, may continue, or is refused.

    Args:
        is_banned: Whether the answers of this person are refused on this server.
        of_assignment: All known visits with this assignment; empty for an open link, which has no assignment.
        of_worker: This person's visits to the study so far, oldest first; with an open link, the cookie identifies the person.
        max_visits: How often one person may take part; None: as often as the platform sends them.
        is_paused: Whether new people are refused at present; current participants may continue.

    >>> from datetime import UTC
    >>> handed_in = Visit("e", "A2", "3B", "done")
    >>> admit(Arrival("mturk", "A1", "3B"), now=datetime.now(UTC), is_open=True, of_assignment=[handed_in]).refusal
    'wrong_worker'
    """
    if arrival.is_preview:
        return Admission("preview") if is_open else Admission("refuse", refusal="closed")
    if arrival.channel in UNPAID:
        mine = [visit for visit in of_worker if visit.outcome is None]
    else:
        mine = [visit for visit in of_worker if visit.assignment == arrival.assignment]
    if mine:  # even where the study is closed by now: who worked may hand it in
        return Admission("resume", mine[-1].id)
    others = [visit for visit in of_assignment if visit.worker != arrival.worker and visit.outcome not in GIVEN_BACK]
    abandoned = [visit.id for visit in others if visit.outcome is None and visit.last_seen and now - visit.last_seen >= HOLD]
    if len(abandoned) < len(others):
        return Admission("refuse", refusal="wrong_worker")
    if not is_open:
        return Admission("refuse", refusal="closed")
    if is_paused:
        return Admission("refuse", refusal="paused")
    if is_banned:
        return Admission("refuse", refusal="banned")
    if max_visits is not None and len(of_worker) >= max_visits:
        return Admission("refuse", refusal="enough_visits")
    return Admission("new", abandoned=tuple(abandoned))


@dataclass(frozen=True)
class Facts:
    """Facts that decide the next step of an enrolled person.

    Attributes:
        num_attempts, max_attempts: Number of quiz attempts so far, over all visits, and number of allowed attempts.
        num_wanted: Number of answers that a visit needs; None: the person decides.
        is_complete: In a study of play: whether the visit meets every requirement.
        is_over: In a study of play: whether no more games are allowed.
        is_playing: In a study of play: whether a game that still counts is running or being saved.
        has_questions: In a study of play: whether questions about a partner must be answered first.
        has_waited: In a study of play: whether the person waited long enough for a partner, and nobody came.
        outcome: How the visit ended, if it did.
    """

    is_open: bool = True
    is_banned: bool = False
    needs_quiz: bool = False
    num_attempts: int = 0
    max_attempts: int = 0
    has_passed: bool = False
    num_answers: int = 0
    num_wanted: int | None = None
    is_complete: bool = False
    is_over: bool = False
    is_playing: bool = False
    has_questions: bool = False
    has_waited: bool = False
    outcome: str | None = None


def due_outcome(facts: Facts) -> Outcome | None:
    """Return the outcome with which a visit ends now; None while there is something to do.

    Failed checks alone do not end a visit: `failed_check` is for people whom the operator banned, for example after failed
    checks. A person who has finished gets `done`, even if the study has just been closed. In a closed study, people who have
    not finished get `nothing_left`, unless they are paid for waiting.
    """
    if facts.is_banned:
        return "failed_check"
    if facts.needs_quiz and not facts.has_passed and facts.num_attempts >= facts.max_attempts:
        return "screened_out"
    if facts.num_wanted is not None and facts.num_answers >= facts.num_wanted:
        return "done"
    if facts.is_playing or facts.has_questions or (facts.is_open and not facts.is_over):
        return None
    return earned_outcome(facts) or "nothing_left"


def earned_outcome(facts: Facts) -> Outcome | None:
    """Return the paid outcome with which a visit of play may end now; None if no pay is owed."""
    return "done" if facts.is_complete else "no_partner" if facts.has_waited else None


def next_step(facts: Facts) -> Step:
    """Return the next step of an enrolled person.

    >>> next_step(Facts(needs_quiz=True, max_attempts=2)), next_step(Facts()), next_step(Facts(outcome="done"))
    ('quiz', 'work', 'end')
    """
    if facts.outcome is not None or due_outcome(facts) is not None:
        return "end"
    if facts.needs_quiz and not facts.has_passed:
        return "quiz"
    return "questions" if facts.has_questions else "work"
