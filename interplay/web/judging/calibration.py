"""The page about model judges: it shows how reliable each judge is, by its calibration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from interplay.model_judges import load_all
from interplay.model_judges.calibration import Bin, FactorAgreement
from interplay.model_judges.saving import TARGET_CORRELATION, SavingPoint
from interplay.web.rendering import render, titles
from interplay.web.services import services

router = APIRouter(include_in_schema=False)


@router.get("/judges/models")
def model_judges(request: Request) -> Response:
    judges = load_all(services(request).archive.root)
    drawings = [(judge, reliability(judge.calibration.bins), savings(judge.calibration.saving)) for judge in judges]
    measured = services(request).logged_judges.measure()
    looking = [(judge, savings(judge.agreement.saving) if judge.agreement else None) for judge in measured]
    return render(
        request, "calibration.html", "Leaderboard",
        judges=drawings, looking=looking, titles=titles(request), best_first=best_first, target=TARGET_CORRELATION,
    )  # fmt: skip


def reliability(bins: Sequence[Bin]) -> dict[str, Any]:
    return {
        "kind": "dots",
        "columns": [("predicted probability", "share"), ("observed share", "share"), ("answers", "")],
        "rows": [(round(one.predicted, 4), round(one.observed, 4), one.num_answers) for one in bins if one.num_answers],
    }


def savings(curve: Sequence[SavingPoint]) -> dict[str, Any] | None:
    if not curve:
        return None
    values = [[point.people for point in curve], [point.with_model for point in curve]]
    return {
        "kind": "lines",
        "columns": [("answers of", ""), ("answers by people", ""), ("rank correlation", "")],
        "series": [{"name": "people alone", "hue": 1}, {"name": "with the model", "hue": 2}],
        "rows": [
            (number, point.num_answers, round(value, 3))
            for number in (0, 1)
            for point, value in zip(curve, values[number], strict=True)
        ],
        "target": TARGET_CORRELATION,
    }


def best_first(factors: Sequence[FactorAgreement]) -> list[FactorAgreement]:
    """Sort factors by how far a judge's agreement exceeds the agreement of always giving the most frequent answer."""
    return sorted(factors, key=lambda one: (one.commonest - one.agreement, one.factor))
