"""Studies in both databases: versions stay, an assignment belongs to one enrolment, the first outcome stays."""

from datetime import UTC, datetime, timedelta
from threading import Thread

import pytest
import sqlalchemy as sa

from interplay.store import Base, Database, QuizAttempt
from interplay.store.participants import add_participant, participant_by_worker
from interplay.store.study import money, studies

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def postgres_url(new_postgres_url):
    """A PostgreSQL database that the tests of this module share."""
    return new_postgres_url()


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    """A migrated database of either kind, with one study and one person in it."""
    url = f"sqlite:///{tmp_path}/interplay.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    database = Database.open(url)
    with database.write() as session:
        studies.open_study(session, study="caves", content_hash="v1", definition={"study": {"id": "caves"}}, now=NOW)
        add_participant(session, "key", NOW, channel="mturk", worker="A1ADA")
    yield database
    if request.param == "postgresql":  # shared by the tests of this module
        with database.write() as session:
            session.execute(sa.text("SET LOCAL session_replication_role = replica"))  # without the triggers that keep rows
            for table in reversed(Base.metadata.sorted_tables):
                session.execute(sa.delete(table))
    database.close()


def test_the_ledger_is_only_ever_added_to(database):
    with database.write() as session:
        enrol(session, "e1")
        now = {"kind": "reward", "state": "planned", "amount_cents": 100, "currency": "USD", "request": "r", "detail": ""}
        money.add_pay_event(session, enrolment_id="e1", now=NOW, **now)
    for change in ("UPDATE pay_events SET amount_cents = 1", "DELETE FROM pay_events"):
        with pytest.raises(sa.exc.DBAPIError, match="pay_events are only ever added"), database.write() as session:
            session.execute(sa.text(change))


def enrol(session, name, assignment="3A", worker="A1ADA"):
    person = participant_by_worker(session, "mturk", worker)
    return studies.add_enrolment(
        session, enrolment_id=name, study="caves", study_hash="v1", participant_id=person.id, channel="mturk", worker=worker,
        assignment=assignment, arrival={"hit": "3HIT"}, now=NOW, consented=True,
    )  # fmt: skip


def test_a_new_version_leaves_the_old_one_and_reopening_keeps_one_row(database):
    with database.write() as session:
        studies.close_study(session, "caves", NOW)
        studies.open_study(session, study="caves", content_hash="v2", definition={"x": 1}, now=NOW + timedelta(days=1))
        studies.open_study(session, study="caves", content_hash="v2", definition={"x": 1}, now=NOW + timedelta(days=2))
    with database.read() as session:
        (row,) = studies.study_rows(session)
        assert (row.content_hash, row.closed_at) == ("v2", None)
        assert [version.content_hash for version in studies.study_versions(session, "caves")] == ["v1", "v2"]
        assert studies.study_version(session, "v1").definition == {"study": {"id": "caves"}}


def test_one_worker_holds_one_assignment_once(database):
    with database.write() as session:
        enrol(session, "a")
    with pytest.raises(sa.exc.IntegrityError), database.write() as session:
        enrol(session, "b")
    with database.read() as session:
        assert [one.id for one in studies.enrolments_of_assignment(session, "caves", "mturk", "3A")] == ["a"]


def test_the_first_outcome_stays_and_people_are_counted_by_it(database):
    with database.write() as session:
        enrol(session, "a")
        enrol(session, "b", "3B")
        studies.end_enrolment(session, "a", "done", NOW)
        studies.end_enrolment(session, "a", "withdrawn", NOW + timedelta(hours=1))
    with database.read() as session:
        ended = studies.enrolment_by_id(session, "a")
        assert (ended.outcome, ended.ended_at) == ("done", NOW)
        assert studies.count_enrolments(session) == {"caves": {"done": 1, "working": 1}}


def test_the_last_sign_of_life_is_the_latest_of_all(database):
    later = NOW + timedelta(minutes=5)
    with database.write() as session:
        enrolment = enrol(session, "a")
        assert studies.last_seen(session, enrolment) == NOW
        studies.add_quiz_attempt(
            session, enrolment_id="a", quiz="q", quiz_hash="h", responses={}, share=0.5, passed=False, now=later
        )
        assert studies.last_seen(session, enrolment) == later
        assert studies.quiz_attempts(session, "caves", enrolment.participant_id)[0].share == 0.5
        assert session.query(QuizAttempt).count() == 1


def test_the_ledger_keeps_its_order(database):
    with database.write() as session:
        enrol(session, "a")
        for state in ("planned", "failed", "planned", "sent"):
            money.add_pay_event(
                session, enrolment_id="a", kind="reward", state=state, amount_cents=375, currency="USD", request="reward:a",
                detail="", now=NOW,
            )  # fmt: skip
    with database.read() as session:
        assert [event.state for event in money.pay_events(session, "caves")] == ["planned", "failed", "planned", "sent"]
        assert [event.state for event in money.pay_events_of(session, ["a"])] == ["planned", "failed", "planned", "sent"]
        assert money.pay_events_of(session, ["b"]) == money.pay_events_of(session, []) == []


def test_of_two_ends_at_once_the_first_stays(database):
    with database.write() as session:
        enrol(session, "a")

    def leave():
        with database.write() as session:
            studies.end_enrolment(session, "a", "withdrawn", NOW + timedelta(hours=1))

    other = Thread(target=leave)
    with database.write() as session:
        studies.end_enrolment(session, "a", "done", NOW)
        other.start()
        other.join(0.3)  # time to read the part as it was before, if nothing made it wait
    other.join()
    with database.read() as session:
        assert studies.enrolment_by_id(session, "a").outcome == "done"
