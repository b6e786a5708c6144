"""The picture gets smaller before the game gets slower, and larger again when there is time."""

from itertools import pairwise

from interplay.play.workers.clock import CALM_S, Pace

HEIGHTS = (360, 270, 180)


def play(pace: Pace, cost_us_of_full: float, num_steps: int) -> int:
    """Steps on a grid of 50 ms whose cost is proportional to the picture's area; returns how many frame times were missed."""
    now, due, missed = 0.0, 0.0, 0
    for _ in range(num_steps):
        now = max(now, due)
        late = now - due
        if late > 100_000:
            missed += int(late // 50_000)
            due += 50_000 * int(late // 50_000)
        cost = cost_us_of_full * (pace.height / HEIGHTS[0]) ** 2
        pace.add(round(cost), round(late))
        now += cost
        due += 50_000
    return missed


def test_a_world_in_time_keeps_its_full_picture() -> None:
    pace = Pace(20, HEIGHTS)
    assert play(pace, 40_000, 400) == 0
    assert pace.height == 360


def test_no_frame_time_is_missed_while_a_smaller_picture_still_helps() -> None:
    for cost_us, height in ((60_000, 270), (80_000, 270), (120_000, 180), (180_000, 180)):
        pace = Pace(20, HEIGHTS)
        assert play(pace, cost_us, 200) <= 12, cost_us  # of the first six steps
        assert pace.height == height, cost_us
        assert play(pace, cost_us, 60) == 0, cost_us


def test_one_hiccup_changes_nothing() -> None:
    pace = Pace(20, HEIGHTS)
    for step in range(100):
        pace.add(90_000 if step == 50 else 30_000, 80_000 - 20_000 * (step - 51) if 51 <= step < 55 else 0)
    assert pace.height == 360


def test_other_games_of_the_worker_make_the_picture_smaller_after_a_second() -> None:
    pace = Pace(20, HEIGHTS)
    for _ in range(19):
        pace.add(15_000, 40_000)
    assert pace.height == 360
    pace.add(15_000, 40_000)
    assert pace.height == 270


def test_the_picture_is_full_again_when_the_machine_is_quiet_and_not_at_each_moment_when_it_is_not() -> None:
    pace = Pace(20, HEIGHTS)
    play(pace, 150_000, 40)
    assert pace.height == 180
    play(pace, 30_000, round(20 * (2 * CALM_S + 2)))
    assert pace.height == 360
    heights = []
    for _ in range(120):  # a minute in which the full size takes a little too long
        play(pace, 56_000, 10)
        heights.append(pace.height)
    changes = sum(first != second for first, second in pairwise(heights))
    assert changes <= 9
