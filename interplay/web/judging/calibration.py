"""The page about model judges: how far each can be believed, drawn from what its calibration found."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, Request
from fastapi.responses import Response

from interplay.model_judges import load_all
from interplay.model_judges.calibration import Bin, FactorAgreement
from interplay.model_judges.saving import TARGET_CORRELATION, SavingPoint
from interplay.web.plots import Axis, Chart, Dot, chart
from interplay.web.rendering import render, titles
from interplay.web.services import services
from interplay.wording import amount

router = APIRouter(include_in_schema=False)

_SHARES = Axis(0, 1, [(part / 4, f"{25 * part} %") for part in range(5)])
_CORRELATIONS = Axis(0, 1, [(part / 4, f"{part / 4:g}") for part in range(5)])


@router.get("/judges/models")
def model_judges(request: Request) -> Response:
    """Every model judge of this server: calibrations of those that learnt from people, agreement of those that look."""
    judges = load_all(services(request).archive.root)
    drawings = [(judge, reliability(judge.calibration.bins), savings(judge.calibration.saving)) for judge in judges]
    measured = services(request).logged_judges.measure()
    looking = [(judge, savings(judge.agreement.saving) if judge.agreement else None) for judge in measured]
    return render(
        request, "calibration.html", "Leaderboard",
        judges=drawings, looking=looking, titles=titles(request), best_first=best_first, target=TARGET_CORRELATION,
    )  # fmt: skip


def reliability(bins: Sequence[Bin]) -> Chart:
    """Share of right predictions against the probability they were given; dots as large as they are many."""
    largest = max((one.num_answers for one in bins), default=0) or 1
    dots = [
        Dot(one.predicted, one.observed, 3 + 9 * (one.num_answers / largest) ** 0.5,
            f"{amount(one.num_answers, 'answer')} predicted at {one.predicted:.0%}: {one.observed:.0%} right")
        for one in bins
        if one.num_answers
    ]  # fmt: skip
    return chart(dots, {"even": [(0, 0), (1, 1)]}, _SHARES, _SHARES)


def savings(curve: Sequence[SavingPoint]) -> Chart | None:
    """Rank correlation against people's answers, without and with the model; None where there is no curve."""
    if not curve:
        return None
    most = curve[-1].num_answers
    dots = [
        Dot(point.num_answers, max(0.0, value), 3, f"{amount(point.num_answers, 'answer')}, {name}: {value:.2f}")
        for point in curve
        for name, value in (("people alone", point.people), ("with the model", point.with_model))
    ]
    lines = {
        "people": [(point.num_answers, max(0.0, point.people)) for point in curve],
        "model": [(point.num_answers, max(0.0, point.with_model)) for point in curve],
        "even": [(0, TARGET_CORRELATION), (most, TARGET_CORRELATION)],
    }
    counts = Axis(0, most, [(most * part, f"{round(most * part):,}") for part in (0.25, 0.5, 0.75, 1)])
    return chart(dots, lines, counts, _CORRELATIONS)


def best_first(factors: Sequence[FactorAgreement]) -> list[FactorAgreement]:
    """Those first that a judge knows most about, beyond the commonest answer."""
    return sorted(factors, key=lambda one: (one.commonest - one.agreement, one.factor))
