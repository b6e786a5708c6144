"""Logs of runs are logs of Inspect: its reader and its viewer open them."""

import json
import os
import socket
import time
import urllib.request
from pathlib import Path

import pytest
import warm_process
from small_instance import FIRST_LOG
from warm_process import READY, TO_EVALUATE, WarmProcess

pytestmark = pytest.mark.processes

WITHIN_S = 120


@pytest.fixture(scope="module")
def logs(tmp_path_factory) -> Path:
    """The folder of the log of one run, of three ticks."""
    folder = tmp_path_factory.mktemp("viewed")
    (folder / "first_log.json").write_text(json.dumps(FIRST_LOG))
    run = ("explore", "run", "first_log.json", "--model", "scripted/still", "--steps", "3", "--data", "data")
    # In a process of its own: Playwright's event loop runs in this one.
    warm_process.run(["-m", "interplay.cli", *run], cwd=folder, loaded=(*READY, *TO_EVALUATE)).check_returncode()
    return folder / "data" / "explore" / "logs"


def test_the_reader_of_inspect_opens_a_log_with_its_tasks_and_scores(logs):
    from inspect_ai.log import read_eval_log

    (path,) = logs.glob("*.eval")
    log = read_eval_log(str(path))
    assert (log.status, log.eval.task, log.eval.model) == ("success", "explore-paper-3", "scripted/still")
    assert log.samples is not None
    (sample,) = log.samples
    assert sample.id == "first_log"
    assert sample.scores is not None
    assert (sample.scores["milestones"].value, sample.scores["milestones"].answer) == (0.0, "0 of 1")
    assert sample.scores["milestones"].metadata is not None
    assert sample.scores["milestones"].metadata["result"]["num_steps"] == 3


def test_inspect_counts_a_log_again_without_a_model(logs, tmp_path):
    (path,) = logs.glob("*.eval")
    counted = tmp_path / "counted.eval"
    command = ["-m", "inspect_ai", "score", "--scorer", "interplay/milestones", "--action", "overwrite"]
    warm_process.run([*command, "--output-file", str(counted), str(path)], loaded=(*READY, *TO_EVALUATE)).check_returncode()
    from inspect_ai.log import read_eval_log

    results = read_eval_log(str(counted)).results
    assert results is not None
    (score,) = results.scores
    assert {name: one.value for name, one in score.metrics.items()} == {"tsr": 0.0, "msr": 0.0, "ordered_msr": 0.0}


def test_the_viewer_of_inspect_shows_our_tasks_and_needs_no_network(logs, chromium):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = ["-m", "inspect_ai", "view", "--log-dir", str(logs), "--host", "127.0.0.1", "--port", str(port)]
    viewer = WarmProcess(command, stdout=Path(os.devnull), stderr=Path(os.devnull), loaded=(*READY, *TO_EVALUATE))
    try:
        deadline = time.monotonic() + WITHIN_S
        while True:
            try:
                urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address).close()
                break
            except OSError:
                assert viewer.poll() is None, "the viewer ended"
                assert time.monotonic() < deadline, "the viewer does not answer"
                time.sleep(0.1)
        page = chromium.new_page()
        elsewhere = []
        page.on("request", lambda request: elsewhere.append(request.url) if "127.0.0.1" not in request.url else None)
        page.goto(address)
        page.get_by_text("first_log").first.wait_for(timeout=WITHIN_S * 1000)
        assert page.get_by_text("explore-paper-3").count()
        assert [url for url in elsewhere if not url.startswith(("data:", "blob:"))] == []
        page.close()
    finally:
        viewer.terminate()
        viewer.wait()
