"""Rollouts by the list: repeatable, resumable, and admitted to judging."""

import json
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
import warm_process
from gymnasium.spaces import Discrete

import interplay.parallel
import interplay.record
from interplay.agents import AgentError
from interplay.agents.evaluate import evaluate, plan, run_jobs
from interplay.agents.find import files_hash
from interplay.agents.find import find as find_agent
from interplay.agents.rollout_folder import write_rollouts
from interplay.envs import make
from interplay.errors import NotFoundError
from interplay.jobs import Executor
from interplay.record import RecordedEpisode
from interplay.record.archive import derived_episode_id
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


def planned(archive, **options):
    agents = {"player": "random"}
    given = {"num_episodes": 1, "seed": 3, "max_steps": 40, "video": False, "again": False} | options
    return plan(archive, TASK, agents, agents, [1, 2], **given)[1]


def test_each_rollout_of_a_plan_has_an_id_that_depends_on_all_that_decides_it(archive, tmp_path, monkeypatch):
    (tmp_path / "my_own.py").write_text("from interplay.agents import RandomAgent\nclass One(RandomAgent):\n    name = 'one'\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert files_hash("random", archive) == ""
    find_agent("my_own:One", archive)
    before = files_hash("my_own:One", archive)
    (tmp_path / "my_own.py").write_text("from interplay.agents import NoopAgent\nclass One(NoopAgent):\n    name = 'one'\n")
    assert len({before, files_hash("my_own:One", archive), ""}) == 3
    now = datetime(2026, 1, 2, tzinfo=UTC)
    ids = [derived_episode_id(now, *facts) for facts in ((1, [2]), (1, [2]), (1, 2), (2, [2]))]
    assert ids[0] == ids[1]
    assert len({*ids, derived_episode_id(now + timedelta(microseconds=1), 1, [2])}) == 4
    assert ids[0].startswith("20260102T000000-")
    jobs = [*planned(archive, num_episodes=2), *planned(archive, num_episodes=2)]
    assert len({job.episode for job in jobs}) == len(jobs) == 8, "each plan has games of its own"


def test_a_second_attempt_at_a_rollout_makes_no_second_episode(archive):
    job = planned(archive)[0]
    assert [*run_jobs(archive, [job], Executor())] == [job.episode]
    sealed = archive.get(job.episode)
    assert [*run_jobs(archive, [job], Executor())] == [job.episode]
    assert archive.get(job.episode).sha256 == sealed.sha256
    assert (sealed.path.stat().st_mtime_ns, len(archive.episodes())) == (archive.get(job.episode).path.stat().st_mtime_ns, 1)


def test_an_attempt_that_ends_late_or_is_killed_changes_nothing(archive):
    job = planned(archive)[0]
    world = make(TASK)

    def attempt(num_steps, name):
        created_at = datetime.fromisoformat(job.created_at)
        options = {"seed": job.seed, "actor": "random", "actor_kind": "agent", "episode_id": job.episode, "attempt": name}
        recorder = archive.recorder(TASK, world, created_at=created_at, **options)
        episode = RecordedEpisode(world, recorder)
        episode.start(job.seed)
        for _ in range(num_steps):
            episode.step({"player": 0})
        recorder.flush()
        return recorder

    killed, late = attempt(5, "killed"), attempt(6, "late")
    killed.abandon()
    assert [one.outcome for one in archive.repair().sealed] == ["interrupted"]
    assert [*run_jobs(archive, [job], Executor())] == [job.episode]
    sealed = archive.get(job.episode)
    assert (sealed.num_steps, sealed.outcome) == (40, "time_limit")
    assert archive.seal(late.finish("interrupted")).num_steps == 40
    attempt(7, "killed later").abandon()
    assert [one.num_steps for one in archive.repair().sealed] == [40]
    assert [*archive.journal_folder.iterdir()] == []
    assert [one.sha256 for one in archive.episodes()] == [sealed.sha256]
    world.close()


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
