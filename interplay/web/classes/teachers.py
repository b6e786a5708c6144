"""Pages of classes for teachers: make a class (operators only), see its results, close it, download its table as CSV."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import segno
from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from interplay.envs.backends import to_install
from interplay.envs.make import has_score
from interplay.study import tokens
from interplay.study.classes import ClassError, SchoolClass
from interplay.study.classes.pupils import best_games, middle, scores, table_csv
from interplay.study.scores import bins
from interplay.tasks import Task
from interplay.web.agents.access import require_operator
from interplay.web.classes.pupils import doing_now
from interplay.web.desk.access import desk
from interplay.web.http.forms import FormPairs, see_other
from interplay.web.http.identity import current_operator
from interplay.web.plots import histogram
from interplay.web.rendering import render, titles
from interplay.web.services import services

router = APIRouter(include_in_schema=False)

COOKIE = "interplay_teacher"
_NO_STORE = {"Cache-Control": "no-store"}
BEST_SHOWN = 5
QR_BORDER = 2
"""Width of the empty border around the QR code in modules; two are enough on a card of one colour."""
FEWEST_SCORES = 3


@router.get("/classes")
def classes(request: Request) -> Response:
    if not current_operator(request):
        return see_other("/operator?next=/classes")
    return _list(request)


def _list(request: Request, *, status: int = 200, problem: str = "", given: dict[str, Any] | None = None) -> Response:
    known = [(one, number, teacher_address(request, one)) for one, number in services(request).classes.all()]
    offered = [task for suite in services(request).suites if suite.id != "explore" for task in suite.tasks]
    offered = [task for task in offered if task.env.is_playable and not to_install(task)]
    given = given or {"tasks": ["atari/breakout"], "scores": "yes"}
    return desk(
        request, "classes.html", "/classes", status=status,
        known=known, offered=offered, problem=problem, given=given, now=services(request).classes.now(),
    )  # fmt: skip


@router.post("/classes")
def make(request: Request, form: FormPairs) -> Response:
    require_operator(request)
    said, chosen = dict(form), [value for name, value in form if name == "task"]
    try:
        for task in chosen:
            check_playable(services(request).tasks, task)
        made = services(request).classes.open(
            said.get("title", ""), chosen, hours=_number(said, "hours"), keep_days=round(_number(said, "keep_days")),
            asks_release=said.get("release") == "yes", shows_scores=said.get("scores") == "yes",
        )  # fmt: skip
    except ClassError as error:
        return _list(request, status=422, problem=str(error), given=said | {"tasks": chosen})
    return see_other(teacher_address(request, made))


def check_playable(tasks: dict[str, Task], task: str) -> None:
    if task not in tasks or not tasks[task].env.is_playable:
        raise ClassError(f"{task[:100]!r} is not on offer here, or has only videos to judge; choose another task")
    if line := to_install(tasks[task]):
        raise ClassError(f"{task} is not installed here\nInstall it with:  {line}")


def _number(said: dict[str, str], name: str) -> float:
    with contextlib.suppress(ValueError):
        if math.isfinite(number := float(said.get(name, ""))):
            return number
    raise ClassError(f"{name.replace('_', ' ')} is a number; got {said.get(name, '')[:40]!r}")


def teacher_address(request: Request, school_class: SchoolClass) -> str:
    """Return the link for the teacher of a class. Everybody who has this link sees the class and may close it."""
    return f"/classes/{school_class.code}?key={tokens.teacher_key(services(request).secret, school_class.code)}"


def _own_class(request: Request, code: str) -> SchoolClass:
    if not current_operator(request):
        key = request.cookies.get(COOKIE, "")
        if not tokens.is_teacher_key(services(request).secret, code, key):
            raise HTTPException(403, "this page is for the teacher of the class\nOpen the teacher's complete link again.")
    return services(request).classes.get(code)


@router.get("/classes/{code}")
def class_page(request: Request, code: str, key: str = "", task: str = "", view: str = "") -> Response:
    """Show a class as its teacher sees it; `view=projector` leaves out the teacher's buttons."""
    if key:
        if not tokens.is_teacher_key(services(request).secret, code, key):
            raise HTTPException(403, "this link of a teacher is not complete\nCopy it again, up to its last letter.")
        response = RedirectResponse(f"/classes/{code}", 303, _NO_STORE)
        secure = request.url.scheme == "https"
        response.set_cookie(COOKIE, key, path=f"/classes/{code}", httponly=True, samesite="lax", secure=secure)
        return response
    school_class = _own_class(request, code)
    pupils = services(request).classes.pupils(school_class)
    scored = [one for one in school_class.tasks if one in services(request).tasks and has_score(services(request).tasks[one])]
    chosen = (
        task if task in scored else max(scored, key=[game.task for pupil in pupils for game in pupil.games].count, default="")
    )
    doing = doing_now(request, pupils)
    reached = scores(pupils, chosen)
    return render(
        request, "class.html", "Class", headers=_NO_STORE, alone=True,
        school_class=school_class, now=services(request).classes.now(), join=f"{request.url.netloc}/join",
        qr=qr_path(f"{str(request.base_url).rstrip('/')}/join/{school_class.shown_code}"),
        pupils=sorted(pupils, key=lambda pupil: pupil.nickname.casefold()), doing=doing,
        states={state: sum(one.state == state for one in doing.values()) for state in ("playing", "waiting", "here", "away")},
        played_s=sum(pupil.played_s for pupil in pupils), num_games=sum(len(pupil.games) for pupil in pupils),
        tasks=services(request).tasks, titles=titles(request), scored=scored, chosen=chosen,
        best=best_games(pupils, chosen)[:BEST_SHOWN], num_scores=len(reached), middle=middle(reached),
        plot=score_plot(reached), is_projector=view == "projector",
    )  # fmt: skip


def qr_path(text: str) -> tuple[int, str]:
    """Return a QR code: its width in modules, border included, and an SVG path of the dark modules (one unit each)."""
    rows = segno.make(text, error="m", micro=False).matrix
    dark = [(x, y) for y, row in enumerate(rows) for x, module in enumerate(row) if module]
    path = "".join(f"M{x + QR_BORDER} {y + QR_BORDER}h1v1h-1z" for x, y in dark)
    return len(rows) + 2 * QR_BORDER, path


def score_plot(reached: list[float], own: float | None = None) -> dict[str, Any] | None:
    if len(reached) < FEWEST_SCORES:
        return None
    marks = [] if own is None else [own]
    return histogram(bins(reached, marks, is_whole=all(value.is_integer() for value in (*reached, *marks))), "games", own=own)


@router.get("/classes/{code}/results.csv")
def results(request: Request, code: str) -> Response:
    school_class = _own_class(request, code)
    tasks = services(request).tasks
    scoreless = [one for one in tasks if not has_score(tasks[one])]
    text = table_csv(services(request).classes.pupils(school_class), titles(request), scoreless)
    headers = {"Content-Disposition": f'attachment; filename="class-{school_class.code}.csv"'} | _NO_STORE
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


@router.post("/classes/{code}/close")
def close(request: Request, code: str) -> Response:
    services(request).classes.close(_own_class(request, code).code)
    return see_other(f"/classes/{code}")


@router.post("/classes/{code}/rename")
def rename(request: Request, code: str, form: FormPairs) -> Response:
    school_class, number = _own_class(request, code), dict(form).get("participant", "")
    with contextlib.suppress(ValueError):
        services(request).classes.rename(school_class.code, int(number))
    return see_other(f"/classes/{code}#who-played")


@router.post("/classes/{code}/approve")
def approve(request: Request, code: str, form: FormPairs) -> Response:
    numbers = [int(value) for name, value in form if name == "participant" and value.isdecimal()]
    services(request).classes.approve(_own_class(request, code).code, numbers)
    return see_other(f"/classes/{code}#who-played")


@router.post("/classes/{code}/take-out")
def take_out(request: Request, code: str, form: FormPairs) -> Response:
    school_class, number = _own_class(request, code), dict(form).get("participant", "")
    with contextlib.suppress(ValueError):
        here = services(request)
        if here.classes.take_out(school_class.code, int(number)) and here.play is not None:
            here.play.dismiss(int(number))
    return see_other(f"/classes/{code}#who-played")


@router.post("/classes/{code}/forget")
def forget(request: Request, code: str) -> Response:
    school_class = _own_class(request, code)
    if school_class.is_open(services(request).classes.now()):
        raise HTTPException(409, "this class is open\nClose it first, then erase its nicknames.")
    services(request).classes.forget(school_class.code)
    return see_other(f"/classes/{code}")
