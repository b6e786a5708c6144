"""The rule of release in SQLite and in PostgreSQL: the view says the same, and so do the queries that use it."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from interplay import testing
from interplay.store import (
    Database,
    EpisodeRow,
    EpisodeSeat,
    Participant,
    PlaySession,
    ReleaseChoice,
    StudyRow,
    StudyVersion,
    releases,
)
from interplay.store.episodes import EpisodeQuery, count_episodes, find_episodes
from interplay.store.releases import counts
from interplay.store.study.studies import add_enrolment
from interplay.tasks import find

TASK = find("atari/breakout")


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    """A migrated database of either kind."""
    sqlite = f"sqlite:///{tmp_path}/interplay.db"
    database = Database.open(sqlite if request.param == "sqlite" else request.getfixturevalue("new_postgres_url")())
    yield database
    database.close()


def test_the_view_decides_in_every_database(database):
    with database.write() as session:
        testing.add_task(session, TASK)
        session.add(StudyVersion(content_hash="v1", study="games", definition={}, created_at=testing.START))
        session.flush()
        session.add(StudyRow(id="games", content_hash="v1", opened_at=testing.START))
        people = [Participant(key=f"key-{name}", created_at=testing.START) for name in ("yes", "no", "open")]
        session.add_all(people)
        session.flush()
        for person, may_release in zip(people, (True, False), strict=False):
            arrived = testing.START - timedelta(hours=1)
            add_enrolment(
                session, enrolment_id=f"visit-{person.id}", study="games", study_hash="v1", participant_id=person.id,
                channel="open", worker=f"participant-{person.id}", assignment="", arrival={}, now=arrived, consented=True,
                may_release=may_release,
            )  # fmt: skip
        for person in people:
            name = f"participant-{person.id}"
            values = testing.episode_values(TASK, name, 1, id=person.key, actor_kind="human", participant_id=person.id)
            session.add(EpisodeRow(**values))
        session.flush()
        for person in people[:2]:
            session.add(
                PlaySession(
                    id=person.key, task=TASK.id, task_hash=TASK.content_hash, seed=1, created_at=testing.START, actor="",
                    actor_kind="human", participant_id=person.id, episode_id=person.key, enrolment_id=f"visit-{person.id}",
                )
            )  # fmt: skip
        testing.add_episode(session, TASK, "random", 2)

    def released() -> set[str]:
        with database.read() as session:
            found = find_episodes(session, EpisodeQuery(released=True))
            assert count_episodes(session, EpisodeQuery(released=True)) == len(found)
            rows = session.execute(sa.text("SELECT episode FROM episode_facts WHERE may_release")).scalars()
            assert set(rows) == {row.id for row in found}
            return {row.id for row in found}

    assert released() == {"key-yes", "breakout-random-2"}
    with database.read() as session:
        assert counts(session) == (1, 1, 2)
    with database.write() as session:
        session.add(ReleaseChoice(participant_id=None, may_release=True, note="", created_at=testing.START))
        session.add(ReleaseChoice(participant_id=people[0].id, may_release=False, note="", created_at=testing.START))
    assert released() == {"key-open", "breakout-random-2"}
    with database.write() as session:
        rows = find_episodes(session, EpisodeQuery(released=True))
        releases.save_query(session, name="q", task=None, conditions=[], rows=rows, now=testing.START)
        session.execute(sa.delete(EpisodeSeat).where(EpisodeSeat.episode_id == "key-open"))
    with database.read() as session:
        assert {row.id for row in find_episodes(session, EpisodeQuery(saved=("q", 1)))} == {"key-open", "breakout-random-2"}
