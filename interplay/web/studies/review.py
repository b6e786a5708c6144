"""Pages for reviewing instances in a study: the scene, its text, its proof, and the form. All need the person's token.

No page reveals who or what made an instance: addresses of pictures and films contain only the place in the visit.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import FileResponse, JSONResponse, Response

from interplay.explore import views
from interplay.explore.instance import Instance, parse
from interplay.explore.results.references import recorded_proof
from interplay.explore.rules import in_words
from interplay.play.background.films import NOW, SOON
from interplay.record import Archive
from interplay.store import Enrolment
from interplay.study.enrolment import next_step
from interplay.study.errors import FormError
from interplay.study.review.part import QUESTIONS
from interplay.study.review.reviews import NO, VERDICT, YES, Served
from interplay.web.graphs import graph
from interplay.web.http.forms import FormFields, see_other, sentence
from interplay.web.services import services
from interplay.web.studies.enrolments import PARAMETER, end_address, facts_of, next_address, token_of
from interplay.web.studies.pages import Enrolled, page
from interplay.web.videos import video_response

router = APIRouter(include_in_schema=False)

_VIEW_WORDS = {views.FIRST_PERSON: "First view of the player", views.OVERHEAD: "From above"}
_VIEWS = {view.replace(" ", "-"): view for view in views.VIEWS}
"""Name of a view in addresses -> its name in `views`."""
_KEEP = {"Cache-Control": "private, max-age=3600"}
FILM_WAIT_S = 1.0


@router.get("/studies/{study}/review")
def review(request: Request, enrolment: Enrolled) -> Response:
    study = services(request).studies.version(enrolment.study_hash)
    if study.review is None or next_step(facts_of(request, enrolment)) != "work":
        return see_other(next_address(request, enrolment))
    served = services(request).reviews.serve(enrolment)
    return see_other(end_address(request, enrolment)) if served is None else _page(request, enrolment, served, _before(served))


@router.get("/studies/{study}/review/{place}")
def review_again(request: Request, enrolment: Enrolled, place: int) -> Response:
    served = _served(request, enrolment, place)
    if served is None:
        return see_other(next_address(request, enrolment))
    return _page(request, enrolment, served, _before(served))


@router.post("/studies/{study}/review/{place}")
def answer(request: Request, enrolment: Enrolled, place: int, given: FormFields) -> Response:
    served = _served(request, enrolment, place)
    if served is None:
        return see_other(next_address(request, enrolment))
    try:
        services(request).reviews.answer(enrolment, place, given)
    except FormError as error:
        return _page(request, enrolment, served, given, sentence(str(error)))
    return see_other(next_address(request, enrolment))


@router.get("/studies/{study}/review/{place}/{view}.png")
def picture(request: Request, enrolment: Enrolled, place: int, view: str) -> Response:
    instance = _instance(_shown(request, enrolment, place))
    if view not in _VIEWS:
        raise HTTPException(404, f"there is no view {view[:40]!r}; there are {', '.join(_VIEWS)}")
    from interplay.explore.make import sandbox

    return FileResponse(sandbox.picture_of(services(request).archive.root, instance, _VIEWS[view]), headers=_KEEP)


@router.get("/studies/{study}/review/{place}/proof.mp4")
def proof(request: Request, enrolment: Enrolled, place: int) -> Response:
    served = _shown(request, enrolment, place)
    archive = services(request).archive
    episode, _ = _proof_of(archive, served)
    if episode is None:
        raise HTTPException(404, "there is no recorded proof of this task on this server")
    if not archive.has_video(episode):
        films = services(request).films
        _ = archive.get(episode).header  # a recording that is missing or damaged is told at once
        films.wanted(episode, NOW)
        progress = films.wait(episode, FILM_WAIT_S)
        if progress.state == "failed":
            raise HTTPException(409, progress.reason.partition("\n")[0])
        if progress.state != "made":
            return JSONResponse({"state": progress.state, "share": round(progress.share, 3)}, 202, {"Retry-After": "1"})
    return video_response(request, archive.video_path(episode), _KEEP)


def _served(request: Request, enrolment: Enrolment, place: int) -> Served | None:
    if next_step(facts_of(request, enrolment)) != "work":
        return None
    is_review = services(request).studies.version(enrolment.study_hash).review is not None
    served = services(request).reviews.get(enrolment, place) if is_review else None
    if served is None:
        raise HTTPException(404, "you have not been shown a task at this place of your visit")
    return served


def _shown(request: Request, enrolment: Enrolment, place: int) -> Served:
    served = _served(request, enrolment, place)
    if served is None:
        raise HTTPException(403, "this visit shows no more tasks; continue the study to see why")
    return served


def _before(served: Served) -> dict[str, str]:
    if served.answers is None:
        return {}
    words = {name: YES if yes else NO for name, yes in served.answers.items()}
    return words | {VERDICT: YES if served.is_valid else NO, "why": served.why or ""}


def _instance(served: Served) -> Instance:
    """Return the instance without proofs and source, which pages must hide: all edges look alike, whatever a proof found."""
    return dataclasses.replace(parse(dict(served.document)), source={}, proofs=())


def _proof_of(archive: Archive, served: Served) -> tuple[str | None, Mapping[str, Any]]:
    """Return the episode of a proof that was recorded here, and the ticks at which it reached each milestone.
    Without such an episode, return None and the ticks of the instance's last proof."""
    instance = parse(dict(served.document))
    said = instance.proofs[-1].get("milestones", {}) if instance.proofs else {}
    return recorded_proof(archive, instance) or (None, said)


def _page(request: Request, enrolment: Enrolment, served: Served, given: dict[str, str], problem: str = "") -> Response:
    from interplay.explore.make import sandbox

    study, facts = services(request).studies.version(enrolment.study_hash), facts_of(request, enrolment)
    archive = services(request).archive
    instance = _instance(served)
    episode, ticks = _proof_of(archive, served)
    if episode is not None and not archive.has_video(episode):
        services(request).films.wanted(episode, SOON)
    query = urlencode({PARAMETER: token_of(request, enrolment)})
    shown = [(name, _VIEW_WORDS.get(view, f"From the {view}")) for name, view in _VIEWS.items()]
    return page(
        request, "review.html", 422 if problem else 200,
        study=study, served=served, query=query, problem=problem, given=given, questions=QUESTIONS,
        goal=" ".join(instance.task_text.split()), carried=sandbox.about_scene(archive.root, instance)["carried"],
        views=shown, graph=graph(instance), milestones=_milestones(instance), has_proof=episode is not None,
        reached=_reached(instance, ticks), wanted=facts.num_wanted, num_done=facts.num_answers,
    )  # fmt: skip


def _milestones(instance: Instance) -> list[dict[str, str]]:
    by_number = sorted(instance.milestones, key=lambda one: instance.numbers[one.task])
    return [
        {
            "task": _words(one.task),
            "rules": " and ".join(map(in_words, one.rules)) or "nothing says when",
            "description": one.description,
        }
        for one in by_number
    ]


def _reached(instance: Instance, ticks: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = [(ticks[one.id], one.task) for one in instance.milestones if isinstance(ticks.get(one.id), int)]
    return [{"task": _words(task), "second": f"{tick / 20:.1f}"} for tick, task in sorted(found)]


def _words(task: str) -> str:
    text = task.replace("_", " ")
    return text[:1].upper() + text[1:]
