"""Atari games for two: who is paid for what in Space Invaders, stickiness, and what cannot be made."""

from dataclasses import replace

import numpy as np
import pytest

from interplay.envs import EnvError, make
from interplay.envs.pictures import PALETTE
from interplay.errors import NotFoundError
from interplay.tasks import find

pytest.importorskip("multi_agent_ale_py")

AGAINST, TOGETHER = (find(f"atari-two/space_invaders_{name}") for name in ("competitive", "cooperative"))
MOVES = [0, 3, 4, 1, 11, 12]
SHIP = 82
"""Palette index of the ship that crosses the top."""
LONGEST = 256
"""Frames from a hit to the lost life: 128, and 128 again where the other is hit meanwhile."""


def world(task=AGAINST, **options):
    """The world of a task with other options."""
    return make(replace(task, env=replace(task.env, options={**task.env.options, "noop_max": 0, **options})))


def drawn(rng, num_frames, hold, moves=MOVES):
    """Joint actions, each held for some frames."""
    rows = [rng.choice(moves, 2) for _ in range(-(-num_frames // hold))]
    return [dict(zip(AGAINST.seats, map(int, rows[frame // hold]), strict=True)) for frame in range(num_frames)]


def points(step):
    return tuple(step[1].values())


def test_the_points_for_the_others_hit_are_told_by_who_was_hit_and_only_they_are_left_out():
    """The same random games by both rules. That a payment of 200 was for a hit is known from the life that is lost after it."""
    against, together = world(), world(TOGETHER)
    num_payments = num_lives = 0
    for seed in range(3):
        against.reset(seed=seed)
        together.reset(seed=seed)
        paid, lost, lives = [], [], 2
        for frame, action in enumerate(drawn(np.random.default_rng(seed), 6000, 6)):
            step, other = against.step(action), together.step(action)
            difference = [one - two for one, two in zip(points(step), points(other), strict=True)]
            if any(difference):
                assert sorted(difference) == [0, 200]
                paid.append(frame)
            else:
                assert max(points(step)) < 200
            if step[4]["lives"] < lives or step[2]:
                lives = step[4]["lives"]
                lost.append(frame)
            assert step[2] == other[2]
            if step[2]:
                break
        assert step[2]
        assert len(lost) == 3
        assert all(any(0 < life - frame <= LONGEST for life in lost) for frame in paid)
        assert all(any(0 < life - frame <= LONGEST for frame in paid) for life in lost)
        num_payments += len(paid)
        num_lives += len(lost)
    assert num_lives == 9
    assert num_payments > num_lives  # both can be hit before one life is lost, so lives alone tell nothing


def test_the_ship_that_crosses_the_top_is_paid_by_both_rules():
    """Found by search: a random game in which the second player hits the ship, 100 points in this mode, not 200."""
    before, after = (
        drawn(np.random.default_rng(1), 958, 6),
        drawn(np.random.default_rng((2, 9)), 170, 8, [0, 3, 4, 1, 1, 11, 12]),
    )
    for env in (world(), world(TOGETHER)):
        env.reset(seed=0)
        for action in before:
            env.step(action)
        earned, visible = [], []
        for action in after:
            earned.append(points(env.step(action)))
            visible.append(bool((env.view().pixels[8:24] == SHIP).any()))
        assert [(frame, each) for frame, each in enumerate(earned) if max(each) >= 100] == [(124, (0.0, 100.0))]
        assert all(visible[:124])  # an independent referee: the ship is there until then, and soon gone
        assert not any(visible[165:])


def test_the_applied_action_is_recorded_for_each_seat():
    """Stickiness is ours: the applied actions, played without it, give the same game."""
    sticky, plain = world(sticky=0.25), world()
    asked = drawn(np.random.default_rng(3), 600, 1)
    sticky.reset(seed=4)
    plain.reset(seed=4)
    num_kept = 0
    for action in asked:
        _, reward, *_, info = sticky.step(action)
        applied = {seat: info[f"{seat}.applied_action"] for seat in action}
        num_kept += sum(applied[seat] != action[seat] for seat in action)
        assert plain.step(applied)[1] == reward
        np.testing.assert_array_equal(plain.view().pixels, sticky.view().pixels)
    # An action of six is another one in 5 of 6 draws, and is kept in 1 of 4: 250 of 1200 expected, standard deviation 14.
    assert 250 - 70 < num_kept < 250 + 70


def test_a_seed_decides_how_the_game_starts_and_both_see_one_screen():
    env = make(AGAINST)
    seen = {}
    for seed in (1, 2, 3, 1):
        observation, info = env.reset(seed=seed)
        assert info == {"lives": 2}
        assert env.observation_space.contains(observation)
        np.testing.assert_array_equal(observation["first"], observation["second"])
        np.testing.assert_array_equal(env.view().rgb(), PALETTE[observation["first"]])
        for action in drawn(np.random.default_rng(0), 150, 6):
            observation, *_ = env.step(action)
        assert seen.setdefault(seed, observation["first"].tobytes()) == observation["first"].tobytes()
    assert len(set(seen.values())) > 1


def test_what_cannot_be_made_says_why():
    for rom, options, error, text in [
        ("space_invader", {}, NotFoundError, "did you mean 'space_invaders'"),
        ("adventure", {"mode": 0}, EnvError, "the game 'adventure' is not for two players"),
        ("space_invaders", {"mode": 1}, EnvError, r"mode 1 does not exist; choose from \[33, 34,"),
        ("space_invaders", {"bonus": 1}, EnvError, "bonus must be true or false.*; got 1"),
        ("pong", {"mode": 0, "bonus": False}, EnvError, "it can be false only for space_invaders; got False"),
        ("space_invaders", {"stick": 0.1}, NotFoundError, "did you mean 'sticky'"),
    ]:
        task = replace(AGAINST, env=replace(AGAINST.env, id=f"ale2p:{rom}"))
        with pytest.raises(error, match=text):
            world(task, **options)


def test_a_game_for_two_needs_two_seats():
    with pytest.raises(EnvError, match="is played by two; name two seats"):
        world(replace(AGAINST, seats=("one", "two", "three")))


@pytest.mark.parametrize(
    ("action", "text"),
    [({"first": 1}, "there is no action for second"), ({"first": 1, "second": 18}, "of seat second must be 0 to 17, got 18")],
)
def test_an_action_that_is_missing_or_does_not_exist_is_refused(action, text):
    env = make(AGAINST)
    env.reset(seed=1)
    with pytest.raises(EnvError, match=text):
        env.step(action)


def test_a_snapshot_of_another_game_is_refused():
    pong = world(replace(AGAINST, env=replace(AGAINST.env, id="ale2p:pong")), mode=0)
    pong.reset(seed=1)
    with pytest.raises(EnvError, match="this is not a snapshot of ale2p:space_invaders: it is one of ale2p:pong"):
        make(AGAINST).restore(pong.snapshot())
