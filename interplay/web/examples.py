"""Examples for boards that have no answers or model runs yet. They come with the package and are marked as examples.

Examples are read from files of the package and never enter a database, so they affect no ranking, report, export or count. A
new data folder has a file that turns them on. A visitor may hide them in their own browser.
"""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response

from interplay import starter
from interplay.explore.evaluation.metrics import Result
from interplay.explore.results.boards import Board, boards
from interplay.explore.results.references import References
from interplay.judge.ratings.boards import rows_of
from interplay.rank import Comparison
from interplay.rank.answers_file import read_answers
from interplay.web.http.forms import FormFields, is_own_address, see_other

router = APIRouter(include_in_schema=False)
_COOKIE = "interplay_examples"
_REMEMBERED_S = 365 * 86_400


class Examples:
    """The examples of a data folder."""

    def __init__(self, root: Path) -> None:
        self._file = root / starter.EXAMPLES

    @property
    def are_there(self) -> bool:
        """Whether this data folder offers examples to pages that would be empty otherwise."""
        return self._file.is_file()

    def are_hidden(self, request: Request) -> bool:
        return request.cookies.get(_COOKIE) == "hide"

    def _are_shown(self, request: Request) -> bool:
        return self.are_there and not self.are_hidden(request)

    @cached_property
    def _answers(self) -> list[Comparison]:
        return read_answers(starter.ANSWERS)

    def rows(self, request: Request, task: str | None, method: str) -> list[dict[str, Any]]:
        return rows_of(self._answers, task, method) if self._are_shown(request) else []

    @cached_property
    def _boards(self) -> list[Board]:
        document = json.loads(starter.RUNS.read_text(encoding="utf-8"))
        results = [Result.from_json(one) for one in document["results"]]
        return boards(results, References(dict.fromkeys(document["proofs"], ""), (), ()))

    def boards(self, request: Request) -> list[Board]:
        return self._boards if self._are_shown(request) else []


@router.post("/examples/{deed}")
def change(deed: Literal["hide", "show"], form: FormFields, request: Request) -> Response:
    """Hide the examples in this browser, or show them again. Then return to the page with the button."""
    page = form.get("next", "")
    response = see_other(page if is_own_address(page) else "/leaderboard")
    response.set_cookie(_COOKIE, deed, _REMEMBERED_S, httponly=True, samesite="lax", secure=request.url.scheme == "https")
    return response
