"""Who may see the recorded games of people: their players, the operator, and everybody where a release was agreed to."""

import warnings
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from itsdangerous import URLSafeSerializer

import interplay.record
from interplay import starter
from interplay.play.connections.tokens import operator_token
from interplay.record.exchange.queries import Queries
from interplay.store import Enrolment, EpisodeRow
from interplay.store.entrants import admit
from interplay.store.participants import add_participant
from interplay.store.study import studies
from interplay.study import tokens
from interplay.study.definition import find_study
from interplay.tasks import builtin_suites
from interplay.web.app import create_app
from interplay.web.http.identity import COOKIE, PUPIL_COOKIE
from interplay.web.studies.enrolments import PART_COOKIE

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Starlette would like another HTTP library
    from starlette.testclient import TestClient

NUM_SHIPPED = 4
"""Starter episodes of `TASK`."""
PARTS = ("", "/frames?count=1", "/land", "/scenes?count=1", "/video.mp4", "/drawing")
TASK, BLOCKS = "atari/breakout", "basalt/find_cave"
STUDY = find_study("incentives-all")


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """The starter episodes of two tasks; in the newest of each a participant sits, known as participant 1."""
    archive = interplay.record.open(tmp_path_factory.mktemp("games"))
    starter.enter(
        archive,
        [replace(suite, tasks=tuple(task for task in suite.tasks if task.id in (TASK, BLOCKS))) for suite in builtin_suites()],
    )
    with archive.database.write() as session:
        number = add_participant(session, "key of the player", datetime.now(UTC)).id
        assert number == 1
        for task in (TASK, BLOCKS):
            row = session.get_one(EpisodeRow, archive.episodes(task=task)[0].id)
            row.actor, row.actor_kind, row.participant_id = "participant-1", "human", number
            for seat in row.seats:
                seat.actor, seat.actor_kind, seat.participant_id = "participant-1", "human", number
        add_participant(session, "key of another", datetime.now(UTC))
        studies.open_study(
            session, study=STUDY.id, content_hash=STUDY.content_hash, definition=STUDY.to_json(), now=datetime.now(UTC)
        )
        session.flush()
        for number in (1, 2):
            session.add(
                Enrolment(
                    id=f"{number:024x}", study=STUDY.id, study_hash=STUDY.content_hash, participant_id=number,
                    channel="prolific", worker=f"w{number}", assignment=f"a{number}", arrival={},
                    arrived_at=datetime.now(UTC), ended_at=None, outcome=None, variant=None, accepted_s=None,
                )
            )  # fmt: skip
        admit(session, name="participant-1", task=TASK, kind="person", now=datetime.now(UTC))
    yield archive
    archive.close()


@pytest.fixture(scope="module")
def played(games):
    """The person's game."""
    return games.episodes(task=TASK, actor="human")[0].id


@pytest.fixture(scope="module")
def built(games):
    """The person's game in the block world."""
    return games.episodes(task=BLOCKS, actor="human")[0].id


@pytest.fixture(scope="module")
def app(games):
    return create_app(games)


@pytest.fixture
def visitor(app):
    """Somebody who has played nothing."""
    return TestClient(app)


@pytest.fixture
def player(app):
    """The browser in which the game was played."""
    return TestClient(app, cookies={COOKIE: signed(app, "key of the player")})


@pytest.fixture
def operator(app, games):
    return TestClient(app, headers={"Authorization": f"Bearer {operator_token(games.root)}"})


def signed(app, key: str) -> str:
    """The cookie of somebody."""
    return URLSafeSerializer(app.state.services.secret, salt="interplay.participant").dumps(key)


def token(app, number: int) -> str:
    """What stands for the part of a participant in a study."""
    return tokens.make(app.state.services.secret, f"{number:024x}")


def shown(client, episode: str) -> dict[str, int]:
    """What is answered to who asks for the parts of an episode that are on disk."""
    return {part: client.get(f"/api/episodes/{episode}{part}").status_code for part in ("", "/video.mp4", "/drawing")}


def listed(client) -> int:
    return client.get("/episodes", params={"task": TASK}).text.count('<tr><td><a href="/episodes/')


def test_a_visitor_sees_no_part_of_the_game_of_somebody_who_has_not_agreed(visitor, played, built):
    for episode in (played, built):
        for part in PARTS:
            answer = visitor.get(f"/api/episodes/{episode}{part}")
            assert (answer.status_code, answer.json()["error"]) == (403, "not_released"), part
    assert visitor.post(f"/api/episodes/{played}/film").status_code == 403
    assert "· 4 recorded" not in visitor.get("/").text
    page = visitor.get(f"/episodes/{played}")
    assert page.status_code == 403
    assert "has not agreed that others may see it" in page.text
    assert listed(visitor) == NUM_SHIPPED - 1
    assert "Operators sign in" in visitor.get("/episodes").text
    [entry] = visitor.get("/api/agents/participant-1").json()["tasks"]
    assert entry["videos"] == []


def test_somebody_else_in_the_same_study_sees_no_part_of_it(app, played):
    other = TestClient(app, cookies={PART_COOKIE: token(app, 2)}, headers={"Interplay-Enrolment": token(app, 2)})
    assert set(shown(other, played).values()) == {403}
    assert listed(other) == NUM_SHIPPED - 1


def test_agents_games_are_everybodys(visitor, games):
    agents = games.episodes(task=TASK, actor="agent")[0].id
    assert set(shown(visitor, agents).values()) == {200}
    assert visitor.get(f"/episodes/{agents}").status_code == 200


@pytest.fixture
def participant(app):
    """Whose browser says by its cookie that they work in a study; their games are those of participant 1."""
    return TestClient(app, cookies={PART_COOKIE: token(app, 1)})


@pytest.fixture
def framed(app):
    """The same in another site's frame, which no cookie reaches."""
    return TestClient(app, headers={"Interplay-Enrolment": token(app, 1)})


@pytest.fixture
def pupil(app):
    """A pupil of a class."""
    return TestClient(app, cookies={PUPIL_COOKIE: signed(app, "key of the player")})


@pytest.mark.parametrize("who", ["player", "operator", "participant", "framed", "pupil"])
def test_the_player_and_the_operator_see_the_game(who, played, built, request):
    client = request.getfixturevalue(who)
    for episode in (played, built):
        assert set(shown(client, episode).values()) == {200}
    assert client.get(f"/episodes/{played}").status_code == 200
    assert "· 4 recorded" in client.get("/").text
    assert client.get(f"/api/episodes/{built}").json()["has_scenes"] is (who == "operator")  # finding is that task
    assert listed(client) == NUM_SHIPPED


def test_who_agreed_to_a_release_is_seen_by_all_until_they_take_it_back(visitor, played, games):
    queries = Queries(games)
    queries.choose("participant-1", may_release=True, note="by mail")
    assert set(shown(visitor, played).values()) == {200}
    assert listed(visitor) == NUM_SHIPPED
    assert len(visitor.get("/api/agents/participant-1").json()["tasks"][0]["videos"]) == 1
    queries.choose("participant-1", may_release=False)
    assert set(shown(visitor, played).values()) == {403}
    assert listed(visitor) == NUM_SHIPPED - 1
