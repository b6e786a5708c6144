"""Agents and tokens in both databases: states, claims, who belongs to whom, and tokens of which only digests are kept."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from interplay.errors import NotFoundError
from interplay.store import Agent, ApiToken, Database, agents
from interplay.store.tokens import (
    SCOPES,
    TokenExistsError,
    create_token,
    is_token_name,
    revoke_token,
    token_row,
    tokens,
)

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TASK, OTHER = "atari/breakout", "atari/qbert"


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def database(request, tmp_path_factory):
    """A migrated database of either kind."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path_factory.mktemp('agents')}/interplay.db"
    else:
        url = request.getfixturevalue("new_postgres_url")()
    database = Database.open(url)
    yield database
    database.close()


@pytest.fixture
def session(database):
    """A session that writes; nothing of it stays."""
    with database.write() as session:
        yield session
        session.rollback()


def states(session, name: str = "red") -> dict[str, str]:
    session.expire_all()
    return {agent.task: agents.state(agent) for agent in agents.agents(session, name=name)}


def propose(session, name: str = "red", task: str = TASK, by: str | None = "team"):
    return agents.propose(session, name=name, task=task, kind="PPO", description="d", proposed_by=by, now=NOW)


def test_an_agent_waits_is_declined_approved_withdrawn_and_restored(session):
    propose(session)
    assert states(session) == {TASK: "waiting"}
    assert agents.decline(session, name="red", reason="Too dark.", now=NOW) == 1
    assert states(session) == {TASK: "declined"}
    assert agents.agents(session, name="red")[0].declined_because == "Too dark."
    assert agents.decline(session, name="red", reason="Again.", now=NOW) == 0
    assert agents.approve(session, name="red", now=NOW) == 1
    assert states(session) == {TASK: "approved"}
    assert agents.agents(session, name="red")[0].declined_because == ""
    assert agents.decline(session, name="red", reason="Too late.", now=NOW) == 0
    assert agents.withdraw(session, name="red", now=NOW) == 1
    assert agents.approve(session, name="red", now=NOW) == 0
    assert states(session) == {TASK: "withdrawn"}
    assert agents.restore(session, name="red") == 1
    assert states(session) == {TASK: "approved"}


def test_what_was_withdrawn_while_it_waited_comes_back_waiting(session):
    propose(session)
    agents.withdraw(session, name="red", now=NOW)
    agents.restore(session, name="red")
    assert states(session) == {TASK: "waiting"}


def test_each_task_is_decided_on_its_own(session):
    propose(session)
    propose(session, task=OTHER)
    assert agents.approve(session, name="red", task=OTHER, now=NOW) == 1
    assert states(session) == {TASK: "waiting", OTHER: "approved"}
    assert agents.approve(session, name="red", now=NOW) == 1


def test_an_agent_belongs_to_whoever_brought_it_first(session):
    propose(session)
    admitted = agents.admit(session, name="red", task=OTHER, kind="agent", now=NOW)
    assert admitted.proposed_by == "team"
    agents.admit(session, name="random", task=TASK, kind="agent", now=NOW)
    assert propose(session, "random", OTHER).proposed_by is None


def test_proposing_again_changes_the_text_and_not_the_state(session):
    propose(session)
    agents.approve(session, name="red", now=NOW)
    again = agents.propose(session, name="red", task=TASK, kind="SAC", description="new", proposed_by="team", now=NOW)
    assert (again.kind, again.description) == ("SAC", "new")
    assert states(session) == {TASK: "approved"}


def test_names_are_taken_whatever_their_capitals(session):
    assert not agents.is_name_taken(session, "red")
    propose(session, "Red")
    assert agents.is_name_taken(session, "rED")


def test_waiting_agents_are_counted_by_name(session):
    propose(session)
    propose(session, task=OTHER)
    propose(session, "blue")
    propose(session, "green", by="other")
    assert agents.num_waiting(session, "team") == 2
    agents.approve(session, name="blue", now=NOW)
    assert agents.num_waiting(session, "team") == 1


# Tokens


@pytest.mark.parametrize("scope", SCOPES)
def test_a_token_is_known_by_its_digest_alone(session, scope):
    token = create_token(session, name=f"team-{scope}", scope=scope, now=NOW)
    row = token_row(session, token)
    assert row is not None
    assert (row.name, row.scope, row.digest) == (f"team-{scope}", scope, hashlib.sha256(token.encode()).hexdigest())
    stored = session.execute(sa.select(ApiToken.__table__)).all()
    assert not any(token in str(value) for record in stored for value in record)
    for guess in ("", token[:-1], token + "x", row.digest, "interplay-", "%", "_" * 50):
        assert token_row(session, guess) is None


def test_a_revoked_token_opens_nothing_and_keeps_its_name(session):
    token = create_token(session, name="team", scope="agents", now=NOW)
    assert revoke_token(session, name="team", now=NOW + timedelta(days=1))
    assert not revoke_token(session, name="team", now=NOW + timedelta(days=2))
    assert token_row(session, token) is None
    with pytest.raises(TokenExistsError, match="there is or was a token named 'team'; choose another name"):
        create_token(session, name="team", scope="agents", now=NOW)
    assert [(row.name, row.revoked_at) for row in tokens(session)] == [("team", NOW + timedelta(days=1))]


def test_mistakes_about_tokens_are_named(session):
    with pytest.raises(ValueError, match="scope must be one of agents, judge, read, got 'all'"):
        create_token(session, name="x", scope="all", now=NOW)  # type: ignore[arg-type]
    create_token(session, name="team-red", scope="read", now=NOW)
    with pytest.raises(NotFoundError, match="unknown token 'team-rad'; did you mean 'team-red'"):
        revoke_token(session, name="team-rad", now=NOW)


def test_a_token_may_judge_under_its_name_so_it_is_nobody_elses():
    assert is_token_name("team.red_2@lab")
    for name in ("", "operator", "participant-7", "model:x", "set/worker", "a b", "x" * 61):
        assert not is_token_name(name)


def test_only_approved_agents_count_as_judged(session):
    from interplay.store import judging

    for name in ("red", "blue"):
        propose(session, name)
    assert judging.judged_tasks(session) == []
    for name in ("red", "blue"):
        agents.approve(session, name=name, now=NOW)
    assert judging.judged_tasks(session) == [TASK]
    agents.withdraw(session, name="red", now=NOW)
    assert judging.judged_tasks(session) == []
    assert session.scalar(sa.select(sa.func.count()).select_from(Agent)) == 2
