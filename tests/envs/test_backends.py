"""The registry of backends: what ships, what other packages add, and what is said when something is missing."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from interplay.envs import EnvError, backends, make
from interplay.envs.make import end_button, has_score
from interplay.tasks import Task, TaskError, backend_names, builtin_suites, find, parse_suite

PAGE = (Path(__file__).parent.parent.parent / "docs" / "backends.md").read_text()
MODULE = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL).group(1)
ENTRY_POINT = re.search(r"```toml\n\[project\.entry-points\.\"([\w.]+)\"\]\n(\w+) = \"(.+)\"\n```", PAGE).groups()

TASKS = """
[suite]
id = "mine"
title = "Mine"
[[task]]
name = "walk"
title = "Walk"
goal = "Reach the right end."
instructions = "Walk to the right."
env.id = "corridor:straight"
frame_rate_hz = 10
time_limit_s = 5
held_out_seeds = [1, 2]
questions = [{ id = "overall", factor = "overall", kind = "overall", text = "Who walked better?" }]
[task.keys]
buttons = ["LEFT", "RIGHT"]
bindings = { ArrowLeft = "LEFT", ArrowRight = "RIGHT" }
actions = { "" = 0, "LEFT" = 1, "RIGHT" = 2 }
"""


def install(folder: Path, *, module: str = MODULE, name: str = "corridor", value: str = "corridor:BACKEND") -> dict[str, str]:
    """Put a package into a folder, as pip does; the environment of a process that has it installed."""
    (folder / "corridor.py").write_text(module)
    metadata = folder / "interplay_corridor-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: interplay-corridor\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[{ENTRY_POINT[0]}]\n{name} = {value}\n")
    (folder / "my.toml").write_text(TASKS.replace("corridor:straight", f"{name}:straight"))
    return os.environ | {"PYTHONPATH": str(folder)}


def check(folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess:
    """`interplay tasks check` of the folder's tasks."""
    command = [sys.executable, "-m", "interplay.cli", "tasks", "check", str(folder / "my.toml")]
    return subprocess.run(command, capture_output=True, text=True, timeout=180, env=environment)


def with_env(env_id: str) -> Task:
    """A task that is played in another environment."""
    return Task.from_json(find("atari/breakout").to_json() | {"env": {"id": env_id, "options": {}}})


def test_names_in_task_files_are_the_backends_there_are():
    assert tuple(backends.BUILT_IN) == backend_names.BUILT_IN
    assert backends.names() == [name for name in backend_names.names() if name != "video"]
    assert all(backend.example.startswith(f"{name}:") for name, backend in backends.BUILT_IN.items())


def test_the_page_lists_every_backend_as_it_is():
    for name, backend in backends.BUILT_IN.items():
        row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{name}` "))
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert (cells[1], cells[3], cells[4]) == (
            f"`{backend.example}`",
            "yes" if backend.is_slow else "no",
            f"`{backend.install}`",
        )
    fields = re.findall(r"^\| `(\w+)` \|", PAGE[PAGE.index("| field |") :], re.MULTILINE)
    assert fields == list(backends.Backend.__dataclass_fields__)


def test_every_built_in_task_has_a_backend():
    for suite in builtin_suites():
        for task in suite.tasks:
            assert backends.of(task) is backends.BUILT_IN[task.env.backend]
    assert backends.of(find("basalt/find_cave")).must_load
    assert not backends.of(find("atari/breakout")).is_slow


@pytest.mark.long_proof
def test_another_package_brings_a_backend(tmp_path):
    environment = install(tmp_path)
    assert ENTRY_POINT == (backend_names.GROUP, "corridor", "corridor:BACKEND")
    done = check(tmp_path, environment)
    assert done.returncode == 0, done.stderr
    assert "1 task, all good" in done.stdout


def test_without_the_package_a_task_file_says_what_is_known():
    with pytest.raises(TaskError, match=r"'labyrinth:straight' names no known backend\nRemedy: write 'ale:<rom>'"):
        parse_suite(TASKS.replace("corridor:straight", "labyrinth:straight"))
    with pytest.raises(TaskError, match="did you mean 'voxel:straight'"):
        parse_suite(TASKS.replace("corridor:", "voxl:"))


def test_a_task_without_backend_cannot_be_made_and_its_pages_work():
    task = with_env("corridor:straight")
    with pytest.raises(
        EnvError, match=r"task atari/breakout: there is no backend 'corridor'.*'ale:<rom>'.*\n.*entry points of the"
    ):
        make(task)
    assert has_score(task)
    assert end_button(task) is None
    assert not backends.of(task).is_slow


@pytest.mark.parametrize(
    ("package", "text"),
    [
        (
            {"module": "import nothing_of_this_name"},
            "cannot be loaded: ModuleNotFoundError: No module named 'nothing_of_this_name'",
        ),
        ({"module": "BACKEND = 7"}, "must be an interplay.envs.backends.Backend, got int"),
        ({"name": "passage"}, "calls itself 'corridor'; entry point and backend must have the same name"),
    ],
)
def test_a_backend_that_cannot_be_used_says_why(tmp_path, package, text):
    done = check(tmp_path, install(tmp_path, **package))
    assert done.returncode == 1
    said = " ".join(done.stderr.split())
    assert f"backend {package.get('name', 'corridor')!r} of the package interplay-corridor (corridor:BACKEND) {text}" in said


def test_a_missing_module_of_a_backend_shows_its_install_line(tmp_path):
    module = MODULE.replace("make=Corridor", "make=lambda task: __import__('nothing_of_this_name'), install='pip install it'")
    done = check(tmp_path, install(tmp_path, module=module))
    assert done.returncode == 1
    assert "which needs nothing_of_this_name; it is not installed" in done.stderr
    assert "Install it with:  pip install it" in done.stderr


def test_a_built_in_name_stays_ours(tmp_path):
    environment = install(tmp_path, name="gym")
    code = "from interplay.envs import backends\nprint(backends.find('gym') is backends.BUILT_IN['gym'], backends.names())"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=180, env=environment, check=True
    )
    assert done.stdout.strip() == f"True {list(backends.BUILT_IN)}"
