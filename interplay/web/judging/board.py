"""The leaderboard for visitors and programs: several rating methods, bars on one axis, and the history of ratings."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlencode

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response

from interplay.judge.ratings.answers import has_answers_of_models
from interplay.judge.ratings.boards import BOARD_METHODS, COLUMNS, Boards, Judges
from interplay.rank import DEFAULTS
from interplay.rank.methods import METHODS
from interplay.rank.ranking import Scale
from interplay.web.http.identity import current_operator, is_operator
from interplay.web.plots import history
from interplay.web.rendering import find_task, render, titles
from interplay.web.services import services

router = APIRouter(tags=["leaderboard"])

PRIOR_MEAN = DEFAULTS.mu


@dataclass(frozen=True)
class MethodText:
    """Texts about a rating method: its name, its explanation, the name of `mu`, and the label of the line on the axis."""

    name: str
    does: str
    unit: str
    line: str
    centre: float
    margin: float


_AXES: Mapping[Scale, tuple[str, str, float, float]] = {
    "skill": ("rating", "25, where everyone starts", PRIOR_MEAN, 5.0),
    "log-strength": ("log strength", "0, the average agent", 0.0, 1.0),
    "z-score": ("z-score", "0, the average agent", 0.0, 1.0),
}
METHOD_TEXTS = {name: MethodText(method.title, method.does, *_AXES[method.scale]) for name, method in METHODS.items()} | {
    "normalised": MethodText(
        "Normalised",
        "TrueSkill in each task, in standard deviations above the mean of the agents judged there; then the mean over tasks. "
        "A task with widely spread ratings counts no more than another task.",
        *_AXES["z-score"],
    )
}


@dataclass(frozen=True)
class Bar:
    """The bar of one row: an interval from `start` to `start + width` and its `middle`, all in per cent of the axis.

    `won`, `drew` and `lost` are in per cent of the row's answers. An unknown interval has width 0.
    """

    start: float
    width: float
    middle: float
    won: float
    drew: float
    lost: float


@dataclass(frozen=True)
class BoardView:
    """Rows with their bars. `prior` is the place of the centre (prior mean or average) on the axis, in per cent."""

    rows: Sequence[tuple[Mapping[str, Any], Bar]]
    prior: float
    low: float
    high: float


def public_board(board: Mapping[str, Any]) -> dict[str, Any]:
    """Return a leaderboard without the two agents of the next pair, because its reader may be the next judge."""
    pair = board["next_pair"]
    return {**board, "next_pair": pair and {"task": pair["task"]}}


def board_view(rows: Sequence[Mapping[str, Any]], *, centre: float = PRIOR_MEAN, margin: float = 5.0) -> BoardView:
    """Place the bars of all rows on one axis, which holds every interval and at least `margin` on both sides of the centre.

    Args:
        rows: Rows with `mu`, `low` and `high` (None if unknown), `won`, `drew` and `lost`.
    """
    ends = [row[end] for row in rows for end in ("low", "mu", "high") if row[end] is not None]
    low = math.floor(min([*ends, centre - margin]))
    high = math.ceil(max([*ends, centre + margin]))

    def place(value: float) -> float:
        return round(100 * (value - low) / (high - low), 3)

    def bar(row: Mapping[str, Any]) -> Bar:
        start, stop = (row["mu"], row["mu"]) if row["low"] is None else (row["low"], row["high"])
        answers = max(1, row["won"] + row["drew"] + row["lost"])
        return Bar(
            start=place(start),
            width=round(100 * (stop - start) / (high - low), 3),
            middle=place(row["mu"]),
            won=round(100 * row["won"] / answers, 3),
            drew=round(100 * row["drew"] / answers, 3),
            lost=round(100 * row["lost"] / answers, 3),
        )

    return BoardView([(row, bar(row)) for row in rows], place(centre), low, high)


def hues_of(boards: Boards) -> dict[str, int]:
    """Give each agent a number for its colour, the same on all pages, in the order in which agents were first judged."""
    named = list(boards.tracks())
    return {
        agent: number for number, agent in enumerate([*named, *(a for a in boards.tracks(None, "models") if a not in named)])
    }


def boards_of(request: Request) -> Boards:
    boards = services(request).boards
    return boards.live if is_operator(request) or current_operator(request) else boards


def _asked(request: Request, task: str, method: str, judges: str) -> tuple[dict[str, Any], Judges]:
    if method not in BOARD_METHODS:
        raise HTTPException(422, f"method: expected one of {', '.join(BOARD_METHODS)}, got {method[:40]!r}")
    if judges not in ("people", "models"):
        raise HTTPException(422, f"judges: expected people or models, got {judges[:40]!r}")
    kind = cast("Judges", judges)
    return boards_of(request).board(task or None, method, kind), kind


@router.get("/leaderboard", include_in_schema=False)
def leaderboard_page(request: Request, task: str = "", method: str = "trueskill", judges: str = "people") -> Response:
    if task:
        find_task(request, task)
    boards = boards_of(request)
    board, kind = _asked(request, task, method, judges)
    tasks = sorted({entrant.task for entrant in services(request).roster.rows()} | ({task} if task else set()))
    has_models = has_answers_of_models(services(request).archive.database)

    def link(address: str = "/leaderboard", **changes: str) -> str:
        asked = {"task": task, "method": method, "judges": kind} | changes
        plain = {"task": "", "method": "trueskill", "judges": "people"}
        query = urlencode({name: value for name, value in asked.items() if value != plain[name]}, safe="/")
        return f"{address}?{query}" if query else address

    text = METHOD_TEXTS[method]
    hues = hues_of(boards)
    examples = services(request).examples
    is_example = examples.are_there and kind == "people" and not boards.tracks()
    if is_example:
        board["rows"] = examples.rows(request, task or None, method)
        hues = {row["agent"]: number for number, row in enumerate(board["rows"])}
    return render(
        request, "leaderboard.html", "Leaderboard",
        task=task, tasks=tasks, titles=titles(request), board=public_board(board), link=link, hues=hues,
        method=method, text=text, methods=METHOD_TEXTS, judges=kind, has_models=has_models, is_example=is_example,
        view=board_view(board["rows"], centre=text.centre, margin=text.margin),
        history=history(boards.tracks(task or None, kind), hues), has_explore=services(request).explore is not None,
    )  # fmt: skip


@router.get("/leaderboard.csv", include_in_schema=False)
def leaderboard_csv(request: Request, task: str = "", method: str = "trueskill", judges: str = "people") -> Response:
    if task:
        find_task(request, task)
    board, kind = _asked(request, task, method, judges)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([row[name] for name in COLUMNS] for row in board["rows"])
    parts = [task.replace("/", "-") or "all", *(part for part in (method, kind) if part not in ("trueskill", "people"))]
    name = f"leaderboard-{'-'.join(parts)}.csv"
    return Response(text.getvalue(), media_type="text/csv", headers={"Content-Disposition": f'attachment; filename="{name}"'})


@router.get("/api/leaderboard")
def leaderboard(request: Request, task: str | None = None, method: str = "trueskill", judges: str = "people") -> dict[str, Any]:
    """Show agents by score, in one task or over all tasks.

    `method` is trueskill, bradley-terry, davidson or normalised. `judges` is people (the ranking proper) or models. Only
    operators see the next pair of agents, and every answer at once: others see new answers in steps of `publish_every`.
    """
    board, _ = _asked(request, task or "", method, judges)
    return board if is_operator(request) else public_board(board)
