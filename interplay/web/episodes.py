"""Tasks and recorded episodes for programs: their facts, their frames (see docs/protocol.md), and the video file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi.responses import FileResponse, JSONResponse, Response
from starlette.types import Receive, Scope, Send

from interplay.envs import backends
from interplay.play import tables
from interplay.play.background.drawer import DrawerBusyError, DrawnFrames
from interplay.play.background.films import LATER, NOW, FilmProgress
from interplay.play.connections.frame_list import FrameList
from interplay.record import Episode, RecordingError
from interplay.record.sealed.episode import missing
from interplay.web.agents.access import check_shown, may_know_players
from interplay.web.explore.milestones import task_document
from interplay.web.http.identity import current_operator
from interplay.web.services import services
from interplay.web.videos import video_response

router = APIRouter(tags=["episodes"])

MAX_FRAMES = 600
FILM_WAIT_S = 1.0
"""Seconds to wait for a film, so that a film that is made quickly is sent at once."""
_FOREVER = "private, max-age=31536000, immutable"
"""Cache-Control of sealed episodes, which never change."""
_NEVER = "no-store"
"""Cache-Control of data for drawing in browsers, which fit one release only; some are for the operator alone."""


@router.get("/api/tasks")
def list_tasks(request: Request) -> list[dict[str, Any]]:
    """List all tasks with their settings; tasks of `explore` without the settings that build the scene."""
    return [task_document(task) for suite in services(request).suites for task in suite.tasks]


@router.get("/api/episodes/{episode_id}")
def show_episode(request: Request, episode_id: str) -> dict[str, Any]:
    """Show the facts of one episode and the size of its frames (null if it is only a video). `actor` is a person's
    number, not their name; it is left out while a blind study of that game is open. `has_scenes` says whether your browser
    may draw it, from `/scenes` and `/land`."""
    episode = _episode(request, episode_id)
    height, width = (None, None) if episode.is_video_only else (episode.header.height, episode.header.width)
    facts = episode.to_json()
    del facts["participant_id"]  # `actor` says it
    facts["held"] = [{key: value for key, value in held.items() if key != "participant_id"} for held in facts.pop("seats")]
    if not may_know_players(request, episode):
        del facts["actor"], facts["actor_kind"]
        facts["held"] = [{"seat": seat} for seat in dict.fromkeys(held["seat"] for held in facts["held"])]
    return facts | {
        "title": episode.task.title,
        "frame_rate_hz": episode.task.frame_rate_hz,
        "num_frames": episode.num_steps + 1,
        "width": width,
        "height": height,
        "has_scenes": _has_scenes(request, episode),
        "hides_land": _hides_land(request, episode),
        "sha256": episode.sha256,
        "outcome_check": episode.outcome_check,
    }


def _asked(
    start: Annotated[int, Query(ge=0)] = 0,
    count: Annotated[int, Query(ge=1, le=MAX_FRAMES)] = MAX_FRAMES,
    every: Annotated[int, Query(ge=1, le=MAX_FRAMES)] = 1,
) -> range:
    return range(start, start + count * every, every)


Asked = Annotated[range, Depends(_asked)]
"""Requested steps of an episode, perhaps beyond its end."""


def _within(episode: Episode, asked: range) -> range:
    return range(asked.start, min(asked.stop, episode.num_steps + 1), asked.step)


@router.get("/api/episodes/{episode_id}/frames", response_class=Response)
def episode_frames(request: Request, episode_id: str, asked: Asked) -> Response:
    """Get up to `count` frames from step `start` on, one for each `every`-th step. Each has its length before it;
    the first is a key frame. If the world must be played again for them, the drawing stops when you close the connection.
    """
    episode = _episode(request, episode_id)
    if episode.is_video_only:
        raise HTTPException(409, f"episode {episode.id} is a video only; get it whole at /api/episodes/{episode.id}/video.mp4")
    steps = _within(episode, asked)
    if episode.frame_policy == "replay" and steps:
        _ = episode.header  # a recording that is missing or damaged is told at once
        drawer = services(request).drawer
        return _Drawn(lambda: drawer.draw(episode.path, steps), _FOREVER)
    frames = FrameList(episode)
    if steps.step == 1:
        for step, frame in enumerate(episode.frames.range(steps.start, steps.stop), start=steps.start):
            frames.add(step, frame)
    else:
        for step in steps:
            frames.add(step, episode.frames[step])
    return _frames(DrawnFrames(frames.body, frames.palette), _FOREVER)


@router.get("/api/episodes/{episode_id}/scenes", response_class=Response)
def episode_scenes(
    request: Request,
    episode_id: str,
    asked: Asked,
    seat: Annotated[str | None, Query(max_length=100)] = None,
) -> Response:
    """Get what a browser that has the land needs to draw steps of an episode as they were seen from a seat: scene frames, one
    for each `every`-th step, each with its length before it. The first needs nothing but the land.
    """
    episode = _with_scenes(request, episode_id)
    steps = _within(episode, asked)
    seats = episode.task.seats
    if seat is not None and seat not in seats:
        raise HTTPException(404, f"this game has the seats {', '.join(seats)}, got {seat!r}")
    drawer = services(request).drawer
    return _Drawn(lambda: drawer.draw(episode.path, steps, seat=seat or seats[0])) if steps else _frames(DrawnFrames(b""))


@router.get("/api/episodes/{episode_id}/land", response_class=Response)
def episode_land(request: Request, episode_id: str) -> Response:
    """Get the land of an episode as it was before anybody was in it: land frames, each with its length before it. The header
    `X-Tables` names the file that draws it.
    """
    episode = _with_scenes(request, episode_id)
    drawer = services(request).drawer
    return _Drawn(lambda: drawer.land(episode.path, services(request).archive.root))


def _with_scenes(request: Request, episode_id: str) -> Episode:
    episode = _episode(request, episode_id)
    if not _has_scenes(request, episode):
        where = f"/api/episodes/{episode.id}/frames"
        raise HTTPException(409, f"browsers do not draw episode {episode.id} for you; get its pictures at {where}")
    return episode


def _has_scenes(request: Request, episode: Episode) -> bool:
    """Whether a browser may draw the episode. Land that players had to explore is sent to the operator only."""
    backend = backends.of(episode.task)
    return episode.frame_policy == "replay" and backend.sends_scenes and not _hides_land(request, episode)


def _hides_land(request: Request, episode: Episode) -> bool:
    """Whether players had to explore the land, so that pictures must show this visitor no more than the player saw."""
    return backends.of(episode.task).hides_land(episode.task) and not current_operator(request)


def _frames(drawn: DrawnFrames, cache: str = _NEVER) -> Response:
    headers = {"Cache-Control": cache}
    if drawn.palette is not None:
        headers["X-Palette"] = drawn.palette
    if drawn.tables is not None:
        headers["X-Tables"] = tables.address(drawn.tables)
    return Response(drawn.body, media_type="application/octet-stream", headers=headers)


class _Drawn(Response):
    """An answer whose frames are still being drawn. No thread waits for it, and it is dropped if the visitor disconnects.

    Args:
        draw: Requests the frames.
        cache: Value of the header Cache-Control.
    """

    def __init__(self, draw: Callable[[], Coroutine[Any, Any, DrawnFrames]], cache: str = _NEVER) -> None:
        super().__init__()
        self._draw, self._cache = draw, cache

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        drawn = asyncio.ensure_future(self._draw())
        gone = asyncio.ensure_future(_until_gone(receive))
        try:
            await asyncio.wait((drawn, gone), return_when=asyncio.FIRST_COMPLETED)
            if not drawn.done():
                return
            try:
                response = _frames(drawn.result(), self._cache)
            except DrawerBusyError as error:
                raise HTTPException(503, str(error), {"Retry-After": "3"}) from None
            await response(scope, receive, send)
        finally:
            drawn.cancel()
            gone.cancel()


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


@router.get("/api/episodes/{episode_id}/drawing")
def drawing(request: Request, episode_id: str) -> Response:
    """Show how far the server has replayed this episode to draw its frames: `share`, 0 to 1, or null if it draws none."""
    episode = _episode(request, episode_id)
    return JSONResponse({"share": services(request).drawer.share(episode.place)}, headers={"Cache-Control": "no-store"})


@router.get(
    "/api/episodes/{episode_id}/video.mp4",
    response_class=FileResponse,
    responses={
        202: {
            "description": "The server is still making it. The answer says how far it is.",
            "content": {"application/json": {}},
        }
    },
)
def episode_video(request: Request, episode_id: str) -> Response:
    """Get the episode as mp4. If it does not exist yet, the server makes it in the background: the answer is 202, says
    how far it is, and when to ask again."""
    episode = _episode(request, episode_id)
    archive = services(request).archive
    is_made = archive.has_video(episode.id) and archive.video_path(episode.id).exists()
    if episode.is_video_only and not is_made:
        raise HTTPException(404, f"the video of episode {episode.id} is not on this server")
    if not is_made:
        films = services(request).films
        _ = episode.header  # a recording that cannot be read is told at once
        films.wanted(episode.id)
        progress = films.wait(episode.id, FILM_WAIT_S)
        if progress.state == "failed":
            raise RecordingError(progress.reason)
        if progress.state != "made":
            return JSONResponse(_film(episode, progress), 202, {"Cache-Control": "no-store", "Retry-After": "1"})
    name = f"{episode.task_id.replace('/', '-')}-{episode.id}.mp4"
    return video_response(request, archive.video_path(episode.id), {"Cache-Control": _FOREVER}, filename=name)


@router.post("/api/episodes/{episode_id}/film")
def film(request: Request, episode_id: str) -> JSONResponse:
    """Ask the server to make the episode's mp4, and see how far it is: `made`, `waiting`, `making`, `held` (while people
    play) or `failed`. The answer comes at once; ask again for news."""
    episode = _episode(request, episode_id)
    films = services(request).films
    if not episode.is_video_only and episode.is_lost:
        raise missing(episode.place)
    films.wanted(episode.id, LATER if films.progress(episode.id).state == "failed" else NOW)
    return JSONResponse(_film(episode, films.progress(episode.id)), headers={"Cache-Control": "no-store"})


@router.delete("/api/episodes/{episode_id}/film")
def no_film(request: Request, episode_id: str) -> JSONResponse:
    """Stop waiting for the episode's mp4. Videos that somebody waits for are made first."""
    episode = _episode(request, episode_id)
    films = services(request).films
    films.later(episode.id)
    return JSONResponse(_film(episode, films.progress(episode.id)), headers={"Cache-Control": "no-store"})


def _film(episode: Episode, progress: FilmProgress) -> dict[str, Any]:
    return {"episode": episode.id, "state": progress.state, "share": round(progress.share, 3)}


def _episode(request: Request, episode_id: str) -> Episode:
    archive = services(request).archive
    if len(episode_id) > 200:
        raise HTTPException(404, "this episode name is too long")
    episode = archive.get(episode_id)
    check_shown(request, episode)
    return episode
