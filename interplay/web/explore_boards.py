"""The boards of language models on the tasks of `explore`: a table for each way of asking, as page, CSV and JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response

from interplay.explore.evaluation import metrics, pairs
from interplay.explore.evaluation.metrics import Result
from interplay.explore.evaluation.scripted import PREFIX as SCRIPTED
from interplay.explore.evaluation.settings import GOALS, PROTOCOLS
from interplay.rank import Comparison
from interplay.rank.leaderboard import notes, rows
from interplay.rank.log import Log
from interplay.rank.methods import rate
from interplay.rank.ranking import Method
from interplay.web.board import METHOD_TEXTS, board_view
from interplay.web.pages import render

router = APIRouter(tags=["explore"])

NUMBERS = (
    "runs", "instances", "failed", "false_done", "calls", "input_tokens", "output_tokens", "refused_replies", "cost",
)  # fmt: skip
COLUMNS = (
    "model",
    *(name + end for name in ("tsr", "msr", "ordered_msr") for end in ("", "_low", "_high")),
    *NUMBERS,
)
"""Of the CSV of a board."""


@dataclass(frozen=True)
class Board:
    """One table, and all that its page says of it.

    Attributes:
        name: In its address.
        table: As `metrics.tables` makes it.
        results: Its runs.
    """

    name: str
    table: Mapping[str, Any]
    results: Sequence[Result]

    @property
    def models(self) -> list[Mapping[str, Any]]:
        """Rows of the entrants."""
        return [row for row in self.table["models"] if not row["model"].startswith(SCRIPTED)]

    @property
    def references(self) -> list[Mapping[str, Any]]:
        """Rows of those they are compared with, which are pinned on top."""
        scripted = [row for row in self.table["models"] if row["model"].startswith(SCRIPTED)]
        return [*self.table["references"], *scripted]

    @property
    def how(self) -> str:
        """How its models were asked, in words."""
        said = self.table["settings"]
        parts = [PROTOCOLS[said["protocol"]], f"{said['max_steps']:,} ticks at most"]
        return "; ".join(parts + ([GOALS[said["goal"]]] if said["goal"] != "written" else []))

    def failed(self) -> list[Mapping[str, Any]]:
        """Runs that failed, and why."""
        return [
            {
                "run": one.run,
                "model": one.model,
                "task": one.task,
                "epoch": one.epoch,
                "why": one.why,
            }
            for one in self.results
            if one.failed is not None
        ]

    def runs(self) -> list[tuple[str, list[list[Result]]]]:
        """Task -> for each model of the table, in its order, its runs."""
        names = [row["model"] for row in self.table["models"]]
        tasks = sorted({(one.hops, one.task) for one in self.results})
        of = {(task, name): [] for _, task in tasks for name in names}
        for one in self.results:
            of[one.task, one.model].append(one)
        return [(task, [sorted(of[task, name], key=lambda one: one.epoch) for name in names]) for _, task in tasks]

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        return {**self.table, "failed": self.failed(), "runs": [one.run for one in self.results]}


def boards_of(request: Request) -> list[Board]:
    """The tables of all runs, those of most entrants first."""
    found, _ = request.app.state.explore_results.read()
    if not found:
        return []
    made = metrics.tables(found, references=request.app.state.explore_references.read())
    of_settings: dict[str, list[Result]] = {}
    for one in found:
        of_settings.setdefault(one.settings, []).append(one)
    boards = [Board(table["name"], table, of_settings[table["key"]]) for table in made]
    return sorted(boards, key=lambda board: (-len(board.models), -len(board.table["models"]), board.name))


def board_of(request: Request, name: str) -> Board:
    """One of them.

    Raises:
        HTTPException: 404 where there is none of that name.
    """
    boards = boards_of(request)
    for board in boards:
        if board.name == name:
            return board
    there = f" There are {', '.join(board.name for board in boards)}." if boards else ""
    raise HTTPException(404, f"No runs were made by a protocol {name[:40]!r}.{there}")


METHODS = {name: text for name, text in METHOD_TEXTS.items() if name != "normalised"}
"""Ways to rate models by their runs."""


@router.get("/leaderboard/explore", include_in_schema=False)
def ratings_page(request: Request, board: str = "", method: str = "trueskill") -> Response:
    """Models rated by which of two reached more milestones: the pairs of `interplay explore results --answers`."""
    if method not in METHODS:
        raise HTTPException(422, f"method: expected one of {', '.join(METHODS)}, got {method[:40]!r}")
    chosen = cast("Method", method)
    boards = boards_of(request)
    shown = board_of(request, board) if board else next(iter(boards), None)
    answers = (
        [] if shown is None else [Comparison(one["left"], one["right"], one["outcome"]) for one in pairs.answers(shown.results)]
    )
    text, view, said = METHODS[chosen], None, ()
    if answers:
        log = Log.of(answers)
        ranking = rate(log, chosen)
        rated = rows(ranking, log.won_drew_lost(), log.groups())
        said = notes(ranking, rated)
        facts = [asdict(row) | {"kind": "", "withdrawn": False} for row in rated]
        view = board_view(facts, centre=text.centre, margin=text.margin)
    return render(
        request, "leaderboard_explore.html", "Leaderboard",
        boards=boards, board=shown, method=chosen, methods=METHODS, text=text, view=view, notes=said,
        num_answers=len(answers), judges="milestones", task="", titles={},
        hues={name: place for place, name in enumerate(sorted({one.left for one in answers} | {one.right for one in answers}))},
    )  # fmt: skip


@router.get("/explore/boards/{name}.csv", include_in_schema=False)
def board_csv(request: Request, name: str) -> Response:
    """The rows of a board for a spreadsheet; references are in it, and say so."""
    board = board_of(request, name)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("kind", *COLUMNS))
    for kind, own in (("reference", board.references), ("model", board.models)):
        for row in own:
            rates = [row[share][part] for share in ("tsr", "msr", "ordered_msr") for part in ("value", "low", "high")]
            writer.writerow([kind, row["model"], *rates, *(row[number] for number in NUMBERS)])
    headers = {"Content-Disposition": f'attachment; filename="explore-{board.name}.csv"'}
    return Response(text.getvalue(), media_type="text/csv", headers=headers)


@router.get("/api/explore/boards/{name}")
def board_json(request: Request, name: str) -> dict[str, Any]:
    """Language models on the tasks of explore, asked by one protocol: rates with intervals, calls, tokens, failed runs."""
    return board_of(request, name).to_json()
