"""Pairing rules: choose the two agents to ask a judge about next. They need no database and no clock.

`pairing_rule(name)` makes a rule. A rule decides from `Evidence`; its `order` returns all pairs, the most useful first.
docs/matchmaking.md compares the rules.

>>> import numpy as np
>>> evidence = Evidence([("ada", "bob", "left"), ("bob", "cyd", "left"), ("ada", "cyd", "left")])
>>> awaited = [("ada", "bob"), ("ada", "cyd")]
>>> pairing_rule("round-robin").order(["ada", "bob", "cyd"], evidence, awaited, np.random.default_rng(0))[0]
AgentPair(a='bob', b='cyd', worth=-1.0)
"""

from __future__ import annotations

from typing import Any

from interplay.errors import InterplayError, unknown_name
from interplay.judge.pairing.evidence import Counts, Evidence
from interplay.judge.pairing.information import Information, PublishedInformation
from interplay.judge.pairing.order import Focus, OrderUncertainty
from interplay.judge.pairing.rule import AgentPair, Awaited, PairingRule, RoundRobin

PAIRING_RULES = {kind.name: kind for kind in (OrderUncertainty, RoundRobin, Information, PublishedInformation, Focus)}
"""Name of a rule -> its class."""
DEFAULT_RULE = "order"
"""The rule that needed the fewest answers in simulations, see docs/matchmaking.md; `default` stands for it."""

__all__ = [
    "DEFAULT_RULE",
    "PAIRING_RULES",
    "AgentPair",
    "Awaited",
    "Counts",
    "Evidence",
    "Focus",
    "OrderUncertainty",
    "PairingError",
    "PairingRule",
    "pairing_rule",
]


class PairingError(InterplayError):
    """The rule has no option of this name, or the value is invalid; the text says what is allowed."""


def pairing_rule(name: str = "default", **options: Any) -> PairingRule:
    """Make the pairing rule of this name.

    Args:
        name: `order`, `round-robin`, `information`, `bedd`, `focus`, or `default` for the best one measured.
        options: `agents` for focus (names, at least one), `prior_sd` for order and focus.
    Raises:
        NotFoundError: If the name is unknown; the text offers the nearest name.
        PairingError: If the rule has no option of this name, or the value is invalid.
    """
    kind = PAIRING_RULES.get(DEFAULT_RULE if name == "default" else name)
    if kind is None:
        raise unknown_name("pairing rule", name, [*PAIRING_RULES, "default"])
    known = {"focus": ("agents", "prior_sd"), "order": ("prior_sd",)}.get(kind.name, ())
    if strangers := sorted(set(options) - set(known)):
        takes = f"its options: {', '.join(known)}" if known else "it has no options"
        raise PairingError(f"the pairing rule {kind.name!r} has no option {strangers[0]!r}; {takes}")
    try:
        return kind(**options)
    except ValueError as error:
        raise PairingError(f"the pairing rule {kind.name!r}: {error}") from None
