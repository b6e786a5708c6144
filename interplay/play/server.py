"""The live server: it grants seats, finds the seat of each socket, and has finished episodes sealed."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy.orm import Session
from starlette.websockets import WebSocket

from interplay.envs import backends
from interplay.files import is_disk_full
from interplay.play import player_socket
from interplay.play.background.films import LATER, Films
from interplay.play.background.sealer import Sealer
from interplay.play.connections import wire
from interplay.play.connections.tokens import NODE_NAME, ExpiredTokenError, SeatTokens, TokenError, node_of
from interplay.play.games import leftovers
from interplay.play.games.agreement import draw_seed, held_out_share
from interplay.play.games.for_study import PARTNER_AFTER_S, ForStudy
from interplay.play.games.game import COUNTDOWN_S, Game
from interplay.play.games.interfaces import OVER, UNBEGUN, PlayedGame, State
from interplay.play.games.leftovers import Leftovers
from interplay.play.games.seat import UNKNOWN_CLIENT, Seat
from interplay.play.limits import (
    MAX_SEATS,
    MAX_SEATS_OF_ADDRESS,
    HeldSeat,
    Limits,
    PlayError,
    default_max_drawn_games,
    default_max_worlds,
)
from interplay.play.nodes.cluster import FENCE_EVERY_S, Cluster
from interplay.play.partners.decider import Decider
from interplay.play.partners.roster import Roster, acts_inside
from interplay.play.player_socket import GameOver, Place, Refusal
from interplay.play.workers.channel import Ended
from interplay.play.workers.pool import Played, WorkerPool
from interplay.record import Archive, Owner, journal
from interplay.store import PlaySession, games, sessions
from interplay.tasks import Suite, Task, builtin_suites, index, lookup

log = logging.getLogger("interplay.play")

COMING_TRIES = 50
"""How often a socket looks, `FENCE_EVERY_S` apart, whether a game that comes from another server is here."""
KEPT_SEAL_TIMEOUT_S = 3.0
"""How long a server that keeps its games waits for ended games to be sealed. A supervisor may kill it after ten seconds."""
SEAL_TIMEOUT_S = 60.0
"""How long a server that stops waits for its last episodes to be sealed."""


@dataclass(frozen=True)
class SeatGrant:
    """The answer to `POST /api/sessions`, with which a player takes their seat."""

    session: str
    token: str
    expires_at: datetime
    socket: str

    def to_json(self) -> dict[str, Any]:
        return {
            "session": self.session,
            "token": self.token,
            "socket": self.socket,
            "subprotocol": wire.SUBPROTOCOL,
            "expires_at": self.expires_at.isoformat(),
        }


class PlayServer:
    """Live play that records into one archive.

    Args:
        num_workers: Environment workers; one per core by default.
        secret: Key that signs seat tokens.
        node: Name of this server among the servers of its database, the same at each start; by default a digest of `secret`.
            Servers with a name and the same secret on one PostgreSQL database are a cluster: they continue each other's games.
        suites: Tasks on offer; the built-in ones by default.
        max_worlds: Largest number of slow worlds at the same time, each in a process of its own; by default
            `default_max_worlds`. One address may hold half of them.
        max_drawn_games: Largest number of games, at the same time, that players' pages draw; by default
            `default_max_drawn_games`.
        max_seats_of_address: Largest number of seats of any kind that one address may hold.
        held_out_share: Share of people's games on held-out seeds, 0 to 1. These games may be compared with others if their
            players agree, and are not used as demonstrations. None: the share of the task, or a quarter.
        partners: Task id -> name of the agent that acts there for a person who has left, or `none`. Tasks that are not named
            use their scripted player, if there is one.
        seat_ttl_s: How long a seat token is valid.
        untaken_s: How long a seat waits for its first socket.
        seat_kept_s: How long a seat waits for a socket that was lost.
        idle_s: How long a seat waits for a connected player who does not start or resume.
        partner_after_s: How long a player waits for people before they may choose an agent.
        resume_s: How long a game that a restart interrupted waits for its players to come back.
        clock: Returns the seconds since the epoch, for tokens.

    Attributes:
        roster: Agents that may act in its games.
        films: Makes films of episodes when no game needs the core.
        num_recovering: Journals from before the start that are not sealed yet.
    """

    def __init__(
        self,
        archive: Archive,
        *,
        secret: bytes,
        node: str | None = None,
        num_workers: int | None = None,
        suites: Iterable[Suite] | None = None,
        max_worlds: int | None = None,
        max_drawn_games: int | None = None,
        max_seats_of_address: int = MAX_SEATS_OF_ADDRESS,
        held_out_share: float | None = None,
        partners: Mapping[str, str] | None = None,
        seat_ttl_s: float = 6 * 3600,
        untaken_s: float = 120.0,
        seat_kept_s: float = 30.0,
        idle_s: float = 600.0,
        partner_after_s: float = PARTNER_AFTER_S,
        resume_s: float = 600.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if num_workers is not None and num_workers < 1:
            raise PlayError(f"the server needs at least one worker, got {num_workers}\nUse --workers 1 or more.")
        if node is not None and not NODE_NAME.fullmatch(node):
            raise PlayError(
                f"the name of a server has letters, digits and hyphens, at most 60, got {node!r}\nUse a name like node-1."
            )
        self.archive = archive
        self.node = node or node_of(secret)
        self.tasks = index(builtin_suites() if suites is None else suites)
        self.cluster = Cluster(self, node=self.node, is_member=node is not None, secret=secret)
        self.limits = Limits(
            max_worlds=default_max_worlds() if max_worlds is None else max_worlds,
            max_seats_of_address=max_seats_of_address,
            max_drawn_games=default_max_drawn_games() if max_drawn_games is None else max_drawn_games,
        )
        self.roster = Roster(archive, partners or {}, self.tasks)
        self.granting = threading.Lock()
        self._held_out_share = held_out_share
        self._untaken_s = untaken_s
        self.seat_kept_s = seat_kept_s
        self.idle_s = idle_s
        self.partner_after_s = partner_after_s
        self.resume_s = resume_s
        self.num_recovering = 0
        self._seat_ttl_s = seat_ttl_s
        self._has_looked = asyncio.Event()
        self._recovery: asyncio.Task[None] | None = None
        self._tokens = SeatTokens(secret, ttl_s=seat_ttl_s, clock=clock)
        self._places: dict[str, Place] = {}
        self._numbers = itertools.count(1)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = self._is_ending = False
        self._notes = ThreadPoolExecutor(1, thread_name_prefix="session notes")  # one thread keeps them in order
        place = {
            "data": archive.root.resolve(),
            "database": archive.database.address,
        }
        self._sealer = Sealer(**place)
        self.films = Films(archive, cores_needed=self.cores_needed)
        self._decider = Decider(**place)
        self.pool = WorkerPool(
            num_workers or len(os.sched_getaffinity(0)),
            **place,
            on_orphans=self._on_orphans,
            statistics=[spec.to_json() for spec in archive.statistics],
            agents=self._decider.address,
        )

    async def start(self) -> None:
        """Start the workers and the sealer. In the background, recover the games that an earlier run left. A second call
        does nothing."""
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            left_open = await self.cluster.enter()
            await asyncio.gather(self.pool.start(), self._sealer.start())
            self._recovery = self._loop.create_task(self._recover(left_open))
            self.cluster.start()

    async def stop(self, *, keeps_games: bool = False) -> None:
        """Stop the workers and the sealer, after every episode is sealed as `interrupted`. A second call does nothing.

        With `keeps_games`, no episode ends: the journals are written to disk, and players can continue for `resume_s`
        seconds after the next start. A journal that is not sealed within `SEAL_TIMEOUT_S` stays for the next start too.
        """
        if self._loop is None or self._is_ending:
            return
        self._is_ending = True
        if keeps_games:
            await self.cluster.give_all_away()
        self._stopping = True
        self.cluster.close()
        if self._recovery is not None:  # none where the start failed
            await self._has_looked.wait()
            self._recovery.cancel()
        for game in self.games if keeps_games else ():
            game.keep()
        await self.pool.stop(keeps_games=keeps_games)
        await self._decider.stop()
        for game in self.games:
            if game.state is State.HELD and not keeps_games:
                game.give_up(game.seats[0])
        pending = [task for game in self.games for task in game.pending]
        if pending:
            await asyncio.wait(pending, timeout=KEPT_SEAL_TIMEOUT_S if keeps_games else SEAL_TIMEOUT_S)
        for game in self.games:
            if game.state is not State.ENDED and not keeps_games:
                game.leave(wire.text("error", code="server_stopped", message="the server was stopped"))
        await self._sealer.stop()
        await asyncio.to_thread(self.films.close)
        await asyncio.to_thread(self._notes.shutdown)
        await self.cluster.leave()

    @property
    def games(self) -> list[Game]:
        """Games in which somebody has a seat. Can be read from any thread."""
        return list(dict.fromkeys(place.game for place in list(self._places.values())))

    # Games that an earlier run left

    async def _recover(self, left_open: dict[str, PlaySession]) -> None:
        try:
            await asyncio.to_thread(leftovers.wait_for_writers, self.archive, left_open)
            found = await asyncio.to_thread(self.find, left_open, None)
            self.keep(found)
        except Exception:
            log.exception("the games of an earlier run were not recovered\nTry:  interplay episodes repair")
            return
        finally:
            self._has_looked.set()
            self.cluster.take_games()
        await self.seal_left(found)

    def find(self, left_open: dict[str, PlaySession], episodes: Sequence[str] | None) -> Leftovers:
        """Sort what an earlier run, or another server, left: see `leftovers.find`."""
        return leftovers.find(
            self.archive,
            left_open,
            self.tasks,
            episodes=episodes,
            taken_within_s=self._seat_ttl_s,
            is_agent=self.roster.has,
            partner=self.roster.partner,
        )

    async def seal_left(self, found: Leftovers) -> None:
        self.num_recovering += len(found.ended)
        num_sealed = 0
        for path in found.ended:
            try:
                num_sealed += await self.seal(path) is not None
            except Exception as error:
                log.error("%s was not sealed: %s\nTry:  interplay episodes repair", path.name, error)
            self.num_recovering -= 1
        if num_sealed:
            log.warning("recovered %d interrupted episodes of an earlier run", num_sealed)

    def keep(self, found: Leftovers) -> None:
        """Make seats again for everybody who may come back; their worlds are built when they come."""
        for header, rows, acting in found.games:
            study = leftovers.study_of(rows)
            game = Game(
                self, next(self._numbers), header.task, rows[0].seed, episode_id=header.episode, state=State.HELD, study=study
            )
            seats = {seat.name: seat for seat in game.seats}
            for row in rows:
                self._seat_again(game, seats[row.seat or header.seats[0]], row)
            for name, one in acting.items():
                seats[name].agent, seats[name].acting = one.agent, one
                seats[name].owner = seats[name].owner or header.owners[name]
            game.hold_for(self.resume_s)
        for row, task in found.untaken:
            game = Game(self, next(self._numbers), task, row.seed, episode_id=row.game, study=leftovers.study_of([row]))
            self._seat_again(game, game.seats[0], row)
            asyncio.get_running_loop().call_later(self._untaken_s, self._drop_untaken, row.id)
        for session, episode_id in found.lost.items():
            self._set_states([session], "interrupted", episode_id)
        if found.games:
            log.warning("games that were interrupted and wait %g s for their players: %d", self.resume_s, len(found.games))

    def _seat_again(self, game: Game, seat: Seat, row: PlaySession) -> None:
        seat.session, seat.client = row.id, UNKNOWN_CLIENT
        seat.owner = Owner(row.actor, row.actor_kind, row.participant_id)
        self._places[row.id] = Place(game, seat)

    # Seats

    def waiting(self) -> Counter[str]:
        """Return task -> number of people who wait in its games for any other player. Can be called from any thread."""
        open_to_all = [
            game for game in self.games if game.study is None and game.company is None and game.open_seat is not None
        ]
        return Counter(game.task.id for game in open_to_all for seat in game.seats if seat.connection is not None)

    def task(self, task_id: str) -> Task:
        """Return a task on offer. Raises `NotFoundError` with the nearest id."""
        return lookup(task_id, self.tasks)

    def create_session(
        self,
        task: Task | str,
        *,
        participant_id: int | None = None,
        actor: str | None = None,
        actor_kind: str = "human",
        seed: int | None = None,
        countdown_s: int = COUNTDOWN_S,
        client: str | None = None,
        drawn_here: bool = False,
        partner: str | None = None,
        wheel: str | None = None,
        study: ForStudy | None = None,
        invitation: str | None = None,
        company: str | None = None,
        asked: Collection[str] = (),
    ) -> SeatGrant:
        """Grant a seat; its world is built when the player's socket comes. It writes to the database; any thread may call it.

        Args:
            task: A task, or the id of a task on offer. In a task of several seats the player gets an open seat in the oldest
                game that waits for players, or the first seat of a new game.
            actor: Name under which the episode is recorded; by default `participant-<id>`, or `anonymous`.
            seed: By default the seed of the game that is joined, or a new seed. Now and then, and only for participants, a new
                seed is one of the task's held-out seeds.
            client: `client_of` the address that asks; None if no limit counts the seat.
            drawn_here: Whether the player's page will draw the world; ignored for worlds that cannot be drawn there.
            partner: Name (for `interplay.agents.find`) of the agent that acts for every other seat of a new game.
            wheel: The agent with which the player shares the control of their seat.
            study: Rules that a study sets for the game. All players belong to this study, and the rules also name the agents.
            invitation: Invitation to the game to join, as the `lobby` message contains it.
            company: The earlier episode whose players meet again in this game.
            asked: Servers of the cluster that were asked for this seat before.
        Raises:
            ElsewhereError: If others wait for players at another server, or that server has room and this one has none.
            NotFoundError: If there is no such task, or no such agent.
            AgentError: If the module of an agent is missing.
            PlayError: If the server is full or is stopping, the client holds too many seats, or the game of the invitation no
                longer waits.
        """
        if isinstance(task, str):
            task = self.task(task)
        if self._stopping:
            raise PlayError("the server is stopping; try again in a moment", retry_after_s=10)
        if study is not None:
            partner = study.partner
        for agent in {partner, wheel, study and study.fallback} - {None}:
            self.roster.check(str(agent))
        drawn_here = drawn_here and backends.of(task).sends_scenes
        session = secrets.token_urlsafe(12)
        token, expires_at = self._tokens.sign(session)
        lobby = self.cluster.lobby(task, study, company)
        if actor is None:
            actor = "anonymous" if participant_id is None else f"participant-{participant_id}"
        wanted = task, seed, participant_id, study, company
        ahead: Game | None = None

        def new_game(*, is_counted: bool) -> Game:
            drawn = self._seed(task, participant_id) if seed is None else seed
            rules = {"countdown_s": countdown_s, "study": study, "company": company}
            return Game(self, next(self._numbers), task, drawn, is_counted=is_counted, **rules)

        try:
            if self.cluster.address and len(task.seats) > 1 and partner is None and invitation is None:
                with self.granting:
                    is_met = self._open_place(*wanted) is not None
                if not is_met:  # the database is asked before the lock is taken, for which every game here waits
                    self.cluster.check_open()
                    ahead = new_game(is_counted=True)
                    self.cluster.enter_lobby(ahead, lobby, seed, asked)
            with self.granting:  # of two that ask at once, the second finds the seat of the first
                if invitation is not None and partner is None:
                    will_join = place = self._invited_place(invitation, task, participant_id, study)
                else:
                    place = None if partner is not None else self._open_place(*wanted)
                    will_join = place or self._open_place(*wanted, is_there=True) if partner is None else None
                # Whoever wants pictures in a game that pages draw makes it one that needs a process.
                joins = will_join is not None and (drawn_here or not will_join.game.hosting.is_drawn_here)
                if place is None:
                    self.cluster.check_open()
                self.limits.check(task, client, self._held_seats, self.pool.num_alone, joins=joins, drawn_here=drawn_here)
                is_new = place is None and ahead is None
                if place is None:
                    game = ahead or new_game(is_counted=not joins)
                    place = Place(game, game.seats[0])
                game, seat = place
                seat.session, seat.client, seat.owner = session, client, Owner(actor, actor_kind, participant_id)
                seat.granted_at = time.monotonic()
                seat.is_drawn_here = drawn_here
                seat.may_move = len(game.seats) > 1 and not any((seed is not None, partner, wheel, invitation, company))
                seat.agent = seat.wheel = wheel
                for other in game.seats if partner is not None else ():
                    if other is not seat:
                        other.agent = partner
                self._places[session] = place
        except PlayError as error:
            if ahead is not None:
                self.cluster.withdraw(ahead)
            if invitation is not None:
                self.cluster.send_to_host(invitation, asked)
            self.cluster.send_elsewhere(error, asked)
            raise
        if ahead is not None and ahead is not game:
            self.cluster.withdraw(ahead)
        try:
            with self.archive.database.write() as database:
                if is_new:
                    self.cluster.enter_game(database, game, lobby)
                if game.open_seat is not None and not game.is_blind:  # they say also of one's own wait if a person came
                    game.lobby.waits = sessions.waits(database, task.id, datetime.now(UTC))
                sessions.open_session(
                    database,
                    id=session,
                    task=task.id,
                    task_hash=task.content_hash,
                    seed=game.seed,
                    actor=actor,
                    actor_kind=actor_kind,
                    participant_id=participant_id,
                    seat=seat.name,
                    for_study=None if study is None else study.to_json(),
                    node=self.node,
                    game=game.episode_id,
                    now=datetime.now(UTC),
                )
        except BaseException:
            del self._places[session]
            seat.session = seat.owner = seat.agent = seat.wheel = None
            if ahead is game:
                self.cluster.withdraw(game)
            raise
        if is_new:
            self.cluster.held[game.episode_id] = 1
        self.note_open(game)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.call_later, self._untaken_s, self._drop_untaken, session)
        return SeatGrant(session, token, expires_at, self.cluster.path())

    def _invited_place(self, invitation: str, task: Task, participant_id: int | None, study: ForStudy | None) -> Place:
        invited = [game for game in self.games if game.invitation == invitation and game.task.id == task.id]
        seats = [Place(game, seat) for game in invited if (seat := game.seat_for_one_more(False)) is not None]
        place = next(iter(seats), None)
        if place is None or place.game.study != study or place.game.has_participant(participant_id or -1):
            raise PlayError("the game of this invitation does not wait for players any more; ask for a new link", is_own=True)
        return place

    def _open_place(
        self,
        task: Task,
        seed: int | None,
        participant_id: int | None,
        study: ForStudy | None,
        company: str | None,
        *,
        is_there: bool = False,
    ) -> Place | None:
        """In a task of several seats, return the seat in the game that has waited longest for a player. Games in which somebody
        has come are preferred.

        A participant never gets two seats in one game. Games of a study are only for people of the study: their pay must not
        depend on other people, or on agents that other people chose. With `is_there`, only games in which somebody has come are
        searched; a seat whose player has not come and may move to another game then also counts as open.
        """
        if len(task.seats) == 1:
            return None
        alike = [game for game in self.games if game.task.content_hash == task.content_hash and seed in (None, game.seed)]
        alike = [game for game in alike if (game.study, game.company) == (study, company)]
        if participant_id is not None:
            alike = [game for game in alike if not game.has_participant(participant_id)]
        alike = [game for game in alike if game.is_waited_in or not is_there]
        found = [Place(game, seat) for game in alike if (seat := game.seat_for_one_more(is_there)) is not None]
        return min(found, key=lambda place: (not place.game.is_waited_in, place.game.number), default=None)

    def _seed(self, task: Task, participant_id: int | None) -> int:
        """Return the seed of a world that is ready, or a new seed. Only people play on held-out seeds, unless a task has no
        other seeds."""
        share = held_out_share(task, 0.0 if participant_id is None else self._held_out_share)
        ready = self.pool.take_seed(task, lambda seed: share > 0 or seed not in task.held_out_seeds)
        return draw_seed(task, held_out_share=share) if ready is None else ready

    @property
    def _held_seats(self) -> list[HeldSeat]:
        return [
            HeldSeat(game.number, seat.client, game.holds_world, game.hosting.is_drawn_here, seat.is_left)
            for game, seat in list(self._places.values())
            if game.state is not State.ENDED and seat.last_words is None
        ]

    def soon(self, task: Task) -> None:
        """Make a world ready, because somebody reads about this task and may press Start in a moment. Can be called from any
        thread."""
        if backends.of(task).must_load and self._loop is not None and not self._stopping:
            asyncio.run_coroutine_threadsafe(self._prepare(task), self._loop)

    async def _prepare(self, task: Task) -> None:
        try:
            share = held_out_share(task, self._held_out_share)
            await self.pool.prepare(task, lambda: draw_seed(task, held_out_share=share))
        except OSError as error:
            log.error("no worker could be started for %s: %s", task.id, error)

    def _drop_untaken(self, session: str) -> None:
        place = self._places.get(session)
        if place is None or self._stopping:
            return
        game, seat = place
        if not seat.has_come and seat.last_words is None and game.state in UNBEGUN:
            game.lobby.free(seat)
            del self._places[session]
            self._set_states([session], "ended")
            if game.state is State.ENDED:
                self.cluster.over(game.episode_id)

    def dismiss(self, participant_id: int) -> None:
        """Stop waiting for a participant: their games end as for a player who has left. Can be called from any thread."""

        def give_up() -> None:
            for session, (game, seat) in list(self._places.items()):
                if seat.owner is not None and seat.owner.participant_id == participant_id and seat.has_person:
                    self._drop_untaken(session)
                    if session in self._places:
                        game.give_up(seat)

        if self._loop is not None:
            self._loop.call_soon_threadsafe(give_up)

    def played(self, token: str) -> tuple[str | None, int | None]:
        """Return the recorded episode of a seat, and the participant who played it; None for each that does not exist. Can be
        called from any thread. Raises `TokenError` if this server did not sign the token, or it has expired."""
        session = self._tokens.verify(token)
        place = self._places.get(session)
        if place is not None and place.seat.owner is not None:
            return place.game.closing.sealed_id, place.seat.owner.participant_id
        return self._played(session)

    # Sockets

    async def handle_socket(self, websocket: WebSocket) -> None:
        await player_socket.serve(websocket, self._place_of)

    def place(self, number: int, seat: str) -> Place | None:
        """Return a seat of a game that is not over; `number` is the game's number in `live_games`."""
        game = next((game for game in self.games if game.number == number and game.state not in OVER), None)
        found = None if game is None else next((one for one in game.seats if one.name == seat), None)
        return None if game is None or found is None else Place(game, found)

    async def _place_of(self, token: str) -> Place:
        try:
            session = self._tokens.verify(token)
        except ExpiredTokenError as error:
            raise Refusal(wire.CLOSE_EXPIRED, str(error)) from None
        except TokenError as error:
            raise Refusal(wire.CLOSE_UNSIGNED, str(error)) from None
        await self._has_looked.wait()
        place = None if self._is_closed else self._seated(session)
        if place is None and not self._is_closed:
            holder = await asyncio.to_thread(self.cluster.holder, session)
            for _ in range(COMING_TRIES if holder == self.node else 0):  # the journal is being fetched
                place = self._seated(session)
                if place is not None or self._is_closed:
                    break
                await asyncio.sleep(FENCE_EVERY_S)
            if place is None and holder is not None:
                raise Refusal(wire.CLOSE_RESTART, "the game goes on elsewhere, or in a moment; connect again")
        if self._is_closed:
            raise Refusal(wire.CLOSE_RESTART, "the game goes on elsewhere, or in a moment; connect again")
        if place is None:
            episode_id, _ = await asyncio.to_thread(self._played, session)
            if episode_id is not None:
                message = "this game is over, and what you played is saved"
                raise GameOver(wire.text("error", code="interrupted", message=message, episode=episode_id))
            raise Refusal(wire.CLOSE_EXPIRED, "the session of this seat has ended; open the task again")
        return place

    def _seated(self, session: str) -> Place | None:
        """Return the seat of a session whose player comes. A player who would wait alone moves to a game in which somebody
        waits; this may be the seat of another player who has not come."""
        with self.granting:
            place = self._places.get(session)
            if place is None or not place.seat.may_move:
                return place
            game, seat = place
            seat.may_move = False
            owner = seat.owner.participant_id if seat.owner is not None else None
            there = (
                None if game.is_waited_in else self._open_place(game.task, None, owner, game.study, game.company, is_there=True)
            )
            if there is None:
                return place
            there.seat.trade(seat)
            moved = {session: there} | ({} if seat.session is None else {seat.session: place})
            self._places |= moved

        def note(database: Session) -> None:
            for one, (its_game, its_seat) in moved.items():
                columns = {"game": its_game.episode_id, "seed": its_game.seed, "seat": its_seat.name}
                sessions.move_session(database, one, **columns)

        self.note(list(moved), note)
        return there

    def _played(self, session: str) -> tuple[str | None, int | None]:
        with self.archive.database.read() as database:
            row = database.get(PlaySession, session)
            return (None, None) if row is None else (row.episode_id, row.participant_id)

    # The other servers of the cluster

    def where(self, token: str) -> str | None:
        """Return the path of the socket of a seat now; None while no server has its game, so that the player asks again.
        Raises `TokenError` as `played` does, and `PlayError` if this server cannot reach the database."""
        return self.cluster.where(self._tokens.verify(token))

    def room(self) -> int:
        return max(0, MAX_SEATS - len(self._places))

    def forget(self, game: Game) -> None:
        for seat in game.seats:
            if seat.session is not None:
                self._places.pop(seat.session, None)

    @property
    def _is_closed(self) -> bool:
        return self._stopping or self.cluster.is_fenced

    # What games need

    def note_open(self, game: PlayedGame) -> None:
        self.cluster.note_open(game)

    def partner(self, task: Task) -> str | None:
        """Return the agent that acts for a person who has left, and plays where no second person comes; None if no agent
        does."""
        return self.roster.partner(task)

    def expect(self, agent: str) -> None:
        """Load an agent that may be needed soon, if it decides in the process for agents."""
        if not acts_inside(agent):
            self._decider.expect(agent)

    def cores_needed(self) -> float:
        states = (State.WAITING, State.COUNTDOWN, State.PLAYING, State.RECOVERING)
        return self.limits.cores_needed(game.holds_world for game in self.games if game.state in states)

    async def seal(self, path: Path) -> str | None:
        """Seal a finished journal; return the episode's id. If no step was made, remove the journal and return None. Raises
        `RecordingError` if the journal cannot be sealed; it then stays."""
        episode_id = await self._sealer.seal(path, self.cluster.lease(journal.episode_of(path)))
        if episode_id is not None:
            self.films.wanted(episode_id, LATER)
        return episode_id

    async def seal_what_is_left(self, episode_id: str) -> bool:
        """Seal the journal of an episode that failed; return whether anything of it is saved, sealed or not."""
        segments = await asyncio.to_thread(journal.segments, self.archive.journal_folder, episode_id)
        if not segments:
            return False
        try:
            return await self.seal(segments[0]) is not None
        except Exception:
            log.exception("episode %s stays in the journal", episode_id)
            return True

    async def end_journal(self, episode_id: str, outcome: str) -> Ended:
        """Record how an episode ended whose worker died before it could do so; return what the worker would have answered.
        Raises `RecordingError` if the disk is full, or the journal cannot be read."""
        return await asyncio.to_thread(leftovers.end_journal, self.archive.journal_folder, episode_id, outcome)

    def has_journal(self, episode_id: str) -> bool:
        """Whether an episode whose worker died can continue from its recording. Otherwise an empty file is removed and a
        damaged one is set aside, so that the episode begins again."""
        paths = journal.segments(self.archive.journal_folder, episode_id)
        if journal.holds_observations(paths):
            return True
        journal.remove(paths, keep=False)
        return False

    def note_waited(self, session: str, seconds: float, came: str) -> None:
        self.note([session], lambda database: sessions.note_waited(database, session, seconds, came))

    def note_started(self, game: PlayedGame) -> None:
        # The episode tells a server that is started again who belongs together, and whose game was sealed a moment before.
        seated = [seat.session for seat in game.seats if seat.session is not None]
        self._set_states(seated, "playing", game.episode_id)

    def note_over(self, seat: Seat, *, state: str, episode_id: str | None = None) -> None:
        """Record that the game is over for a seat. Forget the seat after a while, so that a late client can still ask.
        `state`: the state of the player's session from now on, `ended` or `interrupted`."""
        assert seat.session is not None
        self._set_states([seat.session], state, episode_id, is_known=True)
        place = self._places.get(seat.session)
        if place is not None and place.game.state is State.ENDED:
            self.cluster.over(place.game.episode_id)
        asyncio.get_running_loop().call_later(self.seat_kept_s, self._places.pop, seat.session, None)

    def _set_states(self, ids: list[str], state: str, episode_id: str | None = None, *, is_known: bool = False) -> None:
        """Set the state of all these sessions. If the server is killed during the call, no state changes."""
        is_over = state not in sessions.OPEN

        def set_all(database: Session) -> None:
            if is_over:
                games.wait_for_games_of(database, ids)
            for session in ids:
                now = datetime.now(UTC)
                changes = {"episode_id": episode_id, "is_known": is_known, "now": now}
                sessions.set_session_state(database, session, state, node=self.node, **changes)
            if is_over:
                games.end_without_players(database, ids)

        self.note(ids, set_all)

    def note(self, ids: list[str], change: Callable[[Session], None]) -> None:
        def write() -> None:
            try:
                with self.archive.database.write() as database:
                    change(database)
            except Exception as error:
                if is_disk_full(error):
                    log.error("session %s: its state was not written: the disk is full", ", ".join(ids))
                else:
                    log.exception("session %s: its state was not written", ", ".join(ids))

        self._notes.submit(write)

    def _on_orphans(self, orphans: list[Played]) -> None:
        for game in orphans:
            assert isinstance(game, Game)
            game.on_orphaned()

    @property
    def troubles(self) -> list[str]:
        """Current faults, in words; usually none."""
        recovering = sum(game.state is State.RECOVERING and not game.hosting.is_moving for game in self.games)
        return self.pool.troubles + ([f"{recovering} games are being restored"] if recovering else [])

    def statistics(self) -> dict[str, Any]:
        states: dict[str, int] = {}
        for game, seat in list(self._places.values()):
            state = game.state if seat.last_words is None else State.ENDED
            states[state] = states.get(state, 0) + 1
        return {
            "seats": states,
            "recovering": self.num_recovering,
            "worker_deaths": self.pool.num_deaths,
            "slow_tasks": self.limits.slow_tasks,
            "cpu_s": round(time.process_time(), 3),
            "sealer": self._sealer.statistics(),
            "agents": self._decider.statistics(),
            "workers": [
                {"pid": link.process.pid, "alone": link.alone, "seats": len(link.games)}
                | {"ready_worlds": [task for task, seed in link.ready.items() if seed is not None]}
                | ({} if link.statistics is None else msgspec.structs.asdict(link.statistics))
                for link in self.pool.links
            ],
        }
