"""Whether games outlive their server: several servers on one PostgreSQL database, Caddy before them, and players who follow.

    python -m bench.cluster failover --nodes 2 --players 20 --kills 20 --json
    python -m bench.cluster failover --nodes 2 --players 20 --kills 20 --lose-disk --json
    python -m bench.cluster rollout --players 20 --json
    python -m bench.cluster partition --players 6 --json
    python -m bench.cluster lobby --pairs 100 --json

Players play Breakout without a launch, so that no game ends early; they decode every frame. A player whose socket closes, or
who hears nothing, asks the proxy where the game is, and resumes there, as the page does.

failover: one server after another is killed with all of its processes, and started again. With `--lose-disk` its journals are
    lost too. Pause: from a player's last frame to the next frame.
rollout: each server in turn gets SIGTERM and is started again.
partition: the database of one server is cut off for 30 seconds, then another server stands still for 30 seconds (SIGSTOP).
lobby: the two players of each pair ask different servers for a seat in a game of two.

Exit status 1 unless the bars are met: every game continues, nobody hears that a game is over, at most a second of play is lost
(none in a rollout), every episode is in the catalogue once, and replays as it was recorded.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from websockets.exceptions import WebSocketException

import interplay.record
from bench.cluster_servers import Cluster, Wire
from bench.judging_data import empty_database
from interplay.play.client import PlayClient, PlayClientError, request_session, seat_path
from interplay.play.nodes.membership import BEAT_S
from interplay.record import Episode, verify
from interplay.store import Database, PlaySession, games

TASK, PAIR_TASK = "atari/breakout", "together/cooperative_pong"
RATE_HZ = 60
SILENT_S = 2.0
MAX_LOST_S = 1.0
MAX_PAUSE_BEATS = 8
"""Of the median pause, in heartbeats of a server."""
GAP_S = 1.0
"""A player who gets no frame for longer than this has noticed something."""


@dataclass
class Player:
    """One player who follows the game from server to server.

    Attributes:
        pauses: (seconds without a frame, steps that were played again) for each time it went on.
        heard: Every close code and error.
        wrong: Close codes and errors that say that the game is over.
    """

    cluster: Cluster
    number: int
    pauses: list[tuple[float, int]] = field(default_factory=list)
    heard: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    client: PlayClient | None = None
    step: int = -1
    seen_at: float = 0.0

    @property
    def node(self) -> str:
        """The server that it plays on."""
        assert self.client is not None
        return self.client.grant["socket"].split("/")[2]

    async def play(self, stops: asyncio.Event) -> None:
        """Play until asked to stop; then quit and wait for the end."""
        wanted = {"operator": self.cluster.operator, "actor": f"player-{self.number}", "countdown_s": 0}
        self.client = await PlayClient.open(self.cluster.address, TASK, **wanted)
        await self.client.start()
        asked = False
        while self.client.ended is None:
            if stops.is_set() and not asked:
                await self.client.quit()
                asked = True
            try:
                message = await asyncio.wait_for(self.client.receive(), SILENT_S)
            except TimeoutError:
                if await self._path() != self.client.grant["socket"]:
                    asked = False
                    await self._follow()
            except PlayClientError as error:
                self.heard[str(error.code)] += 1
                if isinstance(error.code, str) or error.code in (1000, 4401, 4408):
                    self.wrong.append(f"{error.code}: {error}")
                    return
                asked = False
                await self._follow()
            else:
                if self.client.step >= 0 and not isinstance(message, dict):
                    self._note()

    def _note(self) -> None:
        assert self.client is not None
        now = time.monotonic()
        if self.seen_at and (now - self.seen_at > GAP_S or self.client.step < self.step):
            self.pauses.append((now - self.seen_at, max(0, self.step - self.client.step)))
        self.step, self.seen_at = self.client.step, now

    async def _path(self) -> str | None:
        assert self.client is not None
        with contextlib.suppress(PlayClientError, TimeoutError):
            asked = asyncio.to_thread(seat_path, self.cluster.address, self.client.grant["token"])
            return await asyncio.wait_for(asked, SILENT_S)
        return None

    async def _follow(self) -> None:
        """Go on where the game is now."""
        assert self.client is not None
        while True:
            path = await self._path()
            if path is not None:
                self.client.grant["socket"] = path
                try:
                    await asyncio.wait_for(self.client.connect(), 10)
                    await self.client.resume()
                    return
                except (OSError, TimeoutError, WebSocketException) as error:
                    self.heard[type(error).__name__] += 1
                except PlayClientError as error:
                    self.heard[str(error.code)] += 1
                    if isinstance(error.code, str):
                        self.wrong.append(f"{error.code}: {error}")
                        return
            await asyncio.sleep(0.25)


async def until(holds: Callable[[], bool], what: str, timeout_s: float = 90.0) -> None:
    """Wait until something holds; SystemExit if it takes too long."""
    deadline = time.monotonic() + timeout_s
    while not holds():
        if time.monotonic() > deadline:
            raise SystemExit(f"waited {timeout_s:g} s in vain: {what}")
        await asyncio.sleep(0.05)


async def with_players(cluster: Cluster, num: int, disturb: Callable[[list[Player]], Awaitable[None]]) -> list[Player]:
    """Let players play while something happens to the servers; return the players, whose games have ended."""
    players = [Player(cluster, number) for number in range(num)]
    stops = asyncio.Event()
    playing = [asyncio.create_task(player.play(stops)) for player in players]

    def fail_early() -> bool:
        for task in playing:
            if task.done() and task.exception() is not None:
                task.result()
        return all(player.step > RATE_HZ for player in players)

    await until(fail_early, "all players play")
    await disturb(players)
    stops.set()
    await asyncio.gather(*playing)
    return players


async def all_go_on(players: list[Player]) -> None:
    """Wait until every player has got two seconds of new frames."""
    since = time.monotonic()
    steps = {player.number: player.step for player in players}

    def plays(player: Player) -> bool:
        return bool(player.wrong) or (player.seen_at > since + 1.0 and player.step > steps[player.number] + RATE_HZ)

    def held_up() -> bool:
        for player in players:
            steps[player.number] = min(steps[player.number], player.step)
        return all(map(plays, players))

    await until(held_up, "all players go on")
    await asyncio.sleep(1.0)


def summary(cluster: Cluster, database: str, players: list[Player]) -> dict[str, Any]:
    """What the players noticed, and what was recorded."""
    pauses = [one for player in players for one in player.pauses]
    lengths = sorted(length for length, _ in pauses)
    folders = [cluster.folder / name for name in cluster.names] + [cluster.folder / "kept"]
    store = Database.open(database)
    with store.read() as session:
        recorded = [row.episode_id for row in session.query(PlaySession)]
        left = games.holders(session, [row.game for row in session.query(PlaySession) if row.game])
    store.close()
    archive = interplay.record.open(folders[0], database=database)
    episodes = archive.episodes()
    archive.close()
    equal, wrong, files = 0, [], Counter()
    for episode in episodes:
        paths = [folder / episode.path.relative_to(folders[0]) for folder in folders]
        there = [path for path in paths if path.exists()]
        files[len(there)] += 1
        if there and verify(Episode.open(there[0])).equal:
            equal += 1
        else:
            wrong.append(episode.id)
    return {
        "players": len(players),
        "went_on": sum(not player.wrong for player in players),
        "heard_over": [one for player in players for one in player.wrong],
        "heard": dict(sum((player.heard for player in players), Counter())),
        "pauses": len(pauses),
        "pause_s": {"p50": _at(lengths, 0.5), "p99": _at(lengths, 0.99), "max": _at(lengths, 1.0)},
        "pause_beats_p50": None if not lengths else round(_at(lengths, 0.5) / BEAT_S, 2),
        "lost_s_max": round(max((steps for _, steps in pauses), default=0) / RATE_HZ, 3),
        "episodes": len(episodes),
        "duplicates": len(recorded) - len(set(recorded)) + sum(num for many, num in files.items() if many > 1),
        "verified": equal,
        "not_verified": wrong,
        "games_left": len(left),
    }


def _at(values: list[float], quantile: float) -> float:
    return round(float(np.quantile(values, quantile)), 3) if values else 0.0


def _is_right(found: dict[str, Any], *, max_lost_s: float) -> bool:
    return (
        found["went_on"] == found["players"] == found["episodes"] == found["verified"]
        and found["duplicates"] == found["games_left"] == 0
        and found["lost_s_max"] <= max_lost_s
    )


def failover(options: argparse.Namespace, folder: Path, database: str) -> dict[str, Any]:
    names = [f"node-{number}" for number in range(options.nodes)]
    with Cluster(folder, database, names) as cluster:

        async def disturb(players: list[Player]) -> None:
            for number in range(options.kills):
                name = names[number % len(names)]
                num_here = sum(player.node == name for player in players)
                print(f"kill {number + 1} of {options.kills}: {name} with {num_here} players", file=sys.stderr)
                cluster.kill(name, lose_disk=options.lose_disk)
                await all_go_on(players)
                await asyncio.to_thread(cluster.start, name)

        players = asyncio.run(with_players(cluster, options.players, disturb))
    found = {"kills": options.kills, "lose_disk": options.lose_disk} | summary(cluster, database, players)
    beats = found["pause_beats_p50"]
    found["meets_bars"] = _is_right(found, max_lost_s=MAX_LOST_S) and beats is not None and beats <= MAX_PAUSE_BEATS
    return found


def rollout(options: argparse.Namespace, folder: Path, database: str) -> dict[str, Any]:
    names = [f"node-{number}" for number in range(options.nodes)]
    with Cluster(folder, database, names) as cluster:

        async def disturb(players: list[Player]) -> None:
            for name in names:
                await asyncio.to_thread(cluster.terminate, name)
                await all_go_on(players)
                await asyncio.to_thread(cluster.start, name)

        players = asyncio.run(with_players(cluster, options.players, disturb))
        logs = [line for name in names for line in cluster.log(name).splitlines() if "Traceback" in line]
    found = summary(cluster, database, players) | {"tracebacks": len(logs)}
    found["meets_bars"] = _is_right(found, max_lost_s=0.0) and not logs
    return found


def partition(options: argparse.Namespace, folder: Path, database: str) -> dict[str, Any]:
    names = ["cut-off", "stopped", "healthy"]
    wire = Wire(database)
    databases = {"cut-off": wire.database, "stopped": database, "healthy": database}
    with Cluster(folder, databases, names) as cluster:

        async def disturb(players: list[Player]) -> None:
            wire.cut()
            try:
                await until(lambda: all(player.node != "cut-off" for player in players), "nobody plays without the database")
                await all_go_on(players)
                await asyncio.sleep(options.seconds)
            finally:
                wire.mend()
            cluster.signal_all("stopped", signal.SIGSTOP)
            try:
                await until(lambda: all(player.node != "stopped" for player in players), "nobody waits for a stopped server")
                await all_go_on(players)
                await asyncio.sleep(options.seconds)
            finally:
                cluster.signal_all("stopped", signal.SIGCONT)
            await asyncio.sleep(2 * BEAT_S)
            await all_go_on(players)

        players = asyncio.run(with_players(cluster, options.players, disturb))
    found = summary(cluster, database, players)
    found["meets_bars"] = _is_right(found, max_lost_s=MAX_LOST_S + SILENT_S)
    return found


def lobby(options: argparse.Namespace, folder: Path, database: str) -> dict[str, Any]:
    names = [f"node-{number}" for number in range(options.nodes)]
    with Cluster(folder, database, names) as cluster:

        async def meet(pair: int) -> tuple[bool, float]:
            wanted = {"operator": cluster.operator, "seed": 1000 + pair, "countdown_s": 0}

            async def sit(number: int) -> PlayClient:
                there = f"{cluster.address}/n/{names[number % len(names)]}"
                grant = await asyncio.to_thread(request_session, there, PAIR_TASK, actor=f"p{pair}-{number}", **wanted)
                client = PlayClient(cluster.address, grant)
                await client.connect()
                await client.start()
                return client

            begun = time.monotonic()
            clients = await asyncio.gather(sit(pair), sit(pair + 1))
            try:
                async with asyncio.timeout(20):
                    for client in clients:
                        while client.state != "playing":
                            await client.receive()
            except TimeoutError:
                return False, time.monotonic() - begun
            finally:
                await asyncio.gather(*(client.quit() for client in clients))
                await asyncio.gather(*(client.close() for client in clients))
            return True, time.monotonic() - begun

        async def all_meet() -> list[tuple[bool, float]]:
            found = []
            for first in range(0, options.pairs, 5):
                found += await asyncio.gather(*map(meet, range(first, min(first + 5, options.pairs))))
            return found

        met = asyncio.run(all_meet())
    times = sorted(seconds for has_met, seconds in met if has_met)
    found: dict[str, Any] = {
        "pairs": options.pairs,
        "met": len(times),
        "playing_after_s": {"p50": _at(times, 0.5), "p99": _at(times, 0.99)},
    }
    found["meets_bars"] = found["met"] == options.pairs
    return found


MEASURES = {"failover": failover, "rollout": rollout, "partition": partition, "lobby": lobby}


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measure", choices=list(MEASURES))
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--players", type=int, default=20)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=30.0, help="how long a server is cut off or stopped")
    parser.add_argument("--lose-disk", action="store_true", help="remove the journals of a killed server")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with empty_database("postgresql") as database, tempfile.TemporaryDirectory(prefix="interplay-cluster-") as folder:
        assert database is not None
        found = {"measure": options.measure} | MEASURES[options.measure](options, Path(folder), database)
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        for name, value in found.items():
            print(f"{name:20} {value}")
    if not found["meets_bars"]:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
