"""The command's frame: help, misuse, errors and exit status."""

import subprocess
import sys

import pytest

from interplay.cli import _VERBS, main


def run(*arguments: str) -> subprocess.CompletedProcess:
    """One call in a process of its own."""
    return subprocess.run([sys.executable, "-m", "interplay.cli", *arguments], capture_output=True, text=True, timeout=60)


def test_help_lists_every_verb_and_exits_0():
    result = run("--help")
    assert result.returncode == 0
    assert all(verb in result.stdout for verb in _VERBS)


@pytest.mark.parametrize("verb", list(_VERBS))
def test_every_verb_has_help_with_an_example(verb):
    result = run(verb, "--help")
    assert result.returncode == 0, result.stderr
    assert f"interplay {verb}" in result.stdout
    assert "Try:" in result.stdout


def test_an_unknown_verb_is_misuse_and_offers_the_nearest(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["raank"])
    assert "did you mean 'rank'?" in capsys.readouterr().err


def test_a_missing_argument_is_misuse():
    assert run("tasks", "show").returncode == 2


def test_an_error_for_people_has_no_traceback_and_exits_1():
    result = run("tasks", "show", "atari/brekout")
    assert result.returncode == 1
    assert "did you mean 'atari/breakout'?" in result.stderr
    assert "Traceback" not in result.stderr


def test_json_is_one_document_on_standard_output():
    import json

    assert len(json.loads(run("tasks", "list", "--json").stdout)) == 6


@pytest.mark.parametrize(
    "command", [["tasks", "list"], ["tasks", "show", "atari/qbert"], ["agents", "list"], ["episodes", "list"]]
)
def test_every_verb_takes_data_seed_and_json(command, tmp_path):
    import json

    result = run(*command, "--data", str(tmp_path), "--seed", "3", "--json")
    assert result.returncode == 0, result.stderr
    json.loads(result.stdout)


def test_a_seed_that_is_used_is_still_checked():
    assert run("play", "atari/breakout", "--agent", "random", "--seed", "many").returncode == 2


def test_names_are_printed_as_they_are_whatever_brackets_they_hold(tmp_path):
    answers = tmp_path / "answers.csv"
    answers.write_text("left,right,outcome\n[/x],[bold]bob,left\n")
    result = run("rank", "--answers", str(answers))
    assert result.returncode == 0, result.stderr
    assert "[/x]" in result.stdout
    assert "[bold]bob" in result.stdout
