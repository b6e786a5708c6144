"""Pages of agents: all of them, and one with its ratings, what judges said of it, and its videos."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from interplay.judge.boards import Boards
from interplay.judge.tally import tally
from interplay.store.answers import judged_definitions
from interplay.store.boards import last_reasons, verdicts
from interplay.tasks import Question, Task
from interplay.web.agent_access import hidden_tasks, known_agent, visible_agents
from interplay.web.agent_documents import document_of, documents
from interplay.web.board import hues_of
from interplay.web.identity import current_operator
from interplay.web.pages import render, titles
from interplay.web.plots import history

router = APIRouter(include_in_schema=False)

REASONS_SHOWN = 8


@router.get("/agents")
def agent_list(request: Request) -> Response:
    """Every agent that is or was judged, with its places."""
    boards: Boards = request.app.state.boards
    with request.app.state.archive.database.read() as session:
        known = documents(request, session, visible_agents(request, session), hidden_tasks(request, session))
    overall = {row["agent"]: row for row in boards.board()["rows"]}
    known.sort(key=lambda agent: (overall[agent.name]["rank"] if agent.name in overall else len(overall) + 1, agent.name))
    return render(request, "agents.html", "Leaderboard", agents=known, overall=overall, hues=hues_of(boards))


@router.get("/agents/{name}")
def agent_page(request: Request, name: str) -> Response:
    """One agent."""
    boards: Boards = request.app.state.boards
    with request.app.state.archive.database.read() as session:
        rows = known_agent(request, session, name)
        hidden = hidden_tasks(request, session)
        agent = document_of(request, session, rows, hidden)
        counted = tally(verdicts(session, agent.name), _questions(request, session))
        reasons = last_reasons(session, agent.name, limit=REASONS_SHOWN, without=hidden)
    tasks = [entry.task for entry in agent.tasks]
    standings = [(task, row) for task in (None, *tasks) if (row := _row(boards, task, agent.name)) is not None]
    track, num_answers = boards.tracks().get(agent.name), boards.board()["num_answers"]
    hues = hues_of(boards)
    return render(
        request, "agent.html", "Leaderboard",
        agent=agent, standings=standings if len(tasks) > 1 else standings[:1], tally=counted, reasons=reasons,
        hidden=hidden & set(tasks), titles=titles(request), hue=hues.get(agent.name, 0) % 10,
        history=history({agent.name: track}, hues, num_answers=num_answers) if track else None,
        is_moderator=current_operator(request),
    )  # fmt: skip


def _row(boards: Boards, task: str | None, name: str) -> dict[str, Any] | None:
    """The agent's row on a board, with how many rows there are."""
    rows = boards.board(task)["rows"]
    return next(({**row, "of": len(rows)} for row in rows if row["agent"] == name), None)


def _questions(request: Request, session: Session) -> dict[str, Sequence[Question]]:
    """Task -> its form: as it is on offer, or as it was when it was last judged."""
    tasks = {task: Task.from_json(definition) for task, definition in judged_definitions(session).items()}
    tasks |= request.app.state.tasks
    return {task_id: task.questions for task_id, task in tasks.items()}
