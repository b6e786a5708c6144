"""The page of an agent: what judges said about it, counted right; its videos; and nothing for who judges it right now."""

import re
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from agents_world import NOW, TASK, client, mp4, operator, propose, token, upload
from board_world import REASON, fill
from sqlalchemy import select
from study_world import PROLIFIC, STUDY, hidden_fields, open_study

from interplay.judge import Judging, Rules
from interplay.judge.entrants.roster import Counts, YesCounts, tally
from interplay.store import EpisodeRow, EpisodeSeat, Match, Participant
from interplay.store.judging.verdicts import WATCHED_FOR, Verdict, watched_tasks
from interplay.tasks import Question, find
from interplay.web.app import create_app

SEEDS = find(TASK).held_out_seeds


@pytest.fixture
def app(archive):
    return create_app(archive, judging=Judging(archive, rng=np.random.default_rng(0), rules=Rules()))


QUESTIONS = (
    Question("done", "Task done", "direct", "Did it do the task?"),
    Question("skill", "Skill", "comparative", "Who was more skilled?"),
    Question("overall", "overall", "overall", "Who was better?"),
)


def test_answers_are_counted_from_the_side_the_agent_was_on():
    verdicts = [
        Verdict("t", True, "bob", "left", {"done": {"left": True, "right": False}, "skill": "left"}),
        Verdict("t", False, "bob", "left", {"done": {"left": True, "right": False}, "skill": "draw"}),
        Verdict("t", False, "cyd", "right", {"done": {"left": True, "right": True}, "skill": "na"}),
        Verdict("t", True, "bob", "draw", {"done": "yes", "skill": 7, "gone": "left"}),  # as an import may bring it
    ]
    counted = tally(verdicts, {"t": QUESTIONS})
    done, skill, overall = counted.factors["t"]
    assert done.yes == YesCounts(own=2, others=2, total=3)
    assert skill.counts == Counts(won=1, drew=1, lost=0, na=1)
    assert overall.counts == Counts(won=2, drew=1, lost=1)
    assert counted.opponents == {"bob": Counts(won=1, drew=1, lost=1), "cyd": Counts(won=1)}
    assert list(counted.opponents) == ["bob", "cyd"]


def test_where_a_yes_is_bad_the_noes_are_counted_and_said(app, archive):
    harm = Question("harm", "Least Harm", "direct", "Was anything harmed?")
    verdicts = [
        Verdict("t", True, "bob", "left", {"harm": {"left": True, "right": False}}),
        Verdict("t", False, "bob", "left", {"harm": {"left": False, "right": True}}),
    ]
    ((factor, *_),) = tally(verdicts, {"t": (harm, QUESTIONS[-1])}).factors.values()
    assert factor.yes == YesCounts(own=0, others=2, total=2)
    fill(archive, tasks=["basalt/build_village_house"], agents=("ada", "bob"), num_answers=10)
    page = client(app).get("/agents/ada").text
    assert re.search(r"Least Village Harm</dt>.*?no \d+ %, others \d+ %", page, re.DOTALL)


def test_the_page_shows_ratings_factors_opponents_and_reasons(app, archive):
    fill(archive, tasks=["basalt/find_cave", "basalt/make_waterfall"], agents=("ada", "bob", "cyd"), num_answers=40)
    page = client(app).get("/agents/ada").text
    row = next(row for row in app.state.services.boards.board()["rows"] if row["agent"] == "ada")
    assert f"{row['rank']} of 3" in page
    assert f"{row['won']} · {row['drew']} · {row['lost']}" in page
    for text in ("Found Cave", "Created Waterfall", "Results by opponent", 'href="/agents/bob"', "Rating history"):
        assert text in page
    assert page.count(REASON.replace("<b>", "&lt;b&gt;").replace("</b>", "&lt;/b&gt;")) == 8
    assert "<b>Clear" not in page


def test_the_page_plays_each_video_and_links_its_episode(app, archive):
    team, boss = client(app, token(archive, "team-red")), operator(app, archive)
    propose(team, description="A short text.\nTwo lines.")
    episode = upload(team, "red", SEEDS[0], mp4()).json()["episode"]
    boss.post("/api/agents/red/approve")
    page = client(app).get("/agents/red").text
    assert f'src="/api/episodes/{episode}/video.mp4"' in page
    assert f'href="/episodes/{episode}">seed {SEEDS[0]}' in page
    assert "A short text.\nTwo lines." in page
    assert "Nobody has compared red" in page
    assert "red" in client(app).get("/agents").text


def test_an_unknown_agent_is_a_page_with_the_nearest_name(app, archive):
    fill(archive, tasks=["basalt/find_cave"], agents=("ada", "bob"), num_answers=2)
    answer = client(app).get("/agents/adda")
    assert answer.status_code == 404
    assert "did you mean &#39;ada&#39;?" in answer.text


def test_who_has_a_pair_of_the_task_open_sees_neither_videos_nor_reasons_of_it(app, archive):
    team, boss = client(app, token(archive, "team-red")), operator(app, archive)
    for number, name in enumerate(("red", "blue")):
        propose(team, name)
        episode = upload(team, name, SEEDS[0], mp4(50 * number)).json()["episode"]
        boss.post(f"/api/agents/{name}/approve")
    judge, visitor = client(app), client(app)
    match = judge.post("/api/judge/matches", json={"task": TASK}).json()["match"]
    for name in ("red", "blue"):
        page = judge.get(f"/agents/{name}").text
        assert "judging is blind" in page
        assert "<video" not in page
        entry = judge.get(f"/api/agents/{name}").json()["tasks"][0]
        assert (entry["hidden"], entry["videos"]) == (True, [])
        assert "<video" in visitor.get(f"/agents/{name}").text
    assert episode not in judge.get("/agents").text
    # Given back or fallen silent, it could still be answered: for an hour nothing changes.
    judge.post(f"/api/judge/matches/{match}/release")
    assert "<video" not in judge.get("/agents/red").text
    with archive.database.write() as session:
        session.get(Match, match).seen_at -= WATCHED_FOR
    assert "<video" in judge.get("/agents/red").text


def test_who_has_a_pair_of_the_task_open_finds_no_episode_of_it_but_their_own(app, archive):
    team, boss, judge, visitor = client(app, token(archive, "team-red")), operator(app, archive), client(app), client(app)
    for number, name in enumerate(("red", "blue")):
        propose(team, name)
        episode = upload(team, name, SEEDS[0], mp4(50 * number)).json()["episode"]
        boss.post(f"/api/agents/{name}/approve")
    pages = [f"/episodes/{episode}", f"/api/episodes/{episode}", f"/api/episodes/{episode}/video.mp4"]
    match = judge.post("/api/judge/matches", json={"task": TASK}).json()["match"]
    for page in pages:
        refused = judge.get(page)
        assert refused.status_code == 403
        assert "judging is blind" in refused.text
        assert visitor.get(page).status_code == 200
    listed, seen = judge.get("/episodes").text, visitor.get("/episodes").text
    assert (episode in listed, "judging is blind" in listed) == (False, True)
    assert (episode in seen, "judging is blind" in seen) == (True, False)
    with archive.database.write() as session:
        (participant,) = session.scalars(select(Participant.id))
        row = session.get(EpisodeRow, episode)
        row.participant_id = participant
        held = {"seat": "player", "actor": row.actor, "actor_kind": "human", "num_steps": 1, "total_reward": 0.0}
        row.seats = [EpisodeSeat(**held, participant_id=participant)]
    assert [judge.get(page).status_code for page in pages] == [200, 200, 200]
    assert episode in judge.get("/episodes").text
    with archive.database.write() as session:
        row = session.get(EpisodeRow, episode)
        row.participant_id, row.seats = None, []
        session.get(Match, match).answered_at = NOW
    assert [judge.get(page).status_code for page in pages] == [200, 200, 200]
    assert "judging is blind" not in judge.get("/episodes").text


def test_who_came_by_a_platforms_link_finds_no_episode_of_the_pair_before_them(app, archive):
    team, boss, worker = client(app, token(archive, "team-red")), operator(app, archive), client(app)
    for number, name in enumerate(("red", "blue")):
        propose(team, name)
        episode = upload(team, name, SEEDS[0], mp4(50 * number)).json()["episode"]
        boss.post(f"/api/agents/{name}/approve")
    open_study(archive, STUDY.replace('[quiz]\nquiz = "atari"\nattempts = 2\n', "").replace("atari/breakout", TASK))
    page = worker.get("/studies/caves", params=PROLIFIC)
    fields = hidden_fields(page.text) | {"decision": "begin", "agree": "yes"}
    begun = worker.post("/studies/caves/begin", data=fields, follow_redirects=False)
    enrolment = parse_qs(urlsplit(begun.headers["location"]).query)["enrolment"][0]
    assert worker.get(f"/api/episodes/{episode}").status_code == 200
    assert worker.post("/api/judge/matches", json={}, headers={"Interplay-Enrolment": enrolment}).status_code == 201
    assert worker.get(f"/api/episodes/{episode}").status_code == 403
    assert episode not in worker.get("/episodes").text
    assert "judging is blind" in worker.get("/agents/red").text
    worker.cookies.set("interplay_part", "forged")
    assert worker.get("/episodes").status_code == 200


def test_an_answered_pair_hides_nothing(archive):
    fill(archive, tasks=["basalt/find_cave"], agents=("ada", "bob"), num_answers=3, num_judges=1)
    with archive.database.read() as session:
        assert watched_tasks(session, "participant-1", NOW) == set()
