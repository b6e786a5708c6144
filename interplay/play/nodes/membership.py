"""A server among the others of its cluster: it says that it is there, takes the games of servers that are gone, and mirrors the
journals of its own games."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from sqlalchemy.exc import SQLAlchemyError

import interplay
from interplay.play.nodes.mirror import Mirror
from interplay.record import Archive
from interplay.store import games

BEAT_S = 0.5
FENCE_AFTER_S = 2.0
"""A server that could not renew its row for this long stops its games, before others may take them (`games.DEAD_AFTER_S`)."""
MIRROR_EVERY_S = 0.2
FACTS_EVERY = 4
"""Facts about the games are written with every fourth renewal."""

log = logging.getLogger("interplay.play")


class Beat(NamedTuple):
    """The answer of the database when a server renewed its row.

    Attributes:
        held: Every game that it holds in the database: episode -> epoch.
        taken: Games that it held before, and that another server holds now.
        drains: Whether it shall give its games to others.
    """

    held: dict[str, int]
    taken: set[str]
    drains: bool


class Member(Protocol):
    """The server, as its membership uses it; both methods are called from another thread. `held`: the games here, episode ->
    epoch."""

    held: dict[str, int]

    def facts(self) -> dict[str, dict[str, Any]]:
        """Return what other servers show of the games here, by episode."""
        ...

    def on_beat(self, beat: Beat) -> None:
        """Take note of a beat."""
        ...


class Membership:
    """The place of one server in its cluster.

    Args:
        room: Returns how many more games the server can take.
    """

    def __init__(self, archive: Archive, *, node: str, cluster: str, server: Member, room: Callable[[], int]) -> None:
        self.node, self.cluster = node, cluster
        self._archive, self._database, self._server, self._room = archive, archive.database, server, room
        self._renewed_at = time.monotonic()
        self._num_beats = 0
        self._stops = threading.Event()
        self._mirror = Mirror(archive.journal_folder, archive.database, node)
        self._mirroring = threading.Lock()
        self._threads = [
            threading.Thread(target=self._beat_on, name="beat", daemon=True),
            threading.Thread(target=self._mirror_on, name="mirror", daemon=True),
        ]

    @property
    def unheard_s(self) -> float:
        """Seconds since the server last renewed its row, by its own clock."""
        return time.monotonic() - self._renewed_at

    @property
    def is_fenced(self) -> bool:
        """Whether other servers may have taken the games by now."""
        return self.unheard_s > FENCE_AFTER_S

    def enter(self) -> None:
        """Enter the server, so that no other server takes its games."""
        with self._database.write() as session:
            games.join(session, self.node, cluster=self.cluster, version=interplay.__version__)
        self._renewed_at = time.monotonic()

    def start(self) -> None:
        """Begin to renew the server's row, and to mirror."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Mirror what is left, and let others take the games at once."""
        self._stops.set()
        for thread in self._threads:
            thread.join()
        try:
            self.mirror_now()
            with self._database.write() as session:
                games.leave(session, self.node)
        except SQLAlchemyError as error:
            log.warning(
                "the database cannot be reached: others take the games of this server in %g s (%s)", games.DEAD_AFTER_S, error
            )

    def mirror_now(self) -> None:
        """Copy everything that the journals of this server's games hold; raise a database error if that fails."""
        with self._mirroring:
            self._mirror.copy(dict(self._server.held))

    def _beat_on(self) -> None:
        is_away = False
        while not self._stops.wait(BEAT_S):
            begun = time.monotonic()
            try:
                beat = self._beat()
            except SQLAlchemyError as error:
                if not is_away:
                    log.error("the database cannot be reached; after %g s the games pause: %s", FENCE_AFTER_S, error)
                is_away = True
                continue
            except Exception:  # whatever it is: a server that does not beat loses all its games
                log.exception("the row of this server was not renewed; this is tried again")
                continue
            if is_away:
                log.warning("the database can be reached again")
            is_away, self._renewed_at = False, begun
            self._server.on_beat(beat)

    def _beat(self) -> Beat:
        before = dict(self._server.held)
        self._num_beats += 1
        facts = self._server.facts() if self._num_beats % FACTS_EVERY == 0 else {}
        with self._database.write() as session:
            drains = games.beat(session, self.node)
            if not drains:
                new = games.take(session, self.node, cluster=self.cluster, most=self._room())
                if new:
                    log.warning("games of a server that is gone continue here: %s", ", ".join(new))
            games.note_facts(session, self.node, facts)
            held = games.held(session, self.node)
            taken = set(games.holders(session, before.keys() - held.keys()))
        return Beat(held, taken, drains)

    def _mirror_on(self) -> None:
        while not self._stops.wait(MIRROR_EVERY_S):
            try:
                self.mirror_now()
            except SQLAlchemyError:
                continue  # the other thread says so
            except Exception:  # whatever is wrong with a file: the next ones are copied
                log.exception("journals were not mirrored; this is tried again")
