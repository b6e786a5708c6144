"""Pages of classes for pupils: enter the code and a nickname, choose a game, see one's results."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response

from interplay.envs.make import has_score
from interplay.study.classes import ClassError
from interplay.study.classes.pupils import best_games, scores
from interplay.web.classes.pupils import pupil_of
from interplay.web.classes.teachers import BEST_SHOWN, score_plot
from interplay.web.http.forms import FormFields, see_other, sentence
from interplay.web.http.identity import network_of, sign_in_pupil, sign_out_pupil
from interplay.web.http.rates import Rate
from interplay.web.pages import game_page
from interplay.web.rendering import find_task, render
from interplay.web.services import services

router = APIRouter(include_in_schema=False)

_NO_STORE = {"Cache-Control": "no-store"}
WRONG_CODES = Rate(100, 600)
"""Most wrong codes from one address in ten minutes: enough for the typing errors of a class, too few to guess a code."""


@router.get("/join")
@router.get("/join/{code}")
def join_page(request: Request, code: str = "") -> Response:
    return _join(request, code or request.query_params.get("code", ""))


def _join(request: Request, code: str, *, nickname: str = "", problem: str = "", status: int = 200) -> Response:
    school_class = None
    if code.strip():
        _check_rate(request)
        school_class = services(request).classes.find(code)
        if school_class is None:
            problem = problem or "No class has this code. Check the code letter by letter."
            WRONG_CODES.allows(network_of(request))
    is_open = school_class is not None and school_class.is_open(services(request).classes.now())
    if school_class is not None and not is_open:
        problem, status = "This class has ended. Ask your teacher for a new code.", 410
    elif school_class is None and code.strip():
        status = 404
    offered = services(request).classes.suggestion(school_class) if school_class is not None and is_open else ""
    return render(
        request, "join.html", "", status=status, headers=_NO_STORE, alone=True,
        school_class=school_class if is_open else None, code=code[:40], nickname=nickname or offered, problem=problem,
        already=pupil_of(request),
    )  # fmt: skip


def _check_rate(request: Request) -> None:
    if not WRONG_CODES.has_room(network_of(request)):
        raise HTTPException(429, "too many wrong codes came from here; please wait ten minutes", {"Retry-After": "600"})


@router.post("/join")
def join(request: Request, form: FormFields) -> Response:
    _check_rate(request)
    code, nickname = form.get("code", ""), form.get("nickname", "")
    if services(request).classes.find(code) is None:
        return _join(request, code)
    try:
        joined = services(request).classes.join(code, nickname, release_ticked=form.get("release") == "yes")
    except ClassError as error:
        return _join(request, code, nickname=nickname, problem=sentence(str(error)), status=409)
    response = see_other("/class")
    sign_in_pupil(request, response, joined.key)
    return response


@router.get("/class")
def home(request: Request) -> Response:
    found = pupil_of(request)
    if found is None:
        return see_other("/join")
    school_class, who = found
    pupils = services(request).classes.pupils(school_class)
    me = next((one for one in pupils if one.participant == who.participant), who)
    tasks = [services(request).tasks[task] for task in school_class.tasks if task in services(request).tasks]
    boards = []
    for task in tasks if school_class.shows_scores else []:
        best = best_games(pupils, task.id) if has_score(task) else []
        if best:
            own = me.best(task.id)
            plot = score_plot(scores(pupils, task.id), None if own is None else own.score)
            rank = next((place for place, (pupil, _) in enumerate(best, 1) if pupil.participant == me.participant), None)
            boards.append((task, best[:BEST_SHOWN], plot, rank))
    return render(
        request, "pupil.html", "", headers=_NO_STORE, alone=True,
        school_class=school_class, me=me, tasks=tasks, boards=boards, scoreless={one.id for one in tasks if not has_score(one)},
        is_open=school_class.is_open(services(request).classes.now()),
    )  # fmt: skip


@router.get("/class/play/{suite}/{name}")
def play(request: Request, suite: str, name: str) -> Response:
    task = find_task(request, f"{suite}/{name}")
    found = pupil_of(request, where=task.id)
    if found is None:
        return see_other("/join")
    school_class, me = found
    if not school_class.is_open(services(request).classes.now()) or task.id not in school_class.tasks:
        return see_other("/class")
    return game_page(request, task, "", headers=_NO_STORE, alone=True, school_class=school_class, me=me)


@router.post("/class/leave")
def leave(request: Request) -> Response:
    response = see_other("/join")
    sign_out_pupil(response)
    return response
