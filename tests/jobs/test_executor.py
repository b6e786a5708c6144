"""Jobs in processes of this machine: order, keys, errors, places, Ctrl-C and processes that die."""

import math
import os
import subprocess
import sys
from pathlib import Path

import job_functions as functions
import pytest
import warm_process

import interplay.parallel
import interplay.record
from interplay.agents import AgentError
from interplay.agents.evaluate import evaluate
from interplay.explore import published
from interplay.explore.oracle.recording import prove_files
from interplay.jobs import Executor, JobsError, LostError, Place, UnexpectedError, cluster
from interplay.tasks import find

TWO = Executor(2)


@pytest.fixture(scope="module", autouse=True)
def warm_pools():
    """The processes of a pool are forks of one that has loaded what they need, not new interpreters."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interplay.parallel, "get_context", lambda method: warm_process.pools())
        yield


def test_arguments_and_results_come_back_as_they_were(tmp_path):
    shape = functions.Shape((functions.Point(1, "a"), functions.Point(2, None)), tmp_path, math.inf, {"x": 0.1})
    (done,) = TWO.map(functions.moved, {"shape": (shape, 3)})
    assert done.key == "shape"
    assert done.get() == functions.moved(shape, 3)
    (done,) = TWO.map(functions.backwards, {"bytes": (b"\x00\xff", 2)})
    assert done.get() == b"\xff\x00\xff\x00"


def test_jobs_come_back_as_they_end_each_under_its_key(tmp_path):
    jobs = {"waits": (tmp_path / "now", 1), "ends": (tmp_path, 2)}
    ending = TWO.map(functions.wait_for, jobs)
    first = next(ending)
    assert (first.key, first.get()) == ("ends", 2)
    (tmp_path / "now").touch()
    assert [(done.key, done.get()) for done in ending] == [("waits", 1)]


def test_errors_arrive_as_their_kind_and_other_jobs_go_on():
    found = {done.key: done for done in TWO.map(functions.fail, {kind: (kind,) for kind in ("agent", "value", "good")})}
    assert found["good"].get() is None
    with pytest.raises(AgentError, match=r"^no idea\nAsk somebody\.$"):
        found["agent"].get()
    with pytest.raises(UnexpectedError, match="not a number") as caught:
        found["value"].get()
    assert str(caught.value) == "ValueError: not a number"
    assert "job_functions.py" in caught.value.__notes__[0]


def test_after_an_error_that_is_raised_no_other_job_begins(tmp_path):
    jobs = {str(one): (tmp_path, one) for one in range(40)}
    with pytest.raises(UnexpectedError, match="ValueError: job 0") as caught:
        _finish(functions.fail_first, jobs)
    began = set(tmp_path.glob("*.began"))
    other = tmp_path / "other"
    other.mkdir()
    _finish(functions.fail_first, {str(one): (other, one) for one in range(1, 5)})
    assert set(tmp_path.glob("*.began")) == began, f"jobs go on while {caught} is told"
    assert len(list(tmp_path.glob("*.ended"))) == len(began) - 1 < 39


def _finish(function, jobs):
    for done in TWO.map(function, jobs):
        done.get()


def test_a_process_that_dies_without_a_message_is_an_error_that_names_the_job():
    found = {done.key: done for done in TWO.map(functions.fail, {"job of death": ("dead",)}, hint="Try it by hand.")}
    with pytest.raises(LostError, match=r"^a process ended without a message, perhaps at job of death\nTry it by hand\.$"):
        found["job of death"].get()


def test_one_job_at_a_time_is_done_in_this_process_where_that_is_offered():
    jobs = {"a": (), "b": ()}
    own = os.getpid()
    assert {done.get() for done in Executor().map(functions.process, jobs, here=functions.process)} == {own}
    assert own not in {done.get() for done in Executor().map(functions.process, jobs)}
    assert own not in {done.get() for done in TWO.map(functions.process, jobs, here=functions.process)}
    (done,) = Executor().map(functions.fail, {"a": ("value",)}, here=functions.fail)
    with pytest.raises(ValueError, match="not a number"):
        done.get()


def test_the_place_of_jobs_is_in_their_environment_alone(tmp_path, monkeypatch):
    place = Place(tmp_path, "postgresql+psycopg://me:secret@host/name")
    (done,) = TWO.map(functions.where, {"a": ()}, place=place)
    assert done.get() == f"{tmp_path} postgresql+psycopg://me:secret@host/name"
    monkeypatch.delenv("INTERPLAY_DATA", raising=False)
    with pytest.raises(JobsError, match=r"^a process of jobs has no INTERPLAY_DATA in its environment\nSet INTERPLAY_DATA"):
        Place.of_environment()


def test_what_is_sent_to_a_cluster_has_no_address_of_the_database(tmp_path, monkeypatch):
    sent = []

    def run(address, name, *rest):
        sent.append((name.partition(":")[2], repr(rest)))
        return (nothing for nothing in ())

    monkeypatch.setattr(cluster, "run", run)
    archive = interplay.record.open(tmp_path / "data", f"sqlite:///{tmp_path}/a-secret-word.db")
    there = Executor(ray="head:6379")
    assert evaluate(archive, find("atari/breakout"), "random", [1], video=False, executor=there) == []
    with pytest.raises(KeyError, match="0007"):  # nothing comes back
        prove_files(published.files_of(["explore/0007"]), archive, executor=there)
    archive.close()
    assert [name for name, _ in sent] == ["play_job", "prove_job"]
    assert [name for name, text in sent if "a-secret-word" in text or str(tmp_path) in text] == []


def test_the_same_database_has_the_same_digest_from_every_host():
    one, other = (Place(Path("x"), f"postgresql+psycopg://{who}/games") for who in ("a:b@node-1", "c@node-2:5433"))
    assert one.digest() == other.digest()
    assert one.digest() == Place(Path("x").absolute(), "postgresql://a@node-1/games").digest()
    assert one.digest() != Place(Path("x"), "postgresql://a@node-1/other").digest()
    assert one.digest() != Place(Path("y"), "postgresql://a@node-1/games").digest()


def test_workers_keep_their_state_and_say_when_they_are_gone():
    one, other = TWO.workers(2)
    try:
        assert [one.ask(functions.keep, 1)(), one.ask(functions.keep, 2)(), other.ask(functions.keep, 3)()] == [
            [1],
            [1, 2],
            [3],
        ]
        with pytest.raises(LostError, match=r"^a process ended without a message, perhaps for lack of memory\n"):
            other.ask(functions.fail, "dead")()
    finally:
        one.stop()
        other.stop()


@pytest.mark.processes
def test_ctrl_c_ends_a_map_at_once_and_silently(tmp_path):
    code = (
        "import signal, sys, pathlib, job_functions as functions\n"
        "from interplay.jobs import Executor\n"
        "def main(folder):\n"
        "    signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "    list(Executor(2).map(functions.nap, {str(one): (folder, one, 600.0) for one in range(4)}))\n"
        "if __name__ == '__main__':\n"
        "    try:\n        main(pathlib.Path(sys.argv[1]))\n"
        "    except KeyboardInterrupt:\n        sys.exit(130)\n"
    )
    program = tmp_path / "program.py"
    program.write_text(code)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    process = subprocess.Popen([sys.executable, program, tmp_path], env=environment, stderr=subprocess.PIPE)
    try:
        while len(list(tmp_path.glob("*.began"))) < 2:
            assert process.poll() is None
        process.send_signal(2)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, said) == (130, b"")
    assert len(list(tmp_path.glob("*.began"))) == 2
    assert not list(tmp_path.glob("*.ended"))
