"""Rollouts by the list: repeatable, resumable, and admitted to judging."""

import json
from datetime import UTC, datetime

import numpy as np
import pytest
import warm_process
from gymnasium.spaces import Discrete

import interplay.parallel
import interplay.record
from interplay.agents import AgentError
from interplay.agents.evaluate import evaluate
from interplay.agents.rollout_folder import write_rollouts
from interplay.errors import NotFoundError
from interplay.jobs import Executor
from interplay.store import entrants
from interplay.tasks import find

TASK = find("atari/breakout")


def test_two_processes_play_what_one_would_with_a_trained_policy(archive, tmp_path, monkeypatch):
    import torch

    from interplay.agents import networks
    from interplay.agents.policy import save_policy

    torch.manual_seed(0)
    architecture = {"name": "feedforward", "encoder": {"name": "conv", "shape": [4, 84, 84]}, "outputs": 18}
    network = networks.build(architecture)
    details = {"architecture": architecture, "temperature": 1.0}
    other = interplay.record.open(tmp_path / "other")
    for one in (archive, other):
        folder = one.root / "models" / "fresh"
        save_policy(folder, network, task=TASK, algorithm="bc", observation="dqn", space=Discrete(18), details=details)
    seeds = [1, 2, 3]
    monkeypatch.setattr(interplay.parallel, "get_context", lambda method: warm_process.pools())
    alone = evaluate(archive, TASK, "fresh", seeds, seed=5, max_steps=90, video=False)
    together = evaluate(other, TASK, "fresh", seeds, seed=5, max_steps=90, video=False, executor=Executor(2))
    assert [episode.seed for episode in together] == seeds
    for one, two in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one.actions(), two.actions())
        assert one.total_reward == two.total_reward


def test_what_is_there_is_kept_and_the_rest_is_played(archive):
    first = evaluate(archive, TASK, "random", [1], max_steps=60, video=False)
    counts = []
    both = evaluate(archive, TASK, "random", [1, 2], max_steps=60, video=False, report=lambda *done: counts.append(done))
    assert both[0].id == first[0].id
    assert counts == [(1, 2), (2, 2)]
    longer = evaluate(archive, TASK, "random", [1], max_steps=120, video=False)
    assert longer[0].id != first[0].id, "an episode cut shorter than asked is not a substitute"
    again = evaluate(archive, TASK, "random", [1], max_steps=60, video=False, again=True)
    assert again[0].id not in {first[0].id, longer[0].id}


def test_only_filmed_held_out_rollouts_are_admitted_to_judging(archive):
    def admitted():
        with archive.database.read() as session:
            return [agent.name for agent in entrants.entrants(session, TASK.id)]

    evaluate(archive, TASK, "random", [1], max_steps=30)
    assert admitted() == []
    episodes = evaluate(archive, TASK, "noop", TASK.held_out_seeds[:1], max_steps=30)
    assert admitted() == ["noop"]
    assert archive.video_path(episodes[0].id).exists()


def test_a_cut_rollout_says_that_it_was_truncated(archive):
    episode = evaluate(archive, TASK, "random", [1], max_steps=30, video=False)[0]
    assert (episode.num_steps, episode.truncated, episode.terminated, episode.outcome) == (30, True, False, "time_limit")


def test_an_unknown_agent_leaves_nothing_behind(archive):
    with pytest.raises(NotFoundError, match="did you mean 'random'"):
        evaluate(archive, TASK, "randm", [1])
    assert archive.episodes() == []


def test_a_name_of_people_is_refused_before_anything_is_played(archive):
    with archive.database.write() as session:
        entrants.admit(session, name="random", task="atari/qbert", kind="people", now=datetime.now(UTC), origin="people")
    progress = []
    with pytest.raises(entrants.EntrantError, match="'random' is the name of people on the leaderboard"):
        evaluate(archive, TASK, "random", TASK.held_out_seeds[:1], max_steps=30, report=lambda *done: progress.append(done))
    assert (archive.episodes(), progress) == ([], [])
    assert len(evaluate(archive, TASK, "random", [1], max_steps=30)) == 1, "what no judge sees may be played"


def test_rollouts_are_laid_out_with_what_happened_beside_each_video(archive, tmp_path):
    episodes = evaluate(archive, TASK, "random", [1, 2], max_steps=12)
    folder = tmp_path / "rollouts"
    videos = write_rollouts(archive, episodes, folder)
    assert videos == [folder / TASK.name / f"seed_{seed}.mp4" for seed in (1, 2)]
    assert videos[0].read_bytes() == archive.video_path(episodes[0].id).read_bytes()
    lines = [json.loads(line) for line in videos[1].with_suffix(".jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == list(range(12))
    assert [line["action"] for line in lines] == episodes[1].actions().tolist()
    kept = videos[0].stat().st_mtime_ns
    assert write_rollouts(archive, episodes, folder) == videos
    assert videos[0].stat().st_mtime_ns == kept
    with pytest.raises(AgentError, match=r"there are two episodes for .*seed_1.mp4\nPlay one"):
        write_rollouts(archive, [episodes[0], episodes[0]], folder)
    (tmp_path / "file").write_text("")
    with pytest.raises(AgentError, match=r"cannot be written to: .*\n.*--out DIR"):
        write_rollouts(archive, episodes, tmp_path / "file")
