"""Pages of the high scores of a task: the best players, the visitor's place, and the scores of agents."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response

from interplay.envs.make import has_score
from interplay.store.scores import SCORE
from interplay.study.scores import Board, bins, today
from interplay.tasks import Task
from interplay.web.agents.access import judged_now, withheld_here
from interplay.web.http.identity import known_participant
from interplay.web.plots import histogram
from interplay.web.rendering import find_task, render
from interplay.web.services import services
from interplay.wording import amount

router = APIRouter(include_in_schema=False)

PERIODS = {"all": "All time", "today": "Today"}
FEWEST = 2
"""Least number of people for a histogram."""


def compared_tasks(request: Request) -> list[Task]:
    """Return the tasks with high scores: tasks with one seat that have a score, or a statistic where one direction is better.
    Tasks of explore have boards of their own."""
    offered = [task for suite in services(request).suites if suite.id != "explore" for task in suite.tasks]
    return [task for task in offered if task.env.is_playable and len(task.seats) == 1 and statistics_of(request, task)]


def statistics_of(request: Request, task: Task) -> dict[str, tuple[str, bool, Any]]:
    """Map each statistic to its title, whether lower is better, and the format of its values; the score comes first."""
    found: dict[str, tuple[str, bool, Any]] = {}
    known = {one.name: one for one in services(request).archive.collected(task)}
    if has_score(task):
        found[SCORE] = ("Score", False, known[SCORE].readable if SCORE in known else lambda value: f"{value:,g}")
    for name, one in known.items():
        if one.better is not None and name not in found and (name != SCORE or has_score(task)):
            found[name] = (one.title, one.better == "lower", one.readable)
    return found


@router.get("/scores")
def tasks(request: Request) -> Response:
    return render(request, "scores_list.html", "Play", offered=compared_tasks(request))


@router.get("/scores/{suite}/{name}")
def scores(request: Request, suite: str, name: str, statistic: str = "", period: str = "all") -> Response:
    task, known = _compared_task(request, suite, name)
    chosen = statistic or next(iter(known))
    if chosen not in known or period not in PERIODS:
        raise HTTPException(404, f"{task.title} has these high scores: {', '.join(title for title, _, _ in known.values())}.")
    title, is_lower_better, readable = known[chosen]
    since = today(datetime.now(UTC)) if period == "today" else None
    board, checked = proved_board(request, task, chosen, is_lower_better=is_lower_better, since=since)
    headers = {"Cache-Control": "private, no-cache"}
    return render(
        request, "scores.html", "Play", headers=headers,
        task=task, statistics={one: words for one, (words, _, _) in known.items()}, chosen=chosen, title=title, period=period,
        periods=PERIODS, board=board, readable=readable, plot=board_plot(board, readable), is_lower_better=is_lower_better,
        checked=checked, withheld=withheld_here(request, [one.episode for one in board.top]),
    )  # fmt: skip


@router.get("/api/scores/{suite}/{name}", include_in_schema=True, tags=["episodes"])
def own_score(request: Request, suite: str, name: str) -> dict[str, Any]:
    """Show how the sender of the cookie stands among the high scores of a task: `own` is null without a complete game; its
    `value` is a text for people, `percentile` null for the first player. `num_unchecked` games of the list are still being
    played again; places may change until it is 0. The answer is 404 for a task without high scores.
    """
    task, known = _compared_task(request, suite, name)
    statistic, (title, is_lower_better, readable) = next(iter(known.items()))
    board, checked = proved_board(request, task, statistic, is_lower_better=is_lower_better, since=None)
    own = None if board.own is None else asdict(board.own) | {"value": readable(board.own.value)}
    return {"task": task.id, "title": title, "own": own, "num_unchecked": len(board.top) - len(checked)}


def _compared_task(request: Request, suite: str, name: str) -> tuple[Task, dict[str, tuple[str, bool, Any]]]:
    task = find_task(request, f"{suite}/{name}")
    if task not in compared_tasks(request):
        raise HTTPException(404, f"{task.title} has no high scores: it has several players, or no score.")
    if task.id in judged_now(request):
        raise HTTPException(403, "You have an open pair of this task, and judging is blind. Look again after you answer.")
    return task, statistics_of(request, task)


LETTERS = "ABCDEFGH"


def board_plot(board: Board, readable: Any) -> dict[str, Any] | None:
    if len(board.values) < FEWEST:
        return None
    marks = [
        (letter, f"{one.agent}, an agent: {readable(one.mean)} on average, {amount(one.episodes, 'episode')}", one.mean)
        for letter, one in zip(LETTERS, board.agents, strict=False)
    ]
    own = None if board.own is None else board.own.value
    inside = [value for _, _, value in marks] + ([] if own is None else [own])
    is_whole = all(value.is_integer() for value in board.values)
    return histogram(bins(board.values, inside, is_whole=is_whole), "people", own=own, marks=marks)


def proved_board(
    request: Request, task: Task, statistic: str, *, is_lower_better: bool, since: datetime | None
) -> tuple[Board, set[str]]:
    """Return a board without episodes whose replay is known to differ, and the proved episodes of the board."""
    service = services(request).scores
    queue = services(request).proofs
    different: set[str] = set()
    while True:
        board = service.board(
            task, statistic=statistic, is_lower_better=is_lower_better, person=known_participant(request), since=since,
            without=different,
        )  # fmt: skip
        known = {one.episode: queue.known(one) for one in board.top}
        if not (found := {episode for episode, is_equal in known.items() if is_equal is False}):
            return board, {episode for episode, is_equal in known.items() if is_equal}
        different |= found
