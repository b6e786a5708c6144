"""Show the milestones reached in episodes of `explore`. Milestones reveal a task, so only some visitors may see them."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import JSONResponse

from interplay.explore import judgement_cache, published
from interplay.explore.instance import Instance
from interplay.explore.judgement_cache import Judgement
from interplay.play.background.films import LATER, NOW
from interplay.tasks import Task
from interplay.web.agents.access import check_shown
from interplay.web.http.refusals import refusal
from interplay.web.services import services

router = APIRouter(tags=["episodes"])

WAIT_S = 1.0
"""Seconds to wait for milestones, so that milestones that are found quickly are sent at once."""


def task_document(task: Task) -> dict[str, Any]:
    """Return the public facts of a task. For tasks of `explore`, leave out the options that build (and reveal) the scene."""
    document = task.to_json()
    if task.suite == "explore":
        document["env"]["options"] = {}
    return document | {"hash": task.content_hash}


@router.get(
    "/api/episodes/{episode_id}/milestones",
    responses={202: {"description": "The server is still playing the episode again. The answer says how far it is."}},
)
def milestones(request: Request, episode_id: str) -> JSONResponse:
    """Show which milestones an episode of `explore` reached, and when; `tick` and `second` are null for those not reached.
    People who may still play the task are refused (403), since milestones reveal it. The answer is 202 until they are known."""
    archive = services(request).archive
    if len(episode_id) > 200:
        raise HTTPException(404, "this episode name is too long")
    episode = archive.get(episode_id)
    check_shown(request, episode)
    instance = published.instances().get(episode.task_id)
    if instance is None:
        raise refusal(404, f"{episode.task_id} has no milestones")
    queue = services(request).milestones
    _ = episode.header  # a recording that is missing or damaged is told at once
    queue.wanted(episode.id, LATER if queue.progress(episode.id).state == "failed" else NOW)
    progress = queue.wait(episode.id, WAIT_S)
    if progress.state == "failed":
        raise refusal(409, progress.reason.partition("\n")[0])
    judgement = judgement_cache.read(archive.root, episode.id)
    if judgement is None:
        how_far = {"episode": episode.id, "state": progress.state, "share": round(progress.share, 3)}
        return JSONResponse(how_far, 202, {"Cache-Control": "no-store", "Retry-After": "1"})
    document = {"episode": episode.id, "task": episode.task_id, "semantics": judgement.semantics}
    rows = in_order(instance, judgement, episode.task.frame_rate_hz)
    return JSONResponse(document | {"milestones": rows}, headers={"Cache-Control": "no-store"})


def in_order(instance: Instance, judgement: Judgement, frame_rate_hz: float) -> list[dict[str, Any]]:
    numbers = instance.numbers
    judged = [one for one in instance.milestones if one.id in judgement.milestones]
    rows = []
    for one in sorted(judged, key=lambda one: numbers[one.task]):
        tick = judgement.reached.get(one.id)
        text = one.task.replace("_", " ")
        second = None if tick is None else tick / frame_rate_hz
        rows.append({"id": one.id, "text": text[:1].upper() + text[1:], "tick": tick, "second": second})
    return rows
