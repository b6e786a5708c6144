"""`Judging`: serve matches, keep them while they are watched, take answers, and show the leaderboard."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from sqlalchemy.orm import Session

from interplay.errors import unknown_name
from interplay.judge.board import leaderboard
from interplay.judge.checks import CheckedAnswer, JudgeSummary, summarise
from interplay.judge.errors import (
    AlreadyAnsweredError,
    BannedError,
    ForeignMatchError,
    QuotaReachedError,
    StudyClosedError,
    StudyFullError,
    SupersededError,
    TooEarlyError,
    UnknownMatchError,
)
from interplay.judge.form import check_draft, check_form
from interplay.judge.pool import Pool
from interplay.judge.ratings import Ratings
from interplay.judge.rules import Example, Rules
from interplay.judge.serving import Matchmaker, Request
from interplay.store import Database, Match, bans
from interplay.store import judging as store
from interplay.tasks import Question, Suite, Task

RELEASE_AFTER_S = 600.0
"""A match is released when its page has been silent for so long."""

Side = Literal["left", "right"]
MatchState = Literal["open", "released", "answered"]
JudgeKind = Literal["person", "program", "model"]
"""Who judges: a person, a script the operator runs, or an automatic judge, whose answers are kept apart from the others'."""


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
    """A match as its judge may see it: no agent, episode, seed or hash, and nothing that tells a check from other matches.

    Attributes:
        id: Random; says nothing about the episodes.
        task, title, goal: What both players were asked to do.
        frame_rate_hz: Frames per second of both videos.
        questions: The form, in order.
        served_at: UTC.
        elapsed_s: From serving until now, by the server's clock, seconds.
        state: `open`, `released` (still answerable, but others may be shown the pair) or `answered`.
        num_answered: How many matches this judge has answered so far, in this study if it is one.
        num_wanted: How many one judge may answer; None for no limit.
        min_reason_chars: The shortest reason.
        min_viewing_s: An answer is accepted so long after serving, seconds.
        min_watched_share: How much of each video must be played, from 0 to 1.
        study: Study id; None in the open room.
        examples: Videos that show what to look for.
        draft: What the judge's page last kept of the form; None if nothing.
    """

    id: str
    task: str
    title: str
    goal: str
    frame_rate_hz: float
    questions: tuple[Question, ...]
    served_at: datetime
    elapsed_s: float
    state: MatchState
    num_answered: int
    num_wanted: int | None
    min_reason_chars: int
    min_viewing_s: float
    min_watched_share: float
    study: str | None
    examples: tuple[Example, ...]
    draft: dict[str, Any] | None


class Preview(NamedTuple):
    """A pair to look at, that nobody was served: its match has no id; where the videos are."""

    match: ServedMatch
    left: Path
    right: Path


class _StudyRules(NamedTuple):
    """The rules of a study, or of the open room, and when it was closed."""

    rules: Rules
    closed_at: datetime | None


class AcceptedAnswer(NamedTuple):
    """Where an answer is in the log, and how many this judge has given."""

    sequence: int
    num_by_judge: int


class Judging:
    """The judging room over one archive; safe to share between threads, and with other processes on the same database.

    Args:
        archive: Episodes' videos and the database.
        rng: Draws tasks, checks, sides and ties.
        clock: The time now, UTC.
        release_after_s: A match whose page has been silent for so long is released.
        suites: Tasks on offer, known even before anyone has played them; the built-in ones when not given.
        rules: Of the open room; studies have their own.
    """

    def __init__(
        self,
        archive: VideoArchive,
        *,
        rng: np.random.Generator,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        release_after_s: float = RELEASE_AFTER_S,
        suites: Iterable[Suite] | None = None,
        rules: Rules | None = None,
    ) -> None:
        if not release_after_s > 0:
            raise ValueError(f"release_after_s must be positive, got {release_after_s!r}")
        self.archive = archive
        self.database = archive.database
        self.ratings = Ratings()
        self.release_after_s = release_after_s
        self.rules = Rules() if rules is None else rules
        self._clock = clock
        self._pool = Pool(suites)
        self._matchmaker = Matchmaker(self._pool, lambda: self.ratings, rng, self._has_video)
        self._rules_by_hash: dict[str, Rules] = {}

    # Serving

    def serve(
        self, judge: str, task: str | None = None, *, study: str | None = None, judge_kind: JudgeKind = "person"
    ) -> ServedMatch:
        """The match this judge has open, the one they last wrote something for if its pair is free, or a new one.

        Args:
            judge: Who will answer.
            task: Task id; drawn among those with something to show when not given. Asking for another task or study than
                that of the open match releases the open one. People in a study are not asked: its rules draw the task.
            study: Study id, whose rules then hold; None for the open room.
            judge_kind: What the judge is.
        Raises:
            NotFoundError: If no such task or study is known.
            BannedError, StudyClosedError, StudyFullError, QuotaReachedError: If this judge, or nobody, may answer any more.
            NothingToJudgeError: If nothing can be shown now.
        """
        if judge_kind == "person" and study is not None:
            task = None
        with self.database.write() as session:
            store.lock(session)
            now = self._clock()
            rules = self._rules_for_answers(session, judge, study)
            store.release_unseen(session, seen_before=now - timedelta(seconds=self.release_after_s), now=now)
            again = self._match_again(session, judge, task, study, now)
            if again is not None:
                return self._served(session, again, now)
            if self._study_rules(session, study).closed_at is not None:
                raise StudyClosedError("this study is closed and asks for no more answers; thank you for your interest")
            if self._is_full(session, study, rules):
                raise StudyFullError(f"this study has the {rules.target_answers} answers it asked for; thank you")
            match = self._matchmaker.next_match(session, Request(judge, judge_kind, task, study, rules), now)
            store.add_match(session, match)
            return self._served(session, match, now)

    def _is_full(self, session: Session, study: str | None, rules: Rules) -> bool:
        if study is None or rules.target_answers is None:
            return False
        return self.ratings.num_in_study(session, study) >= rules.target_answers

    def _match_again(self, session: Session, judge: str, task: str | None, study: str | None, now: datetime) -> Match | None:
        """The judge's own match to go on with: the open one, or one that went back while there was a draft for it."""
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
        has_form = self._pool.task(session, match.task, match.task_hash) is not None
        return has_form and self._has_video(match.left_episode_id) and self._has_video(match.right_episode_id)

    def _is_in_pool(self, session: Session, match: Match) -> bool:
        """Whether both agents of a match may still be shown; what is before a judge is finished whatever became of them."""
        sides = (match.left_episode_id, match.right_episode_id)
        return all(store.pool_episode(session, match.task, episode_id) is not None for episode_id in sides)

    def _has_video(self, episode_id: str) -> bool:
        return self.archive.video_path(episode_id).exists()

    def preview(self, task: str | None = None, study: str | None = None) -> Preview:
        """A pair to look at before judging, the same at every look; nothing is reserved or stored.

        Raises:
            NotFoundError: If no such task or study is known.
            NothingToJudgeError: If there are no two videos to show.
        """
        with self.database.read() as session:
            rules, _ = self._study_rules(session, study)
            pairing = self._matchmaker.example_pair(session, Request("", "person", task, study, rules))
            left, right = pairing
            now = datetime(2000, 1, 1, tzinfo=UTC)  # of no meaning; the same at every look, so that videos can be kept
            match = Match(
                id="",
                task=self._pool.name_of(left.task_hash),
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
            )
            paths = [self.archive.video_path(side.episode_id) for side in pairing]
            return Preview(self._served(session, match, now), *paths)

    # Rules

    def _study_rules(self, session: Session, study: str | None) -> _StudyRules:
        """What holds in a study now.

        Raises:
            NotFoundError: If no such study was opened here.
        """
        if study is None:
            return _StudyRules(self.rules, None)
        row = store.study(session, study)
        if row is None:
            raise unknown_name("study", study[:100], store.studies(session), hint="Open it with:  interplay study open FILE")
        content_hash, closed_at = row
        if content_hash not in self._rules_by_hash:
            definition = store.study_definition(session, content_hash)
            self._rules_by_hash[content_hash] = Rules.from_mapping(definition.get("judging"), f"study {study}: [judging]")
        return _StudyRules(self._rules_by_hash[content_hash], closed_at)

    def _rules_for_answers(self, session: Session, judge: str, study: str | None) -> Rules:
        """The rules of a study in which this judge may answer. Whether it is closed does not matter: what was served before
        is still taken.

        Raises:
            NotFoundError, BannedError, QuotaReachedError: If they may not.
        """
        rules, _ = self._study_rules(session, study)
        if bans.is_banned(session, judge):
            raise BannedError("answers of this judge are not accepted; whoever runs this server can say why")
        limit = rules.max_answers_per_judge
        if limit is not None and store.num_answers_by(session, judge, study) >= limit:
            raise QuotaReachedError(f"you have given all {limit} answers one judge is asked for here; thank you")
        return rules

    # A match and its judge

    def get(self, match_id: str, judge: str) -> ServedMatch:
        """One's own match again.

        Raises:
            UnknownMatchError, ForeignMatchError: If there is none of this id, or it is another judge's.
        """
        with self.database.read() as session:
            return self._served(session, self._own(session, match_id, judge), self._clock())

    def video(self, match_id: str, side: Side, judge: str) -> tuple[Path, datetime]:
        """Where the video of one side of one's own match is (the file may be gone), and when the match was served, UTC.

        Raises:
            UnknownMatchError, ForeignMatchError: As `get`.
        """
        with self.database.read() as session:
            match = self._own(session, match_id, judge)
            episode_id = match.left_episode_id if side == "left" else match.right_episode_id
            return self.archive.video_path(episode_id), match.served_at

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
        with self.database.write() as session:
            if store.touch(session, match_id, judge, study, self._clock(), checked):
                return "open"
        with self.database.write() as session:
            store.lock(session)
            match = self._unanswered(session, match_id, judge)
            _check_study(match, study)
            if store.was_given_back(match):
                return "released"
            now = self._clock()
            if checked is not None:
                match.draft = checked
            if match.released_at is not None:
                # Whoever fell silent for too long must not keep the pair either.
                store.release_unseen(session, seen_before=now - timedelta(seconds=self.release_after_s), now=now)
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

    def release(self, match_id: str, judge: str) -> None:
        """Give a match back; its pair may be shown to others at once. Twice is as good as once.

        Raises:
            UnknownMatchError, ForeignMatchError, AlreadyAnsweredError: As `heartbeat`.
        """
        with self.database.write() as session:
            store.lock(session)
            match = self._unanswered(session, match_id, judge)
            store.release(session, match, self._clock())

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
        Raises:
            UnknownMatchError, ForeignMatchError, AlreadyAnsweredError: As `heartbeat`.
            BannedError, QuotaReachedError: If this judge may not answer any more. A study that was closed since still takes
                the answers to what it served.
            SupersededError: If this judge has answered about these two videos since the match was served.
            TooEarlyError: If a person cannot have watched the videos yet. What is kept of the form stays.
            InvalidAnswerError: If the form has faults; lists every one.
        """
        with self.database.write() as session:
            store.lock(session)
            match = self._unanswered(session, match_id, judge)
            _check_study(match, study)
            rules = self._rules_for_answers(session, judge, match.study)
            if store.has_answered_since(session, match):
                raise SupersededError(
                    f"you have answered about the same two videos since match {match_id} was served; that answer counts"
                )
            now = self._clock()
            duration_s = (now - match.served_at).total_seconds()
            is_person = match.judge_kind == "person"
            if is_person and duration_s < rules.min_viewing_s:
                raise TooEarlyError(
                    f"please take at least {rules.min_viewing_s:g} seconds to watch both videos; "
                    f"{rules.min_viewing_s - duration_s:.0f} are left",
                    rules.min_viewing_s - duration_s,
                )
            task = self._pool.task(session, match.task, match.task_hash)
            form = check_form(
                task.questions if task else (),
                outcome=outcome,
                responses=responses,
                reason=reason,
                viewing=viewing,
                min_reason_chars=rules.min_reason_chars,
                min_watched_share=rules.min_watched_share if is_person else 0.0,
            )
            sequence = store.append_answer(session, match, created_at=now, duration_s=duration_s, **asdict(form))
            return AcceptedAnswer(sequence, store.num_answers_by(session, judge, match.study))

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

    def _served(self, session: Session, match: Match, now: datetime) -> ServedMatch:
        task: Task | None = self._pool.task(session, match.task, match.task_hash)
        rules, _ = self._study_rules(session, match.study)
        is_person = match.judge_kind == "person"
        return ServedMatch(
            id=match.id,
            task=match.task,
            title=task.title if task else match.task,
            goal=task.goal if task else "",
            frame_rate_hz=task.frame_rate_hz if task else 60.0,
            questions=task.questions if task else (),
            served_at=match.served_at,
            elapsed_s=(now - match.served_at).total_seconds(),
            state="answered" if match.answered_at else "released" if match.released_at else "open",
            num_answered=store.num_answers_by(session, match.judge, match.study),
            num_wanted=rules.max_answers_per_judge,
            min_reason_chars=rules.min_reason_chars,
            min_viewing_s=rules.min_viewing_s if is_person else 0.0,
            min_watched_share=rules.min_watched_share if is_person else 0.0,
            study=match.study,
            examples=tuple(example for example in rules.examples if example.task in ("", match.task)),
            draft=match.draft,
        )

    # The leaderboard

    def leaderboard(self, task: str | None = None) -> dict[str, Any]:
        """Agents by score, of one task or over all tasks; see `board.leaderboard`."""
        with self.database.read() as session:
            return leaderboard(session, self._pool, self.ratings, self.rules, task)

    # The judges

    def judges(self, study: str | None = None) -> list[JudgeSummary]:
        """How every judge has worked, in one study or at all; for operators.

        Raises:
            NotFoundError: If no such study was opened here.
        """
        with self.database.read() as session:
            self._study_rules(session, study)
            known = set(store.studies(session))

            @functools.cache  # there are a few studies, and many answers
            def min_viewing_s(name: str | None) -> float:
                # Imported answers may name a study of another server, whose rules nobody here knows.
                return self._study_rules(session, name if name in known else None).rules.min_viewing_s

            return summarise(
                (CheckedAnswer(*row) for row in store.answers_for_review(session, study)),
                banned=bans.banned(session),
                min_viewing_s=min_viewing_s,
            )


def _check_study(match: Match, study: str | None) -> None:
    """Refuse a person's match of another study than the one they work in: consent, quiz and end were looked at for that one.

    Raises:
        ForeignMatchError: Naming where it belongs.
    """
    if match.judge_kind == "person" and match.study != study:
        where = "the open room" if match.study is None else f"the study {match.study}"
        raise ForeignMatchError(f"match {match.id} belongs to {where}; go on with it there, by the link you came with")
