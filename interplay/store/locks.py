"""Locks by what they guard, so that only transactions about the same thing wait for each other. See `design/locks.md`.

On SQLite, `Database.write()` already lets one transaction write at a time. On PostgreSQL, these are advisory locks across all
connections and server processes; each ends with its transaction.
"""

from __future__ import annotations

import hashlib
from typing import Literal, get_args

from sqlalchemy.orm import Session

Kind = Literal["lobby", "dataset", "class", "study", "episode", "entrant", "participant", "judge", "log"]
"""What a lock guards, in the order in which a transaction takes locks."""
_KINDS = get_args(Kind)
_HELD = "interplay_locks"


def lock(session: Session, kind: Kind, *names: str) -> None:
    """Wait until no other transaction holds this kind of lock for these names, and hold it until the transaction ends.

    All transactions take locks in one order, by `Kind` and then by name, so that no two wait for each other; take the locks of
    several names of a kind in one call. Values that the transaction read before the call may be outdated after it.

    Args:
        names: Names of judges, studies or other things of this kind.
    Raises:
        RuntimeError: If the transaction holds a lock that comes later in the order.
    """
    held: set[tuple[int, str]] = session.info.setdefault(_HELD, set())
    for name in sorted(set(names)):
        place = (_KINDS.index(kind), name)
        if place in held:
            continue
        if held and place < max(held):
            raise RuntimeError(f"the lock {kind} {name!r} was asked for after {max(held)}; see `interplay.store.locks.lock`")
        held.add(place)
        if session.get_bind().dialect.name == "postgresql":
            session.connection().exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (key_of(kind, name),))


def try_lock(session: Session, kind: Literal["pair"], name: str) -> bool:
    """Hold a lock until the transaction ends, unless another transaction holds it; return whether it is held. Never waits, so
    this may be called at any time."""
    if session.get_bind().dialect.name != "postgresql":
        return True
    taken = session.connection().exec_driver_sql("SELECT pg_try_advisory_xact_lock(%s)", (key_of(kind, name),))
    return bool(taken.scalar())


def key_of(kind: str, name: str) -> int:
    """Return PostgreSQL's 64-bit key of a lock."""
    return int.from_bytes(hashlib.sha256(f"{kind} {name}".encode()).digest()[:8], "big", signed=True)
