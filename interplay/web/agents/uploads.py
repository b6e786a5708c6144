"""Uploads of videos: check whether a video may be sent, receive it into a file of limited size, and add it to its agent."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from interplay.errors import InterplayError
from interplay.files import is_disk_full
from interplay.judge.entrants import uploads
from interplay.store.entrants import state
from interplay.tasks import Task
from interplay.web.agents.access import check_own, holder, task_on_offer, viewer_of
from interplay.web.agents.documents import Uploaded
from interplay.web.http.refusals import refusal
from interplay.web.services import services

MAX_VIDEO_BYTES = 500 * 1024 * 1024
"""Largest size of one video, unless `create_app` sets another size."""
_WRITE_BYTES = 1024 * 1024
_COPIES = 2
"""Number of copies of a video on the disk during an upload: the received file and the stored file."""
_NO_ROOM = "the server has no space for this video; please tell its operator"


def check(request: Request, name: str, task_id: str, seed: int) -> tuple[Task, str | None]:
    """Return the task and the sender if this video may be sent. All checks are made before the first byte is read."""
    token = holder(request)
    task = task_on_offer(request, task_id)
    if seed not in task.held_out_seeds:
        listed = ", ".join(str(one) for one in task.held_out_seeds[:20])
        raise refusal(422, f"seed: {seed} is not a held-out seed of {task.id}; the held-out seeds are {listed}")
    rows = services(request).roster.get(name, viewer_of(request))
    check_own(rows, token)
    states = [state(row) for row in rows if row.task == task.id]
    if not states:
        raise refusal(404, f"{name} was not proposed for {task.id}; add the task with POST /api/agents")
    if states[0] == "withdrawn" or (states[0] == "approved" and token is not None):
        raise refusal(
            409, f"{name} is {states[0]} in {task.id}, and stays as it is; propose a changed agent under another name"
        )
    return task, token


@asynccontextmanager
async def received(request: Request, token: str | None) -> AsyncIterator[Path]:
    """Receive the request's body into a file, which is deleted when the block ends.

    A token may send only one video at a time, so that it cannot fill the disk; this does not hold for the operator.

    Raises:
        HTTPException: 413 if the video is too large, 429 during another upload of this token, 503 if the disk has no room.
    """
    receiving, own = services(request).receiving, set() if token is None else {token}
    if token in receiving:
        raise refusal(
            429, "the server is still receiving another video of yours; send the next one when that request has ended"
        )
    receiving |= own
    try:
        async with _in_a_file(request) as path:
            yield path
    finally:
        receiving -= own


def remove_unfinished(root: Path) -> None:
    for path in _folder(root).glob("*.mp4"):
        path.unlink(missing_ok=True)


def _folder(root: Path) -> Path:
    return root / "media" / "uploads"


@asynccontextmanager
async def _in_a_file(request: Request) -> AsyncIterator[Path]:
    limit = services(request).max_video_bytes
    too_large = f"the video is larger than {limit / 2**20:,.0f} MiB; make it shorter, or use a lower bit rate"
    claimed = request.headers.get("content-length", "0")
    if claimed.isdecimal() and int(claimed) > limit:
        raise refusal(413, too_large)
    folder = _folder(services(request).archive.root)
    path = folder / f"{secrets.token_hex(12)}.mp4"
    await run_in_threadpool(folder.mkdir, parents=True, exist_ok=True)
    coming = int(claimed) if claimed.isdecimal() and int(claimed) > 0 else limit
    if (await run_in_threadpool(shutil.disk_usage, folder)).free < _COPIES * coming:
        raise refusal(503, _NO_ROOM)
    try:
        num_bytes = 0
        with path.open("wb") as file:
            pending = bytearray()
            async for chunk in request.stream():
                num_bytes += len(chunk)
                if num_bytes > limit:
                    raise refusal(413, too_large)
                pending += chunk
                if len(pending) >= _WRITE_BYTES:
                    await run_in_threadpool(file.write, bytes(pending))
                    pending.clear()
            await run_in_threadpool(file.write, bytes(pending))
        yield path
    except OSError as error:
        if is_disk_full(error):
            raise refusal(503, _NO_ROOM) from None
        raise
    finally:
        path.unlink(missing_ok=True)


def add(request: Request, task: Task, name: str, seed: int, path: Path) -> Uploaded:
    """Make the video in a file an episode of this agent. Refuse it if its seed has a video (409) or if it is invalid (422)."""
    archive = services(request).archive
    try:
        episode = uploads.add_video(archive, task=task, agent=name, seed=seed, path=path)
    except InterplayError as error:
        if is_disk_full(error):
            raise refusal(503, _NO_ROOM) from None
        text = str(error).replace(str(path), "video.mp4").replace(path.name, "video.mp4")
        there = _seeds(request, name, task)
        # Folders of this machine are no business of the sender.
        raise refusal(
            409 if seed in there else 422, text if str(archive.root) not in text else text.partition("\n")[0]
        ) from None
    there = _seeds(request, name, task)
    missing = [one for one in task.held_out_seeds if one not in there]
    return Uploaded(agent=name, task=task.id, seed=seed, episode=episode, missing_seeds=missing)


def _seeds(request: Request, name: str, task: Task) -> set[int]:
    return {shown.seed for shown in services(request).roster.brought([name]).get((name, task.id), [])}
