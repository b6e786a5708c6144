"""Live games and the servers that hold them.

Each server of a cluster renews its row in `nodes` (`beat`). Another server takes the games of a server that has not done so for
`DEAD_AFTER_S` (`take`), and every change of the holder raises the epoch of the game. Each server writes about a game under the
epoch with which it holds the game. So a server that stood still, or lost the database, changes nothing after another server has
taken the game. All times are those of the database's clock.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, and_, bindparam, delete, func, or_, select, text, update
from sqlalchemy.orm import Session

from interplay.store.models import EpisodeRow, GameRow, JournalPart, NodeRow, PlaySession
from interplay.store.sessions import OPEN

DEAD_AFTER_S = 3.0
"""A server that has not renewed its row for this long may be gone: other servers take its games."""
_MIRROR = text(
    """
    INSERT INTO journal_parts (episode, segment, start, data)
    SELECT part.episode, part.segment, part.start, part.data
    FROM unnest(CAST(:episodes AS text[]), CAST(:epochs AS int[]), CAST(:segments AS int[]), CAST(:starts AS int[]),
                CAST(:datas AS bytea[])) AS part (episode, epoch, segment, start, data)
    JOIN games AS game ON game.episode = part.episode AND game.node = :node AND game.epoch = part.epoch
    ON CONFLICT (episode, segment, start) DO UPDATE SET data = excluded.data
    WHERE length(excluded.data) > length(journal_parts.data)
    """
)


class Lease(NamedTuple):
    """Under which name and epoch a server holds a game."""

    node: str
    epoch: int


class Part(NamedTuple):
    """Some bytes of a segment of a journal, from byte `start` on."""

    episode: str
    epoch: int
    segment: int
    start: int
    data: bytes


class Node(NamedTuple):
    """A server of a cluster. `is_alive`: whether it has renewed its row lately. `seen_s`: seconds since then."""

    node: str
    cluster: str
    version: str
    num_games: int
    is_draining: bool
    is_alive: bool
    seen_s: float


def _now(session: Session) -> datetime:
    if session.get_bind().dialect.name == "sqlite":
        return datetime.now(UTC)
    return session.execute(select(func.clock_timestamp(type_=NodeRow.seen_at.type))).scalar_one()


# Servers


def join(session: Session, node: str, *, cluster: str, version: str) -> None:
    """Enter a server that starts, or starts again under the same name."""
    now = _now(session)
    row = session.get(NodeRow, node)
    if row is not None:
        session.delete(row)
        session.flush()
    session.add(NodeRow(node=node, cluster=cluster, version=version, started_at=now, seen_at=now))


def beat(session: Session, node: str) -> bool:
    """Renew the row of a server, and return whether it shall give its games to others."""
    renewed = update(NodeRow).where(NodeRow.node == node).values(seen_at=_now(session)).returning(NodeRow.is_draining)
    return bool(session.execute(renewed).scalar())


def leave(session: Session, node: str) -> None:
    """Let a server that stops count as gone from now on, so that others take what it still holds at once."""
    long_ago = _now(session) - timedelta(days=1)
    session.execute(update(NodeRow).where(NodeRow.node == node).values(seen_at=long_ago))


def nodes(session: Session) -> list[Node]:
    """Return the servers with a name that run, or that still hold games."""
    now = _now(session)
    num_games = dict(session.execute(select(GameRow.node, func.count()).group_by(GameRow.node)).all())
    found = []
    for row in session.scalars(select(NodeRow).order_by(NodeRow.node)):
        seen_s = (now - row.seen_at).total_seconds()
        is_alive = seen_s < DEAD_AFTER_S
        if is_alive or row.node in num_games:
            number = num_games.get(row.node, 0)
            found.append(Node(row.node, row.cluster, row.version, number, row.is_draining, is_alive, seen_s))
    return found


def drain(session: Session, node: str, *, is_draining: bool = True) -> bool:
    """Let a server give its games to others, or take new ones again; return whether there is such a server."""
    changed = update(NodeRow).where(NodeRow.node == node).values(is_draining=is_draining).returning(NodeRow.node)
    return session.execute(changed).scalar() is not None


def is_alive(session: Session, node: str) -> bool:
    row = session.get(NodeRow, node, populate_existing=True)
    return row is not None and _now(session) - row.seen_at < timedelta(seconds=DEAD_AFTER_S)


# Holding


def grant(session: Session, episode: str, node: str, *, lobby: str, seed: int, invitation: str, is_open: bool) -> None:
    """Enter a new game."""
    columns = {"lobby": lobby, "seed": seed, "invitation": invitation, "is_open": is_open}
    session.add(GameRow(episode=episode, node=node, opened_at=_now(session), **columns))
    session.flush()


def holders(session: Session, episodes: Collection[str]) -> dict[str, Lease]:
    rows = session.execute(select(GameRow.episode, GameRow.node, GameRow.epoch).where(GameRow.episode.in_(episodes)))
    return {episode: Lease(node, epoch) for episode, node, epoch in rows}


def all_held(session: Session) -> set[str]:
    return set(session.scalars(select(GameRow.episode)))


def held_by_others(session: Session, episodes: Collection[str], node: str) -> set[str]:
    """Return which of these games other servers of a cluster hold. A name that a lone server once had does not count."""
    query = select(GameRow.episode).join(NodeRow, NodeRow.node == GameRow.node)
    return set(session.scalars(query.where(GameRow.episode.in_(episodes), GameRow.node != node)))


def claim(session: Session, node: str, episodes: Collection[str]) -> None:
    """Let a server that starts hold the games whose journals it has, also if it had another name before."""
    session.execute(update(GameRow).where(GameRow.episode.in_(episodes)).values(node=node))


def held(session: Session, node: str) -> dict[str, int]:
    """Return the games that a server holds: episode -> epoch."""
    rows = session.execute(select(GameRow.episode, GameRow.epoch).where(GameRow.node == node))
    return dict(rows.all())


def hold_again(session: Session, node: str) -> dict[str, int]:
    """Return what `held` does, after a new start of the server: under new epochs, in case its earlier run still writes. Games
    that no open session has are forgotten."""
    players = select(PlaySession.id).where(PlaySession.game == GameRow.episode, PlaySession.state.in_(OPEN)).exists()
    session.execute(delete(GameRow).where(GameRow.node == node, ~players))
    session.execute(update(GameRow).where(GameRow.node == node).values(epoch=GameRow.epoch + 1))
    return held(session, node)


def take(session: Session, node: str, *, cluster: str, most: int) -> dict[str, int]:
    """Take this server's share of the games of servers of the cluster that are gone, at most `most`; return episode -> epoch.
    Games that another server takes at this moment are left to it."""
    gone = select(NodeRow.node).where(NodeRow.cluster == cluster, NodeRow.node != node, ~_is_alive(session))
    num_left = session.scalar(select(func.count()).where(GameRow.node.in_(gone))) or 0
    if num_left == 0:
        return {}
    takes = and_(NodeRow.is_draining.is_(False), _is_alive(session))
    num_alive = session.scalar(select(func.count()).where(NodeRow.cluster == cluster, or_(NodeRow.node == node, takes))) or 1
    share = min(most, ceil(num_left / num_alive))
    wanted = select(GameRow.episode).where(GameRow.node.in_(gone)).order_by(GameRow.episode).limit(share)
    episodes = session.scalars(wanted.with_for_update(skip_locked=True)).all()
    return _to(session, episodes, node)


def move(session: Session, episode: str, held_as: Lease, to: str) -> bool:
    """Give a game to another server of the cluster; return whether it was still held."""
    wanted = select(GameRow.episode).where(
        GameRow.episode == episode, GameRow.node == held_as.node, GameRow.epoch == held_as.epoch
    )
    return bool(_to(session, session.scalars(wanted.with_for_update()).all(), to))


def _to(session: Session, episodes: Sequence[str], node: str) -> dict[str, int]:
    if not episodes:
        return {}
    changed = update(GameRow).where(GameRow.episode.in_(episodes)).values(node=node, epoch=GameRow.epoch + 1, is_open=False)
    found = dict(session.execute(changed.returning(GameRow.episode, GameRow.epoch)).all())
    session.execute(update(PlaySession).where(PlaySession.game.in_(episodes), PlaySession.state.in_(OPEN)).values(node=node))
    return found


def may_seal(session: Session, episode: str, held_as: Lease | None) -> bool:
    """Whether a journal of this episode may be sealed; until the transaction ends, no server can take the game.

    Args:
        held_as: How the server that seals holds the game; None for a journal that no running game has.
    """
    holder = session.execute(
        select(GameRow.node, GameRow.epoch).where(GameRow.episode == episode).with_for_update()
    ).one_or_none()
    if holder is None:
        is_alone = session.get_bind().dialect.name == "sqlite"
        return is_alone or held_as is None or session.get(EpisodeRow, episode) is None
    return Lease(*holder) == held_as if held_as is not None else not is_alive(session, holder.node)


def end(session: Session, episodes: Collection[str]) -> None:
    """Forget games that are over, and the mirrors of their journals."""
    session.execute(delete(GameRow).where(GameRow.episode.in_(episodes)))


def wait_for_games_of(session: Session, sessions: Collection[str]) -> None:
    """Wait until no server takes the games of these play sessions. Call it before the sessions change: a server that takes a
    game changes the game first, and its sessions after it."""
    theirs = select(PlaySession.game).where(PlaySession.id.in_(sessions))
    session.execute(select(GameRow.episode).where(GameRow.episode.in_(theirs)).order_by(GameRow.episode).with_for_update())


def end_without_players(session: Session, sessions: Collection[str]) -> None:
    """Forget the games of these play sessions if all sessions of the game are over."""
    theirs = select(PlaySession.game).where(PlaySession.id.in_(sessions), PlaySession.game.is_not(None))
    others = select(PlaySession.id).where(PlaySession.game == GameRow.episode, PlaySession.state.in_(OPEN)).exists()
    session.execute(delete(GameRow).where(GameRow.episode.in_(theirs), ~others))


# The mirror of journals (PostgreSQL only)


def mirror(session: Session, node: str, parts: Sequence[Part]) -> None:
    """Add parts of journals; parts of games that the server does not hold (any more) are left out."""
    columns = zip(*parts, strict=True)
    names = ("episodes", "epochs", "segments", "starts", "datas")
    session.connection().execute(_MIRROR, {"node": node} | dict(zip(names, map(list, columns), strict=True)))


def mirrored(session: Session, episode: str) -> Iterator[tuple[int, int, bytes]]:
    """Yield (segment, start, bytes) for each part of a journal, in order."""
    parts = select(JournalPart.segment, JournalPart.start, JournalPart.data).where(JournalPart.episode == episode)
    yield from session.execute(parts.order_by(JournalPart.segment, JournalPart.start))


# Lobbies


def waiting_at(session: Session, *, lobby: str, seed: int | None, cluster: str, but: Collection[str]) -> str | None:
    """Return the server at which a game of this lobby has waited longest for players, not looking at the servers `but`."""
    query = (
        select(GameRow.node)
        .join(NodeRow, NodeRow.node == GameRow.node)
        .where(GameRow.lobby == lobby, GameRow.is_open, GameRow.node.not_in(but))
        .where(NodeRow.cluster == cluster, _is_alive(session))
        .order_by(GameRow.opened_at)
    )
    return session.scalar((query if seed is None else query.where(GameRow.seed == seed)).limit(1))


def invited_to(session: Session, invitation: str, *, cluster: str) -> str | None:
    """Return the server that holds the game of an invitation."""
    query = select(GameRow.node).join(NodeRow, NodeRow.node == GameRow.node)
    return session.scalar(query.where(GameRow.invitation == invitation, NodeRow.cluster == cluster))


def least_busy(session: Session, *, cluster: str, but: Collection[str]) -> str | None:
    """Return the server with the fewest games that takes new ones, not looking at the servers `but`."""
    num_games = select(func.count()).where(GameRow.node == NodeRow.node).scalar_subquery()
    query = select(NodeRow.node).where(NodeRow.node.not_in(but), _takes_games(session, cluster))
    return session.scalar(query.order_by(num_games, NodeRow.node).limit(1))


def note_open(session: Session, episode: str, node: str, *, is_open: bool) -> None:
    """Store whether one more player may join a game of this server."""
    session.execute(update(GameRow).where(GameRow.episode == episode, GameRow.node == node).values(is_open=is_open))


def note_facts(session: Session, node: str, facts: Mapping[str, dict[str, Any]]) -> None:
    """Store the facts of a server's games that the operator's page shows: episode -> facts."""
    known = bindparam("of")
    changed = update(GameRow).where(GameRow.episode == known, GameRow.node == node).values(facts=bindparam("now"))
    if facts:
        session.connection().execute(changed, [{"of": episode, "now": one} for episode, one in facts.items()])


def facts_of_others(session: Session, node: str, *, cluster: str) -> list[dict[str, Any]]:
    """Return the facts of every game of the other servers of a cluster that run."""
    query = (
        select(GameRow.facts)
        .join(NodeRow, NodeRow.node == GameRow.node)
        .where(GameRow.node != node, GameRow.facts.is_not(None), NodeRow.cluster == cluster, _is_alive(session))
    )
    return [facts for facts in session.scalars(query.order_by(GameRow.node, GameRow.opened_at)) if facts is not None]


def _takes_games(session: Session, cluster: str) -> ColumnElement[bool]:
    return and_(NodeRow.cluster == cluster, NodeRow.is_draining.is_(False), _is_alive(session))


def _is_alive(session: Session) -> ColumnElement[bool]:
    return NodeRow.seen_at >= _now(session) - timedelta(seconds=DEAD_AFTER_S)
