"""The page about automatic judges: how far each can be believed, drawn from what its calibration found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import Response

from interplay.judge.automatic import TaskJudge, load_all
from interplay.judge.automatic.calibration import TARGET_CORRELATION, Bin, SavingPoint
from interplay.web.pages import render, titles

router = APIRouter(include_in_schema=False)

WIDTH, HEIGHT = 320, 240
"""Of a drawing, in its own units; it scales with the page."""
LEFT, BOTTOM, TOP, RIGHT = 40, 30, 14, 24


@dataclass(frozen=True)
class Dot:
    """A point of a drawing: where, how large, and what it says to who points at it."""

    x: float
    y: float
    radius: float
    says: str


@dataclass(frozen=True)
class Drawing:
    """A drawing of two axes.

    Attributes:
        dots: Points in order.
        lines: Class of the line -> its points as SVG wants them.
        x_ticks, y_ticks: (place, text).
    """

    dots: Sequence[Dot]
    lines: dict[str, str]
    x_ticks: Sequence[tuple[float, str]]
    y_ticks: Sequence[tuple[float, str]]


@router.get("/judges/automatic")
def automatic_judges(request: Request) -> Response:
    """Every automatic judge of this server, with its calibration."""
    judges = load_all(request.app.state.archive.root)
    drawings = [(judge, reliability(judge.calibration.bins), savings(judge.calibration.saving)) for judge in judges]
    return render(
        request, "calibration.html", "Leaderboard",
        judges=drawings, titles=titles(request), factors=[_factors(judge) for judge in judges],
        target=TARGET_CORRELATION,
        right=WIDTH - RIGHT, width=WIDTH, height=HEIGHT, left=LEFT, bottom=HEIGHT - BOTTOM,
    )  # fmt: skip


def reliability(bins: Sequence[Bin]) -> Drawing:
    """Share of right predictions against the probability they were given, from 0.3 to 1; dots as large as they are many."""
    largest = max((one.num_answers for one in bins), default=0) or 1
    low = 0.3

    def x(value: float) -> float:
        return _across((value - low) / (1 - low))

    dots = [
        Dot(x(one.predicted), _up(one.observed), 3 + 9 * (one.num_answers / largest) ** 0.5,
            f"{one.num_answers} answers given {one.predicted:.0%}: {one.observed:.0%} came out so")
        for one in bins
        if one.num_answers
    ]  # fmt: skip
    ticks = [(x(share / 10), f"{share}0 %") for share in (4, 6, 8)] + [(x(1), "100 %")]
    return Drawing(dots, {"even": _points([(x(low), _up(low)), (x(1), _up(1))])}, ticks, _shares())


def savings(curve: Sequence[SavingPoint]) -> Drawing | None:
    """Rank correlation against people's answers, without and with the model; None where there is no curve."""
    if not curve:
        return None
    most = curve[-1].num_answers

    def x(count: float) -> float:
        return _across(count / most)

    dots = [
        Dot(x(point.num_answers), _up(max(0.0, value)), 3, f"{point.num_answers} answers, {name}: {value:.2f}")
        for point in curve
        for name, value in (("people alone", point.people), ("with the model", point.with_model))
    ]
    lines = {
        "people": _points([(x(point.num_answers), _up(max(0.0, point.people))) for point in curve]),
        "model": _points([(x(point.num_answers), _up(max(0.0, point.with_model))) for point in curve]),
        "even": _points([(LEFT, _up(TARGET_CORRELATION)), (WIDTH - RIGHT, _up(TARGET_CORRELATION))]),
    }
    ticks = [(x(most * part), f"{round(most * part):,}") for part in (0.25, 0.5, 0.75, 1)]
    return Drawing(dots, lines, ticks, [(_up(part / 4), f"{part / 4:g}") for part in range(5)])


def _factors(judge: TaskJudge) -> list[tuple[str, int, float, float]]:
    """Factor, answers, agreement and that of the commonest answer, the best known first."""
    found = [(one.factor, one.num_answers, one.agreement, one.commonest) for one in judge.calibration.factors]
    return sorted(found, key=lambda row: (row[3] - row[2], row[0]))


def _across(share: float) -> float:
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


def _up(share: float) -> float:
    return round(HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP), 1)


def _points(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in places)


def _shares() -> list[tuple[float, str]]:
    return [(_up(part / 4), f"{25 * part} %") for part in range(5)]
