"""The servers with a name that use a database, for their operator."""

from __future__ import annotations

from interplay.errors import unknown_name
from interplay.store import Database, games


def servers(database: Database) -> list[games.Node]:
    """Return the servers that run, or that still hold games."""
    with database.read() as session:
        return games.nodes(session)


def set_draining(database: Database, node: str, *, is_draining: bool) -> None:
    """Let a server give its games to others and take no new ones, or take games again. Raises `NotFoundError` if there is no
    such server."""
    with database.write() as session:
        if not games.drain(session, node, is_draining=is_draining):
            known = [one.node for one in games.nodes(session)]
            raise unknown_name("server", node, known, hint="All servers with a name:  interplay cluster status")
