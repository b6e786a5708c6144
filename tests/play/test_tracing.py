"""One key press in a thousand is a trace, from the player to the painted frame; without the variables there is none."""

import asyncio
import json
import sys
import time
from pathlib import Path

import pytest
from collector import collecting
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from play_server import RunningServer, running_server

from interplay.play import tracing
from interplay.play.connections import wire
from interplay.play.tracing import EVERY, SPANS, PressTraces, TracedPress, TraceError
from interplay.play.workers.channel import Traced
from interplay.play.workers.clock import now_us

VARIABLES = ("OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


def is_input(message: str | bytes) -> bool:
    return isinstance(message, bytes)


@pytest.fixture
def memory() -> tuple[PressTraces, InMemorySpanExporter]:
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return PressTraces(provider.get_tracer("test")), exporter


@pytest.mark.processes
def test_the_spans_of_a_press_add_up_to_what_the_player_measures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(server: RunningServer) -> tuple[float, float]:
        client = await server.open("atari/breakout", seed=1)
        sent, send = [], client._send

        async def note(message: str | bytes) -> None:
            sent.append(message)
            await send(message)

        monkeypatch.setattr(client, "_send", note)
        await client.start()
        async for _ in client.frames():
            if client.step >= 20:
                break
        begin = time.perf_counter()
        await client.press(1)
        async for _ in client.frames():
            if isinstance(sent[-1], str) and "painted_ms" in sent[-1]:
                break
        around_ms = 1000 * (time.perf_counter() - begin)
        pressed_ms = next(held.client_ms for held in map(wire.parse_input, filter(is_input, sent)) if held.buttons)
        painted_ms = json.loads(sent[-1])["painted_ms"]
        for press in range(20):  # none of these is the thousandth
            await client.press(press % 2)
        await client.quit()
        async for _ in client.frames():
            pass
        return painted_ms - pressed_ms, around_ms

    with collecting() as collector:
        for name, value in collector.environment.items():
            monkeypatch.setenv(name, value)
        with running_server(tmp_path / "data", "--workers", "1", "--node", "lab-1") as server:
            measured_ms, around_ms = asyncio.run(scenario(server))
        whole, *parts = collector.wait(1 + len(SPANS))
    assert [span.name for span in (whole, *parts)] == ["key press", *SPANS]
    assert {span.trace_id for span in parts} == {whole.trace_id}
    assert {span.parent_span_id for span in parts} == {whole.span_id}
    lengths_ms = {span.name: (span.end_time_unix_nano - span.start_time_unix_nano) / 1e6 for span in (whole, *parts)}
    assert min(lengths_ms.values()) >= 0
    assert lengths_ms["step"] > 0
    assert sum(lengths_ms[name] for name in SPANS) == pytest.approx(measured_ms, rel=0.05)
    assert lengths_ms["key press"] == pytest.approx(measured_ms, rel=0.05)
    assert measured_ms < around_ms
    assert abs(whole.end_time_unix_nano / 1e9 - time.time()) < 3600
    facts = {fact.key: fact.value for fact in whole.attributes}
    assert facts["interplay.task"].string_value == "atari/breakout"
    assert facts["interplay.step"].int_value > 20
    resource = {fact.key: fact.value.string_value for fact in collector.requests[0].resource_spans[0].resource.attributes}
    assert (resource["service.name"], resource["service.instance.id"]) == ("interplay", "lab-1")
    assert server.token not in str(collector.requests)


def test_one_press_in_a_thousand_is_chosen(memory) -> None:
    traces, _ = memory
    chosen = [number for number in range(3 * EVERY) if traces.begin(0.0) is not None]
    assert chosen == [0, EVERY, 2 * EVERY]


@pytest.mark.parametrize(
    ("arrived_ms", "painted_ms", "num_spans"),
    [(30.0, 35.0, 7), (10.0, 10.0, 7), (9.0, 35.0, 0), (30.0, 29.0, 0), (30.0, 1e6, 0)],
)
def test_a_page_that_says_what_cannot_be_makes_no_trace(memory, arrived_ms: float, painted_ms: float, num_spans: int) -> None:
    traces, exporter = memory
    press = TracedPress(10.0, now_us())
    told = {"arrived_ms": arrived_ms, "painted_ms": painted_ms, "game": 1, "task": "atari/breakout"}
    traces.finish(press, **told)
    assert exporter.get_finished_spans() == (), "no step has used it yet"
    press.stepped(Traced(5, press.received_us + 1, press.received_us + 2))
    traces.finish(press, **told)
    assert len(exporter.get_finished_spans()) == num_spans


@pytest.mark.parametrize(
    ("variables", "are_wanted"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"}, True),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, True),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, False),
        ({"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, False),
    ],
)
def test_the_standard_variables_turn_traces_on(variables, are_wanted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert tracing.are_wanted() == are_wanted


def test_a_missing_extra_is_told_with_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "otlp")
    monkeypatch.delenv("OTEL_SDK_DISABLED", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(TraceError, match=r"traces \(OTEL_\*\) need .*not installed\n.*\[trace\]"):
        tracing.press_traces.__wrapped__()
