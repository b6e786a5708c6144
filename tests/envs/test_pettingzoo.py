"""Games of several seats: actions and rewards by seat, the end of each agent and of the game, exact replay, errors."""

import hashlib
import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import interplay.record
from interplay.envs import EnvError, make
from interplay.envs.pettingzoo import PettingZooEnv
from interplay.errors import NotFoundError
from interplay.record import RecordedEpisode, verify
from interplay.tasks import KeyMap, Task, find

PONG = "pettingzoo:butterfly/cooperative_pong-v6"
HERE = Path(__file__).parent
RELAY = "pettingzoo:relay_race:relay_race-v0"


def game(env_id: str = PONG, seats=("left", "right"), *, max_steps: int = 900, **options) -> Task:
    """A task of several seats."""
    keys = KeyMap(
        ("UP", "DOWN"), {"KeyW": "UP", "KeyS": "DOWN"}, {frozenset(): 0, frozenset({"UP"}): 1, frozenset({"DOWN"}): 2}
    )
    document = find("atari/breakout").to_json() | {"id": "mine/game", "max_steps": max_steps, "frame_rate_hz": 15.0}
    document |= {"env": {"id": env_id, "options": options}, "keys": keys.to_json(), "seats": list(seats)}
    return Task.from_json(document)


def moves(seed: int, num_steps: int) -> list[dict[str, int]]:
    """Joint actions of two seats."""
    drawn = np.random.default_rng(seed).integers(3, size=(num_steps, 2))
    return [{"left": int(left), "right": int(right)} for left, right in drawn]


def play(env, actions):
    """What each step gave, with its picture."""
    return [(*env.step(action), env.view().pixels.copy()) for action in actions]


@pytest.fixture
def pong():
    env = make(game())
    yield env
    env.close()


def test_each_seat_acts_and_earns(pong):
    observation, info = pong.reset(seed=3)
    assert list(observation) == ["left", "right"]
    assert info == {}
    assert pong.observation_space.contains(observation)
    pong.action_space.seed(1)
    assert pong.action_space.contains({"left": 0, "right": 2})
    before = pong.view().pixels.copy()
    observation, reward, terminated, truncated, _ = pong.step({"left": 1, "right": 0})
    assert reward == {"left": pytest.approx(100 / 900), "right": pytest.approx(100 / 900)}
    assert not terminated
    assert not truncated
    moved = (before != pong.view().pixels).any(axis=(0, 2))
    assert moved[:20].any()  # the left paddle
    assert not moved[-20:].any()  # the right one


def test_all_seats_see_one_picture_which_is_their_observation(pong):
    observation, _ = pong.reset(seed=3)
    assert pong.observes_view
    picture = pong.view().pixels
    assert (picture.shape, picture.dtype) == ((280, 480, 3), np.uint8)
    for seat in ("left", "right"):
        np.testing.assert_array_equal(observation[seat], picture)
        assert pong.view_of(seat).pixels is picture


def test_the_game_ends_when_the_ball_is_lost(pong):
    pong.reset(seed=3)
    for _ in range(900):
        _, reward, terminated, truncated, info = pong.step({"left": 0, "right": 0})
        if terminated or truncated:
            break
    assert (terminated, truncated, reward) == (True, False, {"left": -10.0, "right": -10.0})
    assert info["seats_done"] == ["left", "right"]
    with pytest.raises(EnvError, match="the game is not running; call reset before the next step"):
        pong.step({"left": 0, "right": 0})


def test_seed_and_actions_decide_everything_in_another_process(pong):
    actions = moves(7, 40)
    pong.reset(seed=11)
    expected = play(pong, actions)
    code = (
        "import hashlib, json\n"
        "from test_pettingzoo import game, make, moves, play\n"
        "env = make(game())\nenv.reset(seed=4)\nplay(env, moves(1, 20))\nenv.reset(seed=11)\n"
        "for _, reward, terminated, truncated, info, picture in play(env, moves(7, 40)):\n"
        "    print(json.dumps([reward, terminated, truncated, info, hashlib.sha256(picture).hexdigest()]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=180, cwd=HERE)
    here = [json.dumps([*step[1:5], hashlib.sha256(step[5]).hexdigest()]) for step in expected]
    assert [line for line in done.stdout.splitlines() if line.startswith("[")] == here
    assert len({step[5].tobytes() for step in expected}) == 40


def test_another_seed_starts_another_game(pong):
    pong.reset(seed=1)
    one = play(pong, moves(0, 10))[-1][5]
    pong.reset(seed=2)
    assert not np.array_equal(one, play(pong, moves(0, 10))[-1][5])


def test_closing_one_game_leaves_another_as_it_was(pong):
    """The environment's `close` shuts pygame down for the whole process, in which other games are played."""
    actions = moves(5, 30)
    pong.reset(seed=9)
    expected = play(pong, actions)
    pong.reset(seed=9)
    first = play(pong, actions[:10])
    other = make(game())
    other.reset(seed=1)
    other.close()
    rest = play(pong, actions[10:])
    assert all(np.array_equal(a[5], b[5]) for a, b in zip(expected, first + rest, strict=True))


@pytest.mark.parametrize(("last_one", "terminated"), [("truncated", True), ("terminated", True)])
def test_agents_end_one_by_one_and_the_game_with_the_last(last_one, terminated):
    env = make(game(RELAY, ("x", "y", "z"), kwargs={"last_one": last_one}))
    assert not env.observes_view
    env.reset(seed=0)
    everybody = {"x": 1, "y": 1, "z": 1}
    steps = [env.step(everybody) for _ in range(5)]
    assert [step[1] for step in steps] == [
        {"x": 1.0, "y": 1.0, "z": 1.0},
        {"x": 2.0, "y": 2.0, "z": 2.0},
        {"x": 0.0, "y": 3.0, "z": 3.0},
        {"x": 0.0, "y": 0.0, "z": 4.0},
        {"x": 0.0, "y": 0.0, "z": 5.0},
    ]
    assert [step[2:4] for step in steps] == [(False, False)] * 4 + [(terminated, not terminated)]
    assert [step[4].get("seats_done") for step in steps] == [None, ["x"], ["x", "y"], ["x", "y"], ["x", "y", "z"]]
    assert [step[4].get("seats_truncated") for step in steps[:4]] == [None, None, ["y"], ["y"]]
    assert steps[4][4]["seats_truncated"] == (["y", "z"] if last_one == "truncated" else ["y"])
    named = {"seats_done", "seats_truncated"}
    assert [sorted(step[4].keys() - named) for step in steps][2:4] == [["y.total", "z.total"], ["z.total"]]
    assert steps[4][0]["x"].tolist() == [2, 6]  # what x saw last
    assert steps[4][0]["z"].tolist() == [5, 10]  # 3 + 3 + 2 + 1 + 1: actions of those who are done do not count
    assert all(env.observation_space.contains(step[0]) for step in steps)
    env.reset(seed=0)
    assert env.step(everybody)[1] == {"x": 1.0, "y": 1.0, "z": 1.0}


def test_a_game_ends_though_the_environment_keeps_agents_that_are_done():
    env = make(game(RELAY, ("x", "y", "z"), kwargs={"keeps_all": True}))
    env.reset(seed=0)
    steps = [env.step({"x": 1, "y": 1, "z": 1}) for _ in range(5)]
    assert [step[2:4] for step in steps] == [(False, False)] * 4 + [(True, False)]
    assert [step[1]["x"] for step in steps] == [1.0, 2.0, 0.0, 0.0, 0.0]
    assert steps[4][0]["x"].tolist() == [2, 6]  # what x saw last
    assert steps[4][4]["seats_done"] == ["x", "y", "z"]
    with pytest.raises(EnvError, match="the game is not running; call reset before the next step"):
        env.step({"x": 1, "y": 1, "z": 1})
    env.reset(seed=0)
    assert env.step({"x": 1, "y": 1, "z": 1})[1] == {"x": 1.0, "y": 1.0, "z": 1.0}


def test_a_game_that_all_agents_leave_truncated_is_truncated():
    env = make(game(kwargs={"max_cycles": 3}))
    env.reset(seed=0)
    assert [step[2:4] for step in play(env, moves(0, 3))] == [(False, False), (False, False), (False, True)]


def test_a_recorded_game_replays_exactly_from_seed_and_actions(tmp_path):
    """As two seats play it: recorded, sealed, verified by hash in every frame, and rewards read back by seat."""
    env = make(game(max_steps=30))
    with closing(interplay.record.open(tmp_path)) as archive:
        recorder = archive.recorder(env.task, env, seed=11, actor="random", actor_kind="agent")
        episode = RecordedEpisode(env, recorder)
        episode.start(11)
        earned = [episode.step(action).rewards for action in moves(3, 30)]
        sealed = archive.seal(recorder.finish(episode.outcome))
        env.close()
        assert (sealed.outcome, sealed.num_steps, sealed.frame_policy) == ("time_limit", 30, "replay")
        assert sealed.joint_actions() == moves(3, 30)
        verdict = verify(sealed)
        assert (verdict.equal, verdict.replayed) == (True, True)
        with pq.ParquetFile(sealed.path) as file:
            rows = file.read(["reward.left", "reward.right"]).to_pylist()[:-1]
        assert rows == [{f"reward.{seat}": reward for seat, reward in step.items()} for step in earned]


def test_recordings_name_what_could_change_a_replay(pong):
    versions = pong.versions()
    assert versions["butterfly/cooperative_pong-v6"] == "6"
    assert {"pettingzoo", "pygame-ce", "pymunk", "numpy", "gymnasium"} <= versions.keys()
    assert pong.snapshot() is None
    assert pong.frame_policy == "replay"
    assert make(game(deterministic=False)).frame_policy == "video"


def test_what_cannot_be_made_says_why():
    for env_id, options, error, text in [
        ("pettingzoo:butterfly/cooperative_pongg-v6", {}, NotFoundError, "did you mean 'butterfly/cooperative_pong-v6'"),
        ("pettingzoo:butterfly/cooperative_pong-v1", {}, NotFoundError, "did you mean 'butterfly/cooperative_pong-v6'"),
        ("pettingzoo:classic/chess-v6", {}, EnvError, "'classic/chess-v6' is played in turns, which no backend supports"),
        ("pettingzoo:no_such_module:game-v0", {}, EnvError, "module 'no_such_module' .* cannot be imported: No module named"),
        (PONG, {"kwarg": {}}, NotFoundError, "did you mean 'kwargs'"),
        (PONG, {"kwargs": {"bal_speed": 3}}, EnvError, "PettingZoo cannot make .* unexpected keyword argument 'bal_speed'"),
    ]:
        with pytest.raises(error, match=text):
            make(game(env_id, **options))


@pytest.mark.parametrize("seats", [("player",), ("one", "two", "three")])
def test_a_task_needs_a_seat_for_each_agent(seats):
    with pytest.raises(
        EnvError, match=r"and 'butterfly/.*-v6' has 2 agents: paddle_0, paddle_1\nName a seat for each agent, in this order"
    ):
        make(game(seats=seats))


@pytest.mark.parametrize("action", [1, {"left": 1}])
def test_an_action_that_leaves_a_seat_out_is_refused(pong, action):
    pong.reset(seed=0)
    with pytest.raises(EnvError, match=r"every seat needs an action; there is no action for .*right"):
        pong.step(action)


def test_a_world_without_reset_shows_nothing():
    env = PettingZooEnv(game())
    with pytest.raises(EnvError, match="no picture before its first reset"):
        env.view()


def test_without_the_package_the_error_has_the_install_line():
    code = (
        "import sys; sys.modules['pettingzoo'] = None\n"
        "from interplay.envs import EnvError, make\nfrom interplay.tasks import Task, find\n"
        f"document = find('atari/breakout').to_json() | {{'env': {{'id': {PONG!r}, 'options': {{}}}}}}\n"
        "try:\n    make(Task.from_json(document))\nexcept EnvError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=180)
    assert "needs pettingzoo; it is not installed\nInstall it with:  pip install -e '.[pettingzoo]'" in done.stdout
