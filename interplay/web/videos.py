"""Videos over HTTP, whole or in the parts that browsers ask for."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from fastapi import Request
from fastapi.responses import FileResponse, Response

AT_ONCE_BYTES = 256 * 1024
"""What is read from the disk at a time."""
_PART = re.compile(r"bytes=(\d{1,18})-(\d{0,18})")


class _Video(FileResponse):
    chunk_size = AT_ONCE_BYTES


def video_response(request: Request, path: Path, headers: Mapping[str, str], *, filename: str | None = None) -> Response:
    """An mp4, or the part of it that is asked for. Call it from plain `def` handlers: it reads.

    A part of up to `AT_ONCE_BYTES`, of which a page that seeks asks for many, is read here and now; whatever is longer goes
    out piece by piece.

    Raises:
        FileNotFoundError: If it is not there.
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
