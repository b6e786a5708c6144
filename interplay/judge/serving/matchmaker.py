"""`Matchmaker` chooses the next match for one judge: an informative pair, or a check that looks like an ordinary pair."""

from __future__ import annotations

import itertools
import secrets
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy.orm import Session

from interplay.judge.entrants.duplicates import NUM_OF_TASK, Twins
from interplay.judge.errors import EveryPairTakenError, NothingToJudgeError, VideosBeingMadeError
from interplay.judge.pairing import AgentPair, Awaited, pairing_rule
from interplay.judge.pairing.candidates import Candidates
from interplay.judge.pairing.matchmaking import Candidate, ChosenEpisodes, EpisodePair, JudgeHistory, choose
from interplay.judge.ratings.ratings import Ratings
from interplay.judge.rules import Rules
from interplay.judge.serving.checks import SWAPPED, Purpose, checks_due
from interplay.judge.serving.videos import Videos
from interplay.store import Match
from interplay.store import judging as store
from interplay.store.judging import SegmentRow
from interplay.store.participants import participant_number

NUM_BETWEEN = 2
"""Number of other pairs that a judge answers before a pair is repeated."""


@dataclass(frozen=True)
class Request:
    """A judge's request for a match, and the rules that hold for it.

    Attributes:
        judge, kind: As in `Match.judge` and `Match.judge_kind`.
        task: Task to judge; None for any task that the rules allow.
    """

    judge: str
    kind: str
    task: str | None
    study: str | None
    rules: Rules


@dataclass(frozen=True)
class Shown:
    """The contents and the purpose of a match; `expected` and `repeat_of` as in `Match`."""

    task: str
    left: Candidate
    right: Candidate
    purpose: Purpose = "rating"
    expected: str | None = None
    repeat_of: str | None = None


class Offer(NamedTuple):
    """The pairs of one task that one judge may be shown.

    Attributes:
        pairs: Agents to compare, the most informative pair first.
        shown: Seed and episodes of every match of this task that this judge has been shown.
        has_video: Function that returns whether a candidate's episode can be shown now, and requests a missing video.
    """

    task: str
    candidates: tuple[Candidate, ...]
    awaited: list[tuple[str, str]]
    pairs: list[AgentPair]
    shown: list[tuple[int, EpisodePair]]
    has_video: Callable[[str], bool]


@dataclass(frozen=True)
class Plan:
    """A judge's next match, as far as it can be planned while other judges are served.

    Attributes:
        checks_due: Purposes of the checks to try before any ordinary pair of `tasks`.
        must_check: Whether a due check must come now, because its block ends (see `checks.checks_due`).
        offer: Pairs of the first task; None if that task has nothing to compare, or if a check is due.
    """

    request: Request
    tasks: list[str]
    checks_due: Sequence[Purpose]
    must_check: bool
    offer: Offer | None
    rng: np.random.Generator


class Matchmaker:
    """Chooses matches. Safe to share between threads.

    Args:
        videos: Says which videos can be shown, and requests missing ones.
        is_being_made: Episode id -> whether the episode's missing video is being made.
        twins: Makes the second files that some checks show.
        is_held: Function that returns whether no video is made at present, because people play.
    """

    def __init__(
        self,
        candidates: Candidates,
        ratings: Ratings,
        rng: np.random.Generator,
        videos: Videos,
        is_being_made: Callable[[str], bool],
        twins: Twins,
        is_held: Callable[[], bool],
    ) -> None:
        self._candidates = candidates
        self._ratings = ratings
        self._rng = rng
        self._rng_lock = threading.Lock()
        self._videos = videos
        self._is_being_made = is_being_made
        self._twins = twins
        self._is_held = is_held

    def plan(self, session: Session, request: Request) -> Plan:
        """Do the part of `next_match` that needs no transaction.

        Raises:
            NotFoundError: If the task is unknown.
            NothingToJudgeError: If the rules leave out the requested task.
        """
        rng = self.own_rng()
        tasks = self._tasks_to_try(session, request, rng)
        due, must_check = checks_of(session, request, rng)
        if request.study is not None and request.rules.attention_every is not None:
            self._prepare_twins(session, tasks)
        offer = self._offer(session, request, tasks[0], rng) if tasks and not due else None
        return Plan(request, tasks, due, must_check, offer, rng)

    def next_match(self, session: Session, plan: Plan, now: datetime) -> Match:
        """Make a new match of a pair that no other judge has, without storing it (NothingToJudgeError if nothing can be shown).
        The transaction must hold the lock of the judge."""
        shown = self._check(session, plan)
        if shown is not None:
            return match_showing(plan.request, shown, now)
        for task in plan.tasks:
            is_planned = plan.offer is not None and plan.offer.task == task
            offer = plan.offer if is_planned else self._offer(session, plan.request, task, plan.rng)
            match = None if offer is None else self._match(session, plan, offer, now)
            if match is not None:
                return match
        raise self._nothing(session, plan)

    def own_rng(self) -> np.random.Generator:
        """Return a generator for one request only, because threads must not share a generator."""
        with self._rng_lock:
            return self._rng.spawn(1)[0]

    def _tasks_to_try(self, session: Session, request: Request, rng: np.random.Generator) -> list[str]:
        """Return the requested task; if no task is requested, all allowed tasks with agents to compare, in random order."""
        rules = request.rules
        if request.task is not None:
            self._candidates.check_task(session, request.task)
            if rules.tasks is not None and request.task not in rules.tasks:
                raise NothingToJudgeError(
                    f"this study does not ask about {request.task}; it asks about {', '.join(rules.tasks)}"
                )
            return [request.task]
        tasks = [task for task in store.judged_tasks(session) if rules.tasks is None or task in rules.tasks]
        if rules.task_choice == "fixed" and request.study is not None:
            first = store.first_task_of(session, request.judge, request.study)
            if first in tasks:
                return [first]
        return [tasks[place] for place in rng.permutation(len(tasks))]

    # Pairs that rate

    def _offer(self, session: Session, request: Request, task: str, rng: np.random.Generator) -> Offer | None:
        candidates = self._not_own(session, task, request.judge)
        if len({candidate.agent for candidate in candidates}) < 2:
            return None
        awaited = _awaited(store.open_pairs(session, task))
        pairs = self._pairs(session, request, task, candidates, awaited, rng)
        has_video = self._videos.among(session, (one.episode_id for one in candidates))
        return Offer(task, candidates, awaited, pairs, store.pairs_shown_to(session, request.judge, task), has_video)

    def _not_own(self, session: Session, task: str, judge: str) -> tuple[Candidate, ...]:
        """Return the candidates of a task without the judge's own games."""
        candidates = self._candidates.of_task(session, task)
        person = participant_number(judge)
        if person is None or not any(one.has_people for one in candidates):
            return candidates
        own = store.games_of(session, person)
        return tuple(one for one in candidates if one.episode_id not in own)

    def _match(self, session: Session, plan: Plan, offer: Offer, now: datetime) -> Match | None:
        open_pairs = store.open_pairs(session, offer.task)
        taken, awaited = frozenset(one.episodes for one in open_pairs), _awaited(open_pairs)
        pairs = offer.pairs
        if awaited != offer.awaited:  # others were served or answered meanwhile: the best pair may be on its way now
            pairs = self._pairs(session, plan.request, offer.task, offer.candidates, awaited, plan.rng)
        taken |= _shown_too_often(offer.shown, plan.request.rules.max_shows_of_pair)
        while True:
            chosen = choose(
                offer.candidates,
                pairs,
                taken=taken,
                history=JudgeHistory.of(offer.shown),
                times_shown=lambda a, b: store.times_shown(session, offer.task, a, b),
                can_show=lambda candidate: offer.has_video(candidate.episode_id),
                rng=plan.rng,
            )
            if chosen is None:
                return None
            match = match_showing(plan.request, Shown(offer.task, *chosen), now)
            if store.take_pair(session, match):
                return match
            taken |= {frozenset((chosen.left.episode_id, chosen.right.episode_id))}  # another judge was served it just now

    def _pairs(
        self,
        session: Session,
        request: Request,
        task: str,
        candidates: Iterable[Candidate],
        awaited: Awaited,
        rng: np.random.Generator,
    ) -> list[AgentPair]:
        """Return pairs of agents in the order of the rules, without pairs about which this judge has answered often enough."""
        rule, limit = pairing_rule(request.rules.policy, **request.rules.policy_options), request.rules.max_answers_of_agents
        agents = {candidate.agent for candidate in candidates}
        with self._ratings.evidence(session) as evidence:
            pairs = rule.order(sorted(agents), evidence[task], awaited, rng)
        if limit is None:
            return pairs
        times = store.times_answered_about(session, request.judge, task)
        return [pair for pair in pairs if times[frozenset((pair.a, pair.b))] < limit]

    def example_pair(self, session: Session, request: Request, *, but: Collection[str] = ()) -> ChosenEpisodes:
        """Return two episodes to look at, always the same two (errors as in `next_match`).
        They are chosen without regard to quality. `but` are tasks to skip."""
        for task in sorted(set(self._tasks_to_try(session, request, self.own_rng())) - set(but)):
            shown = self._with_videos(session, self._in_fixed_order(session, task))
            for left, right in itertools.combinations(shown, 2):
                if left.agent != right.agent and left.episode_id != right.episode_id and _is_same_start(left, right):
                    return ChosenEpisodes(left, right)
        raise NothingToJudgeError("there is no pair of videos to look at yet")

    def _in_fixed_order(self, session: Session, task: str) -> list[Candidate]:
        return sorted(self._candidates.of_task(session, task), key=lambda one: sha256(one.episode_id.encode()).digest())

    def _with_videos(self, session: Session, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return the candidates that can be shown now, and request the missing videos of the others."""
        has_video = self._videos.among(session, (one.episode_id for one in candidates))
        return [one for one in candidates if has_video(one.episode_id)]

    # Checks

    def _prepare_twins(self, session: Session, tasks: Iterable[str]) -> None:
        for task in tasks:
            made = self._videos.made(session, [one.episode_id for one in self._in_fixed_order(session, task)])
            self._twins.want(made[:NUM_OF_TASK], session)

    def _check(self, session: Session, plan: Plan) -> Shown | None:
        for purpose in plan.checks_due:
            shown = self._attention(session, plan) if purpose == "attention" else self._repeat(session, plan)
            if shown is not None:
                return shown
        return None

    def _attention(self, session: Session, plan: Plan) -> Shown | None:
        """Make an attention check: a pair of the rules that this judge has not seen, or one video on both sides."""
        request, rng = plan.request, plan.rng
        for task in plan.tasks:
            seen = {pair for _, pair in store.pairs_shown_to(session, request.judge, task)}
            known = [
                check
                for check in request.rules.attention_checks
                if check.task == task and frozenset((check.left, check.right)) not in seen
            ]
            for place in rng.permutation(len(known)):
                check = known[place]
                sides = self._seen_in(session, task, check.left), self._seen_in(session, task, check.right)
                alike = [both for both in itertools.product(*sides) if _is_same_start(*both)]
                if alike:
                    left, right = alike[0]
                    if rng.random() < 0.5:
                        return Shown(task, left, right, "attention", check.expected)
                    return Shown(task, right, left, "attention", SWAPPED[check.expected])
            candidates = self._with_videos(session, self._not_own(session, task, request.judge))
            fresh = [
                candidates[place]
                for place in rng.permutation(len(candidates))
                if frozenset((candidates[place].episode_id,)) not in seen
            ]
            # One file on both sides would be seen by its pictures' bytes: an episode with a second encode comes first, and
            # where one is being made the check waits for it as long as its block allows.
            twins = self._videos.with_twins(session, (one.episode_id for one in fresh))
            fresh.sort(key=lambda one: one.episode_id not in twins)
            if fresh:
                has_twin = fresh[0].episode_id in twins
                if has_twin or plan.must_check or not self._twins.is_busy:
                    return Shown(task, fresh[0], fresh[0], "attention", "draw")
        return None

    def _seen_in(self, session: Session, task: str, episode_id: str) -> list[Candidate]:
        """Return an episode's candidates if it can be shown, without agents that wait for a moderator or were withdrawn."""
        found = self._candidates.in_episode(session, task, episode_id)
        return self._with_videos(session, found)

    def _repeat(self, session: Session, plan: Plan) -> Shown | None:
        request = plan.request
        assert request.study is not None  # only studies have checks
        matches = store.matches_to_repeat(session, request.judge, request.study)[:-NUM_BETWEEN]
        for place in plan.rng.permutation(len(matches)):
            match, outcome = matches[place]
            if match.task not in plan.tasks:
                continue
            lefts = self._seen_in(session, match.task, match.right_episode_id)
            rights = self._seen_in(session, match.task, match.left_episode_id)
            for left, right in itertools.product(lefts, rights):
                is_same = (left.agent, right.agent) == (match.right_agent, match.left_agent)
                is_same &= _is_same_start(left, right) and match.seat in ("", left.seat)
                if is_same and store.take_pair(session, match):
                    return Shown(match.task, left, right, "repeat", SWAPPED[outcome], match.id)
        return None

    # Nothing

    def _nothing(self, session: Session, plan: Plan) -> NothingToJudgeError:
        request, tasks = plan.request, plan.tasks
        what = request.task or "any task"
        candidates = [one.episode_id for task in tasks for one in self._candidates.of_task(session, task)]
        has_video = self._videos.among(session, candidates)
        if any(not has_video(one) and self._is_being_made(one) for one in candidates):
            return VideosBeingMadeError(what, is_held=self._is_held())
        if any(store.open_pairs(session, one) for one in tasks):
            return EveryPairTakenError(
                "others are comparing every pair of videos there is; a pair is free again when its judge has answered, "
                "or ten minutes after they left"
            )
        limits = (request.rules.max_shows_of_pair, request.rules.max_answers_of_agents)
        if limits != (None, None) and any(store.pairs_shown_to(session, request.judge, one) for one in tasks):
            return NothingToJudgeError("you have compared everything that one judge can compare here; thank you")
        return NothingToJudgeError(
            f"there are no two agents with videos of the same seed to compare in {what}\n"
            f"Record some:  interplay play {request.task or 'TASK'} --agent random --seeds heldout"
        )


def checks_of(session: Session, request: Request, rng: np.random.Generator) -> tuple[Sequence[Purpose], bool]:
    """Return the due checks in the order to try them, and whether one of them must come now. Only studies have checks."""
    rules, study = request.rules, request.study
    if study is None or (rules.attention_every is None and rules.repeat_every is None):
        return (), False
    begun = store.unanswered_purpose(session, request.judge, study)
    if begun in ("attention", "repeat"):
        return (begun,), True  # giving a check back is no way round it
    answered = store.purposes_answered(session, request.judge, study)
    ends = any(every is not None and (len(answered) + 1) % every == 0 for every in (rules.attention_every, rules.repeat_every))
    return checks_due(rules.attention_every, rules.repeat_every, answered, rng), ends


def _awaited(open_pairs: Sequence[store.OpenPair]) -> list[tuple[str, str]]:
    return [(one.left, one.right) for one in open_pairs if one.informs]


def _shown_too_often(shown: Sequence[tuple[int, EpisodePair]], limit: int | None) -> frozenset[EpisodePair]:
    if limit is None:
        return frozenset()
    pairs = [pair for _, pair in shown]
    return frozenset(pair for pair in set(pairs) if pairs.count(pair) >= limit)


def match_showing(request: Request, shown: Shown, now: datetime) -> Match:
    return new_match(
        request, shown.task, shown.left, shown.right, now,
        seat=shown.left.seat, purpose=shown.purpose, expected=shown.expected, repeat_of=shown.repeat_of,
    )  # fmt: skip


def new_match(
    request: Request, task: str, left: Candidate | SegmentRow, right: Candidate | SegmentRow, now: datetime, **more: Any
) -> Match:
    return Match(
        id=secrets.token_hex(12),  # not drawn from `rng`: nobody may guess the next one
        task=task,
        task_hash=left.task_hash,
        seed=left.seed,
        left_episode_id=left.episode_id,
        right_episode_id=right.episode_id,
        left_agent=left.agent,
        right_agent=right.agent,
        judge=request.judge,
        judge_kind=request.kind,
        study=request.study,
        served_at=now,
        seen_at=now,
        **more,
    )


def again(match: Match, now: datetime) -> Match:
    values: dict[str, Any] = {column.name: getattr(match, column.name) for column in Match.__table__.columns}
    values |= {"id": secrets.token_hex(12), "served_at": now, "seen_at": now, "answered_at": None, "released_at": None}
    return Match(**values)


def _is_same_start(one: Candidate, other: Candidate) -> bool:
    return (one.task_hash, one.seed, one.seat) == (other.task_hash, other.seed, other.seat)
