"""Pupils of classes: find the pupil who sends a request, the games that they may begin, and the activity of each pupil."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from fastapi import Request

from interplay.play.games.game import Game
from interplay.play.games.interfaces import OVER, State
from interplay.play.games.seat import Seat
from interplay.study.classes import Pupil, SchoolClass
from interplay.web.http.identity import PUPIL_COOKIE, known_participant
from interplay.web.http.refusals import refusal
from interplay.web.services import services

HERE_S = 20.0
"""Seconds without a request after which a pupil's page counts as closed; an open page sends one every five seconds."""
READS_S = 180.0
"""Seconds in which a pupil counts as reading a task's rules, because that page sends no requests."""


def pupil_of(request: Request, *, where: str = "") -> tuple[SchoolClass, Pupil] | None:
    """Return the class and the pupil of a request; None if the visitor is in no class.

    Args:
        where: Id of the task whose rules the pupil is shown. It is noted for the teacher.
    """
    if PUPIL_COOKIE not in request.cookies:
        return None
    found = services(request).classes.of(known_participant(request))
    if found is not None:
        services(request).pupils_seen[found[1].participant] = (time.monotonic(), where)
    return found


def class_of_game(request: Request, task: str) -> str | None:
    """Return the name that lets pupils of one class play with each other; None if the visitor is in no class.

    Raises:
        HTTPException: 410 if the class has ended; 409 for a task that the class does not play.
    """
    found = pupil_of(request, where=task)
    if found is None:
        return None
    school_class = found[0]
    if not school_class.is_open(services(request).classes.now()):
        raise refusal(410, "your class has ended, so no new game begins", code="class_over", next="/class")
    if task not in school_class.tasks:
        raise refusal(409, "your class does not play this; choose one of its games", code="another_task", next="/class")
    return f"class {school_class.code}"


@dataclass(frozen=True)
class Now:
    """The current activity of a pupil.

    Attributes:
        state: `playing`, `waiting`, `here` or `away`.
        words: Text over the picture; empty while the pupil plays.
        seconds: Time played, time waited, or time since the pupil was last seen, depending on the state.
    """

    state: str
    words: str = ""
    task: str = ""
    score: float | None = None
    seconds: float | None = None
    share: float = 0.0


def doing_now(request: Request, pupils: Iterable[Pupil]) -> dict[int, Now]:
    server = services(request).play
    seats = {
        seat.owner.participant_id: (game, seat)
        for game in ([] if server is None else server.games)
        for seat in game.seats
        if seat.owner is not None and seat.has_person and game.state not in OVER
    }
    return {pupil.participant: _now(request, pupil, seats.get(pupil.participant)) for pupil in pupils}


def _now(request: Request, pupil: Pupil, place: tuple[Game, Seat] | None) -> Now:
    if place is not None:
        return _in_game(*place)
    seen, where = services(request).pupils_seen.get(pupil.participant, (None, ""))
    quiet_s = None if seen is None else time.monotonic() - seen
    if quiet_s is not None and where and quiet_s < READS_S:
        return Now("waiting", "reads the rules", where, seconds=quiet_s)
    if quiet_s is not None and quiet_s < HERE_S:
        return Now("here", "chooses a game")
    return Now("away", "not here", seconds=quiet_s)


def _in_game(game: Game, seat: Seat) -> Now:
    facts = seat.facts
    seconds = facts.get("step", 0) / game.task.frame_rate_hz
    if game.state in (State.EMPTY, State.WAITING):
        words = "waits for a partner" if any(one.is_vacant for one in game.seats) else "begins"
        return Now("waiting", words, game.task.id, seconds=seat.held_s)
    words = {State.PAUSED: "paused", State.COUNTDOWN: "begins"}.get(game.state, "")
    share = min(1.0, facts.get("step", 0) / game.task.max_steps)
    return Now("playing", words, game.task.id, facts.get("score"), seconds, share)
