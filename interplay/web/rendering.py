"""Render pages: the templates, their filters, and look-ups in the application."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fastapi import HTTPException, Request
from fastapi.responses import Response
from fastapi.templating import Jinja2Templates
from starlette.background import BackgroundTask

from interplay.envs.backends import to_install
from interplay.record import Episode
from interplay.store import EpisodeRow
from interplay.tasks import Suite, Task, lookup
from interplay.web.pictures import shipped_picture
from interplay.web.services import services
from interplay.wording import amount

templates = Jinja2Templates(directory=Path(__file__).parent / "templates")


def duration(seconds: float) -> str:
    """Return a length of time in words.

    >>> duration(600), duration(90), duration(20)
    ('10 min', '1 min 30 s', '20 s')
    """
    minutes, rest = divmod(round(seconds), 60)
    parts = [f"{minutes} min"] if minutes else []
    return " ".join(parts + ([f"{rest} s"] if rest or not minutes else []))


def limit(task: Task) -> str:
    """Return the limit of an episode of a task, in turns or as a time.

    >>> from interplay.tasks import find
    >>> limit(find("gymnasium/taxi")), limit(find("gymnasium/pendulum"))
    ('200 turns', '40 s')
    """
    return f"{task.max_steps} turns" if task.takes_turns else duration(task.time_limit_s)


def clock(seconds: float) -> str:
    """Return a length of time as m:ss.

    >>> clock(83.2)
    '1:23'
    """
    minutes, rest = divmod(math.floor(seconds), 60)
    return f"{minutes}:{rest:02d}"


def plain_number(value: float) -> str:
    """Return a number as people read it: without unnecessary decimals, with separated thousands.

    >>> plain_number(1240.0), plain_number(0.5)
    ('1,240', '0.5')
    """
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,.3g}"


def ago(instant: datetime) -> str:
    seconds = max(0.0, (datetime.now(UTC) - instant).total_seconds())
    for size, name in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{amount(int(seconds // size), name)} ago"
    return "just now"


def actor_name(held: Any) -> str:
    """Return the name of a player: people get a number; programs keep their own name, even in a person's seat."""
    name = held.actor.removeprefix("participant-")
    return f"person {name}" if held.actor_kind == "human" and name != held.actor else held.actor


def players(episode: EpisodeRow | Episode) -> str:
    names: dict[str, list[str]] = {}
    for held in episode.seats:
        names.setdefault(held.seat, []).append(actor_name(held))
    by_seat = {seat: ", then ".join(held) for seat, held in names.items()}
    if len(by_seat) < 2:
        return "".join(by_seat.values()) or actor_name(episode)
    return " and ".join(f"{held} ({seat.replace('_', ' ')})" for seat, held in by_seat.items())


def player_kinds(episode: EpisodeRow | Episode) -> list[str]:
    kinds = dict.fromkeys(held.actor_kind for held in episode.seats) or {episode.actor_kind: None}
    return ["person" if kind == "human" else kind for kind in kinds]


OUTCOMES = {
    "terminated": "game over",
    "time_limit": "time ran out",
    "quit": "finished early",
    "left": "player left",
    "interrupted": "interrupted",
}


def picture_address(task: Task) -> str:
    shipped = shipped_picture(task.id)
    return f"/tasks/{task.id}/picture.png" if shipped is None else f"/static/tasks/{shipped.name}"


templates.env.globals |= {"picture_address": picture_address, "to_install": to_install}  # type: ignore[dict-item]
templates.env.trim_blocks = templates.env.lstrip_blocks = True
_FILTERS: dict[str, Callable[..., Any]] = {
    "duration": duration,
    "limit": limit,
    "clock": clock,
    "amount": amount,
    "thousands": lambda value: f"{value:,}",
    "plain": plain_number,
    "ago": ago,
    "players": players,
    "player_kinds": player_kinds,
    "outcome": lambda name: OUTCOMES.get(name, name),
    "money": lambda cents: f"{cents / 100:,.2f}",
}
templates.env.filters |= _FILTERS


def render(
    request: Request,
    name: str,
    here: str,
    /,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    background: BackgroundTask | None = None,
    **context: Any,
) -> Response:
    """Render a page from its template; `here` is its entry in the main menu."""
    play = services(request).play
    context |= {"here": here, "recovering": 0 if play is None else play.num_recovering}
    return templates.TemplateResponse(request, name, context, status_code=status, headers=headers, background=background)


def find_task(request: Request, task_id: str) -> Task:
    return lookup(task_id, services(request).tasks)


def explore_suite(request: Request) -> Suite:
    suite = services(request).explore
    if suite is None:
        raise HTTPException(404, "This server does not offer the tasks of explore.")
    return suite


def titles(request: Request) -> dict[str, str]:
    return {task_id: task.title for task_id, task in services(request).tasks.items()}
