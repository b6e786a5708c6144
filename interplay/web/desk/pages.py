"""Pages of the desk: studies and their people, quality, money, collected data, and search."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi.responses import Response

from interplay.errors import InterplayError
from interplay.record.exchange.queries import Queries
from interplay.record.summary import AGENTS, NO_STUDY, Bins, Hours, Summary
from interplay.store.study.numbers import WORKING
from interplay.study import channels
from interplay.study.channels.base import UNPAID
from interplay.study.money.payroll import Payroll
from interplay.study.overview import Overview, checked_outcome
from interplay.web.desk.access import desk, signed_in
from interplay.web.http.forms import FormFields, see_other
from interplay.web.pages import game_lengths
from interplay.web.plots import histogram
from interplay.web.rendering import clock, plain_number, titles
from interplay.web.services import services

router = APIRouter(include_in_schema=False, dependencies=[Depends(signed_in)])

ROWS_PER_PAGE = 50
OUTCOMES = (WORKING, *channels.OUTCOMES)
SUBMISSIONS = {"planned": "approval sent, no answer yet", "sent": "approved", "failed": "approval refused"}
"""State of a reward's payment -> what the platform knows about the submission."""
MEASURES: Mapping[str, tuple[str, str, Callable[[float], str]]] = {
    "latency_ms": (
        "Input latency",
        "Age of the picture to which the player reacted; median of a game.",
        lambda ms: f"{ms:.0f} ms",
    ),
    "lost_share": (
        "Frames lost",
        "Share of a game's frame times in which no step was made, because something was late.",
        lambda share: "under 0.1 %" if 0 < share < 0.001 else f"{100 * share:.1f} %",
    ),
    "active_share": (
        "Active time",
        "Share of the game in which the player did something.",
        lambda share: f"{100 * share:.0f} %",
    ),
    "score": ("Score", "Score of the player, in points of the task.", plain_number),
    "length_s": ("Length", "Length of a game, by its recording.", clock),
}
"""Measure -> its title, its explanation, and the function that formats its values."""

Page = Annotated[int, Query(ge=1, le=100_000)]
Study = Annotated[str, Query(max_length=100)]


@router.get("/desk/studies")
def studies(request: Request) -> Response:
    return desk(request, "desk_studies.html", "/desk/studies", studies=_overview(request).all())


@router.get("/desk/studies/{study}")
def study(request: Request, study: str, outcome: str = "", page: Page = 1) -> Response:
    overview = _overview(request)
    numbers = overview.study(study)
    wanted = checked_outcome(outcome, OUTCOMES) if outcome else None
    people = overview.people(study, outcome=wanted, page=page)
    link = lambda number: f"/desk/studies/{study}?" + urlencode({"outcome": outcome, "page": number})  # noqa: E731
    return desk(
        request, "desk_study.html", "/desk/studies",
        numbers=numbers, study=numbers.opened.study, people=people, outcome=wanted, outcomes=OUTCOMES, link=link,
        working=WORKING, unpaid=UNPAID, submissions=SUBMISSIONS, titles=titles(request), reached=overview.reached(study),
    )  # fmt: skip


@router.post("/desk/studies/{study}")
def change_study(request: Request, study: str, form: FormFields) -> Response:
    verb = form.get("verb", "")
    match verb:
        case "pause":
            services(request).pauses.pause(study, note=form.get("note", ""))
        case "resume":
            services(request).pauses.resume(study)
        case "close":
            services(request).studies.close(study)
        case _:
            raise HTTPException(422, f"unknown action {verb[:20]!r}; go back and press one of the buttons")
    return see_other(f"/desk/studies/{study}")


@router.get("/desk/quality")
def quality(request: Request, study: Study = "") -> Response:
    found = Summary(services(request).archive).quality(study or None)
    return desk(
        request, "desk_quality.html", "/desk/quality",
        quality=found, measures=MEASURES, titles=titles(request), study=study, studies=_study_ids(request),
    )  # fmt: skip


@router.get("/desk/money")
def money(request: Request, study: Study = "") -> Response:
    overview = _overview(request)
    return desk(
        request, "desk_money.html", "/desk/money",
        purses=overview.money(study or None), raffles=overview.raffles(study or None), study=study,
        studies=_study_ids(request),
    )  # fmt: skip


@router.get("/desk/money/{study}/{enrolment}")
def explained(request: Request, study: str, enrolment: str) -> Response:
    document = Payroll(services(request).archive.database).explain(study, enrolment).to_json()
    return desk(request, "desk_explained.html", "/desk/money", one=document, study=study)


@router.get("/desk/collected")
def collected(request: Request, study: Study = "") -> Response:
    hours, names = Summary(services(request).archive).hours(study or None), titles(request)
    return desk(
        request, "desk_collected.html", "/desk/collected",
        by_channel=by_day(hours, "channel", lambda one: CHANNELS.get(one.channel, one.channel)),
        by_task=by_day(hours, "task", lambda one: names.get(one.task, one.task)), total=cumulative(hours),
        sums=_sums(hours, names), study=study, studies=_study_ids(request),
    )  # fmt: skip


@router.get("/desk/search")
def search(
    request: Request,
    task: Annotated[str, Query(max_length=200)] = "",
    where: Annotated[list[str] | None, Query(max_length=20)] = None,
    page: Page = 1,
    saved: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """Search episodes by conditions, as in `interplay episodes list --where`; show saved queries and the download."""
    wanted = [text.strip()[:300] for text in where or [] if text.strip()]
    found, problem = None, ""
    try:
        offset = (page - 1) * ROWS_PER_PAGE
        found = Summary(services(request).archive).found(wanted, task=task or None, limit=ROWS_PER_PAGE, offset=offset)
    except InterplayError as error:
        problem = str(error)
    names = titles(request)
    parameters = [("task", task), *(("where", text) for text in wanted)]
    options = [word for name, text in parameters if text for word in (f"--{name}", text)]
    link = lambda number: "/desk/search?" + urlencode([*parameters, ("page", number)])  # noqa: E731
    return desk(
        request, "desk_search.html", "/desk/search", status=422 if problem else 200,
        found=found, problem=problem, task=task, wanted=wanted, page=page, link=link, titles=names, saved=saved,
        num_pages=1 if found is None else max(1, -(-found.totals.num_episodes // ROWS_PER_PAGE)),
        scores=_histogram(found.scores if found else None, ""),
        lengths=_histogram(found.lengths if found else None, "clock"),
        shown_lengths={} if found is None else game_lengths(found.rows, services(request).tasks),
        queries=Queries(services(request).archive).all(), download="/api/released.zip?" + urlencode(parameters),
        export=shlex.join(["interplay", "episodes", "export", *options, "--format", "lerobot", "--out", "DIR"]),
    )  # fmt: skip


@router.post("/desk/search")
def save(request: Request, form: FormFields) -> Response:
    wanted = [text for text in form.get("where", "").split("\n") if text.strip()]
    address = [("task", form.get("task", "")), *(("where", text) for text in wanted)]
    try:
        saved, _, _ = Queries(services(request).archive).save(form.get("name", ""), task=form.get("task") or None, where=wanted)
    except InterplayError as error:
        raise HTTPException(422, str(error).partition("\n")[0]) from None
    return see_other("/desk/search?" + urlencode([*address, ("saved", saved.label)]))


CHANNELS = {AGENTS: "agents", NO_STUDY: "people in no study", "open": "study, open link", "prolific": "study, Prolific",
            "mturk": "study, Mechanical Turk"}  # fmt: skip
MAX_PARTS = 10
"""Largest number of parts (one for each colour). If there are more, the smallest parts are shown together as "others"."""


def by_day(hours: Iterable[Hours], name: str, say: Callable[[Hours], str]) -> dict[str, Any] | None:
    """Plot the hours of each day, divided into parts such as tasks, the largest part first; None without hours.

    Args:
        name: Title of the legend, such as "task".
        say: Returns the name of the part to which an entry of `hours` belongs.
    """
    hours = list(hours)
    totals: defaultdict[str, float] = defaultdict(float)
    for one in hours:
        totals[say(one)] += one.hours
    parts = sorted(totals, key=lambda part: (-totals[part], part))
    if len(parts) > MAX_PARTS:
        parts = [*parts[: MAX_PARTS - 1], "others"]
    sums: defaultdict[tuple[str, int], float] = defaultdict(float)
    for one in hours:
        part = say(one)
        sums[one.day, parts.index(part) if part in parts else MAX_PARTS - 1] += one.hours
    rows = [(part, day, round(total, 4)) for (day, part), total in sorted(sums.items())]
    return _of_days("stack", name, parts, "hours", rows) if rows else None


def cumulative(hours: Iterable[Hours]) -> dict[str, Any] | None:
    """Plot the sum of hours up to each day, for people and for agents; None for fewer than two days."""
    days: dict[str, list[float]] = {}
    for one in hours:
        days.setdefault(one.day, [0.0, 0.0])[one.channel == AGENTS] += one.hours
    if len(days) < 2:
        return None
    order = sorted(days)
    rows = [
        (number, day, round(total, 4))
        for number in (0, 1)
        for day, total in zip(order, accumulate(days[day][number] for day in order), strict=True)
    ]
    return _of_days("lines", "played by", ["people", "agents"], "hours so far", rows)


def _of_days(kind: str, name: str, parts: Sequence[str], what: str, rows: Sequence[tuple[int, str, float]]) -> dict[str, Any]:
    return {
        "kind": kind,
        "columns": [(name, ""), ("day", "date"), (what, "hours")],
        "series": [{"name": part, "hue": number} for number, part in enumerate(parts)],
        "rows": rows,
    }


def _sums(hours: Iterable[Hours], names: Mapping[str, str]) -> list[tuple[str, str, float, int]]:
    found: dict[tuple[str, str], list[float]] = {}
    for one in hours:
        sums = found.setdefault((names.get(one.task, one.task), CHANNELS.get(one.channel, one.channel)), [0.0, 0])
        sums[0] += one.hours
        sums[1] += one.num_episodes
    return sorted(((*key, total, int(count)) for key, (total, count) in found.items()), key=lambda row: -row[2])


def _histogram(found: Bins | None, unit: str) -> dict[str, Any] | None:
    return None if found is None else histogram(found, "episodes", unit=unit)


def _study_ids(request: Request) -> list[str]:
    return [one.study.id for one in services(request).studies.all()]


def _overview(request: Request) -> Overview:
    return Overview(services(request).archive.database)
