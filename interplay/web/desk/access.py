"""Access to the desk: admit the operator; send everybody else to the sign-in page, or refuse the request."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from fastapi import HTTPException, Request
from fastapi.responses import Response
from starlette.requests import HTTPConnection

from interplay.web.http.identity import current_operator
from interplay.web.rendering import render

TABS = (
    ("/desk", "Live games"),
    ("/desk/studies", "Studies"),
    ("/desk/quality", "Quality"),
    ("/desk/collected", "Collected"),
    ("/desk/search", "Search"),
    ("/desk/money", "Money"),
    ("/moderation", "Moderation"),
    ("/classes", "Classes"),
    ("/moderation/feedback", "Feedback"),
)
"""The operator's pages, as (address, name)."""


def signed_in(request: Request) -> None:
    if not current_operator(request):
        back = quote(request.scope["path"]) if request.method == "GET" else "/desk"  # not `url.path`, which is not escaped
        raise HTTPException(
            303, "sign in as the operator", {"Location": f"/operator?next={quote(back)}", "Cache-Control": "no-store"}
        )


def may_watch(connection: HTTPConnection) -> bool:
    try:
        return current_operator(connection)
    except HTTPException:  # a token that nobody made
        return False


def desk(request: Request, name: str, tab: str, /, *, status: int = 200, **context: Any) -> Response:
    headers = {"Cache-Control": "no-store"}
    return render(request, name, "Operator", status=status, headers=headers, tabs=TABS, tab=tab, **context)
