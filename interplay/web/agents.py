"""Agents over HTTP: propose one, upload its videos, let it in or refuse it, take it out and back. docs/agents-api.md explains.

A token of scope `agents` speaks for the agents it proposed and for no others. Whoever has no token sees what was approved.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

from fastapi import APIRouter, Depends, Request
from fastapi.security import HTTPBearer
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from interplay.agents import names as agent_names
from interplay.store import agents as store
from interplay.web import agent_uploads
from interplay.web.agent_access import (
    Holder,
    check_own,
    hidden_tasks,
    is_askable,
    known_agent,
    require_operator,
    task_on_offer,
    visible_agents,
)
from interplay.web.agent_documents import AgentDocument, Change, Decline, Proposal, Uploaded, document_of, documents
from interplay.web.identity import is_given_name
from interplay.web.refusals import agent_refusals, refusal

_BEARER = HTTPBearer(
    auto_error=False,
    scheme_name="token",
    description="A token of the operator (`interplay judge token create NAME --scope agents`), or the operator's own.",
)
router = APIRouter(prefix="/api/agents", tags=["agents"], dependencies=[Depends(_BEARER)])

MAX_WAITING = 20
"""Agents of one token that may wait for a moderator at a time."""


@router.get("", responses=agent_refusals(401))
def list_agents(request: Request, task: str | None = None) -> list[AgentDocument]:
    """Every agent that is or was judged, by name; with a token, also those it proposed; for the operator, all."""
    if task is not None and not is_askable(task):
        return []
    with request.app.state.archive.database.read() as session:
        rows = visible_agents(request, session, task=task)
        return documents(request, session, rows, hidden_tasks(request, session))


@router.get("/{name}", responses=agent_refusals(401, 404))
def show_agent(request: Request, name: str) -> AgentDocument:
    """One agent: where it stands, and its videos."""
    with request.app.state.archive.database.read() as session:
        return document_of(request, session, known_agent(request, session, name), hidden_tasks(request, session))


@router.post("", status_code=201, responses=agent_refusals(401, 403, 409, 422))
def propose_agent(request: Request, proposal: Proposal, token: Holder) -> AgentDocument:
    """Propose an agent; a moderator decides when its videos are there. Again, to add tasks or change what it says."""
    tasks = [task_on_offer(request, task_id) for task_id in dict.fromkeys(proposal.tasks)]
    name = proposal.name
    if not is_given_name(name):
        raise refusal(422, f"name: an agent cannot be called {name!r}; names of that kind are people's")
    with request.app.state.archive.database.write() as session:
        known = store.agents(session, name=name)
        if (known and token not in (None, known[0].proposed_by)) or (not known and _is_taken(request, session, name)):
            raise refusal(409, f"the name {name!r} is taken (capitals make no other name); choose another one")
        if token is not None and not known and store.num_waiting(session, token) >= MAX_WAITING:
            raise refusal(409, f"{MAX_WAITING} agents of yours wait for a moderator; propose more when some are decided")
        for task in tasks:
            store.propose(
                session, name=name, task=task.id, kind=proposal.kind, description=proposal.description,
                proposed_by=token, now=datetime.now(UTC),
            )  # fmt: skip
        return document_of(request, session, list(store.agents(session, name=name)), set())


@router.put(
    "/{name}/tasks/{suite}/{task}/videos/{seed}",
    status_code=201,
    responses=agent_refusals(401, 403, 404, 409, 413, 422, 429, 503),
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": "The mp4 itself, H.264, not a form.",
            "content": {"video/mp4": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def upload_video(request: Request, name: str, suite: str, task: str, seed: int) -> Uploaded:
    """Upload the video of an agent on one held-out seed of a task, while it waits for a moderator; the same one twice is once.

    What was approved stays as it was approved: a changed agent is proposed under another name.
    """
    wanted, token = await run_in_threadpool(agent_uploads.check, request, name, f"{suite}/{task}", seed)
    async with agent_uploads.received(request, token) as path:
        return await run_in_threadpool(agent_uploads.add, request, wanted, name, seed, path)


@router.post("/{name}/approve", responses=agent_refusals(401, 403, 404, 409))
def approve_agent(request: Request, name: str, change: Change | None = None) -> AgentDocument:
    """Let an agent into matchmaking; for the operator."""
    require_operator(request)
    return change_state(request, name, "approve", task=change and change.task)


@router.post("/{name}/decline", responses=agent_refusals(401, 403, 404, 409, 422))
def decline_agent(request: Request, name: str, decline: Decline) -> AgentDocument:
    """Refuse an agent that waits, with a reason; for the operator. What it brought is kept."""
    require_operator(request)
    return change_state(request, name, "decline", task=decline.task, reason=decline.reason)


@router.post("/{name}/withdraw", responses=agent_refusals(401, 403, 404, 409))
def withdraw_agent(request: Request, name: str, token: Holder, change: Change | None = None) -> AgentDocument:
    """Show an agent to judges no more, by its proposer or the operator; its answers stay and count."""
    with request.app.state.archive.database.read() as session:
        check_own(known_agent(request, session, name), token)
    return change_state(request, name, "withdraw", task=change and change.task)


@router.post("/{name}/restore", responses=agent_refusals(401, 403, 404, 409))
def restore_agent(request: Request, name: str, change: Change | None = None) -> AgentDocument:
    """Undo a withdrawal; for the operator."""
    require_operator(request)
    return change_state(request, name, "restore", task=change and change.task)


Verb = Literal["approve", "decline", "withdraw", "restore"]


def change_state(request: Request, name: str, verb: Verb, *, task: str | None = None, reason: str = "") -> AgentDocument:
    """Do what a moderator decided.

    Raises:
        HTTPException: 404 for an unknown agent or task of it, 409 where there is nothing to change.
    """
    now = datetime.now(UTC)
    with request.app.state.archive.database.write() as session:
        rows = known_agent(request, session, name)
        if task is not None and task not in {row.task for row in rows}:
            raise refusal(404, f"{name} was not proposed for {task}")
        if verb == "approve":
            count = store.approve(session, name=name, task=task, now=now)
        elif verb == "decline":
            count = store.decline(session, name=name, task=task, reason=reason, now=now)
        elif verb == "withdraw":
            count = store.withdraw(session, name=name, task=task, now=now)
        else:
            count = store.restore(session, name=name, task=task)
        if count == 0:
            states = "; ".join(f"{row.task}: {store.state(row)}" for row in rows if task in (None, row.task))
            raise refusal(409, f"there is nothing to {verb} for {name} ({states})")
    with request.app.state.archive.database.read() as session:
        return document_of(request, session, list(store.agents(session, name=name)), set())


def _is_taken(request: Request, session: Session, name: str) -> bool:
    """Whether a name that no agent here has is spoken for: by episodes, by another spelling, or by an agent that ships."""
    shipped = {agent.name.lower() for agent in agent_names(request.app.state.archive)}
    return name.lower() in shipped or store.is_name_taken(session, name)
