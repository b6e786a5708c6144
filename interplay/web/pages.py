"""The main pages. The scripts of these pages fetch games, replays and matches from the API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import FileResponse, Response
from starlette.background import BackgroundTask

from interplay import starter
from interplay.envs import backends
from interplay.envs.make import end_button, has_score
from interplay.explore import published
from interplay.learn.reward.storage import read_along
from interplay.play.games import agreement
from interplay.record.catalogue import episode_page, episodes_by_task
from interplay.store import EpisodeRow
from interplay.store.episodes import ACTOR_KINDS, EpisodeQuery
from interplay.store.participants import judge_name
from interplay.tasks import Task
from interplay.web.agents.access import check_shown, hidden_tasks, judged_now, may_know, may_know_players, visible_episodes
from interplay.web.http.identity import current_operator, known_participant
from interplay.web.http.refusals import refusal
from interplay.web.pictures import placeholder
from interplay.web.plots import reward_plot
from interplay.web.rendering import actor_name, find_task, render, titles
from interplay.web.services import services
from interplay.web.videos import video_response

router = APIRouter(include_in_schema=False)

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


_LOST = {"gym:FrozenLake-v1": "You fell into a hole in the ice."}
"""World -> explanation of a game that ended without a point, for worlds whose picture does not show the reason."""


@router.get("/healthz")
async def health(request: Request) -> dict[str, Any]:
    """Answer that the server is alive, also while every thread waits for the database. Say whether games have troubles.
    `recovering` is the number of games of a killed server that are not sealed yet."""
    play = services(request).play
    troubles = [] if play is None or play.pool.stopping else play.troubles
    recovering = {} if play is None or not play.num_recovering else {"recovering": play.num_recovering}
    return ({"status": "degraded", "troubles": troubles} if troubles else {"status": "ok"}) | recovering


@router.get("/")
def library(request: Request) -> Response:
    _expect(request, next((task for task in services(request).tasks.values() if backends.of(task).must_load), None))
    counts = episodes_by_task(services(request).archive.database, visible_episodes(request))
    server = services(request).play
    num_explored = sum(count for task, count in counts.items() if task.startswith("explore/"))
    return render(
        request, "library.html", "Play",
        suites=services(request).suites, counts=counts, num_explored=num_explored, total=sum(counts.values()),
        pause=services(request).pauses.of(None), waiting={} if server is None else server.waiting(),
    )  # fmt: skip


@router.get("/tasks/{suite}/{name}/picture.png")
def picture(request: Request, suite: str, name: str) -> Response:
    """Send a frame of the task's world, or a placeholder while it is made: a browser has few connections that can wait."""
    task = find_task(request, f"{suite}/{name}")
    if not task.env.is_playable:
        raise HTTPException(404, f"{task.title} has no preview picture, because its episodes are uploaded videos.")
    path = services(request).pictures.path(task, within_s=PICTURE_WAIT_S)
    if path is None:
        headers = {"Cache-Control": "no-store", "Retry-After": "5"}
        return Response(placeholder(task.title), media_type="image/svg+xml", headers=headers)
    return FileResponse(path, media_type="image/png", headers={"Cache-Control": "public, max-age=3600"})


@router.get("/starter/{suite}/{name}.mp4")
def starter_film(request: Request, suite: str, name: str) -> Response:
    shipped = starter.example(f"{suite}/{name}")
    if shipped is None or not shipped.film.is_file():
        raise HTTPException(404, f"Interplay has no example video {suite}/{name}")
    return video_response(request, shipped.film, {"Cache-Control": "public, max-age=3600"})


@router.get("/play/{suite}/{name}")
def play(request: Request, suite: str, name: str) -> Response:
    task = find_task(request, f"{suite}/{name}")
    if not task.env.is_playable:
        raise HTTPException(404, f"You cannot play {task.title}. It has only videos to judge.")
    return game_page(request, task, "Play")


def game_page(
    request: Request, task: Task, here: str, /, *, headers: Mapping[str, str] | None = None, **context: Any
) -> Response:
    _expect(request, task)
    home = next(one for one in services(request).suites if task in one.tasks)
    task_json = {
        "id": task.id,
        "title": task.title,
        "frame_rate_hz": task.frame_rate_hz,
        "time_limit_s": task.time_limit_s,
        "buttons": list(task.keys.buttons),
        "bindings": _bindings(task),
        "key_names": _KEY_NAMES,
        "labels": dict(task.keys.labels),
        "compose": task.keys.compose,
        "pointer": task.keys.pointer,
        "pointer_degrees": task.keys.pointer_degrees,
        "axes": task.keys.to_json().get("axes", []),
        "takes_turns": task.takes_turns,
        "max_steps": task.max_steps,
        "turns": {button: list(turn) for button, turn in task.keys.turns.items()},
        "ends": end_button(task),
        "has_score": has_score(task),
        "sends_scenes": backends.of(task).sends_scenes,
        "statistics": [one.to_json() for one in services(request).archive.collected(task)],
    }
    context: dict[str, Any] = {"study": None, "school_class": None, "me": None, "title": task.title} | context
    server = services(request).play
    is_open = len(task.seats) > 1 and not context["study"] and not context["school_class"]
    partner = server.partner(task) if server is not None and is_open else None
    task_json |= {"partner": partner, "may_invite": is_open, "lost": _LOST.get(task.env.id)}
    context |= {"suite": home, "task": task, "task_json": task_json, "key_rows": key_rows(task)}
    context["has_scores"] = has_score(task) and len(task.seats) == 1 and home.id != "explore"
    return render(request, "play.html", here, headers=headers, **context)


def _expect(request: Request, task: Task | None) -> None:
    play = services(request).play
    if play is not None and task is not None:
        play.soon(task)


def _bindings(task: Task) -> dict[str, str]:
    """Return the button of each key. In first-person games Ctrl also sprints, as players expect, if the key is free."""
    runs = task.keys.pointer is not None and {"forward", "sprint"} <= set(task.keys.buttons)
    return dict.fromkeys(("ControlLeft", "ControlRight") if runs else (), "sprint") | dict(task.keys.bindings)


_WALK = ("forward", "left", "back", "right")


def key_rows(task: Task) -> list[tuple[str, str, list[str]]]:
    keys, bindings = task.keys, _bindings(task)

    def names(button: str) -> list[str]:
        codes = [code for code, bound in bindings.items() if bound == button and code != "ControlRight"]
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
    for axis in keys.axes:
        way = "sideways" if axis.pointer == "x" else "up and down"
        rows.append((axis.pointer, f"{way}: direction and strength", ["mouse"]))
    if walk:
        rows.append((walk[0], "walk", [name for button in walk for name in names(button)]))
    for button in keys.buttons:
        label = keys.labels.get(button, button.lower().replace("_", " "))
        if button in turns or button in walk:
            continue
        if button == "sprint" and walk:
            label += ", or press forward twice"
        if button not in hotbar:
            rows.append((button, label, names(button)))
        elif button == hotbar[0]:
            places = [name for one in hotbar for name in names(one)]
            span = [f"{places[0]} … {places[-1]}"] if len(places) > 2 else places
            rows.append((button, keys.labels.get(button, "hotbar"), [*span, "wheel"]))
    return [row for row in rows if row[1] != "no effect" and row[2]]


@router.get("/episodes")
def episodes(request: Request, task: str = "", actor: str = "", page: Annotated[int, Query(ge=1, le=100_000)] = 1) -> Response:
    kept_back, judged = hidden_tasks(request), judged_now(request)
    own, is_operator = known_participant(request), current_operator(request)
    wanted = replace(visible_episodes(request), task=task or None, actor=actor or None, newest_first=True, kept_back=kept_back)
    shown = episode_page(services(request).archive.database, wanted, page, ROWS_PER_PAGE)
    rebuilt = next((row for row in shown.rows if row.frames == "replay"), None)
    link = lambda number: "/episodes?" + urlencode({"task": task, "actor": actor, "page": number})  # noqa: E731
    return render(
        request, "episodes.html", "Episodes",
        rows=shown.rows, total=shown.total, wanted=wanted, names=shown.actors, task_ids=shown.tasks, titles=titles(request),
        scoreless={task_id for task_id, one in services(request).tasks.items() if not has_score(one)},
        page=shown.page, num_pages=shown.num_pages, link=link, judged_now=sorted(judged), has_secrets=kept_back - judged,
        own_name=None if own is None else judge_name(own),
        is_operator=is_operator, download=_download(wanted) if is_operator else None,
        lengths=game_lengths(shown.rows, services(request).tasks),
        background=None if rebuilt is None else prepare(request, services(request).archive.root / rebuilt.path),
    )  # fmt: skip


def _download(wanted: EpisodeQuery) -> str:
    if wanted.actor is None:
        return ""
    return f"seat.{'actor_kind' if wanted.actor in ACTOR_KINDS else 'actor'} = {wanted.actor}"


@router.get("/episodes/{episode_id}")
def episode(request: Request, episode_id: str) -> Response:
    archive = services(request).archive
    found = archive.get(episode_id)
    check_shown(request, found)
    if not may_know_players(request, found):
        message = "this game belongs to a study whose people are not told who is an agent; you see it when the study is closed"
        raise refusal(403, message, code="study_is_blind")
    return render(
        request,
        "episode.html",
        "Episodes",
        background=prepare(request, found.path) if found.frame_policy == "replay" else None,
        episode=found,
        task=found.task,
        check=found.outcome_check,
        statistics=archive.readable_measures(found),
        holders=[f"{actor_name(held)}, {held.seat.replace('_', ' ')}" for held in found.seats],
        has_score=has_score(found.task),
        rewards=[reward_plot(along, found.num_steps) for along in read_along(archive.root, found.id)],
        has_milestones=found.task_id in published.instances() and may_know(request, found.task_id),
        run=services(request).explore_results.of_episode(found.id) if found.task.suite == "explore" else None,
        said=agreement.said(archive.database, episode_id=found.id, participant_id=known_participant(request)),
    )


def game_lengths(rows: Sequence[EpisodeRow], tasks: Mapping[str, Task]) -> dict[str, float]:
    """Map each episode's id to the length of its replay in seconds, by the recording's clock if its task is not on offer."""
    return {row.id: row.num_steps / tasks[row.task].frame_rate_hz if row.task in tasks else row.duration_s for row in rows}


def prepare(request: Request, path: Path) -> BackgroundTask:
    """Load the world of an episode that is about to be watched, because the first world of a kind takes seconds to load."""
    return BackgroundTask(services(request).drawer.prepare, path)
