"""One run of a language model: its page, and the data for the page's script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import JSONResponse, Response

from interplay.errors import NotFoundError
from interplay.explore import judgement_cache
from interplay.explore.evaluation.metrics import Result, result_of
from interplay.explore.evaluation.runs import Run
from interplay.explore.evaluation.settings import Settings
from interplay.explore.instance import Instance, Milestone
from interplay.explore.results.usage import calls_of
from interplay.record import Episode
from interplay.web.agents.access import check_not_judged, may_know
from interplay.web.pages import prepare
from interplay.web.rendering import explore_suite, render
from interplay.web.services import services

router = APIRouter(tags=["explore"], dependencies=[Depends(explore_suite)])


def find_run(request: Request, run: str) -> Run:
    """Return a run by its id.
    Raises HTTPException 404 if it is unknown, 403 or 404 if the visitor must not see it now; RunError for a broken file."""
    found = services(request).explore_results.run(run)
    if found is None:
        raise HTTPException(404, f"There is no run {run[:40]!r}. The boards on the page Explore link to all runs.")
    episode = _episode(request, found)
    if episode is not None:
        check_not_judged(request, episode)
    return found


def _episode(request: Request, run: Run) -> Episode | None:
    try:
        return services(request).archive.get((run.begin or {}).get("episode", ""))
    except NotFoundError:
        return None


@router.get("/explore/runs/{run}", include_in_schema=False)
def run_page(request: Request, run: str) -> Response:
    found = find_run(request, run)
    result, episode, instance = result_of(found), _episode(request, found), found.instance
    inside = may_know(request, result.task)
    settings = Settings(**found.header["settings"])
    board = next(
        (one.name for one in services(request).explore_results.boards() if one.table["key"] == result.settings), settings.label
    )
    return render(
        request, "explore_run.html", "Explore",
        run=run, result=result, settings=settings, board=board, episode=episode, instance=instance, inside=inside,
        milestones=_milestones(found, result, instance if inside else None, _oracle(request, result) if inside else {}),
        proof=_proof(request, result) if inside else None, has_seen="seen" in (found.end or found.failed or {}),
        is_on_offer=result.task in services(request).tasks,
        background=prepare(request, episode.path) if inside and episode is not None else None,
    )  # fmt: skip


@router.get("/api/explore/runs/{run}")
def run_json(request: Request, run: str) -> JSONResponse:
    """Show one run: calls (ticks, keys, words), milestones, path, items carried, and the values that rules compared.

    For people who may still play the task, `calls`, `path`, `seen`, `rules`, `targets`, `proof` and the milestones' names and
    oracle's ticks are null.
    """
    found = find_run(request, run)
    result, instance = result_of(found), found.instance
    inside = may_know(request, result.task)
    known = instance if inside else None
    milestones = _milestones(found, result, known, _oracle(request, result) if inside else {})
    facts = {
        name: getattr(result, name) for name in ("run", "task", "model", "seed", "epoch", "num_steps", "ended", "said_done")
    }
    document = facts | {
        "failed": result.why,
        "settings": found.header["settings"],
        "goal": None if instance is None else instance.task_text,
        "episode": result.episode,
        "milestones": milestones,
        "opens_at": _opens_at(milestones),
        "calls": [asdict(call) | {"is_refused": call.is_refused} for call in calls_of(found)] if inside else None,
        "path": (found.end or found.failed or {}).get("path") if inside else None,
        "seen": None if known is None else _seen(found),
        "rules": None if known is None else _rules(known, found),
        "targets": None if known is None else _targets(known, found),
        "proof": _proof(request, result) if inside else None,
    }
    return JSONResponse(document, headers={"Cache-Control": "no-store"})


def _numbers(run: Run) -> dict[str, int]:
    """Map each milestone's id to its number, lowest first; or to its place if the run's file does not contain the instance."""
    ids, instance = [one["id"] for one in run.header["milestones"]], run.instance
    if instance is None:
        return {name: number for number, name in enumerate(ids, 1)}
    numbers = {one.id: instance.numbers[one.task] for one in instance.milestones if one.id in ids}
    return dict(sorted(numbers.items(), key=lambda item: item[1]))


def _places(run: Run) -> dict[str, int]:
    """Map each milestone's id to its place in the order of numbers, from 1. Two milestones may share a number, not a place."""
    return {name: place for place, name in enumerate(_numbers(run), 1)}


def _milestones(run: Run, result: Result, instance: Instance | None, oracle: Mapping[str, int]) -> list[dict[str, Any]]:
    tasks = {} if instance is None else {one.id: one.task.replace("_", " ") for one in instance.milestones}
    places = _places(run)
    ticks: dict[str, int | None] = dict.fromkeys(result.at_start, 0)
    ticks |= {one.id: one.tick for one in result.outcomes}
    return [
        {"place": places[name], "number": number, "name": tasks.get(name), "tick": ticks[name], "oracle": oracle.get(name)}
        for name, number in _numbers(run).items()
        if name in ticks
    ]


def _seen(run: Run) -> list[dict[str, Any]] | None:
    """Return the changes by tick, as in `Game.seen`, with the places of milestones as keys; None for runs of old releases."""
    seen = (run.end or run.failed or {}).get("seen")
    if seen is None:
        return None
    places = _places(run)
    return [one | {"facts": {places[name]: facts for name, facts in one.get("facts", {}).items()}} for one in seen]


def _rules(known: Instance, run: Run) -> dict[int, list[dict[str, Any]]]:
    places = _places(run)
    return {places[one.id]: [asdict(rule) for rule in one.rules] for one in known.milestones if one.id in places}


def _proof(request: Request, result: Result) -> str | None:
    return services(request).explore_results.references().proofs.get(result.task_hash)


def _oracle(request: Request, result: Result) -> Mapping[str, int]:
    archive = services(request).archive
    episode = _proof(request, result)
    judgement = None if episode is None else judgement_cache.read(archive.root, episode, result.task_hash)
    return {} if judgement is None else judgement.reached


def _opens_at(milestones: Sequence[Mapping[str, Any]]) -> int:
    ticks = [one["tick"] for one in milestones]
    missed = ticks.index(None) if None in ticks else len(ticks)
    return max(ticks[:missed], default=0)


def _targets(instance: Instance, run: Run) -> list[dict[str, Any]]:
    """Return the targets of milestones as seen from above, in blocks relative to the cell where the player began."""
    numbers = _numbers(run)
    return [target for one in instance.milestones if one.id in numbers for target in _targets_of(numbers[one.id], one)]


def _targets_of(number: int, milestone: Milestone) -> list[dict[str, Any]]:
    found = []
    for rule in milestone.rules:
        if "target" in rule.params:
            x, _, z = rule.params["target"]
            found.append({"number": number, "low": [x, z], "high": [x + 1, z + 1], "within": rule.params.get("max_distance")})
        elif "min" in rule.params and "max" in rule.params:
            (x0, _, z0), (x1, _, z1) = rule.params["min"], rule.params["max"]
            found.append({"number": number, "low": [x0, z0], "high": [x1 + 1, z1 + 1], "within": None})
    return found
