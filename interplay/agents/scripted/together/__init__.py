"""Hand-written partners for the games of several seats, one module a game. They know what anybody can see, and press keys."""

from interplay.agents.scripted.together.player import PARTNERS, Partner

__all__ = ["PARTNERS", "Partner"]
