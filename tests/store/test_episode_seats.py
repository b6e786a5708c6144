"""Databases of before get the seats of their episodes and the mark of held-out seeds when they are opened."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config

import interplay.store
from interplay.store import Database, EpisodeRow

BEFORE = "0004"
EPISODES = {  # id -> seed, actor, kind, participant
    "person": (1, "participant-1", "human", 1),
    "agent": (2, "random", "agent", None),
    "other-version": (1, "random", "agent", None),
}


def at_revision(url: str, revision: str) -> None:
    """An empty database as an older release made it."""
    config = Config()
    config.set_main_option("script_location", str(Path(interplay.store.__file__).parent / "migrations"))
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        connection.commit()
    engine.dispose()


def fill(url: str) -> None:
    """Two versions of a task, which hold out seed 1 or seed 3, and three episodes."""
    engine = sa.create_engine(url)
    now = "2026-01-31 12:00:00+00:00"
    with engine.begin() as connection:
        connection.execute(sa.text(f"INSERT INTO participants (key, created_at) VALUES ('k', '{now}')"))
        for content_hash, seeds in (("h1", [1, 5]), ("h3", [3])):
            definition = json.dumps({"held_out_seeds": seeds, "seats": ["player"]})
            insert = "INSERT INTO tasks (content_hash, task, definition, created_at) VALUES (:hash, 't/a', :definition, :now)"
            connection.execute(sa.text(insert), {"hash": content_hash, "definition": definition, "now": now})
        for name, (seed, actor, kind, participant) in EPISODES.items():
            values = {
                "id": name, "task": "t/a", "task_hash": "h3" if name == "other-version" else "h1", "env": "none", "seed": seed,
                "actor": actor, "actor_kind": kind, "num_steps": 10, "duration_s": 1.0, "total_reward": 2.5, "terminated": True,
                "truncated": False, "outcome": "terminated", "frames": "replay", "created_at": now, "path": "p",
                "size_bytes": 1, "sha256": "", "participant_id": participant,
            }  # fmt: skip
            names = ", ".join(values)
            connection.execute(sa.text(f"INSERT INTO episodes ({names}) VALUES (:{', :'.join(values)})"), values)
    engine.dispose()


@pytest.fixture(params=["sqlite", "postgresql"])
def old_database(request, tmp_path) -> str:
    """Address of a database as the release before seats left it."""
    url = f"sqlite:///{tmp_path}/interplay.db" if request.param == "sqlite" else request.getfixturevalue("new_postgres_url")()
    at_revision(url, BEFORE)
    fill(url)
    return url


def test_episodes_of_before_get_one_seat_and_the_mark(old_database):
    """One actor held the only seat all the time; held out is what the episode's own version of the task says."""
    database = Database.open(old_database)
    with database.read() as session:
        rows = {row.id: row for row in session.scalars(sa.select(EpisodeRow))}
    database.close()
    assert {name: row.held_out for name, row in rows.items()} == {"person": True, "agent": False, "other-version": False}
    for name, (_, actor, kind, participant) in EPISODES.items():
        (held,) = rows[name].seats
        assert (held.seat, held.actor, held.actor_kind, held.participant_id) == ("player", actor, kind, participant)
        assert (held.num_steps, held.total_reward) == (10, 2.5)
