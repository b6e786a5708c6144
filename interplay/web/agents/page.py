"""Pages of agents: the list of all agents, and the page of one agent with its ratings, judges' answers and videos."""

from __future__ import annotations

from collections import Counter
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from interplay.judge.ratings.boards import Boards
from interplay.web.agents.access import hidden_tasks, judged_now, may_know, viewer_of
from interplay.web.agents.documents import document_of, documents
from interplay.web.http.identity import current_operator
from interplay.web.judging.board import boards_of, hues_of
from interplay.web.plots import history
from interplay.web.rendering import picture_address, render, titles
from interplay.web.services import services

router = APIRouter(include_in_schema=False)

REASONS_SHOWN = 8


@router.get("/agents")
def agent_list(request: Request) -> Response:
    boards = boards_of(request)
    known = documents(request, services(request).roster.rows(viewer_of(request)), hidden_tasks(request))
    overall = {row["agent"]: row for row in boards.board()["rows"]}
    place = {name: number for number, name in enumerate(overall)}
    known.sort(key=lambda agent: (place.get(agent.name, len(overall)), agent.name))
    return render(request, "agents.html", "Leaderboard", agents=known, overall=overall, hues=hues_of(boards))


@router.get("/agents/{name}")
def agent_page(request: Request, name: str) -> Response:
    boards = boards_of(request)
    up_to = boards.published_sequence()
    roster, hidden = services(request).roster, hidden_tasks(request)
    agent = document_of(request, roster.get(name, viewer_of(request)), hidden)
    said = roster.said_of(agent.name, services(request).tasks, num_reasons=REASONS_SHOWN, without=hidden, up_to=up_to)
    tasks = [entry.task for entry in agent.tasks]
    for task in tasks:
        may_know(request, task)  # an operator reads all reasons, and it is kept that they looked
    standings = [(task, row) for task in (None, *tasks) if (row := _row(boards, task, agent.name)) is not None]
    track, num_answers = boards.tracks().get(agent.name), boards.board()["num_answers"]
    hues = hues_of(boards)
    pictures = {
        task.id: picture_address(task)
        for suite in services(request).suites
        for task in suite.tasks
        if task.id in tasks and task.env.is_playable
    }
    return render(
        request, "agent.html", "Leaderboard", pictures=pictures,
        agent=agent, standings=standings if len(tasks) > 1 else standings[:1], tally=said.tally, reasons=said.reasons,
        judged_now=judged_now(request), titles=titles(request), hue=hues.get(agent.name, 0) % 10,
        history=history({agent.name: track}, hues, num_answers=num_answers) if track else None,
        is_moderator=current_operator(request),
    )  # fmt: skip


def _row(boards: Boards, task: str | None, name: str) -> dict[str, Any] | None:
    rows = boards.board(task)["rows"]
    group_size = Counter(row["group"] for row in rows)
    return next(({**row, "of": group_size[row["group"]]} for row in rows if row["agent"] == name), None)
