"""Videos over HTTP, whole or in the parts that browsers ask for."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from fastapi import Request
from fastapi.responses import FileResponse, Response, StreamingResponse

from interplay.record.films.variation import vary

AT_ONCE_BYTES = 256 * 1024
"""Number of bytes to read from the disk at a time."""
_PART = re.compile(r"bytes=(\d{1,18})-(\d{0,18})")
_ANY_PART = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


class _Video(FileResponse):
    chunk_size = AT_ONCE_BYTES


def video_response(request: Request, path: Path, headers: Mapping[str, str], *, filename: str | None = None) -> Response:
    """Return an mp4, or the requested part of it (FileNotFoundError if the file is gone).

    Call this only from plain `def` handlers, because it reads the file. A part of up to `AT_ONCE_BYTES` is read at once: a page
    that seeks requests many small parts. A longer part is streamed.
    """
    with path.open("rb") as file:
        stat = os.fstat(file.fileno())
        whole = _Video(path, headers=headers, media_type="video/mp4", filename=filename, stat_result=stat)
        asked = _PART.fullmatch(request.headers.get("range", ""))
        if asked is None or request.method != "GET" or "if-range" in request.headers:
            return whole
        first = int(asked[1])
        last = min(int(asked[2] or stat.st_size), stat.st_size - 1)
        if not first <= last < first + AT_ONCE_BYTES:
            return whole
        file.seek(first)
        part = file.read(last - first + 1)
    there = {"content-range": f"bytes {first}-{last}/{stat.st_size}", "content-length": str(len(part))}
    return Response(part, 206, {**whole.headers, **there})


def varied_response(request: Request, path: Path, headers: Mapping[str, str], secret: bytes) -> Response:
    """Return an mp4, or the requested part of it, with other bytes than the file (FileNotFoundError if the file is gone).
    `record.films.variation` makes these bytes."""
    shown = vary(path, secret)
    size = shown.size_bytes
    common = {**headers, "Accept-Ranges": "bytes", "Content-Type": "video/mp4"}
    asked = _ANY_PART.fullmatch(request.headers.get("range", ""))
    if asked is not None and request.headers.get("if-range", headers["ETag"]) != headers["ETag"]:
        asked = None
    if asked is None or asked.groups() == ("", ""):
        first, stop, status = 0, size, 200
    elif not asked[1]:
        first, stop, status = max(0, size - int(asked[2])), size, 206
    else:
        first, stop, status = int(asked[1]), min(int(asked[2] or size), size - 1) + 1, 206
    if first >= stop:
        return Response(status_code=416, headers={**headers, "Content-Range": f"bytes */{size}"})
    common["Content-Length"] = str(stop - first)
    if status == 206:
        common["Content-Range"] = f"bytes {first}-{stop - 1}/{size}"
    parts = shown.read(path, first, stop, AT_ONCE_BYTES)
    if stop - first <= AT_ONCE_BYTES:
        return Response(b"".join(parts), status, common)
    return StreamingResponse(parts, status, common)
