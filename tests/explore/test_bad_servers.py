"""Servers that are full, gone, broken or refuse: a run is played or stops; none is a zero that nobody played."""

import json
import re
import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from small_instance import FIRST_LOG

import interplay.record
from bench.model_server import ModelServer
from interplay.explore.evaluation import inspect_task, providers
from interplay.explore.evaluation.metrics import Result, result_of, summary, tables
from interplay.explore.evaluation.playing import MOST_REFUSED
from interplay.explore.evaluation.providers import At
from interplay.explore.evaluation.replies import MOST_CHARS
from interplay.explore.evaluation.runs import FOLDER, RunError, check_server, read_all
from interplay.explore.evaluation.settings import Settings
from interplay.explore.results.usage import calls_of

pytestmark = pytest.mark.processes

GOOD = '{"action": {"forward": 1}}'
STEPS = 4
IS_OVER = threading.Event()


def raw(*lines: str, body: bytes, times: int = 1, wait: bool = False) -> Any:
    """Write this to the connection, and close it."""

    def write(handler: BaseHTTPRequestHandler) -> None:
        handler.close_connection = True
        handler.wfile.write("\r\n".join(lines).encode() + b"\r\n\r\n" if lines else b"")
        for _ in range(times):
            handler.wfile.write(body)
        if wait:
            IS_OVER.wait(20)

    return write


def says(message: dict[str, Any], **choice: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "finish_reason": "stop", **choice, "message": {"role": "assistant"} | message}]}


def calls(*arguments: str, name: str = "act") -> dict[str, Any]:
    """A message with calls of tools."""
    made = [
        {"id": f"call{number}", "type": "function", "function": {"name": name, "arguments": one}}
        for number, one in enumerate(arguments)
    ]
    return says({"content": None, "tool_calls": made}, finish_reason="tool_calls")


def error(status: int, **fields: Any) -> Any:
    data = json.dumps({"error": fields}).encode()
    return raw(f"HTTP/1.1 {status} No", "content-type: application/json", f"content-length: {len(data)}", body=data)


OK = ("HTTP/1.1 200 OK", "content-type: application/json")
FULL = "This model's maximum context length is 8192 tokens."
PRESS = '{"keys": {"forward": 1}}'
STOPS: dict[str, tuple[Any, str]] = {
    "a full context": (error(400, message=FULL, code="context_length_exceeded"), f"does not fit into the context.*{FULL}"),
    "a full context, without the code": (error(400, message=FULL, code=400), FULL),
    "a context that fills while it answers": (says({"content": "I"}, finish_reason="model_length"), "does not fit into"),
    "no choices": ({"choices": []}, "an answer without choices"),
    "null for choices": (says({}) | {"choices": None}, "an answer without choices"),
    "words that refuse": ("I'm sorry, I cannot help with that.", "none of 12 replies could be played: refusal 12"),
    "a field that refuses": (says({"content": None, "refusal": "I cannot."}), "none of 12 replies .*refusal 12"),
    "nothing": ("", "none of 12 replies could be played: empty 12"),
    "what a filter held back": (says({"content": ""}, finish_reason="content_filter"), "refusal 12; it was withheld"),
    "a filter that answers 400": (error(400, message="no", code="content_filter"), "none of 12 replies .*refusal 12"),
    "a page": (
        raw("HTTP/1.1 200 OK", "content-type: text/html", "content-length: 12", body=b"<html></html"),
        "non-ChatCompl|html",
    ),
    "a wrong key": (401, "AuthenticationError|401"),
    "a model that is not there": (404, "NotFoundError|404"),
    "too many calls, for ever": (429, "RateLimitError|429"),
    "an error, for ever": (500, "InternalServerError|500"),
    "half an object": ('{"action": {"forw', "none of 12 replies could be played: cut_json 12"),
    "three megabytes": ("x" * 3_000_000, "none of 12 replies could be played: too_long 12"),
    "a connection that closes": (raw(body=b""), "Connection error|APIConnectionError"),
    "no answer in time": (raw(body=b"", wait=True), "Timeout"),
    "an answer that never ends": (raw(*OK, body=b" " * 65536, times=2000), "more than 4,194,304 bytes"),
    "an answer that drips": (raw(*OK, "content-length: 1000", body=b"{", wait=True), "Timeout"),
    "arguments that are cut": (calls('{"keys": {"forward": 1'), "none of 4 replies could be played: cut_json 4"),
    "a tool that is not there": (calls(PRESS, name="fly"), "none of 4 replies could be played: unknown_tool 4"),
}
"""Kind -> what the server does, and why the run stops."""
PLAYS: dict[str, tuple[Any, dict[str, int]]] = {
    "another model": ({"model": "smaller", **says({"content": GOOD})}, {"action": 4}),
    "no usage": ({"usage": None, **says({"content": GOOD})}, {"action": 4}),
    "a list of parts": (says({"content": [{"type": "text", "text": GOOD}]}), {"action": 4}),
    "thoughts, then what is good": (says({"content": GOOD, "reasoning_content": "y" * 900_000}), {"action": 4}),
    "several calls at once": (calls(PRESS, PRESS), {"action": 4, "parallel_call": 4}),
}
"""Kind -> what the server does, and what its replies are counted as."""


@pytest.fixture
def played(tmp_path, monkeypatch):
    """Let a model of a server play a run; its result, the data folder, and how often it was asked."""
    monkeypatch.setattr(inspect_task, "MOST_RETRIES", 1)
    monkeypatch.setattr(providers, "MOST_BYTES", 4 * 1024**2)
    instance, data = tmp_path / "first_log.json", tmp_path / "data"
    instance.write_text(json.dumps(FIRST_LOG))
    IS_OVER.clear()

    def play(reply: Any, protocol: str = "paper", steps: int = STEPS, **options: Any) -> tuple[Result, Path, int]:
        with ModelServer(lambda model, texts: reply) as server, closing(interplay.record.open(data)) as archive:
            at = At(server.address)
            inspect_task.evaluate(
                archive, [str(instance)], "m", Settings(protocol, steps), at=at, timeout_s=1, name="m", **options
            )
            IS_OVER.set()
            (run,) = read_all(data)[0].values()
            return result_of(run), data, len(server.prompts)

    return play


def protocol_of(kind: str) -> str:
    return "tools" if kind.partition(" that ")[0] in ("arguments", "a tool", "several calls at once") else "paper"


@pytest.mark.parametrize("kind", STOPS)
def test_a_server_with_which_nobody_can_play_stops_the_run_and_is_no_zero(kind, played):
    reply, why = STOPS[kind]
    result, data, num_asked = played(reply, protocol_of(kind))
    assert result.failed is not None
    assert re.search(why, result.failed, re.DOTALL), result.failed
    ((row,),) = (one["models"] for one in tables([result]))
    assert (row["tsr"]["value"], row["msr"]["value"], row["failed"]) == (None, None, 1)
    assert num_asked <= 12, "calls are not repeated for ever"
    assert sum(path.stat().st_size for path in (data / FOLDER).iterdir()) < 400_000


@pytest.mark.parametrize("kind", PLAYS)
def test_an_odd_server_with_which_one_can_play_is_played(kind, played):
    reply, replies = PLAYS[kind]
    result, _, _ = played(reply, protocol_of(kind))
    assert (result.failed, dict(result.replies), result.num_steps) == (None, replies, STEPS)
    row = summary([result], (1.0, 10.0))
    says_nothing = kind == "no usage"
    assert ((result.input_tokens is None), (row["cost"] is None)) == (says_nothing, says_nothing)


def test_a_reply_of_three_megabytes_is_kept_once_and_cut(played):
    _, data, _ = played("x" * 3_000_000)
    (run,) = read_all(data)[0].values()
    (call, *_) = run.lost
    assert len(json.dumps(call)) < MOST_CHARS + 2000
    cut = call["output"]["metadata"]["cut"]
    assert (cut["characters"] > 3_000_000, len(cut["sha256"])) == (True, 64)
    assert len(calls_of(run)[0].words) > 0
    assert sum(path.stat().st_size for path in (data / inspect_task.LOGS).iterdir()) < 400_000


def test_a_model_that_refuses_stops_soon_and_plays_on_when_it_does_not(played):
    result, _, num_asked = played("", steps=40)
    assert (num_asked, result.calls, result.failed is None) == (MOST_REFUSED, MOST_REFUSED, False)
    result, _, num_asked = played(GOOD, steps=40)
    assert (result.failed, num_asked, result.calls) == (None, 40, 40 + MOST_REFUSED), "what was paid stays counted"


@pytest.mark.parametrize(
    ("budget", "calls", "why"),
    [
        (inspect_task.Budget(calls=5), 5, "the budget is spent: --max-calls 5; run the same command with a higher limit"),
        (inspect_task.Budget(tokens=1), 1, "the budget is spent: --max-tokens 1;"),
        (inspect_task.Budget(cost=1e-9, price=(1.0, 1.0)), 1, "the budget is spent: --max-cost"),
    ],
)
def test_a_budget_stops_a_run_which_goes_on_with_more(budget, calls, why, played):
    result, _, num_asked = played(GOOD, steps=8, budget=budget)
    assert (num_asked, result.calls, why in (result.failed or "")) == (calls, calls, True)
    result, _, num_asked = played(GOOD, steps=8)
    assert (num_asked, result.calls, result.failed) == (8 - calls, 8, None)


def test_without_usage_only_calls_can_be_limited(played):
    result, _, num_asked = played(PLAYS["no usage"][0], budget=inspect_task.Budget(tokens=10**9))
    assert num_asked == 1
    assert "does not say how many tokens" in (result.failed or "")


def test_a_run_says_which_model_answered_and_knows_its_server(played, tmp_path):
    reply = says({"content": GOOD}) | {"model": "smaller", "system_fingerprint": "fp_1"}
    result, data, _ = played(reply)
    assert result.answered == ("smaller (fp_1)",)
    (run,) = read_all(data)[0].values()
    server = run.header["server"]
    assert re.fullmatch(r"127\.0\.0\.1:\d+/v1", server)
    model = providers.model_named("m", At("http://somebody:secret@host:8080/v1/?key=hidden"))
    assert providers.server_of(model) == "host:8080/v1"
    check_server(data, "m", server)
    check_server(data, "another", "host:8080/v1")
    with pytest.raises(
        RunError, match=rf"'m' was played at {server}, but is now at host:8080/v1\nGive it another name with --name"
    ):
        check_server(data, "m", "host:8080/v1")
    with ModelServer(lambda model, texts: GOOD) as other, closing(interplay.record.open(data)) as archive:
        paths, settings = [str(tmp_path / "first_log.json")], Settings("paper", STEPS)
        log = inspect_task.evaluate(archive, paths, "m", settings, at=At(other.address))
        assert other.prompts == []
        assert "was played at" in str(log.samples[0].error)  # type: ignore[index]
