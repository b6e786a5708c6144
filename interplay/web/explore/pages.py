"""The pages of `explore`: scenes with milestones, which people and language models play, and leaderboards of models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import Response

from interplay.explore import published
from interplay.explore.evaluation.metrics import Result
from interplay.explore.instance import Instance
from interplay.explore.results.boards import METHODS, Board, Ratings
from interplay.explore.results.references import ORACLE
from interplay.tasks import Suite, Task
from interplay.web.agents.access import may_know
from interplay.web.explore.runs import find_run
from interplay.web.graphs import graph
from interplay.web.http.forms import see_other
from interplay.web.http.identity import current_participant
from interplay.web.judging.board import METHOD_TEXTS, board_view
from interplay.web.rendering import explore_suite, render
from interplay.web.services import services

router = APIRouter(tags=["explore"], dependencies=[Depends(explore_suite)])

_TITLES = {published.SET: "Published with MineExplorer", published.PLANNED: "Made by the planner"}


def board_of(request: Request, name: str) -> Board:
    boards = services(request).explore_results.boards()
    for board in boards:
        if board.name == name:
            return board
    there = f" There are {', '.join(board.name for board in boards)}." if boards else ""
    raise HTTPException(404, f"No runs were made by a protocol {name[:40]!r}.{there}")


@router.get("/leaderboard/explore", include_in_schema=False)
def ratings_page(request: Request, board: str = "", method: str = METHODS[0]) -> Response:
    """Show ratings of models: of two models, the one with more milestones wins (`interplay explore results --answers`)."""
    if method not in METHODS:
        raise HTTPException(422, f"method: expected one of {', '.join(METHODS)}, got {method[:40]!r}")
    text = METHOD_TEXTS[method]
    kept = services(request).explore_results
    boards = kept.boards()
    examples = services(request).examples
    is_example = examples.are_there and not boards and not board
    if is_example:
        boards = examples.boards(request)
    shown = board_of(request, board) if board else next(iter(boards), None)
    made = Ratings((), (), 0, 0) if shown is None else kept.ratings(shown, method)
    facts = [asdict(row) | {"kind": "", "withdrawn": False} for row in made.rows]
    return render(
        request, "leaderboard_explore.html", "Leaderboard",
        boards=boards, board=shown, is_example=is_example, method=method,
        methods={name: METHOD_TEXTS[name] for name in METHODS}, text=text,
        view=board_view(facts, centre=text.centre, margin=text.margin) if facts else None, notes=made.notes,
        num_answers=made.num_answers, num_tasks=made.num_tasks, judges="milestones", task="", titles={},
        hues={name: place for place, name in enumerate(sorted(row.agent for row in made.rows))},
    )  # fmt: skip


@router.get("/explore/boards/{name}.csv", include_in_schema=False)
def board_csv(request: Request, name: str) -> Response:
    board = board_of(request, name)
    headers = {"Content-Disposition": f'attachment; filename="explore-{board.name}.csv"'}
    return Response(board.to_csv(), media_type="text/csv", headers=headers)


@router.get("/api/explore/boards/{name}")
def board_json(request: Request, name: str) -> dict[str, Any]:
    """Show language models on the tasks of explore under one protocol: rates with intervals, calls, tokens, failed runs."""
    return board_of(request, name).to_json()


@router.get("/explore", include_in_schema=False)
def explore(request: Request) -> Response:
    return _page(request, None)


@router.get("/explore/boards/{name}", include_in_schema=False)
def explore_board(request: Request, name: str) -> Response:
    return _page(request, board_of(request, name).name)


@router.get("/explore/tasks/{name}", include_in_schema=False)
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


@router.post("/explore/tasks/{name}/shown", include_in_schema=False)
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
    """Plot a model's TSR and MSR by number of hops. The oracle's rates come from proofs, so they have no intervals."""
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
