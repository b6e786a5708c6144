"""Processes that are forks of one that has their libraries."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from interplay.forking import Forker

MODULE = """
import json, os, sys, time

def tell(number, *descriptors):
    found = {"env": os.environ.get("PLANTED"), "cwd": os.getcwd(), "libraries": "colorsys" in sys.modules,
             "threads": len(os.listdir("/proc/self/task")), "parent": os.getppid(),
             "name": open("/proc/self/comm").read().strip()}
    os.write(descriptors[0], json.dumps(found).encode())
    print("said"), print("warned", file=sys.stderr)
    sys.exit(number)

def load():
    load.number = getattr(load, "number", 0) + 1

def fail_to_load():
    raise ValueError("planted in what is loaded")

def tell_loaded():
    from interplay.envs.backends import _load_kernels
    print(getattr(load, "number", 0), _load_kernels.cache_info().currsize, "blockworld.world" in sys.modules)

def fail():
    raise ValueError("planted")

def sleep():
    time.sleep(600)
"""


@pytest.fixture(scope="module")
def forker(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("modules")
    (folder / "forked_work.py").write_text(MODULE)
    sys.path.append(str(folder))
    yield Forker(["colorsys"])
    sys.path.remove(str(folder))


def test_a_fork_has_its_own_output_environment_folder_and_status_and_the_libraries(forker, tmp_path: Path) -> None:
    out, err = tmp_path / "out", tmp_path / "err"
    ours, theirs = os.pipe()
    with out.open("w") as stdout, err.open("w") as stderr:
        process = forker.start(
            "forked_work:tell",
            7,
            descriptors=[theirs],
            stdout=stdout.fileno(),
            stderr=stderr.fileno(),
            env={"PLANTED": "yes"},
            cwd=tmp_path,
        )
    os.close(theirs)
    with os.fdopen(ours) as pipe:
        found = json.loads(pipe.read())  # to the end: nobody else keeps the other side open
    assert (process.wait(60), process.poll()) == (7, 7)
    parent = found.pop("parent")
    assert parent not in {os.getpid(), process.pid}
    assert found == {"env": "yes", "cwd": str(tmp_path), "libraries": True, "threads": 1, "name": "forked_work"}
    assert (out.read_text(), err.read_text()) == ("said\n", "warned\n")


def test_an_error_is_a_traceback_and_status_1(forker, tmp_path: Path) -> None:
    with (tmp_path / "err").open("w") as stderr:
        process = forker.start("forked_work:fail", stderr=stderr.fileno())
    assert process.wait(60) == 1
    assert (tmp_path / "err").read_text().endswith("ValueError: planted\n")


def test_what_is_loaded_for_one_is_there_for_all_later_ones(forker, tmp_path: Path) -> None:
    said = tmp_path / "said"
    with said.open("w") as stdout:
        for load in ("forked_work:load", None, "forked_work:load", None):
            assert forker.start("forked_work:tell_loaded", load=load, stdout=stdout.fileno()).wait(60) == 0
    assert said.read_text() == "1 0 False\n1 0 False\n2 0 False\n2 0 False\n"


def test_a_fork_does_without_what_could_not_be_loaded(forker) -> None:
    process = forker.start("forked_work:tell", 0, descriptors=[2], load="forked_work:fail_to_load")
    assert process.wait(60) == 0


def test_the_block_world_is_loaded_once_for_all(forker, tmp_path: Path) -> None:
    from blockworld import compiling

    compiling.ensure()
    said = tmp_path / "said"
    other = Forker(["forked_work"])
    with said.open("w") as stdout:
        for load in (None, "interplay.envs.backends:load_compiled", None):
            assert other.start("forked_work:tell_loaded", load=load, stdout=stdout.fileno()).wait(120) == 0
    assert said.read_text() == "0 0 False\n0 1 True\n0 1 True\n"


def test_a_killed_fork_ends_with_its_signal_and_one_that_runs_is_waited_for_no_longer_than_asked(forker) -> None:
    process = forker.start("forked_work:sleep")
    assert process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired, match=f"process {process.pid}"):
        process.wait(0.05)
    process.kill()
    assert process.wait(60) == -signal.SIGKILL
    process.kill()  # its number may be another's by now


def test_what_was_forked_outlives_who_forked_it_and_its_end_is_still_heard(forker, tmp_path: Path) -> None:
    other = Forker([])
    process = other.start("forked_work:sleep")
    parent = int(Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(parent, signal.SIGKILL)
    deadline = time.monotonic() + 60
    while not other.is_gone:
        assert time.monotonic() < deadline, "its end is not heard"
        time.sleep(0.01)
    assert process.poll() is None
    with pytest.raises(ConnectionError, match="gone"):
        other.start("forked_work:sleep")
    process.terminate()
    assert process.wait(60) == 1, "nobody can tell how it ended"


@pytest.mark.parametrize("from_here", [False, True])
def test_it_ends_with_the_process_that_started_it(from_here: bool) -> None:
    code = f"""
        import os
        from interplay.forking import Forker
        forker = Forker([], from_here={from_here})
        print(forker.start("os:write", 1).wait(60), flush=True)  # an argument too few
        print(forker.start("os:getppid").wait(60), flush=True)
        os._exit(0)
    """
    result = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60)
    # The pipes are at their end: neither the process nor its forks hold them any more.
    assert result.stdout == "1\n0\n"
    assert "TypeError" in result.stderr


def test_it_ends_in_silence_when_who_started_it_was_killed_with_an_answer_unread() -> None:
    code = """
        import os, signal
        from interplay.forking import Forker
        forker = Forker([])
        for _ in range(20):
            forker.start("os:getppid")
        os.kill(os.getpid(), signal.SIGKILL)
    """
    result = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stderr) == (-signal.SIGKILL, "")


def test_it_ends_in_silence_when_who_asked_is_gone_before_the_answer(tmp_path: Path) -> None:
    code = """
        import json, socket
        from interplay.forking import fork_on_request
        ours, theirs = socket.socketpair()
        asked = {"load": None, "function": "os:getppid", "arguments": [], "env": {}, "cwd": "/", "path": []}
        with open("out", "w") as out, ours:
            socket.send_fds(ours, [json.dumps(asked).encode() + b"\\n"], [out.fileno(), out.fileno()])
        fork_on_request([], theirs.detach())
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")


def test_a_fork_of_a_fork_has_what_both_loaded(forker, tmp_path: Path) -> None:
    said = tmp_path / "said"
    second = Forker(["forked_work:load"], of=forker)
    with said.open("w") as stdout:
        for one in (second, forker):
            assert one.start("forked_work:tell_loaded", stdout=stdout.fileno()).wait(60) == 0
    loaded = [line.split()[0] for line in said.read_text().splitlines()]
    assert int(loaded[0]) == int(loaded[1]) + 1, "what the second loaded, the first has not"


def test_threads_that_a_library_starts_are_told(tmp_path: Path) -> None:
    (tmp_path / "with_thread.py").write_text(
        "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"
    )
    code = """
        from interplay.forking import Forker
        assert Forker(["with_thread"]).start("os:getppid").wait(60) == 0
    """
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60, env=environment
    )
    assert result.returncode == 0
    assert result.stderr.startswith("with_thread has started threads, which forked processes lack: ")


def test_processes_of_the_server_are_forked_before_anything_has_threads() -> None:
    code = """
        import os, sys
        from interplay.play.workers import starting
        assert not {"numpy", "pyarrow", "sqlalchemy"} & sys.modules.keys()
        starting.get_ready()
        process, ours = starting.start("interplay.play.background.sealer")
        num_threads = len(os.listdir(f"/proc/{process.pid}/task"))
        ours.close()
        print(num_threads, process.wait(60))
    """
    result = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120)
    assert result.stderr == ""
    assert result.stdout == "1 0\n", "one thread of arithmetic"


def test_a_fork_of_this_process_does_not_go_back_to_what_called_it() -> None:
    code = """
        import contextlib
        from interplay.forking import Forker
        @contextlib.contextmanager
        def place():
            yield
            print("left", flush=True)
        with place():
            forker = Forker([], from_here=True)
            assert forker.start("os:getppid").wait(60) == 0
    """
    result = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60)
    assert (result.stdout, result.stderr) == ("left\n", "")
