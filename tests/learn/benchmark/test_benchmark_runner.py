"""A benchmark of real runs: killed and continued it says the same; what is missing is made, what failed is told."""

import json
import os
import random
import shutil
import signal
import time
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from warm_process import READY, TO_LEARN, WarmProcess

import interplay.record
from interplay.agents.evaluate import evaluate
from interplay.files import alone
from interplay.jobs import Executor
from interplay.learn.benchmark import BenchmarkError, read, runner
from interplay.learn.benchmark.results import read_results
from interplay.learn.benchmark.runner import run_benchmark
from interplay.learn.train import matching_episodes

ROOT = Path(__file__).parents[3]
BENCHMARK = """
[benchmark]
id = "killed"
title = "Cart and pole"
seeds = [1, 2]
games = 2
settings = {{ observation = "state", hidden = [8], updates = 120, log_every = 20, checkpoint_every_s = 0, validation = 0 }}
[[task]]
id = "{task}"
actor = "any"
play = [{{ agent = "random", games = 6 }}]
best = {best}
[[algorithm]]
algorithm = "bc"
[[algorithm]]
algorithm = "dqn"
settings = {{ target_every = 50 }}
"""


GROUP = "import os; os.setsid(); from interplay.cli import main; main()"
"""The command, with its processes in a group of their own."""


def written(folder: Path, *, best: float = 500) -> Path:
    path = folder / "benchmark.toml"
    path.write_text(BENCHMARK.format(task=f"{ROOT / 'bench' / 'cartpole.toml'}:cartpole", best=best))
    return path


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return written(tmp_path_factory.mktemp("benchmark"))


@pytest.fixture(scope="module")
def whole(file, tmp_path_factory):
    """A data folder in which the benchmark was run at once, and what it said; the games to learn from, kept before."""
    folder = tmp_path_factory.mktemp("whole") / "data"
    with closing(interplay.record.open(folder)) as archive:
        task = read(file).tasks[0].task
        for seeds in (range(6), task.held_out_seeds[:2]):
            evaluate(archive, task, "random", list(seeds), video=False)
    shutil.copytree(folder, folder.with_name("games"))
    with closing(interplay.record.open(folder)) as archive:
        return folder, run_benchmark(archive, read(file), executor=Executor(1))


@pytest.mark.long_proof
def test_a_killed_benchmark_goes_on_to_the_same_numbers(whole, file, tmp_path):
    folder, expected = whole
    data = tmp_path / "data"
    shutil.copytree(folder.with_name("games"), data)
    draw = random.Random(os.getpid())
    command = ["-c", GROUP, "learn", "benchmark", str(file), "--data", str(data), "--jobs", "1"]
    process = WarmProcess(command, stdout=tmp_path / "said", stderr=tmp_path / "said", loaded=(*READY, *TO_LEARN))
    deadline = time.monotonic() + 120
    try:
        while not [*data.glob("models/*/checkpoint.safetensors")] and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        time.sleep(draw.uniform(0, 1))
    finally:
        with suppress(ProcessLookupError):  # it may have come to its end
            os.killpg(process.pid, signal.SIGKILL)
    process.wait(60)
    with closing(interplay.record.open(data)) as archive:
        found = run_benchmark(archive, read(file), executor=Executor(1))
    assert found.to_json() == expected.to_json()
    for run in found.runs:
        one, other = (root / "models" / run.agent / "model.safetensors" for root in (folder, data))
        assert one.read_bytes() == other.read_bytes()


@pytest.mark.journey("benchmarks with intervals")
def test_what_is_there_is_not_made_again(whole, file, monkeypatch):
    folder, expected = whole
    before = {path: path.stat().st_mtime_ns for path in folder.glob("models/*/model.safetensors")}
    assert len(before) == 4
    with closing(interplay.record.open(folder)) as archive:
        assert run_benchmark(archive, read(file), executor=Executor(1)) == expected
    assert {path: path.stat().st_mtime_ns for path in folder.glob("models/*/model.safetensors")} == before
    assert read_results(folder) == [expected]
    summary = json.loads(json.dumps(expected.summary()))
    assert summary["complete_tasks"] == ["bench/cartpole"]
    assert set(summary["aggregates"]) == {"bc", "dqn"}


def test_of_two_processes_that_run_a_benchmark_the_second_is_refused(whole, file):
    folder, _ = whole
    refused = pytest.raises(BenchmarkError, match="another process runs benchmark 'killed'")
    with closing(interplay.record.open(folder)) as archive, alone(folder / "benchmarks" / "killed" / ".lock"), refused:
        run_benchmark(archive, read(file), executor=Executor(1))


def test_a_run_that_fails_says_why_and_hinders_no_other(whole, file, tmp_path):
    folder, expected = whole
    data = tmp_path / "data"
    shutil.copytree(folder, data)
    broken = expected.runs[1]
    (data / "models" / broken.agent / "model.safetensors").write_bytes(b"damaged")
    with closing(interplay.record.open(data)) as archive:
        found = run_benchmark(archive, read(file), executor=Executor(1))
    assert [run for run in found.runs if not run.problem] == [run for run in expected.runs if run != broken]
    assert found.runs[1].returns is None
    assert "is not the file that model.json describes" in found.runs[1].problem
    assert found.complete_tasks == []
    assert found.summary()["aggregates"] == {}


def test_other_settings_or_other_games_are_other_runs(whole, file):
    folder, expected = whole
    chosen = read(file)
    learned, contender = chosen.tasks[0], chosen.contenders[0]
    config = chosen.config(contender, learned, 1)
    with closing(interplay.record.open(folder)) as archive:
        episodes = matching_episodes(archive, config, learned.task)
    name = runner.name_of(chosen, contender, config, episodes)
    assert name == expected.runs[0].agent
    assert runner.name_of(chosen, contender, replace(config, threads=2, log_every=7), episodes) == name
    assert runner.name_of(chosen, contender, replace(config, updates=7), episodes) != name
    assert runner.name_of(chosen, contender, config, episodes[1:]) != name


def test_scores_that_cannot_be_normalised_are_refused_before_anything_is_trained(whole, tmp_path):
    folder, _ = whole
    shutil.copytree(folder.with_name("games"), tmp_path / "data")
    with closing(interplay.record.open(tmp_path / "data")) as archive:
        with pytest.raises(BenchmarkError, match="bench/cartpole cannot be normalised: the best game is 1"):
            run_benchmark(archive, read(written(tmp_path, best=1)), executor=Executor(1))
        assert not [*(archive.root / "models").iterdir()]


def test_results_that_are_not_there_or_damaged_are_named(tmp_path):
    with pytest.raises(BenchmarkError, match=r"no results of a benchmark 'mine' .* none was run yet"):
        read_results(tmp_path, ["mine"])
    path = tmp_path / "benchmarks" / "mine" / "results.json"
    path.parent.mkdir(parents=True)
    path.write_text("{")
    with pytest.raises(BenchmarkError, match=r"results.json cannot be read"):
        read_results(tmp_path)
    path.write_text('{"format": "something else", "version": 1}')
    with pytest.raises(BenchmarkError, match="does not hold the results of a benchmark"):
        read_results(tmp_path)
