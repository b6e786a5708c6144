"""A collector of OpenTelemetry traces, in this process."""

import contextlib
import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector:
    """What has been sent to it. `environment` makes a server send its traces here."""

    def __init__(self, port: int) -> None:
        self.environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}", "OTEL_BSP_SCHEDULE_DELAY": "50"}
        self.requests: list[ExportTraceServiceRequest] = []
        self.changed = threading.Condition()

    @property
    def spans(self) -> list[Any]:
        resources = [resource for request in list(self.requests) for resource in request.resource_spans]
        return [span for resource in resources for scope in resource.scope_spans for span in scope.spans]

    def wait(self, num_spans: int) -> list[Any]:
        """Wait for so many spans; return all of them in the order of their beginning."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.spans) >= num_spans, 60), f"{len(self.spans)} spans came"
        return sorted(self.spans, key=lambda span: (span.start_time_unix_nano, bool(span.parent_span_id)))


@contextlib.contextmanager
def collecting() -> Iterator[Collector]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            body = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
            with collector.changed:
                collector.requests.append(ExportTraceServiceRequest.FromString(body))
                collector.changed.notify_all()
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        collector = Collector(server.server_port)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield collector
        server.shutdown()
