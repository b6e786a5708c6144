"""Agents over HTTP: tokens, small real videos, an application over an empty data folder."""

import io
import warnings
from datetime import UTC, datetime

import av
import numpy as np

from interplay.play.connections.tokens import operator_token
from interplay.store.tokens import create_token

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Starlette would like another HTTP library
    from starlette.testclient import TestClient

TASK = "atari/breakout"
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def mp4(shade: int = 0, *, num_frames: int = 12, size: int = 64) -> bytes:
    """A short H.264 video in which a bright square walks; `shade` makes one differ from another."""
    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=20)
        stream.width = stream.height = size
        stream.pix_fmt = "yuv420p"
        for number in range(num_frames):
            pixels = np.full((size, size, 3), shade % 200, np.uint8)
            pixels[8:24, number : number + 16] = 240
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode())
    return file.getvalue()


def token(archive, name: str, scope: str = "agents") -> str:
    """A new token."""
    with archive.database.write() as session:
        return create_token(session, name=name, scope=scope, now=NOW)


def client(app, bearer: str | None = None) -> TestClient:
    """Somebody with a cookie jar of their own, and with a token if one is given."""
    headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
    return TestClient(app, raise_server_exceptions=False, headers=headers)


def operator(app, archive) -> TestClient:
    """The operator's program."""
    return client(app, operator_token(archive.root))


def propose(team, name: str = "red", tasks=(TASK,), **more):
    """Propose an agent; the answer."""
    return team.post("/api/agents", json={"name": name, "tasks": list(tasks), **more})


def upload(team, name: str, seed: int, video: bytes, task: str = TASK):
    """Upload one video; the answer."""
    return team.put(f"/api/agents/{name}/tasks/{task}/videos/{seed}", content=video, headers={"Content-Type": "video/mp4"})
