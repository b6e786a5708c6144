"""An answer counts when both videos were played; nothing that everybody can see tells whose videos they are."""

import hashlib

import numpy as np
import pytest
from judging_world import REASON, START, TASKS, add_episode, fill, form, num_answers, open_study, played
from starlette.testclient import TestClient
from video_files import write_video

from interplay.judge import OPEN_ROOM, Judging, Rules
from interplay.judge.entrants.duplicates import twin_of
from interplay.judge.errors import DailyLimitError, InvalidAnswerError
from interplay.play.connections.tokens import operator_token
from interplay.store.entrants import admit
from interplay.tasks import find
from interplay.web.app import create_app

TASK = TASKS[0]
SEEDS = find(TASK).held_out_seeds


@pytest.fixture
def filmed(archive):
    """Three agents with real videos of 4 seconds on three seeds."""
    shade = 0
    for agent in ("ada", "bob", "cyd"):
        for seed in SEEDS[:3]:
            shade += 7
            write_video(archive.video_path(add_episode(archive, TASK, agent, seed)), shade=shade, num_frames=80)
        with archive.database.write() as session:
            admit(session, name=agent, task=TASK, kind="agent", now=START)
    return archive


def room(archive, clock, **rules) -> Judging:
    return Judging(archive, rng=np.random.default_rng(0), clock=clock, rules=Rules(**rules))


# Watching


def test_by_default_half_of_both_videos_must_be_played_before_an_answer_counts(filmed, clock):
    judging = Judging(filmed, rng=np.random.default_rng(0), clock=clock)
    match = judging.serve("eve")
    assert match.min_watched_share == 0.5
    clock.advance(30)
    for viewing in (None, {}, played(4, 1.5, length=4), {"watched_s": 8}):
        with pytest.raises(InvalidAnswerError, match="watch at least 50% of each video"):
            judging.answer(match.id, "eve", **form(TASK) | {"viewing": viewing})
    judging.answer(match.id, "eve", **form(TASK) | {"viewing": played(4, 2, length=4)})


def test_a_report_of_more_than_the_clock_allows_or_of_shorter_videos_does_not_count(filmed, clock):
    judging = room(filmed, clock, min_viewing_s=0, min_watched_share=1)
    match = judging.serve("eve")
    with pytest.raises(InvalidAnswerError, match="cannot be played in 0 s"):
        judging.answer(match.id, "eve", **form(TASK) | {"viewing": played(4, 4, length=4)})
    clock.advance(60)
    with pytest.raises(InvalidAnswerError, match="so far: left 25%"):  # the server knows that they are 4 s long
        judging.answer(match.id, "eve", **form(TASK) | {"viewing": played(1, 1, length=1)})
    judging.answer(match.id, "eve", **form(TASK) | {"viewing": played(4, 4, length=4)})


def test_moderation_shows_how_much_each_judge_watched_and_what_they_reported(filmed, clock):
    judging = room(filmed, clock, min_viewing_s=0, min_watched_share=0)
    match = judging.serve("eve")
    judging.answer(match.id, "eve", **form(TASK) | {"viewing": played(4, 1, length=4)})
    match = judging.serve("eve")
    with pytest.raises(InvalidAnswerError, match="choose one of does_not_play"):
        judging.release(match.id, "eve", {"kind": "boring"})
    with pytest.raises(InvalidAnswerError, match="say in a few words"):
        judging.release(match.id, "eve", {"kind": "other", "words": "  "})
    judging.release(match.id, "eve", {"kind": "broken_picture", "words": "The <left> one is black."})
    assert [summary.watched_share for summary in judging.judges()] == [0.25]
    client = TestClient(create_app(filmed, judging=judging), base_url="http://127.0.0.1")
    client.post("/operator", data={"token": operator_token(filmed.root)})
    page = client.get("/moderation").text
    assert "25 %" in page
    assert "A picture is black, frozen or broken" in page
    assert "The &lt;left&gt; one is black." in page


@pytest.mark.parametrize(
    "viewing", [{"left": {"watched_s": "much", "length_s": []}}, {"left": 5, "right": "x"}, {"left": None}]
)
def test_a_strange_report_does_not_break_the_page_of_moderators(filmed, clock, viewing):
    judging = room(filmed, clock, min_viewing_s=0, min_watched_share=0)
    judging.answer(judging.serve("eve").id, "eve", **form(TASK) | {"viewing": viewing})
    assert [summary.watched_share for summary in judging.judges()] == [None]


# Blindness


def test_no_judged_video_has_the_bytes_or_the_length_of_a_public_one(filmed, clock):
    judging = room(filmed, clock, min_viewing_s=0, min_watched_share=0)
    files = [path.read_bytes() for path in (filmed.root / "media").glob("*.mp4")]
    public = {hashlib.sha256(content).digest() for content in files} | {len(content) for content in files}
    with TestClient(create_app(filmed, judging=judging), base_url="http://127.0.0.1") as client:
        for _ in range(10):
            match = client.post("/api/judge/matches", json={}).json()
            for side in ("left", "right"):
                address = match[side]["video"]
                content = client.get(address).content
                assert not {hashlib.sha256(content).digest(), len(content)} & public
                assert client.head(address).headers["content-length"] == str(len(content))
                part = client.get(address, headers={"Range": "bytes=100-1099"})
                assert (part.status_code, part.content) == (206, content[100:1100])
                last = client.get(address, headers={"Range": "bytes=-50"})
                assert (last.status_code, last.content) == (206, content[-50:])
                beyond = client.get(address, headers={"Range": f"bytes={len(content)}-"})
                assert (beyond.status_code, beyond.headers["content-range"]) == (416, f"bytes */{len(content)}")
            client.post(f"/api/judge/matches/{match['match']}/answer", json=form(TASK))


def test_a_check_does_not_show_one_file_on_both_sides(filmed, clock):
    open_study(filmed, attention_every=2)
    judging = room(filmed, clock)
    judging.serve("first", study="lab")  # whoever comes first sets the second encodes going
    judging.twins.wait(60)
    app = create_app(filmed, judging=judging)
    headers = {"Authorization": f"Bearer {operator_token(filmed.root)}"}
    with TestClient(app, base_url="http://127.0.0.1", headers=headers) as client:
        for number in range(20):
            match = client.post("/api/judge/matches", json={"study": "lab", "judge": f"robot-{number}"}).json()
            sides = [
                client.get(match[side]["video"], params={"judge": f"robot-{number}"}).content for side in ("left", "right")
            ]
            assert len(sides[0]) != len(sides[1])
            mdat = [content[content.index(b"mdat") + 4 :] for content in sides]
            assert mdat[0] != mdat[1]
    assert filmed.videos_made(twin_of(path.stem) for path in (filmed.root / "media").glob("*.mp4"))


def test_second_encodes_have_no_address_of_their_own(filmed, clock):
    open_study(filmed, attention_every=2)
    judging = room(filmed, clock)
    judging.serve("first", study="lab")
    judging.twins.wait(60)
    twin = next((filmed.root / "media" / "twins").glob("*.mp4"))
    with TestClient(create_app(filmed, judging=judging), base_url="http://127.0.0.1") as client:
        for address in (
            f"/media/twins/{twin.name}",
            f"/episodes/twins/{twin.stem}/video.mp4",
            f"/api/episodes/twins%2F{twin.stem}/video.mp4",
        ):
            assert client.get(address).status_code == 404


def test_a_public_board_does_not_move_with_one_answer_and_operators_see_it_live(archive, clock):
    judging = room(fill(archive), clock, min_viewing_s=0, min_watched_share=0, publish_every=5)
    with TestClient(create_app(archive, judging=judging), base_url="http://127.0.0.1") as client:
        operator = {"Authorization": f"Bearer {operator_token(archive.root)}"}
        before = None
        for number in range(1, 13):
            match = judging.serve(f"judge-{number}")
            judging.answer(match.id, f"judge-{number}", **form(TASK) | {"reason": f"{REASON} Number {number}."})
            public = client.get("/api/leaderboard").json()
            pages = [client.get(f"/agents/{name}").text for name in ("ada", "bob", "cyd")]
            assert public["num_answers"] == number // 5 * 5 == client.get("/api/leaderboard").json()["num_judges"]
            assert client.get("/api/leaderboard", headers=operator).json()["num_answers"] == number
            assert not any(f"Number {number}." in page for page in pages) or number % 5 == 0
            assert public["publish_every"] == 5
            shown = (public["rows"], public["unrated"], public["num_answers"])
            assert number % 5 == 0 or before is None or shown == before
            before = shown


def test_what_everybody_sees_follows_a_ban_at_once(archive, clock):
    from interplay.store.judging import bans

    judging = room(fill(archive), clock, min_viewing_s=0, min_watched_share=0, publish_every=2)
    for number in range(4):
        judge = "mallory" if number % 2 else f"judge-{number}"
        judging.answer(judging.serve(judge).id, judge, **form(TASK))
    with TestClient(create_app(archive, judging=judging), base_url="http://127.0.0.1") as client:
        assert client.get("/api/leaderboard").json()["num_answers"] == 4
        with archive.database.write() as session:
            bans.ban(session, judge="mallory", reason="a robot", now=START)
        assert client.get("/api/leaderboard").json()["num_answers"] == 2


# One visitor of the open room


def test_one_judge_gives_no_more_answers_a_day_than_the_rules_say(archive, clock):
    judging = room(fill(archive), clock, min_viewing_s=0, min_watched_share=0, max_answers_per_day=3)
    for _ in range(3):
        judging.answer(judging.serve("eve").id, "eve", **form(TASK))
        clock.advance(3600)
    with pytest.raises(DailyLimitError, match=r"you have given 3 answers in 24 hours.*in the open room.*continue in 21 hours"):
        judging.serve("eve")
    robot = judging.serve("robot", judge_kind="program")  # programs are the operator's
    judging.release(robot.id, "robot")
    clock.advance(21 * 3600 + 1)
    judging.serve("eve")


def test_new_cookies_do_not_make_more_answers_of_one_address(archive, clock):
    judging = room(fill(archive, num_seeds=5), clock, min_viewing_s=0, min_watched_share=0, max_answers_per_address=4)
    app = create_app(archive, judging=judging)
    statuses = []
    for _ in range(6):
        client = TestClient(app, base_url="http://127.0.0.1", client=("203.0.113.7", 5000))
        served = client.post("/api/judge/matches", json={})
        statuses.append(served.status_code)
        if served.status_code == 201:
            client.post(f"/api/judge/matches/{served.json()['match']}/answer", json=form(TASK))
    assert statuses == [201] * 4 + [429] * 2
    assert (served.json()["error"], served.headers["retry-after"] != "0") == ("daily_limit", True)
    assert "4 answers came from your network address" in served.json()["message"]
    elsewhere = TestClient(app, base_url="http://127.0.0.1", client=("203.0.113.8", 5000))
    assert elsewhere.post("/api/judge/matches", json={}).status_code == 201
    assert num_answers(archive) == 4


def test_the_open_room_has_limits_unless_told_otherwise(archive):
    rules = Judging(archive, rng=np.random.default_rng(0)).rules
    assert rules == OPEN_ROOM
    assert None not in (rules.max_answers_per_day, rules.max_answers_per_address)
    assert rules.publish_every > 1
