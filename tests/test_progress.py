"""Off a terminal a long job says every few seconds how far it is."""

import re
import time

import pytest

from interplay.cli import common
from interplay.cli.common import progress, progress_bar, stage_bars, working


@pytest.fixture
def quick(monkeypatch):
    """Lines come after a twentieth of a second, and so often."""
    monkeypatch.setattr(common, "_FIRST_LINE_S", 0.05)
    monkeypatch.setattr(common, "_NEXT_LINE_S", 0.05)


def test_a_long_job_prints_lines_and_the_last_says_that_it_is_done(quick, capsys):
    with progress_bar("verifying steps") as report:
        for done in range(0, 341, 34):
            report(done, 340)
            time.sleep(0.03)
    said = capsys.readouterr()
    lines = said.err.splitlines()
    assert said.out == ""
    assert len(lines) >= 3
    assert all(re.fullmatch(r"verifying steps: \d+ of 340 \(\d+ %\), 0:0\d", line) for line in lines), lines
    assert lines[-1].startswith("verifying steps: 340 of 340 (100 %), ")


def test_a_job_that_does_not_move_is_no_silence(quick, capsys):
    with progress() as bar:
        bar.add_task("playing it again", total=None)
        bar.add_task("hidden", total=3, visible=False)
        time.sleep(0.3)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) >= 2
    assert set(lines) == {"playing it again, 0:00"}


def test_every_stage_is_named_and_shares_stand_without_counts(quick, capsys):
    with stage_bars(counts=False) as report:
        for stage in ("learn", "judge"):
            for done in (1, 2):
                report(stage, done, 2)
                time.sleep(0.08)
    said = capsys.readouterr().err
    assert "learn: 100 %, 0:0" in said
    assert "judge: 50 %, 0:0" in said
    assert said.splitlines()[-1].startswith("judge: 100 %, ")


def test_a_short_job_says_nothing(capsys):
    with progress() as bar:
        assert list(bar.track("abc", description="short")) == ["a", "b", "c"]
    assert capsys.readouterr().err == ""


def test_what_nobody_can_count_is_named_with_its_time(quick, capsys):
    with working("playing 40,000 steps again"):
        time.sleep(0.2)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) >= 2
    assert set(lines) == {"playing 40,000 steps again, 0:00"}
