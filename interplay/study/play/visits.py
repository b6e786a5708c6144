"""`Visits`: the service of studies of play that gives variants and binds games to visits; `studies.py` ends visits.

Each method is one transaction, or one read of the database. The rules are in `study/assignment.py` and `study/incentives.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np
from sqlalchemy.orm import Session

from interplay.errors import unknown_name
from interplay.store import Database, Enrolment, VisitAnswer
from interplay.store.locks import lock
from interplay.store.participants import judge_name
from interplay.store.study import visits as store
from interplay.store.study.money import pay_events_of
from interplay.study.assignment import Assignment, Stand, assign, available
from interplay.study.definition import Study
from interplay.study.play.games import PlayedVisit, due_form, read_evidence, read_visit
from interplay.study.play.variants import PlayPart, Variant
from interplay.study.questions import Form, TeamGame
from interplay.study.studies import Studies

LINK_PARAMETER = "task"
"""Parameter of a study's link that names the variant, if the study allows this."""


@dataclass(frozen=True)
class PartnerAnswer:
    """One answer about a partner, as lists show it.

    Attributes:
        form: `partner` or `comparison`.
        game, episode, partner: The game; for a comparison, the second of the two games.
        before_episode, before_partner: The first of the two games of a comparison; otherwise empty.
        question, text: The question's id, and its words.
        value, label: The choice, and its words; for an open question both are the text. None: the person skipped the form.
    """

    enrolment: str
    participant: str
    variant: str
    form: str
    game: int
    episode: str
    partner: str
    before_episode: str
    before_partner: str
    question: str
    text: str
    value: str | None
    label: str | None
    answered_at: datetime


class Visits:
    """The visits to the studies of play of one database; `rng` chooses between variants that lack equally much time."""

    def __init__(
        self,
        database: Database,
        studies: Studies,
        clock: Callable[[], datetime] | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        self._database = database
        self._studies = studies
        self._clock = clock or (lambda: datetime.now(UTC))
        self._rng = rng or np.random.default_rng()

    def get(self, enrolment: Enrolment) -> PlayedVisit:
        """Return the present state of a visit; if the visit has earned pay, with the games and statistics used for that pay."""
        play = _play_of(self._studies.version(enrolment.study_hash))
        with self._database.read() as session:
            visit = read_visit(session, play, session.get_one(Enrolment, enrolment.id), self._clock())
            earned = next((one for one in pay_events_of(session, [enrolment.id]) if one.kind == "earned"), None)
            return visit if earned is None else replace(visit, games=tuple(read_evidence(json.loads(earned.detail))[1]))

    def stands(self, study: Study) -> list[Stand]:
        with self._database.read() as session:
            return self._stands(session, study, {})

    def offered(self, enrolment: Enrolment) -> list[Variant]:
        study = self._studies.version(enrolment.study_hash)
        with self._database.read() as session:
            history = store.variants_of(session, study.id, enrolment.participant_id, but=enrolment.id)
            return [one.variant for one in available(self._stands(session, study, {}), now=self._clock(), history=history)]

    def give(self, enrolment: Enrolment, *, chosen: str = "", open_seats: Mapping[str, int] | None = None) -> Variant | None:
        """Give this visit a variant once; a later call returns the same variant.
        Returns None if there is no variant for this person now, or if the person must first choose. If two people come at the
        same time, the second is given a variant after the first is counted.

        Args:
            chosen: The variant that the person chose; empty: the study or the link decides.
            open_seats: Variant -> seats in its games that wait for a player.
        Raises:
            NotFoundError: If the chosen variant is not available; the error names the nearest variant.
        """
        study = self._studies.version(enrolment.study_hash)
        play = _play_of(study)
        now = self._clock()
        with self._database.write() as session:
            lock(session, "study", enrolment.study)
            current = session.get_one(Enrolment, enrolment.id)
            if current.variant is not None:
                return play.variant(current.variant)
            history = store.variants_of(session, study.id, enrolment.participant_id, but=enrolment.id)
            stands = self._stands(session, study, open_seats or {})
            names = [one.variant.name for one in available(stands, now=now, history=history)]
            linked = str(current.arrival.get(LINK_PARAMETER, "")) if play.by_link else ""
            found: Assignment | None
            if linked in names:
                found = Assignment(linked, "link")
            elif play.choice == "chosen":
                if not chosen:
                    return None
                if chosen not in names:
                    raise unknown_name("task", chosen[:100], names)
                found = Assignment(chosen, "chosen")
            else:
                found = assign(stands, now=now, history=history, minutes=study.minutes, rng=self._rng, at_target=play.at_target)
            if found is None:
                return None
            store.give_variant(session, enrolment.id, found.variant, found.reason)
            return play.variant(found.variant)

    def revealed(self, enrolment: Enrolment) -> list[TeamGame]:
        """Return the games of a visit with the kinds of partners, if the study reveals them at the end; else an empty list."""
        play = self._studies.version(enrolment.study_hash).play
        if play is None or not play.reveals:
            return []
        with self._database.read() as session:
            return read_visit(session, play, session.get_one(Enrolment, enrolment.id), self._clock()).with_partners

    def form(self, enrolment: Enrolment) -> Form | None:
        """Return the questions about partners that are due now, or None."""
        play = _play_of(self._studies.version(enrolment.study_hash))
        with self._database.read() as session:
            visit = read_visit(session, play, session.get_one(Enrolment, enrolment.id), self._clock())
            return due_form(session, play, enrolment.id, visit)

    def answer(self, enrolment: Enrolment, key: str, given: Mapping[str, str] | None) -> bool:
        """Write a person's answers: the whole form, or nothing.

        Args:
            key: Key of the form, as it was shown.
            given: Question -> answer; None: the person skips the form.
        Returns:
            False if this form is not due: it was sent before. Then nothing is written.
        Raises:
            FormError: If an answer is missing, or cannot be stored.
        """
        play = _play_of(self._studies.version(enrolment.study_hash))
        with self._database.write() as session:
            lock(session, "study", enrolment.study)
            visit = read_visit(session, play, session.get_one(Enrolment, enrolment.id), self._clock())
            form = due_form(session, play, enrolment.id, visit)
            if form is None or form.key != key:
                return False
            values: Mapping[str, str | None] = {one.id: None for one in form.questions} if given is None else form.read(given)
            game, before = form.games[-1], form.games[0] if len(form.games) > 1 else None
            for question, value in values.items():
                answer = VisitAnswer(
                    enrolment_id=enrolment.id, form=key, game=game.number, episode_id=game.episode, partner=game.partner,
                    before_episode_id=None if before is None else before.episode,
                    before_partner=None if before is None else before.partner,
                    question=question, value=value, created_at=self._clock(),
                )  # fmt: skip
                session.add(answer)
        return True

    def answers(self, study: str, *, hint: str = "") -> list[PartnerAnswer]:
        """Return the answers about partners over all versions of a study (NotFoundError if it was not opened here)."""
        self._studies.get(study, hint=hint)
        with self._database.read() as session:
            return [self._answer(one, answer) for one, answer in store.answers_of_study(session, study)]

    def _answer(self, enrolment: Enrolment, answer: VisitAnswer) -> PartnerAnswer:
        questions = _play_of(self._studies.version(enrolment.study_hash)).questions
        kind = answer.form.partition(":")[0]
        asked = next(one for one in getattr(questions, kind) if one.id == answer.question)
        return PartnerAnswer(
            enrolment=enrolment.id, participant=judge_name(enrolment.participant_id), variant=enrolment.variant or "",
            form=kind, game=answer.game, episode=answer.episode_id, partner=answer.partner,
            before_episode=answer.before_episode_id or "",
            before_partner=answer.before_partner or "", question=answer.question, text=asked.text, value=answer.value,
            label=None if answer.value is None else asked.options.get(answer.value, answer.value),
            answered_at=answer.created_at,
        )  # fmt: skip

    def bind(self, enrolment: Enrolment, session_id: str) -> bool:
        """Bind a seat to a visit, so that games in this seat count; return False if another game of the visit is open."""
        play = _play_of(self._studies.version(enrolment.study_hash))
        with self._database.write() as session:
            lock(session, "study", enrolment.study)
            visit = read_visit(session, play, session.get_one(Enrolment, enrolment.id), self._clock())
            if visit.is_playing or visit.is_waiting:
                return False
            store.bind(session, session_id, enrolment.id)
            return True

    def _stands(self, session: Session, study: Study, open_seats: Mapping[str, int]) -> list[Stand]:
        counts = store.count_variants(session, study.id, self._clock())
        stands = []
        for variant in _play_of(study).variants:
            count = counts.get(variant.name, store.VariantCount(0.0, 0, 0))
            seats = open_seats.get(variant.name, 0)
            stands.append(Stand(variant, count.accepted_s / 60, count.ended, count.working, seats))
        return stands


def _play_of(study: Study) -> PlayPart:
    if study.play is None:
        raise LookupError(f"{study.id} is a study of comparisons")
    return study.play
