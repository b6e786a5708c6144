"""Rules of a study for its games: players, agents, and waiting times."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

PARTNER_AFTER_S = 60.0
"""How long a player waits for people before there is a choice."""


@dataclass(frozen=True)
class ForStudy:
    """The purpose of a game. People meet in one game if all of it is the same for them.

    Attributes:
        study: Id of the study.
        variant: The variant that is played.
        partner: The agent that acts for every other seat from the start, as `interplay.agents.find` takes it; None: people.
        fallback: The agent that a player may choose after `wait_s`, and that acts for a person who has left; None: nobody may
            be chosen, and the partner of the task acts for a person who has left.
        wait_s: How long a player waits for people before there is a choice.
        is_blind: Whether players are not told if an agent acts. The fallback then comes without a choice.
    """

    study: str
    variant: str = ""
    partner: str | None = None
    fallback: str | None = None
    wait_s: float = PARTNER_AFTER_S
    is_blind: bool = False

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> ForStudy:
        return cls(**json.loads(text))
