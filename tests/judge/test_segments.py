"""Studies of segments: what is drawn, served, asked next, and refused. Real recordings, a real database."""

import json
import shutil
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import gymnasium
import numpy as np
import pytest
import sqlalchemy as sa
from judging_world import Clock, played
from starlette.testclient import TestClient

import interplay.record
from bench.light import Light, Seeks, step_of
from bench.rewards import LIGHT, study_of_segments
from interplay.agents import find as find_agent
from interplay.agents import rollout
from interplay.cli import _run
from interplay.errors import NotFoundError
from interplay.judge import Judging
from interplay.judge.errors import (
    InvalidAnswerError,
    NothingToJudgeError,
    StudyFullError,
    VideosBeingMadeError,
    VideosMissingError,
)
from interplay.judge.published import DatasetError, Selection, export_answers, export_file, flat_table
from interplay.judge.published.row import load_json
from interplay.judge.published.segments import export_segments, import_segments, is_of_segments
from interplay.judge.segments.definition import Segments
from interplay.judge.segments.selection import next_pair
from interplay.judge.segments.studies import Game, SegmentError, SegmentStudies, draw_segments
from interplay.judge.serving.videos import clip_of_segment
from interplay.play.connections.tokens import operator_token
from interplay.record.films.film import film
from interplay.store import EpisodeSeat, Participant
from interplay.store import judging as store
from interplay.store.entrants import admit, agree
from interplay.store.judging import SegmentRow
from interplay.tasks import EnvSpec, find
from interplay.web.app import create_app

TASK = find(LIGHT)
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """A data folder with six games of two players in three worlds."""
    folder = tmp_path_factory.mktemp("segments") / "data"
    with closing(interplay.record.open(folder)) as archive:
        rng = np.random.default_rng(0)
        for seed in (1, 2, 3):
            for agent in (Seeks(), find_agent("random", archive)):
                rollout(archive, TASK, agent, seed, rng=rng, max_steps=120)
    return folder


@pytest.fixture
def archive(games, tmp_path):
    """A copy of it."""
    shutil.copytree(games, tmp_path / "data")
    with closing(interplay.record.open(tmp_path / "data")) as archive:
        yield archive


@pytest.fixture
def judging(archive):
    return Judging(archive, rng=np.random.default_rng(0), clock=Clock())


def rows(number: int, *, held_out: int = 0) -> list[SegmentRow]:
    """Segments of games that nobody played, the first ones of held-out worlds."""
    return [SegmentRow(place, f"g{place}", 0, 59, "ada", place < held_out, place, "t/a", "h") for place in range(number)]


# Drawing


def test_segments_are_drawn_by_seed_inside_games_long_enough_with_worlds_held_out():
    games = [Game(f"g{number}", number % 10, 50 + number, "ada") for number in range(40)]
    draw = lambda seed: draw_segments(games, num_steps=60, number=100, held_out=0.2, rng=np.random.default_rng(seed))  # noqa: E731
    drawn = draw(1)
    assert drawn == draw(1) != draw(2)
    lengths = {game.id: game.num_steps for game in games}
    assert all(one.first_step >= 0 and one.last_step == one.first_step + 59 < lengths[one.episode_id] for one in drawn)
    assert all(one.first_step % 4 == 0 for one in drawn)
    assert len({one[:2] for one in drawn}) == len(drawn)
    worlds = {kind: {int(one.episode_id[1:]) % 10 for one in drawn if one.is_held_out == kind} for kind in (True, False)}
    assert len(worlds[True]) == 2
    assert not worlds[True] & worlds[False]


def test_no_segment_is_drawn_after_the_end_of_a_seat(tmp_path, monkeypatch):
    """Of three runners the first falls at step 2 of 5."""
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "envs")
    seats = ("x", "y", "z")
    task = replace(find("gymnasium/frozen_lake"), env=EnvSpec("pettingzoo:relay_race:relay_race-v0"), seats=seats)
    with closing(interplay.record.open(tmp_path / "data")) as archive:
        for seed in (1, 2):
            agents = {seat: find_agent("noop", archive) for seat in seats}
            rollout(archive, task, agents, seed, rng=np.random.default_rng(0))
        part = Segments(task.id, number=2, seconds=4 / task.frame_rate_hz, seat="x")
        with pytest.raises(SegmentError, match=r"have 4 steps, but the longest of the 2 games of \S+ has only 2\n"):
            SegmentStudies(archive).draw(part, task)
        with pytest.raises(SegmentError, match="can be compared"):  # one place in each game, and one world held out
            SegmentStudies(archive).draw(replace(part, seat="z"), task)


def test_what_is_kept_are_steps_and_a_version_of_a_study_gets_its_segments_once(archive):
    found = study_of_segments(archive, "lab", now=NOW, number=20, seconds=2)
    assert {one.last_step - one.first_step + 1 for one in found} == {40}
    segments = SegmentStudies(archive)
    part = Segments(TASK.id, number=20, seconds=2)
    assert [one[:2] for one in segments.draw(part, TASK)] == [(one.episode_id, one.first_step) for one in found]
    with archive.database.read() as session:
        version = store.study(session, "lab").content_hash
    assert segments.draw(part, TASK, version) == []
    assert segments.keep("lab", version, []) == 20


# Videos


def test_what_is_sent_holds_the_frames_of_the_segment_and_no_other(archive, judging):
    av = pytest.importorskip("av")
    segments = study_of_segments(archive, "lab", now=NOW, number=4, seconds=1)
    for segment in segments:
        name = clip_of_segment(segment).name
        archive.video_path(name).unlink()
        film(archive, name)
    headers = {"Authorization": f"Bearer {operator_token(archive.root)}"}
    client = TestClient(create_app(archive, judging=judging), headers=headers)
    served = client.post("/api/judge/matches", json={"judge": "robot", "study": "lab"}).json()
    assert served["segments"] is True
    with archive.database.read() as session:
        match = store.match_to_read(session, served["match"])
    by_id = {one.id: one for one in segments}
    for side, number in (("left", match.left_segment_id), ("right", match.right_segment_id)):
        answer = client.get(served[side]["video"], params={"judge": "robot"})
        with av.open(BytesIO(answer.content)) as container:
            pictures = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
        segment = by_id[number]
        assert [step_of(picture) for picture in pictures] == list(range(segment.first_step, segment.last_step + 2))
        for secret in (segment.episode_id, segment.agent, TASK.content_hash):
            assert secret.encode() not in answer.content
            assert secret not in json.dumps(dict(answer.headers)) + json.dumps(served)


def test_a_few_missing_videos_are_asked_for_at_once_and_a_judge_hears_whether_they_come(archive):
    asked, is_held = [], False
    judging = Judging(
        archive,
        rng=np.random.default_rng(0),
        clock=Clock(),
        want_video=lambda name: asked.append(name) or name not in broken,
        is_held=lambda: is_held,
    )
    names = [clip_of_segment(one).name for one in study_of_segments(archive, "lab", now=NOW, number=40, seconds=1)]
    for name in names:
        archive.video_path(name).unlink()
    broken = set(names[:3])
    with pytest.raises(VideosBeingMadeError, match="segments are being made; try again in a minute"):
        judging.serve("eve", study="lab")
    assert asked == names[:19], "those that fail do not stand in the way of the next ones"
    is_held = True
    with pytest.raises(VideosBeingMadeError, match="segments wait while people play here; try again later"):
        judging.serve("eve", study="lab")
    broken = set(names)
    with pytest.raises(VideosMissingError, match="40 videos of this study are missing, and they are not being made"):
        judging.serve("eve", study="lab")


# Serving and answering


def test_segments_are_served_blind_answered_and_rate_nobody(archive, judging):
    with archive.database.write() as session:
        for agent in ("random", "seeks"):
            admit(session, name=agent, task=TASK.id, kind="agent", now=NOW)
    segments = {one.id: one for one in study_of_segments(archive, "lab", now=NOW, number=12)}
    served = judging.serve("eve", study="lab")
    assert served.is_of_segments
    assert [question.kind for question in served.questions] == ["overall"]
    with archive.database.read() as session:
        match = store.match_to_read(session, served.id)
    secrets = {match.left_episode_id, match.right_episode_id, match.left_agent, match.right_agent, match.task_hash}
    assert not any(secret in repr(served) for secret in secrets)
    for side, number in (("left", match.left_segment_id), ("right", match.right_segment_id)):
        assert judging.video(served.id, side, "eve")[0] == archive.video_place(clip_of_segment(segments[number]).name)
    with pytest.raises(InvalidAnswerError, match="choose left, right, draw or na; got 'both'"):
        judging.answer(served.id, "eve", outcome="both", responses={}, reason="", study="lab")
    judging.answer(served.id, "eve", outcome="na", responses={}, reason="", viewing=played(), study="lab")
    pairs = {frozenset((match.left_segment_id, match.right_segment_id))}
    for number in range(4):
        again = judging.serve("eve", study="lab")
        with archive.database.read() as session:
            other = store.match_to_read(session, again.id)
        pairs.add(frozenset((other.left_segment_id, other.right_segment_id)))
        judging.answer(again.id, "eve", outcome=("left", "right", "draw", "left")[number], responses={}, reason="", study="lab")
    assert len(pairs) == 5, "no pair is asked twice"
    assert judging.leaderboard(TASK.id)["num_answers"] == 0
    with archive.database.read() as session:
        assert store.num_segment_answers(session, "lab") == 5
        assert [one.outcome for one in store.segment_answers(session, "lab")] == ["left", "right", "draw", "left"]
        (summary,) = [one for one in judging.judges("lab") if one.judge == "eve"]
        assert summary.num_answers == 5


def test_the_same_two_games_can_be_asked_about_again_in_other_segments(archive, judging):
    study_of_segments(archive, "lab", now=NOW, number=30, where=["seed = 1"])
    for _ in range(12):
        served = judging.serve("eve", study="lab")
        judging.answer(served.id, "eve", outcome="left", responses={}, reason="", study="lab")


def test_checks_show_one_segment_twice_or_a_pair_again_with_swapped_sides(archive, judging):
    study_of_segments(archive, "lab", now=NOW, number=12, rules={"attention_every": 4, "repeat_every": 4})
    for _ in range(24):
        served = judging.serve("eve", study="lab")
        judging.answer(served.id, "eve", outcome="left", responses={}, reason="", study="lab")
    (summary,) = judging.judges("lab")
    assert summary.num_attention == 6
    assert summary.attention_passed == 0
    assert summary.num_repeats >= 4
    assert summary.repeats_consistent == 0
    with archive.database.read() as session:
        asked = store.num_segment_answers(session, "lab")
    assert asked == 24 - summary.num_attention - summary.num_repeats


def test_a_study_of_segments_is_full_with_the_answers_it_asked_for(archive, judging):
    study_of_segments(archive, "lab", now=NOW, number=12, rules={"target_answers": 2})
    for judge in ("eve", "kim"):
        judging.answer(judging.serve(judge, study="lab").id, judge, outcome="draw", responses={}, reason="", study="lab")
    with pytest.raises(StudyFullError):
        judging.serve("lea", study="lab")


def test_a_preview_shows_two_clips_and_keeps_nothing(archive, judging):
    study_of_segments(archive, "lab", now=NOW, number=6)
    shown = judging.preview(study="lab")
    assert shown.match.is_of_segments
    assert shown.left != shown.right
    assert shown.left.startswith("clips/")


# What is asked next


def test_where_networks_disagree_is_asked_first_but_held_out_worlds_stay_random():
    segments = rows(12, held_out=4)
    sums = {one.key: [0.0, 0.0] for one in segments}
    sums[segments[7].key] = [3.0, -3.0]
    ask = lambda part, seed: next_pair(  # noqa: E731
        segments, part, sums=sums, taken=set(), rng=np.random.default_rng(seed)
    )
    part = Segments("t/a", held_out=0.2, candidates=200)
    pairs = [ask(part, seed) for seed in range(400)]
    measuring = [pair for pair in pairs if pair.left.is_held_out]
    assert all(pair.left.is_held_out == pair.right.is_held_out for pair in pairs)
    assert 35 <= len(measuring) <= 130  # 80 expected; five standard deviations are 40
    assert all(7 in (pair.left.id, pair.right.id) for pair in pairs if not pair.left.is_held_out)
    assert len({frozenset((pair.left.id, pair.right.id)) for pair in measuring}) == 6, "every pair of the four is asked"
    lefts = sum(pair.left.id == 7 for pair in pairs if not pair.left.is_held_out)
    assert 90 <= lefts <= 240, "the sides are drawn"


def test_a_pair_is_not_asked_while_somebody_has_it_nor_two_segments_that_overlap():
    one, other, third = rows(3)
    ask = lambda taken, *segments: next_pair(  # noqa: E731
        segments, Segments("t/a"), sums=None, taken=taken, rng=np.random.default_rng(0)
    )
    assert {*ask({frozenset((0, 1)), frozenset((0, 2))}, one, other, third)} == {other, third}
    assert ask(set(), one) is None
    assert ask(set(), one, one._replace(id=9, first_step=20, last_step=79)) is None, "two segments of one game do not overlap"


# People


def of_people(archive, episodes, participant: int | None) -> None:
    """Let games count as played by a person."""
    with archive.database.write() as session:
        held = sa.update(EpisodeSeat).where(EpisodeSeat.episode_id.in_([one.id for one in episodes]))
        session.execute(held.values(actor_kind="human", participant_id=participant))


def test_a_game_whose_player_does_not_agree_is_not_drawn_and_goes_when_they_change_their_mind(archive, judging):
    with archive.database.write() as session:
        session.add(person := Participant(key="k", created_at=NOW))
        session.flush()
        number = person.id
    first, second, *_ = archive.episodes(task=TASK)
    of_people(archive, (first, second), number)
    part = Segments(TASK.id, number=400)
    people = {first.id, second.id}
    assert not people & {one.episode_id for one in SegmentStudies(archive).draw(part, TASK)}
    for episode in people:
        with archive.database.write() as session:
            agree(session, episode_id=episode, participant_id=number, agreed=True, now=NOW)
    segments = study_of_segments(archive, "lab", now=NOW, number=400)
    assert people <= {one.episode_id for one in segments}
    judge = f"participant-{number}"
    for _ in range(10):
        served = judging.serve(judge, study="lab")
        with archive.database.read() as session:
            match = store.match_to_read(session, served.id)
        assert not people & {match.left_episode_id, match.right_episode_id}, "nobody compares a game of their own"
        judging.answer(served.id, judge, outcome="left", responses={}, reason="", viewing=played(), study="lab")
    with archive.database.write() as session:
        agree(session, episode_id=first.id, participant_id=number, agreed=False, now=NOW)
    with archive.database.read() as session:
        left = store.segments_of(session, store.study(session, "lab").content_hash)
    assert {one.episode_id for one in left} == {one.episode_id for one in segments} - {first.id}


# Files


def test_answers_about_segments_are_exported_and_come_in_where_their_games_are(archive, judging, tmp_path):
    segments = study_of_segments(archive, "lab", now=NOW, number=8)
    for outcome in ("left", "na", "draw"):
        served = judging.serve("eve", study="lab")
        judging.answer(served.id, "eve", outcome=outcome, responses={}, reason="", viewing=played(), study="lab")
    file = tmp_path / "answers.json"
    assert export_file(archive.database, Selection(), file, segments=True) == 3
    with archive.database.read() as session:
        with pytest.raises(DatasetError, match="there are no such answers to write"):
            export_answers(session, Selection())
        table = flat_table(session, Selection()).to_pylist()
        ours = list(store.segment_answers(session, "lab"))
    assert [row["outcome"] for row in table] == ["left", "na", "draw"]
    assert {row["left_last_step"] - row["left_first_step"] + 1 for row in table} == {60}
    document = load_json(file)
    assert is_of_segments(document)
    assert import_segments(archive, document, "copy", "f") == {"imported": 3, "there_before": 0, "dropped": {}}
    assert import_segments(archive, document, "copy", "f") == {"imported": 0, "there_before": 3, "dropped": {}}
    with archive.database.read() as session:
        theirs = list(store.segment_answers(session, "copy"))
    assert [(one.outcome, one.left.key, one.right.key) for one in theirs] == [
        (one.outcome, one.left.key, one.right.key) for one in ours
    ]
    assert {one.left.is_held_out for one in theirs} <= {one.is_held_out for one in segments}


def test_answers_that_cannot_come_in_are_counted_with_the_reason(archive, judging):
    study_of_segments(archive, "lab", now=NOW, number=8)
    judging.answer(judging.serve("eve", study="lab").id, "eve", outcome="left", responses={}, reason="", study="lab")
    with archive.database.read() as session:
        document = export_segments(session, Selection())
    (good,) = document["answers"]
    bad = [
        good | {"match": "a", "left": good["left"] | {"episode": "nothing"}},
        good | {"match": "b", "right": good["right"] | {"last_step": 10_000}},
        good | {"match": "c", "outcome": "both"},
        good | {"match": "d", "served_at": "yesterday"},
        "nonsense",
    ]
    counts = import_segments(archive, document | {"answers": [good, *bad]}, "copy", "f")
    assert counts["imported"] == 1
    assert sum(counts["dropped"].values()) == len(bad) == len(counts["dropped"])
    with pytest.raises(DatasetError, match="f: none of its 5 answers can be used"):
        import_segments(archive, document | {"answers": bad}, "other", "f")
    with pytest.raises(DatasetError, match="f: expected a file of answers, version 1; got version 2"):
        import_segments(archive, document | {"version": 2}, "other", "f")
    with pytest.raises(DatasetError, match="lab is a study of this server"):
        import_segments(archive, document, "lab", "f")
    with pytest.raises(DatasetError, match="cannot be the name of a set"):
        import_segments(archive, document, "a b", "f")


# Commands

STUDY = """
[study]
id = "moments"
title = "Moments"
summary = "A few seconds of two games."
minutes = 5
contact = "Ada"
instructions = "Watch."
[channels.open]
[judging.segments]
task = "bench/light"
number = 8
"""


def test_opening_a_study_of_segments_draws_them_once_and_refuses_what_cannot_be_drawn(archive, tmp_path, capsys):
    suite = LIGHT.rpartition(":")[0]
    options = ["--suite", suite, "--data", str(archive.root), "--json"]
    (tmp_path / "moments.toml").write_text(STUDY)
    for _ in range(2):
        assert _run(["study", "open", str(tmp_path / "moments.toml"), *options]) == 0
        assert json.loads(capsys.readouterr().out)["segments"] == 8
    (tmp_path / "long.toml").write_text(STUDY.replace("moments", "long") + "seconds = 50\n")
    assert _run(["study", "open", str(tmp_path / "long.toml"), *options]) == 1
    assert "segments of 50 s have 1000 steps" in capsys.readouterr().err
    with archive.database.read() as session:
        assert store.studies(session) == ["moments"], "nothing half open"


# Refused


@pytest.mark.parametrize(
    ("part", "error", "text"),
    [
        ({"seconds": 7}, SegmentError, r"segments of 7 s have 140 steps, but the longest of the 6 games of \S+ has only 120\n"),
        (
            {"where": ("score > 1e6",)},
            SegmentError,
            "there is no game of bench/light to draw segments from\nRemedy: record games",
        ),
        (
            {"number": 2},
            SegmentError,
            r"2 segments were drawn from 6 games .* outside the held-out worlds there are no two segments",
        ),
        ({"entrants": ("seks",)}, NotFoundError, "unknown entrant 'seks'; did you mean 'seeks'"),
        ({"seat": "left"}, NotFoundError, "unknown seat 'left'"),
        ({"where": ("skore > 1",)}, NotFoundError, "unknown episode value 'skore'; did you mean 'score'"),
    ],
)
def test_segments_that_cannot_be_drawn_are_refused(archive, part, error, text):
    with archive.database.write() as session:
        admit(session, name="seeks", task=TASK.id, kind="agent", now=NOW)
    with pytest.raises(error, match=text):
        SegmentStudies(archive).draw(Segments(TASK.id, **part), TASK)


def test_only_games_of_the_entrants_that_are_named_are_drawn_from(archive):
    with archive.database.write() as session:
        admit(session, name="seeks", task=TASK.id, kind="agent", now=NOW)
    drawn = SegmentStudies(archive).draw(Segments(TASK.id, entrants=("seeks",)), TASK)
    assert {one.agent for one in drawn} == {"seeks"}


def test_a_task_of_several_seats_asks_whose_play_is_compared(archive):
    pong = find("together/cooperative_pong")
    with pytest.raises(SegmentError, match="together/cooperative_pong has 2 seats, and the study does not say which"):
        SegmentStudies(archive).draw(Segments(pong.id), pong)


def test_a_task_without_pictures_is_refused(archive, monkeypatch):
    monkeypatch.setattr(Light, "render", lambda self: np.zeros(3))
    monkeypatch.setattr(gymnasium.logger, "min_level", 40)
    with pytest.raises(SegmentError, match=r"first segment of bench/light cannot be filmed: .* draws no picture"):
        SegmentStudies(archive).draw(Segments(TASK.id), TASK)
    assert not list((archive.root / "media" / "clips").iterdir())


def test_a_study_without_segments_says_so(archive, judging):
    study_of_segments(archive, "lab", now=NOW, number=6)
    of_people(archive, archive.episodes(task=TASK), None)
    with pytest.raises(NothingToJudgeError, match="no segments of games that may be shown"):
        judging.serve("eve", study="lab")
