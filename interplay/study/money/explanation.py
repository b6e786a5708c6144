"""`Explanation`: the games, rules and lines of the ledger that explain each cent of one person's pay."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from interplay.store import Enrolment, PayEvent
from interplay.study.definition import Study
from interplay.study.incentives import Earned, Treatment
from interplay.study.play.games import PlayedGame, PlayedVisit, evidence, read_evidence


@dataclass(frozen=True)
class Explanation:
    """The games, rules and payments that explain one person's pay.

    Attributes:
        treatment: The rules; None in a study of comparisons, or if no variant was given yet.
        games: The games that count for pay, with the statistics that the rules read.
        earned: The result of the rules for these games, computed now.
        is_final: Whether earnings are in the ledger; then `games` come from the ledger, else they are the games so far.
        agrees: Whether the amount in the ledger equals the amount computed now; true if no amount is in the ledger.
        reward_cents, bonus_cents: Amounts owed, without top-ups to an hourly target.
        sent_cents: Amount that was sent, according to the ledger.
    """

    enrolment: Enrolment
    treatment: Treatment | None
    games: tuple[PlayedGame, ...]
    earned: Earned | None
    is_final: bool
    agrees: bool
    lines: tuple[PayEvent, ...]
    reward_cents: int
    bonus_cents: int
    sent_cents: int

    def to_json(self) -> dict[str, Any]:
        one, earned = self.enrolment, self.earned
        return {
            "enrolment": one.id,
            "study": one.study,
            "version": one.study_hash,
            "worker": one.worker,
            "outcome": one.outcome or "working",
            "variant": one.variant,
            "variant_reason": one.variant_reason,
            "treatment": None if self.treatment is None else self.treatment.to_json(),
            "games": [
                {"episode": game.episode, "task": game.task, "seat": game.seat, "at": game.at.isoformat(),
                 "statistics": dict(game.statistics)}
                for game in self.games
            ],
            "totals": {} if earned is None else earned.totals,
            "requirements": [] if earned is None else [
                {"label": part.requirement.label, "achieved": part.achieved, "required": part.requirement.required,
                 "share": part.share}
                for part in earned.progress
            ],
            "completion": None if earned is None else earned.completion,
            "waited": next((json.loads(line.detail) for line in self.lines if line.kind == "waited"), None),
            "is_final": self.is_final,
            "agrees": self.agrees,
            "reward_cents": self.reward_cents,
            "bonus_cents": self.bonus_cents,
            "sent_cents": self.sent_cents,
            "ledger": [
                {"number": line.id, "kind": line.kind, "state": line.state, "amount_cents": line.amount_cents,
                 "currency": line.currency, "request": line.request, "at": line.created_at.isoformat(),
                 "detail": "" if line.kind in ("earned", "waited") else line.detail}
                for line in self.lines
            ],
        }  # fmt: skip


def explain(study: Study, enrolment: Enrolment, lines: Sequence[PayEvent], visit: PlayedVisit | None) -> Explanation:
    """Explain the pay of one visit; `visit` is its state in the catalogue now, None in a study of comparisons."""
    written = next((line for line in lines if line.kind == "earned"), None)
    treatment = None if visit is None or visit.variant is None else visit.variant.treatment
    games: Sequence[PlayedGame] = () if visit is None else visit.games
    if written is not None:
        treatment, games = read_evidence(json.loads(written.detail))
    elif treatment is not None:
        treatment, games = read_evidence(evidence("", treatment, games))
    earned = None if treatment is None else treatment.earned([game.statistics for game in games])
    is_paid = enrolment.outcome == "done" and study.pay is not None
    reward = 0 if not is_paid or study.pay is None else study.pay.reward_cents if treatment is None else treatment.reward_cents
    sent = {line.request: line.amount_cents for line in lines if line.state == "sent"}
    due = sum(line.amount_cents for line in lines if line.state == "due")
    waited = next((line for line in lines if line.kind == "waited"), None)
    agrees = written is None or (earned is not None and earned.is_complete and earned.bonus_cents == written.amount_cents)
    if waited is not None:
        agrees = study.play is not None and waited.amount_cents == study.play.waiting.pay_cents
    return Explanation(
        enrolment, treatment, tuple(games), earned, written is not None,
        agrees, tuple(lines), reward, due, sum(sent.values()),
    )  # fmt: skip
