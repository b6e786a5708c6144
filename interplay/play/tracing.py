"""One key press in 1,000 as a trace of OpenTelemetry, from the player's page to the frame that the page has painted.

The standard variables `OTEL_*` turn traces on and say where they go. Without them nothing is measured. Page and server have
different clocks: the page says how long its parts took, and the time that is left belongs to the network, half of it each way.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from time import time_ns
from typing import TYPE_CHECKING

from interplay.errors import InterplayError, not_installed
from interplay.logs import NODE_VARIABLE
from interplay.play.workers.channel import Traced
from interplay.play.workers.clock import now_us

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

EVERY = 1000
LONGEST_MS = 60_000.0
"""No trace is made of a press that took longer than this."""
SPANS = ("browser to server", "wait for step", "step", "frame", "server to browser", "paint")


class TraceError(InterplayError):
    """Traces are asked for and cannot be made."""


@dataclass
class TracedPress:
    """A key press on its way. Times of the server are microseconds of the monotonic clock, which all its processes share.

    Attributes:
        client_ms: Time of the press on the page's clock.
        step: The worker's report about the step that used the press; None before it.
        sent_us: When the frame of that step was sent.
    """

    client_ms: float
    received_us: int
    step: Traced | None = None
    sent_us: int = 0

    def stepped(self, step: Traced) -> None:
        self.step, self.sent_us = step, now_us()


class PressTraces:
    """Chooses the presses, and makes their traces."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._num_presses = 0

    def begin(self, client_ms: float) -> TracedPress | None:
        """Count a press; return it if it is to be traced: the first one, and then one in `EVERY`."""
        self._num_presses += 1
        return TracedPress(client_ms, now_us()) if self._num_presses % EVERY == 1 else None

    def finish(self, press: TracedPress, *, arrived_ms: float, painted_ms: float, game: int, task: str) -> None:
        """Make the trace of a press whose frame the page has painted. `arrived_ms`, `painted_ms`: the page's clock."""
        step, total_ms = press.step, painted_ms - press.client_ms
        if step is None or not press.client_ms <= arrived_ms <= painted_ms or total_ms > LONGEST_MS:
            return
        in_server_us = press.sent_us - press.received_us
        network_us = max(0.0, (arrived_ms - press.client_ms) * 1000 - in_server_us) / 2
        arrived_us = press.sent_us + network_us
        times_us = (
            press.received_us - network_us, press.received_us, step.begun_us, step.made_us, press.sent_us, arrived_us,
            arrived_us + (painted_ms - arrived_ms) * 1000,
        )  # fmt: skip
        since_1970_us = time_ns() / 1000 - now_us()
        times_ns = [round((time_us + since_1970_us) * 1000) for time_us in times_us]
        facts = {"interplay.game": game, "interplay.task": task, "interplay.step": step.step}
        with self._tracer.start_as_current_span(
            "key press", start_time=times_ns[0], attributes=facts, end_on_exit=False
        ) as whole:
            for name, (begin, end) in zip(SPANS, pairwise(times_ns), strict=True):
                self._tracer.start_span(name, start_time=begin).end(end)
            whole.end(times_ns[-1])


def are_wanted() -> bool:
    """Whether the environment asks for traces."""
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    exporter = os.environ.get("OTEL_TRACES_EXPORTER")
    places = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
    return exporter == "otlp" if exporter else any(os.environ.get(place) for place in places)


@cache
def press_traces() -> PressTraces | None:
    """Return what traces presses in this process, or None if the environment asks for no traces. Raises `TraceError` if
    OpenTelemetry is not installed."""
    if not are_wanted():
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError as error:
        raise TraceError(not_installed("traces (OTEL_*) need", error.name, "trace")) from None
    ours = {"service.name": "interplay", "service.instance.id": os.environ.get(NODE_VARIABLE, "")}
    provider = TracerProvider(resource=Resource.create(ours).merge(OTELResourceDetector().detect()))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return PressTraces(provider.get_tracer("interplay"))
