"""What boards show before anybody has judged and any model has played: examples that come with the package, marked as such.

They are read from its files and never enter a database, so no ranking, report, export or count can hold them. A new data folder
has a file that asks for them; the button of the pages removes it.
"""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from interplay import starter
from interplay.explore.evaluation.boards import Board, boards
from interplay.explore.evaluation.metrics import Result
from interplay.explore.evaluation.references import References
from interplay.judge.ratings.boards import BoardMethod, rows_of
from interplay.rank import Comparison
from interplay.rank.answers_file import read_answers
from interplay.web.forms import see_other

router = APIRouter(include_in_schema=False)


class Examples:
    """The examples of a data folder."""

    def __init__(self, root: Path) -> None:
        self._file = root / starter.EXAMPLES

    @property
    def are_shown(self) -> bool:
        """Whether pages that have nothing else show them."""
        return self._file.is_file()

    def hide(self) -> None:
        """Show none from now on."""
        self._file.unlink(missing_ok=True)

    @cached_property
    def _answers(self) -> list[Comparison]:
        return read_answers(starter.ANSWERS)

    def rows(self, task: str | None, method: BoardMethod) -> list[dict[str, Any]]:
        """Of the leaderboard; none where they are hidden."""
        return rows_of(self._answers, task, method) if self.are_shown else []

    @cached_property
    def _boards(self) -> list[Board]:
        document = json.loads(starter.RUNS.read_text(encoding="utf-8"))
        results = [Result.from_json(one) for one in document["results"]]
        return boards(results, References(dict.fromkeys(document["proofs"], ""), (), ()))

    @property
    def boards(self) -> list[Board]:
        """Of language models; none where they are hidden."""
        return self._boards if self.are_shown else []


@router.post("/examples/hide")
def hide(request: Request) -> Response:
    """Hide the examples for good. Anybody may: real answers and runs stay as they are."""
    request.app.state.examples.hide()
    return see_other("/leaderboard")
