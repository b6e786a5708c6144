"""Pages of a study over HTTP, on the real application: arriving, agreeing, the quiz, leaving, and everybody who is refused."""

import json
import re
import warnings
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import text, update
from study_world import (
    CONSENT,
    MTURK,
    PROLIFIC,
    STUDY,
    TASK,
    add_answers,
    address,
    close_study,
    enrolments,
    hidden_fields,
    open_study,
    quiz_answers,
)

import interplay.record
from interplay import testing
from interplay.explore import published
from interplay.store import Ban, Enrolment, Match, Participant, QuizAttempt, entrants
from interplay.store.places import media
from interplay.store.study import studies as store
from interplay.study.definition import builtin_studies
from interplay.study.enrolment import HOLD
from interplay.study.studies import Studies
from interplay.tasks import find
from interplay.web.app import create_app
from interplay.web.http.identity import COOKIE

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Starlette would like another HTTP library
    from starlette.testclient import TestClient

PREVIEW = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "3HIT"}


@pytest.fixture
def archive(tmp_path):
    archive = interplay.record.open(tmp_path)
    yield archive
    archive.close()


@pytest.fixture
def study(archive):
    return open_study(archive)


@pytest.fixture
def client(archive, study):
    return new_client(archive)


def new_client(archive):
    """A browser of its own, without cookies."""
    return TestClient(create_app(archive), base_url="http://127.0.0.1", follow_redirects=False)


def begin(client, parameters=None, study="caves", **changes):
    """Open the link and agree; the answer to the form."""
    page = client.get(address(parameters, study))
    assert page.status_code == 200, page.text
    fields = hidden_fields(page.text) | {"decision": "begin", "agree": "yes"} | changes
    return client.post(f"/studies/{study}/begin", data={name: value for name, value in fields.items() if value is not None})


def token_in(location: str) -> str:
    return parse_qs(urlsplit(location).query)["enrolment"][0]


def enrolled(client, parameters=None) -> str:
    """Begin; the token."""
    answer = begin(client, parameters)
    assert answer.status_code == 303, answer.text
    return token_in(answer.headers["location"])


def pass_quiz(client, study, token, *, right=True):
    return client.post(f"/studies/{study.id}/quiz?enrolment={token}", data=quiz_answers(study, right=right))


def count(archive, model) -> int:
    with archive.database.read() as session:
        return session.query(model).count()


# Arriving


def test_opening_a_link_stores_nothing(archive, client):
    for parameters in (None, MTURK, PROLIFIC, PREVIEW):
        page = client.get(address(parameters))
        assert page.status_code == 200
        assert "set-cookie" not in page.headers
    assert count(archive, Participant) == count(archive, Enrolment) == 0


def test_the_first_page_says_what_happens_how_long_and_for_how_much(client):
    page = client.get(address(MTURK)).text
    assert "about 15 min" in page
    assert "3.75 USD in total, 15.00 an hour" in page
    assert "2 comparisons of two videos" in page
    assert "Ada Lab, ada@lab.example" in page
    assert "This server keeps your answers." in page
    unpaid = client.get(address()).text
    assert "Nothing is paid through this link: it is for volunteers." in unpaid
    assert "People who come from Mechanical Turk or Prolific get 3.75 USD in total" in unpaid


def test_the_reference_of_the_ethics_board_is_shown_with_the_contact_at_the_beginning_and_at_the_end(archive, client):
    assert "Ethics approval" not in client.get(address(MTURK)).text
    open_study(archive, STUDY.replace("[consent]", 'ethics = "IRB 2026-17"\n[consent]', 1))
    first = client.get(address(MTURK)).text
    last = begin(client, MTURK, decision="decline", agree=None).text
    for page in (first, last):
        assert "Ada Lab, ada@lab.example" in page
        assert "IRB 2026-17" in page


def test_text_of_a_study_is_text_and_not_markup(client):
    page = client.get(address()).text
    assert CONSENT not in page
    assert "&lt;b&gt;Nothing&lt;/b&gt;" in page


def test_participants_see_no_way_to_the_leaderboard(client):
    assert "/leaderboard" not in client.get(address(MTURK)).text


def test_a_preview_shows_everything_and_can_begin_nothing(archive, client):
    page = client.get(address(PREVIEW))
    assert "This is a preview" in page.text
    assert re.search(r'value="begin" disabled', page.text)
    assert begin(client, PREVIEW).status_code == 403
    work = client.get(re.search(r'href="(/judge[^"]*)"', page.text)[1].replace("&amp;", "&"))
    assert "Nothing is reserved or stored" in work.text
    assert count(archive, Enrolment) == count(archive, Match) == 0


def test_agreeing_needs_the_box(archive, client):
    answer = begin(client, MTURK, agree=None)
    assert answer.status_code == 422
    assert "Please tick the box if you agree." in answer.text
    assert hidden_fields(answer.text)["assignmentId"] == MTURK["assignmentId"], "nothing has to be typed again"
    assert count(archive, Enrolment) == 0


def test_declining_stores_nobody_and_says_how_to_go_back(archive, client):
    to_prolific = begin(client, PROLIFIC, decision="decline", agree=None)
    assert "https://app.prolific.com/submissions/complete?cc=NO3" in to_prolific.text
    to_mturk = begin(client, MTURK, decision="decline", agree=None)
    assert "Please return the HIT" in to_mturk.text
    assert "externalSubmit" not in to_mturk.text
    assert count(archive, Participant) == count(archive, Enrolment) == 0


def test_the_version_somebody_read_is_the_version_that_is_stored(archive, client, study):
    page = client.get(address(MTURK)).text
    later = open_study(archive, STUDY.replace("any time", "any moment"))
    fields = hidden_fields(page) | {"decision": "begin", "agree": "yes"}
    answer = client.post("/studies/caves/begin", data=fields)
    assert answer.status_code == 409
    assert "This text has changed since you opened the page." in answer.text
    assert "any moment" in answer.text
    assert begin(client, MTURK).status_code == 303
    (enrolment,) = enrolments(archive)
    assert enrolment.study_hash == later.content_hash != study.content_hash
    assert enrolment.consented_at is not None


def test_a_study_may_ask_for_no_box(archive, client):
    open_study(archive, STUDY.replace("[consent]", "[consent]\nrequired = false"))
    assert begin(client, agree=None).status_code == 303


def test_the_release_of_games_is_asked_apart_and_kept_with_the_visit(archive, client):
    """A study without the question releases nothing; a link cannot answer for the person."""
    assert begin(client, MTURK).status_code == 303
    assert 'name="release"' not in client.get(address(PROLIFIC)).text
    open_study(archive, STUDY.replace("[consent]", '[consent]\nrelease = "ask"'))
    page = client.get(address(PROLIFIC | {"release": "yes", "agree": "yes"})).text
    assert "may be released in data sets for research" in page
    assert not {"release", "agree"} & hidden_fields(page).keys()
    again = begin(client, PROLIFIC, release="yes", agree=None)
    assert again.status_code == 422
    assert 'name="release" value="yes" checked' in again.text
    assert begin(client, PROLIFIC, release="yes").status_code == 303
    assert begin(client, PROLIFIC | {"PROLIFIC_PID": "60bf9310e8dec401be6e9616", "SESSION_ID": "6a1b"}).status_code == 303
    open_study(archive, STUDY.replace("[consent]", '[consent]\nrelease = "included"'))
    assert begin(client, PROLIFIC | {"PROLIFIC_PID": "60bf9310e8dec401be6e9617", "SESSION_ID": "9c1b"}).status_code == 303
    assert [one.may_release for one in enrolments(archive)] == [False, True, False, True]


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        (MTURK | {"workerId": ""}, "the link has no workerId"),
        (MTURK | {"workerId": "<script>"}, "workerId is not an id"),
        (MTURK | {"turkSubmitTo": "https://evil.example"}, "which is not one of https://www.mturk.com"),
        (PROLIFIC | {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"}, "is still the placeholder"),
        (MTURK | PROLIFIC, "another study"),
    ],
)
def test_links_that_say_nothing_of_use_are_refused(archive, client, parameters, text):
    page = client.get(address(parameters))
    assert page.status_code == 400
    assert text in page.text
    assert client.post("/studies/caves/begin", data=parameters | {"decision": "begin"}).status_code == 400
    assert count(archive, Enrolment) == 0


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({name.lower(): value for name, value in PROLIFIC.items()}, None),
        ({f"amp;{name}": value for name, value in PROLIFIC.items()}, None),
        ({"prolificPid": "60bf", "studyId": "5f3c"}, "the link has no SESSION_ID"),
        ({"prolific_pid": "60bf"}, "the link has no STUDY_ID"),
        ({"prolific_participant": "60bf"}, "the link has no PROLIFIC_PID"),
        ({"workerid": "A1ADA"}, "the link has no assignmentId"),
    ],
)
def test_a_paid_person_never_becomes_a_volunteer(archive, client, parameters, text):
    if text is None:
        enrolled(client, parameters)
        assert [one.channel for one in enrolments(archive)] == ["prolific"]
    else:
        answer = client.get("/studies/caves", params=parameters)
        assert (answer.status_code, text in answer.text) == (400, True)
        assert count(archive, Enrolment) == 0


def test_a_mistyped_study_is_not_found_and_the_nearest_is_named(client):
    page = client.get("/studies/cavs")
    assert page.status_code == 404
    assert "caves" in page.text


@pytest.mark.parametrize("study", ["%00", "caves%00", "%F0%9F%8E%B2", "a" * 5000, "..%2F..%2Fetc"])
def test_addresses_that_are_no_name_are_not_found_or_refused(client, study):
    for method, page in (("GET", ""), ("POST", "/begin"), ("GET", "/examples/0.mp4")):
        assert client.request(method, f"/studies/{study}{page}").status_code == (400 if "%00" in study else 404)


@pytest.mark.parametrize(
    "body", [b"\xff\xfe", b"=" * 100, b"&".join(b"a=1" for _ in range(900)), b"decision=begin&decision=decline"]
)
def test_forms_that_no_page_sends_break_nothing(archive, client, body):
    token = enrolled(client, MTURK)
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    for page in ("begin", f"quiz?enrolment={token}"):
        assert client.post(f"/studies/caves/{page}", content=body, headers=headers).status_code < 500
    assert count(archive, QuizAttempt) == 0
    assert len(enrolments(archive)) == 1


def test_open_studies_are_listed_and_closed_ones_and_those_of_platforms_only_are_not(archive, client):
    open_study(archive, STUDY.replace('"caves"', '"paid"').replace("[channels.open]\n", ""))
    listed = client.get("/studies").text
    assert "/studies/caves" in listed
    assert "/studies/paid" not in listed
    close_study(archive)
    assert "No study is open" in client.get("/studies").text


def test_a_closed_study_takes_nobody_and_lets_those_inside_hand_in(archive, client, study):
    token = enrolled(client, MTURK)
    pass_quiz(client, study, token)
    close_study(archive)
    stranger = new_client(archive).get(address(MTURK | {"workerId": "A2BOB", "assignmentId": "3OTHER"}))
    assert stranger.status_code == 410
    assert "This study is closed" in stranger.text
    end = client.get(f"/studies/caves/end?enrolment={token}")
    assert enrolments(archive)[0].outcome == "nothing_left"
    assert "externalSubmit" not in end.text, "Amazon approves by itself what is handed in"
    assert "Please return the HIT" in end.text


# Who is who


def test_the_same_ids_go_on_where_they_were(archive, client, study):
    token = enrolled(client, MTURK)
    pass_quiz(client, study, token)
    again = new_client(archive).get(address(MTURK))
    assert again.status_code == 303
    assert token_in(again.headers["location"]) == token
    work = client.get(again.headers["location"])
    assert work.headers["location"].startswith("/judge?study=caves&enrolment=")
    assert len(enrolments(archive)) == 1


def test_the_same_worker_with_a_new_assignment_is_the_same_person_and_keeps_the_quiz(archive, client, study):
    pass_quiz(client, study, enrolled(client, MTURK))
    second = enrolled(new_client(archive), MTURK | {"assignmentId": "3SECOND"})
    assert len({enrolment.participant_id for enrolment in enrolments(archive)}) == 1
    assert client.get(f"/studies/caves/next?enrolment={second}").headers["location"].startswith("/judge?")


def test_another_worker_with_a_known_assignment_is_refused(archive, client):
    enrolled(client, MTURK)
    stranger = new_client(archive)
    page = stranger.get(address(MTURK | {"workerId": "A2BOB"}))
    assert page.status_code == 403
    assert "This link belongs to somebody else" in page.text
    form = MTURK | {"workerId": "A2BOB", "decision": "begin", "agree": "yes", "version": builtin_version(archive)}
    assert stranger.post("/studies/caves/begin", data=form).status_code == 403
    assert len(enrolments(archive)) == 1


def builtin_version(archive) -> str:
    with archive.database.read() as session:
        return store.study_row(session, "caves").content_hash


def test_an_assignment_that_was_returned_without_a_word_goes_to_the_next_worker(archive, client):
    enrolled(client, MTURK)
    with archive.database.write() as session:
        session.execute(update(Enrolment).values(arrived_at=datetime.now(UTC) - HOLD - timedelta(minutes=1)))
    enrolled(new_client(archive), MTURK | {"workerId": "A2BOB"})
    outcomes = {enrolment.worker: enrolment.outcome for enrolment in enrolments(archive)}
    assert outcomes == {"A1ADA": "withdrawn", "A2BOB": None}


def test_an_open_link_knows_people_by_their_cookie(archive, client):
    answer = begin(client)
    assert COOKIE in answer.headers["set-cookie"]
    token = token_in(answer.headers["location"])
    assert token_in(client.get(address()).headers["location"]) == token
    assert new_client(archive).get(address()).status_code == 200, "somebody else begins anew"
    client.post(f"/studies/caves/leave?enrolment={token}")
    assert begin(client).status_code == 303
    assert [enrolment.assignment for enrolment in enrolments(archive)] == ["", "visit-2"]


def test_who_took_part_as_often_as_allowed_is_thanked(archive, client):
    open_study(archive, STUDY.replace("answers = 2", "answers = 2\nmax_visits = 1"))
    token = enrolled(client, MTURK)
    client.post(f"/studies/caves/leave?enrolment={token}")
    page = client.get(address(MTURK | {"assignmentId": "3SECOND"}))
    assert page.status_code == 403
    assert "You have already taken part" in page.text


def test_a_banned_person_is_refused_and_one_banned_halfway_is_sent_home(archive, client, study):
    token = enrolled(client, MTURK)
    pass_quiz(client, study, token)
    (enrolment,) = enrolments(archive)
    with archive.database.write() as session:
        session.add(Ban(judge=f"participant-{enrolment.participant_id}", reason="random", created_at=datetime.now(UTC)))
    assert client.get(address(MTURK | {"assignmentId": "3SECOND"})).status_code == 403
    assert hidden_fields(client.get(f"/studies/caves/end?enrolment={token}").text)["outcome"] == "failed_check"


def test_who_is_banned_halfway_sees_no_more_pictures_and_films_of_what_they_reviewed(archive, tmp_path):
    instance = dict(published.instances()[published.names("planner")[0]].to_json())
    with archive.database.write() as session:
        episode = testing.add_episode(session, find(TASK), "ada", 1)["id"]
    archive.video_place(episode).write_bytes(b"a film")
    archive.keep_video(episode)
    (tmp_path / "one.json").write_text(json.dumps(instance | {"proofs": [{"episode": episode}]}))
    review = f'kind = "review"\nminutes = 5\ninstructions = "Look."\n[review]\ninstances = ["{tmp_path}/one.json"]\n'
    open_study(archive, f'[study]\nid = "sound"\ntitle = "t"\nsummary = "s"\n{review}[channels.open]\n')
    client = new_client(archive)
    token = token_in(begin(client, study="sound").headers["location"])
    client.app.state.services.reviews.serve(enrolments(archive, "sound")[0])
    proof, picture = (f"/studies/sound/review/1/{name}?enrolment={token}" for name in ("proof.mp4", "no-view.png"))
    assert (client.get(proof).content, client.get(picture).status_code) == (b"a film", 404)
    with archive.database.write() as session:
        judge = f"participant-{enrolments(archive, 'sound')[0].participant_id}"
        session.add(Ban(judge=judge, reason="random", created_at=datetime.now(UTC)))
    assert [client.get(one).status_code for one in (proof, picture)] == [403, 403]
    again = client.get(f"/studies/sound/review/1?enrolment={token}")
    assert (again.status_code, urlsplit(again.headers["location"]).path) == (303, "/studies/sound/next")


def test_forged_tokens_and_tokens_of_other_studies_open_nothing(archive, client):
    token = enrolled(client, MTURK)
    open_study(archive, STUDY.replace('"caves"', '"other"'))
    for page in ("next", "quiz", "end", "leave", "result"):
        assert client.get(f"/studies/caves/{page}?enrolment=x{token}").status_code == 401
        assert client.get(f"/studies/caves/{page}").status_code == 401
        assert client.get(f"/studies/other/{page}?enrolment={token}").status_code == 401
    elsewhere = TestClient(create_app(archive, secret=b"another"), base_url="http://127.0.0.1")
    assert elsewhere.get(f"/studies/caves/end?enrolment={token}").status_code == 401


# The quiz


def test_the_quiz_never_shows_its_key(client, study):
    token = enrolled(client, MTURK)
    page = client.get(f"/studies/caves/quiz?enrolment={token}").text
    for question in study.quiz.quiz.questions:
        for option in question.options:
            assert f'value="{option.id}"' in page
    assert "is_right" not in page
    assert "checked" not in page.partition("</main>")[0]
    orders = {
        tuple(re.findall(r'name="breakout" value="(\w+)"', client.get(f"/studies/caves/quiz?enrolment={token}").text))
        for _ in range(40)
    }
    assert len(orders) > 1, "boxes stand in an order of their own each time"


def test_passing_the_quiz_leads_to_the_videos(archive, client, study):
    token = enrolled(client, MTURK)
    answer = pass_quiz(client, study, token)
    result = client.get(answer.headers["location"])
    assert "You passed" in result.text
    assert client.get(f"/studies/caves/quiz?enrolment={token}").status_code == 303
    assert client.get(f"/studies/caves/next?enrolment={token}").headers["location"].startswith("/judge?study=caves")
    assert count(archive, QuizAttempt) == 1


def test_failing_the_quiz_twice_ends_with_its_own_code(archive, client, study):
    token = enrolled(client, PROLIFIC)
    first = client.get(pass_quiz(client, study, token, right=False).headers["location"])
    assert "You have 1 attempt left." in first.text
    assert "0</strong> of" in first.text
    ended = pass_quiz(client, study, token, right=False).headers["location"]
    assert enrolments(archive)[0].outcome == "screened_out", "at once, whether or not somebody reads the page"
    second = client.get(ended)
    assert "That was the last attempt." in second.text
    assert "0</strong> of" in second.text
    assert "OUT2" in second.text
    again = client.get(f"/studies/caves/result?enrolment={token}")
    assert again.status_code == 303, "loaded again it leads to the code, too"
    pass_quiz(client, study, token)  # a third one is not taken
    assert count(archive, QuizAttempt) == 2
    end = client.get(f"/studies/caves/end?enrolment={token}").text
    assert "https://app.prolific.com/submissions/complete?cc=OUT2" in end
    assert enrolments(archive)[0].outcome == "screened_out"


def test_attempts_are_a_persons_and_not_an_assignments(archive, client, study):
    token = enrolled(client, MTURK)
    for _ in range(2):
        pass_quiz(client, study, token, right=False)
    client.get(f"/studies/caves/end?enrolment={token}")
    second = enrolled(client, MTURK | {"assignmentId": "3SECOND"})
    assert "/end?" in client.get(f"/studies/caves/next?enrolment={second}").headers["location"]


def test_the_page_of_a_result_can_be_loaded_again_without_another_attempt(archive, client, study):
    token = enrolled(client, MTURK)
    where = pass_quiz(client, study, token, right=False).headers["location"]
    for _ in range(3):
        assert client.get(where).status_code == 200
    assert count(archive, QuizAttempt) == 1


@pytest.mark.parametrize("form", [{"nonsense": "1"}, {"breakout": "zzzz"}])
def test_answers_of_another_quiz_are_no_attempt(archive, client, form):
    token = enrolled(client, MTURK)
    assert client.post(f"/studies/caves/quiz?enrolment={token}", data=form).status_code == 422
    assert count(archive, QuizAttempt) == 0


def test_a_quiz_without_a_tick_is_handed_in_only_when_sent_again(archive, client):
    token = enrolled(client, MTURK)
    address = f"/studies/caves/quiz?enrolment={token}"
    asked = client.post(address)
    assert asked.status_code == 422
    assert "You have not ticked any box" in asked.text
    assert count(archive, QuizAttempt) == 0
    (name,) = re.findall(r'<input type="hidden" name="([\w-]+)" value="1">', asked.text)
    assert client.post(address, data={name: "1"}).status_code == 303
    assert count(archive, QuizAttempt) == 1


def test_pictures_of_the_quiz_come_from_the_study_and_need_the_token(archive, client):
    basalt = builtin_studies()["basalt"]
    with archive.database.write() as session:
        store.open_study(
            session, study="basalt", content_hash=basalt.content_hash, definition=basalt.to_json(), now=datetime.now(UTC)
        )
    token = token_in(begin(client, MTURK, "basalt").headers["location"])
    picture = client.get(f"/studies/basalt/pictures/desert_village.jpg?enrolment={token}")
    assert picture.headers["content-type"] == "image/jpeg"
    assert picture.content.startswith(b"\xff\xd8")
    assert client.get("/studies/basalt/pictures/desert_village.jpg").status_code == 401
    assert client.get(f"/studies/basalt/pictures/..%2Fbasalt.toml?enrolment={token}").status_code == 404


# Leaving


def add_agents(archive, names=("ada", "bob")):
    """Agents with an episode each on one seed, so that there is something to compare."""
    task, now = find(TASK), datetime.now(UTC)
    with archive.database.write() as session:
        for name in names:
            testing.add_episode(session, task, name, task.held_out_seeds[0], id=name, created_at=now)
            entrants.admit(session, name=name, task=TASK, kind="agent", now=now)
            archive.video_place(name).write_bytes(b"video")
            media.note_made(session, [name], now)


def test_who_finds_nothing_to_compare_may_look_again_or_end(archive, client, study):
    token = enrolled(client, PROLIFIC)
    pass_quiz(client, study, token)
    page = client.get(f"/studies/caves/end?enrolment={token}").text
    assert "Nothing to compare at the moment" in page
    assert enrolments(archive)[0].outcome is None
    client.post(f"/studies/caves/finish?enrolment={token}")
    assert enrolments(archive)[0].outcome == "nothing_left"


def test_who_is_inside_may_go_home_while_the_rules_of_a_study_are_mended(archive, client):
    study = open_study(archive, STUDY.replace("min_viewing_s = 0", 'min_viewing_s = "long"'))
    token = enrolled(client, PROLIFIC)
    pass_quiz(client, study, token)
    page = client.get(f"/studies/caves/end?enrolment={token}")
    assert page.status_code == 200
    assert "Nothing to compare at the moment" in page.text
    client.post(f"/studies/caves/finish?enrolment={token}")
    assert enrolments(archive)[0].outcome == "nothing_left"


def test_ending_early_needs_that_nothing_is_left(archive, client, study):
    add_agents(archive)
    token = enrolled(client, PROLIFIC)
    pass_quiz(client, study, token)
    client.post(f"/studies/caves/finish?enrolment={token}")
    assert enrolments(archive)[0].outcome is None


def test_the_end_says_how_much_is_still_to_do(archive, client, study):
    add_agents(archive)
    token = enrolled(client, MTURK)
    pass_quiz(client, study, token)
    add_answers(archive, enrolments(archive)[0].participant_id, 1)
    page = client.get(f"/studies/caves/end?enrolment={token}").text
    assert "1 comparison left" in page
    assert "DONE1" not in page
    assert enrolments(archive)[0].outcome is None


def test_who_did_everything_on_mturk_hands_in_at_amazon(archive, client, study):
    token = enrolled(client, MTURK)
    pass_quiz(client, study, token)
    add_answers(archive, enrolments(archive)[0].participant_id, 2)
    page = client.get(f"/studies/caves/end?enrolment={token}")
    assert 'action="https://www.mturk.com/mturk/externalSubmit"' in page.text
    (enrolment,) = enrolments(archive)
    assert hidden_fields(page.text) == {
        "assignmentId": "3ASSIGN", "outcome": "done", "enrolment": enrolment.id, "answers": "2",
    }  # fmt: skip
    assert enrolment.outcome == "done"
    assert hidden_fields(client.get(f"/studies/caves/end?enrolment={token}").text)["outcome"] == "done", "loading again is safe"


def test_who_did_everything_on_prolific_gets_the_code(archive, client, study):
    token = enrolled(client, PROLIFIC)
    pass_quiz(client, study, token)
    add_answers(archive, enrolments(archive)[0].participant_id, 2)
    page = client.get(f"/studies/caves/end?enrolment={token}").text
    assert '<code class="code" data-code>DONE1</code>' in page
    assert '<dt>You earned</dt><dd class="num"><strong>3.75 USD</strong>' in page
    assert 'href="https://app.prolific.com/submissions/complete?cc=DONE1"' in page


def test_one_answer_never_completes_two_assignments(archive, client, study):
    add_agents(archive)
    first = enrolled(client, MTURK)
    pass_quiz(client, study, first)
    second = enrolled(client, MTURK | {"assignmentId": "3SECOND"})
    person = enrolments(archive)[0].participant_id
    add_answers(archive, person, 2)
    assert "externalSubmit" in client.get(f"/studies/caves/end?enrolment={first}").text
    assert "2 comparisons left" in client.get(f"/studies/caves/end?enrolment={second}").text
    add_answers(archive, person, 2)
    assert "externalSubmit" in client.get(f"/studies/caves/end?enrolment={second}").text


def test_leaving_is_asked_about_and_gives_the_open_match_back(archive, client, study):
    token = enrolled(client, MTURK)
    pass_quiz(client, study, token)
    person = enrolments(archive)[0].participant_id
    add_answers(archive, person, 1)
    with archive.database.write() as session:
        session.execute(text("DROP TRIGGER matches_are_kept_update"))  # for this match to be open again
        session.execute(update(Match).values(answered_at=None))
    asked = client.get(f"/studies/caves/leave?enrolment={token}").text
    assert "Leave the study?" in asked
    assert enrolments(archive)[0].outcome is None
    client.post(f"/studies/caves/leave?enrolment={token}")
    assert enrolments(archive)[0].outcome == "withdrawn"
    with archive.database.read() as session:
        assert session.query(Match).one().released_at is not None
    assert "Please return the HIT" in client.get(f"/studies/caves/end?enrolment={token}").text


def test_who_did_everything_and_then_withdraws_is_done(archive, client, study):
    token = enrolled(client, MTURK)
    pass_quiz(client, study, token)
    (enrolment,) = enrolments(archive)
    add_answers(archive, enrolment.participant_id, 2)
    # As if the last answer had come between the click and the end.
    assert Studies(archive.database).finish(enrolment, "withdrawn").outcome == "done"


def test_the_first_outcome_stays(archive, client, study):
    token = enrolled(client, MTURK)
    client.post(f"/studies/caves/leave?enrolment={token}")
    pass_quiz(client, study, token)
    add_answers(archive, enrolments(archive)[0].participant_id, 2)
    assert "Please return the HIT" in client.get(f"/studies/caves/end?enrolment={token}").text
    assert enrolments(archive)[0].outcome == "withdrawn"


def test_a_study_without_a_number_ends_when_the_person_says_so(archive, client):
    text = STUDY.replace("answers = 2\n", "").replace('[quiz]\nquiz = "atari"\nattempts = 2\n', "")
    open_study(archive, re.sub(r"\[channels.mturk\].*(?=\[judging\])", "", text, flags=re.DOTALL))
    add_agents(archive)
    token = enrolled(client)
    client.post(f"/studies/caves/finish?enrolment={token}")
    assert enrolments(archive)[0].outcome is None, "nothing was done yet"
    add_answers(archive, enrolments(archive)[0].participant_id, 1)
    assert "1 comparison so far" in client.get(f"/studies/caves/end?enrolment={token}").text
    client.post(f"/studies/caves/finish?enrolment={token}")
    assert enrolments(archive)[0].outcome == "done"


# Headers


def test_only_studies_of_mturk_may_be_framed_and_only_by_its_pages(archive, client):
    policy = client.get(address(MTURK)).headers["content-security-policy"]
    assert "form-action 'self' https://www.mturk.com https://workersandbox.mturk.com;" in policy
    assert (
        "frame-ancestors https://worker.mturk.com https://requester.mturk.com https://www.mturk.com https://workersandbox.mturk.com"
        in policy
    )
    open_study(archive, STUDY.replace('"caves"', '"plain"').replace("[channels.mturk]\n", ""))
    for page in ("/studies/plain", "/studies", "/leaderboard"):
        policy = client.get(page).headers["content-security-policy"]
        assert policy.endswith("frame-ancestors 'none'")
        assert "form-action 'self';" in policy


def test_refusals_of_a_framed_study_can_be_read_in_the_frame(archive, client):
    close_study(archive)
    for parameters in (MTURK, MTURK | {"workerId": ""}):
        assert "frame-ancestors https://worker.mturk.com" in client.get(address(parameters)).headers["content-security-policy"]


def test_pages_of_a_person_are_kept_by_no_cache(client):
    token = enrolled(client, MTURK)
    for page in (address(MTURK), f"/studies/caves/next?enrolment={token}", f"/studies/caves/quiz?enrolment={token}"):
        assert client.get(page).headers["cache-control"] == "no-store"


def test_another_sites_form_cannot_enrol_anybody(archive, client):
    form = MTURK | {"decision": "begin", "agree": "yes", "version": builtin_version(archive)}
    answer = client.post("/studies/caves/begin", data=form, headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 403
    assert count(archive, Enrolment) == 0


def test_an_example_video_is_served_and_a_missing_one_is_not_found(archive, client):
    (archive.root / "media").mkdir(exist_ok=True)
    (archive.root / "media" / "good.mp4").write_bytes(b"0123456789")
    examples = '[[examples]]\nfile = "media/good.mp4"\ncaption = "x"\n[[examples]]\nepisode = "gone"\ncaption = "y"\n'
    open_study(archive, STUDY + examples)
    part = client.get("/studies/caves/examples/0.mp4", headers={"Range": "bytes=2-4"})
    assert (part.status_code, part.content) == (206, b"234")
    assert client.get("/studies/caves/examples/1.mp4").status_code == 404
    assert client.get("/studies/caves/examples/7.mp4").status_code == 404


# Pressed many times at once


@pytest.fixture(params=["sqlite", "postgresql"])
def anywhere(request, tmp_path):
    """A data folder on a database of either kind."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgresql" else None
    archive = interplay.record.open(tmp_path / "data", database=url)
    yield archive
    archive.close()


def at_once(client, count, *posts):
    """Send each form `count` times at once; the statuses."""
    app = client.app

    def post(form):
        address, fields = form
        browser = TestClient(app, base_url="http://127.0.0.1", follow_redirects=False, cookies=client.cookies)
        return browser.post(address, data=fields).status_code

    with ThreadPoolExecutor(count * len(posts)) as pool:
        return list(pool.map(post, [form for form in posts for _ in range(count)]))


def test_attempts_at_the_quiz_are_limited_though_they_arrive_at_once(anywhere):
    study = open_study(anywhere, STUDY.replace("attempts = 2", "attempts = 1"))
    client = new_client(anywhere)
    token = enrolled(client, MTURK)
    wrong = quiz_answers(study, right=False)
    assert set(at_once(client, 8, (f"/studies/caves/quiz?enrolment={token}", wrong))) == {303}
    assert count(anywhere, QuizAttempt) == 1


def test_visits_are_limited_though_they_begin_at_once(anywhere):
    study = open_study(anywhere, STUDY.replace("answers = 2", "answers = 2\nmax_visits = 1"))
    client = new_client(anywhere)
    agreed = {"decision": "begin", "agree": "yes", "version": study.content_hash}
    forms = [("/studies/caves/begin", MTURK | agreed | {"assignmentId": f"3VISIT{place}"}) for place in range(8)]
    assert sorted(at_once(client, 1, *forms)) == [303] + [403] * 7
    assert count(anywhere, Participant) == count(anywhere, Enrolment) == 1
