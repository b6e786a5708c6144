"""The whole loop, small: every part is the real one, only shorter."""

import os
import signal
import subprocess
import sys

import pytest

import interplay.record
from interplay.demo import DemoError, DemoSettings, run_demo


@pytest.mark.processes
@pytest.mark.journey("behaviour cloning")
def test_the_loop_closes_and_stays_in_its_folder(tmp_path):
    settings = DemoSettings(num_players=3, play_s=3, updates=20, num_seeds=2, rollout_s=2, num_judges=3, num_answers=12, seed=4)
    reports = []
    result = run_demo(tmp_path / "data", settings, lambda stage, done, total: reports.append((stage, done, total)))
    assert {stage for stage, _, _ in reports} == {"play", "learn", "roll out", "judge"}
    assert {row["agent"] for row in result.leaderboard} == {"random", "scripted", "bc"}
    assert all(row["sigma"] < 25 / 3 for row in result.leaderboard)
    assert result.answers == 12
    assert result.updates == result.to_json()["updates"] == settings.updates
    assert result.demonstration_steps >= 3 * 3 * 60, "game time is played whole, however long that takes"
    assert result.demonstrations >= 3
    assert result.episodes == result.demonstrations + 3 * settings.num_seeds

    archive = interplay.record.open(tmp_path / "data")
    played = archive.episodes(actor="scripted-player")
    assert sum(episode.num_steps for episode in played) == result.demonstration_steps
    assert result.demonstration_steps > 100
    assert not {episode.seed for episode in played} & set(played[0].task.held_out_seeds)
    for episode in archive.episodes(actor="bc"):
        assert episode.seed in episode.task.held_out_seeds
        assert archive.video_path(episode.id).exists()
    assert [verdict for verdict in map(interplay.record.verify, archive.episodes()) if not verdict.equal] == []
    archive.close()

    with pytest.raises(DemoError, match="already holds"):
        run_demo(tmp_path / "data", settings)


@pytest.mark.processes
def test_ctrl_c_ends_the_demonstration_with_one_line_and_stops_its_server(tmp_path):
    command = [sys.executable, "-m", "interplay.cli", "demo", "--fast", "--data", str(tmp_path / "data")]
    demo = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, start_new_session=True)
    assert demo.stderr is not None
    told = iter(demo.stderr.readline, "")
    next(line for line in told if "play: " in line)
    os.killpg(demo.pid, signal.SIGINT)  # as a terminal does
    left = [line for line in told if "play: " not in line and line.strip()]
    assert demo.wait(timeout=60) == 130
    assert left == [f"Stopped. The games are in {tmp_path / 'data'}; a new demonstration needs another folder.\n"]
    assert "Stopping" in (tmp_path / "data" / "server.log").read_text()
