"""The pay of a visit of play as one line of the ledger: written at its end, with everything that it follows from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from interplay.study.incentives.bonus import LinearBonus, SlidingBonus
from interplay.study.incentives.requirements import Requirement
from interplay.study.incentives.treatment import Treatment
from interplay.study.play.games import PlayedGame, PlayedVisit
from interplay.study.play.variants import Waiting


def earned_line(enrolment_id: str, visit: PlayedVisit) -> dict[str, Any] | None:
    """The line of a complete visit; None of any other. The amount is the bonus alone: the reward is paid as for any visit."""
    earned = visit.earned
    if visit.variant is None or earned is None or not earned.is_complete:
        return None
    return {
        "kind": "earned",
        "state": "due",
        "amount_cents": earned.bonus_cents,
        "currency": visit.variant.treatment.currency,
        "request": f"earned:{enrolment_id}",
        "detail": json.dumps(evidence(visit.variant.name, visit.variant.treatment, visit.games), sort_keys=True),
    }


def waited_line(enrolment_id: str, visit: PlayedVisit, waiting: Waiting) -> dict[str, Any] | None:
    """The line of a visit that ended because nobody came to play with; None where nothing was promised for waiting."""
    if visit.variant is None or not waiting.pay_cents:
        return None
    return {
        "kind": "waited",
        "state": "due",
        "amount_cents": waiting.pay_cents,
        "currency": visit.variant.treatment.currency,
        "request": f"waited:{enrolment_id}",
        "detail": json.dumps({"variant": visit.variant.name, "waited_s": visit.waited_s, **vars(waiting)}, sort_keys=True),
    }


def evidence(variant: str, treatment: Treatment, games: Sequence[PlayedGame]) -> dict[str, Any]:
    """The basis of an amount: the rules, and each game with the statistics that they read."""
    looked_at = treatment.statistics
    return {
        "variant": variant,
        "treatment": treatment.to_json(),
        "games": [
            {
                "episode": game.episode,
                "task": game.task,
                "seat": game.seat,
                "at": game.at.isoformat(),
                "statistics": {name: game.statistics.get(name, 0.0) for name in looked_at},
            }
            for game in games
        ],
    }


def read_evidence(said: Mapping[str, Any]) -> tuple[Treatment, list[PlayedGame]]:
    """The inverse of `evidence`: `treatment.earned` of these games is the amount that was written."""
    rules = said["treatment"]
    bonus = dict(rules["bonus"] or {})
    kind = {"sliding": SlidingBonus, "linear": LinearBonus}.get(bonus.pop("kind", ""))
    treatment = Treatment(
        tuple(Requirement(**one) for one in rules["requirements"]),
        rules["reward_cents"],
        None if kind is None else kind(**bonus),
        rules["currency"],
    )
    games = [
        PlayedGame(one["episode"], one["task"], one["seat"], datetime.fromisoformat(one["at"]), one["statistics"])
        for one in said["games"]
    ]
    return treatment, games
