"""`Judging`: serve matches, keep them while they are watched, take answers, and show the leaderboard."""

from __future__ import annotations

import functools
import logging
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from sqlalchemy.orm import Session

from interplay.errors import InterplayError
from interplay.judge.entrants.twins import Twins, twin_path
from interplay.judge.errors import (
    AlreadyAnsweredError,
    DailyLimitError,
    ForeignMatchError,
    NothingToJudgeError,
    StudyClosedError,
    StudyFullError,
    SupersededError,
    TooEarlyError,
    UnknownMatchError,
    WithdrawnError,
)
from interplay.judge.form import Watching, check_draft, check_form
from interplay.judge.pairing.candidates import Candidates
from interplay.judge.ratings.board import leaderboard
from interplay.judge.ratings.ratings import Ratings
from interplay.judge.rules import OPEN_ROOM, Rules
from interplay.judge.serving.checks import CheckedAnswer, JudgeSummary, summarise
from interplay.judge.serving.daily import DAY_S, AnswersByAddress
from interplay.judge.serving.matchmaker import Matchmaker, Plan, Request
from interplay.judge.serving.problems import check_problem
from interplay.judge.serving.served import MatchState, ServedMatch
from interplay.judge.serving.stopwatch import Elapsed, Stopwatch
from interplay.judge.study_rules import StudyRules, check_judge
from interplay.judge.watched import Lengths
from interplay.record.disguise import stated_length_s
from interplay.store import Database, Match, Problem, bans
from interplay.store import judging as store
from interplay.tasks import Suite

log = logging.getLogger("interplay.judge")
RELEASE_AFTER_S = 600.0
"""A match is released when its page has been silent for so long."""
UNTOUCHED_AFTER_S = 90.0
"""When there is nothing else to show, a match goes to others if its page has given no sign of life at all for so long after
serving; pages give one each half minute."""
MATCHES_REMEMBERED = 4096
"""Matches whose videos' places are kept in memory."""

Side = Literal["left", "right"]
JudgeKind = Literal["person", "program", "model"]
"""Who judges: a person, a script the operator runs, or a model judge, whose answers are kept apart from the others'."""


class VideoArchive(Protocol):
    """What judging needs of `record.Archive`."""

    @property
    def database(self) -> Database:
        """Where matches and answers are."""
        ...

    def video_path(self, episode_id: str) -> Path:
        """Where an episode's mp4 is or would be."""
        ...


class Preview(NamedTuple):
    """A pair to look at, that nobody was served: its match has no id; where the videos are."""

    match: ServedMatch
    left: Path
    right: Path


class _Videos(NamedTuple):
    """What never changes of a match: whose it is, where its videos are or would be, and when it was served."""

    judge: str
    left: Path
    right: Path
    served_at: datetime


class AcceptedAnswer(NamedTuple):
    """Where an answer is in the log, and how many this judge has given."""

    sequence: int
    num_by_judge: int


def video_length_s(path: Path) -> float | None:
    """How long an mp4 is by its index, seconds; None if it is gone, or states nothing."""
    try:
        return stated_length_s(path)
    except OSError:
        return None


class Judging:
    """The judging room over one archive; safe to share between threads, and with other processes on the same database.

    Args:
        archive: Episodes' videos and the database.
        rng: Draws tasks, checks, sides and ties.
        clock: The time now, UTC; the machine's if not given.
        monotonic: Seconds that only go on, which is what judges are timed by; those of `clock` if only that is given.
        release_after_s: A match whose page has been silent for so long is released.
        suites: Tasks on offer, known even before anyone has played them; the built-in ones when not given.
        rules: Of the open room, `OPEN_ROOM` if not given; studies have their own.
        want_video: Called with the id of each episode that might be shown next and has no video yet, may be called often;
            returns whether it is being made.
        length_s: Video -> how long it is, seconds, None where that is not known; what the page says is believed then.
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
        length_s: Callable[[Path], float | None] = video_length_s,
    ) -> None:
        if not release_after_s > 0:
            raise ValueError(f"release_after_s must be positive, got {release_after_s!r}")
        self.archive = archive
        self.database = archive.database
        self.ratings = Ratings()
        self.release_after_s = release_after_s
        self.rules = OPEN_ROOM if rules is None else rules
        self._want_video = want_video
        if clock is not None and monotonic is None:
            monotonic = lambda: clock().timestamp()  # noqa: E731
        self._clock = clock or (lambda: datetime.now(UTC))
        self._stopwatch = Stopwatch(monotonic or time.monotonic)
        self._by_address = AnswersByAddress(monotonic or time.monotonic)
        self._length_s = length_s
        self.twins = Twins()
        self._candidates = Candidates(suites)
        self._matchmaker = Matchmaker(
            self._candidates, self.ratings, rng, self._has_video, self.archive.video_path, want_video, self.twins
        )
        self._study_rules = StudyRules(self.rules)
        self._last_release: datetime | None = None
        # A page asks for its videos part by part.
        self._videos = functools.lru_cache(MATCHES_REMEMBERED)(self._read_videos)

    def warm_up(self) -> None:
        """Read what every match needs (ratings, candidates), so that the first judges do not wait for it.

        What cannot be judged is logged; whoever asks for it hears why.
        """
        with self.database.read() as session:
            for task in store.judged_tasks(session):
                try:
                    self._matchmaker.plan(session, Request("", "person", task, None, self.rules))
                except InterplayError as error:
                    log.warning("%s cannot be judged: %s", task, error)

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
        """The match this judge has open, the one they last wrote something for if its pair is free, or a new one.

        Args:
            judge: Who will answer.
            task: Task id; drawn among those with something to show when not given. Asking for another task or study than
                that of the open match releases the open one. People in a study are not asked: its rules draw the task.
            study: Study id, whose rules then hold; None for the open room.
            judge_kind: What the judge is.
            address: Network address the request came from; empty where that does not matter.
        Raises:
            NotFoundError: If no such task or study is known.
            BannedError, StudyClosedError, StudyFullError, QuotaReachedError: If this judge, or nobody, may answer any more.
            DailyLimitError: If a person, or everybody at their address, has given all answers of one day.
            NothingToJudgeError: If nothing can be shown now.
        """
        if judge_kind == "person" and study is not None:
            task = None
        # Other judges wait while one has the lock, so all that can be found out is found out before.
        with self.database.look() as session:
            rules, closed_at = self._study_rules.of(session, study)
            state = store.judge_state(session, judge, study)
            check_judge(state, rules)
            self._check_day(session, judge, study, judge_kind, address, rules)
            request = Request(judge, judge_kind, task, study, rules)
            plan = None
            if not state.has_open:
                try:
                    plan = self._plan(session, request, closed_at)
                except InterplayError:
                    if not state.has_draft:  # what they wrote something for is theirs, whatever else is over
                        raise
        with self.database.write(sync=False) as session:  # what was served is no work yet
            store.lock(session)
            state = store.judge_state(session, judge, study)
            check_judge(state, rules)
            self._release_unseen_at_times(session)
            match = self._match_again(session, judge, task, study) if state.has_open or state.has_draft else None
            if match is None:
                match = self._new_match(session, self._plan(session, request, closed_at) if plan is None else plan)
            return self._served(session, match, rules, state.num_answers)

    def _check_day(self, session: Session, judge: str, study: str | None, judge_kind: str, address: str, rules: Rules) -> None:
        """Refuse a person who has given all answers of one day, or at whose address that many were given.

        Raises:
            DailyLimitError: Saying how many those are, and when there may be more.
        """
        if judge_kind != "person":
            return
        limit, where = rules.max_answers_per_day, "in the open room" if study is None else "in this study"
        if limit is not None:
            now = self._clock()
            given = store.answered_since(session, judge, now - timedelta(seconds=DAY_S), study)
            if len(given) >= limit:
                wait_s = DAY_S - (now - given[limit - 1]).total_seconds()
                raise DailyLimitError(
                    f"you have given {limit} answers in 24 hours, the most that one person may give {where}; "
                    f"thank you. You can continue in {_in_words(wait_s)}",
                    wait_s,
                )
        limit = rules.max_answers_per_address
        wait_s = 0.0 if limit is None or not address else self._by_address.wait_s(address, limit)
        if wait_s > 0:
            raise DailyLimitError(
                f"{limit} answers came from your network address in 24 hours, the most that one address may send "
                f"{where}; thank you. You can continue in {_in_words(wait_s)}",
                wait_s,
            )

    def _plan(self, session: Session, request: Request, closed_at: datetime | None) -> Plan:
        """A new match, as far as it can be planned without the lock; errors as `serve`."""
        if closed_at is not None:
            raise StudyClosedError("this study is closed and needs no more answers; thank you for your interest")
        if self._is_full(session, request.study, request.rules):
            raise StudyFullError(f"this study has the {request.rules.target_answers} answers it asked for; thank you")
        return self._matchmaker.plan(session, request)

    def _new_match(self, session: Session, plan: Plan) -> Match:
        """Open the match that was planned. The transaction must hold the lock."""
        try:
            match = self._matchmaker.next_match(session, plan, self._clock())
        except NothingToJudgeError:
            if self._release_unseen(session) + self._release_untouched(session) == 0:
                raise
            match = self._matchmaker.next_match(session, plan, self._clock())
        store.add_match(session, match)
        self._stopwatch.start(match.id)
        return match

    def _release_unseen_at_times(self, session: Session) -> None:
        """Release matches, but not at every match that is served: some fifty times while one may be silent."""
        since = None if self._last_release is None else self._clock() - self._last_release
        if since is None or not timedelta(0) <= since < timedelta(seconds=self.release_after_s) / 50:
            self._release_unseen(session)

    def _release_unseen(self, session: Session) -> int:
        """Let the pairs of pages that have been silent for too long go to others; returns how many there were."""
        now = self._last_release = self._clock()
        return store.release_unseen(session, seen_before=now - timedelta(seconds=self.release_after_s), now=now)

    def _release_untouched(self, session: Session) -> int:
        """Let the pairs go to others that were asked for and, it seems, never looked at; returns how many there were."""
        now = self._clock()
        return store.release_untouched(session, served_before=now - timedelta(seconds=UNTOUCHED_AFTER_S), now=now)

    def _is_full(self, session: Session, study: str | None, rules: Rules) -> bool:
        if study is None or rules.target_answers is None:
            return False
        return self.ratings.num_in_study(session, study) >= rules.target_answers

    def _match_again(self, session: Session, judge: str, task: str | None, study: str | None) -> Match | None:
        """The judge's own match to go on with: the open one, or one that went back while there was a draft for it."""
        now = self._clock()
        match = store.open_match_of(session, judge)
        if match is not None:
            if self._is_wanted(match, task, study) and self._can_show_again(session, match):
                match.seen_at = now
                return match
            match.released_at = now
            session.flush()
        match = store.drafted_match_of(session, judge, study)
        if match is None or not self._is_wanted(match, task, study) or not self._can_show_again(session, match):
            return None
        if store.is_pair_open(session, match) or not self._is_in_pool(session, match):
            return None
        match.released_at, match.seen_at = None, now
        return match

    def _is_wanted(self, match: Match, task: str | None, study: str | None) -> bool:
        return task in (None, match.task) and study == match.study

    def _can_show_again(self, session: Session, match: Match) -> bool:
        """Whether a match still has its videos and its form, and would take an answer."""
        if store.has_answered_since(session, match):
            return False
        has_form = self._candidates.task(session, match.task, match.task_hash) is not None
        return has_form and self._has_video(match.left_episode_id) and self._has_video(match.right_episode_id)

    def _is_in_pool(self, session: Session, match: Match) -> bool:
        """Whether both agents of a match may still be shown; what is before a judge is finished whatever became of them."""
        sides = ((match.left_agent, match.left_episode_id), (match.right_agent, match.right_episode_id))
        return all(
            any(one.agent == agent for one in store.candidates_in(session, match.task, episode_id))
            for agent, episode_id in sides
        )

    def _has_video(self, episode_id: str) -> bool:
        """Whether a video can be shown now; one that cannot is asked for."""
        if self.archive.video_path(episode_id).exists():
            return True
        self._want_video(episode_id)
        return False

    def preview(self, task: str | None = None, study: str | None = None) -> Preview:
        """A pair to look at before judging, the same at every look; nothing is reserved or stored.

        Raises:
            NotFoundError: If no such task or study is known.
            NothingToJudgeError: If there are no two videos to show.
        """
        with self.database.read() as session:
            rules, _ = self._study_rules.of(session, study)
            left, right = self._matchmaker.example_pair(session, Request("", "person", task, study, rules))
            now = datetime(2000, 1, 1, tzinfo=UTC)  # of no meaning; the same at every look, so that videos can be kept
            match = Match(
                id="",
                task=self._candidates.name_of(left.task_hash),
                task_hash=left.task_hash,
                seed=left.seed,
                left_episode_id=left.episode_id,
                right_episode_id=right.episode_id,
                left_agent=left.agent,
                right_agent=right.agent,
                judge="",
                served_at=now,
                seen_at=now,
                study=study,
                seat=left.seat,
            )
            version = self._candidates.task(session, match.task, match.task_hash)
            served = ServedMatch.of(match, version, rules, num_answered=0, elapsed_s=0.0)
            return Preview(served, self.archive.video_path(left.episode_id), self.archive.video_path(right.episode_id))

    # A match and its judge

    def get(self, match_id: str, judge: str) -> ServedMatch:
        """One's own match again.

        Raises:
            UnknownMatchError, ForeignMatchError: If there is none of this id, or it is another judge's.
            WithdrawnError: If it has no answer, and shows a game that its player does not let judges see any more.
        """
        with self.database.read() as session:
            match = self._own(session, match_id, judge)
            _check_not_withdrawn(session, match_id)
            rules, _ = self._study_rules.of(session, match.study)
            return self._served(session, match, rules, store.num_answers_by(session, judge, match.study))

    def video(self, match_id: str, side: Side, judge: str) -> tuple[Path, datetime]:
        """Where the video of one side of one's own match is (the file may be gone), and when the match was served, UTC.

        Raises:
            UnknownMatchError, ForeignMatchError, WithdrawnError: As `get`.
        """
        videos = self._videos(match_id)
        _check_owner(match_id, videos.judge, judge)
        with self.database.look() as session:
            _check_not_withdrawn(session, match_id)
        return (videos.left if side == "left" else videos.right), videos.served_at

    def _read_videos(self, match_id: str) -> _Videos:
        with self.database.look() as session:
            match = self._known(session, match_id)
            left, right = (self.archive.video_path(one) for one in (match.left_episode_id, match.right_episode_id))
            if (
                left == right and twin_path(left).exists()
            ):  # one episode on both sides is two files; the id decides which is which
                left, right = (twin_path(left), right) if int(match.id, 16) % 2 else (left, twin_path(left))
            return _Videos(match.judge, left, right, match.served_at)

    def heartbeat(self, match_id: str, judge: str, draft: Any = None, *, study: str | None = None) -> MatchState:
        """A sign of life: keeps the match open, or opens it again if its pair is still free, the judge has no other,
        and has not answered about its videos since. A match its judge gave back stays so, and keeps no draft that was on its
        way.

        Args:
            match_id, judge: Which match, and whose.
            draft: What is filled in and was watched so far, any JSON object; kept with the match. None keeps what is kept.
            study: The study a person works in, as in `answer`.
        Returns:
            `open`, or `released` when others may be shown the pair; an answer is welcome in both.
        Raises:
            UnknownMatchError, ForeignMatchError: As `get`.
            AlreadyAnsweredError: If the match has its answer.
            InvalidAnswerError: If the draft cannot be kept.
        """
        checked = None if draft is None else check_draft(draft)
        with self.database.write(sync=False, at_once=True) as session:  # the page keeps its draft, too
            if store.touch(session, match_id, judge, study, self._clock(), checked):
                return "open"
        with self.database.write() as session:
            store.lock(session)
            _check_study(self._unanswered(session, match_id, judge), study)
            match = store.match_by_id(session, match_id)
            assert match is not None  # it was read just now, and matches stay
            if store.was_given_back(match):
                return "released"
            now = self._clock()
            if checked is not None:
                match.draft = checked
            if match.released_at is not None:
                # Whoever fell silent for too long must not keep the pair either.
                self._release_unseen(session)
                if (
                    store.is_pair_open(session, match)
                    or store.open_match_of(session, judge) is not None
                    or store.has_answered_since(session, match)
                    or bans.is_banned(session, judge)
                ):
                    return "released"
                match.released_at = None
            match.seen_at = now
            return "open"

    def release(self, match_id: str, judge: str, problem: Any = None) -> None:
        """Give a match back; its pair may be shown to others at once. Twice is as good as once.

        Args:
            problem: What is wrong with the pair, kept with the match: `{"kind", "words"}`, see `problems.check_problem`; None
                if nothing is.
        Raises:
            UnknownMatchError, ForeignMatchError, AlreadyAnsweredError: As `heartbeat`.
            InvalidAnswerError: If the problem is none.
        """
        reported = None if problem is None else check_problem(problem)
        with self.database.write() as session:
            store.lock(session)
            match = self._unanswered(session, match_id, judge)
            store.release(session, match, self._clock())
            if reported is not None:
                store.add_problem(session, match, now=self._clock(), **reported._asdict())

    def last_problems(self, limit: int) -> list[tuple[Problem, Match]]:
        """What was last said to be wrong with matches, the newest first."""
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

        A match that was released in the meantime still takes its answer: a judge's work is not thrown away because a page
        was silent. Only when the same judge has answered about the same two videos since the match was served is it refused,
        or one opinion would count twice.

        Args:
            match_id, judge: Which match, and who answers.
            outcome, responses, reason, viewing: The form as it came in, see `form.check_form`.
            study: The study a person works in, None for the open room; whoever calls has seen to it that they may. A match
                of another one takes no answer. Programs need not say.
            address: As in `serve`.
        Raises:
            UnknownMatchError, ForeignMatchError, AlreadyAnsweredError: As `heartbeat`.
            BannedError, QuotaReachedError: If this judge may not answer any more. A study that was closed since still takes
                the answers to what it served.
            SupersededError: If this judge has answered about these two videos since the match was served.
            DailyLimitError: As `serve`.
            TooEarlyError: If a person cannot have watched the videos yet. What is kept of the form stays.
            InvalidAnswerError: If the form has faults; lists every one.
        """
        with self.database.look() as session:
            match = self._unanswered(session, match_id, judge)
            _check_study(match, study)
            rules, _ = self._study_rules.of(session, match.study)
            check_judge(store.judge_state(session, judge, match.study), rules)
            _check_not_superseded(session, match)
            self._check_day(session, judge, match.study, match.judge_kind, address, rules)
            elapsed = self._stopwatch.elapsed(match.id, match.served_at, self._clock())
            is_person = match.judge_kind == "person"
            if is_person and elapsed.seconds < rules.min_viewing_s:
                left_s = rules.min_viewing_s - elapsed.seconds
                raise TooEarlyError(
                    f"please take at least {rules.min_viewing_s:g} seconds to watch both videos; {left_s:.0f} are left", left_s
                )
            task = self._candidates.task(session, match.task, match.task_hash)
            form = check_form(
                task.questions if task else (),
                outcome=outcome,
                responses=responses,
                reason=reason,
                viewing=viewing,
                min_reason_chars=rules.min_reason_chars,
                watching=self._watching(match, rules, elapsed) if is_person else None,
            )
        with self.database.write() as session:
            store.lock(session)
            # What other requests of this judge may have changed meanwhile is looked at again.
            state = store.judge_state(session, judge, match.study)
            check_judge(state, rules)
            now = self._clock()  # in the order of the log
            taken = self._stopwatch.elapsed(match.id, match.served_at, now)
            duration_s = taken.seconds if taken.is_known else None
            sequence = store.append_answer(session, match, created_at=now, duration_s=duration_s, **asdict(form))
            if sequence is None:
                _check_not_superseded(session, self._unanswered(session, match_id, judge))
                raise AssertionError(f"match {match_id} does not accept an answer")  # one of the two has raised
            if is_person and address and match.study is None:
                self._by_address.add(address)
            return AcceptedAnswer(sequence, state.num_answers + 1)

    def _watching(self, match: Match, rules: Rules, elapsed: Elapsed) -> Watching | None:
        """What is asked of watching, and how long the videos are."""
        if rules.min_watched_share <= 0:
            return None
        elapsed_s = elapsed.seconds if elapsed.is_known else math.inf  # where nobody knows it, everything can be
        videos = self._videos(match.id)
        return Watching(rules.min_watched_share, elapsed_s, Lengths(self._length_s(videos.left), self._length_s(videos.right)))

    def _known(self, session: Session, match_id: str) -> Match:
        match = store.match_to_read(session, match_id)
        if match is None:
            raise UnknownMatchError(f"there is no match {match_id!r}; ask for a new one")
        return match

    def _own(self, session: Session, match_id: str, judge: str) -> Match:
        match = self._known(session, match_id)
        _check_owner(match_id, match.judge, judge)
        return match

    def _unanswered(self, session: Session, match_id: str, judge: str) -> Match:
        match = self._own(session, match_id, judge)
        if match.answered_at is not None:
            raise AlreadyAnsweredError(
                f"match {match_id} was answered at {match.answered_at:%Y-%m-%d %H:%M} UTC; answers are kept as given"
            )
        return match

    def _served(self, session: Session, match: Match, rules: Rules, num_answered: int) -> ServedMatch:
        task = self._candidates.task(session, match.task, match.task_hash)
        elapsed_s = self._stopwatch.elapsed(match.id, match.served_at, self._clock()).seconds
        return ServedMatch.of(match, task, rules, num_answered=num_answered, elapsed_s=elapsed_s)

    # The leaderboard

    def leaderboard(self, task: str | None = None) -> dict[str, Any]:
        """Agents by score, of one task or over all tasks; see `board.leaderboard`."""
        with self.database.read() as session:
            return leaderboard(session, self._candidates, self.ratings, self.rules, task)

    # The judges

    def judges(self, study: str | None = None) -> list[JudgeSummary]:
        """How every judge has worked, in one study or at all; for operators.

        Raises:
            NotFoundError: If no such study was opened here.
        """
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


def _in_words(seconds: float) -> str:
    """A time to wait.

    >>> _in_words(50), _in_words(3700), _in_words(86_000)
    ('1 minute', '1 hour', '23 hours')
    """
    number, unit = (int(seconds // 3600), "hour") if seconds >= 3600 else (max(1, round(seconds / 60)), "minute")
    return f"{number} {unit}{'' if number == 1 else 's'}"


def _check_owner(match_id: str, owner: str, judge: str) -> None:
    if owner != judge:
        raise ForeignMatchError(f"match {match_id} was served to another judge; ask for one of your own")


def _check_not_withdrawn(session: Session, match_id: str) -> None:
    if store.is_withdrawn(session, match_id):
        raise WithdrawnError("a player of one of the two games does not want it to be compared any more; ask for another pair")


def _check_not_superseded(session: Session, match: Match) -> None:
    if store.has_answered_since(session, match):
        raise SupersededError(
            f"you have answered about the same two videos since match {match.id} was served; that answer counts"
        )


def _check_study(match: Match, study: str | None) -> None:
    """Refuse a person's match of another study than the one they work in: consent, quiz and end were looked at for that one.

    Raises:
        ForeignMatchError: Naming where it belongs.
    """
    if match.judge_kind == "person" and match.study != study:
        where = "the open room" if match.study is None else f"the study {match.study}"
        raise ForeignMatchError(f"match {match.id} belongs to {where}; go on with it there, by the link you came with")
