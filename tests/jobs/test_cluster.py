"""Jobs on a real Ray cluster of this machine, with a token; and clusters that are refused."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import job_functions as functions
import psutil
import pytest

import interplay.record
from interplay.agents import AgentError
from interplay.agents.evaluate import evaluate
from interplay.jobs import Executor, JobsError, LostError, Place, UnexpectedError, cluster
from interplay.learn import PPOConfig, practise
from interplay.record.place import place_of
from interplay.tasks import find

TASK = find("atari/breakout")


@contextmanager
def started(folder: Path, mode: str, environment: dict[str, str], num_cpus: int = 2):
    """A head of Ray in a session of its own; all its processes end with the block. Yields its address."""
    folder.mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = [f"--port={port}", f"--num-cpus={num_cpus}", f"--temp-dir={folder}", "--object-store-memory=100000000"]
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    process = subprocess.Popen(
        [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block", "--include-dashboard=false", *options],
        env=os.environ | {"RAY_AUTH_MODE": mode, "RAY_USAGE_STATS_ENABLED": "0", "PYTHONPATH": paths} | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 120
        while not list(folder.glob("session_latest/sockets/raylet*")):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield f"127.0.0.1:{port}"
    finally:
        family = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(20)
        for one in family:
            with suppress(psutil.NoSuchProcess):
                one.kill()
        process.kill()
        process.wait()


@pytest.fixture
def token(tmp_path, monkeypatch):
    """A token for this process and what it starts; the connection ends with the test."""
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'interplay[ray]'")
    path = tmp_path / "token"
    path.write_text(secrets.token_hex(32))
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(path))
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    from ray._private.authentication_test_utils import reset_auth_token_state

    reset_auth_token_state()  # Ray reads both when it is imported
    yield path
    ray.shutdown()


@pytest.fixture
def short(tmp_path_factory):
    """A folder with a short name: Ray's sockets lie in it."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="r", dir="/tmp", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.mark.processes
def test_a_cluster_does_what_processes_of_this_machine_do(token, short, tmp_path):
    archive = interplay.record.open(tmp_path / "data")
    own = place_of(archive).environment()
    with started(short / "a", "token", own) as address:
        there = Executor(ray=address)
        shape = functions.Shape((functions.Point(1, "a"),), tmp_path, float("inf"), {"x": 0.1})
        (done,) = there.map(functions.moved, {"shape": (shape, 3)})
        assert done.get() == functions.moved(shape, 3)
        found = {done.key: done for done in there.map(functions.fail, {kind: (kind,) for kind in ("agent", "value", "good")})}
        assert found["good"].get() is None
        with pytest.raises(AgentError, match=r"^no idea\nAsk somebody\.$"):
            found["agent"].get()
        with pytest.raises(UnexpectedError, match="ValueError: not a number"):
            found["value"].get()

        assert next(there.map(functions.where, {"a": ()}, place=place_of(archive))).get() == " ".join(own.values())
        with pytest.raises(
            JobsError, match=r"has another INTERPLAY_DATA or INTERPLAY_DATABASE than this command\nStart Ray on every"
        ):
            next(there.map(functions.where, {"a": ()}, place=Place(tmp_path, "postgresql://host/other"))).get()

        with pytest.raises(JobsError, match=rf"^the jobs need 3 CPU, but the Ray cluster at {address} has 2\nAdd a node"):
            there.workers(3)
        with pytest.raises(JobsError, match=rf"^the jobs need 1 GPU, but the Ray cluster at {address} has 0\nAdd a node"):
            next(there.map(functions.process, {"a": ()}, gpus=1))
        with pytest.raises(JobsError, match=r"^this process is already connected to another Ray cluster than elsewhere:1\n"):
            next(Executor(ray="elsewhere:1").map(functions.process, {"a": ()}))
        one, other = there.workers(2)
        assert [one.ask(functions.keep, 1)(), other.ask(functions.keep, 3)(), one.ask(functions.keep, 2)()] == [
            [1],
            [3],
            [1, 2],
        ]
        with pytest.raises(LostError, match=r"^a process ended without a message, perhaps for lack of memory\n"):
            other.ask(functions.fail, "dead")()
        one.stop()
        other.stop()

        played = evaluate(archive, TASK, "random", [1, 2], seed=4, max_steps=30, video=False, executor=there)
        alone = evaluate(archive, TASK, "random", [1, 2], seed=4, max_steps=30, video=False, again=True)
        assert [episode.actions().tolist() for episode in played] == [episode.actions().tolist() for episode in alone]
        assert len({episode.id for episode in (*played, *alone)}) == len(archive.episodes()) == 4

        sizes = {"steps": 64, "games": 4, "horizon": 8, "batch_size": 8, "hidden": (8,), "workers": 2, "threads": 1}
        config = PPOConfig(task="gymnasium/frozen_lake", observation="state", device="cpu", **sizes)
        for name, executor in (("there", there), ("here", Executor())):
            practise(archive, config, name, executor=executor)
        weights = [(archive.root / "models" / name / "model.safetensors").read_bytes() for name in ("there", "here")]
        assert weights[0] == weights[1]
    archive.close()


@pytest.mark.processes
def test_a_job_that_always_ends_its_process_is_an_error_at_last_and_ray_prints_nothing(
    token, short, monkeypatch, capfd, caplog
):
    monkeypatch.setattr(cluster, "RETRIES", 1)
    caplog.set_level("INFO", "interplay.jobs")
    with started(short / "a", "token", {}) as address:
        (done,) = Executor(ray=address).map(functions.fail, {"job of death": ("dead",)})
        with pytest.raises(LostError, match=r"^a process ended without a message, perhaps at job of death\n"):
            done.get()
    assert capfd.readouterr().out == ""
    assert "will be retried" in caplog.text


@pytest.mark.processes
def test_ctrl_c_ends_jobs_of_a_cluster_at_once_and_silently(token, short, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import signal, sys, pathlib, job_functions as functions\n"
        "from interplay.jobs import Executor\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "try:\n    list(Executor(ray=sys.argv[2]).map(functions.nap, {str(one): (folder, one, 600.0) for one in range(4)}))\n"
        "except KeyboardInterrupt:\n    sys.exit(130)\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    with started(short / "a", "token", {}) as address:
        command = [sys.executable, program, tmp_path, address]
        process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)
        try:
            while len(list(tmp_path.glob("*.began"))) < 2:
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()
        assert (process.returncode, said) == (130, b"")
        assert next(Executor(ray=address).map(functions.backwards, {"next": (b"ab", 1)})).get() == b"ba", (
            "the nodes are free again"
        )
    assert len(list(tmp_path.glob("*.began"))) == 2
    assert not list(tmp_path.glob("*.ended"))


@pytest.mark.processes
def test_a_cluster_without_a_token_is_refused(token, short, monkeypatch):
    jobs = {"a": (b"ab", 1)}
    with started(short / "a", "disabled", {}) as address:
        with pytest.raises(
            JobsError, match=r"lets in everybody: it demands no token\nStart the cluster with RAY_AUTH_MODE=token"
        ):
            next(Executor(ray=address).map(functions.backwards, jobs))
        monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
        with pytest.raises(
            JobsError, match=r"^RAY_AUTH_MODE is not `token`, so .*\nStart the cluster with RAY_AUTH_MODE=token"
        ):
            next(Executor(ray=address).map(functions.backwards, jobs))


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (RuntimeError("Version mismatch: The cluster\n  has Ray: 2"), "Run this command on a node of the cluster"),
        (ConnectionError("Failed to connect"), "Start the cluster with RAY_AUTH_MODE=token"),
    ],
)
def test_a_cluster_that_this_machine_cannot_join_is_refused_with_what_to_do(token, monkeypatch, error, remedy):
    import ray

    def init(**options):
        raise error

    monkeypatch.setattr(ray, "init", init)
    reason = " ".join(str(error).split())
    with pytest.raises(JobsError, match=rf"^the Ray cluster at auto does not accept this command: {reason}\n{remedy}"):
        next(Executor(ray="auto").map(functions.process, {"a": ()}))


@pytest.mark.parametrize(
    ("probe", "reason"),
    [
        ("raise SystemExit('warning\\nno such module')", "no such module"),
        ("raise SystemExit(7)", "exit status 7"),
        ("while True: pass", "no answer in 0.5 s"),
    ],
)
def test_a_cluster_whose_token_cannot_be_checked_is_refused(monkeypatch, probe, reason):
    monkeypatch.setattr(cluster, "_PROBE", probe)
    monkeypatch.setattr(cluster, "_PROBE_S", 0.5 if "while" in probe else 30.0)
    with pytest.raises(JobsError, match=rf"^whether the Ray cluster at a:1 demands a token cannot be checked: {reason}\nStart"):
        cluster.check_token("a:1", "a:1")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--database", "postgresql+psycopg://me:secret@host/games"],
        ["--database=postgresql://host/games?user=me&password=secret"],
    ],
)
def test_a_password_among_the_arguments_is_refused_since_ray_shows_them(token, monkeypatch, arguments):
    monkeypatch.setattr(sys, "argv", ["interplay", "play", *arguments])
    with pytest.raises(JobsError, match=r"^the arguments of this command hold the password .*\nGive .* INTERPLAY_DATABASE"):
        next(Executor(ray="127.0.0.1:1").map(functions.process, {"a": ()}))
    monkeypatch.setattr(sys, "argv", ["interplay", "--database", "postgresql://me@host:5432/games"])
    with pytest.raises(JobsError, match=r"^no Ray cluster answers at"):
        next(Executor(ray="127.0.0.1:1").map(functions.process, {"a": ()}))


def test_an_address_where_nothing_answers_is_said_at_once(token):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{closed.getsockname()[1]}"
    with pytest.raises(JobsError, match=rf"^no Ray cluster answers at {address}: .*\nStart one:  ray start --head --port"):
        next(Executor(ray=address).map(functions.process, {"a": ()}))


def test_a_missing_package_is_said_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(
        JobsError, match=r"^a Ray cluster needs ray, which is not installed\nInstall it with:  pip install .*ray"
    ):
        next(Executor(ray="auto").map(functions.process, {"a": ()}))


def test_ray_is_imported_only_where_it_is_asked_for(tmp_path):
    code = (
        "import sys\nfrom interplay.cli import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "import json\nprint(json.dumps('ray' in sys.modules))\n"
    )
    play = ["play", "atari/breakout", "--agent", "random", "--seeds", "1", "--max-seconds", "0.1", "--data", str(tmp_path)]
    for words in (["--help"], ["serve", "--help"], play):
        said = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True).stdout
        assert json.loads(said.splitlines()[-1]) is False, words
    import_server = "import interplay.cli.serve, interplay.web.app, interplay.play.server, sys\nprint('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", import_server], capture_output=True, text=True, check=True).stdout == "False\n"
