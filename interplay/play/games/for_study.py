"""What a study says about its games: who plays together, with which agents, and how long a player waits."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

PARTNER_AFTER_S = 60.0
"""How long a player waits for people before there is a choice."""


@dataclass(frozen=True)
class ForStudy:
    """What a game is for. People come together in one game if all of it is the same for them.

    Attributes:
        study: Id of the study.
        variant: What of it is played.
        partner: The agent that acts for every other seat from the start, as `interplay.agents.find` takes it; None: people.
        fallback: The agent that a player may choose after `wait_s`, and that acts for who is gone; None: nobody may be chosen,
            and the partner of the task acts for who is gone.
        wait_s: How long a player waits for people before there is a choice.
        is_blind: Whether players are not told if an agent acts. The fallback then comes by itself.
    """

    study: str
    variant: str = ""
    partner: str | None = None
    fallback: str | None = None
    wait_s: float = PARTNER_AFTER_S
    is_blind: bool = False

    def to_json(self) -> str:
        """As it is stored beside the session of each player."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> ForStudy:
        """What `to_json` returned."""
        return cls(**json.loads(text))
