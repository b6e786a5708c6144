"""The pages of `explore`: scenes with milestones, which people and language models play."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response

from interplay.tasks import Suite
from interplay.web.pages import render

router = APIRouter(include_in_schema=False)


def suite_of(request: Request) -> Suite:
    """The instances on offer, as tasks.

    Raises:
        HTTPException: 404 where this server offers none.
    """
    for suite in request.app.state.suites:
        if suite.id == "explore":
            return suite
    raise HTTPException(404, "This server does not offer the tasks of explore.")


@router.get("/explore")
def explore(request: Request) -> Response:
    """The tasks; of each its goal alone."""
    return render(request, "explore.html", "Play", suite=suite_of(request))
