"""Matchmaking policies: which two agents to ask a judge about next. Pure rules; no database, no clock.

`policy(name)` makes one, `Evidence` is what it decides from, `order` gives all pairs, the most wanted first. Measured against
each other in docs/matchmaking.md.

>>> import numpy as np
>>> evidence = Evidence([("ada", "bob", "left"), ("bob", "cyd", "left"), ("ada", "cyd", "left")])
>>> policy("round-robin").order(["ada", "bob", "cyd"], evidence, [("ada", "bob"), ("ada", "cyd")], np.random.default_rng(0))[0]
AgentPair(a='bob', b='cyd', worth=-1.0)
"""

from __future__ import annotations

from typing import Any

from interplay.errors import InterplayError, unknown_name
from interplay.judge.policies.evidence import Counts, Evidence
from interplay.judge.policies.focus import Focus
from interplay.judge.policies.information import Information, PublishedInformation
from interplay.judge.policies.order import OrderUncertainty
from interplay.judge.policies.policy import AgentPair, Awaited, Policy
from interplay.judge.policies.round_robin import RoundRobin

POLICIES = {kind.name: kind for kind in (OrderUncertainty, RoundRobin, Information, PublishedInformation, Focus)}
"""Name -> class."""
DEFAULT_POLICY = "order"
"""What needed the fewest answers, see docs/matchmaking.md; `policy("default")` makes it too."""

__all__ = [
    "DEFAULT_POLICY",
    "POLICIES",
    "AgentPair",
    "Awaited",
    "Counts",
    "Evidence",
    "Focus",
    "Information",
    "OrderUncertainty",
    "Policy",
    "PolicyError",
    "PublishedInformation",
    "RoundRobin",
    "policy",
]


class PolicyError(InterplayError):
    """Options a policy does not take; the text says which it does."""


def policy(name: str = "default", **options: Any) -> Policy:
    """A policy by its name.

    Args:
        name: `order`, `round-robin`, `information`, `bedd`, `focus`, or `default` for the best one measured.
        options: `agents` for focus (names, at least one), `prior_sd` for order and focus.
    Raises:
        NotFoundError: If there is none of this name; offers the nearest.
        PolicyError: If it does not take these options.
    """
    kind = POLICIES.get(DEFAULT_POLICY if name == "default" else name)
    if kind is None:
        raise unknown_name("matchmaking policy", name, [*POLICIES, "default"])
    known = {"focus": ("agents", "prior_sd"), "order": ("prior_sd",)}.get(kind.name, ())
    if strangers := sorted(set(options) - set(known)):
        takes = f"it takes {', '.join(known)}" if known else "it takes none"
        raise PolicyError(f"the matchmaking policy {kind.name!r} has no option {strangers[0]!r}; {takes}")
    try:
        return kind(**options)
    except ValueError as error:
        raise PolicyError(f"the matchmaking policy {kind.name!r}: {error}") from None
