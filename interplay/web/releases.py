"""Released episodes, for the operator alone: the list for `interplay episodes pull`, the files, and a zip."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import FileResponse, Response, StreamingResponse

from interplay.errors import MisuseError, NotFoundError
from interplay.record.exchange.publishing import Publishing
from interplay.web.agents.access import require_operator
from interplay.web.http.refusals import refusal
from interplay.web.services import services

router = APIRouter(tags=["data sets"], dependencies=[Depends(require_operator)])

Task = Annotated[str | None, Query(max_length=200, description="Id of a task.")]
Where = Annotated[list[str] | None, Query(max_length=50, description="Comparisons, such as `score >= 200`; all must hold.")]
Saved = Annotated[str | None, Query(max_length=200, description="A saved query, `name@version`.")]


@contextmanager
def _understood() -> Iterator[None]:
    try:
        yield
    except NotFoundError:
        raise
    except MisuseError as error:
        raise refusal(422, str(error).partition("\n")[0]) from None


@router.get("/api/released")
def list_released(
    request: Request,
    task: Task = None,
    where: Where = None,
    query: Saved = None,
    offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
) -> dict[str, Any]:
    """List a page of the episodes that may be released, with the hash and size of each file. `next` is the offset of the
    next page, or null. `num_withheld` counts other episodes that fit, but in which somebody did not agree to a release."""
    with _understood():
        page = Publishing(services(request).archive).page(task, where or [], query, offset)
    return {
        "episodes": [
            {"id": one.id, "task": one.task, "sha256": one.file.sha256, "size_bytes": one.file.size_bytes}
            for one in page.episodes
        ],
        "num_episodes": page.num_episodes,
        "num_withheld": page.num_withheld,
        "next": page.following,
    }


@router.get("/api/released/{episode_id}.parquet", response_class=FileResponse)
def released_file(request: Request, episode_id: str) -> Response:
    """Get the sealed file of an episode that may be released, or a part of it. People in it have pseudonyms."""
    copy = Publishing(services(request).archive).file(episode_id[:200])
    headers = {"ETag": f'"{copy.sha256}"', "Cache-Control": "private, no-cache"}
    return FileResponse(
        copy.path, headers=headers, media_type="application/vnd.apache.parquet", filename=f"{episode_id}.parquet"
    )


@router.get("/api/released.zip", response_class=StreamingResponse)
def released_zip(request: Request, task: Task = None, where: Where = None, query: Saved = None) -> Response:
    """Get every episode that fits and may be released in one zip: sealed files, and `episodes.json` with their facts."""
    wanted = [one for one in where or [] if one.strip()]
    with _understood():
        pieces = Publishing(services(request).archive).zipped(task or None, wanted, query)
    headers = {"Content-Disposition": 'attachment; filename="episodes.zip"', "Cache-Control": "no-store"}
    return StreamingResponse(pieces, media_type="application/zip", headers=headers)
