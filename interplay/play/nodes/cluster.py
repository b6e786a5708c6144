"""The part of one server in its cluster: which games it holds, games that come from other servers or go there, and where the
players of a game find it."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict
from typing import Any, Protocol

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from interplay.play.connections.tokens import node_of
from interplay.play.games import leftovers
from interplay.play.games.for_study import ForStudy
from interplay.play.games.game import Game
from interplay.play.games.interfaces import BEGUN, OVER, UNBEGUN, PlayedGame, State
from interplay.play.games.leftovers import Leftovers
from interplay.play.limits import PlayError
from interplay.play.live_games import LiveGame, live_game
from interplay.play.nodes.membership import Beat, Membership
from interplay.play.nodes.mirror import bring_back
from interplay.record import Archive, journal
from interplay.store import PlaySession, games, sessions
from interplay.store.locks import lock
from interplay.tasks import Task

SOCKET = "/api/play"
"""Path of the socket of players."""
DRAIN_TIMEOUT_S = 5.0
"""How long a server that stops gives its games to others; a supervisor may kill it after ten seconds."""
DRAIN_AGAIN_S = 0.5
FENCE_EVERY_S = 0.1

log = logging.getLogger("interplay.play")


class ElsewhereError(Exception):
    """The seat must be asked for at another server of the cluster, `node`."""

    def __init__(self, node: str) -> None:
        super().__init__(node)
        self.node = node


class ClusterServer(Protocol):
    """The server, as its part in the cluster uses it. `PlayServer` describes the attributes."""

    archive: Archive
    resume_s: float

    @property
    def games(self) -> list[Game]: ...

    def room(self) -> int:
        """Return how many more games the server can take; called from another thread."""
        ...

    def find(self, left_open: dict[str, PlaySession], episodes: Sequence[str] | None) -> Leftovers: ...

    def keep(self, found: Leftovers) -> None: ...

    async def seal_left(self, found: Leftovers) -> None: ...

    def forget(self, game: Game) -> None:
        """Forget a game whose players are no longer expected here."""
        ...

    def note(self, ids: list[str], change: Callable[[Session], None]) -> None: ...


class Cluster:
    """Games of one server among those of other servers. A server without a name, or with a file as its database, is alone: it
    only keeps a list of its games.

    Args:
        node: Name of the server.
        is_member: Whether the server was named as one of a cluster.
        secret: Key that signs seat tokens: servers with the same key are one cluster.

    Attributes:
        held: Games that this server holds in the database: episode -> epoch.
    """

    def __init__(self, server: ClusterServer, *, node: str, is_member: bool, secret: bytes) -> None:
        self._server, self._database, self._node = server, server.archive.database, node
        self._folder = server.archive.journal_folder
        self.held: dict[str, int] = {}
        self._membership: Membership | None = None
        if is_member and self._database.is_shared:
            self._membership = Membership(server.archive, node=node, cluster=node_of(secret), server=self, room=self._room)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._coming: set[str] = set()
        self._over: dict[str, int] = {}
        """Games that ended here, with their last epoch, until the database has forgotten them too."""
        self._takes_games = False
        self._sealing: set[asyncio.Task[None]] = set()
        self._draining: asyncio.Task[None] | None = None
        self._fence: asyncio.Task[None] | None = None
        self._is_over = False

    async def enter(self) -> dict[str, PlaySession]:
        """Enter the server, and return the sessions that its earlier run left, by id."""
        self._loop = asyncio.get_running_loop()
        if self._membership is not None:
            await asyncio.to_thread(self._membership.enter)
        left_open, self.held = await asyncio.to_thread(leftovers.open_sessions, self._server.archive, self._node)
        return left_open

    def take_games(self) -> None:
        """Continue games of other servers from now on."""
        self._takes_games = True

    def _room(self) -> int:
        return self._server.room() if self._takes_games and not self._is_over and self._draining is None else 0

    def over(self, episode: str) -> None:
        """Note that a game has ended here."""
        epoch = self.held.pop(episode, None)
        if epoch is not None and self._membership is not None:
            self._over[episode] = epoch

    def start(self) -> None:
        """Begin to renew the server's row, to mirror journals, and to look after the fence."""
        if self._membership is not None and self._loop is not None:
            self._membership.start()
            self._fence = self._loop.create_task(self._watch_fence())

    async def give_all_away(self) -> None:
        """Before the server stops, give its games to other servers, if there are any, for `DRAIN_TIMEOUT_S`."""

        async def give() -> None:
            if await asyncio.to_thread(self._peer) is not None and self._loop is not None:
                self._draining = self._draining or self._loop.create_task(self._drain())
                await asyncio.wait([self._draining])

        try:
            await asyncio.wait_for(give(), DRAIN_TIMEOUT_S)
        except (TimeoutError, SQLAlchemyError) as error:
            log.warning("some games stay here until the next start: %s", error or "there was no time for them")

    def close(self) -> None:
        """Take and give no game from now on."""
        self._is_over = True
        for task in (self._fence, self._draining):
            if task is not None:
                task.cancel()

    async def leave(self) -> None:
        if self._membership is not None:
            await asyncio.to_thread(self._membership.stop)

    @property
    def is_draining(self) -> bool:
        """Whether this server gives its games to others and takes no new ones."""
        return self._draining is not None

    @property
    def is_fenced(self) -> bool:
        """Whether other servers may have taken the games, because the database could not be reached."""
        return self._membership is not None and self._membership.is_fenced

    def lease(self, episode: str) -> games.Lease | None:
        epoch = self.held.get(episode)
        return None if epoch is None else games.Lease(self._node, epoch)

    # Seats

    def lobby(self, task: Task, study: ForStudy | None, company: str | None) -> str:
        """Return a digest of what players must have in common to meet in one game."""
        common = [task.content_hash, None if study is None else study.to_json(), company]
        return hashlib.sha256(json.dumps(common).encode()).hexdigest()

    def check_open(self) -> None:
        if self.is_draining or self.is_fenced:
            raise PlayError("this server takes no new games; try again in a moment", retry_after_s=10)

    def send_elsewhere(self, error: PlayError, asked: Collection[str]) -> None:
        """Raise `ElsewhereError` if another server, except those `asked`, may have room."""
        other = None if error.is_own else self._peer(asked)
        if other is not None:
            raise ElsewhereError(other) from None

    def send_to_host(self, invitation: str, asked: Collection[str]) -> None:
        """Raise `ElsewhereError` if another server holds the game of an invitation."""
        if self._membership is None:
            return
        with self._database.read() as session:
            holder = games.invited_to(session, invitation, cluster=self._membership.cluster)
        if holder is not None and holder not in (self._node, *asked):
            raise ElsewhereError(holder)

    def enter_lobby(self, game: Game, lobby: str, seed: int | None, asked: Collection[str]) -> None:
        """Enter a new game of several seats. Raise `ElsewhereError` if players of its lobby wait at another server."""
        assert self._membership is not None
        but = {self._node, *asked}
        with self._database.write() as session:
            lock(session, "lobby", lobby)  # two servers must not both find nobody, and both enter a game
            other = games.waiting_at(session, lobby=lobby, seed=seed, cluster=self._membership.cluster, but=but)
            if other is not None:
                raise ElsewhereError(other)
            self.enter_game(session, game, lobby)
        self.held[game.episode_id] = 1  # no earlier: a beat would not find it in the database

    def withdraw(self, game: Game) -> None:
        """Forget a game that was entered, and in which nobody got a seat."""
        self.over(game.episode_id)
        self._server.note([], lambda session: games.end(session, [game.episode_id]))

    def enter_game(self, session: Session, game: Game, lobby: str) -> None:
        """Enter a new game; the caller notes it in `held` after the transaction."""
        is_open = game.is_told_open = len(game.seats) > 1
        columns = {"lobby": lobby, "seed": game.seed, "invitation": game.invitation, "is_open": is_open}
        games.grant(session, game.episode_id, self._node, **columns)

    def note_open(self, game: PlayedGame) -> None:
        """Tell other servers whether one more player may join a game of several seats."""
        if self._membership is None or len(game.seats) == 1:
            return
        is_open = game.seat_for_one_more(True) is not None
        if game.is_told_open != is_open:
            game.is_told_open = is_open
            self._server.note([], lambda session: games.note_open(session, game.episode_id, self._node, is_open=is_open))

    # Where a game is

    @property
    def address(self) -> str:
        """Address at which the proxy of a cluster finds this server; empty without a cluster."""
        return "" if self._membership is None else f"/n/{self._node}"

    def path(self, node: str | None = None) -> str:
        """Path of the socket of a server, of this one by default."""
        return self.address + SOCKET if node in (None, self._node) else f"/n/{node}{SOCKET}"

    def facts(self) -> dict[str, dict[str, Any]]:
        """Return what other servers show of the games here: episode -> `LiveGame` as JSON."""
        here = [game for game in self._server.games if game.state not in OVER]
        return {game.episode_id: asdict(live_game(game, self.address)) for game in here}

    def games_elsewhere(self) -> list[LiveGame]:
        """Return the games of the other servers, as they were at most two seconds ago."""
        if self._membership is None or self.is_fenced:
            return []
        with self._database.read() as session:
            found = games.facts_of_others(session, self._node, cluster=self._membership.cluster)
        return list(map(LiveGame.from_json, found))

    def where(self, session_id: str) -> str | None:
        """Return the path of the socket of a session now; None while no server has its game. Raises `PlayError` if this server
        cannot reach the database."""
        if self.is_fenced:
            raise PlayError("this server cannot reach its database; ask again", retry_after_s=1)
        with self._database.read() as session:
            row = session.get(PlaySession, session_id)
            if row is None or row.node is None or row.state not in sessions.OPEN or self._membership is None:
                return self.path()
            is_there = not self._is_over if row.node == self._node else games.is_alive(session, row.node)
            return self.path(row.node) if is_there else None

    def holder(self, session_id: str) -> str | None:
        """Return the server that holds, or will hold, the game of a session without a seat here; None if the game is over."""
        if self._membership is None:
            return None
        with self._database.read() as session:
            row = session.get(PlaySession, session_id)
            return None if row is None or row.state not in sessions.OPEN else row.node

    # Games that come and go

    def on_beat(self, beat: Beat) -> None:
        async def take_note() -> None:
            try:
                await self._take_note(beat)
            except Exception:
                log.exception("games were not taken or given away; this is tried again")

        assert self._loop is not None
        with contextlib.suppress(RuntimeError):  # the loop has ended
            asyncio.run_coroutine_threadsafe(take_note(), self._loop)

    async def _take_note(self, beat: Beat) -> None:
        if self._is_over or not self._takes_games:
            return
        here = {game.episode_id: game for game in self._server.games}
        for episode in beat.taken:
            game = here.get(episode)
            if game is not None and game.state not in OVER and episode in self.held:
                log.warning("game %d is continued by another server", game.number)
                await self._let_go(game)
        self._over = {episode: epoch for episode, epoch in self._over.items() if episode in beat.held}
        known = self._over | self.held
        came = {  # not those of epoch 1, which begin here at this moment
            episode: epoch
            for episode, epoch in beat.held.items()
            if epoch > 1 and known.get(episode, 0) < epoch and episode not in self._coming
        }
        self._coming |= came.keys()  # at once: the next beat comes before the last of them is here
        try:
            await asyncio.gather(*(self._continue(episode, epoch) for episode, epoch in came.items()))
        finally:
            self._coming -= came.keys()
        if beat.drains and self._draining is None and self._loop is not None:
            self._draining = self._loop.create_task(self._drain())
        elif self._draining is not None and (not beat.drains or (self._draining.done() and self._draining.exception())):
            self._draining.cancel()
            self._draining = None

    async def _continue(self, episode: str, epoch: int) -> None:
        """Continue a game of another server, with the mirror of its journal."""

        def fetch() -> Leftovers:
            bring_back(self._folder, self._database, episode)
            with self._database.read() as session:
                left_open = {row.id: row for row in sessions.open_sessions(session, self._node) if row.game == episode}
            return self._server.find(left_open, [episode])

        try:
            found = await asyncio.to_thread(fetch)
        except Exception:  # whatever is wrong with this game: the others continue
            log.exception("game %s of another server was not taken; this is tried again", episode)
            return
        self.held[episode] = epoch
        self._server.keep(found)
        if found.ended:
            task = asyncio.create_task(self._server.seal_left(found))
            self._sealing.add(task)
            task.add_done_callback(self._sealing.discard)

    async def _watch_fence(self) -> None:
        """Stop the games here when this server could not renew its row for so long that others may take them."""
        while True:
            await asyncio.sleep(FENCE_EVERY_S)
            if self.is_fenced:
                begun = [game for game in self._server.games if game.state in BEGUN]
                done = await asyncio.gather(*(game.set_down(self._server.resume_s) for game in begun), return_exceptions=True)
                for error in filter(None, done):
                    log.error("a game was not stopped", exc_info=error)

    async def _let_go(self, game: Game) -> None:
        """Forget a game that another server has, and send its players there."""
        await game.set_down(None)
        self.held.pop(game.episode_id, None)
        self._server.forget(game)
        for path in journal.segments(self._folder, game.episode_id):
            path.unlink(missing_ok=True)

    async def _drain(self) -> None:
        """Give every game to other servers of the cluster; people who wait for others first begin their game here."""

        def note() -> None:
            with self._database.write() as session:
                games.drain(session, self._node)

        await asyncio.to_thread(note)
        while remaining := [game for game in self._server.games if game.state not in OVER]:
            movable = [game for game in remaining if game.state not in UNBEGUN or len(game.seats) == 1]
            if not any(await asyncio.gather(*map(self._give_away, movable))):
                await asyncio.sleep(DRAIN_AGAIN_S)

    def _peer(self, asked: Collection[str] = ()) -> str | None:
        """Return the server with the fewest games, except this one and those `asked`."""
        if self._membership is None:
            return None
        with self._database.read() as session:
            return games.least_busy(session, cluster=self._membership.cluster, but={self._node, *asked})

    async def _give_away(self, game: Game) -> bool:
        membership, held_as = self._membership, self.lease(game.episode_id)
        if membership is None or held_as is None:
            return False

        def give(to: str) -> bool:
            membership.mirror_now()
            with self._database.write() as session:
                return games.move(session, game.episode_id, held_as, to)

        has_begun, is_given = game.state not in UNBEGUN, False
        try:
            to = await asyncio.to_thread(self._peer)
            if to is None or game.state in OVER:
                return False
            await game.set_down(self._server.resume_s)
            is_given = game.state is State.HELD and await asyncio.to_thread(give, to)
        except SQLAlchemyError as error:
            log.error("game %d stays here: %s", game.number, error)
        if is_given:
            await self._let_go(game)
        elif game.state is State.HELD and not has_begun:
            game.state = State.EMPTY
        return is_given
