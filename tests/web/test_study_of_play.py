"""Pages of a study of play over HTTP, on the real application: what comes next, waiting, and finishing."""

import warnings
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import pytest
from study_world import PROLIFIC, close_study, enrolments, open_study

from interplay import testing
from interplay.store import EpisodeRow, EpisodeSeat, sessions
from interplay.store import visits as store
from interplay.tasks import find
from interplay.web.app import create_app

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Starlette would like another HTTP library
    from starlette.testclient import TestClient

STUDY = """
[study]
id = "points"
kind = "play"
title = "Points"
summary = "Play."
minutes = 5
contact = "Ada"
instructions = "Play."
[pay]
reward = 0.75
[[requirements]]
statistic = "games"
required = 1
[[variants]]
task = "atari/breakout"
[channels.open]
[channels.prolific]
codes = { done = "DONE1", nothing_left = "LEFT2" }
"""
TWO = STUDY.replace("[pay]", "[play]\nby_link = true\n[pay]") + '[[variants]]\ntask = "atari/qbert"\n'


@pytest.fixture
def archive(new_archive, tmp_path):
    archive = new_archive(tmp_path)
    yield archive
    archive.close()


@pytest.fixture
def client(archive):
    return TestClient(create_app(archive), base_url="http://testserver")


def begin(client, study, **more: str):
    """Agree, and follow to what comes next."""
    form = PROLIFIC | more | {"version": study.content_hash, "decision": "begin"}
    return client.post(
        f"/studies/{study.id}/begin", content=urlencode(form), headers={"Content-Type": "application/x-www-form-urlencoded"}
    )


def add_game(archive, *, state: str = "ended", is_sealed: bool = True) -> None:
    """A game of the one person who is in."""
    enrolment, task, now = enrolments(archive, "points")[0], find("atari/breakout"), datetime.now(UTC)
    number = len(enrolments(archive, "points"))
    person, episode = enrolment.participant_id, f"e{number}{state}{is_sealed}"
    with archive.database.write() as session:
        sessions.open_session(
            session, id=f"s-{episode}", task=task.id, task_hash=task.content_hash, seed=1, actor=f"participant-{person}",
            actor_kind="human", participant_id=person, seat="player", now=now,
        )  # fmt: skip
        session.flush()
        store.bind(session, f"s-{episode}", enrolment.id)
        sessions.set_session_state(session, f"s-{episode}", state, episode_id=episode, now=now)
        if is_sealed:
            testing.add_task(session, task)
            seat = EpisodeSeat(
                seat="player", actor=f"participant-{person}", actor_kind="human", num_steps=60, total_reward=1.0,
                participant_id=person,
            )  # fmt: skip
            session.add(EpisodeRow(**testing.episode_values(task, f"participant-{person}", 1, id=episode), seats=[seat]))


def token_of(page) -> dict[str, str]:
    return {"enrolment": page.url.params["enrolment"]}


def test_nobody_finishes_before_the_requirements_are_met(client, archive):
    page = begin(client, open_study(archive, STUDY))
    assert page.url.path == "/studies/points/play"
    token = token_of(page)
    after = client.post("/studies/points/finish", params=token)
    assert "0 games so far" in after.text
    assert enrolments(archive, "points")[0].outcome is None
    add_game(archive)
    after = client.post("/studies/points/finish", params=token)
    assert "DONE1" in after.text
    assert "0.75 USD" in after.text
    assert client.get("/studies/points/play", params=token).url.path == "/studies/points/end"


def test_a_game_that_is_being_saved_is_waited_for_unless_its_player_does_not_want_to(client, archive):
    page = begin(client, open_study(archive, STUDY))
    token = token_of(page)
    add_game(archive)
    add_game(archive, state="playing", is_sealed=False)
    after = client.post("/studies/points/finish", params=token)
    assert "Your last game is still being saved" in after.text
    assert enrolments(archive, "points")[0].outcome is None
    assert "DONE1" in client.post("/studies/points/finish", params=token, data={"without_it": "1"}).text


def test_when_a_study_closes_who_is_complete_is_done_and_others_get_the_code_of_nothing_left(client, archive):
    page = begin(client, open_study(archive, STUDY))
    token = token_of(page)
    close_study(archive, "points")
    assert "LEFT2" in client.get("/studies/points/next", params=token).text


def test_a_study_that_has_not_begun_says_when_it_opens(client, archive):
    opens = datetime.now(UTC) + timedelta(days=400)
    text = STUDY.replace('task = "atari/breakout"', f'task = "atari/breakout"\nopens = "{opens.isoformat()}"')
    page = begin(client, open_study(archive, text))
    assert page.url.path == "/studies/points/end"
    assert f"The next game opens on {opens:%d %B %Y at %H:%M} (UTC)." in page.text
    assert "LEFT2" in client.post("/studies/points/finish", params=token_of(page)).text


def test_the_link_names_the_task_and_it_stays_after_agreeing(client, archive):
    study = open_study(archive, TWO)
    welcome = client.get("/studies/points", params=PROLIFIC | {"task": "qbert"})
    assert '<input type="hidden" name="task" value="qbert">' in welcome.text
    assert "Q*bert" in begin(client, study, task="qbert").text
    assert (enrolments(archive, "points")[0].variant, enrolments(archive, "points")[0].variant_reason) == ("qbert", "link")


def test_a_choice_that_is_not_on_offer_is_refused(client, archive):
    study = open_study(archive, TWO.replace("by_link = true", 'choice = "chosen"'))
    page = begin(client, study)
    assert "What would you like to play?" in page.text
    wrong = client.post("/studies/points/choose", params=token_of(page), data={"variant": "qbrt"})
    assert wrong.status_code == 404
    assert "did you mean &#39;qbert&#39;" in wrong.text
    assert "Q*bert" in client.post("/studies/points/choose", params=token_of(page), data={"variant": "qbert"}).text


def test_progress_needs_the_persons_own_token(client, archive):
    page = begin(client, open_study(archive, STUDY))
    add_game(archive)
    found = client.get("/studies/points/progress", params=token_of(page)).json()
    assert (len(found["games"]), found["is_complete"], found["cents"]) == (1, True, 75)
    assert client.get("/studies/points/progress").status_code == 401
    assert client.get("/studies/points/progress", params={"enrolment": "x.y"}).status_code == 401
