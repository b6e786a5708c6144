"""Rewards from answers about segments: over exactly their steps, the same whichever side, asking where they are unsure."""

import shutil
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from itertools import combinations

import numpy as np
import pytest

import interplay.record
from bench.light import Seeks
from bench.rewards import LIGHT, TASK, SegmentJudges, study_of_segments
from interplay.agents import find as find_agent
from interplay.agents import rollout
from interplay.errors import NotFoundError
from interplay.judge.segments.selection import disagreement
from interplay.learn import load
from interplay.learn.config import RunError
from interplay.learn.reward.pairs import DRAW, FIRST, SECOND, asked_segments
from interplay.learn.reward.training import fit
from interplay.learn.settings import RewardConfig
from interplay.store import Match
from interplay.store import judging as store
from interplay.store.judging import bans
from interplay.store.study import studies
from interplay.tasks import find

pytestmark = pytest.mark.long_proof

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
CONFIG = RewardConfig(
    task=LIGHT, study="lab", observation="state", hidden=(64,), members=2, updates=400, learning_rate=3e-3, threads=1
)


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """A data folder with games of two players in eighteen worlds."""
    folder = tmp_path_factory.mktemp("segments") / "data"
    with closing(interplay.record.open(folder)) as archive:
        rng = np.random.default_rng(0)
        for seed in range(18):
            for agent in (Seeks(), find_agent("random", archive)):
                rollout(archive, find(LIGHT), agent, seed, rng=rng, max_steps=100)
    return folder


@pytest.fixture
def archive(games, tmp_path):
    """A copy of it."""
    shutil.copytree(games, tmp_path / "data")
    with closing(interplay.record.open(tmp_path / "data")) as archive:
        yield archive


def test_answers_about_segments_teach_a_reward_that_orders_unseen_games_and_says_what_is_asked_next(archive):
    segments = study_of_segments(archive, "lab", now=NOW, number=120, where=["seed < 12"], seed=2, candidates=200)
    judges = SegmentJudges(archive, "lab", segments, seed=2, noise=0.05)
    judges.answer(150)
    found = fit(archive, CONFIG, "r").description
    assert (found["study"], found["task"]) == ("lab", "bench/light")
    assert found["correlation"] >= 0.8  # 0.89: games, answers and weights are drawn by fixed seeds
    assert found["unseen_games"] >= 12 + 4, "of six worlds that nobody was asked about, and of two that are held out"
    assert 0 < found["unseen_answers"] < found["answers"]
    with archive.database.read() as session:
        guide = store.newest_guide(session, "lab")
        sums = store.guide_sums(session, guide)
    assert guide.reward == "r"
    assert {len(one) for one in sums.values()} == {CONFIG.members}
    spread = {row.key: row for row in segments}
    assert sums.keys() == spread.keys()
    learned = [float(np.mean(sums[row.key])) for row in segments]
    assert np.corrcoef(learned, [judges.worth[row.id] for row in segments])[0, 1] > 0.5
    worth = {frozenset(pair): disagreement(*(sums[row.key] for row in pair)) for pair in combinations(segments, 2)}
    before = pairs_asked(archive)
    judges.answer(40)
    asked = [pair for pair in pairs_asked(archive)[len(before) :] if not any(row.is_held_out for row in pair)]
    others = [worth[pair] for pair in worth if not any(row.is_held_out for row in pair)]
    assert np.mean([worth[frozenset(pair)] for pair in asked]) > np.quantile(others, 0.9), "what it is unsure about is asked"


def pairs_asked(archive) -> list[tuple]:
    """The two segments of every answer that counts, in the order of the log."""
    with archive.database.read() as session:
        return [(one.left, one.right) for one in store.segment_answers(session, "lab")]


def test_a_sum_is_taken_over_exactly_the_steps_of_a_segment(archive):
    torch = pytest.importorskip("torch")
    from interplay.learn.reward.model import PreferenceLearner

    segments = study_of_segments(archive, "lab", now=NOW, number=20, seconds=1, where=["seed < 3"])
    SegmentJudges(archive, "lab", segments, seed=1).answer(12)
    pairs = asked_segments(archive.database, "lab").pairs
    data = load(archive.episodes(where=["seed < 3"]), observation="state")
    learner = PreferenceLearner(replace(CONFIG, samples=3), data, pairs, torch.device("cpu"))
    for pair in pairs:
        for (episode, (first, last)), places in zip(pair.sides, map(learner.decisions_of, pair.sides), strict=True):
            assert data.steps[places].tolist() == list(range(first, last + 1))
            assert {data.counts[index].episode for index in data.episodes[places]} == {episode}
    batch = learner.compared([pairs, pairs], np.random.default_rng(0).random((2, len(pairs))))
    seen = batch.observations[0, 0, 0].numpy()
    (episode, (first, last)), _ = pairs[0].sides
    np.testing.assert_array_equal(seen, archive.get(episode).raw_observations()[first + 1 : last + 2])


def test_swapping_all_sides_changes_nothing_and_who_cannot_tell_teaches_nothing(archive):
    segments = study_of_segments(archive, "lab", now=NOW, number=8, where=["seed < 6"])
    outcomes = ("left", "right", "draw", "na", "left")
    with archive.database.read() as session:
        version = store.study(session, "lab")
    assert version is not None
    pairs = [(segments[place], segments[place + 1]) for place in range(len(outcomes))]
    swapped = {"left": "right", "right": "left"}
    for judge, swap in (("eve", False), ("kim", True)):
        for number, ((left, right), outcome) in enumerate(zip(pairs, outcomes, strict=True)):
            one, other = (right, left) if swap else (left, right)
            add_answer(archive, one, other, swapped.get(outcome, outcome) if swap else outcome, judge, number)
    read = asked_segments(archive.database, "lab").pairs
    assert len(read) == 8
    assert read[:4] == read[4:]
    assert {pair.outcome for pair in read} <= {FIRST, SECOND, DRAW}
    with archive.database.write() as session:
        bans.ban(session, judge="kim", reason="clicks through", now=NOW)
    assert len(asked_segments(archive.database, "lab").pairs) == 4
    assert asked_segments(archive.database, "lab", "models").pairs == []


def add_answer(archive, left, right, outcome: str, judge: str, number: int) -> None:
    """An answer of a judge about two segments."""
    with archive.database.write() as session:
        match = Match(
            id=f"{judge}-{number}", task=left.task, task_hash=left.task_hash, seed=left.seed, judge=judge, study="lab",
            left_episode_id=left.episode_id, right_episode_id=right.episode_id, left_agent=left.agent,
            right_agent=right.agent, left_segment_id=left.id, right_segment_id=right.id, purpose="segment",
            served_at=NOW, seen_at=NOW,
        )  # fmt: skip
        session.add(match)
        session.flush()
        said = {"outcome": outcome, "responses": {}, "reason": "", "viewing": {}}
        assert store.append_answer(session, match, created_at=NOW, duration_s=3.0, **said)


def test_answers_about_a_segment_after_the_end_of_its_seat_are_left_out_and_counted(archive):
    segments = study_of_segments(archive, "lab", now=NOW, number=30, where=["seed < 6"])
    with archive.database.write() as session:
        version = store.study(session, "lab").content_hash
        late = [
            store.entered_segment(
                session, "lab", version, store.NewSegment(row.episode_id, 400, 459, row.agent, row.is_held_out)
            )
            for row in {row.is_held_out: row for row in segments}.values()
        ]
    for row in late:
        other = next(one for one in segments if one.is_held_out == row.is_held_out)
        add_answer(archive, row, other, "left", "eve", row.id)
    config = replace(CONFIG, updates=1)
    with pytest.raises(RunError, match=r"2 answers are about a segment that holds no whole decision of 'state'"):
        fit(archive, config, "r")
    SegmentJudges(archive, "lab", segments, seed=1).answer(20)
    description = fit(archive, config, "s").description
    assert (description["answers"], description["answers_left_out"]) == (22, 2)


def test_a_study_that_a_reward_cannot_learn_from_is_refused(archive):
    with pytest.raises(NotFoundError, match="unknown study 'lab'"):
        fit(archive, CONFIG, "r")
    study_of_segments(archive, "lab", now=NOW, number=8, where=["seed < 6"])
    with pytest.raises(
        RunError, match=r"study 'lab' compares segments of bench/light, and this run is of bench/cartpole\n.*--task"
    ):
        fit(archive, replace(CONFIG, task=TASK), "r")
    with pytest.raises(RunError, match="nothing to learn a reward from: no answer counts"):
        fit(archive, CONFIG, "r")
    with archive.database.write() as session:
        studies.open_study(session, study="whole", content_hash="w", definition={"judging": {}}, now=NOW)
    with pytest.raises(RunError, match="study 'whole' compares whole games, and no segments"):
        fit(archive, replace(CONFIG, study="whole"), "r")
    assert not (archive.root / "rewards" / "r").exists()
