"""The script that installs the browser of the tests, with commands of our own in place of apt."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "tools" / "ensure-chromium.sh"
APT = """
echo "$@" >>"$LOG"
case "$*" in
  update*|*chromium-headless-shell) echo "warned" >&2; echo "E: Unable to locate package" >&2; exit 100;;
  *) ln -s /bin/true "$COMMANDS/chromium";;
esac
"""

Run = Callable[[], list[str]]


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    """What apt was asked for, a line each."""
    path = tmp_path / "asked"
    path.touch()
    return path


@pytest.fixture
def run(tmp_path: Path, asked: Path) -> Run:
    """Run it as root on a machine with nothing but a few commands and an apt that has no headless shell; what it says."""
    commands = tmp_path / "bin"
    for folder in (commands, tmp_path / "tools", tmp_path / ".venv"):
        folder.mkdir()
    shutil.copy(SCRIPT, tmp_path / "tools")
    for name in ("bash", "dirname", "cat", "grep", "timeout", "ln"):
        (commands / name).symlink_to(shutil.which(name) or name)
    for name, text in (("apt-get", APT), ("id", "echo 0\n")):
        (commands / name).write_text(f"#!{commands}/bash\n{text}")
        (commands / name).chmod(0o755)
    env = {"PATH": str(commands), "LOG": str(asked), "COMMANDS": str(commands)}

    def said() -> list[str]:
        script = tmp_path / "tools" / SCRIPT.name
        done = subprocess.run([commands / "bash", script], env=env, capture_output=True, text=True, timeout=60, check=True)
        assert done.stdout == ""
        return done.stderr.splitlines()

    return said


def test_what_cannot_be_installed_is_tried_once_and_said_in_one_line_each_time(run: Run, asked: Path, tmp_path: Path) -> None:
    why = "apt could not install chromium-headless-shell (E: Unable to locate package)."
    line = f"{why} To try again, remove .venv/chromium-not-installed."
    assert run() == [line]
    tried = asked.read_text()
    assert tried.count("update") == 1
    assert tried.count("install -y") == 3  # both, both once the lists are new, and the one alone
    assert run() == [line]
    assert asked.read_text() == tried
    (tmp_path / ".venv" / "chromium-not-installed").unlink()
    assert run() == [line]
    assert asked.read_text() != tried


def test_nothing_is_tried_or_said_where_both_are_there(run: Run, asked: Path, tmp_path: Path) -> None:
    for name in ("chromium", "chromium-headless-shell"):
        (tmp_path / "bin" / name).symlink_to("/bin/true")
    (tmp_path / ".venv" / "chromium-not-installed").write_text("from before\n")
    assert run() == []
    assert asked.read_text() == ""
