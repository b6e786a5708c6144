"""Channels: where people come from, and how they return so that their work counts.

`make_channel(kind, settings)` builds one of four channels from the `[channel]` table of a study. A channel reads the address
(`arrival`) and says how the person leaves (`departure`). It knows the conventions of one platform, but not the study's tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from interplay.errors import unknown_name
from interplay.study.channels.base import OUTCOMES, Arrival, Channel, Departure, Outcome
from interplay.study.channels.mturk import MTurkChannel
from interplay.study.channels.open import EmailChannel, OpenChannel
from interplay.study.channels.prolific import ProlificChannel
from interplay.study.errors import StudyError
from interplay.study.mturk.settings import read_hit
from interplay.tables import Table

__all__ = [
    "OUTCOMES",
    "Arrival",
    "Channel",
    "Departure",
    "MTurkChannel",
    "OpenChannel",
    "Outcome",
    "ProlificChannel",
    "make_channel",
]


def _prolific(table: Table) -> Callable[[], Channel]:
    codes, names = table.raw("codes", dict, None), table.raw("names", dict, {})
    if codes is None:
        raise table.error("codes", "is missing", 'write codes = { done = "..." } with the codes of Prolific\'s study')
    return partial(ProlificChannel, codes, names)


def _mturk(table: Table) -> Callable[[], Channel]:
    return partial(MTurkChannel, table.texts("extra_hosts", []), read_hit(table.optional("hit")))


KINDS: Mapping[str, tuple[Callable[[Table], Callable[[], Channel]], tuple[str, ...]]] = {
    "open": (lambda table: OpenChannel, ()),
    "email": (lambda table: EmailChannel, ()),
    "mturk": (_mturk, ("extra_hosts", "hit")),
    "prolific": (_prolific, ("codes", "names")),
}
"""Kind -> (function from the table of settings to a builder of the channel, names of the settings)."""


def make_channel(kind: str, settings: Mapping[str, Any] | None = None, *, where: str = "channel") -> Channel:
    """Build the channel of a study.

    Args:
        kind: `open`, `email`, `mturk` or `prolific`.
        settings: `codes` and `names` for Prolific, `extra_hosts` and `hit` for MTurk, as they are written in a file.
        where: Name of the settings in errors.
    Raises:
        NotFoundError: If there is no such kind.
        StudyError: If a setting is unknown, missing or invalid.

    >>> make_channel("prolific", {"codes": {"done": "C1A2B3"}}).name
    'prolific'
    """
    if kind not in KINDS:
        raise unknown_name("channel", kind, KINDS)
    table = Table(settings or {}, "", where, refuse=StudyError)
    build, names = KINDS[kind]
    table.nothing_else(*names)
    channel = build(table)
    try:
        return channel()
    except StudyError as error:
        raise StudyError(f"{where}: {error}") from None
