"""Agents over HTTP: propose one, upload its videos, let it in or refuse it, take it out and back. docs/agents-api.md explains.

A token of scope `agents` speaks for the agents it proposed and for no others. Whoever has no token sees what was approved.
"""

from __future__ import annotations

import errno
import secrets
import shutil
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request
from fastapi.security import HTTPBearer
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from interplay.agents import names as agent_names
from interplay.errors import InterplayError, unknown_name
from interplay.judge import uploads
from interplay.record import Episode
from interplay.store import Agent
from interplay.store import agents as store
from interplay.store.boards import watched_tasks
from interplay.store.catalogue import Shown, episodes_of_agents
from interplay.store.participants import judge_name
from interplay.tasks import Task, lookup
from interplay.web.agent_documents import (
    AgentDocument,
    AgentInTask,
    Change,
    Decline,
    Proposal,
    Uploaded,
    Video,
)
from interplay.web.identity import api_token, current_operator, is_given_name, known_participant
from interplay.web.refusals import refusals, refuse

_BEARER = HTTPBearer(
    auto_error=False,
    scheme_name="token",
    description="A token of the operator (`interplay judge token create NAME --scope agents`), or the operator's own.",
)
router = APIRouter(prefix="/api/agents", tags=["agents"], dependencies=[Depends(_BEARER)])

MAX_WAITING = 20
"""Agents of one token that may wait for a moderator at a time."""
MAX_VIDEO_BYTES = 500 * 1024 * 1024
"""Of one uploaded video, unless `create_app` says otherwise."""
_WRITE_BYTES = 1024 * 1024
_COPIES = 2
"""A video takes room for so many while it is received: what was sent, and what is kept."""
_NO_ROOM = "the server has no room for this video; tell its operator"


def is_askable(name: str) -> bool:
    """Whether a database may be asked for this name: PostgreSQL takes no zero byte."""
    return len(name) <= 200 and "\0" not in name


def holder(request: Request) -> str | None:
    """Name of the token of scope `agents` that asks; None is the operator.

    Raises:
        HTTPException: 401 or 403 for everybody else.
    """
    if current_operator(request):
        return None
    token = api_token(request)
    if token is None:
        refuse(401, "send a token as 'Authorization: Bearer ...'; the operator of this server makes one")
    if token.scope != "agents":
        refuse(403, f"this token is of scope {token.scope}; proposing agents needs one of scope agents")
    return token.name


Holder = Annotated[str | None, Depends(holder)]


def _only_operator(request: Request) -> None:
    if current_operator(request):
        return
    if api_token(request) is None:
        refuse(401, "only the operator may do this; send the operator's token as 'Authorization: Bearer ...'")
    refuse(403, "only the operator may do this")


def _sees(request: Request) -> tuple[bool, str | None]:
    """Whether whoever asks sees every agent, else the name of the token whose agents they see beside the approved ones."""
    if current_operator(request):
        return True, None
    token = api_token(request)
    return (False, None) if token is None else (token.scope == "read", token.name)


def sees_waiting(request: Request) -> bool:
    """Whether whoever asks may see every agent, also before a moderator has let it in."""
    return _sees(request)[0]


def check_shown(request: Request, episode: Episode) -> None:
    """Refuse a video that waits for a moderator to whoever neither brought it nor decides about it.

    Raises:
        HTTPException: 404, as if there were no such episode.
    """
    if not episode.is_video_only:
        return
    with request.app.state.archive.database.read() as session:
        rows = store.agents(session, episode.task_id, name=episode.actor)
        if rows and not visible_agents(request, session, name=episode.actor, task=episode.task_id):
            refuse(404, f"unknown episode {episode.id!r}")


def hidden_tasks(request: Request, session: Session) -> set[str]:
    """Tasks whose videos and reasons are kept back from this visitor: those they have a pair of before them (docs/judging.md).

    A judge who looks an agent up must not learn which of the two videos is its.
    """
    number = known_participant(request)
    return set() if number is None else watched_tasks(session, judge_name(number), datetime.now(UTC))


def visible_agents(request: Request, session: Session, *, name: str | None = None, task: str | None = None) -> list[Agent]:
    """The agents whoever asks may know of: approved once, or their own, or all."""
    sees_all, token = _sees(request)
    rows = store.agents(session, task, name=name)
    return [row for row in rows if sees_all or row.approved_at is not None or (token is not None and row.proposed_by == token)]


@router.get("", responses=refusals(401))
def list_agents(request: Request, task: str | None = None) -> list[AgentDocument]:
    """Every agent that is or was judged, by name; with a token, also those it proposed; for the operator, all."""
    if task is not None and not is_askable(task):
        return []
    with request.app.state.archive.database.read() as session:
        rows = visible_agents(request, session, task=task)
        return documents(request, session, rows, hidden_tasks(request, session))


@router.get("/{name}", responses=refusals(401, 404))
def show_agent(request: Request, name: str) -> AgentDocument:
    """One agent: where it stands, and its videos."""
    with request.app.state.archive.database.read() as session:
        return _document(request, session, known_agent(request, session, name), hidden_tasks(request, session))


@router.post("", status_code=201, responses=refusals(401, 403, 409, 422))
def propose_agent(request: Request, proposal: Proposal, token: Holder) -> AgentDocument:
    """Propose an agent; a moderator decides when its videos are there. Again, to add tasks or change what it says."""
    tasks = [_task(request, task_id) for task_id in dict.fromkeys(proposal.tasks)]
    name = proposal.name
    if not is_given_name(name):
        refuse(422, f"name: an agent cannot be called {name!r}; names of that kind are people's")
    with request.app.state.archive.database.write() as session:
        known = store.agents(session, name=name)
        if (known and token not in (None, known[0].proposed_by)) or (not known and _is_taken(request, session, name)):
            refuse(409, f"the name {name!r} is taken (capitals make no other name); choose another one")
        if token is not None and not known and store.num_waiting(session, token) >= MAX_WAITING:
            refuse(409, f"{MAX_WAITING} agents of yours wait for a moderator; propose more when some are decided")
        for task in tasks:
            store.propose(
                session, name=name, task=task.id, kind=proposal.kind, description=proposal.description,
                proposed_by=token, now=datetime.now(UTC),
            )  # fmt: skip
        return _document(request, session, list(store.agents(session, name=name)), set())


@router.put(
    "/{name}/tasks/{suite}/{task}/videos/{seed}",
    status_code=201,
    responses=refusals(401, 403, 404, 409, 413, 422, 429, 503),
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
    wanted, token = await run_in_threadpool(_may_upload, request, name, f"{suite}/{task}", seed)
    with _one_at_a_time(request, token):
        async with _received(request) as path:
            return await run_in_threadpool(_add_video, request, wanted, name, seed, path)


def _may_upload(request: Request, name: str, task_id: str, seed: int) -> tuple[Task, str | None]:
    """The task and who sends, if this video may be sent; everything is checked before the first byte is read."""
    token = holder(request)
    task = _task(request, task_id)
    if seed not in task.held_out_seeds:
        listed = ", ".join(str(one) for one in task.held_out_seeds[:20])
        refuse(422, f"seed: {seed} is no held-out seed of {task.id}; those are {listed}")
    with request.app.state.archive.database.read() as session:
        _own(known_agent(request, session, name), token)
        rows = store.agents(session, task.id, name=name)
        if not rows:
            refuse(404, f"{name} was not proposed for {task.id}; add the task with POST /api/agents")
        state = store.state(rows[0])
        if state == "withdrawn" or (state == "approved" and token is not None):
            refuse(409, f"{name} is {state} in {task.id}, and stays as it is; propose a changed agent under another name")
    return task, token


@contextmanager
def _one_at_a_time(request: Request, token: str | None) -> Iterator[None]:
    """Refuse a token whose last video is still being received, so that one token cannot fill the disk; not the operator."""
    if token is None:
        yield
        return
    if not hasattr(request.app.state, "receiving"):
        request.app.state.receiving = set()
    receiving: set[str] = request.app.state.receiving
    if token in receiving:
        refuse(429, "another video of yours is being received; send the next one when it has been answered")
    receiving.add(token)
    try:
        yield
    finally:
        receiving.discard(token)


@asynccontextmanager
async def _received(request: Request) -> AsyncIterator[Path]:
    """The request's body in a file, gone when the block ends."""
    limit: int = request.app.state.max_video_bytes
    too_large = f"the video is larger than {limit / 2**20:,.0f} MiB; make it shorter, or encode it more tightly"
    claimed = request.headers.get("content-length", "0")
    if claimed.isdecimal() and int(claimed) > limit:
        refuse(413, too_large)
    folder: Path = request.app.state.archive.root / "media" / "uploads"
    path = folder / f"{secrets.token_hex(12)}.mp4"
    await run_in_threadpool(folder.mkdir, parents=True, exist_ok=True)
    coming = int(claimed) if claimed.isdecimal() and int(claimed) > 0 else limit
    if (await run_in_threadpool(shutil.disk_usage, folder)).free < _COPIES * coming:
        refuse(503, _NO_ROOM)
    try:
        num_bytes = 0
        with path.open("wb") as file:
            pending = bytearray()
            async for chunk in request.stream():
                num_bytes += len(chunk)
                if num_bytes > limit:
                    refuse(413, too_large)
                pending += chunk
                if len(pending) >= _WRITE_BYTES:
                    await run_in_threadpool(file.write, bytes(pending))
                    pending.clear()
            await run_in_threadpool(file.write, bytes(pending))
        yield path
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            refuse(503, _NO_ROOM)
        raise
    finally:
        path.unlink(missing_ok=True)


def _add_video(request: Request, task: Task, name: str, seed: int, path: Path) -> Uploaded:
    archive = request.app.state.archive
    try:
        episode = uploads.add_video(archive, task=task, agent=name, seed=seed, path=path)
    except InterplayError as error:
        text = str(error).replace(str(path), "video.mp4").replace(path.name, "video.mp4")
        with archive.database.read() as session:
            there = {row.seed for row in store.episodes_of(session, name, task.id)}
        # Folders of this machine are no business of the sender.
        refuse(409 if seed in there else 422, text if str(archive.root) not in text else text.partition("\n")[0])
    with archive.database.read() as session:
        there = {row.seed for row in store.episodes_of(session, name, task.id)}
    missing = [one for one in task.held_out_seeds if one not in there]
    return Uploaded(agent=name, task=task.id, seed=seed, episode=episode, missing_seeds=missing)


@router.post("/{name}/approve", responses=refusals(401, 403, 404, 409))
def approve_agent(request: Request, name: str, change: Change | None = None) -> AgentDocument:
    """Let an agent into matchmaking; for the operator."""
    _only_operator(request)
    return change_state(request, name, "approve", task=change and change.task)


@router.post("/{name}/decline", responses=refusals(401, 403, 404, 409, 422))
def decline_agent(request: Request, name: str, decline: Decline) -> AgentDocument:
    """Refuse an agent that waits, with a reason; for the operator. What it brought is kept."""
    _only_operator(request)
    return change_state(request, name, "decline", task=decline.task, reason=decline.reason)


@router.post("/{name}/withdraw", responses=refusals(401, 403, 404, 409))
def withdraw_agent(request: Request, name: str, token: Holder, change: Change | None = None) -> AgentDocument:
    """Show an agent to judges no more, by its proposer or the operator; its answers stay and count."""
    with request.app.state.archive.database.read() as session:
        _own(known_agent(request, session, name), token)
    return change_state(request, name, "withdraw", task=change and change.task)


@router.post("/{name}/restore", responses=refusals(401, 403, 404, 409))
def restore_agent(request: Request, name: str, change: Change | None = None) -> AgentDocument:
    """Undo a withdrawal; for the operator."""
    _only_operator(request)
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
            refuse(404, f"{name} was not proposed for {task}")
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
            refuse(409, f"there is nothing to {verb} for {name} ({states})")
    with request.app.state.archive.database.read() as session:
        return _document(request, session, list(store.agents(session, name=name)), set())


def _task(request: Request, task_id: str) -> Task:
    try:
        return lookup(task_id[:200], request.app.state.tasks)
    except InterplayError as error:
        refuse(422, f"tasks: {str(error).partition(chr(10))[0]}")


def known_agent(request: Request, session: Session, name: str) -> list[Agent]:
    """An agent's rows, if whoever asks may know of it.

    Raises:
        HTTPException: 404, with the nearest name, for everybody else.
    """
    rows = visible_agents(request, session, name=name) if is_askable(name) else []
    if not rows:
        known = _names(visible_agents(request, session))
        refuse(404, str(unknown_name("agent", name[:100], known)))
    return rows


def _is_taken(request: Request, session: Session, name: str) -> bool:
    """Whether a name that no agent here has is spoken for: by episodes, by another spelling, or by an agent that ships."""
    shipped = {agent.name.lower() for agent in agent_names(request.app.state.archive)}
    return name.lower() in shipped or store.is_name_taken(session, name)


def _own(rows: list[Agent], token: str | None) -> None:
    if token is not None and rows[0].proposed_by != token:
        refuse(403, f"{rows[0].name} was proposed by somebody else; a token speaks for its own agents only")


def _names(rows: list[Agent]) -> list[str]:
    return list(dict.fromkeys(row.name for row in rows))


def documents(request: Request, session: Session, rows: list[Agent], hidden: set[str]) -> list[AgentDocument]:
    """Rows of many agents as programs get them, agent by agent."""
    by_name: dict[str, list[Agent]] = {}
    for row in rows:
        by_name.setdefault(row.name, []).append(row)
    brought = episodes_of_agents(session, by_name)
    sees_all, token = _sees(request)
    return [
        _one_document(request.app.state.tasks, same, brought, hidden, sees_proposer=sees_all or token == same[0].proposed_by)
        for same in by_name.values()
    ]


def _document(request: Request, session: Session, rows: list[Agent], hidden: set[str]) -> AgentDocument:
    """One agent's rows as programs get them."""
    return documents(request, session, rows, hidden)[0]


def _one_document(
    tasks: Mapping[str, Task],
    rows: list[Agent],
    brought: Mapping[tuple[str, str], list[Shown]],
    hidden: set[str],
    *,
    sees_proposer: bool,
) -> AgentDocument:
    entries = []
    for row in rows:
        episodes = brought.get((row.name, row.task), [])
        task = tasks.get(row.task)
        there = {one.seed for one in episodes if one.path}
        seeds = task.held_out_seeds if task is not None else ()
        entries.append(
            AgentInTask(
                task=row.task,
                title=task.title if task is not None else row.task,
                state=store.state(row),
                declined_because=row.declined_because,
                videos=[
                    Video(seed=one.seed, episode=one.episode, video=f"/api/episodes/{one.episode}/video.mp4")
                    for one in episodes
                    if row.task not in hidden and one.path and (not seeds or one.seed in seeds)
                ],
                missing_seeds=[seed for seed in seeds if seed not in there],
                hidden=row.task in hidden,
            )
        )
    first = rows[0]
    return AgentDocument(
        name=first.name,
        kind=first.kind,
        description=first.description,
        proposed_by=first.proposed_by if sees_proposer else None,
        page=f"/agents/{first.name}",
        tasks=entries,
    )
