"""The pages of `explore`: scenes with milestones, which people and language models play."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import Response

from interplay.explore import published
from interplay.explore.evaluation.metrics import Result
from interplay.explore.instance import Instance
from interplay.explore.results.references import ORACLE
from interplay.tasks import Suite, Task
from interplay.web.agents.access import may_know
from interplay.web.explore.boards import board_of
from interplay.web.explore.runs import find_run
from interplay.web.graphs import graph
from interplay.web.http.forms import see_other
from interplay.web.http.identity import current_participant
from interplay.web.rendering import explore_suite, render
from interplay.web.services import services

router = APIRouter(include_in_schema=False, dependencies=[Depends(explore_suite)])

_TITLES = {published.SET: "Published with MineExplorer", published.PLANNED: "Made by the planner"}


@router.get("/explore")
def explore(request: Request) -> Response:
    return _page(request, None)


@router.get("/explore/boards/{name}")
def explore_board(request: Request, name: str) -> Response:
    return _page(request, board_of(request, name).name)


@router.get("/explore/tasks/{name}")
def explore_task(request: Request, name: str) -> Response:
    instance, runs = _find(request, name)
    task = instance.task()
    inside = may_know(request, task.id)
    return render(
        request, "explore_task.html", "Explore",
        task=task, num_hops=instance.num_hops, graph=graph(instance) if inside else None, runs=runs,
        proof=services(request).explore_results.references().proofs.get(task.content_hash),
        is_on_offer=task.id in services(request).tasks,
    )  # fmt: skip


@router.post("/explore/tasks/{name}/shown")
def explore_exposure(request: Request, name: str) -> Response:
    instance, _ = _find(request, name)
    services(request).explore_exposure.add(current_participant(request), instance.task().id, datetime.now(UTC))
    return see_other(f"/explore/tasks/{name}")


def _find(request: Request, name: str) -> tuple[Instance, list[Result]]:
    results, _ = services(request).explore_results.results()
    runs = [one for one in results if one.task == f"explore/{name}"]
    runs.sort(key=lambda one: (one.model, one.settings, one.epoch))
    found = published.instances().get(f"explore/{name}") or next(
        (made for one in runs if (made := find_run(request, one.run).instance) is not None), None
    )
    if found is None:
        raise HTTPException(404, f"There is no task {name[:60]!r}. The page Explore has all of them.")
    return found, runs


def _page(request: Request, name: str | None) -> Response:
    suite, boards = explore_suite(request), services(request).explore_results.boards()
    examples = services(request).examples
    is_example = examples.are_there and not boards
    boards = boards or examples.boards(request)
    board = next((one for one in boards if name in (None, one.name)), None)
    _, unreadable = services(request).explore_results.results()
    return render(
        request, "explore.html", "Explore", suite=suite, boards=boards, board=board, unreadable=unreadable,
        oracle=ORACLE, by_hops=by_hops, sets=_sets(suite), is_example=is_example,
    )  # fmt: skip


def by_hops(one: Mapping[str, Any]) -> dict[str, Any]:
    """The plot of a model's shares by hops; the oracle's are by proof, without an interval."""
    rows = []
    for hops, rates in one["by_hops"].items():
        ends = (None, None) if one["model"] == ORACLE else (rates["tsr"]["low"], rates["tsr"]["high"])
        rows.append((hops, rates["tsr"]["value"], *ends, rates["msr"]["value"]))
    columns = [("hops", ""), *((name, "share") for name in ("TSR", "95 % interval from", "to", "MSR"))]
    return {"kind": "hops", "columns": columns, "rows": rows}


def _sets(suite: Suite) -> list[tuple[str, list[Task]]]:
    known = {title: set(published.names(which)) for which, title in _TITLES.items()}
    found = [(title, [task for task in suite.tasks if task.id in ids]) for title, ids in known.items()]
    found.append(("Others", [task for task in suite.tasks if not any(task.id in ids for ids in known.values())]))
    return [(title, tasks) for title, tasks in found if tasks]
