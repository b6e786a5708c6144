"""`Studies`: the service that opens and closes studies, lets people in, scores their quizzes, and ends their visits.

Each method is one transaction, or one read of the database. `enrolment.py` contains the rules, `money` the pay.
"""

from __future__ import annotations

import functools
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from sqlalchemy.orm import Session

from interplay.errors import unknown_name
from interplay.store import Database, Enrolment, QuizAttempt, StudyRow
from interplay.store.judging import bans
from interplay.store.locks import lock
from interplay.store.participants import add_participant, judge_name, participant_by_worker
from interplay.store.study import money
from interplay.store.study import studies as store
from interplay.store.study import visits as visit_store
from interplay.store.study.studies import count_reviewed
from interplay.study.channels import Arrival, Outcome
from interplay.study.channels.base import UNPAID
from interplay.study.definition import Study
from interplay.study.enrolment import HOLD, PAID, Admission, Facts, Visit, admit, due_outcome, earned_outcome, next_step
from interplay.study.play.games import due_form, earned_line, read_visit, waited_line
from interplay.study.play.variants import PlayPart
from interplay.study.quizzes.file import QuizPart
from interplay.tables import is_name

_ENROLMENTS_REMEMBERED = 10_000


@dataclass(frozen=True)
class OpenedStudy:
    """The current version of a study that was opened on this server; `closed_at` is set when it is closed."""

    study: Study
    opened_at: datetime
    closed_at: datetime | None

    @property
    def is_open(self) -> bool:
        return self.closed_at is None


@dataclass(frozen=True)
class Part:
    """One person's visit to a study, for lists of participants.

    Attributes:
        participant: The person's name in matches and answers.
        channel, worker, assignment, hit: Where the person came from, with the platform's ids.
        version: Beginning of the content hash of the version to which the person agreed.
        outcome: How the visit ended; `working` while it has not ended.
        minutes: Length of the visit; None while it has not ended.
        quiz: Best share of right boxes, 0 to 1; None without an attempt.
        attempts: Number of attempts at the quiz.
        answers: Number of answers given between arrival and end.
        banned: Whether the person's answers are ignored at present.
        variant: In a study of play: the variant; empty before one was given.
        accepted_min: In a study of play: minutes that count towards the target; None while the visit has not ended.
    """

    enrolment: str
    participant: str
    channel: str
    worker: str
    assignment: str
    hit: str
    version: str
    arrived_at: datetime
    ended_at: datetime | None
    outcome: str
    minutes: float | None
    quiz: float | None
    attempts: int
    answers: int
    banned: bool
    variant: str = ""
    accepted_min: float | None = None


class Studies:
    """The studies of one database; threads, and other processes on the same database, may share it."""

    def __init__(self, database: Database, clock: Callable[[], datetime] | None = None) -> None:
        self._database = database
        self._clock = clock or (lambda: datetime.now(UTC))
        self._versions: dict[str, Study] = {}
        self.remembered = functools.lru_cache(_ENROLMENTS_REMEMBERED)(self._read_enrolment)

    # Opening and closing

    def open(self, study: Study) -> OpenedStudy | None:
        """Open a study to people; a changed study becomes a new version, and people keep the version to which they agreed.

        Writes the version, if it is new, and marks the study as open. Returns the study as it was before; None for a new study.
        """
        with self._database.write() as session:
            row = store.study_row(session, study.id)
            before = None if row is None else self._opened(session, row)
            store.open_study(
                session, study=study.id, content_hash=study.content_hash, definition=study.to_json(), now=self._clock()
            )
            return before

    def close(self, study: str, *, hint: str = "") -> tuple[OpenedStudy, int]:
        """Close a study to new people; if it was closed before, its closing time stays (NotFoundError as `get`).
        Returns the study, and the number of people who are still taking part."""
        with self._database.write() as session:
            row = store.close_study(session, study, self._clock())
            if row is None:
                raise unknown_name("study", study, [one.id for one in store.study_rows(session)], hint=hint)
            inside = store.count_enrolments(session).get(study, {}).get("working", 0)
            return self._opened(session, row), inside

    def find(self, study: str) -> OpenedStudy | None:
        if not is_name(study):  # not every text can be asked a database
            return None
        with self._database.read() as session:
            row = store.study_row(session, study)
            return None if row is None else self._opened(session, row)

    def get(self, study: str, *, only_open: bool = False, hint: str = "") -> OpenedStudy:
        """Return a study that was opened here, with `only_open` only if it is open (NotFoundError with the nearest id)."""
        found = self.find(study)
        if found is None:
            known = [one.study.id for one in self.all() if one.is_open or not only_open]
            raise unknown_name("study", study[:100], known, hint=hint)
        return found

    def all(self) -> list[OpenedStudy]:
        with self._database.read() as session:
            return [self._opened(session, row) for row in store.study_rows(session)]

    def blind(self) -> list[str]:
        """Return the ids of open blind studies. Players are not told who is an agent; the games are shown after closing."""
        return [one.study.id for one in self.all() if one.is_open and one.study.play is not None and one.study.play.is_blind]

    def version(self, content_hash: str) -> Study:
        """Return a version of a study (LookupError if this version was never opened here).
        Each version is read once, because the document of a hash never changes."""
        if content_hash not in self._versions:
            with self._database.look() as session:
                self._version_in(session, content_hash)
        return self._versions[content_hash]

    def versions(self, study: str) -> list[str]:
        with self._database.read() as session:
            return [one.content_hash for one in store.study_versions(session, study)]

    def counts(self) -> dict[str, dict[str, int]]:
        with self._database.read() as session:
            return store.count_enrolments(session)

    def parts(self, study: str) -> list[Part]:
        with self._database.read() as session:
            banned = bans.banned(session)
            attempts: dict[str, list[QuizAttempt]] = {}
            for attempt in store.quiz_attempts_of_study(session, study):
                attempts.setdefault(attempt.enrolment_id, []).append(attempt)
            answers = store.answer_times_by_judge(session, study)
            rows = store.enrolments_of_study(session, study)
        return [_part(row, attempts.get(row.id, []), answers, banned) for row in rows]

    # Arriving

    def admission(self, opened: OpenedStudy, arrival: Arrival, visitor: int | None = None) -> Admission:
        """Decide whether somebody who opens a study's link is let in (`enrolment.admit`).
        `visitor` is the participant's number, if the browser sends one."""
        with self._database.read() as session:
            person = _person(session, arrival) if visitor is None else visitor
            return self._admission(session, opened, arrival, person)

    def enrol(
        self,
        study: Study,
        arrival: Arrival,
        visitor: int | None = None,
        *,
        more: Mapping[str, str] | None = None,
        release_ticked: bool = False,
    ) -> Admission:
        """Enrol somebody who agreed, unless they are enrolled already.

        In one transaction, checks again whether the study is open and this person is let in. For a new person, writes the
        participant and the enrolment, and ends visits whose assignment this person took over.

        Args:
            study: The version to which the person agreed.
            visitor: As in `admission`.
            more: Other parameters of the link, kept with the enrolment.
            release_ticked: Whether the person ticked the box about the release of games.
        Returns:
            `new` or `resume` with the id of the enrolment, or `refuse` with the reason.
        """
        now = self._clock()
        with self._database.write() as session:
            lock(session, "study", study.id)  # visits are counted and added by one request at a time, on PostgreSQL as well
            row = store.study_row(session, study.id)
            closed_at = now if row is None else row.closed_at
            opened = OpenedStudy(study, now, closed_at)
            if arrival.worker:  # who may join another study just now
                lock(session, "participant", f"{arrival.channel} {arrival.worker}")
            person = visitor or _person(session, arrival)
            admission = self._admission(session, opened, arrival, person)
            if admission.kind != "new":
                return admission
            store.lock_judges(session, admission.abandoned)
            for abandoned in admission.abandoned:
                store.end_enrolment(session, abandoned, "withdrawn", now)
            worker, assignment = arrival.worker, arrival.assignment
            if person is None:
                person = add_participant(session, secrets.token_urlsafe(16), now, channel=arrival.channel, worker=worker).id
            if arrival.channel in UNPAID:
                worker = judge_name(person)
                num_visits = len(store.enrolments_of_participant(session, study.id, person))
                assignment = f"visit-{num_visits + 1}" if num_visits else ""
            enrolment = store.add_enrolment(
                session,
                enrolment_id=secrets.token_hex(12),
                study=study.id,
                study_hash=study.content_hash,
                participant_id=person,
                channel=arrival.channel,
                worker=worker,
                assignment=assignment,
                arrival={"hit": arrival.hit, "submit_to": arrival.submit_to, **(more or {})},
                now=now,
                consented=study.consent is not None,
                may_release=study.consent is not None and study.consent.may_release(ticked=release_ticked),
            )
            return replace(admission, enrolment=enrolment.id)

    # Taking part

    def enrolment(self, enrolment_id: str) -> Enrolment | None:
        """Return an enrolment in its present state; None for an unknown id.

        `remembered(enrolment_id)` returns the state of the first read without reading again, so that its outcome may be
        outdated. It raises LookupError for an unknown id.
        """
        with self._database.look() as session:
            return store.enrolment_by_id(session, enrolment_id)

    def facts(self, enrolment: Enrolment) -> Facts:
        with self._database.look() as session:
            return self._facts(session, enrolment)

    def attempts(self, enrolment: Enrolment) -> list[QuizAttempt]:
        """Return this person's attempts at the quiz that applies to them, over all their visits, in order."""
        with self._database.read() as session:
            return self._attempts(session, enrolment)

    def quiz_of(self, enrolment: Enrolment) -> QuizPart | None:
        return self.version(enrolment.study_hash).quiz_of(enrolment.variant)

    def take_quiz(self, enrolment: Enrolment, ticked: Iterable[tuple[str, str]]) -> bool:
        """Score and write an attempt at the quiz, given as (question id, ticked box id) pairs; return False if no quiz is due.

        Raises QuizAnswerError for pairs of another quiz; these do not count as an attempt.
        """
        with self._database.write() as session:
            # Counted and added by one request at a time: pressing twice gives no extra attempt.
            lock(session, "study", enrolment.study)
            quiz_of_study = self.quiz_of(session.get_one(Enrolment, enrolment.id))
            if quiz_of_study is None or next_step(self._facts(session, enrolment)) != "quiz":
                return False
            quiz = quiz_of_study.quiz
            answers: dict[str, list[str]] = {question.id: [] for question in quiz.questions}
            for name, value in ticked:
                answers.setdefault(name, []).append(value)
            score = quiz.score(answers)
            store.add_quiz_attempt(
                session, enrolment_id=enrolment.id, quiz=quiz.id, quiz_hash=quiz.content_hash, responses=answers,
                share=score.share, passed=score.is_passed, now=self._clock(),
            )  # fmt: skip
        return True

    def finish(self, enrolment: Enrolment, outcome: Outcome) -> Enrolment:
        """End somebody's visit, once: write the outcome and the time, and release their open match.
        In a study of play, also write the pay that the visit has earned, which later measurements do not change.

        If the visit has ended before, its outcome stays. If another outcome is due by now, it replaces `outcome`.
        """
        with self._database.write() as session:
            lock(session, "study", enrolment.study)
            outcome = due_outcome(self._facts(session, enrolment)) or outcome
            return self._end(session, enrolment, outcome)

    def leave(self, enrolment: Enrolment) -> Enrolment:
        """End the visit of somebody who leaves now, as `finish`.
        The outcome is a paid one, if possible (`earned_outcome`), else `withdrawn`."""
        with self._database.write() as session:
            lock(session, "study", enrolment.study)
            facts = self._facts(session, enrolment)
            return self._end(session, enrolment, due_outcome(facts) or earned_outcome(facts) or "withdrawn")

    def finish_if_due(self, enrolment: Enrolment, facts: Facts) -> Enrolment:
        outcome = None if facts.outcome else due_outcome(facts)
        return enrolment if outcome is None else self.finish(enrolment, outcome)

    def finish_left(self, study: str, *, hint: str = "") -> int:
        """End visits of play whose people were not seen for `HOLD` and have earned pay (`earned_outcome`).
        This also works in a closed study. So people who close the window without pressing a button are also paid. Returns the
        number of visits (NotFoundError as `get`)."""
        self.get(study, hint=hint)
        with self._database.read() as session:
            left = [one for one in store.enrolments_of_study(session, study) if one.outcome is None and one.variant is not None]
            left = [one for one in left if self._clock() - store.last_seen(session, one) >= HOLD]
        ended = 0
        for one in left:
            facts = self.facts(one)
            if earned_outcome(facts) is not None and not facts.is_playing:
                ended += self.leave(one).outcome in PAID
        return ended

    # Within a session

    def _end(self, session: Session, enrolment: Enrolment, outcome: Outcome) -> Enrolment:
        now = self._clock()
        before = store.enrolment_by_id(session, enrolment.id)
        ended = store.end_enrolment(session, enrolment.id, outcome, now)
        play = self._version_in(session, enrolment.study_hash).play
        if play is not None and before is not None and before.outcome is None and ended.variant is not None:
            visit = read_visit(session, play, ended, now)
            visit_store.accept(session, ended.id, visit.accepted_s(play.accepted) if outcome == "done" else 0.0)
            line = earned_line(ended.id, visit) if outcome == "done" else None
            if outcome == "no_partner":
                line = waited_line(ended.id, visit, play.waiting)
            if line is not None:
                money.add_pay_event(session, enrolment_id=ended.id, now=now, **line)
        return ended

    def _opened(self, session: Session, row: StudyRow) -> OpenedStudy:
        return OpenedStudy(self._version_in(session, row.content_hash), row.opened_at, row.closed_at)

    def _version_in(self, session: Session, content_hash: str) -> Study:
        if content_hash not in self._versions:
            version = store.study_version(session, content_hash)
            if version is None:
                raise LookupError(content_hash)
            self._versions[content_hash] = Study.from_json(version.definition)
        return self._versions[content_hash]

    def _read_enrolment(self, enrolment_id: str) -> Enrolment:
        found = self.enrolment(enrolment_id)
        if found is None:
            raise LookupError(enrolment_id)
        return found

    def _admission(self, session: Session, opened: OpenedStudy, arrival: Arrival, person: int | None) -> Admission:
        study, of_assignment = opened.study, []
        if arrival.assignment:
            of_assignment = store.enrolments_of_assignment(session, study.id, arrival.channel, arrival.assignment)
        of_worker = [] if person is None else store.enrolments_of_participant(session, study.id, person)
        return admit(
            arrival,
            now=self._clock(),
            is_open=opened.is_open,
            is_banned=person is not None and bans.is_banned(session, judge_name(person)),
            of_assignment=[_visit(session, one) for one in of_assignment],
            of_worker=[_visit(session, one) for one in of_worker if one.channel == arrival.channel],
            max_visits=study.max_visits,
            is_paused=study.id in store.current_pauses(session),
        )

    def _facts(self, session: Session, enrolment: Enrolment) -> Facts:
        study = self._version_in(session, enrolment.study_hash)
        standing = store.standing(session, enrolment)
        quiz, num_attempts, num_passed = study.quiz, standing.num_attempts, standing.num_passed
        if study.play is not None and study.play.has_quizzes:
            enrolment = store.enrolment_by_id(session, enrolment.id) or enrolment
            quiz, attempts = study.quiz_of(enrolment.variant), self._attempts(session, enrolment)
            num_attempts, num_passed = len(attempts), sum(one.passed for one in attempts)
        # Answers that finished another visit were counted there: one answer never completes two assignments.
        others = store.versions_of_other_visits_done(session, enrolment) if standing.has_done_before else []
        num_counted = sum(self._version_in(session, other).num_answers or 0 for other in others)
        num_answers, num_wanted = max(0, standing.num_answers - num_counted), study.num_answers
        if study.review is not None:
            num_answers = count_reviewed(session, enrolment.id)
        return Facts(
            is_open=standing.is_open,
            is_banned=standing.is_banned,
            needs_quiz=quiz is not None,
            num_attempts=num_attempts,
            max_attempts=0 if quiz is None else quiz.attempts,
            has_passed=num_passed > 0,
            num_answers=num_answers,
            num_wanted=num_wanted,
            outcome=standing.outcome,
            **({} if study.play is None else self._play_facts(session, study.play, enrolment)),
        )

    def _attempts(self, session: Session, enrolment: Enrolment) -> list[QuizAttempt]:
        """Return the attempts at the enrolment's quiz; if variants have their own quizzes, attempts at the variant's quiz."""
        found = store.quiz_attempts(session, enrolment.study, enrolment.participant_id)
        study = self._version_in(session, enrolment.study_hash)
        if study.play is None or not study.play.has_quizzes:
            return found
        quiz = study.quiz_of(enrolment.variant)
        return [one for one in found if quiz is not None and one.quiz == quiz.quiz.id]

    def _play_facts(self, session: Session, play: PlayPart, enrolment: Enrolment) -> dict[str, bool]:
        current = store.enrolment_by_id(session, enrolment.id) or enrolment
        visit = read_visit(session, play, current, self._clock())
        facts = {name: getattr(visit, name) for name in ("is_complete", "is_over", "is_playing", "has_waited")}
        return facts | {"has_questions": due_form(session, play, current.id, visit) is not None}


def _person(session: Session, arrival: Arrival) -> int | None:
    found = participant_by_worker(session, arrival.channel, arrival.worker) if arrival.worker else None
    return None if found is None else found.id


def _visit(session: Session, enrolment: Enrolment) -> Visit:
    seen = store.last_seen(session, enrolment)
    return Visit(enrolment.id, enrolment.worker, enrolment.assignment, enrolment.outcome, seen)


def _part(one: Enrolment, tried: list[QuizAttempt], answers: dict[str, list[datetime]], banned: frozenset[str]) -> Part:
    judge = judge_name(one.participant_id)
    return Part(
        enrolment=one.id,
        participant=judge,
        channel=one.channel,
        worker=one.worker,
        assignment=one.assignment,
        hit=one.arrival.get("hit", ""),
        version=one.study_hash[:12],
        arrived_at=one.arrived_at,
        ended_at=one.ended_at,
        outcome=one.outcome or "working",
        minutes=None if one.ended_at is None else round((one.ended_at - one.arrived_at).total_seconds() / 60, 2),
        quiz=max((round(attempt.share, 4) for attempt in tried), default=None),
        attempts=len(tried),
        answers=sum(one.arrived_at <= at and (one.ended_at is None or at <= one.ended_at) for at in answers.get(judge, [])),
        banned=judge in banned,
        variant=one.variant or "",
        accepted_min=None if one.accepted_s is None else round(one.accepted_s / 60, 2),
    )
