"""Agents over HTTP: propose an agent, upload its videos, approve, decline, withdraw or restore it. See docs/agents-api.md.

A token of scope `agents` may change only the agents that it proposed. Callers without a token see approved agents only.
"""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request
from fastapi.security import HTTPBearer
from starlette.concurrency import run_in_threadpool

from interplay.agents import names as agent_names
from interplay.judge.entrants.roster import ProposalError, Verb
from interplay.store.entrants import state
from interplay.store.participants import is_given_name
from interplay.web.agents import uploads as agent_uploads
from interplay.web.agents.access import Holder, check_own, hidden_tasks, require_operator, task_on_offer, viewer_of
from interplay.web.agents.documents import AgentDocument, Change, Decline, Proposal, Uploaded, document_of, documents
from interplay.web.http.refusals import agent_refusals, refusal
from interplay.web.services import services

_BEARER = HTTPBearer(
    auto_error=False,
    scheme_name="token",
    description="A token of the operator (`interplay judge token create NAME --scope agents`), or the operator's own.",
)
router = APIRouter(prefix="/api/agents", tags=["agents"], dependencies=[Depends(_BEARER)])


@router.get("", responses=agent_refusals(401))
def list_agents(request: Request, task: str | None = None) -> list[AgentDocument]:
    """List all agents that are or were judged, by name; with a token also its own proposals; for the operator, all agents."""
    return documents(request, services(request).roster.rows(viewer_of(request), task=task), hidden_tasks(request))


@router.get("/{name}", responses=agent_refusals(401, 404))
def show_agent(request: Request, name: str) -> AgentDocument:
    """Show one agent: its state in each task, and its videos."""
    return document_of(request, services(request).roster.get(name, viewer_of(request)), hidden_tasks(request))


@router.post("", status_code=201, responses=agent_refusals(401, 403, 409, 422))
def propose_agent(request: Request, proposal: Proposal, token: Holder) -> AgentDocument:
    """Propose an agent. A moderator decides when its videos are there. Send it again to add tasks or change the texts."""
    tasks = [task_on_offer(request, task_id) for task_id in dict.fromkeys(proposal.tasks)]
    name = proposal.name
    if not is_given_name(name):
        raise refusal(422, f"name: you cannot call an agent {name!r}; names of that form are for people")
    shipped = {agent.name.lower() for agent in agent_names(services(request).archive)}
    try:
        rows = services(request).roster.propose(
            name, [task.id for task in tasks], kind=proposal.kind, description=proposal.description, token=token,
            reserved=shipped,
        )  # fmt: skip
    except ProposalError as error:
        raise refusal(409, str(error)) from None
    return document_of(request, rows, set())


@router.put(
    "/{name}/tasks/{suite}/{task}/videos/{seed}",
    status_code=201,
    responses=agent_refusals(401, 403, 404, 409, 413, 422, 429, 503),
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": "The bytes of the mp4 (H.264), not a form.",
            "content": {"video/mp4": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def upload_video(request: Request, name: str, suite: str, task: str, seed: int) -> Uploaded:
    """Upload the video of an agent on one held-out seed of a task, while it waits for a moderator.

    Sending the same video again changes nothing. Approved videos cannot change: propose a changed agent under another name.
    """
    wanted, token = await run_in_threadpool(agent_uploads.check, request, name, f"{suite}/{task}", seed)
    async with agent_uploads.received(request, token) as path:
        return await run_in_threadpool(agent_uploads.add, request, wanted, name, seed, path)


@router.post("/{name}/approve", responses=agent_refusals(401, 403, 404, 409))
def approve_agent(request: Request, name: str, change: Change | None = None) -> AgentDocument:
    """Approve an agent, so that judges see it. For the operator."""
    require_operator(request)
    return change_state(request, name, "approve", task=change.task if change else None)


@router.post("/{name}/decline", responses=agent_refusals(401, 403, 404, 409, 422))
def decline_agent(request: Request, name: str, decline: Decline) -> AgentDocument:
    """Decline a pending agent, with a reason. Its videos are kept. For the operator."""
    require_operator(request)
    return change_state(request, name, "decline", task=decline.task, reason=decline.reason)


@router.post("/{name}/withdraw", responses=agent_refusals(401, 403, 404, 409))
def withdraw_agent(request: Request, name: str, token: Holder, change: Change | None = None) -> AgentDocument:
    """Stop showing an agent to judges. Its answers stay and count. For its proposer and the operator."""
    check_own(services(request).roster.get(name, viewer_of(request)), token)
    return change_state(request, name, "withdraw", task=change.task if change else None)


@router.post("/{name}/restore", responses=agent_refusals(401, 403, 404, 409))
def restore_agent(request: Request, name: str, change: Change | None = None) -> AgentDocument:
    """Undo a withdrawal. For the operator."""
    require_operator(request)
    return change_state(request, name, "restore", task=change.task if change else None)


def change_state(request: Request, name: str, verb: Verb, *, task: str | None = None, reason: str = "") -> AgentDocument:
    """Change an agent's state (NotFoundError for an unknown agent or task, 409 if there is nothing to change)."""
    roster = services(request).roster
    count = roster.change(verb, name, task=task, reason=reason, viewer=viewer_of(request))
    rows = roster.rows(name=name)
    if count == 0:
        states = "; ".join(f"{row.task}: {state(row)}" for row in rows if task in (None, row.task))
        raise refusal(409, f"there is nothing to {verb} for {name} ({states})")
    return document_of(request, rows, set())
