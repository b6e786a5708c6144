from hypothesis import given
from hypothesis import strategies as st

from interplay.play.workers.clock import EpisodeClock, Lateness


def test_a_clock_that_is_served_in_time_keeps_its_rate_exactly() -> None:
    clock = EpisodeClock(60)
    first = clock.start(1_000_000, phase=0.4)
    assert 1_000_000 <= first <= 1_000_000 + clock.period_us
    for _ in range(6000):
        clock.advance(clock.due_us + 400)  # always 0.4 ms late
    assert abs(clock.due_us - first - 100_000_000) <= 1  # 6000 steps of 1/60 s
    assert clock.num_stalls == 0


@given(st.integers(1, 10**6), st.floats(0, 1))
def test_a_late_step_runs_at_once_and_a_stalled_clock_never_runs_fast_for_long(stall_us: int, phase: float) -> None:
    clock = EpisodeClock(50)
    first = clock.start(0, phase=phase)
    clock.advance(first)
    now = clock.due_us + stall_us
    assert clock.advance(now) == stall_us
    steps_at_once = 0
    while clock.due_us <= now:
        clock.advance(now)
        steps_at_once += 1
    assert steps_at_once <= 5
    assert clock.num_stalls == (stall_us > 100_000)
    assert (clock.due_us - first) % 20_000 == 0, "it keeps its place in the frame interval"


def test_lateness_beyond_the_last_bin_is_counted_there() -> None:
    lateness = Lateness()
    assert lateness.quantile_ms(0.99) is None
    lateness.add(-5)
    lateness.add(10**9)
    assert lateness.quantile_ms(0.5) == 0.1
    assert lateness.quantile_ms(1) == 100.1
