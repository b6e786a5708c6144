"""The operator's pages: who gets in, what forms do, and that nobody else's forms do anything."""

import re

import numpy as np
import pytest
from agents_world import NOW, TASK, client, mp4, propose, token, upload
from board_world import fill

from interplay.judge import Judging, Rules
from interplay.play.connections.tokens import OPERATOR_FILE, operator_token
from interplay.store import entrants as store
from interplay.tasks import find
from interplay.web.app import create_app
from interplay.web.http.identity import OPERATOR_COOKIE

SEED = find(TASK).held_out_seeds[0]


@pytest.fixture
def app(archive):
    return create_app(archive, judging=Judging(archive, rng=np.random.default_rng(0), rules=Rules()))


@pytest.fixture
def visitor(app):
    """Somebody with a browser."""
    return client(app)


@pytest.fixture
def moderator(app, archive):
    """The operator with a browser, signed in."""
    moderator = client(app)
    answer = moderator.post("/operator", data={"token": operator_token(archive.root)}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/moderation")
    return moderator


@pytest.fixture
def team(app, archive):
    """A team whose agent waits, with one video."""
    team = client(app, token(archive, "team-red"))
    propose(team, description="<script>alert(1)</script>")
    assert upload(team, "red", SEED, mp4()).status_code == 201
    return team


def states(archive) -> dict[str, str]:
    with archive.database.read() as session:
        return {agent.name: store.state(agent) for agent in store.entrants(session)}


def test_the_moderation_page_sends_strangers_to_the_door_and_back(visitor, archive):
    answer = visitor.get("/moderation", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/operator?next=/moderation")
    refused = visitor.post("/operator", data={"token": "guess"})
    assert refused.status_code == 401
    assert "operator.token of the data folder" in refused.text
    assert OPERATOR_COOKIE not in visitor.cookies
    entered = visitor.post("/operator", data={"token": operator_token(archive.root), "next": "/moderation"})
    assert entered.url.path == "/moderation"
    cookie = entered.history[0].headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert operator_token(archive.root) not in cookie


def test_signing_out_and_a_new_token_both_end_a_visit(moderator, archive):
    assert moderator.get("/moderation", follow_redirects=False).status_code == 200
    (archive.root / OPERATOR_FILE).write_text("another-token\n")
    assert moderator.get("/moderation", follow_redirects=False).status_code == 303
    moderator.post("/operator", data={"token": "another-token"})
    assert moderator.get("/moderation", follow_redirects=False).status_code == 200
    moderator.post("/operator/leave")
    assert moderator.get("/moderation", follow_redirects=False).status_code == 303


@pytest.mark.parametrize("address", ["https://elsewhere.example/", "//elsewhere.example", "/\\elsewhere.example", "/a\nb"])
def test_signing_in_leads_to_our_own_pages_only(visitor, archive, address):
    answer = visitor.post("/operator", data={"token": operator_token(archive.root), "next": address}, follow_redirects=False)
    assert answer.headers["location"] == "/moderation"


def test_an_agent_is_watched_and_let_in(moderator, team, archive):
    page = moderator.get("/moderation").text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert" not in page
    video = re.search(r'<video[^>]* src="([^"]+)"', page)
    assert video is not None
    assert moderator.get(video.group(1)).headers["content-type"] == "video/mp4"
    answer = moderator.post("/moderation/agents", data={"name": "red", "task": TASK, "verb": "approve"})
    assert answer.url.path == "/moderation"
    assert states(archive) == {"red": "approved"}
    for verb, state in (("withdraw", "withdrawn"), ("restore", "approved")):
        moderator.post("/moderation/agents", data={"name": "red", "verb": verb})
        assert states(archive) == {"red": state}


def test_declining_needs_a_reason_and_says_it(moderator, team, archive):
    refused = moderator.post("/moderation/agents", data={"name": "red", "verb": "decline", "reason": "  "})
    assert refused.status_code == 422
    assert "a reason is needed" in refused.text
    moderator.post("/moderation/agents", data={"name": "red", "verb": "decline", "reason": "Too <dark>."})
    assert states(archive) == {"red": "declined"}
    assert "Too &lt;dark&gt;." in moderator.get("/moderation").text
    assert "Too &lt;dark&gt;." in team.get("/agents/red").text


def test_nobody_sees_what_waits_for_a_moderator(visitor, team, moderator, archive):
    episode = team.get("/api/agents/red").json()["tasks"][0]["videos"][0]["episode"]
    hidden = ("/agents/red", f"/episodes/{episode}", f"/api/episodes/{episode}", f"/api/episodes/{episode}/video.mp4")
    for address in hidden:
        assert visitor.get(address).status_code == 404, address
        assert moderator.get(address).status_code == 200, address
        assert team.get(address).status_code == 200, address
    assert "red" not in visitor.get("/agents").text.partition("<tbody>")[2]
    assert episode not in visitor.get("/episodes").text
    assert episode in moderator.get("/episodes").text
    moderator.post("/moderation/agents", data={"name": "red", "verb": "approve"})
    for address in hidden:
        assert visitor.get(address).status_code == 200, address
    assert episode in visitor.get("/episodes").text


def test_forms_of_strangers_and_of_other_sites_change_nothing(visitor, moderator, team, archive):
    forms = (
        ("/moderation/agents", {"name": "red", "verb": "approve"}),
        ("/moderation/judges", {"judge": "participant-1", "verb": "ban", "reason": "x"}),
    )
    for address, fields in forms:
        assert visitor.post(address, data=fields).status_code == 401
        for site in ("cross-site", "same-site"):
            assert moderator.post(address, data=fields, headers={"Sec-Fetch-Site": site}).status_code == 403
    assert states(archive) == {"red": "waiting"}


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"name": "red", "verb": "delete"}, 422),
        ({"name": "nobody", "verb": "approve"}, 404),
        ({"name": "red", "verb": "restore"}, 409),
        ({"name": "red", "task": "atari/qbert", "verb": "approve"}, 404),
        ({"name": "\0", "verb": "approve"}, 404),
        ({}, 422),
    ],
)
def test_forms_that_make_no_sense_are_refused(moderator, team, fields, status):
    assert moderator.post("/moderation/agents", data=fields).status_code == status
    assert moderator.post("/moderation/agents", content=b"\xff=\xfe").status_code in (400, 422)


def test_a_ban_takes_effect_at_once_and_can_be_lifted(moderator, archive):
    fill(archive, tasks=[TASK], agents=("ada", "bob"), num_answers=10, num_judges=2)

    def counted() -> int:
        return moderator.get("/api/leaderboard").json()["num_answers"]

    assert counted() == 10
    moderator.post("/moderation/judges", data={"judge": "participant-1", "verb": "ban", "reason": "Always <left>."})
    assert counted() == 5
    assert "Always &lt;left&gt;." in moderator.get("/moderation").text
    moderator.post("/moderation/judges", data={"judge": "participant-1", "verb": "unban"})
    assert counted() == 10
    unknown = moderator.post("/moderation/judges", data={"judge": "nobody", "verb": "ban", "reason": "x"})
    assert unknown.status_code == 404
    assert "unknown judge" in unknown.text


def judges_on(moderator, address: str) -> list[str]:
    """Judges of a page, in order."""
    return re.findall(r'name="judge" value="([^"]+)"', moderator.get(address).text)


def test_judges_come_fifty_a_page_the_most_doubtful_first_and_a_ban_leads_back_to_its_page(moderator, archive):
    fill(archive, tasks=[TASK], agents=("ada", "bob"), num_answers=120 + 17, num_judges=120)
    pages = [judges_on(moderator, f"/moderation?judges={number}") for number in (1, 2, 3)]
    assert [len(page) for page in pages] == [50, 50, 20]
    assert len({judge for page in pages for judge in page}) == 120
    # Nobody failed a check: the seventeen who answered twice come first.
    assert set(pages[0][:17]) == {f"participant-{number}" for number in range(1, 18)}
    assert judges_on(moderator, "/moderation") == pages[0]
    assert judges_on(moderator, "/moderation?judges=99") == pages[2]  # past the last page
    first, second, third = (moderator.get(f"/moderation?judges={number}").text for number in (1, 2, 3))
    assert "judges 51 to 100 of 120" in second
    assert [page.count("judges=1#judges") for page in (first, second, third)] == [0, 1, 0]
    assert [page.count("judges=3#judges") for page in (first, second, third)] == [0, 1, 0]
    banned = {"judge": pages[1][0], "verb": "ban", "reason": "Always left.", "page": "2"}
    answer = moderator.post("/moderation/judges", data=banned, follow_redirects=False)
    assert answer.headers["location"] == "/moderation?judges=2#judges"
    assert judges_on(moderator, "/moderation?judges=3")[-1] == pages[1][0]
    strange = moderator.post("/moderation/judges", data=banned | {"page": "2&x=//y"}, follow_redirects=False)
    assert strange.headers["location"] == "/moderation#judges"


def test_few_judges_need_no_pages(moderator, archive):
    fill(archive, tasks=[TASK], agents=("ada", "bob"), num_answers=50, num_judges=50)
    page = moderator.get("/moderation").text
    assert page.count('name="judge"') == 50
    assert 'class="pager' not in page


def test_a_token_proposed_agent_stays_its_proposers_when_the_operator_adds_a_task(team, archive):
    with archive.database.write() as session:
        store.admit(session, name="red", task="atari/qbert", kind="agent", now=NOW)
    assert team.get("/api/agents/red").json()["proposed_by"] == "team-red"
    assert propose(team, "red").status_code == 201
