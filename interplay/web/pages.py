"""The pages."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import Response
from fastapi.templating import Jinja2Templates

templates = Jinja2Templates(directory=Path(__file__).parent / "templates")
router = APIRouter(include_in_schema=False)


@router.get("/healthz", include_in_schema=False)
def health() -> dict[str, str]:
    """Alive: answers as soon as the application does."""
    return {"status": "ok"}


@router.get("/")
def library(request: Request) -> Response:
    """The tasks, by suite."""
    return templates.TemplateResponse(request, "library.html", {"suites": request.app.state.suites})
