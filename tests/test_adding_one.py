"""A new rating method, learner, world, statistic or channel touches at most five places, with its test and docs.

One of each is added to a copy of the package, by new files and by texts before an anchor in existing files (CONTRIBUTING.md
names the places). A process that has only the copy then uses the addition as its users do.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import interplay

pytestmark = pytest.mark.processes

PACKAGE = Path(interplay.__file__).parent
MAX_PLACES = 5
TEST_AND_DOCS = 2

Change = tuple[str, str, str]
"""File of the package, the anchor before which the text goes (empty: a new file), the text."""

RATING: list[Change] = [
    (
        "rank/wins.py",
        "",
        '''"""The share of answers that an agent won, a draw being half a win."""

import numpy as np

from interplay.rank.ranking import Ranking, Scores


def _shares(wins, ties):
    won = (wins + ties / 2).sum(axis=-1)
    return won / np.maximum(won + (np.swapaxes(wins, -1, -2) + ties / 2).sum(axis=-1), 1)


def rate(log, options):
    share = _shares(*log.counts())
    return Ranking("log-strength", log.agents, share, np.zeros_like(share), share, np.zeros((len(share), len(share))))


def rate_many(log, times, options, report):
    share = _shares(*log.counts(times.astype(float)))
    return Scores(share, share)
''',
    ),
    ("rank/methods.py", "from interplay.rank import bradley_terry", "from interplay.rank import wins\n"),
    (
        "rank/methods.py",
        '    "trueskill": RatingMethod(',
        '    "wins": RatingMethod(wins.rate, wins.rate_many, "Wins", "The share of answers won.", "log-strength",\n'
        '                         uses_order=False, sides="two", uncertainty="none", draws="half a win"),\n',
    ),
]

LEARNER: list[Change] = [
    (
        "learn/algorithms/last.py",
        "",
        '''"""Behaviour cloning of the last training episode."""

from interplay.learn.algorithms.bc import BC


class LastEpisode(BC):
    """Behaviour cloning of one episode."""

    @staticmethod
    def choose(data, training, config):
        """The decisions of the last episode."""
        episodes = data.episodes[training]
        return training[episodes == episodes.max()]
''',
    ),
    (
        "learn/algorithms/__init__.py",
        "from interplay.learn.algorithms.sac",
        "from interplay.learn.algorithms.last import LastEpisode\n",
    ),
    ("learn/algorithms/__init__.py", '    "sac": SAC,', '    "last": LastEpisode,\n'),
    (
        "learn/settings.py",
        "_BEDD: dict",
        '@dataclass(frozen=True)\nclass LastConfig(BCConfig):\n    """Clone the last episode."""\n\n'
        '    algorithm: ClassVar[str] = "last"\n\n\n',
    ),
    ("learn/settings.py", "FilteredBCConfig, CloneConfig", "LastConfig, "),
]

WORLD: list[Change] = [
    (
        "envs/coin.py",
        "",
        '''"""A coin on a table."""

import gymnasium
import numpy as np

from interplay.envs.base import Frame, PlayableEnv


class Coin(PlayableEnv):
    """Turn the coin; heads pay."""

    deterministic = True
    frame_policy = "replay"
    observes_view = True

    def __init__(self, task):
        self.task = task
        (self._seat,) = task.seats
        picture = gymnasium.spaces.Box(0, 255, (16, 16, 3), np.uint8)
        self.action_space = gymnasium.spaces.Dict({self._seat: gymnasium.spaces.Discrete(2)})
        self.observation_space = gymnasium.spaces.Dict({self._seat: picture})

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._side, self._num_steps = int(self.np_random.integers(2)), 0
        return {self._seat: self.view().pixels}, {}

    def step(self, action):
        self._side ^= int(action[self._seat])
        self._num_steps += 1
        seen, rewards = {self._seat: self.view().pixels}, {self._seat: float(self._side)}
        return seen, rewards, False, self._num_steps >= self.task.max_steps, {}

    def view(self):
        return Frame(np.full((16, 16, 3), 200 * self._side, np.uint8))
''',
    ),
    ("envs/backends.py", '        Backend("gym",', '        Backend("coin", "coin:<kind>", _made_by("coin", "Coin")),\n'),
    ("tasks/backend_names.py", '"ale2p", "gym"', '"coin", '),
]

STATISTIC: list[Change] = [
    (
        "statistics/shots.py",
        "",
        '''"""How often a player pressed the button."""

from interplay.statistics.statistic import Collector, Statistic


class Shots(Collector):
    """Steps in which FIRE was pressed."""

    statistic = Statistic("shots", "Shots", "int", "", "higher")
    count_names = ("shots",)

    def see(self, step):
        for seat, action in step.actions.items():
            self.counts[seat]["shots"] += int(action == 1)
''',
    ),
    ("statistics/registry.py", "from interplay.statistics.statistic", "from interplay.statistics import shots\n"),
    ("statistics/registry.py", '    "score": ', '    "shots": shots.Shots,\n'),
]

CHANNEL: list[Change] = [
    (
        "study/channels/sona.py",
        "",
        '''"""A university's pool of students, whose system adds a code of the person to the link."""

from interplay.study.channels.base import Arrival, Departure, identifier, parameters


class SonaChannel:
    """Links with a survey code."""

    name = "sona"
    frame_ancestors = ()
    notice = ""

    def arrival(self, query):
        return Arrival(self.name, worker=identifier(parameters(query), "survey_code", example="12345"))

    def departure(self, arrival, outcome, results=None):
        return Departure("page", "Your credit is granted.")
''',
    ),
    (
        "study/channels/__init__.py",
        "from interplay.study.errors",
        "from interplay.study.channels.sona import SonaChannel\n",
    ),
    ("study/channels/__init__.py", '    "open": (lambda', '    "sona": (lambda table: SonaChannel, ()),\n'),
]

PAY = '[pay]\nreward = 3.75\ncurrency = "USD"\n'
TASK = """
[suite]
id = "mine"
title = "Mine"
[[task]]
name = "one"
title = "One"
goal = "Play."
instructions = "Play."
env.id = "ale:breakout"
statistics = ["score"]
time_limit_s = 10
held_out_seeds = [1]
keys = { buttons = ["FIRE"], bindings = { Space = "FIRE" }, actions = { "" = 0, "FIRE" = 1 } }
questions = [{ id = "better", factor = "overall", kind = "overall", text = "Which is better?" }]
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package by links; a changed file is a file of its own."""
    for path in PACKAGE.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            link = tmp_path / "interplay" / path.relative_to(PACKAGE)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(path)
    return tmp_path


def add(package: Path, changes: list[Change]) -> None:
    """Make the changes, which must be few."""
    assert len({file for file, _, _ in changes}) + TEST_AND_DOCS <= MAX_PLACES
    for name, anchor, text in changes:
        file = package / "interplay" / name
        assert file.exists() == bool(anchor), name
        if anchor:
            before, found, after = file.read_text().partition(anchor)
            assert found, f"{name} has no {anchor!r}"
            file.unlink()
            text = before + text + found + after
        file.write_text(text)


def run(package: Path, *arguments: str) -> str:
    """Standard output of a command of the copy, which must succeed."""
    environment = os.environ | {"PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "interplay", *arguments]
    done = subprocess.run(command, cwd=package, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_rating_method(package):
    add(package, RATING)
    (package / "answers.csv").write_text("left,right,outcome\nada,bob,left\nada,bob,draw\nbob,cyd,left\n")
    document = json.loads(run(package, "rank", "--answers", "answers.csv", "--method", "wins", "--bootstrap", "50", "--json"))
    assert [(row["agent"], row["mu"]) for row in document["leaderboard"]] == [("ada", 0.75), ("bob", 0.5), ("cyd", 0)]


def test_a_learner(package):
    add(package, LEARNER)
    (package / "mine.toml").write_text(TASK.replace("time_limit_s = 10", "time_limit_s = 2"))
    run(package, "play", "mine.toml:one", "--agent", "random", "--seeds", "1,2,3", "--data", "data")
    run(
        package,
        "learn",
        "last",
        "--task",
        "mine.toml:one",
        "--actor",
        "agent",
        "--updates",
        "2",
        "--out",
        "clone",
        "--data",
        "data",
    )
    assert json.loads((package / "data" / "models" / "clone" / "model.json").read_text())["config"]["algorithm"] == "last"


def test_a_world(package):
    add(package, WORLD)
    (package / "mine.toml").write_text(TASK.replace("ale:breakout", "coin:euro"))
    assert "40 steps recorded, verified and replayed" in run(package, "tasks", "check", "mine.toml", "--steps", "40")


def test_a_statistic(package):
    add(package, STATISTIC)
    (package / "mine.toml").write_text(TASK.replace('"score"', '"shots"'))
    run(package, "play", "mine.toml:one", "--agent", "random", "--seeds", "1", "--data", "data")
    for where, num_episodes in (("seat.shots > 0", 1), ("seat.shots > 511", 0)):
        assert len(json.loads(run(package, "episodes", "list", "--json", "--where", where, "--data", "data"))) == num_episodes


def test_a_channel(package):
    add(package, CHANNEL)
    study = run(package, "study", "show", "atari", "--toml")
    (package / "mine.toml").write_text(study.replace("[channels.open]", PAY + "[channels.sona]"))
    assert "sona" in run(package, "study", "check", "mine.toml", "--contact", "Ada Lovelace, ada@lab.example")
