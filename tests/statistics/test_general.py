"""Statistics of any world, by hand: every expected number stands in the test that needs it."""

import numpy as np
import pytest

from interplay.statistics import BUILT_IN, Collection, SeenStep, Setting, StatisticError, StatisticSpec, defaults
from interplay.statistics.statistic import plain
from interplay.tasks import find


def fed(name, steps, *, frame_rate_hz=10, noop=0, info=None, seats=("player",), **parameters):
    """A collector that saw these steps: action, reward, info of the first seat, or mappings."""
    collector = StatisticSpec(name, parameters).build()
    collector.begin(Setting("gym:Some-v0", seats, frame_rate_hz, noop), info or {})
    for number, (action, reward, known) in enumerate(steps, 1):
        actions = action if len(seats) > 1 else {seats[0]: action}
        rewards = reward if len(seats) > 1 else {seats[0]: reward}
        collector.see(SeenStep(number, actions, rewards, rewards, known, dict.fromkeys(seats, "ada")))
    return collector


def value(*given, **options):
    """Of the only seat."""
    return fed(*given, **options).values()["player"]


def test_the_score_is_the_sum_of_what_counts():
    steps = [(0, 1.5, {}), (0, float("nan"), {}), (0, float("inf"), {}), (0, -0.5, {})]
    assert value("score", steps) == 1.0


@pytest.mark.parametrize("frame_rate_hz", [15, 30, 60])
def test_active_time_is_in_seconds_at_every_frame_rate(frame_rate_hz):
    second = frame_rate_hz
    quiet, press, score = (0, 0.0, {}), (1, 0.0, {}), (1, 5.0, {})
    # Two seconds without a key, a press, forty seconds without a key: 30 s count, that of the press included.
    steps = [quiet] * (2 * second) + [press] + [quiet] * (40 * second)
    assert value("active_time", steps, frame_rate_hz=frame_rate_hz) == 30.0
    # 90 s of pressing without a point: the points stop it after 60 s, and one point starts it again.
    assert value("active_time", [press] * (90 * second), frame_rate_hz=frame_rate_hz) == pytest.approx(60, abs=1.01 / second)
    assert value("active_time", [press] * (90 * second), frame_rate_hz=frame_rate_hz, reward_timeout_s=0) == 90.0
    late = [press] * (80 * second) + [score] + [press] * (10 * second - 1)
    assert value("active_time", late, frame_rate_hz=frame_rate_hz) == pytest.approx(70, abs=1.01 / second)


def test_nobody_is_active_who_has_pressed_nothing():
    assert value("active_time", [(0, 1.0, {})] * 50) == 0.0


def test_who_takes_over_a_seat_is_active_by_their_own_actions_alone():
    collection = Collection([StatisticSpec("active_time")], Setting("gym:Some-v0", ("player",), 10, 0), {"player": "ada"})
    collection.begin({}, {})
    for owner, action, seconds in (("ada", 1, 2), ("robot", 1, 5), ("ada", 0, 10), ("ada", 1, 3)):
        for _ in range(10 * seconds):
            collection.see({"player": action}, {"player": 1.0}, {"player": 1.0}, {}, {"player": owner})
    assert {one.actor: one.value for one in collection.measures()} == {"ada": 5.0, "robot": 5.0}


def test_changes_of_action_and_steps_with_an_action():
    steps = [(action, 0.0, {}) for action in (0, 3, 3, 0, 0, 4, 3, 0)]
    assert value("action_changes", steps) == 5  # 3, 0, 4, 3, 0
    assert value("acting_steps", steps) == 4


def test_actions_of_many_entries_are_compared_by_what_they_press():
    noop = {"jump": 0, "camera": np.zeros(2, np.float32)}
    turn = {"jump": np.int64(0), "camera": np.array([0, 2.5], np.float32)}
    steps = [
        (noop, 0.0, {}),
        (turn, 0.0, {}),
        (dict(turn), 0.0, {}),
        ({"jump": 1, "camera": [0.0, 0.0]}, 0.0, {}),
        (noop, 0, {}),
    ]
    assert value("action_changes", steps, noop=noop) == 3
    assert value("acting_steps", steps, noop=noop) == 3


def test_an_action_is_the_same_in_play_and_from_a_recording():
    live = {"forward": 1, "sneak": 0, "camera": (0.0, 0.1)}
    recorded = {"forward": np.int64(1), "camera": np.array([0.0, 0.1], np.float32)}
    assert plain(live) == plain(recorded) != plain({"forward": 1})


def test_lives_that_fall_are_lost_and_those_won_back_stay_lost():
    steps = [(0, 0.0, {"lives": lives}) for lives in (3, 2, 2, 3, 1)]
    assert value("lives_lost", steps, info={"lives": 3}) == 3
    shared = fed("lives_lost", [({"a": 0, "b": 0}, {"a": 0, "b": 0}, {"lives": 1})], info={"lives": 2}, seats=("a", "b"))
    assert shared.values() == {"a": 1, "b": 1}
    own = {"a.lives": 2, "b.lives": 2}
    apart = fed("lives_lost", [({"a": 0, "b": 0}, {"a": 0, "b": 0}, own | {"b.lives": 0})], info=own, seats=("a", "b"))
    assert apart.values() == {"a": 0, "b": 2}


def test_the_way_is_what_was_walked_and_not_a_teleport():
    places = [(0, 3, 4), (0, 9, 4), (0, 9, 5), (100, 9, 5), (101, 9, 5)]  # x, y, z
    steps = [(0, 0.0, dict(zip("xyz", place, strict=True))) for place in places]
    # 5 m (3-4-5 in x and z), no way up, 1 m, a teleport, 1 m
    steps[0] = (0, 0.0, {"x": 3, "y": 0, "z": 4})
    steps[1] = (0, 0.0, {"x": 3, "y": 6, "z": 4})
    steps[2] = (0, 0.0, {"x": 3, "y": 6, "z": 5})
    assert value("path_length", steps, info={"x": 0, "y": 0, "z": 0}) == 5 + 1 + 1


@pytest.mark.parametrize(("name", "what"), [("lives_lost", "lives"), ("path_length", "where players stand")])
def test_a_world_that_does_not_say_it_is_refused(name, what):
    with pytest.raises(StatisticError, match=f"gym:Some-v0 does not say .*{what}"):
        fed(name, [])


@pytest.mark.parametrize("name", ["active_time", "acting_steps"])
def test_time_and_idleness_say_nothing_where_each_step_is_a_turn(name):
    task = find("gymnasium/frozen_lake")
    assert name not in [spec.name for spec in defaults(task.env.id, takes_turns=task.takes_turns)]
    with pytest.raises(StatisticError, match="players take turns"):
        StatisticSpec(name).build().begin(task.setting, {})


def test_every_statistic_has_a_name_of_its_own_and_says_what_it_is():
    built = {name: StatisticSpec(name).build().statistic for name in BUILT_IN}
    assert {name: one.name for name, one in built.items()} == {name: name for name in BUILT_IN}
    assert len({one.title for one in built.values()}) == len(built)
    assert all(one.unit == "s" for one in built.values() if one.kind == "duration")
