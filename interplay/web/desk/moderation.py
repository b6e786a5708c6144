"""The operator's pages: sign in, approve or decline proposed agents, and ban judges whose answers cannot be trusted.

All these pages are plain forms. Another site cannot send a form in the operator's name: browsers send the cookie only from our
own pages (SameSite=Strict), and `SecurityMiddleware` refuses changes that other sites request.
"""

from __future__ import annotations

import math
import re
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import Response

from interplay.errors import NotFoundError
from interplay.judge.form import PROBLEMS
from interplay.judge.serving.checks import JudgeSummary
from interplay.web.agents.documents import AgentDocument, documents
from interplay.web.agents.routes import change_state
from interplay.web.desk.access import desk
from interplay.web.http.forms import FormFields, is_own_address, see_other
from interplay.web.http.identity import current_operator, sign_in, sign_out
from interplay.web.rendering import render, titles
from interplay.web.services import services

router = APIRouter(include_in_schema=False)

_VERBS = {"approve", "decline", "withdraw", "restore"}
_MAX_REASON_CHARS = 1000
JUDGES_PER_PAGE = 50
PROBLEMS_SHOWN = 50


def _own_address(address: str) -> str:
    return address if is_own_address(address) else "/moderation"


@router.get("/operator")
def operator(request: Request, next: str = "/moderation") -> Response:
    """Show the form to sign in with the operator's token. After sign-in, list videos and milestones that could not be made."""
    context: dict[str, Any] = {"signed_in": current_operator(request), "next": _own_address(next), "problem": ""}
    queues = {"video": services(request).films, "milestones": services(request).milestones}
    context["failures"] = [(what, *one) for what, queue in queues.items() for one in queue.failures().items()]
    return render(request, "operator.html", "Moderation", **context)


@router.post("/operator")
def enter(request: Request, form: FormFields) -> Response:
    next_address = _own_address(form.get("next", ""))
    response = see_other(next_address)
    if sign_in(request, response, form.get("token", "").strip()):
        return response
    problem = "This is not the operator's token. It is in the file operator.token of the data folder."
    return render(request, "operator.html", "Moderation", status=401, signed_in=False, next=next_address, problem=problem)


@router.post("/operator/leave")
def leave(request: Request) -> Response:
    response = see_other("/operator")
    sign_out(response)
    return response


@router.get("/moderation")
def moderation(request: Request, judges: Annotated[int, Query(ge=1, le=100_000)] = 1) -> Response:
    """Show waiting agents, all other agents, and one page of the list of judges (most failed checks first)."""
    if not current_operator(request):
        return see_other("/operator?next=/moderation")
    known = documents(request, services(request).roster.rows(), set())
    problems = services(request).judging.last_problems(PROBLEMS_SHOWN)
    bans = services(request).bans
    summaries = _most_doubtful_first(services(request).judging.judges())
    num_pages = max(1, math.ceil(len(summaries) / JUDGES_PER_PAGE))
    page = min(judges, num_pages)
    first = (page - 1) * JUDGES_PER_PAGE
    return desk(
        request, "moderation.html", "/moderation",
        waiting=[agent for agent in known if _has(agent, "waiting")],
        others=[agent for agent in known if not _has(agent, "waiting")],
        judges=summaries[first : first + JUDGES_PER_PAGE], first=first + 1, num_judges=len(summaries),
        page=page, num_pages=num_pages, bans={one.ban.judge: one.ban for one in bans.all()}, workers=bans.workers(),
        problems=problems, problem_words=PROBLEMS, titles=titles(request),
    )  # fmt: skip


@router.post("/moderation/agents")
def decide(request: Request, form: FormFields) -> Response:
    _require_operator(request)
    verb, name, reason = form.get("verb", ""), form.get("name", ""), form.get("reason", "").strip()
    if verb not in _VERBS:
        raise HTTPException(422, f"unknown action {verb[:20]!r}; go back and press one of the buttons")
    if verb == "decline":
        _check_reason(reason)
    change_state(request, name, verb, task=form.get("task") or None, reason=reason)  # type: ignore[arg-type]
    return see_other(f"/moderation#agent-{quote(name)}")


@router.post("/moderation/judges")
def stop(request: Request, form: FormFields) -> Response:
    _require_operator(request)
    verb, judge, reason = form.get("verb", ""), form.get("judge", ""), form.get("reason", "").strip()
    if verb not in ("ban", "unban"):
        raise HTTPException(422, f"unknown action {verb[:20]!r}; go back and press one of the buttons")
    if verb == "ban":
        _check_reason(reason)
    bans = services(request).bans
    try:
        bans.ban([judge], reason) if verb == "ban" else bans.unban([judge])
    except NotFoundError:
        raise HTTPException(404, f"unknown judge {judge[:100]!r}; nobody with this name has judged here") from None
    page = form.get("page", "")
    return see_other(f"/moderation?judges={page}#judges" if re.fullmatch("[1-9][0-9]{0,4}", page) else "/moderation#judges")


def _require_operator(request: Request) -> None:
    if not current_operator(request):
        raise HTTPException(401, "you are no longer signed in as the operator; open /operator and sign in again")


def _check_reason(reason: str) -> None:
    if not reason or len(reason) > _MAX_REASON_CHARS or "\0" in reason:
        raise HTTPException(422, f"a reason is needed, of at most {_MAX_REASON_CHARS:,} characters; go back and write one")


def _has(agent: AgentDocument, state: str) -> bool:
    return any(entry.state == state for entry in agent.tasks)


def _most_doubtful_first(judges: list[JudgeSummary]) -> list[JudgeSummary]:
    def key(judge: JudgeSummary) -> tuple[Any, ...]:
        failed = judge.num_attention - judge.attention_passed + judge.num_repeats - judge.repeats_consistent
        return (judge.is_banned, -failed, -judge.num_answers, judge.judge)

    return sorted(judges, key=key)
