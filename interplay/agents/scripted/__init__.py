"""Hand-written players for the built-in Atari games, one module a game. They see only the palette frame."""

from interplay.agents.scripted.player import BRAINS, ScriptedPlayer

__all__ = ["BRAINS", "ScriptedPlayer"]
