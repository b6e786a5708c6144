"""Pages for playing in a study: choose a variant, play it, see the progress. Every page needs the person's token."""

from __future__ import annotations

from collections import Counter
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response

from interplay.play.games.interfaces import State
from interplay.store import Enrolment
from interplay.study.channels.base import UNPAID
from interplay.study.enrolment import next_step
from interplay.study.incentives import Progress
from interplay.study.play.games import PlayedVisit
from interplay.web.http.forms import FormFields, see_other
from interplay.web.pages import game_page
from interplay.web.rendering import find_task
from interplay.web.services import services
from interplay.web.studies.enrolments import PARAMETER, end_address, facts_of, next_address, remember_part, token_of
from interplay.web.studies.pages import NOBODY_ELSES, Enrolled, in_words, page

router = APIRouter(include_in_schema=False)

_RULE = ("statistic", "out_of", "required", "scope")
"""Fields of a requirement that a page needs to show it during a game."""


@router.get("/studies/{study}/play")
def play(request: Request, enrolment: Enrolled) -> Response:
    if next_step(facts_of(request, enrolment)) != "work":
        return see_other(next_address(request, enrolment))
    version = services(request).studies.version(enrolment.study_hash)
    if version.play is None:
        return see_other(next_address(request, enrolment))
    variant = services(request).visits.give(enrolment, open_seats=_open_seats(request, enrolment))
    if variant is None and version.play.choice == "chosen" and (offered := services(request).visits.offered(enrolment)):
        cards = [(one, find_task(request, one.task)) for one in offered]
        is_paid = enrolment.channel not in UNPAID and version.pay is not None
        return page(
            request, "study_choose.html", study=version, cards=cards, token=token_of(request, enrolment), is_paid=is_paid
        )
    if variant is None:
        return see_other(end_address(request, enrolment))
    if enrolment.variant is None and next_step(facts_of(request, enrolment)) != "work":  # what was given has a quiz
        return see_other(next_address(request, enrolment))
    task = find_task(request, variant.task)
    response = game_page(
        request,
        task,
        "",
        headers=NOBODY_ELSES,
        alone=True,
        study=version,
        title=variant.title or task.title,
        instructions=variant.instructions,
        token=token_of(request, enrolment),
        visit=progress_of(request, enrolment),
        variant=variant,
        waiting=version.play.waiting,
        is_blind=version.play.is_blind,
    )
    remember_part(request, response, enrolment)
    return response


@router.post("/studies/{study}/choose")
def choose(request: Request, enrolment: Enrolled, form: FormFields) -> Response:
    if next_step(facts_of(request, enrolment)) == "work":
        services(request).visits.give(enrolment, chosen=form.get("variant", ""), open_seats=_open_seats(request, enrolment))
    return see_other(next_address(request, enrolment))


@router.get("/studies/{study}/progress")
def progress(request: Request, enrolment: Enrolled) -> dict[str, Any]:
    return progress_of(request, enrolment)


def progress_of(request: Request, enrolment: Enrolment) -> dict[str, Any]:
    version = services(request).studies.version(enrolment.study_hash)
    visit: PlayedVisit = services(request).visits.get(enrolment)
    earned = visit.earned
    treatment = None if visit.variant is None else visit.variant.treatment
    bonus = None if treatment is None else treatment.bonus
    return {
        "games": [game.episode for game in visit.games],
        "requirements": [] if earned is None else [_shown(one) for one in earned.progress],
        "is_complete": visit.is_complete,
        "is_over": visit.is_over,
        "is_playing": visit.is_playing,
        "is_paid": enrolment.channel not in UNPAID and version.pay is not None and treatment is not None,
        "reward_cents": 0 if treatment is None else treatment.reward_cents,
        "bonus_cents": 0 if earned is None else earned.bonus_cents,
        "max_bonus_cents": 0 if bonus is None else bonus.max_cents,
        "bonus_rule": "" if bonus is None else bonus.in_words(),
        "bonus": None if treatment is None else treatment.to_json()["bonus"],
        "totals": {} if earned is None else earned.totals,
        "cents": 0 if earned is None else earned.cents,
        "currency": "" if treatment is None else treatment.currency,
        "has_waited": visit.has_waited,
        "has_questions": services(request).visits.form(enrolment) is not None,
        "waiting_cents": 0 if version.play is None else version.play.waiting.pay_cents,
        "next": next_address(request, enrolment),
        "leave": f"/studies/{enrolment.study}/leave?{urlencode({PARAMETER: token_of(request, enrolment)})}",
        "end": end_address(request, enrolment),
    }


def _shown(one: Progress) -> dict[str, Any]:
    achieved, required = (in_words(one.requirement, value) for value in (one.achieved, one.requirement.required))
    text = {"label": one.requirement.label, "text": f"{achieved} of {required}", "share": one.share}
    return text | {"achieved": one.achieved} | {name: getattr(one.requirement, name) for name in _RULE}


def has_game(request: Request, enrolment: Enrolment) -> bool:
    visits = services(request).visits
    version = services(request).studies.version(enrolment.study_hash)
    if version.play is not None and version.play.choice == "chosen" and visits.get(enrolment).variant is None:
        return bool(visits.offered(enrolment))
    return visits.give(enrolment, open_seats=_open_seats(request, enrolment)) is not None


def _open_seats(request: Request, enrolment: Enrolment) -> Counter[str]:
    server = services(request).play
    seats: Counter[str] = Counter()
    for game in [] if server is None else server.games:
        if game.study is not None and game.study.study == enrolment.study and game.is_waited_in and game.state is State.WAITING:
            seats[game.study.variant] += sum(seat.is_open for seat in game.seats)
    return seats
