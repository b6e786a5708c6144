"""Pages of classes, high scores, feedback and the end of an open study over HTTP, on the real application."""

import re
import warnings
from datetime import UTC, datetime, timedelta
from html import unescape

import numpy as np
import pytest
from itsdangerous import URLSafeSerializer
from played_games import add_game
from study_world import open_study

import interplay.record
from interplay import testing
from interplay.play.connections.tokens import operator_token
from interplay.record.verification import proofs
from interplay.store import EpisodeRow
from interplay.store.study import visits
from interplay.study import tokens
from interplay.study.classes import Classes
from interplay.study.feedback import FeedbackBox
from interplay.study.people import People
from interplay.tasks import find
from interplay.web import feedback
from interplay.web.app import create_app
from interplay.web.classes import joining as join_pages
from interplay.web.http.identity import COOKIE, PUPIL_COOKIE
from interplay.web.http.rates import Rate

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Starlette would like another HTTP library
    from starlette.testclient import TestClient

TASK = find("atari/breakout")
NOW = datetime.now(UTC)
OPEN = """
[study]
id = "points"
kind = "play"
title = "Points"
summary = "How people learn."
minutes = 5
instructions = "Play."
[debrief]
about = "We look at <b>learning</b>."
learn = "More about play."
[[requirements]]
statistic = "games"
required = 1
[[variants]]
task = "atari/breakout"
[channels.open]
"""
EMAIL = OPEN.replace("[channels.open]", "[channels.email]\n[raffle]\nwinners = 1\nprize = 20\n[pay]\nreward = 0").replace(
    'id = "points"', 'id = "mail"'
)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    archive = interplay.record.open(tmp_path_factory.mktemp("class"))
    yield archive
    archive.close()


@pytest.fixture(scope="module")
def app(archive):
    return create_app(archive)


@pytest.fixture
def client(app, monkeypatch):
    monkeypatch.setattr(join_pages, "WRONG_CODES", Rate(3, 600))
    monkeypatch.setattr(feedback, "SENT", Rate(3, 600))
    return TestClient(app, base_url="http://testserver")


@pytest.fixture
def made(app):
    return app.state.services.classes.open("Class <9b>", ["atari/breakout", "atari/qbert"])


@pytest.fixture
def teacher(app, made):
    client = TestClient(app, base_url="http://testserver")
    page = client.get(f"/classes/{made.code}?key={tokens.teacher_key(app.state.services.secret, made.code)}")
    assert page.status_code == 200
    assert page.url.query == b""
    return client


def text_of(page) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.text.partition("<main")[2])).split())


def test_a_pupil_joins_by_code_and_nickname_and_sees_the_games_and_the_best(app, archive, client, made):
    assert "Type the code" in client.get("/join").text
    page = client.get("/join", params={"code": made.shown_code.lower()})
    assert "Class &lt;9b&gt;" in page.text
    assert "not use your real name" in page.text
    assert "No game" not in page.text
    assert "erased 30 days after the class ends" in page.text
    home = client.post("/join", data={"code": made.code, "nickname": "Ada Cat"})
    assert home.url.path == "/class"
    assert "Hello, Ada Cat" in home.text
    assert "/class/play/atari/breakout" in home.text
    person = app.state.services.classes.pupils(made)[0].participant
    with archive.database.write() as session:
        add_game(session, TASK, {person: 42}, at=NOW)
    home = text_of(client.get("/class"))
    assert "your best: 42" in home
    assert "you are number 1" in home
    play = client.get("/class/play/atari/breakout")
    assert "Back to the games of the class" in play.text
    assert "Ada Cat" in play.text
    assert "data-compare" not in play.text
    assert client.get("/class/play/atari/beam_rider").url.path == "/class"  # another game
    refused = client.post("/api/sessions", json={"task": "atari/beam_rider"})
    assert refused.status_code in (409, 503)  # 503: pages only, here no game server runs
    app.state.services.classes.close(made.code)
    assert "has ended" in client.get("/class").text
    assert client.get("/class/play/atari/breakout").url.path == "/class"
    assert client.post("/class/leave").url.path == "/join"
    assert client.get("/class").url.path == "/join"
    assert client.get("/class/play/atari/breakout").url.path == "/join"


def test_a_pupils_cookie_of_nobody_leaves_the_browser_its_own_person(app, client):
    own = app.state.services.people.find_or_add("own key")
    for name, value in ((COOKIE, sign(app, "own key")), (PUPIL_COOKIE, "not signed"), (PUPIL_COOKIE, sign(app, "gone"))):
        client.cookies.set(name, value)
        assert client.post("/api/judge/matches", json={"task": TASK.id}).status_code in (201, 409)  # needs a person
        assert client.cookies[COOKIE] == sign(app, "own key")
        assert app.state.services.participant_number(client.cookies[COOKIE]) == own
    assert client.get("/class").url.path == "/join"


def sign(app, key: str) -> str:
    return URLSafeSerializer(app.state.services.secret, salt="interplay.participant").dumps(key)


def test_what_is_wrong_with_a_code_or_nickname_is_said_and_guessing_stops(app, client, made):
    page = client.get("/join/AAAAAA")
    assert page.status_code == 404
    assert "letter by letter" in page.text
    client.post("/join", data={"code": made.code, "nickname": "Ada"})
    other = TestClient(app, base_url="http://testserver")
    page = other.post("/join", data={"code": made.code, "nickname": "aDa"})
    assert page.status_code == 409
    assert "has this nickname already" in page.text
    assert 'value="aDa"' in page.text
    page = other.post("/join", data={"code": made.code, "nickname": "<script>"})
    assert page.status_code == 409
    assert "<script>" not in page.text.partition("<main")[2].partition("<script type")[0]
    for _ in range(2):
        client.get("/join/CCCCCC")
    assert client.get("/join/CCCCCC").status_code == 429
    app.state.services.classes.close(made.code)
    assert TestClient(app, client=("192.0.2.9", 1)).get(f"/join/{made.code}").status_code == 410


def test_a_teacher_sees_the_class_live_takes_the_table_and_closes_it(app, archive, teacher, made):
    joined = [app.state.services.classes.join(made.code, name).pupil for name in ("Ada", "Bo")]
    with archive.database.write() as session:
        for number in range(4):
            add_game(session, TASK, {joined[0].participant: 10.0 * number}, at=NOW, id=f"c{number}", duration_s=60)
    page = teacher.get(f"/classes/{made.code}")
    said = text_of(page)
    assert made.shown_code in said
    assert "pupils 2" in said
    assert "minutes played 4" in said
    assert "best in Breakout 30" in said
    assert "Ada not on the projector yet 30 – 4 4.0 1 of 2" in said
    assert "middle score 15" in said
    assert 'data-plot="Scores of the class"' in page.text
    assert "Numbers from to games 0 5 1 5 10 0 10 15 1 " in said
    projector = teacher.get(f"/classes/{made.code}?view=projector").text
    assert "Close the class" not in projector
    assert "Who has played what" not in projector
    assert made.shown_code in projector
    table = teacher.get(f"/classes/{made.code}/results.csv")
    assert table.headers["content-type"].startswith("text/csv")
    assert table.text.count("Ada,atari/breakout") == 4
    page = teacher.post(f"/classes/{made.code}/rename", data={"participant": str(joined[1].participant)})
    assert page.status_code == 200
    assert "Bo" not in [one.nickname for one in app.state.services.classes.pupils(made)]
    for nobody in ("x", "-1", "9" * 5000):
        assert teacher.post(f"/classes/{made.code}/rename", data={"participant": nobody}).status_code == 200
    assert teacher.post(f"/classes/{made.code}/forget").status_code == 409
    teacher.post(f"/classes/{made.code}/close")
    assert "This class has ended" in teacher.get(f"/classes/{made.code}").text
    teacher.post(f"/classes/{made.code}/forget")
    page = teacher.get(f"/classes/{made.code}").text
    assert "nicknames of this class were erased" in page
    assert "Ada" not in page


def test_a_teacher_takes_a_pupil_out_who_may_join_again_as_somebody_else(app, archive, client, made, teacher):
    client.post("/join", data={"code": made.code, "nickname": "Ada"})
    (ada,) = app.state.services.classes.pupils(made)
    with archive.database.write() as session:
        episode = add_game(session, TASK, {ada.participant: 42}, at=NOW)
    other = app.state.services.classes.open("other", ["atari/breakout"])
    assert not app.state.services.classes.take_out(other.code, ada.participant)
    for nobody in ("x", "-1", str(ada.participant)):
        page = teacher.post(f"/classes/{made.code}/take-out", data={"participant": nobody})
        assert page.status_code == 200
    assert "Nobody has joined yet" in page.text
    assert app.state.services.classes.pupils(made) == []
    assert client.get("/class").url.path == "/join"
    with archive.database.read() as session:
        assert session.get(EpisodeRow, episode) is not None
    client.post("/join", data={"code": made.code, "nickname": "Ada"})
    assert [one.nickname for one in app.state.services.classes.pupils(made)] == ["Ada"]
    stranger = TestClient(app, base_url="http://testserver")
    assert stranger.post(f"/classes/{made.code}/take-out", data={"participant": "1"}).status_code == 403


def test_the_projector_shows_a_nickname_once_the_teacher_has_read_it(app, made, teacher):
    rude = app.state.services.classes.join(made.code, "Rude Word").pupil
    offered = app.state.services.classes.join(made.code, "").pupil
    projector = text_of(teacher.get(f"/classes/{made.code}?view=projector"))
    assert offered.nickname in projector
    assert "new pupil" in projector
    assert "Rude Word" not in projector
    mine = text_of(teacher.get(f"/classes/{made.code}"))
    assert "Rude Word not on the projector yet" in mine
    teacher.post(f"/classes/{made.code}/approve", data={"participant": [str(rude.participant), "x"]})
    assert "Rude Word" in text_of(teacher.get(f"/classes/{made.code}?view=projector"))


def test_a_phone_reads_the_link_from_the_teachers_page(teacher, made):
    cv2 = pytest.importorskip("cv2")
    page = teacher.get(f"/classes/{made.code}").text
    size = int(re.search(r'class="qr" viewBox="0 0 (\d+)', page)[1])
    picture = np.full((size, size), 255, np.uint8)
    for x, y in re.findall(r"M(\d+) (\d+)h1v1h-1z", page):
        picture[int(y), int(x)] = 0
    picture = np.pad(picture, 4, constant_values=255)
    seen = [np.kron(picture, np.ones((scale, scale), np.uint8)) for scale in (8, 5, 11, 4, 16)]
    read = {cv2.QRCodeDetector().detectAndDecode(one)[0] for one in seen}  # it misses a code of one size now and then
    assert read - {""} == {f"http://testserver/join/{made.shown_code}"}


def test_a_server_that_starts_erases_nicknames_that_are_due(app, archive):
    long_ago = Classes(archive.database, lambda: NOW - timedelta(days=40))
    made = long_ago.open("old", ["atari/breakout"], hours=1, keep_days=30)
    long_ago.join(made.code, "Ada")
    with TestClient(app):
        assert [one.nickname for one in app.state.services.classes.pupils(made)] == ["#1"]


def test_nobody_but_the_teacher_and_operators_sees_a_class(app, archive, client, made, teacher):
    other = app.state.services.classes.open("other", ["atari/breakout"])
    assert client.get(f"/classes/{made.code}").status_code == 403
    assert client.get(f"/classes/{made.code}?key=x").status_code == 403
    assert (
        client.get(f"/classes/{other.code}?key={tokens.teacher_key(app.state.services.secret, made.code)}").status_code == 403
    )
    assert teacher.get(f"/classes/{other.code}").status_code == 403
    assert client.post(f"/classes/{made.code}/close").status_code == 403
    assert client.get("/classes").url.path == "/operator"
    assert client.post("/classes", data={"title": "x", "task": "atari/breakout"}).status_code == 401
    client.post("/operator", data={"token": operator_token(archive.root)})
    assert made.shown_code in client.get("/classes").text
    assert client.get(f"/classes/{made.code}").status_code == 200
    page = client.post("/classes", data={"title": "x", "task": "atari/breakot", "hours": "1", "keep_days": "1"})
    assert page.status_code == 422
    assert "choose another task" in page.text
    page = client.post("/classes", data={"title": "x", "task": "atari/qbert", "hours": "1", "keep_days": "inf"})
    assert page.status_code == 422
    assert "keep days is a number" in page.text
    page = client.post("/classes", data={"title": "By form", "task": "atari/qbert", "hours": "2", "keep_days": "1"})
    assert page.url.path.startswith("/classes/")
    assert "By form" in page.text


def test_high_scores_show_the_own_place_the_others_and_agents_and_refuse_what_is_not_there(app, archive, client):
    qbert = find("atari/qbert")
    others = [People(archive.database).find_or_add(f"q{number}") for number in range(3)]
    client.post("/api/play/agreement", json={"episode": "x", "agreed": True})  # makes nobody
    with archive.database.write() as session:
        ids = [add_game(session, qbert, {person: 100.0 * (n + 1)}, at=NOW) for n, person in enumerate(others)]
        testing.add_episode(session, qbert, "scripted", 1, total_reward=250)

    def found(episode: str, *, is_equal: bool) -> None:
        path = proofs.proof_path(archive.root, episode)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'{{"equal": {str(is_equal).lower()}, "sha256": "{"0" * 64}"}}')

    for episode in ids:
        found(episode, is_equal=episode != ids[2])
    page = client.get("/scores/atari/qbert")
    said = text_of(page)
    assert "You have no game here" in said
    assert "2 people" in said
    assert "scripted, an agent: 250 on average, 1 episode" in said
    assert "[100.0, 120.0, 1]" in page.text
    assert "being checked" not in said
    assert f"person {others[1]}" in said
    assert f"person {others[2]}" not in said
    assert "has not checked yet" not in said
    assert f"/episodes/{ids[1]}" not in page.text, "others may not see the game of who has not agreed to that"
    more = [People(archive.database).find_or_add(f"more{number}") for number in range(9)]
    with archive.database.write() as session:
        for one in more:
            found(add_game(session, qbert, {one: 1.0}, at=NOW), is_equal=True)
    assert "has not checked yet" in text_of(client.get("/scores/atari/qbert")), "the list has ten"
    assert client.get("/scores/atari/qbert?statistic=nonsense").status_code == 404
    assert client.get("/scores/atari/qbert?period=never").status_code == 404
    assert client.get("/scores/together/cooperative_pong").status_code == 404
    assert "Today" in client.get("/scores/atari/qbert?period=today&statistic=lives_lost").text
    assert "/scores/atari/breakout" in client.get("/scores").text


def test_programs_read_the_own_place_among_the_high_scores(app, archive, client):
    task = find("atari/beam_rider")
    assert client.get("/api/scores/together/cooperative_pong").status_code == 404
    nothing = {"task": task.id, "title": "Score", "own": None, "num_unchecked": 0}
    assert client.get(f"/api/scores/{task.id}").json() == nothing
    own, other = (People(archive.database).find_or_add(key) for key in ("own key", "other"))
    client.cookies[COOKIE] = sign(app, "own key")
    with archive.database.write() as session:
        for person, score in ((own, 1500.0), (other, 2000.0)):
            path = proofs.proof_path(archive.root, add_game(session, task, {person: score}, at=NOW))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f'{{"equal": true, "sha256": "{"0" * 64}"}}')
    own_score = {"value": "1,500", "others": 1, "percentile": 0, "rank": 2}
    assert client.get(f"/api/scores/{task.id}").json() == nothing | {"own": own_score}


def test_words_of_strangers_are_shown_escaped_to_operators_alone(app, archive, client):
    hostile = '"><script>alert(1)</script>'
    form = {"kind": "problem", "words": hostile, "page": "/play/x?token=1"}
    sent = client.post("/feedback", data=form, headers={"User-Agent": hostile})
    assert "Thank you" in sent.text
    assert client.post("/feedback", data={"kind": "idea", "words": " ", "page": hostile}).status_code == 422
    away = {"kind": "idea", "words": "x", "page": "/\t/elsewhere.example"}
    assert "Back to the page" not in client.post("/feedback", data=away).text  # browsers leave a tab out
    assert client.post("/feedback", data={"kind": "idea", "words": "x"}).status_code == 429
    newest = FeedbackBox(archive.database).all()
    assert (newest[-1].words, newest[-1].page) == (hostile, "/play/x")
    assert client.get("/moderation/feedback").url.path == "/operator"
    assert client.get("/moderation/feedback.csv").url.path == "/operator"
    client.post("/operator", data={"token": operator_token(archive.root)})
    page = client.get("/moderation/feedback").text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "alert(1)" in client.get("/moderation/feedback.csv").text
    assert 'href="/feedback?page=/play/atari/breakout"' in client.get("/play/atari/breakout").text


def finished(client, archive, text: str, score: float, *, number: int = 0):
    """The last page of a study for somebody who agreed, played one game and finished."""
    study = open_study(archive, text)
    at = client.post(f"/studies/{study.id}/begin", data={"version": study.content_hash, "decision": "begin"})
    token = {"enrolment": at.url.params["enrolment"]}
    enrolment = client.app.state.services.studies.enrolment(tokens.read(client.app.state.services.secret, token["enrolment"]))
    with archive.database.write() as session:
        game = add_game(session, TASK, {enrolment.participant_id: score}, at=NOW, id=f"{study.id}-{number}")
        visits.bind(session, f"{game}-player", enrolment.id)
    client.post(f"/studies/{study.id}/finish", params=token)
    return client.get(f"/studies/{study.id}/end", params=token), token


def test_the_end_of_an_open_study_says_what_it_was_about_and_how_one_did(app, archive):
    for number in range(5):
        page, _ = finished(TestClient(app), archive, OPEN, 10.0 * number, number=number)
        assert "one of the first" in text_of(page), text_of(page)
    page, token = finished(TestClient(app), archive, OPEN, 25.0, number=5)
    said = text_of(page)
    assert "better than 60 % of 5 other people" in said
    assert "More about play." in said
    assert "We look at &lt;b&gt;learning&lt;/b&gt;." in page.text
    share = re.search(r'id="share-link"[^>]*value="([^"]*)"', page.text)[1]
    assert share == "http://testserver/studies/points"
    assert token["enrolment"] not in share


def test_the_end_of_a_study_by_email_takes_an_address_once(app, archive):
    client = TestClient(app)
    page, token = finished(client, archive, EMAIL, 1.0)
    assert "take part in the draw" in page.text
    assert "kept apart from your games" in page.text
    wrong = client.post("/studies/mail/raffle", params=token, data={"address": 'x"><b>'})
    assert wrong.status_code == 422
    assert "an address looks like" in wrong.text
    assert 'x"><b>' not in wrong.text
    page = client.post("/studies/mail/raffle", params=token, data={"address": "ada@lab.example"})
    assert "You take part in the draw" in page.text
    assert "ada@lab.example" not in page.text
    again = client.post("/studies/mail/raffle", params=token, data={"address": "b@lab.example"})
    assert again.status_code == 422
    assert client.post("/studies/mail/raffle", data={"address": "c@lab.example"}).status_code == 401
