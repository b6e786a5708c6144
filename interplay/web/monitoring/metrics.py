"""The numbers of a running server for Prometheus, on a port of their own. They are read when somebody asks for them.

No label names a person, an address or a session: a label is a state, a kind of work, a worker or a level of the log.
"""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry, Metric, ProcessCollector, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, InfoMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import QueuePool

from interplay import __version__
from interplay.errors import InterplayError
from interplay.play.games.interfaces import State
from interplay.play.limits import MAX_SEATS
from interplay.play.server import PlayServer
from interplay.play.workers.clock import Lateness
from interplay.web.monitoring.readiness import num_seats
from interplay.web.services import Services

BUCKETS_0_1MS = (10, 20, 40, 80, 160, 330, 660, Lateness.BINS)
"""Upper ends of the buckets of lateness, in tenths of a millisecond: a frame at 60 Hz takes 16.7 ms."""
_LEVELS = ("WARNING", "ERROR", "CRITICAL")
_WORK = (
    ("interplay_steps", "Steps of games.", "num_steps"),
    ("interplay_frames", "Frames for players.", "num_frames"),
    ("interplay_worker_cpu_seconds", "Processor time of workers.", "cpu_s"),
)
"""Metric, its description, and the field of `Totals` that it shows."""


class MetricsError(InterplayError):
    """An address at which the metrics cannot be served."""


def serve_metrics(host: str, port: int) -> tuple[CollectorRegistry, int]:
    """Begin to answer `GET /metrics` in threads; return the registry of what is shown, and the port.

    Args:
        port: The port; 0 for any free one.
    Raises:
        MetricsError: If the port is in use, or the address is not this machine's.
    """
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    try:
        server, _ = start_http_server(port, host, registry)
    except OSError as error:
        raise MetricsError(
            f"cannot serve metrics at {host}:{port}: {os.strerror(error.errno or 0)}\n"
            "Choose another port, or an address of this machine:  interplay serve --metrics 9464"
        ) from None
    return registry, server.server_port


class _RecordCounter(logging.Handler):
    """Counts the warnings and errors that are logged, by level."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.counts: Counter[str] = Counter(dict.fromkeys(_LEVELS, 0))
        logging.getLogger().addHandler(self)
        if not (uvicorn := logging.getLogger("uvicorn")).propagate:
            uvicorn.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self.counts[record.levelname] += 1


class ServerCollector(Collector):
    """Reads the numbers of one server from its services, and counts what is logged from now on."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._records = _RecordCounter()

    def collect(self) -> Iterator[Metric]:
        here = self._services
        queues = {"films": here.films, "milestones": here.milestones, "proofs": here.proofs}
        waiting: dict[str, float] = {kind: queue.num_waiting for kind, queue in queues.items()}
        server = {"version": __version__}
        if here.play is not None:
            server["node"] = here.play.node
            statistics = here.play.statistics()
            waiting |= {"seals": statistics["sealer"]["waiting"], "recoveries": here.play.num_recovering}
            yield from _games(here.play, statistics["seats"])
            yield from _workers(here.play)
        yield InfoMetricFamily("interplay_server", "Version and name of this server.", server)
        yield _gauges("interplay_work_waiting", "Background work that waits or is being done.", "kind", waiting)
        yield from _database(here)
        yield _counters("interplay_log_records", "Records in the log of the web process.", "level", self._records.counts)


def _gauges(name: str, words: str, label: str, values: Mapping[str, float]) -> Metric:
    found = GaugeMetricFamily(name, words, labels=[label])
    for value, number in values.items():
        found.add_metric([value], number)
    return found


def _counters(name: str, words: str, label: str, values: Mapping[str, float]) -> Metric:
    found = CounterMetricFamily(name, words, labels=[label])
    for value, number in values.items():
        found.add_metric([value], number)
    return found


def _games(play: PlayServer, seats: Mapping[str, int]) -> Iterator[Metric]:
    none = dict.fromkeys((state.value for state in State), 0)
    games = Counter(game.state.value for game in play.games)
    yield _gauges("interplay_players", "Players who have a seat, by the state of their game.", "state", none | dict(seats))
    yield _gauges("interplay_games", "Games in which a player has a seat, by state.", "state", none | games)
    yield GaugeMetricFamily("interplay_seats", "Seats that count against the limit.", num_seats(seats))
    yield GaugeMetricFamily("interplay_seats_limit", "Largest number of seats of this server.", MAX_SEATS)
    yield GaugeMetricFamily("interplay_slow_worlds", "Processes that hold one slow world each.", play.pool.num_alone)
    yield GaugeMetricFamily("interplay_slow_worlds_limit", "Largest number of slow worlds.", play.limits.max_worlds)


def _workers(play: PlayServer) -> Iterator[Metric]:
    by_worker = {"alone" if place is None else str(place): totals for place, totals in play.pool.totals.items()}
    yield CounterMetricFamily("interplay_worker_deaths", "Workers that died or were killed.", play.pool.num_deaths)
    for name, words, field in _WORK:
        yield _counters(name, words, "worker", {worker: getattr(totals, field) for worker, totals in by_worker.items()})
    late = HistogramMetricFamily("interplay_step_lateness_seconds", "How late steps of games begin.", labels=["worker"])
    for worker, totals in by_worker.items():
        late.add_metric([worker], *_histogram(totals.late_0_1ms))
    yield late


def _histogram(late_0_1ms: Mapping[int, int]) -> tuple[list[tuple[str, float]], float]:
    """Return the buckets of a histogram in seconds, and the sum of all delays as far as bins tell it.

    >>> _histogram({3: 5, 15: 2, 1000: 1})[0][:2]
    [('0.001', 5.0), ('0.002', 7.0)]
    """
    buckets = [
        (str(end / 10_000), float(sum(count for bin, count in late_0_1ms.items() if bin < end))) for end in BUCKETS_0_1MS
    ]
    total = sum(late_0_1ms.values())
    return [*buckets, ("+Inf", float(total))], sum((bin + 0.5) * count for bin, count in late_0_1ms.items()) / 10_000


def _database(here: Services) -> Iterator[Metric]:
    is_up = GaugeMetricFamily("interplay_database_up", "Whether the database answers.")
    try:
        num_answers = here.judging.num_logged()
    except SQLAlchemyError:  # away, or every connection is in use
        is_up.add_metric([], 0)
    else:
        is_up.add_metric([], 1)
        yield CounterMetricFamily("interplay_answers", "Answers of judges to all servers of the database.", num_answers)
    yield is_up
    if isinstance(connections := here.archive.database.engine.pool, QueuePool):
        in_use = connections.checkedout()
        yield GaugeMetricFamily("interplay_database_connections", "Connections to the database that are in use.", in_use)
