"""`Reviews`: the service of studies of reviews that gives people instances and stores answers; `studies.py` ends visits.

Each method is one transaction, or one read of the database.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from interplay.store import Database, Enrolment, ReviewRow
from interplay.store.locks import lock
from interplay.store.participants import judge_name
from interplay.store.study import studies as store
from interplay.study.errors import FormError
from interplay.study.review.part import QUESTIONS, ReviewPart
from interplay.study.studies import Studies


def lacking(verdicts: Sequence[bool], *, raters: int, third: bool) -> int:
    """Return how many verdicts an instance still lacks; with `third`, one more is needed if as many people say yes as no.

    >>> lacking([True, False], raters=2, third=True), lacking([True, True], raters=2, third=True)
    (1, 0)
    """
    if len(verdicts) < raters:
        return raters - len(verdicts)
    return int(third and 2 * sum(verdicts) == len(verdicts))


def next_instance(
    names: Sequence[str],
    verdicts: Mapping[str, Sequence[bool]],
    mine: Collection[str],
    held: Counter[str],
    *,
    raters: int,
    third: bool,
    rng: np.random.Generator,
) -> str | None:
    """Return the next instance for a reviewer; None if no instance needs a verdict of this person.
    Instances that lack the fewest verdicts come first; `rng` chooses among equal ones.

    Args:
        verdicts: Verdicts by name of the instance.
        mine: Instances that this person has reviewed.
        held: Name -> number of other people who are reviewing the instance now.
        raters, third: As in `lacking`.
        rng: Must have the same seed in all calls for one person, so that this person's order stays the same.
    """
    order = {name: place for name, place in zip(names, rng.permutation(len(names)).tolist(), strict=True)}
    left = []
    for name in names:
        missing = lacking(verdicts.get(name, ()), raters=raters, third=third)
        if name not in mine and missing > held[name]:
            left.append((missing, order[name], name))
    return min(left)[2] if left else None


YES, NO = "yes", "no"
VERDICT = "verdict"
"""Field of the form: `yes` means that the instance is valid."""
MOST_CHARS = 5000
"""Largest number of characters in a reason."""


@dataclass(frozen=True)
class Served:
    """An instance that was shown to a person, with the person's earlier answers, if there are any."""

    place: int
    document: Mapping[str, Any]
    answers: Mapping[str, Any] | None = None
    is_valid: bool | None = None
    why: str | None = None


@dataclass(frozen=True)
class Review:
    """One person's latest answers about one instance.

    Attributes:
        reviewer: The person's name in lists.
        version: Content hash of the version of the study that contains the instance.
        answers: Id of `QUESTIONS` -> whether the answer is yes.
        seconds: Seconds from seeing the instance to the first answer.
    """

    instance: str
    reviewer: str
    version: str
    answers: Mapping[str, bool]
    is_valid: bool
    why: str
    has_played: bool
    seconds: float
    answered_at: datetime


class Reviews:
    """The reviews of one database."""

    def __init__(self, database: Database, studies: Studies, clock: Callable[[], datetime] | None = None) -> None:
        self._database = database
        self._studies = studies
        self._clock = clock or (lambda: datetime.now(UTC))

    def serve(self, enrolment: Enrolment) -> Served | None:
        """Return the instance that this person reviews now: an unanswered one, or the next, which is then reserved.
        Returns None if no instance needs a verdict of this person."""
        part = self._part(enrolment)
        with self._database.write() as session:
            lock(session, "study", enrolment.study)  # two who come at once are counted one after the other
            own = store.reviews_of_visit(session, enrolment.id)
            if own and own[-1].answered_at is None:
                return self._served(part, own, own[-1].place)
            now = self._clock()
            rows = store.reviews_of_study(session, enrolment.study)
            mine = {row.instance for one, row in rows if one.participant_id == enrolment.participant_id}
            held = Counter(row.instance for one, row in rows if store.is_held(row, now) and one.id != enrolment.id)
            verdicts: dict[str, list[bool]] = {}
            for (_, instance), row in _last(rows).items():
                verdicts.setdefault(instance, []).append(bool(row.is_valid))
            rng = np.random.default_rng(zlib.crc32(f"{enrolment.study} {enrolment.participant_id}".encode()))
            chosen = next_instance(list(part.instances), verdicts, mine, held, raters=part.raters, third=part.third, rng=rng)
            if chosen is None:
                return None
            place = max((row.place for row in own), default=0) + 1
            session.add(ReviewRow(enrolment_id=enrolment.id, instance=chosen, place=place, served_at=now))
            return Served(place, part.instances[chosen])

    def get(self, enrolment: Enrolment, place: int) -> Served | None:
        """Return the instance at a place in the visit's order, from 1; None if the visit has no such place."""
        with self._database.read() as session:
            return self._served(self._part(enrolment), store.reviews_of_visit(session, enrolment.id), place)

    def answer(self, enrolment: Enrolment, place: int, given: Mapping[str, str]) -> None:
        """Write a person's answers to one instance, all together; a second call adds new answers and keeps the earlier ones.

        Args:
            given: Question -> `yes` or `no`; also `verdict` (`yes` or `no`), `why`, and `played` if the proof was played.
        Raises:
            FormError: If an answer is missing, or there is no such place.
        """
        said = {name: given.get(name, "") for name in (*QUESTIONS, VERDICT)}
        open_ones = [text for name, text in {**QUESTIONS, VERDICT: "your verdict"}.items() if said[name] not in (YES, NO)]
        if open_ones:
            more = f" ({len(open_ones)} are open)" if len(open_ones) > 1 else ""
            raise FormError(f"Please answer every question{more}: {open_ones[0]}")
        why = given.get("why", "").strip()
        if len(why) > MOST_CHARS:
            raise FormError(f"Your reason has {len(why)} characters; at most {MOST_CHARS} can be stored")
        now = self._clock()
        with self._database.write() as session:
            lock(session, "study", enrolment.study)
            there = [row for row in store.reviews_of_visit(session, enrolment.id) if row.place == place]
            if not there:
                raise FormError("This instance was not shown to you; load the page again")
            row = there[-1]
            if row.answered_at is not None:
                row = ReviewRow(enrolment_id=enrolment.id, instance=row.instance, place=place, served_at=row.served_at)
                session.add(row)
            row.answers = {name: said[name] == YES for name in QUESTIONS}
            row.is_valid, row.why, row.has_played, row.answered_at = said[VERDICT] == YES, why, "played" in given, now

    def of_study(self, study: str) -> list[Review]:
        """Return each person's latest answers to each instance, over all versions of the study, in the order of answering.
        Raises NotFoundError for an unknown study."""
        self._studies.get(study)
        with self._database.read() as session:
            rows = store.reviews_of_study(session, study)
        seen = {(one.participant_id, row.instance): row for one, row in reversed(rows) if row.answered_at is not None}
        versions = {one.participant_id: one.study_hash for one, _ in rows}
        return [
            Review(
                instance, judge_name(person), versions[person], dict(row.answers or {}), bool(row.is_valid), row.why or "",
                bool(row.has_played), _seconds(seen[person, instance]), row.answered_at,
            )
            for (person, instance), row in _last(rows).items()
            if row.answered_at is not None
        ]  # fmt: skip

    def _part(self, enrolment: Enrolment) -> ReviewPart:
        part = self._studies.version(enrolment.study_hash).review
        if part is None:
            raise LookupError(f"{enrolment.study} is not a study of reviews")
        return part

    def _served(self, part: ReviewPart, own: list[ReviewRow], place: int) -> Served | None:
        there = [row for row in own if row.place == place]
        if not there:
            return None
        row = there[-1]
        return Served(place, part.instances[row.instance], row.answers, row.is_valid, row.why)


def _last(rows: list[tuple[Enrolment, ReviewRow]]) -> dict[tuple[int, str], ReviewRow]:
    return {(one.participant_id, row.instance): row for one, row in rows if row.answered_at is not None}


def _seconds(row: ReviewRow) -> float:
    assert row.answered_at is not None
    return round((row.answered_at - row.served_at).total_seconds(), 1)
