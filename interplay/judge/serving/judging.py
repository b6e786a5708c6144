"""`Judging`: serve matches, reserve each match while its judge watches, take answers, and show the leaderboard."""

from __future__ import annotations

import functools
import logging
import math
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from sqlalchemy.orm import Session

from interplay.errors import InterplayError
from interplay.judge.entrants.duplicates import Twins, VideoArchive
from interplay.judge.errors import NothingToJudgeError, NothingToUndoError, StudyClosedError, StudyFullError, TooEarlyError
from interplay.judge.form import Watching, check_draft, check_form, check_problem
from interplay.judge.pairing.candidates import Candidates
from interplay.judge.ratings.board import leaderboard
from interplay.judge.ratings.ratings import Ratings
from interplay.judge.rules import OPEN_ROOM, Rules
from interplay.judge.serving import access
from interplay.judge.serving.checks import CheckedAnswer, JudgeSummary, summarise
from interplay.judge.serving.daily import DailyLimits
from interplay.judge.serving.match import Elapsed, MatchState, ServedMatch, Stopwatch, questions_of
from interplay.judge.serving.matchmaker import Matchmaker, Request, Shown, again, match_showing
from interplay.judge.serving.open_matches import RELEASE_AFTER_S, OpenMatches
from interplay.judge.serving.segment_matches import SegmentMatchmaker, match_of
from interplay.judge.serving.videos import Clips, Side, Videos, video_length_s
from interplay.judge.viewing import Lengths
from interplay.store import Match, Problem
from interplay.store import judging as store
from interplay.store.judging import bans
from interplay.store.locks import lock
from interplay.tasks import Suite

log = logging.getLogger("interplay.judge")
UNDO_WITHIN_S = 600.0
"""Seconds after an answer in which its judge may take it back."""
NextMatch = Callable[[Session, datetime], Match]
"""Function that makes a planned match at a given time. The transaction must hold the lock of the judge."""
JudgeKind = Literal["person", "program", "model"]
"""Kind of a judge: a person, a script that the operator runs, or a model judge (whose answers are counted apart)."""


class Preview(NamedTuple):
    """A pair to look at, with the names of its videos. It was served to nobody, so its match has no id."""

    match: ServedMatch
    left: str
    right: str


class AcceptedAnswer(NamedTuple):
    """The sequence number of an answer in the log, and the number of this judge's answers so far."""

    sequence: int
    num_by_judge: int


class Judging:
    """The judging service of one archive. Safe to share between threads, and with other processes on the same database.

    Args:
        monotonic: Clock to time judges, in seconds, which never goes back; `clock` is used if only `clock` is given.
        release_after_s: A match is released when its page has sent nothing for this number of seconds.
        suites: Suites whose tasks are known even before anyone has played them; None for the built-in suites.
        rules: Rules of the open room; None for `OPEN_ROOM`. Studies have their own rules.
        want_video: Function that gets the id of each episode (or name of each clip) that may be shown next and has no video,
            maybe several times, and returns whether this video is being made.
        is_held: Function that returns whether no video is made at present, because people play.
        length_s: Function that returns the length of a video in seconds; None: the length that the page reports is used.
    """

    def __init__(
        self,
        archive: VideoArchive,
        *,
        rng: np.random.Generator,
        clock: Callable[[], datetime] | None = None,
        monotonic: Callable[[], float] | None = None,
        release_after_s: float = RELEASE_AFTER_S,
        suites: Iterable[Suite] | None = None,
        rules: Rules | None = None,
        want_video: Callable[[str], bool] = lambda episode_id: False,
        is_held: Callable[[], bool] = lambda: False,
        length_s: Callable[[Path], float | None] = video_length_s,
    ) -> None:
        if not release_after_s > 0:
            raise ValueError(f"release_after_s must be positive, got {release_after_s!r}")
        self.archive = archive
        self.database = archive.database
        self.ratings = Ratings()
        self.release_after_s = release_after_s
        self.rules = OPEN_ROOM if rules is None else rules
        self.clips = Clips(archive, want_video)
        self._videos = Videos(archive, want_video)
        if clock is not None and monotonic is None:
            monotonic = lambda: clock().timestamp()  # noqa: E731
        self._clock = clock or (lambda: datetime.now(UTC))
        self._stopwatch = Stopwatch(monotonic or time.monotonic)
        self._daily = DailyLimits(self._clock, monotonic or time.monotonic)
        self._length_s = length_s
        self.twins = Twins(archive)
        self._candidates = Candidates(suites)
        self._matchmaker = Matchmaker(self._candidates, self.ratings, rng, self._videos, want_video, self.twins, is_held)
        self._segment_matches = SegmentMatchmaker(self.clips, self.twins, is_held)
        self._study_rules = access.StudyRules(self.rules)
        self._open = OpenMatches(self._candidates, self._videos.has_both, self._clock, release_after_s=release_after_s)

    def warm_up(self) -> None:
        """Read the data that every match needs (ratings, candidates), so that the first judges do not wait.
        Tasks that cannot be judged are logged; a request for such a task is refused with the reason."""
        with self.database.read() as session:
            for task in store.judged_tasks(session):
                try:
                    self._matchmaker.plan(session, Request("", "person", task, None, self.rules))
                except InterplayError as error:
                    log.warning("%s cannot be judged: %s", task, error)
            opened = store.studies(session)
        for study in opened:
            self.prepare(study)

    # Serving

    def serve(
        self,
        judge: str,
        task: str | None = None,
        *,
        study: str | None = None,
        judge_kind: JudgeKind = "person",
        address: str = "",
    ) -> ServedMatch:
        """Return the judge's open match; else the match of the judge's last draft, if its pair is free; else a new match.

        Args:
            task: Task to judge; None to draw a task that has something to show. A request for another task or study releases
                the open match. People in a study cannot choose: the study's rules draw the task.
            study: Id of the study whose rules hold; None for the open room.
            address: Network address of the request; empty if it does not matter.
        Raises:
            NotFoundError: If the task or the study is unknown.
            BannedError, StudyClosedError, StudyFullError, QuotaReachedError: If this judge, or any judge, may not answer.
            DailyLimitError: If the person, or the network address, has reached the limit of one day.
            NothingToJudgeError: If nothing can be shown now.
        """
        if judge_kind == "person" and study is not None:
            task = None
        with self.database.look() as session:
            rules, closed_at, _ = self._study_rules.of(session, study)
            state = store.judge_state(session, judge, study)
            access.check_judge(state, rules)
            self._daily.check(session, judge, study, judge_kind, address, rules)
            request = Request(judge, judge_kind, task, study, rules)
            plan = None
            if not state.has_open:
                try:
                    plan = self._plan(session, request, closed_at)
                except InterplayError:
                    if not state.has_draft:  # what they wrote something for is theirs, whatever else is over
                        raise
        if self._open.is_release_due():
            with self.database.write(sync=False, at_once=True) as session:
                self._open.release_unseen(session)
        with self.database.write(sync=False) as session:  # what was served is no work yet
            lock(session, "judge", judge)
            state = store.judge_state(session, judge, study)
            access.check_judge(state, rules)
            match = self._open.again(session, judge, task, study) if state.has_open or state.has_draft else None
            if match is None:
                match = self._new_match(session, self._plan(session, request, closed_at) if plan is None else plan)
            return self._served(session, match, rules, state.num_answers)

    def _plan(self, session: Session, request: Request, closed_at: datetime | None) -> NextMatch:
        """Plan a new match. Errors as in `serve`."""
        if closed_at is not None:
            raise StudyClosedError("this study is closed and needs no more answers; thank you for your interest")
        if self._is_full(session, request.study, request.rules):
            raise StudyFullError(f"this study has the {request.rules.target_answers} answers it asked for; thank you")
        if request.rules.segments is not None and request.study is not None:
            version = self._study_rules.of(session, request.study).content_hash
            segment_plan = self._segment_matches.plan(session, request, version, self._matchmaker.own_rng())
            return lambda session, now: self._segment_matches.next_match(session, segment_plan, now)
        plan = self._matchmaker.plan(session, request)
        return lambda session, now: self._matchmaker.next_match(session, plan, now)

    def _new_match(self, session: Session, next_match: NextMatch) -> Match:
        try:
            match = next_match(session, self._clock())
        except NothingToJudgeError:
            if self._open.release_unseen(session) + self._open.release_untouched(session) == 0:
                raise
            match = next_match(session, self._clock())
        store.add_match(session, match)
        self._stopwatch.start(match.id)
        return match

    def _is_full(self, session: Session, study: str | None, rules: Rules) -> bool:
        if study is None or rules.target_answers is None:
            return False
        if rules.segments is not None:
            return store.num_segment_answers(session, study) >= rules.target_answers
        return self.ratings.num_in_study(session, study) >= rules.target_answers

    def prepare(self, study: str) -> None:
        """Request the first videos of a study of segments before a judge waits for one. Do nothing if its rules are invalid."""
        with self.database.read() as session, suppress(InterplayError):
            rules, closed_at, version = self._study_rules.of(session, study)
            if rules.segments is not None and closed_at is None:
                self.clips.want(store.segments_of(session, version), session)

    def preview(self, task: str | None = None, study: str | None = None, *, but: Collection[str] = ()) -> Preview:
        """Return a pair to look at before judging, the same one every time. Nothing is reserved or stored.

        Args:
            task: Task of the pair; None for the first task that has a pair.
            study: Study whose tasks are used; None for all tasks.
            but: Tasks to skip. They matter only without `task`.
        Raises:
            NotFoundError: If the task or the study is unknown.
            NothingToJudgeError: If there are no two videos to show.
        """
        with self.database.read() as session:
            rules, _, version = self._study_rules.of(session, study)
            request = Request("", "person", task, study, rules)
            now = datetime(2000, 1, 1, tzinfo=UTC)  # of no meaning; the same at every look, so that videos can be kept
            if rules.segments is not None and study is not None:
                pair = self._segment_matches.example_pair(session, version)
                match = match_of(request, pair, now, purpose="segment")
            else:
                left, right = self._matchmaker.example_pair(session, request, but=() if task else but)
                match = match_showing(request, Shown(self._candidates.name_of(left.task_hash), left, right), now)
            match.id = ""
            of_task = self._candidates.task(session, match.task, match.task_hash)
            served = ServedMatch.of(match, of_task, rules, num_answered=0, elapsed_s=0.0)
            return Preview(served, *self._videos.sides(session, match))

    # A match and its judge

    def get(self, match_id: str, judge: str) -> ServedMatch:
        """Return a match of this judge again.

        Raises:
            UnknownMatchError, ForeignMatchError: If the id is unknown, or is the id of another judge's match.
            WithdrawnError: If the match has no answer, and the player of one of its games has withdrawn consent.
        """
        with self.database.read() as session:
            match = access.own(session, match_id, judge)
            access.check_not_withdrawn(session, match_id)
            rules, *_ = self._study_rules.of(session, match.study)
            return self._served(session, match, rules, store.num_answers_by(session, judge, match.study))

    def video(self, match_id: str, side: Side, judge: str) -> tuple[Path, datetime]:
        """Return the path of one side's video (the file may be gone), and when the match was served (UTC).

        Raises:
            UnknownMatchError, ForeignMatchError, WithdrawnError: As in `get`.
            BannedError: If the judge is banned.
        """
        videos = self._videos.of_match(match_id)
        access.check_owner(match_id, videos.judge, judge)
        with self.database.look() as session:
            access.check_not_withdrawn(session, match_id)
            access.check_not_banned(bans.is_banned(session, judge))
        return self.archive.video_path(videos.left if side == "left" else videos.right), videos.served_at

    def heartbeat(self, match_id: str, judge: str, draft: Any = None, *, study: str | None = None) -> MatchState:
        """Keep a match open, or open it again after a release.

        A released match opens again only if its pair is free, the judge has no other open match, and the judge has not answered
        about the two videos since. A match that its judge released stays released and stores no late draft.

        Args:
            draft: The form and the viewing so far, any JSON object, which is stored with the match; None to keep the stored
                draft.
            study: The study in which a person works, as in `answer`.
        Returns:
            `open`, or `released` if other judges may be shown the pair. The match may be answered in both states.
        Raises:
            UnknownMatchError, ForeignMatchError: As in `get`.
            AlreadyAnsweredError: If the match was answered.
            InvalidAnswerError: If the draft cannot be stored.
        """
        checked = None if draft is None else check_draft(draft)
        with self.database.write(sync=False, at_once=True) as session:  # the page keeps its draft, too
            if store.touch(session, match_id, judge, study, self._clock(), checked):
                return "open"
        with self.database.write() as session:
            lock(session, "judge", judge)
            access.check_study(access.unanswered(session, match_id, judge), study)
            match = store.match_by_id(session, match_id)
            assert match is not None  # it was read just now, and matches stay
            if store.was_given_back(match):
                return "released"
            now = self._clock()
            if checked is not None:
                match.draft = checked
            if match.released_at is not None:
                # A judge who fell silent for too long must not keep the pair either.
                self._open.release_unseen(session)
                if (
                    store.open_match_of(session, judge) is not None
                    or store.has_answered_since(session, match)
                    or bans.is_banned(session, judge)
                    or not store.take_pair(session, match)
                ):
                    return "released"
                match.released_at = None
            match.seen_at = now
            return "open"

    def release(self, match_id: str, judge: str, problem: Any = None) -> None:
        """Release a match, so that its pair may be shown to other judges at once. A second release changes nothing.

        Args:
            problem: A problem with the pair, `{"kind", "words"}` as in `check_problem`, stored with the match; or None.
        Raises:
            UnknownMatchError, ForeignMatchError, AlreadyAnsweredError: As in `heartbeat`.
            InvalidAnswerError: If the problem is invalid.
        """
        reported = None if problem is None else check_problem(problem)
        with self.database.write() as session:
            lock(session, "judge", judge)
            match = access.unanswered(session, match_id, judge)
            store.release(session, match, self._clock())
            if reported is not None:
                store.add_problem(session, match, now=self._clock(), **reported)

    def num_logged(self) -> int:
        """Return the number of answers in the log, also of those that do not count."""
        with self.database.look() as session:
            return store.log_state(session).last_sequence

    def last_problems(self, limit: int) -> list[tuple[Problem, Match]]:
        with self.database.read() as session:
            return store.last_problems(session, limit)

    def answer(
        self,
        match_id: str,
        judge: str,
        *,
        outcome: Any,
        responses: Any,
        reason: Any,
        viewing: Any = None,
        study: str | None = None,
        address: str = "",
    ) -> AcceptedAnswer:
        """Check an answer and add it to the log.

        A match that was released in the meantime still accepts its answer, so that no judge loses work because a page was
        silent. The answer is refused only if the same judge has answered about the same two videos since the match was served;
        otherwise one opinion would count twice.

        Args:
            outcome, responses, reason, viewing: The form as the page sent it, see `form.check_form`.
            study: The study in which a person works (the caller has checked that the person may); None for the open room. A
                match of another study is refused. Programs need not give a study.
            address: As in `serve`.
        Raises:
            UnknownMatchError, ForeignMatchError, AlreadyAnsweredError: As in `heartbeat`.
            BannedError, QuotaReachedError: If this judge may not answer any more. A study that was closed still accepts answers
                to matches that it has served.
            SupersededError: If this judge has answered about these two videos since the match was served.
            DailyLimitError: As in `serve`.
            TooEarlyError: If a person cannot have watched the videos yet. The stored draft stays.
            InvalidAnswerError: If the form has faults; lists all of them.
        """
        with self.database.look() as session:
            match = access.unanswered(session, match_id, judge)
            access.check_study(match, study)
            rules, *_ = self._study_rules.of(session, match.study)
            access.check_judge(store.judge_state(session, judge, match.study), rules)
            access.check_not_superseded(session, match)
            self._daily.check(session, judge, match.study, match.judge_kind, address, rules)
            elapsed = self._stopwatch.elapsed(match.id, match.served_at, self._clock())
            is_person = match.judge_kind == "person"
            if is_person and elapsed.seconds < rules.min_viewing_s:
                left_s = rules.min_viewing_s - elapsed.seconds
                raise TooEarlyError(
                    f"please watch both videos for at least {rules.min_viewing_s:g} seconds; {left_s:.0f} s are left", left_s
                )
            task = self._candidates.task(session, match.task, match.task_hash)
            form = check_form(
                questions_of(match, task, rules),
                outcome=outcome,
                responses=responses,
                reason=reason,
                viewing=viewing,
                min_reason_chars=rules.min_reason_chars,
                watching=self._watching(match, rules, elapsed) if is_person else None,
                may_be_na=match.left_segment_id is not None,
            )
        with self.database.write() as session:
            lock(session, "judge", judge)
            # What other requests of this judge may have changed meanwhile is looked at again.
            state = store.judge_state(session, judge, match.study)
            access.check_judge(state, rules)
            now = self._clock()
            taken = self._stopwatch.elapsed(match.id, match.served_at, now)
            duration_s = taken.seconds if taken.is_known else None
            sequence = store.append_answer(session, match, created_at=now, duration_s=duration_s, **asdict(form))
            if sequence is None:
                access.check_not_superseded(session, access.unanswered(session, match_id, judge))
                raise AssertionError(f"match {match_id} does not accept an answer")  # one of the two has raised
            if is_person and address and match.study is None:
                self._daily.count(address)
            return AcceptedAnswer(sequence, state.num_answers + 1)

    def undo(self, judge: str, *, study: str | None = None) -> ServedMatch:
        """Take back a judge's last answer, and serve its two videos again.
        The answer stays in the log but does not count. The judge's open match is released.

        Args:
            study: The study in which a person works; None for the open room.
        Raises:
            NothingToUndoError: If the judge has given no answer, or gave the last one more than `UNDO_WITHIN_S` ago.
            BannedError: If the judge is banned.
            WithdrawnError: If the player of one of the games has withdrawn consent.
        """
        with self.database.write() as session:
            lock(session, "judge", judge)
            now = self._clock()
            rules, *_ = self._study_rules.of(session, study)
            access.check_not_banned(bans.is_banned(session, judge))
            last = store.last_answer_of(session, judge, study)
            if last is None or now - last.created_at > timedelta(seconds=UNDO_WITHIN_S):
                raise NothingToUndoError(f"you gave no answer in the last {UNDO_WITHIN_S / 60:.0f} minutes to take back")
            before = access.known(session, last.match_id)
            match = again(before, now)
            store.release_open_of(session, judge, now)
            store.retract(session, last.sequence, now)
            store.add_match(session, match)
            access.check_not_withdrawn(session, match.id)
            self._stopwatch.start(match.id)
            return self._served(session, match, rules, store.num_answers_by(session, judge, study))

    def _watching(self, match: Match, rules: Rules, elapsed: Elapsed) -> Watching | None:
        if rules.min_watched_share <= 0:
            return None
        elapsed_s = elapsed.seconds if elapsed.is_known else math.inf  # where nobody knows it, everything can be
        videos = self._videos.of_match(match.id)
        # A video that is not here just now was watched at another server: the length that the page reports is used.
        left, right = (self._length_s(self.archive.video_place(name)) for name in (videos.left, videos.right))
        return Watching(rules.min_watched_share, elapsed_s, Lengths(left, right))

    def _served(self, session: Session, match: Match, rules: Rules, num_answered: int) -> ServedMatch:
        task = self._candidates.task(session, match.task, match.task_hash)
        elapsed_s = self._stopwatch.elapsed(match.id, match.served_at, self._clock()).seconds
        return ServedMatch.of(match, task, rules, num_answered=num_answered, elapsed_s=elapsed_s)

    # The leaderboard

    def leaderboard(self, task: str | None = None) -> dict[str, Any]:
        with self.database.read() as session:
            return leaderboard(session, self._candidates, self.ratings, self.rules, task)

    # The judges

    def judges(self, study: str | None = None) -> list[JudgeSummary]:
        """Return summaries of all judges, for operators, in one study or everywhere (NotFoundError for an unknown study)."""
        with self.database.read() as session:
            self._study_rules.of(session, study)
            known = set(store.studies(session))

            @functools.cache  # there are a few studies, and many answers
            def min_viewing_s(name: str | None) -> float:
                # Imported answers may name a study of another server, whose rules nobody here knows.
                return self._study_rules.of(session, name if name in known else None).rules.min_viewing_s

            return summarise(
                (CheckedAnswer(*row) for row in store.answers_for_review(session, study)),
                banned=bans.banned(session),
                min_viewing_s=min_viewing_s,
            )
