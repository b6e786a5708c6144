"""`Judging`: serve matches, keep them while they are watched, take answers, and show the leaderboard."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from sqlalchemy.orm import Session

from interplay.judge.board import leaderboard
from interplay.judge.errors import (
    AlreadyAnsweredError,
    ForeignMatchError,
    NothingToJudgeError,
    SupersededError,
    UnknownMatchError,
)
from interplay.judge.form import check_form
from interplay.judge.matchmaking import JudgeHistory, Pairing, agent_pairs, choose
from interplay.judge.pool import Pool
from interplay.judge.ratings import Ratings
from interplay.rank import TaskStandings
from interplay.store import Database, Match
from interplay.store import judging as store
from interplay.tasks import Question, Suite

RELEASE_AFTER_S = 600.0
"""A match is released when its page has been silent for so long."""

Side = Literal["left", "right"]
MatchState = Literal["open", "released", "answered"]


class VideoArchive(Protocol):
    """What judging needs of `record.Archive`."""

    @property
    def database(self) -> Database:
        """Where matches and answers are."""
        ...

    def video_path(self, episode_id: str) -> Path:
        """Where an episode's mp4 is or would be."""
        ...


@dataclass(frozen=True)
class ServedMatch:
    """A match as its judge may see it: no agent, episode, seed or hash.

    Attributes:
        id: Random; says nothing about the episodes.
        task, title, goal: What both players were asked to do.
        frame_rate_hz: Frames per second of both videos.
        questions: The form, in order.
        served_at: UTC.
        state: `open`, `released` (still answerable, but others may be shown the pair) or `answered`.
        num_answered: How many matches this judge has answered so far.
    """

    id: str
    task: str
    title: str
    goal: str
    frame_rate_hz: float
    questions: tuple[Question, ...]
    served_at: datetime
    state: MatchState
    num_answered: int


class AcceptedAnswer(NamedTuple):
    """Where an answer is in the log, and how many this judge has given."""

    sequence: int
    num_by_judge: int


class Judging:
    """The judging room over one archive; safe to share between threads, and with other processes on the same database.

    Args:
        archive: Episodes' videos and the database.
        rng: Draws tasks, sides and ties.
        clock: The time now, UTC.
        release_after_s: A match whose page has been silent for so long is released.
        suites: Tasks on offer, known even before anyone has played them; the built-in ones when not given.
    """

    def __init__(
        self,
        archive: VideoArchive,
        *,
        rng: np.random.Generator,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        release_after_s: float = RELEASE_AFTER_S,
        suites: Iterable[Suite] | None = None,
    ) -> None:
        if not release_after_s > 0:
            raise ValueError(f"release_after_s must be positive, got {release_after_s!r}")
        self.archive = archive
        self.database = archive.database
        self.ratings = Ratings()
        self.release_after_s = release_after_s
        self._rng = rng
        self._rng_lock = threading.Lock()
        self._clock = clock
        self._pool = Pool(suites)

    # Serving

    def serve(self, judge: str, task: str | None = None) -> ServedMatch:
        """The match this judge has open, or a new one.

        Args:
            judge: Who will answer.
            task: Task id; drawn among those with something to show when not given. Asking for another task than that of
                the open match releases the open one.
        Raises:
            NotFoundError: If no such task is known.
            NothingToJudgeError: If nothing can be shown now.
        """
        with self.database.write() as session:
            store.lock(session)
            now = self._clock()
            store.release_unseen(session, seen_before=now - timedelta(seconds=self.release_after_s), now=now)
            open_match = store.open_match_of(session, judge)
            if open_match is not None:
                if task in (None, open_match.task) and self._can_show_again(session, open_match):
                    open_match.seen_at = now
                    return self._served(session, open_match)
                open_match.released_at = now
                session.flush()
            with self.ratings.current(session) as standings, self._rng_lock:
                for candidate_task in self._tasks_to_try(session, task):
                    pairing = self._pairing(session, standings, judge, candidate_task)
                    if pairing is not None:
                        match = self._new_match(judge, candidate_task, pairing, now)
                        store.add_match(session, match)
                        return self._served(session, match)
            raise NothingToJudgeError(self._why_nothing(session, task))

    def _tasks_to_try(self, session: Session, task: str | None) -> list[str]:
        """The asked task, or all that have agents to compare in random order."""
        if task is not None:
            self._pool.check_task(session, task)
            return [task]
        tasks = store.judged_tasks(session)
        return [tasks[place] for place in self._rng.permutation(len(tasks))]

    def _pairing(self, session: Session, standings: TaskStandings, judge: str, task: str) -> Pairing | None:
        """The next two episodes of one task for this judge."""
        pool = self._pool.candidates(session, task)
        names = {candidate.agent for candidate in pool}
        if len(names) < 2:
            return None
        open_pairs = store.open_pairs(session, task)
        return choose(
            pool,
            agent_pairs(sorted(names), standings.task(task).rating, [(a, b) for a, b, _ in open_pairs], self._rng),
            taken=frozenset(episodes for _, _, episodes in open_pairs),
            history=JudgeHistory.of(store.pairs_shown_to(session, judge, task)),
            times_shown=lambda a, b: store.times_shown(session, task, a, b),
            can_show=lambda candidate: self.archive.video_path(candidate.episode_id).exists(),
            rng=self._rng,
        )

    def _new_match(self, judge: str, task: str, pairing: Pairing, now: datetime) -> Match:
        left, right = pairing
        return Match(
            id=secrets.token_hex(12),  # not drawn from `rng`: nobody may guess the next one
            task=task,
            task_hash=left.task_hash,
            seed=left.seed,
            left_episode_id=left.episode_id,
            right_episode_id=right.episode_id,
            left_agent=left.agent,
            right_agent=right.agent,
            judge=judge,
            served_at=now,
            seen_at=now,
        )

    def _can_show_again(self, session: Session, match: Match) -> bool:
        """Whether an open match still has its videos and its form, and would take an answer."""
        if store.has_answered_since(session, match):
            return False
        episodes = (match.left_episode_id, match.right_episode_id)
        has_form = self._pool.task(session, match.task, match.task_hash) is not None
        return has_form and all(self.archive.video_path(episode).exists() for episode in episodes)

    def _why_nothing(self, session: Session, task: str | None) -> str:
        """Why nothing can be shown, and what to do."""
        tasks = [task] if task is not None else store.judged_tasks(session)
        what = task or "any task"
        if any(store.open_pairs(session, one) for one in tasks):
            return f"every pair of videos of {what} is before a judge right now; try again in a few minutes"
        return (
            f"there are no two agents with videos of the same seed to compare in {what}\n"
            f"Record some:  interplay play {task or 'TASK'} --agent random --seeds heldout"
        )

    # A match and its judge

    def get(self, match_id: str, judge: str) -> ServedMatch:
        """One's own match again.

        Raises:
            UnknownMatchError, ForeignMatchError: If there is none of this id, or it is another judge's.
        """
        with self.database.read() as session:
            return self._served(session, self._own(session, match_id, judge))

    def video(self, match_id: str, side: Side, judge: str) -> tuple[Path, datetime]:
        """Where the video of one side of one's own match is (the file may be gone), and when the match was served, UTC.

        Raises:
            UnknownMatchError, ForeignMatchError: As `get`.
        """
        with self.database.read() as session:
            match = self._own(session, match_id, judge)
            episode_id = match.left_episode_id if side == "left" else match.right_episode_id
            return self.archive.video_path(episode_id), match.served_at

    def heartbeat(self, match_id: str, judge: str) -> MatchState:
        """A sign of life: keeps the match open, or opens it again if its pair is still free, the judge has no other,
        and has not answered about its videos since.

        Returns:
            `open`, or `released` when others may be shown the pair; an answer is welcome in both.
        Raises:
            UnknownMatchError, ForeignMatchError: As `get`.
            AlreadyAnsweredError: If the match has its answer.
        """
        with self.database.write() as session:
            if store.touch(session, match_id, judge, self._clock()):
                return "open"
        with self.database.write() as session:
            store.lock(session)
            match = self._unanswered(session, match_id, judge)
            now = self._clock()
            if match.released_at is not None:
                # Whoever fell silent for too long must not keep the pair either.
                store.release_unseen(session, seen_before=now - timedelta(seconds=self.release_after_s), now=now)
                if (
                    store.is_pair_open(session, match)
                    or store.open_match_of(session, judge) is not None
                    or store.has_answered_since(session, match)
                ):
                    return "released"
                match.released_at = None
            match.seen_at = now
            return "open"

    def release(self, match_id: str, judge: str) -> None:
        """Give a match back; its pair may be shown to others at once. Twice is as good as once.

        Raises:
            UnknownMatchError, ForeignMatchError, AlreadyAnsweredError: As `heartbeat`.
        """
        with self.database.write() as session:
            store.lock(session)
            match = self._unanswered(session, match_id, judge)
            if match.released_at is None:
                match.released_at = self._clock()

    def answer(
        self, match_id: str, judge: str, *, outcome: Any, responses: Any, reason: Any, viewing: Any = None
    ) -> AcceptedAnswer:
        """Check an answer and add it to the log.

        A match that was released in the meantime still takes its answer: a judge's work is not thrown away because a page
        was silent. Only when the same judge has answered about the same two videos since the match was served is it refused,
        or one opinion would count twice.

        Args:
            match_id, judge: Which match, and who answers.
            outcome, responses, reason, viewing: The form as it came in, see `form.check_form`.
        Raises:
            UnknownMatchError, ForeignMatchError, AlreadyAnsweredError: As `heartbeat`.
            SupersededError: If this judge has answered about these two videos since the match was served.
            InvalidAnswerError: If the form has faults; lists every one.
        """
        with self.database.write() as session:
            store.lock(session)
            match = self._unanswered(session, match_id, judge)
            if store.has_answered_since(session, match):
                raise SupersededError(
                    f"you have answered about the same two videos since match {match_id} was served; that answer counts"
                )
            form = check_form(
                self._questions(session, match), outcome=outcome, responses=responses, reason=reason, viewing=viewing
            )
            now = self._clock()
            sequence = store.append_answer(
                session, match, created_at=now, duration_s=(now - match.served_at).total_seconds(), **asdict(form)
            )
            return AcceptedAnswer(sequence, store.num_answers_by(session, judge))

    def _own(self, session: Session, match_id: str, judge: str) -> Match:
        match = store.match_by_id(session, match_id)
        if match is None:
            raise UnknownMatchError(f"there is no match {match_id!r}; ask for a new one")
        if match.judge != judge:
            raise ForeignMatchError(f"match {match_id} was served to another judge; ask for one of your own")
        return match

    def _unanswered(self, session: Session, match_id: str, judge: str) -> Match:
        match = self._own(session, match_id, judge)
        if match.answered_at is not None:
            raise AlreadyAnsweredError(
                f"match {match_id} was answered at {match.answered_at:%Y-%m-%d %H:%M} UTC; answers are kept as given"
            )
        return match

    def _served(self, session: Session, match: Match) -> ServedMatch:
        task = self._pool.task(session, match.task, match.task_hash)
        state = "answered" if match.answered_at else "released" if match.released_at else "open"
        return ServedMatch(
            id=match.id,
            task=match.task,
            title=task.title if task else match.task,
            goal=task.goal if task else "",
            frame_rate_hz=task.frame_rate_hz if task else 60.0,
            questions=self._questions(session, match),
            served_at=match.served_at,
            state=state,
            num_answered=store.num_answers_by(session, match.judge),
        )

    def _questions(self, session: Session, match: Match) -> tuple[Question, ...]:
        task = self._pool.task(session, match.task, match.task_hash)
        return task.questions if task else ()

    # The leaderboard

    def leaderboard(self, task: str | None = None) -> dict[str, Any]:
        """Agents by score, of one task or over all tasks; see `board.leaderboard`."""
        with self.database.read() as session:
            return leaderboard(session, self._pool, self.ratings, task)
