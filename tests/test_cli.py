"""The command's frame: help, misuse, errors and exit status."""

import io
import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from rich.console import Console

import interplay.record
from interplay.cli import _VERBS, _run, command_of, main
from interplay.cli.bench import FOLDERS, benches
from interplay.cli.output import table
from interplay.tasks import builtin_suites


def run_process(*arguments: str) -> subprocess.CompletedProcess[str]:
    """One call in a process of its own, whose output is a pipe."""
    command = [sys.executable, "-m", "interplay.cli", *arguments]
    # The environment as Python knows it: readline puts COLUMNS into the process's own behind its back.
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=dict(os.environ))


def test_names_in_any_script_are_printed_whatever_the_locale_says(tmp_path):
    (tmp_path / "answers.csv").write_text("left,right,outcome\n\u00c4gent,\u732b,left\n", encoding="utf-8")
    command = [sys.executable, "-m", "interplay", "rank", "--answers", str(tmp_path / "answers.csv")]
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    result = subprocess.run(command, capture_output=True, timeout=120, check=False, env=dict(os.environ) | locale)
    assert result.returncode == 0, result.stderr
    assert "1  \u00c4gent" in result.stdout.decode("utf-8")


@pytest.mark.parametrize("options", [("--data", "D\u00e4ta"), ("--data", "data", "--database", "sqlite:///D\u00e4ta/x.db")])
def test_a_path_that_the_locale_cannot_read_is_refused_in_words(tmp_path, options):
    command = [sys.executable, "-m", "interplay", "play", "gymnasium/taxi", "--agent", "random", *options]
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    place = {"cwd": tmp_path, "env": dict(os.environ) | locale}
    result = subprocess.run(command, capture_output=True, timeout=120, check=False, **place)
    assert b"has characters that this locale (ascii) cannot read\nSet PYTHONUTF8=1 in the environment" in result.stderr
    assert (result.returncode, b"Traceback" in result.stderr) == (2, False)
    assert not (tmp_path / "D\u00e4ta").exists()


@pytest.fixture
def run(capsys) -> Callable[..., subprocess.CompletedProcess[str]]:
    """One call in this process."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        with pytest.raises(SystemExit) as stop:
            main(list(arguments))
        return subprocess.CompletedProcess(arguments, stop.value.code, *capsys.readouterr())

    return run


def test_help_lists_every_verb_and_exits_0():
    result = run_process("--help")
    assert result.returncode == 0
    assert all(verb in result.stdout for verb in _VERBS)


@pytest.mark.parametrize("verb", list(_VERBS))
def test_every_verb_has_help_with_an_example(run, verb):
    result = run(verb, "--help")
    assert result.returncode == 0, result.stderr
    assert f"interplay {verb}" in result.stdout
    assert "Try:" in result.stdout


@pytest.mark.parametrize("verb", list(_VERBS))
def test_help_speaks_of_commands_only_where_there_are_some(run, verb):
    result = run(verb, "--help")
    assert ("COMMAND [ARGS]" in result.stdout) == ("Commands" in result.stdout)


def test_an_unknown_verb_is_misuse_and_offers_the_nearest(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["raank"])
    assert "did you mean 'rank'?" in capsys.readouterr().err


def test_a_missing_argument_is_misuse(run):
    assert run("tasks", "show").returncode == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("episodes", "list", "--data", ""), "it is empty; name a folder"),
        (("agents", "list", "--data", ""), "it is empty; name a folder"),
        (("episodes", "list", "--data", __file__), "is a file; name a folder"),
        (("episodes", "list", "--data", 300 * "a"), "name another folder"),
        (("episodes", "list", "--limit", 30 * "9"), "--limit"),
        (("judge", "add-episodes", "--participant", 20 * "9"), "--participant"),
        (("judge", "add-episodes"), "say whose episodes"),
        (("judge", "add-episodes", "--actor", "robots"), "--actor takes human, got 'robots'"),
        (
            ("episodes", "export", "--all", "--format", "gif"),
            "unknown export format 'gif'; known: hugging-face, lerobot",
        ),
        (("study", "open", "basalt", "--address", "rubbish"), "it takes https://host or http://host, got 'rubbish'"),
        (("tasks", "check", "--env", "Taxi-v4", "--steps", 30 * "9"), "--steps"),
        (("serve", "--port", "abc"), "'--port': it must be a valid integer; got 'abc'"),
        (("serve", "--port", "99999"), "'--port': it must be less than or equal to 65535; got '99999'"),
        (("serve", "--node", "a/b"), "--node takes letters, digits and hyphens, at most 60, got 'a/b'"),
        (("rank", "--method", "elo"), "'elo' is not one of 'trueskill', 'bradley-terry'"),
        (("episodes", "list", "--outcome", "won"), "'won' is not one of 'terminated', 'time_limit'"),
        (("judge", "ban", "ann"), "a ban needs its reason"),
        (("judge", "ban", "--reason", "no care"), "no judge is named"),
        (("judge", "decline", "ann", "--reason", " "), "declining needs a reason"),
        (("judge", "simulate", "--agents", "2"), "num_agents must be from 3 to 1000; got 2"),
        (("judge", "simulate", "--out", "plot.doc"), "must end in .svg, .png or .pdf"),
        (("judge", "by-model", "--limit", "3"), "--limit needs --vision"),
        (("judge", "token", "create", "red", "--scope", "all"), "there is no scope 'all'"),
        (("judge", "token", "create", "a b", "--scope", "read"), "a token cannot be named 'a b'"),
        (("play", "atari/brekout", "--agent", "random"), "did you mean 'atari/breakout'"),
    ],
)
def test_misuse_is_said_in_words_before_anything_is_made(arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match="2"):
        main(list(arguments))
    said = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert words in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "command", [("episodes", "list"), ("judge", "list-agents"), ("judge", "export", "all.csv"), ("judge", "calibrate")]
)
def test_a_task_that_nobody_knows_is_misuse_and_the_nearest_is_offered(command, tmp_path, capsys):
    interplay.record.open(tmp_path).close()
    with pytest.raises(SystemExit, match="2"):
        main([*command, "--task", "breakout", "--data", str(tmp_path)])
    assert "unknown task 'breakout'; did you mean 'atari/breakout'?" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="0"):
        main(["episodes", "list", "--task", "atari/breakout", "--data", str(tmp_path)])


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--where", "score", "cannot read the condition 'score'"),
        ("--database", "xyz", "'xyz' is not a database address"),
    ],
)
def test_a_value_that_a_room_cannot_read_is_misuse(tmp_path, capsys, option, value, words):
    interplay.record.open(tmp_path).close()
    with pytest.raises(SystemExit, match="2"):
        main(["episodes", "list", option, value, "--data", str(tmp_path)])
    assert words in capsys.readouterr().err


def test_a_data_folder_that_is_made_is_said_and_one_that_is_there_is_not(tmp_path, capsys):
    folder = str(tmp_path / "mistyped")
    for name, said in (("red", f"Made a new data folder: {folder}\n"), ("blue", "")):
        with pytest.raises(SystemExit, match="0"):
            main(["judge", "token", "create", name, "--scope", "read", "--json", "--data", folder])
        captured = capsys.readouterr()
        assert captured.err == said
        assert json.loads(captured.out)["name"] == name


def test_a_folder_that_nobody_made_is_not_made_by_a_list_of_agents(tmp_path, capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["agents", "list", "--data", str(tmp_path / "mistyped")])
    assert "scripted" in capsys.readouterr().out
    assert not (tmp_path / "mistyped").exists()


def test_an_unknown_name_has_no_traceback_and_exits_2():
    result = run_process("tasks", "show", "atari/brekout")
    assert result.returncode == 2
    assert "did you mean 'atari/breakout'?" in result.stderr
    assert "Traceback" not in result.stderr


def test_json_is_one_document_on_standard_output(run):
    listed = json.loads(run("tasks", "list", "--json").stdout)
    assert [one["id"] for one in listed] == [task.id for suite in builtin_suites() for task in suite.tasks]


@pytest.mark.parametrize(
    "command", [["tasks", "list"], ["tasks", "show", "atari/qbert"], ["agents", "list"], ["episodes", "list"]]
)
def test_every_verb_takes_data_seed_and_json(run, command, tmp_path):
    interplay.record.open(tmp_path).close()
    result = run(*command, "--data", str(tmp_path), "--seed", "3", "--json")
    assert result.returncode == 0, result.stderr
    json.loads(result.stdout)


def test_a_seed_that_is_used_is_still_checked(run):
    assert run("play", "atari/breakout", "--agent", "random", "--seed", "many").returncode == 2


def test_a_folder_that_is_not_there_is_no_empty_archive(run, tmp_path):
    for verb in (["episodes", "list"], ["episodes", "verify", "--all"], ["episodes", "repair"]):
        result = run(*verb, "--data", str(tmp_path / "typo"))
        assert result.returncode == 1
        assert "there is no folder" in result.stderr
    assert not (tmp_path / "typo").exists()


def test_a_table_in_a_pipe_is_not_cut_and_commands_no_terminal(tmp_path, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    answers = tmp_path / "answers.csv"
    name = "a-name-" + "x" * 150
    answers.write_text(f"left,right,outcome\n{name},\x1b[31mred,left\n")
    result = run_process("rank", "--answers", str(answers))
    assert name in result.stdout
    assert "\\x1b[31mred" in result.stdout
    assert "\x1b" not in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--seed", "-4"], "greater than or equal to 0"),
        (["--database", "garbage"], "is not a database address"),
        (["--agent", "agents_that_fail:Raising", "--seeds", "1,2"], "failed on seed"),
        (["--agent", "agents_that_fail:Leaving", "--seeds", "1,2", "--max-seconds", "40"], "ended without a message"),
    ],
)
def test_what_goes_wrong_in_play_is_told_without_a_traceback(run, tmp_path, monkeypatch, options, text):
    (tmp_path / "agents_that_fail.py").write_text(
        "import os\nfrom interplay.agents import RandomAgent\n"
        "class Raising(RandomAgent):\n    def act(self, observation):\n        raise ValueError('no idea')\n"
        "class Leaving(RandomAgent):\n    def act(self, observation):\n        os._exit(3)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    agent = [] if "--agent" in options else ["--agent", "random", "--seeds", "1"]
    call = run_process if "agents_that_fail:Leaving" in options else run  # on one core the command plays itself
    result = call("play", "atari/breakout", *agent, "--max-seconds", "1", *options, "--data", str(tmp_path / "data"))
    assert result.returncode in (1, 2)
    assert text in result.stderr
    assert "Traceback" not in result.stderr


def test_processes_that_play_end_with_the_command_even_when_it_is_killed(tmp_path, monkeypatch):
    (tmp_path / "slow_agent.py").write_text(
        "import os, pathlib, time\nfrom interplay.agents import RandomAgent\n"
        "class Slow(RandomAgent):\n    def act(self, observation):\n"
        f"        pathlib.Path({str(tmp_path)!r}, str(os.getpid()) + '.pid').touch()\n"
        "        time.sleep(0.2)\n        return 0\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    command = [sys.executable, "-m", "interplay.cli", "play", "atari/breakout", "--agent", "slow_agent:Slow", "--seeds", "1,2"]
    with subprocess.Popen([*command, "--data", str(tmp_path / "data")], stderr=subprocess.DEVNULL) as parent:
        deadline = time.monotonic() + 120
        while len(pids := [int(path.stem) for path in tmp_path.glob("*.pid")]) < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        parent.kill()
    assert len(pids) == 2
    deadline = time.monotonic() + 60
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_names_are_printed_as_they_are_whatever_brackets_they_hold(run, tmp_path):
    answers = tmp_path / "answers.csv"
    answers.write_text("left,right,outcome\n[/x],[bold]bob,left\n")
    result = run("rank", "--answers", str(answers))
    assert result.returncode == 0, result.stderr
    assert "[/x]" in result.stdout
    assert "[bold]bob" in result.stdout


def test_bench_without_a_name_lists_what_can_be_measured(run):
    result = run("bench")
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    known = list(benches(*FOLDERS))
    assert {"play", "record", "world"} < set(known)
    assert [line.split()[0] for line in lines[1:]] == known
    assert any(re.match("record +What recording costs: time a step", line) for line in lines)
    assert [one["bench"] for one in json.loads(run("bench", "--json").stdout)] == known


def test_a_long_table_is_laid_out_like_a_short_one():
    rows = [(f"name {number}", number, "\u6f22\u5b57" if number % 2 else "") for number in range(201)]
    long = table(["what", "#count", "note"], rows, title="all")
    assert isinstance(long, str)
    capture = Console(width=200, file=io.StringIO(), markup=False, highlight=False)
    capture.print(table(["what", "#count", "note"], rows[:200], title="all"))
    short = [line.rstrip() for line in capture.file.getvalue().splitlines()]
    assert long.splitlines()[:-1] == short


def test_bench_offers_what_measures_and_not_the_modules_beside_it(run, tmp_path):
    result = run("bench", "recrod")
    assert result.returncode == 2
    assert "did you mean 'record'?" in result.stderr
    assert "known: cluster, dagger, dataset, demos, " in run("bench", "xyzzy").stderr
    (tmp_path / "real.py").write_text('parser.add_argument("--json")\nif __name__ == "__main__":\n    main()\n')
    (tmp_path / "process.py").write_text('if __name__ == "__main__":\n    main()\n')
    (tmp_path / "data.py").write_text("ANSWERS = 3\n")
    assert benches(tmp_path) == {"real": tmp_path / "real.py"}


MAKERS = {
    "demo", "serve", "play", "agents import-vpt", "episodes pull", "episodes import", "demos import", "learn ppo",
    "learn dagger", "learn benchmark", "judge add-agent", "judge import", "judge token create", "study open",
    "study class open", "report crossplay", "explore prove", "explore run", "explore make", "explore filter",
}  # fmt: skip
"""What makes a data folder where there is none, and says so."""
GIVEN = {
    "episodes query show": ["q"],
    "episodes export": ["--all", "--format", "mp4"],
    "episodes measure": ["--all"],
    "episodes verify": ["--all"],
    "data move": ["--blobs", "s3://lab/moved"],
    "judge add-episodes": ["--actor", "human"],
    "demos embed": ["--vpt", "v", "--out", "o"],
    "judge decline": ["a", "--reason", "r"],
    "judge ban": ["j", "--reason", "random"],
    "judge unban": ["j"],
    "judge calibrate": ["--task", "atari/breakout"],
    "judge by-model": ["--task", "atari/breakout"],
    "judge export": ["answers.csv"],
    "study hit": ["s", "--address", "https://lab.example"],
    "explore judge": ["e"],
    "learn reward": ["--task", "atari/breakout", "--out", "r"],
}
"""What a command needs before it looks at a folder; others get their arguments."""


def leaves(command, path):
    """All commands below a verb that take a data folder, with the arguments that they must have."""
    if hasattr(command, "commands"):
        for name, one in command.commands.items():
            yield from leaves(one, (*path, name))
    elif any("--data" in one.opts for one in command.params):
        yield " ".join(path), [one.name for one in command.params if one.required and one.param_type_name == "argument"]


READERS = [leaf for verb in _VERBS for leaf in leaves(command_of(verb), (verb,)) if leaf[0] not in MAKERS | {"study check"}]
"""What reads a data folder, without `study check`, which does without one."""


@pytest.mark.parametrize(("command", "arguments"), READERS, ids=[command for command, _ in READERS])
def test_what_only_reads_changes_nothing_in_a_folder_that_is_no_data_folder(command, arguments, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "x.txt").write_text("mine")
    given = GIVEN.get(command, arguments)
    if command.startswith("learn ") and command not in GIVEN:
        given = ["--task", "atari/breakout", "--out", "m"]
    status, said = _run([*command.split(), *given, "--data", "mine"]), capsys.readouterr()
    assert (status, [path.name for path in tmp_path.rglob("*")]) == (1, ["mine", "x.txt"]), said
    reasons = ("mine is not a data folder", "in mine: it holds no interplay.db", "mine holds no runs")
    assert any(reason in said.err for reason in reasons), said.err


@pytest.mark.parametrize("sql", ["", "CREATE TABLE t (a)"])
def test_a_database_of_another_program_makes_no_data_folder(sql, tmp_path, capsys):
    with closing(sqlite3.connect(tmp_path / "interplay.db")) as other:
        other.execute(sql)
    before = [(path.name, path.stat().st_mode, path.read_bytes()) for path in tmp_path.iterdir()]
    assert _run(["episodes", "list", "--data", str(tmp_path)]) == 1
    assert "is not a data folder" in capsys.readouterr().err
    assert [(path.name, path.stat().st_mode, path.read_bytes()) for path in tmp_path.iterdir()] == before


def test_a_command_that_makes_a_data_folder_of_a_folder_says_so(tmp_path, capsys):
    (tmp_path / "x.txt").write_text("mine")
    assert _run(["judge", "token", "create", "ada", "--scope", "agents", "--data", str(tmp_path)]) == 0
    assert f"Made a new data folder: {tmp_path}" in capsys.readouterr().err
