"""Rewards from judged pairs: the right answers, the same reward whichever side a game was on, and agents that learn from it."""

import json
import resource
import shutil
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

import interplay.record
from bench.rewards import TASK, answer, play
from interplay.errors import InterplayError, NotFoundError
from interplay.learn import CONFIGS, TransitionError, load, train
from interplay.learn.config import ConfigError, RunError
from interplay.learn.reward.model import log_odds
from interplay.learn.reward.pairs import DRAW, FIRST, SECOND, Judges, answered_pairs, pair_of, split
from interplay.learn.reward.storage import RewardError, load_reward, read_along, relabelled
from interplay.learn.reward.training import fit, rank_correlation
from interplay.learn.settings import RewardConfig
from interplay.store.judging import bans
from interplay.tasks import find

CONFIG = RewardConfig(task=TASK, observation="state", hidden=(16,), members=2, samples=8, updates=250, threads=1)


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """A data folder with games of a clumsy player and of random play in twelve worlds."""
    folder = tmp_path_factory.mktemp("rewards") / "data"
    with closing(interplay.record.open(folder)) as archive:
        play(archive, find(TASK), 12)
    return folder


@pytest.fixture
def judged(games, tmp_path):
    """Opens a copy of the games with answers: `judged(100, swap=True)`."""
    opened = []

    def make(num_answers: int, **options):
        folder = tmp_path / f"data-{len(opened)}"
        shutil.copytree(games, folder)
        archive = interplay.record.open(folder)
        opened.append(archive)
        if num_answers:
            answer(archive, find(TASK), num_answers, seed=1, **options)
        return archive

    yield make
    for archive in opened:
        archive.close()


def weights(archive, name="r") -> bytes:
    return (archive.root / "rewards" / name / "model.safetensors").read_bytes()


@pytest.mark.journey("rewards from what people preferred")
def test_noisy_answers_teach_a_reward_that_orders_unseen_games_and_trains_an_agent(judged):
    archive = judged(200)
    found = fit(archive, CONFIG, "r").description
    assert found["answers"] == 200
    assert found["correlation"] >= 0.8
    assert found["unseen_accuracy"] > 0.5
    assert found["unseen_answers"] > 0
    assert 0 < len(found["unsure"]) <= 10
    game = archive.episodes(task=find(TASK).id)[0]
    (along,) = read_along(archive.root, game.id)
    assert (along.name, along.answers, len(along.rewards)) == ("r", 200, game.num_steps)
    config = CONFIGS["iql"](task=TASK, observation="state", actor=None, updates=20, hidden=(8,), reward="r", threads=1)
    train(archive, config, "taught")
    train(archive, replace(config, reward=None), "plain")
    taught, plain = (json.loads((archive.root / "models" / name / "model.json").read_text()) for name in ("taught", "plain"))
    assert taught["reward"]["name"] == "r"
    assert taught["reward"]["answers"] == 200
    assert taught["reward"]["weights_sha256"] == found["weights_sha256"]
    assert taught["weights_sha256"] != plain["weights_sha256"]
    assert "reward" not in plain


def test_swapping_all_sides_changes_nothing(judged):
    one, other = judged(60), judged(60, swap=True)
    short = replace(CONFIG, updates=20)
    for archive in (one, other):
        fit(archive, short, "r")
    assert weights(one) == weights(other)


def test_a_run_that_was_stopped_ends_with_the_same_weights(judged):
    whole, stopped = judged(40), judged(40)
    config = replace(CONFIG, updates=30, checkpoint_every_s=0.0)
    fit(whole, config, "r")

    def stop(done: int, total: int) -> None:
        if done == 17:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(stopped, config, "r", on_update=stop)
    with pytest.raises(ConfigError, match="unfinished run 'r'"):
        fit(stopped, config, "r")
    fit(stopped, config, "r", resume=True)
    assert weights(stopped) == weights(whole)
    with pytest.raises(ConfigError, match="there is a reward 'r'"):
        fit(stopped, config, "r")


def test_answers_of_people_count_those_of_models_if_asked_for_and_those_of_banned_judges_never(judged):
    archive = judged(40)
    answer(archive, find(TASK), 6, seed=1, judge_kind="model")
    with archive.database.write() as session:
        bans.ban(session, judge="person-1-5", reason="clicks through", now=datetime.now(UTC))
    numbers = {judges: len(answered_pairs(archive.database, find(TASK).id, judges)) for judges in get_args(Judges)}
    assert numbers == {"people": 38, "models": 6, "all": 44}


def test_without_answers_or_with_one_kind_alone_there_is_nothing_to_learn(judged):
    archive = judged(0)
    with pytest.raises(RunError, match="nothing to learn a reward from: no answer counts"):
        fit(archive, CONFIG, "r")
    answer(archive, find(TASK), 10, seed=1, says=lambda left, right, rng: "draw")
    with pytest.raises(RunError, match=r"all \d+ answers are draws"):
        fit(archive, CONFIG, "r")
    assert not (archive.root / "rewards" / "r").exists()


def test_a_reward_that_is_missing_damaged_or_of_another_task_is_refused(judged):
    archive = judged(20)
    fit(archive, replace(CONFIG, updates=2), "mine")
    config = CONFIGS["iql"](task=TASK, observation="state", actor=None, updates=2, hidden=(8,), threads=1)
    with pytest.raises(NotFoundError, match="did you mean 'mine'"):
        train(archive, replace(config, reward="min"), "a")
    described = archive.root / "rewards" / "mine" / "reward.json"
    document = json.loads(described.read_text())
    described.write_text(json.dumps(document | {"task": "atari/breakout"}))
    with pytest.raises(RewardError, match="is of task atari/breakout, but this run is of bench/cartpole"):
        train(archive, replace(config, reward="mine"), "b")
    described.write_text(json.dumps(document))
    path = Path(described).with_name("model.safetensors")
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(RewardError, match=r"is damaged: model.safetensors is not the file"):
        load_reward(archive, "mine")
    assert not [name for name in ("a", "b") if (archive.root / "models" / name / "model.json").exists()]


@pytest.mark.parametrize("name", ["../x", "", ".hidden", "a/b", "a" * 300])
def test_names_that_cannot_be_a_reward_are_refused(judged, name):
    archive = judged(0)
    with pytest.raises(ConfigError, match="name a reward"):
        fit(archive, CONFIG, name)
    with pytest.raises(ConfigError, match="name a reward"):
        load_reward(archive, name)


def test_a_reward_of_another_version_of_the_task_is_refused(judged):
    archive = judged(20)
    fit(archive, replace(CONFIG, updates=2), "mine")
    data = load(archive.episodes()[:1], observation="state")
    with pytest.raises(RewardError, match=r"of shape \(4,\), but these games give shape \(2,\): .*another version of the task"):
        relabelled(data, replace(data, pictures=data.pictures[:, :2]), load_reward(archive, "mine"))


def test_a_full_disk_at_the_end_leaves_no_half_a_reward_and_says_how_to_go_on(judged):
    archive = judged(20)
    config = replace(CONFIG, updates=2)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(done: int, total: int) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, before[1]))

    try:
        with pytest.raises(RunError, match=rf"the disk is full.*\n.*--data {archive.root} --out r --resume"):
            fit(archive, config, "r", on_update=fill)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not (archive.root / "rewards" / "r" / "reward.json").exists()
    fit(archive, config, "r", resume=True)
    assert read_along(archive.root, archive.episodes()[0].id)


def test_in_a_task_of_several_seats_one_is_to_be_chosen(judged):
    archive = judged(0)
    with pytest.raises(TransitionError, match="has 2 seats; say whose seat to learn, with --seat"):
        fit(archive, RewardConfig(task="together/cooperative_pong"), "r")
    with pytest.raises(TransitionError, match="has no seat 'nobody'"):
        fit(archive, replace(CONFIG, seat="nobody"), "r")


def test_a_pair_is_the_same_from_either_side():
    assert pair_of("b", "a", "left", 4) == pair_of("a", "b", "right", 4)
    assert [pair_of("a", "b", outcome, 4).outcome for outcome in ("left", "right", "draw")] == [FIRST, SECOND, DRAW]


def test_a_draw_about_an_unseen_world_leaves_the_loss_finite_and_a_coin_is_called_one(judged):
    archive, task = judged(0), find(TASK)
    seeds = sorted({one.seed for one in archive.episodes(task=task.id)} - {*task.held_out_seeds})
    asked = [pair_of(f"a{seed}", f"b{seed}", "left", seed) for seed in seeds]
    held_out = split(asked, CONFIG.validation, rng=np.random.default_rng((CONFIG.seed, 5))).seeds
    unseen = {one.total_reward for one in archive.episodes(task=task.id) if one.seed in held_out}

    def says(left, right, rng):
        if {left, right} <= unseen and rng.random() < 0.5:
            return "draw"
        return "left" if rng.random() < 0.5 else "right"

    answer(archive, task, 200, seed=1, says=says)
    found = fit(archive, CONFIG, "coin").description
    assert found["unseen_draws_left_out"] > 0
    assert np.isfinite(found["unseen_loss"])
    assert found["is_at_chance"]
    assert not fit(judged(200), CONFIG, "real").description["is_at_chance"]


def test_unseen_worlds_are_in_no_pair_that_is_learned_from():
    pairs = [pair_of(f"a{seed}", f"b{seed}", "left", seed) for seed in range(10)]
    parts = split(pairs, 0.3, rng=np.random.default_rng(0))
    assert len(parts.seeds) == 3
    assert len(parts.training) == 7
    assert {seed for pair in parts.unseen for seed in pair.seeds} == parts.seeds
    with pytest.raises(InterplayError):
        split([], 0.3, rng=np.random.default_rng(0))


def test_odds_are_davidsons():
    torch = pytest.importorskip("torch")
    difference, log_nu = torch.tensor([1.0, -2.0]), torch.tensor([0.3])
    chances = log_odds(difference, log_nu, has_draws=True).softmax(-1)
    for d, (first, second, draw) in zip(difference.tolist(), chances.tolist(), strict=True):
        whole = np.exp(d / 2) + np.exp(-d / 2) + np.exp(0.3)
        assert [first, second, draw] == pytest.approx([np.exp(d / 2) / whole, np.exp(-d / 2) / whole, np.exp(0.3) / whole])
    assert log_odds(difference, log_nu, has_draws=False).softmax(-1)[:, DRAW].tolist() == [0.0, 0.0]


def test_ranks_of_equal_values_are_shared():
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 5, 40), rng.integers(0, 9, 40)
    assert rank_correlation(one, other) == pytest.approx(float(stats.spearmanr(one, other).statistic))
    assert rank_correlation([1, 1, 1], [1, 2, 3]) is None
