"""Off a terminal a long job says every few seconds how far it is."""

import re
import time

import pytest

from interplay.cli import output
from interplay.cli.output import progress, progress_bar, stage_bars, working


@pytest.fixture
def quick(monkeypatch):
    """Lines come after a twentieth of a second, and so often."""
    monkeypatch.setattr(output, "_FIRST_LINE_S", 0.05)
    monkeypatch.setattr(output, "_NEXT_LINE_S", 0.05)


def said(capsys, words: str, times: int = 1) -> str:
    """What is said from now on, once it holds these words so many times."""
    text, deadline = "", time.monotonic() + 60
    while text.count(words) < times:
        assert time.monotonic() < deadline, f"not within a minute: {words}; but {text}"
        time.sleep(0.01)
        text += capsys.readouterr().err
    return text


def test_a_long_job_prints_lines_and_the_last_says_that_it_is_done(quick, capsys):
    with progress_bar("verifying steps") as report:
        for done in range(0, 341, 34):
            report(done, 340)
            time.sleep(0.03)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert len(lines) >= 3
    assert all(re.fullmatch(r"verifying steps: \d+ of 340 \(\d+ %\), \d+:\d\d", line) for line in lines), lines
    assert lines[-1].startswith("verifying steps: 340 of 340 (100 %), ")


def test_a_job_that_does_not_move_is_no_silence(quick, capsys):
    with progress() as bar:
        bar.add_task("playing it again", total=None)
        bar.add_task("hidden", total=3, visible=False)
        lines = said(capsys, "\n", times=2).splitlines()
    assert all(re.fullmatch(r"playing it again, \d+:\d\d", line) for line in lines), lines


def test_every_stage_is_named_and_shares_stand_without_counts(quick, capsys):
    with stage_bars(counts=False) as report:
        for stage in ("learn", "judge"):
            for done in (1, 2):
                report(stage, done, 2)
                if (stage, done) != ("judge", 2):
                    said(capsys, f"{stage}: {50 * done} %, ")
    assert capsys.readouterr().err.splitlines()[-1].startswith("judge: 100 %, ")


def test_a_short_job_says_nothing(capsys):
    with progress() as bar:
        assert list(bar.track("abc", description="short")) == ["a", "b", "c"]
    assert capsys.readouterr().err == ""


def test_what_nobody_can_count_is_named_with_its_time(quick, capsys):
    with working("playing 40,000 steps again"):
        lines = said(capsys, "\n", times=2).splitlines()
    assert all(re.fullmatch(r"playing 40,000 steps again, \d+:\d\d", line) for line in lines), lines
