"""Pages of a study of play over HTTP, on the real application: what comes next, waiting, and finishing."""

import re
import warnings
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from urllib.parse import urlencode

import numpy as np
import pytest
from sqlalchemy import select
from study_world import PROLIFIC, close_study, enrolments, open_study

from interplay import testing
from interplay.agents import find as find_agent
from interplay.agents import rollout
from interplay.play.games.interfaces import State
from interplay.store import EpisodeRow, EpisodeSeat, sessions
from interplay.store.study import visits as store
from interplay.tasks import find
from interplay.web.app import create_app
from interplay.web.studies.play import _open_seats

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
def client(archive):
    return TestClient(create_app(archive), base_url="http://testserver")


CHOICE = (
    TWO.replace("by_link = true", 'choice = "chosen"')
    + """reward = 1.50
[[variants.requirements]]
statistic = "score"
required = 1000
[variants.bonus]
kind = "linear"
max = 0.50
statistic = "score"
full_at = 2000
"""
)


def test_a_seat_is_open_to_others_only_while_its_player_is_there():
    seats = (SimpleNamespace(is_open=False), SimpleNamespace(is_open=True))
    games = [
        SimpleNamespace(study=SimpleNamespace(study="points", variant="pong"), state=state, is_waited_in=there, seats=seats)
        for state, there in ((State.WAITING, True), (State.WAITING, False), (State.EMPTY, False), (State.PLAYING, True))
    ]
    services = SimpleNamespace(play=SimpleNamespace(games=games))
    request = SimpleNamespace(app=SimpleNamespace(state=SimpleNamespace(services=services)))
    assert _open_seats(request, SimpleNamespace(study="points")) == {"pong": 1}


def words_of(page) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.text))


def test_what_is_asked_and_paid_is_said_before_anybody_agrees_and_before_they_choose(client, archive):
    study = open_study(archive, CHOICE)
    page = words_of(client.get("/studies/points", params=PROLIFIC))
    assert "Complete with Games: at least 1, in some games Score: at least 1,000, in some games" in page
    assert "0.75 to 1.50 USD when it is complete, and a bonus of up to 0.50 USD, which rises with score up to 2,000" in page
    cards = words_of(begin(client, study))
    assert "Complete with Games: at least 1. You get 0.75 USD then." in cards
    promise = "You get 1.50 USD then, and a bonus of up to 0.50 USD, which rises with score up to 2,000."
    assert f"Complete with Score: at least 1,000. {promise}" in cards
    volunteer = TestClient(client.app, base_url="http://testserver")
    form = {"version": study.content_hash, "decision": "begin"}
    cards = words_of(volunteer.post("/studies/points/begin", data=form))
    assert "Complete with Score: at least 1,000." in cards
    assert "You get" not in cards, "nobody is paid through an open link"


def begin(client, study, **more: str):
    """Agree, and follow to what comes next."""
    form = PROLIFIC | more | {"version": study.content_hash, "decision": "begin"}
    return client.post(
        f"/studies/{study.id}/begin", content=urlencode(form), headers={"Content-Type": "application/x-www-form-urlencoded"}
    )


def add_game(archive, *, state: str = "ended", is_sealed: bool = True, partner: str = "") -> None:
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
            seats = [seat]
            if partner:
                seats.append(EpisodeSeat(seat="other", actor=partner, actor_kind="agent", num_steps=60, total_reward=0.0))
            session.add(EpisodeRow(**testing.episode_values(task, f"participant-{person}", 1, id=episode), seats=seats))


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


def test_who_waited_for_a_partner_is_offered_to_leave_and_goes_with_the_code_for_that(client, archive):
    text = STUDY.replace("[pay]", "[waiting]\nafter_s = 90\npay = 0.40\n[pay]").replace("LEFT2", 'LEFT2", no_partner = "ALONE3')
    study = open_study(archive, text.replace("atari/breakout", "atari-two/space_invaders_cooperative"))
    welcome = client.get("/studies/points", params=PROLIFIC).text
    assert "Players who have waited 1 min 30 s may leave and get 0.40 USD for waiting." in " ".join(welcome.split())
    token = token_of(begin(client, study))
    assert "Leave, and get 0.40 USD for waiting" in client.get("/studies/points/play", params=token).text
    assert "Leave the study?" in client.get("/studies/points/leave", params=token).text
    enrolment = enrolments(archive, "points")[0]
    with archive.database.write() as session:
        sessions.open_session(
            session, id="s", task="t", task_hash="", seed=1, actor="", actor_kind="human", participant_id=None,
            now=datetime.now(UTC),
        )  # fmt: skip
        session.flush()
        store.bind(session, "s", enrolment.id)
        sessions.note_waited(session, "s", 95.0, "nobody")
        sessions.set_session_state(session, "s", "ended", is_known=True, now=datetime.now(UTC))
    assert client.get("/studies/points/progress", params=token).json()["has_waited"]
    asked = client.get("/studies/points/leave", params=token).text
    assert "Nobody came to play with you" in asked
    assert "0.40 USD" in asked
    end = client.post("/studies/points/leave", params=token).text
    assert "ALONE3" in end
    assert "0.40 USD" in end
    assert "0.75" not in end


def test_questions_about_the_partner_come_before_the_next_game_and_name_no_agent(client, archive):
    asked = '[play]\nblind = true\nreveal = true\n[questions]\nuse = "teamwork"\n[pay]'
    study = open_study(archive, STUDY.replace("[pay]", asked))
    assert "and answer a few questions about your partner" in client.get("/studies/points").text
    token = token_of(begin(client, study))
    add_game(archive, partner="secret-policy")
    page = client.get("/studies/points/play", params=token)
    assert page.url.path == "/studies/points/questions"
    assert "secret-policy" not in page.text
    statements = dict(re.findall(r'type="radio" name="(\w+)" value="(4)"', page.text))
    assert len(statements) == 6
    form = {"form": re.search(r'name="form" value="([^"]+)"', page.text)[1]}
    some = client.post("/studies/points/questions", params=token, data=form | {"trust": "2"})
    assert some.status_code == 422
    assert "Please answer every question; 5 have no answer yet: My partner and I worked well together." in some.text
    assert 'name="trust" value="2" checked' in some.text, "what was chosen stays"
    asked = client.post("/studies/points/finish", params=token)
    assert asked.url.path == "/studies/points/questions"
    end = client.post(
        re.search(r'<form method="post" action="([^"]+)"', asked.text)[1].replace("&amp;", "&"), data=form | statements
    ).text
    assert "DONE1" in end, "who wanted to finish has"
    assert "Game 1: an agent" in end
    assert "secret-policy" not in end


@pytest.mark.parametrize("is_blind", [True, False])
def test_questions_say_which_partner_where_an_agent_took_over(client, archive, is_blind):
    asked = f'[play]\nblind = {str(is_blind).lower()}\n[questions]\nuse = "teamwork"\n[pay]'
    token = token_of(begin(client, open_study(archive, STUDY.replace("[pay]", asked))))
    add_game(archive, partner="secret-policy")
    with archive.database.write() as session:
        episode = session.scalars(select(EpisodeRow)).one()
        held = {"seat": "other", "num_steps": 30, "total_reward": 0.0}
        episode.seats.append(EpisodeSeat(actor="participant-9", actor_kind="human", position=-1, **held))
    page = words_of(client.get("/studies/points/questions", params=token))
    said = "Your partner changed during game 1: a person, then an agent. Please think of the partner with whom you began it."
    assert (said in page) == (not is_blind)
    assert ("If a partner changed during a game, think of the partner with whom you began it." in page) == is_blind


def test_until_a_blind_study_is_closed_nobody_reads_who_played_its_episodes(client, archive):
    episode = rollout(
        archive, find("atari/breakout"), find_agent("random", archive), 1, rng=np.random.default_rng(0), max_steps=5
    )
    begin(client, open_study(archive, STUDY.replace("[pay]", "[play]\nblind = true\n[pay]")))
    with archive.database.write() as session:
        sessions.open_session(
            session, id="s", task=episode.task_id, task_hash="", seed=1, actor="", actor_kind="human", participant_id=None,
            now=datetime.now(UTC),
        )  # fmt: skip
        session.flush()
        store.bind(session, "s", enrolments(archive, "points")[0].id)
        sessions.set_session_state(session, "s", "ended", is_known=True, episode_id=episode.id, now=datetime.now(UTC))
    facts = client.get(f"/api/episodes/{episode.id}")
    assert facts.json()["held"] == [{"seat": "player"}], "what the replay needs"
    assert "random" not in facts.text
    assert client.get(f"/episodes/{episode.id}").status_code == 403
    assert episode.id not in client.get("/episodes").text
    close_study(archive, "points")
    assert client.get(f"/api/episodes/{episode.id}").json()["actor"] == "random"
    assert "random" in client.get(f"/episodes/{episode.id}").text
    assert episode.id in client.get("/episodes").text


def test_a_study_by_its_open_link_says_what_it_pays_and_that_this_link_pays_nothing(client, archive):
    open_study(archive, STUDY)
    page = " ".join(client.get("/studies/points").text.split())
    assert "Nothing is paid through this link: it is for volunteers." in page
    assert "People who come from Prolific get 0.75 USD when it is complete." in page
    page = " ".join(client.get("/studies/points", params=PROLIFIC).text.split())
    assert "volunteers" not in page
    assert "0.75 USD when it is complete." in page


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
