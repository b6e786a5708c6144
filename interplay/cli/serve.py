"""`interplay serve`: the web server, live play, judging and the leaderboard in one process, its workers and its sealer."""

from __future__ import annotations

import contextlib
import fcntl
import gc
import json
import logging
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interplay.cli.common import DEFAULT_DATA, DatabaseOption, DataOption, open_archive, progress_bar, suites_with
from interplay.errors import InterplayError

if TYPE_CHECKING:
    from interplay.record import Archive
    from interplay.tasks import Task

RECOVERY_WAIT_S = 3.0
LOCK_FILE = "serve.lock"
DEFAULT_MAX_VIDEO_MB = 500
_ENROLMENT = re.compile(r"(enrolment(?:=|%3D))[^&\s]+", re.IGNORECASE)


class ServedAlreadyError(InterplayError):
    """A data folder another server holds."""


app = typer.Typer(help="Start the web server.  Try:  interplay serve --port 8000")


@app.callback(invoke_without_command=True)
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 lets other machines in.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes any free one.")] = 8000,
    workers: Annotated[int | None, typer.Option(min=1, help="Environment workers; default: one per core.")] = None,
    suite: Annotated[list[Path] | None, typer.Option("--suite", help="A task file to offer as well; may be repeated.")] = None,
    warm: Annotated[
        bool,
        typer.Option(
            "--warm-up/--no-warm-up", help="On first start, let the built-in agents play, so there are pairs to judge."
        ),
    ] = True,
    max_video_mb: Annotated[
        int, typer.Option("--max-video-mb", help="The largest video that may be uploaded, in units of 1,048,576 bytes.")
    ] = DEFAULT_MAX_VIDEO_MB,
    verbose: Annotated[bool, typer.Option("--verbose", help="Log every request.")] = False,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
) -> None:
    """Serve play, judging, replays and the leaderboard until Ctrl-C.

    Example:  interplay serve --port 8000 --data interplay-data
    """
    from interplay.play.sockets import listen

    if max_video_mb < 1:
        raise typer.BadParameter(
            f"--max-video-mb takes a whole number from 1 on, got {max_video_mb}; leave it out for {DEFAULT_MAX_VIDEO_MB}"
        )
    suites = suites_with(suite)
    listener = listen(host, port)  # first of all: a taken port must not cost the time of a warm-up
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO if verbose else logging.WARNING)
    archive = open_archive(data, database)
    with _only_server(archive.root, port=listener.getsockname()[1]):
        _recover(archive)
        quick, slow = _tasks_to_warm_up() if warm else ([], [])
        warm_up(archive, quick)
        with _warm_up_beside(archive, slow):
            _serve(
                archive,
                listener,
                suites=suites,
                num_workers=workers,
                host=host,
                max_video_bytes=max_video_mb * 2**20,
                verbose=verbose,
            )


@contextlib.contextmanager
def _only_server(root: Path, *, port: int) -> Iterator[None]:
    """Hold a data folder for one server: a second would take the first one's running games for abandoned ones.

    Raises:
        ServedAlreadyError: If a server holds it.
    """
    with (root / LOCK_FILE).open("a+") as file:
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


def _tasks_to_warm_up() -> tuple[list[Task], list[Task]]:
    """The built-in tasks that somebody wrote a player for: those played in a moment, and those that take minutes."""
    from interplay.agents.scripted import has_player
    from interplay.tasks import builtin_suites

    tasks = [task for suite in builtin_suites() for task in suite.tasks if has_player(task)]
    return [task for task in tasks if task.env.door != "voxel"], [task for task in tasks if task.env.door == "voxel"]


def warm_up(archive: Archive, tasks: Sequence[Task]) -> None:
    """On a new data folder, let the built-in agents play, so that the judge page has pairs from the beginning."""
    from interplay.agents.evaluate import first_rollouts, has_agents

    if all(has_agents(archive, task) for task in tasks):
        return
    print(
        "First start: the built-in agents play each game, about a minute (--no-warm-up skips it).", file=sys.stderr, flush=True
    )
    with progress_bar("First start: built-in agents play") as report:
        first_rollouts(archive, tasks, processes=len(os.sched_getaffinity(0)), report=report)


@contextlib.contextmanager
def _warm_up_beside(archive: Archive, tasks: Sequence[Task]) -> Iterator[None]:
    """While the server runs, let the built-in agents play tasks that take them minutes, in a process of low priority."""
    from interplay.agents.evaluate import has_agents

    new = [task.id for task in tasks if not has_agents(archive, task)]
    if not new:
        yield
        return
    print(
        "In the background the built-in agents play the block world, for some minutes; it can be judged after that.",
        file=sys.stderr,
    )
    command = [sys.executable, "-m", "interplay.agents.first", *new]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True, text=True
    ) as players:
        assert players.stdin is not None
        players.stdin.write(json.dumps({"data": str(archive.root), "database": archive.database.address}) + "\n")
        players.stdin.flush()
        try:
            yield
        finally:
            players.terminate()


def _recover(archive: Archive) -> None:
    """Seal what a server that died has left, and remove the parts of videos it was sent."""
    from interplay.record import RecordingError
    from interplay.record.journal import is_live, read_header, segments
    from interplay.store import sessions
    from interplay.web.agent_uploads import remove_unfinished

    # Workers of a server that was killed a moment ago are just writing their last steps.
    deadline = time.monotonic() + RECOVERY_WAIT_S
    while time.monotonic() < deadline and any(map(is_live, archive.journal_folder.glob("*.arrows"))):
        time.sleep(0.05)
    session_of = {}
    for name in archive.abandoned():
        with contextlib.suppress(RecordingError):  # what cannot be read is reported by `interplay episodes repair`
            for first in segments(archive.journal_folder, name)[:1]:
                session_of[name] = read_header(first).session_id
    recovered = archive.recover()
    episodes = {session_of[episode.id]: episode.id for episode in recovered if session_of.get(episode.id)}
    with archive.database.write() as database:
        sessions.interrupt_open_sessions(database, datetime.now(UTC), episodes=episodes)
    if recovered:
        steps = sum(episode.num_steps for episode in recovered)
        print(f"Recovered {len(recovered)} interrupted episodes ({steps} steps) of an earlier run.", file=sys.stderr)
    remove_unfinished(archive.root)


def hide_enrolments(record: logging.LogRecord) -> bool:
    """Take the tokens of people's part in a study out of addresses that are logged: whoever has one acts as them."""
    if isinstance(record.args, tuple):
        record.args = tuple(_ENROLMENT.sub(r"\1...", part) if isinstance(part, str) else part for part in record.args)
    return True


def _serve(
    archive: Archive, listener, *, suites, num_workers: int | None, host: str, max_video_bytes: int, verbose: bool
) -> None:
    """Run until a signal comes."""
    import asyncio

    import uvicorn
    import uvloop

    from interplay.play import PlayServer
    from interplay.play.sockets import PlaySocketProtocol
    from interplay.play.tokens import operator_token, server_secret
    from interplay.web.app import create_app

    secret = server_secret(archive.root)
    operator_token(archive.root)
    play = PlayServer(archive, secret=secret, num_workers=num_workers, suites=suites)
    application = create_app(archive, play=play, suites=suites, secret=secret, max_video_bytes=max_video_bytes)
    port = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host

    class Server(uvicorn.Server):
        """Stops play before it closes the sockets, so that players read how their episode ended."""

        async def startup(self, sockets=None) -> None:
            await super().startup(sockets)
            if not self.should_exit:
                print(f"Interplay is at http://{shown}:{port}  (data: {archive.root}; stop with Ctrl-C)", flush=True)

        async def shutdown(self, sockets=None) -> None:
            for server in self.servers:
                server.close()
            print("Stopping: closing what is being played ...", file=sys.stderr, flush=True)
            await play.stop()
            await super().shutdown(sockets)

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
        ws=PlaySocketProtocol,
        ws_per_message_deflate=False,
        ws_ping_interval=20.0,
        ws_ping_timeout=20.0,
        access_log=verbose,
        log_level="info" if verbose else "warning",
        timeout_graceful_shutdown=5,
        server_header=False,
    )
    for name in ("uvicorn.access", "uvicorn.error"):  # the latter logs the addresses of sockets
        logging.getLogger(name).addFilter(hide_enrolments)
    # A page that is still loading when the server stops is no error of ours.
    logging.getLogger("uvicorn.error").addFilter(
        lambda record: not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))
    )
    application.state.judging.warm_up()
    sys.setswitchinterval(0.001)  # pages are made in threads beside the sockets
    gc.collect()
    gc.freeze()  # what is loaded now stays: a collection that looked at all of it would hold frames up
    gc.set_threshold(10_000)  # not after every 700 objects: one request makes more of them, and few of those in circles
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(Server(config).serve(sockets=[listener]))
    archive.close()
