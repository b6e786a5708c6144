"""A judge that is a program: it prefers the higher return, errs at a chosen rate, and fills in the whole form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.rank.bradley_terry import sigmoid


@dataclass(frozen=True)
class ScriptedJudge:
    """Answers a match from the returns of its two episodes, with noise.

    Attributes:
        noise: Scale of the judge's errors as a share of the larger return. The judge prefers the left side with probability
            `1 / (1 + exp(-(left - right) / (noise * max(|left|, |right|, 1))))`.
        draw_margin: If the returns differ by at most this share of the larger return, the answer is a draw.
    """

    name: str
    noise: float = 0.15
    draw_margin: float = 0.03

    def outcome(self, left: float, right: float, rng: np.random.Generator) -> str:
        scale = max(abs(left), abs(right), 1.0)
        if abs(left - right) <= self.draw_margin * scale:
            return "draw"
        doubt = max(self.noise * scale, 1e-9)
        preference = sigmoid((left - right) / doubt)
        return "left" if rng.random() < preference else "right"

    def form(
        self, questions: Sequence[Mapping[str, Any]], left: float, right: float, rng: np.random.Generator
    ) -> dict[str, Any]:
        """Return the whole answer to a match: the outcome, one response to each question, and a reason of sufficient length.

        Args:
            questions: As the match lists them, each with `id` and `kind`.
            left, right: Returns of the two episodes.
        """
        outcome = self.outcome(left, right, rng)
        responses: dict[str, Any] = {}
        for question in questions:
            if question["kind"] == "direct":
                responses[question["id"]] = {"left": left > 0, "right": right > 0}
            elif question["kind"] == "comparative":
                responses[question["id"]] = self.outcome(left, right, rng)
        better = {"left": "the left player", "right": "the right player", "draw": "neither player"}[outcome]
        reason = (
            f"This answer comes from a program, not from a person: going by the points each of them scored, and with some "
            f"error added on purpose, {better} came out ahead in this comparison."
        )
        return {"outcome": outcome, "responses": responses, "reason": reason, "viewing": {"scripted": True}}
