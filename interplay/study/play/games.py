"""The games of a visit with their statistics from the catalogue, and the pay for these games as one line of the ledger."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from interplay.store import Enrolment, EpisodeRow, EpisodeSeat
from interplay.store.study import visits as store
from interplay.store.study.visits import PlayedSession
from interplay.study.incentives import Earned, Game, LinearBonus, Requirement, SlidingBonus, Treatment
from interplay.study.play.variants import PlayPart, Variant, Waiting
from interplay.study.questions import Form, TeamGame, due

_CLOCKS_APART_S = 1.0
"""A person may leave this many seconds early, as in the lobby, because the clocks of page and server differ."""
SAVING = timedelta(minutes=10)
"""Longest time to wait until a game that is over appears in the catalogue."""


@dataclass(frozen=True)
class PlayedGame:
    """One finished game of a visit.

    Attributes:
        seat: The seat of this person.
        at: Time when the seat was given.
        statistics: Statistics of this person in this game, by name: `BUILT_IN`, and the statistics that the task measures.
        partner: Names of the actors in the other seats, as in the recording; empty in a game for one person.
        met: Kinds of these actors in words: a person, an agent, or several after one another in one seat.
    """

    episode: str
    task: str
    seat: str
    at: datetime
    statistics: Game
    partner: str = ""
    met: str = ""


@dataclass(frozen=True)
class PlayedVisit:
    """The present state of a visit to a study of play.

    Attributes:
        variant: The variant; None if none was given yet.
        games: Finished games, in the order in which they began.
        is_waiting: Whether the person has a seat in a game that has not begun.
        is_playing: Whether a game is running, or is over and not saved yet.
        max_games: As in `PlayPart`.
        waited_s: Longest wait that ended without a partner, since the last game, in seconds.
        after_s: As in `Waiting`.
    """

    variant: Variant | None
    games: tuple[PlayedGame, ...]
    is_waiting: bool = False
    is_playing: bool = False
    max_games: int | None = None
    waited_s: float = 0.0
    after_s: float = math.inf

    @property
    def with_partners(self) -> list[TeamGame]:
        return [
            TeamGame(place + 1, game.episode, game.partner, game.met)
            for place, game in enumerate(self.games)
            if game.partner and game.statistics["time"] > 0
        ]

    @property
    def has_waited(self) -> bool:
        """Whether this person has waited so long for a partner that they may leave and are paid for the wait."""
        is_busy = self.is_waiting or self.is_playing
        return self.waited_s + _CLOCKS_APART_S >= self.after_s and not is_busy and not self.is_complete

    @property
    def earned(self) -> Earned | None:
        return None if self.variant is None else self.variant.treatment.earned([game.statistics for game in self.games])

    @property
    def is_complete(self) -> bool:
        return self.earned is not None and self.earned.is_complete

    @property
    def is_over(self) -> bool:
        return self.max_games is not None and len(self.games) >= self.max_games

    def accepted_s(self, statistic: str) -> float:
        """Return the seconds that count towards the variant's target; 0 while the requirements are not met."""
        return sum(game.statistics.get(statistic, 0.0) for game in self.games) if self.is_complete else 0.0


def read_visit(session: Session, play: PlayPart, enrolment: Enrolment, now: datetime) -> PlayedVisit:
    games, is_waiting, is_playing, waited_s = {}, False, False, 0.0
    for one in store.sessions_of(session, enrolment.id):
        seat = one.session.seat or "player"
        if one.session.came == "nobody":
            waited_s = max(waited_s, one.session.waited_s or 0.0)
        if one.episode is not None:
            waited_s = 0.0
            statistics = statistics_of(one, one.episode, seat, enrolment.participant_id)
            others = [it for it in one.episode.seats if it.seat != seat]
            game = PlayedGame(one.episode.id, one.episode.task, seat, one.session.created_at, statistics, *_partners(others))
            games.setdefault((game.episode, seat), game)  # who left a seat and came back to it has played one game
        elif one.session.state == "waiting":
            is_waiting = True
        else:
            ended = one.session.ended_at
            is_saving = one.session.episode_id is not None and ended is not None and now - ended < SAVING
            is_playing = is_playing or one.session.state == "playing" or is_saving
    name = enrolment.variant
    return PlayedVisit(
        None if name is None else play.variant(name), tuple(games.values()), is_waiting, is_playing, play.max_games,
        waited_s, play.waiting.after_s,
    )  # fmt: skip


def _partners(held: Iterable[EpisodeSeat]) -> tuple[str, str]:
    seats: dict[str, list[EpisodeSeat]] = {}
    for one in sorted(held, key=lambda it: (it.seat, it.position)):
        seats.setdefault(one.seat, []).append(one)
    met = [", then ".join("a person" if one.actor_kind == "human" else "an agent" for one in ones) for ones in seats.values()]
    return " + ".join(one.actor for ones in seats.values() for one in ones), " and ".join(met)


def due_form(session: Session, play: PlayPart, enrolment_id: str, visit: PlayedVisit) -> Form | None:
    if visit.is_playing or not (games := visit.with_partners):
        return None
    return due(play.questions, games, store.answered(session, enrolment_id))


def statistics_of(played: PlayedSession, episode: EpisodeRow, seat: str, participant_id: int) -> dict[str, float]:
    """Return the statistics of one person in one seat of an episode; other actors who had this seat are not counted.
    They are `BUILT_IN`, each measured number and, as `name.count`, the counts from which it is computed, to be added up over
    games."""
    mine = [one for one in episode.seats if one.seat == seat and one.participant_id == participant_id]
    names = {one.actor for one in mine}
    found: dict[str, float] = {}
    for measure in played.measures:
        if measure.seat == seat and measure.actor in names:
            if measure.number is not None:
                found[measure.name] = float(measure.number)
            found |= {f"{measure.name}.{name}": float(count) for name, count in measure.counts.items()}
    num_steps = sum(one.num_steps for one in mine)
    found |= {"games": 1.0, "time": num_steps / (played.frame_rate_hz or 60.0)}
    return found | {"score": float(sum(one.total_reward for one in mine))}


def earned_line(enrolment_id: str, visit: PlayedVisit) -> dict[str, Any] | None:
    """Return the ledger line of a complete visit, else None.
    The amount is only the bonus; the reward is planned separately (`money.ledger.plan`)."""
    earned = visit.earned
    if visit.variant is None or earned is None or not earned.is_complete:
        return None
    return {
        "kind": "earned",
        "state": "due",
        "amount_cents": earned.bonus_cents,
        "currency": visit.variant.treatment.currency,
        "request": f"earned:{enrolment_id}",
        "detail": json.dumps(evidence(visit.variant.name, visit.variant.treatment, visit.games), sort_keys=True),
    }


def waited_line(enrolment_id: str, visit: PlayedVisit, waiting: Waiting) -> dict[str, Any] | None:
    """Return the ledger line of a visit that ended because no partner came; None if no pay was promised for waiting."""
    if visit.variant is None or not waiting.pay_cents:
        return None
    return {
        "kind": "waited",
        "state": "due",
        "amount_cents": waiting.pay_cents,
        "currency": visit.variant.treatment.currency,
        "request": f"waited:{enrolment_id}",
        "detail": json.dumps({"variant": visit.variant.name, "waited_s": visit.waited_s, **vars(waiting)}, sort_keys=True),
    }


def evidence(variant: str, treatment: Treatment, games: Sequence[PlayedGame]) -> dict[str, Any]:
    """Return the data from which an amount was computed: the rules, and each game with the statistics that the rules read."""
    looked_at = treatment.statistics
    return {
        "variant": variant,
        "treatment": treatment.to_json(),
        "games": [
            {
                "episode": game.episode,
                "task": game.task,
                "seat": game.seat,
                "at": game.at.isoformat(),
                "statistics": {name: game.statistics.get(name, 0.0) for name in looked_at},
            }
            for game in games
        ],
    }


def read_evidence(said: Mapping[str, Any]) -> tuple[Treatment, list[PlayedGame]]:
    """Read the data that `evidence` returned; `Treatment.earned` of these games gives the amount again."""
    rules = said["treatment"]
    bonus = dict(rules["bonus"] or {})
    kind = {"sliding": SlidingBonus, "linear": LinearBonus}.get(bonus.pop("kind", ""))
    treatment = Treatment(
        tuple(Requirement(**one) for one in rules["requirements"]),
        rules["reward_cents"],
        None if kind is None else kind(**bonus),
        rules["currency"],
    )
    games = [
        PlayedGame(one["episode"], one["task"], one["seat"], datetime.fromisoformat(one["at"]), one["statistics"])
        for one in said["games"]
    ]
    return treatment, games
