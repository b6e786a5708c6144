"""Tasks and recorded episodes for programs: facts, frames as docs/protocol.md says, and the video file."""

from __future__ import annotations

import struct
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import FileResponse, Response

from interplay.play.codec import FrameEncoder, palette_text
from interplay.play.wire import LAST_FRAME
from interplay.record import Archive, Episode
from interplay.web.agent_access import check_shown
from interplay.web.videos import video_response

router = APIRouter(tags=["episodes"])

MAX_FRAMES = 600
_LENGTH = struct.Struct("<I")
_FOREVER = "private, max-age=31536000, immutable"
"""A sealed episode never changes."""


@router.get("/api/tasks")
def list_tasks(request: Request) -> list[dict[str, Any]]:
    """Every task on offer, whole."""
    return [task.to_json() | {"hash": task.content_hash} for suite in request.app.state.suites for task in suite.tasks]


@router.get("/api/episodes/{episode_id}")
def show_episode(request: Request, episode_id: str) -> dict[str, Any]:
    """Facts of one episode, and the size of its frames, null of a video only. People stand there as `actor`, numbered, not
    named."""
    episode = _episode(request, episode_id)
    height, width = (None, None) if episode.is_video_only else episode.frames[0].pixels.shape[:2]
    facts = episode.to_json()
    facts.pop("participant_id")  # `actor` says it
    return facts | {
        "title": episode.task.title,
        "frame_rate_hz": episode.task.frame_rate_hz,
        "num_frames": episode.num_steps + 1,
        "width": width,
        "height": height,
        "sha256": episode.sha256,
    }


@router.get("/api/episodes/{episode_id}/frames", response_class=Response)
def episode_frames(
    request: Request,
    episode_id: str,
    start: Annotated[int, Query(ge=0)] = 0,
    count: Annotated[int, Query(ge=1, le=MAX_FRAMES)] = MAX_FRAMES,
) -> Response:
    """Frames `start` to `start + count - 1`, each with its length before it, the first a key frame."""
    episode = _episode(request, episode_id)
    if episode.is_video_only:
        raise HTTPException(409, f"episode {episode.id} is a video only; get it whole at /api/episodes/{episode.id}/video.mp4")
    body, palette = encode_frames(episode, start, min(start + count, len(episode.frames)))
    headers = {"Cache-Control": _FOREVER}
    if palette is not None:
        headers["X-Palette"] = palette
    return Response(body, media_type="application/octet-stream", headers=headers)


@router.get("/api/episodes/{episode_id}/video.mp4", response_class=FileResponse)
def episode_video(request: Request, episode_id: str) -> Response:
    """The episode as mp4, made when asked for the first time."""
    episode = _episode(request, episode_id)
    if episode.is_video_only and not episode.path.exists():
        raise HTTPException(404, f"the video of episode {episode.id} is not here")
    path = request.app.state.archive.video(episode)
    name = f"{episode.task_id.replace('/', '-')}-{episode.id}.mp4"
    return video_response(request, path, {"Cache-Control": _FOREVER}, filename=name)


def encode_frames(episode: Episode, start: int, stop: int) -> tuple[bytes, str | None]:
    """Frame messages of an episode, joined, and their palette in base64.

    One palette serves all of them: colours that a world shows later are only ever added to it, so it is read at the end.
    """
    if start >= stop:
        return b"", None
    rewards = episode.rewards()
    rate = episode.task.frame_rate_hz
    parts: list[bytes] = []
    encoder: FrameEncoder | None = None
    palette = None
    for step, frame in enumerate(episode.frames.range(start, stop), start=start):
        encoder = encoder or FrameEncoder(frame)
        message = encoder.encode(
            frame,
            step=step,
            time_ms=round(1000 * step / rate),
            reward=float(rewards[step - 1]) if step else 0.0,
            flags=LAST_FRAME if step == episode.num_steps else 0,
        )
        parts += [_LENGTH.pack(len(message)), message]
        palette = encoder.palette if encoder.palette is not None else palette
    return b"".join(parts), palette_text(palette)


def _episode(request: Request, episode_id: str) -> Episode:
    archive: Archive = request.app.state.archive
    if len(episode_id) > 200:
        raise HTTPException(404, "no episode has so long a name")
    episode = archive.get(episode_id)
    check_shown(request, episode)
    return episode
