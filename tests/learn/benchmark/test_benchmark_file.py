"""The file of a benchmark: what it says, and what is refused with its place and a remedy."""

from pathlib import Path

import pytest

from interplay.learn.benchmark import BenchmarkError, read

ROOT = Path(__file__).parents[3]
GOOD = """
[benchmark]
id = "small"
title = "A small one"
seeds = [3, 5]
games = 2
settings = { updates = 20, hidden = [8], gamma = 0.9 }
[[task]]
id = "gymnasium/frozen_lake"
actor = "any"
where = ["num_steps >= 2"]
play = [{ agent = "random", games = 3 }]
random = 0
best = 1
settings = { observation = "state" }
[[algorithm]]
algorithm = "bc"
[[algorithm]]
algorithm = "dqn"
name = "DQN, small steps"
preset = "paper"
settings = { learning_rate = 1e-5 }
"""


@pytest.fixture
def written(tmp_path):
    def write(text: str) -> Path:
        path = tmp_path / "benchmark.toml"
        path.write_text(text)
        return path

    return write


def test_settings_of_a_run_are_the_presets_under_the_files_from_wide_to_narrow(written):
    benchmark = read(written(GOOD))
    cloned, valued = (benchmark.config(one, benchmark.tasks[0], 5).to_json() for one in benchmark.contenders)
    assert cloned["updates"] == valued["updates"] == 20
    assert (cloned["seed"], cloned["where"], cloned["actor"], cloned["observation"]) == (5, ["num_steps >= 2"], None, "state")
    assert "gamma" not in cloned
    assert valued["gamma"] == 0.9
    assert valued["learning_rate"] == 1e-5
    assert valued["offsets"] == [0, 1, 2, 3], "from the preset"


@pytest.mark.parametrize(("before", "after", "said"), [
    ('id = "small"', 'id = "Small One"', "benchmark.id: 'Small One' is not a name"),
    ("seeds = [3, 5]", "seeds = [3, 3]", "benchmark.seeds: must hold different whole numbers"),
    ("seeds = [3, 5]", 'seeds = ["a"]', "benchmark.seeds: must hold different whole numbers"),
    ("games = 2", "games = 900", "has only 8 held-out seeds, and the benchmark asks for 900 games"),
    ("updates = 20", "updats = 20", "benchmark.settings.updats: no algorithm has this setting\nRemedy: did you mean 'updates'"),
    ("updates = 20", "updates = 0", "updates must lie between 1 and"),
    ('id = "gymnasium/frozen_lake"', 'id = "gymnasium/frozen_lak"', "task[0].id: unknown task 'gymnasium/fro"),
    ("best = 1\n", "best = 0\n", "task[0].best: is 0, not above random play"),
    ("games = 3", "games = 0", "task[0].play[0].games: must lie between 1 and"),
    ('algorithm = "dqn"', 'algorithm = "dqm"', "algorithm[1].algorithm: 'dqm' is not known\nRemedy: did you mean 'dqn'"),
    ('preset = "paper"', 'preset = "papers"', "algorithm[1].preset: dqn has no preset 'papers'\nRemedy: did you mean 'paper'"),
    ("learning_rate = 1e-5", "learning_rate = 7", "learning_rate must be above 0"),
    ("learning_rate = 1e-5", "seed = 7", "algorithm[1].settings.seed: is set by the benchmark"),
    ('name = "DQN, small steps"', 'name = "bc"', "algorithm: 'bc' is there twice"),
    ('name = "DQN, small steps"', 'name = "BC!"', "algorithm: 'bc' and 'BC!' are too alike"),
    ('name = "DQN, small steps"', f'name = "{"a" * 65}"', "algorithm[1].name: has 65 letters"),
    ("games = 2", "gamse = 2", "gamse"),
])  # fmt: skip
def test_what_cannot_be_meant_is_refused_at_its_place(written, before, after, said):
    assert before in GOOD
    with pytest.raises(BenchmarkError) as refused:
        read(written(GOOD.replace(before, after)))
    assert said in str(refused.value)
    assert "benchmark.toml" in str(refused.value)


def test_a_file_without_algorithms_or_that_is_missing_says_so(written, tmp_path):
    with pytest.raises(BenchmarkError, match="algorithm: is missing"):
        read(written(GOOD[: GOOD.index("[[algorithm]]")]))
    with pytest.raises(BenchmarkError, match="no such file"):
        read(tmp_path / "nothing.toml")


@pytest.mark.parametrize("name", ["tiny", "offline"])
def test_the_benchmarks_of_the_repository_can_be_read(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert read(Path("bench") / f"{name}.toml").contenders
