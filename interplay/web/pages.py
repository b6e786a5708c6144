"""The pages people see. What they show of games, replays and matches, their scripts fetch from the API."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import FileResponse, Response
from fastapi.templating import Jinja2Templates

from interplay.record import Archive
from interplay.store.catalogue import agent_names, count_by_task
from interplay.store.episodes import EpisodeQuery, count_episodes, find_episodes
from interplay.tasks import Task, lookup
from interplay.web.agent_access import check_shown, hidden_tasks, sees_waiting
from interplay.web.identity import known_participant
from interplay.web.pictures import placeholder

router = APIRouter(include_in_schema=False)
templates = Jinja2Templates(directory=Path(__file__).parent / "templates")

ROWS_PER_PAGE = 50
PICTURE_WAIT_S = 1.0

_KEY_NAMES = {
    "ArrowUp": "↑",
    "ArrowDown": "↓",
    "ArrowLeft": "←",
    "ArrowRight": "→",
    "Space": "space",
    "ShiftLeft": "shift",
    "ControlLeft": "ctrl",
    "MouseLeft": "mouse left",
    "MouseRight": "mouse right",
    "MouseMiddle": "mouse middle",
}


def duration(seconds: float) -> str:
    """A length of time in words.

    >>> duration(600), duration(90), duration(20)
    ('10 min', '1 min 30 s', '20 s')
    """
    minutes, rest = divmod(round(seconds), 60)
    parts = [f"{minutes} min"] if minutes else []
    return " ".join(parts + ([f"{rest} s"] if rest or not minutes else []))


def clock(seconds: float) -> str:
    """A length of time as m:ss.

    >>> clock(83.2)
    '1:23'
    """
    minutes, rest = divmod(math.floor(seconds), 60)
    return f"{minutes}:{rest:02d}"


def plain_number(value: float) -> str:
    """A number as people write it: no decimals where there are none, thousands apart.

    >>> plain_number(1240.0), plain_number(0.5)
    ('1,240', '0.5')
    """
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,.3g}"


def ago(instant: datetime) -> str:
    """How long ago, roughly."""
    seconds = max(0.0, (datetime.now(UTC) - instant).total_seconds())
    for size, name in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {name}{'s' if count != 1 else ''} ago"
    return "just now"


def actor_name(row: Any) -> str:
    """People are numbered, not named; a program's own name is shown even where it sat in a person's seat."""
    name = row.actor.removeprefix("participant-")
    return f"person {name}" if row.actor_kind == "human" and name != row.actor else row.actor


OUTCOMES = {
    "terminated": "game over",
    "time_limit": "time was up",
    "quit": "finished early",
    "left": "player left",
    "interrupted": "interrupted",
}

templates.env.trim_blocks = templates.env.lstrip_blocks = True
templates.env.filters |= {
    "duration": duration,
    "clock": clock,
    "thousands": lambda value: f"{value:,}",
    "plain": plain_number,
    "ago": ago,
    "actor": actor_name,
    "outcome": lambda name: OUTCOMES.get(name, name),
    "money": lambda cents: f"{cents / 100:,.2f}",
}


def render(
    request: Request,
    name: str,
    here: str,
    /,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    **context: Any,
) -> Response:
    """A page: its template, and which entry of the main menu it stands under."""
    return templates.TemplateResponse(request, name, {"here": here, **context}, status_code=status, headers=headers)


def find_task(request: Request, task_id: str) -> Task:
    """A task on offer.

    Raises:
        NotFoundError: With the nearest id.
    """
    return lookup(task_id, request.app.state.tasks)


def titles(request: Request) -> dict[str, str]:
    """Task id -> title, of the tasks on offer."""
    return {task_id: task.title for task_id, task in request.app.state.tasks.items()}


@router.get("/healthz")
def health() -> dict[str, str]:
    """Alive: answers as soon as the application does."""
    return {"status": "ok"}


@router.get("/")
def library(request: Request) -> Response:
    """The tasks, by suite."""
    with request.app.state.archive.database.read() as session:
        counts = count_by_task(session, with_waiting=sees_waiting(request))
    return render(request, "library.html", "Play", suites=request.app.state.suites, counts=counts, total=sum(counts.values()))


@router.get("/tasks/{suite}/{name}/picture.png")
def picture(request: Request, suite: str, name: str) -> Response:
    """A frame of the task's world, or what stands in for it while it is made: browsers open few connections to wait in."""
    task = find_task(request, f"{suite}/{name}")
    if not task.env.is_playable:
        raise HTTPException(404, f"{task.title} has no world to show: there are videos only.")
    path = request.app.state.pictures.path(task, within_s=PICTURE_WAIT_S)
    if path is None:
        headers = {"Cache-Control": "no-store", "Retry-After": "5"}
        return Response(placeholder(task.title), media_type="image/svg+xml", headers=headers)
    return FileResponse(path, media_type="image/png", headers={"Cache-Control": "public, max-age=3600"})


@router.get("/play/{suite}/{name}")
def play(request: Request, suite: str, name: str) -> Response:
    """Instructions, then the game."""
    task = find_task(request, f"{suite}/{name}")
    if not task.env.is_playable:
        raise HTTPException(404, f"{task.title} cannot be played: there are videos only, to judge.")
    home = next(one for one in request.app.state.suites if task in one.tasks)
    task_json = {
        "id": task.id,
        "title": task.title,
        "frame_rate_hz": task.frame_rate_hz,
        "time_limit_s": task.time_limit_s,
        "buttons": list(task.keys.buttons),
        "bindings": dict(task.keys.bindings),
        "labels": dict(task.keys.labels),
        "compose": task.keys.compose,
        "pointer": task.keys.pointer,
        "pointer_degrees": task.keys.pointer_degrees,
    }
    return render(request, "play.html", "Play", suite=home, task=task, task_json=task_json, key_rows=key_rows(task))


_WALK = ("forward", "left", "back", "right")


def key_rows(task: Task) -> list[tuple[str, str, list[str]]]:
    """Button, what it does, and the keys that press it; buttons without effect or without a key are left out."""
    keys = task.keys

    def names(button: str) -> list[str]:
        codes = [code for code, bound in keys.bindings.items() if bound == button]
        return [_KEY_NAMES.get(code, code.removeprefix("Key").removeprefix("Digit")) for code in codes]

    # The places of a hotbar make one row, unless the task has words for more of them than the first.
    hotbar = [button for button in keys.buttons if button.startswith("hotbar.")]
    if any(button in keys.labels for button in hotbar[1:]):
        hotbar = []
    # So do what turns the view, and where one walks in first person.
    turns = list(keys.turns) if keys.pointer is not None else []
    walk = [button for button in _WALK if button in keys.buttons] if turns else []
    rows = []
    if keys.pointer is not None:
        rows.append((keys.pointer, "look around", ["mouse", *(name for button in turns for name in names(button))]))
    if walk:
        rows.append((walk[0], "walk", [name for button in walk for name in names(button)]))
    for button in keys.buttons:
        label = keys.labels.get(button, button.lower().replace("_", " "))
        if button in turns or button in walk:
            continue
        if button not in hotbar:
            rows.append((button, label, names(button)))
        elif button == hotbar[0]:
            places = [name for one in hotbar for name in names(one)]
            span = [f"{places[0]} … {places[-1]}"] if len(places) > 2 else places
            rows.append((button, keys.labels.get(button, "hotbar"), [*span, "wheel"]))
    return [row for row in rows if row[1] != "no effect" and row[2]]


@router.get("/episodes")
def episodes(request: Request, task: str = "", actor: str = "", page: Annotated[int, Query(ge=1, le=100_000)] = 1) -> Response:
    """The catalogue, newest first."""
    with request.app.state.archive.database.read() as session:
        kept_back = hidden_tasks(request, session)
        wanted = EpisodeQuery(
            task=task or None,
            actor=actor or None,
            newest_first=True,
            limit=ROWS_PER_PAGE,
            with_waiting=sees_waiting(request),
            kept_back=kept_back,
            own=known_participant(request),
        )
        total = count_episodes(session, wanted)
        num_pages = max(1, math.ceil(total / ROWS_PER_PAGE))
        page = min(page, num_pages)
        rows = find_episodes(session, replace(wanted, offset=(page - 1) * ROWS_PER_PAGE))
        names = agent_names(session, with_waiting=wanted.with_waiting)
        task_ids = sorted(count_by_task(session, with_waiting=wanted.with_waiting))
    link = lambda number: "/episodes?" + urlencode({"task": task, "actor": actor, "page": number})  # noqa: E731
    return render(
        request, "episodes.html", "Episodes",
        rows=rows, total=total, wanted=wanted, names=names, task_ids=task_ids, titles=titles(request),
        page=page, num_pages=num_pages, link=link, kept_back=sorted(kept_back),
    )  # fmt: skip


@router.get("/episodes/{episode_id}")
def episode(request: Request, episode_id: str) -> Response:
    """One episode: its replay and its facts."""
    archive: Archive = request.app.state.archive
    found = archive.get(episode_id)
    check_shown(request, found)
    return render(request, "episode.html", "Episodes", episode=found, task=found.task, automatic=found.automatic)
