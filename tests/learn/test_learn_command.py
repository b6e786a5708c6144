"""`interplay learn` on a real archive."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from interplay.cli import main
from interplay.cli.learn import _benchmark_kept, _stoppable, _summary
from interplay.learn import BCConfig, PPOConfig
from interplay.learn.config import CHECKPOINT
from interplay.learn.harness.run import TrainingResult


def run(capsys, *arguments):
    """(exit status, standard output, standard error) of one command."""
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return stop.value.code, captured.out, captured.err


@pytest.fixture
def command(archive):
    return ["learn", "bc", "--task", "atari/space_invaders", "--actor", "scripted", "--threads", "1", "--data", archive.root]


def test_learning_prints_one_json_document_and_repeats_from_its_config(archive, command, capsys):
    status, out, _ = run(capsys, *command, "--updates", 5, "--batch-size", 4, "--seed", 9, "--out", "first", "--json")
    assert status == 0
    document = json.loads(out)
    assert (document["agent"], document["updates"], document["episodes"], document["config"]["seed"]) == ("first", 5, 3, 9)

    config = archive.root / "models" / "first" / "config.json"
    status, out, _ = run(capsys, "learn", "bc", "--config", config, "--out", "again", "--data", archive.root)
    assert status == 0
    assert "Next:  interplay play atari/space_invaders --agent again" in out.replace("\n", " ").replace("  ", "  ")
    first, again = ((archive.root / "models" / name / "model.safetensors").read_bytes() for name in ("first", "again"))
    assert first == again

    status, _, err = run(capsys, *command, "--updates", 5, "--out", "first")
    assert status == 1
    assert "there is a policy 'first'" in err
    status, _, err = run(capsys, *command, "--updates", 5, "--out", "first", "--resume")
    assert status == 1
    assert "has ended; there is nothing to resume" in err


@pytest.mark.parametrize(
    ("options", "status", "text"),
    [
        (["--task", "atari/space_invader", "--out", "m"], 2, "did you mean 'atari/space_invaders'"),
        (["--task", "atari/breakout", "--out", "m"], 1, "Nothing is recorded of this task yet."),
        (["--out", "m"], 2, "--task TASK"),
        (["--task", "atari/breakout"], 2, "--out NAME"),
        (["--task", "atari/space_invaders", "--out", "m", "--updates", "0"], 2, "updates must lie between 1"),
        (["--task", "atari/space_invaders", "--out", "m", "--where", "scor >= 3"], 2, "score"),
        (["--task", "atari/space_invaders", "--out", "human"], 1, "is a word of --actor"),
        (["--task", "atari/space_invaders", "--out", "random"], 1, "is a built-in agent"),
        (["--task", "atari/space_invaders", "--out", "m", "--resume"], 1, "there is no run 'm'"),
        (["--task", "together/cooperative_pong", "--out", "m"], 1, "has 2 seats"),
    ],
)
def test_mistakes_are_answered(archive, capsys, options, status, text):
    found, _, err = run(capsys, "learn", "bc", *options, "--data", archive.root)
    assert found == status
    assert text in err


def test_a_run_stopped_before_its_first_checkpoint_says_that_it_begins_anew(archive, command, capsys):
    assert run(capsys, *command, "--updates", 2, "--batch-size", 4, "--out", "m")[0] == 0
    for name in ("model.json", "model.safetensors"):
        (archive.root / "models" / "m" / name).unlink()
    status, _, err = run(capsys, *command, "--out", "m")
    assert status == 1
    assert "there is an unfinished run 'm'" in err
    status, _, err = run(capsys, *command, "--out", "m", "--resume")
    assert status == 0
    assert "stopped before its first checkpoint: it begins anew" in err


@pytest.mark.processes
def test_help_needs_no_torch():
    code = (
        "import sys\nfrom interplay.cli import main\n"
        "try:\n    main(['learn', 'bc', '--help'])\nexcept SystemExit:\n    pass\n"
        "sys.exit('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "interplay learn bc --task" in done.stdout


def test_a_missing_torch_answers_with_the_line_that_installs_it(archive, command, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    status, _, err = run(capsys, *command, "--out", "m")
    assert status == 1
    assert "pip install -e '.[train]'" in err


@pytest.mark.journey("offline reinforcement learning")
def test_an_offline_learner_becomes_an_agent_that_plays(archive, capsys):
    place = ["--data", archive.root]
    play = ["play", "gymnasium/cliff_walking", "--max-seconds", 3, "--no-video", "--seed", 0, *place]
    assert run(capsys, *play, "--agent", "random", "--seeds", "1,2,3")[0] == 0
    options = ["--task", "gymnasium/cliff_walking", "--actor", "random", "--observation", "state", "--hidden", "8,8"]
    command = ["learn", "iql", *options, "--updates", 3, "--threads", 1, "--seed", 9, "--json", *place]
    status, out, _ = run(capsys, *command, "--out", "walker")
    assert status == 0
    document = json.loads(out)
    assert (document["algorithm"], document["config"]["hidden"], document["config"]["seed"]) == ("iql", [8, 8], 9)
    status, out, _ = run(capsys, *play, "--agent", "walker", "--seeds", "4", "--json")
    assert status == 0
    assert [episode.seed for episode in archive.episodes(actor="walker")] == [4]
    config = archive.root / "models" / "walker" / "config.json"
    status, _, err = run(capsys, "learn", "bc", *place, "--config", config, "--out", "m")
    assert status == 1
    assert "holds settings of 'iql', not of 'bc'" in err


@pytest.mark.parametrize(
    ("options", "status", "text"),
    [
        (["dqn", "--offsets", "0,x"], 2, "--offsets must be whole numbers separated by commas, such as 0,1,2,3; got '0,x'"),
        (["cql", "--preset", "papr"], 2, "unknown preset of cql 'papr'; did you mean 'paper'"),
        (["bc", "--fast", "--preset", "paper"], 2, "choose it or --preset, not both"),
        (["cql", "--preset", "paper", "--config", "x.json"], 2, "--config gives all settings; choose it or a preset"),
        (["iqn", "--quantiles", "0"], 2, "quantiles must lie between 1 and 4096, got 0"),
        (["dqn", "--observation", "dqm"], 2, "unknown observation pipeline 'dqm'; did you mean 'dqn'"),
        (["dqn", "--actor", "scripted"], 1, "dqn learns from rewards, and none of the 3 episodes has one other than 0"),
        (["bc", "--actor", "scripted", "--seat", "second"], 1, "has no seat 'second'; its seats are player"),
    ],
)
def test_mistakes_of_offline_learners_are_answered(archive, capsys, options, status, text):
    found, _, err = run(capsys, "learn", *options, "--task", "atari/space_invaders", "--out", "m", "--data", archive.root)
    assert found == status
    assert text in " ".join(err.replace("│", " ").split())


@pytest.mark.parametrize(
    ("there", "text"),
    [
        ((), "Stopped before the run began: nothing is kept of it."),
        (("config.json",), "Stopped before the first checkpoint: only the settings are kept"),
        (("config.json", CHECKPOINT), "the last checkpoint is kept"),
        (("config.json", "rounds.json"), "the games and agents of finished rounds are kept"),
        (("config.json", "model.json"), "Stopped, but the policy is finished and kept in"),
        (("config.json", CHECKPOINT, "reward.json"), "Stopped, but the reward is finished and kept in"),
    ],
)
def test_ctrl_c_says_what_is_kept_and_how_to_go_on(there, text, tmp_path, capsys):
    for name in there:
        (tmp_path / name).touch()
    with pytest.raises(KeyboardInterrupt), _stoppable(tmp_path, BCConfig("t"), " --data d"):
        raise KeyboardInterrupt
    said = capsys.readouterr().err
    assert text in said
    is_open = bool(there) and "finished and kept" not in said
    assert (f"Continue:  interplay learn bc --out {tmp_path.name} --resume --data d" in said) == is_open


def test_what_is_said_of_a_benchmark_that_was_stopped_repeats_its_options():
    said = _benchmark_kept(Path("b.toml"), 3, " --data d")
    assert said.endswith("Continue:  interplay learn benchmark b.toml --jobs 3 --data d")
    assert "--jobs" not in _benchmark_kept(Path("b.toml"), None, "")


@pytest.mark.parametrize(
    ("settings", "made", "text"),
    [
        (
            BCConfig("t", updates=2000, max_seconds=45),
            (300, 1),
            "Training stopped after 45 s (max_seconds), at 300 of 2000 updates.",
        ),
        (PPOConfig("t", steps=90000, max_seconds=1.5), (9, 4096), "after 1.5 s (max_seconds), at 4096 of 90000 decisions."),
    ],
)
def test_a_run_that_its_time_ended_says_so_in_its_own_unit(settings, made, text, tmp_path):
    updates, decisions = made
    assert text in _summary("m", settings, TrainingResult(tmp_path, updates, 45.0, {}, decisions, 1), "")
