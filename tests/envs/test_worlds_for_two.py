"""The games for two that ship, one contract for all: PettingZoo's own test, exact replay, exact snapshots, missing packages."""

import subprocess
import sys
import warnings
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import interplay.record
from interplay.cli.episodes import app as cli
from interplay.envs import EnvError, make
from interplay.errors import NotFoundError
from interplay.record import RecordedEpisode, verify
from interplay.tasks import Task, builtin_suites, find

pytest.importorskip("pettingzoo")
pytest.importorskip("cogrid")
pytest.importorskip("multi_agent_ale_py")

from interplay.agents.parallel import ParallelTask

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # PettingZoo imports its own tests by a name that it no longer wants
    from pettingzoo.test import parallel_api_test

TASKS = {
    task.id: task
    for suite in builtin_suites()
    for task in suite.tasks
    if len(task.seats) > 1 and task.env.backend in ("pettingzoo", "cogrid", "ale2p")
}
WITH_SNAPSHOTS = [name for name, task in TASKS.items() if task.env.backend != "pettingzoo"]
ROOM = "overcooked/cramped_room"
UP, DOWN, LEFT, RIGHT, TAKE, STAY = 0, 1, 2, 3, 4, 6


def moves(task: Task, seed: int, num_steps: int, hold: int = 3) -> list[dict[str, int]]:
    """Joint actions, each held for some steps."""
    rng = np.random.default_rng(seed)
    actions = list(dict.fromkeys(task.keys.actions.values()))
    drawn = rng.choice(actions, size=(num_steps // hold + 1, len(task.seats))).repeat(hold, axis=0)
    return [dict(zip(task.seats, map(int, row), strict=True)) for row in drawn[:num_steps]]


def play(env, actions):
    """What each step gave, with its picture, all as bytes or plain values."""
    steps = []
    for action in actions:
        observation, reward, terminated, truncated, info = env.step(action)
        seen = {seat: np.asarray(each).tobytes() for seat, each in observation.items()}
        steps.append((seen, reward, terminated, truncated, info, env.view().rgb().tobytes()))
    return steps


def test_all_games_for_two_are_held_to_the_contract():
    assert len(TASKS) == 9
    assert {task.env.backend for task in TASKS.values()} == {"pettingzoo", "cogrid", "ale2p"}


@pytest.mark.filterwarnings("ignore:Casting input x:UserWarning")
@pytest.mark.parametrize("name", TASKS)
def test_pettingzoo_takes_a_task_of_several_seats_for_a_parallel_environment(name):
    env = ParallelTask(make(TASKS[name]))
    parallel_api_test(env, num_cycles=20)
    observations, _ = env.reset(seed=1)
    for agent, observation in observations.items():
        assert env.observation_space(agent).contains(observation)
    assert env.render().dtype == np.uint8
    env.close()


def test_rewards_and_the_step_limit_of_a_parallel_environment_are_those_of_the_task():
    shared = ParallelTask(make(replace(TASKS[ROOM], reward="shared", max_steps=5)))
    shared.reset(seed=1)
    steps = [shared.step({"first": STAY, "second": STAY}) for _ in range(5)]
    assert steps[4][2:4] == ({"first": False, "second": False}, {"first": True, "second": True})
    assert shared.agents == []


@pytest.mark.parametrize("name", TASKS)
def test_a_recorded_game_with_a_takeover_and_a_handover_replays_exactly_from_seed_and_actions(name, tmp_path):
    task = TASKS[name]
    with closing(interplay.record.open(tmp_path)) as archive:
        env = make(task)
        recorder = archive.recorder(task, env, seed=7, actor="ann", actor_kind="human")
        episode = RecordedEpisode(env, recorder, max_steps=30)
        episode.start(7)
        acted = []
        for action in moves(task, 3, 30):
            # An agent takes over for one and hands over again; for the other it stays.
            names = "random" if 10 <= episode.num_steps < 20 else "ann", "random" if episode.num_steps >= 15 else "ann"
            acted.append(dict(zip(task.seats, names, strict=True)))
            episode.step(action, owners=acted[-1])
            if episode.outcome:
                break
        sealed = archive.seal(recorder.finish(episode.outcome))
        env.close()
        verdict = verify(sealed)
        assert (verdict.equal, verdict.replayed) == (True, True), verdict.reason
        columns = {seat: sealed.steps().column(f"owner.{seat}").to_pylist()[: len(acted)] for seat in task.seats}
        assert columns == {seat: [owners[seat] for owners in acted] for seat in task.seats}
    result = CliRunner().invoke(cli, ["verify", "--all", "--data", str(tmp_path)])
    assert result.exit_code == 0, result.output


@pytest.mark.long_proof
def test_a_snapshot_restores_exactly_in_a_fresh_world_and_in_one_that_played_on():
    for name in WITH_SNAPSHOTS:
        task = TASKS[name]
        if task.env.backend == "ale2p":
            task = replace(task, env=replace(task.env, options={**task.env.options, "sticky": 0.25}))
        env = make(task)
        env.reset(seed=5)
        before, after = moves(task, 1, 40), moves(task, 2, 40)
        play(env, before)
        snapshot, picture = env.snapshot(), env.view().rgb().copy()
        expected = play(env, after)
        last = env.snapshot()
        for world in (env, make(task)):  # the second was never reset
            world.restore(snapshot)
            np.testing.assert_array_equal(world.view().rgb(), picture)
            assert world.snapshot() == snapshot
            assert play(world, after) == expected
            assert world.snapshot() == last
        with pytest.raises(EnvError, match="this is not a snapshot of"):
            env.restore(b"nothing")
        env.close()


# CoGrid


@pytest.fixture
def room():
    env = make(ROOM)
    env.reset(seed=1)
    yield env
    env.close()


def walk(env, seat, *actions):
    """Rewards of the steps of one seat, while the other stays."""
    other = {"first": "second", "second": "first"}[seat]
    return [env.step({seat: action, other: STAY})[1] for action in actions]


def test_agents_look_as_cogrid_draws_them():
    from cogrid.core.objects import base
    from cogrid.visualization import rendering

    from interplay.envs.cogrid import point_in_triangle

    assert base.point_in_triangle is point_in_triangle  # CoGrid takes it from there
    corners = (0.12, 0.19), (0.87, 0.50), (0.12, 0.81)
    for theta in np.arange(8) * np.pi / 4:
        ours, theirs = (
            rendering.fill_coords(np.zeros((96, 96), np.uint8), rendering.rotate_fn(inside(*corners), 0.5, 0.5, theta), 1)
            for inside in (point_in_triangle, rendering.point_in_triangle)
        )
        assert 0 < theirs.mean() < 0.4
        assert (ours == theirs).all()


def test_a_soup_is_worth_34_points_to_both_cooks(room):
    """Seed 1 puts the first cook at row 1, column 3, beside the onions on the right, and the second in the middle of row 2.

    The first fetches onions from the right (column 4, row 1) to the pot above (row 0, column 2): take, left, up, put.
    """
    assert room.state()["agent_pos"] == [[1, 3], [2, 2]]
    walk(room, "second", LEFT)  # out of the way, to row 2, column 1: the plates are below
    earned = []
    for _ in range(3):
        earned += walk(room, "first", RIGHT, RIGHT, TAKE, LEFT, UP, TAKE)
    both = [reward["first"] for reward in earned if any(reward.values())]
    assert both == [3.0, 3.0, 3.0]
    assert all(reward["first"] == reward["second"] for reward in earned)
    for _ in range(30):  # it cooks
        room.step({"first": STAY, "second": STAY})
    walk(room, "first", RIGHT)
    taken = walk(room, "second", DOWN, TAKE, RIGHT, UP, UP, TAKE)
    assert taken[-1] == {"first": 5.0, "second": 5.0}
    served = walk(room, "second", DOWN, RIGHT, DOWN, TAKE)
    assert served[-1] == {"first": 20.0, "second": 20.0}


def test_a_held_key_takes_or_puts_down_once(room):
    asked = [TAKE, TAKE, TAKE, LEFT, TAKE, STAY, TAKE]
    assert [room.action_of_person(action, "first") for action in asked] == [TAKE, STAY, STAY, LEFT, TAKE, STAY, TAKE]
    assert room.action_of_person(TAKE, "second") == TAKE
    room.reset(seed=1)
    assert room.action_of_person(TAKE, "first") == TAKE


def test_a_kitchen_is_drawn_in_cells_of_64_pixels(room):
    picture = room.view().pixels
    assert (picture.shape, picture.dtype) == ((4 * 64, 5 * 64, 3), np.uint8)
    assert tuple(picture[3 * 64 + 32, 3 * 64 + 32]) == (0, 255, 0)  # the field where soups are served
    np.testing.assert_array_equal(picture[::2, ::2], picture[1::2, 1::2])


def test_a_kitchen_that_is_not_drawn_gives_the_same_numbers(room):
    actions = moves(find(ROOM), 3, 30)
    room.reset(seed=1)
    drawn = [(room.step(action)[1], room.state_of("first"), room.state_of("second")) for action in actions]
    picture = room.view().pixels
    room.draws = False
    room.reset(seed=1)
    for action, (reward, first, second) in zip(actions, drawn, strict=True):
        assert room.step(action)[1] == reward
        assert np.array_equal(room.state_of("first"), first)
        assert np.array_equal(room.state_of("second"), second)
    assert room.view().pixels is picture, "nothing was drawn"
    assert (first.shape, first.dtype) == ((892,), np.float32)
    assert not np.array_equal(first, second), "each cook has a view of its own"


def test_recordings_of_kitchens_name_what_could_change_a_replay(room):
    assert {"cogrid", "pettingzoo", "numpy", "gymnasium"} <= room.versions().keys()


# What cannot be made


@pytest.mark.parametrize(
    ("name", "change", "error", "text"),
    [
        (ROOM, {"id": "cogrid:Overcooked-CrampedRom-V0"}, NotFoundError, "did you mean 'Overcooked-CrampedRoom-V0'"),
        (ROOM, {"id": "cogrid:Overcooked-CrampedRoom-SingleAgent-V0"}, EnvError, "has 2 seats, and .* has 1 agent: 0"),
        (ROOM, {"options": {"size": 3}}, NotFoundError, "CoGrid option"),
    ],
)
def test_what_cannot_be_made_says_why(name, change, error, text):
    task = TASKS[name]
    with pytest.raises(error, match=text):
        make(replace(task, env=replace(task.env, **change)))


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [(ROOM, "cogrid", "cogrid"), ("atari-two/space_invaders_cooperative", "multi_agent_ale_py", "atari2p")],
)
def test_without_the_package_the_error_has_the_install_line(name, package, extra):
    code = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from interplay.envs import EnvError, make\n"
        f"try:\n    make({name!r})\nexcept EnvError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=180)
    assert f"needs {package}; it is not installed\nInstall it with:  pip install -e '.[{extra}]'" in done.stdout


def test_the_tasks_say_who_earns_what():
    assert find("atari-two/space_invaders_cooperative").reward == "shared"
    assert find("atari-two/space_invaders_competitive").reward == "own"
