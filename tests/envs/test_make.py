"""Every task's world: Gymnasium's checks, exact seeds, snapshots, colours, errors."""

import signal
import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from interplay.envs import EnvError, PlayableEnv, SingleAgentEnv, backends, make
from interplay.errors import NotFoundError
from interplay.tasks import Task, builtin_suites, find

GAMES = [task for suite in builtin_suites() for task in suite.tasks if task.env.backend == "ale"]


def changed(task: Task, **env) -> Task:
    """A task with another environment."""
    document = task.to_json()
    document["env"] = {"id": task.env.id, "options": {}} | env
    return Task.from_json(document)


@pytest.mark.parametrize("task", GAMES, ids=lambda task: task.name)
def test_every_built_in_task_passes_gymnasiums_checks(task):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of environments that were not made by gymnasium.make
        check_env(SingleAgentEnv(make(task)), skip_render_check=False)


def test_palette_gives_the_emulators_own_colours():
    for task in GAMES:
        env = SingleAgentEnv(make(task))
        env.reset(seed=5)
        rng = np.random.default_rng(5)
        for step in range(400):
            env.step(int(rng.integers(18)))
            if step % 20 == 0:
                np.testing.assert_array_equal(env.render(), env.ale.getScreenRGB())


def play(env, actions):
    """Frames and rewards of a fixed play."""
    return [(env.step(action)[1], env.view().pixels.copy()) for action in actions]


def same(one, other):
    return all(a[0] == b[0] and np.array_equal(a[1], b[1]) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("sticky", [0.0, 0.25])
def test_a_snapshot_restored_in_another_environment_goes_on_alike(sticky):
    task = changed(find("atari/breakout"), options={"sticky": sticky})
    env, other = SingleAgentEnv(make(task)), SingleAgentEnv(make(task))
    rng = np.random.default_rng(1)
    env.reset(seed=7)
    play(env, [int(a) for a in rng.integers(18, size=333)])
    snapshot, shown = env.snapshot(), env.view().pixels.copy()
    rest = [int(a) for a in rng.integers(18, size=300)]
    expected = play(env, rest)
    other.reset(seed=1)
    play(other, rest[:50])
    other.restore(snapshot)
    np.testing.assert_array_equal(other.view().pixels, shown)
    assert same(play(other, rest), expected)


def test_the_same_seed_starts_the_same_episode_whatever_came_before():
    task = changed(find("atari/space_invaders"), options={"sticky": 0.25})
    fresh, used = SingleAgentEnv(make(task)), SingleAgentEnv(make(task))
    used.reset(seed=3)
    play(used, [1, 2, 3] * 200)
    actions = [int(a) for a in np.random.default_rng(0).integers(18, size=400)]
    fresh.reset(seed=11)
    used.reset(seed=11)
    assert same(play(fresh, actions), play(used, actions))


@pytest.mark.parametrize("options", [{"mode": 8, "difficulty": 1}, {"noop_max": 0}])
def test_a_world_with_the_emulator_of_a_closed_one_is_as_new(options):
    first = SingleAgentEnv(make(changed(find("atari/breakout"), options={"mode": 4})))
    first.reset(seed=5)
    fresh = SingleAgentEnv(make(changed(find("atari/breakout"), options={"noop_max": 0} | options)))
    emulator = first.ale
    play(first, [1, 3, 4] * 300)
    first.close()
    first.close()
    with pytest.raises(AttributeError):
        first.step(0)
    used = SingleAgentEnv(make(fresh.task))
    assert used.ale is emulator
    fresh.reset(seed=11)
    used.reset(seed=11)
    assert (used.view().pixels == fresh.view().pixels).all()
    assert same(play(fresh, [1, 3, 4] * 100), play(used, [1, 3, 4] * 100))
    assert fresh.snapshot() == used.snapshot()


def test_different_seeds_start_differently():
    env = SingleAgentEnv(make("atari/space_invaders"))
    starts = set()
    for seed in env.task.held_out_seeds:
        env.reset(seed=seed)
        starts.add(env.ale.getRAM().tobytes())
    assert len(starts) >= 8  # eleven draws of 0 to 30 no-ops


def test_stickiness_records_the_applied_action():
    env = SingleAgentEnv(make(changed(find("atari/breakout"), options={"sticky": 0.5})))
    env.reset(seed=0)
    applied = [env.step(action)[4]["applied_action"] for action in [3, 4] * 200]
    repeated = sum(one != two for one, two in zip(applied, [3, 4] * 200, strict=True))
    assert 100 < repeated < 200  # half repeat the action before, which may be the same one by then


def test_an_episode_is_truncated_at_its_time_limit():
    document = find("atari/breakout").to_json() | {"max_steps": 3}
    env = SingleAgentEnv(make(Task.from_json(document)))
    env.reset(seed=0)
    assert [env.step(0)[2:4] for _ in range(3)] == [(False, False), (False, False), (False, True)]


def test_a_gymnasium_id_is_a_task():
    env = SingleAgentEnv(make(changed(find("atari/breakout"), id="gym:CartPole-v1")))
    env.reset(seed=4)
    assert env.view().rgb().dtype == np.uint8
    assert env.frame_policy == "replay"
    first = [env.step(1)[0] for _ in range(5)]
    env.reset(seed=4)
    np.testing.assert_array_equal(first, [env.step(1)[0] for _ in range(5)])
    env.close()


@pytest.mark.parametrize(
    ("env_id", "message"),
    [
        ("ale:brekout", "unknown Atari game 'brekout'; did you mean 'breakout'"),
        ("gym:CartPol-v1", "unknown Gymnasium environment 'CartPol-v1'; did you mean 'CartPole-v1'"),
    ],
)
def test_an_unknown_world_offers_the_nearest(env_id, message):
    with pytest.raises(NotFoundError, match=message):
        make(changed(find("atari/breakout"), id=env_id))


def test_an_unknown_option_offers_the_nearest():
    with pytest.raises(NotFoundError, match="did you mean 'sticky'"):
        make(changed(find("atari/breakout"), options={"stiky": 0.1}))


def test_a_mode_that_does_not_exist_is_refused():
    with pytest.raises(EnvError, match="mode 99 does not exist; choose from"):
        make(changed(find("atari/breakout"), options={"mode": 99}))


@pytest.mark.parametrize(("name", "value"), [("sticky", "a lot"), ("sticky", 1.5), ("noop_max", -30), ("mode", True)])
def test_an_option_that_cannot_work_is_refused(name, value):
    with pytest.raises(EnvError, match=f"env.options.{name} must be a number from"):
        make(changed(find("atari/breakout"), options={name: value}))


def test_an_action_out_of_range_or_without_a_seat_is_refused():
    env = SingleAgentEnv(make("atari/breakout"))
    env.reset(seed=0)
    with pytest.raises(EnvError, match="0 to 17, got 18"):
        env.step(18)
    with pytest.raises(EnvError, match="every seat needs an action; there is no action for player"):
        env.env.step(3)


def test_frames_by_replay_need_a_deterministic_world():
    task = changed(find("atari/breakout"), id="gym:CartPole-v1", options={"deterministic": False})
    with pytest.raises(EnvError, match="not deterministic"):
        make(task, frames="replay")


def test_a_foreign_snapshot_is_refused():
    env = SingleAgentEnv(make("atari/breakout"))
    env.reset(seed=0)
    with pytest.raises(EnvError, match="not a snapshot"):
        env.restore(b"nonsense")
    cart = make(changed(find("atari/breakout"), id="gym:CartPole-v1"))
    with pytest.raises(EnvError, match="cannot restore"):
        cart.restore(b"")


DRAW_AND_WAIT = """
import sys
from interplay.envs import make
from interplay.record.gymnasium_task import task_of
env = make(task_of("CartPole-v1"))
env.reset(seed=1)
print(env.render().shape, flush=True)
sys.stdin.read()
"""


def test_a_program_with_a_world_drawn_by_pygame_still_ends_when_told_to():
    """pygame would keep SIGTERM to itself."""
    process = subprocess.Popen([sys.executable, "-c", DRAW_AND_WAIT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "(400, 600, 3)\n"
    process.terminate()
    assert process.wait(60) == -signal.SIGTERM
    process.communicate()


def test_a_world_for_one_player_has_no_more_seats():
    breakout = find("atari/breakout")
    two = Task.from_json(breakout.to_json() | {"seats": ["left", "right"]})
    with pytest.raises(EnvError, match=r"2 seats \(left, right\), and ale:breakout is for one player\nLeave seats out"):
        make(two)


def test_a_world_for_several_players_is_no_single_agents():
    with pytest.raises(EnvError, match="has the seats left, right; expected a task with one seat"):
        SingleAgentEnv(make("together/cooperative_pong"))


class OfOneAction(PlayableEnv):
    """Its actions are no mapping by seat."""

    def __init__(self, task):
        self.task, self.action_space = task, gymnasium.spaces.Discrete(2)


def test_a_backend_without_seats_is_told_what_is_expected(monkeypatch):
    task = find("atari/breakout")
    monkeypatch.setitem(backends.BUILT_IN, "ale", backends.Backend("ale", "ale:<rom>", OfOneAction))
    backends.find.cache_clear()
    try:
        with pytest.raises(EnvError, match="is not a mapping by seat, but Discrete"):
            make(task)
    finally:
        backends.find.cache_clear()
