"""Trades of villagers.

An offer is a dict of JSON values: `buy` and, for some offers, `buy2` are the price, `sell` the goods, each [item, count]. It
is closed when `uses`, the number of trades, reaches `max_uses` (16 by default). `tag` is the tag of the sold item, if any.

>>> bread = offer(("emerald", 1), ("bread", 6))
>>> sold(met([bread], -1, [Stack("emerald", 3), None])).count
6
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from blockworld.errors import WorldError
from blockworld.registry.items import item_named
from blockworld.state import Stack

Offer = dict[str, Any]
Laid = Sequence[Stack | None]
"""Contents of the two slots of the screen into which the player puts the price."""
_NOTHING = (None, 0)


def offer(buy: tuple[str, int], sell: tuple[str, int], *, buy2: tuple[str, int] | None = None, max_uses: int = 16) -> Offer:
    """Make an offer; UnknownNameError if there is no such item, WorldError if a count does not fit a slot."""
    for name, number in (buy, sell, *([buy2] if buy2 else [])):
        if not 1 <= number <= item_named(name).stack:
            raise WorldError(f"an offer has 1 to {item_named(name).stack} of {name}, got {number}")
    return {"buy": [*buy], "buy2": [*buy2] if buy2 else None, "sell": [*sell], "uses": 0, "max_uses": max_uses}


def sold(offer: Offer) -> Stack:
    return Stack(offer["sell"][0], offer["sell"][1], 0, copy.deepcopy(offer.get("tag")))


def is_open(offer: Offer) -> bool:
    return bool(offer.get("uses", 0) < offer.get("max_uses", 16))


def met(offers: Sequence[Offer], choice: int, laid: Laid) -> Offer | None:
    """The open offer whose price is in the two slots: the chosen offer if possible, else the first; None without one."""
    chosen = offers[choice : choice + 1] if choice >= 0 else []
    for one in (*chosen, *offers):
        first, second = one["buy"], one.get("buy2") or _NOTHING
        if is_open(one) and (_covers(laid, first, second) or _covers(laid, second, first)):
            return one
    return None


def costs(offer: Offer, laid: Laid) -> tuple[tuple[str, int], tuple[str, int]]:
    """(item, count) to take from each of the two slots, count 0 for nothing; the price may be in either order."""
    first, second = offer["buy"], offer.get("buy2") or _NOTHING
    if not _covers(laid, first, second):
        first, second = second, first
    return (first[0] or "", first[1]), (second[0] or "", second[1])


def _covers(laid: Laid, first: Sequence[Any], second: Sequence[Any]) -> bool:
    """Whether the two slots hold at least these two costs, and a slot without a cost is empty."""
    return all(
        (stack is not None and stack.item == item and stack.count >= number) if number else stack is None
        for stack, (item, number) in zip(laid, (first, second), strict=True)
    )
