"""Studies of play: `variants.py` reads a study's file, `games.py` a visit's games and pay; `visits.py` is the service."""
