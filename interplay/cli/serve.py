"""`interplay serve`: web server, live play, judging and leaderboard in one process.
Further processes step worlds, seal episodes, make films and draw replays."""

from __future__ import annotations

import contextlib
import fcntl
import gc
import logging
import os
import re
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from interplay import logs
from interplay.cli.options import (
    DEFAULT_DATA,
    SERVER_FILE,
    BlobsOption,
    DatabaseOption,
    DataOption,
    keep_lands,
    open_archive,
    suites_with,
)
from interplay.errors import InterplayError
from interplay.logs import FORMAT_VARIABLE, NODE_VARIABLE

if TYPE_CHECKING:
    from fastapi import FastAPI
    from prometheus_client import CollectorRegistry

    from interplay.judge import Rules
    from interplay.play.server import PlayServer
    from interplay.record import Archive
    from interplay.statistics import StatisticSpec
    from interplay.store import Database
    from interplay.tasks import Suite
    from interplay.web.http.security import Hosts

log = logging.getLogger("interplay.cli")
DEFAULT_MAX_VIDEO_MB = 500
_SECRET = re.compile(r"((?:enrolment|key)(?:=|%3D))[^&\s]+", re.IGNORECASE)


class ServedAlreadyError(InterplayError):
    """Another server already uses this data folder."""


app = typer.Typer(add_completion=False)

_MaxWorlds = Annotated[
    int | None,
    typer.Option(
        "--max-worlds",
        min=1,
        help="Most block worlds that run at the same time; each is a process. Default: two for each core, if they fit "
        "into half of the memory.",
    ),
]
_MaxDrawnGames = Annotated[
    int | None,
    typer.Option(
        "--max-drawn-games",
        min=1,
        help="Most block worlds that players' browsers draw at the same time. Default: twelve for each core.",
    ),
]
_HeldOutShare = Annotated[
    float | None,
    typer.Option(
        "--held-out-share",
        min=0.0,
        max=1.0,
        help="Share of people's games on held-out seeds, for every task; these may be compared if the player agrees. "
        "Default: what each task says, or 0.25.",
    ),
]
_Partners = Annotated[
    list[str] | None,
    typer.Option(
        "--partner",
        metavar="TASK=AGENT",
        help="The agent that plays in TASK for a person who has left, and where no second person comes; 'none' for no agent. "
        "May be repeated, for other tasks. Default: the scripted player of the task, if there is one.",
    ),
]
_PartnerAfter = Annotated[
    float | None,
    typer.Option(
        "--partner-after",
        min=0.0,
        metavar="SECONDS",
        help="How long a player waits for other people before they may choose to play with an agent; default: 60.",
    ),
]
_Statistics = Annotated[
    list[str] | None,
    typer.Option("--statistic", help="A statistic to compute in every game: a name, or module:factory; may be repeated."),
]
_AllowedHosts = Annotated[
    list[str] | None,
    typer.Option("--allow-host", help="Another host name of this server, for example behind a proxy; may be repeated."),
]
_OpenRoom = Annotated[
    Path | None,
    typer.Option("--open-room", help="A TOML file; its table [judging] sets the rules of the open room at /judge."),
]


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 lets other machines in.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes any free one.")] = 8000,
    workers: Annotated[int | None, typer.Option(min=1, help="Environment workers; default: one per core.")] = None,
    suite: Annotated[list[Path] | None, typer.Option("--suite", help="A task file to offer as well; may be repeated.")] = None,
    empty: Annotated[
        bool, typer.Option("--empty", help="Add no episodes of the built-in agents to a new data folder, and show no examples.")
    ] = False,
    max_video_mb: Annotated[
        int, typer.Option("--max-video-mb", help="The largest video that may be uploaded, in units of 1,048,576 bytes.")
    ] = DEFAULT_MAX_VIDEO_MB,
    allow_host: _AllowedHosts = None,
    max_worlds: _MaxWorlds = None,
    max_drawn_games: _MaxDrawnGames = None,
    max_seats: Annotated[
        int | None,
        typer.Option("--max-seats", min=1, help="Most games that one address may have open at the same time; default: 64."),
    ] = None,
    held_out_share: _HeldOutShare = None,
    statistic: _Statistics = None,
    partner: _Partners = None,
    partner_after: _PartnerAfter = None,
    open_room: _OpenRoom = None,
    node: Annotated[
        str | None,
        typer.Option(
            "--node",
            envvar=NODE_VARIABLE,
            help="Name of this server among the servers of its database, the same at each start; letters, digits and hyphens. "
            "Servers with a name, one PostgreSQL database and the same secret.key in --data continue each other's games. "
            "Default: made from secret.key.",
        ),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            "--metrics",
            metavar="[HOST:]PORT",
            help="Show numbers for Prometheus at /metrics of this port, on 127.0.0.1 if no host is given. Default: no port.",
        ),
    ] = None,
    log_format: Annotated[
        Literal["text", "json"],
        typer.Option("--log-format", envvar=FORMAT_VARIABLE, help="Lines for people, or one JSON object for each record."),
    ] = "text",
    verbose: Annotated[bool, typer.Option("--verbose", help="Log every request.")] = False,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    blobs: BlobsOption = None,
) -> None:
    """Serve play, judging, replays and the leaderboard until Ctrl-C.

    Try:  interplay serve --port 8000 --data interplay-data
    """
    from interplay.play.workers import starting

    starting.get_ready()  # first of all: later a fork would hold open files, a port and threads

    from interplay.play.connections.sockets import listen
    from interplay.play.connections.tokens import NODE_NAME, node_of, operator_token, server_secret
    from interplay.web.http.security import Hosts

    try:
        hosts = Hosts.of(host, allow_host or ())
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    if max_video_mb < 1:
        raise typer.BadParameter(
            f"--max-video-mb takes a whole number from 1 on, got {max_video_mb}; leave it out for {DEFAULT_MAX_VIDEO_MB}"
        )
    suites = suites_with(suite)
    statistics = _statistics(statistic or (), suites)
    partners = _partners(partner or [])
    rules = None if open_room is None else _open_room(open_room)
    if node is not None and not NODE_NAME.fullmatch(node):
        raise typer.BadParameter(f"--node takes letters, digits and hyphens, at most 60, got {node!r}")
    metrics_place = None if metrics is None else _place_of(metrics)
    registry = None if metrics_place is None else _serve_metrics(*metrics_place)
    listener = listen(host, port)  # before the data folder and slow imports: a taken port must be told at once
    from interplay.play.games.for_study import PARTNER_AFTER_S
    from interplay.play.limits import MAX_SEATS_OF_ADDRESS
    from interplay.play.server import PlayServer
    from interplay.play.tracing import press_traces
    from interplay.starter import EXAMPLES
    from interplay.web.agents.uploads import remove_unfinished
    from interplay.web.app import create_app

    os.environ[FORMAT_VARIABLE] = log_format  # also for the processes that this one starts
    level = logging.INFO if verbose else logging.WARNING
    logs.configure("%(asctime)s %(levelname)s %(message)s", level=level, process="server")
    archive = open_archive(data, database, blobs=blobs)
    archive.blobs.check()
    archive.find_videos()
    archive.blobs.fetch("models", ".json")
    keep_lands(data)
    archive.statistics = statistics
    with contextlib.ExitStack() as held:
        held.enter_context(_only_server(archive.root, port=listener.getsockname()[1]))
        remove_unfinished(archive.root)
        if empty:
            (archive.root / EXAMPLES).unlink(missing_ok=True)
        else:
            _enter_starter_set(archive, suites)
        secret = server_secret(archive.root)
        operator_token(archive.root)
        os.environ[NODE_VARIABLE] = name = node or node_of(secret)
        held.enter_context(_only_node(archive.database, name))
        press_traces()  # an extra that is missing must be told now
        play = PlayServer(
            archive,
            secret=secret,
            node=node,
            num_workers=workers,
            suites=suites,
            max_worlds=max_worlds,
            max_drawn_games=max_drawn_games,
            max_seats_of_address=max_seats or MAX_SEATS_OF_ADDRESS,
            held_out_share=held_out_share,
            partners=partners,
            partner_after_s=PARTNER_AFTER_S if partner_after is None else partner_after,
        )
        application = create_app(
            archive, play=play, suites=suites, secret=secret, max_video_bytes=max_video_mb * 2**20, hosts=hosts, open_room=rules
        )
        _run(application, play, listener, host=host, hosts=hosts, verbose=verbose, registry=registry)
        archive.close()


def _statistics(names: Sequence[str], suites: Sequence[Suite]) -> tuple[StatisticSpec, ...]:
    """Return the statistics to compute in every game.
    Raise an error now for any that cannot be used, here or in a task: during a game it would be left out silently."""
    from interplay.statistics import StatisticSpec

    specs = tuple(map(StatisticSpec, names))
    for spec in (*specs, *(spec for suite in suites for task in suite.tasks for spec in task.statistics)):
        spec.build()
    return specs


def _partners(given: list[str]) -> dict[str, str]:
    found = {}
    for text in given:
        task, equals, agent = text.partition("=")
        if not (task and equals and agent):
            raise typer.BadParameter(
                f"--partner takes TASK=AGENT, got {text!r}; for example --partner together/cooperative_pong=random"
            )
        found[task] = agent
    return found


def _open_room(file: Path) -> Rules:
    """Return the rules of the open room: the built-in ones, changed by the table [judging] of a file."""
    from interplay.judge.rules import OPEN_ROOM, Rules, RulesError
    from interplay.tables import parse_toml, read_text

    text = read_text(file, RulesError, hint="Write one with a table [judging], see docs/judging.md.")
    document = parse_toml(text, str(file), RulesError)
    if set(document) != {"judging"}:
        raise RulesError(f"{file} must hold one table, [judging]; got {', '.join(map(repr, document)) or 'nothing'}")
    return Rules.from_mapping(document["judging"], f"{file}: [judging]", base=OPEN_ROOM)


def _place_of(metrics: str) -> tuple[str, int]:
    host, _, port = metrics.rpartition(":")
    if not (port.isascii() and port.isdigit() and int(port) < 2**16):
        raise typer.BadParameter(f"--metrics takes PORT or HOST:PORT, got {metrics!r}; for example --metrics 9464")
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port)


def _serve_metrics(host: str, port: int) -> CollectorRegistry:
    from interplay.web.monitoring.metrics import serve_metrics

    registry, port = serve_metrics(host, port)
    print(f"Metrics are at port {port} of {host}: /metrics", file=sys.stderr, flush=True)
    return registry


@contextlib.contextmanager
def _only_server(root: Path, *, port: int) -> Iterator[None]:
    """Reserve a data folder for one server: a second server would treat the running games of the first as abandoned."""
    with (root / SERVER_FILE).open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip() or "another process"
            raise ServedAlreadyError(
                f"{root} is being served already, by {holder}\n"
                "Stop that server first, or serve another folder:  interplay serve --data OTHER"
            ) from None
        file.truncate(0)
        file.write(f"process {os.getpid()} on port {port}\n")
        file.flush()
        yield


@contextlib.contextmanager
def _only_node(database: Database, node: str) -> Iterator[None]:
    """Reserve the name of a server in its database, as `_only_server` does for a data folder that is perhaps a copy."""
    with database.holding(f"server {node}") as is_free:
        if not is_free:
            raise ServedAlreadyError(
                f"another server with the name {node} uses this database, perhaps with a copy of this data folder\n"
                "Stop that server first, serve an empty folder with --data, or name this server as one of a cluster: --node"
            )
        yield


def _enter_starter_set(archive: Archive, suites: Sequence[Suite]) -> None:
    """Fill the empty parts of a data folder, so that people can watch and judge something at once."""
    from interplay import starter

    try:
        num_episodes = starter.enter(archive, suites)
    except OSError as error:
        log.warning("the starter set was not entered: %s. The next start tries again.", error)
        return
    if num_episodes:
        print(f"Added {num_episodes} short episodes of the built-in agents, to watch and to compare.", file=sys.stderr)


def hide_secrets(record: logging.LogRecord) -> bool:
    """Remove secrets from addresses in the log: anybody who has an enrolment can act as that participant, and anybody who has a
    key as that teacher."""
    if isinstance(record.args, tuple):
        record.args = tuple(_SECRET.sub(r"\1...", part) if isinstance(part, str) else part for part in record.args)
    return True


def _say_who_gets_in(port: int, hosts: Hosts, token: Path) -> None:
    """Print what it means that other machines can reach the server, and what to do."""
    shown = ", ".join(sorted(hosts.names)) + (", and every IP address of this machine" if hosts.any_address else "")
    print(
        f"""
*** THIS SERVER IS OPEN TO OTHER MACHINES ***
Anybody who reaches port {port} of this machine may play, judge and take part in studies.
Nothing is encrypted (no https): others on the network can read and change it. For people outside your own network put a proxy
with a certificate before it, let this server listen on 127.0.0.1 alone, and name the proxy:  --host 127.0.0.1 --allow-host NAME
Anybody who has the token in {token} is the operator and may do everything: keep that file to yourself.
It answers to these names only: {shown}. More of them: --allow-host NAME
""",
        file=sys.stderr,
        flush=True,
    )


def _run(
    application: FastAPI,
    play: PlayServer,
    listener: socket.socket,
    *,
    host: str,
    hosts: Hosts,
    verbose: bool,
    registry: CollectorRegistry | None,
) -> None:
    import asyncio

    import uvicorn
    import uvloop
    from uvicorn.config import LOGGING_CONFIG

    from interplay.play.connections.admission import GuardedHttpProtocol
    from interplay.play.connections.sockets import PlaySocketProtocol
    from interplay.play.connections.tokens import OPERATOR_FILE
    from interplay.web.http.security import is_loopback

    root = play.archive.root
    port = listener.getsockname()[1]
    address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    class Server(uvicorn.Server):
        """A server that stops play before it closes the sockets, so that players read how their episode ended.
        `keeps_games`: whether their episodes continue after the next start instead of ending now."""

        keeps_games = False

        async def startup(self, sockets=None) -> None:
            await super().startup(sockets)
            if not self.should_exit:
                threading.Thread(target=application.state.services.judging.warm_up, name="ratings", daemon=True).start()
                print(f"Interplay is at {address}  (data: {root}; stop with Ctrl-C)", flush=True)
                if not is_loopback(host):
                    _say_who_gets_in(port, hosts, root / OPERATOR_FILE)

        async def shutdown(self, sockets=None) -> None:
            for server in self.servers:
                server.close()
            what = "the games in progress wait for the next start" if self.keeps_games else "ending the games in progress"
            print(f"Stopping: {what} ...", file=sys.stderr, flush=True)
            await play.stop(keeps_games=self.keeps_games)
            await super().shutdown(sockets)

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            if not self.should_exit:
                self.keeps_games = sig == signal.SIGTERM  # a deployment stops a server that way, and then starts it again
            super().handle_exit(sig, frame)

        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
            try:
                yield
            finally:
                for number, handler in before.items():
                    signal.signal(number, handler)

    config = uvicorn.Config(
        application,
        http=GuardedHttpProtocol,
        ws=PlaySocketProtocol,
        ws_per_message_deflate=False,
        ws_ping_interval=20.0,
        ws_ping_timeout=20.0,
        access_log=verbose,
        log_level="info" if verbose else "warning",
        log_config=None if logs.is_json() else LOGGING_CONFIG,
        timeout_graceful_shutdown=5,
        server_header=False,
    )
    for name in ("uvicorn.access", "uvicorn.error"):  # the latter logs the addresses of sockets
        logging.getLogger(name).addFilter(hide_secrets)
    # A page that is still loading when the server stops is no error of ours.
    logging.getLogger("uvicorn.error").addFilter(
        lambda record: not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))
    )
    if registry is not None:
        from interplay.web.monitoring.metrics import ServerCollector

        registry.register(ServerCollector(application.state.services))
    sys.setswitchinterval(0.001)  # pages are made in threads beside the sockets
    gc.collect()
    gc.freeze()  # what is loaded is not searched for garbage again: that would hold up every game for a tenth of a second
    gc.set_threshold(10_000)  # not after every 700 objects: one request makes more of them, and few of those in circles
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(Server(config).serve(sockets=[listener]))
