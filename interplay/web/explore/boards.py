"""The boards of language models on the tasks of `explore`, as page, CSV and JSON, and their ratings."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, cast

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import Response

from interplay.explore.results.boards import METHODS, Board, Ratings
from interplay.rank.ranking import Method
from interplay.web.judging.board import METHOD_TEXTS, board_view
from interplay.web.rendering import explore_suite, render
from interplay.web.services import services

router = APIRouter(tags=["explore"], dependencies=[Depends(explore_suite)])


def board_of(request: Request, name: str) -> Board:
    """The board of a name (HTTPException: 404 for an unknown name)."""
    boards = services(request).explore_results.boards()
    for board in boards:
        if board.name == name:
            return board
    there = f" There are {', '.join(board.name for board in boards)}." if boards else ""
    raise HTTPException(404, f"No runs were made by a protocol {name[:40]!r}.{there}")


@router.get("/leaderboard/explore", include_in_schema=False)
def ratings_page(request: Request, board: str = "", method: str = METHODS[0]) -> Response:
    """Models rated by which of two reached more milestones: the pairs of `interplay explore results --answers`."""
    if method not in METHODS:
        raise HTTPException(422, f"method: expected one of {', '.join(METHODS)}, got {method[:40]!r}")
    chosen, text = cast("Method", method), METHOD_TEXTS[cast("Method", method)]
    kept = services(request).explore_results
    boards = kept.boards()
    examples = services(request).examples
    is_example = examples.are_there and not boards and not board
    if is_example:
        boards = examples.boards(request)
    shown = board_of(request, board) if board else next(iter(boards), None)
    made = Ratings((), (), 0, 0) if shown is None else kept.ratings(shown, chosen)
    facts = [asdict(row) | {"kind": "", "withdrawn": False} for row in made.rows]
    return render(
        request, "leaderboard_explore.html", "Leaderboard",
        boards=boards, board=shown, is_example=is_example, method=chosen,
        methods={name: METHOD_TEXTS[name] for name in METHODS}, text=text,
        view=board_view(facts, centre=text.centre, margin=text.margin) if facts else None, notes=made.notes,
        num_answers=made.num_answers, num_tasks=made.num_tasks, judges="milestones", task="", titles={},
        hues={name: place for place, name in enumerate(sorted(row.agent for row in made.rows))},
    )  # fmt: skip


@router.get("/explore/boards/{name}.csv", include_in_schema=False)
def board_csv(request: Request, name: str) -> Response:
    """The rows of a board for a spreadsheet; references are in it, and say so."""
    board = board_of(request, name)
    headers = {"Content-Disposition": f'attachment; filename="explore-{board.name}.csv"'}
    return Response(board.to_csv(), media_type="text/csv", headers=headers)


@router.get("/api/explore/boards/{name}")
def board_json(request: Request, name: str) -> dict[str, Any]:
    """Language models on the tasks of explore, asked by one protocol: rates with intervals, calls, tokens, failed runs."""
    return board_of(request, name).to_json()
