"""`Overview`: people, progress, requirements and money of studies, for the operator. This service only reads."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from interplay.errors import unknown_name
from interplay.store import Database
from interplay.store.participants import judge_name
from interplay.store.study import numbers as store
from interplay.store.study.numbers import Funnel, PersonRow
from interplay.store.summary import Spread
from interplay.study.assignment import Stand
from interplay.study.channels.base import UNPAID
from interplay.study.enrolment import PAID
from interplay.study.pauses import Pauses, PauseState
from interplay.study.play.visits import Visits
from interplay.study.studies import OpenedStudy, Studies

PEOPLE_PER_PAGE = 50


@dataclass(frozen=True)
class StudyNumbers:
    """Numbers of one study: `outcomes`: visits by outcome (`working`: not ended); `today`: arrivals in the last 24 hours."""

    opened: OpenedStudy
    pause: PauseState | None
    funnel: Funnel
    outcomes: dict[str, int]
    today: dict[str, int]
    stands: tuple[Stand, ...] = ()


@dataclass(frozen=True)
class PeoplePage:
    """One page of the list of visits to a study; `page` counts from 1."""

    rows: Sequence[PersonRow]
    total: int
    page: int
    num_pages: int


@dataclass(frozen=True)
class RequirementProgress:
    """Number of visits with a game, and how many of these (`met`) reach one requirement of a variant.
    Only a requirement on the sum of a statistic over a visit has `met` and `spread`."""

    variant: str
    label: str
    statistic: str
    required: float
    met: int | None
    visits: int
    spread: Spread | None


@dataclass(frozen=True)
class Purse:
    """The money of one study and channel, in hundredths of its currency.

    Attributes:
        planned_cents: Money due for finished visits: rewards, earnings and prizes, also if they were refused before. Top-ups to
            an hourly target are not included, because they are calculated when you pay.
        claimed_cents: Money whose payment has begun, but the platform has not answered.
        failed_cents: Money that the platform refused and that was not sent again.
    """

    study: str
    channel: str
    currency: str
    planned_cents: int
    claimed_cents: int
    settled_cents: int
    failed_cents: int
    num_settled: int


@dataclass(frozen=True)
class RaffleResult:
    """The result of a raffle: its seed, the number of entries, and the winners as (name, enrolment)."""

    study: str
    seed: int
    num_entries: int
    winners: tuple[tuple[str, str], ...]


class Overview:
    """Numbers about the studies of one database."""

    def __init__(self, database: Database, clock: Callable[[], datetime] | None = None) -> None:
        self._database = database
        self._clock = clock or (lambda: datetime.now(UTC))
        self._studies = Studies(database, self._clock)
        self._visits = Visits(database, self._studies, self._clock)
        self._pauses = Pauses(database, self._clock)

    def all(self) -> list[tuple[OpenedStudy, dict[str, int], PauseState | None]]:
        """Return every study with its visits by outcome and its pause, newest first."""
        counts, pauses = self._studies.counts(), self._pauses.all()
        return [(one, counts.get(one.study.id, {}), pauses.get(one.study.id)) for one in reversed(self._studies.all())]

    def study(self, study: str, *, hint: str = "") -> StudyNumbers:
        """Return the numbers of one study (NotFoundError with the nearest id if it was not opened here)."""
        opened = self._studies.get(study, hint=hint)
        with self._database.read() as session:
            funnel = store.funnel(session, study)
            today = store.arrivals(session, study, self._clock() - timedelta(hours=24))
        stands = () if opened.study.play is None else tuple(self._visits.stands(opened.study))
        return StudyNumbers(opened, self._pauses.of(study), funnel, self._studies.counts().get(study, {}), today, stands)

    def people(self, study: str, *, outcome: str | None = None, page: int = 1) -> PeoplePage:
        """Return a page of visits, newest first; if there are fewer pages, return the last page. Errors as `study`."""
        self._studies.get(study)
        with self._database.read() as session:
            total = store.count_people(session, study, outcome)
            num_pages = max(1, math.ceil(total / PEOPLE_PER_PAGE))
            page = min(page, num_pages)
            offset = (page - 1) * PEOPLE_PER_PAGE
            rows = store.people(session, study, outcome=outcome, limit=PEOPLE_PER_PAGE, offset=offset)
        rows = [row._replace(owed_cents=self._owed_cents(row)) for row in rows]
        return PeoplePage(rows, total, page, num_pages)

    def _owed_cents(self, row: PersonRow) -> int:
        """Return the pay of a person that was not sent yet, without top-ups to an hourly target."""
        if row.channel in UNPAID or row.outcome not in PAID:
            return 0
        reward = self._reward_cents(row.version, row.variant) if row.outcome == "done" else 0
        return max(0, reward + row.due_cents - row.sent_cents)

    def _reward_cents(self, version: str, variant: str | None) -> int:
        study = self._studies.version(version)
        found = None if study.play is None or variant is None else study.play.variant(variant)
        return 0 if study.pay is None else study.pay.reward_cents if found is None else found.treatment.reward_cents

    def reached(self, study: str, *, hint: str = "") -> list[RequirementProgress]:
        """Return how many visits reach each requirement of each variant, by the present rules of the study.
        Errors as `study`."""
        play = self._studies.get(study, hint=hint).study.play
        if play is None:
            return []
        found: list[RequirementProgress] = []
        known: dict[str, dict[str, Spread]] = {}
        counts: dict[tuple[str, float], dict[str, tuple[int, int]]] = {}
        with self._database.read() as session:
            for variant in play.variants:
                for one in variant.treatment.requirements:
                    is_sum = not one.out_of and one.scope == "visit"
                    if is_sum and one.statistic not in known:
                        known[one.statistic] = store.reached(session, study, one.statistic)
                    spread = known[one.statistic].get(variant.name) if is_sum else None
                    asked = one.statistic, one.required
                    if is_sum and asked not in counts:
                        counts[asked] = store.num_met(session, study, *asked)
                    met, visits = counts[asked].get(variant.name, (0, 0)) if is_sum else (None, 0)
                    found.append(RequirementProgress(variant.name, one.label, one.statistic, one.required, met, visits, spread))
        return found

    def money(self, study: str | None = None, *, hint: str = "") -> list[Purse]:
        """Return the money of one study, or of every study that pays, by channel. Errors as `study`."""
        if study is not None:
            self._studies.get(study, hint=hint)
        with self._database.read() as session:
            lines = store.money(session, study)
            rewards = store.unpaid_rewards(session, study)
            dues = store.unpaid_dues(session, PAID, study)
        planned = {key: cents for key, cents in dues.items() if key[1] not in UNPAID}
        for one in rewards:
            version = self._studies.version(one.version)
            if version.pay is None or one.channel in UNPAID:
                continue
            key = (one.study, one.channel, version.pay.currency)
            planned[key] = planned.get(key, 0) + one.num * self._reward_cents(one.version, one.variant)
        sums: dict[tuple[str, str, str], dict[str, int]] = {key: {} for key in planned}
        for line in lines:
            states = sums.setdefault((line.study, line.channel, line.currency), {})
            states[line.state] = states.get(line.state, 0) + line.cents
            if line.state == "sent":
                states["number"] = states.get("number", 0) + line.num
        return [
            Purse(
                *key,
                planned_cents=planned.get(key, 0),
                claimed_cents=states.get("planned", 0),
                settled_cents=states.get("sent", 0),
                failed_cents=states.get("failed", 0),
                num_settled=states.get("number", 0),
            )
            for key, states in sorted(sums.items())
        ]

    def raffles(self, study: str | None = None) -> list[RaffleResult]:
        with self._database.read() as session:
            lines = store.raffle_lines(session, study)
        found: dict[str, list[tuple[str, str]]] = {}
        said: dict[str, dict[str, Any]] = {}
        for name, participant, enrolment, detail in lines:
            if name not in said:
                said[name] = json.loads(detail)
            found.setdefault(name, []).append((judge_name(participant), enrolment))
        return [
            RaffleResult(name, said[name]["seed"], len(said[name]["entries"]), tuple(winners))
            for name, winners in found.items()
        ]


def checked_outcome(outcome: str, known: Sequence[str]) -> str:
    """Return `outcome` if it is one of `known` (NotFoundError with the nearest outcome)."""
    if outcome not in known:
        raise unknown_name("outcome", outcome[:100], known)
    return outcome
