"""What a newcomer meets: a fresh clone and `make run` alone; then README's commands, its Python, and every shipped task.

`make test-fresh` runs it: three minutes, and it needs pip's index. It uses nothing but the standard library.
"""

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parent.parent
START_S = 1800
"""Of the installation, and of the server."""
_BLOCK = re.compile(r"^```(console|python)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
NO_EMULATOR = "There is no emulator for two players for this Python"
EVERY_TASK = """
from interplay.cli.options import suites_with
from interplay.envs import make
from interplay.envs.backends import to_install

for suite in suites_with(None):
    for task in suite.tasks:
        if line := to_install(task):
            print("not installed:", task.id, line)
            continue
        env = make(task)
        env.reset(seed=task.held_out_seeds[0])
        for _ in range(3):
            env.step({seat: task.keys.noop for seat in task.seats})
        env.view()
        env.close()
        print("started", task.id, flush=True)
"""


def main() -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    with tempfile.TemporaryDirectory(prefix="interplay-fresh-") as folder:
        clone, elsewhere = Path(folder, "clone"), Path(folder, "elsewhere")
        subprocess.run(["git", "clone", "--quiet", "--depth", "1", f"file://{ROOT}", str(clone)], check=True)
        said = serve(clone, environment)
        elsewhere.mkdir()
        environment["PATH"] = f"{clone / '.venv' / 'bin'}{os.pathsep}{environment['PATH']}"
        for command in commands((clone / "README.md").read_text()):
            run(command, elsewhere, environment)
        started = run(["python", "-c", EVERY_TASK], elsewhere, environment)
    missing = re.findall(r"^not installed: (\S+)", started, re.MULTILINE)
    assert not missing or (NO_EMULATOR in said and all(task.startswith("atari-two/") for task in missing)), missing
    print(f"{len(re.findall('^started ', started, re.MULTILINE))} tasks started, {len(missing)} not installed.")


def serve(clone: Path, environment: dict[str, str]) -> str:
    """`make run`, until its server has answered; what it said."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        ["make", "run", f"PORT={port}"], cwd=clone, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, start_new_session=True,
    )  # fmt: skip
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(server.pid, signal.SIGTERM))
    signal.alarm(START_S)
    said = []
    try:
        assert server.stdout is not None
        for line in server.stdout:
            said.append(line)
            print(line, end="", flush=True)
            if "Interplay is at" in line:
                break
        else:
            sys.exit("`make run` ended before its server answered")
        for page in ("/", "/judge", "/leaderboard", "/explore", "/play/atari-two/space_invaders_competitive"):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{page}", timeout=60) as answer:
                text = answer.read().decode()
            assert "ot installed on this server" not in text or NO_EMULATOR in "".join(said), page
    finally:
        os.killpg(server.pid, signal.SIGINT)
        server.wait(60)
        signal.alarm(0)
    return "".join(said)


def commands(readme: str) -> list[list[str]]:
    """What the blocks of a page say to run, also what other tests leave out; not `make` again."""
    found = []
    for kind, body in _BLOCK.findall(readme):
        if kind == "python":
            found.append(["python", "-c", body])
        else:
            lines = [shlex.split(line[2:], comments=True) for line in body.splitlines() if line.startswith("$ ")]
            found += [line for line in lines if line[0] != "make"]
    return found


def run(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    print("$", shlex.join(command)[:120].partition("\n")[0], flush=True)
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    if done.returncode:
        sys.exit(f"{shlex.join(command)[:300]}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


if __name__ == "__main__":
    main()
